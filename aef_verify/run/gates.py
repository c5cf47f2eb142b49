"""Rules over `gates.ndjson`: `gate` [GATE-1], [GATE-2]."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from aef_verify.layout import GATES
from aef_verify.problems import Problem
from aef_verify.run.results import id_bytes

LIKE = frozenset(("comparable", "not_applicable"))
"""What `comparability` may be where a gate ships; an unknown value reads as `incomparable` [VER-8]."""


class GateRules:
    """Takes the lines of `gates.ndjson`, valid against the reader schema, in order."""

    def __init__(self, results: Container[bytes]) -> None:
        """Take the run's result ids, 16 bytes each."""
        self.problems: list[Problem] = []
        self._results = results

    def take(self, number: int, line: dict[str, Any]) -> None:
        """Judge one decision."""
        place = f"{GATES}:{number}"
        for result in (*line["inputs"].get("results", ()), *line.get("decisive", ())):
            if id_bytes(result) not in self._results:
                self.problems.append(Problem(place, "gate", "it names a result that the run does not have", result))
                break
        if line["comparability"] not in LIKE and line["outcome"] == "ship":
            detail = "ship, and the comparison is not known to be comparable"
            self.problems.append(Problem(place, "gate", detail, line["comparability"]))
