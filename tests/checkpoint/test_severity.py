"""The rule `severity`: [LANE-3] and [RES-9], with trials [RES-8] and lines without a lane [SUM-3]."""

from __future__ import annotations

from typing import Any

import pytest

from aef_verify.checkpoint.severity import MAXIMA, RANKS, Scope, Tally, scope_of, severity_status, single_lane
from aef_verify.schemas import accepts
from tests.building import Json, result, rollup
from tests.checkpoint.lane_runs import severity

WORD = "catastrophic"


def failed(severity: str | None, **members: Any) -> Json:
    facts = {"state": "failed"} | ({} if severity is None else {"severity": severity})
    return result("c1", **(facts | members))


def status(rule: Json, *runs: list[Json], single: str | None = None) -> str:
    tallies = []
    for lines in runs:
        tallies.append(Tally(scope_of(rule)))
        for line in lines:
            tallies[-1].take(line, line.get("lane", single))
    return severity_status(rule, tallies)


def test_the_severities_are_the_writers() -> None:
    assert all(accepts("common#/$defs/severity", "writer", name) for name in RANKS)
    assert all(
        accepts("checkpoint#/$defs/maximumSeverity", "writer", name) == (name in MAXIMA) for name in (*RANKS, WORD)
    )


@pytest.mark.parametrize("state", ["failed", "warn"])
@pytest.mark.parametrize("maximum", MAXIMA)
def test_lane3_a_failure_worse_than_allowed_fails(maximum: str, state: str) -> None:
    order = ("none", "low", "medium", "high", "critical")
    for rank, name in enumerate(order):
        expected = "failed" if rank > order.index(maximum) else "passed"
        assert status(severity(maximum), [failed(name, state=state)]) == expected
        assert status(severity(maximum), [result("c0")], [result("c0"), failed(name, state=state)]) == expected


@pytest.mark.parametrize("line", [failed(None), failed(WORD)])
def test_res9_a_missing_or_unknown_severity_is_critical(line: Json) -> None:
    assert status(severity("high"), [line]) == "failed"


def test_lane3_only_failures_have_a_severity_that_counts() -> None:
    assert status(severity("none"), [result("c1", severity="critical")]) == "passed"
    assert status(severity("none"), [result("c1", state="inconclusive", severity="critical")]) == "not_measured"


@pytest.mark.parametrize("state", ["inconclusive", "not_measured", "skipped", "error", "pending"])
def test_lane3_one_undecided_line_leaves_the_lane_not_measured(state: str) -> None:
    undecided = result("c2", state=state)
    assert status(severity(), [result("c1"), undecided]) == "not_measured"
    assert status(severity(), [result("c1")], [undecided]) == "not_measured"
    assert status(severity(), [failed("high"), undecided]) == "failed"


@pytest.mark.parametrize("state", ["not_applicable", "scored"])
def test_lane3_lines_that_decide_nothing_take_no_part(state: str) -> None:
    other = result("c2", state=state)
    assert status(severity(), [result("c1"), other]) == "passed"
    assert status(severity(), [other]) == "not_measured"


def test_lane3_no_line_is_no_evidence() -> None:
    assert status(severity(), []) == "not_measured"


@pytest.mark.parametrize(("minimum", "expected"), [(1, "passed"), (3, "passed"), (3.0, "passed"), (4, "not_measured")])
def test_lane3_the_minimum_is_counted_over_all_runs(minimum: float, expected: str) -> None:
    first = [result("c1"), failed("low")]
    assert status(severity(minimumN=minimum), first, [failed("low", state="warn")]) == expected


def test_lane3_a_failing_trial_counts_and_an_undecided_one_does_not() -> None:
    case = rollup("c1", n=2, passed=1, agree=False)
    bad, open_ = result("c1", trial=0, state="failed", severity="high"), result("c1", trial=1, state="inconclusive")
    assert status(severity(), [bad, case]) == "failed"
    assert status(severity("high"), [bad, case]) == "passed"
    assert status(severity(), [open_, case]) == "passed"
    assert status(severity(), [result("c1", trial=0)]) == "not_measured"
    assert status(severity(minimumN=2), [result("c1", trial=0), case]) == "not_measured"


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({}, "failed"),
        ({"path": "qa"}, "failed"),
        ({"path": "qa/deep"}, "failed"),
        ({"path": "qa/dee"}, "not_measured"),
        ({"path": "qb"}, "passed"),
        ({"path": "qa/deep/er"}, "not_measured"),
        ({"lane": "main"}, "passed"),
        ({"lane": "red"}, "failed"),
        ({"lane": "none"}, "not_measured"),
        ({"lane": "main", "path": "qa"}, "not_measured"),
        ({"lane": "red", "path": "qa/deep"}, "failed"),
    ],
)
def test_lane3_only_lines_in_scope_count(scope: dict[str, str], expected: str) -> None:
    """A path is itself and what is below it, by whole segments."""
    lines = [result("c1", "qb", lane="main"), result("c1", "qa/deep", lane="red", state="failed", severity="high")]
    assert status(severity(**scope), lines) == expected


@pytest.mark.parametrize(
    ("lanes", "single"), [([], None), (["main"], "main"), (["main", "red"], None), (["main", "main"], "main")]
)
def test_sum3_a_line_without_a_lane_belongs_to_the_only_one(lanes: list[str], single: str | None) -> None:
    assert single_lane({"lanes": [{"lane": name, "metrics": []} for name in lanes]}) == single
    expected = "passed" if single == "main" else "not_measured"
    assert status(severity(lane="main"), [result("c1")], single=single) == expected


def test_sum3_without_a_summary_there_is_no_lane() -> None:
    assert single_lane(None) is None


@pytest.mark.parametrize("maximum", ["critical", WORD, ""])
def test_ver8_a_maximum_that_is_not_known_measures_nothing(maximum: str) -> None:
    assert status(severity(maximum), [result("c1")]) == "not_measured"
    assert status(severity(maximum), [failed("critical")]) == "not_measured"


def test_a_severity_that_is_not_known_is_noted_within_the_scope() -> None:
    """On any line, trial lines included [CKP-8]."""
    for line in (failed(WORD), failed(WORD, trial=0), result("c1", severity=WORD)):
        tallies = [
            Tally(Scope(None, None)),
            Tally(Scope(None, "qa")),
            Tally(Scope("main", None)),
            Tally(Scope(None, "q")),
        ]
        for tally in tallies:
            tally.take(line, None)
        assert [tally.unknown for tally in tallies] == [True, True, False, False]
    known = Tally(Scope(None, None))
    known.take(failed(None), None)
    known.take(failed("critical"), None)
    assert not known.unknown
