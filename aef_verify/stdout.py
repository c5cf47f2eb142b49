"""Standard output, written whole; once that failed, sent nowhere, so that no part of an answer is taken for one."""

from __future__ import annotations

import errno
import os
import sys


def write_out(data: bytes) -> None:
    """Write all of the data; raises OSError, or ValueError or AttributeError where there is no output any more."""
    sys.stdout.flush()
    rest = memoryview(data)
    while rest:
        # An unbuffered stream (PYTHONUNBUFFERED) may take a part, or nothing where it would have to be waited for.
        written = sys.stdout.buffer.write(rest)
        if not written:
            raise BlockingIOError(errno.EAGAIN, "it would have to be waited for")
        rest = rest[written:]
    sys.stdout.buffer.flush()


def abandon_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter's own last flush cannot fail."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return
