"""[VER-1], [VER-3], [VER-4], [VER-6], [VER-8], [VER-9] The documents of a run in this minor, a later one, a major.

A later minor may add fields, values and files; nothing that it adds is a problem, and nothing closed is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.verify import verify_run
from tests import building
from tests.building import Run, pairs, put

FIRST = {
    "run.json": (),
    "metrics.json": (),
    "summary.json": (),
    "results.ndjson": (0,),
    "evidence.ndjson": (0,),
    "gates.ndjson": (0,),
}


def place(path: str) -> str:
    return f"{path}:1" if FIRST[path] else path


def first(run: Run, path: str) -> dict[str, Any]:
    """Return a document, or the first line of one."""
    found: dict[str, Any] = run[path][0] if FIRST[path] else run[path]
    return found


@pytest.mark.parametrize("path", FIRST)
@pytest.mark.parametrize(
    ("version", "valid"),
    [
        ("1.0", True),
        ("1.1", True),
        ("1.10", True),
        ("1.999999999999", True),
        ("1.00", False),
        ("1.01", False),
        ("01.0", False),
        ("1", False),
        ("1.0.0", False),
        ("2.0", False),
        ("0.9", False),
        ("1.0\n", False),
        ("v1.0", False),
        (1.0, False),
        (None, False),
    ],
)
def test_ver1_ver3_ver4_every_1_x_is_read_and_nothing_else(
    path: str, version: object, valid: bool, tmp_path: Path
) -> None:
    run = building.full()
    first(run, path)["schemaVersion"] = version
    expected = [] if valid else [[place(path), "schema"]]
    assert pairs(verify_run(run.write(tmp_path)).problems) == expected


@pytest.mark.parametrize("path", FIRST)
def test_ver1_a_version_is_always_stated(path: str, tmp_path: Path) -> None:
    run = building.full()
    del first(run, path)["schemaVersion"]
    assert pairs(verify_run(run.write(tmp_path)).problems) == [[place(path), "schema"]]


def test_ver4_another_major_is_said_to_be_one(tmp_path: Path) -> None:
    run = building.small().but(put("run.json", "schemaVersion", "2.0"))
    (problem,) = verify_run(run.write(tmp_path), details=True).problems
    assert problem.value == "2.0"
    assert "/schemaVersion" in problem.detail
    assert "version of AEF 1" in problem.detail


def test_ver6_minors_may_be_mixed_as_written(tmp_path: Path) -> None:
    """Each document and line at its own version; only 1.0 is known here, and all are read alike."""
    run = building.full()
    for number, path in enumerate(FIRST):
        first(run, path)["schemaVersion"] = f"1.{number}"
    assert verify_run(run.seal(schemaVersion="1.7").write(tmp_path)).outcome == "intact"


@pytest.mark.parametrize("path", FIRST)
def test_ver3_what_nobody_knows_is_ignored(path: str, tmp_path: Path) -> None:
    """A member of any name and value, at the top and below; so with a later major's version inside it."""
    run = building.full()
    first(run, path).update({"novel": {"schemaVersion": "9.9", "deep": [None]}, "": 0, "proto": None})
    for value in list(first(run, path).values()):
        if isinstance(value, dict) and value.keys().isdisjoint({"blob", "traceId", "uri"}):
            value["novel"] = 1
    assert pairs(verify_run(run.write(tmp_path)).problems) == []


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("run.json", ("subject", "kind")),
        ("run.json", ("execution", "targetMode")),
        ("run.json", ("contentCapture",)),
        ("metrics.json", ("metrics", 0, "direction")),
        ("results.ndjson", (0, "severity")),
        ("results.ndjson", (0, "aggregation", "strategy")),
        ("results.ndjson", (5, "trials", "aggregation")),
        ("summary.json", ("lanes", 0, "metrics", 0, "verdict")),
        ("evidence.ndjson", (0, "kind")),
        ("gates.ndjson", (0, "outcome")),
    ],
)
def test_ver8_an_unknown_value_of_an_open_vocabulary_is_read(path: str, steps: tuple[Any, ...], tmp_path: Path) -> None:
    run = building.full().but(put(path, *steps, "novel"))
    assert pairs(verify_run(run.write(tmp_path)).problems) == []


@pytest.mark.parametrize(
    ("path", "steps", "at"),
    [
        ("run.json", ("status",), "run.json"),
        ("results.ndjson", (0, "state"), "results.ndjson:1"),
        ("metrics.json", ("metrics", 0, "kind"), "metrics.json"),
    ],
)
def test_ver9_an_unknown_value_of_a_closed_one_is_refused_in_every_minor(
    path: str, steps: tuple[Any, ...], at: str, tmp_path: Path
) -> None:
    run = building.full().but(put(path, *steps, "novel"))
    first(run, path)["schemaVersion"] = "1.9"
    assert pairs(verify_run(run.write(tmp_path)).problems) == [[at, "schema"]]
