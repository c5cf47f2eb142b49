"""Passes over a store with a cache: what they report but for the mark, and a clock that lets files rest at once."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aef_verify.engine import cache, cache_code
from aef_verify.engine.evidence import verify_evidence
from aef_verify.report.model import EvidenceReport

LATER = 10_000_000_000
"""Nanoseconds that the passes' clock is ahead of the files': what was just written has been left alone for so long."""


def rested(patch: pytest.MonkeyPatch) -> None:
    """Let every file look old enough to be cached, and the code stay the same whoever works on it meanwhile."""
    patch.setattr(cache, "now", lambda: time.time_ns() + LATER)
    patch.setattr(cache_code, "digest_of_sources", lambda package: b"the code")


def tick(place: str | Path) -> None:
    """Wait until the file system's clock tells a change made now from one made before: some milliseconds."""
    handle, probe = tempfile.mkstemp(dir=place)
    try:
        first = os.fstat(handle).st_ctime_ns
        while os.fstat(handle).st_ctime_ns == first:
            os.pwrite(handle, b"x", 0)
    finally:
        os.close(handle)
        os.unlink(probe)


def plain(report: EvidenceReport) -> EvidenceReport:
    """Return a report without the marks that a cache makes."""
    runs = tuple(replace(run, cached=False, disagreed=False) for run in report.runs)
    return replace(report, runs=runs, cache=None)


class Passes:
    """Passes over a store, each held against one without a cache; the cache lies beside the store."""

    def __init__(self, store: str | Path, folder: str | Path) -> None:
        self.store = str(store)
        self.folder = str(folder)

    def once(self, **options: Any) -> EvidenceReport:
        """Make one pass."""
        tick(os.path.dirname(self.folder))
        chosen: dict[str, Any] = {"cache": self.folder, "jobs": 1} | options
        report = verify_evidence([self.store], **chosen)
        assert report.cache is not None
        assert plain(report) == verify_evidence([self.store], **options | {"jobs": 1, "paranoid": False})
        return report

    def cached(self, **options: Any) -> dict[str, bool]:
        """Make one pass without a warning; return by name which runs it did not read."""
        report = self.once(**options)
        assert report.cache is not None
        assert report.cache.warnings == ()
        return {os.path.relpath(run.path, self.store): run.cached for run in report.runs}
