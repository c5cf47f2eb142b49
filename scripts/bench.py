#!/usr/bin/env python3
"""Measure the verifier beside what it is held against, side by side in one run.

  scripts/bench.py [start] [lines] [blobs] [--repeat N] [--lines N] [--json]

Every figure is a ratio of two whole processes that take turns: the same work done the plain way, and `aef contract
run`. Times are medians over the repetitions, memory is the largest resident set of the process. Workloads are written
by `scripts/make_run.py` into a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
MIB = 1 << 20

PLAIN_IMPORTS = "import hashlib, json, re, dataclasses, jiter, jsonschema_rs"
PLAIN_LINES = """
import json, sys
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from pathlib import Path
schemas = [json.loads(file.read_bytes()) for file in Path(sys.argv[2]).glob("*.schema.json")]
registry = Registry().with_resources([(s["$id"], DRAFT202012.create_resource(s)) for s in schemas])
schema = next(s for s in schemas if s["$id"].endswith("/result.schema.json"))
validator = Draft202012Validator(schema, registry=registry)
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        assert validator.is_valid(json.loads(line))
"""
PLAIN_HASH = """
import hashlib, os, sys
buffer = bytearray(1 << 20)
view = memoryview(buffer)
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        digest = hashlib.sha256()
        with open(os.path.join(folder, name), "rb", buffering=0) as file:
            while count := file.readinto(buffer):
                digest.update(view[:count])
        digest.hexdigest()
"""


@dataclass
class Side:
    """One side of a comparison: the seconds of each repetition, and the largest resident set in bytes."""

    seconds: list[float] = field(default_factory=list)
    peak: int = 0

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)


@dataclass
class Figure:
    """One comparison: what is compared, the two sides, the ratio, and what it must be."""

    name: str
    plain: Side
    ours: Side
    ratio: float
    target: str
    met: bool


def once(side: Side, command: list[str]) -> None:
    """Run one process to its end and note its time and memory; raises RuntimeError where it fails."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    side.seconds.append(time.perf_counter() - start)
    side.peak = max(side.peak, usage.ru_maxrss * 1024)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"exit code {child.returncode}: {' '.join(command)}")


def in_turn(plain: list[str], ours: list[str], repeat: int, plain_repeat: int | None = None) -> tuple[Side, Side]:
    """Run both commands in alternation after one unmeasured round of ours, which also fills the file cache."""
    sides = Side(), Side()
    once(Side(), ours)
    for turn in range(repeat):
        if plain_repeat is None or turn < plain_repeat:
            once(sides[0], plain)
        once(sides[1], ours)
    return sides


def contract(run: Path) -> list[str]:
    """Return the command that verifies a run."""
    return [str(Path(PYTHON).with_name("aef")), "contract", "run", str(run)]


def make_run(folder: Path, *options: str) -> Path:
    """Write a workload."""
    run = folder / "run"
    subprocess.run([PYTHON, str(ROOT / "scripts" / "make_run.py"), str(run), *options], check=True, stdout=sys.stderr)
    return run


def bench_start(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare a small run's whole process with one that only imports what it needs."""
    run = make_run(folder, "--lines", "10", "--blobs", "2")
    plain, ours = in_turn([PYTHON, "-c", PLAIN_IMPORTS], contract(run), max(options.repeat * 10, 20))
    ratio = ours.median / plain.median
    return Figure("small run / imports alone", plain, ours, ratio, "at most 1.2", ratio <= 1.2)


def bench_lines(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare the throughput over result lines with a plain json.loads and jsonschema loop over the same lines."""
    run = make_run(folder, "--lines", str(options.lines))
    schemas = ROOT / "aef_verify" / "schemas" / "reader"
    loop = [PYTHON, "-c", PLAIN_LINES, str(run / "results.ndjson"), str(schemas)]
    plain, ours = in_turn(loop, contract(run), options.repeat, plain_repeat=1)
    ratio = plain.median / ours.median
    met = ratio >= 20 and ours.peak < 200 * MIB
    return Figure(f"{options.lines:,} lines: plain loop / ours", plain, ours, ratio, "at least 20, below 200 MiB", met)


def bench_blobs(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare a run of 1 GiB of blobs with one hashlib pass over the same files."""
    run = make_run(folder, "--lines", "64", "--blobs", "64", "--blob-bytes", str(16 * MIB))
    plain, ours = in_turn([PYTHON, "-c", PLAIN_HASH, str(run)], contract(run), options.repeat)
    ratio = ours.median / plain.median
    met = ratio <= 1.2 and ours.peak < 100 * MIB
    return Figure("1 GiB of blobs / hashlib pass", plain, ours, ratio, "at most 1.2, below 100 MiB", met)


BENCHES: dict[str, Callable[[Path, argparse.Namespace], Figure]] = {
    "start": bench_start,
    "lines": bench_lines,
    "blobs": bench_blobs,
}


def shown(side: Side) -> str:
    """Return a side as text: median, spread and peak memory."""
    spread = f"{min(side.seconds):.3f}-{max(side.seconds):.3f}"
    return f"{side.median:8.3f} s ({spread} s, {len(side.seconds)}x, {side.peak / MIB:5.0f} MiB)"


def main() -> int:
    """Run the benches asked for; exit 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", nargs="*", choices=[*BENCHES, []], help="which to run (default: all)")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each side")
    parser.add_argument("--lines", type=int, default=100_000, help="result lines of the `lines` bench")
    parser.add_argument("--json", action="store_true", help="print one JSON value on standard output")
    options = parser.parse_args()
    figures = []
    for name in options.bench or BENCHES:
        with tempfile.TemporaryDirectory(prefix="aef-bench-") as folder:
            figure = BENCHES[name](Path(folder), options)
        figures.append(figure)
        if not options.json:
            print(f"{figure.name}: {figure.ratio:.2f} ({figure.target}: {'met' if figure.met else 'MISSED'})")
            print(f"  plain {shown(figure.plain)}\n  ours  {shown(figure.ours)}", flush=True)
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures]))
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
