"""Documents made from the schemas themselves: mostly valid ones, and small changes that make odd ones of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 2.0, 0.0, -0.0, 0.5, 1.5, 1.0, 999, 1000, 1001, 9999, 10_000),
    *(2**53 - 1, 2**53, -(2**53), 2.0**53, 2**63, 2**64, 10**30, 1e300, -1e300, 5e-324),
    *(
        "",
        "x",
        "1.0",
        "1.1",
        "2.0",
        "1.00",
        "1.1\n",
        "01.0",
        "latest",
        "LaTest",
        "a\x00b",
        "é",
        "😀",
        "😀" * 64,
        "😀" * 65,
    ),
    *("x" * 64, "x" * 65, "x" * 128, "x" * 129, "x" * 256, "x" * 257, "x" * 1024, "x" * 2048, "x" * 2049, "x" * 5000),
    *("a:b", "a:b\n", "ci:github", "ci:", "https://h/p", "https://u@h/p", "https://h/p?q", "\u2028", "\x85", "null"),
    *("threshold", "severity", "job.sealed", "waive", "redact", "AtLeast", "container", "incomparable", "aborted"),
    *("2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T00:00:00.1234567890Z"),
    *(
        "P1D",
        "PT1M1H",
        "seal.json",
        "a/b",
        "a//b",
        ".a",
        "../a",
        "ext/a b",
        "x" * 255,
        "r_" + "0" * 32,
        "r_" + "0" * 33,
    ),
    *([], [None], [1, 1.0], [1, True], ["a", "a"], [[]], [{}], {}, {"a": 1}, {"kind": "x"}, {"": None}),
)
"""Values that stand at the edge of one rule or another."""


def make(schema: Any, random: Random) -> Any:
    """Return a value that is valid against a bundled schema more often than not."""
    if schema is True or schema == {}:
        return random.choice(ODD)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    for union in ("oneOf", "anyOf"):
        if union in schema and not all(set(branch) == {"required"} for branch in schema[union]):
            chosen = make(random.choice(schema[union]), random)
            rest = make({key: part for key, part in schema.items() if key != union}, random)
            return chosen | rest if isinstance(chosen, dict) and isinstance(rest, dict) else chosen
    kind = schema.get("type", "object" if "properties" in schema or "required" in schema else None)
    if isinstance(kind, list):
        kind = random.choice(kind)
    return _MAKERS.get(kind, _anything)(schema, random)


def _anything(_: Any, random: Random) -> Any:
    return random.choice(ODD)


def _object(schema: Any, random: Random) -> Any:
    required = set(schema.get("required", ()))
    for union in ("oneOf", "anyOf"):
        if union in schema:
            required |= set(random.choice(schema[union])["required"])
    for name, others in schema.get("dependentRequired", {}).items():
        required |= set(others) if name in required else set()
    share = random.choice((0.0, 0.2, 0.5, 0.9))
    value = {
        name: make(part, random)
        for name, part in schema.get("properties", {}).items()
        if name in required or random.random() < share
    }
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        value |= {name: make(others, random) for name in ("a", "b.c", "[") if random.random() < share}
    return value


def _array(schema: Any, random: Random) -> Any:
    least, most = schema.get("minItems", 0), schema.get("maxItems", 3)
    return [make(schema.get("items", True), random) for _ in range(random.randint(least, max(least, min(most, 3))))]


def _string(schema: Any, random: Random) -> Any:
    examples = [*schema.get("examples", ())]
    if not examples:
        examples = ["a", "word", "Zwei Wörter"] if "pattern" not in schema or "\\x" in schema["pattern"] else ["word"]
    return random.choice(examples)


def _integer(schema: Any, random: Random) -> Any:
    least, most = schema.get("minimum", -5), schema.get("maximum", 5)
    return random.choice((least, most, least + 1, float(least), random.randint(least, most)))


def _number(schema: Any, random: Random) -> Any:
    least, most = schema.get("minimum", schema.get("exclusiveMinimum", -3)), schema.get("maximum", 1)
    return random.choice((least, most, least + 0.25, 0.5, random.random()))


_MAKERS: dict[Any, Callable[[Any, Random], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda _, random: random.random() < 0.5,
    "null": lambda _, __: None,
}


def change(value: Any, random: Random) -> Any:
    """Return a copy with one small change somewhere: a member taken out, put in, replaced or given twice."""
    changed = copy.deepcopy(value)
    place = random.choice(list(_containers(changed)) or [changed])
    if isinstance(place, dict):
        names = list(place)
        action = random.randrange(4)
        if action == 0 and names:
            del place[random.choice(names)]
        elif action == 1:
            place[random.choice(("surprise", "kind", "ext", "trials", "scores", "", "a.b"))] = random.choice(ODD)
        elif action == 2 and len(names) > 1:
            one, other = random.sample(names, 2)
            place[one] = copy.deepcopy(place[other])
        elif names:
            place[random.choice(names)] = copy.deepcopy(random.choice(ODD))
    elif isinstance(place, list):
        if place and random.random() < 0.5:
            place.append(copy.deepcopy(random.choice(place)))
        else:
            place.append(copy.deepcopy(random.choice(ODD)))
    return changed


def _containers(value: Any) -> Any:
    if isinstance(value, dict | list):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from _containers(part)


def shown(value: Any) -> str:
    """Return a value as a failing test shows it."""
    return json.dumps(value)[:2000]
