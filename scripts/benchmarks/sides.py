"""Who is measured over a workload: the floor, the verifier on one core and on all, and other programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts.benchmarks.measuring import Side
from scripts.benchmarks.workloads import AEF, EVIDENCE, PYTHON, Workload

FLOOR = Path(__file__).with_name("floor.py")
ONE, ALL = "1 core", "all cores"
NAMES = {"1": ONE, "all": ALL}


def sides_of(workload: Workload, place: Path, jobs: Sequence[str], peers: Sequence[Sequence[str]]) -> list[Side]:
    """Return the sides of a workload: the floor first. Peers speak the contract, and take one run at a time."""
    checked = check(workload)
    sides = [Side("floor", [PYTHON, str(FLOOR), str(place)])]
    sides += (Side(NAMES[cores], ours(workload, place, cores), 1 if cores == "1" else None, checked) for cores in jobs)
    if workload.operation != EVIDENCE:
        for peer in peers:
            call = [*peer, workload.operation, str(place)]
            sides.append(Side(Path(peer[0]).name, call, None, checked))
    return sides


def ours(workload: Workload, place: Path, cores: str) -> list[str]:
    """Return the command that does a workload's operation."""
    if workload.operation == EVIDENCE:
        return [str(AEF), "verify", "--quiet", *(["--jobs", cores] if cores != "all" else []), str(place)]
    return [str(AEF), "contract", workload.operation, str(place)]


def check(workload: Workload) -> Callable[[bytes], str | None]:
    """Return what tells whether a process gave the answer that every workload deserves: nothing is wrong."""
    return silent if workload.operation == EVIDENCE else sound


def silent(output: bytes) -> str | None:
    """Say what is wrong with an answer that is an exit code."""
    return f"said {output[:200]!r}" if output else None


def sound(output: bytes) -> str | None:
    """Say what is wrong with an answer of the contract."""
    try:
        answer = json.loads(output)
        if answer["problems"] == [] and answer.get("outcome", "intact") == "intact":
            return None
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    return f"answered {output[:200]!r}"
