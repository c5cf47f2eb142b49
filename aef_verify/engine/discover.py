"""Finding runs below folders [RUN-1]: by their `run.json`, whatever that is, and no link is ever followed.

A folder with an entry `run.json` is one run and is not searched further. Everything that could hide a run is either
searched, listed as not looked at, or an error: never passed over in silence.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from aef_verify.problems import InputError
from aef_verify.report.model import NotLookedAt
from aef_verify.run.folders import Known, RunFolder, checked_folder, path_bytes, search


class Discovery(NamedTuple):
    """The runs found, each once, and what was found and is none; both in a fixed order."""

    runs: tuple[str, ...]
    not_looked_at: tuple[NotLookedAt, ...]


def discover(paths: Sequence[str], known: Known | None = None) -> Discovery:
    """Find every run at and below the paths.

    Runs come in the order of the paths, below each by the bytes of their own path. One that is reached by two paths
    comes once, where it is reached first; one within another run found here is that run's files, and listed. A folder
    that is `known` to be a run is not listed to find that out.

    Raises:
        InputError: no path; a path that is no folder, has a name that is not UTF-8, or holds no run; a folder that
            cannot be searched.
    """
    if not paths:
        raise InputError("name at least one folder")
    runs: list[RunFolder] = []
    others: list[NotLookedAt] = []
    for path in paths:
        root = checked_folder(path)
        found, links = search(root, known)
        if not found:
            raise InputError(f"{path}: no run is here; a run is a folder that holds run.json")
        runs += sorted(found, key=path_bytes)
        others += (NotLookedAt(link, "link") for link in links)
    first: dict[tuple[int, int], RunFolder] = {}
    for run in runs:
        first.setdefault(run.identity, run)
    kept = list(first.values())
    if len(paths) > 1:
        kept, within = _outermost(kept)
        others += (NotLookedAt(run.path, "within-a-run") for run in within)
    return Discovery(
        tuple(run.path for run in kept), tuple(sorted(set(others), key=lambda other: os.fsencode(other.path)))
    )


def _outermost(runs: Sequence[RunFolder]) -> tuple[list[RunFolder], list[RunFolder]]:
    """Part the runs from those that lie within another one."""
    places = {os.path.realpath(run.path): run for run in runs}
    within = {run for place, run in places.items() if any(above in places for above in _above(place))}
    return [run for run in runs if run not in within], [run for run in runs if run in within]


def _above(place: str) -> list[str]:
    """Return the folders above one, innermost first."""
    above: list[str] = []
    parent = os.path.dirname(place)
    while parent != place:
        above.append(parent)
        place, parent = parent, os.path.dirname(parent)
    return above
