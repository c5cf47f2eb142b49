"""How long a client waits before it tries again: what Retry-After says, else a growing time with jitter; bounded."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST = 60.0
"""The longest wait, in seconds, whatever a provider asks for."""

LONGEST_BACKOFF = 8.0
"""The longest wait where a provider asks for none."""


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, from 0 to `LONGEST`; None where it asks for nothing.

    Args:
        value: the header's value, seconds or an HTTP date, or None.
        now: the time to count a date from, with its zone.
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        # Nothing of ten digits is parsed: it is beyond the bound.
        return min(float(text), LONGEST) if len(text) < 10 else LONGEST
    try:
        date = parsedate_to_datetime(text)
        # A date without a zone, or in -0000, is in UTC.
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), LONGEST)


def backoff(first: float, failed: int, chance: random.Random) -> float:
    """Return the seconds to wait after `failed` attempts (1 or more): doubling from `first`, half of it by chance."""
    whole = min(first * 2.0 ** min(failed - 1, 32), LONGEST_BACKOFF)
    return whole * (0.5 + chance.random() / 2)
