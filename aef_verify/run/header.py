"""Rules over `run.json` alone and over `metrics.json` alone.

`run-times` [RUN-5], `execution-policy` [RUN-8], `calibration` [RUN-9]; `metric` [SUM-1].
Both documents are valid against their reader schemas when they come here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aef_verify.encoding.times import time_key
from aef_verify.layout import METRICS, RUN
from aef_verify.problems import Problem

CLOSED = frozenset(("completed", "aborted"))

Document = dict[str, Any]


def is_closed(run: Document | None) -> bool:
    """Whether a header that reads says that the run is closed [RUN-5]; False where it does not read."""
    status = run.get("status") if run is not None else None
    return isinstance(status, str) and status in CLOSED


def run_problems(run: Document) -> Iterator[Problem]:
    """Yield the problems of a run's header."""
    started, ended = run["startedAt"], run.get("endedAt")
    if ended is not None and time_key(ended) < time_key(started):
        yield Problem(RUN, "run-times", f"endedAt is before startedAt {started}", ended)
    policy = run.get("suite", {}).get("executionPolicy", {})
    passes = policy.get("requirePasses")
    if passes is not None and passes > policy["trialsPerCase"]:
        detail = f"requirePasses is more than trialsPerCase {policy['trialsPerCase']}"
        yield Problem(RUN, "execution-policy", detail, passes)
    for judge in run.get("judges", ()):
        if fault := _calibration_fault(judge.get("calibration"), started):
            yield Problem(RUN, "calibration", f"judge {judge['model']}: {fault[0]}", fault[1])


def _calibration_fault(calibration: Document | None, started: str) -> tuple[str, object] | None:
    if calibration is None:
        return None
    errors = calibration.get("dangerousErrors", 0)
    if errors > calibration["n"]:
        return f"dangerousErrors is more than n {calibration['n']}", errors
    measured = calibration["measuredAt"]
    if time_key(measured) > time_key(started):
        return f"measuredAt is after the run's startedAt {started}", measured
    return None


def metric_problems(metrics: Document) -> Iterator[Problem]:
    """Yield a metric that is declared twice, or whose scale is upside down."""
    seen: set[str] = set()
    for metric in metrics["metrics"]:
        name, scale = metric["id"], metric["scale"]
        if name in seen:
            yield Problem(METRICS, "metric", "declared twice", name)
        seen.add(name)
        if isinstance(scale, dict) and float(scale["min"]) > float(scale["max"]):
            yield Problem(METRICS, "metric", f"{name}: scale.min is above scale.max {scale['max']}", scale["min"])


def metric_kinds(metrics: Document) -> dict[str, str]:
    """Return the kind of each declared metric; of one declared twice the first."""
    kinds: dict[str, str] = {}
    for metric in metrics["metrics"]:
        kinds.setdefault(metric["id"], metric["kind"])
    return kinds
