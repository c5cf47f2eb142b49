"""Where a job stops: before the first case that could pass a limit, under either sum [PLAN-2], [PLAN-9], [STRM-1]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runner.jobbing import Json, Ran, case, plan, problems, run, suite, target

ABC = [case("a"), case("b"), case("c")]


def ran_with(folder: Path, limits: Json, *suites: Json, **members: Any) -> Ran:
    """Run suites under limits; nothing is found wrong with what came of it."""
    refs = [one["ref"] for one in suites]
    ran = run(folder, plan=plan(*refs, limits=limits), target=target(*suites, **members))
    assert problems(ran) == []
    return ran


def ended(ran: Ran) -> tuple[str, str | None, list[list[str]], list[str]]:
    """Return a job's end, its limit, the cases of its runs, and their statuses."""
    statuses = [ran.document("run.json", place)["status"] for place in range(len(ran.result.runs))]
    assert ran.result.limit == ran.end.get("limit")
    return ran.end["kind"], ran.end.get("limit"), ran.cases(), statuses


SEALED = ("job.sealed", None, [["a", "b", "c"]], ["completed"])


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"maxUsd": 0.75}, 3),
        ({"maxUsd": 0.7499999999999999}, 2),
        ({"maxUsd": 0.5}, 2),
        ({"maxUsd": 9, "cases": 3}, 3),
        ({"maxUsd": 9, "cases": 2}, 2),
        ({"maxUsd": 9, "cases": 1}, 1),
        ({"maxUsd": 9, "timeout": "PT1M"}, 2),
        ({"maxUsd": 9, "timeout": "PT2M"}, 3),
    ],
)
def test_plan2_plan9_run5_a_run_that_a_limit_cuts_off_is_aborted_and_sealed(
    limits: Json, kept: int, tmp_path: Path
) -> None:
    ran = ran_with(tmp_path, limits, suite("suite:a", *ABC))
    if kept == 3:
        assert ended(ran) == SEALED
        return
    limit = {"maxUsd": "maxUsd"}.get(list(limits)[-1], list(limits)[-1])
    assert ended(ran) == ("job.failed", limit, [["a", "b", "c"][:kept]], ["aborted"])
    assert ran.document("run.json")["abortReason"] == ran.end["reason"] == ran.result.reason
    assert ran.end["runs"] == [ran.result.runs[0].run_id]


@pytest.mark.parametrize(
    "limits",
    [{"maxUsd": 0}, {"maxUsd": 0.2}, {"maxUsd": 9, "timeout": "PT0M"}],
)
def test_plan9_a_limit_before_the_first_case_gives_no_run(limits: Json, tmp_path: Path) -> None:
    ran = ran_with(tmp_path, limits, suite())
    assert [event["kind"] for event in ran.events] == ["job.accepted", "plan.estimated", "job.failed"]
    assert (ran.end["runs"], ran.files()) == ([], {"events.ndjson"})


@pytest.mark.parametrize(
    "limits",
    [{"maxUsd": 0.75}, {"maxUsd": 9, "cases": 3}, {"maxUsd": 9, "timeout": "PT1M"}],
)
def test_plan9_a_run_is_closed_before_the_limits_are_looked_at_for_the_next(limits: Json, tmp_path: Path) -> None:
    quick = [case(name, seconds=15, secondsBound=15) for name in ("a", "b", "c")]
    ran = ran_with(tmp_path, limits, suite("suite:a", *quick), suite("suite:b", *quick))
    assert ended(ran)[2:] == ([["a", "b", "c"]], ["completed"])
    assert ran.end["kind"] == "job.failed"


def test_plan2_the_limits_are_looked_at_in_their_order(tmp_path: Path) -> None:
    limits = {"maxUsd": 0.5, "cases": 2, "timeout": "PT1M"}
    for name, members, limit in (
        ("one", {}, "maxUsd"),
        ("two", {"maxUsd": 9}, "cases"),
        ("three", {"maxUsd": 9, "cases": 9}, "timeout"),
    ):
        (tmp_path / name).mkdir()
        ran = ran_with(tmp_path / name, limits | members, suite("suite:a", *ABC))
        assert ran.result.limit == limit


def test_plan9_bounds_decide_and_not_what_a_case_costs_or_takes(tmp_path: Path) -> None:
    for name, limits, last, kept in (
        ("dear", {"maxUsd": 1}, case("c", usdBound=0.5000000000000001), ["a", "b", "c"]),
        ("dearer", {"maxUsd": 1}, case("c", usdBound=0.5000000000000003), ["a", "b"]),
        ("slow", {"maxUsd": 9, "timeout": "PT1M"}, case("c", seconds=0, secondsBound=19), ["a", "b", "c"]),
        ("slower", {"maxUsd": 9, "timeout": "PT1M"}, case("c", seconds=0, secondsBound=20), ["a", "b"]),
    ):
        (tmp_path / name).mkdir()
        assert ran_with(tmp_path / name, limits, suite("suite:a", *ABC[:2], last)).cases() == [kept]


def test_plan9_the_time_of_closing_counts_for_each_run(tmp_path: Path) -> None:
    """Two runs of 20 seconds and two closes of 10 fill the minute; a second more does not fit."""
    one = [case("a")]
    for close, kept in ((10, 2), (11, 1)):
        (tmp_path / str(close)).mkdir()
        suites = suite("suite:a", *one), suite("suite:b", *one)
        ran = ran_with(tmp_path / str(close), {"maxUsd": 9, "timeout": "PT1M"}, *suites, closeSeconds=close)
        assert len(ran.cases()) == kept


def cost(name: str, usd: float) -> Json:
    return case(name, usd=usd, usdBound=usd)


def test_plan9_sum5_the_sum_of_the_runs_stops_what_the_cases_sum_would_let_run(tmp_path: Path) -> None:
    suites = suite("suite:a", cost("a", 0.1), cost("b", 0.1)), suite("suite:b", cost("a", 0.1), cost("b", 0.3))
    ran = ran_with(tmp_path, {"maxUsd": 0.6}, *suites)
    assert ended(ran) == ("job.failed", "maxUsd", [["a", "b"], ["a"]], ["completed", "aborted"])


def test_plan9_sum5_the_sum_of_the_cases_stops_what_the_runs_sum_would_let_run(tmp_path: Path) -> None:
    """The runs come to 1.0 and 2 to the -53, which is 1.0; the cases to two of these beyond 1.0, which is more."""
    tiny = 2.0**-53
    suites = suite("suite:a", cost("a", 1.0), cost("b", tiny)), suite("suite:b", cost("a", tiny))
    ran = ran_with(tmp_path, {"maxUsd": 1}, *suites)
    assert ended(ran) == ("job.failed", "maxUsd", [["a", "b"]], ["completed"])


def test_plan9_a_bound_that_rounds_away_is_within(tmp_path: Path) -> None:
    ran = ran_with(tmp_path, {"maxUsd": 0.5}, suite("suite:a", cost("a", 0.5), cost("b", 1e-17)))
    assert (ran.end["kind"], ran.result.spent_usd) == ("job.sealed", 0.5)


def test_res1_a_case_that_did_not_run_has_no_line(tmp_path: Path) -> None:
    ran = ran_with(tmp_path, {"maxUsd": 9, "cases": 1}, suite("suite:a", *ABC))
    assert [line["caseId"] for line in ran.document("results.ndjson")] == ["a"]
    assert len(ran.of("case.completed")) == 1
