"""The self-check: whether each rule that is switched off is noticed, by a vector of a corpus or by a test.

In this order: the checkout is copied, once for each process that will run at a time; every mutation must fit the
source; a survey judges all vectors with the code as it is; then each mutation in turn is judged by the vectors that
can notice it, until one fails. What no vector notices is left to the tests that its table names, of which the one that
fails must pass with the code as it is. A process that dies or does not end in time has noticed as well.
"""

from __future__ import annotations

import json
import os
import queue
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, cast

from aef_verify.conformance.drive import Answer, Failure, Refusal, Reply
from aef_verify.conformance.index import Corpus
from aef_verify.conformance.runner import JUDGES, PASSED, SKIPPED, in_threads
from aef_verify.conformance.selfcheck.judging import Findings, Trial, Tried
from aef_verify.conformance.selfcheck.mutation import Mutation, MutationError
from aef_verify.conformance.selfcheck.reach import Reach, reach_of, vectors_for
from aef_verify.conformance.selfcheck.testing import Tested
from aef_verify.conformance.selfcheck.workplace import PACKAGE, TESTS, Workplace, checkout, source_of

JUDGING = f"{PACKAGE}.conformance.selfcheck.judging"
TESTING = f"{PACKAGE}.conformance.selfcheck.testing"

BY_VECTOR, BY_TEST = "vector", "test"
HANG, CRASH = "hang", "crash"
SURVIVED, UNFIT, UNDECIDED = "survived", "does not fit", "not decided"

SURVEY_SECONDS = 1800.0
TEST_SECONDS = 300.0
LEAST_SECONDS = 60.0
"""Seconds that a process may take: a survey, tests, and the least that vectors are given."""

SLOWER = 10.0
"""How many times longer vectors may take than in the survey."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one mutation.

    Attributes:
        by: `vector` or `test` that noticed it; else why it was not noticed: `survived`, `does not fit` the source, or
            `not decided` as a test that should notice it fails with the code as it is.
        name: the id of the vector or test.
        detail: how it was noticed, in one line: a difference, a message, or `hang` or `crash` and more.
        asked: how many vectors were to notice it.
        missed: whether all of them passed; None without a corpus.
    """

    mutation: Mutation
    by: str
    name: str = ""
    detail: str = ""
    asked: int = 0
    missed: bool | None = None

    @property
    def is_noticed(self) -> bool:
        """Whether a vector or a test noticed it."""
        return self.by in (BY_VECTOR, BY_TEST)


@dataclass(frozen=True, slots=True)
class Result:
    """What a self-check found.

    Attributes:
        corpus: the corpus, if one was given.
        broken: (id of a vector or test, why) that fails with the code as it is: then nothing else was done.
        vectors: how many vectors were judged.
        left_out: how many were not, being of a kind that is not supported or not made on this platform.
        every_vector: whether those that take long were asked about rules that they do not name, too.
        outcomes: one for each mutation, in their order.
    """

    corpus: Corpus | None
    broken: tuple[tuple[str, str], ...]
    vectors: int
    left_out: int
    every_vector: bool
    outcomes: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        """Whether every mutation was noticed and the code as it is passes."""
        return not self.broken and all(outcome.is_noticed for outcome in self.outcomes)


Progress = Callable[[str, int, int], None]
"""Called with what is done, how many of it are done, and how many there are."""


class BrokenError(Exception):
    """A process that should work with the code as it is does not; the message says which and why."""


def self_check(
    mutations: Sequence[Mutation],
    *,
    corpus: Corpus | None = None,
    every_vector: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Result:
    """Switch rules off one at a time and tell what notices.

    Args:
        mutations: what to switch off.
        corpus: whose vectors are asked first; None: only tests are asked.
        every_vector: ask those that take long about rules that they do not name, too.
        jobs: how many processes at a time.
        progress: called whenever something is done.

    Raises:
        InputError: this package does not run from a checkout.
    """
    source = checkout()
    with tempfile.TemporaryDirectory(prefix="aef-self-check-") as folder:
        # Some tests become somebody else, who must be able to read the copies.
        os.chmod(folder, 0o755)
        report = progress or (lambda what, done, every: None)
        check = _Check(source, folder, mutations, corpus, jobs, report, every_vector=every_vector)
        return check.result()


class _Check:
    """One self-check, step by step."""

    def __init__(
        self,
        source: str,
        folder: str,
        mutations: Sequence[Mutation],
        corpus: Corpus | None,
        jobs: int,
        progress: Progress,
        *,
        every_vector: bool,
    ) -> None:
        self.every_vector = every_vector
        self.asked: dict[str, int] = {}
        self.source = source
        self.folder = folder
        self.mutations = mutations
        self.corpus = corpus
        self.jobs = jobs
        self.progress = progress
        self.places: queue.SimpleQueue[Workplace] = queue.SimpleQueue()
        self.surveys: list[Findings] = []
        self.unfit: dict[str, str] = {}

    def result(self) -> Result:
        with ThreadPoolExecutor(self.jobs) as pool:
            for place in pool.map(self._place, range(self.jobs)):
                self.places.put(place)
        for mutation in self.mutations:
            try:
                mutation.applied(source_of(self.source, mutation.file))
            except (MutationError, OSError) as fault:
                self.unfit[mutation.id] = str(fault)
        fit = [mutation for mutation in self.mutations if mutation.id not in self.unfit]
        judged = [vector for vector in self.corpus.vectors if vector.kind in JUDGES] if self.corpus else []
        noticed: dict[str, Outcome] = {}
        if self.corpus is not None:
            reach = self._reach(fit)
            broken = self._survey([vector.id for vector in judged], reach)
            if broken:
                return Result(self.corpus, tuple(broken), len(judged), 0, self.every_vector, ())
            noticed = self._by_vectors(fit, reach)
        by_tests = self._by_tests([mutation for mutation in fit if mutation.id not in noticed])
        outcomes = [
            Outcome(mutation, UNFIT, detail=self.unfit[mutation.id])
            if mutation.id in self.unfit
            else replace(noticed.get(mutation.id) or by_tests[mutation.id], asked=self.asked.get(mutation.id, 0))
            for mutation in self.mutations
        ]
        passed = sum(vector["outcome"] == PASSED for one in self.surveys for vector in one["vectors"])
        every = len(self.corpus.vectors) if self.corpus else 0
        return Result(self.corpus, (), passed, every - passed, self.every_vector, tuple(outcomes))

    def _place(self, number: int) -> Workplace:
        return Workplace.made(self.source, os.path.join(self.folder, f"place-{number}"))

    def _reach(self, fit: Sequence[Mutation]) -> Reach:
        package = os.path.join(self.source, PACKAGE)
        files = [
            os.path.relpath(os.path.join(folder, name), package).replace(os.sep, "/")
            for folder, _, names in os.walk(package)
            for name in names
            if name.endswith(".py")
        ]
        return reach_of(fit, files, lambda file: source_of(self.source, file))

    def _in_places(
        self, what: str, work: Callable[[Workplace, Any], Any], items: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Yield (position, what came of it) of work that needs a workplace for itself."""

        def placed(item: Any) -> Any:
            place = self.places.get()
            try:
                return work(place, item)
            finally:
                place.clear()
                self.places.put(place)

        self.progress(what, 0, len(items))
        for done, found in enumerate(in_threads(placed, items, self.jobs), 1):
            yield found
            self.progress(what, done, len(items))

    def _job(self, name: str, job: object) -> str:
        path = os.path.join(self.folder, f"{name}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(job, file)
        return path

    def _survey(self, ids: Sequence[str], reach: Reach) -> list[tuple[str, str]]:
        """Judge all vectors with the code as it is; return those that fail."""
        assert self.corpus is not None
        shares = [list(ids[first :: self.jobs]) for first in range(self.jobs)]

        def work(place: Workplace, share: list[str]) -> Reply:
            kept = tempfile.mkdtemp(prefix="kept-", dir=self.folder)
            job = {
                "corpus": os.path.abspath(self.corpus.root if self.corpus else ""),
                "ids": share,
                "kept": kept,
                "functions": reach.functions,
                "cached": reach.cached,
            }
            words = ("survey", self._job(os.path.basename(kept), job))
            return place.perform(JUDGING, words, SURVEY_SECONDS, keeps_bytecode=True)

        broken = []
        for _, reply in self._in_places("surveys of the vectors", work, [share for share in shares if share]):
            if isinstance(reply, Answer):
                self.surveys.append(cast("Findings", reply.value))
            else:
                broken.append(("the survey of the vectors", _words_of(reply)))
        for one in self.surveys:
            for vector in one["vectors"]:
                if vector["outcome"] not in (PASSED, SKIPPED):
                    broken.append((vector["id"], next(iter(vector["lines"]), "")))
            one["vectors"] = [vector for vector in one["vectors"] if vector["outcome"] == PASSED]
        return broken

    def _by_vectors(self, fit: Sequence[Mutation], reach: Reach) -> dict[str, Outcome]:
        """Return the outcome of each mutation that a vector notices."""
        assert self.corpus is not None
        seconds = {vector["id"]: vector["seconds"] for one in self.surveys for vector in one["vectors"]}
        kept = {vector["id"]: vector["kept"] for one in self.surveys for vector in one["vectors"] if vector["kept"]}
        root = os.path.abspath(self.corpus.root)

        def work(place: Workplace, mutation: Mutation) -> Outcome | None:
            ids = vectors_for(mutation, reach, self.surveys, every_vector=self.every_vector)
            self.asked[mutation.id] = len(ids)
            if not ids:
                return None
            at = os.path.join(place.scratch, "at")
            job: Trial = {"corpus": root, "ids": ids, "kept": kept, "at": at}
            path = self._job(f"trial-{os.path.basename(os.path.dirname(place.root))}", job)
            timeout = LEAST_SECONDS + SLOWER * sum(seconds[identity] for identity in ids)
            with place.mutated(mutation):
                reply = place.perform(JUDGING, ("attempt", path), timeout)
            if not isinstance(reply, Answer):
                return Outcome(mutation, BY_VECTOR, _last_line(at), _ended(reply), missed=False)
            tried = cast("Tried", reply.value)
            if tried["id"]:
                return Outcome(mutation, BY_VECTOR, tried["id"], next(iter(tried["lines"]), ""), missed=False)
            return None

        found = self._in_places("mutations judged by vectors", work, fit)
        return {outcome.mutation.id: outcome for _, outcome in found if outcome is not None}

    def _by_tests(self, left: Sequence[Mutation]) -> dict[str, Outcome]:
        """Return the outcome of each mutation that no vector noticed."""
        missed = None if self.corpus is None else True

        def work(place: Workplace, mutation: Mutation) -> Outcome:
            files = [f"{TESTS}/{file}" for file in mutation.tests]
            with place.mutated(mutation):
                reply = place.perform(TESTING, ("first", *files), TEST_SECONDS)
            tested = _tested_of(reply)
            if tested is None:
                return Outcome(mutation, BY_TEST, files[0], _ended(reply), missed=missed)
            if tested["status"] == 0:
                return Outcome(mutation, SURVIVED, missed=missed)
            name, message = next(iter(tested["failed"]), (files[0], f"pytest ended with {tested['status']}"))
            return Outcome(mutation, BY_TEST, name, message, missed=missed)

        outcomes = [outcome for _, outcome in self._in_places("mutations judged by tests", work, left)]
        failing = self._failing(dict.fromkeys(outcome.name for outcome in outcomes if outcome.is_noticed))
        return {
            outcome.mutation.id: replace(outcome, by=UNDECIDED, detail=f"it fails with the code as it is: {reason}")
            if outcome.is_noticed and (reason := failing.get(_function(outcome.name))) is not None
            else outcome
            for outcome in outcomes
        }

    def _failing(self, names: Iterable[str]) -> dict[str, str]:
        """Return which of these tests fail with the code as it is, by function, and why."""
        functions = list(dict.fromkeys(map(_function, names)))
        shares = [functions[first :: self.jobs] for first in range(self.jobs)]

        def work(place: Workplace, share: list[str]) -> Reply:
            return place.perform(TESTING, ("all", *share), TEST_SECONDS + len(share))

        failing: dict[str, str] = {}
        shares = [share for share in shares if share]
        while shares:
            apart: list[list[str]] = []
            for number, reply in self._in_places("runs of tests with the code as it is", work, shares):
                tested = _tested_of(reply)
                if tested is not None:
                    failing |= {_function(name): message for name, message in tested["failed"]}
                if tested is None or (tested["status"] != 0 and not tested["failed"]):
                    if len(shares[number]) > 1:
                        apart += ([name] for name in shares[number])
                    else:
                        failing |= dict.fromkeys(shares[number], "pytest did not run it")
            shares = apart
        return failing


def _function(name: str) -> str:
    """Return the id of a test without its parameters."""
    return name.partition("[")[0]


def _tested_of(reply: Reply) -> Tested | None:
    return cast("Tested", reply.value) if isinstance(reply, Answer) else None


def _words_of(reply: Reply) -> str:
    match reply:
        case Failure(reason) | Refusal(reason):
            return reason
        case Answer():
            return ""


def _ended(reply: Reply) -> str:
    """Return in a word and more how a process ended that gave no answer."""
    reason = _words_of(reply)
    return f"{HANG if reason.startswith('no answer within') else CRASH}: {reason}"


def _last_line(path: str) -> str:
    """Return the last line of a small file, "" where it has none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().rstrip("\n").rpartition("\n")[2]
    except OSError:
        return ""
