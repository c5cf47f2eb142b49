"""What must hold for every case: an answer or a refusal, the same on both paths, well-formed, and in time.

A case is asked through the command-line contract (09 §9.3) in this process; some also through the command itself. What
must hold of checkpoints, streams, jobs and writers beyond that is in `operations`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple
from unittest.mock import patch

from aef_verify.conformance.contract import perform
from aef_verify.integrity.policy import load_policy
from aef_verify.problems import InputError, Problem, ordered
from aef_verify.run.verify import verify_run
from aef_verify.strategies import STATEMENT_TYPE
from scripts.fuzzing.cases import DOCUMENT, ENVELOPE, RUN, Case
from scripts.fuzzing.commands import AT, shown_faults
from scripts.fuzzing.operations import REFUSED, SECRET, SECRET_NAME, TARGETS, Answer, Fault, emptied
from tests.properties.both_paths import NATIVE, PURE, BothPaths

OUT = "out"
"""The folder beside a case's own that operations write into."""

WRITTEN = ("job", "scenario")
"""Targets whose operations write: their commands are not asked again in a process of their own."""

SECONDS = 10.0
"""A case that takes longer waits for something, or costs far more than its bytes warrant."""


class Findings(NamedTuple):
    """What a case showed: its faults, and traits of its report by which a new kind of case is known."""

    faults: list[Fault]
    traits: frozenset[str]


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Raise TimeoutError where Python code, or a call that waits, takes longer."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check(
    case: Case, place: str, both: BothPaths, *, shown: bool = False, command: bool = False, seconds: float = SECONDS
) -> Findings:
    """Check one case in a folder that is made anew.

    Args:
        case: the case.
        place: the folder.
        both: what selects the native or the pure path.
        shown: also run people's commands, in this process.
        command: also ask the contract's command itself, each time in a process of its own.
        seconds: how long one call may take.
    """
    with patch.dict(os.environ, {SECRET_NAME: SECRET}):
        return _checked(case, place, both, shown=shown, command=command, seconds=seconds)


def _checked(case: Case, place: str, both: BothPaths, *, shown: bool, command: bool, seconds: float) -> Findings:
    calls = write(case, place)
    faults: list[Fault] = []
    answers: dict[str, dict[str, Answer]] = {NATIVE: {}, PURE: {}}
    for path, found in answers.items():
        for call in calls:
            try:
                emptied(os.path.join(place, OUT))
                with in_time(seconds):
                    found[call[0]] = both.on(path, lambda call=call: answer(call))  # type: ignore[misc]
                if path == NATIVE:
                    faults += written_faults(case, place, call, found[call[0]])
            except Exception as failure:
                faults.append(failed(call[0], path, failure))
    traits: frozenset[str] = frozenset()
    if not faults:
        faults += compared(case, answers[NATIVE], answers[PURE])
        try:
            with in_time(seconds):
                traits = traits_of(case, place, answers[NATIVE])
        except Exception as failure:
            faults.append(failed("verify_run", NATIVE, failure))
    if shown and not faults:
        try:
            with in_time(6 * seconds):
                faults += shown_faults(case, os.path.join(place, "case"), os.path.join(place, "policy.json"))
        except Exception as failure:
            faults.append(failed("aef", NATIVE, failure))
    if command and not faults and case.target not in WRITTEN:
        faults += [fault for call in calls for fault in command_faults(call, answers[NATIVE][call[0]])]
    return Findings(faults, traits)


def compared(case: Case, native: dict[str, Answer], pure: dict[str, Answer]) -> Iterator[Fault]:
    """Yield what is wrong with the answers of both paths to the same calls."""
    faults = [Fault(f"{name}: malformed answer", said) for name in native for said in malformed(name, native[name])]
    if faults:
        yield from faults
        return
    for name, value in native.items():
        if value != pure[name]:
            yield Fault(f"{name}: paths disagree", f"{value} / {pure[name]}"[:500])
    if case.target == RUN:
        yield from inconsistent(native)


def write(case: Case, place: str) -> list[list[str]]:
    """Write a case and return the calls that ask about it."""
    shutil.rmtree(place, ignore_errors=True)
    folder = case.files.write(os.path.join(place, "case"))
    policy = os.path.join(place, "policy.json")
    with open(policy, "wb") as file:
        file.write(case.policy)
    if case.target in TARGETS:
        return TARGETS[case.target].calls(folder, policy, os.path.join(place, OUT))
    if case.target == ENVELOPE:
        files = [os.path.join(folder, name) for name in ("envelope.json", "payload", "policy.json")]
        return [["signature", *files, "--payload-type", STATEMENT_TYPE]]
    if case.target == DOCUMENT:
        return [["document", name.partition(".")[0], os.path.join(folder, name)] for name in list(case.files)[:1]]
    view = ["view", folder, "--at", AT, "--policy", policy]
    return [["run", folder, "--policy", policy], ["seal", folder, "--policy", policy], ["chain", folder], view]


def written_faults(case: Case, place: str, call: list[str], value: Answer) -> Iterator[Fault]:
    """Yield what is wrong with an answer, or with what was written for it."""
    operations = TARGETS.get(case.target)
    if operations is not None and not any(malformed(call[0], value)):
        folder, policy, out = (os.path.join(place, name) for name in ("case", "policy.json", OUT))
        yield from operations.faults(folder, policy, out, call, value)


def answer(call: list[str]) -> Answer:
    """Return what the contract answers, as JSON brings it back; a refusal whatever its words."""
    try:
        value = perform(call)
    except InputError as refusal:
        return REFUSED if str(refusal) else "refused without a word"
    return json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())


def failed(name: str, path: str, failure: Exception) -> Fault:
    """Name a failure by its type and by the last line of the project's own code on its way."""
    frames = [frame for frame in traceback.extract_tb(failure.__traceback__) if "aef_verify" in frame.filename]
    where = f"{frames[-1].filename.rpartition('aef_verify')[2]}:{frames[-1].name}" if frames else "?"
    return Fault(f"{name}: {type(failure).__name__} in {where}", f"on the {path} path: {failure}"[:500])


def malformed(name: str, value: Answer) -> Iterator[str]:
    """Say what of an answer is not as 09 §9.3 has it."""
    if value == REFUSED:
        return
    wanted = _SHAPES[name]
    if name == "decide" and isinstance(value, dict) and value.keys() == {"error"}:
        return
    if not isinstance(value, dict) or not wanted <= value.keys():
        yield f"it has not the members {sorted(wanted)}: {str(value)[:200]}"
        return
    problems = value.get("problems") or []
    if name == "checkpoint":
        if problems != sorted(set(problems)):
            yield f"codes are not in order, or one stands twice: {problems}"
    elif not all(isinstance(pair, list) and len(pair) == 2 and all(pair) for pair in problems):
        yield f"problems are no pairs: {str(problems)[:200]}"
    elif problems != _in_order(name, problems):
        yield f"problems are not in order, or one stands twice: {str(problems)[:200]}"


def _in_order(name: str, problems: list[list[str]]) -> list[list[str]]:
    """Return pairs of path and code in their order, each once: by line in a stream [STRM-3], else as §3.9 has it."""
    if name != "stream":
        return [list(problem.pair) for problem in ordered(Problem(*pair) for pair in problems)]
    events = {(int(path.partition(":")[2] or 2**53), path, code) for path, code in problems}
    return [[path, code] for _, path, code in sorted(events)]


_SHAPES: dict[str, set[str]] = {
    "run": {"outcome", "problems", "signedBy"},
    "seal": {"manifest", "runHash", "problems"},
    "chain": {"problems"},
    "view": {"results", "reviews", "waivers", "withheld", "unsealedEvents", "assurance"},
    "document": {"writer", "reader", "reads"},
    "signature": {"envelopeResult", "signatures", "verifiesFor"},
    "checkpoint": {"writer", "reader", "problems"},
    "lanes": {"lanes", "problems", "anchors"},
    "decide": {"output"},
    "match": {"matches"},
    "stream": {"problems"},
    "conform": {"problems"},
    "summarize": {"schemaVersion", "runId", "lanes"},
    "produce": {"results"},
    "job": {"events"},
}


def inconsistent(answers: dict[str, Answer]) -> Iterator[Fault]:
    """Yield where the answers about one run contradict each other (04 §4.5)."""
    run, seal = answers["run"], answers["seal"]
    if REFUSED in (run, seal):
        return
    codes = {code for _, code in run["problems"]}
    if (run["outcome"] == "invalid") != bool(codes - {"withheld"}):
        yield Fault("run: outcome and problems disagree", f"{run['outcome']}: {sorted(codes)}")
    if run["outcome"] != "intact" and run["signedBy"]:
        yield Fault("run: signed, and not intact", str(run["signedBy"]))
    if run.get("withheld", 0) != sum(code == "withheld" for _, code in run["problems"]):
        yield Fault("run: withheld miscounted", str(run.get("withheld")))
    missing = [pair for pair in seal["problems"] if pair not in run["problems"]]
    if missing:
        yield Fault("seal: a problem that the run does not have", str(missing[:3]))


_VOLATILE = re.compile(r"'[^']*'|\"[^\"]*\"|[0-9a-f]{16,}|[0-9]+(?:\.[0-9]+)?")


def traits_of(case: Case, place: str, answers: dict[str, Answer]) -> frozenset[str]:
    """Return what a report says, without names and numbers."""
    if case.target in TARGETS:
        return _answered(case, answers)
    if case.target != RUN:
        return frozenset()
    try:
        policy = load_policy(case.policy)
        report = verify_run(os.path.join(place, "case"), policy=policy, overlays=True, details=True)
    except InputError:
        return frozenset((REFUSED,))
    problems = [*report.problems, *(report.overlays.problems if report.overlays else ())]
    said = (f"{problem.path.partition(':')[0]} {problem.code} {problem.detail}" for problem in problems)
    return frozenset((*(_VOLATILE.sub("#", text)[:120] for text in said), report.outcome))


def _answered(case: Case, answers: dict[str, Answer]) -> frozenset[str]:
    """Return what was answered about a case of `operations`, each part by itself."""
    found: set[str] = set()
    for name, value in answers.items():
        if not isinstance(value, dict):
            found.add(f"{name} {value}")
            continue
        for problem in value.get("problems") or ():
            found.add(f"{case.target} {name} {problem if isinstance(problem, str) else problem[1]}")
        for lane in value.get("lanes") or () if name == "lanes" else ():
            found.add(f"{name} {lane['result'] and lane['result']['status']}")
        if name == "decide":
            said = value.get("output", {}).get("reasons") or [value.get("error", "")]
            found |= {f"{name} {_VOLATILE.sub('#', reason).partition(':')[0]}" for reason in said}
    return frozenset(found)


def command_faults(call: list[str], expected: Answer) -> Iterator[Fault]:
    """Ask the command itself: the same answer, exit 0 or 2, nothing else on standard output (09 §9.3)."""
    command = [sys.executable, "-m", "aef_verify", "contract", *call]
    done = subprocess.run(command, capture_output=True, timeout=60)
    if expected == REFUSED:
        if done.returncode != 2 or done.stdout or not done.stderr.strip():
            yield Fault(
                f"{call[0]}: a refusal is not as the contract has it", f"exit {done.returncode}: {done.stderr[:300]!r}"
            )
    elif done.returncode != 0 or json.loads(done.stdout) != expected:
        said = f"exit {done.returncode}: {(done.stdout or done.stderr)[:300]!r}"
        yield Fault(f"{call[0]}: the command answers otherwise", said)
