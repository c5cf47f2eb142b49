"""The folder of a run: listed once, no link ever followed, regular files only [RUN-1], [RUN-3].

Everything below the run's folder is opened relative to a descriptor of its parent folder, each step refusing links,
so that an entry which is exchanged for a link between the listing and the reading is never followed.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from aef_verify.layout import is_overlay
from aef_verify.problems import InputError, reason_of

BLOCK = 1 << 20
"""Bytes read at a time."""

MAX_FOLDERS = 200
"""Folders within each other that are searched (docs/READINGS.md, folders deep below each other)."""

_NO_LINK = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
READ_FILE = _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How a file is opened for reading where no link is followed and no pipe waited for; what it is, is checked then."""

READ_FOLDER = _NO_LINK | getattr(os, "O_DIRECTORY", 0)
"""How a folder is opened where no link is followed."""

_RELATIVE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_CHANGED = "changed while it was read; verify again when nothing writes to it"
_NAMES_ARE_BYTES = os.name != "nt"


def spelled(name: str) -> str:
    """Return a name from the file system as reports give it: each ill-formed part becomes U+FFFD (03 §3.9)."""
    if name.isascii():
        return name
    if _NAMES_ARE_BYTES:
        return os.fsencode(name).decode("utf-8", "replace")
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in name)


class Entry(NamedTuple):
    """One entry below a run: `path` as reports spell it, `name` as the file system has it, both with `/`."""

    path: str
    name: str


class Read(NamedTuple):
    """What one pass over a file gave: its SHA-256 in hex and its size in bytes."""

    sha256: str
    size: int


def path_bytes(entry: Entry) -> bytes:
    """Sort key: the path's UTF-8 bytes [SEAL-3], then the name's (docs/READINGS.md, names that are spelled alike)."""
    path = entry.path.encode()
    return path if entry.path == entry.name else path + b"\0" + os.fsencode(entry.name)


class Folder:
    """The entries of one run folder, and the only way its files are opened.

    Attributes:
        root: the folder as the caller named it.
        files: the regular files that the run's own rules judge (all but `overlays/`), by path bytes.
        overlays: the entries below `overlays/` that are regular files, by path bytes.
        irregular: what is neither a regular file nor a folder, outside `overlays/` [RUN-3].
        irregular_overlays: the same below `overlays/` [OVL-5].
        watch: called with the number of bytes of every block read; for progress.
    """

    watch: Callable[[int], object] | None = None

    def __init__(self, root: str) -> None:
        """List the folder; raises InputError where it is none or cannot be searched."""
        self.root = root
        self._root_fd = -1
        self._parent = ""
        self._parent_fd = -1
        self._check_root()
        entries: list[Entry] = []
        odd: list[Entry] = []
        try:
            self._root_fd = os.open(root, READ_FOLDER) if _RELATIVE else -1
            self._list("", "", self._root_fd, 0, entries, odd)
        except OSError as fault:
            self.close()
            raise InputError(f"{root}: cannot be searched: {fault.strerror}") from None
        self.files = sorted((e for e in entries if not is_overlay(e.path)), key=path_bytes)
        self.overlays = sorted((e for e in entries if is_overlay(e.path)), key=path_bytes)
        self.irregular = sorted((e for e in odd if not is_overlay(e.path)), key=path_bytes)
        self.irregular_overlays = sorted((e for e in odd if is_overlay(e.path)), key=path_bytes)
        self._by_path = {entry.path: entry for entry in entries if entry.path == entry.name}

    def __enter__(self) -> Folder:
        """Return the folder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        self.close()

    def close(self) -> None:
        """Close the descriptors of the folder."""
        for fd in {self._root_fd, self._parent_fd}:
            if fd >= 0:
                os.close(fd)
        self._root_fd = self._parent_fd = -1
        self._parent = ""

    def get(self, path: str) -> Entry | None:
        """Return the regular file at a path, or None."""
        return self._by_path.get(path)

    def _check_root(self) -> None:
        try:
            found = os.lstat(self.root)
        except (OSError, ValueError) as fault:
            raise InputError(f"{self.root}: {reason_of(fault)}") from None
        if stat.S_ISLNK(found.st_mode):
            raise InputError(f"{self.root}: a link, and links are not followed; name the folder itself")
        if not stat.S_ISDIR(found.st_mode):
            raise InputError(f"{self.root}: not a folder; a run is the folder that holds run.json")

    def _list(self, above: str, name: str, fd: int, level: int, files: list[Entry], odd: list[Entry]) -> None:
        """List one open folder and all below it; `above` is its path as spelled, `name` as on disk."""
        folders: list[tuple[str, str, str]] = []
        with os.scandir(fd if _RELATIVE else os.path.join(self.root, name)) as entries:
            for found in entries:
                path = above + spelled(found.name)
                raw = name + found.name
                if found.is_dir(follow_symlinks=False):
                    folders.append((path, raw, found.name))
                elif found.is_file(follow_symlinks=False):
                    files.append(Entry(path, raw))
                else:
                    odd.append(Entry(path, raw))
        for path, raw, last in folders:
            if level >= MAX_FOLDERS:
                odd.append(Entry(path, raw))
                continue
            below = os.open(last, READ_FOLDER, dir_fd=fd) if _RELATIVE else -1
            try:
                self._list(path + "/", raw + "/", below, level + 1, files, odd)
            finally:
                if below >= 0:
                    os.close(below)

    def _parent_of(self, entry: Entry) -> tuple[str, int]:
        """Return the entry's last name and an open descriptor of its folder, kept for the next entry."""
        parent, _, last = entry.name.rpartition("/")
        if self._root_fd < 0:
            self._root_fd = os.open(self.root, READ_FOLDER)
        if not parent:
            return last, self._root_fd
        if parent != self._parent or self._parent_fd < 0:
            if self._parent_fd >= 0:
                os.close(self._parent_fd)
                self._parent_fd = -1
            fd = self._root_fd
            for step in parent.split("/"):
                try:
                    below = os.open(step, READ_FOLDER, dir_fd=fd)
                finally:
                    if fd != self._root_fd:
                        os.close(fd)
                fd = below
            self._parent, self._parent_fd = parent, fd
        return last, self._parent_fd

    def open(self, entry: Entry) -> int:
        """Open a listed regular file and return its descriptor; raises InputError where it is none any more."""
        try:
            if _RELATIVE:
                last, parent = self._parent_of(entry)
                fd = os.open(last, READ_FILE, dir_fd=parent)
            else:
                fd = os.open(os.path.join(self.root, entry.name), READ_FILE)
        except OSError as fault:
            raise InputError(f"{self._named(entry)}: cannot be read: {fault.strerror}") from None
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise InputError(f"{self._named(entry)}: no longer a regular file; it changed while it was read")
        return fd

    def size(self, entry: Entry) -> int:
        """Return the size of a listed file in bytes, without reading it."""
        fd = self.open(entry)
        try:
            return os.fstat(fd).st_size
        finally:
            os.close(fd)

    def blocks(self, entry: Entry, done: list[Read]) -> Iterator[memoryview]:
        """Yield a file's bytes, at most `BLOCK` at a time, each view valid until the next is asked for.

        After the last block `done` holds the file's `Read`. Raises InputError where the file changes while it is read.
        """
        fd = self.open(entry)
        try:
            before = os.fstat(fd)
            digest = hashlib.sha256()
            buffer = bytearray(min(BLOCK, before.st_size + 1))
            view = memoryview(buffer)
            size = 0
            while True:
                count = os.readv(fd, [buffer]) if hasattr(os, "readv") else _read_into(fd, view)
                if not count:
                    break
                size += count
                if size > before.st_size:
                    # At once, as a file that something appends to all the time has no end to read to.
                    raise InputError(f"{self._named(entry)}: {_CHANGED}")
                block = view[:count]
                digest.update(block)
                if self.watch is not None:
                    self.watch(count)
                yield block
            after = os.fstat(fd)
        except OSError as fault:
            raise InputError(f"{self._named(entry)}: cannot be read: {fault.strerror}") from None
        finally:
            os.close(fd)
        if size != before.st_size or (before.st_mtime_ns, before.st_size) != (
            after.st_mtime_ns,
            after.st_size,
        ):
            raise InputError(f"{self._named(entry)}: {_CHANGED}")
        done.append(Read(digest.hexdigest(), size))

    def digest(self, entry: Entry) -> Read:
        """Return the digest and size of a file, in one pass and constant memory [SEAL-2]."""
        small = self._small(entry, BLOCK)
        if small is not None:
            return Read(hashlib.sha256(small).hexdigest(), len(small))
        done: list[Read] = []
        for _ in self.blocks(entry, done):
            pass
        return done[0]

    def within(self, entry: Entry, limit: int) -> bytes | None:
        """Return a file's bytes; None for one beyond `limit`, of which nothing is read [ENC-17], [SIG-1]."""
        return self.content(entry, limit)[0] if self.size(entry) <= limit else None

    def content(self, entry: Entry, limit: int) -> tuple[bytes | None, Read]:
        """Return a file's bytes and digest; None for the bytes of a file beyond `limit`, which is only hashed."""
        small = self._small(entry, min(limit, BLOCK))
        if small is not None:
            return small, Read(hashlib.sha256(small).hexdigest(), len(small))
        done: list[Read] = []
        kept: list[bytes] = []
        size = 0
        for block in self.blocks(entry, done):
            size += len(block)
            if size <= limit:
                kept.append(bytes(block))
            else:
                kept.clear()
        return (b"".join(kept) if size <= limit else None), done[0]

    def _small(self, entry: Entry, limit: int) -> bytes | None:
        """Return a file's bytes, read at one stroke; None where it has more than `limit`."""
        fd = self.open(entry)
        try:
            size = os.fstat(fd).st_size
            if size > limit:
                return None
            data = os.read(fd, size + 1)
        except OSError as fault:
            raise InputError(f"{self._named(entry)}: cannot be read: {fault.strerror}") from None
        finally:
            os.close(fd)
        if len(data) != size:
            raise InputError(f"{self._named(entry)}: {_CHANGED}")
        if self.watch is not None:
            self.watch(size)
        return data

    def _named(self, entry: Entry) -> str:
        return os.path.join(self.root, entry.path)


def _read_into(fd: int, view: memoryview) -> int:
    data = os.read(fd, len(view))
    view[: len(data)] = data
    return len(data)
