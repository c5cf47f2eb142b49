"""[SUM-2] to [SUM-9] The summary recomputed: which lines count, exact sums, means, aggregates, and what is compared.

Figures are compared as binary64 without tolerance, `sumSq` within 1e-9 of §3.6.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.verify import verify_run
from tests import building
from tests.building import Json, entry, lane, lines, metric, pairs, put, result, score

MAX = sys.float_info.max
HUGE = 1.5e308
TINY = 5e-324


def verdict(root: Path, entries: Sequence[Json], given: Sequence[Json], *more: building.Edit) -> list[str]:
    """Return the codes at `summary.json` of a run with these entries in lane `main` and these lines."""
    kinds = [metric(kind, kind) for kind in ("count", "duration", "cost", "verdict", "rate")]
    run = building.bare().but(*kinds, lines(*given), lane(*entries), *more)
    problems = pairs(verify_run(run.write(root)).problems)
    assert {code for path, code in problems if path != "summary.json"} <= {"metric"}
    return [code for path, code in problems if path == "summary.json"]


def scored(values: Sequence[float], name: str = "score", state: str = "scored") -> list[Json]:
    """State one line a value."""
    return [result(f"c{at}", state=state, scores=[score(value, name)]) for at, value in enumerate(values)]


def figures(name: str, values: Sequence[object], **more: Any) -> Json:
    return entry(name, N=len(values), n=len(values), **more)


STATES = ["passed", "failed", "warn", "inconclusive", "scored", "not_measured", "not_applicable", "skipped", "error"]


def state_line(state: str, name: str | None) -> Json:
    """State a line in a state, with a score of 0.25 where it may have one."""
    absent = state in STATES[5:]
    line = result(state, state=state)
    return line if absent or name is None else line | {"scores": [score(0.25, name)]}


@pytest.mark.parametrize("kind", ["rate", "verdict"])
@pytest.mark.parametrize("has_score", [True, False])
def test_sum4_rates_and_verdicts_count_states(kind: str, has_score: bool, tmp_path: Path) -> None:
    """Passed is 1; failed, warn, inconclusive are 0; scored is not measured, whatever the line scores."""
    given = [state_line(state, kind if has_score else None) for state in STATES]
    right = entry(kind, N=8, n=4, notMeasured=4, sum=1, sumSq=1, value=0.25)
    assert verdict(tmp_path, [right], given) == []


@pytest.mark.parametrize("kind", ["score", "count", "duration", "cost"])
def test_sum4_other_kinds_count_scores(kind: str, tmp_path: Path) -> None:
    """Every measured state counts with its score, and is not measured without one."""
    value = 1.25 if kind == "count" else 0.25
    given = [state_line(state, kind) for state in STATES]
    right = entry(kind, N=8, n=5, notMeasured=3, sum=1.25, sumSq=0.3125, value=value)
    assert verdict(tmp_path / "scored", [right], given) == []
    given = [state_line(state, None) for state in STATES]
    assert verdict(tmp_path / "none", [entry(kind, N=8, notMeasured=8)], given) == []


def test_sum4_a_pending_line_of_a_running_run_is_not_measured(tmp_path: Path) -> None:
    running = (put("run.json", "status", "running"), building.drop("run.json", "endedAt"))
    given = [result("c1", state="pending"), result("c2")]
    right = entry("rate", N=2, n=1, notMeasured=1, sum=1, value=1)
    assert verdict(tmp_path, [right], given, *running) == []


@pytest.mark.parametrize("kind", ["score", "rate", "verdict"])
def test_a_line_that_scores_the_metric_twice_is_not_measured(kind: str, tmp_path: Path) -> None:
    """For every kind (a reading for rate and verdict); the line itself earns `metric`."""
    twice = [score(1, kind), score(1, kind)]
    once = result("c9", scores=[score(1, kind)])
    right = entry(kind, N=2, n=1, notMeasured=1, sum=1, value=1)
    for state in ("passed", "failed", "scored"):
        assert verdict(tmp_path / state, [right], [result("c1", state=state, scores=twice), once]) == []


def test_an_unknown_kind_is_refused_and_a_known_one_case_by_case(tmp_path: Path) -> None:
    """[VER-9]: `kind` is closed."""
    run = building.bare().but(metric("m", "Rate"))
    assert pairs(verify_run(run.write(tmp_path)).problems) == [["metrics.json", "schema"]]


def test_sum3_lines_count_by_lane_and_path(tmp_path: Path) -> None:
    """A line without a lane belongs to the only lane; one of another lane counts nowhere; paths compare as bytes."""
    given = [
        result("c1", lane="main"),
        result("c2"),
        result("c3", lane="Main"),
        result("c4", lane="other"),
        result("c5", "QA"),
        result("c6", "qa/x"),
        result("c7", "q\u0061"),
    ]
    one = entry("rate", N=3, n=3, sum=3, value=1)
    assert verdict(tmp_path / "one", [one], given) == []
    two = [entry("rate", N=1, n=1, sum=1, value=1)]
    assert verdict(tmp_path / "two", two, given, lane(name="empty")) == []
    assert verdict(tmp_path / "both", two, given, lane(entry("rate", N=1, n=1, sum=1, value=1), name="other")) == []


def test_sum3_a_lane_named_twice_is_one_lane(tmp_path: Path) -> None:
    """Its entries are recomputed as usual, lines without a lane among them: `summary-duplicate` alone."""
    given = [result("c1"), result("c2", lane="main")]
    right = entry("rate", N=2, n=2, sum=2, value=1)
    assert verdict(tmp_path / "right", [right], given, lane(entry("verdict", N=2, n=2, value=1))) == [
        "summary-duplicate"
    ]
    wrong = lane(entry("verdict", N=1, n=1, value=1))
    assert verdict(tmp_path / "wrong", [right], given, wrong) == ["summary", "summary-duplicate"]


def test_sum3_trials_do_not_count_their_rollup_does(tmp_path: Path) -> None:
    trials = [result("c1", trial=number, scores=[score(0.1)]) for number in range(3)]
    rolled = building.rollup("c1", n=3, passed=3, agree=True, scores=[score(0.75)])
    assert verdict(tmp_path, [entry("score", N=1, n=1, sum=0.75, value=0.75)], [*trials, rolled]) == []


def test_sum3_every_line_of_a_case_at_the_path_counts_here(tmp_path: Path) -> None:
    """Composites and their children at other paths do not."""
    tree = [
        result("c1", aggregation=building.aggregation(1)),
        building.child("c1", "a", state="failed"),
        result("c2", "qa/a"),
    ]
    top, below = entry("rate", N=1, n=1, sum=1, value=1), entry("rate", "qa/a", N=2, n=2, sum=1, value=0.5)
    assert verdict(tmp_path, [top, below], tree) == []


EXACT = [
    ([1e20, 1, -1e20], 1.0),
    ([1e308, 1, -1e308], 1.0),
    ([0.1] * 10, 1.0),
    ([2.1, 0, 0, 0, 0], 2.1),
    ([0.1, 0.2, 0.3], 0.6),
    ([HUGE, HUGE, -HUGE], HUGE),
    ([MAX, MAX, -MAX, -MAX, 1], 1.0),
    ([MAX, 2.0**969], MAX),
    ([TINY] * 3, 3 * TINY),
    ([TINY, -TINY], 0.0),
    ([1.0, 2.0**-53], 1.0),
    ([1.0, 2.0**-53, TINY], 1.0 + 2.0**-52),
    ([-0.0, -0.0], 0.0),
    ([9007199254740993, 0], 9007199254740992.0),
    ([9007199254740992, 1, 1], 9007199254740994.0),
    ([2**63, 2**63], 2.0**64),
    ([10**300, -(10**300), 3], 3.0),
]


@pytest.mark.parametrize(("values", "total"), EXACT)
def test_sum5_the_sum_is_exact_and_rounded_once(values: list[float], total: float, tmp_path: Path) -> None:
    """Nothing is lost on the way, order does not count; the mean is that sum divided once; a count's value is it."""
    assert float(sum(Fraction(float(value)) for value in values)) == total
    for at, order in enumerate((values, values[::-1], sorted(values))):
        mean = figures("score", values, sum=total, value=total / len(values))
        count = figures("count", values, sum=total, value=total)
        given = [
            line | {"scores": [*line["scores"], score(value, "count")]}
            for line, value in zip(scored(order), order, strict=True)
        ]
        assert verdict(tmp_path / str(at), [mean, count], given) == []
    if total:
        near = math.nextafter(total, 0)
        wrong = figures("score", values, sum=near, value=total / len(values))
        assert verdict(tmp_path / "sum", [wrong], scored(values)) == ["summary"]
        wrong = figures("score", values, value=math.nextafter(total / len(values), 0))
        assert verdict(tmp_path / "value", [wrong], scored(values)) == ["summary"]


def test_sum5_the_texts_own_examples(tmp_path: Path) -> None:
    """`2.1 / 5` is 0.42000000000000004; its spelling is free [ENC-4]."""
    values = [2.1, 0, 0, 0, 0]
    assert verdict(tmp_path / "1", [figures("score", values, value=0.42000000000000004)], scored(values)) == []
    assert verdict(tmp_path / "2", [figures("score", values, value=0.42)], scored(values)) == ["summary"]
    spelled = building.encoded(building.bare().but(lane(figures("score", values, value=0.5)))["summary.json"])
    spelled = spelled.replace(b"0.5", b"4.2000000000000004e-1").replace(b'"N": 5', b'"N": 5.0')
    run = building.bare().but(lines(*scored(values)), put("summary.json", spelled))
    assert pairs(verify_run(run.write(tmp_path / "3")).problems) == []


def test_sum5_sum_is_optional_and_an_entry_without_lines_is_null(tmp_path: Path) -> None:
    assert verdict(tmp_path / "1", [figures("score", [1], value=1)], scored([1])) == []
    for at, kind in enumerate(("score", "count", "rate")):
        assert verdict(tmp_path / f"a{at}", [entry(kind, sum=0, sumSq=0)], []) == []
        assert verdict(tmp_path / f"b{at}", [entry(kind, sum=1)], []) == ["summary"]
        assert verdict(tmp_path / f"c{at}", [entry(kind, N=1, n=1, value=0)], []) == ["summary"]
        assert verdict(tmp_path / f"d{at}", [entry(kind, "elsewhere", N=1, notMeasured=1)], scored([1])) == ["summary"]


@pytest.mark.parametrize("field", ["N", "n", "notMeasured"])
def test_sum5_each_count_is_compared(field: str, tmp_path: Path) -> None:
    given = [*scored([0.5, 0.5]), result("c9", state="error")]
    right = entry("score", N=3, n=2, notMeasured=1, sum=1, value=0.5)
    assert verdict(tmp_path / "right", [right], given) == []
    assert verdict(tmp_path / "wrong", [right | {field: right[field] + 1}], given) == ["summary"]


@pytest.mark.parametrize(
    ("values", "written", "expected"),
    [
        ([3, 4], 25, []),
        ([3, 4], 25 + 2.4e-8, []),
        ([3, 4], 25 - 2.4e-8, []),
        ([3, 4], 25 + 2.6e-8, ["summary"]),
        ([3, 4], 0, ["summary"]),
        ([1e-3], 1e-6 + 9e-10, []),
        ([1e-3], 1e-6 + 1.1e-9, ["summary"]),
        ([1e-200], 0, []),
        ([1e154], 1e308, []),
        ([1e155], 1e308, ["summary"]),
        ([1e155], 0, ["summary"]),
        ([1e200, -1e200], MAX, ["summary"]),
    ],
)
def test_sum5_the_sum_of_squares_within_its_tolerance(
    values: list[float], written: float, expected: list[str], tmp_path: Path
) -> None:
    """1e-9 times the greater of 1 and the recomputed; beyond binary64 whatever is written is wrong."""
    total = float(sum(Fraction(value) for value in values))
    given = figures("score", values, sumSq=written, value=total / len(values))
    assert verdict(tmp_path, [given], scored(values)) == expected
    del given["sumSq"]
    assert verdict(tmp_path, [given], scored(values)) == []


BEYOND = [
    [HUGE, HUGE],
    [-HUGE, -HUGE],
    [MAX, 2.0**970],
    [MAX, MAX, -HUGE],
    [MAX, 2.0**969, 2.0**969],
]


@pytest.mark.parametrize("values", BEYOND)
@pytest.mark.parametrize("kind", ["score", "count"])
def test_sum5_sum6_a_sum_beyond_binary64(values: list[float], kind: str, tmp_path: Path) -> None:
    """No `sum`, no `sumSq`; `value` null and the verdict `not_measured`, with or without a rule."""
    given = scored(values, kind)
    right = figures(kind, values, value=None, verdict="not_measured", rule="value > 0")
    assert verdict(tmp_path / "right", [right], given) == []
    wrongs = [("sum", MAX), ("sum", 0), ("sumSq", 0), ("value", 0), ("value", MAX), ("verdict", "scored")]
    for at, (field, wrong) in enumerate([*wrongs, ("verdict", "passed")]):
        assert verdict(tmp_path / str(at), [right | {field: wrong}], given) == ["summary"]


def test_sum8_an_aggregate_of_a_sum_beyond_binary64_keeps_its_value(tmp_path: Path) -> None:
    """Only `sum` and `sumSq` may not be written."""
    values = [HUGE, HUGE, MAX]
    for method, value in (("median", HUGE), ("min", HUGE), ("max", MAX), ("novel", 5)):
        right = figures("score", values, value=value, verdict="passed", aggregate={"method": method})
        assert verdict(tmp_path / method, [right], scored(values)) == []
        assert verdict(tmp_path / f"{method}-sum", [right | {"sum": MAX}], scored(values)) == ["summary"]
        assert verdict(tmp_path / f"{method}-null", [right | {"value": None}], scored(values)) == ["summary"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1], 1),
        ([3, 1, 2], 2),
        ([4, 1, 3, 2], 2.5),
        ([MAX, MAX], MAX),
        ([MAX, HUGE], float((Fraction(MAX) + Fraction(HUGE)) / 2)),
        ([-MAX, MAX], 0),
        ([TINY, 0], 0),
        ([3 * TINY, 0], 2 * TINY),
        ([TINY, TINY], TINY),
        ([0.1, 0.2], 0.15000000000000002),
        ([1.0, 1.0 + 2**-52], 1.0),
        ([9007199254740991, 9007199254740993], 9007199254740992),
        ([-0.0, -0.0, 0.0], 0.0),
        ([5, 5, 5, 1], 5),
    ],
)
def test_sum8_the_median_is_exact_and_rounded_once(values: list[float], expected: float, tmp_path: Path) -> None:
    """Of an even count the mean of the middle two, also where their sum is beyond binary64."""
    right = figures("score", values, value=expected, aggregate={"method": "median"})
    assert verdict(tmp_path / "right", [right], scored(values)) == []
    wrong = right | {"value": math.nextafter(expected, -math.inf)}
    assert verdict(tmp_path / "wrong", [wrong], scored(values)) == ["summary"]


@pytest.mark.parametrize("kind", ["rate", "verdict"])
@pytest.mark.parametrize(
    ("passed", "failed", "expected"),
    [
        (1, 0, {"min": 1, "max": 1, "median": 1}),
        (0, 1, {"min": 0, "max": 0, "median": 0}),
        (1, 1, {"min": 0, "max": 1, "median": 0.5}),
        (2, 1, {"min": 0, "max": 1, "median": 1}),
        (1, 2, {"min": 0, "max": 1, "median": 0}),
    ],
)
def test_sum8_the_aggregates_of_states(
    kind: str, passed: int, failed: int, expected: dict[str, float], tmp_path: Path
) -> None:
    states = ["passed"] * passed + ["failed"] * failed
    given = [result(f"c{at}", state=state) for at, state in enumerate(states)]
    for method, value in expected.items():
        right = figures(kind, states, value=value, aggregate={"method": method})
        assert verdict(tmp_path / method, [right], given) == []
        assert verdict(tmp_path / method, [right | {"value": value + 0.25}], given) == ["summary"]


@pytest.mark.parametrize(("method", "value"), [("min", -2), ("max", 7.5), ("median", 1)])
@pytest.mark.parametrize("kind", ["score", "count"])
def test_sum8_min_max_and_median_are_recomputed(method: str, value: float, kind: str, tmp_path: Path) -> None:
    values = [1, 7.5, -2]
    right = figures(kind, values, sum=6.5, value=value, aggregate={"method": method})
    assert verdict(tmp_path / "right", [right], scored(values, kind)) == []
    assert verdict(tmp_path / "wrong", [right | {"value": 6.5 / 3}], scored(values, kind)) == ["summary"]
    assert verdict(tmp_path / "empty", [entry(kind, aggregate={"method": method})], []) == []


@pytest.mark.parametrize("method", ["mean", "pass@k", "f1", "sum", "p50"])
def test_sum8_any_other_method_is_the_producers(method: str, tmp_path: Path) -> None:
    """Its value is never recomputed, but is a number where lines were measured; the counts and the sum are."""
    right = figures("score", [1, 2], sum=3, value=-99, verdict="failed", aggregate={"method": method, "k": 1})
    given = scored([1, 2])
    assert verdict(tmp_path / "right", [right], given) == []
    assert verdict(tmp_path / "null", [right | {"value": None}], given) == ["summary"]
    assert verdict(tmp_path / "sum", [right | {"sum": 4}], given) == ["summary"]
    assert verdict(tmp_path / "count", [right | {"N": 3, "notMeasured": 1}], given) == ["summary"]
    assert verdict(tmp_path / "empty", [entry("score", aggregate={"method": method})], []) == []
    wrong = entry("score", N=1, notMeasured=1, sum=0, aggregate={"method": method})
    assert verdict(tmp_path / "unmeasured", [wrong], [result("c1")]) == []


def test_sum6_what_the_producer_says_of_an_entry_is_the_producers(tmp_path: Path) -> None:
    """Any verdict, also without a rule; `stderr` and `ci` are not recomputed."""
    for at, said in enumerate(("passed", "failed", "warn", "inconclusive", "scored", "novel")):
        right = figures("score", [1], value=1, verdict=said, stderr=9, ci={"low": 5, "high": 6, "level": 0.9})
        assert verdict(tmp_path / str(at), [right], scored([1])) == []
    run = building.bare().but(lane(entry("score", verdict="passed")))
    assert pairs(verify_run(run.write(tmp_path / "none")).problems) == [["summary.json", "schema"]]


def test_a_metric_that_is_not_declared_is_not_compared(tmp_path: Path) -> None:
    """The reading: `metric`; `interval` and `summary-duplicate` still."""
    wrong = entry("unheard", N=9, n=9, sum=5, value=7, ci={"low": 1, "high": 0, "level": 0.5})
    assert verdict(tmp_path / "1", [wrong], []) == ["interval", "metric"]
    assert verdict(tmp_path / "2", [wrong, wrong], []) == ["interval", "metric", "summary-duplicate"]


def test_a_metric_that_is_declared_twice_is_compared_under_the_first(tmp_path: Path) -> None:
    """The reading; `metrics.json` earns `metric`."""
    given = [result("c1", scores=[score(0.5, "m")])]
    for at, (kinds, expected) in enumerate(((("score", "rate"), []), (("rate", "score"), ["summary"]))):
        both = [metric("m", kind) for kind in kinds]
        assert verdict(tmp_path / str(at), [entry("m", N=1, n=1, value=0.5)], given, *both) == expected


def test_sum9_an_entry_given_twice_is_compared_twice(tmp_path: Path) -> None:
    right = figures("score", [1], value=1)
    assert verdict(tmp_path / "1", [right, right], scored([1])) == ["summary-duplicate"]
    assert verdict(tmp_path / "2", [right, right | {"value": 2}], scored([1])) == ["summary", "summary-duplicate"]


def test_sum9_parties_compare_as_written(tmp_path: Path) -> None:
    """[VER-8] reads both as `other`, but they are two."""
    parties = [{"role": "novel"}, {"role": "other"}, {"role": "Novel"}]
    assert verdict(tmp_path / "1", [], [], put("summary.json", "usage", parties)) == []
    assert verdict(tmp_path / "2", [], [], put("summary.json", "usage", [*parties, {"role": "novel"}])) == [
        "summary-duplicate"
    ]


def test_sum7_cost_and_usage_are_the_producers(tmp_path: Path) -> None:
    more = put("summary.json", "cost", {"totalUsd": 1e300, "source": "guess"})
    assert verdict(tmp_path, [], [], more) == []


def test_sum2_a_summary_of_a_running_run_is_judged_where_it_is_there(tmp_path: Path) -> None:
    running = (put("run.json", "status", "running"), building.drop("run.json", "endedAt"))
    assert verdict(tmp_path / "1", [entry("score", N=1, n=1, value=1)], [], *running) == ["summary"]
    assert verdict(tmp_path / "2", [], [], *running, put("summary.json", "runId", "x")) == ["summary-run-id"]


def test_many_entries_at_one_place_are_recomputed_at_once(tmp_path: Path) -> None:
    """A thousand metrics at one path; each line costs its own scores alone."""
    names = [f"m{number}" for number in range(1000)]
    given = [result(f"c{at}", scores=[score(1, name)]) for at, name in enumerate(names)]
    entries = [entry(name, N=1000, n=1, notMeasured=999, sum=1, value=1) for name in names]
    assert verdict(tmp_path, entries, given, *(metric(name) for name in names)) == []
