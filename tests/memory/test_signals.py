"""Signals: the first one stops a benchmark, the second one ends the process at once, and handlers are put back."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading

import pytest

from aef_verify.memory.signals import stopping

SIGNS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("sign", SIGNS)
def test_a_first_signal_stops(sign: signal.Signals) -> None:
    before = signal.getsignal(sign)

    async def run() -> bool:
        stop = asyncio.Event()
        with stopping(stop) as came:
            assert not came()
            os.kill(os.getpid(), sign)
            await asyncio.wait_for(stop.wait(), 10)
            return came()

    assert asyncio.run(run())
    assert signal.getsignal(sign) is before


def test_before_any_loop_runs_a_signal_is_kept() -> None:
    stop = asyncio.Event()
    with stopping(stop) as came:
        os.kill(os.getpid(), signal.SIGTERM)
        assert came()
    assert stop.is_set()


@pytest.mark.parametrize("second", SIGNS)
def test_a_second_signal_ends_the_process_at_once(second: signal.Signals) -> None:
    program = f"""
import asyncio, os, signal
from aef_verify.memory.signals import stopping
with stopping(asyncio.Event()):
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), {int(second)})
    print("still here")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_in_another_thread_no_handler_is_set() -> None:
    before = signal.getsignal(signal.SIGINT)
    found: list[object] = []

    def run() -> None:
        with stopping(asyncio.Event()) as came:
            found.extend([came(), signal.getsignal(signal.SIGINT)])

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [False, before]
