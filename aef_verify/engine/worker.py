"""A process that works for another one: requests on standard input, answers on standard output.

It verifies runs one by one, or judges ranges of the results of one run. Each message is a pickle after its length in
eight bytes; both ends are this package. When the other process is gone, standard input ends, and this one ends at once,
whatever it is doing, or after the range that it judges.
"""

from __future__ import annotations

import os
import pickle
import struct
import threading
from queue import SimpleQueue
from typing import BinaryIO, NoReturn

from aef_verify.engine.task import Task
from aef_verify.run.ranges import Judging

_LENGTH = struct.Struct(">Q")
TOLD_AFTER = 4 << 20
"""Bytes read between two messages about progress."""


def send(stream: BinaryIO, message: object) -> None:
    """Write one message."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO) -> object:
    """Read one message; raises EOFError where the stream ends before it is whole."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return pickle.loads(_exactly(stream, length))


def _exactly(stream: BinaryIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data


def main() -> None:
    """Take a `Task` or a `Judging`, then do what that asks for."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # What anything here might print must not stand between the answers.
    os.dup2(2, 1)
    try:
        work = receive(requests)
        if isinstance(work, Judging):
            _judge_ranges(work, requests, answers)
    except (EOFError, OSError):
        os._exit(0)
    assert isinstance(work, Task)
    _verify_runs(work, requests, answers)


def _judge_ranges(judging: Judging, requests: BinaryIO, answers: BinaryIO) -> NoReturn:
    """Answer each range of lines with its `Part`.

    No thread waits for requests meanwhile, as it would have to wait for its turn at every piece that it reads; a range
    is small enough that this process ends soon after the other one all the same.
    """
    rules = judging.rules()
    while True:
        data = receive(requests)
        assert isinstance(data, bytes)
        send(answers, rules.judge(data))


def _verify_runs(task: Task, requests: BinaryIO, answers: BinaryIO) -> NoReturn:
    """Answer each path with any number of byte counts and then one `Answer`."""
    waiting: SimpleQueue[object] = SimpleQueue()
    threading.Thread(target=_take_requests, args=(requests, waiting), daemon=True).start()
    while True:
        path = waiting.get()
        assert isinstance(path, str)
        told = _Told(answers)
        answer = task.answer(path, told)
        told.rest()
        send(answers, answer)


def _take_requests(requests: BinaryIO, waiting: SimpleQueue[object]) -> None:
    """Pass requests on; end this process when there can be no more."""
    try:
        while True:
            waiting.put(receive(requests))
    except (EOFError, OSError):
        os._exit(0)


class _Told:
    """Tells the other process how much was read, not more often than it needs to know."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._untold = 0

    def __call__(self, count: int) -> None:
        self._untold += count
        if self._untold >= TOLD_AFTER:
            self.rest()

    def rest(self) -> None:
        """Tell what was not told yet."""
        if self._untold:
            send(self._answers, self._untold)
            self._untold = 0
