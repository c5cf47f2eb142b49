"""What a line costs once the process is there, and how that grows with their number.

Both sides read a workload within a process of their own (`within.py`), in alternation, on one core. The exponent is
the slope of the straight line through the points (log of lines, log of CPU seconds): 1 where a line costs the same
however many there are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log
from os import environ
from pathlib import Path
from statistics import median
from typing import NamedTuple

WITHIN = Path(__file__).with_name("within.py")


@dataclass
class Pass:
    """One workload's passes by one side: its lines, and the seconds of each repetition."""

    lines: int = 0
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def line(self) -> float:
        """Microseconds of CPU time for a line, at the median."""
        return median(self.cpu) / max(self.lines, 1) * 1e6


def measured(runs: Sequence[Path], warm: Path, repeat: int) -> list[tuple[Pass, Pass]]:
    """Return ours and the floor's passes over each run."""
    passes = [(Pass(), Pass()) for _ in runs]
    for _ in range(repeat):
        for run, both in zip(runs, passes, strict=True):
            for side, taken in zip(("ours", "floor"), both, strict=True):
                _add(taken, side, run, warm)
    return passes


def _add(taken: Pass, side: str, run: Path, warm: Path) -> None:
    told = subprocess.run(
        [sys.executable, str(WITHIN), side, str(run), str(warm)],
        stdout=subprocess.PIPE,
        check=True,
        env=environ | {"AEF_JOBS": "1"},
    )
    found = json.loads(told.stdout)
    taken.lines = found["lines"]
    taken.wall.append(found["wall"])
    taken.cpu.append(found["cpu"])


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of the least-squares line through the logarithms of (size, time); None for fewer than two."""
    logs = [(log(size), log(time)) for size, time in points]
    if len({x for x, _ in logs}) < 2:
        return None
    middle = sum(x for x, _ in logs) / len(logs), sum(y for _, y in logs) / len(logs)
    across = sum((x - middle[0]) * (y - middle[1]) for x, y in logs)
    return across / sum((x - middle[0]) ** 2 for x, _ in logs)


class Growth(NamedTuple):
    """How the cost of a line changes with their number.

    Attributes:
        exponent: CPU time grows as lines to this power.
        dearer: by what part the dearest line costs more than the cheapest, of the sizes measured.
    """

    exponent: float
    dearer: float

    def __str__(self) -> str:
        """Say it in a few words."""
        return f"lines^{self.exponent:.3f}; a line costs at most {self.dearer:.1%} more at one size than at another"


def growth(passes: Sequence[Pass]) -> Growth | None:
    """Return the growth over passes of several sizes; None for one size."""
    slope = exponent([(taken.lines, taken.line * taken.lines) for taken in passes])
    if slope is None:
        return None
    return Growth(slope, max(taken.line for taken in passes) / min(taken.line for taken in passes) - 1)
