"""`aef stream`: whether a runner's event stream, and the runs that it names, keep to the plan."""

from __future__ import annotations

import sys
from math import isfinite
from typing import TYPE_CHECKING

import click

from aef_verify import limits
from aef_verify.cli.given import policy_given, read_input
from aef_verify.problems import InputError

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy
    from aef_verify.report.job import JobReport
    from aef_verify.runner.plan import Plan
    from aef_verify.runner.stream import StreamReport


@click.command(short_help="Check a runner's event stream, and the runs that it names, against the plan.")
@click.argument("events")
@click.argument("plan")
@click.option("--runs", metavar="DIR", help="The folder of the job's runs: check them against the plan as well.")
@click.option("--policy", metavar="FILE", help="The trust policy: whose signatures count, who may withhold blobs.")
@click.option("--follow", is_flag=True, help="Show a stream that is still being written, event by event, to its end.")
@click.option(
    "--timeout", type=float, metavar="SECONDS", help="With --follow: give up when no event has come for so long."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value; with --follow one on each line.")
def stream(
    events: str,
    plan: str,
    runs: str | None,
    policy: str | None,
    follow: bool,
    timeout: float | None,
    as_json: bool,
) -> int:
    """Check EVENTS, the event stream of a runner's job, against PLAN, the plan's file as the runner was given it.

    EVENTS may be `-` for standard input, and so may PLAN or --policy, one of them. With --runs the runs that the
    stream names are checked, too: whether they are there, intact, and what the plan asked for.

    --follow ends with the event that ends the job, with standard input, or with --timeout. What was written until
    then is judged, and a stream without an end has a problem (exit 1). With --json every line is one value of type
    event, problem or, last, report.

    Exit code: 0 sound, however the job ended; 1 a problem in the stream or its runs; 2 usage or input error, a plan
    that is refused among them, a run that cannot be read, or a file that did something else than grow while it was
    followed; 3 output could not be written.
    """
    from aef_verify.report.job import JobReport

    if (events, plan, policy).count("-") > 1:
        raise click.UsageError("only one of EVENTS, PLAN and --policy can be standard input")
    if policy is not None and runs is None:
        raise click.UsageError("--policy says whose runs count, so it needs --runs")
    if timeout is not None and not (follow and isfinite(timeout) and timeout > 0):
        raise click.UsageError("--timeout takes a number of seconds above 0, and needs --follow")
    asked, trusted = _plan_given(plan), policy_given(policy)
    gave_up = None
    if follow:
        from aef_verify.cli.following import Following

        following = Following(events, asked, timeout, as_json=as_json)
        found = following.to_the_end()
        gave_up = timeout if following.gave_up else None
    else:
        found = _checked(events, asked)
    report = JobReport(events, asked, found, runs, gave_up=gave_up, policy_given=trusted is not None)
    if runs is not None and found.is_read:
        report = _with_runs(report, runs, trusted)
    _print(report, follow=follow, as_json=as_json)
    if report.message:
        raise InputError(report.message)
    return report.exit_code


def _plan_given(path: str) -> Plan:
    from aef_verify.runner.plan import PlanRefusedError, load_plan

    data = read_input(path, limits.JSON_BYTES)
    try:
        return load_plan(data)
    except PlanRefusedError as fault:
        raise InputError(f"{path}: {fault}") from None


def _checked(events: str, plan: Plan) -> StreamReport:
    from aef_verify.runner.stream import verify_stream

    if events != "-":
        return verify_stream(events, plan)
    if sys.stdin is None:
        raise InputError("standard input: cannot be read: it is closed")
    return verify_stream(sys.stdin.buffer, plan)


def _with_runs(report: JobReport, runs: str, policy: TrustPolicy | None) -> JobReport:
    """Return a report with what the runs came to, or why they could not be read."""
    from dataclasses import replace

    from aef_verify.cli.progress import bytes_read
    from aef_verify.run.store import RunStore
    from aef_verify.runner.conform import plan_conformance

    try:
        with bytes_read() as watch:
            found = plan_conformance(report.stream.account, report.plan, RunStore(runs, policy, watch))
    except InputError as fault:
        return replace(report, message=str(fault))
    return replace(report, conformance=found)


def _print(report: JobReport, *, follow: bool, as_json: bool) -> None:
    from aef_verify.cli.output import show, write_json, write_text

    if as_json:
        from aef_verify.report.stream_json import end_line, job_value

        if follow:
            write_text(end_line(report) + "\n")
        else:
            write_json(job_value(report))
        return
    from rich.text import Text

    from aef_verify.report.stream_text import job_text

    show([*([Text()] if follow else []), *job_text(report)])
