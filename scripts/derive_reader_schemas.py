#!/usr/bin/env python3
"""Derive the reader schemas from the writer schemas, and what is loaded from both.

The relaxations of [VER-3], [VER-8] and [VER-9]:

| Writer | Reader |
|---|---|
| `$id` below `/aef/1/writer/` | below `/aef/1/reader/` |
| `additionalProperties: false` | dropped: an unknown member is ignored |
| `enum` | any string; null too where the enum or its `type` has it |
| `const "1.0"` | any version of major 1; every other `const` stays |
| `oneOf` of branches with a `kind` each | also an object of a `kind` that no branch has |
| every other `oneOf` | stays |
| what stands below `if` or `not` | as it is: a relaxed condition would be another rule |
| a closed vocabulary, the whole trust policy [VER-9] | as it is |

The schemas that are loaded (`bundled/`) say the same with every reference replaced by what it names and without
descriptions: they compile fastest. One file holds a document's schema, `definitions.json` every definition.

    derive_reader_schemas.py           write the folders reader/ and bundled/ of aef_verify/schemas/
    derive_reader_schemas.py --check   exit 1 with the differences where they are not what would be written
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Schema: TypeAlias = dict[str, Json]

SCHEMAS = Path(__file__).resolve().parent.parent / "aef_verify" / "schemas"
SUFFIX = ".schema.json"

CLOSED = frozenset(
    (
        ("common", "/$defs/state"),
        ("run", "/properties/status"),
        ("metrics", "/properties/metrics/items/properties/kind"),
        ("trust-policy", ""),
    )
)
"""(document, JSON pointer) of what no minor extends [VER-9]."""

LATER_MINORS: Schema = {"type": "string", "pattern": "^1[.](0|[1-9][0-9]*)$"}
"""What stands for the writer's version: `1.` and a minor without leading zeros [VER-1]."""

NAMED = ("properties", "$defs")
"""Keywords whose value maps names to schemas."""

LISTS = ("allOf", "anyOf", "oneOf")
"""Keywords whose value is a list of schemas."""

SINGLE = ("items", "additionalProperties", "if", "then", "not")
"""Keywords whose value is one schema."""

FOR_PEOPLE = ("$schema", "$id", "$comment", "$defs", "description")
"""Keywords that a bundled schema does without."""

WIDTH = 110
"""Longest line of a reader schema; what fits in one stands in one."""


def each_part(schema: Schema, change: Callable[[Json, str], Json]) -> Schema:
    """Return a schema whose direct parts went through `change`, which is given each with its JSON pointer."""
    changed: Schema = {}
    for keyword, value in schema.items():
        if keyword in NAMED and isinstance(value, dict):
            changed[keyword] = {name: change(part, f"/{keyword}/{name}") for name, part in value.items()}
        elif keyword in LISTS and isinstance(value, list):
            changed[keyword] = [change(part, f"/{keyword}/{index}") for index, part in enumerate(value)]
        else:
            changed[keyword] = change(value, f"/{keyword}") if keyword in SINGLE else value
    return changed


class Derivation:
    """The derivation of one document's reader schema."""

    def __init__(self, name: str, writer: Schema) -> None:
        """Start with the writer's schema of the document `name`."""
        self.name = name
        self.writer = writer
        self.closed_met: set[tuple[str, str]] = set()

    def reader(self) -> Schema:
        """Return the reader's schema."""
        derived = self.relax(self.writer, "")
        if not isinstance(derived, dict):
            raise TypeError(f"{self.name}: the schema is no object")
        missed = {place for place in CLOSED - self.closed_met if place[0] == self.name}
        if missed:
            raise ValueError(f"{self.name}: nothing stands where a closed vocabulary should: {sorted(missed)}")
        head: Schema = {
            "$schema": derived["$schema"],
            "$id": str(derived["$id"]).replace("/aef/1/writer/", "/aef/1/reader/"),
            "$comment": f"Derived from writer/{self.name}{SUFFIX} by scripts/derive_reader_schemas.py.",
        }
        return head | {keyword: value for keyword, value in derived.items() if keyword not in head}

    def relax(self, schema: Json, pointer: str) -> Json:
        """Return what a reader takes for the schema at a JSON pointer."""
        if (self.name, pointer) in CLOSED:
            self.closed_met.add((self.name, pointer))
            return schema
        if not isinstance(schema, dict):
            return schema
        relaxed = each_part(schema, lambda part, step: self.relax_part(part, pointer, step))
        if relaxed.get("additionalProperties") is False:
            del relaxed["additionalProperties"]
        values = relaxed.pop("enum", None)
        if isinstance(values, list):
            relaxed["type"] = _any_string(values, schema.get("type"))
        if relaxed.get("const") == "1.0":
            del relaxed["const"]
            relaxed |= LATER_MINORS
        branches = relaxed.get("oneOf")
        if isinstance(branches, list) and (kinds := self.kinds(branches)):
            branches.append(_another_kind(kinds))
        return relaxed

    def relax_part(self, part: Json, pointer: str, step: str) -> Json:
        """Return what a reader takes for a part of the schema at a JSON pointer."""
        if step in ("/if", "/not"):
            _refuse_references(part, f"{self.name}{pointer}{step}")
            return part
        return self.relax(part, pointer + step)

    def kinds(self, branches: Iterable[Json]) -> list[Json] | None:
        """Return the `kind` of each branch of a union, or None where a branch has none."""
        kinds: list[Json] = []
        for branch in branches:
            reference = branch.get("$ref") if isinstance(branch, dict) else None
            found = self.definition(reference) if isinstance(reference, str) else branch
            for step in ("properties", "kind", "const"):
                found = found.get(step) if isinstance(found, dict) else None
            if not isinstance(found, str):
                return None
            kinds.append(found)
        return kinds

    def definition(self, reference: str) -> Json:
        """Return the definition of this document that a `$ref` names, or None for any other reference."""
        prefix, _, name = reference.rpartition("/")
        definitions = self.writer.get("$defs") if prefix == "#/$defs" else None
        return definitions.get(name) if isinstance(definitions, dict) else None


def _any_string(values: list[Json], type_: Json) -> Json:
    """Return the type that stands for an enum."""
    if not all(value is None or isinstance(value, str) for value in values):
        raise ValueError(f"an enum of other things than strings: {values}")
    nullable = None in values or (isinstance(type_, list) and "null" in type_)
    return ["string", "null"] if nullable else "string"


def _another_kind(kinds: list[Json]) -> Schema:
    """Return the branch that takes an object of a kind which no other branch has."""
    kind: Schema = {"type": "string", "not": {"enum": kinds}}
    return {"type": "object", "required": ["kind"], "properties": {"kind": kind}}


def _refuse_references(condition: Json, place: str) -> None:
    """Raise ValueError for a reference in a condition, which would name something relaxed."""
    if isinstance(condition, dict):
        if "$ref" in condition:
            raise ValueError(f"{place}: a condition refers to {condition['$ref']!r}; write it out")
        for value in condition.values():
            _refuse_references(value, place)
    elif isinstance(condition, list):
        for value in condition:
            _refuse_references(value, place)


class Bundling:
    """The schemas of one side, each with its references replaced."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        """Start with the schemas of one side by their document's name."""
        self.schemas = schemas

    def texts(self) -> dict[str, str]:
        """Return the text of each bundled file by its name."""
        definitions: Schema = {}
        for name, schema in self.schemas.items():
            own = schema.get("$defs")
            for definition in own if isinstance(own, dict) else ():
                pointer = f"{name}#/$defs/{definition}"
                definitions[pointer] = self.resolve({"$ref": f"#/$defs/{definition}"}, name)
        documents = {name: schema for name, schema in self.schemas.items() if "type" in schema}
        bundled = {name: self.resolve(schema, name) for name, schema in documents.items()}
        return {
            f"{name}.json": json.dumps(value, separators=(",", ":")) + "\n"
            for name, value in (bundled | {"definitions": definitions}).items()
        }

    def resolve(self, schema: Json, name: str) -> Json:
        """Return a part of the document `name` without references."""
        if not isinstance(schema, dict):
            return schema
        bare: Schema = {keyword: value for keyword, value in schema.items() if keyword not in FOR_PEOPLE}
        if "$id" in schema:
            bare.pop("title", None)
        reference = bare.pop("$ref", None)
        resolved = each_part(bare, lambda part, _: self.resolve(part, name))
        if reference is None:
            return resolved
        document, _, pointer = str(reference).partition("#")
        target_name = document.removesuffix(SUFFIX) or name
        target: Json = self.schemas[target_name]
        for step in pointer.split("/")[1:]:
            target = target[step] if isinstance(target, dict) else None
        named = self.resolve(target, target_name)
        if not isinstance(named, dict) or named.keys() & resolved.keys():
            raise ValueError(f"{name}: what stands beside {reference!r} contradicts it")
        return named | resolved


def render(value: Json, indent: int = 0, before: int = 0) -> str:
    """Return JSON text in which whatever fits into a line (after `before` columns) stands in one."""
    line = json.dumps(value)
    if not isinstance(value, dict | list) or not value or (indent and before + len(line) < WIDTH):
        return line
    inner = indent + 2
    if isinstance(value, dict):
        heads = [f"{json.dumps(name)}: " for name in value]
        parts = zip(heads, value.values(), strict=True)
        items = [head + render(item, inner, inner + len(head)) for head, item in parts]
    else:
        items = [render(item, inner, inner) for item in value]
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    margin = "\n" + " " * inner
    return opening + margin + f",{margin}".join(items) + "\n" + " " * indent + closing


def derive(schemas: Path = SCHEMAS) -> dict[str, str]:
    """Return the text of every derived file by its path below the schemas' folder."""
    writer: dict[str, Schema] = {
        path.name.removesuffix(SUFFIX): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((schemas / "writer").glob(f"*{SUFFIX}"))
    }
    reader = {name: Derivation(name, schema).reader() for name, schema in writer.items()}
    texts = {f"reader/{name}{SUFFIX}": render(schema) + "\n" for name, schema in reader.items()}
    for side, of_side in (("writer", writer), ("reader", reader)):
        texts |= {f"bundled/{side}/{name}": text for name, text in Bundling(of_side).texts().items()}
    return texts


def derived_files(schemas: Path) -> dict[str, Path]:
    """Return the files that are there in the derived folders, by their path below the schemas' folder."""
    found = [*(schemas / "reader").glob("*"), *(schemas / "bundled").glob("*/*")]
    return {path.relative_to(schemas).as_posix(): path for path in found}


def differences(schemas: Path = SCHEMAS) -> list[str]:
    """Return the lines of a unified diff from the derived files that are there to what they should be."""
    should = derive(schemas)
    there = {name: path.read_text(encoding="utf-8") for name, path in derived_files(schemas).items()}
    lines: list[str] = []
    for name in sorted(there.keys() | should.keys()):
        before, after = there.get(name, ""), should.get(name, "")
        if name.startswith("bundled/"):
            if before != after:
                lines.append(f"{name}: not what the source schemas give")
            continue
        labels = f"{name} (there)", f"{name} (derived)"
        lines += difflib.unified_diff(before.splitlines(), after.splitlines(), *labels, lineterm="")
    return lines


def write(schemas: Path = SCHEMAS) -> int:
    """Write every derived file, remove every other one, and return how many there are."""
    texts = derive(schemas)
    for name, path in derived_files(schemas).items():
        if name not in texts:
            path.unlink()
    for name, text in texts.items():
        (schemas / name).parent.mkdir(parents=True, exist_ok=True)
        (schemas / name).write_text(text, encoding="utf-8", newline="\n")
    return len(texts)


def main(words: list[str] | None = None) -> int:
    """Write the derived files, or check them; return the exit code."""
    parser = argparse.ArgumentParser(description="Derive the reader schemas from the writer schemas.")
    parser.add_argument("--check", action="store_true", help="compare with what is there; exit 1 if it differs")
    if not parser.parse_args(words).check:
        print(f"{write()} files written below {SCHEMAS}")
        return 0
    lines = differences()
    if lines:
        print(*lines, sep="\n")
        print("The derived schemas are not what the writer's give; run this without --check.", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
