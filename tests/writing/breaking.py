"""What stops a writer: a disk that is full, a signal that ends it at once."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(where: Path, kilobytes: int) -> Iterator[Path]:
    """Give a file system of a few kilobytes, or skip the test where none can be mounted."""
    where.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(where)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except OSError:
        pytest.skip("no mount program")
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield where
    finally:
        subprocess.run(["umount", str(where)], check=True)


def in_child(work: Callable[[], object]) -> bool:
    """Do something in a child process, and return whether a signal ended it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
