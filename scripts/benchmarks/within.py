#!/usr/bin/env python3
"""One pass over a run within a process that has started and is warm: `within.py ours|floor FOLDER WARM`.

`WARM` is a small run, read first, so that what is loaded when it is first used is there. Prints one JSON value:
`wall` and `cpu` in seconds, and the number of result `lines`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scripts.benchmarks.floor import floor


def ours(folder: str) -> int:
    """Verify a run on one core; return how many result lines there were."""
    from aef_verify import verify_run

    report = verify_run(folder)
    if report.outcome != "intact":
        raise RuntimeError(f"{folder}: {report.outcome}: {report.problems[:3]}")
    return report.lines


SIDES: dict[str, Callable[[str], int]] = {"ours": ours, "floor": floor}


def timed(side: str, folder: str, warm: str) -> dict[str, float]:
    """Read the small run, then the run; return what the second took."""
    read = SIDES[side]
    read(warm)
    start, used = perf_counter(), process_time()
    lines = read(folder)
    return {"wall": perf_counter() - start, "cpu": process_time() - used, "lines": lines}


if __name__ == "__main__":
    print(json.dumps(timed(*sys.argv[1:])))
