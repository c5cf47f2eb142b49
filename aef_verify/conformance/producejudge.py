"""Judging what a producer wrote: `summarize`, `produce` (09 §9.3, "Judging what was written").

Rules kept: `sum` and `value` are compared as binary64, `sumSq` within 03 §3.6's tolerance; of a run that was produced,
numbers are compared within that tolerance, times as times, and what means the same as its absence as absent: a null
member [ENC-2], an `unmeasured` count of 0 and an empty `decisive` [RES-6], a `contentCapture` of `on` [RUN-11].
Result lines are matched by case, path and trial. The run must verify `unsealed`, without a problem.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from aef_verify.conformance.case import Case, inside, read_value, shown
from aef_verify.conformance.index import CorpusError, blocks
from aef_verify.conformance.judge import FEW, Judge, differences, problem_differences
from aef_verify.conformance.written import snapshot, verified
from aef_verify.encoding.ijson import EncodingError, parse
from aef_verify.encoding.times import is_time, time_key
from aef_verify.layout import METRICS, RESULTS, RUN, SUMMARY

TOLERANCE = 1e-9
"""How far a number may lie from the one expected, times what that is, at least 1 (03 §3.6)."""

_FILES = (METRICS, RESULTS, RUN, SUMMARY)
_FIGURES = ("lane", "metric", "path", "N", "n", "notMeasured", "verdict", "rule", "aggregate", "sum", "value")

Document = dict[str, Any]
Key = tuple[object, object, object]


def judge_summarize(case: Case) -> list[str]:
    """Judge `summarize`: the summary printed, and the run with it."""
    run = case.place("run")
    words = ("summarize", run, case.place("request"))
    if case.expected.get("refused") is True:
        return case.refusal(*words)
    got = case.answer(*words)
    where = os.path.join(run, SUMMARY)
    with open(where, "w", encoding="utf-8") as target:
        json.dump(got, target, ensure_ascii=False)
    return _judge_summary(case, got, where) or _judge_unsealed(run)


def judge_produce(case: Case) -> list[str]:
    """Judge `produce`: the four files in a fresh folder, and the run that they are."""
    out = inside(case.scratch, "out")
    words = ("produce", case.place("scenario"), out)
    if case.expected.get("refused") is True:
        return [*case.refusal(*words), *(f"{path}: written, and nothing was to be" for path in _files(out))]
    got = case.answer(*words)
    if set(found := _files(out)) != set(_FILES):
        return [f"the folder holds {shown(found)}, and is to hold {shown(_FILES)} alone"]
    scenario = read_value(case.place("scenario"), case.text("scenario"))
    if not isinstance(scenario, dict):
        raise CorpusError(f"{case.text('scenario')}: no object")
    lines = _judge_results(case, os.path.join(out, RESULTS), got.get("results"))
    for name, schema, member in ((RUN, "run", "run"), (METRICS, "metrics", "metrics")):
        if problem := _invalid(schema, os.path.join(out, name), name):
            return [problem]
        written = read_value(os.path.join(out, name), name)
        lines += differences(name, *_alike(_with_capture(scenario.get(member)), _with_capture(written)))
    summary = read_value(os.path.join(out, SUMMARY), SUMMARY)
    lines += _judge_summary(case, summary, os.path.join(out, SUMMARY))
    return lines or _judge_unsealed(out)


def _files(folder: str) -> list[str]:
    """Return what is in a folder but for folders, by path."""
    return sorted(path for path, what in snapshot(folder).items() if what != "folder")


def _invalid(schema: str, where: str, name: str) -> str:
    """Say that a file is not valid against the writer's schema, or nothing."""
    writer = verified("document", schema, where).get("writer")
    return "" if writer == "valid" else f"{name}: not valid against the writer schema of {schema}"


def _judge_unsealed(run: str) -> list[str]:
    value = verified("run", run)
    outcome = differences("the run: outcome", "unsealed", value.get("outcome"))
    return [*outcome, *problem_differences([], value.get("problems"), "the run: problems")]


def _judge_summary(case: Case, got: object, where: str) -> list[str]:
    """Return how a summary differs from the one expected: lanes and entries in order, each figure by its rule."""
    if problem := _invalid("summary", where, SUMMARY):
        return [problem]
    expected = case.stated("summary")
    try:
        rows, found = _rows(expected), _rows(got)
        run_ids = [side["runId"] for side in (expected, got) if isinstance(side, dict)]
    except (KeyError, TypeError):
        raise CorpusError("the summary expected is none") from None
    lines = differences(f"{SUMMARY}: runId", *run_ids)
    lines += differences(
        SUMMARY, *([{name: row.get(name) for name in _FIGURES} for row in side] for side in (rows, found))
    )
    if not lines:
        for one, other in zip(rows, found, strict=True):
            place = f"{SUMMARY}: {one['lane']} / {one.get('metric')} / {one.get('path')}: sumSq"
            lines += differences(place, *_alike(one.get("sumSq"), other.get("sumSq")))
    return lines[:FEW]


def _rows(summary: Any) -> list[Document]:
    """Return a row for each lane, then for each of its entries."""
    return [
        row
        for lane in summary["lanes"]
        for row in ({"lane": lane["lane"]}, *({"lane": lane["lane"], **entry} for entry in lane["metrics"]))
    ]


def _judge_results(case: Case, where: str, count: object) -> list[str]:
    """Return how the result lines differ from those expected, whatever their order."""
    if problem := _invalid("result", where, RESULTS):
        return [problem]
    expected = _lines(b"".join(blocks(case.place("results"), case.text("results"))))
    written = _lines(b"".join(blocks(where, RESULTS)))
    due, found = _by_key(expected), _by_key(written)
    lines = differences("results", len(expected), count)
    lines += [f"{RESULTS}: {shown(key)}: {len(found[key])} lines" for key in found if len(found[key]) > 1]
    lines += [f"{RESULTS}: {shown(key)}: no line" for key in due if key not in found]
    lines += [f"{RESULTS}: {shown(key)}: not expected" for key in found if key not in due]
    for key in due.keys() & found.keys():
        lines += differences(f"{RESULTS}: {shown(key)}", *_alike(*map(_as_line, (due[key][0], found[key][0]))))
    return lines[:FEW]


def _lines(data: bytes) -> list[Document]:
    """Return the objects of NDJSON bytes that a verifier found valid, or that the corpus holds."""
    try:
        values = [parse(line) for line in data.split(b"\n")[:-1]]
    except EncodingError as fault:
        raise CorpusError(f"result lines that do not read: {fault}") from None
    return [value for value in values if isinstance(value, dict)]


def _by_key(lines: Iterable[Document]) -> dict[Key, list[Document]]:
    found: dict[Key, list[Document]] = {}
    for line in lines:
        found.setdefault((line.get("caseId"), line.get("path"), line.get("trial")), []).append(line)
    return found


def _as_line(line: Document) -> Document:
    """Return a line without what means the same as its absence, and its decisive ids as a set [RES-6]."""
    facts = line.get("aggregation")
    if not isinstance(facts, dict):
        return line
    absent = facts.get("unmeasured") or {}
    counts = {state: count for state, count in absent.items() if count} if isinstance(absent, dict) else absent
    decisive = facts.get("decisive") or ()
    return line | {"aggregation": facts | {"unmeasured": counts or None, "decisive": sorted(set(decisive)) or None}}


def _with_capture(document: object) -> object:
    """Return a document that says nothing of `contentCapture` where it says what its absence means [RUN-11]."""
    if isinstance(document, Mapping) and document.get("contentCapture") == "on":
        return {name: value for name, value in document.items() if name != "contentCapture"}
    return document


def _alike(expected: object, got: object) -> tuple[object, object]:
    """Return two values in forms that are equal where they mean the same: nulls, times and near numbers."""
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return _alike_members(expected, got)
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        items = [_alike(one, other) for one, other in zip(expected, got, strict=True)]
        return [one for one, _ in items], [other for _, other in items]
    one, other = _number(expected), _number(got)
    if one is not None and other is not None and abs(other - one) <= TOLERANCE * max(1.0, abs(one)):
        return one, one
    return expected, got


def _alike_members(expected: Mapping[str, object], got: Mapping[str, object]) -> tuple[object, object]:
    ones, others = {}, {}
    for name in [*expected, *(name for name in got if name not in expected)]:
        one, other = expected.get(name), got.get(name)
        if name.endswith("At") and is_time(one) and is_time(other):
            one, other = time_key(str(one)), time_key(str(other))
        else:
            one, other = _alike(one, other)
        if one is not None:
            ones[name] = one
        if other is not None:
            others[name] = other
    return ones, others


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


PRODUCING: dict[str, Judge] = {"summarize": judge_summarize, "produce": judge_produce}
"""The judge of each kind that a producer writes."""
