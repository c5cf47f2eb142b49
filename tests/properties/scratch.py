"""A folder for one example, gone afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from aef_verify.strategies import RunFiles

MEMORY = "/dev/shm"
"""Where it is, thousands of small files cost the disk nothing."""


@contextmanager
def scratch() -> Iterator[str]:
    """Give an empty folder."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="aef-property-", dir=place) as folder:
        yield folder


@contextmanager
def written(files: RunFiles) -> Iterator[str]:
    """Give the folder that a run becomes."""
    with scratch() as folder:
        yield files.write(os.path.join(folder, "run"))
