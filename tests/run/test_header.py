"""[RUN-5] to [RUN-10] What `run.json` says of itself; [SUM-1] what `metrics.json` declares.

And what is taken as the producer's word: [RUN-12], [RUN-15], [ENC-19].
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


@pytest.mark.parametrize(
    ("subject", "valid"),
    [
        ({"ref": "agent:support/triage", "kind": "agent", "version": "7"}, True),
        ({"ref": "agent:a", "kind": "novel"}, True),
        ({"ref": "a-1:Support%20Agent%C3%A9", "kind": "agent"}, True),
        ({"ref": "a" * 32 + ":" + "~" * 256, "kind": "agent"}, True),
        ({"ref": "a" * 33 + ":x", "kind": "agent"}, False),
        ({"ref": "a:" + "~" * 257, "kind": "agent"}, False),
        ({"ref": "a:", "kind": "agent"}, False),
        ({"ref": "A:x", "kind": "agent"}, False),
        ({"ref": "1:x", "kind": "agent"}, False),
        ({"ref": "agent:a b", "kind": "agent"}, False),
        ({"ref": "agent:é", "kind": "agent"}, False),
        ({"ref": "agent", "kind": "agent"}, False),
        ({"ref": "agent:a\n", "kind": "agent"}, False),
        ({"kind": "agent"}, False),
        ({"ref": "agent:a"}, False),
    ],
)
def test_run6_enc13_a_subject_is_named_by_a_typed_reference(
    subject: dict[str, Any], valid: bool, tmp_path: Path
) -> None:
    """A kind of at most 32 characters, a colon, a name of at most 256, printable and without a space."""
    assert found(tmp_path, put("run.json", "subject", subject)) == ([] if valid else [["run.json", "schema"]])


@pytest.mark.parametrize(
    ("version", "valid"),
    [
        ("7", True),
        ("~" * 128, True),
        ("latest-1", True),
        ("~" * 129, False),
        ("", False),
        ("1 0", False),
        ("1.0\n", False),
        ("é", False),
        ("latest", False),
        ("LaTeSt", False),
        (7, False),
        (None, False),
    ],
)
def test_enc10_a_version_is_exact_and_latest_is_none(version: object, valid: bool, tmp_path: Path) -> None:
    for at, place in enumerate((("subject", "version"), ("producer", "version"), ("suite", "version"))):
        problems = found(tmp_path / str(at), put("run.json", *place, version))
        assert problems == ([] if valid else [["run.json", "schema"]])


@pytest.mark.parametrize(
    ("execution", "valid"),
    [
        *(({"targetMode": mode}, True) for mode in ("live", "replayed", "scripted", "mocked", "novel")),
        ({"targetMode": "live", "stimulus": "novel"}, True),
        ({"targetMode": None}, False),
        ({"stimulus": "suite"}, False),
        ({}, False),
    ],
)
def test_run7_how_the_target_was_driven_is_always_said(execution: dict[str, Any], valid: bool, tmp_path: Path) -> None:
    """An unknown mode is taken, and reads as `mocked` [VER-8]."""
    assert found(tmp_path, put("run.json", "execution", execution)) == ([] if valid else [["run.json", "schema"]])


@pytest.mark.parametrize(
    ("endpoint", "valid"),
    [
        ("https://example.org", True),
        ("https://example.org:8443/v1/chat", True),
        ("https://user@example.org/", False),
        ("https://user:secret@example.org/", False),
        ("https://example.org/?api-key=x", False),
        ("https://example.org?x", False),
        ("https://example.org/#x", False),
        ("https://example.org/\n", False),
        ("example.org", False),
    ],
)
def test_run10_an_endpoint_holds_no_credential(endpoint: str, valid: bool, tmp_path: Path) -> None:
    edit = put("run.json", "deployment", {"ref": "site:eu", "endpoint": endpoint})
    assert found(tmp_path, edit) == ([] if valid else [["run.json", "schema"]])


@pytest.mark.parametrize(
    ("run_id", "valid"),
    [
        ("A-z.0_9:-", True),
        ("a" * 128, True),
        ("a" * 129, False),
        ("", False),
        ("a b", False),
        ("é", False),
        ("a\n", False),
    ],
)
def test_enc13_an_id_is_printable_ascii_of_its_length(run_id: str, valid: bool, tmp_path: Path) -> None:
    edits = put("run.json", "runId", run_id), put("summary.json", "runId", run_id)
    assert (found(tmp_path, *edits) == []) is valid


def test_enc13_ids_compare_byte_for_byte(tmp_path: Path) -> None:
    assert found(tmp_path, put("summary.json", "runId", building.RUN_ID.upper())) == [
        ["summary.json", "summary-run-id"]
    ]
