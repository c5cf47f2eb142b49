"""One arm's result to its run folder (docs/MEMORY_PAIR.md §2): the documents first, then `writing.run` writes them.

`documents` is pure, and goes in the order of the documents: `results.ndjson` (a root line a question, its views),
`evidence.ndjson` and its blobs (only with content on [RUN-11]), `metrics.json`, `summary.json` with the pair's fields,
`gates.ndjson` (a completed normal arm alone), `run.json`, the definition. `write_arm` adds the clock and the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import rfc8785

from aef_verify.clock import now
from aef_verify.encoding.digests import bare
from aef_verify.encoding.times import time_key
from aef_verify.memory import definition, gate
from aef_verify.memory.gate import Threshold
from aef_verify.memory.model import (
    ABSTENTION_SUFFIX,
    INTERRUPTED,
    NORMAL,
    ORACLE,
    QUESTION_TYPES,
    ArmResult,
    Outcome,
    RosterItem,
    Usage,
)
from aef_verify.memory.profile import (
    ABSTENTION_LANE,
    ABSTENTION_PATH,
    ACCURACY,
    EXTENSION,
    LANE,
    QUESTION_PATH,
    TYPE_PATH,
    type_lane,
)
from aef_verify.problems import InputError
from aef_verify.product import NAME
from aef_verify.run.results import result_id
from aef_verify.writing.atomic import Step
from aef_verify.writing.run import ClosedRun, Sealing, Written, blob_digest, publish_run
from aef_verify.writing.sign import load_private_key
from aef_verify.writing.summarize import Entry, Lane, summarize, total_usage

ORACLE_SUBJECT = "agent:longmemeval-oracle-reader"
"""The subject of every oracle run, so that no lane of the agent under test can read an oracle score."""

PAIR_VERSION = "1.0"
EVALUATOR = "longmemeval-judge"
GATE = "gate:longmemeval-accuracy"

_MEASURED = frozenset(("passed", "failed"))
_LINE_PARTIES, _SUMMARY_PARTIES = 8, 64
_MOST_TOKENS = 2**53 - 1
_LONGEST_NAME = 256
_TOKENS = {
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
}
_METRICS = {
    "schemaVersion": "1.0",
    "metrics": [
        {
            "id": ACCURACY,
            "kind": "rate",
            "direction": "higher_better",
            "scale": {"min": 0, "max": 1},
            "description": "The share of the questions with a verdict that were answered correctly.",
        }
    ],
}

Document = dict[str, Any]


def write_arm(
    result: ArmResult,
    destination: str,
    *,
    run_id: str,
    normal_run_hash: str | None,
    normal_accuracy: float | None,
    threshold: Threshold | None,
    seal: bool,
    key: bytes | None,
    producer_version: str,
    step: Step | None = None,
) -> Written:
    """Write the run of one arm into a destination, verified, and return where it is.

    Args:
        result: the arm, completed or aborted.
        destination: the folder to write into; made where it is missing.
        run_id: the run's id, and its folder's name.
        normal_run_hash: of an oracle arm, the run hash of its normal run; None where that is unsealed.
        normal_accuracy: of an oracle arm, the accuracy of its completed normal arm in percent.
        threshold: of a completed normal arm, what its gate decides by, in percent; None is the default.
        seal: whether the run is sealed.
        key: the PKCS#8 PEM key that signs the seal; None leaves it unsigned.
        producer_version: the version of this product.
        step: called with words for people before each step of the writing.

    Raises:
        OSError: it could not be written, or the run would not be valid; nothing was left behind.
        InputError: the key is refused or has no seal to sign, or the threshold is no percentage; nothing was written.
    """
    if key is not None and not seal:
        raise InputError("an unsealed run has nothing that a key could sign")
    run = documents(
        result,
        run_id=run_id,
        normal_run_hash=normal_run_hash,
        normal_accuracy=normal_accuracy,
        threshold=threshold,
        producer_version=producer_version,
    )
    private = None if key is None else load_private_key(key)
    sealing = Sealing(_not_before(result.ended_at), private) if seal else None
    return publish_run(run, destination, sealing=sealing, step=step)


def documents(
    result: ArmResult,
    *,
    run_id: str,
    normal_run_hash: str | None,
    normal_accuracy: float | None,
    threshold: Threshold | None,
    producer_version: str,
) -> ClosedRun:
    """Return the documents of an arm's run; see `write_arm`.

    Raises:
        InputError: the threshold of a completed normal arm is no percentage.
    """
    if threshold is None:
        threshold = gate.DEFAULT_THRESHOLD
    outcome = gate.decide(result, threshold) if result.role == NORMAL and result.complete else None
    kept = _Content(result.content)
    lines = [
        line
        for number, found in enumerate(result.outcomes, 1)
        for line in _lines(result, run_id, found, kept.of(number, found))
    ]
    summary = _summary(result, run_id, outcome, threshold, lines)
    if result.pair_id is not None:
        summary["ext"] = {EXTENSION: pair_fields(result, normal_run_hash, normal_accuracy)}
    return ClosedRun(
        run=_run(result, run_id, producer_version),
        results=lines,
        metrics=_METRICS,
        summary=summary,
        evidence=kept.records,
        gates=() if outcome is None else (_decision(result, outcome),),
        blobs=kept.blobs,
        ext={definition.PATH.removeprefix("ext/"): rfc8785.dumps(result.definition)},
    )


def pair_fields(result: ArmResult, normal_run_hash: str | None, normal_accuracy: float | None) -> Document:
    """Return `ext["agenteval.memoryPair"]`, every field of it; the completed-only ones are null on interruption."""
    oracle, complete = result.role == ORACLE, result.complete
    accuracy = result.accuracy_percent if complete else None
    gap = accuracy - normal_accuracy if oracle and accuracy is not None and normal_accuracy is not None else None
    return {
        "schemaVersion": PAIR_VERSION,
        "pairId": result.pair_id,
        "role": result.role,
        "sourceInputsDigest": result.definition["sourceInputsDigest"],
        "plannedQuestions": result.planned,
        "observedQuestions": len(result.outcomes),
        "scoredQuestions": result.scored if complete else None,
        "totalLlmCalls": result.calls if complete else None,
        "complete": complete,
        "diagnosticOnly": oracle,
        "accuracyPercent": accuracy,
        "normalRunHash": normal_run_hash if oracle else None,
        "oracleGapPercentagePoints": gap,
    }


def _run(result: ArmResult, run_id: str, producer_version: str) -> Document:
    """Return `run.json`."""
    ref, version = (ORACLE_SUBJECT, producer_version) if result.role == ORACLE else result.subject
    subject = {"ref": ref, "kind": "agent"} | _given(version=version)
    judge = {"model": result.judge_model} | _given(provider=result.judge_provider)
    return {
        "schemaVersion": "1.0",
        "runId": run_id,
        "status": result.status,
        **({} if result.complete else {"abortReason": result.abort_reason or INTERRUPTED}),
        "producer": {"name": NAME, "version": producer_version},
        "subject": subject,
        "suite": definition.suite_of(result.definition),
        "judges": [judge | {"mode": "single", "rubricDigest": result.rubric_digest}],
        "execution": {"targetMode": result.target_mode, "stimulus": "suite"},
        "contentCapture": "on" if result.content else "off",
        "startedAt": result.started_at,
        "endedAt": result.ended_at,
    }


def _lines(result: ArmResult, run_id: str, outcome: Outcome, evidence: list[str]) -> Iterator[Document]:
    """Yield the root line of a question, then its views: one of its type, one more of an abstention question."""
    case, state = outcome.question.id, outcome.state
    views = _views(outcome.question)
    root = result_id(run_id, case, QUESTION_PATH)
    shared: Document = {
        "evaluator": {"id": EVALUATOR, "version": bare(result.rubric_digest)[:16]},
        "state": state,
        **_given(reason=outcome.reason, severity="low" if state == "failed" else None),
    }
    if outcome.prompt_digest is not None:
        shared["annotator"] = {"kind": "LLM", "model": result.judge_model, "rubricDigest": outcome.prompt_digest}
    usage = _usage(outcome.usage, _LINE_PARTIES)
    yield {
        "schemaVersion": "1.0",
        "resultId": root,
        "caseId": case,
        "path": QUESTION_PATH,
        "lane": LANE,
        **shared,
        "aggregation": _aggregation(state, len(views)),
        **_given(usage=usage or None, evidence=evidence or None),
        "startedAt": outcome.started_at,
        "endedAt": outcome.ended_at,
    }
    for path, lane in views.items():
        yield {
            "schemaVersion": "1.0",
            "resultId": result_id(run_id, case, path),
            "parentResultId": root,
            "caseId": case,
            "path": path,
            "lane": lane,
            **shared,
            "component": {"weight": 0, "required": False},
        }


def _views(question: RosterItem) -> dict[str, str]:
    """Return the path and lane of each view of a question."""
    views = {TYPE_PATH: type_lane(question.type)}
    if question.id.endswith(ABSTENTION_SUFFIX):
        views[ABSTENTION_PATH] = ABSTENTION_LANE
    return views


def _aggregation(state: str, views: int) -> Document:
    """Return the facts of a root line with its views: nothing is combined, they repeat its state [RES-6]."""
    if state in _MEASURED:
        return {"strategy": "Own", "rulePath": "threshold", "measured": views, "total": views}
    absent = {"measured": 0, "total": views, "unmeasured": {state: views}}
    return {"strategy": "Own", "rulePath": "nothing-measured"} | absent


class _Content:
    """The evidence records and blobs of an arm; stays empty with content off."""

    def __init__(self, captured: bool) -> None:
        self.records: list[Document] = []
        self.blobs: list[bytes] = []
        self._captured = captured

    def of(self, number: int, outcome: Outcome) -> list[str]:
        """Keep what a question's answer and judgement were, and return the ids that cite them."""
        if not self._captured:
            return []
        texts = {"output": outcome.answer, "judge_reasoning": outcome.judgement}
        return [self._keep(number, kind, text) for kind, text in texts.items() if text is not None]

    def _keep(self, number: int, kind: str, text: str) -> str:
        data = text.encode("utf-8", "backslashreplace")
        digest = blob_digest(data)
        identity = f"E-{number:04d}-{kind}"
        self.blobs.append(data)
        record = {"schemaVersion": "1.0", "evidenceId": identity, "kind": kind, "digest": digest}
        self.records.append(record | {"link": {"blob": digest}})
        return identity


def _summary(
    result: ArmResult, run_id: str, outcome: str | None, threshold: Threshold, lines: Iterable[Document]
) -> Document:
    """Return `summary.json`: the accuracy of the arm, of each type and of the abstention questions, and its usage."""
    root = Entry(ACCURACY, QUESTION_PATH)
    if outcome is not None:
        root = root._replace(rule=gate.rule(threshold), verdict=gate.verdict(outcome, result.scored))
    lanes = [
        Lane(LANE, (root,)),
        *(Lane(type_lane(kind), (Entry(ACCURACY, TYPE_PATH),)) for kind in QUESTION_TYPES),
        Lane(ABSTENTION_LANE, (Entry(ACCURACY, ABSTENTION_PATH),)),
    ]
    summary = summarize(run_id, {ACCURACY: "rate"}, lanes, lines)
    usage = _usage((party for found in result.outcomes for party in found.usage), _SUMMARY_PARTIES)
    return summary | _given(usage=usage or None)


def _usage(parties: Iterable[Usage], most: int) -> list[Document]:
    """Return the usage that was reported, one entry a role and model; beyond `most` entries, one a role."""
    found = []
    for party in parties:
        figures = {name: getattr(party, field) for name, field in _TOKENS.items()}
        figures = {name: count for name, count in figures.items() if _is_count(count)}
        if figures:
            found.append({"role": party.role} | _given(model=_name(party.model)) | figures)
    totals = total_usage(found)
    if len(totals) > most:
        totals = total_usage({name: value for name, value in entry.items() if name != "model"} for entry in found)
    return [entry for entry in totals if all(_is_count(entry.get(name, 0)) for name in _TOKENS)]


def _name(model: str) -> str | None:
    """Return a model's name; None for one that no document can hold."""
    return model if 0 < len(model) <= _LONGEST_NAME and model.isprintable() else None


def _is_count(value: int | None) -> bool:
    return value is not None and 0 <= value <= _MOST_TOKENS


def _decision(result: ArmResult, outcome: str) -> Document:
    """Return the one gate decision of a completed normal arm [GATE-1]."""
    return {
        "schemaVersion": "1.0",
        "gateId": GATE,
        "decisionId": "decision-1",
        "rule": {"strategy": "accuracy-threshold"},
        "inputs": {},
        "comparability": "not_applicable",
        "outcome": outcome,
        "exitCode": gate.exit_code(outcome),
        "decidedAt": result.ended_at,
    }


def _given(**members: Any) -> Document:
    """Return the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def _not_before(ended_at: str) -> str:
    """Return the time of sealing: now, or the run's end where the clock says less [SEAL-5]."""
    return max(now(3), ended_at, key=time_key)
