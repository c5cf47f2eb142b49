"""A job's event stream as it is written: one line an event, whole or not at all [STRM-1], [STRM-2].

Every line is handed to the system in one piece, so that whoever follows the stream sees whole events alone. `seq`
counts from 1, one `jobId` stands in all, `at` is the job's clock. What was written of an event that could not be
written, or was interrupted, is taken back to the end of the line before it; a stream without an event leaves no file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from aef_verify.runner.clock import Clock
from aef_verify.writing.whole import NEW_FILE

Event = dict[str, Any]

TERMINAL = frozenset(("job.sealed", "job.failed", "job.cancelled", "job.refused"))
"""The kinds that end a stream; closed for major 1 [STRM-1]."""


class EventStream:
    """One stream while its job runs.

    Attributes:
        ended: whether the last event was a terminal one, or none can be written any more.
    """

    def __init__(self, path: str, job_id: str, clock: Clock, watch: Callable[[Event], object] | None = None) -> None:
        """Make the file, which must not be there yet.

        Args:
            path: the file.
            job_id: the job's id.
            clock: what says when an event is.
            watch: called with each event once it is written.

        Raises:
            FileExistsError: it is there.
            OSError: it cannot be made.
        """
        self.ended = False
        self._path = path
        self._job_id = job_id
        self._clock = clock
        self._watch = watch
        self._whole = 0, 0
        self._writing = False
        self._file = os.open(path, NEW_FILE, 0o666)

    @property
    def count(self) -> int:
        """How many events were written."""
        return self._whole[0]

    def write(self, kind: str, **members: Any) -> Event:
        """Write an event and return it; raises OSError where it could not be, and no further one can be then."""
        count, size = self._whole
        event: Event = {
            "schemaVersion": "1.0",
            "seq": count + 1,
            "jobId": self._job_id,
            "at": self._clock.now(),
            "kind": kind,
            **members,
        }
        line = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        try:
            self._append(line, size)
            if kind in TERMINAL:
                os.fsync(self._file)
        except OSError:
            self.ended = True
            with suppress(OSError):
                os.ftruncate(self._file, size)
            raise
        # At once, as an interrupt may come between any two steps.
        self._whole = count + 1, size + len(line)
        self._writing = False
        self.ended = kind in TERMINAL
        if self._watch is not None:
            self._watch(event)
        return event

    def _append(self, line: bytes, size: int) -> None:
        if self._writing:
            # The event before was interrupted.
            os.ftruncate(self._file, size)
            os.lseek(self._file, size, os.SEEK_SET)
        self._writing = True
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def close(self) -> None:
        """Close the file, and leave none without an event."""
        os.close(self._file)
        if not self.count:
            with suppress(OSError):
                os.unlink(self._path)
