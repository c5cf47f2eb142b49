"""[RUN-5], [RUN-8], [RUN-9] What `run.json` says of itself; [SUM-1] what `metrics.json` declares.

And what no rule judges: [RUN-4], [RUN-6], [RUN-10], [RUN-12], [RUN-13], [RUN-15], [SEC-1] to [SEC-4] bind producers
and hosts, a verifier only through the schema, or when it sees two runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.header import is_closed, metric_kinds
from aef_verify.run.verify import verify_run
from tests import building
from tests.building import ENDED, STARTED, Edit, pairs, put


def found(root: Path, *edits: Edit) -> list[list[str]]:
    return pairs(verify_run(building.bare().but(*edits).write(root)).problems)


@pytest.mark.parametrize(
    ("started", "ended", "expected"),
    [
        ("2026-10-02T14:00:00Z", "2026-10-02T14:00:00Z", []),
        ("2026-10-02T14:00:00Z", "2026-10-02T14:00:00.000000000Z", []),
        ("2026-10-02T14:00:00.000Z", "2026-10-02T14:00:00Z", []),
        ("2026-10-02T14:00:00.000000001Z", "2026-10-02T14:00:00Z", ["run-times"]),
        ("2026-10-02T14:00:00.9Z", "2026-10-02T14:00:00.89999Z", ["run-times"]),
        ("2026-10-02T14:00:00.09Z", "2026-10-02T14:00:00.1Z", []),
        ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", ["run-times"]),
    ],
)
def test_run5_a_run_does_not_end_before_it_starts(
    started: str, ended: str, expected: list[str], tmp_path: Path
) -> None:
    """[ENC-8]: at every digit written; a run of no time at all is one."""
    problems = found(tmp_path, put("run.json", "startedAt", started), put("run.json", "endedAt", ended))
    assert problems == [["run.json", code] for code in expected]


def test_run5_times_of_results_and_gates_should_lie_between_and_are_not_judged(tmp_path: Path) -> None:
    line = building.result("c1", startedAt="2000-01-01T00:00:00Z", endedAt="2099-01-01T00:00:00Z")
    late = building.gate(decidedAt="2099-01-01T00:00:00Z")
    edits = (building.lines(line), building.lines(late, file="gates.ndjson"))
    assert found(tmp_path, *edits) == []


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"trialsPerCase": 3}, []),
        ({"trialsPerCase": 3, "requirePasses": 1}, []),
        ({"trialsPerCase": 3.0, "requirePasses": 3}, []),
        ({"trialsPerCase": 3, "requirePasses": 4}, ["execution-policy"]),
        ({"trialsPerCase": 1, "requirePasses": 2, "aggregation": "Novel"}, ["execution-policy"]),
        ({"trialsPerCase": 3, "requirePasses": 3, "aggregation": "AtLeast"}, []),
        ({"trialsPerCase": 3, "aggregation": "AtLeast"}, ["schema"]),
        ({"trialsPerCase": 3, "aggregation": "AllPass"}, []),
        ({"requirePasses": 1}, ["schema"]),
    ],
)
def test_run8_no_more_passes_are_required_than_trials_run(
    policy: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    assert found(tmp_path, put("run.json", "suite", "executionPolicy", policy)) == [
        ["run.json", code] for code in expected
    ]


@pytest.mark.parametrize(
    ("calibration", "expected"),
    [
        ({}, []),
        ({"dangerousErrors": 0, "n": 0}, []),
        ({"dangerousErrors": 1, "n": 0}, ["calibration"]),
        ({"dangerousErrors": 10.0, "n": 10}, []),
        ({"measuredAt": "2026-10-02T13:59:59.999999999Z"}, []),
        ({"measuredAt": STARTED}, []),
        ({"measuredAt": ENDED}, ["calibration"]),
        ({"measuredAt": "2026-10-02T14:00:00.000000001Z"}, ["calibration"]),
        ({"measuredAt": "2026-02-30T00:00:00Z"}, ["schema"]),
    ],
)
def test_run9_a_judge_was_calibrated_before_the_run(
    calibration: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    facts = {"labelSet": "labels:gold", "n": 10, "measuredAt": STARTED} | calibration
    judges = [{"model": "a"}, {"model": "b", "mode": "novel", "calibration": facts}]
    assert found(tmp_path, put("run.json", "judges", judges)) == [["run.json", code] for code in expected]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ({"min": 0, "max": 0}, []),
        ({"min": -1.5, "max": -1.5}, []),
        ({"min": 1e-300, "max": 0}, ["metric"]),
        ({"min": 9007199254740993, "max": 9007199254740992.0}, []),
        ({"min": 1, "max": -1e308}, ["metric"]),
        ("unbounded", []),
        ("novel", ["schema"]),
    ],
)
def test_sum1_a_scale_is_not_upside_down(scale: object, expected: list[str], tmp_path: Path) -> None:
    """Compared as binary64 [ENC-4]: two ints one apart beyond 2**53 are one number."""
    problems = found(tmp_path, put("metrics.json", "metrics", 0, "scale", scale))
    assert problems == [["metrics.json", code] for code in expected]


def test_sum1_an_id_is_compared_as_written(tmp_path: Path) -> None:
    names = ["e\u0301", "é", "É", " é"]
    assert found(tmp_path / "1", *map(building.metric, names)) == []
    assert found(tmp_path / "2", *map(building.metric, [*names, "é"])) == [["metrics.json", "metric"]]


def test_the_first_declaration_of_a_metric_gives_its_kind() -> None:
    assert metric_kinds({"metrics": [{"id": "a", "kind": "rate"}, {"id": "a", "kind": "score"}]}) == {"a": "rate"}


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (None, False),
        ({}, False),
        ({"status": "running"}, False),
        ({"status": "completed"}, True),
        ({"status": "aborted"}, True),
        ({"status": "Completed"}, False),
        ({"status": ["completed"]}, False),
        ({"status": {}}, False),
    ],
)
def test_run5_closed_is_what_a_status_says(run: dict[str, Any] | None, expected: bool) -> None:
    assert is_closed(run) is expected


def test_run12_run15_what_a_runner_or_a_converter_says_is_taken_as_written(tmp_path: Path) -> None:
    plan = {"planId": "p", "planDigest": "0" * 64, "jobId": "j", "runnerId": "r"}
    imported = {"from": "tool", "asserted": ["subject.ref", "no.such.field"]}
    assert found(tmp_path, put("run.json", "provenance", plan), put("run.json", "imported", imported)) == []


@pytest.mark.parametrize("value", [None, 1, [], "x", {"schemaVersion": "9", "deep": {"NaN": [None]}}])
def test_enc19_ext_may_hold_anything_as_an_object(value: object, tmp_path: Path) -> None:
    """[ENC-19], [VER-3]: on a document and on a line; no rule depends on what it holds."""
    expected = [] if isinstance(value, dict) else [["results.ndjson:1", "schema"], ["run.json", "schema"]]
    edits = (put("run.json", "ext", value), building.lines(building.result("c1", ext=value)))
    assert found(tmp_path, *edits) == expected
