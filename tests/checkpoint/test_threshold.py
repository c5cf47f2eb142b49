"""The rule `threshold`: [LANE-2], with the entries that [SUM-5] and [SUM-8] leave without a value."""

from __future__ import annotations

from typing import Any

import pytest

from aef_verify.checkpoint.threshold import threshold_status
from tests.building import Json, entry
from tests.checkpoint.lane_runs import threshold


def summary(*entries: Json, lane: str = "main") -> Json:
    return {
        "lanes": [{"lane": "before", "metrics": [entry("score", n=9, value=9)]}, {"lane": lane, "metrics": [*entries]}]
    }


def measured(value: float | None, n: int = 2, **members: Any) -> Json:
    return summary(
        entry("other", n=9, value=9), entry("score", "qb", n=9, value=9), entry("score", n=n, value=value) | members
    )


HALF = measured(0.5)


@pytest.mark.parametrize(
    ("op", "below", "equal", "above"),
    [
        (">=", "failed", "passed", "passed"),
        (">", "failed", "failed", "passed"),
        ("<=", "passed", "passed", "failed"),
        ("<", "passed", "failed", "failed"),
        ("==", "not_measured", "not_measured", "not_measured"),
    ],
)
def test_lane2_a_value_is_compared_by_the_operator(op: str, below: str, equal: str, above: str) -> None:
    """An operator that this version does not know leaves the lane not measured [VER-8]."""
    assert [threshold_status(threshold(op, value), [HALF]) for value in (0.75, 0.5, 0.25)] == [below, equal, above]


def test_lane2_values_are_compared_as_binary64() -> None:
    """2**53 + 1 is 2**53 in binary64."""
    assert threshold_status(threshold(">", 2**53), [measured(2**53 + 1)]) == "failed"
    assert threshold_status(threshold(">=", 0.42), [measured(2.1 / 5)]) == "passed"
    assert threshold_status(threshold("<=", 0.42), [measured(2.1 / 5)]) == "failed"


@pytest.mark.parametrize(
    "unmeasured",
    [
        measured(None, n=0),
        measured(None),
        summary(entry("other", n=2, value=1)),
        summary(entry("score", "qb", n=2, value=1)),
        summary(entry("score", n=2, value=1), lane="other"),
        {"lanes": []},
        measured(1, aggregate={"method": "pass@k"}),
    ],
)
def test_lane2_a_run_without_a_value_of_its_own_is_not_measured(unmeasured: Json) -> None:
    assert threshold_status(threshold("<=", 5), [unmeasured]) == "not_measured"


@pytest.mark.parametrize("method", ["median", "min", "max"])
def test_sum8_an_aggregate_that_is_recomputed_is_read(method: str) -> None:
    assert threshold_status(threshold(), [measured(1, aggregate={"method": method})]) == "passed"


@pytest.mark.parametrize(("minimum", "status"), [(1, "passed"), (2, "passed"), (2.0, "passed"), (3, "not_measured")])
def test_lane2_the_minimum_is_asked_of_each_run_alone(minimum: float, status: str) -> None:
    assert threshold_status(threshold(), [measured(0.5, n=1)]) == "passed"
    rule = threshold(minimumN=minimum)
    assert threshold_status(rule, [HALF]) == status
    assert threshold_status(rule, [HALF, HALF]) == status
    assert threshold_status(rule, [HALF, measured(0.5, n=1)]) == ("passed" if minimum == 1 else "not_measured")


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ([1, 1], "passed"),
        ([1, None], "not_measured"),
        ([1, 0], "failed"),
        ([None, 0, 1], "failed"),
    ],
)
def test_lane2_a_failure_beats_an_absence_and_an_absence_a_pass(values: list[float | None], status: str) -> None:
    for order in (values, values[::-1]):
        assert threshold_status(threshold(), [measured(value) for value in order]) == status
