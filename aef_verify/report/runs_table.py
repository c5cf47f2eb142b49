"""The table of runs: one line each where all of it fits, otherwise the run's path above the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from aef_verify.report.escape import escaped
from aef_verify.report.model import RunEntry
from aef_verify.report.words import CLAIM, OUTCOME_STYLES, named_words, outcome_words, reading_words, signers

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

HEADER = ("Run", "Target", "Suite", "Outcome", "Signer", "Problems")
_GAP = 2
_INDENT = 4
_SUITE, _SIGNER, _NARROWEST = 1, 3, 12


class RunsTable:
    """A renderable over some runs; `below` is the part of every path that is not repeated."""

    def __init__(self, runs: Sequence[RunEntry], below: str) -> None:
        """Make the rows."""
        self._rows = [tuple(_row(run, below)) for run in runs]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Choose by the width there is."""
        widths = [
            max(cell_len(name), *(cell_len(row[place].plain) for row in self._rows))
            for place, name in enumerate(HEADER)
        ]
        if sum(widths) + _GAP * (len(widths) - 1) <= options.max_width:
            yield self._flat()
        else:
            yield from self._stacked(_narrowed(widths[1:], options.max_width - _INDENT))

    def _flat(self) -> Table:
        table = _table(show_header=True)
        for name in HEADER:
            table.add_column(Text(name, style="bold"), no_wrap=True)
        for row in self._rows:
            table.add_row(*row)
        return table

    def _stacked(self, widths: Sequence[int]) -> Iterator[Text | Table]:
        header = tuple(Text(name, style="bold") for name in HEADER)
        for path, *cells in (header, *self._rows):
            yield path
            table = _table()
            table.add_column(width=_INDENT - _GAP)
            for width in widths:
                table.add_column(width=width, overflow="fold")
            table.add_row("", *cells)
            yield table


def _narrowed(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that fit into the room there is: suite and signer give way, as they fold best."""
    narrowed = list(widths)
    for place in (_SUITE, _SIGNER):
        excess = sum(narrowed) + _GAP * (len(narrowed) - 1) - room
        narrowed[place] -= min(max(excess, 0), max(narrowed[place] - _NARROWEST, 0))
    return narrowed


def _table(*, show_header: bool = False) -> Table:
    return Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=show_header)


def _row(run: RunEntry, below: str) -> Iterator[Text]:
    header = run.header
    path = run.path[len(below) :] if below and run.path.startswith(below) else run.path
    yield Text(escaped(path))
    yield Text(reading_words(header.target_mode) + CLAIM * header.is_claimed("execution.targetMode"))
    yield Text(named_words(header.suite) + CLAIM * header.is_claimed("suite"))
    yield Text(outcome_words(run, with_signers=False), style=OUTCOME_STYLES[run.outcome])
    yield Text(signers(run) or "–")
    yield _problem_counts(run)


def _problem_counts(run: RunEntry) -> Text:
    if run.message:
        return Text("not known", style="red")
    own, overlays = len(run.breaches), len(run.overlay_problems)
    words = [f"{own:,}"] if own or not overlays else []
    if overlays:
        words.append(f"overlays {overlays:,}")
    if run.shortfalls and run.outcome != "invalid":
        words.append("not " + ", ".join(run.shortfalls))
    return Text(", ".join(words), style="" if run.is_sound else "red")
