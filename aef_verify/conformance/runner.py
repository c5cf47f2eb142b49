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
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from aef_verify.conformance import drive
from aef_verify.conformance.case import Case, UnmetError, read_expected
from aef_verify.conformance.drive import Driver, Program, in_process
from aef_verify.conformance.index import Corpus, CorpusError, Vector, check
from aef_verify.conformance.judge import READING
from aef_verify.conformance.recipes import SkippedError, copy_vector, perform
from aef_verify.conformance.releasejudge import RELEASE
from aef_verify.conformance.writejudge import WRITING

JUDGES = {**READING, **RELEASE, **WRITING}
"""The judge of every supported kind."""

PASSED, FAILED, SKIPPED, UNSUPPORTED = "passed", "failed", "skipped", "unsupported"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one vector, and why: `passed`, `failed`, `skipped` or `unsupported` (its kind)."""

    vector: Vector
    outcome: str
    lines: tuple[str, ...] = ()


Progress = Callable[[int, int], None]
Item = TypeVar("Item")
Done = TypeVar("Done")


def judge_vector(corpus: Corpus, vector: Vector, driver: Driver, scratch: str | None = None) -> Verdict:
    """Judge one vector; its scratch folder, below `scratch`, is removed whatever happens."""

    def checked() -> Sequence[str]:
        check(corpus, vector)
        return ()

    def judged() -> Sequence[str]:
        with tempfile.TemporaryDirectory(prefix="aef-conformance-", dir=scratch) as folder:
            return JUDGES[vector.kind](made_ready(corpus, vector, driver, folder))

    verdict = verdict_of(vector, checked)
    if verdict.outcome != PASSED:
        return verdict
    if vector.kind not in JUDGES:
        return Verdict(vector, UNSUPPORTED, (f"not supported yet: {vector.kind}",))
    return verdict_of(vector, judged)


def verdict_of(vector: Vector, judge: Callable[[], Sequence[str]]) -> Verdict:
    """Return what came of a vector, of which `judge` gives the differences or raises whatever it stumbles over."""
    try:
        lines = tuple(judge())
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
    return Verdict(vector, FAILED if lines else PASSED, lines)


def made_ready(corpus: Corpus, vector: Vector, driver: Driver, scratch: str) -> Case:
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
        yield from in_threads(lambda vector: judge_vector(corpus, vector, program, scratch), vectors, jobs)


def in_threads(work: Callable[[Item], Done], items: Sequence[Item], jobs: int) -> Iterator[tuple[int, Done]]:
    """Yield (position, what the work on that item gave) as it comes, `jobs` at once.

    The work calls programs by `drive`. Where the caller stops, as an interrupt makes it, these are ended.
    """
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(work, item): number for number, item in enumerate(items)}
        try:
            yield from ((futures[done], done.result()) for done in _done(futures))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(future.done() for future in futures):
                # One may have been on its way when the others were ended.
                drive.end_running()
                time.sleep(_LOOK)
            raise


def _in_processes(corpus: Corpus, vectors: Sequence[Vector], jobs: int, scratch: str) -> Iterator[tuple[int, Verdict]]:
    """Judge in several processes; when one dies, go on one vector at a time to find which ended it."""
    waiting = dict(enumerate(vectors))
    while waiting:
        with _pool(corpus, jobs, scratch) as pool:
            try:
                with _signals_held():
                    futures: dict[Future[Verdict], int] = {
                        pool.submit(_judge_here, vector): number for number, vector in waiting.items()
                    }
                for done in _done(futures) if jobs > 1 else futures:
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
                # Waited for: the scratch folders are to be removed when nobody writes to them any more.
                pool.shutdown(wait=True, cancel_futures=True)
                raise


def _pool(corpus: Corpus, jobs: int, scratch: str) -> ProcessPoolExecutor:
    # Started afresh, not forked: the caller may have threads, and a fork would copy them half way.
    context = multiprocessing.get_context("spawn")
    with _signals_held():
        return ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(corpus, scratch))


_ENDS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold back what ends this process while others are started: one started by half has words of its own to say."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_LOOK = 0.05
"""Seconds between two looks at what is done."""


def _done(futures: Iterable[Future[Done]]) -> Iterator[Future[Done]]:
    """Yield futures as they are done; a signal comes between two looks, as within one it could leave a lock taken."""
    waiting = set(futures)
    while waiting:
        with _signals_held():
            done, waiting = wait(waiting, timeout=_LOOK)
        yield from done


_HERE: tuple[Corpus, str] | None = None


def _start(corpus: Corpus, scratch: str) -> None:
    global _HERE
    _HERE = (corpus, scratch)
    # An interrupt ends the caller, which ends these processes and removes their scratch folders. SIGTERM stays as it
    # is: a pool that lost a process ends the others with it, and waits for them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        # Held back while this process was started, and inherited so.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    threading.Thread(target=_end_with_the_caller, daemon=True).start()


def _end_with_the_caller() -> None:
    caller = multiprocessing.parent_process()
    assert caller is not None
    caller.join()
    os._exit(1)


def _judge_here(vector: Vector) -> Verdict:
    assert _HERE is not None
    return judge_vector(_HERE[0], vector, in_process, _HERE[1])
