"""`aef job`: run a plan against a scripted target, as its event stream and sealed runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from aef_verify.cli.exits import OK, PROBLEM
from aef_verify.clock import now

if TYPE_CHECKING:
    from aef_verify.runner.job import JobResult

SHOWN = 1_000
"""Cases from which progress is shown, as fewer are done before it could be read, and after which it is shown anew."""


@click.command(short_help="Run a plan against a scripted target.")
@click.argument("plan")
@click.argument("runner")
@click.argument("target")
@click.argument("out")
@click.option("--at", metavar="TIME", help="Where the job's clock starts; by default the present.")
@click.option("--json", "as_json", is_flag=True, help="Print how the job ended as one JSON value.")
def job(plan: str, runner: str, target: str, out: str, at: str | None, as_json: bool) -> int:
    """Run PLAN, as the runner whose manifest is RUNNER, against the scripted TARGET, and write into OUT.

    OUT is a folder that is empty or not there yet: it gets events.ndjson, which `aef stream --follow` can watch, and a
    sealed run for each suite below runs/. The plan's credentials are taken from the environment variables that it
    names.

    Exit code: 0 sealed, every case was run; 1 refused, or failed, at a limit for example; 2 usage or input error, and
    nothing was written; 3 something could not be written; 130 interrupted, the stream ends cancelled.
    """
    from aef_verify.cli.output import show, write_json
    from aef_verify.report.job_result import SEALED, result_text, result_value

    result = _run(plan, runner, target, out, at or now(3))
    if as_json:
        write_json(result_value(result))
    else:
        show(result_text(result, out))
    return OK if result.terminal == SEALED else PROBLEM


def _run(plan: str, runner: str, target: str, out: str, at: str) -> JobResult:
    from aef_verify.cli.output import writing_job
    from aef_verify.runner.job import run_job

    with _progress() as watch, writing_job(out):
        return run_job(plan, runner, target, out, at=at, environment=os.environ, watch=watch)


@contextmanager
def _progress() -> Iterator[Callable[[dict[str, Any]], object] | None]:
    """Give what shows how many cases are done; None where there is no terminal."""
    from aef_verify.cli.output import is_terminal

    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("Running cases"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None)
    done = 0

    def watch(event: dict[str, Any]) -> None:
        nonlocal done
        if event["kind"] == "plan.estimated" and event["cases"] >= SHOWN:
            bar.update(task, total=event["cases"])
            bar.start()
        elif event["kind"] == "case.completed":
            done += 1
            if done % SHOWN == 0:
                bar.update(task, completed=done)

    try:
        yield watch
    finally:
        bar.stop()
