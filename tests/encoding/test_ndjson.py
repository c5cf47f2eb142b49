"""[ENC-5], [ENC-6], [ENC-7] Framing of NDJSON, wherever the blocks end; [ENC-17], [ENC-18] its limits."""

from __future__ import annotations

import pytest

from aef_verify import limits
from aef_verify.encoding.ijson import EncodingError, LimitError, UnreadableError
from aef_verify.encoding.ndjson import Framing, lines

BOM = b"\xef\xbb\xbf"
Found = list[bytes | None]


def framed(data: bytes, size: int) -> tuple[Found, UnreadableError | None]:
    """Return the lines and the fault of data that comes in blocks of this size."""
    framing = Framing()
    blocks = (memoryview(data)[at : at + size] for at in range(0, len(data), size))
    found: Found = []
    for first, more in lines(blocks, framing):
        assert first == len(found) + 1
        found += more
    return found, framing.finish()


def fault(data: bytes, size: int) -> str:
    """Return the code of what is wrong with the file as a whole, or nothing."""
    found = framed(data, size)[1]
    return "" if found is None else found.code


SIZES = [1, 2, 3, 4, 5, 7, 1000]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"{}\n", [b"{}"]),
        (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b" \n\t\n", [b" ", b"\t"]),
        (b"\x00\n\x0b\x0c\n", [b"\x00", b"\x0b\x0c"]),
        ('"\u2028"\n"\u2029\x85"\n'.encode(), ['"\u2028"'.encode(), '"\u2029\x85"'.encode()]),
        (b"a" + BOM + b"\n" + BOM + b"\n", [b"a" + BOM, BOM]),
        (b"\xff\xfe\n", [b"\xff\xfe"]),
        (b"\xef\xbb\n", [b"\xef\xbb"]),
    ],
)
def test_enc5_enc6_lines_end_with_lf_alone(data: bytes, expected: Found, size: int) -> None:
    """An empty file holds no lines; only LF separates; a byte order mark later in the file is a line's affair."""
    assert framed(data, size) == (expected, None)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b"{}\n{}",
        b"{}\n ",
        b"\n",
        b"{}\n\n",
        b"\n{}\n",
        b"{}\n\n{}\n",
        b"{}\r\n",
        b'{"a":"\r"}\n',
        b"\r",
        b"{}\n{}\n\r",
        BOM,
        BOM + b"\n",
        BOM + b"{}\n{}\n",
        BOM + b"{}",
        BOM + b"\r\n\n{}",
    ],
)
def test_enc5_enc7_a_framing_fault_is_the_whole_files(data: bytes, size: int) -> None:
    """A CR anywhere, a blank line, a byte order mark at the start, a last line without LF."""
    assert fault(data, size) == "encoding"


@pytest.mark.parametrize("size", SIZES)
def test_enc5_a_blank_line_is_named(size: int) -> None:
    for data, line in ((b"\n{}\n", 1), (b"{}\n\n{}\n", 2), (b"{}\n{}\n{}\n\n\n", 4)):
        assert str(framed(data, size)[1]) == f"line {line} is blank"


@pytest.mark.parametrize("size", SIZES)
def test_enc17_a_line_at_the_limit_and_one_beyond(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """The LF does not count, and the other lines are still read [ENC-18]."""
    monkeypatch.setattr(limits, "JSON_BYTES", 6)
    assert framed(b"123456\n1234567\n12\n" + b"x" * 50 + b"\n123456\n", size) == (
        [b"123456", None, b"12", None, b"123456"],
        None,
    )


@pytest.mark.parametrize("size", SIZES)
def test_enc5_a_framing_fault_beside_a_line_beyond_the_limit(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """The reading: a file so broken has no line read, so that the line's own breach is not seen."""
    monkeypatch.setattr(limits, "JSON_BYTES", 6)
    for data in (BOM + b"1234567\n", b"1234567\n\n", b"1234567\n{}", b"12345678", b"1234567\r\n", b"1234567\n12345678"):
        assert fault(data, size) == "encoding"


@pytest.mark.parametrize("size", SIZES)
def test_enc17_lines_are_counted_by_their_lf(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """The reading: a million lines and an unfinished one is `encoding`; a million and one is `limit`."""
    monkeypatch.setattr(limits, "LINES", 3)
    assert framed(b"{}\n" * 3, size) == ([b"{}"] * 3, None)
    assert fault(b"{}\n" * 3 + b"{}", size) == "encoding"
    assert fault(b"{}\n" * 4, size) == "limit"
    assert fault(b"\n" * 4, size) == "limit"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("extra", [b"", b"\r", b"\n", b"unfinished"])
@pytest.mark.parametrize("start", [b"", BOM, b"\r\n", b"\n"])
def test_enc17_beyond_a_file_limit_is_limit_whatever_else_is_wrong(
    monkeypatch: pytest.MonkeyPatch, size: int, start: bytes, extra: bytes
) -> None:
    """[ENC-17], [ENC-18]: size or line count, with a framing fault before or after it."""
    monkeypatch.setattr(limits, "LINES", 5)
    assert fault(start + b"{}\n" * 6 + extra, size) == "limit"
    monkeypatch.setattr(limits, "LINES", 100)
    monkeypatch.setattr(limits, "NDJSON_BYTES", 12)
    assert fault(start + b"{}\n" * 5 + extra, size) == "limit"


@pytest.mark.parametrize("size", SIZES)
def test_enc17_a_file_at_its_size_limit(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(limits, "NDJSON_BYTES", 12)
    assert framed(b"{}\n" * 4, size) == ([b"{}"] * 4, None)
    assert fault(b"{}\n" * 4 + b"\n", size) == "limit"


def test_enc17_the_real_limit_of_a_line() -> None:
    data = b"x" * limits.JSON_BYTES + b"\n" + b"y" * (limits.JSON_BYTES + 1) + b"\n"
    for size in (1 << 20, 3 << 20, 16 << 20):
        found, wrong = framed(data, size)
        assert wrong is None
        assert [None if line is None else len(line) for line in found] == [4 << 20, None]


def test_enc17_the_real_number_of_lines() -> None:
    framing = Framing()
    for _ in range(10):
        framing.feed(b" \n" * (limits.LINES // 10))
    assert (framing.count, framing.finish()) == (1_000_000, None)
    framing.feed(b" ")
    assert isinstance(framing.finish(), EncodingError)
    framing.feed(b"\n")
    assert isinstance(framing.finish(), LimitError)


def growing(data: bytes, size: int) -> tuple[int, str, bool]:
    """Return of a file that may still be written to: its lines, its fault's code, whether its last line is finished."""
    framing = Framing(growing=True)
    count = sum(len(found) for _, found in lines((data[at : at + size] for at in range(0, len(data), size)), framing))
    found = framing.finish()
    return count, "" if found is None else found.code, not framing.is_unfinished


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", (0, "", True)),
        (b"{}\n", (1, "", True)),
        (b"{}\n{", (1, "", False)),
        (b"{}\r", (0, "", False)),
        (b"{}\n{}\r", (1, "", False)),
        (b"{}\n\r\r{}", (1, "", False)),
        (BOM, (0, "", False)),
        (BOM + b"{}", (0, "", False)),
    ],
)
def test_strm2_what_is_still_being_written_is_no_fault(data: bytes, expected: tuple[int, str, bool], size: int) -> None:
    """Neither a missing LF, nor a CR or a byte order mark in a line that has none yet."""
    assert growing(data, size) == expected


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "data", [b"{}\r\n", b"{}\n{}\r{}\n", BOM + b"{}\n", b"\n", b"{}\n\n", b"{}\n{}\r\n{", b"\r\n\r"]
)
def test_strm2_finished_lines_of_a_growing_file_keep_the_rules(data: bytes, size: int) -> None:
    assert growing(data, size)[1] == "encoding"
