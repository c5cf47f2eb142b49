"""The report for programs: complete, valid against its shipped schema, ASCII, I-JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import aef_verify
from aef_verify.encoding.ijson import parse_object
from aef_verify.problems import Problem
from aef_verify.report.assemble import run_entry
from aef_verify.report.json import SCHEMA, VALUE_CHARACTERS, VERSION, as_json
from aef_verify.report.model import NOT_VERIFIED, UNREADABLE, CacheUse, EvidenceReport, NotLookedAt, Unverified
from tests import building
from tests.report.reports import DIGEST, GONE, HASH, UNCOVERED, hostile_reports, report, verified

FILE = Path(aef_verify.__file__).parent / "schemas" / "report" / "verify-report.schema.json"
DOCUMENT = json.loads(FILE.read_text())
VALIDATOR = jsonschema.Draft202012Validator(DOCUMENT)


def value_of(found: EvidenceReport) -> dict[str, Any]:
    text = as_json(found)
    assert text.isascii()
    value: dict[str, Any] = parse_object(text.encode())
    VALIDATOR.validate(value)
    return value


def test_the_schema_is_one_and_names_the_version() -> None:
    VALIDATOR.check_schema(DOCUMENT)
    assert DOCUMENT["$id"] == f"{SCHEMA}:{VERSION}"


def test_every_object_of_the_schema_is_closed() -> None:
    def objects(node: Any) -> Any:
        if isinstance(node, dict):
            if node.get("type") == "object":
                yield node
            for inner in node.values():
                yield from objects(inner)
        elif isinstance(node, list):
            for inner in node:
                yield from objects(inner)

    assert all(found["additionalProperties"] is False for found in objects(DOCUMENT))


def test_a_run_is_there_with_everything() -> None:
    imported = {"from": "tool 1", "asserted": ["suite"]}
    run = building.small()["run.json"] | {"imported": imported, "execution": {"targetMode": "holographic"}}
    answer = verified("runs/a", DIGEST, run=run, signed_by=(), anchored=False, overlays=[UNCOVERED])
    value = value_of(report(answer, required=("signed",), policy=True, anchors=True))
    (found,) = value["runs"]
    assert found == {
        "path": "runs/a",
        "outcome": "invalid",
        "message": None,
        "sound": False,
        "runId": "run-0001",
        "runHash": HASH,
        "status": "completed",
        "targetMode": {"written": "holographic", "read": "mocked"},
        "producer": {"name": "building", "version": "1.2"},
        "subject": {"ref": "agent:triage", "version": "7"},
        "suite": {"ref": "suite:triage", "version": "3"},
        "imported": imported,
        "sealed": False,
        "signedBy": [],
        "anchored": False,
        "withheld": 0,
        "shortfalls": ["signed"],
        "cached": False,
        "cacheDisagreed": False,
        "problems": [{"path": "results.ndjson", "code": "digest", "detail": DIGEST.detail, "value": "00ff"}],
        "overlays": {
            "batches": 1,
            "events": 1,
            "unsealedEvents": 0,
            "problems": [{"path": UNCOVERED.path, "code": "uncovered", "detail": UNCOVERED.detail}],
        },
    }
    assert (value["exitCode"], value["required"], value["policyGiven"], value["anchorsGiven"]) == (
        1,
        ["signed"],
        True,
        True,
    )


def test_totals_clashes_and_what_was_not_looked_at() -> None:
    value = value_of(
        report(
            verified("a", GONE, signed_by=("x",), anchored=True),
            verified("b", run_hash="cd" * 32, outcome="unsealed"),
            verified("c", DIGEST, overlays=[UNCOVERED]),
            Unverified("d", UNREADABLE, "changed"),
            Unverified("e", NOT_VERIFIED, "KeyError"),
            not_looked_at=[NotLookedAt("l", "link")],
        )
    )
    assert value["totals"] == {
        "runs": 5,
        "intact": 1,
        "unsealed": 1,
        "invalid": 1,
        "unreadable": 1,
        "notVerified": 1,
        "signed": 1,
        "anchored": 1,
        "withheld": 1,
        "problems": 1,
        "overlayProblems": 1,
        "shortfalls": 0,
        "cached": 0,
        "cacheDisagreed": 0,
        "clashes": 1,
        "pairs": 0,
        "linked": 0,
        "linkedUnsealed": 0,
        "normalOnly": 0,
        "invalidPairs": 0,
        "pairProblems": 0,
        "unlinked": 0,
        "notLookedAt": 1,
    }
    (clash,) = value["clashes"]
    assert clash["runs"] == [{"runHash": HASH, "paths": ["a", "c"]}, {"runHash": "cd" * 32, "paths": ["b"]}]
    assert value["notLookedAt"][0]["path"] == "l"
    assert value["runs"][3]["message"] == "changed"


@pytest.mark.parametrize("found", hostile_reports())
def test_hostile_text_is_kept_in_ascii(found: EvidenceReport) -> None:
    value_of(found)


def test_all_problems_are_there() -> None:
    problems = [Problem(f"results.ndjson:{line}", "metric", "no such metric", line) for line in range(1, 2001)]
    assert len(value_of(report(verified("a", *problems)))["runs"][0]["problems"]) == 2000


@pytest.mark.parametrize("size", [VALUE_CHARACTERS - 2, VALUE_CHARACTERS - 1])
def test_a_long_value_is_cut_and_says_so(size: int) -> None:
    (problem,) = value_of(report(verified("a", Problem("run.json", "schema", "", "v" * size))))["runs"][0]["problems"]
    whole = size + 2 <= VALUE_CHARACTERS
    assert problem["value"] == ("v" * size if whole else '"' + "v" * (VALUE_CHARACTERS - 1))
    assert problem.get("valueCharacters") == (None if whole else size + 2)


def test_a_value_without_json_is_named_by_its_type() -> None:
    (problem,) = value_of(report(verified("a", Problem("run.json", "schema", "", {1, 2}))))["runs"][0]["problems"]
    assert problem["value"] == "set"


def test_verdicts_of_a_cache_are_marked() -> None:
    entry = run_entry(verified("a"))
    found = report(replace(entry, cached=True), replace(entry, path="b", disagreed=True), verified("c"))
    assert value_of(found)["cache"] is None
    value = value_of(replace(found, cache=CacheUse(True, ("why",))))
    assert value["cache"] == {"paranoid": True, "warnings": ["why"]}
    assert (value["totals"]["cached"], value["totals"]["cacheDisagreed"]) == (1, 1)
    assert [(run["cached"], run["cacheDisagreed"]) for run in value["runs"]] == [
        (True, False),
        (False, True),
        (False, False),
    ]
