"""What a fixture provider keeps of the requests it got: in memory, and as lines of JSON where a log is wanted."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from types import TracebackType
from typing import BinaryIO, NamedTuple

from aef_verify.provider.play import Asked, Message
from aef_verify.provider.script import Fault, Reply


class Request(NamedTuple):
    """One request that a provider got, and what happened to it.

    Attributes:
        n: its number, from 1, in order of arrival.
        monotonic: when it was read, in seconds of the machine's monotonic clock.
        time: the same by the wall clock, in seconds since 1970.
        path: the path it was sent to.
        model: the model or deployment it names.
        purpose: `answer` or `judge`.
        question: the question of the script that it asks, or None.
        digest: SHA-256 over its messages, hex.
        length: characters of all its messages.
        outcome: `reply`, or the kind of the fault.
        status: the status code of the response; None where there is none.
        messages: its messages, where contents are kept.
    """

    n: int
    monotonic: float
    time: float
    path: str
    model: str
    purpose: str
    question: str | None
    digest: str
    length: int
    outcome: str
    status: int | None
    messages: tuple[Message, ...] | None


class Record:
    """The requests a provider got, in order of arrival; a context manager that closes its log."""

    def __init__(self, log: str | None = None, *, content: bool = False) -> None:
        """Begin empty; `log` is a file to append to, and `content` keeps the messages.

        Raises:
            OSError: the log cannot be opened.
        """
        self.requests: list[Request] = []
        self._content = content
        self._log: BinaryIO | None = None if log is None else open(log, "ab", buffering=0)  # noqa: SIM115

    def __enter__(self) -> Record:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def add(self, path: str, asked: Asked, outcome: Reply | Fault) -> None:
        """Keep a request; its line is in the log when this returns."""
        request = Request(
            len(self.requests) + 1,
            time.monotonic(),
            time.time(),
            path,
            asked.model,
            asked.purpose,
            asked.question,
            asked.digest,
            asked.length,
            outcome.kind if isinstance(outcome, Fault) else "reply",
            _status(outcome),
            asked.messages if self._content else None,
        )
        self.requests.append(request)
        if self._log is not None:
            self._log.write(_line(request))

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
            self._log = None


def _status(outcome: Reply | Fault) -> int | None:
    if isinstance(outcome, Reply):
        return 200
    if outcome.kind == "status":
        return outcome.status
    no_response = outcome.kind == "timeout" or (outcome.kind == "reset" and outcome.when == "before")
    return None if no_response else 200


def _line(request: Request) -> bytes:
    members = request._asdict()
    members["time"] = datetime.fromtimestamp(request.time, UTC).isoformat(timespec="microseconds")[:-6] + "Z"
    if request.messages is None:
        del members["messages"]
    else:
        members["messages"] = [{"role": message.role, "content": message.text} for message in request.messages]
    return json.dumps(members).encode() + b"\n"
