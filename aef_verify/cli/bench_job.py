"""Prints a benchmark's plan, or runs its normal arm as a job, for the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aef_verify.cli.exits import OK, PROBLEM
from aef_verify.cli.output import is_terminal, show, write_json, write_text, writing_job
from aef_verify.clock import now
from aef_verify.problems import InputError

if TYPE_CHECKING:
    from aef_verify.memory.bench import Settings
    from aef_verify.memory.job_options import JobAsked
    from aef_verify.runner.job import JobResult

Watch = Callable[[dict[str, Any]], object]


def print_plan(settings: Settings, job: JobAsked) -> int:
    """Print the plan of a benchmark's normal arm, the bytes of its file, and return the exit code."""
    from aef_verify.memory.job_options import bounds_of
    from aef_verify.memory.plan import plan_of, target_mode
    from aef_verify.writing.whole import json_bytes

    mode = target_mode(settings, job.target_mode)
    plan = plan_of(settings, bounds_of(settings, job), mode=mode, max_usd=job.max_usd, timeout=job.job_timeout)
    write_text(json_bytes(plan).decode())
    return OK


def run_job(settings: Settings, job: JobAsked, *, as_json: bool, quiet: bool) -> int:
    """Run a benchmark's normal arm as a job, print how it ended and return the exit code."""
    from aef_verify.report.job_result import SEALED, result_text, result_value

    assert job.out is not None
    result = _run(settings, job, job.out, quiet=quiet)
    if as_json:
        write_json(result_value(result))
    else:
        show(result_text(result, job.out))
    return OK if result.terminal == SEALED else PROBLEM


def _run(settings: Settings, job: JobAsked, out: str, *, quiet: bool) -> JobResult:
    from aef_verify import limits
    from aef_verify.given import read_given
    from aef_verify.memory.job import MemoryTarget
    from aef_verify.memory.job_options import bounds_of, own_runner
    from aef_verify.memory.plan import target_mode
    from aef_verify.runner.job import run_plan
    from aef_verify.runner.plan import PlanRefusedError, read_runner

    mode = target_mode(settings, job.target_mode)
    plan = read_given(str(job.job), limits.JSON_BYTES)
    runner = own_runner(settings.version, mode) if job.runner is None else read_runner(job.runner)
    with _progress(wanted=not quiet) as watch, MemoryTarget(settings, bounds_of(settings, job), mode) as target:
        try:
            with writing_job(out):
                return run_plan(plan, runner, target, out, at=now(3), environment=os.environ, watch=watch)
        except PlanRefusedError as refused:
            raise InputError(f"{job.job}: {refused}") from None


@contextmanager
def _progress(*, wanted: bool) -> Iterator[Watch | None]:
    """Give what shows how many questions are done; None where there is no terminal or none is wanted."""
    if not wanted or not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("Asking"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def watch(event: dict[str, Any]) -> None:
            if event["kind"] == "plan.estimated":
                bar.update(task, total=event["cases"])
            elif event["kind"] == "case.completed":
                bar.advance(task)

        yield watch
