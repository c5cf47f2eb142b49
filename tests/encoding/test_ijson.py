"""[ENC-1], [ENC-2], [ENC-3], [ENC-4] Strict I-JSON by both parsers; [ENC-17] size and depth before content."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from aef_verify import limits
from aef_verify.encoding import ijson
from aef_verify.encoding.ijson import (
    EncodingError,
    LimitError,
    depth,
    line_parser,
    may_be_too_deep,
    parse_object,
    read_object,
    too_deep,
)

Parse = Callable[[bytes], Any]


@pytest.fixture(params=["native", "pure"])
def parse(request: pytest.FixtureRequest) -> Parse:
    return ijson._native() if request.param == "native" else ijson._pure()


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"{}", {}),
        (b' \t\r\n{ "a" : [ ] }\n\n', {"a": []}),
        (b'{"b":1,"a":2}', {"a": 2, "b": 1}),
        (b'{"a":{"x":1},"b":{"x":1}}', {"a": {"x": 1}, "b": {"x": 1}}),
        (b'[null,true,false,"",0]', [None, True, False, "", 0]),
        ('["é\u2028\u2029\U0001f600\uffff\x7f"]'.encode(), ["é\u2028\u2029\U0001f600\uffff\x7f"]),
        (rb'["\ud83d\ude00\uD83D\uDE00\u0000\"\\\/\b\f\n\r\t"]', ['😀😀\0"\\/\b\f\n\r\t']),
        (rb'["\\ud800"]', ["\\ud800"]),
        ('["e\u0301","é"]'.encode(), ["e\u0301", "é"]),
    ],
)
def test_reads_what_is_json(parse: Parse, data: bytes, value: object) -> None:
    assert parse(data) == value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"{",
        b"{}{}",
        b"{} x",
        b"[1,]",
        b'{"a":1,}',
        b"{a:1}",
        b"{'a':1}",
        b'{"a" 1}',
        b"[1 2]",
        b"// c\n{}",
        b"[tru]",
        b"[True]",
        b'["\x00"]',
        b'["\x1f"]',
        b'["\t"]',
        b'["\n"]',
        rb'["\x41"]',
        rb'["\u12"]',
        b'["a',
        b"\x0c{}",
        b"\xc2\xa0{}",
        b"[\xe2\x80\xa81]",
        b"[01]",
        b"[+1]",
        b"[1.]",
        b"[.5]",
        b"[-]",
        b"[1e]",
        b"[0x10]",
        "[١]".encode(),
    ],
)
def test_enc1_refuses_what_is_no_json(parse: Parse, data: bytes) -> None:
    with pytest.raises(EncodingError):
        parse(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf{}",
        b"\xff\xfe{\x00}\x00",
        b"{\x00}\x00",
        b'["\x80"]',
        b'["\xc3"]',
        b'["\xc0\x80"]',
        b'["\xed\xa0\x80"]',
        b'["\xf4\x90\x80\x80"]',
        b'["\xff"]',
        b'{"\xe9":1}',
    ],
)
def test_enc1_refuses_a_byte_order_mark_and_what_is_not_utf8(parse: Parse, data: bytes) -> None:
    with pytest.raises(EncodingError):
        parse(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"b":2,"a":3}',
        rb'{"a":1,"\u0061":2}',
        b'{"":0,"":0}',
        b'{"x":[{"y":{"a":1,"a":null}}]}',
        rb'{"\ud83d\ude00":1,"' + "😀".encode() + b'":2}',
    ],
)
def test_enc2_refuses_a_member_name_twice(parse: Parse, data: bytes) -> None:
    with pytest.raises(EncodingError):
        parse(data)


def test_enc2_a_member_twice_among_very_many_is_found_at_once() -> None:
    members = [f'"{number}":0' for number in range(100_000)]
    with pytest.raises(EncodingError, match="'last'"):
        ijson._pure()(("{" + ",".join([*members, '"last":0', '"last":1']) + "}").encode())


@pytest.mark.parametrize(
    "data",
    [
        rb'["\ud800"]',
        rb'["\udfff"]',
        rb'["\ude00\ud83d"]',
        rb'["\ud83d\u0041"]',
        rb'["\ud83dx\ude00"]',
        rb'["\ud83d\ud83d\ude00"]',
        rb'["\uD83D"]',
        rb'{"\ud800":1}',
        rb'{"a":{"b":["x",{"c":"\udc00"}]}}',
    ],
)
def test_enc2_refuses_an_unpaired_surrogate(parse: Parse, data: bytes) -> None:
    with pytest.raises(EncodingError):
        parse(data)


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "-1e400",
        "1E+309",
        "1e00000309",
        "1.7976931348623159e308",
        "0.1e310",
        "1" + "0" * 309,
        "9" * 309,
        "-" + "9" * 310 + ".5",
        "1" * 5000,
        "1" + "0" * 5000 + "e-4000",
        "1" * 250 + "e60",
    ],
)
def test_enc3_refuses_a_number_beyond_binary64(parse: Parse, text: str) -> None:
    for data in (text, f"[{text}]", f'{{"a":[0,{{"b":{text}}}]}}'):
        with pytest.raises(EncodingError):
            parse(data.encode())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-400", 0.0),
        ("-1e-400", -0.0),
        ("1e-999999999", 0.0),
        ("0e999999", 0.0),
        ("5e-324", 5e-324),
        ("2e-324", 0.0),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("1.7976931348623158e308", 1.7976931348623157e308),
        ("17976931348623157" + "0" * 292, 1.7976931348623157e308),
        ("0." + "0" * 400 + "1e401", 1.0),
        ("1" + "0" * 5000 + "e-5000", 1.0),
        ("1" + "0" * 5000 + ".5e-5000", 1.0),
        ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
        ("1e23", 1e23),
        ("9007199254740993", 9007199254740993),
        ("9007199254740993.0", 9007199254740992.0),
        ("18446744073709551616", 2**64),
        ("-9223372036854775809", -(2**63) - 1),
        ("2", 2),
        ("2.0", 2),
        ("2e0", 2),
        ("20e-1", 2),
    ],
)
def test_enc3_enc4_reads_a_number_as_binary64(parse: Parse, text: str, value: float) -> None:
    """What underflows reads as the nearest value; an integer in digits keeps them all."""
    (found,) = parse(f"[{text}]".encode())
    assert float(found) == float(value)
    assert isinstance(found, float) or str(found) == text
    assert math.copysign(1, found) == math.copysign(1, value)


@pytest.mark.parametrize("data", [b"[]", b"null", b"1", b'"{}"', b"true"])
def test_enc1_the_top_level_is_an_object(data: bytes) -> None:
    with pytest.raises(EncodingError, match="object"):
        parse_object(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (b"1", 0),
        (b"{}", 1),
        (b'{"a":[]}', 2),
        (b"[[],[[]]]", 3),
        (b"[" * 65 + b"]" * 65, 65),
        (b'{"a":' * 64, 64),
        (b'["[[[",{"{":"\\"["}]', 2),
        (rb'["\\",[["\\\"[[["]]]', 3),
    ],
)
def test_enc17_depth_counts_what_stands_outside_strings(data: bytes, expected: int) -> None:
    assert depth(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"]" * 10 + b"[" * 74, 64),
        (b"]" * 10 + b"[" * 75, 65),
        (b"[}" * 100, 1),
        (b'"\n\r\x00\xff' + b"[" * 70 + b'"', 0),
        (b'"\\\n' + b"[" * 70 + b'"', 0),
        (b'"' + b"[" * 70, 70),
        (b'""' + b"[" * 3 + b'"' + b"[" * 3, 6),
        (b'"[[[[" "' + b"[" * 7 + b"]" * 7, 7),
        (b'"\\"' + b"[" * 70, 70),
        (b'\\"' + b"[" * 70 + b'"', 0),
        (b"\\[\\[", 2),
        (b'"\\', 0),
        (b"\xff\x00[\xc3[", 2),
    ],
)
def test_enc17_depth_scan_in_malformed_bytes(data: bytes, expected: int) -> None:
    """The reading: a closer of either kind is -1, a quote never closed hides nothing, a lone backslash is nothing."""
    assert depth(data) == expected


@pytest.mark.parametrize("opener", [b"[", b"{", b'{"a":', b"[1,"])
def test_enc17_depth_at_the_limit_and_one_beyond(opener: bytes) -> None:
    assert not too_deep(opener * 64)
    assert not too_deep(b"[]" + opener * 64)
    assert too_deep(opener * 65)
    assert not too_deep(b"[]" * 1000)
    assert not too_deep(b"]}" * 1000)


def test_enc17_the_depth_scan_takes_one_pass_whatever_the_bytes() -> None:
    for pattern in (b'"\\', b'\\"', b'""[', b'"[', b"[]", b'"\\\\"', b'"'):
        depth(pattern * ((1 << 20) // len(pattern)))


def test_enc17_size_and_depth_come_before_content() -> None:
    assert read_object(b'{"a":1}', 7) == {"a": 1}
    for data, most in ((b'{"a":1} ', 7), (b"\xff" * 8, 7), (b"", -1)):
        with pytest.raises(LimitError) as found:
            read_object(data, most)
        assert found.value.code == "limit"
    deep = b'{"a":' * 64 + b"1" + b"}" * 64
    assert read_object(deep)
    for data in (b'{"a":' + deep + b"}", b"[" * 65, b"\xef\xbb\xbf" + b"[" * 65, b'{"a":1,"a":' + b"[" * 64):
        with pytest.raises(LimitError):
            read_object(data)
    with pytest.raises(EncodingError) as malformed:
        read_object(b"[" * 64)
    assert malformed.value.code == "encoding"


def test_enc17_a_json_file_at_the_real_limit() -> None:
    data = b'{"a":"' + b"x" * (limits.JSON_BYTES - 8) + b'"}'
    assert len(data) == 4 << 20
    assert len(str(read_object(data)["a"])) == (4 << 20) - 8
    with pytest.raises(LimitError):
        read_object(data + b"\n")


@pytest.mark.parametrize(
    "number",
    [b"1e999", b"-1e999", b"1.5E+0400", b"[ 1e309]", b'{"a": 2e308}', b"9" * 400, b"0." + b"0" * 90 + b"1e999"],
)
def test_enc3_a_number_beyond_binary64_is_refused_among_many_lines(number: bytes) -> None:
    data = b'{"a":"r_12e345"}\n' + number + b"\n"
    with pytest.raises(EncodingError):
        line_parser(data)(number)


def test_lines_without_such_a_number_are_read_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digits in hex text look like an exponent, and are none."""
    monkeypatch.setattr(ijson, "PURE", False)
    assert line_parser(b'{"a":"r_12e345","b":1e30,"c":123}\n') is ijson._quick_parse
    assert line_parser(b'{"a":1e300}\n') is ijson.parse
    monkeypatch.setattr(ijson, "PURE", True)
    assert line_parser(b"1\n") is ijson.parse


def test_enc17_many_openers_in_one_line_are_seen_among_many_lines() -> None:
    assert not may_be_too_deep((b"[" * 64 + b"\n") * 3)
    assert may_be_too_deep(b"[]\n" * 3 + b"[{" * 32 + b"[\n{}\n")
    assert not may_be_too_deep(b"")
