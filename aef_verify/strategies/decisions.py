"""Inputs of the decision function with the decision they must get, and checkpoint manifests that hold together.

What an input must be decided as is settled before it is written: each lane is given a fate, and times, versions,
statuses and exceptions are drawn to fit it. The decision follows from the fates by the tables of [DEC-2] to [DEC-4]
alone; the room that decides takes no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from aef_verify.strategies.documents import documents
from aef_verify.strategies.values import (
    LAST_INSTANT,
    SECOND,
    digests,
    durations,
    ids,
    instants,
    refs,
    spelled_times,
    texts,
    versions,
)

Document = dict[str, Any]

_YEAR = 366 * 86_400 * SECOND
_LONGEST = 300 * _YEAR
"""More than the longest duration [ENC-9], in nanoseconds."""

FATES = {
    "passed": ("passed", ""),
    "failed": ("failed", "failed"),
    "not_measured": ("not_measured", "not-measured"),
    "incomparable": ("incomparable", "incomparable"),
    "missing": ("missing", "missing"),
    "wrong-version": ("missing", "wrong-version"),
    "future-evidence": ("missing", "future-evidence"),
    "stale": ("stale", "stale"),
}
"""What becomes of a lane before any exception: its status, and the code of its reason [DEC-2]."""

_DRAWN = (*["passed"] * 5, *["failed"] * 8, *FATES)
"""Fates as often as they are drawn: one lane without evidence would hide what the others come to."""

_STATUSES = ("passed", "failed", "not_measured", "incomparable")
_APPLIES, _LAPSED, _NOT_YET, _OTHER = "applies", "lapsed", "not yet", "other evidence"


class DecisionCase(NamedTuple):
    """An input of the decision function and the document that it must be decided as.

    `waivers` has the exception that waives each waived lane, by the lane's name.
    """

    input: Document
    decision: Document
    waivers: dict[str, Document]


class _Grant(NamedTuple):
    """An exception, what it is to its lane, and the instant it expires."""

    document: Document
    kind: str
    expires: int


def decisions(*, later_minors: bool = False) -> st.SearchStrategy[DecisionCase]:
    """An input that can be decided, valid against the writer's schema, and its decision.

    Args:
        later_minors: whether results may have statuses that version 1.0 does not know, which only readers accept.
    """
    return _decisions(later_minors=later_minors, recorded=False)


@st.composite
def _decisions(draw: st.DrawFn, *, later_minors: bool, recorded: bool) -> DecisionCase:
    """Draw a case; `recorded` where a manifest names the runs, so that no evidence is anything but run hashes of it."""
    version, other = draw(st.lists(versions(), min_size=2, max_size=2, unique=True))
    at = draw(instants(2 * _LONGEST, LAST_INSTANT - 2 * _LONGEST))
    fates = draw(st.lists(st.sampled_from(_DRAWN), min_size=1, max_size=5))
    names = draw(st.lists(ids(), min_size=len(fates), max_size=len(fates), unique=True))
    lanes: list[Document] = []
    granted: list[_Grant] = []
    for name, fate in zip(names, fates, strict=True):
        lane = draw(_lane(name, fate, at, version, other, recorded))
        hashes = lane.get("evidence", [])
        if not recorded or hashes:
            granted += draw(st.lists(_grant(name, hashes, at, recorded), max_size=3))
        lanes.append(lane)
    grants = draw(st.permutations(granted))
    given: Document = {"subjectVersion": version, "evaluatedAt": draw(spelled_times(at)), "lanes": lanes}
    if draw(st.booleans()):
        given["supersededBy"] = draw(st.sampled_from((None, version, other)))
    if draw(st.booleans()) or grants:
        given["exceptions"] = [grant.document for grant in grants]
    decision, waivers = _decision(given, fates, grants)
    if later_minors:
        for lane, fate in zip(lanes, fates, strict=True):
            if fate == "not_measured" and draw(st.booleans()):
                lane["result"]["status"] = draw(st.sampled_from(("quarantined", "Passed", "waived", "missing", "")))
    return DecisionCase(given, decision, waivers)


@st.composite
def _lane(draw: st.DrawFn, name: str, fate: str, at: int, version: str, other: str, recorded: bool) -> Document:
    """Draw a lane of the input that comes to a fate."""
    lane: Document = {"lane": name, "blocking": draw(st.booleans()), "result": None}
    hashes = draw(st.lists(digests(), min_size=1, max_size=3, unique=True).map(sorted))
    text, seconds = draw(durations())
    if fate == "stale" or draw(st.booleans()):
        lane["freshness"] = text
    if fate == "missing":
        if draw(st.booleans()):
            lane["evidence"] = [] if recorded else hashes
        return lane
    lane["evidence"] = hashes
    longest = seconds * SECOND if "freshness" in lane else _LONGEST
    ages = {"future-evidence": instants(1, _YEAR).map(int.__neg__), "stale": instants(longest + 1, longest + _YEAR)}
    edges = st.sampled_from((0, longest))
    age = draw(ages.get(fate, instants(0, longest) | edges if fate != "wrong-version" else instants(0, 2 * _LONGEST)))
    status = fate if fate in _STATUSES else draw(st.sampled_from(_STATUSES))
    lane["result"] = {
        "status": status,
        "subjectVersion": other if fate == "wrong-version" else version,
        "oldestClosedAt": draw(spelled_times(at - age)),
    }
    if status == "incomparable" or draw(st.integers(0, 4)) == 0:
        lane["result"]["axes"] = draw(st.lists(st.sampled_from(("judges", "suite", "x")), max_size=2, unique=True))
    return lane


@st.composite
def _grant(draw: st.DrawFn, lane: str, hashes: Sequence[str], at: int, recorded: bool) -> _Grant:
    """Draw an exception for a lane."""
    kinds = [_APPLIES, _LAPSED, _NOT_YET] * bool(hashes)
    foreign = st.lists(
        digests().filter(lambda digest: digest not in hashes), min_size=not hashes, max_size=2, unique=True
    )
    others = [*hashes[draw(st.integers(0, 3)) :], *([] if recorded else draw(foreign))]
    if others and others != hashes:
        kinds.append(_OTHER)
    kind = draw(st.sampled_from(kinds))
    force = draw(st.sampled_from((_APPLIES, _LAPSED, _NOT_YET))) if kind == _OTHER else kind
    span = instants(1, _YEAR) | st.just(1)
    if force == _NOT_YET:
        granted = at + draw(span)
        expires = granted + draw(span)
    elif force == _LAPSED:
        expires = at - draw(span | st.just(0))
        granted = expires - draw(span)
    else:
        granted = at - draw(span | st.just(0))
        expires = at + draw(span)
    document: Document = {
        "lane": lane,
        "evidence": draw(st.permutations(others if kind == _OTHER else list(hashes))),
        "reason": draw(texts(min_size=1)),
        "by": {"identity": draw(texts(min_size=1)), "assurance": draw(st.sampled_from(("self-attested", "signed")))},
        "at": draw(spelled_times(granted)),
        "expires": draw(spelled_times(expires)),
    }
    if draw(st.booleans()):
        document["requirement"] = draw(ids())
    return _Grant(document, kind, expires)


def _decision(given: Document, fates: Sequence[str], grants: Sequence[_Grant]) -> tuple[Document, dict[str, Document]]:
    """Return the decision that follows from the lanes' fates, and the exceptions that waive."""
    lanes: list[Document] = []
    reasons: list[str] = []
    waivers: dict[str, Document] = {}
    for lane, fate in zip(given["lanes"], fates, strict=True):
        name, blocking = lane["lane"], lane["blocking"]
        status, code = FATES[fate]
        codes = [code] if code else []
        if status == "failed":
            own = [grant for grant in grants if grant.document["lane"] == name]
            status, codes = _waived(own, blocking)
            if status == "waived":
                applying = [grant for grant in own if grant.kind == _APPLIES]
                waivers[name] = min(applying, key=lambda grant: grant.expires).document
        reasons += [f"{code}:{name}" for code in codes]
        lanes.append({"lane": name, "status": status, "blocking": blocking})
        if status == "incomparable" and lane["result"]["axes"]:
            lanes[-1]["axes"] = lane["result"]["axes"]
    newer = given.get("supersededBy")
    superseded = newer is not None and newer != given["subjectVersion"]
    outcome = _outcome(lanes, superseded)
    reasons += [f"superseded:{newer}"] * superseded + [f"outcome:{outcome}"]
    return {"outcome": outcome, "lanes": lanes, "reasons": reasons}, waivers


def _waived(grants: Sequence[_Grant], blocking: bool) -> tuple[str, list[str]]:
    """Return what the exceptions for a failed lane make of it."""
    kinds = {grant.kind for grant in grants}
    if _APPLIES in kinds:
        return "waived", ["waived"]
    codes = ["failed" if blocking else "advisory-failed"]
    codes += ["exception-expired"] * bool(kinds & {_LAPSED, _NOT_YET})
    codes += ["exception-other-evidence"] * (_OTHER in kinds)
    return "failed", codes


def _outcome(lanes: Sequence[Document], superseded: bool) -> str:
    holds = {
        "expired": lambda lane: lane["status"] == "stale",
        "blocked": lambda lane: lane["status"] == "failed" and lane["blocking"],
        "inconclusive": lambda lane: lane["status"] in ("missing", "not_measured", "incomparable"),
        "approved_with_exceptions": lambda lane: lane["status"] == "waived",
    }
    if superseded:
        return "expired"
    return next((outcome for outcome, one in holds.items() if any(map(one, lanes))), "approved")


def checkpoints() -> st.SearchStrategy[Document]:
    """A manifest of any state, valid against the writer's schema and without a problem of its own [CKP-7]."""
    return undecided_checkpoints() | aborted_checkpoints() | decided_checkpoints()


@st.composite
def decided_checkpoints(draw: st.DrawFn) -> Document:
    """A manifest with a decision of the decision function, recorded with its input."""
    case = draw(_decisions(later_minors=False, recorded=True))
    manifest = draw(_manifest(case.input, "decided"))
    return {
        **manifest,
        "outcome": case.decision["outcome"],
        "decision": case.decision,
        "decisionInput": case.input,
    }


@st.composite
def aborted_checkpoints(draw: st.DrawFn) -> Document:
    """A manifest of a checkpoint that was abandoned [CKP-4]."""
    case = draw(_decisions(later_minors=False, recorded=True))
    manifest = draw(_manifest(case.input, "decided"))
    return {**manifest, "outcome": "aborted", "abortReason": draw(texts(min_size=1))}


@st.composite
def undecided_checkpoints(draw: st.DrawFn) -> Document:
    """A manifest that is not decided yet."""
    case = draw(_decisions(later_minors=False, recorded=True))
    states = ("draft", "planned", "approved_to_spend", "running", "evidence_complete")
    manifest: Document = draw(_manifest(case.input, draw(st.sampled_from(states))))
    return manifest | {"outcome": None} if draw(st.booleans()) else manifest


@st.composite
def _manifest(draw: st.DrawFn, given: Document, state: str) -> Document:
    """Draw what a manifest says beside its decision, for the lanes of an input."""
    lanes: list[Document] = []
    for lane in given["lanes"]:
        planned = {member: lane[member] for member in ("lane", "blocking", "freshness") if member in lane}
        origins = st.sampled_from(("launched", "adopted:nightly"))
        hashes = draw(st.permutations(lane.get("evidence", [])))
        runs = [{"runId": draw(ids()), "runHash": run_hash, "origin": draw(origins)} for run_hash in hashes]
        lanes.append({**planned, "rule": draw(documents("checkpoint#/$defs/laneRule")), "runs": runs})
    subject: Document = {"ref": draw(refs()), "version": given["subjectVersion"]}
    if draw(st.booleans()):
        subject["deployment"] = draw(refs())
    manifest: Document = {
        "schemaVersion": "1.0",
        "checkpointId": draw(ids()),
        "subject": subject,
        "lanes": lanes,
        "state": state,
    }
    if draw(st.booleans()):
        manifest["budget"] = {"approvedUsd": draw(st.integers(0, 1000))}
    return manifest
