"""The reader schemas are those that the writer's give: the table after [VER-4], row by row; [VER-8], [VER-9]."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import aef_verify.schemas

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "derive_reader_schemas.py"
SCHEMAS = Path(aef_verify.schemas.__file__).parent
ID = "https://agenteval.dev/aef/1/{}/x.schema.json"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("derive_reader_schemas", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reader_of(script: ModuleType, schema: dict[str, Any], name: str = "x") -> dict[str, Any]:
    head = {"$schema": "s", "$id": ID.format("writer")}
    derived: dict[str, Any] = script.Derivation(name, head | schema).reader()
    assert derived.pop("$schema") == "s"
    assert derived.pop("$id") == ID.format("reader")
    assert name in derived.pop("$comment")
    return derived


def test_what_is_on_disk_is_what_the_writers_give() -> None:
    checked = subprocess.run([sys.executable, "-I", SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, "")


def test_deriving_twice_changes_nothing(script: ModuleType, tmp_path: Path) -> None:
    shutil.copytree(SCHEMAS / "writer", tmp_path / "writer")
    (tmp_path / "reader").mkdir()
    (tmp_path / "reader" / "left-over.schema.json").write_text("{}")
    count = script.write(tmp_path)
    first = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    assert script.write(tmp_path) == count
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == first
    assert script.differences(tmp_path) == []
    for folder in ("reader", "bundled/reader", "bundled/writer"):
        names = {path.name for path in (SCHEMAS / folder).iterdir()}
        assert {path.name for path in (tmp_path / folder).iterdir()} == names


def test_a_difference_is_shown_as_a_diff(script: ModuleType, tmp_path: Path) -> None:
    shutil.copytree(SCHEMAS, tmp_path / "schemas")
    schemas = tmp_path / "schemas"
    metrics = schemas / "writer" / "metrics.schema.json"
    metrics.write_text(metrics.read_text().replace('"maxItems": 4096', '"maxItems": 4095'))
    (schemas / "reader" / "surprise.schema.json").write_text("{}\n")
    lines = script.differences(schemas)
    assert '-      "maxItems": 4096,' in lines
    assert '+      "maxItems": 4095,' in lines
    assert "-{}" in lines
    assert "bundled/reader/metrics.json: not what the source schemas give" in lines


def test_an_unknown_member_is_ignored(script: ModuleType) -> None:
    closed = {"type": "object", "properties": {"a": {"additionalProperties": False}}, "additionalProperties": False}
    assert reader_of(script, closed) == {"type": "object", "properties": {"a": {}}}


def test_other_members_keep_their_schema(script: ModuleType) -> None:
    others = {"additionalProperties": {"enum": ["a"]}}
    assert reader_of(script, others) == {"additionalProperties": {"type": "string"}}


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        ({"enum": ["a", "b"]}, {"type": "string"}),
        ({"enum": [None, "a"]}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"type": ["string", "null"]}),
        ({"const": "1.0"}, {"type": "string", "pattern": "^1[.](0|[1-9][0-9]*)$"}),
        ({"const": "1.1"}, {"const": "1.1"}),
        ({"const": 1.0}, {"const": 1.0}),
        ({"anyOf": [{"enum": ["a"]}, {"pattern": "^b$"}]}, {"anyOf": [{"type": "string"}, {"pattern": "^b$"}]}),
        ({"required": ["a"], "minLength": 1, "pattern": "^a$"}, {"required": ["a"], "minLength": 1, "pattern": "^a$"}),
        ({"properties": {"a": False, "b": True}}, {"properties": {"a": False, "b": True}}),
        ({"properties": {"enum": {"enum": ["a"]}}}, {"properties": {"enum": {"type": "string"}}}),
    ],
)
def test_values(script: ModuleType, writer: dict[str, Any], reader: dict[str, Any]) -> None:
    assert reader_of(script, {"items": writer}) == {"items": reader}


def test_a_union_by_kind_takes_unknown_kinds(script: ModuleType) -> None:
    one = {"properties": {"kind": {"const": "one"}, "a": {"enum": ["x"]}}, "additionalProperties": False}
    two = {"properties": {"kind": {"const": "two"}}, "additionalProperties": False}
    derived = reader_of(script, {"oneOf": [one, {"$ref": "#/$defs/two"}], "$defs": {"two": two}})
    assert derived["oneOf"] == [
        {"properties": {"kind": {"const": "one"}, "a": {"type": "string"}}},
        {"$ref": "#/$defs/two"},
        {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"type": "string", "not": {"enum": ["one", "two"]}}},
        },
    ]


def test_another_union_stays(script: ModuleType) -> None:
    branches = [{"properties": {"kind": {"const": "one"}}}, {"required": ["a"]}]
    assert reader_of(script, {"oneOf": branches}) == {"oneOf": branches}


def test_conditions_stay_and_what_follows_is_relaxed(script: ModuleType) -> None:
    writer = {
        "if": {"properties": {"a": {"enum": ["x"]}}, "additionalProperties": False},
        "then": {"properties": {"a": {"enum": ["x"]}, "b": {"not": {"enum": ["y"]}}}},
        "not": {"properties": {"v": {"const": "1.0"}}},
    }
    then = {"properties": {"a": {"type": "string"}, "b": {"not": {"enum": ["y"]}}}}
    assert reader_of(script, writer) == {"if": writer["if"], "then": then, "not": writer["not"]}


@pytest.mark.parametrize("keyword", ["if", "not"])
def test_a_reference_in_a_condition_is_refused(script: ModuleType, keyword: str) -> None:
    with pytest.raises(ValueError, match="write it out"):
        reader_of(script, {"allOf": [{keyword: {"properties": {"a": {"$ref": "#/$defs/a"}}}}]})


def test_closed_vocabularies_stay(script: ModuleType) -> None:
    status = {"enum": ["running"]}
    schema = {"properties": {"status": status, "other": status}}
    assert reader_of(script, schema, "run") == {"properties": {"status": status, "other": {"type": "string"}}}
    with pytest.raises(ValueError, match="closed vocabulary"):
        reader_of(script, {"properties": {"state": status}}, "run")


def test_the_trust_policy_stays_whole() -> None:
    writer, reader = (
        json.loads((SCHEMAS / side / "trust-policy.schema.json").read_text()) for side in ("writer", "reader")
    )
    assert {k: v for k, v in writer.items() if k != "$id"} == {
        k: v for k, v in reader.items() if k not in ("$id", "$comment")
    }


def test_what_stands_beside_a_reference_may_not_contradict_it(script: ModuleType) -> None:
    schemas = {"x": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a", "type": "string"}}}}
    schemas["x"]["$defs"] = {"a": {"type": "integer"}}
    with pytest.raises(ValueError, match="contradicts"):
        script.Bundling(schemas).texts()
