"""The present time, for those who write it down or are asked for it; a rule takes every time as an argument."""

from __future__ import annotations

import time

_DIGITS = 9


def now(digits: int = _DIGITS) -> str:
    """Return the present time [ENC-8], with so many digits of its fraction, one to nine."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**_DIGITS)
    fraction = f"{nanoseconds:0{_DIGITS}d}"[:digits]
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{fraction}Z"
