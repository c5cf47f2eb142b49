"""How a job ended, for people and as JSON: its end and reason first, then each run with what answered it [RUN-7]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from aef_verify.report.escape import cut, escaped
from aef_verify.report.verdict import counted
from aef_verify.report.words import SHORT

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aef_verify.runner.job import JobResult

SEALED = "job.sealed"

_HASH = 12
_REASON = 500


def result_value(result: JobResult) -> dict[str, object]:
    """Return how a job ended as one JSON value."""
    estimate = result.estimate
    return {
        "jobId": result.job_id,
        "planId": result.plan_id,
        "planDigest": result.plan_digest,
        "runnerId": result.runner_id,
        "targetMode": result.target_mode,
        "end": result.terminal,
        "reason": result.reason,
        "limit": result.limit,
        "endedAt": result.ended_at,
        "events": result.events,
        "cases": result.cases,
        "spentUsd": result.spent_usd,
        "estimated": None
        if estimate is None
        else {"cases": estimate.cases, "usdLow": estimate.usd_low, "usdHigh": estimate.usd_high},
        "runs": [
            {
                "runId": run.run_id,
                "runHash": run.run_hash,
                "suite": {"ref": run.suite[0], "version": run.suite[1]},
                "status": run.status,
                "cases": run.cases,
                "path": run.path,
            }
            for run in result.runs
        ],
    }


def result_text(result: JobResult, out: str) -> Iterator[RenderableType]:
    """Yield the parts of what is said of a job that wrote into a folder."""
    yield Text(f"Job {result.job_id}, plan {cut(result.plan_id, SHORT)}", style="bold")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, words in _rows(result, out):
        table.add_row(Text(f"  {name}"), Text(words))
    yield table
    if result.runs:
        yield Text()
        yield _runs(result)
    yield Text()
    yield Text(_end(result), style="green" if result.terminal == SEALED else "bold red")


def _rows(result: JobResult, out: str) -> Iterator[tuple[str, str]]:
    yield "target mode", result.target_mode
    if result.estimate is not None:
        cases, low, high = result.estimate
        yield "estimated", f"{counted(cases, 'case')}, {low:,.6g} to {high:,.6g} USD"
        yield "ran", f"{counted(result.cases, 'case')}, {result.spent_usd:,.6g} USD"
    yield "stream", f"{counted(result.events, 'event')} in {escaped(out)}"


def _runs(result: JobResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("  Run", no_wrap=True)
    for name in ("Suite", "Status", "Cases", "Run hash"):
        table.add_column(name, overflow="fold")
    for run in result.runs:
        suite = f"{cut(run.suite[0], SHORT)} {cut(run.suite[1], SHORT)}"
        table.add_row(*map(Text, (f"  {run.run_id}", suite, run.status, f"{run.cases:,}", f"{run.run_hash[:_HASH]}…")))
    return table


def _end(result: JobResult) -> str:
    """Return in one line how the job ended, why, and the exit code."""
    reason = "" if result.reason is None else f": {cut(result.reason, _REASON)}"
    if result.terminal == SEALED:
        return f"Sealed: {counted(len(result.runs), 'run')}, every case of the plan's suites (exit 0)."
    if result.terminal == "job.refused":
        return f"Refused, and nothing was run{reason} (exit 1)."
    return f"{'Failed' if result.limit is None else f'Stopped at the limit {result.limit}'}{reason} (exit 1)."
