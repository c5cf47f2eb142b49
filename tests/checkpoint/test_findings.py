"""What a lane's rule found, in words: [LANE-2], [LANE-3], [LANE-7], [LANE-8], and no other story than the status."""

from __future__ import annotations

import pytest

from aef_verify.checkpoint.comparison import Differences, comparison_status
from aef_verify.checkpoint.findings import comparison_finding, severity_finding, threshold_finding
from aef_verify.checkpoint.severity import Scope, Tally
from aef_verify.checkpoint.threshold import threshold_status
from tests.building import Json, entry
from tests.checkpoint.lane_runs import threshold


def summary(*entries: Json) -> Json:
    return {"lanes": [{"lane": "main", "metrics": [*entries]}]}


@pytest.mark.parametrize(
    ("rule", "entries", "status", "said"),
    [
        (threshold(">=", 0.5), [entry("score", n=2, value=0.5)], "passed", "0.5 over 2 measured, which is >= 0.5"),
        (threshold(">", 0.5), [entry("score", n=2, value=0.5)], "failed", "0.5 over 2 measured, which is not > 0.5"),
        (threshold(), [], "not_measured", "its summary has no such entry"),
        (threshold(), [entry("score", n=0, value=None)], "not_measured", "nothing was measured"),
        (threshold(), [entry("score", n=2, value=None)], "not_measured", "its sum is beyond binary64"),
        (threshold("=="), [entry("score", n=2, value=1)], "not_measured", "the operator == is not known"),
        (
            threshold() | {"minimumN": 3},
            [entry("score", n=2, value=1)],
            "not_measured",
            "2 measured, and at least 3 are due",
        ),
        (
            threshold(),
            [entry("score", n=2, value=1) | {"aggregate": {"method": "pass@k"}}],
            "not_measured",
            "its value is the producer's own (pass@k)",
        ),
        (
            threshold(">=", 0.5),
            [entry("score", n=2, value=1) | {"aggregate": {"method": "median"}}],
            "passed",
            "1.0 over 2 measured",
        ),
    ],
)
def test_lane2_a_threshold_names_what_decides_it(rule: Json, entries: list[Json], status: str, said: str) -> None:
    assert threshold_status(rule, [summary(*entries)]) == status
    assert threshold_finding(rule, summary(*entries)).startswith(said)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "no failure; 0 decided"),
        ([("passed", None), ("passed", None)], "no failure; 2 decided"),
        (
            [("failed", "low"), ("warn", "high"), ("skipped", None)],
            "the worst failure is of severity high; 2 decided, 1 undecided",
        ),
        ([("failed", None)], "the worst failure is of severity critical; 1 decided"),
        ([("failed", "none")], "the worst failure is of severity none; 1 decided"),
    ],
)
def test_lane3_a_severity_names_the_worst_and_the_counts(lines: list[tuple[str, str | None]], said: str) -> None:
    tally = Tally(Scope(None, None))
    for state, severity in lines:
        tally.take({"state": state, "path": "p"} | ({} if severity is None else {"severity": severity}), None)
    assert severity_finding(tally) == said


@pytest.mark.parametrize(
    ("direction", "below", "above", "status", "said"),
    [
        ("higher_better", 2, 5, "passed", "2 cases are worse and 5 better than in the baseline"),
        ("lower_better", 5, 2, "passed", "2 cases are worse and 5 better than in the baseline"),
        (
            "higher_better",
            1,
            2,
            "not_measured",
            "1 cases are worse and 2 better than in the baseline, and at least 5 must differ",
        ),
        ("none", 9, 9, "not_measured", "the metric's direction is none, so that nothing can be worse"),
    ],
)
def test_lane7_lane8_a_comparison_names_the_pairs(
    direction: str, below: int, above: int, status: str, said: str
) -> None:
    rule = {"minimumPairs": 5, "significance": 0.05}
    pairs = Differences()
    pairs.below, pairs.above = below, above
    assert comparison_status(rule, direction, pairs) == status
    assert comparison_finding(rule, direction, pairs) == said
