"""[GATE-1], [GATE-2] Gate decisions name results that are there, and never ship on an incomparable comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from aef_verify.run.verify import verify_run
from tests import building
from tests.building import Json, gate, lines, pairs, result, result_id

GATES = "gates.ndjson"


def found(root: Path, *given: Json) -> list[list[str]]:
    run = building.bare().but(lines(result("c1"), result("c1", trial=0)), lines(*given, file=GATES))
    problems = pairs(verify_run(run.write(root)).problems)
    return [problem for problem in problems if problem[0].startswith(GATES)]


@pytest.mark.parametrize(
    ("comparability", "outcome", "expected"),
    [
        ("comparable", "ship", []),
        ("not_applicable", "ship", []),
        ("incomparable", "no_ship", []),
        ("incomparable", "inconclusive", []),
        ("incomparable", "ship", ["schema"]),
        ("novel", "ship", ["gate"]),
        ("Comparable", "ship", ["gate"]),
        ("novel", "no_ship", []),
        ("incomparable", "novel", []),
        ("novel", "Ship", []),
    ],
)
def test_gate2_incomparable_never_ships(comparability: str, outcome: str, expected: list[str], tmp_path: Path) -> None:
    """The schema refuses the plain case; an unknown comparability reads as `incomparable` [VER-8]."""
    assert found(tmp_path, gate(comparability=comparability, outcome=outcome)) == [
        [f"{GATES}:1", code] for code in expected
    ]


def test_gate1_results_are_named_in_two_places(tmp_path: Path) -> None:
    there, trial, nowhere = result_id("c1"), result_id("c1", trial=0), result_id("c9")
    given = [
        gate(inputs={"results": [there, trial], "requirements": ["any"]}, decisive=[trial]),
        gate(inputs={"results": [there, nowhere]}),
        gate(inputs={"results": []}, decisive=[nowhere, nowhere]),
        gate(inputs={"baselineRun": {"runId": "elsewhere", "runHash": "0" * 64}}),
        gate(inputs={"results": [nowhere]}, comparability="novel"),
    ]
    assert found(tmp_path, *given) == [[f"{GATES}:{line}", "gate"] for line in (2, 3, 5)]


def test_gate1_what_was_decided_is_no_problem(tmp_path: Path) -> None:
    """A gate that failed makes no run invalid; two decisions of one id are as they are."""
    given = [gate(outcome="no_ship", exitCode=1), gate(outcome="inconclusive", exitCode=255), gate(), gate()]
    assert found(tmp_path, *given) == []
