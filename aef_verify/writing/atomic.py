"""Run folders that are written whole or not at all, and never over anything (docs/MEMORY_PAIR.md §1).

In this order: a temporary sibling in the destination, held by a lock; every file but `run.json`, then their bytes and
folders synced; `run.json` under another name, synced, then its own name; the caller's check; the folder's final name;
the destination synced. What a crash leaves is a whole run, or a temporary folder without `run.json`: such a folder
names no run [RUN-1], and `sweep` removes it. Any fault that is met on the way removes the temporary folder. An empty
folder in which something is mounted keeps its place: the files are moved into it, `run.json` last.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from secrets import token_hex
from typing import NamedTuple

from aef_verify.folder import READ_FOLDER
from aef_verify.layout import RUN
from aef_verify.writing.whole import NEW_FILE

PREFIX = ".aef-tmp-"
"""What the name of a temporary folder starts with."""

Step = Callable[[str], object]

_UNNAMED = ".run.json"
_NO_SYNC = frozenset((errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP))
_ATTEMPTS = 16


def publish(
    destination: str,
    name: str,
    files: Mapping[str, bytes],
    check: Callable[[str], object],
    *,
    over_empty: bool = False,
    step: Step | None = None,
) -> str:
    """Write a run folder into a destination, which is made where it is missing, and return its path.

    Args:
        destination: the folder to write into.
        name: the folder's final name; nothing of that name may be there.
        files: the bytes of each file by its path below the folder; `run.json` among them.
        check: called with the complete folder before it gets its name; what it raises undoes the writing.
        over_empty: whether an empty folder of that name may be there, to be replaced, its permissions kept.
        step: called with words for people before each step.

    Raises:
        OSError: it could not be written, or the name is taken; nothing was left behind.
    """
    tell = step or _silent
    final = os.path.join(destination, name)
    os.makedirs(destination, exist_ok=True)
    _refuse_taken(final, over_empty)
    # Where something is mounted no other folder gets that name, so that the files go there one by one.
    within = over_empty and os.path.ismount(final)
    tell("make the temporary folder")
    temporary = _make(final if within else destination)
    try:
        _fill(temporary.path, files, tell)
        tell("check the folder")
        check(temporary.path)
        if within:
            _move_up(temporary.path, final, tell)
        else:
            _name(temporary.path, final, over_empty, tell)
    except BaseException:
        _discard(temporary.path)
        raise
    finally:
        with suppress(OSError):
            os.close(temporary.lock)
    return final


def sweep(destination: str) -> list[str]:
    """Remove what crashes left in a destination, and return the names of the folders removed.

    Removed is a folder whose name starts with `PREFIX`, that holds no `run.json` at any depth and that nobody is
    writing. No link is followed, nothing else is touched, and what cannot be removed stays.
    """
    removed = []
    try:
        root = os.open(destination, READ_FOLDER)
    except OSError:
        return []
    try:
        for name in sorted(os.listdir(root)):
            if name.startswith(PREFIX) and _remove_abandoned(root, name):
                removed.append(name)
    except OSError:
        pass
    finally:
        os.close(root)
    return removed


class _Temporary(NamedTuple):
    """A temporary folder, and the descriptor that holds its lock."""

    path: str
    lock: int


def _silent(words: str) -> None:
    """Take a step without a word."""


def _refuse_taken(path: str, over_empty: bool) -> None:
    if os.path.lexists(path) and not (over_empty and _is_empty_folder(path)):
        raise FileExistsError(errno.EEXIST, "is there already, and is not overwritten", path)


def _is_empty_folder(path: str) -> bool:
    try:
        return not os.path.islink(path) and not os.listdir(path)
    except NotADirectoryError:
        return False


def _make(destination: str) -> _Temporary:
    """Make a folder of a new name and lock it, so that no other process sweeps it away."""
    for _ in range(_ATTEMPTS):
        path = os.path.join(destination, PREFIX + token_hex(8))
        os.mkdir(path)
        try:
            lock = _hold(path)
        except BaseException:
            _discard(path)
            raise
        if lock is not None:
            return _Temporary(path, lock)
    raise OSError(errno.EBUSY, "no temporary folder stays in it", destination)


def _hold(path: str) -> int | None:
    """Open and lock a folder; None for one that was swept before it was locked."""
    try:
        lock = os.open(path, READ_FOLDER)
    except FileNotFoundError:
        return None
    _lock(lock, wait=True)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(lock), os.lstat(path)):
            return lock
    os.close(lock)
    return None


def _lock(folder: int, *, wait: bool) -> bool:
    """Lock a folder for as long as it is open; False where somebody else has the lock, or none can be had."""
    try:
        import fcntl

        fcntl.flock(folder, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _fill(folder: str, files: Mapping[str, bytes], tell: Step) -> None:
    """Write the files and put them on the disk, `run.json` last."""
    folders = {folder}
    for path in sorted(files):
        if path != RUN:
            tell(f"write {path}")
            folders |= _make_parents(folder, path)
            _write(os.path.join(folder, path), files[path])
    for path in sorted(files):
        if path != RUN:
            tell(f"sync {path}")
            _sync_file(os.path.join(folder, path))
    for below in sorted(folders, reverse=True):
        tell(f"sync {os.path.relpath(below, folder)}")
        _sync_folder(below)
    unnamed = os.path.join(folder, _UNNAMED)
    tell(f"write {RUN}")
    _write(unnamed, files[RUN])
    _sync_file(unnamed)
    tell(f"name {RUN}")
    os.rename(unnamed, os.path.join(folder, RUN))
    tell(f"sync {RUN}")
    _sync_folder(folder)


def _make_parents(folder: str, path: str) -> set[str]:
    """Make the folders above a file, and return them."""
    made = set()
    above = folder
    for part in path.split("/")[:-1]:
        above = os.path.join(above, part)
        with suppress(FileExistsError):
            os.mkdir(above)
        made.add(above)
    return made


def _write(path: str, data: bytes) -> None:
    fd = os.open(path, NEW_FILE, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
    finally:
        os.close(fd)


def _sync_file(path: str) -> None:
    fd = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync_folder(path: str) -> None:
    """Sync a folder's entries, where the file system can."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(fd)
    except OSError as fault:
        if fault.errno not in _NO_SYNC:
            raise
    finally:
        os.close(fd)


def _name(temporary: str, final: str, over_empty: bool, tell: Step) -> None:
    """Give the folder its final name for good, or take it back."""
    _refuse_taken(final, over_empty)
    if os.path.lexists(final):
        os.chmod(temporary, stat.S_IMODE(os.stat(final).st_mode))
    tell("name the folder")
    os.rename(temporary, final)
    try:
        tell("sync the destination")
        _sync_folder(os.path.dirname(final))
    except BaseException:
        os.rename(final, temporary)
        raise


def _move_up(temporary: str, final: str, tell: Step) -> None:
    """Move what is in the temporary folder to the folder around it, `run.json` last, or take it back."""
    if os.listdir(final) != [os.path.basename(temporary)]:
        raise FileExistsError(errno.EEXIST, "is not empty any more, and is not written into", final)
    unnamed = os.path.join(temporary, _UNNAMED)
    # Neither folder names a run while each has some of its files.
    moves = [(os.path.join(temporary, RUN), unnamed)]
    moves += ((os.path.join(temporary, n), os.path.join(final, n)) for n in sorted(os.listdir(temporary)) if n != RUN)
    moves.append((unnamed, os.path.join(final, RUN)))
    done: list[tuple[str, str]] = []
    try:
        for source, target in moves:
            tell(f"move {os.path.relpath(target, final)}")
            os.rename(source, target)
            done.append((source, target))
        tell("sync the folder")
        _sync_folder(final)
        os.rmdir(temporary)
    except BaseException:
        for source, target in reversed(done):
            os.rename(target, source)
        raise


def _discard(folder: str) -> None:
    """Remove a temporary folder of ours; `run.json` goes first, so that no part of a run is ever taken for one."""
    try:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, RUN))
        shutil.rmtree(folder)
    except OSError:
        return


def _remove_abandoned(root: int, name: str) -> bool:
    try:
        folder = os.open(name, READ_FOLDER, dir_fd=root)
    except OSError:
        return False
    try:
        if not _lock(folder, wait=False) or _holds_run(folder):
            return False
        shutil.rmtree(name, dir_fd=root)
    except OSError:
        return False
    finally:
        os.close(folder)
    return True


def _holds_run(folder: int) -> bool:
    """Whether an open folder holds an entry named `run.json` at any depth; links are not followed."""
    for _, folders, files, _ in os.fwalk(dir_fd=folder, follow_symlinks=False, onerror=_raise):
        if RUN in files or RUN in folders:
            return True
    return False


def _raise(fault: OSError) -> None:
    raise fault
