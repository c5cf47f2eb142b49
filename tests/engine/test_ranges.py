"""One large run, its results judged here or in several processes: one report, and no process left behind [RUN-13]."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from aef_verify import folder
from aef_verify.engine import pool, ranges
from aef_verify.engine.evidence import verify_evidence
from aef_verify.engine.jobs import jobs_allowed
from aef_verify.engine.ranges import WorkerError, ranges_in
from aef_verify.problems import InputError
from aef_verify.report.model import NOT_VERIFIED
from aef_verify.run.ranges import Judging, judge_here
from aef_verify.run.verify import RunReport, verify_run
from tests import building
from tests.building import aggregation, child, compact, put, result, rollup
from tests.engine.test_evidence import children_of

RESULTS = "results.ndjson"


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks and ranges be so small that a handful of lines is a large run."""
    monkeypatch.setattr(folder, "BLOCK", 700)
    monkeypatch.setattr(ranges, "LARGE", 1500)
    monkeypatch.setattr(ranges, "RANGE", 900)


def reports(root: Path, data: bytes) -> list[RunReport]:
    """Verify a run with these results in one process, in two and in three, with reasons."""
    path = building.bare().but(put(RESULTS, data)).write(root)
    return [verify_run(path, overlays=True, details=True, ranges=ranges_in(jobs)) for jobs in (1, 2, 3)]


LINES = [compact(result(f"c{number}")) for number in range(30)]
TREE = [
    compact(child("c7", "one")),
    *LINES[:7],
    *LINES[8:],
    compact(child("c7", "two")),
    compact(result("c7", aggregation=aggregation(2))),
]
TRIALS = [
    compact(result("t", trial=0)),
    *LINES,
    compact(result("t", trial=1, state="failed")),
    compact(rollup("t", n=2, passed=2, agree=True)),
]
CASES = {
    "plain": b"".join(LINES),
    "a parent in another range": b"".join(TREE),
    "a child of another case": b"".join(
        [*TREE, compact(child("c9", "three", parentResultId=building.result_id("c7")))]
    ),
    "trials over all ranges": b"".join(TRIALS),
    "one id many times": b"".join(LINES * 2),
    "invalid at both ends": b"{}\n" + b"".join(LINES) + b"{}\n" * 25,
    "unreadable in the middle": b"".join([*LINES[:15], b"[]\n", b"[" * 65 + b"\n", *LINES[15:]]),
    "a blank line, then a CR": b"".join([*LINES[:9], b"\n", *LINES[9:], b"\r\n"]),
    "a CR, then a blank line": b"".join([*LINES[:9], b"\r\n", *LINES[9:], b"\n"]),
    "unfinished": b"".join(LINES)[:-1],
    "a byte order mark": b"\xef\xbb\xbf" + b"".join(LINES),
    "a number beyond binary64": b"".join([*LINES, compact(result("z")).replace(b"{", b'{"x":1e999,', 1)]),
    "nothing": b"",
}


@pytest.mark.parametrize("name", CASES)
def test_every_mode_gives_the_same_report(name: str, tmp_path: Path) -> None:
    here, *elsewhere = reports(tmp_path, CASES[name])
    assert elsewhere == [here, here]
    assert (here.outcome == "unsealed") == (name in ("plain", "a parent in another range", "nothing"))


def test_what_is_found_says_lines_of_the_file(tmp_path: Path) -> None:
    """[RES-4], [RES-8]: not of the range."""
    for found in reports(tmp_path / "twice", CASES["one id many times"]):
        assert [problem.pair for problem in found.problems] == [(f"{RESULTS}:{n}", "result-id") for n in range(31, 61)]
        assert found.problems[0].detail == "line 1 has this resultId already"
    for found in reports(tmp_path / "trials", CASES["trials over all ranges"]):
        assert [problem.pair for problem in found.problems] == [(f"{RESULTS}:33", "trials")]


def never_elsewhere(*given: object) -> Iterator[object]:
    raise AssertionError("few bytes, and a process for them")


def test_few_bytes_are_judged_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_judge_elsewhere", never_elsewhere)
    assert reports(tmp_path, LINES[0])[1].lines == 1
    with pytest.raises(AssertionError):
        reports(tmp_path / "more", CASES["plain"])
    assert ranges_in(1) is judge_here


@pytest.mark.parametrize("executable", ["/nowhere/python", "/dev/null", ""])
def test_without_an_interpreter_to_start_the_work_is_done_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executable: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    here, *elsewhere = reports(tmp_path, CASES["plain"])
    assert elsewhere == [here, here]


def test_a_worker_that_ends_is_a_failure_and_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = building.bare().but(put(RESULTS, CASES["plain"])).write(tmp_path)
    others, threads = children_of(os.getpid()), threading.active_count()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(WorkerError, match="ended with exit code 1"):
        verify_run(path, ranges=ranges_in(2))
    monkeypatch.undo()
    monkeypatch.setattr(folder, "BLOCK", 700)
    monkeypatch.setattr(ranges, "LARGE", 1500)
    monkeypatch.setattr(pool, "_START", (*pool._START[:2], "import os; os.kill(os.getpid(), 9)"))
    found = verify_evidence([path], jobs=2)
    assert [(run.outcome, run.message) for run in found.runs] == [
        (NOT_VERIFIED, "WorkerError: a process that judged results was ended by signal 9")
    ]
    assert (children_of(os.getpid()), threading.active_count()) == (others, threads)


def test_what_stops_taking_parts_ends_the_workers() -> None:
    threads, others = threading.active_count(), children_of(os.getpid())
    parts = ranges_in(2)(Judging(None, None, details=False), iter([CASES["plain"]] * 50))
    next(parts)
    assert len(children_of(os.getpid())) == len(others) + 2
    del parts
    gc.collect()
    assert (children_of(os.getpid()), threading.active_count()) == (others, threads)


def test_a_file_that_changes_is_refused_and_leaves_no_worker(tmp_path: Path) -> None:
    path = building.bare().but(put(RESULTS, CASES["plain"] * 9)).write(tmp_path)
    others = children_of(os.getpid())
    read = 0

    def grow(count: int) -> None:
        nonlocal read
        read += count
        if read > 9000:
            with open(f"{path}/{RESULTS}", "ab") as file:
                file.write(LINES[0])

    with pytest.raises(InputError, match="changed while it was read"):
        verify_run(path, ranges=ranges_in(2), watch=grow)
    assert children_of(os.getpid()) == others


_INTERRUPTED = """
import itertools, sys
from aef_verify.engine import ranges
from aef_verify.run.ranges import Judging
ranges.LARGE = ranges.RANGE = 100
data = sys.argv[1].encode() + b"\\n"
for part in ranges.ranges_in(2)(Judging(None, None, False), itertools.repeat(data)):
    print(part.lines, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_the_process(number: int) -> None:
    command = [sys.executable, "-c", _INTERRUPTED, LINES[0].decode().strip()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        workers = children_of(process.pid)
        assert len(workers) == 2
        process.send_signal(number)
        process.communicate(timeout=30)
    while any(os.path.exists(f"/proc/{worker}/exe") for worker in workers):
        pass


@pytest.mark.parametrize(("given", "expected"), [("", 8), ("3", 3), ("9", 8), ("0", None), ("-1", None), ("two", None)])
def test_the_environment_limits_what_is_done_at_once(
    given: str, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    monkeypatch.setenv("AEF_JOBS", given)
    if expected is None:
        with pytest.raises(InputError, match="AEF_JOBS"):
            jobs_allowed()
    else:
        assert jobs_allowed() == expected
