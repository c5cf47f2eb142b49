"""Several runs at a time, each in a process of its own, with the answers in the order of the runs.

A worker is a fresh interpreter that knows this one's module path and nothing else of it, so that neither threads nor
an unguarded main module of the caller matter. One that ends before it answered is our failure on that run, never a
pass; when the caller stops taking answers, for whatever reason, every worker is ended and waited for.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, BinaryIO, NamedTuple, cast

from aef_verify.engine.task import Answer, Task
from aef_verify.engine.worker import receive, send
from aef_verify.report.model import NOT_VERIFIED, Unverified
from aef_verify.run.ranges import Judging

# -P: without it, the folder in which the caller stands would come before the modules of this installation.
_START = (
    "-P",
    "-c",
    "import json, sys; sys.path[:] = json.loads(sys.argv[1])\nfrom aef_verify.engine import worker; worker.main()",
)


class _Told(NamedTuple):
    """What a worker's thread tells: bytes read, or the answer for the run at a place."""

    read: int
    place: int = -1
    answer: Answer | None = None
    failure: BaseException | None = None


class _Worker:
    """One worker process and the thread that serves it."""

    def __init__(self, task: Task, waiting: deque[tuple[int, str]], told: SimpleQueue[_Told]) -> None:
        self._task = task
        self._waiting = waiting
        self._told = told
        self._process: subprocess.Popen[bytes] | None = None
        self._ending = threading.Event()
        self._here = False
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            while not self._ending.is_set():
                try:
                    index, path = self._waiting.popleft()
                except IndexError:
                    return
                self._told.put(_Told(0, index, self._ask(path)))
        except BaseException as failure:
            self._told.put(_Told(0, failure=failure))

    def _ask(self, path: str) -> Answer:
        """Have one run verified; a worker that ended is replaced when the next run is asked for.

        Where no process can be started at all, this thread does the work.
        """
        try:
            pipes = self._started()
        except OSError:
            self._here = True
            return self._task.answer(path, lambda count: self._told.put(_Told(count)))
        try:
            if pipes is None:
                raise EOFError
            send(pipes[0], path)
            while isinstance(message := receive(pipes[1]), int):
                self._told.put(_Told(message))
        except (EOFError, OSError):
            return Unverified(path, NOT_VERIFIED, self._how_it_ended())
        assert isinstance(message, Answer)
        return message

    def _started(self) -> tuple[BinaryIO, BinaryIO] | None:
        """Return the pipes to and from the process, started now if it is not; None when all is ending."""
        with self._guard:
            if self._ending.is_set():
                return None
            process = self._process
            if process is None:
                process = self._process = start(self._task)
            return pipe(process.stdin), pipe(process.stdout)

    def _how_it_ended(self) -> str:
        with self._guard:
            process, self._process = self._process, None
        if process is None:
            return "stopped before it was verified"
        code = closed(process)
        return f"its process was ended by signal {-code}" if code < 0 else f"its process ended with exit code {code}"

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._ending.set()
        with self._guard:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            closed(process)
        if not self._here:
            self._thread.join()


def start(work: Task | Judging) -> subprocess.Popen[bytes]:
    """Start a worker and tell it what it is to do; raises OSError where no process can be started."""
    # A group of its own: an interrupt from the terminal is this process's to handle.
    process = subprocess.Popen(
        [sys.executable, *_START, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        process_group=0,
    )
    with suppress(BrokenPipeError):
        send(pipe(process.stdin), work)
    return process


def pipe(end: IO[bytes] | None) -> BinaryIO:
    """Return the end of a pipe that a process was started with."""
    assert end is not None
    return cast("BinaryIO", end)


def closed(process: subprocess.Popen[bytes]) -> int:
    """Close the pipes of a process that ends, wait for it, and return how it ended."""
    for end in (process.stdin, process.stdout):
        if end is not None:
            with suppress(OSError):
                end.close()
    return process.wait()


def verify_in_processes(
    runs: Sequence[str], task: Task, jobs: int, watch: Callable[[int], object] | None = None
) -> Iterator[Answer]:
    """Yield the answer for each run in order, with up to `jobs` processes at work.

    `watch` is called here with the number of bytes that a worker has read. Raises what a worker's thread could not
    handle, such as an interpreter that does not start.
    """
    waiting = deque(enumerate(runs))
    told: SimpleQueue[_Told] = SimpleQueue()
    workers = [_Worker(task, waiting, told) for _ in range(min(jobs, len(runs)))]
    early: dict[int, Answer] = {}
    try:
        for index in range(len(runs)):
            while index not in early:
                message = told.get()
                if message.failure is not None:
                    raise message.failure
                if message.answer is not None:
                    early[message.place] = message.answer
                elif watch is not None:
                    watch(message.read)
            yield early.pop(index)
    finally:
        waiting.clear()
        for worker in workers:
            worker.end()
