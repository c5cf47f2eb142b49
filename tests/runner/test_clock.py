"""The clock of a job: scripted (09 §9.2.1) or steady, at every digit [ENC-8]."""

from __future__ import annotations

import pytest

from aef_verify.encoding.times import instant
from aef_verify.problems import InputError
from aef_verify.runner.clock import SECOND, ScriptedClock, SteadyClock


@pytest.mark.parametrize("at", ["2026-02-28T23:59:50Z", "2024-02-28T23:59:50.5Z", "0001-01-01T00:00:00.000000001Z"])
def test_enc8_a_scripted_clock_moves_by_whole_seconds_and_keeps_the_fraction(at: str) -> None:
    clock = ScriptedClock(at, 3, 100)
    assert (clock.now(), clock.elapsed()) == (at, 0)
    clock.case_ran(20)
    clock.run_closed()
    assert clock.now()[19:] == at[19:]
    assert instant(clock.now()) - instant(at) == clock.elapsed() == 23 * SECOND


def test_enc8_a_scripted_clock_may_come_to_the_last_second_of_the_year_9999() -> None:
    clock = ScriptedClock("9999-12-31T23:59:00.999Z", 0, 59)
    clock.case_ran(59)
    assert clock.now() == "9999-12-31T23:59:59.999Z"
    for most in (60, 10**400):
        with pytest.raises(InputError, match="9999"):
            ScriptedClock("9999-12-31T23:59:00.999Z", 0, most)


def test_enc8_a_steady_clock_goes_by_itself() -> None:
    ticks = iter((7, 7, 7 + SECOND // 2, 7 + SECOND, 7 + 3 * SECOND + 1))
    clock = SteadyClock("2026-12-31T23:59:59.5Z", lambda: next(ticks))
    assert clock.now() == "2026-12-31T23:59:59.5Z"
    clock.case_ran(1000)
    clock.run_closed()
    assert clock.now() == "2027-01-01T00:00:00.000000000Z"
    assert clock.elapsed() == SECOND
    assert clock.now() == "2027-01-01T00:00:02.500000001Z"
