"""Finding the folders of runs [RUN-1]: by their `run.json`, whatever that is, and no link is ever followed.

A folder with an entry `run.json` is one run and is not searched further. What could hide a run is searched, named as
a link, or an error: never passed over in silence.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from aef_verify.folder import READ_FOLDER
from aef_verify.layout import RUN
from aef_verify.problems import InputError

_BY_DESCRIPTOR = os.scandir in os.supports_fd

_KINDS = (
    (stat.S_ISLNK, "a link, and links are not followed; name what it leads to"),
    (stat.S_ISREG, "a file, where a folder is needed: a run is the folder that holds run.json"),
    (stat.S_ISFIFO, "a pipe, where a folder is needed"),
    (stat.S_ISSOCK, "a socket, where a folder is needed"),
    (stat.S_ISCHR, "a device, where a folder is needed"),
    (stat.S_ISBLK, "a device, where a folder is needed"),
)


class RunFolder(NamedTuple):
    """One folder that is a run: its path, and what tells it from every other folder."""

    path: str
    identity: tuple[int, int]


def one_run(path: str) -> str:
    """Return the folder of the run at a path; raises InputError where the path itself is none."""
    root = checked_folder(path)
    try:
        _, entries = _entries(root)
    except OSError as fault:
        raise InputError(f"{path}: cannot be searched: {fault.strerror}") from None
    if not any(name == RUN for name, _, _ in entries):
        raise InputError(f"{path}: not a run: a run is the folder that holds run.json")
    return root


def path_bytes(run: RunFolder) -> bytes:
    """Sort key: the bytes of the path."""
    return os.fsencode(run.path)


def checked_folder(path: str) -> str:
    """Return a path that is a folder, without the slashes at its end, behind which a link would be followed."""
    try:
        os.fsencode(path).decode("utf-8")
    except UnicodeError:
        raise InputError(f"{path}: its name is not UTF-8, so no report could name it; rename it") from None
    root = path.rstrip("/") or path[:1]
    try:
        mode = os.lstat(root).st_mode
    except OSError as fault:
        raise InputError(f"{path}: {fault.strerror}") from None
    except ValueError:
        raise InputError(f"{path}: it holds a NUL character") from None
    for is_kind, said in _KINDS:
        if is_kind(mode):
            raise InputError(f"{path}: {said}")
    return root


Known = Callable[[str], tuple[int, int] | None]
"""Tells of a folder that it is a run, without it being listed, by what tells it from others; None where not known."""


def search(root: str, known: Known | None = None) -> tuple[list[RunFolder], list[str]]:
    """Return the runs at and below a folder, and the links on the way."""
    runs: list[RunFolder] = []
    links: list[str] = []
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        at_once = known(folder) if known is not None else None
        if at_once is not None:
            runs.append(RunFolder(folder, at_once))
            continue
        try:
            identity, entries = _entries(folder)
        except OSError as fault:
            raise InputError(
                f"{folder}: cannot be searched: {fault.strerror}; there may be runs in it, so nothing was verified"
            ) from None
        if any(name == RUN for name, _, _ in entries):
            runs.append(RunFolder(folder, identity))
            continue
        for name, is_folder, is_link in entries:
            if is_folder:
                waiting.append(os.path.join(folder, name))
            elif is_link:
                links.append(os.path.join(folder, name))
    return runs, links


def _entries(folder: str) -> tuple[tuple[int, int], list[tuple[str, bool, bool]]]:
    """Return what tells a folder from others, and its entries: name, whether it is a folder, whether a link."""
    if not _BY_DESCRIPTOR:
        found = os.lstat(folder)
        return (found.st_dev, found.st_ino), _listed(folder)
    fd = os.open(folder, READ_FOLDER)
    try:
        found = os.fstat(fd)
        return (found.st_dev, found.st_ino), _listed(fd)
    finally:
        os.close(fd)


def _listed(folder: str | int) -> list[tuple[str, bool, bool]]:
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()) for entry in entries]
