"""Interrupting a benchmark: once to end it with its evidence, twice to end it at once (docs/MEMORY_PAIR.md §1)."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopping(stop: asyncio.Event) -> Iterator[Callable[[], bool]]:
    """Let SIGINT and SIGTERM set `stop` once, and end the process at once with 1 the second time.

    Gives what tells whether a signal came. A second signal leaves whole runs or none: evidence gets its name last.
    """
    came = False

    def note(number: int, frame: object) -> None:
        nonlocal came
        if came:
            os._exit(1)
        came = True
        try:
            asyncio.get_running_loop().call_soon_threadsafe(stop.set)
        except RuntimeError:
            stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield lambda: came
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
