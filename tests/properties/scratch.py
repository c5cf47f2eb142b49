"""A folder for one example, gone afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from aef_verify.strategies import RunFiles


@contextmanager
def scratch() -> Iterator[str]:
    """Give an empty folder."""
    with tempfile.TemporaryDirectory(prefix="aef-property-") as folder:
        yield folder


@contextmanager
def written(files: RunFiles) -> Iterator[str]:
    """Give the folder that a run becomes."""
    with scratch() as folder:
        yield files.write(os.path.join(folder, "run"))
