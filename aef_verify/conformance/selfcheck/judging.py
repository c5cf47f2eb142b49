"""What runs in a copy of the checkout to judge vectors: all of them once, and some of them with a rule switched off.

Each call is one process: this module of the copy, with a job as JSON in a file. A survey judges vectors with the code
as it is, keeps what recipes make, and notes which vectors reach which functions; a trial judges vectors in the order
given until one fails, and writes down which one it is at.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, TypedDict, cast

if TYPE_CHECKING:
    from aef_verify.conformance.case import Case
    from aef_verify.conformance.index import Corpus, Vector
    from aef_verify.conformance.runner import Verdict

Function = tuple[str, int]
"""A function: its file relative to the package, and the line it starts at, that of its first decorator."""


class Survey(TypedDict):
    """A job that judges vectors with the code as it is.

    `kept` is the folder for what recipes make; `functions` are those to look for, and `cached` those whose results are
    kept, so that what they call is called for one vector and matters to others.
    """

    corpus: str
    ids: list[str]
    kept: str
    functions: list[Function]
    cached: list[Function]


class Surveyed(TypedDict):
    """What came of one vector: rules, verdict, the seconds it took, the functions it reached, where it is kept."""

    id: str
    rules: list[str]
    outcome: str
    lines: list[str]
    seconds: float
    reached: list[int]
    kept: str


class Findings(TypedDict):
    """What a survey found: its vectors, the functions that any may depend on, and the files that were loaded."""

    vectors: list[Surveyed]
    shared: list[int]
    loaded: list[str]


class Trial(TypedDict):
    """A job that judges vectors until one fails: `kept` holds those made ready, `at` the ids of those begun."""

    corpus: str
    ids: list[str]
    kept: dict[str, str]
    at: str


class Tried(TypedDict):
    """The first vector that failed, and how; an empty id where all passed."""

    id: str
    lines: list[str]


_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class Trace:
    """Notes which functions are called, by `sys.settrace`, and which of them matter beyond the vector at hand."""

    def __init__(self, functions: Sequence[Function], cached: Sequence[Function]) -> None:
        """Look for functions; `cached` are those whose results are kept."""
        self.reached: set[int] = set()
        self.shared: set[int] = set()
        self._numbers = {self._place(*function): number for number, function in enumerate(functions)}
        self._cached = {self._place(*function) for function in cached}

    @staticmethod
    def _place(file: str, line: int) -> tuple[str, int]:
        return _PACKAGE + file.replace("/", os.sep), line

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Note a call."""
        code = frame.f_code
        number = self._numbers.get((code.co_filename, code.co_firstlineno))
        if number is not None and number not in self.reached:
            self.reached.add(number)
            if number not in self.shared and self._is_kept(frame):
                self.shared.add(number)

    def _is_kept(self, frame: FrameType) -> bool:
        """Whether the call is made while a module is loaded, or for a function whose results are kept."""
        above: FrameType | None = frame
        while above is not None:
            code = above.f_code
            if (code.co_filename, code.co_firstlineno) in self._cached:
                return True
            if code.co_name == "<module>" and code.co_filename.startswith(_PACKAGE):
                return True
            above = above.f_back
        return False


def survey(job: Survey) -> Findings:
    """Judge vectors with the code as it is."""
    trace = Trace(job["functions"], job["cached"])
    sys.settrace(trace)
    # Loaded under the trace: what is called while a module is loaded may matter to every vector.
    from aef_verify.conformance.index import load

    corpus = load(job["corpus"])
    vectors = {vector.id: vector for vector in corpus.vectors}
    found = []
    for number, identity in enumerate(job["ids"]):
        folder = os.path.join(job["kept"], str(number))
        os.mkdir(folder)
        one = _surveyed(corpus, vectors[identity], folder, trace)
        found.append(one)
        if not one["kept"]:
            shutil.rmtree(folder)
    sys.settrace(None)
    files = (getattr(module, "__file__", None) or "" for module in list(sys.modules.values()))
    loaded = [file.removeprefix(_PACKAGE).replace(os.sep, "/") for file in files if file.startswith(_PACKAGE)]
    return {"vectors": found, "shared": sorted(trace.shared), "loaded": loaded}


def _surveyed(corpus: Corpus, vector: Vector, folder: str, trace: Trace) -> Surveyed:
    from aef_verify.conformance.drive import in_process
    from aef_verify.conformance.index import check
    from aef_verify.conformance.runner import JUDGES, PASSED, made_ready, verdict_of
    from aef_verify.conformance.writejudge import WRITING

    ready: list[Case] = []

    def make() -> Sequence[str]:
        check(corpus, vector)
        ready.append(made_ready(corpus, vector, in_process, folder))
        return ()

    verdict = verdict_of(vector, make)
    trace.reached.clear()
    start = time.monotonic()
    if verdict.outcome == PASSED:
        verdict = verdict_of(vector, lambda: JUDGES[vector.kind](ready[0]))
    stays = verdict.outcome == PASSED and vector.kind not in WRITING and ready[0].folder.startswith(folder)
    return {
        "id": vector.id,
        "rules": list(vector.rules),
        "outcome": verdict.outcome,
        "lines": list(verdict.lines),
        "seconds": time.monotonic() - start,
        "reached": sorted(trace.reached),
        "kept": folder if stays else "",
    }


def attempt(job: Trial) -> Tried:
    """Judge vectors until one fails."""
    from aef_verify.conformance.index import load
    from aef_verify.conformance.runner import PASSED

    corpus = load(job["corpus"])
    vectors = {vector.id: vector for vector in corpus.vectors}
    with open(job["at"], "w", encoding="utf-8", buffering=1) as at:
        for identity in job["ids"]:
            at.write(f"{identity}\n")
            verdict = _verdict(corpus, vectors[identity], job["kept"])
            if verdict.outcome != PASSED:
                return {"id": identity, "lines": list(verdict.lines)}
    return {"id": "", "lines": []}


def _verdict(corpus: Corpus, vector: Vector, kept: Mapping[str, str]) -> Verdict:
    """Judge a vector where it lies, where it was kept, or in a fresh copy if its operation writes."""
    from aef_verify.conformance.case import Case, read_expected
    from aef_verify.conformance.drive import in_process
    from aef_verify.conformance.runner import JUDGES, made_ready, verdict_of
    from aef_verify.conformance.writejudge import WRITING

    folder = kept.get(vector.id)

    def judged() -> Sequence[str]:
        if folder is not None:
            where = os.path.join(folder, "vector")
            return JUDGES[vector.kind](
                Case(corpus, vector, where, read_expected(where, vector.kind), in_process, folder)
            )
        if vector.kind not in WRITING:
            return JUDGES[vector.kind](made_ready(corpus, vector, in_process, tempfile.gettempdir()))
        with tempfile.TemporaryDirectory() as scratch:
            return JUDGES[vector.kind](made_ready(corpus, vector, in_process, scratch))

    return verdict_of(vector, judged)


def main(words: Sequence[str]) -> None:
    """Do the job of a file, named by the second word, and print what came out: `survey FILE`, `attempt FILE`."""
    kind, path = words
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    done = survey(cast("Survey", job)) if kind == "survey" else attempt(cast("Trial", job))
    json.dump(done, sys.stdout)
