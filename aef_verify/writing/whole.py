"""Files that are written whole or not at all, and never over another one; JSON files as people read them."""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress

from aef_verify.problems import InputError

NEW_FILE = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
"""How a file is opened for writing that must not be there yet."""

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def json_bytes(document: object) -> bytes:
    """Return the bytes of a JSON file; raises ValueError where a value has no form in I-JSON [ENC-1] to [ENC-3]."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2).encode() + b"\n"


def write_new(path: str, data: bytes) -> None:
    """Write a file that must not exist yet: a synced temporary file beside it, then its name.

    Raises:
        InputError: a file of that name is there; it is as it was.
        OSError: the file could not be written; nothing was left behind.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    write_synced(temporary, data)
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise InputError(f"{path}: is there already, and is not overwritten") from None
    except OSError as fault:
        if fault.errno not in _NO_LINKS:
            raise
        _write_directly(path, data)
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _write_directly(path: str, data: bytes) -> None:
    """Write where the file system gives no second name to a file."""
    try:
        write_synced(path, data)
    except FileExistsError:
        raise InputError(f"{path}: is there already, and is not overwritten") from None


def write_synced(path: str, data: bytes, mode: int = 0o644) -> None:
    """Write a file that must not exist yet, on the disk when this returns, or leave none; raises OSError."""
    fd = os.open(path, NEW_FILE, mode)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise
