"""Both validator paths agree on documents of every schema, valid, changed and any other: [ENC-15], [VER-3]."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aef_verify.encoding.ijson import EncodingError
from aef_verify.schemas import NAMES, Side
from aef_verify.schemas.source import schema_text
from aef_verify.strategies import byte_changes, documents, json_changes, json_values, near_documents
from tests.properties.both_paths import COMPILERS, NATIVE, PARSERS, PURE
from tests.properties.effort import examples

EVERY = [*NAMES, "decision#/$defs/input"]
SIDES = get_args(Side)


@cache
def compiled(path: str, name: str, side: Side) -> Callable[[object], bool]:
    return COMPILERS[path](schema_text(name, side))


def verdicts(data: bytes, name: str, side: Side) -> list[object]:
    """Return what each path says of a document: not JSON, valid, not valid."""
    found: list[object] = []
    for path in (NATIVE, PURE):
        try:
            found.append(compiled(path, name, side)(PARSERS[path](data)))
        except EncodingError:
            found.append("encoding")
    return found


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", EVERY)
def test_validators_agree_on_changed_documents(name: str, side: Side) -> None:
    @examples(25)
    @given(near_documents(name, side), st.data())
    def agree(document: object, data: st.DataObject) -> None:
        text = json.dumps(document, ensure_ascii=False).encode()
        for _ in range(3):
            native, pure = verdicts(text, name, side)
            assert native == pure
            change = data.draw(json_changes(text) | byte_changes(text) if text[:1] == b"{" else byte_changes(text))
            text = change.data

    agree()


@pytest.mark.parametrize("name", EVERY)
def test_validators_agree_on_any_value(name: str) -> None:
    @examples(20)
    @given(json_values())
    def agree(value: object) -> None:
        for side in SIDES:
            native, pure = verdicts(json.dumps(value).encode(), name, side)
            assert native == pure

    agree()


ALIKE: list[object] = [1, 1.0, True, 0, 0.0, -0.0, False, None, "1", "", [], {}, 2.5, 2**53 - 1, 2.0**53 - 1, 1e308]
alike = st.sampled_from(ALIKE)
alike_values = alike | st.lists(alike, max_size=2) | st.dictionaries(st.sampled_from("ab"), alike, max_size=2)
EQUALITY = (
    {"uniqueItems": True},
    {"contains": {"const": 0}},
    {"contains": {"const": 1}},
    {"contains": {"enum": ["1"]}},
)


@examples(400)
@given(st.lists(alike_values | st.lists(alike_values, max_size=2), max_size=3))
def test_validators_agree_on_what_is_equal(items: list[object]) -> None:
    """[ENC-4] Numbers by value, members in any order, `true` and 1 never one; as far as schemas ask for it."""
    for schema in EQUALITY:
        native, pure = (compile_schema(json.dumps(schema)) for compile_schema in COMPILERS.values())
        assert native(items) == pure(items)


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_takes_what_a_writer_may_write(name: str) -> None:
    """[VER-2], [VER-3] The reader's schema only relaxes the writer's."""

    @examples(15)
    @given(documents(name, "writer"))
    def accepts(document: object) -> None:
        for path in (NATIVE, PURE):
            assert compiled(path, name, "reader")(document)

    accepts()
