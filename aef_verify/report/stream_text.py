"""A job's stream for people: each event in a line while it is followed, and in the end what the job did.

Rules kept: a stream says what its runner reports; what the runs hold is said apart, each run intact never without who
signed it or that nobody did [SIG-7]; no value of the plan stands here but ids, limits and suites [PLAN-4].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from aef_verify.codes import STREAM
from aef_verify.report.escape import cut, escaped, value_text
from aef_verify.report.job import JobReport, job_verdict
from aef_verify.report.text import ALL_IN_JSON, advice_text, indented, problem_list
from aef_verify.report.verdict import counted
from aef_verify.report.words import SHORT

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aef_verify.problems import Problem
    from aef_verify.runner.account import Account
    from aef_verify.runner.conform import ConformanceReport
    from aef_verify.runner.plan import Plan

RUNS = 20
"""Runs that are listed."""

_HASH = 12
"""Digits shown of a run hash."""

_MOST_SHARE = 100
"""Times the budget up to which spend is shown as a share of it."""

Event = dict[str, Any]


def event_line(number: int, event: Event, plan: Plan, account: Account) -> str:
    """Return one event in plain words, in one line; `account` holds it already."""
    words = _WORDS.get(event["kind"], _unknown)(event, plan, account)
    return f"{event['at']}  event:{number}  {words}"


def problem_line(problem: Problem) -> str:
    """Return one problem in one line, as it arises while a stream is followed."""
    value = "" if problem.value is None else f"; written: {value_text(problem.value)}"
    detail = f": {cut(problem.detail, 500)}{value}" if problem.detail else ""
    return f"PROBLEM  {escaped(problem.path)}  {problem.code}{detail}"


def _accepted(event: Event, plan: Plan, account: Account) -> str:
    return f"accepted by {event['runnerId']}"


def _refused(event: Event, plan: Plan, account: Account) -> str:
    return f"refused by {event['runnerId']}{_reason(event['reason'])}"


def _estimated(event: Event, plan: Plan, account: Account) -> str:
    return f"estimated: {_estimate_words(account)}"


def _spent(event: Event, plan: Plan, account: Account) -> str:
    return f"spent {_budget_words(account, plan)}"


def _case(event: Event, plan: Plan, account: Account) -> str:
    run = f" in {event['runId']}" if "runId" in event else ""
    return f"case {cut(event['caseId'], SHORT)}: {event['state']}{run} ({_count_words(account, plan)})"


def _lane(event: Event, plan: Plan, account: Account) -> str:
    return f"lane {event['lane']}: {_status(event['status'])}"


def _evidence(event: Event, plan: Plan, account: Account) -> str:
    return f"run {event['runId']} sealed, run hash {event['runHash'][:_HASH]}…"


def _end(event: Event, plan: Plan, account: Account) -> str:
    return _end_words(event["kind"], event.get("limit"), event.get("runs")) + _reason(event.get("reason"))


def _unknown(event: Event, plan: Plan, account: Account) -> str:
    return f"an event of kind {cut(event['kind'], SHORT)}, which this version does not know"


_WORDS: dict[str, Callable[[Event, Plan, Account], str]] = {
    "job.accepted": _accepted,
    "job.refused": _refused,
    "plan.estimated": _estimated,
    "spend.updated": _spent,
    "case.completed": _case,
    "lane.completed": _lane,
    "evidence.produced": _evidence,
    "job.cancelled": _end,
    "job.failed": _end,
    "job.sealed": _end,
}
"""The words for each kind of event."""


def _usd(value: float) -> str:
    return f"{value:,.6g}"


def _estimate_words(account: Account) -> str:
    estimate = account.estimate
    if estimate is None:
        return "none"
    prices = "" if estimate.price_table is None else f" by the prices {cut(estimate.price_table, SHORT)}"
    return f"{counted(estimate.cases, 'case')}, {_usd(estimate.usd_low)} to {_usd(estimate.usd_high)} USD{prices}"


def _budget_words(account: Account, plan: Plan) -> str:
    if account.spent is None:
        return f"nothing reported of {_usd(plan.max_usd)} USD"
    share = f" ({account.spent / plan.max_usd:.0%})" if account.spent < _MOST_SHARE * plan.max_usd else ""
    return f"{_usd(account.spent)} of {_usd(plan.max_usd)} USD{share}"


def _count_words(account: Account, plan: Plan) -> str:
    limit = "" if plan.cases is None else f" of at most {plan.cases:,}"
    return f"{account.cases.total():,} completed{limit}"


def _status(status: str) -> str:
    from aef_verify.schemas import reads

    read = reads("runner-event", {"kind": "lane.completed", "status": status}).get("status", status)
    return read if read == status else f"{read} (written {cut(status, SHORT)})"


def _end_words(kind: str, limit: str | None, runs: Sequence[str] | None) -> str:
    words = kind.partition(".")[2]
    if limit is not None:
        words += f" at the limit {cut(limit, SHORT)}"
    return words if runs is None else f"{words}, naming {counted(len(runs), 'run')}"


def _reason(reason: str | None) -> str:
    return "" if reason is None else f": {cut(reason, 500)}"


def job_text(report: JobReport) -> Iterator[RenderableType]:
    """Yield the parts of a report on one job in the order in which they are read."""
    account = report.stream.account
    title = f"Job {cut(account.job_id, SHORT)}" if account.job_id is not None else "A stream without a job"
    yield Text(f"{title}, plan {report.plan.plan_id}", style="bold")
    if report.stream.is_read:
        yield _summary(report)
    if report.gave_up is not None:
        yield indented(Text(f"No longer followed: no event came for {report.gave_up:g} seconds.", style="yellow"))
    if report.stream.problems:
        yield Text()
        yield Text("Problems of the stream", style="bold")
        yield from problem_list(STREAM, report.stream.problems)
    yield from _runs_part(report)
    found = report.conformance
    problems = (*report.stream.problems, *(found.problems if found is not None else ()))
    yield from advice_text(list(dict.fromkeys((STREAM, problem.code) for problem in problems)))
    yield Text()
    yield Text(job_verdict(report), style="green" if report.is_sound else "bold red")


def _summary(report: JobReport) -> Table:
    account, plan, stream = report.stream.account, report.plan, report.stream
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, words in _rows(account, plan):
        table.add_row(Text(f"  {name}"), Text(words))
    lines = counted(account.events, "event")
    if account.unknown:
        lines += f", {account.unknown:,} of kinds that this version does not know"
    if stream.is_unfinished:
        lines += "; a last line without LF is still being written and was not read"
    table.add_row(Text("  stream"), Text(lines))
    return table


def _rows(account: Account, plan: Plan) -> Iterator[tuple[str, str]]:
    if account.accepted is not None:
        yield "accepted", f"by {account.accepted.runner_id} at {account.accepted.at}"
    if account.refused is not None:
        refused = account.refused
        yield "refused", f"by {refused.runner_id} at {refused.at}"
    if account.accepted is account.refused is None:
        yield "answer", "neither accepted nor refused"
    if account.estimate is not None:
        yield "estimated", _estimate_words(account)
    yield "spent", _budget_words(account, plan)
    states = ", ".join(f"{number:,} {state}" for state, number in sorted(account.cases.items()))
    yield "cases", f"{_count_words(account, plan)}{': ' if states else ''}{states}"
    if account.lanes:
        yield "lanes", ", ".join(f"{lane} {_status(status)}" for lane, status in account.lanes.items())
    announced = list(account.announced.items())
    runs = ", ".join(f"{run} ({run_hash[:_HASH]}…)" for run, run_hash in announced[:RUNS])
    more = f", … and {len(announced) - RUNS:,} more ({ALL_IN_JSON})" if len(announced) > RUNS else ""
    yield "announced", f"{runs}{more}" or "no run"
    end = account.end
    ended = "" if end is None else f"{_end_words(end.kind, end.limit, end.runs)}, at {end.at}{_reason(end.reason)}"
    yield "end", ended or "none yet"


def _runs_part(report: JobReport) -> Iterator[RenderableType]:
    if report.runs is None:
        if report.stream.account.named:
            yield Text()
            yield Text(
                "Its runs were not checked against the plan: give --runs DIR, the folder they are in.", style="dim"
            )
        return
    yield Text()
    yield Text(f"Runs below {escaped(report.runs)}", style="bold")
    if report.message:
        yield indented(Text(f"They could not be checked: {cut(report.message, 1000)}", style="bold magenta"))
    elif report.conformance is None:
        yield indented(
            Text("Not checked: of a stream refused as a whole nothing is known of its runs.", style="yellow")
        )
    else:
        yield from _conformance(report.conformance, report.plan, policy_given=report.policy_given)


def _conformance(found: ConformanceReport, plan: Plan, *, policy_given: bool) -> Iterator[RenderableType]:
    if not found.named:
        yield indented(Text("The stream names no run."))
        return
    if found.found:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name in ("  Run", "Outcome", "USD", "Folder"):
            table.add_column(name, overflow="fold")
        for run in found.found[:RUNS]:
            signers = ", ".join(cut(identity, SHORT) for identity in run.signed_by or ())
            outcome = f"intact, signed by {signers}" if signers else "intact (unsigned)"
            usd = "–" if run.usd is None else _usd(run.usd)
            table.add_row(Text(f"  {run.run_id}"), Text(outcome), Text(usd), Text(escaped(run.path)))
        yield table
        if left := len(found.found[RUNS:]):
            yield indented(Text(f"… and {counted(left, 'run')} more ({ALL_IN_JSON})", style="dim"))
    yield indented(Text(f"{len(found.found):,} of {counted(found.named, 'run')} found, {_together(found, plan)}."))
    if found.found and not policy_given:
        yield indented(Text("Without --policy no signature was checked: intact is not who made a run.", style="dim"))
    for link in found.links[:RUNS]:
        yield indented(Text(f"Not looked at: {escaped(link)} is a link, and links are not followed.", style="dim"))
    yield from problem_list(STREAM, found.problems)


def _together(found: ConformanceReport, plan: Plan) -> str:
    cost = "beyond any number" if found.usd is None else _usd(found.usd)
    words = f"together {cost} of {_usd(plan.max_usd)} USD"
    if plan.cases is None or found.cases is None:
        return words
    number = f"more than {plan.cases:,}" if found.cases > plan.cases else f"{found.cases:,}"
    return f"{words}, {number} of at most {plan.cases:,} cases"
