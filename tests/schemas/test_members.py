"""Each member of each document, held to what `members.json` says of it in a few words.

That table stands beside the schemas as their second statement: a bound, a pattern or a `required` that is lost in a
schema fails here. `..` gives least and most; `max` is 2^53 - 1 [ENC-4]; lengths are in code points.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.schemas.both import IMPLEMENTATIONS, SIDES, Implementation
from tests.schemas.cases import GONE, NO, READER, YES, Case
from tests.schemas.full import FULL, HEX, MAX, RESULT, T1, URI

MEMBERS: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "members.json").read_text())
NEW = "something new"
NOT_TEXT: tuple[Any, ...] = (1, True, [], {})
NO_NUMBER: tuple[Any, ...] = (True, "1", [], {})
NO_OBJECT: tuple[Any, ...] = ([], "x", 1)

STRINGS: dict[str, tuple[list[str], list[str]]] = {
    "id": (["a", "x" * 128, "A.b_c:d-1"], ["", "x" * 129, "a b", "a\n", "é"]),
    "ref": (["a:b", "a" * 32 + ":" + "~" * 256], ["", "a", "A:b", "a:", "a" * 33 + ":b", "a:" + "~" * 257, "a:b\n"]),
    "exactVersion": (["1", "x" * 128], ["", "latest", "Latest", "a b", "x" * 129, "1\n"]),
    "sha256Hex": ([HEX], ["", URI, HEX[1:], HEX + "0", HEX.upper(), HEX + "\n"]),
    "sha256Uri": ([URI], ["", HEX, URI[:-1], URI + "0", URI.upper(), URI + "\n"]),
    "timestamp": ([T1], ["", T1 + "\n", "0000-01-01T00:00:00Z", "2026-02-31T00:00:00Z", T1[:-1] + ".1234567890Z"]),
    "duration": (["P1D", "PT90M"], ["", "P", "P1W", "P1D\n"]),
    "resultId": ([RESULT], ["", RESULT[:-1], RESULT + "0", RESULT.upper(), RESULT + "\n"]),
    "evidenceId": (["E-1", "E-" + "a" * 64], ["", "E-", "E-" + "a" * 65, "E-1\n"]),
    "uri": (["a:b"], ["", "a", "a:", "a:b c", "a:b\n", "a:" + "b" * 2047]),
    "relativePath": (["a/b"], ["", "/a", "a/", "a//b", ".a", "a\n", "x" * 256]),
    "text": (["é", "😀"], ["", "a\n", "\x00", "\x7f", "\x9f"]),
    "pattern": ([], ["", " ", "\n", "é é"]),
}
"""Strings by the name of their form: what fits, and what does not."""

CONDITIONAL = {
    ("summary", "/lanes/0/metrics/0/n"),
    ("overlay-seal", "/predicate/batch"),
    ("overlay-seal", "/predicate/previous"),
}
"""Where another member decides as well: only what is refused is looked at."""

Row = tuple[Any, tuple[bool, bool]]


def rows(document: str, pointer: str, words: str) -> Iterator[Case]:
    """Yield what the words of a table row say, as cases."""
    form, _, null = words.partition(" or null")
    value = Case("", "", document, {}, YES).value()
    for step in pointer.split("/")[1:]:
        value = value[int(step) if isinstance(value, list) else step]
    kind, *rest = form.split()
    for index, (new, verdict) in enumerate(_BY_KIND.get(kind, _string)(kind, rest, value, document)):
        if verdict != YES or (document, pointer) not in CONDITIONAL:
            yield Case(words, f"row {index}", document, {pointer: new}, verdict)
    if kind != "vocabulary" and (document, pointer) not in CONDITIONAL:
        yield Case(words, "null", document, {pointer: None}, YES if words.endswith("or null") or null else NO)


def _string(kind: str, rest: list[str], value: Any, document: str) -> Iterator[Row]:
    valid, invalid = STRINGS[kind]
    yield from ((text, YES) for text in valid)
    yield from ((text, NO) for text in (*invalid, *NOT_TEXT))
    if rest:
        most = int(rest[0].removeprefix(".."))
        yield from (("é" * most, YES), ("é" * (most + 1), NO))


def _text(_: str, rest: list[str], value: Any, document: str) -> Iterator[Row]:
    least, most = _bounds(rest[0])
    yield from (("😀" * most, YES), ("x" * (most + 1), NO), ("x" * least, YES))
    yield from ((text, NO) for text in ([""] if least else []) + list(NOT_TEXT))


def _number(kind: str, rest: list[str], value: Any, document: str) -> Iterator[Row]:
    least, most = _bounds(rest[0].replace("<", ""))
    inside = "<" in rest[0]
    if least is not None:
        yield from ((least, NO if inside else YES), (least - 1, NO), (float(least) - 0.5, NO))
    if most is not None:
        yield from ((most, NO if inside else YES), (most + 1, NO), (float(most + 1), NO))
    yield from ((new, NO) for new in NO_NUMBER)
    yield 0.5, NO if kind == "integer" else YES


def _boolean(_: str, rest: list[str], value: Any, document: str) -> Iterator[Row]:
    yield from ((True, YES), (False, YES), (0, NO), (1, NO), ("true", NO))


def _vocabulary(kind: str, rest: list[str], value: Any, document: str) -> Iterator[Row]:
    yield NEW, NO if kind == "closed" else READER
    yield from ((new, NO) for new in NOT_TEXT)


def _version(_: str, rest: list[str], value: Any, document: str) -> Iterator[Row]:
    yield from (("1.0", YES), ("1.7", READER), ("2.0", NO), ("1.00", NO), ("", NO), (1.0, NO))


def _constant(_: str, rest: list[str], value: Any, document: str) -> Iterator[Row]:
    yield from ((value, YES), (value + "\n", NO), (NEW, NO), (1, NO))


def _list(_: str, rest: list[str], value: Any, document: str) -> Iterator[Row]:
    least, most = _bounds(rest[0])
    yield from (({}, NO), ("x", NO), ([None], NO))
    if least:
        yield [], NO
    if "unique" in rest:
        yield [value[0], value[0]], NO
    elif value and most is not None:
        yield [value[0]] * (most + 1), NO
        if most <= 300:
            yield [value[0]] * most, YES


def _object(_: str, required: list[str], value: Any, document: str) -> Iterator[Row]:
    yield from ((new, NO) for new in NO_OBJECT)
    if value is None:
        return
    yield value | {"surprise": 1}, NO if document == "trust-policy" else READER
    for name in required:
        yield {member: part for member, part in value.items() if member != name}, NO


def _open(_: str, rest: list[str], value: Any, document: str) -> Iterator[Row]:
    yield from (({}, YES), ([], NO), ("x", NO))


_BY_KIND = {
    "string": _text,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
    "vocabulary": _vocabulary,
    "closed": _vocabulary,
    "version": _version,
    "constant": _constant,
    "list": _list,
    "object": _object,
    "open": _open,
}


def _bounds(words: str) -> tuple[Any, Any]:
    least, most = re.fullmatch(r"(-?\d*)\.\.(-?\d*|max)", words).groups()  # type: ignore[union-attr]  # a typing slip fails
    return int(least) if least else None, MAX if most == "max" else int(most) if most else None


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("document", MEMBERS)
def test_members(implementation: Implementation, document: str) -> None:
    writer, reader = (implementation(document, side) for side in SIDES)
    wrong: list[tuple[str, str, Any]] = []
    for pointer, words in MEMBERS[document].items():
        for case in rows(document, pointer, words):
            value = case.value()
            if (writer(value), reader(value)) != case.verdict:
                wrong.append((pointer, words, case.changes))
    assert wrong == []


def test_every_member_has_its_row() -> None:
    """But for the kind that picks a branch of a union, and what `cases.py` shows whole."""
    for document, full in FULL.items():
        there = {pointer for pointer in pointers(full) if not re.search(r"/(ext|config|externalIds)/", pointer)}
        missing = there - MEMBERS[document].keys()
        assert {
            p for p in missing if not re.search(r"^/decision|/kind$|/providers?(/\d+)?$|/scale$|/link$", p)
        } == set()


def pointers(value: Any, before: str = "") -> Iterator[str]:
    """Yield the pointer of every part of a document."""
    yield before
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        yield from pointers(part, f"{before}/{step}")


def test_a_case_changes_a_copy() -> None:
    before = copy.deepcopy(FULL["run"])
    Case("", "", "run", {"/suite/executionPolicy": GONE}, YES).value()
    assert FULL["run"] == before
