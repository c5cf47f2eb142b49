"""Sums and medians against exact fractions, rounded once: [SUM-5], [SUM-8]."""

from __future__ import annotations

from array import array
from fractions import Fraction
from statistics import median as plain_median

from hypothesis import given
from hypothesis import strategies as st

from aef_verify.run.summary import exact_sum, median
from tests.properties.effort import examples

ODD = (0.0, -0.0, 1.0, 1e20, -1e20, 0.1, 5e-324, -5e-324, 2.0**53, 1.5e308, -1.5e308, 1.7976931348623157e308, 2.0**970)
figures = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(ODD)
"""The last of `ODD` is half the last place of the greatest number."""


def rounded(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


@examples(500)
@given(st.lists(figures, max_size=12))
def test_a_sum_is_exact_and_rounded_once(values: list[float]) -> None:
    assert exact_sum(array("d", values)) == rounded(sum(map(Fraction, values), Fraction()))


@examples(200)
@given(st.lists(figures, max_size=8), st.randoms())
def test_a_sum_does_not_depend_on_the_order_of_lines(values: list[float], chance: object) -> None:
    total = exact_sum(array("d", values))
    chance.shuffle(values)  # type: ignore[attr-defined]  # Hypothesis's source of chance is a random.Random
    assert exact_sum(array("d", values)) == total


@examples(400)
@given(st.lists(figures, min_size=1, max_size=9))
def test_a_median_is_exact_and_rounded_once(values: list[float]) -> None:
    assert median(values) == float(plain_median(map(Fraction, values)))
