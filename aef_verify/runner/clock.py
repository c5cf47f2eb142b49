"""The clock of a job: every event's time, and how long it is since `job.accepted` [PLAN-9].

Both clocks start at a time that the caller gives and never go back. Times keep every digit [ENC-8].
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from aef_verify.problems import InputError

SECOND = 10**9
"""One second in nanoseconds, the unit of durations here."""

_LAST = datetime.max.replace(microsecond=0)


class Clock(Protocol):
    """What a job asks for the time."""

    def now(self) -> str:
        """Return the time [ENC-8]."""

    def elapsed(self) -> int:
        """Return the nanoseconds since the clock started."""

    def case_ran(self, seconds: int) -> None:
        """Take note that a case ran, and how long."""

    def run_closed(self) -> None:
        """Take note that a run was closed and is being sealed."""


class ScriptedClock:
    """Moves only when a case runs and when a run is closed and sealed (09 §9.2.1)."""

    def __init__(self, at: str, close_seconds: int, most: int) -> None:
        """Start at a valid time.

        Args:
            at: the time.
            close_seconds: what closing and sealing a run takes.
            most: the seconds that the clock may move in all.

        Raises:
            InputError: it could move beyond the year 9999 [ENC-8].
        """
        self._start, self._fraction = _parts(at)
        if most > (_LAST - self._start) // timedelta(seconds=1):
            raise InputError(f"a job that starts at {at} could end after the year 9999 [ENC-8]")
        self._close = close_seconds
        self._seconds = 0

    def now(self) -> str:
        """Return the time, with the fraction that the start has."""
        return (self._start + timedelta(seconds=self._seconds)).isoformat() + self._fraction

    def elapsed(self) -> int:
        """Return the nanoseconds since the clock started."""
        return self._seconds * SECOND

    def case_ran(self, seconds: int) -> None:
        """Move by what a case took."""
        self._seconds += seconds

    def run_closed(self) -> None:
        """Move by what closing and sealing a run takes."""
        self._seconds += self._close


class SteadyClock:
    """Goes by itself from the start on, whatever becomes of the system's clock meanwhile."""

    def __init__(self, at: str, ticks: Callable[[], int] = time.monotonic_ns) -> None:
        """Start at a valid time.

        Args:
            at: the time.
            ticks: what counts nanoseconds and never goes back.
        """
        self._at = at
        self._start, fraction = _parts(at)
        self._begun = int(fraction[1:-1].ljust(9, "0"))
        self._ticks = ticks
        self._first = ticks()

    def now(self) -> str:
        """Return the time to the nanosecond; the start as it was given."""
        elapsed = self.elapsed()
        if not elapsed:
            return self._at
        seconds, rest = divmod(self._begun + elapsed, SECOND)
        return f"{(self._start + timedelta(seconds=seconds)).isoformat()}.{rest:09d}Z"

    def elapsed(self) -> int:
        """Return the nanoseconds since the clock started."""
        return self._ticks() - self._first

    def case_ran(self, seconds: int) -> None:
        """Take no note: the time has passed."""

    def run_closed(self) -> None:
        """Take no note: the time passes."""


def _parts(at: str) -> tuple[datetime, str]:
    """Return a valid time to the second, and the rest of its text."""
    return datetime.fromisoformat(at[:19]), at[19:]
