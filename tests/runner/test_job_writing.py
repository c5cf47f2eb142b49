"""What a job leaves when it is interrupted, killed, or has no room: whole runs, whole events, or nothing [STRM-2]."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.verify import verify_run
from aef_verify.runner import running
from aef_verify.runner.job import run_job
from aef_verify.writing.run import Written, publish_run
from tests.runner.jobbing import AT, Json, case, plan, read, run, runner, suite, target, written
from tests.writing.breaking import in_child, small_disk

TWO = target(suite(), suite("suite:b", case("1")))
ASKED = plan("suite:a", "suite:b")


def kinds(folder: Path) -> list[str]:
    return [event["kind"] for event in read(folder / "out")]


def runs(folder: Path) -> list[Path]:
    """Return the runs of a job that have their name."""
    return sorted(path for path in (folder / "out" / "runs").glob("*") if not path.name.startswith("."))


def at_event(number: int, act: Callable[[], object]) -> Callable[[Json], None]:
    """Do something once an event is written."""

    def watch(event: Json) -> None:
        if event["seq"] == number:
            act()

    return watch


def interrupt() -> None:
    raise KeyboardInterrupt


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


EVENTS = 11
"""Events of the job here: two and five of the first suite, three of the second, and the end."""


def test_the_job_here_has_so_many_events(tmp_path: Path) -> None:
    assert len(run(tmp_path, plan=ASKED, target=TWO).events) == EVENTS


@pytest.mark.parametrize("number", range(1, EVENTS))
def test_strm1_an_interrupt_after_any_event_cancels_the_job(number: int, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, plan=ASKED, target=TWO, watch=at_event(number, interrupt))
    events = read(tmp_path / "out")
    assert [event["seq"] for event in events] == list(range(1, number + 2))
    assert events[-1]["kind"] == "job.cancelled"
    announced = {event["runId"] for event in events if event["kind"] == "evidence.produced"}
    assert {path.name for path in runs(tmp_path)} == announced
    assert all(verify_run(str(path)).outcome == "intact" for path in runs(tmp_path))


@pytest.mark.parametrize("number", range(1, EVENTS + 1))
def test_strm2_a_kill_after_any_event_leaves_whole_events_and_runs(number: int, tmp_path: Path) -> None:
    def work() -> None:
        run(tmp_path, plan=ASKED, target=TWO, watch=at_event(number, killed))

    assert in_child(work)
    assert len(read(tmp_path / "out")) == number
    assert all(verify_run(str(path)).outcome == "intact" for path in runs(tmp_path))


def failing_at(place: int, fault: BaseException) -> Callable[..., Written]:
    """Publish runs, and fail instead at one of them, counted from 1."""
    count = 0

    def publish(*given: Any, **members: Any) -> Written:
        nonlocal count
        count += 1
        if count == place:
            raise fault
        return publish_run(*given, **members)

    return publish


@pytest.mark.parametrize("place", [1, 2])
def test_strm1_a_run_that_cannot_be_written_fails_the_job(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "publish_run", failing_at(place, OSError(errno.ENOSPC, "full")))
    with pytest.raises(OSError, match="full"):
        run(tmp_path, plan=ASKED, target=TWO)
    end = read(tmp_path / "out")[-1]
    assert (end["kind"], end["reason"], end.get("limit")) == ("job.failed", "the runner failed: OSError", None)
    assert len(runs(tmp_path)) == place - 1
    assert end["runs"] == [path.name for path in runs(tmp_path)]


ENOUGH = 256


@pytest.mark.parametrize("kilobytes", [8, 16, 24, 32, 40, ENOUGH])
def test_strm2_a_disk_that_is_full_leaves_whole_events_and_runs(kilobytes: int, tmp_path: Path) -> None:
    given = written(tmp_path, plan=ASKED, runner=runner(), target=TWO)
    with small_disk(tmp_path / "disk", kilobytes) as disk:
        out = disk / "out"
        code = None
        try:
            run_job(*given, str(out), at=AT)
        except OSError as fault:
            code = fault.errno
        assert code == (None if kilobytes == ENOUGH else errno.ENOSPC)
        data = (out / "events.ndjson").read_bytes() if (out / "events.ndjson").exists() else b""
        assert data == b"" or data.endswith(b"}\n")
        for path in (out / "runs").glob("run-*"):
            assert verify_run(str(path)).outcome == "intact"


def test_a_job_that_cannot_begin_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, data: memoryview) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("aef_verify.runner.events.os.write", full)
    with pytest.raises(OSError, match="full"):
        run(tmp_path)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_run_is_announced_when_it_is_there(tmp_path: Path) -> None:
    there: list[bool] = []

    def watch(event: Json) -> None:
        if event["kind"] == "evidence.produced":
            there.append(verify_run(str(tmp_path / "out" / "runs" / event["runId"])).outcome == "intact")

    run(tmp_path, plan=ASKED, target=TWO, watch=watch)
    assert there == [True, True]
