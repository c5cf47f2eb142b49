"""Running vectors: each checked, made ready, judged by its kind, and reported; several at once ([CONF-3]).

The order for one vector: the digests of its files; its `expected.json`; a scratch copy where the vector is
generated or its operation writes; the recipe; the judge. Whatever a vector holds or a program does, its
result is a `Verdict`.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from aef_verify.conformance import drive
from aef_verify.conformance.case import Case, UnmetError, read_expected
from aef_verify.conformance.drive import Driver, Program, in_process
from aef_verify.conformance.index import Corpus, CorpusError, Vector, check
from aef_verify.conformance.judge import READING
from aef_verify.conformance.recipes import SkippedError, copy_vector, perform
from aef_verify.conformance.writejudge import WRITING

JUDGES = {**READING, **WRITING}
"""The judge of every supported kind."""

PASSED, FAILED, SKIPPED, UNSUPPORTED = "passed", "failed", "skipped", "unsupported"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one vector, and why: `passed`, `failed`, `skipped` or `unsupported` (its kind)."""

    vector: Vector
    outcome: str
    lines: tuple[str, ...] = ()


Progress = Callable[[int, int], None]


def judge_vector(corpus: Corpus, vector: Vector, driver: Driver, scratch: str | None = None) -> Verdict:
    """Judge one vector; its scratch folder, below `scratch`, is removed whatever happens."""
    try:
        check(corpus, vector)
        if vector.kind not in JUDGES:
            return Verdict(vector, UNSUPPORTED, (f"not supported yet: {vector.kind}",))
        with tempfile.TemporaryDirectory(prefix="aef-conformance-", dir=scratch) as folder:
            lines = JUDGES[vector.kind](_made_ready(corpus, vector, driver, folder))
    except SkippedError as reason:
        return Verdict(vector, SKIPPED, (str(reason),))
    except UnmetError as unmet:
        return Verdict(vector, FAILED, tuple(map(str, unmet.args)))
    except CorpusError as fault:
        return Verdict(vector, FAILED, (f"corpus: {fault}",))
    except OSError as fault:
        return Verdict(vector, FAILED, (f"scratch folder: {fault}",))
    except Exception as failure:
        # A vector is hostile input: what its judge stumbles over fails the vector, never the run of all.
        return Verdict(vector, FAILED, (f"cannot be judged: {type(failure).__name__}: {failure}",))
    return Verdict(vector, FAILED if lines else PASSED, tuple(lines))


def _made_ready(corpus: Corpus, vector: Vector, driver: Driver, scratch: str) -> Case:
    """Return a vector ready to judge: where it lies, or a scratch copy with its recipe performed."""
    base = vector.path.rpartition("/")[0] if vector.is_file else vector.path
    folder = os.path.join(corpus.root, *base.split("/")) if base else corpus.root
    if vector.is_file or vector.kind == "fixture":
        return Case(corpus, vector, folder, {}, driver, scratch)
    expected = read_expected(folder, vector.kind)
    if "generate" in expected or vector.kind in WRITING:
        folder = os.path.join(scratch, "vector")
        os.mkdir(folder)
        copy_vector(corpus, vector, folder)
        perform(corpus, expected.get("generate", []), folder)
    return Case(corpus, vector, folder, expected, driver, scratch)


def run(
    corpus: Corpus,
    vectors: Sequence[Vector],
    *,
    program: Program | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Verdict]:
    """Judge vectors, `jobs` at once, and return their verdicts in the order given.

    Args:
        corpus: the corpus.
        vectors: some of its vectors.
        program: what is tested; None: this implementation, in process (in `jobs` processes).
        jobs: how many vectors at once.
        progress: called with (done, all) after each vector.
    """
    with tempfile.TemporaryDirectory(prefix="aef-conformance-") as scratch:
        verdicts: dict[int, Verdict] = {}
        for number, verdict in _verdicts(corpus, vectors, program, jobs, scratch):
            verdicts[number] = verdict
            if progress is not None:
                progress(len(verdicts), len(vectors))
    return [verdicts[number] for number in range(len(vectors))]


def _verdicts(
    corpus: Corpus, vectors: Sequence[Vector], program: Program | None, jobs: int, scratch: str
) -> Iterator[tuple[int, Verdict]]:
    """Yield (position, verdict) as they come."""
    if jobs == 1:
        for number, vector in enumerate(vectors):
            yield number, judge_vector(corpus, vector, program or in_process, scratch)
    elif program is None:
        yield from _in_processes(corpus, vectors, jobs, scratch)
    else:
        with ThreadPoolExecutor(jobs) as pool:
            futures = {
                pool.submit(judge_vector, corpus, vector, program, scratch): number
                for number, vector in enumerate(vectors)
            }
            try:
                yield from ((futures[done], done.result()) for done in as_completed(futures))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                drive.end_running()
                raise


def _in_processes(corpus: Corpus, vectors: Sequence[Vector], jobs: int, scratch: str) -> Iterator[tuple[int, Verdict]]:
    """Judge in several processes; when one dies, go on one vector at a time to find which ended it."""
    waiting = dict(enumerate(vectors))
    while waiting:
        with _pool(corpus, jobs, scratch) as pool:
            futures: dict[Future[Verdict], int] = {
                pool.submit(_judge_here, vector): number for number, vector in waiting.items()
            }
            try:
                for done in as_completed(futures) if jobs > 1 else futures:
                    verdict = done.result()
                    yield futures[done], verdict
                    del waiting[futures[done]]
            except BrokenProcessPool:
                if jobs == 1:
                    number, vector = next(iter(waiting.items()))
                    del waiting[number]
                    yield number, Verdict(vector, FAILED, ("the process that judged it died",))
                jobs = 1
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _pool(corpus: Corpus, jobs: int, scratch: str) -> ProcessPoolExecutor:
    # Started afresh, not forked: the caller may have threads, and a fork would copy them half way.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(corpus, scratch))


_HERE: tuple[Corpus, str] | None = None


def _start(corpus: Corpus, scratch: str) -> None:
    global _HERE
    _HERE = (corpus, scratch)
    # An interrupt ends the caller, which ends these processes and removes their scratch folders.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _judge_here(vector: Vector) -> Verdict:
    assert _HERE is not None
    return judge_vector(_HERE[0], vector, in_process, _HERE[1])
