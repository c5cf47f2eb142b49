"""One case after the other: a provider, a call, what it left, and whether all of it is as it must be."""

from __future__ import annotations

import json
import shlex
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from aef_verify.integrity.policy import TrustPolicy
from aef_verify.memory.dataset import bundled_script
from aef_verify.provider.loopback import Loopback
from aef_verify.provider.record import Request
from aef_verify.provider.script import parse_script
from scripts.paired_memory.evidence import faults, left_in, words_of
from scripts.paired_memory.program import Done, Program, call, environment

QUESTIONS = 12

Document = dict[str, Any]


class UnmetError(Exception):
    """Something is not as it must be: what was expected, what was seen, and what to look at."""

    def __init__(self, expected: str, seen: str, look_at: str) -> None:
        """Take all three."""
        super().__init__(seen)
        self.expected, self.seen, self.look_at = expected, seen, look_at


class Stop(NamedTuple):
    """Signals sent as soon as the provider got a number of requests; every request from then on waits for ever."""

    request: int
    signals: tuple[signal.Signals, ...]


class Case(NamedTuple):
    """One call and what must come of it.

    Attributes:
        name: what is checked.
        wanted: the exit code and what is on disk, in the words of `evidence.words_of`; and the requests, where given.
        options: further words of the call; `DIR` stands for the evidence folder.
        script: members that replace those of the provider's script.
        rules: rules before the script's own.
        stop: when the call is interrupted.
        point: a point of `stopping_agent` at which it interrupts itself.
        questions: how many are asked.
        requests: how many the provider must have got; None where it does not matter.
    """

    name: str
    wanted: str
    options: Sequence[str] = ("--paired-oracle", "--aef", "DIR")
    script: Mapping[str, Any] = {}
    rules: Sequence[Mapping[str, Any]] = ()
    stop: Stop | None = None
    point: str | None = None
    questions: int = QUESTIONS
    requests: int | None = None


class Lab:
    """Where cases are run: a program, a scratch folder, and what a foreign program may do otherwise."""

    def __init__(self, program: Program, scratch: Path, provider_script: Document | None = None) -> None:
        """Take the program, an empty folder, and the provider's script; the bundled one without it."""
        self.program = program
        self.scratch = scratch
        self._number = 0
        self._script = provider_script or json.loads(Path(bundled_script()).read_bytes())
        if not program.ours:
            # Another program's questions are its own, and how it asks its judge is not known.
            self._script = {"version": "1", "default": {"reply": "yes"}}

    def folder(self) -> Path:
        """Return a new, empty folder."""
        self._number += 1
        made = self.scratch / f"case-{self._number:03d}"
        made.mkdir()
        return made

    @contextmanager
    def provider(self, script: Mapping[str, Any] = {}, rules: Sequence[Mapping[str, Any]] = ()) -> Iterator[Loopback]:
        """Serve the script with some members replaced, and some rules before its own."""
        document = {**self._script, **script}
        document["rules"] = [*rules, *document.get("rules", ())]
        with Loopback(parse_script(document)) as serving:
            yield serving

    def call(
        self,
        serving: Loopback,
        options: Sequence[str],
        cwd: Path,
        *,
        questions: int = QUESTIONS,
        more: Mapping[str, str] = {},
        reached: Callable[[], bool] | None = None,
        signals: Sequence[signal.Signals] = (),
        delay: float = 0.0,
        user: int | None = None,
    ) -> Done:
        """Call the program with a folder of its own as the current one."""
        words = self.program.words(questions=questions, url=serving.base_url)
        env = environment(serving.base_url, serving.origin, more)
        return call([*words, *options], cwd=cwd, env=env, reached=reached, signals=signals, delay=delay, user=user)

    def run(self, case: Case) -> str:
        """Run a case and return what was seen; raises UnmetError where that is not what must come of it."""
        folder = self.folder()
        evidence = folder / "evidence"
        rules, reached = list(case.rules), None
        options = [str(evidence) if word == "DIR" else word for word in case.options]
        more = {}
        if case.point is not None:
            options += ["--agent", "scripts.paired_memory.stopping_agent:factory"]
            more["AEF_CHECK_STOP"] = case.point
        if case.stop is not None:
            rules.insert(0, {"match": {}, "skip": case.stop.request - 1, "fault": {"kind": "timeout"}})
            if self.program.ours:
                options += ["--concurrency", "1"]
        with self.provider(case.script, rules) as serving:
            if case.stop is not None:
                due = case.stop.request

                def reached() -> bool:
                    return len(serving.requests) >= due

            done = self.call(
                serving,
                options,
                folder,
                questions=case.questions,
                more=more,
                reached=reached,
                signals=case.stop.signals if case.stop is not None else (),
            )
        return self.judged(case, done, evidence, serving.requests)

    def judged(
        self,
        case: Case,
        done: Done,
        evidence: Path,
        requests: Sequence[Request],
        policy: TrustPolicy | None = None,
    ) -> str:
        """Return what was seen; raises UnmetError where it is not as it must be."""
        left = left_in(evidence, policy)
        seen = f"exit {done.code}, {words_of(left)}"
        wanted = case.wanted
        if case.requests is not None:
            wanted += f", {case.requests} requests"
            seen += f", {len(requests)} requests"
        found = list(faults(evidence, left, done, requests, whole=True))
        if seen != wanted or found:
            raise UnmetError(wanted, "; ".join([seen, *found[:5]]), look_at(done, evidence))
        return seen


def look_at(done: Done, folder: Path) -> str:
    """Return what to look at when a call did not do what it must."""
    said = done.told.strip()[-2000:] or "(it printed nothing)"
    return f"called: {shlex.join(done.words)}\nevidence: {folder}\nit printed:\n{said}"
