"""The scripted target: its shape, and what it answers (09 §9.2.1) [PLAN-8], [RES-1], [RES-2], [RES-9], [RUN-9]."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aef_verify.problems import InputError
from aef_verify.run.results import result_id
from aef_verify.runner import scripted
from aef_verify.runner.credentials import Credentials
from aef_verify.runner.scripted import ABSENT, ScriptedRun, ScriptedTarget, load_target
from aef_verify.runner.target import STATES, Closing, Opening, Outcome
from aef_verify.schemas.source import schema_text
from tests.runner.jobbing import AT, DIGEST, case, suite, target

CLOSING = Closing(AT, AT, None)
MISSING: Any = object()


def read(document: object) -> ScriptedTarget:
    return load_target(json.dumps(document).encode())


def test_a_target_is_read_with_its_digests_bounds_and_numbers_by_value() -> None:
    found = read(
        target(
            suite(
                "suite:a", case("1", usd=0, usdBound=1, seconds=2.0, secondsBound=3), case("2", usd=0.1, usdBound=0.1)
            ),
            suite("suite:a", version="2"),
        )
    )
    assert (found.close_seconds, found.price_table, found.target_mode) == (1, "prices-1", "scripted")
    first = found.suite("suite:a", "1")
    assert first is not None
    assert first.digest == DIGEST
    one, two = first.cases
    assert (one.case_id, one.usd_low, one.usd_bound, one.seconds, one.seconds_bound) == ("1", 0.0, 1.0, 2, 3)
    assert (two.usd, two.usd_bound) == (0.1, 0.1)
    assert found.suite("suite:a", "2") is not None
    assert found.suite("suite:a", "3") is found.suite("suite:b", "1") is None


def test_res1_the_states_are_those_of_a_closed_run() -> None:
    members = json.loads(schema_text("result", "writer"))["properties"]
    assert set(members["state"]["enum"]) - STATES == {"pending"}
    assert set(members["severity"]["enum"]) == scripted.SEVERITIES


@pytest.mark.parametrize("state", sorted(STATES))
def test_res9_a_failure_has_a_severity_and_nothing_else_has(state: str) -> None:
    graded = state in ("failed", "warn")
    read(target(suite("suite:a", case("1", state=state, severity="low" if graded else None))))
    with pytest.raises(InputError, match="severity"):
        read(target(suite("suite:a", case("1", state=state, severity=None if graded else "low"))))


def test_zero_seconds_and_costs_and_the_longest_names_are_of_the_shape() -> None:
    name = "é" * 256
    found = read(
        target(suite("suite:a", case(name, usd=0, usdBound=0, seconds=0, secondsBound=0)), priceTable="x" * 64)
    )
    (one,) = found.suites["suite:a", "1"].cases
    assert one.case_id == name
    assert read(target() | {"closeSeconds": 0, "suites": []}).suites == {}


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("suites", MISSING),
        ("suites", {}),
        ("suites", [[]]),
        ("suites", [suite(), suite()]),
        ("closeSeconds", MISSING),
        ("closeSeconds", 0.5),
        ("closeSeconds", -1),
        ("closeSeconds", True),
        ("closeSeconds", "1"),
        ("closeSeconds", None),
        ("priceTable", MISSING),
        ("priceTable", ""),
        ("priceTable", "x" * 65),
        ("priceTable", 1),
        ("schemaVersion", "1.0"),
    ],
)
def test_a_target_of_another_shape(member: str, value: object) -> None:
    refuse(target(), member, value)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("ref", MISSING),
        ("ref", "a"),
        ("ref", 1),
        ("version", MISSING),
        ("version", "latest"),
        ("version", "a b"),
        ("content", MISSING),
        ("content", None),
        ("cases", MISSING),
        ("cases", []),
        ("cases", {}),
        ("cases", [1]),
        ("cases", [case("1"), case("1")]),
        ("lane", "quality"),
        ("digest", DIGEST),
    ],
)
def test_a_suite_of_another_shape(member: str, value: object) -> None:
    refuse(suite(), member, value, lambda changed: target(changed))


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("caseId", MISSING),
        ("caseId", ""),
        ("caseId", "a\nb"),
        ("caseId", "x" * 257),
        ("caseId", 1),
        ("state", MISSING),
        ("state", "pending"),
        ("state", "Passed"),
        ("state", []),
        ("state", {}),
        ("severity", None),
        ("severity", []),
        ("usd", MISSING),
        ("usd", -0.25),
        ("usd", True),
        ("usd", "0.25"),
        ("usd", None),
        ("usdBound", MISSING),
        ("usdBound", 0.24999999999999997),
        ("usdBound", -1),
        ("seconds", MISSING),
        ("seconds", 1.5),
        ("seconds", -1),
        ("seconds", False),
        ("secondsBound", MISSING),
        ("secondsBound", 19),
        ("secondsBound", 20.5),
        ("reason", "why"),
        ("lane", "quality"),
    ],
)
def test_plan9_a_case_of_another_shape(member: str, value: object) -> None:
    refuse(case("1"), member, value, lambda changed: target(suite("suite:a", case("0"), changed)))


@pytest.mark.parametrize("severity", ["grave", None, [], 1])
def test_res9_a_severity_that_there_is_not(severity: object) -> None:
    refuse(case("1", state="failed"), "severity", severity, lambda changed: target(suite("suite:a", changed)))


def refuse(part: Any, member: str, value: object, whole: Any = lambda changed: changed) -> None:
    """Show that a part with another member is refused, and is taken without that change."""
    changed = {name: one for name, one in part.items() if name != member} | (
        {} if value is MISSING else {member: value}
    )
    with pytest.raises(InputError, match="the target is not of its shape: "):
        read(whole(changed))
    if part.get("state") != "failed":
        read(whole(part))


def test_where_a_target_is_not_of_its_shape_is_said() -> None:
    with pytest.raises(InputError, match=r"suites\[1\]: cases\[2\]: usdBound is below usd"):
        read(target(suite(), suite("suite:b", case("0"), case("1"), case("2", usdBound=0))))


@pytest.mark.parametrize("data", [b"", b"[]", b"{}{}", b'{"a":1,"a":1}', b"\xff", b'{"suites":' * 100_000])
def test_a_target_that_does_not_read(data: bytes) -> None:
    with pytest.raises(InputError, match="the target"):
        load_target(data)


def test_a_target_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.dumps(target()).encode()
    monkeypatch.setattr(scripted, "TARGET_BYTES", len(data))
    assert len(load_target(data).suites) == 1
    with pytest.raises(InputError, match="more than"):
        load_target(data + b" ")


def opened(lane: str | None, *cases: dict[str, Any]) -> ScriptedRun:
    found = read(target(suite("suite:a", *cases))).suite("suite:a", "1")
    assert found is not None
    return found.open(Opening("run-1", lane, content=True, credentials=Credentials({}, ())))


def test_res2_a_line_for_each_case_that_ran_with_a_reason_on_a_typed_absence() -> None:
    run = opened("quality", case("1", state="failed", severity="high"), case("2", state="skipped"), case("3"))
    outcomes = [run.run_case(place) for place in range(2)]
    assert outcomes == [Outcome("failed", 0.25, 20), Outcome("skipped", 0.25, 20)]
    content = run.close(CLOSING)
    one, two = content.results
    shared = {"schemaVersion": "1.0", "path": "check", "evaluator": {"id": "code:script"}, "lane": "quality"}
    assert one == shared | {
        "resultId": result_id("run-1", "1", "check"),
        "caseId": "1",
        "state": "failed",
        "severity": "high",
    }
    assert two["reason"] == ABSENT["skipped"]
    assert list(content.results[1:]) == [two]
    assert content.header == {}


def test_sum3_the_pass_rate_stands_in_the_lane_of_the_suite_and_in_no_other() -> None:
    cases = [case("1"), case("2", state="failed", severity="low"), case("3", state="error")]
    run = opened("quality", *cases)
    for place in range(3):
        run.run_case(place)
    summary = run.close(CLOSING).summary
    ((entry,),) = (lane["metrics"] for lane in summary["lanes"])
    assert (summary["lanes"][0]["lane"], entry["metric"], entry["path"]) == ("quality", "pass-rate", "check")
    assert (entry["N"], entry["n"], entry["value"]) == (3, 2, 0.5)
    run = opened(None, *cases)
    run.run_case(0)
    content = run.close(CLOSING)
    assert content.summary["lanes"] == []
    assert "lane" not in content.results[0]
    assert [metric["id"] for metric in content.metrics["metrics"]] == ["pass-rate"]


def test_enc8_the_clock_could_be_moved_by_every_case_and_a_close_for_each_suite() -> None:
    found = read(target(suite(), suite("suite:b", case("1", secondsBound=30)), closeSeconds=5))
    assert found.clock("9999-12-31T23:58:39Z").now() == "9999-12-31T23:58:39Z"
    with pytest.raises(InputError, match="9999"):
        found.clock("9999-12-31T23:58:40Z")
