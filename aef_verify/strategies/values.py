"""Single values of the format: texts, identifiers, references, versions, numbers, times, durations, paths.

[ENC-4], [ENC-8] to [ENC-11], [RUN-3]. Each function gives the same strategy for the same arguments, as Hypothesis looks
into a strategy once.
"""

from __future__ import annotations

import string
from datetime import datetime, timedelta
from functools import cache

from hypothesis import strategies as st

SECOND = 10**9
"""Nanoseconds."""

_FIRST = datetime(1, 1, 1)
LAST_INSTANT = (datetime(9999, 12, 31, 23, 59, 59) - _FIRST) // timedelta(seconds=1) * SECOND + SECOND - 1
"""The last instant of the year 9999, in nanoseconds since the year 1 began."""

_ID = string.ascii_letters + string.digits + "._:-"
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
_WORDS = (
    "qa",
    "qa/tone",
    "safety",
    "größe",
    "検索",
    "a b",
    "e\u0301",
    "𝔸𝕖",
    "😀",
    "\u2028",
    "\u200b",
    "\ufeff",
    "100%",
)
"""Texts that tools stumble over: not ASCII, beyond the basic plane, combining, invisible, a line separator."""


def sizes(usual: int, *others: int) -> st.SearchStrategy[int]:
    """A size: the usual one or another, each as likely."""
    return st.sampled_from((usual, *others))


@cache
def texts(min_size: int = 0, max_size: int = 12) -> st.SearchStrategy[str]:
    """Any Unicode text without surrogates, controls included: what a free text member may hold."""
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=min_size, max_size=max_size)


@cache
def labels(max_size: int = 12) -> st.SearchStrategy[str]:
    """A text of at least one character without controls, as `caseId` and `path` are [RES-4]."""
    plain = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=max_size)
    return st.sampled_from(_WORDS) | plain


@cache
def ids() -> st.SearchStrategy[str]:
    """An identifier: 1 to 128 of `A-Z a-z 0-9 . _ : -`."""
    return st.sampled_from(("a", "run-1", "2026:07.a_b")) | st.text(_ID, min_size=1, max_size=128)


@cache
def refs() -> st.SearchStrategy[str]:
    """A typed reference, such as `agent:support`."""
    scheme = st.sampled_from(("agent", "suite", "a", "mcp-server", "x1-" + "y" * 29))
    return st.builds("{}:{}".format, scheme, st.text(_VISIBLE, min_size=1, max_size=20))


@cache
def versions() -> st.SearchStrategy[str]:
    """An exact version: visible ASCII, and not `latest` in any letter case [ENC-10]."""
    return st.text(_VISIBLE, min_size=1, max_size=12).filter(lambda text: text.lower() != "latest")


@cache
def digests() -> st.SearchStrategy[str]:
    """A SHA-256 in hex, without prefix [ENC-11]."""
    return st.binary(min_size=32, max_size=32).map(bytes.hex)


@cache
def digest_uris() -> st.SearchStrategy[str]:
    """A SHA-256 with its `sha256:` prefix [ENC-11]."""
    return digests().map("sha256:{}".format)


@cache
def numbers(low: float | None = None, high: float | None = None) -> st.SearchStrategy[int | float]:
    """A number that is finite in binary64, as an integer or as a float [ENC-3], [ENC-4]."""
    floats = st.floats(low, high, allow_nan=False, allow_infinity=False)
    integers = st.integers(
        -(2**53) + 1 if low is None else int(low), 2**53 - 1 if high is None else min(2**53 - 1, int(high))
    )
    return integers | floats


@cache
def counts(low: int = 0, high: int = 2**53 - 1) -> st.SearchStrategy[int]:
    """An integer field's value: small, or up to the greatest there is [ENC-4]."""
    return st.integers(low, min(high, low + 9)) | st.sampled_from((low, high)) | st.integers(low, high)


@cache
def instants(first: int = 0, last: int = LAST_INSTANT) -> st.SearchStrategy[int]:
    """An instant in nanoseconds since the year 1 began, whole seconds, milliseconds or to the nanosecond."""

    def floored(instant: int, unit: int) -> int:
        return max(first, instant // unit * unit)

    units = st.sampled_from((SECOND, 10**6, 1))
    return st.builds(floored, st.integers(first, last), units)


def spelled_time(instant: int, digits: int = 9) -> str:
    """Spell an instant as [ENC-8] has times, with as many digits of its fraction as it needs, and up to `digits`."""
    seconds, fraction = divmod(instant, SECOND)
    whole = (_FIRST + timedelta(seconds=seconds)).isoformat()
    needed = f"{fraction:09d}".rstrip("0")
    shown = f"{fraction:09d}"[: max(len(needed), digits)]
    return f"{whole}.{shown}Z" if shown else f"{whole}Z"


@cache
def spelled_times(instant: int) -> st.SearchStrategy[str]:
    """Any spelling of one instant: `…:02Z`, `…:02.0Z` and `…:02.000Z` are the same time [ENC-8]."""
    return st.integers(0, 9).map(lambda digits: spelled_time(instant, digits))


@cache
def times(first: int = 0, last: int = LAST_INSTANT) -> st.SearchStrategy[str]:
    """A time from the year 1 to 9999, whatever the digits of its fraction [ENC-8]."""
    return instants(first, last).flatmap(spelled_times)


@cache
def durations() -> st.SearchStrategy[tuple[str, int]]:
    """A duration [ENC-9] and its length in seconds."""
    part = st.none() | st.integers(0, 99_999)
    pad = st.integers(0, 5)

    def spelled(days: int | None, hours: int | None, minutes: int | None, width: int) -> tuple[str, int]:
        def figure(value: int | None, unit: str) -> str:
            return "" if value is None else f"{value:0{width}d}{unit}"

        time = figure(hours, "H") + figure(minutes, "M")
        text = "P" + figure(days, "D") + ("T" + time if time else "")
        return text, ((days or 0) * 24 + (hours or 0)) * 3600 + (minutes or 0) * 60

    return st.builds(spelled, part, part, part, pad).filter(lambda found: found[0] != "P")


_RESERVED = ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)))


@cache
def segments() -> st.SearchStrategy[str]:
    """A segment of a path that keeps [RUN-3], in lower case so that no two differ only in case."""
    inner = st.text("abcz019._-", min_size=1, max_size=6)
    return (st.sampled_from(("data", "a.b", "a-b", "a_b", "0")) | inner).filter(
        lambda name: (name[0] + name[-1]).find(".") < 0 and name.split(".")[0] not in _RESERVED
    )


@cache
def paths() -> st.SearchStrategy[str]:
    """A path that keeps [RUN-3], in lower case."""
    return st.lists(segments(), min_size=1, max_size=3).map("/".join)
