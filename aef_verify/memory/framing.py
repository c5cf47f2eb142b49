"""The elements of one large JSON array, and the members of one value, found on bytes without parsing them.

A dataset of hundreds of megabytes is one array of questions. `elements` yields the bytes of one after the other from
a stream in constant memory, and `blame` says where in an element's bytes the first fault stands, so that an error
can name the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from aef_verify import limits
from aef_verify.encoding import ijson

CHUNK_BYTES = 1 << 18
"""What is read at a time, at first."""

_MOST_CHUNK_BYTES = 8 << 20

ELEMENT_BYTES = 48 << 20
"""One element at most; a question of the official M variant has about 6 MB."""

LEVELS = limits.DEPTH - 1
"""How deep one element may nest: the array around it is the first level of the file [ENC-17]."""

BLAME_BYTES = 32 << 20
"""How many bytes are looked at, level by level, to say where a fault is; beyond it the path ends early."""

_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+([{}\[\]])', re.DOTALL)
_SPACE = re.compile(rb"[ \t\n\r]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^,\]}{\[\" \t\n\r]*+")
_OPENERS = b"{["


class FramingError(ValueError):
    """The bytes are no JSON array of objects; `place` counts the elements that were read before."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


class Element(NamedTuple):
    """One element of the array: its offset in the stream, its bytes, and how deep they nest."""

    start: int
    data: bytes
    depth: int


class _Buffer:
    """The part of a stream that is looked at; `start` is the offset of its first byte in the stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.data = bytearray()
        self.start = 0
        self._want = CHUNK_BYTES

    def more(self) -> bool:
        """Read on; twice as much each time that one element needs it, so that no byte is looked at often."""
        chunk = self.stream.read(self._want)
        self.data += chunk
        self._want = min(self._want * 2, _MOST_CHUNK_BYTES)
        return bool(chunk)

    def drop(self, count: int) -> None:
        """Forget the first `count` bytes."""
        del self.data[:count]
        self.start += count
        self._want = CHUNK_BYTES

    def token(self, place: int) -> int:
        """Drop white space and return the next byte, without dropping it."""
        while True:
            spaces = _SPACE.match(self.data)
            self.drop(spaces.end() if spaces else 0)
            if self.data:
                return self.data[0]
            if not self.more():
                raise FramingError("the file ends within the array", place)


def elements(stream: BinaryIO) -> Iterator[Element]:
    """Yield each element of the array that the stream holds.

    The bytes of an element balance their brackets and are not yet known to be JSON. An element that nests deeper than
    `LEVELS` is the last one, and its bytes end where it does.

    Raises:
        FramingError: no array, an element that is no object or larger than `ELEMENT_BYTES`, or text after the end.
    """
    buffer = _Buffer(stream)
    if buffer.token(0) != ord("["):
        raise FramingError("the file is no JSON array of questions", 0)
    buffer.drop(1)
    place = 0
    closed = buffer.token(place) == ord("]")
    while not closed:
        if buffer.token(place) != ord("{"):
            raise FramingError("an element of the array is no object", place)
        end, depth = _element_end(buffer, place)
        yield Element(buffer.start, bytes(buffer.data[:end]), depth)
        if depth > LEVELS:
            return
        buffer.drop(end)
        place += 1
        after = buffer.token(place)
        if after not in b",]":
            raise FramingError("no comma stands between two elements of the array", place)
        closed = after == ord("]")
        if not closed:
            buffer.drop(1)
    _check_end(buffer, place)


def _element_end(buffer: _Buffer, place: int) -> tuple[int, int]:
    """Return the number of bytes of the element at the head of the buffer, and how deep they nest."""
    position = level = deepest = 0
    while True:
        data = buffer.data
        while found := _BRACKET.match(data, position):
            position = found.end()
            if data[position - 1] in _OPENERS:
                level += 1
                deepest = max(deepest, level)
                if level > LEVELS:
                    return position, level
                continue
            level -= 1
            if level == 0:
                return position, deepest
        if len(buffer.data) > ELEMENT_BYTES:
            raise FramingError(f"an element has more than {ELEMENT_BYTES:,} bytes", place)
        if not buffer.more():
            raise FramingError("the file ends within an element of the array", place)


def _check_end(buffer: _Buffer, place: int) -> None:
    buffer.drop(1)
    while True:
        spaces = _SPACE.match(buffer.data)
        buffer.drop(spaces.end() if spaces else 0)
        if buffer.data:
            raise FramingError("more text follows the array", place)
        if not buffer.more():
            return


def members(data: bytes) -> Iterator[tuple[bytes | int, bytes]]:
    """Yield the members of an object (raw name with its quotes) or the items of an array (index), as raw bytes.

    Ends early, and never raises, where the bytes are not well formed; an object or array that is never closed is
    yielded as far as it goes.
    """
    named = data[:1] == b"{"
    position, index = 1, 0
    while True:
        position = _skip(data, position)
        name: bytes | int = index
        if named:
            found = _STRING.match(data, position)
            if not found:
                return
            name = found.group()
            position = _skip(data, found.end())
            if data[position : position + 1] != b":":
                return
            position = _skip(data, position + 1)
        end = _value_end(data, position)
        if end <= position:
            return
        yield name, data[position:end]
        index += 1
        position = _skip(data, end)
        if data[position : position + 1] != b",":
            return
        position += 1


def _skip(data: bytes, position: int) -> int:
    found = _SPACE.match(data, position)
    return found.end() if found else position


def _value_end(data: bytes, position: int) -> int:
    first = data[position : position + 1]
    if first == b'"':
        found = _STRING.match(data, position)
        return found.end() if found else position
    if first in (b"{", b"["):
        level = 0
        while bracket := _BRACKET.match(data, position):
            position = bracket.end()
            level += 1 if data[position - 1] in _OPENERS else -1
            if level == 0:
                return position
        return len(data)
    found = _SCALAR.match(data, position)
    return found.end() if found else position


def blame(data: bytes, levels: int = LEVELS, budget: int = BLAME_BYTES) -> str:
    """Return the path (`haystack_sessions[3][0].content`) of the innermost value that does not read; "" for the whole.

    For bytes that `ijson` refuses, or that nest deeper than `levels`.
    """
    budget -= len(data)
    if data[:1] not in (b"{", b"[") or budget < 0:
        return ""
    seen: set[str] = set()
    for name, value in members(data):
        text = f"[{name}]" if isinstance(name, int) else _name(name)
        if text in seen or (isinstance(name, bytes) and not _reads(name)):
            return text
        if isinstance(name, bytes):
            seen.add(text)
        if not _reads(value) or ijson.depth(value) >= levels:
            inner = blame(value, levels - 1, budget) if levels > 1 else ""
            return text + ("." if inner and inner[0] != "[" else "") + inner
    return ""


def _name(raw: bytes) -> str:
    try:
        value = ijson.parse(raw)
    except ijson.EncodingError:
        return raw[1:-1].decode("utf-8", "replace")
    return str(value)


def _reads(value: bytes) -> bool:
    try:
        ijson.parse(value)
    except ijson.EncodingError:
        return False
    return True
