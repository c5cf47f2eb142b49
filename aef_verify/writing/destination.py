"""Folders that are written into: free ones, and none within a run, whose files everything in it would be [RUN-1]."""

from __future__ import annotations

import os

from aef_verify.layout import RUN
from aef_verify.problems import InputError, reason_of


def free_folder(out: str) -> str:
    """Return the path of a folder to be, links resolved; raises InputError where something stands that is not empty."""
    if not out:
        raise InputError("the folder to write into has no name")
    try:
        path = os.path.realpath(out)
        taken = os.listdir(path)
    except FileNotFoundError:
        return path
    except NotADirectoryError:
        raise InputError(f"{out}: is no folder, so nothing can be written into it") from None
    except (OSError, ValueError) as fault:
        raise InputError(f"{out}: cannot be used: {reason_of(fault)}") from None
    if taken:
        raise InputError(f"{out}: is not empty; what is written goes into a folder that is missing or empty")
    return path


def check_no_run(path: str) -> None:
    """Refuse a folder that is a run, or lies within one; raises InputError."""
    place = os.path.realpath(path)
    while True:
        if os.path.lexists(os.path.join(place, RUN)):
            raise InputError(f"{path}: {place} is a run, and everything below it would be that run's files [RUN-1]")
        above = os.path.dirname(place)
        if above == place:
            return
        place = above
