"""What a job has spent, by both sums that verifiers will compute, and where it stops [PLAN-2], [PLAN-9], [SUM-5].

Sums are kept exactly, one addition a case, and rounded once when they are asked for.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

_PLACES = 1074
_ONE = 1 << _PLACES


class ExactSum:
    """A sum of binary64 values, exact however many there are."""

    __slots__ = ("_scaled",)

    def __init__(self) -> None:
        """Start at nothing."""
        self._scaled = 0

    def add(self, value: float) -> None:
        """Add a finite value."""
        self._scaled += _scaled(value)

    def rounded(self, plus: float = 0.0) -> float:
        """Return the sum with one more finite value, rounded once; infinite beyond binary64."""
        total = self._scaled + _scaled(plus)
        try:
            # A division of integers is rounded once, to the nearest value and to even.
            return total / _ONE
        except OverflowError:
            return inf if total > 0 else -inf


def _scaled(value: float) -> int:
    """Return a finite value in units of the smallest one of binary64."""
    numerator, denominator = value.as_integer_ratio()
    return numerator << (_PLACES + 1 - denominator.bit_length())


class Spend:
    """The spend of a job: its cases in one sum, and its runs' rounded costs in another."""

    __slots__ = ("_cases", "_open", "_runs")

    def __init__(self) -> None:
        """Start with no run."""
        self._cases = ExactSum()
        self._runs = ExactSum()
        self._open = ExactSum()

    def add(self, usd: float) -> None:
        """Add what a case of the open run cost."""
        self._cases.add(usd)
        self._open.add(usd)

    def close_run(self) -> float:
        """Close the open run, and return what it cost: its `cost.totalUsd`."""
        cost = self._open.rounded()
        self._runs.add(cost)
        self._open = ExactSum()
        return cost

    def total(self) -> float:
        """Return the job's spend, as `spend.updated` states it and [STRM-3] checks it."""
        return self._cases.rounded()

    def could_pass(self, bound: float, most: float) -> bool:
        """Whether one more case of the open run could take either sum above a limit; equal is within."""
        if self._cases.rounded(bound) > most:
            return True
        run = self._open.rounded(bound)
        return run > most or self._runs.rounded(run) > most


class Limits(NamedTuple):
    """A plan's limits: USD, cases and nanoseconds; None where it sets none."""

    max_usd: float
    cases: int | None
    timeout: int | None

    def reached(self, spend: Spend, usd_bound: float, started: int, ends: int) -> str | None:
        """Return the first limit that a case could pass, in the order of [PLAN-2], or None.

        Args:
            spend: what was spent so far; nothing is in flight.
            usd_bound: the most that the case can cost.
            started: how many cases have started.
            ends: the nanoseconds from `job.accepted` to the latest end of the case and of its run's sealing.
        """
        if spend.could_pass(usd_bound, self.max_usd):
            return "maxUsd"
        if self.cases is not None and started >= self.cases:
            return "cases"
        if self.timeout is not None and ends > self.timeout:
            return "timeout"
        return None
