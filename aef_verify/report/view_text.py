"""The effective view for people: sealed and effective state side by side, and how much each event is worth.

Rules kept: nothing is recomputed and that is said [OVL-7], the last review counts [OVL-8], expired waivers are shown
as expired [OVL-9], withheld blobs are named [OVL-10], assurance is what was verified, not what is claimed [OVL-3].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from aef_verify.integrity.events import Event
from aef_verify.report.escape import cut, escaped, value_text
from aef_verify.report.model import Reading, RunEntry
from aef_verify.report.run_text import STATE_STYLES, section
from aef_verify.report.text import advice_text, indented, run_codes, run_details
from aef_verify.report.verdict import counted
from aef_verify.report.view import OverlayView
from aef_verify.report.words import SHORT, reading_words
from aef_verify.schemas import reads

if TYPE_CHECKING:
    from rich.console import RenderableType

SHOWN = 200
"""Entries shown of each part of a view; `--json` has all of them."""


def view_text(run: RunEntry, view: OverlayView) -> Iterator[RenderableType]:
    """Yield the parts of one view in the order in which they are read."""
    yield from run_details(run)
    yield from advice_text(run_codes(run))
    yield Text()
    yield Text(f"What the overlays say at {escaped(view.at)}", style="bold")
    yield indented(Text("Parents, summaries, gate decisions and lanes are as sealed: none is recomputed [OVL-7]."))
    yield from section("Results", _results(view))
    yield from section("Reviews", _reviews(view))
    yield from section("Waivers", _waivers(view))
    yield from section("Withheld blobs", _withheld(view))
    yield from section("Events in verified batches", _events(view))
    unsealed = view.view["unsealedEvents"]
    if unsealed:
        yield Text()
        lines = counted(unsealed, "line")
        yield Text(f"{lines} after the verified batches: unsealed events, without effect.", style="yellow")
    if not view.events and not unsealed:
        yield indented(Text("No event takes effect."))


def _left(all_of: int) -> Iterator[RenderableType]:
    if all_of > SHOWN:
        yield indented(Text(f"… and {all_of - SHOWN:,} more (--json lists all)", style="dim"))


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, name in enumerate(names):
        table.add_column(name if place else f"  {name}", overflow="fold", no_wrap=name == "At")
    return table


def _named(view: OverlayView, result: str) -> str:
    """Return the case and path of a result, or its id where it has no line."""
    if result not in view.names:
        return escaped(result)
    case, path = view.names[result]
    return f"{cut(case, SHORT)} {cut(path, SHORT)}"


def _results(view: OverlayView) -> Iterator[RenderableType]:
    entries = view.view["results"]
    if not entries:
        return
    table = _table("Result", "Sealed", "Effective", "Event", "By", "Reason")
    for entry in entries[:SHOWN]:
        event = view.events[entry["event"]]
        sealed, effective = escaped(entry["sealedState"] or "unknown"), escaped(entry["effectiveState"])
        table.add_row(
            Text(f"  {_named(view, entry['resultId'])}"),
            Text(sealed, style=STATE_STYLES.get(sealed, "")),
            Text(effective, style=STATE_STYLES.get(effective, "")),
            Text(f"{escaped(event.kind)} {cut(event.id, SHORT)}"),
            Text(cut(event.identity, SHORT)),
            Text(cut(event.reason or "–")),
        )
    yield table
    yield from _left(len(entries))


def _reviews(view: OverlayView) -> Iterator[RenderableType]:
    entries = view.view["reviews"]
    for entry in entries[:SHOWN]:
        event = view.events[entry["event"]]
        target = "the run" if entry["target"] == "run" else _named(view, entry["target"])
        status = "approved" if entry["status"] == "approve" else "rejected"
        text = Text(f"{target}: {status}", style="green" if status == "approved" else "red")
        text.append(f" by {cut(event.identity, SHORT)} in {cut(event.id, SHORT)}", style="default")
        yield indented(text)
    yield from _left(len(entries))


def _waivers(view: OverlayView) -> Iterator[RenderableType]:
    entries = view.view["waivers"]
    for entry in entries[:SHOWN]:
        event = view.events[entry["event"]]
        target = entry["target"]
        words = target.get("requirement") or (_named(view, target["result"]) if "result" in target else None)
        text = Text(cut(words, SHORT) if isinstance(words, str) else value_text(target, SHORT))
        text.append(": ")
        text.append(*_holding(event, active=entry["active"], at=view.at))
        text.append(f"; {cut(event.identity, SHORT)} in {cut(event.id, SHORT)}: {cut(event.reason or '–')}")
        yield indented(text)
    yield from _left(len(entries))


def _holding(event: Event, *, active: bool, at: str) -> tuple[str, str]:
    """Return whether a waiver holds, in words with their style."""
    from aef_verify.encoding.times import time_key

    expires = escaped(event.expires or "")
    if active:
        return f"waived until {expires}", "yellow"
    if time_key(at) < time_key(event.at):
        return f"waived from {escaped(event.at)} until {expires}, not yet", "dim"
    return f"expired at {expires}", "red"


def _withheld(view: OverlayView) -> Iterator[RenderableType]:
    blobs = view.view["withheld"]
    for blob in blobs[:SHOWN]:
        yield indented(Text(escaped(blob)))
    if blobs:
        yield indented(Text("Named by an authorized redaction, gone or not [OVL-10].", style="dim"))
    yield from _left(len(blobs))


def _events(view: OverlayView) -> Iterator[RenderableType]:
    entries = view.view["assurance"]
    if not entries:
        return
    table = _table("Event", "Kind", "By", "Assurance", "At", "Reason")
    for entry in entries[:SHOWN]:
        event = view.events[entry["event"]]
        read = reads("overlay-event", {"kind": event.kind}).get("kind")
        table.add_row(
            Text(f"  {cut(event.id, SHORT)}"),
            Text(reading_words(Reading(event.kind, read))),
            Text(cut(event.identity, SHORT)),
            Text(_assurance(event, entry["shown"]), style="green" if entry["shown"] == "signed" else ""),
            Text(escaped(event.at)),
            Text(cut(event.reason or "–")),
        )
    yield table
    yield from _left(len(entries))
    if not view.policy_given:
        yield indented(Text("Without --policy no signature was checked, so nothing is more than claimed.", style="dim"))


def _assurance(event: Event, shown: str) -> str:
    """Return how much an event is worth, and the claim where it goes further than what was verified [OVL-3]."""
    if shown == event.assurance or shown == "signed":
        return shown
    return f"{shown}; {cut(event.assurance, SHORT)} is claimed, not verified"
