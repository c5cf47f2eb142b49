"""A run gets one report whichever parser and validator reads it, valid, changed or hostile [ENC-1..4], [ENC-15]."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from aef_verify.integrity.dsse import verify_envelope
from aef_verify.integrity.policy import PolicyError, load_policy
from aef_verify.integrity.view import effective_view, verify_chain
from aef_verify.problems import InputError, Problem
from aef_verify.run.verify import verify_run
from aef_verify.strategies import (
    STATEMENT_TYPE,
    HostileFolder,
    Mutation,
    OverlaidRun,
    Policy,
    byte_changes,
    envelope,
    hostile_folders,
    json_changes,
    mutations,
    overlaid_runs,
    trust_policies,
)
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


def envelope_report(envelope: bytes, payload: bytes, policy: bytes) -> object:
    """Everything a reader is told about an envelope, but for words; a refusal of the policy is one."""
    try:
        return verify_envelope(envelope, payload, STATEMENT_TYPE, load_policy(policy))[:3]
    except PolicyError:
        return "refused"


@examples(150)
@given(trust_policies(), st.binary(max_size=20), st.data())
def test_both_paths_report_the_same_about_a_changed_envelope_or_policy(
    policy: Policy, payload: bytes, data: st.DataObject
) -> None:
    """[SIG-1], [SIG-4], [SIG-5] And whatever the envelope or policy, there is a report or a refusal."""
    signed, trusted = envelope(payload, STATEMENT_TYPE, policy.keys), policy.data
    if data.draw(st.booleans()):
        signed = data.draw(json_changes(signed) | byte_changes(signed)).data
    else:
        trusted = data.draw(json_changes(trusted) | byte_changes(trusted)).data
    with both_paths() as both:
        native, pure = (both.on(path, lambda: envelope_report(signed, payload, trusted)) for path in (NATIVE, PURE))
    assert native == pure


@examples(60)
@given(hostile_folders())
def test_both_paths_report_the_same_about_a_hostile_folder(hostile: HostileFolder) -> None:
    with both_paths() as both, scratch() as place:
        folder = hostile.write(os.path.join(place, "run"), os.path.join(place, "outside"))
        native, pure = (both.on(path, lambda: report(folder, None)) for path in (NATIVE, PURE))
    assert native == pure
