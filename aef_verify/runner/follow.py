"""A stream that is still being written, read as it comes [STRM-2].

A file that is followed only ever grows. One that is cut, removed, exchanged for another or written over is an error:
what was read of it can then not be relied on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from aef_verify.folder import BLOCK
from aef_verify.given import open_given
from aef_verify.problems import InputError

_KEPT = 256
"""The last bytes read that are compared before more is read: a file written over seldom has the same there."""


def followed(path: str, wait: Callable[[], bool]) -> Iterator[bytes]:
    """Yield the bytes of a regular file as they are written.

    Args:
        path: the file, which must be there.
        wait: called when everything was read; returns False when no more is wanted, else once it is time to look again.

    Raises:
        InputError: no such file, a folder or a pipe; or a file that did something else than grow.
    """
    with open_given(path) as file:
        descriptor = file.fileno()
        read, last = 0, b""
        while True:
            try:
                block = os.read(descriptor, BLOCK)
            except OSError as fault:
                raise InputError(f"{path}: cannot be read: {fault.strerror}") from None
            if block:
                read += len(block)
                last = (last + block[-_KEPT:])[-_KEPT:]
                yield block
            elif wait():
                _check(path, descriptor, read, last)
            else:
                return


def _check(path: str, descriptor: int, read: int, last: bytes) -> None:
    """Raise InputError where a file is no longer the one that was read so far."""
    try:
        size, before = os.fstat(descriptor).st_size, os.pread(descriptor, len(last), read - len(last))
        same = os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        raise InputError(f"{path}: was removed while it was followed") from None
    except OSError as fault:
        raise InputError(f"{path}: cannot be read any more: {fault.strerror}") from None
    if size < read:
        raise InputError(f"{path}: was cut to {size:,} bytes while it was followed, and {read:,} were already read")
    if not same:
        raise InputError(f"{path}: was replaced by another file while it was followed")
    if before != last:
        raise InputError(f"{path}: was written over while it was followed; a stream is only ever appended to")
