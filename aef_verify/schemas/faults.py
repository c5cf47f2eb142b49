"""What a schema's refusal means in plain words, for people who never saw JSON Schema.

The walk goes through schema and value together, in the schema's order, and stops after a few faults or a bounded
number of steps. It decides nothing: the verdict is the validator's, and this finds a fault exactly where that does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from aef_verify.schemas import Fault
from aef_verify.schemas.pure import ecma, identity
from aef_verify.schemas.source import Side, schema_text

MOST_FAULTS = 5
"""Faults after which the walk stops."""

MOST_STEPS = 500_000
"""Parts of the value that are looked at before the walk gives up."""

FEW = 3
"""Required members up to which a message names an object by them."""

TOO_LARGE = "is not valid, but too large to say where"

Schema = dict[str, Any]

_TYPES: dict[str, tuple[str, Callable[[object], bool]]] = {
    "object": ("an object", lambda value: isinstance(value, dict)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "string": ("text", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
    "number": ("a number", lambda value: _is_number(value)),
    "integer": ("a whole number", lambda value: _is_whole(value)),
}
"""JSON types: in words, and as a test."""


def explain(name: str, side: Side, value: object, *, most: int = MOST_FAULTS) -> list[Fault]:
    """Return the first faults of a value against a schema, or none when it is valid; see `validator`."""
    walk = _Walk(most, [MOST_STEPS])
    try:
        walk.look(_schema(name, side), value, "")
    except _StopError:
        if not walk.faults:
            return [Fault("", TOO_LARGE, None)]
    return walk.faults


@cache
def _schema(name: str, side: Side) -> Any:
    return json.loads(schema_text(name, side))


def holds(schema: Any, value: object) -> bool:
    """Return whether a value is valid against a part of a schema that holds no reference."""
    return _Walk(1, [MOST_STEPS]).holds(schema, value)


class _StopError(Exception):
    """Enough faults, or too many steps."""


class _Walk:
    def __init__(self, most: int, steps: list[int]) -> None:
        self.faults: list[Fault] = []
        self.most = most
        self.steps = steps

    def report(self, pointer: str, message: str, value: object) -> None:
        self.faults.append(Fault(pointer, message, value))
        if len(self.faults) >= self.most:
            raise _StopError

    def holds(self, schema: Any, value: object) -> bool:
        walk = _Walk(1, self.steps)
        try:
            walk.look(schema, value, "")
        except _StopError:
            if not walk.faults:
                raise
        return not walk.faults

    def look(self, schema: Any, value: object, pointer: str) -> None:
        """Report what is wrong with a value: everything at an object, the first thing at any other value."""
        self.steps[0] -= 1
        if self.steps[0] < 0:
            raise _StopError
        if schema is True:
            return
        if schema is False:
            self.report(pointer, "is not allowed here", value)
            return
        found = len(self.faults)
        for keyword, wanted in schema.items():
            check = _CHECKS.get(keyword)
            if check is None:
                continue
            for message in check(self, wanted, schema, value, pointer):
                self.report(pointer, message, value)
            if len(self.faults) > found and (keyword == "type" or not isinstance(value, dict)):
                return


_Check = Callable[[_Walk, Any, Schema, Any, str], Iterator[str]]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def _spelled(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _one_of(values: list[Any]) -> str:
    return f"one of {', '.join(_spelled(value) for value in values)}"


def _in_words(schema: Schema) -> str:
    """Return what a schema asks for in a few words."""
    if "const" in schema:
        return _spelled(schema["const"])
    if "enum" in schema:
        return _one_of(schema["enum"])
    if "title" in schema:
        examples = schema.get("examples")
        return f"{schema['title']}, such as {examples[0]}" if examples else str(schema["title"])
    types = schema.get("type", [])
    words = " or ".join(_TYPES[name][0] for name in ([types] if isinstance(types, str) else types))
    required = schema.get("required", [])
    if types == "object" and 0 < len(required) <= FEW:
        words += f" with {' and '.join(required)}"
    return words


def _items(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _type(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    names = [wanted] if isinstance(wanted, str) else wanted
    if not any(_TYPES[name][1](value) for name in names):
        yield f"must be {_in_words(schema)}"


def _enum(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if not any(identity(item) == identity(value) for item in wanted):
        yield f"must be {_one_of(wanted)}"


def _const(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if identity(wanted) != identity(value):
        yield f"must be {_spelled(wanted)}"


def _pattern(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if isinstance(value, str) and not ecma(wanted).search(value):
        yield f"must be {_in_words(schema)}" if "title" in schema else f"must match {wanted}"


def _bound(applies: Callable[[Any], bool], meets: Callable[[Any, Any], bool], message: Callable[[Any], str]) -> _Check:
    def check(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
        if applies(value) and not meets(value, wanted):
            yield message(wanted) + (f": {_in_words(schema)}" if "title" in schema else "")

    return check


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _unique(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if wanted and isinstance(value, list) and len({identity(item) for item in value}) < len(value):
        yield "must not hold the same item twice"


def _required(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in wanted:
            if name not in value:
                walk.report(f"{pointer}/{_escaped(name)}", "is required", None)
    yield from ()


def _dependent(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, others in wanted.items():
            missing = [other for other in others if other not in value]
            if name in value and missing:
                yield f"must have {' and '.join(missing)} beside {name}"


def _properties(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in wanted.items():
            if name in value:
                walk.look(part, value[name], f"{pointer}/{_escaped(name)}")
    yield from ()


def _additional(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name, member in value.items():
            if name in known:
                continue
            place = f"{pointer}/{_escaped(name)}"
            if wanted is False:
                walk.report(place, "is an unknown member, and none may be added here", member)
            else:
                walk.look(wanted, member, place)
    yield from ()


def _each_item(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            walk.look(wanted, item, f"{pointer}/{index}")
    yield from ()


def _all_of(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    for part in wanted:
        walk.look(part, value, pointer)
    yield from ()


def _any_of(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if not any(walk.holds(branch, value) for branch in wanted):
        yield from _no_branch(walk, wanted, value, pointer, "at least one of")


def _one_branch(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    held = sum(walk.holds(branch, value) for branch in wanted)
    if held == 0:
        yield from _no_branch(walk, wanted, value, pointer, "exactly one of")
    elif held > 1:
        if all(set(branch) == {"required"} for branch in wanted):
            yield f"must have exactly one of {_members(wanted)}"
        else:
            yield f"must be only one of: {'; '.join(map(_in_words, wanted))}"


def _members(branches: list[Schema]) -> str:
    return ", ".join(" and ".join(branch["required"]) for branch in branches)


def _no_branch(walk: _Walk, branches: Any, value: Any, pointer: str, how_many: str) -> Iterator[str]:
    """Say why no alternative holds: the faults of the one that was meant, when that can be told."""
    if all(set(branch) == {"required"} for branch in branches):
        yield f"must have {how_many} {_members(branches)}"
        return
    kinds = {branch.get("properties", {}).get("kind", {}).get("const"): branch for branch in branches}
    known = [kind for kind in kinds if kind is not None]
    if known:
        kind = value.get("kind") if isinstance(value, dict) else None
        if isinstance(kind, str) and kind in kinds:
            walk.look(kinds[kind], value, pointer)
        elif isinstance(value, dict):
            walk.report(f"{pointer}/kind", f"must be {_one_of(known)}" if "kind" in value else "is required", kind)
        else:
            yield "must be an object with kind"
        return
    meant = [branch for branch in branches if walk.holds({"type": branch.get("type", "string")}, value)]
    if len(meant) == 1 and meant[0].get("type"):
        walk.look(meant[0], value, pointer)
    else:
        yield f"must be {' or '.join(map(_in_words, branches))}"


def _not(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if not walk.holds(wanted, value):
        return
    if "title" in schema:
        yield f"must be {_in_words(schema)}"
    elif "required" in wanted:
        yield f"must not have {' and '.join(wanted['required'])} together"
    else:
        yield f"must not be {_in_words(wanted)}"


def _if(walk: _Walk, wanted: Any, schema: Schema, value: Any, pointer: str) -> Iterator[str]:
    if not walk.holds(wanted, value):
        return
    inner = _Walk(walk.most, walk.steps)
    try:
        inner.look(schema["then"], value, pointer)
    except _StopError:
        if not inner.faults:
            raise
    reason = _condition(wanted, value)
    for fault in inner.faults:
        walk.report(fault.pointer, f"{fault.message} when {reason}", fault.value)
    yield from ()


def _condition(condition: Schema, value: Any) -> str:
    """Return the condition of an `if` that holds, in words."""
    words = []
    for name, part in condition.get("properties", {}).items():
        if "required" in part:
            words.append(f"{name} has {' and '.join(part['required'])}")
        elif "minimum" in part:
            words.append(f"{name} is at least {part['minimum']}")
        elif "type" in part:
            words.append(f"{name} is {_in_words(part)}")
        else:
            words.append(f"{name} is {_spelled(value[name])}")
    return " and ".join(words)


def _escaped(name: str) -> str:
    """Return a member name as a step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


_CHECKS: dict[str, _Check] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minLength": _bound(_is_text, lambda v, n: len(v) >= n, lambda n: f"must have at least {_items(n, 'character')}"),
    "maxLength": _bound(_is_text, lambda v, n: len(v) <= n, lambda n: f"must have at most {_items(n, 'character')}"),
    "pattern": _pattern,
    "minimum": _bound(_is_number, lambda v, n: v >= n, lambda n: f"must be at least {n}"),
    "maximum": _bound(_is_number, lambda v, n: v <= n, lambda n: f"must be at most {n}"),
    "exclusiveMinimum": _bound(_is_number, lambda v, n: v > n, lambda n: f"must be more than {n}"),
    "exclusiveMaximum": _bound(_is_number, lambda v, n: v < n, lambda n: f"must be less than {n}"),
    "minItems": _bound(_is_list, lambda v, n: len(v) >= n, lambda n: f"must have at least {_items(n, 'item')}"),
    "maxItems": _bound(_is_list, lambda v, n: len(v) <= n, lambda n: f"must have at most {_items(n, 'item')}"),
    "uniqueItems": _unique,
    "required": _required,
    "dependentRequired": _dependent,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _each_item,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_branch,
    "not": _not,
    "if": _if,
}
"""What checks a keyword; one that is not here only describes."""

KEYWORDS = frozenset(_CHECKS)
"""Every keyword that the schemas may use, but for `then`, which is looked at with `if`."""
