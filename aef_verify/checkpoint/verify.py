"""A checkpoint against its runs: the one place that joins the manifest, the lanes, the signature and the decision.

In this order: the manifest reads, and the reader's schema accepts it [VER-3], [VER-4]; its own problems [CKP-7]; its
runs are found and intact, and each lane's result is recomputed and, in a checkpoint checked as decided, compared with
the recorded one [CKP-8]; the envelope over its exact bytes [CKP-5], [CKP-9]; without any problem, and signed by
somebody trusted, it anchors its runs [SIG-8]; its decision is taken again at the time of reading [CKP-10].
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from aef_verify import limits
from aef_verify.checkpoint.decision import (
    RESULT_STATUSES,
    Decision,
    RefusedInputError,
    decide,
    decide_again,
    shown_beside,
)
from aef_verify.checkpoint.lanes import NOT_MEASURED, LaneEvaluation, LaneResult, LaneRun, evaluate_lanes
from aef_verify.checkpoint.manifest import is_checked_as_decided, manifest_problems, read_manifest
from aef_verify.encoding.times import given_time, time_key
from aef_verify.given import read_given
from aef_verify.integrity.dsse import CHECKPOINT_TYPE, EnvelopeReport, verify_envelope
from aef_verify.problems import InputError, Problem, ordered
from aef_verify.run.store import RunStore
from aef_verify.schemas import accepts

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

Document = dict[str, Any]


class LaneReport(NamedTuple):
    """One lane of a checkpoint.

    Attributes:
        lane: its name.
        rule: as the manifest has it; a kind that this version does not know is not measured.
        blocking: whether its failure blocks.
        requirements: the external requirements that it answers.
        freshness: how old its evidence may be [CKP-3]; None without.
        result: what the runs give; None without any run that is found.
        recorded: the result in the recorded decision input, of a lane named twice there the first; None where none
            is recorded.
        runs: the runs it names, each once and in order, then the baseline; why each is not relied on, if so.
        unknown: which value of a later minor keeps its result from being recomputed; empty where none does.
        findings: what its rule found in the runs, for people; none where one of them may not be relied on.
    """

    lane: str
    rule: Document
    blocking: bool
    requirements: tuple[str, ...]
    freshness: str | None
    result: LaneResult | None
    recorded: Document | None
    runs: tuple[LaneRun, ...]
    unknown: str
    findings: tuple[str, ...]


class CheckpointReport(NamedTuple):
    """What the verifier found about one checkpoint (05 §5.5).

    Attributes:
        source: the manifest's path; empty where its bytes were given.
        at: the evaluation time.
        document: the manifest, as it stands; the reader's schema accepts it.
        writer: whether this version's writer schema accepts it, too.
        manifest_problems: what the manifest alone has, as codes in their order [CKP-7].
        problems: what differs from the runs, as path and code in their order [CKP-8].
        checked_runs: whether runs were looked for at all; without, `problems` says nothing and every result is None.
        lanes: in the manifest's order.
        signature: what the envelope proves; None where none was given, or no policy [CKP-9].
        anchors: the run hashes that it anchors, in byte order, baselines included [SIG-8].
        outcome: the recorded one; None where there is none.
        decided: the decision on the recorded input as it was then, with what waives each waived lane; None where none
            is recorded, it is refused, or a later minor's values keep it from being recomputed here.
        outcome_now: the outcome of deciding again at the evaluation time, where it is shown beside the recorded one;
            None where they do not differ, it cannot be decided here, or an approval would be shown that was not
            recorded [CKP-10].
        links: what was passed by while runs were looked for, because it is a link [RUN-1].
    """

    source: str
    at: str
    document: Document
    writer: bool
    manifest_problems: tuple[Problem, ...]
    problems: tuple[Problem, ...]
    checked_runs: bool
    lanes: tuple[LaneReport, ...]
    signature: EnvelopeReport | None
    anchors: tuple[str, ...]
    outcome: str | None
    decided: Decision | None
    outcome_now: str | None
    links: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing was found wrong with the manifest, and nothing with its runs where they were looked for."""
        return not self.manifest_problems and not self.problems

    @property
    def signed_by(self) -> tuple[str, ...]:
        """The identities that the checkpoint's signature verifies for, in policy order [SIG-7]."""
        return () if self.signature is None else self.signature.verifies_for


def verify_checkpoint(
    checkpoint: str | bytes,
    runs: str | None = None,
    *,
    at: str,
    policy: TrustPolicy | None = None,
    envelope: str | bytes | None = None,
    superseded_by: str | None = None,
    watch: Callable[[int], object] | None = None,
) -> CheckpointReport:
    """Verify a checkpoint manifest, alone or against its runs.

    Args:
        checkpoint: the path of the manifest, or its bytes.
        runs: the folder at or below which its runs are looked for; None to look at the manifest alone.
        at: the evaluation time: when the checkpoint is read.
        policy: the caller's trust policy; without one nobody signed, and no redaction is authorized [SIG-4].
        envelope: the path of the DSSE envelope over the manifest, or its bytes.
        superseded_by: a newer version of the subject that the caller knows of [CKP-10].
        watch: called with the number of bytes of every block that verifying a run reads.

    Raises:
        InputError: the manifest does not read, or the reader's schema refuses it; a file or folder cannot be read, or
            a run changed meanwhile; `at` is no time, or `superseded_by` no exact version.
    """
    given_time(at)
    if superseded_by is not None and not accepts("common#/$defs/exactVersion", "reader", superseded_by):
        raise InputError(f"{superseded_by!r} is no exact version")
    source = checkpoint if isinstance(checkpoint, str) else ""
    data = read_given(checkpoint, limits.JSON_BYTES) if isinstance(checkpoint, str) else checkpoint
    document = _manifest(data, source)
    signature = None
    if envelope is not None and policy is not None:
        signature = verify_envelope(_envelope(envelope), data, CHECKPOINT_TYPE, policy)
    alone = tuple(manifest_problems(document))
    store = RunStore(runs, policy, watch) if runs is not None else None
    lanes, problems = _against_runs(document, store, at)
    signed = signature is not None and bool(signature.verifies_for)
    anchoring = signed and store is not None and not alone and not problems
    outcome: str | None = document.get("outcome")
    unknown = any(problem.code == "unverifiable" for problem in alone)
    decided, now = (None, None) if unknown else _decisions(document, at, superseded_by)
    return CheckpointReport(
        source,
        at,
        document,
        accepts("checkpoint", "writer", document),
        alone,
        problems,
        store is not None,
        lanes,
        signature,
        tuple(sorted(_run_hashes(document))) if anchoring else (),
        outcome,
        decided,
        now,
        () if store is None else store.links,
    )


def _manifest(data: bytes, source: str) -> Document:
    try:
        return read_manifest(data)
    except InputError as fault:
        raise InputError(f"{source}: {fault}" if source else str(fault)) from None


def _envelope(envelope: str | bytes) -> bytes | None:
    """Return an envelope's bytes, None for one beyond its limit [SIG-1]."""
    if isinstance(envelope, bytes):
        return envelope if len(envelope) <= limits.ENVELOPE_BYTES else None
    with suppress(OSError, ValueError):
        if os.stat(envelope).st_size > limits.ENVELOPE_BYTES:
            return None
    return read_given(envelope, limits.ENVELOPE_BYTES)


def _against_runs(
    document: Document, store: RunStore | None, at: str
) -> tuple[tuple[LaneReport, ...], tuple[Problem, ...]]:
    """Return every lane as its runs give it, and what differs from what is recorded [CKP-8]."""
    given = document.get("decisionInput")
    recorded = _recorded(given)
    compared = recorded.keys() if is_checked_as_decided(document) else ()
    if store is None:
        found = tuple(LaneEvaluation(lane["lane"], None, (), "") for lane in document["lanes"])
        return _reports(document, found, recorded), ()
    otherwise = at if given is None else given["evaluatedAt"]
    found = evaluate_lanes(document, store, otherwise, compared)
    problems: list[Problem] = []
    for lane in found:
        problems += run_problems(lane)
        if lane.lane in compared:
            problems += _differences(lane, recorded[lane.lane])
    return _reports(document, found, recorded), tuple(ordered(problems))


def _recorded(given: Document | None) -> dict[str, Document | None]:
    """Return the recorded result of each lane of a decision input; of a lane named twice the first."""
    results: dict[str, Document | None] = {}
    for lane in given["lanes"] if given is not None else ():
        results.setdefault(lane["lane"], lane["result"])
    return results


def _reports(
    document: Document, found: Iterable[LaneEvaluation], recorded: dict[str, Document | None]
) -> tuple[LaneReport, ...]:
    return tuple(
        LaneReport(
            lane["lane"],
            lane["rule"],
            lane["blocking"],
            tuple(lane.get("requirements", ())),
            lane.get("freshness"),
            evaluation.result,
            recorded.get(lane["lane"]),
            evaluation.runs,
            evaluation.unknown,
            evaluation.findings,
        )
        for lane, evaluation in zip(document["lanes"], found, strict=True)
    )


def run_problems(lane: LaneEvaluation) -> Iterator[Problem]:
    """Yield each run and baseline that is not there, or there and not intact."""
    for run in lane.runs:
        path = f"lanes/{lane.lane}/runs/{run.run_id}"
        what = "baseline" if run.baseline else "run"
        if not run.found:
            yield Problem(
                path, "run-missing", f"no run below the folder has the id and the run hash of this {what}", run.run_hash
            )
        elif not run.intact:
            detail = f"the {what} in {run.path} does not count: {'; '.join(run.reasons)}"
            yield Problem(path, "run-unverified", detail, run.run_hash)


def _differences(lane: LaneEvaluation, recorded: Document | None) -> Iterator[Problem]:
    """Yield how a recomputed result differs from the recorded one, or that it cannot be recomputed here."""
    path, result = f"lanes/{lane.lane}", lane.result
    if lane.unknown:
        yield Problem(path, "unverifiable", f"{lane.unknown} is a later minor version's, so nothing is compared")
        return
    if result is None or recorded is None:
        if result is not None:
            yield Problem(path, "lane-result", f"the runs give {result.status}, and no result is recorded")
        elif recorded is not None:
            detail = "none of its runs is found, and a result is recorded"
            yield Problem(path, "lane-result", detail, recorded["status"])
        return
    status = recorded["status"] if recorded["status"] in RESULT_STATUSES else NOT_MEASURED
    axes = tuple(recorded.get("axes", ()))
    if status != result.status or axes != result.axes:
        found = f"{result.status}{' on ' if result.axes else ''}{', '.join(result.axes)}"
        yield Problem(path, "lane-result", f"the runs give {found}", recorded["status"])
    if recorded["subjectVersion"] != result.subject_version:
        detail = f"the runs are for the version {result.subject_version}"
        yield Problem(path, "lane-version", detail, recorded["subjectVersion"])
    if time_key(recorded["oldestClosedAt"]) != time_key(result.oldest_closed_at):
        detail = f"the oldest run was closed at {result.oldest_closed_at}"
        yield Problem(path, "oldest-closed", detail, recorded["oldestClosedAt"])


def _decisions(document: Document, at: str, superseded_by: str | None) -> tuple[Decision | None, str | None]:
    """Return the decision on the recorded input, and the outcome at the time of reading where it is to be shown."""
    recorded, given = document.get("outcome"), document.get("decisionInput")
    if recorded is None or given is None:
        return None, None
    try:
        decided = decide(given)
        again = decide_again(given, at, superseded_by)
    except RefusedInputError:
        return None, None
    return decided, shown_beside(recorded, again.outcome)


def _run_hashes(document: Document) -> set[str]:
    """Return the run hashes that a manifest names: its lanes' runs and the baselines of comparisons."""
    hashes = {run["runHash"] for lane in document["lanes"] for run in lane["runs"]}
    rules = (lane["rule"] for lane in document["lanes"])
    return hashes | {rule["baseline"]["runHash"] for rule in rules if rule["kind"] == "comparison"}
