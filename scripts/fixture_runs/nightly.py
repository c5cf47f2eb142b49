"""A nightly regression that ran out of its budget: aborted, and taken into custody by the host that sealed it."""

from __future__ import annotations

from scripts.fixture_runs.building import Document, Entry, Metric, RunBuilder, usage

SEALED_AT = "2026-10-02T03:12:00Z"

HEADER: Document = {
    "runId": "nightly-0417",
    "status": "aborted",
    "abortReason": "The limit of 0.05 USD was reached after three of six cases.",
    "producer": {"name": "evalbench", "version": "3.4.1"},
    "subject": {"ref": "agent:support-assistant", "kind": "agent", "version": "2.9.0-dev.4"},
    "execution": {"targetMode": "scripted", "stimulus": "suite"},
    "suite": {"ref": "suite:smoke", "version": "22"},
    "startedAt": "2026-10-02T03:00:00Z",
    "endedAt": "2026-10-02T03:04:48Z",
    "contentCapture": "off",
    "costPolicy": {"maxUsd": 0.05},
}

METRICS = (Metric("answered", "rate", "higher_better", (0, 1), "Share of scripted questions answered as expected."),)

STATES = {
    "greeting": "passed",
    "order-status": "passed",
    "opening-hours": "failed",
    "refund": "skipped",
    "complaint": "skipped",
    "goodbye": "skipped",
}


def nightly() -> RunBuilder:
    """Build the run."""
    run = RunBuilder(HEADER, METRICS)
    for number, (case, state) in enumerate(STATES.items()):
        started = state != "skipped"
        run.result(
            case,
            "reply",
            state,
            evaluator={"id": "code:expected-reply", "version": "8"},
            reason={"failed": "Gives the summer hours.", "skipped": "Not started: the budget was used up."}.get(state),
            severity="low" if state == "failed" else None,
            usage=[usage("agent", "assistant-base-2026-05", (5_200 + 410 * number, 180), 0.0172)] if started else None,
        )
    run.summarize({"smoke": (Entry("answered", "reply", "all of them", least=1.0),)}, cost_source="price table 2026-09")
    return run
