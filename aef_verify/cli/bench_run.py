"""Runs a benchmark for the command line: the bundled provider, signals, progress, and what is printed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aef_verify.cli.exits import WriteError
from aef_verify.cli.output import is_terminal, say, show, write_json
from aef_verify.problems import InputError

if TYPE_CHECKING:
    from aef_verify.memory.arm import Progress
    from aef_verify.memory.bench import BenchResult, Settings, Watch
    from aef_verify.memory.options import Asked


def perform(options: Mapping[str, Any], *, as_json: bool, quiet: bool) -> int:
    """Run the benchmark that the options ask for, print its result and return its exit code."""
    try:
        from aef_verify.memory.job_options import JobAsked, check_job_options
        from aef_verify.memory.options import Asked, check_evidence_options, settings_for
    except ModuleNotFoundError as fault:
        if fault.name is not None and fault.name.startswith("aef_verify"):
            raise
        raise InputError(f"benchmarks need {fault.name}: install aef-verify[bench]") from None
    from aef_verify.product import version

    asked = Asked(**{name: options[name] for name in Asked._fields})
    job = JobAsked(**{name: options[name] for name in JobAsked._fields if name in options})
    check_evidence_options(asked)
    check_job_options(asked, job)

    def settings_at(url: str | None) -> Settings:
        return settings_for(asked, os.environ, bundled_url=url, version=version())

    if not job.wanted:
        return _bench(asked, settings_at, as_json=as_json, quiet=quiet)
    from aef_verify.cli import bench_job

    with _provider(asked) as url:
        settings = settings_at(url)
        if job.print_plan:
            return bench_job.print_plan(settings, job)
        return bench_job.run_job(settings, job, as_json=as_json, quiet=quiet)


def _bench(asked: Asked, settings_at: Callable[[str | None], Settings], *, as_json: bool, quiet: bool) -> int:
    """Run the benchmark itself."""
    from aef_verify.memory.bench import run_bench
    from aef_verify.memory.signals import stopping

    stop = asyncio.Event()
    with stopping(stop) as interrupted, _provider(asked) as url:
        settings = settings_at(url)
        with _progress(wanted=not quiet) as watch:
            result = run_bench(settings, stop=stop, watch=watch)
        code = result.exit_code(interrupted=interrupted())
        _print(result, settings, code, as_json=as_json)
    return code


def _print(result: BenchResult, settings: Settings, code: int, *, as_json: bool) -> None:
    """Print the result; what kept evidence from being written is said apart, and the result is printed all the same."""
    from aef_verify.report.bench import as_value, bench_text

    for fault in (result.unwritten, result.unprepared):
        if fault is not None:
            say(f"aef bench longmemeval: {fault}")
    try:
        if as_json:
            write_json(as_value(result, settings, code))
        else:
            show(bench_text(result, settings, code))
    except WriteError as fault:
        if str(fault):
            say(f"aef bench longmemeval: {fault}")


@contextmanager
def _provider(asked: Asked) -> Iterator[str | None]:
    """Start the bundled provider where the benchmark uses it, and give its URL."""
    from aef_verify.memory.dataset import bundled_script
    from aef_verify.memory.options import uses_bundled_provider

    if not uses_bundled_provider(asked, os.environ):
        yield None
        return
    from aef_verify.provider.loopback import Loopback
    from aef_verify.provider.script import load_script

    with Loopback(load_script(bundled_script())) as provider:
        yield provider.origin if asked.api_style == "azure" else provider.base_url


@contextmanager
def _progress(*, wanted: bool) -> Iterator[Watch | None]:
    """Give what shows how far the arms are; None where there is no terminal or none is wanted."""
    if not wanted or not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[passed]} passed"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks = {}

    def watch(role: str, progress: Progress) -> None:
        if role not in tasks:
            tasks[role] = bar.add_task(f"{role} arm", total=progress.planned, passed=0)
        bar.update(tasks[role], completed=progress.done, passed=progress.passed)

    with bar:
        yield watch
