"""Documents of any schema, drawn from the schema itself: valid ones, and ones that are nearly so.

Every document of [RUN-2] and of chapters 5 and 6 has a schema; where no strategy of its own makes it consistent, this
one makes it at least valid [VER-2], [VER-3].
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st

from aef_verify.schemas import Side, accepts
from aef_verify.schemas.native import compile_schema
from aef_verify.schemas.source import schema_text
from aef_verify.strategies.ijson import json_values
from aef_verify.strategies.values import numbers, texts

Schema = dict[str, Any]
Strategy = st.SearchStrategy[Any]

_LIST = 2
"""Items beyond the fewest that a list must have."""


@cache
def documents(name: str, side: Side = "writer") -> Strategy:
    """A document that is valid against a schema.

    Args:
        name: as `aef_verify.schemas.validator` takes it: a document (`run`) or a definition in one.
        side: whose schema, the writer's or the reader's.
    """
    return near_documents(name, side).filter(lambda value: accepts(name, side, value))


@cache
def near_documents(name: str, side: Side = "writer") -> Strategy:
    """A document that meets most of a schema: conditions between members may be broken."""
    schema: Schema = json.loads(schema_text(name, side))
    return _drawn(schema)


def _drawn(schema: Schema | bool) -> Strategy:
    if isinstance(schema, bool) or not schema:
        return json_values()
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type", _kind(schema))
    if isinstance(kind, list):
        return st.one_of([_of_type(schema, name) for name in kind])
    return _of_type(schema, kind)


def _kind(schema: Schema) -> str:
    """Return the type that a schema without `type` speaks of."""
    if "properties" in schema or "required" in schema:
        return "object"
    if "pattern" in schema or "minLength" in schema or "maxLength" in schema:
        return "string"
    return "union" if "anyOf" in schema or "oneOf" in schema else "any"


def _of_type(schema: Schema, kind: str) -> Strategy:
    return _TYPES[kind](schema)


def _union(schema: Schema) -> Strategy:
    return st.one_of([_drawn(branch) for union in ("anyOf", "oneOf") for branch in schema.get(union, ())])


def _string(schema: Schema) -> Strategy:
    examples = schema.get("examples", [])
    least, most = schema.get("minLength", 0), schema.get("maxLength", 128)
    if "pattern" not in schema:
        found: Strategy = texts(least, max(least, min(most, 12)))
    elif least and examples:
        # Of a pattern that a length narrows down only the examples are sure to fit.
        return st.sampled_from(examples)
    else:
        found = st.from_regex(re.compile(_anchored(schema["pattern"])))
    return st.sampled_from(examples) | found if examples else found


def _anchored(pattern: str) -> str:
    """Return an ECMA-262 pattern so that its `$` is the end of input in Python too [ENC-15]."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") and not pattern.endswith(r"\$") else pattern


def _number(schema: Schema) -> Strategy:
    low, high = (
        schema.get("minimum", schema.get("exclusiveMinimum")),
        schema.get("maximum", schema.get("exclusiveMaximum")),
    )
    return numbers(low, high)


def _integer(schema: Schema) -> Strategy:
    low, high = schema.get("minimum", -(2**53) + 1), schema.get("maximum", 2**53 - 1)
    exact = st.integers(low, high) | st.sampled_from((low, high, min(low + 1, high)))
    return exact | exact.map(float)


def _array(schema: Schema) -> Strategy:
    least = schema.get("minItems", 0)
    most = min(least + _LIST, schema.get("maxItems", least + _LIST))
    return st.lists(
        _drawn(schema.get("items", True)),
        min_size=least,
        max_size=most,
        unique_by=_identity if schema.get("uniqueItems") else None,
    )


def _identity(item: object) -> str:
    return json.dumps(item, sort_keys=True)


def _object(schema: Schema) -> Strategy:
    """An object with its required members, some others, and what the conditions that hold for it ask for."""
    branches: list[Schema] = [branch for union in ("anyOf", "oneOf") for branch in schema.get(union, ())]
    plain = st.one_of([_branch(schema, branch) for branch in branches or [{}]])
    rules = [rule for rule in (*schema.get("allOf", ()), schema) if "if" in rule]
    return _conditional(plain, schema.get("properties", {}), rules) if rules else plain


def _branch(schema: Schema, branch: Schema) -> Strategy:
    """The members of an object that meets one branch of its union, and has none that the branch forbids."""
    own = {name: part for name, part in branch.get("properties", {}).items() if part is not True}
    forbidden = _forbidden(branch)
    properties: dict[str, Any] = {**schema.get("properties", {}), **own}
    drawn = {name: _drawn(part) for name, part in properties.items() if name not in forbidden}
    required = sorted({*schema.get("required", ()), *branch.get("required", ())})
    fixed = st.fixed_dictionaries(
        {name: drawn.get(name, json_values()) for name in required},
        optional={name: found for name, found in drawn.items() if name not in required},
    )
    others: Any = branch.get("additionalProperties", schema.get("additionalProperties", True))
    if others is False:
        return fixed
    more = st.dictionaries(texts(1, 6).map("x-{}".format), _drawn(others), max_size=1)
    return st.builds(_joined, more, fixed)


def _joined(free: dict[str, object], fixed: dict[str, object]) -> dict[str, object]:
    return {**free, **fixed}


def _forbidden(schema: Schema) -> set[str]:
    """Return the members that `not` rules out one by one."""
    ruled_out = schema.get("not", {})
    branches = ruled_out.get("anyOf", [ruled_out])
    return {name for branch in branches for name in branch.get("required", ()) if len(branch["required"]) == 1}


def _conditional(plain: Strategy, properties: Schema, rules: list[Schema]) -> Strategy:
    """An object that does what each condition that holds for it asks for."""

    @st.composite
    def conditional(draw: st.DrawFn) -> Any:
        value = draw(plain)
        for rule in rules:
            if _holds(json.dumps(rule["if"]))(value):
                _follow(draw, value, properties, rule["then"])
        return value

    return conditional()


def _follow(draw: st.DrawFn, value: dict[str, object], properties: Schema, then: Schema) -> None:
    """Change an object so that it meets what a condition asks for: members there, gone, or with another value."""
    changes = then.get("properties", {})
    for name in {*_forbidden(then), *(name for name, part in changes.items() if part is False)}:
        value.pop(name, None)
    missing = [name for name in then.get("required", ()) if name not in value]
    for name in (*missing, *(name for name in changes if name in value)):
        value[name] = draw(_merged(json.dumps([properties.get(name, {}), changes.get(name, {})])))


@cache
def _holds(text: str) -> Callable[[object], bool]:
    return compile_schema(text)


@cache
def _merged(text: str) -> Strategy:
    """What meets two schemas, as far as one can be written into the other."""
    first, second = json.loads(text)
    merged: Schema = {**first, **second}
    forbidden = _forbidden(second)
    properties = {name: part for name, part in first.get("properties", {}).items() if name not in forbidden}
    required = [*first.get("required", ()), *second.get("required", ())]
    return _drawn(merged | {key: part for key, part in (("properties", properties), ("required", required)) if part})


_TYPES: dict[str, Callable[[Schema], Strategy]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": lambda _: st.booleans(),
    "null": lambda _: st.none(),
    "union": _union,
    "any": lambda _: json_values(),
}
