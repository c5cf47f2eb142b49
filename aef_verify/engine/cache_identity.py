"""What a run's files are known by without reading them: device, inode, mode, size, mtime and ctime of every entry.

A change of a file's content, name, mode or place changes one of them: whoever sets an mtime back still moves the ctime,
and an entry that is added, removed or renamed moves both of its folder. Therefore the entries found once can be asked
for by name: where the folders are unchanged, there is no other one. What this cannot see is said in docs/CACHE.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from aef_verify.folder import MAX_FOLDERS, READ_FOLDER

DIGEST_BYTES = 32

_NAMES_END = "\0"
_STAT = Struct("<QQQQqq")
_NOT_THERE = (OSError, ValueError, StructError)


class Identity(NamedTuple):
    """A run folder as it was found.

    Attributes:
        names: every entry below the folder, with `/`, in the order in which the digest takes them.
        digest: over the names, and over what tells the folder and each entry from any other.
        newest: the latest mtime or ctime among them, in nanoseconds since 1970.
    """

    names: tuple[str, ...]
    digest: bytes
    newest: int


class Found(NamedTuple):
    """A run folder as it is now: the digest over it and the entries asked for, and its own device and inode."""

    digest: bytes
    folder: tuple[int, int]


def identify(path: str) -> Identity | None:
    """Return the identity of a run folder, from a walk over all of it; None where it cannot be walked."""
    try:
        fd = os.open(path, READ_FOLDER)
        try:
            own = os.fstat(fd)
            entries = list(_walk(fd, "", 0))
        finally:
            os.close(fd)
        names = tuple(name for name, _ in entries)
        stats = [own, *(found for _, found in entries)]
        newest = max(max(found.st_mtime_ns, found.st_ctime_ns) for found in stats)
        return Identity(names, _digest(names, stats), newest)
    except _NOT_THERE:
        return None


def find_again(path: str, names: Sequence[str]) -> Found | None:
    """Return what a run folder and these entries of it are now, at a stat each; None where one is not there."""
    try:
        fd = os.open(path, READ_FOLDER)
        try:
            own = os.fstat(fd)
            stats = [own, *[os.lstat(name, dir_fd=fd) for name in names]]
        finally:
            os.close(fd)
        return Found(_digest(names, stats), (own.st_dev, own.st_ino))
    except _NOT_THERE:
        return None


def packed(names: Sequence[str]) -> bytes:
    """Return names as bytes, to be kept."""
    return os.fsencode(_NAMES_END.join(names))


def unpacked(data: bytes) -> tuple[str, ...]:
    """Return the names that were packed."""
    return tuple(os.fsdecode(data).split(_NAMES_END)) if data else ()


def _walk(fd: int, above: str, level: int) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every entry below an open folder, by the bytes of the names, as deep as a run is looked at."""
    with os.scandir(fd) as scanned:
        entries = sorted(scanned, key=lambda entry: os.fsencode(entry.name))
    for entry in entries:
        yield above + entry.name, entry.stat(follow_symlinks=False)
        if level < MAX_FOLDERS and entry.is_dir(follow_symlinks=False):
            below = os.open(entry.name, READ_FOLDER, dir_fd=fd)
            try:
                yield from _walk(below, f"{above}{entry.name}/", level + 1)
            finally:
                os.close(below)


def _digest(names: Sequence[str], stats: Sequence[os.stat_result]) -> bytes:
    numbers = b"".join(
        [
            _STAT.pack(found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            for found in stats
        ]
    )
    return blake2b(numbers + packed(names), digest_size=DIGEST_BYTES).digest()
