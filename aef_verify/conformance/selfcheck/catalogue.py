"""All mutations, in the order of the format's chapters."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

from aef_verify.conformance.selfcheck import (
    checkpoint,
    decision,
    encoding,
    integrity,
    jobs,
    memory,
    reporting,
    results,
    run,
    schemas,
    signatures,
    streams,
    writing,
)
from aef_verify.conformance.selfcheck.mutation import Mutation
from aef_verify.problems import InputError

MUTATIONS: tuple[Mutation, ...] = (
    *encoding.MUTATIONS,
    *schemas.MUTATIONS,
    *run.MUTATIONS,
    *results.MUTATIONS,
    *integrity.MUTATIONS,
    *signatures.MUTATIONS,
    *decision.MUTATIONS,
    *checkpoint.MUTATIONS,
    *streams.MUTATIONS,
    *jobs.MUTATIONS,
    *writing.MUTATIONS,
    *reporting.MUTATIONS,
    *memory.MUTATIONS,
)


def select(patterns: Collection[str]) -> list[Mutation]:
    """Return the mutations whose id, or a rule of theirs, matches any of the patterns (`*`, `?`, `[...]`); none: all.

    Raises:
        InputError: none is selected.
    """
    found = [
        mutation
        for mutation in MUTATIONS
        if not patterns
        or any(fnmatchcase(name, pattern) for pattern in patterns for name in (mutation.id, *mutation.rules))
    ]
    if not found:
        raise InputError(f"no mutation is selected by {', '.join(patterns)}")
    return found
