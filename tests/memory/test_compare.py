"""Whether two runs measured the same thing: each axis as [LANE-6] compares it, roles, definitions, invalid runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.memory.compare import Side, SuiteComparison, compare, compare_suites
from aef_verify.memory.pair_definition import ABSENT, definition_facts
from aef_verify.problems import InputError
from aef_verify.strategies.pairs import definition
from tests import building
from tests.building import put
from tests.memory.pairing import NORMAL, ORACLE, QUESTIONS, Drafts

DIGEST = "sha256:" + "aa" * 32
RUN: dict[str, Any] = {
    "suite": {"ref": "suite:a", "version": "1", "digest": DIGEST},
    "judges": [{"model": "m1", "rubricDigest": DIGEST}, {"model": "m2"}],
    "execution": {"targetMode": "live"},
    "subject": {"ref": "agent:a", "version": "1"},
    "deployment": {"ref": "deployment:d"},
    "producer": {"name": "p", "version": "1"},
}


def side(outcome: str = "intact", role: str | None = None) -> Side:
    return Side("runs/x", outcome, "run-1", role)


def against(other: dict[str, Any], first: dict[str, Any] = RUN) -> SuiteComparison:
    return compare(side(), first, ABSENT, side(), other)


def verdicts(found: SuiteComparison) -> dict[str, str]:
    return {axis.name: axis.verdict for axis in found.axes if axis.verdict != "same"}


def test_a_run_and_itself() -> None:
    found = against(RUN)
    assert (found.verdict, verdicts(found), found.notes, found.members) == ("same", {}, (), None)


@pytest.mark.parametrize(
    ("change", "axis"),
    [
        ({"suite": RUN["suite"] | {"ref": "suite:b"}}, "suite"),
        ({"suite": RUN["suite"] | {"version": "2"}}, "suite"),
        ({"suite": RUN["suite"] | {"digest": "sha256:" + "bb" * 32}}, "suite-content"),
        ({"suite": {"ref": "suite:a", "version": "1"}}, "suite-content"),
        ({"judges": [{"model": "m2", "rubricDigest": DIGEST}, {"model": "m1"}]}, "judges"),
        ({"judges": [{"model": "m1", "rubricDigest": DIGEST}, {"model": "m2", "rubricDigest": DIGEST}]}, "rubrics"),
        ({"execution": {"targetMode": "scripted"}}, "target-mode"),
    ],
)
def test_an_axis_that_decides(change: dict[str, Any], axis: str) -> None:
    found = against(RUN | change)
    assert (found.verdict, verdicts(found)) == ("different", {axis: "different"})


@pytest.mark.parametrize(
    "change",
    [
        {"subject": {"ref": "agent:b"}},
        {"deployment": {"ref": "deployment:e"}},
        {"producer": {"name": "p", "version": "2"}},
    ],
)
def test_an_axis_that_is_only_shown(change: dict[str, Any]) -> None:
    found = against(RUN | change)
    assert (found.verdict, list(verdicts(found).values())) == ("same", ["different"])


def test_what_neither_states() -> None:
    nothing = {"execution": {"targetMode": "live"}}
    found = against(nothing, nothing)
    assert (found.verdict, verdicts(found)) == ("unknown", {"suite": "unknown", "suite-content": "unknown"})
    bare = RUN | {"judges": [], "suite": {"ref": "suite:a", "version": "1"}}
    found = against(bare | {"judges": []}, {name: value for name, value in bare.items() if name != "judges"})
    assert (found.verdict, verdicts(found)) == ("unknown", {"suite-content": "unknown"})


@pytest.mark.parametrize(
    ("roles", "verdict"),
    [
        ((NORMAL, ORACLE), "different"),
        ((ORACLE, None), "different"),
        ((NORMAL, None), "same"),
        ((ORACLE, ORACLE), "same"),
    ],
)
def test_arms_of_different_roles_are_different(roles: tuple[str | None, str | None], verdict: str) -> None:
    found = compare(side(role=roles[0]), RUN, ABSENT, side(role=roles[1]), RUN)
    assert (found.verdict, bool(found.notes)) == (verdict, verdict == "different")


def test_members_of_definitions_are_named() -> None:
    first = definition(NORMAL, QUESTIONS)
    second = first | {"seed": 8, "thresholds": {"accuracyPercent": "60"}, "more": 1}
    found = compare(side(), RUN, definition_facts(first), side(), RUN, definition_facts(second))
    assert (found.verdict, found.members) == ("different", ("seed", "thresholds", "more"))
    found = compare(side(), RUN, definition_facts(first), side(), RUN, definition_facts(dict(first)))
    assert (found.verdict, found.members) == ("same", ())


def test_a_definition_that_does_not_read_names_no_member() -> None:
    first, broken = definition_facts(definition(NORMAL, QUESTIONS)), ABSENT._replace(present=True, fault="not read")
    for pair in ((first, broken), (broken, first), (broken, broken), (first, ABSENT)):
        found = compare(side(), RUN, pair[0], side(), RUN, pair[1])
        assert (found.verdict, found.members) == ("same", None)


def test_an_invalid_run_proves_nothing() -> None:
    assert compare(side("invalid"), RUN, ABSENT, side(), RUN).verdict == "unknown"
    assert (
        compare(side("invalid"), RUN, ABSENT, side(), RUN | {"execution": {"targetMode": "x"}}).verdict == "different"
    )


def test_runs_on_disk(tmp_path: Path) -> None:
    normal, oracle = (run.write(tmp_path / name) for run, name in zip(Drafts().finished(), "no", strict=True))
    assert compare_suites(normal, normal).verdict == "same"
    found = compare_suites(normal, oracle)
    assert (found.verdict, found.first.role, found.second.role) == ("different", NORMAL, ORACLE)
    assert found.members == ("arm", "projection", "agent", "thresholds")
    broken = building.small().but(put("run.json", "status", "odd")).write(tmp_path / "odd")
    with pytest.raises(InputError, match=r"run\.json is not valid"):
        compare_suites(broken, normal)
    unreadable = building.small().but(put("run.json", b"{")).write(tmp_path / "cut")
    with pytest.raises(InputError, match=r"run\.json is not valid"):
        compare_suites(normal, unreadable)
