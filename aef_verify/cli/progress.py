"""Progress on a terminal's standard error, for work that takes long enough to ask about."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aef_verify.cli.output import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from aef_verify.engine.evidence import Progress

SHOWN_AFTER = 0.7
"""Seconds of work before anything is shown."""


@contextmanager
def progress(*, wanted: bool) -> Iterator[Callable[[Progress], object] | None]:
    """Give what to call with the progress; None where there is no terminal or none is wanted."""
    if not wanted or not is_terminal(sys.stderr):
        yield None
        return
    shown = _Shown()
    try:
        yield shown
    finally:
        shown.end()


@contextmanager
def bytes_read() -> Iterator[Callable[[int], object] | None]:
    """Give what to call with the bytes of each block that verifying runs reads; None where there is no terminal."""
    if not is_terminal(sys.stderr):
        yield None
        return
    shown = _Shown()
    read = 0

    def watch(count: int) -> None:
        nonlocal read
        read += count
        shown.tell(0, None, read)

    try:
        yield watch
    finally:
        shown.end()


class _Shown:
    """Shows a bar once the work has taken a while, and takes it away at the end."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __call__(self, told: Progress) -> None:
        """Show how far it is."""
        self.tell(told.verified, told.runs, told.read)

    def tell(self, verified: int, runs: int | None, read: int) -> None:
        """Show how far it is; `runs` is None where nobody knows how many there will be."""
        if self._bar is None:
            if time.monotonic() - self._begun < SHOWN_AFTER:
                return
            self._start(runs)
        assert self._bar is not None
        assert self._task is not None
        self._bar.update(self._task, completed=verified, read=f"{read / (1 << 20):,.0f} MiB read")

    def _start(self, runs: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn("Verifying runs"),
            BarColumn(),
            *(() if runs is None else (MofNCompleteColumn(),)),
            TextColumn("{task.fields[read]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=runs, read="")
        self._bar.start()

    def end(self) -> None:
        """Take away what is shown."""
        if self._bar is not None:
            self._bar.stop()
