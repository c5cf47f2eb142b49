"""`aef bench longmemeval --print-plan` and `--job` as processes, over real HTTP: a plan, its job, both checked.

[PLAN-3] [PLAN-5] [PLAN-8] [PLAN-9] [STRM-1] [STRM-3] [STRM-4].
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import AEF, PLAIN, aef, one_line
from tests.cli.test_bench import at, holding, served, wait_for

BENCH = (
    "bench",
    "longmemeval",
    "--subject",
    "my-agent",
    "--subject-version",
    "2.1",
    "--offline",
    "--max-questions",
    "6",
)
SECRET = "sk-planted-90c1d2"


def planned(folder: Path, *words: object, env: dict[str, str] | None = None) -> dict[str, Any]:
    """Print a plan into `plan.json` of a folder and return it."""
    done = aef(*BENCH, *words, "--print-plan", cwd=folder, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "plan.json").write_text(done.stdout)
    plan: dict[str, Any] = json.loads(done.stdout)
    return plan


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Print the plan without further options, once."""
    folder = tmp_path_factory.mktemp("plan")
    planned(folder)
    return (folder / "plan.json").read_text()


def run(folder: Path, *words: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return aef(*BENCH, *words, "--job", "plan.json", "--out", "out", cwd=folder, env=env)


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out" / "events.ndjson").read_bytes().splitlines()]


def checked(folder: Path) -> dict[str, Any]:
    """Check the job with the project's own stream verifier, which must find nothing, and return what it says."""
    done = aef("stream", "out/events.ndjson", "plan.json", "--runs", "out/runs", "--json", cwd=folder)
    assert done.returncode == 0, done.stdout
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_plan5_plan8_strm3_strm4_alone_it_needs_no_network_no_key_and_no_dataset(tmp_path: Path, alone: str) -> None:
    plan = planned(tmp_path)
    assert (plan["targetMode"], plan["limits"]) == ("scripted", {"maxUsd": 0.0, "cases": 6})
    assert (tmp_path / "plan.json").read_text() == alone
    done = run(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "every case of the plan's suites (exit 0)" in done.stdout
    checked(tmp_path)
    assert aef("verify", "--require", "sealed", "--quiet", "out", cwd=tmp_path).returncode == 0
    (folder,) = (tmp_path / "out" / "runs").iterdir()
    header = json.loads((folder / "run.json").read_bytes())
    assert header["suite"]["digest"] == plan["suites"][0]["digest"]
    assert header["execution"]["targetMode"] == "scripted"
    assert aef(*BENCH, "--aef", "evidence", "--quiet", cwd=tmp_path).returncode in (0, 1)
    (own,) = (tmp_path / "evidence").iterdir()
    assert "measured the same thing" in aef("compare-suites", own, folder, cwd=tmp_path).stdout


def test_plan3_plan9_a_provider_with_a_key_and_a_price(tmp_path: Path) -> None:
    env = {"OPENAI_API_KEY": SECRET}
    runner = tmp_path / "runner.json"
    with served() as provider:
        words = (*at(provider), "--usd-per-call", "0.25", "--target-mode", "scripted", "--retries", "0")
        plan = planned(tmp_path, *words, "--job-timeout", "PT1H", env=env)
        runner.write_text(json.dumps(MANIFEST))
        done = run(tmp_path, *words, "--runner", "runner.json", "--json", env=env)
        assert done.returncode == 0, done.stderr
        assert len(provider.requests) == 12
    assert [reference["path"] for reference in plan["credentialRefs"]] == ["OPENAI_API_KEY"] * 2
    assert plan["limits"] == {"maxUsd": 6 * 8 * 0.25, "cases": 6, "timeout": "PT1H"}
    value = json.loads(done.stdout)
    assert (value["end"], value["spentUsd"], value["runnerId"]) == ("job.sealed", 3.0, "runner:mine")
    spent = [event["spentUsd"] for event in events(tmp_path) if event["kind"] == "spend.updated"]
    assert spent == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    checked(tmp_path)
    assert holding(tmp_path / "out", SECRET, "OPENAI_API_KEY") == []
    assert holding(tmp_path, SECRET) == []


MANIFEST = {
    "schemaVersion": "1.0",
    "runnerId": "runner:mine",
    "version": "1",
    "kind": "local",
    "os": "linux",
    "runtime": {"name": "python", "version": "3"},
    "providers": ["local"],
    "tags": [],
    "targetModes": ["scripted", "live"],
}


def test_plan2_plan9_a_budget_stops_it(tmp_path: Path) -> None:
    with served() as provider:
        words = (*at(provider), "--usd-per-call", "1", "--target-mode", "scripted", "--retries", "0")
        planned(tmp_path, *words, "--max-usd", "11")
        done = run(tmp_path, *words)
    assert done.returncode == 1
    assert "Stopped at the limit maxUsd" in done.stdout
    assert [event["kind"] for event in events(tmp_path)].count("case.completed") == 2
    checked(tmp_path)


def test_plan7_a_plan_that_nobody_could_refuse_is_named(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    done = run(tmp_path)
    assert done.returncode == 2
    assert "plan.json: plan refused" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--max-questions", "5"), "none that the target has"),
        (("--threshold", "60"), "none that the target has"),
        (("--subject-version", "2.2"), "another version"),
        (("--target-mode", "live"), "target mode"),
        (("--judge-model", "other"), "none that the target has|the judge"),
    ],
    ids=" ".join,
)
def test_plan7_plan8_other_options_than_the_plans_are_refused(
    tmp_path: Path, alone: str, words: Sequence[str], said: str
) -> None:
    (tmp_path / "plan.json").write_text(alone)
    done = run(tmp_path, *words, "--json")
    assert done.returncode == 1
    value = json.loads(done.stdout)
    assert value["end"] == "job.refused"
    assert any(part in value["reason"] for part in said.split("|")), value["reason"]
    assert [event["kind"] for event in events(tmp_path)] == ["job.refused"]
    checked_refusal = aef("stream", "out/events.ndjson", "plan.json", cwd=tmp_path)
    assert checked_refusal.returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--print-plan", "--job", "plan.json", "--out", "out"),
        ("--print-plan", "--subject", "my agent"),
        ("--job", "plan.json"),
        ("--job", "missing.json", "--out", "out"),
        ("--job", "broken.json", "--out", "out"),
        ("--job", "plan.json", "--out", "full"),
        ("--job", "plan.json", "--out", "out", "--runner", "broken.json"),
        ("--job", "plan.json", "--out", "out", "--paired-oracle"),
        ("--usd-per-call", "-1", "--print-plan"),
    ],
    ids=" ".join,
)
def test_a_usage_error_is_exit_2_and_writes_nothing(words: Sequence[str], alone: str, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(alone)
    (tmp_path / "broken.json").write_text("{}")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    done = aef(*BENCH, *words, cwd=tmp_path)
    assert done.returncode == 2
    one_line(done)
    assert sorted(tmp_path.rglob("*")) == before


def test_plan1_a_plan_needs_a_version_and_a_budget(tmp_path: Path) -> None:
    bench = tuple(word for word in BENCH if word not in ("--subject-version", "2.1"))
    assert "--subject-version" in one_line(aef(*bench, "--print-plan", cwd=tmp_path))
    with served() as provider:
        assert "--max-usd" in one_line(aef(*BENCH, *at(provider), "--print-plan", cwd=tmp_path))
        assert provider.requests == []


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_strm1_a_signal_cancels_the_job(tmp_path: Path, sign: signal.Signals, code: int) -> None:
    """The third request is never answered, so that the signal comes while the second question is asked."""
    with served({"match": {}, "skip": 2, "fault": {"kind": "timeout"}}) as provider:
        words = (*at(provider), "--usd-per-call", "0", "--target-mode", "scripted")
        planned(tmp_path, *words)
        call = [*AEF, *BENCH, *words, "--job", "plan.json", "--out", "out"]
        pipe = subprocess.PIPE
        with subprocess.Popen(call, cwd=tmp_path, env=PLAIN, stdout=pipe, stderr=pipe, text=True) as child:
            wait_for(lambda: len(provider.requests) >= 3, child)
            child.send_signal(sign)
            _, said = child.communicate(timeout=60)
    assert (child.returncode, said) == (code, "aef bench: interrupted\n")
    kinds = [event["kind"] for event in events(tmp_path)]
    assert (kinds.count("case.completed"), kinds[-1]) == (1, "job.cancelled")
    assert not (tmp_path / "out" / "runs").exists()
    assert aef("stream", "out/events.ndjson", "plan.json", cwd=tmp_path).returncode == 0


def test_strm1_answers_that_are_scripted_are_never_called_live(tmp_path: Path) -> None:
    with served() as provider:
        words = (*at(provider), "--usd-per-call", "0")
        assert planned(tmp_path, *words)["targetMode"] == "live"
        done = run(tmp_path, *words)
    assert done.returncode == 1
    assert "not of the plan's target mode" in done.stdout
    assert events(tmp_path)[-1]["kind"] == "job.failed"
