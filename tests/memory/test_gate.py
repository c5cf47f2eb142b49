"""docs/MEMORY_PAIR.md §1: the normal arm's gate, exact at every boundary."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aef_verify.memory import gate
from aef_verify.problems import InputError
from tests.memory.arms import arm, outcome

ROWS = [
    # passed, scored, planned, threshold, outcome, verdict
    (5, 10, 10, 50, "ship", "passed"),
    (4, 10, 10, 50, "no_ship", "failed"),
    (5, 9, 11, 50, "inconclusive", "inconclusive"),
    (5, 10, 11, 50, "inconclusive", "inconclusive"),
    (5, 11, 11, 50, "no_ship", "failed"),
    (0, 0, 10, 50, "inconclusive", "not_measured"),
    (0, 0, 10, 0, "inconclusive", "not_measured"),
    (0, 0, 0, 50, "inconclusive", "not_measured"),
    (0, 1, 1, 0, "ship", "passed"),
    (10, 10, 10, 100, "ship", "passed"),
    (9, 9, 10, 100, "inconclusive", "inconclusive"),
    (9, 10, 10, 100, "no_ship", "failed"),
    (5, 9, 10, 50, "ship", "passed"),
    (4, 9, 10, 50, "inconclusive", "inconclusive"),
    (4, 8, 10, 60.1, "no_ship", "failed"),
    (4, 8, 10, 60, "inconclusive", "inconclusive"),
    # in binary64 0.07 × 10,000 is more than 700
    (7, 10_000, 10_000, 0.07, "ship", "passed"),
    (29, 100, 100, 29, "ship", "passed"),
    (283, 1000, 1000, 28.3, "ship", "passed"),
    (283, 1000, 1000, "28.3", "ship", "passed"),
    (283, 1000, 1000, "28.30000000000000000001", "no_ship", "failed"),
    (283, 1000, 1000, f"28.3{'0' * 398}1", "no_ship", "failed"),
    (1, 3, 3, 33.4, "no_ship", "failed"),
    (1, 3, 3, 33.3, "ship", "passed"),
]


@pytest.mark.parametrize(("passed", "scored", "planned", "threshold", "expected", "verdict"), ROWS)
def test_the_decision_and_the_verdict(
    passed: int, scored: int, planned: int, threshold: gate.Threshold, expected: str, verdict: str
) -> None:
    found = gate.outcome_of(passed, scored, planned, threshold)
    assert (found, gate.verdict(found, scored)) == (expected, verdict)


def test_decide_counts_the_arm() -> None:
    states = ("passed", "failed", "error", "not_measured")
    found = arm(*(outcome(f"q{at}", state) for at, state in enumerate(states)))
    assert [gate.decide(found, threshold) for threshold in (25, 25.1, 75, 75.1)] == [
        "ship",
        "inconclusive",
        "inconclusive",
        "no_ship",
    ]


def test_only_ship_exits_0() -> None:
    assert [gate.exit_code(found) for found in ("ship", "no_ship", "inconclusive")] == [0, 1, 1]


WRITTEN = [
    (50, "50"),
    (50.0, "50"),
    (0, "0"),
    (0.0, "0"),
    (100, "100"),
    ("66.70", "66.7"),
    (1e-7, "0.0000001"),
    (-0.0, "0"),
]


@pytest.mark.parametrize(("threshold", "spelled"), [*WRITTEN, ("050", "50"), (33.3, "33.3")])
def test_a_threshold_is_spelled_as_a_decimal(threshold: gate.Threshold, spelled: str) -> None:
    assert gate.written(threshold) == spelled
    assert gate.rule(threshold) == f"100 * passed >= {spelled} * planned"


@pytest.mark.parametrize(
    "threshold",
    [
        -1,
        -0.1,
        100.1,
        101,
        10**400,
        float("nan"),
        float("inf"),
        True,
        "",
        "-1",
        "1e2",
        "100.1",
        "٥٠",
        "50%",
        " 50",
        ".5",
    ],
)
def test_what_is_no_percentage_is_refused(threshold: gate.Threshold) -> None:
    with pytest.raises(InputError, match="no percentage from 0 to 100"):
        gate.percent(threshold)


@settings(deadline=None)
@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500), st.decimals(0, 100, places=3))
def test_it_is_the_definition_in_exact_fractions(passed: int, failed: int, unscored: int, threshold: object) -> None:
    scored, planned = passed + failed, passed + failed + unscored
    due = Fraction(str(threshold)) * planned
    if scored and 100 * passed >= due:
        expected = "ship"
    elif scored and 100 * (passed + unscored) < due:
        expected = "no_ship"
    else:
        expected = "inconclusive"
    assert gate.outcome_of(passed, scored, planned, str(threshold)) == expected
    assert gate.outcome_of(passed, scored, planned, float(str(threshold))) == expected


@settings(deadline=None)
@given(st.floats(0, 100) | st.integers(0, 100))
def test_what_a_definition_spells_is_the_threshold(threshold: float) -> None:
    assert gate.percent(gate.written(threshold)) == gate.percent(threshold) == Fraction(repr(threshold))
