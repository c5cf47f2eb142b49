"""Measuring whole processes that take turns: time passed, CPU time, and memory of a process and all that it starts.

The largest process is the greatest resident set that the system noted among the process and its descendants, but at
least what this one takes. The sum over the tree is sampled, 50 times a second, and counts shared pages once for each.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

INTERVAL = 0.02
"""Seconds between two looks at a tree of processes."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Sample(NamedTuple):
    """One process from its start to its end.

    Attributes:
        wall: seconds that passed.
        cpu: seconds of user and system time, with every descendant that was waited for.
        largest: bytes of the largest resident set among the process and its descendants.
        tree: bytes that all of them held at once, at most; 0 where the system does not tell.
    """

    wall: float
    cpu: float
    largest: int
    tree: int


class FailedError(Exception):
    """A process that ended otherwise than it should, or said something else."""


@dataclass
class Side:
    """One side of a comparison: a command, what it must say, and its samples.

    Attributes:
        name: what the table calls it.
        command: the process.
        cores: how many cores it may use; None for all.
        check: returns what is wrong with the standard output, or None.
        samples: one for each repetition.
        failure: why it has no further samples.
    """

    name: str
    command: Sequence[str]
    cores: int | None = 1
    check: Callable[[bytes], str | None] = lambda _: None
    samples: list[Sample] = field(default_factory=list)
    failure: str | None = None

    def figures(self, what: str) -> list[float]:
        """Return one figure of every sample, by its name."""
        return [float(getattr(sample, what)) for sample in self.samples]

    def median(self, what: str) -> float:
        """Return the median of one figure of the samples, by its name."""
        return statistics.median(self.figures(what))

    def spread(self, what: str) -> tuple[float, float]:
        """Return the least and the greatest of one figure of the samples."""
        found = self.figures(what)
        return min(found), max(found)

    def ratio(self, to: Side, what: str) -> float:
        """Return the median over the turns of this side's figure divided by the other's of the same turn."""
        turns = zip(self.figures(what), to.figures(what), strict=False)
        return statistics.median(figure / max(other, 1e-9) for figure, other in turns)


def measure(side: Side) -> Sample:
    """Run a side's process once; raises FailedError where it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "AEF_JOBS"}
    if side.cores is not None:
        environment["AEF_JOBS"] = str(side.cores)
    with tempfile.TemporaryFile() as output:
        sample = _run(side.command, environment, output.fileno())
        output.seek(0)
        fault = side.check(output.read())
    if fault is not None:
        raise FailedError(fault)
    return sample


def _run(command: Sequence[str], environment: Mapping[str, str], output: int) -> Sample:
    start = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdout=output, stdin=subprocess.DEVNULL)
    with Tree(child.pid) as tree:
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise FailedError(f"exit code {child.returncode}")
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT, tree.peak)


class Tree:
    """Looks at the memory of a process and its descendants, from time to time, in a thread of its own."""

    def __init__(self, pid: int) -> None:
        """Look at the process `pid` and all below it."""
        self.pid = pid
        self.peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Tree:
        """Start looking."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop looking."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            self.peak = max(self.peak, sum(map(resident, descendants(self.pid))))


def descendants(pid: int) -> list[int]:
    """Return a process and every process below it, as far as the system tells."""
    found = [pid]
    for process in found:
        try:
            tasks = os.listdir(f"/proc/{process}/task")
            found += (int(child) for task in tasks for child in _words(f"/proc/{process}/task/{task}/children"))
        except OSError:
            continue
    return found


def resident(pid: int) -> int:
    """Return the bytes of a process that are in memory; 0 where it is gone or the system does not tell."""
    try:
        return int(_words(f"/proc/{pid}/statm")[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _words(file: str) -> list[str]:
    return Path(file).read_text("ascii").split()


def in_turn(sides: Sequence[Side], repeat: int) -> None:
    """Measure the sides in alternation; one that fails once says why, and is not run again."""
    for _ in range(repeat):
        for side in sides:
            if side.failure is None:
                try:
                    side.samples.append(measure(side))
                except FailedError as fault:
                    side.failure = str(fault)
