"""How measurements are shown: as text, as a Markdown table, as one JSON value."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from scripts.benchmarks.growth import Pass, exponent
from scripts.benchmarks.measuring import Side

MIB = 1 << 20


@dataclass
class Measured:
    """One workload and its sides: the floor first, then ours, then the peers.

    Attributes:
        name: the workload's name.
        title: what the table calls it.
        sides: all of them, measured.
        targets: the greatest ratio to the floor, in time passed, by the name of the side.
    """

    name: str
    title: str
    sides: list[Side]
    targets: dict[str, float]

    @property
    def met(self) -> bool:
        """Whether nothing failed and no target is missed."""
        if any(side.failure is not None for side in self.sides):
            return False
        floor = self.sides[0]
        return all(
            side.ratio(floor, "wall") <= self.targets[side.name] for side in self.sides if side.name in self.targets
        )


@dataclass
class Lines:
    """What a line of one workload costs in a warm process, on one core."""

    name: str
    title: str
    ours: Pass
    floor: Pass


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
    if side.name in measured.targets:
        told += f"  (at most x{measured.targets[side.name]:g})"
    return told if side.failure is None else f"{told}  failed later: {side.failure}"


def growth_text(lines: list[Lines], plain: Sequence[str]) -> str:
    """Return the cost of a line by workload, and how it grows over the plain ones, as lines of text."""
    told = ["A line in a warm process, one core, CPU time"]
    for one in lines:
        ours, floor = one.ours.line, one.floor.line
        told.append(f"  {one.title:28} {ours:8.2f} us, floor {floor:6.2f} us, x{ours / floor:.2f}")
    told += [f"  {name}: {value}" for name, value in _growth(lines, plain).items()]
    return "\n".join(told)


def _growth(lines: list[Lines], plain: Sequence[str]) -> dict[str, str]:
    sized = [one for one in lines if one.name in plain]
    figures = {}
    for name, side in (("ours", "ours"), ("floor", "floor")):
        passes: list[Pass] = [getattr(one, side) for one in sized]
        slope = exponent([(taken.lines, taken.line * taken.lines) for taken in passes])
        if slope is not None:
            least, most = min(taken.line for taken in passes), max(taken.line for taken in passes)
            figures[f"growth of {name}"] = f"lines^{slope:.3f}, the dearest line costs {most / least - 1:+.1%}"
    return figures


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
            "| A line in a warm process, one core | CPU, µs | Floor, µs | Ratio |",
            "|---|--:|--:|--:|",
        ]
        told += (
            f"| {line.title} | {line.ours.line:.2f} | {line.floor.line:.2f} | {line.ours.line / line.floor.line:.2f} |"
            for line in lines
        )
        told += ["", *(f"{name[0].upper()}{name[1:]}: {value}.  " for name, value in _growth(lines, plain).items())]
    return "\n".join(told)


def _row(measured: Measured, side: Side, *, first: bool) -> str:
    title = measured.title if first else ""
    if not side.samples:
        return f"| {title} | {side.name} | {side.failure} | | | | | |"
    least, most = side.spread("wall")
    floor = measured.sides[0]
    cells = (
        f"{side.median('wall'):.2f} ({least:.2f}–{most:.2f})",
        f"{side.median('cpu'):.2f}",
        "1" if first else f"{side.ratio(floor, 'wall'):.2f}",
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
                "targets": one.targets,
                "sides": [_side_value(one, side) for side in one.sides],
            }
            for one in measured
        ],
        "lines": [{"name": line.name, "ours": asdict(line.ours), "floor": asdict(line.floor)} for line in lines],
        "growth": {
            side: exponent(
                [(taken.lines, taken.line) for taken in (getattr(one, side) for one in lines if one.name in plain)]
            )
            for side in ("ours", "floor")
        },
    }


def _side_value(measured: Measured, side: Side) -> dict[str, Any]:
    told: dict[str, Any] = {"name": side.name, "failure": side.failure, "samples": [s._asdict() for s in side.samples]}
    if side.samples:
        told["median"] = {what: side.median(what) for what in side.samples[0]._fields}
        told["ratio"] = {what: side.ratio(measured.sides[0], what) for what in ("wall", "cpu")}
    return told
