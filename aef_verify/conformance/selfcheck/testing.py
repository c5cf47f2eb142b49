"""What runs in a copy of the checkout to run some of its tests: pytest, and which of them fail."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TypedDict


class Tested(TypedDict):
    """What came of tests: pytest's exit code, and the id and message of each that failed, in the order they ran."""

    status: int
    failed: list[tuple[str, str]]


class Failures:
    """A plugin for pytest that keeps the tests, or files of tests, that failed."""

    def __init__(self) -> None:
        """Start before the first test."""
        self.found: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: object) -> None:
        """Take the outcome of a step of one test."""
        self._take(report)

    def pytest_collectreport(self, report: object) -> None:
        """Take the outcome of loading one file of tests."""
        self._take(report)

    def _take(self, report: object) -> None:
        if getattr(report, "failed", False):
            crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
            message = str(getattr(crash, "message", "")).split("\n", 1)[0]
            self.found.setdefault(str(getattr(report, "nodeid", "")), message)


def main(words: Sequence[str]) -> None:
    """Run tests and print what came of them; the first word is `first`, to stop at a failure, or `all`."""
    import pytest

    how, *tests = words
    out = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    failures = Failures()
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *(["-x"] if how == "first" else [])]
    status = pytest.main([*options, *tests], plugins=[failures])
    sys.stdout.flush()
    os.dup2(out, 1)
    tested: Tested = {"status": int(status), "failed": list(failures.found.items())}
    json.dump(tested, sys.stdout)
