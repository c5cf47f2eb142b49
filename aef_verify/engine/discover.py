"""Finding runs below folders [RUN-1]: by their `run.json`, whatever that is, and no link is ever followed.

A folder with an entry `run.json` is one run and is not searched further. Everything that could hide a run is either
searched, listed as not looked at, or an error: never passed over in silence.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import NamedTuple

from aef_verify.folder import READ_FOLDER
from aef_verify.layout import RUN
from aef_verify.problems import InputError
from aef_verify.report.model import NotLookedAt

_BY_DESCRIPTOR = os.scandir in os.supports_fd

_KINDS = (
    (stat.S_ISLNK, "a link, and links are not followed; name what it leads to"),
    (stat.S_ISREG, "a file, where a folder is needed: a run is the folder that holds run.json"),
    (stat.S_ISFIFO, "a pipe, where a folder is needed"),
    (stat.S_ISSOCK, "a socket, where a folder is needed"),
    (stat.S_ISCHR, "a device, where a folder is needed"),
    (stat.S_ISBLK, "a device, where a folder is needed"),
)


class Discovery(NamedTuple):
    """The runs found, each once, and what was found and is none; both in a fixed order."""

    runs: tuple[str, ...]
    not_looked_at: tuple[NotLookedAt, ...]


class _Found(NamedTuple):
    """One folder that is a run: its path, and what tells it from every other folder."""

    path: str
    identity: tuple[int, int]


def discover(paths: Sequence[str]) -> Discovery:
    """Find every run at and below the paths.

    Runs come in the order of the paths, below each by the bytes of their own path. One that is reached by two paths
    comes once, where it is reached first; one within another run found here is that run's files, and listed.

    Raises:
        InputError: no path; a path that is no folder, has a name that is not UTF-8, or holds no run; a folder that
            cannot be searched.
    """
    if not paths:
        raise InputError("name at least one folder")
    runs: list[_Found] = []
    others: list[NotLookedAt] = []
    for path in paths:
        root = _checked(path)
        found, links = _search(root)
        if not found:
            raise InputError(f"{path}: no run is here; a run is a folder that holds run.json")
        runs += sorted(found, key=_path_bytes)
        others += (NotLookedAt(link, "link") for link in links)
    first: dict[tuple[int, int], _Found] = {}
    for run in runs:
        first.setdefault(run.identity, run)
    kept = list(first.values())
    if len(paths) > 1:
        kept, within = _outermost(kept)
        others += (NotLookedAt(run.path, "within-a-run") for run in within)
    return Discovery(
        tuple(run.path for run in kept), tuple(sorted(set(others), key=lambda other: os.fsencode(other.path)))
    )


def one_run(path: str) -> str:
    """Return the folder of the run at a path; raises InputError where the path itself is none."""
    root = _checked(path)
    try:
        _, entries = _entries(root)
    except OSError as fault:
        raise InputError(f"{path}: cannot be searched: {fault.strerror}") from None
    if not any(name == RUN for name, _, _ in entries):
        raise InputError(f"{path}: not a run: a run is the folder that holds run.json")
    return root


def _path_bytes(run: _Found) -> bytes:
    return os.fsencode(run.path)


def _checked(path: str) -> str:
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


def _search(root: str) -> tuple[list[_Found], list[str]]:
    """Return the runs at and below a folder, and the links on the way."""
    runs: list[_Found] = []
    links: list[str] = []
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            identity, entries = _entries(folder)
        except OSError as fault:
            raise InputError(
                f"{folder}: cannot be searched: {fault.strerror}; there may be runs in it, so nothing was verified"
            ) from None
        if any(name == RUN for name, _, _ in entries):
            runs.append(_Found(folder, identity))
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


def _outermost(runs: Sequence[_Found]) -> tuple[list[_Found], list[_Found]]:
    """Part the runs from those that lie within another one."""
    places = {os.path.realpath(run.path): run for run in runs}
    within = {run for place, run in places.items() if any(above in places for above in _above(place))}
    return [run for run in runs if run not in within], [run for run in runs if run in within]


def _above(place: str) -> list[str]:
    """Return the folders above one, innermost first."""
    above: list[str] = []
    parent = os.path.dirname(place)
    while parent != place:
        above.append(parent)
        place, parent = parent, os.path.dirname(parent)
    return above
