"""The rule `comparison`: one run against a baseline, case by case.

In this order: the axes on which both runs have to agree [LANE-6]; the direction of the candidate's metric, and the
pairs of values [LANE-7]; how many differ, and whether more of them are worse than chance gives [LANE-8].

The values of the candidate are kept in a table, 16 bytes of digest and a number a case; those of the baseline are
compared with it as they are read. Comparisons at one place share its cases, those of one metric its numbers as well.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import repeat
from math import isnan, nan
from typing import Any, NamedTuple

from aef_verify.checkpoint.eligible import RunFacts
from aef_verify.checkpoint.signtest import is_regression
from aef_verify.run.summary import ABSENT, LEFT_OUT, RATES

Document = dict[str, Any]

AXES: dict[str, Callable[[RunFacts], object]] = {
    "subject": lambda run: run.subject.ref,
    "suite": lambda run: run.suite,
    "suite-content": lambda run: run.suite_digest,
    "judges": lambda run: [model for model, _ in run.judges],
    "rubrics": lambda run: [rubric for _, rubric in run.judges],
    "target-mode": lambda run: run.target_mode,
    "deployment": lambda run: run.deployment,
    "producer": lambda run: run.producer,
}
"""What is compared for each axis [LANE-6]; absent equals absent alone, and no judges are an empty list."""

_Where = tuple[str | None, str]
"""A summary lane, None where a line belongs to none, and a path."""

_NO_SCORES: list[Document] = []


def differing_axes(candidate: RunFacts, baseline: RunFacts, axes: Iterable[str]) -> tuple[str, ...]:
    """Return the axes on which two runs differ, in the order given; one that is not known differs [LANE-6]."""
    return tuple(axis for axis in axes if axis not in AXES or AXES[axis](candidate) != AXES[axis](baseline))


class Metric(NamedTuple):
    """A metric as the candidate's `metrics.json` declares it; a direction as written, known or not."""

    kind: str
    direction: str


def declared(metrics: Document, names: Container[str]) -> dict[str, Metric]:
    """Return the metrics of these names that `metrics.json` declares, of one declared twice the first."""
    found: dict[str, Metric] = {}
    for metric in metrics["metrics"]:
        if metric["id"] in names:
            found.setdefault(metric["id"], Metric(metric["kind"], metric["direction"]))
    return found


class Measured(NamedTuple):
    """What a comparison reads of a run: a metric of this kind, at a path in a summary lane."""

    lane: str
    path: str
    metric: str
    kind: str


class Differences:
    """How often the candidate's value of a pair is below the baseline's, and how often above; ties are dropped."""

    __slots__ = ("above", "below")

    def __init__(self) -> None:
        """Start without a pair."""
        self.below = 0
        self.above = 0


def comparison_status(rule: Document, direction: str, pairs: Differences) -> str:
    """Return the status that the pairs of two comparable runs give [LANE-7], [LANE-8].

    A direction that is neither `higher_better` nor `lower_better` cannot regress; an unknown one reads so [VER-8].
    """
    regressed = {"higher_better": pairs.below, "lower_better": pairs.above}.get(direction)
    untied = pairs.below + pairs.above
    if regressed is None or untied < rule["minimumPairs"]:
        return "not_measured"
    return "failed" if is_regression(regressed, untied, float(rule["significance"])) else "passed"


def measured_value(line: Document, metric: str, kind: str) -> float | None:
    """Return what a line that is no trial measures for a metric, or None where it does not [SUM-4]."""
    state = line["state"]
    if state in ABSENT or state == LEFT_OUT:
        return None
    scores = [score["value"] for score in line.get("scores", _NO_SCORES) if score["metric"] == metric]
    if kind in RATES:
        return None if state == "scored" or len(scores) > 1 else float(state == "passed")
    return float(scores[0]) if len(scores) == 1 else None


class _Place:
    """The candidate's cases at one path of one lane: a row each, and the values of each metric by row."""

    __slots__ = ("columns", "rows")

    def __init__(self) -> None:
        self.rows: dict[bytes, int] = {}
        self.columns: dict[Measured, array[float]] = {}


class CandidateTable:
    """The measured values of one candidate, for all comparisons that read them."""

    def __init__(self, wanted: Iterable[Measured], single: str | None) -> None:
        """Start before the first line; `single` is the lane of lines without one [SUM-3]."""
        self._places: dict[_Where, _Place] = {}
        self._single = single
        for measured in wanted:
            place = self._places.setdefault((measured.lane, measured.path), _Place())
            place.columns[measured] = array("d")

    def take(self, line: Document) -> None:
        """Keep what one line measures; a trial line measures nothing, its rollup does."""
        place = self._places.get((line.get("lane", self._single), line["path"]))
        if place is None or "trial" in line:
            return
        row = -1
        for measured, values in place.columns.items():
            value = measured_value(line, measured.metric, measured.kind)
            if value is None:
                continue
            if row < 0:
                row = place.rows.setdefault(_case(line), len(place.rows))
            values.extend(repeat(nan, row - len(values)))
            values.append(value)

    def against(self, wanted: Iterable[Measured], single: str | None) -> BaselinePairs:
        """Return what pairs a baseline with this candidate; `single` as above, of the baseline's summary."""
        places: dict[_Where, list[Measured]] = {}
        for measured in wanted:
            places.setdefault((measured.lane, measured.path), []).append(measured)
        return BaselinePairs(self._places, places, single)


class BaselinePairs:
    """Pairs the lines of one baseline with a candidate's table.

    Attributes:
        found: how the pairs differ, for each thing compared.
    """

    def __init__(
        self,
        table: Mapping[_Where, _Place],
        wanted: Mapping[_Where, Sequence[Measured]],
        single: str | None,
    ) -> None:
        """See `CandidateTable.against`."""
        self._table = table
        self._wanted = wanted
        self._single = single
        self.found = {measured: Differences() for several in wanted.values() for measured in several}

    def take(self, line: Document) -> None:
        """Pair one line with the candidate's of the same case [LANE-7]."""
        key = line.get("lane", self._single), line["path"]
        wanted = self._wanted.get(key)
        if wanted is None or "trial" in line:
            return
        place = self._table[key]
        row = place.rows.get(_case(line))
        if row is None:
            return
        for measured in wanted:
            values = place.columns[measured]
            candidate = values[row] if row < len(values) else nan
            baseline = measured_value(line, measured.metric, measured.kind)
            if baseline is None or isnan(candidate):
                continue
            if candidate < baseline:
                self.found[measured].below += 1
            elif candidate > baseline:
                self.found[measured].above += 1


def _case(line: Document) -> bytes:
    """Return what stands for a case: a digest, as its id may be a thousand bytes long."""
    return sha256(line["caseId"].encode()).digest()[:16]
