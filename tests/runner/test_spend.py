"""What a job has spent by both sums, and the first limit that a case could pass [PLAN-2], [PLAN-9], [SUM-5]."""

from __future__ import annotations

from math import fsum, inf

import pytest

from aef_verify.runner.spend import ExactSum, Limits, Spend


def total(*values: float) -> ExactSum:
    found = ExactSum()
    for value in values:
        found.add(value)
    return found


@pytest.mark.parametrize(
    "values",
    [
        (),
        (0.1, 0.1, 0.1, 0.3),
        (1e20, 1.0, 1e-20),
        (5e-324, 5e-324),
        (2.0**53, 1.0, 5e-324),
        (1.7e308, 1e292),
        (1.0, 2.0**-53),
    ],
)
def test_sum5_a_sum_is_exact_and_rounded_once(values: tuple[float, ...]) -> None:
    assert total(*values).rounded() == fsum(values)
    assert total(*values[:-1]).rounded(*values[-1:]) == fsum(values)


def test_sum5_a_sum_beyond_binary64_is_above_every_limit() -> None:
    assert total(1.7e308, 1.7e308).rounded() == inf
    assert total(1.7e308).rounded(1.7e308) == inf
    spend = Spend()
    spend.add(1.7e308)
    assert spend.could_pass(1.7e308, 1.79e308)


def spent(*runs: tuple[float, ...]) -> Spend:
    """Return what was spent by closed runs and, last, the open one."""
    found = Spend()
    for number, costs in enumerate(runs):
        if number:
            found.close_run()
        for cost in costs:
            found.add(cost)
    return found


@pytest.mark.parametrize(
    ("runs", "bound", "most", "passes"),
    [
        # Equal is within, and a bound that rounds away is too.
        (((0.5,),), 0.5, 1.0, False),
        (((0.5,),), 0.5000000000000003, 1.0, True),
        (((0.25, 0.25, 0.25, 0.25),), 1e-17, 1.0, False),
        # The cases' sum is 0.6, the runs' 0.2 and 0.4 come to more.
        (((0.1, 0.1), (0.1,)), 0.3, 0.6, True),
        (((0.1, 0.1), (0.1,)), 0.3, 0.6000000000000001, False),
        # The cases' sum is above 1, the runs' rounded costs are not.
        (((1.0, 2.0**-53), (2.0**-53,)), 0.0, 1.0, True),
        # Only the open run's cost is rounded with the bound.
        (((0.1, 0.1, 0.1),), 0.0, 0.30000000000000004, False),
        (((0.1, 0.1, 0.1),), 0.0, 0.3, True),
    ],
)
def test_plan9_a_case_could_pass_the_budget_under_either_sum(
    runs: tuple[tuple[float, ...], ...], bound: float, most: float, passes: bool
) -> None:
    assert spent(*runs).could_pass(bound, most) is passes


def test_plan9_a_closed_run_costs_what_its_cases_do() -> None:
    found = spent((0.1, 0.2), (0.3,))
    assert found.close_run() == 0.3
    assert found.close_run() == 0.0
    assert found.total() == fsum((0.1, 0.2, 0.3))


@pytest.mark.parametrize(
    ("limits", "reached"),
    [
        (Limits(1.0, 5, 100), None),
        (Limits(0.9, 4, 99), "maxUsd"),
        (Limits(1.0, 4, 99), "cases"),
        (Limits(1.0, 5, 99), "timeout"),
        (Limits(1.0, None, None), None),
    ],
)
def test_plan2_plan9_the_first_limit_in_their_order(limits: Limits, reached: str | None) -> None:
    assert limits.reached(spent((0.5,)), 0.5, 4, 100) == reached
