#!/usr/bin/env python3
"""Where the time of one pass goes: `sampling.py run|chain|evidence FOLDER`, in one process on one core.

Every millisecond of CPU time the stack is looked at, and what was used since the last look is put down to the
innermost Python function and line, native calls made there included, and to every function on the stack.
The figures are shares of the CPU time, as text.
"""

from __future__ import annotations

import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from types import CodeType, FrameType
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[2]
INTERVAL = 0.001
TOP = 25
T = TypeVar("T")

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))


class Sampled:
    """What was seen: seconds by function and line of its own, and by function with all it called."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.own: defaultdict[CodeType, float] = defaultdict(float)
        self.lines: defaultdict[tuple[str, int], float] = defaultdict(float)
        self.within: defaultdict[CodeType, float] = defaultdict(float)
        self.seconds = 0.0
        self._last = 0.0

    def of(self, work: Callable[[], object]) -> None:
        """Do the work and look at it."""
        before = signal.signal(signal.SIGPROF, self._look)
        self._last = process_time()
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
        try:
            work()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    def _look(self, _: int, frame: FrameType | None) -> None:
        now = process_time()
        used, self._last = now - self._last, now
        self.seconds += used
        if frame is None:
            return
        self.own[frame.f_code] += used
        self.lines[frame.f_code.co_filename, frame.f_lineno] += used
        seen = set()
        while frame is not None:
            seen.add(frame.f_code)
            frame = frame.f_back
        for code in seen:
            self.within[code] += used

    def text(self) -> str:
        """Return the functions and lines with the greatest shares."""
        told = [f"{self.seconds:.2f} s of CPU time", "", "    own  within  function"]
        for code, used in _greatest(self.own):
            name = f"{_place(code.co_filename)}:{code.co_firstlineno} {code.co_qualname}"
            told.append(f"  {used / self.seconds:5.1%}   {self.within[code] / self.seconds:5.1%}  {name}")
        told += ["", "    own  line"]
        told += (f"  {used / self.seconds:5.1%}  {_place(file)}:{line}" for (file, line), used in _greatest(self.lines))
        return "\n".join(told)


def _greatest(seconds: Mapping[T, float]) -> list[tuple[T, float]]:
    return sorted(seconds.items(), key=lambda item: item[1], reverse=True)[:TOP]


def _place(file: str) -> str:
    path = Path(file)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def work(operation: str, folder: str) -> Callable[[], object]:
    """Return what is to be looked at: the operation over the folder, on one core."""
    from aef_verify import verify_chain, verify_evidence, verify_run

    operations: dict[str, Callable[[], object]] = {
        "run": lambda: verify_run(folder),
        "chain": lambda: verify_chain(folder),
        "evidence": lambda: verify_evidence([folder], jobs=1),
    }
    return operations[operation]


if __name__ == "__main__":
    sampled = Sampled()
    sampled.of(work(*sys.argv[1:]))
    print(sampled.text())
