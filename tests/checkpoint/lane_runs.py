"""Sealed runs for lanes, and checkpoints over them: built by `tests.building`, written below one folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aef_verify.checkpoint.lanes import LaneEvaluation, LaneResult, evaluate_lanes
from aef_verify.run.store import RunStore
from tests import building
from tests.building import ENDED, Edit, Json, Run, put, result, result_id

AT = "2026-10-08T00:00:00Z"
"""When checkpoints are evaluated in tests."""

SUBJECT, VERSION = "agent:triage", "7"
"""What `building.small` is about."""


def named(run_id: str) -> Edit:
    """Give a run another id, with what follows from it [RES-4]; of lines without a parent alone."""

    def edit(run: Run) -> None:
        run["run.json"]["runId"] = run["summary.json"]["runId"] = run_id
        for line in run["results.ndjson"]:
            line["resultId"] = result_id(line["caseId"], line["path"], line.get("trial"), run_id)

    return edit


def a_run(run_id: str, *edits: Edit) -> Run:
    """Return a sealed run of two cases: c1 passed with 0.75, c2 failed with a low severity and 0.25."""
    return building.small().but(*edits, named(run_id)).seal()


def lines_of(*lines: Json) -> Edit:
    """Make these the lines of a run, with a summary that says nothing of them."""

    def edit(run: Run) -> None:
        run["results.ndjson"] = [dict(line) for line in lines]
        run["summary.json"]["lanes"] = [{"lane": "main", "metrics": []}]

    return edit


def scores(**values: float | None) -> Edit:
    """Make a line a case, each scored so; None where it was skipped."""
    return lines_of(
        *(
            result(case, state="skipped") if value is None else result(case, state="scored", scores=[score(value)])
            for case, value in values.items()
        )
    )


def score(value: float) -> Json:
    return building.score(value)


def later(path: str = "run.json") -> Edit:
    """Let a document declare a later minor."""
    return put(path, "schemaVersion", "1.1")


def pointer(run: Run, **members: Any) -> Json:
    """Return a run as a baseline names it."""
    return {"runId": run["run.json"]["runId"], "runHash": run.run_hash()} | members


def named_run(run: Run, **members: Any) -> Json:
    """Return a run as a lane names it."""
    return pointer(run, origin="launched") | members


def threshold(op: str = ">=", value: float = 0.5, **members: Any) -> Json:
    rule = {"kind": "threshold", "lane": "main", "metric": "score", "path": "qa", "op": op, "value": value}
    return rule | members


def severity(maximum: str = "low", **members: Any) -> Json:
    return {"kind": "severity", "max": maximum} | members


def present(runs: int = 1, /, **members: Any) -> Json:
    return {"kind": "evidence-present", "runs": runs} | members


def comparison(baseline: Run | Json, **members: Any) -> Json:
    rule: Json = {
        "kind": "comparison",
        "lane": "main",
        "metric": "score",
        "path": "qa",
        "baseline": pointer(baseline) if isinstance(baseline, Run) else baseline,
        "significance": 0.05,
        "minimumPairs": 1,
        "axes": [],
    }
    return rule | members


def lane(rule: Json, *runs: Run | Json, name: str = "lane", **members: Any) -> Json:
    used = [named_run(run) if isinstance(run, Run) else run for run in runs]
    return {"lane": name, "rule": rule, "runs": used, "blocking": True} | members


def checkpoint(*lanes: Json, **members: Any) -> Json:
    start: Json = {
        "schemaVersion": "1.0",
        "checkpointId": "cp-1",
        "subject": {"ref": SUBJECT, "version": VERSION},
        "lanes": list(lanes),
        "state": "evidence_complete",
    }
    return start | members


def decided(document: Json, *results: Json | None, **members: Any) -> Json:
    """Record results for the lanes of a checkpoint, with an outcome and a decision that nobody checks here."""
    given = {
        "subjectVersion": document["subject"]["version"],
        "evaluatedAt": AT,
        "lanes": [
            {
                "lane": planned["lane"],
                "blocking": planned["blocking"],
                "result": found,
                "evidence": sorted({run["runHash"] for run in planned["runs"]}),
            }
            for planned, found in zip(document["lanes"], results, strict=True)
        ],
    }
    decision = {"outcome": "inconclusive", "lanes": [], "reasons": []}
    recorded = {"state": "decided", "outcome": "inconclusive", "decision": decision, "decisionInput": given}
    return document | recorded | members


def a_result(status: str = "passed", version: str = VERSION, at: str = ENDED, **members: Any) -> Json:
    return {"status": status, "subjectVersion": version, "oldestClosedAt": at} | members


class Place:
    """A folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def __str__(self) -> str:
        return str(self.folder)

    def add(self, *runs: Run) -> Place:
        """Write runs, each into a folder of its id."""
        for run in runs:
            run.write(self.folder / run["run.json"]["runId"])
        return self

    def evaluate(self, document: Json, *recomputed: str) -> tuple[LaneEvaluation, ...]:
        return evaluate_lanes(document, RunStore(str(self.folder)), AT, recomputed)

    def result(self, rule: Json, *runs: Run | Json, **members: Any) -> LaneResult | None:
        """Evaluate one lane."""
        (found,) = self.evaluate(checkpoint(lane(rule, *runs), **members))
        return found.result

    def status(self, rule: Json, *runs: Run | Json, **members: Any) -> str | None:
        found = self.result(rule, *runs, **members)
        return None if found is None else found.status


def encoded(document: Json) -> bytes:
    return json.dumps(document).encode()
