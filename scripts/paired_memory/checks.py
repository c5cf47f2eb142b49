"""The checks that are more than one call, and the list of all: signatures, destinations, a second signal, kills."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from aef_verify.integrity.algorithms import ECDSA_P256
from aef_verify.integrity.policy import TrustPolicy, load_policy
from aef_verify.writing.keygen import generate_key, policy_entry
from scripts.paired_memory import jobs
from scripts.paired_memory.cases import (
    ARM,
    PAIR,
    WRITTEN,
    downs,
    interruptions,
    options,
    provider_faults,
    usage_errors,
)
from scripts.paired_memory.evidence import TEMPORARY, Left, faults, left_in, words_of
from scripts.paired_memory.lab import Case, Lab, UnmetError, look_at
from scripts.paired_memory.program import Done

NOBODY = 65534
CHECKER = "checker@example.org"
SPREAD = 0.15
"""Seconds after an arm's last request within which its evidence is written, and over which kills are spread."""


class Check(NamedTuple):
    """One check: its name, what is expected in words, and what returns what was seen or raises UnmetError."""

    name: str
    expected: str
    perform: Callable[[Lab], str]


def all_checks(lab: Lab, *, thorough: bool) -> Iterator[Check]:
    """Yield every check that the program can be put to, quick ones first."""
    ours = lab.program.ours
    if not ours:
        yield from _foreign()
        yield from _destinations()
        return
    for case in (*options(), *usage_errors()):
        yield _of(case)
    yield Check("signed pair", "both arms signed by the policy's one identity", signed)
    yield Check("Azure's paths", f"exit 0, {PAIR}", azure)
    yield from _destinations()
    for case in (*interruptions(), *provider_faults(), *downs()):
        yield _of(case)
    yield Check("normal arm as a job", jobs.SEALED, jobs.sealed)
    yield Check("job that its budget stops", jobs.STOPPED, jobs.stopped)
    yield Check("SIGINT while a job asks", jobs.CANCELLED, jobs.cancelled)
    yield Check("SIGKILL while a job asks", jobs.KILLED, jobs.killed)
    yield Check("two signals at once", "exit 1, whole runs or none", two_signals)
    kills = 200 if thorough else 6
    yield Check(f"{kills} SIGKILLs while evidence is written", "whole runs or none", lambda lab: killed(lab, kills))


def _of(case: Case) -> Check:
    wanted = case.wanted if case.requests is None else f"{case.wanted}, {case.requests} requests"
    return Check(case.name, wanted, lambda lab: lab.run(case))


def _foreign() -> Iterator[Check]:
    yield Check("sealed pair", "an exit code of a verdict, two intact runs, linked", lambda lab: foreign(lab, "linked"))
    yield Check(
        "unsealed pair",
        "an exit code of a verdict, two unsealed runs, linked-unsealed",
        lambda lab: foreign(lab, "linked-unsealed", "--aef-unsealed"),
    )
    yield Check("signed pair", "both arms signed by the policy's one identity", foreign_signed)
    yield Check("suppressed (--no-aef)", "nothing on disk", suppressed)
    yield Check("SIGINT while the normal arm answers", "exit 1, one aborted normal run", foreign_stopped)


def foreign(lab: Lab, outcome: str, *more: str) -> str:
    """Have another program write a pair, and read it; its questions and its verdict are its own."""
    folder = lab.folder()
    evidence = folder / "evidence"
    with lab.provider() as serving:
        done = lab.call(serving, ["--paired-oracle", "--aef", str(evidence), *more], folder)
        asked = len(serving.requests)
    left = left_in(evidence)
    found = list(faults(evidence, left, done, (), whole=False))
    seen = f"exit {done.code}, {words_of(left)}, {asked} requests"
    if done.code not in (0, 1) or [pair.outcome for pair in left.pairs] != [outcome] or found or not asked:
        raise UnmetError(f"exit 0 or 1, two runs, {outcome}", "; ".join([seen, *found[:5]]), look_at(done, evidence))
    return seen


def foreign_signed(lab: Lab) -> str:
    """Have another program sign its seals."""
    folder = lab.folder()
    key, evidence = folder / "key.pem", folder / "evidence"
    policy = _new_key(key)
    with lab.provider() as serving:
        done = lab.call(serving, ["--paired-oracle", "--aef", str(evidence), "--aef-key", str(key)], folder)
    return _signed_by_checker(done, evidence, policy)


def foreign_stopped(lab: Lab) -> str:
    """Interrupt another program while it waits for an answer; how many it asks at a time is its own."""
    folder = lab.folder()
    evidence = folder / "evidence"
    hold = {"match": {}, "skip": 6, "fault": {"kind": "timeout"}}
    with lab.provider(rules=[hold]) as serving:
        done = lab.call(
            serving,
            list(_named(evidence)),
            folder,
            reached=lambda: len(serving.requests) >= 7,
            signals=(signal.SIGINT,),
        )
    left = whole(lab, done, evidence)
    seen = f"exit {done.code}, {words_of(left)}"
    if done.code != 1 or [(arm.role, arm.status) for arm in left.arms] != [("normal", "aborted")]:
        raise UnmetError("exit 1, one aborted normal run", seen, look_at(done, evidence))
    return seen


def suppressed(lab: Lab) -> str:
    """Have another program write no evidence."""
    folder = lab.folder()
    with lab.provider() as serving:
        done = lab.call(serving, ["--paired-oracle", "--no-aef"], folder)
    left = left_in(folder)
    if done.code not in (0, 1) or left.runs:
        raise UnmetError("exit 0 or 1, nothing on disk", f"exit {done.code}, {words_of(left)}", look_at(done, folder))
    return f"exit {done.code}, nothing on disk"


def signed(lab: Lab) -> str:
    """Have the seals signed with a key made on the spot, and read them by a policy that trusts it."""
    folder = lab.folder()
    key, evidence = folder / "key.pem", folder / "evidence"
    policy = _new_key(key)
    with lab.provider() as serving:
        done = lab.call(serving, ["--paired-oracle", "--aef", str(evidence), "--aef-key", str(key)], folder)
        lab.judged(Case("signed pair", f"exit 0, {PAIR}"), done, evidence, serving.requests, policy)
    return _signed_by_checker(done, evidence, policy)


def _new_key(path: Path) -> TrustPolicy:
    """Make a key, and return the policy that trusts it."""
    made = generate_key(str(path), ECDSA_P256)
    trusted = {"keys": [policy_entry(made.public_pem, CHECKER)]}
    return load_policy(json.dumps(trusted).encode())


def _signed_by_checker(done: Done, evidence: Path, policy: TrustPolicy) -> str:
    left = left_in(evidence, policy)
    signers = [arm.signed_by for arm in left.arms]
    if signers != [(CHECKER,)] * 2 or [pair.signed_by for pair in left.pairs] != [(CHECKER,)]:
        raise UnmetError("both arms signed", f"signed by {signers}", look_at(done, evidence))
    if b"PRIVATE KEY" in b"".join(path.read_bytes() for path in evidence.rglob("*") if path.is_file()):
        raise UnmetError("no key in evidence", "the private key is in the evidence", look_at(done, evidence))
    return f"both arms signed by {CHECKER}"


def azure(lab: Lab) -> str:
    """Have a pair answered on Azure's paths, the endpoint taken from the environment."""
    folder = lab.folder()
    evidence = folder / "evidence"
    with lab.provider() as serving:
        words = ["--api-style", "azure", "--endpoint", serving.origin, "--paired-oracle", "--aef", str(evidence)]
        done = lab.call(serving, words, folder)
        requests = serving.requests
    seen = lab.judged(Case("azure", f"exit 0, {PAIR}", requests=2 * ARM), done, evidence, requests)
    paths = {request.path for request in requests}
    if not all("/openai/deployments/scripted-model/" in path for path in paths):
        raise UnmetError("Azure's path alone", f"asked at {', '.join(sorted(paths))}", look_at(done, evidence))
    return seen


# Destinations


def _destinations() -> Iterator[Check]:
    for name, make in _INVALID.items():
        yield Check(
            f"destination: {name}",
            "refused before any call",
            lambda lab, make=make: refused(lab, make),  # type: ignore[misc]
        )
    yield Check("destination: a folder with other things", "a pair beside them, untouched", beside)


def refused(lab: Lab, make: Callable[[Path], Path]) -> str:
    """Name a destination that none can be: nothing is asked, nothing written."""
    folder = lab.folder()
    destination = make(folder)
    before = _listing(folder)
    user = NOBODY if destination.name == "not-ours" else None
    if destination.name == "not-ours":
        folder.chmod(0o755)
        if os.geteuid() != 0:
            user = None
        elif not _runs_as_nobody(lab):
            destination, user = Path("/sys/kernel/aef-evidence"), None
            if not Path("/sys/kernel").is_dir():
                return "not checked: no other user can run the program here"
    with lab.provider() as serving:
        done = lab.call(serving, ["--paired-oracle", "--aef", str(destination)], folder, user=user)
        asked = len(serving.requests)
    codes = (2,) if lab.program.ours else (2, 3)
    if done.code not in codes or (lab.program.ours and asked) or _listing(folder) != before:
        seen = f"exit {done.code}, {asked} requests" + ("" if _listing(folder) == before else ", something was written")
        raise UnmetError("exit 2, 0 requests, nothing written", seen, look_at(done, destination))
    return f"exit {done.code}, {asked} requests, nothing written"


def _runs_as_nobody(lab: Lab) -> bool:
    with lab.provider() as serving:
        try:
            return lab.call(serving, ["--help"], Path("/"), user=NOBODY).code == 0
        except OSError:
            return False


def _listing(folder: Path) -> list[tuple[str, bytes | None]]:
    return sorted((str(path), path.read_bytes() if path.is_file() else None) for path in folder.rglob("*"))


def _file(folder: Path) -> Path:
    (folder / "file").write_text("mine")
    return folder / "file"


def _link(folder: Path) -> Path:
    (folder / "target").mkdir()
    (folder / "link").symlink_to("target", target_is_directory=True)
    return folder / "link"


def _run(folder: Path) -> Path:
    (folder / "run").mkdir()
    (folder / "run" / "run.json").write_text("{}")
    return folder / "run"


def _below_run(folder: Path) -> Path:
    (_run(folder) / "blobs").mkdir()
    return folder / "run" / "blobs" / "deep"


def _below_file(folder: Path) -> Path:
    return _file(folder) / "below"


def _read_only(folder: Path) -> Path:
    (folder / "not-ours").mkdir(mode=0o555)
    return folder / "not-ours"


_INVALID = {
    "a file": _file,
    "a link to a folder": _link,
    "a folder with run.json": _run,
    "below a run": _below_run,
    "below a file": _below_file,
    "read-only": _read_only,
}


def beside(lab: Lab) -> str:
    """Write into a folder that holds something, twice: nothing there is touched, every pair is its own."""
    folder = lab.folder()
    evidence = folder / "evidence"
    (evidence / "notes").mkdir(parents=True)
    (evidence / "notes" / "mine.txt").write_text("mine")
    for _ in range(2):
        with lab.provider() as serving:
            done = lab.call(serving, list(_named(evidence)), folder)
    left = left_in(evidence)
    outcomes = sorted(pair.outcome for pair in left.pairs)
    found = list(faults(evidence, left, done, (), whole=False))
    kept = (evidence / "notes" / "mine.txt").read_text() == "mine"
    if outcomes != ["linked", "linked"] or len(left.runs) != 4 or not kept or found:
        raise UnmetError("two linked pairs", "; ".join([words_of(left), *found]), look_at(done, evidence))
    return "two linked pairs, the rest untouched"


def _named(evidence: Path) -> Iterator[str]:
    return (str(evidence) if word == "DIR" else word for word in WRITTEN)


# Signals that leave no time


def two_signals(lab: Lab) -> str:
    """Send two signals at once in either arm: the process ends at once, and leaves whole runs or none."""
    seen = []
    for request in (3, ARM + 3):
        folder = lab.folder()
        evidence = folder / "evidence"
        hold = {"match": {}, "skip": request - 1, "fault": {"kind": "timeout"}}
        with lab.provider(rules=[hold]) as serving:
            done = lab.call(
                serving,
                [*_named(evidence), "--concurrency", "1"],
                folder,
                reached=lambda due=request, of=serving: len(of.requests) >= due,  # type: ignore[misc]
                signals=(signal.SIGINT, signal.SIGTERM),
            )
        left = whole(lab, done, evidence)
        if done.code != 1:
            raise UnmetError("exit 1", f"exit {done.code}, {words_of(left)}", look_at(done, evidence))
        seen.append(words_of(left))
    return f"exit 1, {'; '.join(seen)}"


def killed(lab: Lab, kills: int) -> str:
    """Kill the process while it writes evidence, at spread times; what is left is whole, and gone at the next start."""
    folder = lab.folder()
    evidence = folder / "evidence"
    ends = {"in time": 0, "too late": 0}
    for number in range(kills):
        due = (ARM, 2 * ARM)[number % 2]
        with lab.provider() as serving:
            done = lab.call(
                serving,
                list(_named(evidence)),
                folder,
                reached=lambda due=due, of=serving: len(of.requests) >= due,  # type: ignore[misc]
                signals=(signal.SIGKILL,),
                delay=SPREAD * _spread(number // 2),
            )
        ends["in time" if done.code == -signal.SIGKILL else "too late"] += 1
        whole(lab, done, evidence)
        if number % 10 == 9:
            # Each kill reads every run that is there.
            _thin(evidence)
    with lab.provider() as serving:
        done = lab.call(serving, list(_named(evidence)), folder)
    left = whole(lab, done, evidence)
    stale = [path.name for path in evidence.glob(f"{TEMPORARY}*") if not (path / "run.json").exists()]
    if done.code != 0 or stale:
        raise UnmetError("the next start removes what was not finished", f"left {stale}", look_at(done, evidence))
    outcomes = [pair.outcome for pair in left.pairs]
    counts = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in sorted(set(outcomes)))
    return f"{ends['in time']} killed in time, {ends['too late']} after the end; every run whole: {counts}"


def _spread(number: int) -> float:
    """Return the number's place in a sequence that fills 0 to 1 evenly, however long it is."""
    place, part = 0.0, 0.5
    while number:
        place += part * (number & 1)
        number >>= 1
        part /= 2
    return place


def _thin(evidence: Path) -> None:
    """Remove the whole runs; what a kill left unfinished stays for the next start to remove."""
    for path in evidence.iterdir():
        if (path / "run.json").exists():
            shutil.rmtree(path)


def whole(lab: Lab, done: Done, evidence: Path) -> Left:
    """Return what is left; raises UnmetError unless every run is whole and every pair sound."""
    left = left_in(evidence)
    found = list(faults(evidence, left, done, (), whole=False))
    for run in left.runs:
        if run.outcome != "intact":
            found.append(f"{run.path}: {run.outcome}")
    for pair in left.pairs:
        if pair.outcome not in ("linked", "normal-only"):
            found.append(f"pair {pair.pair_id}: {pair.outcome}")
    if found:
        raise UnmetError("whole runs or none", "; ".join(found[:5]), look_at(done, evidence))
    return left
