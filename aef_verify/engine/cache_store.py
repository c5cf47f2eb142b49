"""Where verdicts are kept: one SQLite file in a folder that is the caller's alone, each row with a proof of its bytes.

In this order, before anything in it is believed: the folder is the caller's and nobody else writes to it; the file is a
regular one, the caller's, readable by nobody else; it is a database of this kind and nothing else stands in it. A row
counts where its proof, over all of it and what it was asked for by, is right. Nothing that is not ours is changed or
deleted, and what keeps the store from being used is said, once, as a `StoreError`.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from typing import NamedTuple

from aef_verify.layout import RUN
from aef_verify.problems import reason_of

NAME = "verdicts-1.sqlite3"
"""The file; another shape of it gets another name, so that no version changes what another one reads."""

KEPT_DAYS = 30
"""Days after which a verdict that no pass asked for is dropped: its run is gone, or is asked about otherwise now."""

MOST_BYTES = 1 << 30
"""Of the file; from three quarters of it on, what was not asked for longest is dropped."""

_SEEN_AGAIN_AFTER = 7
"""Days after which it is noted that a verdict was asked for, so that an ordinary pass writes nothing."""

_PATIENCE = 10.0
"""Seconds that another pass is waited for."""

LONGEST = 32 << 20
"""Bytes of the longest value that the file holds: so many are the names of 300,000 blobs."""

_APPLICATION = 0x41454656  # "AEFV"
_TABLE = (
    "CREATE TABLE verdicts (circumstances BLOB NOT NULL, path BLOB NOT NULL, names BLOB NOT NULL,"
    " identity BLOB NOT NULL, record BLOB NOT NULL, proof BLOB NOT NULL, seen INTEGER NOT NULL,"
    " PRIMARY KEY (circumstances, path))"
)
_INDEX = "CREATE INDEX verdicts_seen ON verdicts (seen)"
_FIND = "SELECT names, identity, record, proof, seen FROM verdicts WHERE circumstances = ? AND path = ?"
_KEEP = "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)"
_SEE = "UPDATE verdicts SET seen = ? WHERE circumstances = ? AND path = ?"
_DROP = "DELETE FROM verdicts WHERE circumstances = ? AND path = ?"
_DROP_OLD = "DELETE FROM verdicts WHERE seen < ?"
_DROP_OLDEST = (
    "DELETE FROM verdicts WHERE rowid IN"
    " (SELECT rowid FROM verdicts ORDER BY seen LIMIT (SELECT count(*) / 4 + 1 FROM verdicts))"
)


class StoreError(Exception):
    """The store cannot be used, and why."""


class Row(NamedTuple):
    """What is kept of one run: the names of its entries, the digest over their identity, the record of the verdict."""

    names: bytes
    identity: bytes
    record: bytes

    @property
    def is_whole(self) -> bool:
        """Whether this is what was once written."""
        return self is not DAMAGED


DAMAGED = Row(b"", b"", b"")
"""In place of what is not what was once written."""


class Store:
    """The verdicts that were reached under the same circumstances, by the path of the run as it was named."""

    def __init__(self, folder: str, circumstances: bytes, today: int) -> None:
        """Open the store in a folder, made where it is not there; `today` counts days from any one day.

        Raises:
            StoreError: it cannot be opened, or is none that may be used.
        """
        self._circumstances = circumstances
        self._today = today
        self._seen: list[bytes] = []
        self._written = False
        self._reading = False
        with _told():
            path = _checked(os.path.abspath(folder))
            self._base = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
        try:
            with _told():
                self._prepare()
        except StoreError:
            self._base.close()
            raise

    def _prepare(self) -> None:
        base = self._base
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * LONGEST)
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "synchronous = NORMAL"):
            base.execute(f"PRAGMA {setting}")
        if not self._is_ours():
            self._create()
        (size,) = base.execute("PRAGMA page_size").fetchone()
        base.execute(f"PRAGMA max_page_count = {MOST_BYTES // size}")

    def _is_ours(self) -> bool:
        """Whether the file is one of this kind; False where nothing stands in it yet."""
        base = self._base
        found = [text for (text,) in base.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")]
        (application,) = base.execute("PRAGMA application_id").fetchone()
        if not found and application == 0:
            return False
        if found != [_TABLE, _INDEX] or application != _APPLICATION:
            raise StoreError(f"{NAME} is no store of verdicts")
        return True

    def _create(self) -> None:
        base = self._base
        base.execute("PRAGMA auto_vacuum = INCREMENTAL")
        base.execute("PRAGMA journal_mode = WAL")
        with self._writing():
            if not self._is_ours():
                base.execute(_TABLE)
                base.execute(_INDEX)
                base.execute(f"PRAGMA application_id = {_APPLICATION}")

    def get(self, path: str) -> Row | None:
        """Return what is kept of a run: None for nothing, `DAMAGED` for what is damaged; raises StoreError."""
        key = os.fsencode(path)
        with _told():
            if not self._reading:
                # One look at the whole for all questions: otherwise each of them would lock and unlock the file.
                self._base.execute("BEGIN")
                self._reading = True
            found = self._base.execute(_FIND, (self._circumstances, key)).fetchone()
        if found is None:
            return None
        *kept, proof, seen = found
        if not all(isinstance(part, bytes) for part in kept) or self._proof(key, kept) != proof:
            return DAMAGED
        if not isinstance(seen, int) or not 0 <= self._today - seen < _SEEN_AGAIN_AFTER:
            self._seen.append(key)
        return Row(*kept)

    def put(self, rows: Sequence[tuple[str, Row]], gone: Sequence[str] = ()) -> None:
        """Keep what is said of some runs, and drop what was said of others, all or nothing; raises StoreError."""
        with _told(), self._writing():
            for path, row in rows:
                key = os.fsencode(path)
                self._base.execute(_KEEP, (self._circumstances, key, *row, self._proof(key, row), self._today))
            self._base.executemany(_DROP, [(self._circumstances, os.fsencode(path)) for path in gone])

    def rest(self) -> None:
        """Stop looking at the store as it was; raises StoreError."""
        if self._reading:
            self._reading = False
            with _told():
                self._base.execute("COMMIT")

    def sweep(self) -> None:
        """Note what was asked for, and drop what no pass asks for any more; raises StoreError."""
        if not (self._seen or self._written):
            return
        seen, self._seen = self._seen, []
        with _told():
            with self._writing():
                self._base.executemany(_SEE, [(self._today, self._circumstances, key) for key in seen])
                self._base.execute(_DROP_OLD, (self._today - KEPT_DAYS,))
                if self._bytes() > MOST_BYTES // 4 * 3:
                    self._base.execute(_DROP_OLDEST)
            self._base.execute("PRAGMA incremental_vacuum").fetchall()

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._base.close()

    def _bytes(self) -> int:
        """Return how many bytes of the file are in use."""
        pages, free, size = (
            int(self._base.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write all of what is done here, or none of it."""
        self.rest()
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._base.execute("ROLLBACK")
            raise
        self._written = True

    def _proof(self, key: bytes, kept: Sequence[bytes]) -> bytes:
        parts = (self._circumstances, key, *kept)
        lengths = b"%d %d %d %d %d:" % tuple(map(len, parts))
        return blake2b(lengths + b"".join(parts), digest_size=16).digest()


def _checked(folder: str) -> str:
    """Return the path of the store's file in a folder, both made where they are not there; raises StoreError."""
    above = os.path.realpath(folder)
    while True:
        if os.path.lexists(os.path.join(above, RUN)):
            raise StoreError(f"the folder lies in the run {above}, which it would change")
        if above == (above := os.path.dirname(above)):
            break
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.stat(folder)
    if found.st_uid != os.geteuid():
        raise StoreError("the folder belongs to somebody else")
    if found.st_mode & 0o022:
        raise StoreError("others may write to the folder, and could write verdicts there")
    path = os.path.join(folder, NAME)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    with closing(open(fd, "rb", buffering=0)):
        found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise StoreError(f"{NAME} is no file of its own")
    if found.st_uid != os.geteuid():
        raise StoreError(f"{NAME} belongs to somebody else")
    if found.st_mode & 0o077:
        raise StoreError(f"{NAME} is open to others; it must have mode 0600")
    return path


@contextmanager
def _told() -> Iterator[None]:
    """Turn whatever goes wrong with the file into one kind of error."""
    try:
        yield
    except sqlite3.DatabaseError as fault:
        raise StoreError(f"{NAME}: {fault}") from None
    except (OSError, ValueError, OverflowError, MemoryError, sqlite3.Error) as fault:
        raise StoreError(reason_of(fault)) from None
