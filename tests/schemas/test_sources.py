"""The schema files themselves: JSON Schema 2020-12, patterns of [ENC-14], references that resolve, [ENC-12]'s ids."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

import aef_verify.schemas
from aef_verify.schemas import NAMES, Side, faults, pure
from tests.schemas.both import SIDES, by_jsonschema_rs
from tests.schemas.full import FULL
from tests.schemas.making import change, make, shown

FOLDER = Path(aef_verify.schemas.__file__).parent
FILES = {(side, name): FOLDER / side / f"{name}.schema.json" for side in SIDES for name in (*NAMES, "common")}
SOURCES: dict[tuple[str, str], Any] = {key: json.loads(path.read_text()) for key, path in FILES.items()}
BUNDLED: dict[tuple[str, str], Any] = {
    (side, name): json.loads((FOLDER / "bundled" / side / f"{name}.json").read_text())
    for side in SIDES
    for name in (*NAMES, "definitions")
}
EVERY = [pytest.param(schema, id="/".join(key)) for key, schema in SOURCES.items()]

BY_NAME = ("properties", "$defs")
DESCRIBE = {"$schema", "$id", "$comment", "title", "description", "examples"}
CHECKED_WITH_ANOTHER = {"then"}


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and every schema in it."""
    if isinstance(schema, list):
        for part in schema:
            yield from schemas(part)
    if not isinstance(schema, dict):
        return
    yield schema
    for keyword, value in schema.items():
        if keyword in BY_NAME:
            for part in value.values():
                yield from schemas(part)
        elif keyword not in ("const", "enum", "examples", "required", "dependentRequired"):
            yield from schemas(value)


def registry(side: Side) -> jsonschema_rs.Registry:
    """Return the files of one side, by their ids."""
    return jsonschema_rs.Registry([(schema["$id"], schema) for (s, _), schema in SOURCES.items() if s == side])


def test_no_other_file_is_there() -> None:
    assert {path for side in SIDES for path in (FOLDER / side).iterdir()} == set(FILES.values())


@pytest.mark.parametrize("schema", EVERY)
def test_it_is_a_2020_12_schema(schema: Any) -> None:
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema_rs.meta.validate(schema)


@pytest.mark.parametrize(("side", "name"), FILES)
def test_ids_name_major_1(side: str, name: str) -> None:
    assert SOURCES[side, name]["$id"] == f"https://agenteval.dev/aef/1/{side}/{name}.schema.json"


@pytest.mark.parametrize(("side", "name"), FILES)
def test_every_reference_resolves(side: str, name: str) -> None:
    for part in schemas(SOURCES[side, name]):
        if "$ref" in part:
            document, _, pointer = part["$ref"].partition("#")
            target = SOURCES[side, document.removesuffix(".schema.json") or name]
            for step in pointer.split("/")[1:]:
                target = target[step]
            assert isinstance(target, dict)


@pytest.mark.parametrize("schema", EVERY)
def test_only_known_keywords_are_used(schema: Any) -> None:
    used = {keyword for part in schemas(schema) for keyword in part}
    assert used <= DESCRIBE | CHECKED_WITH_ANOTHER | {"$ref", "$defs"} | faults.KEYWORDS


@pytest.mark.parametrize("schema", EVERY)
def test_patterns_obey_enc_14(schema: Any) -> None:
    for part in schemas(schema):
        if "pattern" in part:
            assert breaches_of_enc_14(part["pattern"]) == []


CLASS = re.compile(r"\[(?:\\.|[^\]\\])*\]")
RULED_OUT = {
    "an escape of more than one character": r"\\(?![\[\]\\.^$*+?(){}|/-]|[rn]|x[0-9a-f]{2})",
    "a group with a question mark": r"\(\?",
    "a possessive or lazy quantifier": r"[*+?}][+?]",
    "a dot outside a class": r"(?<!\\)\.",
    "a caret that is not at the start": r"(?<=.)(?<!\\)\^",
    "a dollar that is not at the end": r"(?<!\\)\$(?=.)",
}


def breaches_of_enc_14(pattern: str) -> list[str]:
    """Name what a pattern holds that [ENC-14] rules out, or that engines read differently."""
    bare = CLASS.sub("c", pattern)
    found = [what for what, ruled_out in RULED_OUT.items() if re.search(ruled_out, bare)]
    for one in CLASS.findall(pattern):
        if re.search(r"(?<!\\)\[|&&|--|~~", one[1:]) or re.search(r"\\(?![\[\]\\^-]|[rn]|x[0-9a-f]{2})", one):
            found.append("a class that engines read differently")
    return found


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d$",
        r"^\w$",
        r"^\s$",
        r"a\b",
        "^a.$",
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        r"(a)\1",
        "a++",
        "a*?",
        "(?i)a",
        "(?P<n>a)",
    ],
)
def test_the_scan_finds_what_enc_14_rules_out(pattern: str) -> None:
    assert breaches_of_enc_14(pattern)


@pytest.mark.parametrize("schema", EVERY)
def test_patterns_match_whole_strings_in_every_engine(schema: Any) -> None:
    for part in schemas(schema):
        if "pattern" in part and part["pattern"] != "^0000":
            assert part["pattern"].startswith("^")
            assert part["pattern"].endswith("$")
            for example in part.get("examples", ()):
                assert pure.ecma(part["pattern"]).search(example)
                assert not pure.ecma(part["pattern"]).search(example + "\n")


@pytest.mark.parametrize("key", BUNDLED, ids="/".join)
def test_a_bundled_schema_stands_alone(key: tuple[str, str]) -> None:
    bundled = BUNDLED[key]
    for schema in bundled.values() if key[1] == "definitions" else [bundled]:
        assert all("$ref" not in part and "$id" not in part for part in schemas(schema))
        for part in schemas(schema):
            for example in part.get("examples", ()):
                assert faults.holds(part, example)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_schema_says_what_the_files_say(name: str, side: Side) -> None:
    """Compared on the full document and on random ones."""
    source = jsonschema_rs.Draft202012Validator(SOURCES[side, name], registry=registry(side))
    bundled = by_jsonschema_rs(name, side)
    random = Random(f"{name} {side}")
    for _ in range(300):
        value = change(random.choice((FULL[name], make(BUNDLED[side, name], random))), random)
        assert source.is_valid(value) == bundled(value), shown(value)
