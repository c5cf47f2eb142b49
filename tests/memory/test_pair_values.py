"""What is read of an arm: questions in each layout, the profile's schema, bounds, and what an arm of a run costs."""

from __future__ import annotations

import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from aef_verify.engine.task import ArmAnswer, Task
from aef_verify.memory.pair_definition import definition_facts
from aef_verify.memory.pair_lines import BIT, Lines, LinesReader, shortened
from aef_verify.run.verify import RunReport
from aef_verify.schemas import Side, accepts, explain
from aef_verify.strategies.pairs import CASES, SOURCE, TREE, draft
from tests import building
from tests.memory.pairing import NORMAL, ORACLE, QUESTIONS, Drafts, field, pair_of

FIELDS = pair_of(draft(NORMAL, QUESTIONS))
SIDES: tuple[Side, ...] = ("writer", "reader")


def read(lines: list[dict[str, Any]], *, ours: bool = False) -> Lines:
    reader = LinesReader(ours=ours)
    for number, line in enumerate(lines, 1):
        reader.take(number, line)
    return reader.lines()


def test_questions_with_our_definition_are_the_lines_at_qa() -> None:
    lines = read(draft(NORMAL, QUESTIONS)["results.ndjson"], ours=True)
    for observed in (0, 4, 9):
        questions = lines.questions(observed)
        assert questions is not None
        assert (questions.number, questions.passed, questions.least_scored, questions.most_scored) == (4, 2, 4, 4)
    assert lines.types == {question.id: f"longmemeval.{question.type}" for question in QUESTIONS}


def test_questions_of_several_root_cases() -> None:
    results = draft(NORMAL, QUESTIONS, layout=CASES)["results.ndjson"]
    lines = read(results)
    assert lines.questions(4) is not None
    assert lines.questions(5) is None
    child = {"parentResultId": results[0]["resultId"], "component": {"weight": 1, "required": True}}
    below = [building.result("q1", f"answer/{at}", **child) for at in range(2)]
    questions = read([*results, *below]).questions(5)
    assert questions is not None
    assert (questions.ids, questions.number) == (None, 5)


def test_questions_of_one_root_case_are_the_leaves_else_the_root() -> None:
    lines = read(draft(NORMAL, QUESTIONS, layout=TREE)["results.ndjson"])
    leaves, root = lines.questions(4), lines.questions(1)
    assert leaves is not None
    assert (leaves.ids, leaves.passed) == (None, 2)
    assert root is not None
    assert root.ids == {"longmemeval": BIT["passed"]}
    assert lines.questions(2) is None
    assert read([]).questions(0) is not None


def test_of_one_root_case_with_one_leaf_the_leaf_is_the_question() -> None:
    parent = building.result("q1", state="failed", aggregation=building.aggregation(1))
    questions = read([parent, building.child("q1", "a")]).questions(1)
    assert questions is not None
    assert (questions.ids, questions.states) == (None, {BIT["passed"]: 1})


@pytest.mark.parametrize("ours", [True, False])
def test_trial_lines_never_count(ours: bool) -> None:
    trials = [building.result("q1", trial=at, state=state) for at, state in enumerate(("failed", "passed", "error"))]
    lines = read([*trials, building.rollup("q1", n=3, passed=1, agree=False), building.result("q2")], ours=ours)
    questions = lines.questions(2)
    assert questions is not None
    assert questions.states == {BIT["passed"]: 2}
    alone = read([*trials, building.rollup("q1", n=3, passed=1, agree=False)]).questions(1)
    assert alone is not None
    assert alone.states == {BIT["passed"]: 1}


def test_a_case_whose_roots_differ_is_not_decided() -> None:
    questions = read(
        [building.result("q1", "a"), building.result("q1", "b", state="failed", severity="low")]
    ).questions(1)
    assert questions is not None
    assert (questions.is_decided, questions.passed) == (False, 0)
    mixed = [building.result("q1", "a"), building.result("q1", "b", state="error"), building.result("q2")]
    found = read(mixed).questions(2)
    assert found is not None
    assert (found.least_scored, found.most_scored, found.is_decided) == (1, 2, False)


def test_long_ids_stay_apart_and_short() -> None:
    long = "x" * 200
    assert shortened("x" * 64) == "x" * 64
    assert shortened(long + "a") != shortened(long + "b")
    assert len(shortened(long)) < 100


@pytest.mark.parametrize("side", SIDES)
def test_the_profile(side: Side) -> None:
    assert accepts("memory-pair", side, FIELDS)
    needed = (
        "schemaVersion",
        "pairId",
        "role",
        "sourceInputsDigest",
        "plannedQuestions",
        "observedQuestions",
        "complete",
    )
    for name in FIELDS:
        bare = {member: value for member, value in FIELDS.items() if member != name}
        assert accepts("memory-pair", side, bare) is (name not in needed), name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schemaVersion", "2.0"),
        ("schemaVersion", "1.00"),
        ("schemaVersion", 1.0),
        ("pairId", ""),
        ("pairId", "a b"),
        ("pairId", "é"),
        ("pairId", "a\n"),
        ("pairId", "x" * 129),
        ("role", "Normal"),
        ("role", None),
        ("sourceInputsDigest", SOURCE.upper()),
        ("sourceInputsDigest", SOURCE[7:]),
        ("plannedQuestions", -1),
        ("plannedQuestions", 1.5),
        ("observedQuestions", None),
        ("scoredQuestions", "4"),
        ("totalLlmCalls", -1),
        ("complete", "true"),
        ("complete", None),
        ("diagnosticOnly", None),
        ("accuracyPercent", -0.1),
        ("accuracyPercent", 100.1),
        ("normalRunHash", "AB" * 32),
        ("normalRunHash", SOURCE),
        ("oracleGapPercentagePoints", "25"),
    ],
)
def test_what_the_profile_refuses(name: str, value: object) -> None:
    changed = FIELDS | {name: value}
    assert not accepts("memory-pair", "reader", changed)
    assert explain("memory-pair", "reader", changed)[0].pointer == f"/{name}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schemaVersion", "1.12"),
        ("pairId", "!~" * 64),
        ("plannedQuestions", 4.0),
        ("scoredQuestions", None),
        ("totalLlmCalls", None),
        ("accuracyPercent", 0),
        ("accuracyPercent", 100),
        ("oracleGapPercentagePoints", -100),
        ("somethingLater", [1]),
    ],
)
def test_what_the_profile_accepts(name: str, value: object) -> None:
    assert accepts("memory-pair", "reader", FIELDS | {name: value})


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"roster": 4, "thresholds": 4, "arm": 4, "variant": [], "pairId": None},
        {"roster": [{}], "thresholds": {"accuracyPercent": True}},
        {"roster": [{"id": "a"}], "thresholds": {"accuracyPercent": [1]}},
        {"variant": "x" * 5000, "roster": [{"id": "y" * 5000, "type": "z" * 5000}]},
        {"seed": 10**30},
        {f"m{at}": at for at in range(1000)},
    ],
)
def test_a_definition_may_hold_anything(document: dict[str, Any]) -> None:
    facts = definition_facts(document)
    assert facts.present
    assert len(pickle.dumps(facts)) < 10_000


@pytest.mark.parametrize(
    ("name", "written", "is_read"),
    [
        ("pairId", "!", True),
        ("pairId", "~" * 128, True),
        ("pairId", "~" * 129, False),
        ("pairId", "", False),
        ("pairId", "a b", False),
        ("pairId", "a\x7f", False),
        ("pairId", ["a"], False),
        ("role", NORMAL, True),
        ("role", ORACLE, True),
        ("role", "Normal", False),
        ("role", [NORMAL], False),
    ],
)
def test_of_fields_that_are_refused_the_id_and_the_role_are_read_where_they_can_be(
    name: str, written: Any, is_read: bool, tmp_path: Path
) -> None:
    drafts = Drafts().but(field(NORMAL, name, written), field(NORMAL, "plannedQuestions", -1))
    arm, _ = drafts.arms(tmp_path)
    assert arm.fields is None
    assert (arm.pair_id if name == "pairId" else arm.role) == (written if is_read else None)


def test_the_digest_of_a_definition_is_that_of_its_canonical_json() -> None:
    """Member names in the order of their UTF-16 code units."""
    document: dict[str, Any] = {"\uffff": 1, "\U00010000": {"b": 1, "a": [1.0, "é"]}, "a": None, "": True}
    assert definition_facts(document).digest == f"sha256:{sha256(rfc8785.dumps(document)).hexdigest()}"
    assert definition_facts({}).digest == f"sha256:{sha256(b'{}').hexdigest()}"


def test_other_runs_are_read_once_and_bring_no_pair_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a run whose summary carries the extension is looked at again."""
    monkeypatch.setattr("aef_verify.memory.pair_arm.read_arm", None)
    answer = Task(None, None).answer(building.full().seal().write(tmp_path / "run"))
    assert isinstance(answer, RunReport)
    monkeypatch.undo()
    normal = Drafts().finished()[0].write(tmp_path / "normal")
    assert isinstance(Task(None, None).answer(normal), ArmAnswer)
