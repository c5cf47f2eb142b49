"""A checkpoint for people who release: the outcome, each lane with rule, result, age and evidence, what to do next.

Rules kept: the recorded outcome stays in sight, the one at the time of reading beside it [CKP-10]; no run without its
target mode [RUN-7], none intact without its signer or that it has none [SIG-7]; who accepted or approved something is a
claim as long as that identity's signature was not verified [CKP-6]; what was not checked is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from aef_verify.checkpoint.decision import APPROVALS, Decision
from aef_verify.codes import CHECKPOINT, CODES, DECISION, REPORT, SIGNATURE
from aef_verify.report.assemble import run_entry
from aef_verify.report.checkpoint import ABORTED, UNDECIDED, CheckpointView
from aef_verify.report.checkpoint_words import (
    HASH,
    age_words,
    exception_words,
    identity_words,
    reason_words,
    rule_words,
)
from aef_verify.report.escape import cut, escaped, value_text
from aef_verify.report.text import ALL_IN_JSON, OTHERS, advice_text, indented, problem_list
from aef_verify.report.verdict import counted
from aef_verify.report.words import SHORT, outcome_words, reading_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aef_verify.checkpoint.lanes import LaneRun
    from aef_verify.checkpoint.verify import LaneReport

Document = dict[str, Any]

RUNS = 20
"""Runs shown of one lane."""

FINDINGS = 5
"""Findings shown of one lane."""

EXCEPTIONS = 20
"""Exceptions shown of one lane."""

SIGNATURES = 20
"""Signatures shown of an envelope."""

REASONS = 50
"""Reasons shown of a decision."""

THE_MANIFEST = "the manifest"
"""What stands where a problem has no path, as the manifest alone shows it [CKP-7]."""

_STYLES = {
    **dict.fromkeys(("approved", "passed"), "green"),
    **dict.fromkeys(("approved_with_exceptions", "waived"), "yellow"),
    **dict.fromkeys(("blocked", "failed"), "bold red"),
}
_OTHERWISE = "bold yellow"

_NOT_LIVE = "{} runs are not evidence of the live subject [LANE-1]"
_MODES = ("replayed", "scripted", "mocked")


def checkpoint_text(view: CheckpointView) -> Iterator[RenderableType]:
    """Yield the parts of a checkpoint in the order in which they are read."""
    yield _head(view)
    yield _facts(view)
    for lane in view.report.lanes:
        yield Text()
        yield from _lane(view, lane)
    yield from _problems(view)
    yield from _links(view)
    yield from _reasons(view)
    yield from advice_text(checkpoint_codes(view))
    yield Text()
    yield Text(view.verdict(), style="green" if view.approves else "bold red")


def checkpoint_codes(view: CheckpointView) -> list[tuple[str, str]]:
    """Return scope and word of what there is advice on, each once: problems, signatures, reasons, the outcome."""
    found = [(CHECKPOINT, problem.code) for problem in view.problems]
    if view.policy_given and not view.report.signed_by and view.report.signature is not None:
        signature = view.report.signature
        results = [signature.result] if signature.result else [entry.result for entry in signature.signatures]
        found += [(SIGNATURE, result) for result in results]
    if view.outcome not in APPROVALS:
        decision = view.again or view.report.decided
        reasons = decision.reasons[:-1] if decision is not None else ()
        found += [(DECISION, reason.partition(":")[0]) for reason in reasons] or [(DECISION, view.outcome)]
    return [code for code in dict.fromkeys(found) if code in CODES]


def _head(view: CheckpointView) -> Text:
    text = Text(f"Checkpoint {cut(view.report.document['checkpointId'])}", style="bold")
    text.append("  ")
    outcome = reading_words(view.recorded) if view.report.outcome is not None else UNDECIDED
    if view.report.outcome_now is None:
        text.append(outcome, style=_style(outcome, holds=view.holds))
    else:
        text.append(f"recorded as {outcome}, at {escaped(view.report.at)} ", style="not bold")
        text.append(view.outcome, style=_style(view.outcome, holds=view.holds))
    if view.signed_by == ():
        text.append("  not signed by anybody in the policy", style="bold red")
    return text if view.holds else text.append("  not verified", style="bold red")


def _style(word: str, *, holds: bool) -> str:
    """Return how an outcome or status stands out; none that does not hold looks like a pass."""
    style = _STYLES.get(word, _OTHERWISE)
    return style if holds or style != "green" else _OTHERWISE


def _facts(view: CheckpointView) -> Table:
    table = _grid()
    for name, words in _fact_rows(view):
        table.add_row("", Text(name, style="dim"), Text(words))
    return table


def _grid() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=0)
    table.add_column(no_wrap=True, width=10)
    table.add_column(overflow="fold")
    return table


def _fact_rows(view: CheckpointView) -> Iterator[tuple[str, str]]:
    document, subject = view.report.document, view.report.document["subject"]
    yield "subject", f"{cut(subject['ref'], SHORT)} {cut(subject['version'], SHORT)}"
    if subject.get("resolvedFrom") is not None:
        when = f", resolved at {escaped(subject['resolvedAt'])}" if subject.get("resolvedAt") else ""
        yield "asked for", cut(subject["resolvedFrom"], SHORT) + when
    if subject.get("deployment"):
        yield "deployment", cut(subject["deployment"], SHORT)
    given = document.get("decisionInput")
    if given is not None:
        yield "decided at", escaped(given["evaluatedAt"])
    elif document.get("abortReason"):
        yield "aborted", cut(document["abortReason"])
    else:
        yield "state", cut(document["state"], SHORT)
    yield "read at", escaped(view.report.at)
    if document.get("budget"):
        yield "budget", _budget(document["budget"], view.report.signed_by)
    yield "signature", _signature(view)
    if not view.report.checked_runs:
        yield "runs", "not looked at: without --runs the manifest alone is checked"


def _budget(budget: Document, signed_by: Sequence[str]) -> str:
    parts = []
    if budget.get("approvedUsd") is not None:
        parts.append(f"{value_text(budget['approvedUsd'], SHORT)} USD approved")
    if budget.get("approvedBy"):
        parts.append(f"by {identity_words(budget['approvedBy'], signed_by)}")
    spent = f"{value_text(budget['spentUsd'], SHORT)} USD spent" if budget.get("spentUsd") is not None else ""
    return ", ".join(filter(None, (" ".join(parts), spent))) or "no figure"


def _signature(view: CheckpointView) -> str:
    """Return who signed under the policy, or that nobody checked [CKP-9], [SIG-7]."""
    if view.envelope is None:
        return "none: without one this is anybody's claim [CKP-5]"
    if not view.policy_given:
        return f"not checked: {escaped(view.envelope)} is there, and no --policy says whose signatures count"
    if view.report.signed_by:
        return f"signed by {view.signers()}"
    signature = view.report.signature
    if signature is None:
        return "not checked"
    if signature.result is not None:
        detail = f": {cut(signature.detail)}" if signature.detail else ""
        return f"signed by nobody: the envelope is {signature.result}{detail}"
    several = [f"{entry.result} ({cut(entry.keyid, SHORT) or 'no key id'})" for entry in signature.signatures]
    more = f" and {len(several) - SIGNATURES:,} more" if len(several) > SIGNATURES else ""
    return f"signed by nobody in the policy: {', '.join(several[:SIGNATURES])}{more}"


def _lane(view: CheckpointView, lane: LaneReport) -> Iterator[RenderableType]:
    """Yield one lane: how it stands, its rule, result, age, evidence and exceptions."""
    head = Text(f"Lane {cut(lane.lane)}", style="bold")
    head.append("  ")
    recorded, now = _status(view.report.decided, lane.lane), _status(view.again, lane.lane)
    status = now or recorded or "not decided"
    holds = not any(f"{problem.path}/".startswith(f"lanes/{lane.lane}/") for problem in view.report.problems)
    head.append(status, style=_style(status, holds=holds))
    if now is not None and recorded is not None and now != recorded:
        head.append(f" (was {recorded})", style="not bold")
    if not holds:
        head.append("  does not hold", style="bold red")
    head.append("  blocking" if lane.blocking else "  advisory: does not block", style="not bold dim")
    yield head
    table = _grid()
    for name, words in _lane_rows(view, lane):
        table.add_row("", Text(name, style="dim"), Text(words))
    yield table


def _status(decision: Decision | None, name: str) -> str | None:
    lanes = decision.lanes if decision is not None else ()
    return next((lane.status for lane in lanes if lane.lane == name), None)


def _lane_rows(view: CheckpointView, lane: LaneReport) -> Iterator[tuple[str, str]]:
    yield "rule", rule_words(lane.rule)
    if lane.requirements:
        yield "answers", cut(", ".join(lane.requirements))
    yield "result", _result(view, lane)
    for finding in lane.findings[:FINDINGS]:
        yield "found", cut(finding)
    if left := len(lane.findings[FINDINGS:]):
        yield "", f"… and {counted(left, 'run')} more ({ALL_IN_JSON})"
    closed = lane.recorded["oldestClosedAt"] if lane.recorded else lane.result and lane.result.oldest_closed_at
    if closed:
        yield "age", age_words(closed, lane.freshness, view.report.at)
    given = view.report.document.get("decisionInput") or {}
    exceptions = [granted for granted in given.get("exceptions", ()) if granted["lane"] == lane.lane]
    for granted in exceptions[:EXCEPTIONS]:
        yield "exception", exception_words(granted, view.report.at, view.report.signed_by)
    if left := len(exceptions[EXCEPTIONS:]):
        yield "", f"… and {counted(left, 'exception')} more ({ALL_IN_JSON})"
    for run in lane.runs[:RUNS]:
        yield "baseline" if run.baseline else "evidence", _run_words(run)
    if left := len(lane.runs[RUNS:]):
        yield "", f"… and {counted(left, 'run')} more ({ALL_IN_JSON})"
    if view.report.checked_runs and not lane.runs:
        yield "evidence", "none: the lane names no runs"


def _result(view: CheckpointView, lane: LaneReport) -> str:
    """Return what the runs give beside what is recorded."""
    recorded = None if lane.recorded is None else _result_words(lane.recorded)
    if not view.report.checked_runs:
        return f"{recorded} recorded, not checked against runs" if recorded else "none recorded"
    given = "no result" if lane.result is None else _result_words(lane.result.document())
    if lane.unknown:
        return f"{recorded or 'none'} recorded, not compared: {cut(lane.unknown)} is of a later minor version"
    if lane.recorded is None:
        return f"the runs give {given}; none is recorded"
    if lane.result is not None and _same(lane.recorded, lane.result.document()):
        return f"{given}, recomputed from the runs as recorded"
    return f"the runs give {given}; recorded: {recorded}"


def _same(recorded: Document, given: Document) -> bool:
    return all(recorded.get(member) == given.get(member) for member in ("status", "subjectVersion", "axes"))


def _result_words(result: Document) -> str:
    axes = result.get("axes")
    differ = f" (they differ in {cut(', '.join(axes))})" if axes else ""
    return f"{cut(result['status'], SHORT)}{differ} for version {cut(result['subjectVersion'], SHORT)}"


def _run_words(run: LaneRun) -> str:
    """Return one run with its target mode and outcome, and whether the lane may rely on it [LANE-1], [RUN-7]."""
    words = f"{cut(run.run_id, SHORT)} ({run.run_hash[:HASH]}), "
    reasons = [cut(reason) for reason in run.reasons]
    if run.report is None:
        return f"{words}not found: {'; '.join(reasons)}"
    entry = run_entry(run.report)
    mode = entry.header.target_mode
    if mode.read in _MODES:
        reasons.append(_NOT_LIVE.format(mode.read))
    words += f"{reading_words(mode)}, {outcome_words(entry, with_signers=True)}"
    return f"{words}: {'does not count: ' + '; '.join(reasons) if reasons else 'counts'}"


def _problems(view: CheckpointView) -> Iterator[RenderableType]:
    if not view.problems:
        return
    yield Text()
    yield Text("What does not hold", style="bold")
    shown = [problem._replace(path=problem.path or THE_MANIFEST) for problem in view.problems]
    yield from problem_list(CHECKPOINT, shown)


def _links(view: CheckpointView) -> Iterator[RenderableType]:
    links = view.report.links
    if not links:
        return
    yield Text()
    yield Text("Not looked at", style="bold")
    for path in links[:OTHERS]:
        yield indented(Text(escaped(path)))
    if left := len(links[OTHERS:]):
        yield indented(Text(f"… and {left:,} more ({ALL_IN_JSON})", style="dim"))
    code = CODES[REPORT, "link"]
    yield indented(Text(f"{code.meaning} [{', '.join(code.rules)}]", style="dim"))


def _reasons(view: CheckpointView) -> Iterator[RenderableType]:
    """Yield why the outcome is what it is at the time of reading [DEC-4]."""
    decision = view.again
    if decision is None and view.report.outcome not in (None, ABORTED):
        decision = view.report.decided
    if decision is None:
        return
    yield Text()
    yield Text(f"Why {decision.outcome}{'' if view.holds else ', going by the recorded input'}", style="bold")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold", style="dim")
    for reason in decision.reasons[:REASONS]:
        shown, meaning = reason_words(reason)
        table.add_row(Text(f"  {shown}"), Text(meaning))
    yield table
    if left := len(decision.reasons[REASONS:]):
        yield indented(Text(f"… and {left:,} more ({ALL_IN_JSON})", style="dim"))
