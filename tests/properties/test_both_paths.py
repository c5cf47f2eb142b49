"""A run gets one report whichever parser and validator reads it, valid, changed or hostile [ENC-1..4], [ENC-15]."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from aef_verify.integrity.policy import load_policy
from aef_verify.integrity.view import effective_view, verify_chain
from aef_verify.problems import InputError, Problem
from aef_verify.run.verify import verify_run
from aef_verify.strategies import HostileFolder, Mutation, OverlaidRun, hostile_folders, mutations, overlaid_runs
from tests.properties.both_paths import NATIVE, PURE, both_paths
from tests.properties.effort import examples
from tests.properties.scratch import scratch, written


def pairs(problems: tuple[Problem, ...] | list[Problem]) -> list[tuple[str, str]]:
    return [problem.pair for problem in problems]


def report(folder: str, policy_data: bytes | None) -> object:
    """Everything a reader is told about a run, but for words."""
    try:
        policy = None if policy_data is None else load_policy(policy_data)
        found = verify_run(folder, policy=policy, overlays=True)
        overlays = found.overlays and (*found.overlays[1:], pairs(found.overlays.problems))
        facts = (found.outcome, pairs(found.problems), found.signed_by, found.withheld, found.run_hash, found.lines)
        return (
            facts,
            overlays,
            pairs(verify_chain(folder)),
            effective_view(folder, "2026-01-01T00:00:00Z", policy=policy),
        )
    except InputError as refusal:
        return str(refusal)


@examples(100)
@given(overlaid_runs().flatmap(lambda run: st.tuples(st.just(run), mutations(run.files))))
def test_both_paths_report_the_same_about_a_changed_run(changed: tuple[OverlaidRun, Mutation]) -> None:
    run, mutation = changed
    with both_paths() as both, written(mutation.files) as folder:
        native, pure = (both.on(path, lambda: report(folder, run.policy.data)) for path in (NATIVE, PURE))
    assert native == pure


@examples(60)
@given(hostile_folders())
def test_both_paths_report_the_same_about_a_hostile_folder(hostile: HostileFolder) -> None:
    with both_paths() as both, scratch() as place:
        folder = hostile.write(os.path.join(place, "run"), os.path.join(place, "outside"))
        native, pure = (both.on(path, lambda: report(folder, None)) for path in (NATIVE, PURE))
    assert native == pure
