"""The effective view of a run with what people need beside it: who said what, and what the results are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aef_verify.encoding.times import given_time
from aef_verify.folder import Folder
from aef_verify.integrity.events import Event
from aef_verify.integrity.facts import read_results
from aef_verify.integrity.redaction import BatchSigners
from aef_verify.integrity.view import View, chain_of, view_of
from aef_verify.layout import RESULTS
from aef_verify.run.reading import Documents

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy


@dataclass(frozen=True, slots=True)
class OverlayView:
    """A view and what stands behind it.

    Attributes:
        at: the view's time.
        view: the effective view, as 09 §9.2.1 lays it out.
        events: the events that take effect, by id.
        names: case and path of each result that an event is about, by result id.
        policy_given: whether signatures could be judged.
    """

    at: str
    view: View
    events: dict[str, Event]
    names: dict[str, tuple[str, str]]
    policy_given: bool


def read_view(path: str, at: str, *, policy: TrustPolicy | None = None) -> OverlayView:
    """Read the view of a run at a time; raises InputError where there is no run folder or `at` is no time."""
    now = given_time(at)
    with Folder(path) as folder:
        chain, results = chain_of(folder), read_results(folder)
        view = view_of(chain, results, now, BatchSigners(folder, chain, policy), policy)
        events = chain.effective(results.states if results.whole else None)
        about = {event.result for event in events if event.result is not None}
        names = _names(folder, about) if results.whole else {}
        return OverlayView(at, view, {event.id: event for event in events}, names, policy is not None)


def _names(folder: Folder, about: set[str]) -> dict[str, tuple[str, str]]:
    names: dict[str, tuple[str, str]] = {}
    if not about:
        return names

    def take(number: int, line: dict[str, Any]) -> None:
        if line.get("resultId") in about:
            names[line["resultId"]] = str(line.get("caseId")), str(line.get("path"))

    Documents(folder, details=False).ndjson(RESULTS, None, take, take)
    return names
