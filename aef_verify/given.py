"""Files that the caller names: regular files only, size first, each read once and never waited for.

A link is followed here, as the path is the caller's own word; within a run none is (see `aef_verify.folder`).
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

from aef_verify.problems import InputError, reason_of

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_given(path: str, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises:
        InputError: no such file, a folder, a pipe, a socket, a device, too large, or not readable.
    """
    try:
        with _opened(path, limit) as file:
            data = file.read(limit + 1)
        if data is None:
            # Some of what /proc holds calls itself a regular file, and has its reader wait.
            raise BlockingIOError(errno.EAGAIN, "it would have to be waited for")
    except (OSError, ValueError) as fault:
        raise _unreadable(path, fault) from None
    if len(data) > limit:
        raise InputError(f"{path}: grew beyond {limit:,} bytes while it was read")
    return data


def open_given(path: str) -> BinaryIO:
    """Open a regular file of any size, to be read and closed by the caller; raises InputError as `read_given`."""
    try:
        return _opened(path, None)
    except (OSError, ValueError) as fault:
        raise _unreadable(path, fault) from None


def _opened(path: str, limit: int | None) -> BinaryIO:
    # Before it is opened as well: to open a device or a pipe can already have an effect.
    _check_regular(path, os.stat(path), limit)
    fd = os.open(path, _READ)
    try:
        _check_regular(path, os.fstat(fd), limit)
    except InputError:
        os.close(fd)
        raise
    return open(fd, "rb")


def _unreadable(path: str, fault: OSError | ValueError) -> InputError:
    return InputError(f"{path}: cannot be read: {reason_of(fault)}")


def _check_regular(path: str, found: os.stat_result, limit: int | None) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path}: not a regular file")
    if limit is not None and found.st_size > limit:
        raise InputError(f"{path}: {found.st_size:,} bytes; at most {limit:,} are read")
