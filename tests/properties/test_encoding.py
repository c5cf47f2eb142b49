"""Chapter 2 against references that are as plain as can be: depth, framing, paths, times, durations.

[ENC-5] to [ENC-9], [ENC-17], [ENC-18], [RUN-3].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from aef_verify import limits
from aef_verify.encoding import ijson
from aef_verify.encoding.durations import parse_duration
from aef_verify.encoding.ijson import LimitError, depth, line_parser, may_be_too_deep, too_deep
from aef_verify.encoding.ndjson import LONG, Framing
from aef_verify.encoding.paths import path_problems
from aef_verify.encoding.times import is_time, time_key
from aef_verify.strategies import durations, instants, near_json, paths, spelled_times, times
from tests.properties.effort import examples

# Depth

bracketed = st.lists(st.sampled_from([*b'{}[]"\\\na']), max_size=40).map(bytes)


def plain_depth(data: bytes) -> int:
    """Walk the bytes: a string runs to its next unescaped quote, and a quote that has none hides nothing."""
    level = deepest = at = 0
    while at < len(data):
        if data[at] == ord('"'):
            end = at + 1
            while end < len(data) and data[end] != ord('"'):
                end += 2 if data[end] == ord("\\") else 1
            if end < len(data):
                at = end
        elif data[at] in b"{[":
            level += 1
            deepest = max(deepest, level)
        elif data[at] in b"}]":
            level -= 1
        at += 1
    return deepest


@examples(500)
@given(bracketed | near_json() | st.binary(max_size=60))
def test_depth_is_what_walking_the_bytes_gives(data: bytes) -> None:
    assert depth(data) == plain_depth(data)


@examples(150)
@given(st.lists(bracketed, max_size=3), st.integers(0, 70) | st.integers(63, 66), st.integers(0, 2))
def test_too_deep_is_beyond_the_limit(pieces: list[bytes], count: int, pairs: int) -> None:
    data = b"[]" * pairs + b"[" * count + b"{".join(pieces)
    assert too_deep(data) == (plain_depth(data) > limits.DEPTH)


# Framing

LINE_BYTES, LINE_COUNT, FILE_BYTES = 4, 3, 14
ndjson = st.lists(st.sampled_from([b"\n", b"{}", b"a", b" ", b"\r", b"\xef\xbb\xbf", b"\xef", b"12345"]), max_size=9)


def cut(data: bytes, places: Sequence[int]) -> Iterator[bytes]:
    """Cut bytes into blocks at these places, empty ones left out as no file is read so."""
    ends = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return (data[start:end] for start, end in pairwise(ends))


def framed(blocks: Iterator[bytes]) -> tuple[str, list[bytes | None]]:
    """Return the code of what is wrong with a file, and its lines where nothing is."""
    framing, lines = Framing(), list[bytes | None]()
    for block in blocks:
        lines += framing.feed(memoryview(block))
    fault = framing.finish()
    return (fault.code, []) if fault is not None else ("", lines)


def plain_framed(data: bytes) -> tuple[str, list[bytes | None]]:
    """[ENC-5], [ENC-7], [ENC-17] on the whole file at once."""
    *lines, rest = data.split(b"\n")
    if len(data) > FILE_BYTES or len(lines) > LINE_COUNT:
        return "limit", []
    if b"\r" in data or rest or b"" in lines or data.startswith(b"\xef\xbb\xbf"):
        return "encoding", []
    return "", [line if len(line) <= LINE_BYTES else None for line in lines]


@examples(500)
@given(ndjson.map(b"".join), st.lists(st.integers(0, 30), max_size=5))
def test_framing_does_not_depend_on_how_a_file_is_read(data: bytes, places: list[int]) -> None:
    with (
        patch.object(limits, "JSON_BYTES", LINE_BYTES),
        patch.object(limits, "LINES", LINE_COUNT),
        patch.object(limits, "NDJSON_BYTES", FILE_BYTES),
    ):
        assert framed(cut(data, places)) == plain_framed(data)


def cut_framed(blocks: Iterator[bytes]) -> tuple[str, list[bytes | None]]:
    """As `framed`, by whole lines at a time; who cuts finds blank and long lines."""
    framing, lines = Framing(), list[bytes | None]()
    for block in blocks:
        *more, rest = framing.cut(memoryview(block)).split(b"\n")
        assert rest == b""
        if b"" in more:
            framing.blank(len(lines) + more.index(b"") + 1)
        lines += (None if line == LONG or len(line) > limits.JSON_BYTES else line for line in more)
    fault = framing.finish()
    return (fault.code, []) if fault is not None else ("", lines)


@examples(500)
@given(ndjson.map(b"".join), st.lists(st.integers(0, 30), max_size=5))
def test_lines_cut_in_one_piece_are_the_same_lines(data: bytes, places: list[int]) -> None:
    with (
        patch.object(limits, "JSON_BYTES", LINE_BYTES),
        patch.object(limits, "LINES", LINE_COUNT),
        patch.object(limits, "NDJSON_BYTES", FILE_BYTES),
    ):
        assert cut_framed(cut(data, places)) == plain_framed(data)


@examples(300)
@given(
    st.lists(st.sampled_from([b"{", b"[", b"]", b'"', b"\n", b"[" * 40, b"]" * 30, b"x"]), max_size=40).map(b"".join)
)
def test_enc17_no_line_that_is_too_deep_is_overlooked_among_others(data: bytes) -> None:
    if any(too_deep(line) for line in data.split(b"\n")):
        assert may_be_too_deep(data)


NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,4})?", fullmatch=True)
TEXTS = st.from_regex(r"\"(r_)?[0-9a-f]{0,32}\"", fullmatch=True)
LINES = st.lists(
    st.one_of(
        st.builds('{{"a":{}}}'.format, NUMBERS | TEXTS),
        st.builds("[1, {}]".format, NUMBERS | TEXTS),
        st.builds(" {} ".format, NUMBERS | TEXTS),
        st.integers(190, 400).map(lambda figures: "9" * figures),
        st.integers(0, 400).map(lambda figures: f"1{'0' * figures}e30"),
        st.integers(0, 80).map(lambda figures: f"0.{'0' * figures}1e{300 + figures}"),
    ).map(str.encode),
    max_size=5,
)


def read(parse: Callable[[bytes], object], line: bytes) -> object:
    try:
        return parse(line)
    except ValueError:
        return "refused"


@examples(500)
@given(LINES)
def test_a_line_reads_the_same_alone_and_among_others(lines: list[bytes]) -> None:
    """Above all a number beyond binary64 is refused [ENC-2], [ENC-3], [ENC-4]."""
    data = b"".join(line + b"\n" for line in lines)
    parse = line_parser(data)
    for line in lines:
        assert repr(read(parse, line)) == repr(read(ijson.parse, line))


def test_the_limit_of_a_file_has_the_code_limit() -> None:
    assert LimitError("").code == "limit"


# Paths

SEGMENTS = (
    "a",
    "A",
    "ab",
    "aB",
    "con",
    "Con.x",
    "a.con",
    "com1",
    "com0",
    "lpt9.a.b",
    "nul",
    "x.",
    ".x",
    "..",
    "",
    "é",
    "a b",
)
OTHER = ("overlays", "Overlays", "OVERLAYS", "seal.json", "x" * 127, "-", "_", "a\n", "a.b", "\udc80", "K", "ſ")
odd_paths = st.lists(st.sampled_from(SEGMENTS + OTHER), min_size=1, max_size=4).map("/".join) | paths()
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
ALLOWED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")


def lower(text: str) -> str:
    """Return the text in ASCII lower case: no other letter is allowed in a path."""
    return "".join(chr(ord(character) + 32) if "A" <= character <= "Z" else character for character in text)


def plain_path_fault(path: str) -> bool:
    """[RUN-3] on one path."""
    segments = path.split("/")
    return (
        len(path.encode("utf-8", "surrogatepass")) > 255
        or any(not segment or segment[0] == "." or segment[-1] == "." for segment in segments)
        or any(not set(segment) <= ALLOWED for segment in segments)
        or any(lower(segment.split(".")[0]) in RESERVED for segment in segments)
        or lower(segments[0]) == "overlays"
    )


def plain_paths(names: Sequence[str]) -> set[str]:
    """[RUN-3] on all paths: those at fault, and every later one of a pair that differs only in letter case."""
    judged = sorted({name for name in names if not name.startswith("overlays/")}, key=in_bytes)
    found = {path for path in judged if plain_path_fault(path)}

    def nodes(path: str) -> list[str]:
        return [path] + [path[:at] for at in range(len(path)) if path[at] == "/"]

    every = {node for path in judged for node in nodes(path)}
    for path in judged:
        for node in nodes(path):
            if any(
                other != node and lower(other) == lower(node) and in_bytes(other) < in_bytes(node) for other in every
            ):
                found.add(path)
    return found


def in_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")


@examples(400)
@given(st.lists(odd_paths, max_size=5))
def test_paths_are_judged_as_the_rule_says(names: list[str]) -> None:
    problems = path_problems(names)
    assert [problem.path for problem in problems] == sorted(plain_paths(names), key=in_bytes)
    assert {problem.code for problem in problems} <= {"path"}


# Times and durations

NEAR_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{0,10})?[Zz]?\n?"
near_times = st.from_regex(NEAR_TIME, fullmatch=True)
years = st.integers(0, 9999) | st.sampled_from((0, 1, 4, 100, 400, 1900, 2000, 2023, 2024, 2100, 9999))
near_dates = st.builds("{:04d}-{:02d}-{:02d}T23:59:59Z".format, years, st.integers(0, 13), st.integers(27, 32))
leap_days = years.map("{:04d}-02-29T00:00:00Z".format)
TIME = re.compile(r"(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(?:\.(\d+))?Z", re.ASCII)


def plain_instant(text: str) -> Fraction | None:
    """Return the seconds since the year 1 began, exactly, or None where the text is no time [ENC-8]."""
    found = TIME.fullmatch(text)
    if found is None or [len(found[part]) for part in range(1, 7)] != [4, 2, 2, 2, 2, 2] or len(found[7] or "") > 9:
        return None
    year, month, day, hour, minute, second = (int(found[part]) for part in range(1, 7))
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        days = date(year, month, day).toordinal()
    except ValueError:
        return None
    fraction = Fraction(int(found[7]), 10 ** len(found[7])) if found[7] else Fraction()
    return ((days * 24 + hour) * 60 + minute) * 60 + second + fraction


@examples(400)
@given(near_times | times() | near_dates | leap_days | st.text(max_size=25))
def test_a_time_is_what_the_calendar_has(text: str) -> None:
    assert is_time(text) == (plain_instant(text) is not None)


@examples(400)
@given(times() | times(0, 10**10), times() | times(0, 10**10))
def test_times_order_as_their_instants(left: str, right: str) -> None:
    """[ENC-8] At every digit written, never rounded."""
    a, b = plain_instant(left), plain_instant(right)
    assert a is not None
    assert b is not None
    assert (time_key(left) < time_key(right), time_key(left) == time_key(right)) == (a < b, a == b)


@examples(150)
@given(instants().flatmap(lambda instant: st.tuples(spelled_times(instant), spelled_times(instant))))
def test_any_two_spellings_of_an_instant_are_one_time(spelled: tuple[str, str]) -> None:
    left, right = spelled
    assert is_time(left)
    assert is_time(right)
    assert time_key(left) == time_key(right)


FIGURES = st.sampled_from(["7", "12345", "0", "00", "99999", "", "123456", "-1", "1.5", "٣"])


def near_part(unit: str) -> st.SearchStrategy[str]:
    return st.just("") | st.builds("{}{}".format, FIGURES, st.sampled_from([unit, unit, unit, "S", "W", "\n"]))


near_durations = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["P", "P", "P", "p"]),
    near_part("D"),
    st.sampled_from(["", "T", "T", "TT"]),
    near_part("H"),
    near_part("M"),
)


def plain_duration(text: str) -> int | None:
    """Return the seconds of a duration, or None where the text is none [ENC-9]."""
    if not text.startswith("P"):
        return None
    days, has_time, time = text[1:].partition("T")
    units = {"D": 86_400, "H": 3_600, "M": 60}
    total, parts = 0, 0
    for part, allowed in ((days, "D"), (time, "HM")):
        left = part
        for unit in allowed:
            figures, found, after = left.partition(unit)
            if found:
                if not (1 <= len(figures) <= 5 and all("0" <= figure <= "9" for figure in figures)):
                    return None
                total, parts, left = total + int(figures) * units[unit], parts + 1, after
        if left or (part is time and has_time and not time):
            return None
    return total if parts else None


@examples(800)
@given(near_durations | durations().map(lambda found: found[0]) | st.text(max_size=6))
def test_a_duration_is_what_the_rule_says(text: str) -> None:
    try:
        seconds: int | None = parse_duration(text)
    except ValueError:
        seconds = None
    assert seconds == plain_duration(text)


@examples(150)
@given(durations())
def test_a_duration_is_as_long_as_it_says(found: tuple[str, int]) -> None:
    text, seconds = found
    assert parse_duration(text) == seconds
