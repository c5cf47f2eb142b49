"""Rules over `traces.otlp.jsonl` and `logs.otlp.jsonl`: `trace-link` [RUN-14], `content-capture` [SEC-6].

The lines have no schema of the format's own, so any JSON shape may stand anywhere: what is not shaped like OTLP/JSON
1.x holds no span and no attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from aef_verify.layout import TRACES
from aef_verify.problems import Problem

CONTENT_ATTRIBUTES = frozenset(
    (
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.evaluation.explanation",
        "gen_ai.prompt",
        "gen_ai.completion",
    )
)
"""OpenTelemetry's names for prompts, responses and what a judge said [SEC-6]."""

Link = tuple[str, int, str, str | None]
"""(file, line, traceId, spanId or None), ids in lower case."""


def _objects(value: object, *names: str) -> Iterator[dict[str, Any]]:
    """Yield the objects in the lists reached by member names, one list below the other."""
    if not names:
        if isinstance(value, dict):
            yield value
    elif isinstance(value, dict):
        items = value.get(names[0])
        if isinstance(items, list):
            for item in items:
                yield from _objects(item, *names[1:])


def _content_name(holder: object) -> str:
    """Return the first content attribute of a resource, scope, span, span event or log record, or nothing."""
    if isinstance(holder, dict):
        for attribute in _objects(holder, "attributes"):
            key = attribute.get("key")
            if isinstance(key, str) and key in CONTENT_ATTRIBUTES:
                return key
    return ""


def _holders(line: dict[str, Any]) -> Iterator[object]:
    """Yield everything of a line that may carry attributes under [SEC-6]."""
    for resources, scopes, items in (
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
    ):
        for resource in _objects(line, resources):
            yield resource.get("resource")
            for scope in _objects(resource, scopes):
                yield scope.get("scope")
                for item in _objects(scope, items):
                    yield item
                    yield from _objects(item, "events")


def content_fault(line: dict[str, Any]) -> tuple[str, str] | None:
    """Return (what is wrong, the name) of a line that keeps content although `contentCapture` is `off` [SEC-6]."""
    for holder in _holders(line):
        if name := _content_name(holder):
            return "contentCapture is off, and an attribute holds content", name
    for record in _objects(line, "resourceLogs", "scopeLogs", "logRecords"):
        if "body" in record:
            return "contentCapture is off, and a log record has a body", "body"
    return None


class TraceRules:
    """Takes the lines of both files in order."""

    def __init__(self, links: Iterable[Link], capture_off: bool) -> None:
        """Take the span links to resolve, and whether content was not captured."""
        self.problems: list[Problem] = []
        self._links = list(links)
        self._capture_off = capture_off
        self._spans = {(trace, span) for _, _, trace, span in self._links if span is not None}
        self._traces = {trace for _, _, trace, span in self._links if span is None}

    def take(self, file: str, number: int, line: dict[str, Any]) -> None:
        """Judge one line, and look for the spans that links name."""
        if self._capture_off and (fault := content_fault(line)):
            self.problems.append(Problem(f"{file}:{number}", "content-capture", *fault))
        if file == TRACES and (self._spans or self._traces):
            for span in _objects(line, "resourceSpans", "scopeSpans", "spans"):
                self._found(span.get("traceId"), span.get("spanId"))

    def _found(self, trace: object, span: object) -> None:
        if isinstance(trace, str):
            trace = trace.lower()
            self._traces.discard(trace)
            if isinstance(span, str):
                self._spans.discard((trace, span.lower()))

    def finish(self) -> list[Problem]:
        """Return all problems; what is still looked for is in no line of `traces.otlp.jsonl`."""
        for file, number, trace, span in self._links:
            if span is None and trace in self._traces:
                self.problems.append(Problem(f"{file}:{number}", "trace-link", "no span has this traceId", trace))
            elif span is not None and (trace, span) in self._spans:
                detail = "no span has this traceId and spanId"
                self.problems.append(Problem(f"{file}:{number}", "trace-link", detail, f"{trace} {span}"))
        return self.problems
