"""A stream as it is written: whole lines, one job, one clock, nothing left of a broken event [STRM-1], [STRM-2]."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from aef_verify.runner.clock import ScriptedClock
from aef_verify.runner.events import EventStream
from aef_verify.schemas import accepts
from tests.runner.jobbing import AT, Json, read

ACCEPTED = {"planId": "p", "planDigest": "0" * 64, "runnerId": "r"}


def started(folder: Path, seen: list[Json] | None = None) -> EventStream:
    watch = None if seen is None else seen.append
    stream = EventStream(str(folder / "events.ndjson"), "job-1", ScriptedClock(AT, 1, 1000), watch)
    stream.write("job.accepted", **ACCEPTED)
    return stream


def test_strm1_events_count_from_one_in_one_job_by_its_clock(tmp_path: Path) -> None:
    seen: list[Json] = []
    stream = started(tmp_path, seen)
    stream.write("case.completed", caseId='é\u2028"', state="passed")
    assert not stream.ended
    stream.write("job.cancelled", reason="x")
    assert (stream.count, stream.ended) == (3, True)
    events = read(tmp_path)
    assert events == seen
    assert [(event["seq"], event["jobId"], event["at"]) for event in events] == [(n, "job-1", AT) for n in (1, 2, 3)]
    assert all(accepts("runner-event", "writer", event) for event in events)


def test_strm2_every_event_is_a_whole_line_once_it_is_written(tmp_path: Path) -> None:
    whole: list[bool] = []
    path = tmp_path / "events.ndjson"
    stream = EventStream(
        str(path), "job-1", ScriptedClock(AT, 1, 9), lambda event: whole.append(path.read_bytes().endswith(b"}\n"))
    )
    for _ in range(3):
        stream.write("case.completed", caseId="1", state="passed")
    assert whole == [True] * 3


def test_a_stream_is_never_written_over_another(tmp_path: Path) -> None:
    started(tmp_path).close()
    before = (tmp_path / "events.ndjson").read_bytes()
    with pytest.raises(FileExistsError):
        started(tmp_path)
    assert (tmp_path / "events.ndjson").read_bytes() == before


class Broken:
    """Writes half of what it is given, then fails."""

    def __init__(self, fault: BaseException) -> None:
        self.fault = fault
        self.write = os.write
        self.calls = 0

    def __call__(self, file: int, data: memoryview) -> int:
        self.calls += 1
        if self.calls > 1:
            raise self.fault
        return self.write(file, data[: len(data) // 2])


def test_strm2_nothing_is_left_of_an_event_for_which_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = started(tmp_path)
    before = (tmp_path / "events.ndjson").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", Broken(OSError(errno.ENOSPC, "full")))
        with pytest.raises(OSError, match="full"):
            stream.write("job.cancelled", reason="x")
    assert stream.ended
    stream.close()
    assert (tmp_path / "events.ndjson").read_bytes() == before


def test_strm2_an_event_that_was_interrupted_gives_way_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = started(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", Broken(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            stream.write("case.completed", caseId="1", state="passed")
    assert not stream.ended
    stream.write("job.cancelled", reason="x")
    stream.close()
    assert [(event["seq"], event["kind"]) for event in read(tmp_path)] == [(1, "job.accepted"), (2, "job.cancelled")]


def test_a_stream_without_an_event_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = EventStream(str(tmp_path / "events.ndjson"), "job-1", ScriptedClock(AT, 1, 9))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", Broken(OSError(errno.ENOSPC, "full")))
        with pytest.raises(OSError, match="full"):
            stream.write("job.accepted", **ACCEPTED)
    stream.close()
    assert list(tmp_path.iterdir()) == []
