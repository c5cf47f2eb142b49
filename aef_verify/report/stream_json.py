"""A job's stream and its runs as JSON: one value, or while it is followed one value a line.

The report is as `schemas/report/stream-report.schema.json` has it: complete, ASCII only.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aef_verify.report.escape import well_formed_value
from aef_verify.report.job import JobReport, job_verdict
from aef_verify.report.json import problem_values

if TYPE_CHECKING:
    from aef_verify.problems import Problem
    from aef_verify.runner.account import Account, Answer
    from aef_verify.runner.conform import ConformanceReport
    from aef_verify.runner.plan import Plan

SCHEMA = "urn:aef-verify:stream-report"
VERSION = "1.0"
"""Of the report's own shape; a minor version only adds members."""

Value = dict[str, Any]


def job_value(report: JobReport) -> Value:
    """Return a report as one JSON value, complete."""
    stream = report.stream
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "events": report.events,
        "sound": report.is_sound,
        "exitCode": report.exit_code,
        "verdict": job_verdict(report),
        "plan": {
            "planId": report.plan.plan_id,
            "planDigest": report.plan.digest,
            "limits": {
                "maxUsd": report.plan.max_usd,
                "cases": report.plan.cases,
                "timeoutSeconds": report.plan.timeout,
            },
        },
        "lines": stream.lines,
        "unfinishedLine": stream.is_unfinished,
        "gaveUpAfterSeconds": report.gave_up,
        "job": _job(stream.account) if stream.is_read else None,
        "problems": problem_values(stream.problems),
        "runs": report.runs,
        "policyGiven": report.policy_given,
        "message": report.message or None,
        "conformance": report.conformance and _conformance(report.conformance),
    }


def _job(account: Account) -> Value:
    estimate, end = account.estimate, account.end
    return {
        "jobId": account.job_id,
        "events": account.events,
        "eventsOfUnknownKinds": account.unknown,
        "startedAt": account.started_at,
        "lastAt": account.last_at,
        "accepted": account.accepted and _answer(account.accepted),
        "refused": account.refused and {**_answer(account.refused), "reason": account.refused.reason},
        "estimate": estimate
        and {
            "cases": estimate.cases,
            "usdLow": estimate.usd_low,
            "usdHigh": estimate.usd_high,
            "priceTable": estimate.price_table,
        },
        "spentUsd": account.spent,
        "casesCompleted": account.cases.total(),
        "casesByState": dict(sorted(account.cases.items())),
        "lanes": [{"lane": lane, "status": status} for lane, status in account.lanes.items()],
        "announced": [{"runId": run, "runHash": run_hash} for run, run_hash in account.announced.items()],
        "end": end
        and {
            "event": end.line,
            "kind": end.kind,
            "at": end.at,
            "reason": end.reason,
            "limit": end.limit,
            "runs": None if end.runs is None else list(end.runs),
        },
    }


def _answer(answer: Answer) -> Value:
    return {
        "event": answer.line,
        "at": answer.at,
        "jobId": answer.job_id,
        "planId": answer.plan_id,
        "planDigest": answer.plan_digest,
        "runnerId": answer.runner_id,
    }


def _conformance(found: ConformanceReport) -> Value:
    return {
        "named": found.named,
        "found": [
            {
                "runId": run.run_id,
                "runHash": run.run_hash,
                "path": run.path,
                "totalUsd": run.usd,
                "signedBy": None if run.signed_by is None else list(run.signed_by),
            }
            for run in found.found
        ],
        "totalUsd": found.usd,
        "cases": found.cases,
        "problems": problem_values(found.problems),
        "links": list(found.links),
    }


def event_line(number: int, event: Value, plan: Plan, account: Account) -> str:
    """Return an event that is followed as one line, the event as it was written."""
    return json_line({"type": "event", "number": number, "event": event})


def problem_line(problem: Problem) -> str:
    """Return a problem that arises while a stream is followed as one line."""
    return json_line({"type": "problem", **problem_values([problem])[0]})


def end_line(report: JobReport) -> str:
    """Return the report that ends a stream that was followed as one line."""
    return json_line({"type": "report", **job_value(report)})


def json_line(value: Value) -> str:
    """Return a value as one line of JSON, only ASCII in it."""
    return json.dumps(well_formed_value(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
