"""Make a case that shows a fault small: fewer files, fewer lines, fewer members and items, shorter content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from aef_verify.strategies.trees import Members, Place, Tree, read_tree, write_tree
from scripts.fuzzing.cases import Case

Shows = Callable[[Case], bool]
TRIES = 600
"""Smaller cases tried at most."""


def shrunk(case: Case, shows: Shows, tries: int = TRIES) -> Case:
    """Return the smallest case found that still shows the fault; the case itself where none does."""
    again = True
    while again and tries > 0:
        again = False
        for smaller in _smaller(case):
            tries -= 1
            if shows(smaller):
                case, again = smaller, True
                break
            if tries <= 0:
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Yield smaller cases, those that leave most out first."""
    files = case.files
    for path in files:
        yield case._replace(files=files.without(path))
    for path, data in files.items():
        for less in (*_fewer_lines(data), *_fewer_members(data), *_fewer_bytes(data)):
            if len(less) < len(data):
                yield case._replace(files=files.replacing({path: less}))


def _fewer_lines(data: bytes) -> Iterator[bytes]:
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return
    size = len(lines) // 2
    while size:
        for at in range(0, len(lines), size):
            yield b"".join(lines[:at] + lines[at + size :])
        size //= 2


def _fewer_members(data: bytes) -> Iterator[bytes]:
    """Yield the text, or one line of it, without one member or item each, outer ones first."""
    lines = data.splitlines(keepends=True)
    texts = [(data, b"", b"")] if len(lines) < 2 else []
    texts += [(line, b"".join(lines[:at]), b"".join(lines[at + 1 :])) for at, line in enumerate(lines)]
    if len(lines) > 1:
        texts.insert(0, (data, b"", b""))
    for text, before, after in texts:
        with suppress(ValueError, RecursionError):
            tree = read_tree(text)
            end = b"\n" * text.endswith(b"\n")
            for smaller in _without_one(tree):
                yield before + smaller + end + after


def _without_one(tree: Tree) -> Iterator[bytes]:
    waiting = [tree]
    for value in waiting:
        if isinstance(value, Members | list):
            held: list[object] = value.pairs if isinstance(value, Members) else value  # type: ignore[assignment]
            for at in range(len(held)):
                kept = held.pop(at)
                yield write_tree(tree)
                held.insert(at, kept)
            waiting += (Place(value, at).value for at in range(len(held)))


def _fewer_bytes(data: bytes) -> Iterator[bytes]:
    size = len(data)
    while size > 1:
        size //= 2
        yield data[:size]
        yield data[size:]
    if len(data) <= 64:
        for at in range(len(data)):
            yield data[:at] + data[at + 1 :]
