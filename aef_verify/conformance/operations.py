"""The operations of the contract that read (09 §9.3): each a thin call, its answer laid out as the contract prints it.

Every operation imports only what it needs: the contract is called once per vector.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aef_verify import limits
from aef_verify.conformance.operation import Operation, Options, time_given
from aef_verify.given import read_given
from aef_verify.problems import InputError, Problem, reason_of

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy


def _read_json(path: str) -> object:
    """Return the JSON value of a file within [ENC-17]; raises InputError where it does not read."""
    from aef_verify.encoding.ijson import EncodingError, parse, too_deep

    data = read_given(path, limits.JSON_BYTES)
    if too_deep(data):
        raise InputError(f"{path}: nested deeper than {limits.DEPTH}")
    try:
        return parse(data)
    except EncodingError as fault:
        raise InputError(f"{path}: does not read: {fault}") from None


def _policy(options: Options) -> TrustPolicy | None:
    """Return the trust policy that `--policy` names, or None; raises InputError if it is refused [SIG-4]."""
    if "--policy" not in options:
        return None
    from aef_verify.integrity.policy import read_policy

    return read_policy(options["--policy"])


def _anchors(options: Options) -> frozenset[str] | None:
    """Return the run hashes of the list that `--anchors` names, or None [SIG-8]."""
    if "--anchors" not in options:
        return None
    from aef_verify.integrity.anchors import load_anchors

    path = options["--anchors"]
    data = read_given(path, limits.JSON_BYTES)
    try:
        return load_anchors(data)
    except InputError as fault:
        raise InputError(f"{path}: {fault}") from None


def _pairs(problems: Iterable[Problem]) -> list[list[str]]:
    return [[problem.path, problem.code] for problem in problems]


def _run(arguments: Sequence[str], options: Options) -> object:
    policy, anchors = _policy(options), _anchors(options)
    from aef_verify.engine.jobs import jobs_allowed
    from aef_verify.engine.ranges import ranges_in
    from aef_verify.run.verify import verify_run

    report = verify_run(arguments[0], policy=policy, anchors=anchors, ranges=ranges_in(jobs_allowed()))
    value: dict[str, object] = {"outcome": report.outcome, "problems": _pairs(report.problems)}
    if report.withheld:
        value["withheld"] = report.withheld
    if "--policy" in options:
        value["signedBy"] = list(report.signed_by or ())
    if "--anchors" in options:
        value["anchored"] = bool(report.anchored)
    return value


def _seal(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.integrity.check import verify_seal

    report = verify_seal(arguments[0], policy=_policy(options))
    return {"manifest": report.manifest, "runHash": report.run_hash, "problems": _pairs(report.problems)}


def _chain(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.integrity.view import verify_chain

    return {"problems": _pairs(verify_chain(arguments[0]))}


def _view(arguments: Sequence[str], options: Options) -> object:
    at, policy = time_given(options, "--at"), _policy(options)
    from aef_verify.integrity.view import effective_view

    return effective_view(arguments[0], at, policy=policy)


def _document(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.schemas.document import check_document

    report = check_document(arguments[0], arguments[1])
    return {"writer": report.writer, "reader": report.reader, "reads": dict(report.reads)}


def _signature(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.integrity.dsse import verify_envelope
    from aef_verify.integrity.policy import read_policy

    envelope_file, file, policy_file = arguments
    policy = read_policy(policy_file)
    envelope = (
        None if _size(envelope_file) > limits.ENVELOPE_BYTES else read_given(envelope_file, limits.ENVELOPE_BYTES)
    )
    report = verify_envelope(envelope, read_given(file, limits.ENVELOPE_BYTES), options["--payload-type"], policy)
    signatures: list[dict[str, object]] = []
    for found in report.signatures:
        signature: dict[str, object] = {"keyid": found.keyid, "result": found.result}
        if found.identity is not None:
            signature["identity"] = found.identity
        signatures.append(signature)
    return {
        "envelopeResult": report.result,
        "signatures": signatures,
        "verifiesFor": list(report.verifies_for),
    }


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError) as fault:
        raise InputError(f"{path}: cannot be read: {reason_of(fault)}") from None


def _paths(arguments: Sequence[str], options: Options) -> object:
    """Judge a list of `{name, paths}`, or one bare list of paths, as which an empty list counts [RUN-3]."""
    from aef_verify.encoding.paths import path_problems

    found = _read_json(arguments[0])
    if not isinstance(found, list):
        raise InputError(f"{arguments[0]}: not a JSON list")
    if all(isinstance(item, str) for item in found):
        return {"problems": _pairs(path_problems(found))}
    answers: list[dict[str, object]] = []
    for item in found:
        name, paths = (item.get("name"), item.get("paths")) if isinstance(item, dict) else (None, None)
        if not (isinstance(name, str) and isinstance(paths, list) and all(isinstance(p, str) for p in paths)):
            raise InputError(f"{arguments[0]}: an item that is neither a path nor an object with name and paths")
        answers.append({"name": name, "problems": _pairs(path_problems(paths))})
    return answers


def _trial(text: str) -> int:
    """Return a trial given as a JSON number, read by value ([ENC-4]): `3.0` is 3."""
    from aef_verify.encoding.ijson import EncodingError, parse

    try:
        value = parse(text.encode())
    except (EncodingError, UnicodeEncodeError):
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or not 0 <= value < 2**53:
        raise InputError(f"TRIAL {text!r} is no JSON number that counts trials from 0")
    return int(value)


def _result_id(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.run.results import result_id

    for name, text in zip(("RUNID", "CASEID", "PATH"), arguments, strict=False):
        if not text:
            raise InputError(f"{name} is empty")
        if any(character < " " or "\x7f" <= character < "\xa0" for character in text):
            raise InputError(f"{name} {text!r} holds a control character, which no id or path has [RES-4]")
        if any("\ud800" <= character < "\ue000" for character in text):
            raise InputError(f"{name} {text!r} is not UTF-8")
    run_id, case_id, path = arguments[:3]
    return {"resultId": result_id(run_id, case_id, path, _trial(arguments[3]) if len(arguments) > 3 else None)}


def _checkpoint(arguments: Sequence[str], options: Options) -> object:
    """Check a manifest alone; `problems` are codes, None where the reader refuses it [CKP-7]."""
    from aef_verify.checkpoint.manifest import manifest_problems, read_manifest
    from aef_verify.schemas.document import check_document

    report = check_document("checkpoint", arguments[0])
    problems = None
    if report.reader == "valid":
        document = read_manifest(read_given(arguments[0], limits.JSON_BYTES))
        problems = [problem.code for problem in manifest_problems(document)]
    return {"writer": report.writer, "reader": report.reader, "problems": problems}


def _lanes(arguments: Sequence[str], options: Options) -> object:
    """Recompute a checkpoint's lanes; the problems are [CKP-8]'s alone, the manifest's own are no part of them."""
    from aef_verify.checkpoint.verify import verify_checkpoint
    from aef_verify.clock import now

    report = verify_checkpoint(
        arguments[0],
        options["--runs"],
        at=time_given(options, "--at") if "--at" in options else now(),
        policy=_policy(options),
        envelope=options.get("--envelope"),
    )
    return {
        "lanes": [
            {"lane": lane.lane, "result": None if lane.result is None else lane.result.document()}
            for lane in report.lanes
        ],
        "problems": _pairs(report.problems),
        "anchors": list(report.anchors),
    }


def _decide(arguments: Sequence[str], options: Options) -> object:
    """Decide an input, bare or as the member `input` of a decision vector [DEC-1]."""
    from aef_verify.checkpoint.decision import RefusedInputError, decide

    value = _read_json(arguments[0])
    if isinstance(value, dict) and "input" in value and "lanes" not in value:
        value = value["input"]
    try:
        return {"output": decide(value).document()}
    except RefusedInputError as refusal:
        return {"error": str(refusal)}


def _match(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.runner.matching import takes
    from aef_verify.runner.plan import read_plan, read_runner

    plan, runner = arguments
    return {"matches": takes(read_plan(plan), read_runner(runner))}


def _stream(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.runner.plan import read_plan
    from aef_verify.runner.stream import verify_stream

    events, plan = arguments
    return {"problems": _pairs(verify_stream(events, read_plan(plan)).problems)}


def _conform(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.runner.conform import verify_plan_conformance
    from aef_verify.runner.plan import read_plan

    events, plan, runs = arguments
    report = verify_plan_conformance(events, read_plan(plan), runs, policy=_policy(options))
    return {"problems": _pairs(report.problems)}


READING: dict[str, Operation] = {
    "run": Operation(_run, ("DIR",), {"--policy": False, "--anchors": False}),
    "seal": Operation(_seal, ("DIR",), {"--policy": False}),
    "chain": Operation(_chain, ("DIR",)),
    "view": Operation(_view, ("DIR",), {"--at": True, "--policy": False}),
    "document": Operation(_document, ("SCHEMA", "FILE")),
    "signature": Operation(_signature, ("ENVELOPE", "FILE", "POLICY"), {"--payload-type": True}),
    "checkpoint": Operation(_checkpoint, ("FILE",)),
    "lanes": Operation(
        _lanes, ("CHECKPOINT",), {"--runs": True, "--at": False, "--policy": False, "--envelope": False}
    ),
    "decide": Operation(_decide, ("FILE",)),
    "match": Operation(_match, ("PLAN", "RUNNER")),
    "stream": Operation(_stream, ("EVENTS", "PLAN")),
    "conform": Operation(_conform, ("EVENTS", "PLAN", "RUNS"), {"--policy": False}),
    "paths": Operation(_paths, ("FILE",)),
    "result-id": Operation(_result_id, ("RUNID", "CASEID", "PATH"), optional=("TRIAL",)),
}
"""The operations that only read, by name."""
