"""Runs below a folder, looked up by what evidence names them by: the `runId` and the run hash ([CKP-8], [STRM-4]).

A run is found by its `run.json` [RUN-1], as far as that reads and has a `runId`, wherever below the folder it lies.
Each `run.json` is read once when the store is opened; a run is verified once, when something first asks about it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.folder import READ_FILE, READ_FOLDER
from aef_verify.layout import RUN
from aef_verify.problems import InputError
from aef_verify.run.folders import checked_folder, path_bytes, search
from aef_verify.run.members import text_in
from aef_verify.run.reader import Run, open_run
from aef_verify.run.verify import RunReport, verify_run

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

Document = dict[str, Any]


class StoredRun:
    """One run of a store; what the verifier says of it is found when it is first asked for.

    Attributes:
        path: its folder.
        run_id: the `runId` of its `run.json`, valid or not.
    """

    def __init__(
        self, path: str, run_id: str, policy: TrustPolicy | None, watch: Callable[[int], object] | None
    ) -> None:
        """Take the folder, the id found there, and what `verify_run` is to be given."""
        self.path = path
        self.run_id = run_id
        self._policy = policy
        self._watch = watch

    @cached_property
    def report(self) -> RunReport:
        """The verifier's report; raises InputError where the run cannot be read or changes meanwhile."""
        report = verify_run(self.path, policy=self._policy, details=True, watch=self._watch)
        if report.run_id != self.run_id:
            raise InputError(f"{self.path}/{RUN}: changed meanwhile; verify again when nothing writes to it")
        return report

    @property
    def run_hash(self) -> str:
        """The run hash: the seal's, recomputed where there is none [SEAL-4]."""
        return self.report.run_hash

    @property
    def intact(self) -> bool:
        """Whether the run is sealed and nothing is wrong with it (04 §4.5); a withheld blob is not [OVL-10]."""
        return self.report.outcome == "intact"

    def open(self) -> Run:
        """Open the run for reading; see `run.reader`."""
        return open_run(self.path)


class RunStore:
    """The runs at and below one folder.

    Attributes:
        folder: the folder as the caller named it.
        links: what was passed by because it is a link.
    """

    def __init__(
        self, folder: str, policy: TrustPolicy | None = None, watch: Callable[[int], object] | None = None
    ) -> None:
        """Find the runs; their content is not judged yet.

        Args:
            folder: the folder to search; it may hold no run.
            policy: whose redactions may withhold blobs [OVL-10].
            watch: called with the number of bytes of every block that verifying reads.

        Raises:
            InputError: no folder, or one that cannot be searched, or a `run.json` that cannot be read.
        """
        self.folder = folder
        root = checked_folder(folder)
        found, links = search(root)
        self.links = tuple(sorted(links, key=os.fsencode))
        self._named: dict[str, list[StoredRun]] = {}
        self._found: dict[str, dict[str, StoredRun]] = {}
        for place in sorted(found, key=path_bytes):
            run_id = text_in(_header(place.path), "runId")
            if run_id is not None:
                self._named.setdefault(run_id, []).append(StoredRun(place.path, run_id, policy, watch))

    def __len__(self) -> int:
        """Return the number of runs that name themselves."""
        return sum(map(len, self._named.values()))

    def named(self, run_id: str) -> tuple[StoredRun, ...]:
        """Return the runs of an id, in the byte order of their paths."""
        return tuple(self._named.get(run_id, ()))

    def find(self, run_id: str, run_hash: str) -> StoredRun | None:
        """Return the run of an id and a run hash [CKP-8]: an intact copy, else the first one; None without any."""
        if run_id not in self._found:
            # Once for an id, however many run hashes it is asked for under.
            by_hash: dict[str, StoredRun] = {}
            for run in self.named(run_id):
                if not by_hash.setdefault(run.run_hash, run).intact and run.intact:
                    by_hash[run.run_hash] = run
            self._found[run_id] = by_hash
        return self._found[run_id].get(run_hash)


def _header(folder: str) -> Document | None:
    """Return the `run.json` of a folder, None where it is no regular file within its limit that reads."""
    try:
        data = _content(folder)
        return None if data is None else read_object(data)
    except UnreadableError:
        return None
    except OSError as fault:
        raise InputError(f"{os.path.join(folder, RUN)}: cannot be read: {fault.strerror}") from None


def _content(folder: str) -> bytes | None:
    place = os.path.join(folder, RUN)
    if not stat.S_ISREG(os.lstat(place).st_mode):
        return None
    above = os.open(folder, READ_FOLDER)
    try:
        descriptor = os.open(RUN, READ_FILE, dir_fd=above)
    finally:
        os.close(above)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(limits.JSON_BYTES + 1)
    return None if len(data) > limits.JSON_BYTES else data
