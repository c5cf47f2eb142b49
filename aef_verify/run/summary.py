"""The summary recomputed from the results: [SUM-2] to [SUM-6], [SUM-8], [SUM-9].

`Summary` takes the summary's entries first, then every result line once, then compares. Sums are exact and rounded
once; `value` and `sum` are compared as binary64 without tolerance, `sumSq` within §3.6's.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import fsum, isfinite
from typing import Any

from aef_verify.problems import Problem
from aef_verify.run.results import inverted, twice

FILE = "summary.json"
RECOMPUTED = frozenset(("median", "min", "max"))
"""The `aggregate` methods that AEF defines; closed for major 1 [SUM-8]."""

_LEFT_OUT = "not_applicable"
_ABSENT = frozenset(("not_measured", "skipped", "error", "pending"))
_SUM_SQ_TOLERANCE = 1e-9
_SCALE = 1074

Line = dict[str, Any]


def exact_sum(values: array[float]) -> float | None:
    """Return the exact sum of binary64 values, rounded once; None where it is beyond binary64 [SUM-5]."""
    try:
        return fsum(values)
    except OverflowError:
        pass
    total = 0
    for value in values:
        numerator, denominator = value.as_integer_ratio()
        total += numerator << (_SCALE - denominator.bit_length() + 1)
    try:
        return float(Fraction(total, 1 << _SCALE))
    except OverflowError:
        return None


def median(values: Iterable[float]) -> float:
    """Return the median; of an even count the mean of the middle two, exact and rounded once [SUM-8]."""
    ranked = sorted(values)
    middle = len(ranked) // 2
    if len(ranked) % 2:
        return ranked[middle]
    return float((Fraction(ranked[middle - 1]) + Fraction(ranked[middle])) / 2)


class Measured:
    """The lines of one lane, metric and path, as [SUM-4] reads them."""

    __slots__ = ("N", "metric", "rated", "values")

    def __init__(self, metric: str, kind: str) -> None:
        """Start with no line; `kind` is the metric's in `metrics.json`."""
        self.metric = metric
        self.rated = kind in ("rate", "verdict")
        self.N = 0
        self.values: array[float] = array("d")

    def take(self, state: str, scores: list[Line]) -> None:
        """Count one line of the lane at the path."""
        if state == _LEFT_OUT:
            return
        self.N += 1
        if state in _ABSENT:
            return
        metric = self.metric
        found = [score["value"] for score in scores if score["metric"] == metric]
        if self.rated:
            if state != "scored" and len(found) < 2:
                self.values.append(1.0 if state == "passed" else 0.0)
        elif len(found) == 1:
            self.values.append(found[0])

    def sum_of_squares(self) -> float:
        """Return the sum of squares in binary64; infinite where it is beyond."""
        return sum(value * value for value in self.values)


class _Entry:
    """One summary entry and the lines it summarises."""

    __slots__ = ("kind", "measured", "written")

    def __init__(self, written: Line, kind: str) -> None:
        self.written = written
        self.kind = kind
        self.measured = Measured(written["metric"], kind)


class Summary:
    """Compares `summary.json`, valid against the reader schema, with the results."""

    def __init__(self, document: Line, run_id: object, kinds: dict[str, str]) -> None:
        """Take the document, `run.json`'s runId, and the kind of each metric that `metrics.json` declares."""
        self._document = document
        self._run_id = run_id
        self._kinds = kinds
        self._entries: list[_Entry] = []
        self._places: dict[tuple[str | None, str], list[Measured]] = {}
        lanes = {lane["lane"] for lane in document["lanes"]}
        for lane in document["lanes"]:
            for written in lane["metrics"]:
                if written["metric"] in kinds:
                    self._add(lane["lane"], written, alone=len(lanes) == 1)

    def _add(self, lane: str, written: Line, *, alone: bool) -> None:
        entry = _Entry(written, self._kinds[written["metric"]])
        self._entries.append(entry)
        self._places.setdefault((lane, written["path"]), []).append(entry.measured)
        if alone:
            self._places.setdefault((None, written["path"]), []).append(entry.measured)

    def take(self, line: Line) -> None:
        """Count one result line; trial lines are not counted, their rollup is [SUM-3]."""
        places = self._places.get((line.get("lane"), line["path"]))
        if places is not None and "trial" not in line:
            state, scores = line["state"], line.get("scores", [])
            for measured in places:
                measured.take(state, scores)

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the summary, after the last result line."""
        document = self._document
        if document["runId"] != self._run_id:
            yield Problem(FILE, "summary-run-id", f"run.json has the runId {self._run_id}", document["runId"])
        yield from self._twice()
        for lane in document["lanes"]:
            for written in lane["metrics"]:
                place = f"{lane['lane']} / {written['metric']} / {written['path']}"
                if written["metric"] not in self._kinds:
                    yield Problem(FILE, "metric", "metrics.json declares no such metric", written["metric"])
                if fault := inverted(written.get("ci")):
                    yield Problem(FILE, "interval", f"{place}: {fault}")
        for entry in self._entries:
            written = entry.written
            if difference := compare(written, entry.kind, entry.measured):
                detail, found = difference
                yield Problem(FILE, "summary", f"{written['metric']} at {written['path']}: {detail}", found)
                break

    def _twice(self) -> Iterator[Problem]:
        seen: set[tuple[str, ...]] = set()
        for lane in self._document["lanes"]:
            name = lane["lane"]
            for key in [(name,), *((name, entry["metric"], entry["path"]) for entry in lane["metrics"])]:
                if key in seen:
                    yield Problem(FILE, "summary-duplicate", "stands twice", " / ".join(key))
                    return
                seen.add(key)
        if party := twice(self._document.get("usage", ())):
            detail = "usage names one role and model twice"
            yield Problem(FILE, "summary-duplicate", detail, " / ".join(filter(None, party)))


def compare(written: Line, kind: str, measured: Measured) -> tuple[str, object] | None:
    """Return (what the results give, what is written) of the first figure that differs, or None [SUM-5], [SUM-8]."""
    n = len(measured.values)
    for field, count in (("N", measured.N), ("n", n), ("notMeasured", measured.N - n)):
        if written[field] != count:
            return f"the results give {field} {count}", written[field]
    total = exact_sum(measured.values)
    fault = _compare_sums(written, total, measured)
    return fault or _compare_value(written, kind, total, measured)


def _compare_sums(written: Line, total: float | None, measured: Measured) -> tuple[str, object] | None:
    if "sum" in written:
        if total is None:
            return "the exact sum is beyond binary64, so no sum is written", written["sum"]
        if float(written["sum"]) != total:
            return f"the results give sum {total!r}", written["sum"]
    if "sumSq" in written:
        squares = measured.sum_of_squares()
        if total is None or not isfinite(squares):
            return "the sum of squares is beyond binary64, so no sumSq is written", written["sumSq"]
        if abs(float(written["sumSq"]) - squares) > _SUM_SQ_TOLERANCE * max(1.0, abs(squares)):
            return f"the results give sumSq {squares!r}", written["sumSq"]
    return None


def _compare_value(written: Line, kind: str, total: float | None, measured: Measured) -> tuple[str, object] | None:
    value, values = written["value"], measured.values
    method = written["aggregate"]["method"] if "aggregate" in written else None
    expected: float | None
    if not values:
        expected = None
    elif method is None:
        if total is None and written["verdict"] != "not_measured":
            return "the exact sum is beyond binary64, so the verdict is not_measured", written["verdict"]
        expected = total if total is None or kind == "count" else total / len(values)
    elif method in RECOMPUTED:
        expected = median(values) if method == "median" else min(values) if method == "min" else max(values)
    elif value is None:
        return "a number is due where lines were measured", value
    else:
        return None
    if (value is None) != (expected is None) or (expected is not None and float(value) != expected):
        return f"the results give value {'null' if expected is None else repr(expected)}", value
    return None
