"""A checkpoint as one JSON value, as `schemas/report/checkpoint-report.schema.json` has it: complete, ASCII only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aef_verify.report.assemble import run_entry
from aef_verify.report.checkpoint import CheckpointView
from aef_verify.report.escape import json_document
from aef_verify.report.json import problem_values

if TYPE_CHECKING:
    from aef_verify.checkpoint.decision import Decision
    from aef_verify.checkpoint.lanes import LaneRun
    from aef_verify.checkpoint.verify import LaneReport
    from aef_verify.integrity.dsse import EnvelopeReport

SCHEMA = "urn:aef-verify:checkpoint-report"
VERSION = "1.0"
"""Of the report's own shape; a minor version only adds members."""

Value = dict[str, Any]


def checkpoint_json(view: CheckpointView) -> str:
    """Return a checkpoint as JSON text, only ASCII in it."""
    return json_document(checkpoint_value(view))


def checkpoint_value(view: CheckpointView) -> Value:
    """Return a checkpoint as one JSON value."""
    report, document = view.report, view.report.document
    subject = document["subject"]
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "path": view.path,
        "at": report.at,
        "approves": view.approves,
        "exitCode": view.exit_code,
        "verdict": view.verdict(),
        "checkpointId": document["checkpointId"],
        "subject": {
            "ref": subject["ref"],
            "version": subject["version"],
            "deployment": subject.get("deployment"),
            "resolvedFrom": subject.get("resolvedFrom"),
        },
        "state": document["state"],
        "abortReason": document.get("abortReason"),
        "recorded": None if report.outcome is None else {"written": report.outcome, "read": view.recorded.read},
        "outcome": view.outcome,
        "decidedAt": (document.get("decisionInput") or {}).get("evaluatedAt"),
        "decisionThen": _decision(report.decided),
        "decisionNow": _decision(view.again),
        "runsGiven": report.checked_runs,
        "policyGiven": view.policy_given,
        "envelope": None if view.envelope is None else _envelope(view.envelope, report.signature),
        "signedBy": None if view.signed_by is None else list(view.signed_by),
        "anchors": list(report.anchors),
        "problems": problem_values(view.problems),
        "lanes": [_lane(view, lane) for lane in report.lanes],
        "notLookedAt": list(report.links),
    }


def _decision(decision: Decision | None) -> Value | None:
    return None if decision is None else decision.document()


def _envelope(path: str, signature: EnvelopeReport | None) -> Value:
    if signature is None:
        return {"path": path, "checked": False, "result": None, "detail": "", "signatures": []}
    return {
        "path": path,
        "checked": True,
        "result": signature.result,
        "detail": signature.detail,
        "signatures": [
            {"keyid": entry.keyid, "result": entry.result, "identity": entry.identity} for entry in signature.signatures
        ],
    }


def _lane(view: CheckpointView, lane: LaneReport) -> Value:
    given = view.report.document.get("decisionInput") or {}
    return {
        "lane": lane.lane,
        "blocking": lane.blocking,
        "rule": lane.rule,
        "requirements": list(lane.requirements),
        "freshness": lane.freshness,
        "recorded": lane.recorded,
        "recomputed": None if lane.result is None else lane.result.document(),
        "findings": list(lane.findings),
        "dependsOnLaterMinor": lane.unknown or None,
        "exceptions": [granted for granted in given.get("exceptions", ()) if granted["lane"] == lane.lane],
        "runs": [_run(run) for run in lane.runs],
    }


def _run(run: LaneRun) -> Value:
    entry = run_entry(run.report) if run.report is not None else None
    mode = entry.header.target_mode if entry is not None else None
    return {
        "runId": run.run_id,
        "runHash": run.run_hash,
        "baseline": run.baseline,
        "path": run.path,
        "outcome": run.outcome,
        "targetMode": None if mode is None else {"written": mode.written, "read": mode.read},
        "signedBy": None if entry is None or entry.signed_by is None else list(entry.signed_by),
        "withheld": 0 if entry is None else entry.withheld,
        "counts": not run.reasons,
        "reasons": list(run.reasons),
    }
