"""The summary recomputed from the results: [SUM-2] to [SUM-6], [SUM-8], [SUM-9].

`Summary` takes the summary's entries first, then every result line once, then compares. Sums are exact and rounded
once; `value` and `sum` are compared as binary64 without tolerance, `sumSq` within §3.6's.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import fsum, isfinite
from typing import Any, NamedTuple

from aef_verify.layout import SUMMARY
from aef_verify.problems import Problem
from aef_verify.run.results import inverted, twice

RECOMPUTED = frozenset(("median", "min", "max"))
"""The `aggregate` methods that AEF defines; closed for major 1 [SUM-8]."""

RATES = frozenset(("rate", "verdict"))
"""The kinds of metrics that a measured line gives 1 or 0 for, by its state [SUM-4]."""

ABSENT = frozenset(("not_measured", "skipped", "error", "pending"))
"""The states of a line that counts and was not measured [SUM-4]."""

LEFT_OUT = "not_applicable"
"""The state of a line that does not count [SUM-4]."""

_SUM_SQ_TOLERANCE = 1e-9
_SCALE = 1074
_NO_SCORES: list[dict[str, Any]] = []

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


def median(values: Sequence[float]) -> float:
    """Return the median; of an even count the mean of the middle two, exact and rounded once [SUM-8]."""
    ranked = sorted(values)
    middle = len(ranked) // 2
    if len(ranked) % 2:
        return ranked[middle]
    return float((Fraction(ranked[middle - 1]) + Fraction(ranked[middle])) / 2)


class Figures:
    """What the result lines give for one lane, metric and path; each figure is computed once, when it is asked for.

    Attributes:
        N: the lines that are not left out.
        n: the measured ones.
    """

    def __init__(self, N: int, values: array[float]) -> None:
        """Take the number of lines and the values of the measured ones."""
        self.N = N
        self.n = len(values)
        self._values = values

    @cached_property
    def sum(self) -> float | None:
        """The exact sum, rounded once; None where it is beyond binary64."""
        return exact_sum(self._values)

    @cached_property
    def squares(self) -> float:
        """The sum of squares in binary64; infinite where it is beyond."""
        return sum(value * value for value in self._values)

    @cached_property
    def aggregates(self) -> dict[str, float]:
        """The aggregates that AEF defines [SUM-8]; there must be a measured line."""
        values = self._values
        return {"median": median(values), "min": min(values), "max": max(values)}


class Rates(Figures):
    """The figures of a metric whose measured lines are 1 or 0."""

    def __init__(self, N: int, passed: int, unpassed: int) -> None:
        """Take the number of lines, of those that passed, and of those measured that did not."""
        self.N = N
        self.n = passed + unpassed
        self.sum = self.squares = float(passed)
        self._passed = passed
        self._unpassed = unpassed

    @cached_property
    def aggregates(self) -> dict[str, float]:
        """The aggregates that AEF defines [SUM-8]; there must be a measured line."""
        passed, unpassed = self._passed, self._unpassed
        middle = 0.5 if passed == unpassed else float(passed > unpassed)
        return {"median": middle, "min": float(not unpassed), "max": float(passed > 0)}


class Place:
    """The lines of one lane at one path, as [SUM-4] reads them for every metric at once.

    A line costs time by its own scores, never by the number of metrics that a summary lists for the place.
    """

    __slots__ = ("N", "_figures", "_passed", "_rated", "_scored", "_twice", "_unpassed")

    def __init__(self) -> None:
        """Start with no line and no metric."""
        self.N = 0
        self._passed = 0
        self._unpassed = 0
        self._rated: set[str] = set()
        self._scored: dict[str, array[float]] = {}
        self._twice: dict[tuple[str, bool], int] = {}
        self._figures: dict[str, Figures] = {}

    def measure(self, metric: str, kind: str) -> None:
        """Keep what the lines give for a metric of this kind."""
        if kind in RATES:
            self._rated.add(metric)
        else:
            self._scored.setdefault(metric, array("d"))

    def take(self, state: str, scores: list[Line]) -> None:
        """Count one line."""
        if state == LEFT_OUT:
            return
        self.N += 1
        if state in ABSENT:
            return
        if state == "passed":
            self._passed += 1
        elif state != "scored":
            self._unpassed += 1
        if len(scores) == 1:
            score = scores[0]
            values = self._scored.get(score["metric"])
            if values is not None:
                values.append(score["value"])
        elif scores:
            self._take_several(state, scores)

    def _take_several(self, state: str, scores: list[Line]) -> None:
        """Count the scores of a line; a metric that it scores twice is not measured there."""
        found: dict[str, list[float]] = {}
        for score in scores:
            found.setdefault(score["metric"], []).append(score["value"])
        for metric, given in found.items():
            if len(given) == 1:
                values = self._scored.get(metric)
                if values is not None:
                    values.append(given[0])
            elif metric in self._rated and state != "scored":
                key = metric, state == "passed"
                self._twice[key] = self._twice.get(key, 0) + 1

    def counted(self, number: int) -> Counted:
        """Return what the lines since the last call gave, for `add` elsewhere, and forget it."""
        scored = tuple((metric, values) for metric, values in self._scored.items() if values)
        found = Counted(number, self.N, self._passed, self._unpassed, tuple(self._twice.items()), scored)
        self.N = self._passed = self._unpassed = 0
        self._twice.clear()
        self._scored.update((metric, array("d")) for metric, _ in scored)
        return found

    def add(self, counted: Counted) -> None:
        """Count lines that were taken elsewhere, and that follow those counted here."""
        self.N += counted.N
        self._passed += counted.passed
        self._unpassed += counted.unpassed
        for key, count in counted.twice:
            self._twice[key] = self._twice.get(key, 0) + count
        for metric, values in counted.scored:
            self._scored[metric].extend(values)

    def figures(self, metric: str) -> Figures:
        """Return what the lines gave for a metric that is measured here."""
        found = self._figures.get(metric)
        if found is None:
            if metric in self._rated:
                passed = self._passed - self._twice.get((metric, True), 0)
                unpassed = self._unpassed - self._twice.get((metric, False), 0)
                found = Rates(self.N, passed, unpassed)
            else:
                found = Figures(self.N, self._scored[metric])
            self._figures[metric] = found
        return found


class Counted(NamedTuple):
    """What lines gave to the place of a number: see `Place`; `scored` are the values by metric, in line order."""

    place: int
    N: int
    passed: int
    unpassed: int
    twice: tuple[tuple[tuple[str, bool], int], ...]
    scored: tuple[tuple[str, array[float]], ...]


class Summary:
    """Compares `summary.json`, valid against the reader schema, with the results."""

    def __init__(self, document: Line, run_id: object, kinds: dict[str, str]) -> None:
        """Take the document, `run.json`'s runId, and the kind of each metric that `metrics.json` declares."""
        self._document = document
        self._run_id = run_id
        self._kinds = kinds
        self._places: dict[tuple[str | None, str], Place] = {}
        self._lanes = {lane["lane"] for lane in document["lanes"]}
        for lane in document["lanes"]:
            for written in lane["metrics"]:
                if written["metric"] in kinds:
                    place = self._places.setdefault((lane["lane"], written["path"]), Place())
                    place.measure(written["metric"], kinds[written["metric"]])
        self._numbered = list(self._places.values())
        self._number_of = {id(place): number for number, place in enumerate(self._numbered)}
        self._touched: list[Place] = []
        if len(self._lanes) == 1:
            self._places.update({(None, path): place for (_, path), place in self._places.items()})

    def take(self, line: Line) -> None:
        """Count one result line; trial lines are not counted, their rollup is [SUM-3]."""
        place = self._places.get((line.get("lane"), line["path"]))
        if place is not None and "trial" not in line:
            if not place.N:
                self._touched.append(place)
            place.take(line["state"], line.get("scores", _NO_SCORES))

    def counted(self) -> tuple[Counted, ...]:
        """Return what the lines since the last call gave, for `add` of an equal summary, and forget it."""
        places = {self._number_of[id(place)]: place for place in self._touched}
        self._touched.clear()
        return tuple(place.counted(number) for number, place in places.items() if place.N)

    def add(self, counted: Iterable[Counted]) -> None:
        """Count lines that an equal summary took, and that follow those counted here."""
        for found in counted:
            self._numbered[found.place].add(found)

    def figures(self, lane: str, metric: str, path: str) -> Figures:
        """Return what the lines gave for an entry of the document, after the last one; its metric is declared."""
        return self._places[lane, path].figures(metric)

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the summary, after the last result line."""
        document = self._document
        if document["runId"] != self._run_id:
            yield Problem(SUMMARY, "summary-run-id", f"run.json has the runId {self._run_id}", document["runId"])
        yield from self._twice()
        for lane in document["lanes"]:
            for written in lane["metrics"]:
                place = f"{lane['lane']} / {written['metric']} / {written['path']}"
                if written["metric"] not in self._kinds:
                    yield Problem(SUMMARY, "metric", "metrics.json declares no such metric", written["metric"])
                if fault := inverted(written.get("ci")):
                    yield Problem(SUMMARY, "interval", f"{place}: {fault}")
        yield from self._figures()

    def _figures(self) -> Iterator[Problem]:
        """Yield the first entry whose figures are not as the results give them."""
        for lane in self._document["lanes"]:
            for written in lane["metrics"]:
                metric, path = written["metric"], written["path"]
                if metric not in self._kinds:
                    continue
                figures = self.figures(lane["lane"], metric, path)
                if difference := compare(written, self._kinds[metric], figures):
                    detail, found = difference
                    yield Problem(SUMMARY, "summary", f"{lane['lane']} / {metric} / {path}: {detail}", found)
                    return

    def _twice(self) -> Iterator[Problem]:
        seen: set[tuple[str, ...]] = set()
        for lane in self._document["lanes"]:
            name = lane["lane"]
            for key in [(name,), *((name, entry["metric"], entry["path"]) for entry in lane["metrics"])]:
                if key in seen:
                    yield Problem(SUMMARY, "summary-duplicate", "stands twice", " / ".join(key))
                    return
                seen.add(key)
        if party := twice(self._document.get("usage", ())):
            detail = "usage names one role and model twice"
            yield Problem(SUMMARY, "summary-duplicate", detail, " / ".join(filter(None, party)))


def compare(written: Line, kind: str, measured: Figures) -> tuple[str, object] | None:
    """Return (what the results give, what is written) of the first figure that differs, or None [SUM-5], [SUM-8]."""
    for field, count in (("N", measured.N), ("n", measured.n), ("notMeasured", measured.N - measured.n)):
        if written[field] != count:
            return f"the results give {field} {count}", written[field]
    return _compare_sums(written, measured) or _compare_value(written, kind, measured)


def _compare_sums(written: Line, measured: Figures) -> tuple[str, object] | None:
    total = measured.sum
    if "sum" in written:
        if total is None:
            return "the exact sum is beyond binary64, so no sum is written", written["sum"]
        if float(written["sum"]) != total:
            return f"the results give sum {total!r}", written["sum"]
    if "sumSq" in written:
        squares = measured.squares
        if total is None or not isfinite(squares):
            return "the sum of squares is beyond binary64, so no sumSq is written", written["sumSq"]
        if abs(float(written["sumSq"]) - squares) > _SUM_SQ_TOLERANCE * max(1.0, abs(squares)):
            return f"the results give sumSq {squares!r}", written["sumSq"]
    return None


def _compare_value(written: Line, kind: str, measured: Figures) -> tuple[str, object] | None:
    value, total = written["value"], measured.sum
    method = written["aggregate"]["method"] if "aggregate" in written else None
    expected: float | None
    if not measured.n:
        expected = None
    elif method is None:
        if total is None and written["verdict"] != "not_measured":
            return "the exact sum is beyond binary64, so the verdict is not_measured", written["verdict"]
        expected = total if total is None or kind == "count" else total / measured.n
    elif method in RECOMPUTED:
        expected = measured.aggregates[method]
    elif value is None:
        return "a number is due where lines were measured", value
    else:
        return None
    if (value is None) != (expected is None) or (expected is not None and float(value) != expected):
        return f"the results give value {'null' if expected is None else repr(expected)}", value
    return None
