"""The command-line contract (09 §9.3): one operation a call, one JSON value out, exit 0, 1 or 2.

Rules kept, in this order: arguments are read strictly (an option that is unknown, repeated or without its
value is a usage error), inputs are read, the operation runs, and its value is written once as UTF-8 without
a byte order mark ([CONF-3]). Exit 0: the operation ran, whatever it found. Exit 2: a usage or input error
that is recognised, in one line on standard error. Exit 1: everything else, never mistaken for a refusal.
Every operation imports only what it needs: the contract is called once per vector.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from aef_verify import limits
from aef_verify.given import read_given
from aef_verify.problems import InputError, Problem
from aef_verify.stdout import abandon_output, write_out

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

Options = Mapping[str, str]


class UsageError(InputError):
    """The call itself is wrong: no such operation or option, or an argument too many or too few."""


class Operation(NamedTuple):
    """One operation of the contract: its work, its arguments, its options (True where required)."""

    run: Callable[[Sequence[str], Options], object]
    arguments: tuple[str, ...]
    options: Mapping[str, bool] = {}
    optional: tuple[str, ...] = ()


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


def _time(options: Options, name: str) -> str:
    """Return a required option that must be a time [ENC-8]."""
    from aef_verify.encoding.times import parse_time

    try:
        parse_time(options[name])
    except ValueError as fault:
        raise InputError(f"{name} {fault}") from None
    return options[name]


def _pairs(problems: Iterable[Problem]) -> list[list[str]]:
    return [[problem.path, problem.code] for problem in problems]


def _run(arguments: Sequence[str], options: Options) -> object:
    policy, anchors = _policy(options), _anchors(options)
    from aef_verify.run.verify import verify_run

    report = verify_run(arguments[0], policy=policy, anchors=anchors)
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
    at, policy = _time(options, "--at"), _policy(options)
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
        raise InputError(f"{path}: cannot be read: {getattr(fault, 'strerror', None) or fault}") from None


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


def _seal_write(arguments: Sequence[str], options: Options) -> object:
    sealed_at = _time(options, "--sealed-at")
    from aef_verify.writing.seal import seal_run

    return {"runHash": seal_run(arguments[0], sealed_by=options["--sealed-by"], sealed_at=sealed_at)}


def _sign(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.writing.sign import sign_file

    return sign_file(arguments[0], arguments[1], options["--payload-type"])


OPERATIONS: dict[str, Operation] = {
    "run": Operation(_run, ("DIR",), {"--policy": False, "--anchors": False}),
    "seal": Operation(_seal, ("DIR",), {"--policy": False}),
    "chain": Operation(_chain, ("DIR",)),
    "view": Operation(_view, ("DIR",), {"--at": True, "--policy": False}),
    "document": Operation(_document, ("SCHEMA", "FILE")),
    "signature": Operation(_signature, ("ENVELOPE", "FILE", "POLICY"), {"--payload-type": True}),
    "paths": Operation(_paths, ("FILE",)),
    "result-id": Operation(_result_id, ("RUNID", "CASEID", "PATH"), optional=("TRIAL",)),
    "seal-write": Operation(_seal_write, ("DIR",), {"--sealed-by": True, "--sealed-at": True}),
    "sign": Operation(_sign, ("FILE", "KEY"), {"--payload-type": True}),
}
"""The operations that exist, by name; what 09 §9.3 has beyond them is a usage error that says so."""

AS_GIVEN = frozenset(("result-id",))
"""Operations without options: their arguments are text, which may begin with a dash."""


def usage(name: str) -> str:
    """Return the call of an operation in one line."""
    operation = OPERATIONS[name]
    words = [name, *operation.arguments, *(f"[{argument}]" for argument in operation.optional)]
    for option, required in operation.options.items():
        call = f"{option} {option.rpartition('-')[2].upper()}"
        words.append(call if required else f"[{call}]")
    return f"aef contract {' '.join(words)}"


def read_arguments(words: Sequence[str]) -> tuple[Operation, list[str], dict[str, str]]:
    """Return the operation, its arguments and its options; raises UsageError for any other call."""
    if not words:
        raise UsageError(f"name an operation: {', '.join(OPERATIONS)}")
    name, *rest = words
    operation = OPERATIONS.get(name)
    if operation is None:
        raise UsageError(f"no operation {name!r}; there are {', '.join(OPERATIONS)}")
    arguments: list[str] = rest if name in AS_GIVEN else []
    options: dict[str, str] = {}
    waiting = iter(() if name in AS_GIVEN else rest)
    for word in waiting:
        if word == "--":
            arguments.extend(waiting)
        elif word in operation.options:
            value = next(waiting, None)
            if word in options:
                raise UsageError(f"{word} stands twice; {usage(name)}")
            if value is None or value in operation.options or value == "--":
                raise UsageError(f"{word} has no value; {usage(name)}")
            options[word] = value
        elif word.startswith("-"):
            raise UsageError(f"no option {word!r}; {usage(name)}")
        else:
            arguments.append(word)
    if len(arguments) < len(operation.arguments):
        raise UsageError(f"{operation.arguments[len(arguments)]} is missing; {usage(name)}")
    if len(arguments) > len(operation.arguments) + len(operation.optional):
        raise UsageError(f"an argument too many; {usage(name)}")
    for option, required in operation.options.items():
        if required and option not in options:
            raise UsageError(f"{option} is missing; {usage(name)}")
    return operation, arguments, options


def perform(words: Sequence[str]) -> object:
    """Perform one call and return its JSON value.

    Raises:
        InputError: what exits 2. Anything else that is raised is a failure nobody expected (exit 1).
    """
    operation, arguments, options = read_arguments(words)
    return operation.run(arguments, options)


def _say(message: str) -> None:
    """Write one line to standard error, whatever the message holds; one that is gone is no error."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in message)
    try:
        sys.stderr.write(f"aef contract: {line.strip() or 'failed without a message'}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return


def _write(data: bytes) -> bool:
    """Write all of standard output at once; says so and returns False where it cannot be written."""
    try:
        write_out(data)
    except (OSError, ValueError, AttributeError) as fault:
        reason = "it is closed" if sys.stdout is None else getattr(fault, "strerror", None) or fault
        _say(f"standard output cannot be written: {reason}")
        abandon_output()
        return False
    return True


def main(words: Sequence[str]) -> int:
    """Perform `aef contract WORDS`: print its one JSON value and return the exit code (0, 1 or 2)."""
    if list(words) in (["--help"], ["-h"]):
        return 0 if _write("".join(f"{usage(name)}\n" for name in OPERATIONS).encode()) else 1
    try:
        value = perform(words)
        import json

        data = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except InputError as refusal:
        _say(str(refusal))
        return 2
    except KeyboardInterrupt:
        _say("interrupted")
        return 1
    except Exception as failure:
        # Whatever is our own fault is told from a refusal by its exit code.
        return _unexpected(failure)
    return 0 if _write(data + b"\n") else 1


def _unexpected(failure: Exception) -> int:
    """Report a failure nobody expected in one line, with its traceback when AEF_DEBUG=1; returns 1."""
    if os.environ.get("AEF_DEBUG") == "1":
        import traceback

        traceback.print_exception(failure)
    _say(f"unexpected failure: {type(failure).__name__}: {failure}")
    return 1
