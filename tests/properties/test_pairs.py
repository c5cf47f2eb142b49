"""Pairs as they are drawn are linked; a single change of either arm gives exactly the codes that it should.

docs/MEMORY_PAIR.md §3. The tables of single edits are in `tests/memory/test_pair.py`; here the pairs are any.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import assume, given
from hypothesis import strategies as st

from aef_verify.engine.evidence import verify_evidence
from aef_verify.memory import evidence
from aef_verify.memory.digests import jcs_digest
from aef_verify.memory.model import NORMAL, ORACLE, ArmResult
from aef_verify.memory.pair import PairReport, verify_pair
from aef_verify.memory.pair_definition import definition_facts
from aef_verify.schemas import accepts
from aef_verify.strategies import PairFiles, byte_changes, json_objects, pairs
from aef_verify.strategies.pairs import LAYOUTS, OURS, TYPES, Question
from tests.memory.arms import ENDED, arms
from tests.memory.pairing import PAIR, RUN, Drafts, Edit, decided, defined, field, named_hash, pair_of, put, without
from tests.properties.effort import examples
from tests.properties.scratch import scratch

OTHER = "sha256:" + "22" * 32
AT = {NORMAL: "run:pair-1-normal", ORACLE: "run:pair-1-oracle"}
_STATES = st.sampled_from(["passed", "failed", "passed", "failed", "error", "not_measured"])


def report_of(found: PairFiles) -> PairReport:
    with scratch() as folder:
        return verify_pair(*found.write(folder))


@examples(60)
@given(pairs())
def test_a_pair_is_linked(found: PairFiles) -> None:
    with scratch() as folder:
        found.write(folder)
        report = verify_evidence([folder])
    (pair,) = report.pairs
    sealed = "seal.json" in found.normal
    assert (pair.outcome, pair.problems) == ("linked" if sealed else "linked-unsealed", ())
    assert report.is_sound


@examples(25)
@given(pairs(), st.data())
def test_any_changed_byte_of_a_sealed_pair_is_found(found: PairFiles, data: st.DataObject) -> None:
    assume("seal.json" in found.normal)
    role = data.draw(st.sampled_from(["normal", "oracle"]))
    run = getattr(found, role)
    path = data.draw(st.sampled_from([path for path in run if path != "summary.json"]))
    changed = data.draw(byte_changes(run[path])).data
    assume(changed != run[path] and path != "seal.json")
    tampered = found._replace(**{role: run.replacing({path: changed})})
    report = report_of(tampered)
    assert report.outcome == "invalid"
    assert "pair-run" in {problem.code for problem in report.problems}


@examples(30)
@given(pairs(layouts=[OURS]), pairs(layouts=[OURS]))
def test_mixed_pairs_are_never_linked(one: PairFiles, two: PairFiles) -> None:
    assume(one.normal.run_id != two.normal.run_id)
    assert report_of(PairFiles(one.normal, two.oracle)).outcome == "invalid"
    assert report_of(PairFiles(one.oracle, one.normal)).outcome == "invalid"


@examples(200)
@given(json_objects())
def test_the_digest_of_a_definition_is_that_of_its_canonical_form(document: dict[str, Any]) -> None:
    try:
        due: str | None = jcs_digest(document)
    except ValueError:
        due = None
    assert definition_facts(document).digest == due


class Case(NamedTuple):
    """A single edit of an arm, the codes it earns as (is it the pair's, code), and where it says anything at all."""

    edit: Callable[[str], Edit]
    found: Callable[[Drafts, str], set[tuple[bool, str]]]
    fits: Callable[[Drafts, str], bool] = lambda drafts, role: True


def ours(drafts: Drafts) -> bool:
    return "ext/longmemeval/definition.json" in drafts.normal


def complete(drafts: Drafts, role: str) -> bool:
    return bool(drafts.of(role)[RUN]["status"] == "completed")


def _of(*found: tuple[bool, str]) -> Callable[[Drafts, str], set[tuple[bool, str]]]:
    return lambda drafts, role: set(found)


CASES = {
    "major": Case(lambda role: field(role, "schemaVersion", "2.0"), _of((False, "pair-schema"))),
    "minor": Case(lambda role: field(role, "schemaVersion", "1.3"), _of()),
    "complete": Case(
        lambda role: lambda drafts: pair_of(drafts.of(role)).update(complete=not pair_of(drafts.of(role))["complete"]),
        _of((False, "pair-complete")),
    ),
    "diagnostic": Case(lambda role: field(role, "diagnosticOnly", role == NORMAL), _of((False, "pair-diagnostic"))),
    "diagnostic absent": Case(
        lambda role: without(role, "diagnosticOnly"),
        lambda drafts, role: {(False, "pair-diagnostic")} if role == ORACLE else set(),
    ),
    "source": Case(
        lambda role: field(role, "sourceInputsDigest", OTHER),
        lambda drafts, role: {(True, "pair-source")} | ({(False, "pair-definition")} if ours(drafts) else set()),
    ),
    "planned": Case(
        lambda role: (
            lambda drafts: pair_of(drafts.of(role)).update(
                plannedQuestions=pair_of(drafts.of(role))["plannedQuestions"] + 1
            )
        ),
        lambda drafts, role: (
            {(True, "pair-roster")}
            | ({(False, "pair-counts")} if complete(drafts, role) else set())
            | ({(False, "pair-definition")} if ours(drafts) else set())
        ),
    ),
    "calls": Case(
        lambda role: field(role, "totalLlmCalls", 0),
        lambda drafts, role: {(False, "pair-calls")} if complete(drafts, role) else {(False, "pair-interrupted")},
        lambda drafts, role: pair_of(drafts.of(role))["scoredQuestions"] != 0,
    ),
    "calls null": Case(
        lambda role: field(role, "totalLlmCalls", None),
        lambda drafts, role: {(False, "pair-interrupted")} if complete(drafts, role) else set(),
    ),
    "accuracy": Case(
        lambda role: field(role, "accuracyPercent", 33.3),
        lambda drafts, role: {(False, "pair-accuracy" if complete(drafts, role) else "pair-interrupted")},
    ),
    "gap": Case(
        lambda role: field(role, "oracleGapPercentagePoints", 7.77),
        lambda drafts, role: {(False, "pair-role")} if role == NORMAL else {(True, "pair-gap")},
    ),
    "link": Case(
        lambda role: named_hash("33" * 32) if role == ORACLE else field(role, "normalRunHash", "33" * 32),
        lambda drafts, role: {(False, "pair-role")} if role == NORMAL else {(True, "pair-link")},
    ),
    "target": Case(lambda role: put(role, RUN, "execution", "targetMode", "live"), _of((True, "pair-model"))),
    "producer": Case(lambda role: put(role, RUN, "producer", "name", "another"), _of((True, "pair-run"))),
    "unsealed": Case(
        lambda role: lambda drafts: drafts.sealed.discard(role),
        _of((True, "pair-run")),
        lambda drafts, role: bool(drafts.sealed),
    ),
    "definition": Case(
        lambda role: defined(role, "variant", "s", refit=False),
        _of((False, "pair-definition")),
        lambda drafts, role: ours(drafts) and role == ORACLE,
    ),
    "oracle gate": Case(
        lambda role: decided(role, "ship"), _of((False, "pair-gate")), lambda drafts, role: role == ORACLE
    ),
}


@st.composite
def drafted(draw: st.DrawFn) -> Drafts:
    """Draw a sound pair that can still be edited."""
    whole = draw(st.booleans())
    questions = [
        Question(f"q{at}", draw(st.sampled_from(TYPES)), draw(_STATES), draw(_STATES if whole else st.none() | _STATES))
        for at in range(draw(st.integers(0, 6)))
    ]
    layout, sealed = draw(st.sampled_from(LAYOUTS)), draw(st.booleans())
    threshold = draw(st.sampled_from(["0", "50", "100"]))
    return Drafts(questions, layout=layout, sealed=sealed, complete=whole, threshold=threshold)


@examples(150)
@given(drafted(), st.sampled_from(sorted(CASES)), st.sampled_from([NORMAL, ORACLE]))
def test_a_single_edit_gives_exactly_its_codes(drafts: Drafts, name: str, role: str) -> None:
    case = CASES[name]
    assume(case.fits(drafts, role))
    due = case.found(drafts, role)
    drafts.but(case.edit(role))
    with scratch() as folder:
        report = drafts.report(Path(folder))
    found = {problem.pair for problem in report.problems}
    assert found == {(PAIR if of_pair else AT[role], code) for of_pair, code in due}


@examples(40)
@given(drafted())
def test_an_arm_survives_the_way_between_processes_and_its_fields_the_profile(drafts: Drafts) -> None:
    with scratch() as folder:
        arms_found = drafts.arms(Path(folder))
    assert pickle.loads(pickle.dumps(arms_found)) == arms_found
    for role in (NORMAL, ORACLE):
        assert accepts("memory-pair", "writer", pair_of(drafts.of(role)))


@examples(15)
@given(arms(role=NORMAL, most=30), st.booleans(), st.booleans())
def test_the_evidence_that_the_benchmark_writes_is_linked(found: ArmResult, sealed: bool, whole: bool) -> None:
    outcomes = tuple(outcome._replace(calls=2 + outcome.calls) for outcome in found.outcomes)
    normal = found._replace(
        outcomes=outcomes, planned=len(outcomes), pair_id="pair-9", status="completed", abort_reason=None
    )
    roster = [outcome.question for outcome in outcomes]
    normal = normal._replace(definition=normal.definition | {"roster": [item._asdict() for item in roster]})
    turned = [outcomes[at - 1]._replace(question=question) for at, question in enumerate(roster)]
    oracle = normal._replace(
        role=ORACLE,
        definition=normal.definition
        | {"arm": ORACLE, "projection": "gold-1", "agent": {"name": "reader"}, "thresholds": None},
        started_at=ENDED,
        ended_at="2026-10-02T16:00:00Z",
        outcomes=tuple(turned if whole else turned[: len(turned) // 2]),
        status="completed" if whole else "aborted",
        abort_reason=None if whole else "interrupted",
    )
    with scratch() as folder:
        given_first = _write(normal, folder, "n", sealed, None, None)
        given_next = _write(oracle, folder, "o", sealed, given_first[1], normal.accuracy_percent)
        report = verify_pair(given_first[0], given_next[0])
    assert (report.outcome, report.problems, report.notes) == ("linked" if sealed else "linked-unsealed", (), ())


def _write(
    arm: ArmResult, folder: str, run_id: str, sealed: bool, link: str | None, accuracy: float | None
) -> tuple[str, str | None]:
    written = evidence.write_arm(
        arm,
        folder,
        run_id=run_id,
        normal_run_hash=link,
        normal_accuracy=accuracy,
        threshold=50,
        seal=sealed,
        key=None,
        producer_version="1",
    )
    return written.path, written.run_hash if sealed else None
