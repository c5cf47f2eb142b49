"""`summary.json` from result lines, as a producer writes it: [SUM-2] to [SUM-9] (the operation `summarize`, 09 §9.3).

The request is checked first, then every line is taken once, then the entries are written in the request's order. The
figures are those that a verifier recomputes (`run.summary`): sums are exact and rounded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple

from aef_verify.problems import InputError
from aef_verify.run.summary import RECOMPUTED, Figures, Summary

Document = dict[str, Any]


class Entry(NamedTuple):
    """One requested entry.

    Attributes:
        metric: a metric that `metrics.json` declares.
        path: the path of the lines that count.
        rule: the rule behind the verdict, for people.
        verdict: the producer's verdict under its rule; without one the entry is `scored` [SUM-6].
        aggregate: `method`, and `k` where it has one [SUM-8].
        value: the producer's figure; due for a method that AEF does not define, and only there.
    """

    metric: str
    path: str
    rule: str | None = None
    verdict: str | None = None
    aggregate: Document | None = None
    value: float | None = None


class Lane(NamedTuple):
    """One requested lane: its name and its entries, in order."""

    name: str
    entries: tuple[Entry, ...]


def read_request(document: object) -> list[Lane]:
    """Return the lanes of a request, `{"lanes": [{"lane", "metrics": [{"metric", "path", …}]}]}`.

    Raises:
        InputError: it is not of that shape; a value's content is judged with the summary that it leads to.
    """
    lanes = _members(document, "the request", {"lanes": list}, {})["lanes"]
    read = []
    for lane in lanes:
        given = _members(lane, "a lane", {"lane": str, "metrics": list}, {})
        entries = (_members(entry, "an entry", _ENTRY, _ENTRY_OPTIONS) for entry in given["metrics"])
        read.append(Lane(given["lane"], tuple(Entry(**entry) for entry in entries)))
    return read


def summarize(run_id: str, kinds: dict[str, str], lanes: Sequence[Lane], lines: Iterable[Document]) -> Document:
    """Return the summary of a run.

    Args:
        run_id: `run.json`'s runId [SUM-2].
        kinds: the kind of each metric that `metrics.json` declares.
        lanes: what is asked for.
        lines: the result lines, valid against the reader schema.

    Raises:
        InputError: a metric that is not declared; a lane, or a lane's metric and path, asked for twice [SUM-9]; a
            figure that is due and not given, or given for an entry that AEF computes [SUM-8].
    """
    _refuse(kinds, lanes)
    asked = [
        {"lane": lane.name, "metrics": [{"metric": entry.metric, "path": entry.path} for entry in lane.entries]}
        for lane in lanes
    ]
    totals = Summary({"lanes": asked}, run_id, kinds)
    for line in lines:
        totals.take(line)
    return {
        "schemaVersion": "1.0",
        "runId": run_id,
        "lanes": [
            {
                "lane": lane.name,
                "metrics": [
                    _entry(entry, kinds[entry.metric], totals.figures(lane.name, entry.metric, entry.path))
                    for entry in lane.entries
                ],
            }
            for lane in lanes
        ],
    }


def total_usage(parties: Iterable[Document]) -> list[Document]:
    """Return one `usage` entry a role and model, each figure summed over the entries that give it [SUM-7].

    An absent model is a value of its own [SUM-9]; the order is that of first appearance.
    """
    totals: dict[tuple[str, str | None], Document] = {}
    for party in parties:
        role, model = party["role"], party.get("model")
        named = {"role": role} if model is None else {"role": role, "model": model}
        total = totals.setdefault((role, model), named)
        for name, figure in party.items():
            if isinstance(figure, int | float):
                total[name] = total.get(name, 0) + figure
    return list(totals.values())


_ENTRY: dict[str, Any] = {"metric": str, "path": str}
_ENTRY_OPTIONS: dict[str, Any] = {"rule": str, "verdict": str, "aggregate": dict, "value": (int, float)}


def _members(value: object, what: str, due: dict[str, Any], optional: dict[str, Any]) -> Document:
    """Return an object's members; raises InputError where one is missing, unknown or of another type."""
    if not isinstance(value, dict):
        raise InputError(f"{what} is no object")
    types = due | optional
    for name in due:
        if name not in value:
            raise InputError(f"{what} has no member {name!r}")
    for name, found in value.items():
        if name not in types:
            raise InputError(f"{what} has a member {name!r}, which no request has")
        if not isinstance(found, types[name]) or isinstance(found, bool):
            raise InputError(f"{what} has a {name!r} of another type")
    return value


def _refuse(kinds: dict[str, str], lanes: Sequence[Lane]) -> None:
    """Refuse a request that no summary answers."""
    seen: set[tuple[str, ...]] = set()
    for lane in lanes:
        for key in [(lane.name,), *((lane.name, entry.metric, entry.path) for entry in lane.entries)]:
            if key in seen:
                raise InputError(f"{' / '.join(key)}: asked for twice [SUM-9]")
            seen.add(key)
        for entry in lane.entries:
            place = f"{lane.name} / {entry.metric} / {entry.path}"
            if entry.metric not in kinds:
                raise InputError(f"{place}: metrics.json declares no such metric [SUM-1]")
            if _is_given(entry) and entry.value is None:
                method = (entry.aggregate or {}).get("method")
                raise InputError(f"{place}: the method {method!r} is the producer's, and no value is given [SUM-8]")
            if not _is_given(entry) and entry.value is not None:
                raise InputError(f"{place}: a value is given for an entry that AEF computes [SUM-8]")


def _is_given(entry: Entry) -> bool:
    """Whether the entry's value is the producer's own [SUM-8]."""
    return entry.aggregate is not None and entry.aggregate.get("method") not in RECOMPUTED


def _entry(entry: Entry, kind: str, figures: Figures) -> Document:
    """Return one entry of the summary [SUM-5], [SUM-6], [SUM-8]."""
    total = figures.sum
    value = _value(entry, kind, figures)
    written: Document = {
        "metric": entry.metric,
        "path": entry.path,
        "N": figures.N,
        "n": figures.n,
        "notMeasured": figures.N - figures.n,
        "value": value,
        "verdict": "not_measured" if value is None else entry.verdict or "scored",
    }
    if total is not None:
        written["sum"] = total
        if isfinite(figures.squares):
            written["sumSq"] = figures.squares
    if entry.rule is not None:
        written["rule"] = entry.rule
    if entry.aggregate is not None:
        written["aggregate"] = entry.aggregate
    return written


def _value(entry: Entry, kind: str, figures: Figures) -> float | None:
    """Return the entry's value; None where nothing was measured, or a mean's sum is beyond binary64."""
    if not figures.n:
        return None
    if entry.aggregate is None:
        total = figures.sum
        return total if total is None or kind == "count" else total / figures.n
    return entry.value if _is_given(entry) else figures.aggregates[entry.aggregate["method"]]
