"""Verdicts of earlier passes: found again where nothing changed, kept where nothing can change unseen (docs/CACHE.md).

A verdict is taken from the cache where the run's folder and every entry of it is what it was (`cache_identity`), and
code, policy, anchors and user are what they were (`cache_code`). It is kept where the run was the same before and after
it was read, and had not changed for `SETTLED` when the reading began: a change after that moves a ctime, as far as the
clock of the file system can tell two changes apart. A run that could not be verified is never kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from aef_verify.engine.cache_identity import find_again, identify, packed, unpacked
from aef_verify.engine.cache_record import decoded, encoded
from aef_verify.engine.task import Answer, ArmAnswer, EntryAnswer, Task
from aef_verify.report.assemble import run_entry
from aef_verify.report.model import CacheUse, Unverified

if TYPE_CHECKING:
    from aef_verify.engine.cache_store import Row, Store

SETTLED = 2_000_000_000
"""Nanoseconds that a run must have been left alone when its reading begins; also what a coarse clock cannot tell."""

_DAY = 86_400_000_000_000
_WRITE_AFTER_RUNS = 256
_WRITE_AFTER_BYTES = 4 << 20
_WRITE_AFTER = 10_000_000_000

_Given = TypeVar("_Given")

Verify = Callable[[Sequence[str]], Generator[Answer, None, None]]
"""Verifies runs, and yields the answer for each in order."""


now = time.time_ns
"""The clock that tells how long a run was left alone."""


class _Before(NamedTuple):
    """A run before it was read: its entries' names, its identity, and whether it had been left alone for `SETTLED`."""

    names: bytes
    digest: bytes
    settled: bool

    def is_still(self, path: str) -> bool:
        """Whether the run is what it was."""
        found = find_again(path, unpacked(self.names))
        return found is not None and found.digest == self.digest


class Cache:
    """The cache of one pass."""

    def __init__(self, folder: str, *, paranoid: bool, now: Callable[[], int]) -> None:
        """Begin without a store: nothing is found, and nothing kept."""
        self._folder = folder
        self._paranoid = paranoid
        self._now = now
        self._store: Store | None = None
        self._hits: dict[str, EntryAnswer] = {}
        self._rows: list[tuple[str, Row]] = []
        self._gone: list[str] = []
        self._bytes = 0
        self._written_at = now()
        self._warnings: list[str] = []
        self._damaged: list[str] = []

    @property
    def use(self) -> CacheUse:
        """How the cache was used so far."""
        told = list(self._warnings)
        if self._damaged:
            more = f", and of {len(self._damaged) - 1:,} others" if len(self._damaged) > 1 else ""
            told.append(f"cache {self._folder}: damaged, and not used: the verdict of {self._damaged[0]}{more}")
        return CacheUse(self._paranoid, tuple(told))

    def open(self, task: Task) -> None:
        """Open the store for the verdicts that such a task reaches."""
        if os.name != "posix":
            self.warn("not used: this system does not tell when a file was changed")
            return
        try:
            from aef_verify.engine.cache_code import circumstances
            from aef_verify.engine.cache_store import Store, StoreError
        except ImportError as fault:
            self.warn(f"not used: {fault}")
            return
        found = circumstances(task)
        if found is None:
            self.warn("not used: the verifier's own code cannot be read, so that nothing tells it from another one")
            return
        try:
            self._store = Store(self._folder, found, self._now() // _DAY)
        except StoreError as fault:
            self.warn(f"not used: {fault}")

    def known(self, path: str) -> tuple[int, int] | None:
        """Return device and inode of a folder that is a run with a verdict to be taken; None for any other."""
        if self._paranoid:
            return None
        row = self._row(path)
        if row is None:
            return None
        found = find_again(path, unpacked(row.names))
        if found is None or found.digest != row.identity:
            return None
        verdict = self._verdict(path, row, cached=True)
        if verdict is None:
            return None
        self._hits[path] = verdict
        return found.folder

    def answers(self, runs: Sequence[str], verify: Verify) -> Generator[Answer | EntryAnswer, None, None]:
        """Yield the answer for each run in order, from the cache or else from `verify`; keep what may be kept."""
        if self._store is not None:
            self._guarded(self._store.rest)
        left = [path for path in runs if path not in self._hits]
        before = {path: self._before(path) for path in left} if self._store is not None else {}
        with closing(verify(left)) as fresh:
            for path in runs:
                verdict = self._hits.pop(path, None)
                if verdict is not None:
                    yield verdict
                    continue
                answer = next(fresh)
                yield self._taken(path, answer, before.pop(path, None))

    def close(self) -> None:
        """Write what is left to be kept, and drop what no pass asks for any more."""
        self._write()
        if self._store is not None:
            self._guarded(self._store.sweep)
        if self._store is not None:
            self._store.close()
            self._store = None

    def _before(self, path: str) -> _Before | None:
        """Return what a run is before it is read; None where that cannot be told."""
        began = self._now()
        found = identify(path)
        if found is None:
            return None
        return _Before(packed(found.names), found.digest, found.newest <= began - SETTLED)

    def _taken(self, path: str, answer: Answer, before: _Before | None) -> Answer | EntryAnswer:
        """Keep the answer for a run that was read, if it may be kept, and say where the cache had another one."""
        verdict = _verdict_of(answer)
        disagreed = False
        if self._paranoid and before is not None:
            old = self._old(path, before)
            disagreed = old is not None and old != verdict
        if before is not None and before.settled and not isinstance(answer, Unverified) and before.is_still(path):
            self._keep(path, before, verdict)
        elif disagreed:
            self._gone.append(path)
        if disagreed:
            return EntryAnswer(replace(verdict.entry, disagreed=True), verdict.arm)
        return answer if isinstance(answer, Unverified) else verdict

    def _old(self, path: str, before: _Before) -> EntryAnswer | None:
        """Return what a pass without `--paranoid` would have taken for the run that was read."""
        row = self._row(path)
        if row is None or row.identity != before.digest:
            return None
        return self._verdict(path, row, cached=False)

    def _keep(self, path: str, found: _Before, verdict: EntryAnswer) -> None:
        if self._store is None:
            return
        record = encoded(verdict)
        if record is None:
            return
        from aef_verify.engine.cache_store import LONGEST, Row

        row = Row(found.names, found.digest, record)
        if max(map(len, row)) > LONGEST:
            return
        self._rows.append((path, row))
        self._bytes += sum(map(len, row))
        waited = self._now() - self._written_at
        if len(self._rows) >= _WRITE_AFTER_RUNS or self._bytes >= _WRITE_AFTER_BYTES or waited >= _WRITE_AFTER:
            self._write()

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        gone, self._gone = self._gone, []
        self._bytes, self._written_at = 0, self._now()
        store = self._store
        if store is not None and (rows or gone):
            self._guarded(lambda: store.put(rows, gone))

    def _row(self, path: str) -> Row | None:
        """Return what is kept of a run; None for nothing, and for what is damaged."""
        store = self._store
        if store is None:
            return None
        found = self._guarded(lambda: store.get(path))
        if found is None or found.is_whole:
            return found
        self._damaged.append(path)
        return None

    def _verdict(self, path: str, row: Row, *, cached: bool) -> EntryAnswer | None:
        """Return the verdict of a row; None for one that does not read."""
        try:
            return decoded(path, row.record, cached=cached)
        except (ValueError, TypeError, LookupError, RecursionError):
            self._damaged.append(path)
            return None

    def _guarded(self, step: Callable[[], _Given]) -> _Given | None:
        """Take a step with the store; where that fails, the rest of this pass goes on without it."""
        from aef_verify.engine.cache_store import StoreError

        try:
            return step()
        except StoreError as fault:
            self.warn(f"not used from here on: {fault}")
        store, self._store = self._store, None
        if store is not None:
            store.close()
        return None

    def warn(self, message: str) -> None:
        """Keep what the caller is to be told."""
        self._warnings.append(f"cache {self._folder}: {message}")


def _verdict_of(answer: Answer) -> EntryAnswer:
    if isinstance(answer, ArmAnswer):
        return EntryAnswer(run_entry(answer.report), answer.arm)
    return EntryAnswer(run_entry(answer), None)


@contextmanager
def opened(folder: str, task: Task, *, paranoid: bool = False) -> Iterator[Cache]:
    """Give the cache in a folder for one pass; where it cannot be used, one that holds nothing and says why."""
    cache = Cache(folder, paranoid=paranoid, now=now)
    cache.open(task)
    try:
        yield cache
    finally:
        cache.close()
