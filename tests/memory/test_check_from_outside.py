"""`scripts/verify-paired-memory.py`: it sees what is not as it must be, and says what to look at."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.paired_memory import cases
from scripts.paired_memory.evidence import faults, left_in, words_of
from scripts.paired_memory.lab import QUESTIONS, Case, Lab, Stop, UnmetError
from scripts.paired_memory.program import SECRET, Done, program_for

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "verify-paired-memory.py"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(program_for(None), tmp_path)


def test_a_sealed_pair_passes_and_anything_else_does_not(lab: Lab) -> None:
    sealed = next(case for case in cases.options() if case.name == "sealed pair")
    assert "linked" in lab.run(sealed)
    with pytest.raises(UnmetError) as unmet:
        lab.run(sealed._replace(requests=47))
    assert "48 requests" in unmet.value.seen
    assert "--paired-oracle" in unmet.value.look_at


def test_an_interruption_is_decided_by_the_requests(lab: Lab) -> None:
    stop = Stop(5, (signal.SIGINT,))
    wanted = f"exit 1, normal aborted (interrupted) 3/{QUESTIONS} intact -> normal-only"
    assert lab.run(Case("stopped", wanted, stop=stop, requests=5)) == f"{wanted}, 5 requests"


def test_what_must_not_be_in_evidence_is_found(lab: Lab, tmp_path: Path) -> None:
    case = next(iter(cases.options()))
    lab.run(case)
    evidence = next(tmp_path.glob("case-*/evidence"))
    left = left_in(evidence)
    assert "linked" in words_of(left)
    assert list(faults(evidence, left, None, (), whole=False)) == []
    assert any("calls" in fault for fault in faults(evidence, left, None, (), whole=True))
    assert list(faults(evidence, left, Done((), 0, SECRET, ""), (), whole=False)) == ["the API key was printed"]

    (evidence / ".aef-tmp-1").mkdir()
    (evidence / ".aef-tmp-1" / "note").write_text(SECRET)
    found = list(faults(evidence, left, None, (), whole=True))
    assert any("left behind" in fault for fault in found)
    assert any("holds the API key" in fault for fault in found)

    run = next(evidence.glob("*-normal/run.json"))
    document = json.loads(run.read_bytes())
    document["status"] = "done"
    run.write_text(json.dumps(document))
    broken = left_in(evidence)
    assert any("status" in fault for fault in faults(evidence, broken, None, (), whole=False))


def test_a_program_that_does_nothing_fails(tmp_path: Path) -> None:
    done = called("--cli", "/bin/true", scratch=tmp_path)
    assert done.returncode == 1
    assert "expected  exit 0 or 1, two runs, linked" in done.stdout
    assert "/bin/true bench longmemeval" in done.stdout


def test_a_program_that_is_none_is_said_so(tmp_path: Path) -> None:
    done = called("--cli", "/nothing/here", scratch=tmp_path)
    assert (done.returncode, done.stderr) == (2, "/nothing/here: cannot be run: No such file or directory\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("cli", "command", "ours"),
    [
        (None, (sys.executable, "-m", "aef_verify"), True),
        ("/opt/aef", ("/opt/aef",), True),
        ("/opt/other", ("/opt/other",), False),
        ("bin/other", (os.path.abspath("bin/other"),), False),
        ("other", ("other",), False),
        ("/opt/Other.Cli.dll", ("dotnet", "/opt/Other.Cli.dll"), False),
    ],
)
def test_how_a_program_is_called(cli: str | None, command: tuple[str, ...], ours: bool) -> None:
    assert program_for(cli) == (command, ours)


def called(*words: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TMPDIR": str(scratch)}
    return subprocess.run([sys.executable, SCRIPT, *words], env=env, capture_output=True, text=True, check=False)
