"""`summary.json` from result lines, as a producer writes it: [SUM-2] to [SUM-9] (the operation `summarize`, 09 §9.3).

The request is checked first, then every line is taken once, then the entries are written in the request's order. The
figures are those that a verifier recomputes (`run.summary`): sums are exact and rounded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple

from aef_verify.folder import Folder
from aef_verify.layout import METRICS, RESULTS, RUN
from aef_verify.problems import InputError
from aef_verify.run.header import metric_kinds
from aef_verify.run.reading import Documents
from aef_verify.run.summary import RECOMPUTED, Figures, Summary
from aef_verify.schemas import accepts
from aef_verify.writing.shape import Shape, members, refused

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
    lanes = members(document, "the request", {"lanes": list})["lanes"]
    read = []
    for lane in lanes:
        given = members(lane, "a lane", {"lane": str, "metrics": list})
        read.append(Lane(given["lane"], tuple(map(_read_entry, given["metrics"]))))
    return read


def _read_entry(value: object) -> Entry:
    given = members(value, "an entry", _ENTRY, _ENTRY_OPTIONS)
    if "aggregate" in given:
        members(given["aggregate"], "an aggregate", _AGGREGATE, _AGGREGATE_OPTIONS)
    return Entry(**given)


class Tally:
    """Counts result lines for a summary that was asked for, and writes it when every line was taken."""

    def __init__(self, run_id: str, kinds: dict[str, str], lanes: Sequence[Lane]) -> None:
        """See `summarize`; what is refused is refused here, before the first line."""
        _refuse(kinds, lanes)
        asked = [
            {"lane": lane.name, "metrics": [{"metric": entry.metric, "path": entry.path} for entry in lane.entries]}
            for lane in lanes
        ]
        self._run_id, self._kinds, self._lanes = run_id, kinds, lanes
        self._totals = Summary({"lanes": asked}, run_id, kinds)

    def take(self, line: Document) -> None:
        """Count one line, valid against the reader schema."""
        self._totals.take(line)

    def document(self) -> Document:
        """Return the summary of the lines taken; raises InputError for one that no writer may write [VER-2]."""
        summary = {
            "schemaVersion": "1.0",
            "runId": self._run_id,
            "lanes": [
                {"lane": lane.name, "metrics": [self._entry(lane.name, entry) for entry in lane.entries]}
                for lane in self._lanes
            ],
        }
        if not accepts("summary", "writer", summary):
            raise InputError(f"the summary asked for is not valid: {refused('summary', summary)}")
        return summary

    def _entry(self, lane: str, entry: Entry) -> Document:
        return _entry(entry, self._kinds[entry.metric], self._totals.figures(lane, entry.metric, entry.path))


def summarize(run_id: str, kinds: dict[str, str], lanes: Sequence[Lane], lines: Iterable[Document]) -> Document:
    """Return the summary of a run.

    Args:
        run_id: `run.json`'s runId [SUM-2].
        kinds: the kind of each metric that `metrics.json` declares.
        lanes: what is asked for.
        lines: the result lines, valid against the reader schema.

    Raises:
        InputError: a metric that is not declared; a lane, or a lane's metric and path, asked for twice [SUM-9]; a
            figure that is due and not given, or given for an entry that AEF computes [SUM-8]; a value that no summary
            may hold.
    """
    tally = Tally(run_id, kinds, lanes)
    for line in lines:
        tally.take(line)
    return tally.document()


def summarize_run(path: str, lanes: Sequence[Lane]) -> Document:
    """Return the summary of a run folder, open or closed, with a `summary.json` or without; its lines are streamed.

    Raises:
        InputError: as for `summarize`, or `run.json`, `metrics.json` or `results.ndjson` is missing, does not read or
            is not valid against its reader schema.
    """
    with Folder(path) as folder:
        documents = Documents(folder, details=True)
        run = documents.json(RUN, "run", required=True)
        metrics = documents.json(METRICS, "metrics", required=True)
        _check(documents, path)
        assert run.document is not None
        assert metrics.document is not None
        tally = Tally(run.document["runId"], metric_kinds(metrics.document), lanes)
        if folder.get(RESULTS) is None:
            raise InputError(f"{path}: {RESULTS} is required, and it is not there")
        documents.ndjson(RESULTS, "result", lambda _, line: tally.take(line))
        _check(documents, path)
    return tally.document()


def _check(documents: Documents, path: str) -> None:
    for problem in documents.problems:
        raise InputError(f"{path}: {problem.path}: {problem.code}: {problem.detail}; nothing was summarized")


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


_AGGREGATE: Shape = {"method": str}
_AGGREGATE_OPTIONS: Shape = {"k": (int, float)}
_ENTRY: Shape = {"metric": str, "path": str}
_ENTRY_OPTIONS: Shape = {"rule": str, "verdict": str, "aggregate": dict, "value": (int, float)}


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
