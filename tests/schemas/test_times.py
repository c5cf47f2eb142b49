"""Times that exist, and times that do not: [ENC-8], [ENC-15], [ENC-16], in the schemas' one pattern."""

from __future__ import annotations

import calendar

import pytest

from aef_verify.encoding.times import is_time
from tests.schemas.both import IMPLEMENTATIONS, Implementation

NAME = "common#/$defs/timestamp"

EXIST = [
    "2026-10-02T14:00:00Z",
    "0001-01-01T00:00:00Z",
    "0004-02-29T00:00:00Z",
    "0400-02-29T00:00:00Z",
    "1600-02-29T00:00:00Z",
    "2000-02-29T00:00:00Z",
    "2024-02-29T23:59:59.999999999Z",
    "9996-02-29T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "2026-10-02T14:00:00.0Z",
    "2026-10-02T14:00:00.000000000Z",
]
DO_NOT = [
    *("0000-01-01T00:00:00Z", "0000-02-29T00:00:00Z", "0000-12-31T23:59:59.999999999Z"),
    *("1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "0100-02-29T00:00:00Z"),
    *("2026-02-30T00:00:00Z", "2024-02-30T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-31T00:00:00Z"),
    *("2026-01-32T00:00:00Z", "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z"),
    *("2026-10-02T24:00:00Z", "2026-10-02T23:60:00Z", "2026-10-02T23:59:60Z", "2026-10-02T23:59:61Z"),
    *("2026-10-02T14:00:00.1234567890Z", "2026-10-02T14:00:00.Z", "2026-10-02T14:00:00,5Z"),
    *("2026-10-02T14:00:00Z\n", "\n2026-10-02T14:00:00Z", "2026-10-02T14:00:00Z ", "2026-10-02T14:00:00"),
    *("2026-10-02T14:00:00z", "2026-10-02t14:00:00Z", "2026-10-02 14:00:00Z", "2026-10-02T14:00:00+00:00"),
    *("26-10-02T14:00:00Z", "12026-10-02T14:00:00Z", "+2026-10-02T14:00:00Z", "-001-10-02T14:00:00Z"),
    *("٢٠٢٦-10-02T14:00:00Z", "2026-10-02T14:00:00.٥Z", "2026-10-02T14:00Z", "2026-10-02", "20261002T140000Z", ""),
]


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("text", EXIST, ids=ascii)
def test_it_exists(implementation: Implementation, text: str) -> None:
    assert implementation(NAME, "writer")(text)
    assert implementation(NAME, "reader")(text)
    assert is_time(text)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("text", DO_NOT, ids=ascii)
def test_it_does_not(implementation: Implementation, text: str) -> None:
    assert not implementation(NAME, "writer")(text)
    assert not implementation(NAME, "reader")(text)
    assert not is_time(text)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_every_day_of_the_calendar(implementation: Implementation) -> None:
    """The years in which the leap rules differ, and each last digit; each month, from day 0 to day 32."""
    is_valid = implementation(NAME, "reader")
    years = [*range(12), 96, 99, 100, 104, 396, 400, 404, 1896, 1900, 1904, 1996, *range(2000, 2012), 2100, 2400, 9999]
    for year in years:
        for month in range(14):
            there = calendar.monthrange(year, month)[1] if year and 1 <= month <= 12 else 0
            for day in range(33):
                assert is_valid(f"{year:04}-{month:02}-{day:02}T12:00:00Z") == (1 <= day <= there), (year, month, day)
