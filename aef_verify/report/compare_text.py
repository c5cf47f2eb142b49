"""A comparison of two suites, for people and as one JSON value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from aef_verify.memory.compare import DIFFERENT, SAME, UNKNOWN
from aef_verify.report.escape import cut, escaped, value_text
from aef_verify.report.text import indented
from aef_verify.report.words import SHORT

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aef_verify.memory.compare import Side, SuiteComparison

STYLES = {SAME: "green", DIFFERENT: "red", UNKNOWN: "yellow"}
"""How a verdict stands out."""

_SAID = {
    SAME: "Same: the two runs measured the same thing.",
    DIFFERENT: "Different: the two runs did not measure the same thing.",
    UNKNOWN: "Unknown: the runs do not say enough to tell whether they measured the same thing.",
}


def comparison_text(found: SuiteComparison) -> Iterator[RenderableType]:
    """Yield a comparison: the runs, every axis, the members of their definitions that differ, the verdict."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("Axis", "A", "B", "Verdict"):
        table.add_column(name, overflow="fold")
    for row in _runs(found.first, found.second):
        table.add_row(*map(Text, row))
    for axis in found.axes:
        verdict = Text(axis.verdict, style=STYLES[axis.verdict]) if axis.decides else Text("shown only", style="dim")
        table.add_row(Text(axis.name), Text(_value(axis.first)), Text(_value(axis.second)), verdict)
    yield table
    if found.members:
        names = ", ".join(cut(name, SHORT) for name in found.members)
        yield indented(Text(f"The definitions differ in: {names}"))
    for note in found.notes:
        yield indented(Text(cut(note, 500), style="yellow"))
    yield Text()
    yield Text(_SAID[found.verdict], style=STYLES[found.verdict])


def _runs(first: Side, second: Side) -> Iterator[tuple[str, str, str, str]]:
    yield "run", escaped(first.path), escaped(second.path), ""
    yield "outcome", _outcome(first), _outcome(second), ""
    if first.role is not None or second.role is not None:
        yield "role in a pair", first.role or "–", second.role or "–", ""


def _outcome(side: Side) -> str:
    # No policy is given to a comparison, so that nobody is known to have signed [SIG-7].
    return "intact (unsigned)" if side.outcome == "intact" else side.outcome


def _value(value: object) -> str:
    if value is None or value == []:
        return "–"
    if isinstance(value, list):
        return ", ".join("–" if item is None else cut(str(item), SHORT) for item in value)
    return cut(value, SHORT) if isinstance(value, str) else value_text(value, SHORT)


def comparison_value(found: SuiteComparison) -> dict[str, Any]:
    """Return a comparison as one JSON value."""
    return {
        "schema": "urn:aef-verify:suite-comparison",
        "version": "1.0",
        "verdict": found.verdict,
        "runs": [
            {"path": side.path, "outcome": side.outcome, "runId": side.run_id, "role": side.role}
            for side in (found.first, found.second)
        ],
        "axes": [
            {"axis": axis.name, "decides": axis.decides, "values": [axis.first, axis.second], "verdict": axis.verdict}
            for axis in found.axes
        ],
        "definitionMembers": None if found.members is None else list(found.members),
        "notes": list(found.notes),
    }
