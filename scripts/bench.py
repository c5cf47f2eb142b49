#!/usr/bin/env python3
"""Measure the verifier over large workloads, side by side in one run with what no verifier can avoid.

  scripts/bench.py [NAME...] [--workloads DIR] [--scale 0.01] [--repeat N] [--jobs N|all] [--peer PROGRAM]
                   [--json | --markdown | --profile]

Without a name every workload and the figure `start` are measured. What the names mean, what the floor is and what each
figure says stands in docs/PERFORMANCE.md. Exit code 1 where a side fails or, at full scale, a target is missed.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.benchmarks import growth, table
from scripts.benchmarks.figures import FIGURES, Figure, seconds
from scripts.benchmarks.measuring import Side, in_turn, measure
from scripts.benchmarks.sides import sides_of
from scripts.benchmarks.workloads import PLAIN, PYTHON, SMALL, WORKLOADS, Targets, Workload, written

SAMPLING = Path(__file__).with_name("benchmarks") / "sampling.py"


def main() -> int:
    """Measure what is asked for."""
    options = arguments().parse_args()
    names = options.name or [*WORKLOADS, "start"]
    measured: list[table.Measured] = []
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="aef-bench-") as temporary:
        folder = options.workloads or Path(temporary)
        if options.profile:
            return profile([WORKLOADS[name] for name in names if name in WORKLOADS], folder, options.scale)
        for name in names:
            if name in FIGURES:
                figures.append(figure(name, options))
            else:
                measured.append(workload(WORKLOADS[name], folder, options))
        lines = lines_of([name for name in names if name in WORKLOADS], folder, options)
    if options.json:
        told = table.value(measured, lines, PLAIN) | {"figures": [one.value() for one in figures]}
        print(json.dumps(told))
    elif options.markdown:
        print(table.markdown(measured, lines, PLAIN))
        print("\n".join(["", *(f"- {said(one)}" for one in figures)]))
    met = all(one.met for one in measured) and all(one.met for one in figures)
    return 0 if met and (options.scale != 1 or table.lines_met(lines, PLAIN)) else 1


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", choices=[*WORKLOADS, *FIGURES, []], help="what to measure", metavar="NAME")
    parser.add_argument("--workloads", type=Path, metavar="DIR", help="where workloads are kept; else they are not")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of each workload's size, for a quick look")
    parser.add_argument("--repeat", type=int, default=5, help="repetitions of each side")
    parser.add_argument(
        "--jobs",
        action="append",
        choices=["1", "all"],
        help="ours on one core or on all; default both, one after the other",
    )
    parser.add_argument(
        "--peer", action="append", default=[], type=shlex.split, metavar="PROGRAM", help="called as PROGRAM run DIR"
    )
    parser.add_argument("--lines", type=int, default=100_000, help="result lines of the figure `lines`")
    parser.add_argument("--questions", type=int, default=500, help="questions of the figure `pair`")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--profile", action="store_true", help="show where one core's time goes, and measure nothing")
    shape.add_argument("--json", action="store_true", help="print one JSON value on standard output")
    shape.add_argument("--markdown", action="store_true", help="print Markdown tables on standard output")
    return parser


def say(told: str, options: argparse.Namespace) -> None:
    """Tell what was measured as soon as it is; beside the result where that has another shape."""
    print(told, file=sys.stderr if options.json or options.markdown else sys.stdout, flush=True)


def workload(one: Workload, folder: Path, options: argparse.Namespace) -> table.Measured:
    """Write a workload, where it is not there yet, and measure every side over it."""
    place, size = written(one, folder, options.scale)
    sides = sides_of(one, place, options.jobs or ["1", "all"], options.peer)
    measure(Side("warm", sides[0].command))
    in_turn(sides, options.repeat)
    found = table.Measured(
        one.name, one.title.format(size=f"{size:,}"), sides, one.targets if options.scale == 1 else Targets()
    )
    say(table.text(found), options)
    return found


def profile(workloads: list[Workload], folder: Path, scale: float) -> int:
    """Show where the time of each workload goes."""
    for one in workloads:
        place, size = written(one, folder, scale)
        print(one.title.format(size=f"{size:,}"), flush=True)
        subprocess.run([PYTHON, str(SAMPLING), one.operation, str(place)], check=True)
    return 0


def lines_of(names: list[str], folder: Path, options: argparse.Namespace) -> list[table.Lines]:
    """Measure what a line costs in a warm process, in those workloads that count lines."""
    chosen = [WORKLOADS[name] for name in names if WORKLOADS[name].each]
    if not chosen:
        return []
    places = [written(one, folder, options.scale) for one in chosen]
    small, _ = written(SMALL, folder, 1)
    passes = growth.measured([place for place, _ in places], small, options.repeat)
    lines = [
        table.Lines(one.name, one.title.format(size=f"{size:,}"), *both)
        for one, (_, size), both in zip(chosen, places, passes, strict=True)
    ]
    say(table.growth_text(lines, PLAIN), options)
    return lines


def figure(name: str, options: argparse.Namespace) -> Figure:
    """Measure one single figure."""
    with tempfile.TemporaryDirectory(prefix="aef-bench-") as folder:
        found = FIGURES[name](Path(folder), options)
    say(f"{said(found)}\n{sides_said(found)}", options)
    return found


def said(one: Figure) -> str:
    """Return a figure in one line."""
    return f"{one.name}: {one.ratio:.2f} ({one.target}: {'met' if one.met else 'MISSED'})"


def sides_said(one: Figure) -> str:
    """Return the two sides of a figure, a line each."""
    told = []
    for side in (one.plain, one.ours):
        least, most = side.spread("wall")
        cpu = side.median("cpu")
        told.append(
            f"  {side.name:5} {seconds(side):8.3f} s ({least:.3f}-{most:.3f}), {cpu:.3f} s CPU, {len(side.samples)}x"
        )
    return "\n".join(told)


if __name__ == "__main__":
    sys.exit(main())
