"""`summary.json` as the results give it [SUM-2] to [SUM-9], computed with exact fractions from the text alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

from hypothesis import strategies as st

from aef_verify.strategies.header import EXT, members
from aef_verify.strategies.values import counts, ids, numbers, sizes, texts

Document = dict[str, Any]

_ABSENT = ("not_measured", "skipped", "error", "pending")


def rounded(value: Fraction) -> float | None:
    """Return the nearest binary64, or None beyond it."""
    try:
        return float(value)
    except OverflowError:
        return None


def measured_values(lines: Iterable[Document], metric: str, kind: str) -> tuple[int, list[float]]:
    """Return N and the measured values of one lane's lines at one path [SUM-4]."""
    counted = 0
    values: list[float] = []
    for line in lines:
        if line["state"] == "not_applicable":
            continue
        counted += 1
        scores = [score["value"] for score in line.get("scores", ()) if score["metric"] == metric]
        if line["state"] in _ABSENT or len(scores) > 1:
            continue
        if kind not in ("rate", "verdict"):
            values += map(float, scores)
        elif line["state"] != "scored":
            values.append(1.0 if line["state"] == "passed" else 0.0)
    return counted, values


def lines_of(lines: Iterable[Document], lanes: Sequence[str], lane: str, path: str) -> list[Document]:
    """Return the result lines that one lane counts at one path [SUM-3]."""
    alone = len(set(lanes)) == 1
    return [
        line
        for line in lines
        if "trial" not in line and line["path"] == path and line.get("lane", lane if alone else None) == lane
    ]


def entry(draw: st.DrawFn, lines: list[Document], metric: str, kind: str, path: str) -> Document:
    """Draw a summary entry over the lines that its lane counts at its path."""
    counted, values = measured_values(lines, metric, kind)
    n = len(values)
    exact = sum(map(Fraction, values), Fraction())
    total = rounded(exact)
    found: Document = {"metric": metric, "path": path, "N": counted, "n": n, "notMeasured": counted - n}
    method = draw(_METHODS)
    if method is not None:
        found["aggregate"] = {"method": method, **draw(_K)}
    unmeasured = n == 0 or (method is None and total is None)
    found["value"] = None if unmeasured else _value(draw, method, kind, values, total)
    found["verdict"] = "not_measured" if unmeasured else draw(_VERDICTS)
    if total is not None and draw(st.booleans()):
        found["sum"] = total
    squares = sum(value * value for value in values)
    if total is not None and isfinite(squares) and draw(st.booleans()):
        found["sumSq"] = squares
    more: Document = draw(_ENTRY)
    return found | more


def _value(draw: st.DrawFn, method: str | None, kind: str, values: list[float], total: float | None) -> float:
    ranked = sorted(values)
    if method == "median":
        middle = (Fraction(ranked[(len(ranked) - 1) // 2]) + Fraction(ranked[len(ranked) // 2])) / 2
        return float(middle)
    if method in ("min", "max"):
        return ranked[0] if method == "min" else ranked[-1]
    if method is not None or total is None:
        return draw(numbers())
    return total if kind == "count" else total / len(values)


_METHODS = st.sampled_from((None, None, None, "median", "min", "max", "pass@k", "f1"))
_K = members({}, {"k": counts(1)})
_VERDICTS = st.sampled_from(("passed", "failed", "warn", "inconclusive", "scored"))


def _upright(interval: Document) -> Document:
    low, high = sorted((interval["low"], interval["high"]))
    return {**interval, "low": low, "high": high}


_LEVELS = st.floats(0, 1, exclude_min=True, exclude_max=True)
INTERVALS = members({"low": numbers(), "high": numbers(), "level": _LEVELS}, {"method": texts()}).map(_upright)
"""An interval whose `low` is not above its `high`."""

_ENTRY = members({}, {"stderr": st.none() | numbers(0), "ci": st.none() | INTERVALS, "rule": texts()})
_TOKENS = ("input_tokens", "output_tokens", *(f"{kind}.input_tokens" for kind in ("cache_read", "cache_write")))
_USAGE: dict[str, Any] = {f"gen_ai.usage.{name}": counts() for name in (*_TOKENS, "reasoning.output_tokens")}
_USAGE |= {"costUsd": numbers(0), "costSource": texts()}
_ROLES = st.sampled_from(("agent", "judge", "attacker", "other"))
USAGES = st.lists(
    members({"role": _ROLES}, {"model": texts(1), **_USAGE}),
    min_size=1,
    max_size=3,
    unique_by=lambda party: (party["role"], party.get("model")),
)
"""`usage`: one entry for each role and model, an absent model being one of its own [RES-10], [SUM-9]."""


def summary_of(
    draw: st.DrawFn, run_id: str, metrics: list[Document], lines: list[Document], lanes: list[str]
) -> Document:
    """Draw the `summary.json` of a run over these declared metrics, result lines and lanes."""
    kinds = {metric["id"]: metric["kind"] for metric in metrics}
    every = [(metric, path) for metric in kinds for path in ("elsewhere", *sorted({line["path"] for line in lines}))]
    summary: Document = {"schemaVersion": "1.0", "runId": run_id, "lanes": []}
    for lane in lanes:
        counted = {path: lines_of(lines, lanes, lane, path) for _, path in every}
        telling = [place for place in every if measured_values(counted[place[1]], place[0], kinds[place[0]])[1]]
        choices = telling if draw(_MOSTLY) and telling else every
        least = min(draw(_COUNTS), len(choices))
        chosen = draw(st.lists(st.sampled_from(choices), unique=True, min_size=least, max_size=least)) if least else []
        found = [entry(draw, counted[path], metric, kinds[metric], path) for metric, path in chosen]
        summary["lanes"].append({"lane": lane, "metrics": found})
    more: Document = draw(_SUMMARY)
    return summary | more


_MOSTLY = st.sampled_from((True, True, True, False))
_COUNTS = sizes(1, 2, 3, 2, 3, 4, 0)
_SUMMARY = members(
    {},
    {"cost": members({"totalUsd": numbers(0)}, {"source": texts()}), "usage": USAGES, "ext": EXT},
)
LANES = sizes(1, 1, 2, 1, 2, 0).flatmap(
    lambda n: st.lists(st.sampled_from(("quality", "safety")) | ids(), unique=True, min_size=n, max_size=n)
)
"""The lanes of a summary: one, two or none."""
