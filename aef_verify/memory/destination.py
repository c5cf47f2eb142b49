"""Where a benchmark's evidence goes, checked before any call is made (docs/MEMORY_PAIR.md §1).

Refused, in this order: a link or a file; a folder that is a run or lies within one [RUN-1]; a folder in which nothing
can be written, found out with a probe file. A folder that holds other things is fine: nothing there is touched.
"""

from __future__ import annotations

import os
import secrets
import stat

from aef_verify.problems import InputError, reason_of
from aef_verify.writing.destination import check_no_run
from aef_verify.writing.whole import NEW_FILE


def check_destination(path: str) -> None:
    """Make the destination if it is missing, and show that a run can be written there.

    Raises:
        InputError: it is none, and why.
    """
    root = path.rstrip("/") or path
    try:
        found = os.lstat(root)
    except FileNotFoundError:
        found = None
    except (OSError, ValueError) as fault:
        raise InputError(f"{path}: {reason_of(fault)}") from None
    if found is not None and stat.S_ISLNK(found.st_mode):
        raise InputError(f"{path}: a link; name the folder itself")
    if found is not None and not stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path}: not a folder")
    check_no_run(path)
    _probe(path)


def _probe(path: str) -> None:
    probe = os.path.join(path, f".aef-tmp-probe-{secrets.token_hex(8)}")
    try:
        os.makedirs(path, exist_ok=True)
        os.close(os.open(probe, NEW_FILE, 0o600))
        os.unlink(probe)
    except OSError as fault:
        raise InputError(f"{path}: nothing can be written there: {fault.strerror}") from None
