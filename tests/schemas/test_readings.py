"""How unknown values are read: [VER-8], field by field, in the spelling of `reads` (09 §9.2.1)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from aef_verify.schemas import accepts, reads
from aef_verify.schemas.readings import READINGS
from tests.schemas.full import FULL, HEX

NEW = "something new"

UNKNOWN: dict[str, dict[str, str]] = {
    "run": {
        "execution.targetMode": "mocked",
        "execution.stimulus": "other",
        "contentCapture": "on",
        "subject.kind": "other",
        "judges[0].mode": "other",
        "suite.executionPolicy.aggregation": NEW,
        'config.thresholds["a.b"].op': NEW,
    },
    "result": {
        "severity": "critical",
        "annotator.kind": "OTHER",
        "attack.taxonomy[0].scheme": "other",
        "attack.taxonomy[1].scheme": "other",
        "usage[0].role": "other",
        "trials.aggregation": NEW,
        "aggregation.strategy": NEW,
        "aggregation.rulePath": NEW,
    },
    "summary": {"lanes[0].metrics[0].verdict": "inconclusive", "usage[0].role": "other"},
    "metrics": {"metrics[0].direction": "none", "metrics[1].direction": "none"},
    "evidence": {"kind": "other"},
    "gate-decision": {"outcome": "inconclusive", "comparability": "incomparable"},
    "overlay-event": {"kind": "annotate", "by.assurance": "self-attested"},
    "seal": {"predicate.sealedBy": "ingest"},
    "overlay-seal": {},
    "checkpoint": {
        "state": "unverifiable",
        "outcome": "unverifiable",
        "lanes[0].rule.op": "not_measured",
        "lanes[1].rule.max": "not_measured",
        "lanes[2].rule.axes[0]": "incomparable",
        "lanes[2].rule.axes[1]": "incomparable",
        "budget.approvedBy.assurance": "self-attested",
        "decision.outcome": "unverifiable",
        "decision.lanes[0].status": "unverifiable",
        "decision.lanes[1].status": "unverifiable",
        "decisionInput.lanes[0].result.status": "not_measured",
        "decisionInput.exceptions[0].by.assurance": "self-attested",
    },
    "decision": {"outcome": "unverifiable", "lanes[0].status": "unverifiable", "lanes[1].status": "unverifiable"},
    "decision#/$defs/input": {
        "lanes[0].result.status": "not_measured",
        "exceptions[0].by.assurance": "self-attested",
    },
    "run-plan": {
        "provider": "refused",
        "isolation": "refused",
        "contentCapture": "refused",
        "targetMode": "refused",
        "credentialRefs[0].scheme": "refused",
        "credentialRefs[0].purpose": "refused",
    },
    "runner": {"kind": NEW, "os": NEW},
    "runner-event": {"limit": NEW},
    "trust-policy": {},
}
"""Every field of the full documents, and what an unknown value in it is read as."""

CLAIMED = {"by.assurance", "budget.approvedBy.assurance"}


def places(path: str) -> list[Any]:
    """Return the steps of a path of `reads`."""
    text = path.replace('["a.b"]', ".a\x00b").replace("[", ".").replace("]", "")
    return [int(step) if step.isdigit() else step.replace("\x00", ".") for step in text.split(".")]


def at(value: Any, path: str) -> Any:
    for step in places(path):
        value = value[step]
    return value


def put(value: Any, path: str, new: Any) -> Any:
    changed = copy.deepcopy(value)
    *steps, last = places(path)
    place = changed
    for step in steps:
        place = place[step]
    place[last] = new
    return changed


@pytest.mark.parametrize(
    ("name", "path", "reading"),
    [(name, path, reading) for name, rows in UNKNOWN.items() for path, reading in rows.items()],
)
def test_unknown(name: str, path: str, reading: str) -> None:
    value = put(FULL[name], path, NEW)
    assert accepts(name, "reader", value) or path == "contentCapture"
    assert not accepts(name, "writer", value)
    assert reads(name, value)[path] == reading


@pytest.mark.parametrize("name", FULL)
def test_known_values_are_read_as_written(name: str) -> None:
    found = reads(name, FULL[name])
    kinds = {path for path in found if path.endswith("kind") and path not in UNKNOWN[name]}
    assert found.keys() - kinds == UNKNOWN[name].keys()
    for path, reading in found.items():
        claimed = path.endswith("assurance")
        assert reading == ("self-attested" if claimed else at(FULL[name], path)), path
    assert kinds == {
        "checkpoint": {f"lanes[{lane}].rule.kind" for lane in range(4)},
        "runner-event": {"kind"},
    }.get(name, set())


def test_a_rule_of_an_unknown_kind() -> None:
    """Its other members are not those of a kind that is known."""
    value = put(FULL["checkpoint"], "lanes[0].rule", {"kind": NEW, "op": "~=", "max": "x", "axes": ["y"]})
    found = {path: reading for path, reading in reads("checkpoint", value).items() if path.startswith("lanes[0]")}
    assert found == {"lanes[0].rule.kind": "not_measured"}


def test_a_member_of_another_kind_is_no_field() -> None:
    value = put(FULL["checkpoint"], "lanes[0].rule.max", "x")
    assert "lanes[0].rule.max" not in reads("checkpoint", value)


def test_events_of_each_kind() -> None:
    event = {"schemaVersion": "1.0", "seq": 1, "jobId": "j", "at": "2026-10-02T14:00:00Z"}
    assert reads("runner-event", event | {"kind": NEW, "limit": NEW, "status": NEW}) == {"kind": "skipped"}
    lane = event | {"kind": "lane.completed", "lane": "l"}
    assert reads("runner-event", lane | {"status": "failed"}) == {"kind": "lane.completed", "status": "failed"}
    assert reads("runner-event", lane | {"status": NEW}) == {"kind": "lane.completed", "status": "not_measured"}


def test_a_provider_by_its_name_is_known() -> None:
    assert reads("run-plan", put(FULL["run-plan"], "provider", "ci:x"))["provider"] == "ci:x"
    assert reads("run-plan", put(FULL["run-plan"], "provider", "ci:X"))["provider"] == "refused"


def test_null_and_absence_are_no_values() -> None:
    planned = FULL["checkpoint"] | {"state": "planned", "outcome": None}
    del planned["decision"], planned["decisionInput"], planned["budget"]
    assert "outcome" not in reads("checkpoint", planned)
    assert reads("run", {}) == {}
    assert reads("result", {"usage": [{}], "attack": {"taxonomy": []}, "annotator": None, "trials": 1}) == {}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("m", "config.thresholds.m.op"),
        ("a b", "config.thresholds.a b.op"),
        ("a.b", 'config.thresholds["a.b"].op'),
        ("a[0]", 'config.thresholds["a[0]"].op'),
        ('é."', 'config.thresholds["é.\\""].op'),
        ("*", "config.thresholds.*.op"),
        ("[]", 'config.thresholds["[]"].op'),
        ("", "config.thresholds..op"),
    ],
)
def test_paths_of_named_thresholds(name: str, path: str) -> None:
    run = FULL["run"] | {"config": {"thresholds": {name: {"op": "~=", "value": 1}}}}
    assert reads("run", run)[path] == "~="


@pytest.mark.parametrize("name", ["run#/$defs/stimulus", "common#/$defs/severity", "trust-policy", "unknown"])
def test_what_has_no_such_field(name: str) -> None:
    assert reads(name, {"kind": NEW}) == {}


def test_the_table_names_fields_of_the_schemas() -> None:
    assert READINGS.keys() <= FULL.keys()
    assert HEX not in {reading.unknown for rows in READINGS.values() for reading in rows}
