"""Every code of a pair, by single edits of either arm: the whole report then, with its precedence (MEMORY_PAIR §3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aef_verify.memory.pair import check_given, check_pairs, verify_pair
from aef_verify.memory.pair_arm import read_arm
from aef_verify.memory.pair_lines import Lines
from aef_verify.problems import InputError
from aef_verify.run.verify import verify_run
from aef_verify.strategies.pairs import CASES, DEFINITION, EXTENSION, OURS, TREE, TYPES, draft, finished
from tests import building
from tests.memory.pairing import (
    AT_NORMAL,
    AT_ORACLE,
    GATES,
    INTERRUPTED,
    NORMAL,
    ORACLE,
    PAIR,
    QUESTIONS,
    RESULTS,
    RUN,
    SUMMARY,
    Drafts,
    Edit,
    aborted,
    arm_of,
    codes,
    decided,
    defined,
    drop,
    field,
    named_hash,
    put,
    relabelled,
    state,
    unsealed,
    without,
    without_case,
)

Found = list[tuple[str, str]]
OTHER_DIGEST, OTHER_HASH = "sha256:" + "11" * 32, "11" * 32


class Row(NamedTuple):
    """Edits of a sound pair, and what is found then."""

    name: str
    edits: tuple[Edit, ...]
    found: Found


def normal(*found: str) -> Found:
    return [(AT_NORMAL, code) for code in found]


def oracle(*found: str) -> Found:
    return [(AT_ORACLE, code) for code in found]


def pair(*found: str) -> Found:
    return [(PAIR, code) for code in found]


def entry(role: str, name: str, value: Any) -> Edit:
    """Set a member of the accuracy entry."""
    return put(role, SUMMARY, "lanes", 0, "metrics", 0, name, value)


def extension(role: str, value: Any) -> Edit:
    return put(role, SUMMARY, "ext", EXTENSION, value)


def view_lane(role: str, case: str, lane: str) -> Edit:
    """Put a question's view by type into another lane, of which the summary has no figure."""

    def edit(drafts: Drafts) -> None:
        for line in drafts.of(role)["results.ndjson"]:
            if (line["caseId"], line["path"]) == (case, "type"):
                line["lane"] = lane
        relabelled(role, "", "")(drafts)

    return edit


SEALED = [
    Row("nothing", (), []),
    # The pair fields, one by one
    Row("another major", (field(NORMAL, "schemaVersion", "2.0"),), normal("pair-schema")),
    Row("a later minor", (field(NORMAL, "schemaVersion", "1.7"),), []),
    Row("a member of a later minor", (field(NORMAL, "later", {"x": 1}),), []),
    Row("no pair object", (extension(NORMAL, []),), [*normal("pair-schema"), *oracle("pair-orphan")]),
    Row("another pairId", (field(NORMAL, "pairId", "pair-2"),), oracle("pair-orphan")),
    Row("no pairId", (field(NORMAL, "pairId", "a b"),), [*normal("pair-schema"), *oracle("pair-orphan")]),
    Row("an unknown role", (field(NORMAL, "role", "judge"),), [*normal("pair-schema"), *oracle("pair-orphan")]),
    Row("two oracles", (field(NORMAL, "role", ORACLE),), pair("pair-duplicate")),
    Row("two normals", (field(ORACLE, "role", NORMAL),), pair("pair-duplicate")),
    Row(
        "another source",
        (field(NORMAL, "sourceInputsDigest", OTHER_DIGEST),),
        [*pair("pair-source"), *normal("pair-definition")],
    ),
    Row("no digest", (field(ORACLE, "sourceInputsDigest", "sha256:1"),), oracle("pair-schema")),
    Row(
        "one more planned",
        (field(NORMAL, "plannedQuestions", 5),),
        [*pair("pair-roster"), *normal("pair-counts", "pair-definition")],
    ),
    Row(
        "fewer planned than observed",
        (field(ORACLE, "plannedQuestions", 3),),
        [*pair("pair-roster"), *oracle("pair-counts", "pair-definition")],
    ),
    Row("a count that is none", (field(ORACLE, "plannedQuestions", -1),), oracle("pair-schema")),
    Row("one less observed", (field(NORMAL, "observedQuestions", 3),), normal("pair-counts")),
    Row("one less scored", (field(NORMAL, "scoredQuestions", 3),), normal("pair-counts")),
    Row("more scored than observed", (field(ORACLE, "scoredQuestions", 5),), oracle("pair-counts")),
    Row("none scored", (field(ORACLE, "scoredQuestions", None),), oracle("pair-interrupted")),
    Row("scored is absent", (without(ORACLE, "scoredQuestions"),), oracle("pair-interrupted")),
    Row("no calls", (field(NORMAL, "totalLlmCalls", None),), normal("pair-interrupted")),
    Row("too few calls", (field(NORMAL, "totalLlmCalls", 7),), normal("pair-calls")),
    Row("more calls", (field(NORMAL, "totalLlmCalls", 900),), []),
    Row(
        "too few calls, and counts",
        (field(NORMAL, "totalLlmCalls", 7), field(NORMAL, "scoredQuestions", 3)),
        normal("pair-counts"),
    ),
    Row("not complete", (field(NORMAL, "complete", False),), normal("pair-complete")),
    Row("a diagnostic normal arm", (field(NORMAL, "diagnosticOnly", True),), normal("pair-diagnostic")),
    Row("normal says nothing of it", (without(NORMAL, "diagnosticOnly"),), []),
    Row("an oracle that counts", (field(ORACLE, "diagnosticOnly", False),), oracle("pair-diagnostic")),
    Row("an oracle says nothing of it", (without(ORACLE, "diagnosticOnly"),), oracle("pair-diagnostic")),
    Row("another accuracy", (field(NORMAL, "accuracyPercent", 50.001),), normal("pair-accuracy")),
    Row("no accuracy", (field(ORACLE, "accuracyPercent", None),), oracle("pair-accuracy")),
    Row("a rounded accuracy", (field(NORMAL, "accuracyPercent", 50 + 1e-8),), []),
    Row("an accuracy beside it", (field(NORMAL, "accuracyPercent", 50 + 6e-8),), normal("pair-accuracy")),
    Row("an accuracy above 100", (field(NORMAL, "accuracyPercent", 100.5),), normal("pair-schema")),
    Row("a link in normal", (field(NORMAL, "normalRunHash", OTHER_HASH),), normal("pair-role")),
    Row("a gap in normal", (field(NORMAL, "oracleGapPercentagePoints", 0),), normal("pair-role")),
    Row(
        "nullable members absent", (without(NORMAL, "normalRunHash"), without(NORMAL, "oracleGapPercentagePoints")), []
    ),
    Row("another gap", (field(ORACLE, "oracleGapPercentagePoints", -25),), pair("pair-gap")),
    Row("no gap", (field(ORACLE, "oracleGapPercentagePoints", None),), pair("pair-gap")),
    Row("another hash", (named_hash(OTHER_HASH),), pair("pair-link")),
    Row("no hash", (named_hash(None),), pair("pair-link")),
    # The header
    Row(
        "an aborted normal arm",
        (aborted(NORMAL),),
        [*pair("pair-gap", "pair-order"), *normal("pair-complete", "pair-gate", "pair-interrupted")],
    ),
    Row(
        "an aborted oracle",
        (aborted(ORACLE),),
        [*pair("pair-gap"), *oracle("pair-complete", "pair-interrupted")],
    ),
    Row("too early", (put(ORACLE, RUN, "startedAt", "2026-10-02T14:59:59.999999999Z"),), pair("pair-order")),
    Row("at once", (put(ORACLE, RUN, "startedAt", "2026-10-02T15:00:00.000Z"),), []),
    Row("another target", (put(ORACLE, RUN, "execution", "targetMode", "live"),), pair("pair-model")),
    Row("another judge", (put(ORACLE, RUN, "judges", 0, "model", "other"),), pair("pair-model")),
    Row("another rubric", (put(NORMAL, RUN, "judges", 0, "rubricDigest", OTHER_DIGEST),), pair("pair-model")),
    Row("another provider", (put(NORMAL, RUN, "judges", 0, "provider", "p"),), pair("pair-model")),
    Row("another judge mode", (put(NORMAL, RUN, "judges", 0, "mode", "primary"),), []),
    Row("another producer", (put(ORACLE, RUN, "producer", "version", "1.0.1"),), pair("pair-run")),
    Row(
        "the same suite",
        (lambda drafts: drafts.oracle[RUN].__setitem__("suite", drafts.normal[RUN]["suite"]),),
        [*pair("pair-suite"), *oracle("pair-definition")],
    ),
    Row("no digest of the suite", (drop(NORMAL, RUN, "suite", "digest"),), normal("pair-definition")),
    # Gates
    Row("the oracle decides", (decided(ORACLE, "ship"),), oracle("pair-gate")),
    Row("a flipped gate", (decided(NORMAL, "no_ship"),), normal("pair-gate")),
    Row("no decision", (drop(NORMAL, GATES),), normal("pair-gate")),
    Row("two decisions", (decided(NORMAL, "ship", "ship"),), normal("pair-gate")),
    Row("a flipped verdict", (entry(NORMAL, "verdict", "failed"),), normal("pair-gate")),
    Row("the oracle judges", (entry(ORACLE, "verdict", "passed"),), oracle("pair-gate")),
    Row("the oracle has a rule", (entry(ORACLE, "rule", "at least half"),), oracle("pair-gate")),
    Row("the oracle has thresholds", (defined(ORACLE, "thresholds", {"accuracyPercent": "50"}),), oracle("pair-gate")),
    Row("a stricter threshold", (defined(NORMAL, "thresholds", {"accuracyPercent": "50.1"}),), normal("pair-gate")),
    Row("a threshold as a number", (defined(NORMAL, "thresholds", {"accuracyPercent": 50}),), []),
    # Results
    Row(
        "a flipped result",
        (state(NORMAL, "q1", "failed"),),
        [*pair("pair-gap"), *normal("pair-accuracy", "pair-gate")],
    ),
    Row("a flipped oracle result", (state(ORACLE, "q3", "passed"),), [*pair("pair-gap"), *oracle("pair-accuracy")]),
    Row(
        "a truncated oracle",
        (without_case(ORACLE, "q4"),),
        [*pair("pair-gap", "pair-roster"), *oracle("pair-counts", "pair-definition")],
    ),
    Row(
        "a truncated normal arm",
        (without_case(NORMAL, "q4"),),
        [*pair("pair-gap", "pair-roster"), *normal("pair-counts", "pair-definition")],
    ),
    Row("a relabelled question", (relabelled(NORMAL, "q3", TYPES[5]),), normal("pair-definition")),
    Row("a type without its lane", (view_lane(NORMAL, "q3", TYPES[4]),), normal("pair-definition")),
    # Definitions
    Row("stripped", (drop(ORACLE, DEFINITION),), oracle("pair-definition")),
    Row("stripped of normal", (drop(NORMAL, DEFINITION),), normal("pair-definition")),
    Row("no JSON", (put(NORMAL, DEFINITION, b"{"),), normal("pair-definition")),
    Row("no object", (put(NORMAL, DEFINITION, b"[]"),), normal("pair-definition")),
    Row("too deep", (put(NORMAL, DEFINITION, b'{"a":' + b"[" * 64 + b"]" * 64 + b"}"),), normal("pair-definition")),
    Row(
        "no canonical form",
        (put(NORMAL, DEFINITION, b'{"seed":' + b"9" * 30 + b"}"),),
        [*normal("pair-definition"), *oracle("pair-definition")],
    ),
    Row(
        "another definition",
        (defined(NORMAL, "seed", 8, refit=False),),
        [*normal("pair-definition"), *oracle("pair-definition")],
    ),
    Row("another seed", (defined(NORMAL, "seed", 8),), oracle("pair-definition")),
    Row("another answer model", (defined(ORACLE, "answer", {"model": "better"}),), oracle("pair-definition")),
    Row("another agent", (defined(NORMAL, "agent", {"name": "bm25"}),), []),
    Row(
        "a pairId in both",
        (defined(NORMAL, "pairId", "p"), defined(ORACLE, "pairId", "p")),
        [*normal("pair-definition"), *oracle("pair-definition")],
    ),
    Row("a nested pairId", (defined(NORMAL, "agent", {"run": [{"pairId": "p"}]}),), normal("pair-definition")),
    Row("another arm", (defined(NORMAL, "arm", ORACLE),), normal("pair-definition")),
    Row("another reference", (put(NORMAL, RUN, "suite", "ref", "suite:mine"),), normal("pair-definition")),
    Row(
        "another source in it",
        (defined(NORMAL, "sourceInputsDigest", OTHER_DIGEST),),
        [*normal("pair-definition"), *oracle("pair-definition")],
    ),
    Row("no roster", (defined(NORMAL, "roster", 4),), [*normal("pair-definition"), *oracle("pair-definition")]),
    # Seals
    Row("only the oracle is sealed", (unsealed(NORMAL),), pair("pair-run")),
    Row("only normal is sealed", (unsealed(ORACLE),), pair("pair-run")),
    Row("a link to no seal", (unsealed(NORMAL), unsealed(ORACLE), named_hash(OTHER_HASH)), pair("pair-link")),
]


@pytest.mark.parametrize("row", SEALED, ids=lambda row: row.name)
def test_a_sealed_pair_with_an_edit(row: Row, tmp_path: Path) -> None:
    report = Drafts().but(*row.edits).report(tmp_path)
    assert [arm.outcome for arm in report.arms if arm.outcome == "invalid"] == []
    assert codes(report.problems) == sorted(row.found)
    assert report.outcome == ("invalid" if row.found else "linked")
    assert all(problem.detail for problem in report.problems)


RENAMED = [{"id": question.id.replace("q1", "z1"), "type": question.type} for question in QUESTIONS]
ABORTED = [
    Row("nothing", (), []),
    Row("scored", (field(ORACLE, "scoredQuestions", 2),), oracle("pair-interrupted")),
    Row("calls", (field(ORACLE, "totalLlmCalls", 9),), oracle("pair-interrupted")),
    Row("an accuracy", (field(ORACLE, "accuracyPercent", 100),), oracle("pair-interrupted")),
    Row("too many scored", (field(ORACLE, "scoredQuestions", 3),), oracle("pair-counts", "pair-interrupted")),
    Row("a gap", (field(ORACLE, "oracleGapPercentagePoints", 25),), pair("pair-gap")),
    Row("complete", (field(ORACLE, "complete", True),), oracle("pair-complete")),
    Row("observed", (field(ORACLE, "observedQuestions", 3),), oracle("pair-counts")),
    Row(
        "a question of no roster",
        tuple(defined(role, "roster", RENAMED) for role in (NORMAL, ORACLE)),
        [*normal("pair-definition"), *oracle("pair-definition")],
    ),
    Row(
        "fewer planned than observed",
        (field(ORACLE, "plannedQuestions", 1),),
        [*pair("pair-roster"), *oracle("pair-counts", "pair-definition")],
    ),
    Row("another link", (named_hash(OTHER_HASH),), pair("pair-link")),
    Row("a lost question", (without_case(ORACLE, "q1"), field(ORACLE, "observedQuestions", 1)), []),
    Row(
        "a question that normal lacks",
        (
            without_case(NORMAL, "q1"),
            field(NORMAL, "observedQuestions", 3),
            field(NORMAL, "scoredQuestions", 3),
            field(NORMAL, "accuracyPercent", 100 / 3),
            decided(NORMAL, "inconclusive"),
            entry(NORMAL, "verdict", "inconclusive"),
        ),
        [*pair("pair-roster"), *normal("pair-counts", "pair-definition")],
    ),
    Row("a decision", (decided(ORACLE, "inconclusive"),), oracle("pair-gate")),
]


@pytest.mark.parametrize("row", ABORTED, ids=lambda row: row.name)
def test_an_interrupted_oracle_with_an_edit(row: Row, tmp_path: Path) -> None:
    report = Drafts(INTERRUPTED, complete=False).but(*row.edits).report(tmp_path)
    assert [arm.outcome for arm in report.arms if arm.outcome == "invalid"] == []
    assert codes(report.problems) == sorted(row.found)


def test_it_is_said_in_which_shared_members_definitions_differ(tmp_path: Path) -> None:
    report = Drafts().but(defined(ORACLE, "judge", {})).report(tmp_path)
    (problem,) = (problem for problem in report.problems if problem.pair in oracle("pair-definition"))
    assert problem.detail == "the definition differs from the normal arm's in judge"


def test_judges_are_not_compared_where_an_arm_scored_nothing(tmp_path: Path) -> None:
    nothing = tuple(question._replace(oracle=None) for question in QUESTIONS)
    other = put(ORACLE, RUN, "judges", [{"model": "other"}])
    assert Drafts(nothing, complete=False).but(other).report(tmp_path / "a").outcome == "linked"
    absent = tuple(question._replace(oracle="error") for question in QUESTIONS)
    assert Drafts(absent).but(other).report(tmp_path / "b").outcome == "linked"


FOREIGN = [
    Row("nothing", (), []),
    Row("calls below scored", (field(NORMAL, "totalLlmCalls", 3),), normal("pair-calls")),
    Row("one call a question", (field(NORMAL, "totalLlmCalls", 4),), []),
    Row("observed", (field(NORMAL, "observedQuestions", 3),), normal("pair-counts")),
    Row("another accuracy", (field(ORACLE, "accuracyPercent", 80),), oracle("pair-accuracy")),
    Row("another gap", (field(ORACLE, "oracleGapPercentagePoints", 24),), pair("pair-gap")),
    Row("the oracle decides", (decided(ORACLE, "ship"),), oracle("pair-gate")),
    Row("normal decides twice", (decided(NORMAL, "ship", "no_ship"),), []),
    Row(
        "the same suite",
        (put(ORACLE, RUN, "suite", {"ref": "suite:memory-normal", "version": "1"}),),
        pair("pair-suite"),
    ),
    Row("one digest", (put(NORMAL, RUN, "suite", "digest", OTHER_DIGEST),), []),
    Row(
        "equal digests",
        tuple(put(role, RUN, "suite", "digest", OTHER_DIGEST) for role in (NORMAL, ORACLE)),
        pair("pair-suite"),
    ),
    Row("another hash", (named_hash(OTHER_HASH),), pair("pair-link")),
]


@pytest.mark.parametrize("layout", [CASES, TREE])
@pytest.mark.parametrize("row", FOREIGN, ids=lambda row: row.name)
def test_evidence_of_another_layout_with_an_edit(row: Row, layout: str, tmp_path: Path) -> None:
    report = Drafts(layout=layout).but(*row.edits).report(tmp_path)
    assert codes(report.problems) == sorted(row.found)
    assert report.outcome == ("invalid" if row.found else "linked")
    assert any("not compared" in note for note in report.notes) is (layout == TREE)


def test_questions_of_another_layout_are_compared_by_root_case(tmp_path: Path) -> None:
    swapped = tuple(question._replace(id=f"z{question.id}") for question in QUESTIONS)
    drafts = Drafts(layout=CASES)
    drafts.oracle = Drafts(swapped, layout=CASES).oracle
    assert codes(drafts.report(tmp_path).problems) == pair("pair-roster")


@pytest.mark.parametrize("named", [NORMAL, ORACLE])
def test_questions_are_compared_only_where_both_arms_name_them(named: str, tmp_path: Path) -> None:
    drafts, other = Drafts(layout=CASES), Drafts(layout=TREE)
    drafts.normal, drafts.oracle = (drafts.normal, other.oracle) if named == NORMAL else (other.normal, drafts.oracle)
    report = drafts.report(tmp_path)
    assert codes(report.problems) == []
    assert any("not compared" in note for note in report.notes)


def test_one_question_of_our_layout_is_compared(tmp_path: Path) -> None:
    report = Drafts(QUESTIONS[:1]).report(tmp_path)
    assert (report.outcome, report.notes) == ("linked", ())


def test_a_scored_state_leaves_accuracy_to_the_fields(tmp_path: Path) -> None:
    """A question that is `scored` does not say whether it passed, so the gap is that of the fields."""
    drafts = Drafts(layout=CASES).but(state(ORACLE, "q1", "scored"), field(ORACLE, "accuracyPercent", 60))
    report = drafts.report(tmp_path)
    assert codes(report.problems) == pair("pair-gap")
    assert any("accuracyPercent of pair-1-oracle is not decided" in note for note in report.notes)
    assert drafts.but(field(ORACLE, "oracleGapPercentagePoints", 10)).report(tmp_path / "b").outcome == "linked"


def test_no_more_is_scored_than_was_measured(tmp_path: Path) -> None:
    questions = (QUESTIONS[0]._replace(oracle="error"), *QUESTIONS[1:])
    assert Drafts(questions).report(tmp_path / "3").outcome == "linked"
    four = field(ORACLE, "scoredQuestions", 4), field(ORACLE, "accuracyPercent", 50)
    assert codes(Drafts(questions).but(*four).report(tmp_path / "4").problems) == oracle("pair-counts")


def test_a_typed_absence_may_be_scored_or_not_where_it_was_measured(tmp_path: Path) -> None:
    """`inconclusive` is measured and no verdict: scored lies in a range, and the fields say where."""
    edits = (state(ORACLE, "q1", "inconclusive"), field(ORACLE, "scoredQuestions", 3))
    fields = (field(ORACLE, "accuracyPercent", 200 / 3), field(ORACLE, "oracleGapPercentagePoints", 200 / 3 - 50))
    assert Drafts(layout=CASES).but(*edits, *fields).report(tmp_path / "3").outcome == "linked"
    fields = (field(ORACLE, "accuracyPercent", 50), field(ORACLE, "oracleGapPercentagePoints", 0))
    four = field(ORACLE, "scoredQuestions", 4)
    assert Drafts(layout=CASES).but(*edits, four, *fields).report(tmp_path / "4").outcome == "linked"
    two = Drafts(layout=CASES).but(*edits, field(ORACLE, "scoredQuestions", 2), *fields)
    assert codes(two.report(tmp_path / "2").problems) == oracle("pair-counts")


def test_unsealed_arms_are_linked_and_prove_nothing(tmp_path: Path) -> None:
    assert Drafts(sealed=False).report(tmp_path).outcome == "linked-unsealed"


def test_an_invalid_arm_gives_pair_run_alone(tmp_path: Path) -> None:
    normal_run, oracle_run = Drafts().but(field(ORACLE, "accuracyPercent", 1)).finished()
    tampered = oracle_run.replacing({"metrics.json": oracle_run["metrics.json"] + b" "})
    report = check_given(arm_of(normal_run, tmp_path / "n"), arm_of(tampered, tmp_path / "o"))
    assert codes(report.problems) == pair("pair-run")
    # Its summary is not valid any more, and still says which pair it belongs to.
    gone = normal_run.replacing({SUMMARY: normal_run[SUMMARY].replace(b'"lanes"', b'"lane"')})
    report = check_given(arm_of(gone, tmp_path / "gone"), arm_of(oracle_run, tmp_path / "o2"))
    assert codes(report.problems) == [*pair("pair-run"), *oracle("pair-accuracy")]


@pytest.mark.parametrize("status", ["invalid", "running"])
def test_nothing_more_is_read_of_a_run_that_is_not_sound_and_closed(status: str, tmp_path: Path) -> None:
    drafts = Drafts(sealed=False)
    if status == "running":
        drafts.normal[RUN] = {name: value for name, value in drafts.normal[RUN].items() if name != "endedAt"}
        drafts.normal[RUN]["status"] = status
    run, _ = drafts.finished()
    if status == "invalid":
        run = run.replacing({RESULTS: run[RESULTS] + b"unfinished"})
    report = verify_run(run.write(tmp_path))
    assert report.outcome == ("invalid" if status == "invalid" else "unsealed")
    arm = read_arm(report)
    assert arm is not None
    assert (arm.lines, arm.definition.present, arm.decided) == (Lines.none(), False, 0)


def test_the_accuracy_entry_is_the_one_at_the_path_of_the_questions(tmp_path: Path) -> None:
    drafts = Drafts()
    (lane,) = (lane for lane in drafts.normal[SUMMARY]["lanes"] if lane["lane"] == "longmemeval")
    (found,) = lane["metrics"]
    elsewhere = {"metric": found["metric"], "path": "elsewhere", "N": 0, "n": 0, "notMeasured": 0, "value": None}
    lane["metrics"].append(elsewhere | {"verdict": "not_measured"})
    assert drafts.report(tmp_path).outcome == "linked"


def test_decisions_are_counted_and_two_are_kept(tmp_path: Path) -> None:
    drafts = Drafts(sealed=False)
    drafts.normal[GATES] = drafts.normal[GATES] * 3
    arm, _ = drafts.arms(tmp_path)
    assert (arm.decided, arm.decisions) == (3, ("ship", "ship"))


def test_arms_that_share_a_run_id(tmp_path: Path) -> None:
    drafts = Drafts()
    drafts.oracle = draft(ORACLE, QUESTIONS, run_id="pair-1-normal", normal_accuracy=50.0)
    assert codes(drafts.report(tmp_path).problems) == pair("pair-run")


def test_an_oracle_aimed_at_the_normal_run_of_another_execution(tmp_path: Path) -> None:
    other = arm_of(Drafts(pair_id="pair-2").finished()[0], tmp_path / "other")
    drafts = Drafts().but(named_hash(other.run_hash))
    assert codes(check_pairs([other, drafts.arms(tmp_path)[1]])[1].problems) == oracle("pair-orphan")
    reports = check_pairs([other, *drafts.arms(tmp_path / "all")])
    assert [report.outcome for report in reports] == ["normal-only", "invalid"]
    assert codes(reports[1].problems) == pair("pair-link")


def test_swapped_arms(tmp_path: Path) -> None:
    first, second = Drafts().arms(tmp_path)
    report = check_given(second, first)
    assert codes(report.problems) == [*normal("pair-role"), *oracle("pair-role")]
    assert report.normal == first
    assert report.oracle == second
    assert codes(check_given(first, first).problems) == normal("pair-role")


def test_mixed_pairs(tmp_path: Path) -> None:
    first, _ = Drafts().arms(tmp_path / "1")
    _, second = Drafts(pair_id="pair-2").arms(tmp_path / "2")
    report = check_given(first, second)
    assert (report.outcome, report.pair_id) == ("invalid", None)
    assert codes(report.problems) == [("run:pair-2-oracle", "pair-orphan")]


def test_duplicates_end_the_checks_and_copies_are_none(tmp_path: Path) -> None:
    first, second = Drafts().arms(tmp_path)
    copy = arm_of(Drafts().finished()[0], tmp_path / "copy")
    (report,) = check_pairs([first, copy, second])
    assert report.outcome == "linked"
    assert report.others == (str(tmp_path / "copy"),)
    again = Drafts().but(put(NORMAL, RUN, "endedAt", "2026-10-02T14:59:00Z"), field(NORMAL, "accuracyPercent", 1))
    (report,) = check_pairs([first, second, again.arms(tmp_path / "again")[0]])
    assert codes(report.problems) == pair("pair-duplicate")


def test_an_unsealed_copy_does_not_stand_for_the_sealed_run(tmp_path: Path) -> None:
    sealed, second = Drafts().arms(tmp_path)
    bare = arm_of(Drafts().finished()[0].without("seal.json"), tmp_path / "bare")
    (report,) = check_pairs([bare, second, sealed])
    assert (report.outcome, report.normal) == ("linked", sealed)


def test_a_resealed_normal_arm(tmp_path: Path) -> None:
    normal_run, oracle_run = Drafts().finished()
    resealed = normal_run.replacing({"ext/note.txt": b"one more file\n"}).sealed()
    report = check_given(arm_of(resealed, tmp_path / "n"), arm_of(oracle_run, tmp_path / "o"))
    assert codes(report.problems) == pair("pair-link")


def test_a_normal_arm_alone(tmp_path: Path) -> None:
    (report,) = check_pairs(Drafts().arms(tmp_path)[:1])
    assert (report.outcome, report.problems) == ("normal-only", ())
    (report,) = check_pairs(Drafts().arms(tmp_path / "o")[1:])
    assert codes(report.problems) == oracle("pair-orphan")


def test_an_aborted_normal_arm_alone(tmp_path: Path) -> None:
    begun = (QUESTIONS[0], *(question._replace(normal=None) for question in QUESTIONS[1:]))
    documents = draft(NORMAL, begun, complete=False)
    (report,) = check_pairs([arm_of(finished(documents), tmp_path / "n")])
    assert (report.outcome, report.problems, report.notes) == ("normal-only", (), ())
    documents = draft(NORMAL, [question._replace(normal=None) for question in QUESTIONS], complete=False)
    (report,) = check_pairs([arm_of(finished(documents), tmp_path / "empty")])
    assert (report.outcome, report.problems) == ("normal-only", ())


def test_a_running_run_is_no_arm_yet(tmp_path: Path) -> None:
    drafts = Drafts()
    header = {**drafts.normal[RUN], "status": "running"}
    del header["endedAt"]
    running = arm_of(finished({**drafts.normal, RUN: header}, sealed=False), tmp_path / "n")
    assert running.is_running
    (report,) = check_pairs([running, drafts.arms(tmp_path)[1]])
    assert codes(report.problems) == oracle("pair-orphan")


def test_what_is_no_arm(tmp_path: Path) -> None:
    path = building.small().write(tmp_path / "run")
    assert read_arm(verify_run(path)) is None
    with pytest.raises(InputError, match=r"carries no agenteval\.memoryPair"):
        verify_pair(path, path)
    nothing = building.small()
    nothing["summary.json"]["ext"] = {EXTENSION: None}
    assert read_arm(verify_run(nothing.write(tmp_path / "null"))) is None


def test_a_pair_is_signed_only_where_both_arms_are(tmp_path: Path) -> None:
    policy = building.trust()
    normal_run, oracle_run = Drafts().finished()

    def signed(run: Any, *who: str) -> Any:
        return run.replacing({"attestation.dsse.json": building.envelope(run["seal.json"], who)})

    both = (building.ALICE, building.BOB)
    first = signed(normal_run, *both).write(tmp_path / "n")
    second = signed(oracle_run, building.BOB).write(tmp_path / "o")
    assert verify_pair(first, second, policy=policy).signed_by == (building.BOB,)
    assert verify_pair(first, second).signed_by is None
    bare = oracle_run.write(tmp_path / "bare")
    assert verify_pair(first, bare, policy=policy).signed_by == ()


def test_it_is_said_when_the_scored_sets_differ(tmp_path: Path) -> None:
    assert Drafts().report(tmp_path / "a").scored_sets_differ is False
    absent = (QUESTIONS[0]._replace(normal="error"), *QUESTIONS[1:])
    assert Drafts(absent).report(tmp_path / "b").scored_sets_differ is True
    assert Drafts(layout=TREE).report(tmp_path / "c").scored_sets_differ is None


def test_a_file_that_changes_between_the_readings_is_refused(tmp_path: Path) -> None:
    normal_run, _ = Drafts().finished()
    report = verify_run(normal_run.write(tmp_path / "n"))
    (tmp_path / "n" / GATES).write_bytes(b"")
    with pytest.raises(InputError, match="changed while it was read"):
        read_arm(report)
    unsealed_run, _ = Drafts(sealed=False).finished()
    report = verify_run(unsealed_run.write(tmp_path / "u"))
    (tmp_path / "u" / RESULTS).write_bytes(unsealed_run[RESULTS] + b"unfinished")
    with pytest.raises(InputError, match="changed while it was read"):
        read_arm(report)


@pytest.mark.parametrize("layout", [OURS, CASES, TREE])
def test_nothing_scored(layout: str, tmp_path: Path) -> None:
    absent = tuple(question._replace(normal="error", oracle="not_measured") for question in QUESTIONS)
    report = Drafts(absent, layout=layout).report(tmp_path)
    assert (report.outcome, report.problems) == ("linked", ())


def test_no_question_at_all(tmp_path: Path) -> None:
    for layout in (OURS, CASES, TREE):
        assert Drafts((), layout=layout).report(tmp_path / layout).outcome == "linked"


@pytest.mark.parametrize("layout", [OURS, TREE])
def test_two_arms_without_a_question_scored_the_same_ones(layout: str, tmp_path: Path) -> None:
    assert Drafts((), layout=layout).report(tmp_path).scored_sets_differ is False
