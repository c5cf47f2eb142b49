"""Times [ENC-8]: RFC 3339, UTC, compared at every digit written, never rounded."""

from __future__ import annotations

import re

from aef_verify.problems import InputError

_TIME = re.compile(
    r"([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?Z",
    re.ASCII,
)
_NANOSECONDS = 1_000_000_000
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_time(text: object) -> bool:
    """Whether the value is a time that exists: `2026-02-31T00:00:00Z` and the year 0000 are none [ENC-8]."""
    found = _TIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return False
    year, month, day = (int(part) for part in found.groups())
    return year > 0 and day <= _DAYS[month - 1] + (month == 2 and _is_leap(year))


def time_key(text: str) -> str:
    """Return a key of a valid time that orders and equals as the instant does, exact to the last digit.

    `…:02Z`, `…:02.0Z` and `…:02.000Z` have one key; the fraction is never rounded [ENC-8].
    """
    key = text[:-1]
    return key.rstrip("0").rstrip(".") if "." in key else key


def instant(text: str) -> int:
    """Return the nanoseconds from the beginning of the year 1 to a valid time, for sums with durations [ENC-8]."""
    year, month = int(text[:4]), int(text[5:7])
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    days += sum(_DAYS[: month - 1]) + (month > 2 and _is_leap(year)) + int(text[8:10]) - 1
    seconds = (days * 24 + int(text[11:13])) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
    return seconds * _NANOSECONDS + int(text[20:-1].ljust(9, "0"))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def parse_time(text: str) -> str:
    """Return the `time_key` of a text; raises ValueError where it is no time [ENC-8]."""
    if not is_time(text):
        raise ValueError(f"{text!r} is no time: write RFC 3339 in UTC, such as 2026-10-02T14:00:00Z")
    return time_key(text)


def given_time(text: str) -> str:
    """Return the `time_key` of a time that the caller gives; raises InputError where it is none [ENC-8]."""
    try:
        return parse_time(text)
    except ValueError as fault:
        raise InputError(str(fault)) from None
