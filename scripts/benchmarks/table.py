"""How measurements are shown: as text, as a Markdown table, as one JSON value."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from scripts.benchmarks.growth import Growth, Pass, growth
from scripts.benchmarks.measuring import Side
from scripts.benchmarks.sides import ALL, ONE
from scripts.benchmarks.workloads import MIB, Targets


@dataclass
class Measured:
    """One workload and its sides: the floor first, then ours, then the peers.

    Attributes:
        name: the workload's name.
        title: what the table calls it.
        sides: all of them, measured.
        targets: what is asked of our sides.
    """

    name: str
    title: str
    sides: list[Side]
    targets: Targets

    def target(self, side: Side) -> float | None:
        """Return the greatest ratio to the floor that a side may have, or None."""
        return {ONE: self.targets.one, ALL: self.targets.all}.get(side.name)

    def missed(self, side: Side) -> bool:
        """Whether a side failed, or takes more time or memory than it may."""
        if side.failure is not None:
            return True
        most, mib = self.target(side), self.targets.mib if side.name in (ONE, ALL) else None
        slow = most is not None and side.ratio(self.sides[0], "wall") > most
        return slow or (mib is not None and side.median("largest") > mib * MIB)

    @property
    def met(self) -> bool:
        """Whether no side of it missed anything."""
        return not any(map(self.missed, self.sides))


@dataclass
class Lines:
    """What a line of one workload costs in a warm process, on one core."""

    name: str
    title: str
    ours: Pass
    floor: Pass


GROWTH, SHAPE = 0.15, 1.5
"""By what part one plain line may be dearer than another, and what a line of another kind costs beside a plain one."""


def lines_met(lines: Sequence[Lines], plain: Sequence[str]) -> bool:
    """Whether a line costs the same however many there are, and little more where it is no plain one."""
    grown, usual = growths(lines, plain).get("ours"), plain_cost(lines, plain)
    if grown is not None and grown.dearer > GROWTH:
        return False
    return usual is None or all(line.ours.line <= usual * SHAPE for line in lines if line.name not in plain)


def plain_cost(lines: Sequence[Lines], plain: Sequence[str]) -> float | None:
    """Return what a plain line costs us, in microseconds: the median over the sizes; None where none is measured."""
    costs = [line.ours.line for line in lines if line.name in plain]
    return median(costs) if costs else None


def machine() -> str:
    """Say what was measured on, as far as it matters: cores and Python."""
    return f"{os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}"


def text(measured: Measured) -> str:
    """Return a workload as lines of text."""
    return "\n".join([measured.title, *(_side_text(measured, side) for side in measured.sides)])


def _side_text(measured: Measured, side: Side) -> str:
    if not side.samples:
        return f"  {side.name:12} failed: {side.failure}"
    least, most = side.spread("wall")
    floor = measured.sides[0]
    told = (
        f"  {side.name:12} {side.median('wall'):8.2f} s ({least:.2f}-{most:.2f})  {side.median('cpu'):8.2f} s CPU"
        f"  x{side.ratio(floor, 'wall'):5.2f} x{side.ratio(floor, 'cpu'):5.2f} CPU"
        f"  {side.median('largest') / MIB:6.0f} MiB, all {side.median('tree') / MIB:6.0f} MiB"
    )
    target = measured.target(side)
    if target is not None:
        told += f"  (at most x{target:g}{', MISSED' if measured.missed(side) else ''})"
    return told if side.failure is None else f"{told}  failed later: {side.failure}"


def growth_text(lines: list[Lines], plain: Sequence[str]) -> str:
    """Return the cost of a line by workload, and how it grows over the plain ones, as lines of text."""
    told = ["A line in a warm process, one core, CPU time"]
    for one in lines:
        ours, floor = one.ours.line, one.floor.line
        told.append(f"  {one.title:28} {ours:8.2f} us, floor {floor:6.2f} us, x{ours / floor:.2f}")
    told += [f"  growth of {name}: {grown}" for name, grown in growths(lines, plain).items()]
    return "\n".join(told)


def growths(lines: Sequence[Lines], plain: Sequence[str]) -> dict[str, Growth]:
    """Return how the cost of plain lines grows, by side; without entries where there is one size."""
    sized = [one for one in lines if one.name in plain]
    found = {"ours": growth([one.ours for one in sized]), "floor": growth([one.floor for one in sized])}
    return {name: grown for name, grown in found.items() if grown is not None}


def markdown(measured: list[Measured], lines: list[Lines], plain: Sequence[str]) -> str:
    """Return all as Markdown tables."""
    told = [
        f"Measured on {machine()}.",
        "",
        "| Workload | | Time, s | CPU, s | To the floor | The same, CPU | Largest process, MiB | All, MiB |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for one in measured:
        told += (_row(one, side, first=side is one.sides[0]) for side in one.sides)
    if lines:
        told += [
            "",
            "| A line in a warm process, one core | CPU, µs | Floor, µs | To the floor | To a plain line |",
            "|---|--:|--:|--:|--:|",
        ]
        told += (_line_row(line, plain_cost(lines, plain)) for line in lines)
        told += ["", *(f"- growth of {name}: {grown}" for name, grown in growths(lines, plain).items())]
    return "\n".join(told)


def _line_row(line: Lines, plain: float | None) -> str:
    ours, floor = line.ours.line, line.floor.line
    beside = "" if plain is None else f"{ours / plain:.2f}"
    return f"| {line.title} | {ours:.2f} | {floor:.2f} | {ours / floor:.2f} | {beside} |"


def _row(measured: Measured, side: Side, *, first: bool) -> str:
    title = measured.title if first else ""
    if not side.samples:
        failure = str(side.failure).replace("|", "\\|")
        return f"| {title} | {side.name} | failed: {failure} | | | | | |"
    least, most = side.spread("wall")
    floor = measured.sides[0]
    target = measured.target(side)
    asked = "" if target is None else f" (at most {target:g})"
    cells = (
        f"{side.median('wall'):.2f} ({least:.2f}–{most:.2f})",
        f"{side.median('cpu'):.2f}",
        "1" if first else f"{side.ratio(floor, 'wall'):.2f}{asked}",
        "1" if first else f"{side.ratio(floor, 'cpu'):.2f}",
        f"{side.median('largest') / MIB:.0f}",
        f"{side.median('tree') / MIB:.0f}",
    )
    return f"| {title} | {side.name} | {' | '.join(cells)} |"


def value(measured: list[Measured], lines: list[Lines], plain: Sequence[str]) -> dict[str, Any]:
    """Return all as one JSON value: every sample, medians and ratios."""
    return {
        "machine": machine(),
        "workloads": [
            {
                "name": one.name,
                "title": one.title,
                "met": one.met,
                "targets": one.targets._asdict(),
                "sides": [_side_value(one, side) for side in one.sides],
            }
            for one in measured
        ],
        "lines": [{"name": line.name, "ours": asdict(line.ours), "floor": asdict(line.floor)} for line in lines],
        "growth": {name: grown._asdict() for name, grown in growths(lines, plain).items()},
    }


def _side_value(measured: Measured, side: Side) -> dict[str, Any]:
    told: dict[str, Any] = {"name": side.name, "failure": side.failure, "samples": [s._asdict() for s in side.samples]}
    if side.samples:
        told["median"] = {what: side.median(what) for what in side.samples[0]._fields}
        told["ratio"] = {what: side.ratio(measured.sides[0], what) for what in ("wall", "cpu")}
    return told
