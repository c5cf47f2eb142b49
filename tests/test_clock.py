"""The present time as it is written down [ENC-8]."""

from __future__ import annotations

import pytest

from aef_verify.clock import now
from aef_verify.encoding.times import is_time


@pytest.mark.parametrize("digits", [1, 3, 9])
def test_enc8_the_present_is_a_time_with_so_many_digits(digits: int) -> None:
    found = now(digits)
    assert is_time(found)
    assert len(found) == len("2026-10-02T14:00:00.Z") + digits


def test_enc8_a_fraction_is_cut_and_never_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 1_790_949_600_999_999_999)
    assert now(3) == "2026-10-02T14:00:00.999Z"
    assert now() == "2026-10-02T14:00:00.999999999Z"
