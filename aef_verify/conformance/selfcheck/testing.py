"""What runs in a copy of the checkout to run some of its tests: pytest, and the first test that fails."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TypedDict


class Tested(TypedDict):
    """What came of tests: pytest's exit code, and the id and message of the first that failed, empty where none did."""

    status: int
    id: str
    message: str


class First:
    """A plugin for pytest that keeps the first test, or file of tests, that failed."""

    def __init__(self) -> None:
        """Start before the first test."""
        self.id = ""
        self.message = ""

    def pytest_runtest_logreport(self, report: object) -> None:
        """Take the outcome of a step of one test."""
        self._take(report)

    def pytest_collectreport(self, report: object) -> None:
        """Take the outcome of loading one file of tests."""
        self._take(report)

    def _take(self, report: object) -> None:
        if not self.id and getattr(report, "failed", False):
            self.id = str(getattr(report, "nodeid", ""))
            crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
            self.message = str(getattr(crash, "message", "")).split("\n", 1)[0]


def main(words: Sequence[str]) -> None:
    """Run the tests of the files named until one fails, and print what came of them; all else goes nowhere."""
    import pytest

    out = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    first = First()
    status = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *words], plugins=[first])
    sys.stdout.flush()
    os.dup2(out, 1)
    tested: Tested = {"status": int(status), "id": first.id, "message": first.message}
    json.dump(tested, sys.stdout)
