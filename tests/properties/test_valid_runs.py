"""A valid run has no problem, however it is spelled.

[RUN-2], [RES-1..11], [SUM-2..9], [EVD-1..3], [GATE-1], [ENC-2], [ENC-4], [OVL-4], [SIG-5], [VER-3], [VER-8].
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aef_verify.integrity.policy import load_policy
from aef_verify.integrity.view import effective_view, verify_chain
from aef_verify.run.verify import verify_run
from aef_verify.strategies import (
    OverlaidRun,
    Policy,
    RunFiles,
    overlaid_runs,
    respellings,
    runs,
    sealed_runs,
    signed_runs,
)
from tests.properties.effort import examples
from tests.properties.scratch import written


@examples(150)
@given(runs(later_minors=True))
def test_a_valid_run_is_unsealed_and_has_no_problem(run: RunFiles) -> None:
    with written(run) as folder:
        report = verify_run(folder, details=True)
    assert (report.outcome, report.problems) == ("unsealed", ())
    assert report.run_hash == run.run_hash
    assert report.lines == len(run.lines("results.ndjson"))


@examples(100)
@given(sealed_runs(later_minors=True))
def test_a_valid_sealed_run_is_intact_and_has_no_problem(run: RunFiles) -> None:
    with written(run) as folder:
        report = verify_run(folder, anchors=[run.run_hash], details=True)
    assert (report.outcome, report.problems) == ("intact", ())
    assert report.anchored


@examples(60)
@given(runs(later_minors=True, max_cases=2).flatmap(lambda run: st.tuples(st.just(run), respellings(run))))
def test_another_spelling_of_a_valid_run_has_no_problem(runs: tuple[RunFiles, RunFiles]) -> None:
    """[ENC-2], [ENC-4] Member order, whitespace, escapes and the form of a number decide nothing."""
    run, respelled = runs
    if run.document("run.json")["status"] != "running":
        respelled = respelled.sealed()
    with written(respelled) as folder:
        report = verify_run(folder, details=True)
    assert report.problems == ()


@examples(60)
@given(overlaid_runs())
def test_a_valid_run_with_overlays_is_intact_and_its_chain_sound(run: OverlaidRun) -> None:
    """[OVL-4], [OVL-5], [OVL-10] All batches verify, and what authorized redactions name is withheld."""
    policy = load_policy(run.policy.data)
    with written(run.files) as folder:
        report = verify_run(folder, policy=policy, overlays=True, details=True)
        chain = verify_chain(folder)
        view = effective_view(folder, "2026-01-01T00:00:00Z", policy=policy)
    assert report.outcome == "intact"
    assert {problem.code for problem in report.problems} <= {"withheld"}
    assert report.withheld == len(run.gone)
    assert report.overlays is not None
    assert report.overlays.batches == len(run.batches)
    unsealed = len(run.files["overlays/events.ndjson"]) > run.covered
    assert [problem.code for problem in chain] == ["uncovered"] * unsealed
    assert view["withheld"] == list(run.redacted)
    assert view["unsealedEvents"] == unsealed


@examples(60)
@given(signed_runs())
def test_a_run_is_signed_by_who_signed_it_and_is_trusted(signed: tuple[RunFiles, Policy, list[str]]) -> None:
    """[SIG-5], [SIG-7] Without a policy nobody is said to have signed."""
    run, policy, identities = signed
    with written(run) as folder:
        report = verify_run(folder, policy=load_policy(policy.data))
        without = verify_run(folder)
    assert (report.outcome, report.problems) == ("intact", ())
    assert list(report.signed_by or ()) == identities
    assert without.signed_by is None
