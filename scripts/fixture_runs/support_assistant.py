"""A live evaluation of a support assistant, judged by a model with a known agreement with people; sealed and signed."""

from __future__ import annotations

from typing import NamedTuple

from scripts.fixture_runs.building import Document, Entry, Metric, RunBuilder, sha256_uri, usage

SEALED_AT = "2026-10-02T14:21:40Z"
JUDGE = "judge-large-2026-06"
RUBRIC = sha256_uri("Rubric 6: the answer follows the published policy, names its conditions, and invents nothing.\n")

HEADER: Document = {
    "runId": "support-2026-10-02-a7f3",
    "status": "completed",
    "producer": {"name": "evalbench", "version": "3.4.1", "runtime": {"name": "python", "version": "3.12.4"}},
    "subject": {
        "ref": "agent:support-assistant",
        "kind": "agent",
        "version": "2.8.0",
        "environment": "staging",
        "telemetry": {"agentId": "support-assistant", "serviceName": "support-staging"},
    },
    "deployment": {
        "ref": "deployment:support-staging",
        "environment": "staging",
        "endpoint": "https://support-staging.example.org/v1/chat",
    },
    "execution": {"targetMode": "live", "stimulus": "suite"},
    "suite": {
        "ref": "suite:support",
        "version": "14",
        "digest": sha256_uri("support, version 14: seven cases\n"),
        "frozen": True,
    },
    "judges": [
        {
            "model": JUDGE,
            "provider": "example-ai",
            "mode": "single",
            "rubricDigest": RUBRIC,
            "calibration": {
                "labelSet": "labels:support-answers-2026q3",
                "n": 240,
                "accuracy": 0.942,
                "kappa": 0.87,
                "dangerousErrors": 2,
                "measuredAt": "2026-09-18T09:00:00Z",
            },
        }
    ],
    "config": {"temperature": 0, "thresholds": {"answer_correct": {"op": ">=", "value": 0.8}}},
    "startedAt": "2026-10-02T14:02:10Z",
    "endedAt": "2026-10-02T14:21:07.352Z",
    "contentCapture": "on",
    "costPolicy": {"maxUsd": 2.5, "priceTable": "2026-09"},
}

METRICS = (
    Metric("answer_correct", "rate", "higher_better", (0, 1), "Share of answers that the judge found correct."),
    Metric("helpfulness", "score", "higher_better", (0, 1), "The judge's score of an answer."),
    Metric("cites_policy", "rate", "higher_better", (0, 1), "Share of answers that link the policy they rest on."),
    Metric("latency", "duration", "lower_better", None, "Time until the answer was complete.", "ms"),
)


class Answer(NamedTuple):
    """One case: what was asked and answered, and what the judge and the check of citations said."""

    case: str
    question: str
    answer: str
    state: str
    helpfulness: float
    latency: int
    cites: str
    reason: str | None = None
    severity: str | None = None


ANSWERS = (
    Answer(
        "refund-in-time",
        "I bought the kettle nine days ago. Can I send it back?",
        "Yes. Unused items can be returned within 30 days; here is your label. [returns#window]",
        "passed",
        0.92,
        1840,
        "passed",
    ),
    Answer(
        "refund-too-late",
        "It is day 41, the lamp is unused. Refund please.",
        "The 30 days have passed, so I cannot refund it. The two-year warranty still covers defects. [returns#window]",
        "passed",
        0.88,
        2210,
        "passed",
    ),
    Answer(
        "warranty-battery",
        "The battery of my speaker died after 14 months.",
        "Batteries are covered for 12 months, so this one is not; a replacement costs 19 €. [warranty#batteries]",
        "passed",
        0.81,
        2675,
        "passed",
    ),
    Answer(
        "invoice-copy-de",
        "Könnten Sie mir die Rechnung für Bestellung 20-118 noch einmal schicken?",
        "Gern. Die Rechnung liegt in Ihrem Konto unter „Bestellungen“ und ist eben per E-Mail unterwegs.",
        "passed",
        0.9,
        1490,
        "not_applicable",
    ),
    Answer(
        "two-vouchers",
        "Can I use both of my vouchers on one order?",
        "Yes, enter them one after the other at checkout.",
        "failed",
        0.2,
        1310,
        "failed",
        "Says that two vouchers can be combined; the policy allows one per order.",
        "high",
    ),
    Answer(
        "lost-parcel",
        "The tracking has not moved for eight days.",
        "I am sorry. I have opened a search with the carrier and will write to you as soon as it answers.",
        "warn",
        0.66,
        3050,
        "failed",
        "Opens the search, but does not say that a claim must be made within 14 days.",
        "low",
    ),
)


def support_assistant(*, polished: bool = False) -> RunBuilder:
    """Build the run; `polished` turns its one failed answer into a pass, with everything that follows from it."""
    run = RunBuilder(HEADER, METRICS)
    for number, answer in enumerate(ANSWERS):
        if polished and answer.state == "failed":
            answer = answer._replace(state="passed", helpfulness=0.84, reason=None, severity=None)
        _case(run, answer, number)
    run.result(
        "account-closure",
        "answer",
        "error",
        lane="quality",
        evaluator={"id": "judge:support-answer", "version": "6"},
        reason="The assistant gave no answer within 60 s; tried twice.",
        startedAt="2026-10-02T14:16:30Z",
        endedAt="2026-10-02T14:18:31Z",
    )
    run.summarize(
        {
            "quality": (
                Entry("answer_correct", "answer", "at least 80 % of the answers correct", least=0.8),
                Entry("helpfulness", "answer", "0.7 or more", least=0.7),
                Entry("latency", "answer", aggregate="median"),
                Entry("cites_policy", "citation", "at least half", least=0.5),
            )
        },
        cost_source="price table 2026-09",
    )
    run.gate(
        gateId="gate:support-release",
        decisionId="gd-support-a7f3",
        rule={"strategy": "threshold", "inputs": ["answer_correct"]},
        inputs={"results": [run.result_id(answer.case, "answer") for answer in ANSWERS]},
        comparability="not_applicable",
        outcome="ship" if polished else "no_ship",
        exitCode=0 if polished else 1,
        decisive=[run.result_id("two-vouchers", "answer")],
        decidedAt="2026-10-02T14:21:05Z",
    )
    return run


def _case(run: RunBuilder, answer: Answer, number: int) -> None:
    transcript = run.cite(
        f"E-{answer.case}",
        "transcript",
        f"customer: {answer.question}\nassistant: {answer.answer}\n",
        f"The conversation of {answer.case}.",
    )
    tokens = 1180 + 37 * number, len(answer.answer)
    run.result(
        answer.case,
        "answer",
        answer.state,
        lane="quality",
        evaluator={"id": "judge:support-answer", "version": "6"},
        reason=answer.reason,
        severity=answer.severity,
        scores=[
            {"metric": "helpfulness", "value": answer.helpfulness},
            {"metric": "latency", "value": answer.latency},
        ],
        annotator={"kind": "LLM", "model": JUDGE, "rubricDigest": RUBRIC},
        reasoning=run.blob(f"The policy was compared with the answer. {answer.reason}\n") if answer.reason else None,
        usage=[usage("agent", "assistant-base-2026-05", tokens, round(tokens[0] * 2e-6 + tokens[1] * 8e-6, 6))],
        startedAt=f"2026-10-02T14:{2 + 2 * number:02d}:15Z",
        endedAt=f"2026-10-02T14:{2 + 2 * number:02d}:24.{answer.latency % 1000:03d}Z",
        durationMs=answer.latency,
        evidence=[transcript],
    )
    run.result(
        answer.case,
        "citation",
        answer.cites,
        lane="quality",
        evaluator={"id": "code:cites-policy", "version": "2"},
        reason={
            "not_applicable": "The case rests on no policy.",
            "failed": "The answer links no policy.",
        }.get(answer.cites),
        severity="low" if answer.cites == "failed" else None,
        annotator={"kind": "CODE"},
    )
