"""What is asked about each kind of case, and what must hold of what was answered, written or shown.

A target is what a case's files are: see `Operations`. An operation that writes gets a folder that is not there yet, and
what it wrote is looked at before the next call.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from aef_verify.checkpoint.decision import APPROVALS
from aef_verify.conformance.contract import perform
from aef_verify.problems import InputError
from aef_verify.strategies import RunFiles
from scripts.fuzzing.evidence import Runs, manifest, statuses, unearned

REFUSED = "refused"
AT = "2026-10-05T12:00:00Z"
"""When cases are read: after the runs of `fixtures/evidence` were closed, and while exceptions for them hold."""

SECRET_NAME, SECRET = "AEF_FUZZ_SECRET", 's3cr3t-\u00e9-"quoted"-value'
"""A credential of every job: the variable and its value; neither may stand in anything that is written or shown."""

Answer = Any
Call = list[str]


class Fault(NamedTuple):
    """What is wrong: `kind` is the same for the same fault in other cases, `detail` is about this one."""

    kind: str
    detail: str


class Operations(NamedTuple):
    """What is asked about one target.

    Attributes:
        calls: the calls of the contract, for the folder of the case, its policy and a folder to write into.
        shown: the calls of people's commands, for the same.
        faults: what is wrong with one answer, for the folder, the policy, the folder written into, call and answer.
    """

    calls: Callable[[str, str, str], list[Call]]
    shown: Callable[[str, str, str], list[Call]]
    faults: Callable[[str, str, str, Call, Answer], Iterator[Fault]]


def _none(folder: str, policy: str, out: str) -> list[Call]:
    return []


def _sound(folder: str, policy: str, out: str, call: Call, answer: Answer) -> Iterator[Fault]:
    yield from ()


# Checkpoints


def _release(folder: str, policy: str, out: str) -> list[Call]:
    file, envelope = os.path.join(folder, "checkpoint.json"), os.path.join(folder, "checkpoint.dsse.json")
    lanes = ["lanes", file, "--runs", folder, "--at", AT, "--policy", policy]
    return [["checkpoint", file], lanes + (["--envelope", envelope] if os.path.exists(envelope) else [])]


def _release_shown(folder: str, policy: str, out: str) -> list[Call]:
    file = os.path.join(folder, "checkpoint.json")
    call = ["checkpoint", file, "--runs", folder, "--at", AT]
    return [
        [*call, "--policy", policy],
        [*call, "--policy", policy, "--json"],
        ["checkpoint", file, "--json"],
        ["decide", file, "--runs", folder, "--at", AT, "--policy", policy, "--out", os.path.join(out, "decided.json")],
    ]


def _release_faults(folder: str, policy: str, out: str, call: Call, answer: Answer) -> Iterator[Fault]:
    """A lane's status is what its files give; a release that is approved has earned it, and is signed."""
    document = manifest(_read(folder, "checkpoint.json"))
    if answer == REFUSED or document is None or call[0] not in ("lanes", "aef checkpoint"):
        return
    runs = Runs(folder, policy)
    if call[0] == "lanes":
        given = [lane["result"] and lane["result"]["status"] for lane in answer["lanes"]]
        due = statuses(document, runs)
        if given != due:
            yield Fault("lanes: a status that the files do not give", f"{given} / {due}")
        if answer["anchors"] and answer["problems"]:
            yield Fault("lanes: anchors beside problems", str(answer["problems"][:3]))
        return
    if answer["approves"]:
        for why in unearned(document, runs, AT):
            yield Fault("aef checkpoint: approves what has not earned it", why)
        if answer["problems"] or not answer["runsGiven"] or (answer["policyGiven"] and not answer["signedBy"]):
            yield Fault("aef checkpoint: approves what has a problem or no signature", str(answer["verdict"]))
    now = answer["decisionNow"]
    if now and now["outcome"] in APPROVALS and document.get("outcome") not in APPROVALS:
        yield Fault("aef checkpoint: an approval that was not recorded", str(now["outcome"]))


def _decision(folder: str, policy: str, out: str) -> list[Call]:
    return [["decide", os.path.join(folder, "input.json")]]


# Streams and jobs


def _stream(folder: str, policy: str, out: str) -> list[Call]:
    events, plan = os.path.join(folder, "events.ndjson"), os.path.join(folder, "plan.json")
    return [["stream", events, plan], ["conform", events, plan, folder, "--policy", policy]]


def _stream_shown(folder: str, policy: str, out: str) -> list[Call]:
    call = ["stream", os.path.join(folder, "events.ndjson"), os.path.join(folder, "plan.json")]
    runs = ["--runs", folder, "--policy", policy]
    follow = ["--follow", "--timeout", "0.001"]
    return [[*call, *runs], [*call, *runs, "--json"], [*call, *follow], [*call, *follow, "--json"]]


def _stream_faults(folder: str, policy: str, out: str, call: Call, answer: Answer) -> Iterator[Fault]:
    """A job that is shown as sound has a stream and runs without a problem."""
    if call[0] != "aef stream" or not answer["sound"]:
        return
    asked = _stream(folder, policy, out)
    if any(perform(one)["problems"] for one in (asked if answer["conformance"] else asked[:1])):  # type: ignore[index]
        yield Fault("aef stream: sound in spite of a problem", str(answer["verdict"]))


def _job(folder: str, policy: str, out: str) -> list[Call]:
    plan, runner, target = (os.path.join(folder, f"{name}.json") for name in ("plan", "runner", "target"))
    return [["match", plan, runner], ["job", plan, runner, target, out, "--at", AT]]


def _job_shown(folder: str, policy: str, out: str) -> list[Call]:
    call = _job(folder, policy, out)[1]
    return [call, [*call, "--json"]]


def _job_faults(folder: str, policy: str, out: str, call: Call, answer: Answer) -> Iterator[Fault]:
    """What a job writes verifies, and holds no credential; a call that is refused writes nothing."""
    if call[0] == "match":
        return
    if answer == REFUSED:
        yield from _written_nothing(call[0], out)
        return
    for parent, _, names in os.walk(out):
        for name in names:
            data = _read(parent, name)
            if any(secret.encode() in data for secret in (SECRET, json.dumps(SECRET)[1:-1], SECRET_NAME)):
                yield Fault(f"{call[0]}: a credential is written", name)
    plan, events = os.path.join(folder, "plan.json"), os.path.join(out, "events.ndjson")
    try:
        found = list(perform(["stream", events, plan])["problems"])  # type: ignore[index]
        if os.path.isdir(os.path.join(out, "runs")):
            found += perform(["conform", events, plan, os.path.join(out, "runs")])["problems"]  # type: ignore[index]
    except InputError:
        # A plan that a reader refuses is answered by one event, and nothing can be held against it.
        lines = _read(out, "events.ndjson").splitlines()
        found = [] if [json.loads(line)["kind"] for line in lines] == ["job.refused"] else [line[:80] for line in lines]
    if found:
        yield Fault(f"{call[0]}: what was written does not keep to the plan", str(found[:3]))
    for run in _folders(os.path.join(out, "runs")):
        if (said := perform(["run", run])["outcome"]) != "intact":  # type: ignore[index]
            yield Fault(f"{call[0]}: a run is {said}", os.path.basename(run))


# Writers


def _produce(folder: str, policy: str, out: str) -> list[Call]:
    return [["produce", os.path.join(folder, "scenario.json"), out]]


def _produce_faults(folder: str, policy: str, out: str, call: Call, answer: Answer) -> Iterator[Fault]:
    """A run that was produced is unsealed and has no problem."""
    if answer == REFUSED:
        yield from _written_nothing("produce", out)
    elif perform(["run", out]) != {"outcome": "unsealed", "problems": []}:
        yield Fault("produce: what was written has a problem", str(perform(["run", out]))[:500])
    elif answer["results"] != len(_read(out, "results.ndjson").splitlines()):
        yield Fault("produce: results miscounted", str(answer))


def _summarize(folder: str, policy: str, out: str) -> list[Call]:
    return [["summarize", os.path.join(folder, "run"), os.path.join(folder, "request.json")]]


def _summarize_faults(folder: str, policy: str, out: str, call: Call, answer: Answer) -> Iterator[Fault]:
    """A summary that is written from the lines of a run without problems is one that the verifier finds none in."""
    run = os.path.join(folder, "run")
    if answer == REFUSED or perform(["run", run])["outcome"] == "invalid":  # type: ignore[index]
        return
    files = RunFiles.read(run).without("seal.json", "attestation.dsse.json")
    written = files.replacing({"summary.json": json.dumps(answer, ensure_ascii=False).encode()})
    overlays = [path for path in written if path.startswith("overlays/")]
    found = perform(["run", written.without(*overlays).write(out)])
    if found != {"outcome": "unsealed", "problems": []}:
        yield Fault("summarize: the run's own verifier objects", str(found)[:500])


def _written_nothing(name: str, out: str) -> Iterator[Fault]:
    if os.path.lexists(out) and os.listdir(out):
        yield Fault(f"{name}: refused, and something is written", str(os.listdir(out)))


def _read(*path: str) -> bytes:
    try:
        with open(os.path.join(*path), "rb") as file:
            return file.read()
    except OSError:
        return b""


def _folders(path: str) -> list[str]:
    return [entry.path for entry in os.scandir(path)] if os.path.isdir(path) else []


def emptied(out: str) -> str:
    """Remove a folder that was written into, and return its path."""
    shutil.rmtree(out, ignore_errors=True)
    return out


RELEASE, DECISION, STREAM, JOB = "release", "decision", "stream", "job"
SCENARIO, REQUEST = "scenario", "request"

TARGETS: dict[str, Operations] = {
    RELEASE: Operations(_release, _release_shown, _release_faults),
    DECISION: Operations(_decision, _none, _sound),
    STREAM: Operations(_stream, _stream_shown, _stream_faults),
    JOB: Operations(_job, _job_shown, _job_faults),
    SCENARIO: Operations(_produce, _none, _produce_faults),
    REQUEST: Operations(_summarize, _none, _summarize_faults),
}
"""By what a case's files are:

- `release`: `checkpoint.json`, `checkpoint.dsse.json` and runs in folders beside them;
- `decision`: `input.json`;
- `stream`: `events.ndjson`, `plan.json` and runs;
- `job`: `plan.json`, `runner.json`, `target.json`;
- `scenario`: `scenario.json`;
- `request`: `request.json` and a run in `run`.
"""
