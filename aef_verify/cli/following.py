"""A stream that is still being written, printed event by event: from a file that grows, or from standard input."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator

from aef_verify.cli.output import write_text
from aef_verify.folder import BLOCK
from aef_verify.problems import InputError, reason_of
from aef_verify.runner.follow import followed
from aef_verify.runner.plan import Plan
from aef_verify.runner.stream import StreamReader, StreamReport

PAUSE = 0.05
"""Seconds between two looks at a file that is followed."""


class Following:
    """One stream that is followed until there is no more to wait for.

    Attributes:
        gave_up: whether it was given up because no event came for too long.
    """

    def __init__(self, events: str, plan: Plan, timeout: float | None, *, as_json: bool) -> None:
        """Read nothing yet; `timeout` is in seconds, None to wait for ever."""
        if as_json:
            from aef_verify.report.stream_json import event_line, problem_line
        else:
            from aef_verify.report.stream_text import event_line, problem_line
        self.gave_up = False
        self._events = events
        self._plan = plan
        self._timeout = timeout
        self._event_line, self._problem_line = event_line, problem_line
        self._reader = StreamReader(plan)
        self._since = time.monotonic()

    def to_the_end(self) -> StreamReport:
        """Print what comes, and return what the stream came to.

        Raises:
            InputError: the file cannot be read, or does something else than grow.
            WriteError: standard output could not be written.
        """
        for block in _arriving(self) if self._events == "-" else followed(self._events, self.wait):
            self._print(block)
            if self._reader.is_beyond:
                break
        return self._reader.finish()

    def wait(self) -> bool:
        """Wait a little; False where nothing that may still come is wanted."""
        if self.is_over():
            return False
        time.sleep(PAUSE)
        return True

    def is_over(self) -> bool:
        """Whether the job has ended, the stream is refused, or no event came for too long."""
        if self._reader.rules.account.end is not None or self._reader.is_refused:
            return True
        self.gave_up = self._timeout is not None and time.monotonic() - self._since > self._timeout
        return self.gave_up

    def _print(self, block: bytes) -> None:
        """Print the events and problems of the lines that a block finishes."""
        rules = self._reader.rules
        printed: list[str] = []
        for number, line in self._reader.feed(block):
            told = len(rules.problems)
            event = rules.take(number, line)
            if event is not None:
                printed.append(self._event_line(number, event, self._plan, rules.account))
            printed += map(self._problem_line, rules.problems[told:])
        if printed:
            self._since = time.monotonic()
            write_text("".join(f"{line}\n" for line in printed))


def _arriving(following: Following) -> Iterator[bytes]:
    """Yield what comes on standard input until it ends, or there is no more to wait for."""
    try:
        descriptor = sys.stdin.fileno()
        while True:
            ready, _, _ = select.select([descriptor], [], [], PAUSE)
            if ready:
                block = os.read(descriptor, BLOCK)
                if not block:
                    return
                yield block
            elif following.is_over():
                return
    except (OSError, ValueError, AttributeError) as fault:
        reason = "it is closed" if sys.stdin is None else reason_of(fault)
        raise InputError(f"standard input: cannot be read: {reason}") from None
