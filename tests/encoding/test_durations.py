"""[ENC-9] Durations of days, hours and minutes, and nothing else."""

from __future__ import annotations

import pytest

from aef_verify.encoding.durations import parse_duration

HOUR, DAY = 3600, 86400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("P14D", 14 * DAY),
        ("PT36H", 36 * HOUR),
        ("PT90M", 90 * 60),
        ("P1DT12H30M", DAY + 12 * HOUR + 30 * 60),
        ("P1DT5M", DAY + 300),
        ("P1DT5H", DAY + 5 * HOUR),
        ("PT1H1M", HOUR + 60),
        ("P0D", 0),
        ("PT0H0M", 0),
        ("P00001D", DAY),
        ("P99999DT99999H99999M", 99999 * (DAY + HOUR + 60)),
    ],
)
def test_a_duration(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "P",
        "PT",
        "P1DT",
        "PT30S",
        "P1W",
        "PT1M1H",
        "P1M",
        "P1Y",
        "P1H",
        "PT1D",
        "P1D1D",
        "PT1H1H",
        "P100000D",
        "PT100000M",
        "P1.5D",
        "P-1D",
        "-P1D",
        "+P1D",
        "p1d",
        "P1d",
        " P1D",
        "P1D ",
        "P1D\n",
        "P１D",
        "PD",
        "PTH",
        "PTHM",
    ],
)
def test_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        parse_duration(text)
