"""docs/MEMORY_PAIR.md §1: the run of an arm is on disk whole, or a folder without `run.json`, whatever stops it."""

from __future__ import annotations

import errno
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from aef_verify.memory import evidence
from aef_verify.memory.model import ArmResult
from aef_verify.run.verify import verify_run
from aef_verify.writing import atomic
from aef_verify.writing.run import Written
from tests import building
from tests.memory.arms import aborted, arm, outcome, private_pem
from tests.writing.breaking import in_child, small_disk

KILLS = 12


def some(content: bool) -> ArmResult:
    return arm(
        *(outcome(f"q{at}", "failed" if at % 3 else "passed", answer=f"{at}") for at in range(9)), content=content
    )


def write(found: ArmResult, destination: Path, **members: Any) -> Written:
    given: dict[str, Any] = {
        "run_id": "lme-1",
        "normal_run_hash": None,
        "normal_accuracy": None,
        "threshold": 50,
        "seal": True,
        "key": private_pem(building.BOB),
        "producer_version": "0.1.0",
    }
    return evidence.write_arm(found, str(destination), **(given | members))


def steps(found: ArmResult, destination: Path) -> int:
    told: list[str] = []
    write(found, destination, step=told.append)
    return len(told)


class Dying:
    """Ends the process at the n-th step."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, words: str) -> None:
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("content", [False, True])
def test_a_kill_leaves_a_whole_run_or_no_run(content: bool, tmp_path: Path) -> None:
    found = some(content)
    count = steps(found, tmp_path / "once")
    last = range(count - 6, count + 1)
    for at in sorted({*random.Random(count).sample(range(1, count + 1), KILLS), *last}):
        destination = tmp_path / str(at)
        assert in_child(lambda to=destination, at=at: write(found, to, step=Dying(at)))  # type: ignore[misc]
        atomic.sweep(str(destination))
        runs = list(destination.iterdir()) if destination.exists() else []
        for run in runs:
            report = verify_run(str(run), policy=building.trust())
            assert (report.outcome, report.problems, report.signed_by) == ("intact", (), (building.BOB,))
        assert len(runs) == (at > count - 4)


def test_a_second_run_is_written_beside_what_a_kill_left(tmp_path: Path) -> None:
    assert in_child(lambda: write(some(True), tmp_path, step=Dying(5)))
    assert len(os.listdir(tmp_path)) == 1
    write(aborted(), tmp_path, run_id="lme-2")
    assert len(os.listdir(tmp_path)) == 2
    assert len(atomic.sweep(str(tmp_path))) == 1
    assert os.listdir(tmp_path) == ["lme-2"]


def test_a_disk_that_is_full_takes_all_or_nothing(tmp_path: Path) -> None:
    left = []
    for kilobytes in (4, 16, 32, 48, 64, 96, 400):
        with small_disk(tmp_path / str(kilobytes), kilobytes) as disk:
            try:
                write(some(True), disk)
            except OSError as fault:
                left.append((fault.errno, os.listdir(disk)))
            else:
                left.append((0, os.listdir(disk)))
    assert left[0] == (errno.ENOSPC, [])
    assert left[-1] == (0, ["lme-1"])
    assert set(map(str, left)) == {str(left[0]), str(left[-1])}


def test_a_disk_that_is_full_keeps_what_was_written_before(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 100) as disk:
        first = write(some(False), disk)
        with pytest.raises(OSError, match="space"):
            write(arm(*(outcome(f"q{at}") for at in range(200))), disk, run_id="lme-2")
        assert os.listdir(disk) == ["lme-1"]
        assert verify_run(first.path).problems == ()


def test_a_destination_that_takes_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 400) as disk:
        if os.system(f"mount -o remount,ro {disk}"):
            pytest.skip("the file system cannot be made read-only")
        with pytest.raises(OSError, match="Read-only"):
            write(some(False), disk)
        assert os.listdir(disk) == []
