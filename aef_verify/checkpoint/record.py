"""Deciding a checkpoint: what is recorded once, so that anybody can recompute it ([CKP-4], [DEC-1]).

In this order: the manifest is one that this version writes and is not decided yet, as a decided one never changes
[CKP-5]; all its runs and baselines are there and intact, and no lane depends on what only a later minor defines
[CKP-8]; the input is what the lanes give, its evidence in ascending order; the decision is the function's. What would
not verify afterwards is refused, never recorded. Nothing is written here, and nothing is signed: without a signature
the decision is anybody's claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from aef_verify.checkpoint.decision import decide
from aef_verify.checkpoint.lanes import LaneEvaluation, evaluate_lanes
from aef_verify.checkpoint.manifest import DECIDED, manifest_problems
from aef_verify.checkpoint.verify import run_problems
from aef_verify.encoding.times import given_time
from aef_verify.problems import InputError, Problem, ordered
from aef_verify.run.store import RunStore
from aef_verify.schemas import accepts, explain

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

Document = dict[str, Any]


def decide_checkpoint(
    document: Document,
    runs: str,
    at: str,
    *,
    exceptions: Sequence[Document] = (),
    superseded_by: str | None = None,
    policy: TrustPolicy | None = None,
    watch: Callable[[int], object] | None = None,
) -> Document:
    """Return a manifest decided by its runs; the one given is left as it is.

    Args:
        document: a manifest in any state before `decided`. A lane without runs is decided as one without evidence.
        runs: the folder at or below which its runs are looked for.
        at: the time of the decision.
        exceptions: what accepts the failure of named evidence, in the form of the input's `exceptions` [DEC-1].
        superseded_by: a newer version of the subject that is known at that time.
        policy: whose redactions may withhold blobs [OVL-10].
        watch: called with the number of bytes of every block that verifying a run reads.

    Raises:
        InputError: the decision cannot be recorded, and the message says why: `at` is no time, the manifest is decided
            or is none that this version writes, a run is missing, not intact, changed meanwhile or of a later minor
            whose values are not known here, or an exception names evidence that its lane does not have.
        RefusedInputError: the decision function does not decide it: a lane or an exception stands against [DEC-1].
    """
    given_time(at)
    _check_writable(document)
    found = evaluate_lanes(document, RunStore(runs, policy, watch), at, {lane["lane"] for lane in document["lanes"]})
    _refuse(ordered(problem for lane in found for problem in run_problems(lane)))
    for lane in found:
        if lane.unknown:
            raise InputError(f"lanes/{lane.lane}: {lane.unknown} is a later minor version's; it cannot be decided here")
    given = _input(document, found, at, exceptions, superseded_by)
    decision = decide(given)
    recorded = {
        "state": DECIDED,
        "outcome": decision.outcome,
        "decision": decision.document(),
        "decisionInput": given,
    }
    decided = document | recorded
    if not accepts("checkpoint", "writer", decided):
        raise InputError(f"it could not be recorded: {_fault(decided)}")
    _refuse(manifest_problems(decided))
    return decided


def _check_writable(document: Document) -> None:
    """Refuse a manifest that is decided, or that this version's writer would not write."""
    if document.get("state") == DECIDED:
        raise InputError("the checkpoint is decided, and a decided one never changes: make a new one")
    if not accepts("checkpoint", "writer", document):
        raise InputError(f"no checkpoint that AEF 1.0 writes: {_fault(document)}")


def _input(
    document: Document,
    lanes: Iterable[LaneEvaluation],
    at: str,
    exceptions: Sequence[Document],
    superseded_by: str | None,
) -> Document:
    """Return the input of the decision, members in the order in which [DEC-1] names them."""
    given: Document = {"subjectVersion": document["subject"]["version"], "evaluatedAt": at}
    if superseded_by is not None:
        given["supersededBy"] = superseded_by
    given["lanes"] = [_lane(lane, found) for lane, found in zip(document["lanes"], lanes, strict=True)]
    return given | ({"exceptions": list(exceptions)} if exceptions else {})


def _lane(lane: Document, found: LaneEvaluation) -> Document:
    shown: Document = {"lane": lane["lane"], "blocking": lane["blocking"]}
    if "freshness" in lane:
        shown["freshness"] = lane["freshness"]
    shown["result"] = None if found.result is None else found.result.document()
    shown["evidence"] = sorted({run["runHash"] for run in lane["runs"]})
    return shown


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        first, more = problems[0], len(problems) - 1
        place = f"{first.path}: " if first.path else ""
        others = f" (and {more:,} more)" if more else ""
        raise InputError(f"it would not verify: {place}{first.code}: {first.detail}{others}")


def _fault(document: Document) -> str:
    for fault in explain("checkpoint", "writer", document):
        return f"{fault.pointer or '(document)'} {fault.message}"
    return "refused by its schema"
