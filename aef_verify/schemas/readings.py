"""How a reader takes values it does not know, as one table [VER-8].

A value is known when the writer's schema of this version accepts it at its field. Any other one is read as the table
says: never as a pass, never as better evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from operator import is_
from typing import Any, NamedTuple

from aef_verify.schemas.faults import holds
from aef_verify.schemas.source import schema_text

SHOWN = None
"""Read as it is written, for display alone."""


class Reading(NamedTuple):
    """One field and what its unknown values are read as."""

    field: str
    """Member names with `.` between them; `[]` is every item and `*` every member, whatever its name."""
    unknown: str | None
    of_kind: str | None = None
    """Only in an object of this `kind`, where the field is a member of one kind of a union."""
    claimed: bool = False
    """Known values are read so, too: what is claimed counts only once a signature verifies it [OVL-3]."""


READINGS: dict[str, tuple[Reading, ...]] = {
    "run": (
        Reading("execution.targetMode", "mocked"),
        Reading("execution.stimulus", "other"),
        Reading("contentCapture", "on"),
        Reading("subject.kind", "other"),
        Reading("judges[].mode", "other"),
        Reading("suite.executionPolicy.aggregation", SHOWN),
        Reading("config.thresholds.*.op", SHOWN),
    ),
    "result": (
        Reading("severity", "critical"),
        Reading("annotator.kind", "OTHER"),
        Reading("attack.taxonomy[].scheme", "other"),
        Reading("usage[].role", "other"),
        Reading("trials.aggregation", SHOWN),
        Reading("aggregation.strategy", SHOWN),
        Reading("aggregation.rulePath", SHOWN),
    ),
    "summary": (
        Reading("lanes[].metrics[].verdict", "inconclusive"),
        Reading("usage[].role", "other"),
    ),
    "metrics": (Reading("metrics[].direction", "none"),),
    "evidence": (Reading("kind", "other"),),
    "gate-decision": (Reading("outcome", "inconclusive"), Reading("comparability", "incomparable")),
    "overlay-event": (
        Reading("kind", "annotate"),
        Reading("by.assurance", "self-attested", claimed=True),
    ),
    "seal": (Reading("predicate.sealedBy", "ingest"),),
    "checkpoint": (
        Reading("state", "unverifiable"),
        Reading("outcome", "unverifiable"),
        Reading("lanes[].rule.kind", "not_measured"),
        Reading("lanes[].rule.max", "not_measured", of_kind="severity"),
        Reading("lanes[].rule.op", "not_measured", of_kind="threshold"),
        Reading("lanes[].rule.axes[]", "incomparable", of_kind="comparison"),
        Reading("budget.approvedBy.assurance", "self-attested", claimed=True),
        Reading("decision.outcome", "unverifiable"),
        Reading("decision.lanes[].status", "unverifiable"),
        Reading("decisionInput.lanes[].result.status", "not_measured"),
        Reading("decisionInput.exceptions[].by.assurance", "self-attested", claimed=True),
    ),
    "decision": (Reading("outcome", "unverifiable"), Reading("lanes[].status", "unverifiable")),
    "decision#/$defs/input": (
        Reading("lanes[].result.status", "not_measured"),
        Reading("exceptions[].by.assurance", "self-attested", claimed=True),
    ),
    "run-plan": (
        Reading("provider", "refused"),
        Reading("isolation", "refused"),
        Reading("contentCapture", "refused"),
        Reading("targetMode", "refused"),
        Reading("credentialRefs[].scheme", "refused"),
        Reading("credentialRefs[].purpose", "refused"),
    ),
    "runner": (Reading("kind", SHOWN), Reading("os", SHOWN)),
    "runner-event": (
        Reading("kind", "skipped"),
        Reading("limit", SHOWN, of_kind="job.failed"),
        Reading("status", "not_measured", of_kind="lane.completed"),
    ),
}
"""[VER-8], in its order; a document or definition without an entry has no such field."""


def reads(name: str, value: object) -> dict[str, str]:
    """Return how a reader reads each field of [VER-8] that a document holds, by the field's path.

    A path is as in `lanes[0].rule.op`; a member name with `.` or `[` in it stands as `["a.b"]` (09 §9.2.1). The
    document is one that the reader accepts; a null is no value of such a field.
    """
    found: dict[str, str] = {}
    for reading in READINGS.get(name, ()):
        for path, holder, written in _fields(value, _steps(reading.field), ""):
            if not isinstance(written, str) or reading.of_kind not in (None, _kind(holder)):
                continue
            known = not reading.claimed and holds(_writers_field(name, reading), written)
            found[path] = written if known or reading.unknown is None else reading.unknown
    return found


def as_read(name: str, value: dict[str, Any]) -> dict[str, Any]:
    """Return a document that the reader accepts with every unknown value of [VER-8] as it is read.

    The document itself where it holds none; otherwise a copy of the parts that differ.
    """
    found: Any = value
    for reading in READINGS.get(name, ()):
        if reading.unknown is not None:
            found = _as_read(found, _steps(reading.field), name, reading, None)
    result: dict[str, Any] = found
    return result


def _as_read(value: Any, steps: list[str], name: str, reading: Reading, kind: object) -> Any:
    if not steps:
        fits = isinstance(value, str) and reading.of_kind in (None, kind)
        unknown = fits and (reading.claimed or not holds(_writers_field(name, reading), value))
        return reading.unknown if unknown else value
    step, *rest = steps
    if step == "[]":
        if not isinstance(value, list):
            return value
        items = [_as_read(item, rest, name, reading, kind) for item in value]
        return value if all(map(is_, items, value)) else items
    if not isinstance(value, dict):
        return value
    changed = {
        member: part
        for member in (list(value) if step == "*" else [step] * (step in value))
        if (part := _as_read(value[member], rest, name, reading, _kind(value))) is not value[member]
    }
    return {**value, **changed} if changed else value


def _steps(field: str) -> list[str]:
    return field.replace("[]", ".[]").split(".")


def _kind(holder: object) -> object:
    return holder.get("kind") if isinstance(holder, dict) else None


def _fields(value: object, steps: list[str], path: str, holder: object = None) -> Iterator[tuple[str, object, object]]:
    """Yield (path, the innermost object on the way there, the value) wherever the steps lead."""
    step, *rest = steps
    if step == "[]":
        parts = [(f"{path}[{i}]", item) for i, item in enumerate(value)] if isinstance(value, list) else []
    elif isinstance(value, dict):
        holder = value
        names = list(value) if step == "*" else [step] * (step in value)
        parts = [(_member(path, name), value[name]) for name in names]
    else:
        parts = []
    for place, part in parts:
        if rest:
            yield from _fields(part, rest, place, holder)
        else:
            yield place, holder, part


def _member(path: str, name: str) -> str:
    if "." in name or "[" in name:
        return f"{path}[{json.dumps(name, ensure_ascii=False)}]"
    return f"{path}.{name}" if path else name


@cache
def _writers_field(name: str, reading: Reading) -> Any:
    """Return the writer's schema of a field."""
    schema = json.loads(schema_text(name, "writer"))
    for step in _steps(reading.field):
        if step not in schema.get("properties", {}) and "oneOf" in schema:
            kinds = {branch["properties"]["kind"]["const"]: branch for branch in schema["oneOf"]}
            if step == "kind":
                return {"enum": list(kinds)}
            schema = kinds[reading.of_kind]
        if step == "[]":
            schema = schema["items"]
        elif step == "*":
            schema = schema["additionalProperties"]
        else:
            schema = schema["properties"][step]
    return schema
