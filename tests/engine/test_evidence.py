"""Many runs as one report: the same from one process and from several, and whole whatever happens to a worker.

[RUN-1], [RUN-13].
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from aef_verify.engine import evidence, pool, task
from aef_verify.engine.evidence import Progress, default_jobs, verify_evidence
from aef_verify.engine.pool import verify_in_processes
from aef_verify.engine.task import Task
from aef_verify.problems import InputError
from aef_verify.report.model import NOT_VERIFIED, UNREADABLE, Unverified
from aef_verify.run.verify import verify_run
from tests import building
from tests.building import put


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Write runs of every outcome that a whole report has."""
    building.small().write(tmp_path / "unsealed")
    building.small().seal().write(tmp_path / "sealed")
    building.full().seal().sign(building.ALICE).write(tmp_path / "signed")
    building.small().seal().but(put("summary.json", "runId", "other")).write(tmp_path / "changed")
    building.small().seal().batch(building.event("1")).append(building.event("2")).write(tmp_path / "overlays")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing" / "run.json").write_bytes(b"\xff")
    (tmp_path / "link").symlink_to("sealed")
    return tmp_path


def test_every_mode_gives_the_same_report(runs: Path) -> None:
    policy = building.trust()
    reports = [
        verify_evidence([str(runs)], policy=policy, anchors=["00" * 32], jobs=jobs, require=["signed"])
        for jobs in (1, 2, 9, None)
    ]
    assert all(found == reports[0] for found in reports)
    found = reports[0]
    assert {run.path.rpartition("/")[2]: run.outcome for run in found.runs} == {
        "changed": "invalid",
        "nothing": "invalid",
        "overlays": "intact",
        "sealed": "intact",
        "signed": "intact",
        "unsealed": "unsealed",
    }
    assert [run.signed_by for run in found.runs if run.signed_by] == [(building.ALICE,)]
    assert [other.path for other in found.not_looked_at] == [f"{runs}/link"]
    assert found.exit_code == 1


def test_one_string_is_no_list_of_paths(runs: Path) -> None:
    with pytest.raises(InputError, match="list of paths"):
        verify_evidence(str(runs))


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_is_told_to_the_end(runs: Path, jobs: int) -> None:
    told: list[Progress] = []
    verify_evidence([str(runs)], jobs=jobs, watch=told.append)
    assert told[0] == Progress(0, 6, 0)
    assert told[-1].verified == told[-1].runs == 6
    assert told[-1].read > 1000
    assert told == sorted(told)


def test_a_run_that_cannot_be_read_is_in_the_report(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changing(path: str, **options: Any) -> Any:
        if path.endswith("/sealed"):
            raise InputError(f"{path}/run.json: changed while it was read")
        return verify_run(path, **options)

    monkeypatch.setattr(task, "verify_run", changing)
    found = verify_evidence([str(runs)], jobs=1)
    assert [(run.outcome, run.message) for run in found.runs if run.message] == [
        (UNREADABLE, f"{runs}/sealed/run.json: changed while it was read")
    ]
    assert found.exit_code == 2


def failing(path: str, **options: Any) -> Any:
    raise KeyError("a bug")


def test_a_failure_of_the_verifier_is_an_answer(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "verify_run", failing)
    monkeypatch.delenv("AEF_DEBUG", raising=False)
    found = verify_evidence([str(runs)], jobs=1)
    assert {(run.outcome, run.message) for run in found.runs} == {(NOT_VERIFIED, "KeyError: 'a bug'")}
    assert found.exit_code == 1


def test_a_failure_of_the_verifier_is_raised_when_its_traceback_is_wanted(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "verify_run", failing)
    monkeypatch.setenv("AEF_DEBUG", "1")
    with pytest.raises(KeyError):
        verify_evidence([str(runs)], jobs=1)


def children_of(pid: int) -> list[int]:
    """List the processes that one has started and that have not ended."""
    command = ["ps", "-o", "pid=,comm=", "--ppid", str(pid)]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return [int(line.split()[0]) for line in listed if line.split()[1] != "ps"]


def test_a_worker_that_dies_fails_its_run_and_no_other(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_START", (*pool._START[:2], _KILLED_ON.format(path=f"{runs}/sealed") + pool._START[2]))
    others = children_of(os.getpid())
    found = verify_evidence([str(runs)], jobs=2)
    assert [(run.path, run.outcome, run.message) for run in found.runs if run.message] == [
        (f"{runs}/sealed", NOT_VERIFIED, "its process was ended by signal 9")
    ]
    assert found.exit_code == 1
    assert children_of(os.getpid()) == others


_KILLED_ON = """
import os, sys, json; sys.path[:] = json.loads(sys.argv[1])
from aef_verify.engine import task
verify = task.verify_run
def verify_run(path, **options):
    if path == {path!r}:
        os.kill(os.getpid(), 9)
    return verify(path, **options)
task.verify_run = verify_run
"""


@pytest.mark.parametrize("executable", ["/nowhere/python", "/dev/null", ""])
def test_without_an_interpreter_to_start_the_work_is_done_here(
    runs: Path, monkeypatch: pytest.MonkeyPatch, executable: str
) -> None:
    expected = verify_evidence([str(runs)], jobs=1)
    monkeypatch.setattr(sys, "executable", executable)
    assert verify_evidence([str(runs)], jobs=2) == expected


def test_an_interpreter_that_ends_at_once_fails_every_run(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    found = verify_evidence([str(runs)], jobs=2)
    assert {(run.outcome, run.message) for run in found.runs} == {(NOT_VERIFIED, "its process ended with exit code 1")}


def test_what_stops_taking_answers_ends_the_workers(runs: Path) -> None:
    threads, others = threading.active_count(), children_of(os.getpid())
    answers = verify_in_processes([f"{runs}/sealed"] * 50, Task(None, None), 2)
    next(answers)
    assert children_of(os.getpid()) != others
    del answers
    gc.collect()
    assert children_of(os.getpid()) == others
    assert threading.active_count() == threads


def test_answers_come_in_the_order_of_the_runs(runs: Path) -> None:
    paths = [f"{runs}/{name}" for name in ("sealed", "gone", "unsealed", "signed", "gone", "changed")]
    answers = list(verify_in_processes(paths, Task(None, None), 3))
    assert [getattr(answer, "path", None) for answer in answers] == paths
    assert [isinstance(answer, Unverified) for answer in answers] == [False, True, False, False, True, False]


_INTERRUPTED = """
import sys
from aef_verify.engine import evidence
evidence.verify_evidence([sys.argv[1]], jobs=2, watch=lambda told: print(told.verified, flush=True))
"""


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Make runs that take a while, of sparse blobs."""
    for name in "abcd":
        building.small().write(tmp_path / name)
        folder = tmp_path / name / "blobs" / "sha256" / "ab"
        folder.mkdir(parents=True)
        with open(folder / ("ab" * 32), "wb") as blob:
            blob.truncate(40 << 30)
    return tmp_path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_the_process(large: Path, number: int) -> None:
    command = [sys.executable, "-c", _INTERRUPTED, str(large)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(3):
            assert process.stdout.readline()
        workers = children_of(process.pid)
        assert len(workers) == 2
        process.send_signal(number)
        process.communicate(timeout=30)
    while any(os.path.exists(f"/proc/{worker}/exe") for worker in workers):
        pass


def test_workers_are_started_only_where_they_pay(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(4)))
    assert default_jobs([f"{runs}/sealed"] * 3) == 1
    assert default_jobs([f"{runs}/sealed"] * 500) == 4
    assert default_jobs([f"{runs}/gone"]) == 1
    with open(runs / "sealed" / "results.ndjson", "ab") as results:
        results.truncate(64 << 20)
    assert default_jobs([f"{runs}/sealed", f"{runs}/gone"]) == 4
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    assert default_jobs([f"{runs}/sealed"] * 500) == 1


def test_the_module_is_as_public_as_the_package() -> None:
    import aef_verify

    assert aef_verify.verify_evidence is evidence.verify_evidence
