"""The rule `severity` [LANE-3]: the worst failure among a lane's lines, over one pass in constant memory.

First what fails the lane, trial lines included; then what leaves it undecided, trial lines left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

Document = dict[str, Any]

RANKS = {"none": 0, "low": 1, "medium": 2, "high": 3, "critical": 4}
"""Severities from the mildest; a missing one counts as critical [RES-9], as one that is not known does [VER-8]."""

MAXIMA = ("none", "low", "medium", "high")
"""What a rule may allow."""

_WORST = RANKS["critical"]
_FAILURES = frozenset(("failed", "warn"))
_DECIDED = frozenset(("passed", "failed", "warn"))
_UNDECIDED = frozenset(("inconclusive", "not_measured", "skipped", "error", "pending"))


class Scope(NamedTuple):
    """Which lines a rule reads: of one summary lane, or of any; at one path and below it, or at any."""

    lane: str | None
    path: str | None


def scope_of(rule: Document) -> Scope:
    """Return the lines that a severity rule reads."""
    return Scope(rule.get("lane"), rule.get("path"))


class Tally:
    """What the lines of one run in one scope come to.

    Attributes:
        worst: the rank of the worst failure, trial lines included; -1 without any.
        decided: the lines that passed, failed or warn, without trial lines.
        undecided: the lines that were not decided, without trial lines.
        unknown: whether any line, trial lines included, has a severity that this version does not know.
    """

    __slots__ = ("_below", "_lane", "_path", "decided", "undecided", "unknown", "worst")

    def __init__(self, scope: Scope) -> None:
        """Start before the first line."""
        self._lane = scope.lane
        self._path = scope.path
        self._below = "" if scope.path is None else scope.path + "/"
        self.worst = -1
        self.decided = 0
        self.undecided = 0
        self.unknown = False

    def take(self, line: Document, lane: str | None) -> None:
        """Count one line; `lane` is the summary lane that it belongs to [SUM-3]."""
        if self._lane is not None and lane != self._lane:
            return
        if self._path is not None:
            path = line["path"]
            if path != self._path and not path.startswith(self._below):
                return
        severity, state = line.get("severity"), line["state"]
        if severity is not None and severity not in RANKS:
            self.unknown = True
        if state in _FAILURES:
            self.worst = max(self.worst, _WORST if severity is None else RANKS.get(severity, _WORST))
        if "trial" in line:
            return
        if state in _DECIDED:
            self.decided += 1
        elif state in _UNDECIDED:
            self.undecided += 1


def single_lane(summary: Document | None) -> str | None:
    """Return the lane that lines without one belong to: the summary's, where it has one name alone [SUM-3]."""
    names = {lane["lane"] for lane in summary["lanes"]} if summary is not None else set()
    return next(iter(names)) if len(names) == 1 else None


def severity_status(rule: Document, tallies: Iterable[Tally]) -> str:
    """Return the status of a lane whose runs are all eligible, from the lines of each in the rule's scope."""
    found: Sequence[Tally] = tuple(tallies)
    if rule["max"] not in MAXIMA:
        # Read so where this version does not know it [VER-8].
        return "not_measured"
    if any(tally.worst > RANKS[rule["max"]] for tally in found):
        return "failed"
    decided = sum(tally.decided for tally in found)
    if any(tally.undecided for tally in found) or decided < rule.get("minimumN", 1):
        return "not_measured"
    return "passed"
