"""The two implementations agree: on what their libraries read differently, and on random documents.

[ENC-4] (integers by value, lengths in code points), [ENC-15] (`$` is the end of input), [ENC-16].
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aef_verify.schemas import NAMES, explain, native, pure
from aef_verify.schemas.source import schema_text
from tests.schemas.both import SIDES, by_jsonschema, by_jsonschema_rs
from tests.schemas.full import FULL
from tests.schemas.making import ODD, change, make, shown

MAX = 2**53 - 1

BY_HAND: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": "integer"}, [2, 2.0, -0.0, 1e300, 10**30, 2**63, 2**64], [2.5, True, False, "2", None, 5e-324]),
    ({"type": "number"}, [0, -0.0, 1e300, 10**300, -(2**64)], [True, False, "0", None]),
    ({"type": "boolean"}, [True, False], [0, 1, 0.0, "true", None]),
    ({"type": ["number", "null"], "minimum": 0}, [None, 0, -0.0, 1e300], [False, -5e-324, -1, "0"]),
    (
        {"type": "integer", "minimum": -MAX, "maximum": MAX},
        [MAX, float(MAX), -MAX],
        [MAX + 1, float(MAX + 1), 2**63, 2**64, -(2**63) - 1, 10**30, 1e30, 10**300],
    ),
    ({"exclusiveMinimum": 0, "exclusiveMaximum": 1}, [5e-324, 0.5, True, "2"], [0, 0.0, -0.0, 1, 1.0, 10**300]),
    ({"const": 0}, [0, 0.0, -0.0], [False, None, "0", "", [], 5e-324]),
    ({"const": 1}, [1, 1.0], [True, "1", 1.0000000000000002]),
    ({"const": "1.0"}, ["1.0"], [1.0, 1, "1.00", "1.0\n", "1.0\x00"]),
    ({"enum": ["a", None]}, ["a", None], [False, 0, "None", "null", "a\n", "a\x00", ["a"]]),
    ({"not": {"enum": ["a"]}}, ["b", "a\n", 0, None], ["a"]),
    ({"maxLength": 2}, ["ab", "😀😀", "e\u0301", "\x00\x00", "🇩🇪", 123], ["abc", "😀😀😀", "e\u0301e", "\x00\x00\x00"]),
    ({"minLength": 1}, ["\x00", "\u200b", "\n", 0], [""]),
    ({"pattern": "^a$"}, ["a", 1, None], ["a\n", "a\r", "a\u2028", "a\x00", "\na", "A", "ä"]),
    ({"pattern": "^(a|b)$"}, ["a", "b"], ["a\n", "ab", "b\n\n"]),
    ({"pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]+$"}, ["a", "\xa0", "\u2028", "😀"], ["", "a\n", "\x00", "\x7f", "\x9f"]),
    ({"pattern": "^a\\r?\\n$"}, ["a\n", "a\r\n"], ["a\n\n", "a", "a\r"]),
    ({"pattern": "^[$]\\$$"}, ["$$"], ["$", "$$\n"]),
    ({"pattern": "^[0-9]$"}, ["5"], ["٥", "５"]),
    ({"pattern": "^[A-Za-z]$"}, ["K"], ["\u212a", "ſ", "é"]),
    ({"uniqueItems": True}, [[1, True], [0, False], [[1], [True]], ["é", "e\u0301"], [1, "1"], [{}, []], "aa"], []),
    ({"uniqueItems": True}, [], [[1, 1.0], [0, -0.0], [0.0, -0.0], [[1], [1.0]], [None, None], [10**300, 10**300]]),
    ({"uniqueItems": True}, [[{"a": True}, {"a": 1}]], [[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1.0}]]),
    ({"type": "object", "additionalProperties": False}, [{}], [{"": 1}, {"a\x00": 1}, [], None]),
    ({"properties": {"a": False}}, [{}, {"b": 1}, [1], "a"], [{"a": None}, {"a": 0}]),
    ({"dependentRequired": {"a": ["b"]}}, [{}, {"b": 1}, {"a": 1, "b": None}, []], [{"a": None}]),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{"a": None}], [{}, {"a": 1, "b": 2}]),
    ({"items": {"type": "string"}, "minItems": 1, "maxItems": 2}, [["a"], {"0": 1}], [[], ["a", 1], ["a"] * 3]),
]


@pytest.mark.parametrize("compile_schema", [native.compile_schema, pure.compile_schema], ids=["native", "pure"])
@pytest.mark.parametrize(("schema", "valid", "invalid"), BY_HAND, ids=[json.dumps(row[0]) for row in BY_HAND])
def test_by_hand(compile_schema: Any, schema: dict[str, Any], valid: list[Any], invalid: list[Any]) -> None:
    is_valid = compile_schema(json.dumps(schema))
    assert [value for value in valid if not is_valid(value)] == []
    assert [value for value in invalid if is_valid(value)] == []


@pytest.mark.parametrize("compile_schema", [native.compile_schema, pure.compile_schema], ids=["native", "pure"])
def test_hostile_values_cost_little(compile_schema: Any) -> None:
    """Long strings and lists, where a quadratic matcher would not come back."""
    path = json.loads(schema_text("common#/$defs/relativePath", "reader")) | {"maxLength": 10**9}
    assert not compile_schema(json.dumps(path))("a" * 4_000 + "!")
    assert not compile_schema(schema_text("common#/$defs/relativePath", "reader"))("a/" * 2_000_000)
    assert not compile_schema(schema_text("common#/$defs/text", "reader"))("a" * 4_000_000 + "\n")
    unique = compile_schema('{"uniqueItems": true}')
    many = [{"a": number} if number % 2 else str(number) for number in range(100_000)]
    assert unique(many)
    assert not unique([*many, "0"])


@pytest.mark.parametrize("name", [*NAMES, "decision#/$defs/input"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_random_documents(name: str, data: st.DataObject) -> None:
    """Both implementations and the explanation agree on every document made and changed at random."""
    random: Random = data.draw(st.randoms(use_true_random=False))
    side = data.draw(st.sampled_from(SIDES))
    value = make(json.loads(schema_text(name, side)), random) if random.random() < 0.7 else FULL[name]
    for _ in range(random.choice((0, 1, 1, 2))):
        value = change(value, random)
    verdict = by_jsonschema_rs(name, side)(value)
    assert by_jsonschema(name, side)(value) == verdict, shown(value)
    assert (explain(name, side, value) == []) == verdict, shown(value)


@pytest.mark.parametrize("name", [*NAMES, "decision#/$defs/input"])
def test_odd_values_anywhere(name: str) -> None:
    """Each member of the full document replaced by each odd value, one after the other."""
    random = Random(name)
    for pointer in members(FULL[name]):
        for odd in random.sample(ODD, 3):
            value = json.loads(json.dumps(FULL[name]))
            place = value
            for step in pointer[:-1]:
                place = place[step]
            place[pointer[-1]] = odd
            for side in SIDES:
                verdict = by_jsonschema_rs(name, side)(value)
                assert by_jsonschema(name, side)(value) == verdict, (pointer, odd)
                assert (explain(name, side, value) == []) == verdict, (pointer, odd)


def members(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every member and item of a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for step, part in parts for path in ((*before, step), *members(part, (*before, step)))]
