"""The fuzzer itself: it finds a fault, makes it small, keeps it, and says so; without one it finds nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import click
import pytest

from aef_verify.conformance.contract import perform
from aef_verify.strategies import RunFiles
from scripts import fuzz
from scripts.fuzzing import checks, commands
from scripts.fuzzing.cases import NO_POLICY, Case, drawn_cases, given_runs
from scripts.fuzzing.checks import check
from scripts.fuzzing.operations import REFUSED, Fault
from tests.properties.both_paths import both_paths

ROOT = Path(fuzz.__file__).resolve().parent.parent
FILES = RunFiles(
    {f"ext/{name}": b"one\ntwo\nthree\n" for name in "abc"} | {"run.json": b'{"a":[1,{"bad":null}],"c":2}'}
)
CASE = Case("run", FILES, NO_POLICY)


def test_a_case_is_kept_and_read_back(tmp_path: Path) -> None:
    case = Case("run", FILES.replacing({"b": b"\xff\x00"}), b"\xfe", ("one change",))
    path = fuzz.keep(case, "run: Boom in x.py:f | detail", tmp_path / "found")
    assert Case.from_json(path.read_bytes()) == case
    assert json.loads(path.read_bytes())["fault"] == "run: Boom in x.py:f | detail"


def test_a_fault_is_found_made_small_and_seen_once(tmp_path: Path) -> None:
    def broken(call: Sequence[str]) -> object:
        if b'"bad"' in (Path(call[1]) / "run.json").read_bytes() and call[0] == "chain":
            raise KeyError("bad")
        return perform(call)

    with both_paths() as both, patch.object(checks, "perform", broken):
        fuzzer = fuzz.Fuzzer([CASE, CASE], 0, str(tmp_path), both)
        found = fuzzer.step()
        assert fuzzer.step() is None
    assert found is not None
    case, fault = found
    assert fault.kind == "chain: KeyError in ?"
    assert dict(case.files) == {"run.json": b'"bad"'}


def intact(call: Sequence[str]) -> object:
    value = perform(call)
    return {**value, "outcome": "intact"} if call[0] == "run" and isinstance(value, dict) else value


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        (lambda call: {}, "chain: malformed answer"),
        (lambda call: {"problems": [["b", "x"], ["a", "x"]]}, "chain: malformed answer"),
        (lambda call: REFUSED if call[0] == "chain" else perform(call), ""),
        (intact, "run: outcome"),
    ],
)
def test_an_answer_that_is_not_as_the_contract_has_it_is_a_fault(broken: object, kind: str, tmp_path: Path) -> None:
    with both_paths() as both, patch.object(checks, "perform", broken):
        faults = check(CASE, str(tmp_path / "case"), both).faults
    assert any(fault.kind.startswith(kind) for fault in faults) == bool(kind)


def test_paths_that_disagree_are_a_fault(tmp_path: Path) -> None:
    with both_paths() as both:

        def broken(call: Sequence[str]) -> object:
            return {"problems": []} if both.selected == "pure" and call[0] == "chain" else perform(call)

        case = CASE._replace(files=FILES.replacing({"overlays/x": b""}))
        with patch.object(checks, "perform", broken):
            assert [fault.kind for fault in check(case, str(tmp_path / "case"), both).faults] == [
                "chain: paths disagree"
            ]


def printing(text: str) -> click.Command:
    words = click.Argument(["words"], nargs=-1)
    return click.Command(
        "aef",
        callback=lambda words: click.echo(text),
        params=[words],
        context_settings={"ignore_unknown_options": True},
    )


@pytest.mark.parametrize(
    ("printed", "kind"),
    [
        ("aef verify: unexpected failure: KeyError: 'a'; `aef --debug` shows where", "aef verify: KeyError"),
        ("\x08", "aef verify: shows U+0008"),
        ("\u202e", "aef verify: shows U+202E"),
        ("table", "aef verify: prints no JSON"),
    ],
)
def test_what_people_are_shown_is_checked(printed: str, kind: str, tmp_path: Path) -> None:
    with both_paths() as both:
        assert check(CASE, str(tmp_path / "case"), both, shown=True).faults == []
        with patch.object(commands, "main", printing(printed)):
            faults = check(CASE, str(tmp_path / "case"), both, shown=True).faults
    assert kind in {fault.kind for fault in faults}


def test_a_case_that_waits_is_a_fault(tmp_path: Path) -> None:
    def broken(call: Sequence[str]) -> object:
        while True:
            pass

    with both_paths() as both, patch.object(checks, "perform", broken):
        faults = check(CASE, str(tmp_path / "case"), both, seconds=0.05).faults
    assert {type(fault) for fault in faults} == {Fault}
    assert all("TimeoutError" in fault.kind for fault in faults)


def test_drawn_cases_are_the_same_for_a_seed_and_sound() -> None:
    # Hypothesis draws constants of the modules that are loaded, so all are loaded first.
    drawn_cases(3, 20)
    assert drawn_cases(3, 20) == drawn_cases(3, 20)
    drawn = {case.target for case in drawn_cases(3, fuzz.DRAWN)}
    assert drawn == {"run", "envelope", "document", "release", "decision", "stream"}


def test_given_runs_are_those_below_a_folder(tmp_path: Path) -> None:
    FILES.write(tmp_path / "a" / "run")
    FILES.write(tmp_path / "b")
    RunFiles({"x": b""}).write(tmp_path / "none")
    assert [case.files for case in given_runs([str(tmp_path)])] == [FILES, FILES]


def test_a_short_run_of_the_command_finds_nothing(tmp_path: Path) -> None:
    call = [sys.executable, str(ROOT / "scripts" / "fuzz.py"), "--minutes", "0.1", "--keep", str(tmp_path / "found")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 found" in done.stdout


@pytest.mark.parametrize("words", [[], ["--minutes", "0"], ["--minutes", "1", "--run", "/nowhere"]])
def test_a_wrong_call_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refusal:
        fuzz.main(words)
    assert refusal.value.code == 2
    assert capsys.readouterr().err


def test_a_process_that_falls_silent_or_ends_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What Python cannot stop by itself: the case it was at is kept."""
    program = tmp_path / "worker.py"
    body = "import os, sys, pathlib\nplace = sys.argv[sys.argv.index('--place') + 1]\n"
    body += (
        f"pathlib.Path(place, 'current.json').write_bytes({CASE.to_json('did not end')!r})\nos.kill(os.getpid(), 9)\n"
    )
    program.write_text(body)
    with patch.object(fuzz, "__file__", str(program)):
        assert fuzz.main(["--minutes", "0.001", "--keep", str(tmp_path / "found")]) == 1
    (kept,) = (tmp_path / "found").iterdir()
    assert Case.from_json(kept.read_bytes()) == CASE
    assert "the process ended with -9" in capsys.readouterr().out


def test_a_disk_that_is_full_is_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "worker.py"
    program.write_text("import json\nprint(json.dumps({'stopped': 'no space'}), flush=True)\nraise SystemExit(3)\n")
    with patch.object(fuzz, "__file__", str(program)), pytest.raises(SystemExit, match="no space"):
        fuzz.main(["--minutes", "0.01", "--keep", str(tmp_path / "found")])
    assert not (tmp_path / "found").exists()
    assert "FOUND" not in capsys.readouterr().out
