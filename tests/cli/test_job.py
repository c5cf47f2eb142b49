"""`aef job`: how a job ended and why, the exit code, the environment, what an interrupt leaves [PLAN-3], [RUN-7]."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aef_verify.clock import now
from aef_verify.run.verify import verify_run
from tests.cli.calling import AEF, PLAIN, aef, fill, one_line, read_only, small_disk
from tests.runner.jobbing import AT, Json, case, plan, read, runner, suite, target, written

TWO = target(suite(), suite("suite:b", case("1", state="failed", severity="low")))
ASKED = plan("suite:a", "suite:b")
REFERENCE = {"name": "KEY", "scheme": "env", "path": "PLACE_OF_A_KEY", "purpose": "judge"}
VALUE = "sk-0123456789abcdef"


def job(
    folder: Path,
    *words: str,
    plan: Json | bytes = ASKED,
    target: Json = TWO,
    at: str | None = AT,
    out: Path | None = None,
    **call: Any,
) -> subprocess.CompletedProcess[str]:
    given = written(folder, plan=plan, runner=runner(), target=target)
    time = [] if at is None else ["--at", at]
    return aef("job", *given, out or folder / "out", *time, *words, **call)


def test_run7_a_job_that_was_sealed(tmp_path: Path) -> None:
    done = job(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "Sealed: 2 runs, every case of the plan's suites (exit 0)."
    assert "  target mode  scripted" in lines
    assert "  estimated    3 cases, 0.75 to 0.75 USD" in lines
    assert "  ran          3 cases, 0.75 USD" in lines
    for run in (tmp_path / "out" / "runs").iterdir():
        assert any(line.startswith(f"  {run.name}  suite:") for line in lines)


def test_as_json_it_is_one_value(tmp_path: Path) -> None:
    done = job(tmp_path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    value = json.loads(done.stdout)
    events = read(tmp_path / "out")
    assert (value["end"], value["limit"], value["reason"]) == ("job.sealed", None, None)
    assert (value["jobId"], value["events"], value["endedAt"]) == (events[0]["jobId"], len(events), events[-1]["at"])
    for name in ("planId", "planDigest", "runnerId"):
        assert value[name] == events[0][name]
    assert (value["cases"], value["spentUsd"], value["targetMode"]) == (3, 0.75, "scripted")
    assert value["estimated"] == {"cases": 3, "usdLow": 0.75, "usdHigh": 0.75}
    first, second = value["runs"]
    assert (first["suite"], first["status"], first["cases"]) == ({"ref": "suite:a", "version": "1"}, "completed", 2)
    assert [run["runId"] for run in (first, second)] == events[-1]["runs"]
    assert verify_run(second["path"]).run_hash == second["runHash"]


def test_plan2_a_job_that_a_limit_stops(tmp_path: Path) -> None:
    done = job(tmp_path, plan=plan("suite:a", "suite:b", limits={"maxUsd": 0.5}))
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("Stopped at the limit maxUsd: the next case could take the spend")
    assert "completed" in done.stdout


def test_plan7_a_job_that_is_refused(tmp_path: Path) -> None:
    done = job(tmp_path, plan=plan("suite:c"))
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert last == "Refused, and nothing was run: suite 1 of the plan (suite:c 1) is none that the target has (exit 1)."
    value = json.loads(job(tmp_path, "--json", plan=plan("suite:c"), out=tmp_path / "second").stdout)
    assert (value["end"], value["estimated"], value["runs"]) == ("job.refused", None, [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"plan": b"{"}, "plan.json: plan refused"),
        ({"plan": plan(planId=None)}, "planId"),
        ({"at": "yesterday"}, "'yesterday' is no time"),
        ({"at": "9999-12-31T23:59:59Z"}, "9999"),
        ({"target": target(more=1)}, "target.json: the target is not of its shape: a member 'more'"),
    ],
)
def test_plan7_an_input_error_is_one_line_and_writes_nothing(given: Any, said: str, tmp_path: Path) -> None:
    done = job(tmp_path, **given)
    assert done.returncode == 2
    assert said in one_line(done)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_empty(tmp_path: Path) -> None:
    assert job(tmp_path).returncode == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    done = job(tmp_path)
    assert done.returncode == 2
    assert "not empty" in one_line(done)
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


def test_enc8_the_clock_starts_at_present_by_default(tmp_path: Path) -> None:
    before = now()
    assert job(tmp_path, at=None).returncode == 0
    assert before[:19] <= read(tmp_path / "out")[0]["at"][:19] <= now()[:19]


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_plan3_credentials_are_taken_from_the_environment_and_never_shown(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    asked = plan("suite:a", credentialRefs=[REFERENCE])
    done = job(tmp_path, *words, plan=asked, env={"PLACE_OF_A_KEY": VALUE})
    assert done.returncode == 0
    refused = job(tmp_path, *words, plan=asked, out=tmp_path / "second")
    assert refused.returncode == 1
    assert "credential reference 1" in refused.stdout
    for shown in (done, refused):
        assert all(text not in shown.stdout + shown.stderr for text in (VALUE, "PLACE_OF_A_KEY"))


def test_plan3_a_traceback_shows_no_credential(tmp_path: Path) -> None:
    asked = plan("suite:a", credentialRefs=[REFERENCE])
    script = "import sys; from aef_verify.runner import running, events\n"
    script += "def fail(*a, **b): raise ValueError('odd')\n"
    script += "running.publish_run = fail\n"
    script += "from aef_verify.cli import main; sys.exit(main())"
    given = written(tmp_path, plan=asked, runner=runner(), target=TWO)
    done = subprocess.run(
        [AEF[0], "-c", script, "--debug", "job", *given, str(tmp_path / "out")],
        env=PLAIN | {"PLACE_OF_A_KEY": VALUE},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "ValueError: odd" in done.stderr
    assert all(text not in done.stdout + done.stderr for text in (VALUE, "PLACE_OF_A_KEY"))
    assert read(tmp_path / "out")[-1]["kind"] == "job.failed"


def test_a_disk_that_is_full_is_exit_3(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        fill(disk)
        done = job(tmp_path, out=disk / "out")
        assert done.returncode == 3
        assert "could not be written" in one_line(done)
        assert not (disk / "out" / "events.ndjson").exists()


def test_a_folder_that_may_not_be_made_is_exit_3(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        read_only(disk)
        done = job(tmp_path, out=disk / "out")
        assert done.returncode == 3
        assert "could not be written" in one_line(done)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_strm1_a_signal_cancels_the_job(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """Forty thousand cases take many seconds; the signal comes once the first hundred events are there."""
    cases = [case(str(place)) for place in range(40_000)]
    given = written(
        tmp_path, plan=plan(limits={"maxUsd": 99999}), runner=runner(), target=target(suite("suite:a", *cases))
    )
    events = tmp_path / "out" / "events.ndjson"
    process = subprocess.Popen(
        [*AEF, "job", *given, str(tmp_path / "out")], env=PLAIN, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        while process.poll() is None and not (events.exists() and events.stat().st_size > 20_000):
            os.sched_yield()
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code
    assert errors.decode().splitlines() == ["aef job: interrupted"]
    ended = read(tmp_path / "out")
    assert ended[-1]["kind"] == "job.cancelled"
    assert [event["seq"] for event in ended] == list(range(1, len(ended) + 1))
    assert list((tmp_path / "out").glob("runs/run-*")) == []


def test_a_stream_can_be_checked_against_the_plan_with_its_runs(tmp_path: Path) -> None:
    assert job(tmp_path).returncode == 0
    out = tmp_path / "out"
    done = aef("stream", out / "events.ndjson", tmp_path / "plan.json", "--runs", out)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_is_shown_how_far_a_long_job_is(tmp_path: Path) -> None:
    if not os.path.exists("/usr/bin/script"):
        pytest.skip("no program that gives a terminal")
    cases = [case(str(place)) for place in range(1_500)]
    given = written(
        tmp_path, plan=plan(limits={"maxUsd": 99999}), runner=runner(), target=target(suite("suite:a", *cases))
    )
    command = shlex.join([*AEF, "job", *given, str(tmp_path / "out")])
    done = subprocess.run(
        ["/usr/bin/script", "-qec", command, "/dev/null"], env=PLAIN, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0
    assert b"Running cases" in done.stdout
    assert b"Sealed: 1 run" in done.stdout
