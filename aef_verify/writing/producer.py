"""The Python interface for producers: an evaluation harness states what it found, and a whole run is written.

In this order: the header with what it leaves out; each case's checks as a tree of full paths; the documents, as
`produce` makes them ([RES-3] to [RES-8], [SUM-2] to [SUM-9]); the folder, sealed and signed if asked [SEAL-5] [SIG-1],
and written only when the verifier finds nothing in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Any, SupportsFloat

from aef_verify.encoding.times import given_time
from aef_verify.given import read_given
from aef_verify.problems import InputError
from aef_verify.writing.produce import closed_run, reason
from aef_verify.writing.run import Sealing, UnsoundRunError, Written, publish_run
from aef_verify.writing.sign import KEY_BYTES, load_named_key
from aef_verify.writing.summarize import Entry, Lane, read_request
from aef_verify.writing.trees import CaseTree, Node, Trials

Facts = Mapping[str, Any]

LANE = "main"
"""The lane of a summary that was not asked for, where no check names one."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a check, a judge or a composite found: one result line, with what stands below it.

    Attributes:
        path: where it stands: a path for the root of a tree, one name for a check below another.
        state: a state of [RES-1].
        scores: the value of each metric that it scored; or score objects as a line has them.
        evaluator: the id of what decided, or an object with `id` and `version` [RES-11]; left out, its full path.
        reason: why; due on a typed absence [RES-2].
        severity: how bad a failure is [RES-9].
        lane: the lane that counts it.
        below: the checks that it combines [RES-5].
        aggregation: how: `strategy` and `rulePath`, and what else is known; `decisive` holds names of checks below it.
        weight: of a check below another, how much it weighs.
        required: likewise, whether the other one needs it.
        facts: any further members of the line as they will be written: `evidence`, `usage`, `annotator`, ….
    """

    path: str
    state: str
    _: KW_ONLY
    scores: Mapping[str, float] | Sequence[Facts] = ()
    evaluator: str | Facts | None = None
    reason: str | None = None
    severity: str | None = None
    lane: str | None = None
    below: Sequence[Check] = ()
    aggregation: Facts | None = None
    weight: float = 1
    required: bool = True
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """One case: its result, and its trials where it was run several times [RES-8].

    Attributes:
        case_id: the case's id in its suite.
        result: the root of its tree; of a case in trials it says what they come to.
        trials: the tree of each trial, in order, at the paths of `result`.
        aggregation: how trials become one result, `AllPass` or another one of the format; due with `trials`.
        k: of `PassAtK`.
    """

    case_id: str
    result: Check
    _: KW_ONLY
    trials: Sequence[Check] = ()
    aggregation: str | None = None
    k: int | None = None


def write_run(
    destination: str | os.PathLike[str],
    *,
    run: Facts,
    metrics: Sequence[Facts],
    cases: Iterable[Case],
    summary: Sequence[Facts] | None = None,
    cost: Facts | None = None,
    usage: Sequence[Facts] | None = None,
    evidence: Iterable[Facts] = (),
    gates: Iterable[Facts] = (),
    blobs: Iterable[bytes] = (),
    ext: Mapping[str, bytes] | None = None,
    sealed_at: str | datetime | None = None,
    key: str | os.PathLike[str] | bytes | None = None,
) -> Written:
    """Write a closed run into a folder named after its `runId`, whole or not at all, and return where it is.

    Args:
        destination: the folder to write into; made where it is missing.
        run: `run.json`: at least `runId`, `producer`, `subject`, `execution`, `startedAt` and `endedAt`. Left out,
            `status` is `completed` (`aborted` with an `abortReason`) and `contentCapture` is `on` [RUN-11]. Its times
            may be datetimes that know their offset.
        metrics: the metrics as `metrics.json` declares them; left out, the `direction` and `scale` that its kind has
            most often.
        cases: what was found, a case at a time.
        summary: the lanes as a `summarize` request has them (09 §9.2.1); None: every metric at every root's path.
        cost: the run's cost, as `summary.json` has it [SUM-7].
        usage: the run's usage, likewise.
        evidence: the lines of `evidence.ndjson`; each cited blob is among `blobs` [EVD-3].
        gates: the lines of `gates.ndjson`.
        blobs: the blobs' bytes.
        ext: files of the producer's own, by their path below `ext/`.
        sealed_at: when the run is sealed, not before its `endedAt`; None leaves it unsealed.
        key: a key that signs the seal: the path of its file, or its bytes (PKCS#8 PEM, P-256 or Ed25519).

    Raises:
        InputError: what was given makes no valid run; the message says where. Nothing was written.
        OSError: it could not be written, or there is a folder of its name; nothing was left behind.
    """
    sealing = _sealing(sealed_at, key)
    trees = [_tree(case) for case in cases]
    declared = [_metric(_plain(dict(metric), "metrics")) for metric in metrics]
    lanes = _every_metric(declared, trees) if summary is None else read_request({"lanes": _plain(summary, "summary")})
    made = closed_run(_header(run), {"schemaVersion": "1.0", "metrics": declared}, trees, lanes)
    totals = {name: _plain(value, name) for name, value in (("cost", cost), ("usage", usage)) if value is not None}
    made = made._replace(
        summary=made.summary | totals,
        evidence=_lines(evidence, "evidence"),
        gates=_lines(gates, "gates"),
        blobs=list(blobs),
        ext=ext or {},
    )
    try:
        return publish_run(made, os.fspath(destination), sealing=sealing)
    except (UnsoundRunError, ValueError) as fault:
        raise InputError(f"the run would not be valid: {reason(fault)}; nothing was written") from None


def _header(run: Facts) -> dict[str, Any]:
    """Return `run.json` with what was left out of it."""
    times = {name: _time(run[name]) for name in ("startedAt", "endedAt") if name in run}
    status = "aborted" if "abortReason" in run else "completed"
    header: dict[str, Any] = _plain({"schemaVersion": "1.0", "status": status, **run, **times}, "run")
    return header


def _lines(documents: Iterable[Facts], what: str) -> list[dict[str, Any]]:
    return [{"schemaVersion": "1.0", **_plain(dict(document), what)} for document in documents]


def _plain(value: object, what: str) -> Any:
    """Return a value as JSON has it: mappings as objects, sequences as lists; raises InputError for any other."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain_object)
        text.encode()
    except RecursionError:
        raise InputError(f"{what}: nested too deep") from None
    except (TypeError, ValueError) as fault:
        raise InputError(f"{what}: {fault}") from None
    return json.loads(text)


def _plain_object(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    if isinstance(value, SupportsFloat):
        # A number of another library, as one of an array.
        return float(value)
    raise TypeError(f"a {type(value).__name__} is no JSON value")


def _time(value: str | datetime) -> str:
    """Return a time as documents write it [ENC-8]."""
    if not isinstance(value, datetime):
        return value
    if value.utcoffset() is None:
        raise InputError(f"{value.isoformat()}: a datetime without an offset names no time")
    return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


_UNIT = {"min": 0, "max": 1}
_DEFAULTS: dict[str, Facts] = {
    "rate": {"direction": "higher_better", "scale": _UNIT},
    "verdict": {"direction": "higher_better", "scale": _UNIT},
    "score": {"direction": "higher_better", "scale": "unbounded"},
    "count": {"direction": "none", "scale": "unbounded"},
    "duration": {"direction": "lower_better", "scale": "unbounded"},
    "cost": {"direction": "lower_better", "scale": "unbounded"},
}


def _metric(metric: Facts) -> dict[str, Any]:
    kind = metric.get("kind")
    return {**(_DEFAULTS.get(kind, {}) if isinstance(kind, str) else {}), **metric}


def _every_metric(metrics: Iterable[Facts], trees: Sequence[CaseTree]) -> list[Lane]:
    """Return a request for every metric at each root's path, in the lanes that the roots name."""
    lanes = list(dict.fromkeys(tree.root.facts.get("lane") for tree in trees))
    named = [lane for lane in lanes if lane is not None]
    if len(named) > 1 and None in lanes:
        raise InputError("some results name no lane, and others several: give the summary that is due [SUM-3]")
    paths: dict[str, dict[str, None]] = {}
    for tree in trees:
        lane = tree.root.facts.get("lane") or (named[0] if named else LANE)
        paths.setdefault(lane, {}).setdefault(tree.root.path)
    ids = [str(metric.get("id")) for metric in metrics]
    return [Lane(lane, tuple(Entry(metric, path) for path in found for metric in ids)) for lane, found in paths.items()]


def _tree(case: Case) -> CaseTree:
    if not case.trials:
        if case.aggregation is not None or case.k is not None:
            raise InputError(f"case {case.case_id}: an aggregation of trials, and no trials [RES-8]")
        return CaseTree(case.case_id, _node(case.result))
    if case.aggregation is None:
        raise InputError(f"case {case.case_id}: trials, and no aggregation that says how they become one [RES-8]")
    trees = tuple(_node(trial) for trial in case.trials)
    return CaseTree(case.case_id, _node(case.result), Trials(case.aggregation, trees, case.k))


def _node(root: Check) -> Node:
    """Return a check and what is below it, with full paths; however deep it is, nothing here calls itself."""
    found: list[tuple[Check, str, int]] = [(root, _text(root.path, "a check's path"), -1)]
    for at, (check, path, _) in enumerate(found):
        found += ((below, f"{path}/{_text(below.path, path)}", at) for below in check.below)
    children: dict[int, list[Node]] = {}
    node = None
    for at in reversed(range(len(found))):
        check, path, above = found[at]
        node = _own(check, path, above >= 0)._replace(children=tuple(reversed(children.pop(at, []))))
        children.setdefault(above, []).append(node)
    assert node is not None
    return node


def _own(check: Check, path: str, is_child: bool) -> Node:
    """Return the node of a check without those below it."""
    evaluator = path if check.evaluator is None else check.evaluator
    given = {"reason": check.reason, "severity": check.severity, "lane": check.lane}
    facts = {
        "evaluator": {"id": evaluator} if isinstance(evaluator, str) else evaluator,
        "state": _text(check.state, path),
        **{name: _text(value, path) for name, value in given.items() if value is not None},
        **({"scores": _scores(check.scores)} if check.scores else {}),
        **check.facts,
    }
    aggregation = None if check.aggregation is None else dict(check.aggregation)
    if aggregation is not None and "decisive" in aggregation:
        aggregation["decisive"] = [f"{path}/{name}" for name in aggregation["decisive"]]
    component = {"weight": check.weight, "required": check.required} if is_child else None
    return Node(path, _plain(facts, path), _plain(component, path), _plain(aggregation, path))


def _scores(scores: Mapping[str, float] | Sequence[Facts]) -> Sequence[Facts]:
    if isinstance(scores, Mapping):
        return [{"metric": metric, "value": value} for metric, value in scores.items()]
    return scores


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{place}: {value!r} is no text")
    return value


def _sealing(sealed_at: str | datetime | None, key: str | os.PathLike[str] | bytes | None) -> Sealing | None:
    if sealed_at is None:
        if key is not None:
            raise InputError("a key signs a seal: give the time of sealing, too")
        return None
    at = _time(sealed_at)
    given_time(at)
    if key is None:
        return Sealing(at)
    name = "the key" if isinstance(key, bytes) else os.fspath(key)
    return Sealing(at, load_named_key(name, key if isinstance(key, bytes) else read_given(name, KEY_BYTES)))
