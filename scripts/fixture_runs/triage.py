"""A replayed run of a ticket triage workflow: trees of results, with typed absences and a trace; sealed, not signed."""

from __future__ import annotations

import json
from typing import Any

from scripts.fixture_runs.building import Document, Entry, Metric, RunBuilder, hex_digest, pretty, sha256_uri

SEALED_AT = "2026-10-01T16:40:30Z"

HEADER: Document = {
    "runId": "triage-2026-10-01-r2",
    "status": "completed",
    "producer": {"name": "flowcheck", "version": "1.12.0"},
    "subject": {"ref": "workflow:ticket-triage", "kind": "workflow", "version": "1.4.0"},
    "execution": {"targetMode": "replayed", "stimulus": "suite"},
    "suite": {
        "ref": "suite:tickets",
        "version": "3",
        "digest": sha256_uri("tickets, version 3: four tickets\n"),
        "frozen": True,
    },
    "judges": [{"model": "judge-small-2026-08", "mode": "single"}],
    "startedAt": "2026-10-01T16:38:00Z",
    "endedAt": "2026-10-01T16:40:11Z",
    "otel": {"semconvVersion": "1.37.0"},
    "contentCapture": "off",
}

METRICS = (
    Metric("triaged", "rate", "higher_better", (0, 1), "Share of tickets that were handled well as a whole."),
    Metric("quality", "score", "higher_better", (0, 1), "Weighted mean of what was measured of a ticket."),
)

JUDGE = {"kind": "LLM", "model": "judge-small-2026-08"}
EVALUATORS: dict[str, Document] = {
    "triage": {"id": "composite:triage", "version": "2"},
    "triage/category": {"id": "code:label", "version": "1"},
    "triage/priority": {"id": "code:label", "version": "1"},
    "triage/reply": {"id": "composite:reply", "version": "2"},
    "triage/reply/facts": {"id": "judge:facts", "version": "5"},
    "triage/reply/tone": {"id": "judge:tone", "version": "5"},
    "triage/escalation": {"id": "code:escalated", "version": "1"},
}
WEIGHTS = {
    "triage/category": (0.3, True),
    "triage/priority": (0.2, False),
    "triage/reply": (0.4, True),
    "triage/escalation": (0.1, False),
    "triage/reply/facts": (0.7, True),
    "triage/reply/tone": (0.3, False),
}

Part = tuple[str, str | None, str | None]
"""A node's state, its reason and its severity."""

PASSED: Part = ("passed", None, None)
NO_ESCALATION: Part = ("not_applicable", "The ticket asks for no escalation.", None)


class Ticket:
    """One case: what was found at each path, and how the verdict of each composite came about.

    `decided` gives a composite's rule path and score; children are measured unless they are a typed absence.
    """

    def __init__(self, case: str, parts: dict[str, Part], decided: dict[str, tuple[str, float | None, list[str]]]):
        self.case = case
        self.parts = parts
        self.decided = decided


def _tickets() -> list[Ticket]:
    return [
        Ticket(
            "T-1041",
            {
                "triage": PASSED,
                "triage/category": PASSED,
                "triage/priority": PASSED,
                "triage/reply": PASSED,
                "triage/reply/facts": PASSED,
                "triage/reply/tone": PASSED,
                "triage/escalation": NO_ESCALATION,
            },
            {"triage": ("threshold", 1.0, []), "triage/reply": ("threshold", 1.0, [])},
        ),
        Ticket(
            "T-1042",
            {
                "triage": ("failed", "The reply fails, and it is required.", "high"),
                "triage/category": PASSED,
                "triage/priority": PASSED,
                "triage/reply": ("failed", "The facts are wrong.", "high"),
                "triage/reply/facts": ("failed", "Names a delivery date that the order does not have.", "high"),
                "triage/reply/tone": PASSED,
                "triage/escalation": PASSED,
            },
            {
                "triage": ("severity", 0.6, ["triage/reply"]),
                "triage/reply": ("severity", 0.0, ["triage/reply/facts"]),
            },
        ),
        Ticket(
            "T-1043",
            {
                "triage": ("warn", "The priority is one step too low.", "low"),
                "triage/category": PASSED,
                "triage/priority": ("warn", "Set to normal; high was expected.", "low"),
                "triage/reply": PASSED,
                "triage/reply/facts": PASSED,
                "triage/reply/tone": ("error", "The judge's answer held no verdict; asked three times.", None),
                "triage/escalation": NO_ESCALATION,
            },
            {"triage": ("failure-effect", 0.89, ["triage/priority"]), "triage/reply": ("threshold", 1.0, [])},
        ),
        Ticket(
            "T-1044",
            {
                "triage": ("inconclusive", "The reply is required, and it was not measured.", "medium"),
                "triage/category": PASSED,
                "triage/priority": PASSED,
                "triage/reply": ("not_measured", "The recording holds no reply.", None),
                "triage/reply/facts": ("not_measured", "The recording holds no reply.", None),
                "triage/reply/tone": ("skipped", "Not asked: there is no reply.", None),
                "triage/escalation": PASSED,
            },
            {
                "triage": ("required-not-measured", None, ["triage/reply"]),
                "triage/reply": ("nothing-measured", None, []),
            },
        ),
    ]


def triage(*, facts_hidden: bool = False) -> RunBuilder:
    """Build the run; `facts_hidden` leaves the wrong facts of T-1042 out and lets the ticket pass."""
    run = RunBuilder(HEADER, METRICS)
    for number, ticket in enumerate(_tickets()):
        hidden = ""
        if facts_hidden and ticket.case == "T-1042":
            hidden = "triage/reply/facts"
            ticket.parts |= {"triage": PASSED, "triage/reply": PASSED, hidden: PASSED}
            ticket.decided = {"triage": ("threshold", 1.0, []), "triage/reply": ("threshold", 1.0, [])}
        for path in EVALUATORS:
            if path != hidden:
                _node(run, ticket, path, number)
    run.summarize(
        {
            "triage": (
                Entry("triaged", "triage", "at least 75 % of the tickets", least=0.75),
                Entry("quality", "triage", "0.8 or more", least=0.8),
            )
        }
    )
    run.files["traces.otlp.jsonl"] = _trace(run)
    run.files["ext/flowcheck/settings.json"] = pretty({"recording": "2026-08-29", "seed": 7})
    return run


def _node(run: RunBuilder, ticket: Ticket, path: str, number: int) -> None:
    state, reason, severity = ticket.parts[path]
    parent = path.rpartition("/")[0]
    facts: dict[str, Any] = {}
    if path in ticket.decided:
        facts["aggregation"] = _aggregation(run, ticket, path)
        score = ticket.decided[path][1]
        if not parent and score is not None:
            facts["scores"] = [{"metric": "quality", "value": score, "normalized": score}]
    if not parent:
        facts["traceLink"] = {"traceId": _trace_id(ticket.case), "spanId": _span_id(ticket.case)}
        facts["durationMs"] = 812 + 95 * number
    if path.startswith("triage/reply/") and state in ("passed", "failed"):
        facts["annotator"] = JUDGE
    run.result(
        ticket.case,
        path,
        state,
        parent=run.result_id(ticket.case, parent) if parent else None,
        component=WEIGHTS.get(path),
        evaluator=EVALUATORS[path],
        reason=reason,
        severity=severity,
        **facts,
    )


def _aggregation(run: RunBuilder, ticket: Ticket, path: str) -> Document:
    children = [child for child in EVALUATORS if child.rpartition("/")[0] == path]
    absent: dict[str, int] = {}
    for child in children:
        state = ticket.parts[child][0]
        if state in ("not_measured", "not_applicable", "skipped", "error"):
            absent[state] = absent.get(state, 0) + 1
    rule_path, score, decisive = ticket.decided[path]
    aggregation: Document = {
        "strategy": "WeightedSum" if path == "triage" else "Min",
        "rulePath": rule_path,
        "threshold": 0.8,
        "score": score,
        "measured": len(children) - sum(absent.values()),
        "total": len(children),
    }
    if absent:
        aggregation["unmeasured"] = absent
    if decisive:
        aggregation["decisive"] = [run.result_id(ticket.case, child) for child in decisive]
    return aggregation


def _trace_id(case: str) -> str:
    return hex_digest(f"trace {case}")[:32]


def _span_id(case: str) -> str:
    return hex_digest(f"span {case}")[:16]


def _trace(run: RunBuilder) -> bytes:
    """Return `traces.otlp.jsonl`: one span for each ticket [RUN-14]."""
    start = 1_790_872_680_000_000_000  # 2026-10-01T16:38:00Z
    spans = []
    for number, line in enumerate(line for line in run.results if line["path"] == "triage"):
        begin = start + number * 30_000_000_000
        spans.append(
            {
                "traceId": line["traceLink"]["traceId"],
                "spanId": line["traceLink"]["spanId"],
                "name": "invoke_workflow ticket-triage",
                "kind": 1,
                "startTimeUnixNano": str(begin),
                "endTimeUnixNano": str(begin + line["durationMs"] * 1_000_000),
                "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_workflow"}}],
            }
        )
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "ticket-triage"}}]}
    scope = {"name": "flowcheck", "version": "1.12.0"}
    traces = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}
    return json.dumps(traces).encode() + b"\n"
