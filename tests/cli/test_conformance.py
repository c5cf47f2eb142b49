"""`aef conformance run`: its exit codes, what it prints, and where ([CONF-3], [CONF-4])."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aef_verify.cli import main
from aef_verify.conformance import contract
from aef_verify.conformance.operation import Operation, Options
from tests.conformance.small_corpus import FakeProgram, SmallCorpus

RUN = {"run/run.json": b"{}"}
EXPECTED = {"run": "run", "outcome": "intact", "problems": []}
ANSWER = {"outcome": "intact", "problems": []}


@pytest.fixture
def small(tmp_path: Path) -> SmallCorpus:
    made = SmallCorpus(tmp_path / "corpus")
    made.add("runs/good", "run", RUN, EXPECTED, classes=["Run verifier"])
    made.add_file("paths.json", "paths", [{"name": "a", "paths": [".x"], "problems": [[".x", "path"]]}])
    made.load()
    return made


@pytest.fixture(autouse=True)
def _answering(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(arguments: Sequence[str], options: Options) -> object:
        return ANSWER

    monkeypatch.setitem(contract.OPERATIONS, "run", Operation(work, ("DIR",)))


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["conformance", "run", *map(str, words), "--jobs", "1"])


def test_all_passed(small: SmallCorpus) -> None:
    done = run(small.root)
    assert done.exit_code == 0
    assert done.stderr == ""
    version = small.load().version
    assert "2 vectors: 2 passed" in done.stdout
    assert f"corpus sha256:{version} (AEF 1.0)" in done.stdout
    assert "\nclaim: aef-verify " in done.stdout
    assert " conforms to AEF 1.0 as Run verifier (signed) and Producer: it passes" in done.stdout
    assert "runs/good" not in done.stdout
    assert "passed  runs/good (run)\n" in run(small.root, "--verbose").stdout


def test_a_failure_names_the_vector_and_the_difference(small: SmallCorpus) -> None:
    small.add("runs/bad", "run", RUN, {**EXPECTED, "problems": [["a", "path"]]})
    small.load()
    done = run(small.root)
    assert done.exit_code == 1
    assert (
        'failed  runs/bad (run) [CONF-2]: problems: first difference at [0]: expected ["a", "path"], got nothing\n'
        '        problems: missing: ["a", "path"]\n'
    ) in done.stdout
    assert "claim:" not in done.stdout


def test_an_altered_file_fails_its_vector(small: SmallCorpus) -> None:
    (small.root / "runs/good/run/run.json").write_bytes(b"[]")
    done = run(small.root)
    assert done.exit_code == 1
    assert "failed  runs/good (run) [CONF-2]: corpus: runs/good/run/run.json: altered" in done.stdout


def test_a_kind_not_supported_fails_a_full_run_only(small: SmallCorpus) -> None:
    for name in ("a", "b"):
        small.add(name, "hologram", {}, {}, classes=["Run verifier"])
    small.load()
    done = run(small.root)
    assert done.exit_code == 1
    assert "not supported yet: hologram (2)\n" in done.stdout
    assert run(small.root, "--kind", "hologram").exit_code == 1
    done = run(small.root, "--kind", "run,paths")
    assert done.exit_code == 0
    assert "as Producer" in done.stdout
    assert "Run verifier (" not in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["--kind", "run", "--kind", "paths"],
        ["--kind", "run paths"],
        ["--kind", "run, paths"],
        ["--class", "Run verifier, producer"],
        ["--class", "Run verifier", "--class", "Producer"],
        ["--id", "*.json", "--id", "runs/*"],
        ["--level", "intact"],
        ["--algorithm", "ed25519"],
    ],
)
def test_names_are_given_one_by_one_or_together(small: SmallCorpus, words: list[str]) -> None:
    done = run(small.root, *words)
    assert done.exit_code == 0
    assert "2 vectors: 2 passed" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--kind", "song"], "no kind 'song' in this corpus; there are paths, run"),
        (["--class", "Poet"], "no class"),
        (["--id", "none"], "no vector is selected"),
        (["--command", ""], "names no program"),
        (["--command", "'"], "does not split"),
        (["--timeout", "1"], "go with --command"),
        (["--claim-as", "x 1"], "go with --command"),
        (["--level", "best"], "Invalid value"),
        (["--jobs", "0"], "Invalid value"),
        (["--command", "x", "--timeout", "0"], "Invalid value"),
    ],
)
def test_a_wrong_call_exits_2(small: SmallCorpus, words: list[str], said: str) -> None:
    done = CliRunner().invoke(main, ["conformance", "run", str(small.root), *words])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert said in done.stderr


def test_no_corpus_exits_2(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", Path("/dev/null")):
        done = run(path)
        assert done.exit_code == 2
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1


def test_json_is_one_value_and_all_there_is(small: SmallCorpus) -> None:
    small.add("runs/bad", "run", RUN, {**EXPECTED, "outcome": "invalid"})
    corpus = small.load()
    done = run(small.root, "--json")
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert report["corpus"] == f"sha256:{corpus.version}"
    assert report["counts"] == {"passed": 2, "failed": 1, "skipped": 0, "unsupported": 0}
    assert report["kinds"]["run"] == {"passed": 1, "failed": 1, "skipped": 0, "unsupported": 0}
    assert report["classes"]["Producer"]["passed"] == 1
    assert (report["passed"], report["claimed"], report["claim"]) == (False, [], None)
    assert report["vectors"][2] == {
        "id": "runs/bad",
        "kind": "run",
        "rules": ["CONF-2"],
        "outcome": "failed",
        "differences": ['outcome: expected "invalid", got "intact"'],
    }
    report = json.loads(run(small.root, "--json", "--id", "*good", "--id", "paths*", "--class", "Producer").stdout)
    assert report["claimed"] == ["Producer"]


def test_a_program_is_driven(small: SmallCorpus, tmp_path: Path) -> None:
    fake = FakeProgram(tmp_path / "fake")
    fake.says("run", ANSWER).says("paths", [{"name": "a", "problems": [[".x", "path"]]}])
    done = run(small.root, "--command", fake.command, "--timeout", "60", "--claim-as", "fake 1.2")
    assert done.exit_code == 0
    assert "claim: fake 1.2 conforms to AEF 1.0 as Run verifier (signed) and Producer" in done.stdout
    assert "give --claim-as" in run(small.root, "--command", fake.command).stdout
    fake.says("run", signal=int(signal.SIGABRT))
    done = run(small.root, "--command", fake.command)
    assert done.exit_code == 1
    assert "run: ended by SIGABRT" in done.stdout


def test_what_others_wrote_cannot_steer_a_terminal(small: SmallCorpus, tmp_path: Path) -> None:
    fake = FakeProgram(tmp_path / "fake")
    fake.says("run", exit=1, stderr="\x1b[2J\u202egone")
    small.items[0] |= {"id": "runs/\x1b[31m", "rules": ["\x07"], "classes": ["\u200bRun verifier"]}
    small.load()
    done = run(small.root, "--kind", "run", "--command", fake.command)
    assert "runs/\\u{1B}[31m (run) [\\u{7}]: run: exit 1: \\u{1B}[2J\\u{202E}gone" in done.stdout
    assert not set("\x1b\x07\u202e\u200b") & set(done.stdout)


def test_progress_goes_to_a_terminal_only(small: SmallCorpus) -> None:
    pty = pytest.importorskip("pty")
    terminal, side = pty.openpty()
    words = [sys.executable, "-m", "aef_verify", "conformance", "run", str(small.root), "--kind", "paths", "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=side, timeout=60, check=True)
    os.close(side)
    shown = os.read(terminal, 4096)
    os.close(terminal)
    assert shown.startswith(b"\r1/1 vectors")
    assert json.loads(done.stdout)["passed"] is True


def test_sigterm_ends_programs_and_leaves_no_scratch(small: SmallCorpus, tmp_path: Path) -> None:
    fake = FakeProgram(tmp_path / "fake")
    scratch, started = tmp_path / "scratch", tmp_path / "started"
    scratch.mkdir()
    os.mkfifo(started)
    fake.script.write_text(f"import signal\nopen({str(started)!r}, 'w').close()\nwhile True: signal.pause()\n")
    words = [
        sys.executable,
        "-m",
        "aef_verify",
        "conformance",
        "run",
        str(small.root),
        "--kind",
        "run",
        "--command",
        fake.command,
    ]
    with subprocess.Popen(
        [*words, "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch)},
    ) as running:
        started.open().close()
        running.terminate()
        printed, said = running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGTERM
    assert (printed, said) == (b"", b"aef conformance: interrupted\n")
    assert list(scratch.iterdir()) == []
