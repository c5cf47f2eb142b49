"""A checkpoint manifest alone: does it hold together, and does its decision follow from its input [CKP-7].

Rules kept, in this order: the manifest is one that the reader accepts; a later minor's unknown state, outcome or lane
status makes it `unverifiable`, whatever else it holds; what is not decided by the decision function has nothing to
recompute; where an outcome has no decision, or a decision no input, nothing can be; otherwise version, lanes, evidence
and exceptions of the recorded input are compared with the manifest's, the recorded decision with the one recomputed,
and the outcome with the recorded decision's. Members that this version does not define take no part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from aef_verify.checkpoint.decision import RESULT_STATUSES, Decision, LaneDecision, decide
from aef_verify.checkpoint.refusals import RefusedInputError, quoted
from aef_verify.encoding.ijson import LimitError, UnreadableError, read_object
from aef_verify.problems import InputError, Problem, ordered
from aef_verify.schemas import accepts, explain
from aef_verify.schemas.refusal import other_major

Document = dict[str, Any]

DECIDED, ABORTED = "decided", "aborted"

STATES = frozenset(("draft", "planned", "approved_to_spend", "running", "evidence_complete", DECIDED))
"""The states that this version knows [CKP-4]."""

OUTCOMES = frozenset(("approved", "approved_with_exceptions", "blocked", "inconclusive", "expired"))
"""The outcomes of the decision function [DEC-3]; a checkpoint may be `aborted` instead."""

LANE_STATUSES = frozenset(("passed", "failed", "missing", "not_measured", "incomparable", "stale", "waived"))
"""The statuses of a decision's lanes [DEC-2]."""

_LATER = re.compile(r"1[.][1-9][0-9]*", re.ASCII)

_MOST = 3
"""Differences that one problem names."""


def read_manifest(data: bytes) -> Document:
    """Return the checkpoint manifest that a file holds: within the limits, I-JSON, and accepted by the reader's schema.

    Raises:
        InputError: it is none; the message says what is wrong, and that of another major version it is one [VER-4].
    """
    try:
        document = read_object(data)
    except UnreadableError as fault:
        rule = "[ENC-17]" if isinstance(fault, LimitError) else "[ENC-1]"
        raise InputError(f"the checkpoint manifest does not read: {fault} {rule}") from None
    if accepts("checkpoint", "reader", document):
        return document
    version = other_major(document)
    if version is not None:
        raise InputError(
            f"the checkpoint manifest is of AEF {quoted(version)}; this reader reads major version 1 alone [VER-4]: "
            "use one for that version"
        )
    faults = explain("checkpoint", "reader", document)
    why = f"{faults[0].pointer or '(document)'}: {faults[0].message}" if faults else "its schema refuses it"
    if faults and faults[0].pointer == "/subject/version":
        why += "; resolve it before any run is made [CKP-1]"
    raise InputError(f"this is no checkpoint manifest that a reader accepts [VER-3]: {why}")


def is_later(document: Mapping[str, Any]) -> bool:
    """Return whether a document declares a later minor of AEF 1 than this version, 1.0 [VER-6]."""
    version = document.get("schemaVersion")
    return isinstance(version, str) and _LATER.fullmatch(version) is not None


def is_checked_as_decided(checkpoint: Document) -> bool:
    """Return whether a manifest is checked as decided: [CKP-7], 2.

    Its state is `decided`; or it is one that nobody defined, in a manifest of this version that records an outcome or
    a decision.
    """
    state: str = checkpoint["state"]
    if state in STATES or is_later(checkpoint):
        return state == DECIDED
    return checkpoint.get("outcome") is not None or "decision" in checkpoint


def manifest_problems(checkpoint: Document) -> list[Problem]:
    """Return the problems of a manifest alone, each code once, in code order; their paths are empty [CKP-7].

    Args:
        checkpoint: a manifest that the reader accepts; see `read_manifest`.
    """
    unknown = list(_unknown(checkpoint)) if is_later(checkpoint) else []
    if unknown:
        detail = f"this version, 1.0, does not know what a later one wrote: {_joined(unknown)}"
        return [Problem("", "unverifiable", detail)]
    outcome = checkpoint.get("outcome")
    if not is_checked_as_decided(checkpoint) or outcome == ABORTED:
        return []
    if "decision" not in checkpoint or "decisionInput" not in checkpoint:
        lacks = "a decision without its input" if "decision" in checkpoint else "an outcome without a decision"
        code = "unverifiable" if is_later(checkpoint) else "decision"
        return [Problem("", code, f"it records {lacks}: nothing can be recomputed", outcome)]
    recorded, given = checkpoint["decision"], checkpoint["decisionInput"]
    found: dict[str, Iterable[str]] = {
        "decision": _decision(recorded, given),
        "evidence": _evidence(checkpoint["lanes"], given["lanes"]),
        "exception-evidence": _exception_evidence(checkpoint["lanes"], given.get("exceptions", ())),
        "lane-evidence": _lane_evidence(checkpoint["lanes"], given["lanes"]),
        "lanes": _lanes(checkpoint["lanes"], given["lanes"]),
        "outcome": _differs("the outcome", outcome, "the decision's is", recorded["outcome"]),
        "version": _differs(
            "the version decided on", given["subjectVersion"], "the checkpoint's is", checkpoint["subject"]["version"]
        ),
    }
    details = {code: list(differences) for code, differences in found.items()}
    return ordered(Problem("", code, _joined(parts)) for code, parts in details.items() if parts)


def _unknown(checkpoint: Document) -> Iterator[str]:
    """Name every state, outcome and lane status that this version does not know."""
    if checkpoint["state"] not in STATES:
        yield f"state {quoted(checkpoint['state'])}"
    decision, given = checkpoint.get("decision", {}), checkpoint.get("decisionInput", {})
    for outcome, known in ((checkpoint.get("outcome"), OUTCOMES | {ABORTED}), (decision.get("outcome"), OUTCOMES)):
        if outcome is not None and outcome not in known:
            yield f"outcome {quoted(outcome)}"
    for lane in decision.get("lanes", ()):
        if lane["status"] not in LANE_STATUSES:
            yield f"status {quoted(lane['status'])} of lane {lane['lane']} in the decision"
    for lane in given.get("lanes", ()):
        if lane["result"] is not None and lane["result"]["status"] not in RESULT_STATUSES:
            yield f"status {quoted(lane['result']['status'])} of lane {lane['lane']} in the input"


def _decision(recorded: Document, given: Document) -> Iterator[str]:
    """Compare the recorded decision with what its recorded input gives."""
    try:
        decided = decide(given)
    except RefusedInputError as refusal:
        yield f"the recorded input cannot be decided: {refusal}"
        return
    yield from _decision_differences(recorded, decided)


def _decision_differences(recorded: Document, decided: Decision) -> Iterator[str]:
    """Compare every member that this version defines; the reasons last, as they follow from the rest."""
    gives = "the recorded input gives"
    found = list(_differs("the recorded outcome", recorded["outcome"], gives, decided.outcome))
    names, given = [lane["lane"] for lane in recorded["lanes"]], [lane.lane for lane in decided.lanes]
    if names != given:
        found += _first_difference("lane {} of the recorded decision", names, gives, given)
    else:
        for lane, other in zip(recorded["lanes"], decided.lanes, strict=True):
            found += _lane_differences(lane, other, gives)
    if not found:
        found += _first_difference("reason {} of the recorded decision", recorded["reasons"], gives, decided.reasons)
    yield from found


def _lane_differences(lane: Document, decided: LaneDecision, gives: str) -> Iterator[str]:
    yield from _differs(f"the recorded status of lane {decided.lane}", lane["status"], gives, decided.status)
    if lane["blocking"] != decided.blocking:
        yield f"lane {decided.lane} is recorded as {_kind(lane['blocking'])}, but decided as {_kind(decided.blocking)}"
    axes = list(decided.axes) or None
    if lane.get("axes") != axes:
        yield f"the recorded axes of lane {decided.lane} are {_axes(lane.get('axes'))}, but {gives} {_axes(axes)}"


def _evidence(lanes: Sequence[Document], decided: Sequence[Document]) -> Iterator[str]:
    """Compare whether a lane has runs with whether it has a result, lanes on one side only included."""
    planned, given = _by_name(lanes), _by_name(decided)
    for name in {**planned, **given}:
        runs = planned.get(name, {}).get("runs")
        result = given.get(name, {}).get("result")
        if runs and result is None:
            yield f"lane {name} has runs and no result in the recorded input"
        elif result is not None and not runs:
            yield f"lane {name} has a result in the recorded input and no runs"


def _exception_evidence(lanes: Sequence[Document], exceptions: Iterable[Document]) -> Iterator[str]:
    """Look for the run hashes of exceptions among the runs of their lanes; a lane that is not there has none."""
    planned = _by_name(lanes)
    for granted in exceptions:
        known = _run_hashes(planned.get(granted["lane"], {}))
        for run_hash in granted["evidence"]:
            if run_hash not in known:
                yield f"an exception for lane {granted['lane']} names run hash {run_hash}, which none of its runs has"


def _lane_evidence(lanes: Sequence[Document], decided: Sequence[Document]) -> Iterator[str]:
    """Compare the run hashes of each lane that stands on both sides, as sets."""
    planned = _by_name(lanes)
    for lane in decided:
        if lane["lane"] not in planned:
            continue
        hashes, named = _run_hashes(planned[lane["lane"]]), frozenset(lane.get("evidence", ()))
        for run_hash in sorted(hashes - named):
            yield f"lane {lane['lane']} has a run {run_hash} that the recorded input does not name"
        for run_hash in sorted(named - hashes):
            yield f"the recorded input names run hash {run_hash} for lane {lane['lane']}, which has no such run"


def _lanes(lanes: Sequence[Document], decided: Sequence[Document]) -> Iterator[str]:
    """Compare names, blocking, freshness (as written) and order of the lanes."""
    names, given = ([lane["lane"] for lane in side] for side in (lanes, decided))
    if names != given:
        yield from _first_difference("lane {} of the recorded input", given, "the checkpoint's is", names)
        return
    for lane, other in zip(lanes, decided, strict=True):
        if lane["blocking"] != other["blocking"]:
            yield f"lane {lane['lane']} is {_kind(lane['blocking'])}, but decided as {_kind(other['blocking'])}"
        if lane.get("freshness") != other.get("freshness"):
            whose = "it was decided with"
            yield from _differs(
                f"the freshness of lane {lane['lane']}", lane.get("freshness"), whose, other.get("freshness")
            )


def _differs(what: str, found: object, whose: str, wanted: object) -> Iterator[str]:
    """Say that two values differ, in two halves of a sentence."""
    if found != wanted:
        yield f"{what} is {_word(found)}, but {whose} {_word(wanted)}"


def _first_difference(what: str, found: Sequence[str], whose: str, wanted: Sequence[str]) -> Iterator[str]:
    """Say where two lists first differ; `what` has a place for the number."""
    for number, pair in enumerate(zip_longest(found, wanted), 1):
        if pair[0] != pair[1]:
            yield from _differs(what.format(number), pair[0], whose, pair[1])
            return


def _by_name(lanes: Iterable[Document]) -> dict[str, Document]:
    """Return the lanes by name, of two with one name the first; a name that stands twice is never approved."""
    found: dict[str, Document] = {}
    for lane in lanes:
        found.setdefault(lane["lane"], lane)
    return found


def _run_hashes(lane: Document) -> frozenset[str]:
    return frozenset(run["runHash"] for run in lane.get("runs", ()))


def _kind(blocking: bool) -> str:
    return "blocking" if blocking else "advisory"


def _axes(axes: Sequence[str] | None) -> str:
    return "none" if axes is None else f"[{', '.join(map(quoted, axes))}]"


def _word(value: object) -> str:
    return quoted(value) if isinstance(value, str) else "none"


def _joined(parts: Sequence[str]) -> str:
    more = len(parts) - _MOST
    return "; ".join(parts[:_MOST]) + (f"; and {more} more" if more > 0 else "")
