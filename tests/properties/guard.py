"""What must not happen while a folder is read: waiting, and opening anything outside it.

Two nets under each other: an audit hook sees every path that this process opens or lists, and every descriptor that
`os.open` gives is looked up, so that no link on the way can lead elsewhere.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from unittest.mock import patch

import aef_verify

SECONDS = 60
"""Far more than any example takes: to stop a verifier that waits for ever, not to time one."""

_OWN = tuple(os.path.realpath(path) for path in (os.path.dirname(aef_verify.__file__), sys.prefix, sys.base_prefix))
"""Where the verifier's own schemas and modules are."""


class Outside(AssertionError):
    """Something outside the folder was opened, listed or looked up by a path that may lead there."""


class _Watch:
    """What the audit hook, which can never be taken out, tells while it is asked to."""

    folder: str | None = None
    installed = False
    opened: tuple[str, ...] = ()


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if (
        _Watch.folder is not None
        and event in ("open", "os.scandir", "os.listdir")
        and not isinstance(arguments[0], int)
    ):
        flags = arguments[2] if event == "open" else 0
        fault = _path_fault(os.fsdecode(arguments[0]), flags, _Watch.folder)
        if fault:
            _Watch.opened = (*_Watch.opened, f"{event}: {arguments[0]!r}: {fault}")


def _path_fault(path: str, flags: int, folder: str) -> str:
    """Say what is wrong with a path that is opened: inside a folder only plain names, no link followed."""
    if path == folder or path.startswith(f"{folder}/"):
        plain = flags & os.O_NOFOLLOW and path == folder
        return "" if plain else "opened by a whole path, on which a link could stand"
    if os.path.isabs(path):
        return "" if os.path.realpath(path).startswith(_OWN) else "outside the folder"
    return (
        "" if "/" not in path and path not in ("", ".", "..") and flags & os.O_NOFOLLOW else "a link could be followed"
    )


@contextmanager
def nothing_outside(folder: str) -> Iterator[None]:
    """Raise `Outside` where anything but the folder, or the verifier itself, was opened meanwhile."""
    if not _Watch.installed:
        sys.addaudithook(_hook)
        _Watch.installed = True
    real_folder, real_open = os.path.realpath(folder), os.open
    found: list[str] = []

    def watched_open(*arguments: Any, **named: Any) -> int:
        fd = real_open(*arguments, **named)
        place = os.readlink(f"/proc/self/fd/{fd}")
        if place != real_folder and not place.startswith((f"{real_folder}/", *_OWN)):
            found.append(f"os.open gave {place}")
        return fd

    _Watch.opened = ()
    with patch.object(os, "open", watched_open):
        _Watch.folder = folder
        try:
            yield
        finally:
            _Watch.folder = None
    if found or _Watch.opened:
        raise Outside("; ".join((*found, *_Watch.opened)))


@contextmanager
def ends() -> Iterator[None]:
    """Raise TimeoutError where the work waits for ever, as at a pipe that nobody writes to."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("it did not end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
