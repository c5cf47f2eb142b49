"""[RUN-14], [SEC-6], [SEC-3] Traces and logs: links to spans, and content that `contentCapture: off` rules out.

The lines have no schema of the format's own: whatever shape they have, nothing crashes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.traces import CONTENT_ATTRIBUTES, content_fault
from aef_verify.run.verify import verify_run
from tests import building
from tests.building import SPAN, TRACE, Edit, drop, evidence, lines, pairs, put, records, result, spans

TRACES, LOGS = "traces.otlp.jsonl", "logs.otlp.jsonl"
OFF = put("run.json", "contentCapture", "off")
OTHER_TRACE, OTHER_SPAN = "1" * 32, "1" * 16


def found(root: Path, *edits: Edit) -> list[list[str]]:
    return pairs(verify_run(building.bare().but(*edits).write(root)).problems)


def linked(trace: str = TRACE, span: str | None = SPAN) -> tuple[Edit, Edit]:
    """Link to a span, from a result and, with a span, from evidence."""
    link = {"traceId": trace} | ({} if span is None else {"spanId": span})
    records = [] if span is None else [evidence("E-1", link, kind="span")]
    return lines(result("c1", traceLink=link)), lines(*records, file="evidence.ndjson")


BOTH = [["evidence.ndjson:1", "trace-link"], ["results.ndjson:1", "trace-link"]]


@pytest.mark.parametrize(
    ("trace", "span", "resolves"),
    [
        (TRACE, SPAN, True),
        (TRACE.upper(), SPAN.upper(), True),
        (TRACE.upper(), SPAN, True),
        (TRACE, OTHER_SPAN, False),
        (OTHER_TRACE, SPAN, False),
        (TRACE, None, False),
        (TRACE, 5, False),
        (5, SPAN, False),
        (None, None, False),
        ([TRACE], [SPAN], False),
    ],
)
def test_run14_a_link_names_a_span_of_the_traces(trace: object, span: object, resolves: bool, tmp_path: Path) -> None:
    """Ids compare without regard to letter case; both together name the span."""
    traces = lines({}, spans({"traceId": trace, "spanId": span}), file=TRACES)
    assert found(tmp_path, *linked(), traces) == ([] if resolves else BOTH)


def test_run14_two_halves_are_no_span(tmp_path: Path) -> None:
    halves = spans({"traceId": TRACE, "spanId": OTHER_SPAN}, {"traceId": OTHER_TRACE, "spanId": SPAN})
    assert found(tmp_path, *linked(), lines(halves, file=TRACES)) == BOTH


def test_run14_each_link_is_resolved_for_itself(tmp_path: Path) -> None:
    """Two spans with one id in two traces are two spans."""
    traces = lines(spans({"traceId": TRACE, "spanId": SPAN}), file=TRACES)
    here, elsewhere = linked()[0], linked(OTHER_TRACE)[1]
    assert found(tmp_path, here, elsewhere, traces) == BOTH[:1]


@pytest.mark.parametrize(
    ("trace", "resolves"), [(TRACE, True), (TRACE.upper(), True), (OTHER_TRACE, False), (7, False)]
)
def test_run14_a_link_without_a_span_names_a_trace(trace: object, resolves: bool, tmp_path: Path) -> None:
    problems = found(tmp_path, *linked(span=None), lines(spans({"traceId": trace}), file=TRACES))
    assert problems == ([] if resolves else [["results.ndjson:1", "trace-link"]])


def test_run14_without_traces_a_link_is_external(tmp_path: Path) -> None:
    """Also where only logs are there; an empty file of traces is there, and holds no span."""
    logs = lines(records({"traceId": TRACE, "spanId": SPAN}), file=LOGS)
    assert found(tmp_path / "none", *linked(), logs) == []
    assert found(tmp_path / "empty", *linked(), lines(file=TRACES)) == BOTH


def test_run14_a_span_in_the_logs_is_none_of_the_traces(tmp_path: Path) -> None:
    span = spans({"traceId": TRACE, "spanId": SPAN})
    assert found(tmp_path / "logs", *linked(), lines(file=TRACES), lines(span, file=LOGS)) == BOTH
    assert found(tmp_path / "traces", *linked(), lines(span, file=TRACES), lines(file=LOGS)) == []


def test_run14_a_link_in_capitals_is_no_link(tmp_path: Path) -> None:
    """Ids are written in lower case: the schema refuses it on the line that links."""
    assert found(tmp_path, linked(TRACE.upper())[0], lines(file=TRACES)) == [["results.ndjson:1", "schema"]]


@pytest.mark.parametrize(
    "line",
    [
        {"resourceSpans": [{"instrumentationLibrarySpans": [{"spans": [{"traceId": TRACE, "spanId": SPAN}]}]}]},
        {"resource_spans": [{"scope_spans": [{"spans": [{"traceId": TRACE, "spanId": SPAN}]}]}]},
        {"resourceSpans": {"scopeSpans": {"spans": {"traceId": TRACE, "spanId": SPAN}}}},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"trace_id": TRACE, "span_id": SPAN}]}]}]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"traceId": TRACE, "spanId": SPAN}]}]}]},
        {"traceId": TRACE, "spanId": SPAN},
    ],
)
def test_run14_what_is_not_otlp_1_holds_no_span(line: dict[str, Any], tmp_path: Path) -> None:
    assert found(tmp_path, *linked(), lines(line, file=TRACES)) == BOTH


def test_run14_spans_are_found_on_any_line_and_in_any_scope(tmp_path: Path) -> None:
    span = {"traceId": TRACE, "spanId": SPAN}
    line = {"resourceSpans": [{}, {"scopeSpans": [None, {"spans": [3, {}, span]}]}]}
    assert found(tmp_path, *linked(), lines(*[{}] * 50, line, file=TRACES)) == []


def attribute(key: object) -> dict[str, Any]:
    return {"attributes": [{"key": "harmless"}, {"key": key, "value": {}}]}


PLACES: dict[str, Any] = {
    "resource of spans": lambda held: (TRACES, {"resourceSpans": [{"resource": held}]}),
    "scope of spans": lambda held: (TRACES, {"resourceSpans": [{"scopeSpans": [{"scope": held}]}]}),
    "span": lambda held: (TRACES, spans({}, held)),
    "span event": lambda held: (TRACES, spans({"events": [{}, held]})),
    "resource of logs": lambda held: (LOGS, {"resourceLogs": [{"resource": held}]}),
    "scope of logs": lambda held: (LOGS, {"resourceLogs": [{"scopeLogs": [{"scope": held}]}]}),
    "log record": lambda held: (LOGS, records({}, held)),
}


@pytest.mark.parametrize("place", PLACES)
def test_sec6_off_rules_out_content_attributes_everywhere(place: str, tmp_path: Path) -> None:
    """On a resource, scope, span, span event, log record; once a line; nothing is asked under `on`."""
    for at, name in enumerate(sorted(CONTENT_ATTRIBUTES)):
        file, line = PLACES[place](attribute(name))
        given = lines({}, line, line, file=file)
        if at == 0:
            expected = [[f"{file}:2", "content-capture"], [f"{file}:3", "content-capture"]]
            assert found(tmp_path / "off", OFF, given) == expected
            assert found(tmp_path / "on", given) == []
        assert content_fault(line) == ("contentCapture is off, and an attribute holds content", name)
    names: list[object] = ["gen_ai.prompts", "GEN_AI.PROMPT", "gen_ai.usage.input_tokens", "", None, 5, []]
    for harmless in names:
        assert content_fault(PLACES[place](attribute(harmless))[1]) is None


def test_sec6_the_attributes() -> None:
    assert {
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.evaluation.explanation",
        "gen_ai.prompt",
        "gen_ai.completion",
    } == CONTENT_ATTRIBUTES


@pytest.mark.parametrize("body", [None, "", {}, {"stringValue": "x"}, 0, False])
def test_sec6_off_rules_out_any_body_of_a_log_record(body: object, tmp_path: Path) -> None:
    assert found(tmp_path, OFF, lines(records({}, {"body": body}), file=LOGS)) == [[f"{LOGS}:1", "content-capture"]]


def test_sec6_a_body_elsewhere_is_no_log_records(tmp_path: Path) -> None:
    line = {"body": 1, "resourceLogs": [{"body": 1, "scopeLogs": [{"body": 1, "logRecords": [{"attributes": []}]}]}]}
    assert found(tmp_path, OFF, lines(line, file=LOGS), lines(spans({"body": 1}), file=TRACES)) == []


def test_sec6_either_file_is_judged_by_what_it_holds(tmp_path: Path) -> None:
    """Log records in the file of traces are log records all the same."""
    swapped = lines(records({"body": 1}), file=TRACES), lines(spans(attribute("gen_ai.prompt")), file=LOGS)
    assert found(tmp_path, OFF, *swapped) == [[f"{LOGS}:1", "content-capture"], [f"{TRACES}:1", "content-capture"]]


ODD: list[Any] = [None, True, 0, "x", [], {}, [[]], [None], [{}], {"a": 1}, [{"key": "gen_ai.prompt"}]]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_no_shape_of_a_line_crashes(value: Any) -> None:
    """Each member of a full line in turn of another shape, with links to look for."""
    span = {"traceId": TRACE, "spanId": SPAN, "events": [attribute("x")], **attribute("y")}
    whole = {**spans(span), **records({"body": 1, **attribute("z")})}

    def changed(part: Any) -> list[Any]:
        made = [value]
        if isinstance(part, dict):
            made += [part | {name: other} for name in part for other in changed(part[name])]
        elif isinstance(part, list):
            made += [[*part[:at], other, *part[at + 1 :]] for at in range(len(part)) for other in changed(part[at])]
        return made

    for line in changed(whole):
        if isinstance(line, dict):
            content_fault(line)


def test_sec3_off_is_asked_of_a_run_that_says_it_and_no_other(tmp_path: Path) -> None:
    content = lines(records({"body": 1}), file=LOGS)
    for at, edit in enumerate((drop("run.json", "suite"), put("run.json", "contentCapture", "novel"))):
        assert found(tmp_path / str(at), content, edit) == []
