"""The report as one JSON value, as `schemas/report/verify-report.schema.json` describes it: complete, ASCII only."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aef_verify.codes import REPORT, meaning_of
from aef_verify.problems import Problem
from aef_verify.report.escape import json_document, json_text
from aef_verify.report.model import Clash, EvidenceReport, Imported, RunEntry
from aef_verify.report.verdict import verdict
from aef_verify.run.members import Named
from aef_verify.run.verify import Overlays

if TYPE_CHECKING:
    from aef_verify.memory.pair import PairReport
    from aef_verify.memory.pair_arm import Arm

SCHEMA = "urn:aef-verify:verify-report"
VERSION = "1.2"
"""Of the report's own shape; a minor version only adds members."""

VALUE_CHARACTERS = 1000
"""Characters of an offending value's JSON that are reported; a longer one is cut, and says how long it is."""

Value = dict[str, Any]


def as_json(report: EvidenceReport) -> str:
    """Return the report as JSON text, only ASCII in it."""
    return json_document(as_value(report))


def pair_json(pair: PairReport) -> str:
    """Return one pair as JSON text, only ASCII in it."""
    return json_document(pair_value(pair))


def as_value(report: EvidenceReport) -> Value:
    """Return the report as one JSON value; a path in it need not be well-formed (see `json_document`)."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "paths": list(report.paths),
        "required": list(report.required),
        "policyGiven": report.policy_given,
        "anchorsGiven": report.anchors_given,
        "sound": report.is_sound,
        "exitCode": report.exit_code,
        "verdict": verdict(report),
        "totals": _totals(report),
        "cache": report.cache and {"paranoid": report.cache.paranoid, "warnings": list(report.cache.warnings)},
        "runs": [_run(run) for run in report.runs],
        "clashes": [_clash(clash) for clash in report.clashes],
        "pairs": [pair_value(pair) for pair in report.pairs],
        "pairNotes": [{"path": note.path, "note": note.note} for note in report.pair_notes],
        "notLookedAt": [
            {"path": other.path, "code": other.code, "meaning": meaning_of(REPORT, other.code)}
            for other in report.not_looked_at
        ],
    }


def _totals(report: EvidenceReport) -> Value:
    runs, outcomes = report.runs, report.outcomes
    return {
        "runs": len(runs),
        "intact": outcomes["intact"],
        "unsealed": outcomes["unsealed"],
        "invalid": outcomes["invalid"],
        "unreadable": outcomes["unreadable"],
        "notVerified": outcomes["not-verified"],
        "signed": sum(bool(run.signed_by) for run in runs),
        "anchored": sum(bool(run.anchored) for run in runs),
        "withheld": sum(run.withheld for run in runs),
        "problems": sum(len(run.breaches) for run in runs),
        "overlayProblems": sum(len(run.overlay_problems) for run in runs),
        "shortfalls": sum(bool(run.shortfalls) for run in runs),
        "cached": sum(run.cached for run in runs),
        "cacheDisagreed": sum(run.disagreed for run in runs),
        "clashes": len(report.clashes),
        "pairs": len(report.pairs),
        "linked": report.pair_outcomes["linked"],
        "linkedUnsealed": report.pair_outcomes["linked-unsealed"],
        "normalOnly": report.pair_outcomes["normal-only"],
        "invalidPairs": report.pair_outcomes["invalid"],
        "pairProblems": sum(len(pair.problems) for pair in report.pairs),
        "unlinked": len(report.unlinked),
        "notLookedAt": len(report.not_looked_at),
    }


def _run(run: RunEntry) -> Value:
    header = run.header
    return {
        "path": run.path,
        "outcome": run.outcome,
        "message": run.message or None,
        "sound": run.is_sound,
        "runId": header.run_id,
        "runHash": run.run_hash,
        "status": header.status,
        "targetMode": {"written": header.target_mode.written, "read": header.target_mode.read},
        "producer": _named(header.producer, "name"),
        "subject": _named(header.subject, "ref"),
        "suite": _named(header.suite, "ref"),
        "imported": header.imported and _imported(header.imported),
        "sealed": run.outcome == "intact",
        "signedBy": None if run.signed_by is None else list(run.signed_by),
        "anchored": run.anchored,
        "withheld": run.withheld,
        "shortfalls": list(run.shortfalls),
        "cached": run.cached,
        "cacheDisagreed": run.disagreed,
        "problems": problem_values(run.problems),
        "overlays": run.overlays and _overlays(run.overlays),
    }


def _named(named: Named, what: str) -> Value | None:
    return None if named.ref is named.version is None else {what: named.ref, "version": named.version}


def _imported(imported: Imported) -> Value:
    return {"from": imported.source, "asserted": list(imported.asserted)}


def _overlays(overlays: Overlays) -> Value:
    return {
        "batches": overlays.batches,
        "events": overlays.events,
        "unsealedEvents": overlays.unsealed,
        "problems": problem_values(overlays.problems),
    }


def _clash(clash: Clash) -> Value:
    return {
        "code": "run-id-clash",
        "runId": clash.run_id,
        "runs": [{"runHash": run.run_hash, "paths": list(run.paths)} for run in clash.runs],
    }


def pair_value(pair: PairReport) -> Value:
    """Return one pair as a JSON value."""
    return {
        "pairId": pair.pair_id,
        "outcome": pair.outcome,
        "sound": pair.is_sound,
        "signedBy": None if pair.signed_by is None else list(pair.signed_by),
        "normal": pair.normal and _arm(pair.normal),
        "oracle": pair.oracle and _arm(pair.oracle),
        "scoredSetsDiffer": pair.scored_sets_differ,
        "problems": problem_values(pair.problems),
        "notes": list(pair.notes),
        "others": list(pair.others),
    }


def _arm(arm: Arm) -> Value:
    fields = arm.fields
    return {
        "path": arm.path,
        "runId": arm.run_id,
        "runHash": arm.run_hash,
        "outcome": arm.outcome,
        "signedBy": None if arm.signed_by is None else list(arm.signed_by),
        "status": arm.status,
        "targetMode": arm.target_mode,
        "subject": _named(arm.subject, "ref"),
        "suite": _named(arm.suite, "ref"),
        "suiteDigest": arm.suite_digest,
        "fields": fields
        and {
            "sourceInputsDigest": fields.source_inputs_digest,
            "plannedQuestions": fields.planned,
            "observedQuestions": fields.observed,
            "scoredQuestions": fields.scored,
            "totalLlmCalls": fields.calls,
            "complete": fields.complete,
            "diagnosticOnly": fields.diagnostic_only,
            "accuracyPercent": fields.accuracy,
            "normalRunHash": fields.normal_run_hash,
            "oracleGapPercentagePoints": fields.gap,
        },
    }


def problem_values(problems: Iterable[Problem]) -> list[Value]:
    """Return problems as JSON values, offending values cut where they are long."""
    return [_problem(problem) for problem in problems]


def _problem(problem: Problem) -> Value:
    found: Value = {"path": problem.path, "code": problem.code, "detail": problem.detail}
    if problem.value is not None:
        text = json_text(problem.value)
        if len(text) > VALUE_CHARACTERS:
            found |= {"value": text[:VALUE_CHARACTERS], "valueCharacters": len(text)}
        else:
            found["value"] = json.loads(text)
    return found
