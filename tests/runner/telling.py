"""Small plans, manifests and event streams for tests: sound as they are, changed as a test needs.

The plan asks for what `tests.building.small()` ran, so that a job can name that run. Digests are computed here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from aef_verify.runner.plan import Plan, load_plan
from tests import building

Json = dict[str, Any]
Events = list[Json | bytes]
Edit = Callable[[Events], object]

PLAN_ID, JOB, RUNNER_ID = "plan-1", "job-1", "runner-1"
AT = "2026-10-02T13:59:00Z"
"""When the job is accepted: a minute before the run of `building.small()` begins."""
END = "2026-10-02T15:00:02Z"
HASH = "0" * 64


def plan_document(**members: Any) -> Json:
    """State a valid plan; members given replace or extend it, None takes one away."""
    plan: Json = {
        "schemaVersion": "1.0",
        "planId": PLAN_ID,
        "subject": {"ref": "agent:triage", "version": "7"},
        "suites": [{"ref": "suite:triage", "version": "3"}],
        "limits": {"maxUsd": 3, "cases": 3, "timeout": "PT2H"},
        "contentCapture": "on",
        "isolation": "process",
        "provider": "local",
    }
    return {name: value for name, value in (plan | members).items() if value is not None}


def plan_bytes(**members: Any) -> bytes:
    return json.dumps(plan_document(**members)).encode()


def plan(**members: Any) -> Plan:
    return load_plan(plan_bytes(**members))


def runner_document(**members: Any) -> Json:
    """State a valid manifest."""
    manifest: Json = {
        "schemaVersion": "1.0",
        "runnerId": RUNNER_ID,
        "kind": "local",
        "os": "linux",
        "runtime": {"name": "python", "version": "3.11"},
        "providers": ["local"],
        "tags": ["os:linux"],
        "version": "1",
    }
    return {name: value for name, value in (manifest | members).items() if value is not None}


def event(kind: str, *, at: str = AT, **members: Any) -> Json:
    """State an event; its `seq` is its place in the stream unless it is given."""
    named: Json = {}
    if kind in ("job.accepted", "job.refused"):
        named = {"planId": PLAN_ID, "planDigest": sha256(plan_bytes()).hexdigest(), "runnerId": RUNNER_ID}
    if kind in ("job.refused", "job.cancelled", "job.failed"):
        named["reason"] = "stated by the test"
    if kind == "case.completed":
        named = {"caseId": "c1", "state": "passed"}
    if kind == "evidence.produced":
        named = {"runId": "r1", "runHash": HASH}
    if kind == "job.sealed":
        named = {"runs": ["r1"]}
    return {"schemaVersion": "1.0", "kind": kind, "jobId": JOB, "at": at} | named | members


def job() -> Events:
    """State a sound stream of one run with one event of every kind that it can have."""
    return [
        event("job.accepted"),
        event("plan.estimated", cases=2, usdLow=0.5, usdHigh=1.5, priceTable="prices-1"),
        event("spend.updated", spentUsd=0.25),
        event("case.completed", runId="r1"),
        event("spend.updated", spentUsd=1.5),
        event("lane.completed", lane="main", status="passed"),
        event("evidence.produced", at=END),
        event("job.sealed", at=END),
    ]


def data(events: Sequence[Json | bytes]) -> bytes:
    """Return the bytes of a stream: `seq` counts from 1 where an event states none; bytes are taken as they are."""
    lines = []
    for number, line in enumerate(events, 1):
        lines.append(line if isinstance(line, bytes) else building.compact({"seq": number} | line))
    return b"".join(lines)


def put(place: int, **members: Any) -> Edit:
    """Change members of the event at a place, counted from 1."""

    def edit(events: Events) -> None:
        found = events[place - 1]
        assert isinstance(found, dict)
        found.update(members)

    return edit


def line(place: int, *lines: Json | bytes) -> Edit:
    """Put other lines where the event at a place stands, counted from 1; none takes it away."""
    return lambda events: events.__setitem__(slice(place - 1, place), lines)


def add(*lines: Json | bytes) -> Edit:
    return lambda events: events.extend(lines)


def before_end(*lines: Json | bytes) -> Edit:
    """Put lines before the last event."""
    return lambda events: events.__setitem__(slice(-1, -1), lines)


def stream(*edits: Edit) -> bytes:
    """Return the bytes of the sound stream with these edits."""
    events = job()
    for edit in edits:
        edit(events)
    return data(events)


class JobFiles(NamedTuple):
    """A job on disk: its stream, its plan, its folder of runs."""

    events: Path
    plan: Path
    runs: Path


def with_run(folder: Path, *edits: building.Edit, plan: Json | None = None, name: str = "r", **end: Any) -> JobFiles:
    """Write a job of one run, `building.small()` with provenance and cost, changed by edits and then sealed."""
    asked = json.dumps(plan or plan_document()).encode()
    digest = sha256(asked).hexdigest()
    run = made(digest).but(*edits).seal(sealedAt="2026-10-02T16:00:00Z")
    events: Events = [
        event("job.accepted", planDigest=digest),
        event("evidence.produced", at=END, runId=building.RUN_ID, runHash=run.run_hash()),
        event("job.sealed", at=END, runs=[building.RUN_ID]) | end,
    ]
    run.write(folder / "runs" / name)
    files = JobFiles(folder / "events.ndjson", folder / "plan.json", folder / "runs")
    files.events.write_bytes(data(events))
    files.plan.write_bytes(asked)
    return files


def made(digest: str) -> building.Run:
    """Return the run of two cases as a job of this plan made it, not sealed yet."""
    provenance = {"planId": PLAN_ID, "planDigest": digest, "jobId": JOB, "runnerId": RUNNER_ID}
    return building.small().but(
        building.put("run.json", "provenance", provenance),
        building.put("summary.json", "cost", {"totalUsd": 1.5}),
    )
