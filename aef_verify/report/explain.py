"""Codes and rules explained: found by name whatever its letter case, with the nearest names where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from aef_verify.codes import (
    CHECKPOINT,
    CODES,
    DECISION,
    OUTCOME,
    OVERLAYS,
    PAIR,
    REPORT,
    RUN,
    SIGNATURE,
    STREAM,
    Code,
    codes_named,
)
from aef_verify.problems import InputError
from aef_verify.report.escape import cut
from aef_verify.rules import RULES, chapter_of

if TYPE_CHECKING:
    from rich.console import RenderableType

WHERE = {
    RUN: "a problem of a run or its seal",
    OVERLAYS: "a problem of an overlay chain",
    SIGNATURE: "what became of a signature or its envelope",
    OUTCOME: "an outcome of a run",
    REPORT: "of a report on several runs",
    PAIR: "of a pair of runs of a memory benchmark",
    CHECKPOINT: "a problem of a checkpoint",
    DECISION: "an outcome of a decision, or a reason for it",
    STREAM: "a problem of a runner's event stream, or of the runs that it names",
}
"""What a code's scope means."""


class Rule(NamedTuple):
    """One rule: its id and what it asks."""

    id: str
    text: str


def everything() -> list[Code | Rule]:
    """Return every code and every rule."""
    return [*CODES.values(), *(Rule(rule, text) for rule, text in RULES.items())]


def explained(name: str) -> list[Code | Rule]:
    """Return what a name stands for: one code in each scope that has it, or a rule.

    Raises:
        InputError: nothing has that name; the message lists the nearest.
    """
    found: list[Code | Rule] = [*codes_named(name)]
    rule = name.strip("[] ").upper()
    if rule in RULES:
        found.append(Rule(rule, RULES[rule]))
    if not found:
        words = sorted({code.code for code in CODES.values()}) + list(RULES)
        near = get_close_matches(name.lower(), [word.lower() for word in words], n=3, cutoff=0.5)
        named = ", ".join(word for word in words if word.lower() in near)
        hint = f"did you mean {named}?" if near else "`aef explain --list` lists what there is"
        raise InputError(f"no code or rule is named {cut(name, 60)!r}: {hint}")
    return found


def explanation_text(found: Sequence[Code | Rule]) -> Iterator[RenderableType]:
    """Yield what codes and rules mean, the rules behind a code with it."""
    from rich.text import Text

    from aef_verify.report.text import indented

    for place, entry in enumerate(found):
        if place:
            yield Text()
        if isinstance(entry, Rule):
            yield _headed(entry.id, chapter_of(entry.id))
            yield indented(Text(entry.text))
            if named := [f"{code.code} ({code.scope})" for code in CODES.values() if entry.id in code.rules]:
                yield indented(Text(f"Codes: {', '.join(named)}", style="dim"))
            continue
        yield _headed(entry.code, WHERE[entry.scope])
        yield indented(Text(entry.meaning))
        yield indented(Text(f"Next: {entry.advice}"))
        for rule in entry.rules:
            yield indented(Text(f"{rule}: {RULES[rule]}", style="dim"))


def _headed(name: str, what: str) -> RenderableType:
    from rich.text import Text

    text = Text(name, style="bold")
    text.append(f"  {what}", style="not bold dim")
    return text


def list_text(found: Sequence[Code | Rule]) -> Iterator[RenderableType]:
    """Yield one line for each code and rule."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for entry in found:
        if isinstance(entry, Rule):
            table.add_row(Text(entry.id), Text("rule"), Text(entry.text))
        else:
            table.add_row(Text(entry.code), Text(entry.scope), Text(entry.meaning))
    yield table


def explanation_value(found: Sequence[Code | Rule]) -> list[dict[str, Any]]:
    """Return codes and rules as a JSON list."""
    return [
        {"rule": entry.id, "text": entry.text}
        if isinstance(entry, Rule)
        else {
            "code": entry.code,
            "scope": entry.scope,
            "rules": list(entry.rules),
            "meaning": entry.meaning,
            "advice": entry.advice,
        }
        for entry in found
    ]
