"""What a refusal is called for people: a place, plain words, the value; the same words whichever validator runs."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import pytest

from aef_verify.schemas import Fault, Side, explain
from aef_verify.schemas.faults import MOST_FAULTS, TOO_LARGE
from tests.schemas.cases import GONE, Case
from tests.schemas.full import FULL, HEX, RESULT, URI

EXAMPLES: list[tuple[str, Side, dict[str, Any], list[tuple[str, str]]]] = [
    ("run", "reader", {"/runId": GONE}, [("/runId", "is required")]),
    ("run", "reader", {"/schemaVersion": "2.0"}, [("/schemaVersion", "must be a version of AEF 1, such as 1.0")]),
    ("run", "writer", {"/schemaVersion": "1.1"}, [("/schemaVersion", 'must be "1.0"')]),
    (
        "run",
        "writer",
        {"/subject/surprise": 1},
        [("/subject/surprise", "is an unknown member, and none may be added here")],
    ),
    (
        "run",
        "reader",
        {"/startedAt": "2026-02-31T00:00:00Z"},
        [("/startedAt", "must be a time in UTC that exists, such as 2026-10-02T14:00:00Z")],
    ),
    (
        "run",
        "reader",
        {"/startedAt": 0},
        [("/startedAt", "must be a time in UTC that exists, such as 2026-10-02T14:00:00Z")],
    ),
    (
        "run",
        "reader",
        {"/subject/version": "latest"},
        [("/subject/version", "must be one exact version, such as 4.2.0")],
    ),
    (
        "run",
        "reader",
        {"/subject/environment": "x" * 65},
        [("/subject/environment", "must have at most 64 characters")],
    ),
    ("run", "reader", {"/judges/0/model": ""}, [("/judges/0/model", "must have at least 1 character")]),
    ("run", "reader", {"/endedAt": GONE}, [("/endedAt", 'is required when status is "completed"')]),
    ("run", "reader", {"/abortReason": "x"}, [("/abortReason", 'is not allowed here when status is "completed"')]),
    ("run", "writer", {"/contentCapture": "maybe"}, [("/contentCapture", 'must be one of "off", "on"')]),
    ("run", "reader", {"/contentCapture": None}, [("/contentCapture", "must be text")]),
    (
        "run",
        "reader",
        {"/imported/asserted": ["a", "a"]},
        [("/imported/asserted", "must not hold the same item twice")],
    ),
    ("result", "reader", {"/turns": 1.5}, [("/turns", "must be a whole number")]),
    ("result", "reader", {"/turns": 0}, [("/turns", "must be at least 1")]),
    ("result", "reader", {"/turns": 2**53}, [("/turns", "must be at most 9007199254740991")]),
    ("result", "reader", {"/scores/0/normalized": "x"}, [("/scores/0/normalized", "must be a number or null")]),
    ("result", "reader", {"/uncertainty/ci/level": 1}, [("/uncertainty/ci/level", "must be less than 1")]),
    ("result", "reader", {"/usage": []}, [("/usage", "must have at least 1 item")]),
    ("result", "reader", {"/trial": 0}, [("", "must not have trial and trials together")]),
    ("result", "reader", {"/state": "error"}, [("/scores", 'is not allowed here when state is "error"')]),
    (
        "result",
        "reader",
        {"/parentResultId": "x"},
        [("/parentResultId", "must be a result id, such as r_0123456789abcdef0123456789abcdef")],
    ),
    (
        "result",
        "reader",
        {"/resultId": RESULT + "0"},
        [
            (
                "/resultId",
                "must have at most 34 characters: a result id, such as r_0123456789abcdef0123456789abcdef",
            )
        ],
    ),
    (
        "metrics",
        "reader",
        {"/metrics/0/scale": 1},
        [("/metrics/0/scale", 'must be "unbounded" or an object with min and max')],
    ),
    ("metrics", "reader", {"/metrics/1/scale": {"min": 0}}, [("/metrics/1/scale/max", "is required")]),
    (
        "summary",
        "reader",
        {"/lanes/0/metrics/0/n": 0},
        [
            ("/lanes/0/metrics/0/value", "must be null when n is 0"),
            ("/lanes/0/metrics/0/verdict", 'must be "not_measured" when n is 0'),
        ],
    ),
    ("evidence", "reader", {"/digest": GONE}, [("/digest", "is required when link has blob")]),
    ("evidence", "reader", {"/link": {}}, [("/link", "must have exactly one of blob, traceId, uri")]),
    ("evidence", "reader", {"/link/uri": "x:y"}, [("/link", "must have exactly one of blob, traceId, uri")]),
    (
        "gate-decision",
        "reader",
        {"/comparability": "incomparable"},
        [("/outcome", 'must not be "ship" when comparability is "incomparable"')],
    ),
    (
        "overlay-event",
        "reader",
        {"/target": {"run": "run-1"}},
        [("/target", 'must have at least one of result, requirement when kind is "waive"')],
    ),
    (
        "overlay-seal",
        "reader",
        {"/predicate/previous": None},
        [("/predicate/previous", "must be an object when batch is at least 2")],
    ),
    ("checkpoint", "reader", {"/lanes/0/rule": {}}, [("/lanes/0/rule/kind", "is required")]),
    ("checkpoint", "reader", {"/lanes/0/rule": 1}, [("/lanes/0/rule", "must be an object with kind")]),
    (
        "checkpoint",
        "writer",
        {"/lanes/0/rule/kind": "x"},
        [("/lanes/0/rule/kind", 'must be one of "threshold", "severity", "comparison", "evidence-present"')],
    ),
    ("checkpoint", "reader", {"/lanes/3/rule/runs": 0}, [("/lanes/3/rule/runs", "must be at least 1")]),
    (
        "checkpoint",
        "reader",
        {"/decision": GONE},
        [("/decision", 'is required when state is "decided" and outcome is "inconclusive"')],
    ),
    (
        "run-plan",
        "writer",
        {"/provider": "mainframe"},
        [("/provider", 'must be one of "local", "docker", "k8s" or a CI system by its name, such as ci:github')],
    ),
    (
        "run-plan",
        "reader",
        {"/baseline": {"policy": "p", "runId": "r", "runHash": HEX}},
        [("/baseline", "must be only one of: an object with policy; an object with runId and runHash")],
    ),
    ("seal", "reader", {"": None}, [("", "must be an object")]),
    ("run", "reader", {"": []}, [("", "must be an object")]),
]


@pytest.mark.parametrize(("name", "side", "changes", "faults"), EXAMPLES)
def test_words(name: str, side: Side, changes: dict[str, Any], faults: list[tuple[str, str]]) -> None:
    found = explain(name, side, Case("", "", name, changes, (False, False)).value())
    assert [(fault.pointer, fault.message) for fault in found] == faults


def test_pointers_are_escaped() -> None:
    found = explain("run", "writer", FULL["run"] | {"a/b~c": 1})
    assert [(fault.pointer, fault.value) for fault in found] == [("/a~1b~0c", 1)]


def test_a_fault_shows_what_stands_there() -> None:
    value = copy.deepcopy(FULL["result"])
    value["usage"][0]["role"] = {"a": 1}
    assert explain("result", "reader", value) == [Fault("/usage/0/role", "must be text", {"a": 1})]
    assert explain("result", "reader", FULL["result"]) == []


def test_few_faults_are_told() -> None:
    assert len(explain("run", "reader", {})) == MOST_FAULTS
    assert len(explain("run", "writer", FULL["run"] | {str(number): 1 for number in range(100_000)})) == MOST_FAULTS


def test_a_large_value_is_given_up() -> None:
    items = [{"name": "a", "digest": {"sha256": HEX, **{str(n): n for n in range(3)}}} for _ in range(100_000)]
    seal = copy.deepcopy(FULL["seal"])
    seal["subject"] = items
    seal["predicate"]["runHash"] = URI
    found = explain("seal", "writer", seal)
    assert len(found) == MOST_FAULTS
    seal["subject"] = [{"name": "a", "digest": {"sha256": HEX}}] * 200_000
    assert explain("seal", "reader", seal)[0] == Fault("/subject", "must have at most 100,000 items", seal["subject"])
    metrics = {"schemaVersion": "1.0", "metrics": [FULL["metrics"]["metrics"][0]] * 4_096, "ext": 1}
    assert [fault.pointer for fault in explain("metrics", "reader", metrics)] == ["/ext"]


def test_a_walk_that_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aef_verify.schemas.faults.MOST_STEPS", 5)
    assert explain("seal", "reader", FULL["seal"]) == [Fault("", TOO_LARGE, None)]


@pytest.mark.parametrize("pure", ["", "1"])
def test_the_words_do_not_depend_on_the_validator(pure: str) -> None:
    code = "from aef_verify.schemas import explain; print(explain('run', 'reader', {'schemaVersion': '2.0'}))"
    told = subprocess.run(
        [sys.executable, "-c", code], env={"AEF_PURE": pure}, capture_output=True, text=True, check=True
    )
    assert told.stdout == f"{explain('run', 'reader', {'schemaVersion': '2.0'})}\n"
