"""How long a client waits: Retry-After in seconds and as a date, and the growing time without it, all bounded."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aef_verify.provider.waiting import LONGEST, LONGEST_BACKOFF, backoff, retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0),
        (" 7 ", 7),
        ("007", 7),
        ("61", LONGEST),
        ("9" * 5000, LONGEST),
        ("-1", None),
        ("1.5", None),
        ("\u0663", None),
        ("soon", None),
        ("", None),
        ("Sun, 01 Mar 2026 12:00:05 GMT", 5),
        ("Sunday, 01-Mar-26 12:00:05 GMT", 5),
        ("Sun Mar  1 12:00:05 2026", 5),
        ("Sun, 01 Mar 2026 13:00:05 +0100", 5),
        ("Sun, 01 Mar 2026 12:00:05 -0000", 5),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Mon, 01 Mar 2027 12:00:00 GMT", LONGEST),
        ("Sun, 01 Mar 99999 12:00:00 GMT", None),
        ("Sun, 41 Mar 2026 12:00:00 GMT", None),
    ],
)
def test_what_a_provider_asks_for(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@given(st.text())
def test_any_value_is_bounded(value: str) -> None:
    seconds = retry_after(value, NOW)
    assert seconds is None or 0 <= seconds <= LONGEST


@given(st.datetimes(timezones=st.just(UTC)))
def test_any_date_is_bounded(date: datetime) -> None:
    seconds = retry_after(format_datetime(date, usegmt=True), NOW)
    assert seconds is not None
    assert 0 <= seconds <= LONGEST


@given(st.floats(1e-3, 1e6), st.integers(1, 10_000), st.randoms(use_true_random=False))
def test_the_backoff_doubles_within_bounds(first: float, failed: int, chance: random.Random) -> None:
    whole = min(first * 2.0 ** min(failed - 1, 1000), LONGEST_BACKOFF)
    assert whole / 2 <= backoff(first, failed, chance) <= whole
