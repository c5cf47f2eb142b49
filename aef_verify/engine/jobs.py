"""How much may be done at once: the cores that there are, or as many as AEF_JOBS allows."""

from __future__ import annotations

import os

from aef_verify.problems import InputError


def jobs_allowed() -> int:
    """Return the number of cores for this process, at most AEF_JOBS; raises InputError where that is no number."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given = os.environ.get("AEF_JOBS", "")
    if not given:
        return cores
    if not given.isascii() or not given.isdigit() or len(given) > 6 or int(given) < 1:
        raise InputError(f"AEF_JOBS is {given!r}; it limits how much is done at once and is a number from 1 on")
    return min(cores, int(given))
