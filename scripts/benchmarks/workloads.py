"""The workloads: what each is called, how large it is, how it is written, and what is to be done with it.

A workload is written once into a folder that says its size and is kept there; it appears whole or not at all.
The same size always gives the same bytes, but for the pairs, whose ids are drawn.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from scripts.benchmarks.chains import write_chain
from scripts.make_run import arguments, write_run

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
AEF = Path(PYTHON).with_name("aef")
MAKE_RUN = ROOT / "scripts" / "make_run.py"
MIB = 1 << 20
RUN, CHAIN, EVIDENCE = "run", "chain", "evidence"


class Targets(NamedTuple):
    """What a workload may take at its full size; None where nothing is asked.

    Attributes:
        one: the greatest ratio to the floor in time passed, on one core.
        all: the same on all cores.
        mib: MiB of the largest process.
    """

    one: float | None = None
    all: float | None = None
    mib: int | None = None


class Workload(NamedTuple):
    """One workload.

    Attributes:
        name: what the command calls it.
        title: what the table calls it; `{size}` stands for its size.
        size: how many of what is counted, at full scale.
        write: writes that many into a folder that is not there.
        operation: `run` or `chain` of the contract, or `evidence` for `aef verify`.
        targets: what is asked of it at full size.
        each: lines that one of `size` makes; 0 where lines are not what is counted.
    """

    name: str
    title: str
    size: int
    write: Callable[[Path, int], None]
    operation: str = RUN
    targets: Targets = Targets()
    each: int = 0


def run_writer(*options: str) -> Callable[[Path, int], None]:
    """Return what writes a run with so many cases."""

    def write(folder: Path, size: int) -> None:
        make_run(folder, "--lines", str(size), *options)

    return write


def make_run(folder: Path, *options: str) -> None:
    """Write a run in a process of its own, which keeps this one small."""
    subprocess.run([PYTHON, str(MAKE_RUN), str(folder), *options], check=True, stdout=sys.stderr)


def write_small_runs(folder: Path, count: int) -> None:
    """Write so many runs of 10 lines and 2 blobs, a hundred in a folder."""
    parser = arguments()
    for number in range(count):
        place = folder / f"{number // 100:04d}" / f"run-{number:06d}"
        chosen = ["--lines", "10", "--blobs", "2", "--seed", str(number), "--run-id", f"bench-run-{number:06d}"]
        write_run(parser.parse_args([str(place), *chosen]))


def write_pairs(folder: Path, count: int) -> None:
    """Write so many pairs of memory benchmark runs, each of the bundled 50 questions."""
    bench = [str(AEF), "bench", "longmemeval", "--subject", "bench", "--paired-oracle", "--offline", "--quiet"]
    for number in range(count):
        place = folder / f"pair-{number:04d}"
        subprocess.run([*bench, "--threshold", "0", "--aef", str(place)], check=True, stdout=subprocess.DEVNULL)


def write_blobs(size: int) -> Callable[[Path, int], None]:
    """Return what writes a run with so many blobs of `size` bytes."""

    def write(folder: Path, count: int) -> None:
        make_run(folder, "--lines", str(min(count, 1000)), "--blobs", str(count), "--blob-bytes", str(size))

    return write


SMALL = Workload("small", "{size} lines and 2 blobs", 10, run_writer("--blobs", "2"))
"""What the other processes of the verifier are warmed with."""

PLAIN = ("lines-10k", "lines-100k", "lines-1m")

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload("lines-10k", "{size} plain lines", 10_000, run_writer(), each=1),
        Workload("lines-100k", "{size} plain lines", 100_000, run_writer(), each=1),
        Workload("lines-1m", "{size} plain lines", 1_000_000, run_writer(), targets=Targets(2.5, 1.5, 350), each=1),
        Workload("composites", "{size} composites of 4", 40_000, run_writer("--children", "4"), each=5),
        Workload("trials", "{size} cases of 3 trials", 50_000, run_writer("--trials", "3"), each=4),
        Workload("many-blobs", "{size} blobs in one run", 99_995, write_blobs(4096), targets=Targets(2.0, 2.0)),
        Workload("large-blobs", "{size} blobs of 16 MiB", 64, write_blobs(16 * MIB), targets=Targets(1.1, 0.65)),
        Workload("small-runs", "{size} small runs", 10_000, write_small_runs, EVIDENCE, Targets(all=6.0)),
        Workload("pairs", "{size} pairs of runs", 100, write_pairs, EVIDENCE),
        Workload("overlays", "{size} overlay batches", 9_999, write_chain, CHAIN),
    )
}


def written(workload: Workload, folder: Path, scale: float) -> tuple[Path, int]:
    """Write a workload below a folder, if it is not there yet; return its path and its size."""
    size = max(1, round(workload.size * scale))
    place = folder / f"{workload.name}-{size}"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f".{place.name}.{os.getpid()}"
        try:
            workload.write(unfinished, size)
            unfinished.rename(place)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return place, size
