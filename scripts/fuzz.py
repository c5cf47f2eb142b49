#!/usr/bin/env python3
"""Change runs, documents, checkpoints, streams, jobs at random and see that the verifier keeps its word about them all.

    fuzz.py --minutes N [--seed S] [--run FOLDER]... [--keep FOLDER]

The first cases are the runs of `fixtures/evidence`, or those below each `--run`; checkpoints, streams, jobs and
scenarios made of the fixtures and, where AEF_CORPUS names one, of a conformance corpus; and generated ones. Each case
is a changed one of the pool; where its report says something new, or new lines of code ran (Python 3.12 and later), it
joins the pool. Every case must get an answer or a refusal, in time, well-formed, and the same from the native and the
pure path; what is written must verify, and what is approved must have earned it. What breaks that is made small and
kept as a file, which `tests/fuzz` replays from then on.

The work is done in a process of its own, which is ended and started anew where it does not answer. Exit 0: nothing
was found. Exit 1: something was, or it could not work. Exit 2: a wrong call.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.fuzzing.cases import NO_POLICY, Case, changed, drawn_cases, given_operations, given_runs  # noqa: E402  # the root comes first
from scripts.fuzzing.checks import SECONDS, check  # noqa: E402
from scripts.fuzzing.coverage import Coverage  # noqa: E402
from scripts.fuzzing.operations import Fault  # noqa: E402
from scripts.fuzzing.shrink import shrunk  # noqa: E402
from tests.properties.both_paths import BothPaths, both_paths  # noqa: E402

FOUND = ROOT / "tests" / "fuzz" / "found"
Words = dict[str, Any]
SILENCE = 4 * SECONDS
"""Seconds without a word after which the working process is ended."""

DRAWN = 120
POOL = 600
STOPPED = 3
"""The exit code of a process that could not work at all: no fault of what it tried."""

SHOWN_EVERY, COMMAND_EVERY = 5, 400
"""One case in so many is also given to people's commands; and to the contract's, which takes a process each time."""


class Fuzzer:
    """The pool of cases, and what was found."""

    def __init__(self, cases: Sequence[Case], seed: int, place: str, both: BothPaths) -> None:
        """Start with these cases; `place` is a folder to work in."""
        self.first = tuple(cases)
        self.pool = list(cases)
        self.chance = Random(seed)
        self.both = both
        self.place = place
        self.traits: set[str] = set()
        self.coverage = Coverage()
        self.kinds: set[str] = set()
        self.count = 0

    def step(self) -> tuple[Case, Fault] | None:
        """Try one case; return it, made small, where it shows a fault that was not seen before."""
        self.count += 1
        first = self.count <= len(self.first)
        case = self.first[self.count - 1] if first else self._another()
        Path(self.place, "current.json").write_bytes(case.to_json("did not end"))
        shown, command = self.count % SHOWN_EVERY == 0, self.count % COMMAND_EVERY == 0
        findings = check(case, self._folder, self.both, shown=shown, command=command)
        fault = next((fault for fault in findings.faults if fault.kind not in self.kinds), None)
        if fault is not None:
            self.kinds.add(fault.kind)
            return shrunk(case, lambda smaller: self._shows(smaller, fault.kind)), fault
        grown = self.coverage.grown()
        fresh = grown or not findings.traits <= self.traits
        self.traits |= findings.traits
        if fresh and not first and not findings.faults:
            if len(self.pool) >= POOL:
                self.pool.pop(self.chance.randrange(len(self.pool)))
            self.pool.append(case)
        return None

    def _another(self) -> Case:
        """Return a changed case: as often of the first ones, which are sound, as of those that came to be."""
        return changed(self.chance, self.chance.choice(self.chance.choice((self.first, self.pool))))

    @property
    def figures(self) -> dict[str, object]:
        """How far it is: cases tried, cases in the pool, kinds of problem and lines of code seen."""
        traits, lines = len(self.traits), self.coverage.count
        return {"cases": self.count, "pool": len(self.pool), "traits": traits, "lines": lines}

    @property
    def _folder(self) -> str:
        return os.path.join(self.place, "case")

    def _shows(self, case: Case, kind: str) -> bool:
        shown, command = kind.startswith("aef"), "the command" in kind
        found = check(case, self._folder, self.both, shown=shown, command=command, seconds=2.0)
        return any(fault.kind == kind for fault in found.faults)


def keep(case: Case, fault: str, folder: Path) -> Path:
    """Keep a case as a file named after its fault."""
    folder.mkdir(parents=True, exist_ok=True)
    data = case.to_json(fault)
    name = "".join(character if character.isalnum() else "-" for character in fault.partition("|")[0][:60].lower())
    path = folder / f"{name.strip('-')}-{hashlib.sha256(data).hexdigest()[:8]}.json"
    path.write_bytes(data)
    return path


def first_cases(folders: Sequence[str], seed: int) -> list[Case]:
    """Return the cases to begin with."""
    policy = ROOT / "fixtures" / "policy.json"
    trusted = policy.read_bytes() if policy.is_file() else NO_POLICY
    given = given_runs(folders or [str(ROOT / "fixtures" / "evidence")], trusted)
    given += given_operations(str(ROOT / "fixtures"), trusted, os.environ.get("AEF_CORPUS"))
    return given + drawn_cases(seed, DRAWN)


def work(options: argparse.Namespace) -> int:
    """Work until the time is up, a line of JSON for each second and each thing found."""
    ends = time.monotonic() + options.seconds
    said = 0.0
    with both_paths() as both:
        say({"stage": "drawing"})
        fuzzer = Fuzzer(first_cases(options.run, options.seed), options.seed, options.place, both)
        while time.monotonic() < ends:
            try:
                found = fuzzer.step()
            except OSError as full:
                say({"stopped": f"a case could not be written: {full}"})
                return STOPPED
            if found is not None:
                case, fault = found
                path = keep(case, f"{fault.kind} | {fault.detail}", Path(options.keep))
                say({"found": fault.kind, "detail": fault.detail, "file": str(path)})
            if time.monotonic() - said >= 1:
                said = time.monotonic()
                say(
                    {
                        "cases": fuzzer.count,
                        "pool": len(fuzzer.pool),
                        "traits": len(fuzzer.traits),
                        "lines": fuzzer.coverage.count,
                    }
                )
    say({"cases": fuzzer.count, "pool": len(fuzzer.pool), "traits": len(fuzzer.traits), "lines": fuzzer.coverage.count})
    return 0


def say(words: dict[str, object]) -> None:
    """Tell the other process."""
    print(json.dumps(words), flush=True)


class Watcher:
    """Starts working processes one after another, and notes what they say and how they end."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Keep the options; nothing is started yet."""
        self.options = options
        self.cases = 0
        self.found: list[str] = []
        self.shown = 0.0

    def run(self) -> int:
        """Watch until the time is up; return how many things were found."""
        begun = time.monotonic()
        ends = begun + self.options.minutes * 60
        number = self.options.seed
        while (left := ends - time.monotonic()) > 0:
            with tempfile.TemporaryDirectory(prefix="aef-fuzz-") as place:
                done, said = self._watch(number, left, place, begun)
                if done != 0:
                    self._ended(done, place)
            self.cases += int(said.get("cases", 0))
            number += 1
        print(f"{self.cases:,} cases in {time.monotonic() - begun:.0f} s, {len(self.found)} found", flush=True)
        return len(self.found)

    def _watch(self, seed: int, left: float, place: str, begun: float) -> tuple[int | None, Words]:
        """Watch one process; return its exit code, None where it was ended for its silence, and its last figures."""
        options = self.options
        call = [sys.executable, __file__, "--worker", "--seconds", str(left), "--seed", str(seed), "--place", place]
        call += ["--keep", options.keep, *(word for folder in options.run for word in ("--run", folder))]
        figures: Words = {}
        with subprocess.Popen(call, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for words in _said(process.stdout):
                if words is None:
                    process.kill()
                    return None, figures
                if "found" in words:
                    self.found.append(words["found"])
                    print(f"FOUND {words['found']}\n      {words['detail']}\n      kept in {words['file']}", flush=True)
                elif "stopped" in words:
                    raise SystemExit(f"fuzz.py: {words['stopped']}")
                elif "cases" in words:
                    figures = words
                    self._show(words, begun)
        return process.returncode, figures

    def _show(self, words: Words, begun: float) -> None:
        if time.monotonic() - self.shown < 10:
            return
        self.shown = time.monotonic()
        elapsed = self.shown - begun
        lines = f", {words['lines']} lines" if words["lines"] else ""
        print(
            f"{elapsed:6.0f} s  {self.cases + words['cases']:,} cases, {words['pool']} in the pool, "
            f"{words['traits']} kinds of problem{lines}, {len(self.found)} found",
            flush=True,
        )

    def _ended(self, code: int | None, place: str) -> None:
        """Keep the case at which a process ended by itself or had to be ended."""
        how = "did not end" if code is None else f"the process ended with {code}"
        self.found.append(how)
        try:
            case = Case.from_json(Path(place, "current.json").read_bytes())
        except (OSError, ValueError):
            print(f"FOUND {how}, before the first case was written", flush=True)
            return
        print(f"FOUND {how}\n      kept in {keep(case, how, Path(self.options.keep))}", flush=True)


def _said(stream: IO[bytes]) -> Iterator[Words | None]:
    """Yield what a process says, None once it is silent for too long."""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            if not selector.select(SILENCE):
                yield None
                return
            line = stream.readline()
            if not line:
                return
            yield json.loads(line)


def main(words: Sequence[str] | None = None) -> int:
    """Read the call, and work or watch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="how long")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same first cases (default 0)")
    parser.add_argument("--run", action="append", default=[], metavar="FOLDER", help="a folder with runs to begin with")
    parser.add_argument("--keep", default=str(FOUND), metavar="FOLDER", help="where to keep what is found")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--place", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.worker:
        return work(options)
    if options.minutes is None or options.minutes <= 0:
        parser.error("--minutes must be given, and more than 0")
    for folder in options.run:
        if not os.path.isdir(folder):
            parser.error(f"--run {folder}: no folder")
    return 1 if Watcher(options).run() else 0


if __name__ == "__main__":
    sys.exit(main())
