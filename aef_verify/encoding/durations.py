"""Durations [ENC-9]: days, hours and minutes, nothing else."""

from __future__ import annotations

import re

_DURATION = re.compile(
    r"P(?:(?P<days>[0-9]{1,5})D)?(?:T(?=[0-9])(?:(?P<hours>[0-9]{1,5})H)?(?:(?P<minutes>[0-9]{1,5})M)?)?",
    re.ASCII,
)


def parse_duration(text: str) -> int:
    """Return the seconds of a duration such as `P1DT12H30M`; raises ValueError where it is none [ENC-9]."""
    found = _DURATION.fullmatch(text)
    parts = found.groupdict() if found else {}
    if not any(parts.values()):
        raise ValueError(f"{text!r} is no duration: write days, hours and minutes, such as P14D or PT36H")
    days, hours, minutes = (int(parts[name] or 0) for name in ("days", "hours", "minutes"))
    return (days * 24 + hours) * 3600 + minutes * 60
