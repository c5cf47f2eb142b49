"""JSON text as a tree that keeps how it was written: member order, repeated members, the spelling of every number.

A mutation or another spelling changes one thing in the tree and leaves the rest as it was, but for whitespace.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias


class Literal(str):
    """A number as it is spelled."""

    __slots__ = ()


class Members:
    """An object's members in their order; a name may stand twice."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[str, Tree]] = ()) -> None:
        self.pairs = list(pairs)


Tree: TypeAlias = "Members | list[Tree] | str | Literal | bool | None"


class Place(NamedTuple):
    """Where a value stands: the object or list that holds it, and its position there."""

    holder: Members | list[Tree]
    position: int

    @property
    def name(self) -> str:
        """The member's name, or the item's position in words."""
        return (
            repr(self.holder.pairs[self.position][0]) if isinstance(self.holder, Members) else f"item {self.position}"
        )

    @property
    def value(self) -> Tree:
        """The value that stands here."""
        return self.holder.pairs[self.position][1] if isinstance(self.holder, Members) else self.holder[self.position]

    def put(self, value: Tree) -> None:
        """Let another value stand here."""
        if isinstance(self.holder, Members):
            self.holder.pairs[self.position] = (self.holder.pairs[self.position][0], value)
        else:
            self.holder[self.position] = value


def read_tree(data: bytes) -> Tree:
    """Read the tree of a JSON text; raises ValueError where it is none."""
    tree: Tree = json.loads(
        data, object_pairs_hook=Members, parse_int=Literal, parse_float=Literal, parse_constant=Literal
    )
    return tree


def write_tree(tree: Tree) -> bytes:
    """Write a tree without whitespace, in UTF-8; a string with an unpaired surrogate is escaped."""
    return "".join(_pieces(tree)).encode()


def spelled_text(text: str) -> str:
    """Spell a JSON string with as few escapes as there can be."""
    surrogate = any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=surrogate)


def _pieces(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Members):
        yield "{"
        for number, (name, value) in enumerate(tree.pairs):
            yield f"{',' if number else ''}{spelled_text(name)}:"
            yield from _pieces(value)
        yield "}"
    elif isinstance(tree, list):
        yield "["
        for number, value in enumerate(tree):
            yield "," if number else ""
            yield from _pieces(value)
        yield "]"
    elif isinstance(tree, Literal):
        yield tree
    elif isinstance(tree, str):
        yield spelled_text(tree)
    else:
        yield json.dumps(tree)


def places(tree: Tree) -> list[Place]:
    """Return where every value below the top stands, outer ones first."""
    found: list[Place] = []
    waiting = [tree]
    for value in waiting:
        if isinstance(value, Members | list):
            below = [Place(value, index) for index in range(len(value.pairs if isinstance(value, Members) else value))]
            found += below
            waiting += (place.value for place in below)
    return found


def objects(tree: Tree) -> list[Members]:
    """Return every object of the tree that has a member, outer ones first."""
    every = [tree, *(place.value for place in places(tree))]
    return [value for value in every if isinstance(value, Members) and value.pairs]
