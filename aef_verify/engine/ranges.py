"""The ranges of one large run's results, judged in several processes and given back in order [RUN-13].

This process reads and hashes the file once, cuts it at line ends, and sends the bytes themselves to the workers: what
they judge is what was hashed. A worker that ends before it answered is our failure on the run, never a pass; when the
caller stops taking parts, for whatever reason, every worker is ended and waited for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from aef_verify.run.ranges import Judging, Parts, Ranges, judge_here
from aef_verify.run.results import Part

if TYPE_CHECKING:
    import subprocess

RANGE = 4 << 20
"""Bytes judged at a time in another process, at least; the last ones of a file may be fewer."""

LARGE = 16 << 20
"""From so many bytes of results on, several processes are faster than one."""


class WorkerError(Exception):
    """A process that judged ranges ended before it answered."""


def ranges_in(jobs: int) -> Ranges:
    """Return what judges ranges in up to `jobs` processes, as far as there are enough of them."""
    return partial(judge, jobs) if jobs > 1 else judge_here


def judge(jobs: int, judging: Judging, ranges: Iterable[bytes]) -> Parts:
    """Yield the part of each range in order, or of several joined: here where there are few bytes, else elsewhere.

    Raises:
        WorkerError: a process ended before it answered.
    """
    left = iter(ranges)
    first: list[bytes] = []
    size = 0
    for data in left:
        first.append(data)
        size += len(data)
        if size >= LARGE:
            yield from _judge_elsewhere(jobs, judging, _joined(first, left))
            return
    yield from judge_here(judging, first)


def _joined(first: list[bytes], left: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the ranges, joined until they are worth being sent."""
    kept: list[bytes] = []
    size = 0
    first.reverse()
    while (data := first.pop() if first else next(left, None)) is not None:
        kept.append(data)
        size += len(data)
        if size >= RANGE:
            yield b"".join(kept)
            kept, size = [], 0
    if kept:
        yield b"".join(kept)


class _Told(NamedTuple):
    """What a worker's thread tells: the part of the range at a place, or why there is none."""

    place: int
    part: Part | None
    failure: BaseException | None = None


class _Worker:
    """One worker process and the thread that serves it."""

    def __init__(
        self, judging: Judging, waiting: SimpleQueue[tuple[int, bytes] | None], told: SimpleQueue[_Told]
    ) -> None:
        self._judging = judging
        self._waiting = waiting
        self._told = told
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        place = -1
        try:
            self._start()
            here = self._judging.rules() if self._process is None else None
            while (asked := self._waiting.get()) is not None and not self._ended:
                place, data = asked
                del asked
                part = self._ask(data) if here is None else here.judge(data)
                del data
                self._told.put(_Told(place, part))
        except BaseException as failure:
            self._told.put(_Told(place, None, failure))

    def _start(self) -> None:
        """Start the process; where none can be started at all, this thread does the work."""
        from aef_verify.engine.pool import start

        with self._guard:
            if not self._ended:
                try:
                    self._process = start(self._judging)
                except OSError:
                    self._process = None

    def _ask(self, data: bytes) -> Part:
        from aef_verify.engine.pool import closed, pipe
        from aef_verify.engine.worker import receive, send

        process = self._process
        assert process is not None
        try:
            send(pipe(process.stdin), data)
            part = receive(pipe(process.stdout))
        except (EOFError, OSError, ValueError):
            code = closed(process)
            how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise WorkerError(f"a process that judged results {how}") from None
        assert isinstance(part, Part)
        return part

    def kill(self) -> None:
        """End the process, whatever it is doing; its thread ends when it takes the next range, or None."""
        with self._guard:
            self._ended = True
            if self._process is not None:
                self._process.kill()

    def join(self) -> None:
        """Wait for the thread and the process."""
        from aef_verify.engine.pool import closed

        self._thread.join()
        if self._process is not None:
            closed(self._process)


def _judge_elsewhere(jobs: int, judging: Judging, ranges: Iterable[bytes]) -> Parts:
    waiting: SimpleQueue[tuple[int, bytes] | None] = SimpleQueue()
    told: SimpleQueue[_Told] = SimpleQueue()
    early: dict[int, Part] = {}
    sent = given = 0

    def next_part() -> Part:
        while given not in early:
            place, part, failure = told.get()
            if part is None:
                raise failure or WorkerError("a process that judged results gave no answer")
            early[place] = part
        return early.pop(given)

    workers = [_Worker(judging, waiting, told) for _ in range(jobs)]
    try:
        for data in ranges:
            waiting.put((sent, data))
            sent += 1
            # One range for each process to work on, and one to take up at once after it.
            if sent - given >= 2 * jobs:
                yield next_part()
                given += 1
        while given < sent:
            yield next_part()
            given += 1
    finally:
        # Which thread takes which None does not matter: all are told before one is waited for.
        for worker in workers:
            worker.kill()
            waiting.put(None)
        for worker in workers:
            worker.join()
