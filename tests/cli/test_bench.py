"""`aef bench longmemeval` as a process: exit codes, what it prints, what it asks, what it never shows."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from aef_verify.cli import bench_run, main
from aef_verify.cli.bench_run import perform
from aef_verify.memory.dataset import bundled_script
from aef_verify.problems import InputError
from aef_verify.provider.loopback import Loopback
from aef_verify.provider.script import parse_script
from aef_verify.run.verify import verify_run
from tests.cli.calling import AEF, PLAIN, aef, as_nobody, fill, one_line, read_only, small_disk
from tests.memory.test_options import asked

SECRET = "sk-planted-90c1d2"
BENCH = ("bench", "longmemeval", "--subject", "my-agent", "--offline", "--paired-oracle")
FEW = (*BENCH, "--max-questions", "6", "--threshold", "20")
SCRIPT: dict[str, Any] = json.loads(Path(bundled_script()).read_bytes())


@pytest.fixture
def provider() -> Iterator[Loopback]:
    with served() as running:
        yield running


def served(*rules: dict[str, Any], **members: Any) -> Loopback:
    """Return a provider with the bundled script, and rules before its own."""
    return Loopback(parse_script({**SCRIPT, **members, "rules": [*rules, *SCRIPT["rules"]]}))


def at(provider: Loopback) -> tuple[str, ...]:
    return ("--endpoint", provider.base_url, "--model", "scripted-model")


def runs_in(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.rglob("run.json"))


def holding(folder: Path, *texts: str) -> list[str]:
    """Return the files below a folder that hold any of these texts."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if any(text.encode() in path.read_bytes() for text in texts)]


def test_alone_it_needs_no_network_no_key_and_no_dataset(tmp_path: Path) -> None:
    done = aef(*FEW, "--aef", tmp_path / "evidence", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in ("normal", "oracle (diagnostic)", "overall", "Oracle gap:", "Evidence:", "ship, exit code 0."):
        assert words in done.stdout
    assert aef("verify", "--require", "linked", "--quiet", tmp_path / "evidence").returncode == 0


def test_json_is_one_value_and_nothing_else(tmp_path: Path) -> None:
    done = aef(*FEW, "--json", "--aef", "evidence", cwd=tmp_path)
    value = json.loads(done.stdout)
    assert done.stderr == ""
    assert (value["exitCode"], value["gate"], value["unwritten"]) == (0, "ship", None)
    assert [(arm["role"], arm["planned"], arm["calls"]) for arm in value["arms"]] == [
        ("normal", 6, 12),
        ("oracle", 6, 12),
    ]
    assert [verify_run(str(tmp_path / run["path"])).run_hash for run in value["evidence"]] == [
        run["runHash"] for run in value["evidence"]
    ]
    assert value["retrieval"] == {"questions": 6, "allGoldSessions": 6}


@pytest.mark.parametrize(
    ("words", "code"),
    [((), 0), (("--threshold", "0"), 0), (("--threshold", "100"), 1), (("--no-aef",), 0)],
)
def test_the_normal_arm_decides(words: Sequence[str], code: int) -> None:
    assert aef(*FEW, *words).returncode == code


@pytest.mark.parametrize(
    "words",
    [
        ("--no-aef", "--aef", "evidence"),
        ("--no-aef", "--aef-unsealed"),
        ("--no-aef", "--aef-key", "key"),
        ("--aef-unsealed",),
        ("--aef-key", "key"),
        ("--aef", "evidence", "--aef-unsealed", "--aef-key", "key"),
        ("--aef", "evidence", "--aef-key", "missing"),
        ("--aef", "file"),
        ("--aef", "link"),
        ("--aef", "run"),
        ("--aef", "run/below"),
        ("--preset", "other"),
        ("--preset", "full", "--max-questions", "0"),
        ("--max-questions", "many"),
        ("--concurrency", "0"),
        ("--timeout", "0"),
        ("--retries", "-1"),
        ("--temperature", "3"),
        ("--max-tokens", "0"),
        ("--label-rule", "other"),
        ("--judge-failure", "other"),
        ("--content", "some"),
        ("--threshold", "half"),
        ("--variant", "xl"),
        ("--agent", "nobody"),
        ("--agent", "no_module:factory"),
        ("--subject", "my agent"),
        ("--dataset", "missing.json"),
        ("--dataset", "longmemeval_s.json"),
        ("--endpoint", "http://192.0.2.1/v1"),
        ("--judge-endpoint", "http://example.org/v1"),
        ("--unknown",),
    ],
    ids=" ".join,
)
def test_a_usage_error_is_exit_2_before_any_call(words: Sequence[str], provider: Loopback, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    (tmp_path / "link").symlink_to(".")
    (tmp_path / "longmemeval_s.json").write_text('[{"question_id": "q1"}]')
    before = sorted(tmp_path.rglob("*"))
    done = aef(*FEW, *at(provider), *words, cwd=tmp_path)
    assert done.returncode == 2
    one_line(done)
    assert provider.requests == []
    assert sorted(tmp_path.rglob("*")) == before


def test_offline_no_socket_is_opened_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError("a socket was opened")

    options = asked(endpoint="http://api.example.org/v1")._asdict()
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(InputError, match="loopback"):
        perform(options, as_json=False, quiet=True)


@pytest.mark.parametrize("words", [(), ("--json",), ("--content", "on"), ("--threshold", "100")])
def test_a_key_is_never_shown(words: Sequence[str], tmp_path: Path) -> None:
    with served({"match": {}, "times": 3, "fault": {"kind": "status", "status": 401}}) as provider:
        env = {"OPENAI_BASE_URL": provider.base_url, "OPENAI_API_KEY": SECRET, "JUDGE_OPENAI_API_KEY": SECRET}
        done = aef("--debug", *FEW, "--model", "m", "--aef", tmp_path / "evidence", *words, env=env)
        assert len(provider.requests) > 12
    assert SECRET not in done.stdout + done.stderr
    assert holding(tmp_path, SECRET) == []


def test_a_key_that_no_header_can_carry_is_not_shown_either(provider: Loopback) -> None:
    done = aef("--debug", *FEW, *at(provider), env={"OPENAI_API_KEY": f"{SECRET}\n"})
    assert done.returncode == 2
    assert SECRET not in done.stdout + done.stderr


def test_content_is_kept_only_where_that_is_wanted(tmp_path: Path) -> None:
    texts = ["Yes.", "No."]
    for content, kept in (("off", False), ("on", True)):
        folder = tmp_path / content
        assert aef(*FEW, "--content", content, "--aef", folder).returncode == 0
        assert bool(holding(folder, *texts)) is kept
        assert all((run / "evidence.ndjson").exists() is kept for run in runs_in(folder))
        assert all((run / "blobs").exists() is kept for run in runs_in(folder))


AGENT = """
class Mine:
    def ingest(self, sessions):
        self.sessions = sessions

    def answer(self, question, date):
        return f"I looked at {len(self.sessions)} sessions."
"""


def test_an_agent_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AGENT)
    done = aef(*FEW, "--agent", "mine:Mine", "--aef", "evidence", "--content", "on", "--json", cwd=tmp_path)
    value = json.loads(done.stdout)
    # It asks nobody, so that each answer counts as the one call that it is, beside the judge's.
    assert [arm["calls"] for arm in value["arms"]] == [12, 12]
    assert len(holding(tmp_path / "evidence", "I looked at")) > 0
    definition = json.loads(next((tmp_path / "evidence").glob("*-normal/ext/longmemeval/definition.json")).read_bytes())
    assert definition["agent"] == {"kind": "custom", "factory": "mine:Mine"}
    assert aef("verify", "--require", "linked", "--quiet", tmp_path / "evidence").returncode == 0


@pytest.mark.parametrize("agent", ["none", "bm25"])
def test_built_in_agents(agent: str, tmp_path: Path) -> None:
    value = json.loads(aef(*FEW, "--agent", agent, "--aef", "evidence", "--json", cwd=tmp_path).stdout)
    normal, oracle = value["arms"]
    assert normal["passed"] <= oracle["passed"]
    assert (value["retrieval"]["allGoldSessions"] == 0) is (agent == "none")


@pytest.mark.parametrize("breaking", [fill, read_only])
def test_evidence_that_cannot_be_written_is_exit_3_with_the_result(
    breaking: Callable[[Path], object], tmp_path: Path
) -> None:
    # The last answer of the normal arm waits until the disk takes nothing more.
    hold = {"match": {}, "skip": 11, "times": 1, "reply": {"text": "yes", "latencyMs": 1500}}
    with small_disk(tmp_path / "disk", "512k") as disk, served(hold) as provider:
        words = [*AEF, *FEW, *at(provider), "--concurrency", "1", "--json", "--aef", str(disk)]
        with subprocess.Popen(words, env=PLAIN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            wait_for(lambda: len(provider.requests) >= 12, child)
            breaking(disk)
            stdout, stderr = child.communicate(timeout=60)
        requests = len(provider.requests)
    value = json.loads(stdout)
    assert (child.returncode, value["exitCode"], requests) == (3, 3, 12)
    assert [(arm["role"], arm["status"]) for arm in value["arms"]] == [("normal", "completed")]
    assert value["gate"] == "ship"
    assert "could not be written" in value["unwritten"]
    assert "could not be written" in stderr


def test_somebody_elses_folder_is_refused(provider: Loopback, tmp_path: Path) -> None:
    before = as_nobody()
    tmp_path.chmod(0o755)
    done = aef(*FEW, *at(provider), "--aef", tmp_path / "evidence", before=before)
    assert done.returncode == 2
    assert "Permission denied" in one_line(done)
    assert provider.requests == []


def wait_for(reached: Callable[[], bool], child: subprocess.Popen[str]) -> None:
    """Wait until a point is reached that a provider's log tells."""
    until = time.monotonic() + 60
    while not reached():
        assert child.poll() is None
        assert time.monotonic() < until
        os.sched_yield()


def interrupted(request: int, folder: Path, *signs: signal.Signals) -> int:
    """Send signals when this request has come, which is never answered; return the exit code."""
    with served({"match": {}, "skip": request - 1, "fault": {"kind": "timeout"}}) as provider:
        words = [*AEF, *FEW, *at(provider), "--concurrency", "1", "--aef", str(folder)]
        with subprocess.Popen(words, env=PLAIN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            wait_for(lambda: len(provider.requests) >= request, child)
            for sign in signs:
                child.send_signal(sign)
            child.communicate(timeout=60)
    return child.returncode


def statuses(folder: Path) -> list[tuple[str, str]]:
    found = []
    for run in runs_in(folder):
        assert verify_run(str(run)).problems == ()
        found.append((run.name.rpartition("-")[2], json.loads((run / "run.json").read_bytes())["status"]))
    return found


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("request_number", "left"),
    [(3, [("normal", "aborted")]), (15, [("normal", "completed"), ("oracle", "aborted")])],
)
def test_a_signal_ends_it_with_its_evidence(
    request_number: int, left: list[tuple[str, str]], sign: signal.Signals, tmp_path: Path
) -> None:
    assert interrupted(request_number, tmp_path / "evidence", sign) == 1
    assert statuses(tmp_path / "evidence") == left


def test_two_signals_end_it_at_once(tmp_path: Path) -> None:
    assert interrupted(3, tmp_path / "evidence", signal.SIGINT, signal.SIGTERM) == 1
    assert statuses(tmp_path / "evidence") == []


def test_a_signal_that_comes_early_is_exit_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def early(*arguments: object, **named: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_run, "perform", early)
    assert main.main([*FEW], standalone_mode=False) == 1
    assert capsys.readouterr() == ("", "aef bench longmemeval: interrupted before anything was prepared\n")


def test_calls_are_exact_under_faults(tmp_path: Path) -> None:
    faults = [{"kind": "status", "status": status, "retryAfter": 0} for status in (429, 500)]
    weather = {"rate": 0.2, "seed": 3, "most": 3, "of": faults}
    with served(faults=weather) as provider:
        done = aef(*BENCH, *at(provider), "--json", "--aef", tmp_path, "--threshold", "0", "--concurrency", "16")
        requests = provider.requests
    value = json.loads(done.stdout)
    assert done.returncode == 0
    assert sum(arm["calls"] for arm in value["arms"]) == len(requests)
    assert sum(request.outcome == "status" for request in requests) == len(requests) - 200 > 20
    assert all(arm["scored"] == 50 for arm in value["arms"])


def test_output_that_cannot_be_written_changes_no_verdict() -> None:
    with open("/dev/full", "w") as full:
        done = aef(*FEW, stdout=full)
    assert done.returncode == 0
    assert "could not be written" in done.stderr
