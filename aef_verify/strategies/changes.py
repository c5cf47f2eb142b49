"""Single changes of bytes, of lines and of JSON values, each with words that say what was changed.

A change is a plain function of a source of chance, so that Hypothesis (which shrinks it) and a fuzzer (which is fast)
make the same ones. A function returns None where there is nothing that it could change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from aef_verify.strategies.trees import Literal, Members, Place, Tree, objects, places, read_tree, write_tree


class Change(NamedTuple):
    """Changed bytes, and what was changed in them."""

    description: str
    data: bytes


ByteChange = Callable[[Random, bytes], "Change | None"]

# Bytes


def byte_replaced(chance: Random, data: bytes) -> Change | None:
    """Replace one byte by another."""
    if not data:
        return None
    at = chance.randrange(len(data))
    value = (data[at] + chance.randrange(1, 256)) % 256
    return Change(f"byte {at}: {data[at]:#04x} is {value:#04x}", data[:at] + bytes((value,)) + data[at + 1 :])


def bit_flipped(chance: Random, data: bytes) -> Change | None:
    """Flip one bit."""
    if not data:
        return None
    at, bit = chance.randrange(len(data)), chance.randrange(8)
    value = data[at] ^ 1 << bit
    return Change(
        f"byte {at}: bit {bit} flipped, {data[at]:#04x} is {value:#04x}", data[:at] + bytes((value,)) + data[at + 1 :]
    )


_INSERTED = (
    b"\n",
    b"\r",
    b" ",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\\",
    b"0",
    b"-",
)


def byte_inserted(chance: Random, data: bytes) -> Change | None:
    """Insert one character that means something to a parser."""
    at, found = chance.randrange(len(data) + 1), chance.choice(_INSERTED)
    return Change(f"{found!r} inserted at byte {at}", data[:at] + found + data[at:])


def byte_deleted(chance: Random, data: bytes) -> Change | None:
    """Delete one byte."""
    if not data:
        return None
    at = chance.randrange(len(data))
    return Change(f"byte {at} ({data[at]:#04x}) deleted", data[:at] + data[at + 1 :])


def cut_short(chance: Random, data: bytes) -> Change | None:
    """Cut off the end."""
    if not data:
        return None
    at = chance.randrange(len(data))
    return Change(f"cut off after {at} bytes", data[:at])


BYTE_CHANGES: dict[str, ByteChange] = {
    "byte replaced": byte_replaced,
    "bit flipped": bit_flipped,
    "byte inserted": byte_inserted,
    "byte deleted": byte_deleted,
    "cut short": cut_short,
}


# Lines


def _any_line(chance: Random, data: bytes) -> tuple[list[bytes], int] | None:
    lines = data.splitlines(keepends=True)
    return (lines, chance.randrange(len(lines))) if lines else None


def line_deleted(chance: Random, data: bytes) -> Change | None:
    """Delete one line."""
    if not (found := _any_line(chance, data)):
        return None
    lines, at = found
    return Change(f"line {at + 1} deleted", b"".join(lines[:at] + lines[at + 1 :]))


def line_duplicated(chance: Random, data: bytes) -> Change | None:
    """Write one line twice, the second time anywhere after the first."""
    if not (found := _any_line(chance, data)):
        return None
    lines, at = found
    again = chance.randrange(at, len(lines))
    said = f"line {at + 1} again after line {again + 1}"
    return Change(said, b"".join([*lines[: again + 1], lines[at], *lines[again + 1 :]]))


def lines_swapped(chance: Random, data: bytes) -> Change | None:
    """Swap two lines."""
    if not (found := _any_line(chance, data)) or len(found[0]) < 2:
        return None
    lines, at = found
    other = (at + chance.randrange(1, len(lines))) % len(lines)
    lines[at], lines[other] = lines[other], lines[at]
    first, second = sorted((at + 1, other + 1))
    return Change(f"lines {first} and {second} swapped", b"".join(lines))


LINE_CHANGES: dict[str, ByteChange] = {
    "line deleted": line_deleted,
    "line duplicated": line_duplicated,
    "lines swapped": lines_swapped,
}


# JSON values

_NUMBERS = ("0", "1", "-1", "2.0", "0.5", "-0", "1e308", "1.5e308", "1e-400", "9007199254740992", "1e999")
_TEXTS = (
    *("", "a", "é", "a\n", "\ud800", "latest", "1.0", "1.1", "2.0", "passed", "pending", "running", "off", "seal.json"),
    *("../run.json", "2026-02-31T00:00:00Z", "2026-10-02T14:00:00.000000001Z", "0000-01-01T00:00:00Z", "x" * 257),
)
_OTHERS: tuple[Tree, ...] = (None, True, False, [], [None], Members(), Members([("a", None)]))
_VALUES: tuple[Tree, ...] = (*_OTHERS, *map(Literal, _NUMBERS), *_TEXTS)


def _kind(value: Tree) -> str:
    return "number" if isinstance(value, Literal) else type(value).__name__


def value_replaced(chance: Random, tree: Tree) -> str | None:
    """Replace one value by one of another type."""
    if not (found := places(tree)):
        return None
    place = chance.choice(found)
    others = [value for value in _VALUES if _kind(value) != _kind(place.value)]
    return _put(place, chance.choice(others))


def value_changed(chance: Random, tree: Tree) -> str | None:
    """Replace one value by another of the same type."""
    if not (found := [place for place in places(tree) if not isinstance(place.value, Members | list | bool | None)]):
        return None
    place = chance.choice(found)
    others = [value for value in _VALUES if _kind(value) == _kind(place.value) and value != place.value]
    return _put(place, chance.choice(others))


def value_copied(chance: Random, tree: Tree) -> str | None:
    """Replace one value by another one of the same document."""
    found = places(tree)
    if len(found) < 2:
        return None
    place, other = chance.choice(found), chance.choice(found)
    return _put(place, read_tree(write_tree(other.value)))


def _put(place: Place, value: Tree) -> str:
    before = write_tree(place.value)
    place.put(value)
    return f"{place.name}: {before[:40]!r} is {write_tree(value)[:40]!r}"


def member_removed(chance: Random, tree: Tree) -> str | None:
    """Remove one member of an object."""
    if not (found := objects(tree)):
        return None
    pairs = chance.choice(found).pairs
    name, _ = pairs.pop(chance.randrange(len(pairs)))
    return f"member {name!r} removed"


def member_renamed(chance: Random, tree: Tree) -> str | None:
    """Rename one member of an object."""
    if not (found := objects(tree)):
        return None
    pairs = chance.choice(found).pairs
    at = chance.randrange(len(pairs))
    name, value = pairs[at]
    new = chance.choice((f"{name}x", name.upper(), "", "x-later", "kind", "trial", "parentResultId", "runHash"))
    pairs[at] = (new, value)
    return f"member {name!r} renamed {new!r}"


def member_duplicated(chance: Random, tree: Tree) -> str | None:
    """Write one member of an object twice."""
    if not (found := objects(tree)):
        return None
    pairs = chance.choice(found).pairs
    pair = pairs[chance.randrange(len(pairs))]
    pairs.insert(chance.randrange(len(pairs) + 1), pair)
    return f"member {pair[0]!r} stands twice"


def item_duplicated(chance: Random, tree: Tree) -> str | None:
    """Write one item of a list twice, or an empty list's first one."""
    lists = [place.value for place in places(tree) if isinstance(place.value, list)]
    if not lists:
        return None
    items = chance.choice(lists)
    items.append(chance.choice(items) if items else chance.choice(_VALUES))
    return "a list has an item more"


JSON_CHANGES: dict[str, Callable[[Random, Tree], str | None]] = {
    "value replaced": value_replaced,
    "value changed": value_changed,
    "value copied": value_copied,
    "member removed": member_removed,
    "member renamed": member_renamed,
    "member duplicated": member_duplicated,
    "item duplicated": item_duplicated,
}


def json_changed(chance: Random, data: bytes, kinds: Sequence[str] = tuple(JSON_CHANGES)) -> Change | None:
    """Change one thing in a JSON text; None where the bytes are none, or none of these kinds finds what to change."""
    try:
        tree = read_tree(data)
    except (ValueError, RecursionError):
        return None
    said = JSON_CHANGES[chance.choice(kinds)](chance, tree)
    return None if said is None else Change(said, write_tree(tree) + b"\n" * data.endswith(b"\n"))


def json_line_changed(chance: Random, data: bytes) -> Change | None:
    """Change one thing in one line of an NDJSON text."""
    if not (found := _any_line(chance, data)):
        return None
    lines, at = found
    change = json_changed(chance, lines[at])
    if change is None:
        return None
    return Change(f"line {at + 1}: {change.description}", b"".join([*lines[:at], change.data, *lines[at + 1 :]]))
