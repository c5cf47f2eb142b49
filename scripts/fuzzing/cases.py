"""Cases to verify: files, a policy, and what is asked of them; where the first come from and how others are made.

A kept case is one JSON file: text where the bytes are UTF-8, base64 where not.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from aef_verify.strategies import (
    ALGORITHMS,
    STATEMENT_TYPE,
    Policy,
    RunFiles,
    SigningKey,
    envelope,
    mutated,
    near_documents,
    overlaid_runs,
    runs,
    signed_runs,
    trust_policies,
    with_parts,
)

EVENTS = "overlays/events.ndjson"
RUN, ENVELOPE, DOCUMENT = "run", "envelope", "document"
NO_POLICY = b'{"keys":[]}'
LARGEST = 200_000
"""Bytes of a given run at most: many cases are worth more than a large one."""


class Case(NamedTuple):
    """Files to verify.

    `target` says how: `run` (a run folder), `envelope` (`envelope.json` over `payload`), `document` (one file, named
    after its schema). `policy` is a trust policy's file. `changes` say what became of the first files, for people.
    """

    target: str
    files: RunFiles
    policy: bytes
    changes: tuple[str, ...] = ()

    def to_json(self, fault: str) -> bytes:
        """Return the case as it is kept, with the fault that it showed."""
        files = {path: _text(data) for path, data in self.files.items()}
        kept = {"fault": fault, "target": self.target, "changes": list(self.changes), "policy": _text(self.policy)}
        return json.dumps({**kept, "files": files}, ensure_ascii=False, indent=1).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> Case:
        """Return a kept case."""
        kept = json.loads(data)
        files = RunFiles({path: _bytes(text) for path, text in kept["files"].items()})
        return cls(kept["target"], files, _bytes(kept["policy"]), tuple(kept["changes"]))


def _text(data: bytes) -> object:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _bytes(text: str | dict[str, str]) -> bytes:
    return text.encode() if isinstance(text, str) else base64.b64decode(text["base64"])


def given_runs(folders: Iterable[str], policy: bytes = NO_POLICY) -> list[Case]:
    """Return a case for every run below these folders that is not too large."""
    found = []
    for folder in folders:
        for parent, below, names in os.walk(folder):
            if "run.json" in names:
                below.clear()
                files = RunFiles.read(parent)
                if sum(map(len, files.values())) <= LARGEST:
                    found.append(Case(RUN, files, policy))
    return sorted(found, key=lambda case: list(case.files.items()))


def drawn_cases(number: int, count: int) -> list[Case]:
    """Draw cases of every target; the same number draws the same ones."""
    found: list[Case] = []

    def take(case: Case) -> None:
        found.append(case)

    quiet = settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    quiet(seed(number)(given(_cases())(take)))()
    return found


def _cases() -> st.SearchStrategy[Case]:
    policies = trust_policies()
    return (
        st.builds(lambda run: Case(RUN, run.files, run.policy.data), overlaid_runs())
        | st.builds(lambda run, policy: Case(RUN, run, policy.data), runs(later_minors=True), policies)
        | st.builds(lambda found: Case(RUN, found[0], found[1].data), signed_runs())
        | st.builds(_envelope_case, policies, st.binary(max_size=30))
        | st.sampled_from(DOCUMENTS).flatmap(
            lambda name: st.builds(_document_case, st.just(name), near_documents(name))
        )
    )


DOCUMENTS = ("checkpoint", "decision", "run-plan", "runner", "runner-event", "overlay-event", "result", "run", "seal")


def _envelope_case(policy: Policy, payload: bytes) -> Case:
    files = {"envelope.json": envelope(payload, STATEMENT_TYPE, policy.keys[:2]), "payload": payload}
    return Case(ENVELOPE, RunFiles({**files, "policy.json": policy.data}), policy.data)


def _document_case(name: str, document: object) -> Case:
    return Case(DOCUMENT, RunFiles({f"{name}.json": json.dumps(document, ensure_ascii=False).encode()}), NO_POLICY)


def changed(chance: Random, case: Case) -> Case:
    """Change a case in one to four ways; now and then seal a run anew, so that what is behind its seals counts."""
    files, changes = case.files, list(case.changes)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        if files:
            description, files = mutated(chance, files)
            changes.append(description)
    if case.target == RUN and chance.randrange(4) == 0:
        files = _sealed_anew(chance, files, changes)
    return case._replace(files=files, changes=tuple(changes[-12:]))


def _sealed_anew(chance: Random, files: RunFiles, changes: list[str]) -> RunFiles:
    try:
        found = files.without("seal.json").sealed()
        changes.append("sealed anew")
        events = files.get(EVENTS, b"")
        if events and chance.randrange(2):
            signers = [SigningKey(chance.choice(ALGORITHMS), chance.randrange(6)) for _ in range(chance.randrange(3))]
            lines = events.splitlines(keepends=True)
            cut = chance.randrange(len(lines) + 1)
            parts = [part for part in (b"".join(lines[:cut]), b"".join(lines[cut:])) if part]
            found = with_parts(found, [(part, dict.fromkeys(signers)) for part in parts])  # type: ignore[misc]
            changes.append("batches sealed anew")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return files
    return found
