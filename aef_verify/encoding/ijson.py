"""Strict I-JSON out of hostile bytes: [ENC-1] to [ENC-4], with [ENC-17]'s size and depth checked on the bytes first.

Two parsers stand behind one interface: `jiter` (native), and the standard library's `json` when `AEF_PURE=1` is
set. Both refuse a member name given twice, an unpaired surrogate, a number beyond binary64, a byte order mark and
bytes that are not UTF-8; both read `1e-400` as 0 and an integral number of any size within binary64 exactly.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from math import inf
from typing import cast

from aef_verify import limits

PURE = os.environ.get("AEF_PURE") == "1"
"""Whether the pure-Python parser was selected."""


class UnreadableError(ValueError):
    """Bytes that do not read; `code` is the problem code they earn."""

    code = "encoding"


class EncodingError(UnreadableError):
    """Not strict I-JSON in UTF-8 [ENC-1..3]."""


class LimitError(UnreadableError):
    """Beyond a limit of [ENC-17], whatever else is wrong."""

    code = "limit"


_CLOSED = re.compile(rb'(?:[^"]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_STEPS = bytes.maketrans(b"{[}]", b"\x01\x01\xff\xff")
_NO_BRACKET = bytes(byte for byte in range(256) if byte not in b"{}[]")


def depth(data: bytes) -> int:
    """Return the greatest nesting of `{` and `[` outside strings, for any bytes, JSON or not.

    A closer of either kind takes one away, below zero too. A string runs from a quote to the next unescaped one;
    a quote that is never closed hides nothing (docs/READINGS.md, depth scan in malformed bytes).
    """
    closed = _CLOSED.match(data)
    end = closed.end() if closed else 0
    brackets = (_STRING.sub(b"", data[:end]) + data[end:]).translate(_STEPS, _NO_BRACKET)
    return max(accumulate(memoryview(brackets).cast("b"), initial=0))


def too_deep(data: bytes) -> bool:
    """Whether the bytes nest deeper than `limits.DEPTH`; cheap where they hold few brackets."""
    if data.count(b"{") + data.count(b"[") <= limits.DEPTH:
        return False
    return depth(data) > limits.DEPTH


_NO_OPENER = bytes(byte for byte in range(256) if byte not in b"{[\n")


def may_be_too_deep(data: bytes) -> bool:
    """Whether one of the lines could nest deeper than `limits.DEPTH`: one has more openers than that."""
    return max(map(len, data.translate(None, _NO_OPENER).split(b"\n"))) > limits.DEPTH


_FIGURES = bytes.maketrans(b"123456789E", b"000000000e")
_LONG_FIGURES = b"0" * 200


def _may_overflow(data: bytes) -> bool:
    """Whether the bytes could hold a number beyond binary64: a three-digit exponent or 200 digits in a row."""
    figures = data.translate(_FIGURES, b"+")
    return b"0e000" in figures or _LONG_FIGURES in figures


_BEFORE_A_NUMBER = b":,[-. \t\r\n"
_SHORT = 40


def _may_overflow_somewhere(data: bytes) -> bool:
    """Whether lines could hold a number beyond binary64, at less cost for many lines than `_may_overflow` for each.

    Most places that look like an exponent stand in hex digits: those have a letter or a quote before the digits.
    """
    figures = data.translate(_FIGURES, b"+")
    if _LONG_FIGURES in figures:
        return True
    at = figures.find(b"0e000")
    while at >= 0:
        before = figures[max(0, at - _SHORT) : at].rstrip(b"0")
        if not before or before[-1] in _BEFORE_A_NUMBER:
            return True
        at = figures.find(b"0e000", at + 5)
    return False


def line_parser(data: bytes) -> Callable[[bytes], object]:
    """Return what parses each line of the data as `parse` does, and quicker where no number can be beyond binary64.

    It raises ValueError for a line that `parse` refuses.
    """
    return parse if PURE or _may_overflow_somewhere(data) else _quick_parse


def _overflows(value: object) -> bool:
    """Whether a parsed value is or holds a number beyond binary64."""
    kind = type(value)
    if kind is float:
        return value in (inf, -inf)
    if kind is int:
        return _is_beyond(cast("int", value))
    if kind is dict or kind is list:
        for item in value.values() if kind is dict else value:  # type: ignore[attr-defined, union-attr] # as `kind` says
            # Most items are strings: a call for each would cost more than the parsing.
            if type(item) is not str and _overflows(item):
                return True
    return False


def _is_beyond(value: int) -> bool:
    try:
        float(value)
    except OverflowError:
        return True
    return False


def _quick() -> Callable[[bytes], object]:
    from jiter import from_json

    return partial(from_json, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")


def _native() -> Callable[[bytes], object]:
    quick = _quick()

    def parse_native(data: bytes) -> object:
        try:
            value = quick(data)
        except ValueError as fault:
            if _may_overflow(data):
                # jiter refuses every number of more than 4,300 digits, also one that binary64 can hold.
                return _pure()(data)
            raise EncodingError(str(fault)) from None
        if _may_overflow(data) and _overflows(value):
            raise EncodingError("a number is beyond the range of binary64")
        return value

    return parse_native


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def _pure() -> Callable[[bytes], object]:
    import json

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(pairs)
        if len(value) < len(pairs):
            last = {name: place for place, (name, _) in enumerate(pairs)}
            twice = next(name for place, (name, _) in enumerate(pairs) if last[name] != place)
            raise EncodingError(f"the member name {twice!r} stands twice in one object")
        return value

    def number(text: str) -> float:
        value = float(text)
        if value in (inf, -inf):
            raise EncodingError("a number is beyond the range of binary64")
        return value

    def integer(text: str) -> int:
        number(text)
        return int(text)

    def constant(text: str) -> object:
        raise EncodingError(f"{text} is no JSON number")

    decoder = json.JSONDecoder(
        object_pairs_hook=members, parse_float=number, parse_int=integer, parse_constant=constant
    )

    def parse_pure(data: bytes) -> object:
        try:
            text = data.decode("utf-8")
            start = len(text) - len(text.lstrip(" \t\n\r"))
            value, end = decoder.raw_decode(text, start)
            if text[end:].strip(" \t\n\r"):
                raise EncodingError(f"more text follows the JSON value at character {end}")
            if _SURROGATE.search(data):
                _paired(value)
        except UnicodeDecodeError as fault:
            raise EncodingError(f"not UTF-8 at byte {fault.start}") from None
        except UnicodeEncodeError:
            raise EncodingError("a string holds an unpaired surrogate") from None
        except RecursionError:
            raise EncodingError("nested too deep to read") from None
        except EncodingError:
            raise
        except ValueError as fault:
            raise EncodingError(str(fault)) from None
        result: object = value
        return result

    return parse_pure


def _paired(value: object) -> None:
    """Raise UnicodeEncodeError where a string of the value holds an unpaired surrogate."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict):
        for name, member in value.items():
            name.encode()
            _paired(member)
    elif isinstance(value, list):
        for item in value:
            _paired(item)


parse: Callable[[bytes], object] = _pure() if PURE else _native()
"""Parse one JSON value of any kind; raises `EncodingError`. Size and depth are the caller's to check first."""

_quick_parse: Callable[[bytes], object] = parse if PURE else _quick()


def parse_object(data: bytes) -> dict[str, object]:
    """Parse one JSON object [ENC-1]; raises `EncodingError` also where the value is no object."""
    value = parse(data)
    if not isinstance(value, dict):
        raise EncodingError("the top-level value is no object")
    return value


def read_object(data: bytes, max_bytes: int = limits.JSON_BYTES) -> dict[str, object]:
    """Size, depth, then content: the object that the bytes of a file or line hold.

    Raises:
        LimitError: beyond `max_bytes` or `limits.DEPTH`, whatever else is wrong [ENC-17].
        EncodingError: otherwise no strict I-JSON object [ENC-1..3].
    """
    if len(data) > max_bytes:
        raise LimitError(f"{len(data):,} bytes; at most {max_bytes:,} are allowed")
    if too_deep(data):
        raise LimitError(f"nested deeper than {limits.DEPTH}")
    return parse_object(data)
