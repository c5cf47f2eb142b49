"""[SUM-2] to [SUM-9] The summary as a producer writes it; the verifier's own figures are tested in tests/run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aef_verify.problems import InputError
from aef_verify.run.verify import verify_run
from aef_verify.schemas import accepts
from aef_verify.writing.summarize import Entry, Lane, read_request, summarize, total_usage
from tests import building
from tests.building import Json, result, rollup, score
from tests.properties.scratch import scratch

KINDS = {"score": "score", "pass": "rate", "count": "count", "ok": "verdict"}
HUGE = 1.5e308


def scored(*values: float, metric: str = "score", **members: Any) -> list[Json]:
    lines = (result(f"c{at}", scores=[score(value, metric)], **members) for at, value in enumerate(values))
    return list(lines)


def one(entry: Entry, lines: list[Json]) -> Json:
    """Return the one entry of a summary."""
    (lane,) = summarize("run-1", KINDS, [Lane("main", (entry,))], lines)["lanes"]
    (found,) = lane["metrics"]
    return dict(found)


ROWS: dict[str, tuple[Entry, list[Json], Json]] = {
    "a mean": (Entry("score", "qa"), scored(0.5, 1.0), {"sum": 1.5, "sumSq": 1.25, "value": 0.75, "verdict": "scored"}),
    "an exact sum": (Entry("score", "qa"), scored(1e20, 1, -1e20), {"sum": 1.0, "sumSq": 2e40, "value": 1 / 3}),
    "the rounded sum, divided once": (Entry("score", "qa"), scored(*[0.1] * 10), {"sum": 1.0, "value": 0.1}),
    "a count": (Entry("count", "qa"), scored(2, 3, metric="count"), {"sum": 5.0, "value": 5.0}),
    "a rate": (
        Entry("pass", "qa", rule="all", verdict="failed"),
        [result("c1"), result("c2", state="failed"), result("c3", state="error"), result("c4", state="not_applicable")],
        {"N": 3, "n": 2, "notMeasured": 1, "sum": 1.0, "sumSq": 1.0, "value": 0.5, "verdict": "failed", "rule": "all"},
    ),
    "nothing measured, whatever the rule": (
        Entry("score", "qa", rule="score >= 1", verdict="passed"),
        [result("c1", state="skipped")],
        {"N": 1, "n": 0, "notMeasured": 1, "sum": 0.0, "sumSq": 0.0, "value": None, "verdict": "not_measured"},
    ),
    "no line at all": (Entry("score", "other"), scored(1), {"N": 0, "n": 0, "value": None, "verdict": "not_measured"}),
    "a median of an even count": (
        Entry("score", "qa", aggregate={"method": "median"}),
        scored(0.25, 1, 0.75, 0.5),
        {"value": 0.625, "aggregate": {"method": "median"}},
    ),
    "a median of nothing": (
        Entry("score", "qa", aggregate={"method": "max"}, verdict="passed"),
        [],
        {"value": None, "verdict": "not_measured"},
    ),
    "the producer's own figure": (
        Entry("score", "qa", aggregate={"method": "pass@k", "k": 3}, value=0.9),
        scored(0.5),
        {"sum": 0.5, "value": 0.9, "verdict": "scored", "aggregate": {"method": "pass@k", "k": 3}},
    ),
    "the producer's own figure of nothing": (
        Entry("score", "qa", aggregate={"method": "f1"}, value=0.9),
        [],
        {"value": None, "verdict": "not_measured"},
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_sum5_sum6_sum8_an_entry(name: str) -> None:
    entry, lines, expected = ROWS[name]
    found = one(entry, lines)
    assert {member: found[member] for member in expected} == expected


def test_sum5_a_sum_beyond_binary64() -> None:
    lines = scored(HUGE, HUGE)
    mean = one(Entry("score", "qa", verdict="passed"), lines)
    assert (mean["value"], mean["verdict"]) == (None, "not_measured")
    top = one(Entry("score", "qa", verdict="passed", aggregate={"method": "max"}), lines)
    assert (top["value"], top["verdict"]) == (HUGE, "passed")
    assert not {"sum", "sumSq"} & {*mean, *top}


def test_sum5_a_sum_of_squares_beyond_binary64() -> None:
    found = one(Entry("score", "qa"), scored(1e200))
    assert found["sum"] == 1e200
    assert "sumSq" not in found


def test_sum3_a_single_lane_takes_lines_without_one_and_several_do_not() -> None:
    lines = [result("c1"), result("c2", lane="main"), result("c3", lane="other")]
    entry = Entry("pass", "qa")
    alone = summarize("r", KINDS, [Lane("main", (entry,))], lines)["lanes"]
    both = summarize("r", KINDS, [Lane("other", (entry,)), Lane("main", (entry,))], lines)["lanes"]
    assert [lane["metrics"][0]["N"] for lane in (*alone, *both)] == [2, 1, 1]
    assert [lane["lane"] for lane in both] == ["other", "main"]


def test_sum3_trials_are_not_counted_their_rollup_is() -> None:
    lines = [result("c1", trial=at) for at in range(3)] + [rollup("c1", n=3, passed=3, agree=True)]
    assert one(Entry("pass", "qa"), lines)["N"] == 1


REQUEST_REFUSED: dict[str, list[Lane]] = {
    "declares no such metric": [Lane("main", (Entry("nowhere", "qa"),))],
    "main: asked for twice": [Lane("main", ()), Lane("main", ())],
    "main / score / qa: asked for twice": [Lane("main", (Entry("score", "qa"), Entry("score", "qa", rule="r")))],
    "no value is given": [Lane("main", (Entry("score", "qa", aggregate={"method": "f1"}),))],
    "'median'|AEF computes": [Lane("main", (Entry("score", "qa", aggregate={"method": "median"}, value=1),))],
    "that AEF computes": [Lane("main", (Entry("score", "qa", value=1),))],
}


@pytest.mark.parametrize("said", REQUEST_REFUSED)
def test_sum8_sum9_what_no_summary_answers_is_refused(said: str) -> None:
    with pytest.raises(InputError, match=said):
        summarize("run-1", KINDS, REQUEST_REFUSED[said], [])


def test_a_request_is_read() -> None:
    entry = {
        "metric": "score",
        "path": "qa",
        "rule": "r",
        "verdict": "passed",
        "aggregate": {"method": "f1"},
        "value": 1,
    }
    request = {
        "lanes": [{"lane": "main", "metrics": [entry, {"metric": "pass", "path": "qa"}]}, {"lane": "b", "metrics": []}]
    }
    assert read_request(request) == [
        Lane("main", (Entry("score", "qa", "r", "passed", {"method": "f1"}, 1), Entry("pass", "qa"))),
        Lane("b", ()),
    ]


ENTRY: Json = {"metric": "m", "path": "p"}
ENTRIES: list[object] = [
    [],
    {"metric": "m"},
    ENTRY | {"path": None},
    ENTRY | {"value": True},
    ENTRY | {"value": "1"},
    ENTRY | {"aggregate": "median"},
    ENTRY | {"aggregate": {}},
    ENTRY | {"aggregate": {"method": {}}},
    ENTRY | {"aggregate": {"method": "median", "k": []}},
    ENTRY | {"aggregate": {"method": "median", "n": 1}},
    ENTRY | {"N": 1},
]
SHAPES: list[object] = [
    None,
    [],
    {},
    {"lanes": {}},
    {"lanes": [], "more": 1},
    {"lanes": [1]},
    {"lanes": [{"lane": "a"}]},
    {"lanes": [{"lane": 1, "metrics": []}]},
    *({"lanes": [{"lane": "a", "metrics": [entry]}]} for entry in ENTRIES),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_request_of_another_shape_is_refused(shape: object) -> None:
    with pytest.raises(InputError):
        read_request(shape)


def test_sum9_usage_is_one_entry_a_role_and_model() -> None:
    tokens = "gen_ai.usage.input_tokens"
    parties: list[Json] = [
        {"role": "agent", "model": "m", tokens: 1, "costUsd": 0.5},
        {"role": "judge", tokens: 2},
        {"role": "agent", tokens: 4},
        {"role": "agent", "model": "m", tokens: 8},
    ]
    assert total_usage(parties) == [
        {"role": "agent", "model": "m", tokens: 9, "costUsd": 0.5},
        {"role": "judge", tokens: 2},
        {"role": "agent", tokens: 4},
    ]
    assert total_usage([]) == []


VALUES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.1, HUGE, -HUGE, sys.float_info.max, 5e-324]
)
STATES = st.sampled_from(["passed", "failed", "warn", "scored", "error", "not_applicable"])
METHODS = st.none() | st.sampled_from(["median", "min", "max"])


@settings(deadline=None)
@given(
    st.lists(st.tuples(STATES, st.none() | VALUES), max_size=12), METHODS, st.sampled_from(["score", "count", "pass"])
)
def test_whatever_was_scored_the_verifier_recomputes_the_same(
    found: list[tuple[str, float | None]], method: str | None, metric: str
) -> None:
    lines = [result(f"c{at}", state=state) for at, (state, _) in enumerate(found)]
    for line, (_, value) in zip(lines, found, strict=True):
        if value is not None and "reason" not in line:
            line["scores"] = [score(value, metric)]
    entry = Entry(metric, "qa", aggregate=None if method is None else {"method": method})
    summary = summarize(building.RUN_ID, KINDS, [Lane("main", (entry,))], lines)
    assert accepts("summary", "writer", summary)
    run = building.bare().but(
        *(building.metric(name, kind) for name, kind in KINDS.items() if name not in ("score", "pass"))
    )
    run["results.ndjson"], run["summary.json"] = lines, json.loads(json.dumps(summary))
    with scratch() as folder:
        assert verify_run(run.write(Path(folder) / "run")).problems == ()
