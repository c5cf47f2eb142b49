"""[ENC-8] Times exist, end with Z, and compare at every digit written."""

from __future__ import annotations

from itertools import pairwise

import pytest

from aef_verify.encoding.times import instant, is_time, parse_time, time_key


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-08T12:00:00Z",
        "2026-10-08T12:00:00.1Z",
        "2026-10-08T12:00:00.123456789Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999999Z",
        "2024-02-29T00:00:00Z",
        "2000-02-29T00:00:00Z",
        "2026-04-30T00:00:00Z",
    ],
)
def test_a_time(text: str) -> None:
    assert is_time(text)
    assert parse_time(text) == time_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-31T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-06-31T00:00:00Z",
        "2026-09-31T00:00:00Z",
        "2026-11-31T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "2026-12-31T23:59:60Z",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00z",
        "2026-01-01t00:00:00Z",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00+00:00",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00,5Z",
        "2026-01-01T00:00:00.1234567890Z",
        "2026-01-01T00:00Z",
        "2026-1-1T00:00:00Z",
        "12026-01-01T00:00:00Z",
        "-2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z\n",
        "2026-01-01T00:00:00.5Z\n",
        " 2026-01-01T00:00:00Z",
        "２０２６-01-01T00:00:00Z",
        "",
    ],
)
def test_no_time(text: str) -> None:
    """A date that does not exist is never rolled over; nothing but RFC 3339 in UTC, whole."""
    assert not is_time(text)
    with pytest.raises(ValueError, match="no time"):
        parse_time(text)


@pytest.mark.parametrize("value", [None, 5, 2026.0, True, [], {}, b"2026-01-01T00:00:00Z"])
def test_no_text_is_no_time(value: object) -> None:
    assert not is_time(value)


def test_order_is_the_instants_order() -> None:
    """To the ninth digit, never rounded."""
    ordered = [
        "0001-01-01T00:00:00Z",
        "2026-09-30T23:59:59.999999999Z",
        "2026-10-01T00:00:00Z",
        "2026-10-01T00:00:00.000000001Z",
        "2026-10-01T00:00:00.1Z",
        "2026-10-01T00:00:00.10000001Z",
        "2026-10-01T00:00:00.2Z",
        "2026-10-01T00:00:00.999999999Z",
        "2026-10-01T00:00:01Z",
        "2026-10-01T00:01:00Z",
        "9999-12-31T23:59:59Z",
    ]
    assert all(parse_time(one) < parse_time(other) for one, other in pairwise(ordered))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-10-01T00:00:02Z", "2026-10-01T00:00:02.0Z"),
        ("2026-10-01T00:00:02Z", "2026-10-01T00:00:02.000000000Z"),
        ("2026-10-01T00:00:02.5Z", "2026-10-01T00:00:02.500Z"),
        ("2026-10-01T00:00:00Z", "2026-10-01T00:00:00.000Z"),
        ("2026-10-01T00:00:10Z", "2026-10-01T00:00:10.0Z"),
    ],
)
def test_one_instant_is_one_time_however_it_is_written(one: str, other: str) -> None:
    assert parse_time(one) == parse_time(other)
    assert parse_time(one) < parse_time(one[:20].replace("Z", ".") + "999999999Z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0001-01-01T00:00:00Z", 0),
        ("0001-01-01T00:00:00.000000001Z", 1),
        ("0001-01-02T01:02:03.5Z", (86_400 + 3_723) * 10**9 + 500_000_000),
        ("1970-01-01T00:00:00.000Z", 62_135_596_800 * 10**9),
        ("2024-02-29T00:00:00Z", (62_135_596_800 + 1_709_164_800) * 10**9),
        ("2024-03-01T00:00:00Z", (62_135_596_800 + 1_709_251_200) * 10**9),
        ("2100-03-01T00:00:00Z", (62_135_596_800 + 4_107_542_400) * 10**9),
        ("9999-12-31T23:59:59.999999999Z", 315_537_897_600 * 10**9 - 1),
    ],
)
def test_enc8_an_instant_is_exact(text: str, expected: int) -> None:
    assert instant(text) == expected
