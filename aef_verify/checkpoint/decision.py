"""The decision function: recorded lane results in, an outcome and its reasons out (05 §5.4).

Rules kept, in this order: what cannot be decided is refused [DEC-1]; each lane has a status and, unless it passed, a
reason [DEC-2]; exceptions waive failures, and nothing but failures; the outcome is the first rule of [DEC-3] that
holds; the reasons stand in [DEC-4]'s order. Names compare as they are written, times at every digit [DEC-5]. It reads
nothing and asks no clock: the evaluation time is in the input. A later reader decides again on the recorded input at
the time of reading [CKP-10].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from aef_verify.checkpoint.refusals import RefusedInputError, read_input
from aef_verify.encoding.durations import parse_duration
from aef_verify.encoding.times import given_time, instant

__all__ = [
    "APPROVALS",
    "RESULT_STATUSES",
    "Decision",
    "LaneDecision",
    "RefusedInputError",
    "decide",
    "decide_again",
    "shown_beside",
]

APPROVALS = ("approved", "approved_with_exceptions")
"""The outcomes that release."""

_SECOND = 10**9

_NOT_MEASURED = ("not_measured", "not-measured")

_READ = {
    "passed": ("passed", ""),
    "failed": ("failed", "failed"),
    "not_measured": _NOT_MEASURED,
    "incomparable": ("incomparable", "incomparable"),
}
"""A result's status to the lane's status and reason; one that is not here reads as `not_measured` [VER-8]."""

RESULT_STATUSES = frozenset(_READ)
"""The statuses of a lane's result that this version knows (05 §5.3)."""


class LaneDecision(NamedTuple):
    """The status of one lane [DEC-2].

    `axes` names what differs in an incomparable lane. `waived_by` is the exception that waives a waived lane, as the
    input has it, for its `reason`, `by`, `requirement` and `expires` to be shown beside the lane; `by` is a claim.
    """

    lane: str
    status: str
    blocking: bool
    axes: tuple[str, ...] = ()
    waived_by: dict[str, Any] | None = None


class Decision(NamedTuple):
    """An outcome [DEC-3], the lanes in the order of the input, and the reasons [DEC-4]."""

    outcome: str
    lanes: tuple[LaneDecision, ...]
    reasons: tuple[str, ...]

    def document(self) -> dict[str, object]:
        """Return the decision as the document that the schema `decision` describes."""
        lanes: list[dict[str, object]] = []
        for lane in self.lanes:
            shown: dict[str, object] = {"lane": lane.lane, "status": lane.status, "blocking": lane.blocking}
            lanes.append(shown | {"axes": list(lane.axes)} if lane.axes else shown)
        return {"outcome": self.outcome, "lanes": lanes, "reasons": list(self.reasons)}


def decide(value: object) -> Decision:
    """Decide an input, any JSON value.

    Raises:
        RefusedInputError: the function does not decide it [DEC-1].
    """
    given = read_input(value)
    version, at = given["subjectVersion"], instant(given["evaluatedAt"])
    lanes: list[LaneDecision] = []
    reasons: list[str] = []
    for lane in given["lanes"]:
        exceptions = [granted for granted in given.get("exceptions", ()) if granted["lane"] == lane["lane"]]
        decided, codes = _decide_lane(lane, version, at, exceptions)
        lanes.append(decided)
        reasons += (f"{code}:{decided.lane}" for code in codes)
    newer = given.get("supersededBy")
    superseded = newer is not None and newer != version
    if superseded:
        reasons.append(f"superseded:{newer}")
    outcome = _outcome(lanes, superseded)
    return Decision(outcome, tuple(lanes), (*reasons, f"outcome:{outcome}"))


def _decide_lane(
    lane: dict[str, Any], version: str, at: int, exceptions: Sequence[dict[str, Any]]
) -> tuple[LaneDecision, list[str]]:
    """Return what a lane comes to, and the codes of its reasons in order [DEC-2]."""
    name, blocking = lane["lane"], lane["blocking"]
    status, code = _status(lane, version, at)
    if status == "failed":
        waives, lapsed = _waiver(frozenset(lane.get("evidence", ())), at, exceptions)
        if waives is not None:
            return LaneDecision(name, "waived", blocking, waived_by=waives), ["waived"]
        return LaneDecision(name, status, blocking), [code if blocking else f"advisory-{code}", *lapsed]
    axes = tuple(lane["result"].get("axes", ())) if status == "incomparable" else ()
    return LaneDecision(name, status, blocking, axes), [code] if code else []


def _status(lane: dict[str, Any], version: str, at: int) -> tuple[str, str]:
    """Return the status of a lane before any exception, and the code of its reason: [DEC-2], 1 to 5."""
    result = lane["result"]
    if result is None:
        return "missing", "missing"
    if result["subjectVersion"] != version:
        return "missing", "wrong-version"
    age = at - instant(result["oldestClosedAt"])
    if age < 0:
        return "missing", "future-evidence"
    if "freshness" in lane and age > parse_duration(lane["freshness"]) * _SECOND:
        return "stale", "stale"
    return _READ.get(result["status"], _NOT_MEASURED)


def _waiver(
    evidence: frozenset[str], at: int, exceptions: Sequence[dict[str, Any]]
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the exception that waives a failure, or None with the codes that say why none does: [DEC-2], 6."""
    for_this = [granted for granted in exceptions if frozenset(granted["evidence"]) == evidence]
    in_force = [granted for granted in for_this if instant(granted["at"]) <= at < instant(granted["expires"])]
    if in_force:
        return min(in_force, key=lambda granted: instant(granted["expires"])), []
    lapsed = ["exception-expired"] if for_this else []
    return None, lapsed + (["exception-other-evidence"] if len(for_this) < len(exceptions) else [])


def _outcome(lanes: Sequence[LaneDecision], superseded: bool) -> str:
    """Return the outcome: the first rule of [DEC-3] that holds."""
    found = {lane.status for lane in lanes}
    if superseded or "stale" in found:
        return "expired"
    if any(lane.blocking and lane.status == "failed" for lane in lanes):
        return "blocked"
    if found & {"missing", "not_measured", "incomparable"}:
        return "inconclusive"
    return "approved_with_exceptions" if "waived" in found else "approved"


def decide_again(value: object, at: str, superseded_by: str | None = None) -> Decision:
    """Decide a recorded input again at the time of reading; nothing else is added to it [CKP-10].

    Args:
        value: the recorded input, which is left as it is.
        at: the time of reading [ENC-8].
        superseded_by: a newer version that the reader knows of, instead of the one recorded, if any. The version
            decided on is not newer than itself and changes nothing.

    Raises:
        InputError: `at` is no time.
        RefusedInputError: the function does not decide the input [DEC-1].
    """
    given_time(at)
    given = read_input(value)
    again = {**given, "evaluatedAt": at}
    if superseded_by not in (None, given["subjectVersion"]):
        again["supersededBy"] = superseded_by
    return decide(again)


def shown_beside(recorded: str, again: str) -> str | None:
    """Return the re-evaluated outcome where it is shown beside the recorded one, else None [CKP-10].

    None where the two are equal, and where an approval would be shown that the checkpoint did not record.
    """
    invented = again in APPROVALS and recorded not in APPROVALS
    return None if again == recorded or invented else again
