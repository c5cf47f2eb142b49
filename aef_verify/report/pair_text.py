"""Pairs for people: both arms side by side, what is wrong, what could not be decided; never one combined score.

What a pair is worth is always said: linked is consistent, not authentic, signed only where both arms are [SIG-7].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from aef_verify.codes import CODES, PAIR, REPORT
from aef_verify.memory.pair import INVALID, LINKED, LINKED_UNSEALED, NORMAL_ONLY
from aef_verify.report.escape import cut, escaped
from aef_verify.report.model import Reading
from aef_verify.report.text import ALL_IN_JSON, indented, problem_list
from aef_verify.report.verdict import counted
from aef_verify.report.words import SHORT, named_words, reading_words
from aef_verify.schemas import reads

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aef_verify.memory.pair import PairReport
    from aef_verify.memory.pair_arm import Arm
    from aef_verify.report.model import EvidenceReport

PAIRS = 100
"""Pairs that are shown."""

PAIR_ID = 128
"""Characters shown of a pair's id: all that it may have, so that no two of them look the same."""

NOTES = 20
"""Notes and further folders that are shown of one pair."""

STYLES = {LINKED: "green", LINKED_UNSEALED: "yellow", NORMAL_ONLY: "yellow", INVALID: "bold red"}
"""How an outcome stands out."""

_WORTH = {
    LINKED_UNSEALED: "Neither run is sealed, so this proves nothing: either may have been changed since.",
    NORMAL_ONLY: "A normal arm without an oracle: nothing tells whether the memory or the model is what fell short.",
}

_ONE_SUBJECT = "Both runs name one subject, so that a rule about it could read the oracle's score."


def pairs_text(report: EvidenceReport) -> Iterator[RenderableType]:
    """Yield every pair of a report, and the runs that are no arm yet."""
    for pair in report.pairs[:PAIRS]:
        yield Text()
        yield from pair_text(pair)
        if pair in report.unlinked:
            yield indented(Text(f"not linked: {CODES[REPORT, 'require-linked'].meaning}", style="red"))
    if left := len(report.pairs[PAIRS:]):
        yield Text()
        yield Text(f"… and {counted(left, 'pair')} more ({ALL_IN_JSON})", style="dim")
    for note in report.pair_notes[:NOTES]:
        yield Text()
        yield Text(f"{escaped(note.path)}: {note.note}", style="dim")
    if left := len(report.pair_notes[NOTES:]):
        yield Text(f"… and {counted(left, 'run')} more ({ALL_IN_JSON})", style="dim")


def pair_text(pair: PairReport) -> Iterator[RenderableType]:
    """Yield one pair: its outcome, its arms side by side, its problems and notes."""
    head = Text("Pair ", style="bold")
    head.append(cut(pair.pair_id, PAIR_ID) if pair.pair_id is not None else "without one readable id", style="bold")
    head.append("  ")
    head.append(_outcome(pair), style=STYLES[pair.outcome])
    yield head
    if pair.arms:
        yield _arms(pair)
    if pair.scored_sets_differ:
        yield indented(Text("The arms did not score the same questions: their scores are over different sets."))
    elif pair.scored_sets_differ is None and all(arm.is_usable for arm in pair.arms) and len(pair.arms) > 1:
        yield indented(Text("Whether the arms scored the same questions is not known: their runs do not name them."))
    subjects = [arm.subject.ref for arm in pair.arms]
    if len(subjects) > 1 and subjects[0] is not None and subjects[0] == subjects[1]:
        yield indented(Text(_ONE_SUBJECT, style="yellow"))
    if pair.outcome in _WORTH:
        yield indented(Text(_WORTH[pair.outcome], style="dim"))
    elif pair.outcome == LINKED and not pair.signed_by:
        yield indented(Text("Linked shows that the runs are consistent, not who made them.", style="dim"))
    yield from problem_list(PAIR, pair.problems)
    notes = [f"Not decided: {cut(note)}" for note in pair.notes]
    notes += [f"Also of this pair: {escaped(path)}" for path in pair.others]
    for note in notes[:NOTES]:
        yield indented(Text(note, style="dim"))
    if left := len(notes[NOTES:]):
        yield indented(Text(f"… and {left:,} more ({ALL_IN_JSON})", style="dim"))


def pair_codes(pairs: Sequence[PairReport]) -> list[tuple[str, str]]:
    """Return scope and word of every code of some pairs, each once."""
    return list(dict.fromkeys((PAIR, problem.code) for pair in pairs for problem in pair.problems))


def _outcome(pair: PairReport) -> str:
    if pair.outcome != LINKED:
        return pair.outcome
    if not pair.signed_by:
        return f"{LINKED} (unsigned)" if pair.signed_by is None else f"{LINKED} (not both signed)"
    return f"{LINKED}, both signed by {', '.join(cut(identity, SHORT) for identity in pair.signed_by)}"


def _arms(pair: PairReport) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    for arm in pair.arms:
        table.add_column(arm.role or "?", overflow="fold")
    for name, *cells in zip(_ROWS, *(_cells(arm) for arm in pair.arms), strict=True):
        table.add_row(Text(f"  {name}", style="dim"), *(Text(cell) for cell in cells))
    return table


_ROWS = (
    "run",
    "outcome",
    "status",
    "target mode",
    "subject",
    "suite",
    "definition",
    "questions",
    "accuracy",
    "model calls",
    "gap to normal",
)


def _cells(arm: Arm) -> Iterator[str]:
    mode = reads("run", {"execution": {"targetMode": arm.target_mode}}) if arm.target_mode is not None else {}
    yield escaped(arm.path)
    yield _run_outcome(arm)
    yield cut(arm.status or "unknown", SHORT)
    yield reading_words(Reading(arm.target_mode, mode.get("execution.targetMode", arm.target_mode)))
    yield named_words(arm.subject)
    yield named_words(arm.suite)
    yield arm.suite_digest or "–"
    fields = arm.fields
    if fields is None:
        yield from "–" * (len(_ROWS) - 7)
        return
    scored = "scored not stated" if fields.scored is None else f"{fields.scored:,} scored"
    yield f"{fields.planned:,} planned, {fields.observed:,} observed, {scored}"
    yield "–" if fields.accuracy is None else f"{fields.accuracy:.4g} % of {fields.scored or 0:,} scored"
    yield "–" if fields.calls is None else f"{fields.calls:,}"
    yield "–" if fields.gap is None else f"{fields.gap:+.4g} percentage points (diagnostic)"


def _run_outcome(arm: Arm) -> str:
    if arm.outcome != "intact":
        return arm.outcome
    signers = ", ".join(cut(identity, SHORT) for identity in arm.signed_by or ())
    return f"intact, signed by {signers}" if signers else "intact (unsigned)"
