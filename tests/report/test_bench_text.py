"""What a benchmark reports in text: why an exit code is what it is, and why questions were not scored."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aef_verify.memory.bench import BenchResult
from aef_verify.report.bench import bench_text
from tests.memory.arms import aborted, arm, outcome
from tests.report.reports import text_of


@pytest.mark.parametrize(
    ("changed", "code", "last"),
    [
        ({}, 0, "Gate of the normal arm at 50 %: ship, exit code 0."),
        ({"outcome": "no_ship"}, 1, "Gate of the normal arm at 50 %: no_ship, exit code 1."),
        (
            {"oracle": aborted(role="oracle")},
            1,
            "Gate of the normal arm at 50 %: ship; what came after it did not complete: exit code 1.",
        ),
        ({"normal": aborted(), "outcome": None}, 1, "no gate was decided: exit code 1."),
        ({"unwritten": "why"}, 3, "Evidence that is due is not on disk: exit code 3."),
    ],
)
def test_the_last_line_explains_the_exit_code(changed: dict[str, Any], code: int, last: str) -> None:
    usual: dict[str, Any] = dict.fromkeys(BenchResult._fields) | {"normal": arm(outcome("q1")), "outcome": "ship"}
    result = BenchResult(**usual | {"written": (), "retrieved": {}} | changed)
    settings: Any = SimpleNamespace(roster=(), evidence=None, threshold="50")
    assert result.exit_code(interrupted=False) == code
    assert text_of(bench_text(result, settings, code), 200).splitlines()[-1].endswith(last)


def test_it_is_said_why_questions_were_not_scored() -> None:
    absent = [outcome(f"q{at}")._replace(state="error", reason="answer-failed") for at in range(2)]
    interrupted = outcome("q3")._replace(state="error", reason="interrupted")
    usual: dict[str, Any] = dict.fromkeys(BenchResult._fields) | {"written": (), "retrieved": {}}
    result = BenchResult(**usual | {"normal": aborted(outcome("q4"), *absent, interrupted)})
    settings: Any = SimpleNamespace(roster=(), evidence=None, threshold="50")
    assert "; not scored: 2 answer-failed, 1 interrupted\n" in text_of(bench_text(result, settings, 1), 200)
