"""What a benchmark came to, as text and as a JSON value: both arms side by side, never one number."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from aef_verify.memory.bench import Group, groups
from aef_verify.report.escape import escaped

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aef_verify.memory.bench import BenchResult, Settings
    from aef_verify.memory.model import ArmResult

SCHEMA = "aef-verify-bench-result"
VERSION = "1.0"


def _figure(group: Group | None) -> str:
    if group is None:
        return "–"
    if group.percent is None:
        return f"nothing scored of {group.planned}"
    unscored = group.planned - group.scored
    return f"{group.percent:.1f} %  {group.passed}/{group.scored}" + (f"  ({unscored} unscored)" if unscored else "")


def _arms(result: BenchResult, settings: Settings) -> dict[str, dict[str, Group]]:
    arms = (result.normal, result.oracle)
    return {arm.role: {group.name: group for group in groups(arm, settings.roster)} for arm in arms if arm is not None}


def bench_text(result: BenchResult, settings: Settings, code: int) -> Iterator[RenderableType]:
    """Yield the result for people: a table of both arms, the gap, the gate, where the evidence is."""
    arms = _arms(result, settings)
    if not arms:
        yield Text("Interrupted before anything was prepared; nothing was written.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Accuracy")
    for role in arms:
        table.add_column(f"{role} (diagnostic)" if role == "oracle" else role)
    for name in next(iter(arms.values())):
        table.add_row(name, *(_figure(figures.get(name)) for figures in arms.values()))
    yield table
    yield Text()
    for arm in (result.normal, result.oracle):
        if arm is not None:
            yield Text(_about(arm))
    if result.gap is not None:
        yield Text(f"Oracle gap: {result.gap:+.1f} percentage points. It is a diagnostic, and decides nothing.")
    for written in result.written:
        sealed = f"run hash {written.run_hash}" if written.run_hash is not None else "unsealed"
        yield Text(f"Evidence: {escaped(written.path)}\n  {sealed}")
    if settings.evidence is None:
        yield Text("No evidence was written; --aef DIR writes it.")
    yield Text(_verdict(result, settings, code), style="bold")


def _about(arm: ArmResult) -> str:
    state = "completed" if arm.complete else f"aborted: {arm.abort_reason}"
    about = f"{arm.role}: {state}, {len(arm.outcomes)} of {arm.planned} questions, {arm.calls} calls, {arm.target_mode}"
    reasons = Counter(outcome.reason for outcome in arm.outcomes if outcome.reason is not None)
    absent = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return f"{about}; not scored: {absent}" if absent else about


def _verdict(result: BenchResult, settings: Settings, code: int) -> str:
    from aef_verify.memory import gate

    if result.unwritten is not None:
        return f"Evidence that is due is not on disk: exit code {code}."
    if result.outcome is None:
        return f"The normal arm did not complete, so no gate was decided: exit code {code}."
    decided = f"Gate of the normal arm at {gate.written(settings.threshold)} %: {result.outcome}"
    if code and not gate.exit_code(result.outcome):
        return f"{decided}; what came after it did not complete: exit code {code}."
    return f"{decided}, exit code {code}."


def as_value(result: BenchResult, settings: Settings, code: int) -> dict[str, Any]:
    """Return the result as a JSON value."""
    arms = _arms(result, settings)
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "exitCode": code,
        "gate": result.outcome,
        "oracleGapPercentagePoints": result.gap,
        "arms": [_arm_value(arm, arms[arm.role]) for arm in (result.normal, result.oracle) if arm is not None],
        "evidence": [
            {"path": os.fspath(written.path), "runId": written.run_id, "runHash": written.run_hash}
            for written in result.written
        ],
        "unwritten": result.unwritten,
        "unprepared": result.unprepared,
        "retrieval": _retrieval(result),
    }


def _arm_value(arm: ArmResult, figures: dict[str, Group]) -> dict[str, Any]:
    return {
        "role": arm.role,
        "status": arm.status,
        "abortReason": arm.abort_reason,
        "targetMode": arm.target_mode,
        "planned": arm.planned,
        "observed": len(arm.outcomes),
        "scored": arm.scored,
        "passed": arm.passed,
        "calls": arm.calls,
        "accuracyPercent": arm.accuracy_percent,
        "groups": [group._asdict() | {"accuracyPercent": group.percent} for group in figures.values()],
    }


def _retrieval(result: BenchResult) -> dict[str, int]:
    """Return how many questions the agent answered, and for how many it named all gold sessions as looked at."""
    return {"questions": len(result.retrieved), "allGoldSessions": sum(result.retrieved.values())}
