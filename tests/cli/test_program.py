"""The command line as a whole: what is loaded, help, version, usage errors, failures nobody expected."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import aef_verify
from aef_verify.cli import main
from aef_verify.problems import InputError
from tests import building
from tests.cli.calling import AEF, aef, one_line

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(main.summaries)
PRINTS = "import json, sys; print(json.dumps(sorted(sys.modules)))"


def loaded(*words: str) -> set[str]:
    """Name the modules that are loaded after a command ran."""
    code = f"import sys\nfrom aef_verify.cli import main\nmain({list(words)!r}, standalone_mode=False)\n{PRINTS}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_commands() -> None:
    assert tuple(main.commands) == NAMES
    assert len(main.commands) == len(NAMES)
    assert {"verify", "show", "view", "seal", "keygen", "sign", "explain", "conformance", "contract"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_command_is_in_its_module_and_says_what_the_list_says(name: str) -> None:
    command = main.commands[name]
    module = name.replace("-", "_")
    assert getattr(import_module(f"aef_verify.cli.{module}"), module) is command
    assert command.get_short_help_str(200) == main.summaries[name]


def test_help_loads_no_command() -> None:
    assert not {f"aef_verify.cli.{name}" for name in NAMES} & loaded("--help")
    assert not {"rich", "cryptography", "jsonschema", "jinja2", "aef_verify.run.verify"} & loaded("--help")


def test_rich_is_loaded_only_for_people(tmp_path: Path) -> None:
    run = building.small().seal().write(tmp_path / "run")
    assert not {"rich", "cryptography", "jinja2"} & loaded("verify", run, "--quiet")
    assert not {"rich", "cryptography", "jinja2"} & loaded("verify", run, "--json")
    assert "rich" in loaded("verify", run)


def test_the_package_alone_loads_nothing_of_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import aef_verify; {PRINTS}"], capture_output=True, text=True, check=True
    )
    assert [name for name in json.loads(done.stdout) if name.startswith("aef_verify")] == ["aef_verify"]


def test_every_public_name_is_there() -> None:
    for name in aef_verify.__all__:
        assert getattr(aef_verify, name) is not None
    assert set(aef_verify.__all__) <= set(dir(aef_verify))
    assert sorted(name for names in aef_verify._HOMES.values() for name in names) == sorted(aef_verify.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = aef_verify.nonsense


def test_version() -> None:
    done = aef("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("aef-verify 0")
    assert done.stdout.endswith(", for AEF 1.0\n")


def test_help_and_its_absence() -> None:
    done = aef("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^  (\S+) ", done.stdout.split("Commands:\n")[1], re.MULTILINE) == list(NAMES)
    bare = aef()
    assert (bare.returncode, bare.stdout) == (2, "")
    assert "Commands:" in bare.stderr
    for name in NAMES:
        assert aef(name, "--help").returncode == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["bogus"], "aef: No such command 'bogus'. (see `aef --help`)"),
        (["show"], "aef show: Missing argument 'RUN'. (see `aef show --help`)"),
        (["show", "a", "b"], "aef show: Got unexpected extra argument (b) (see `aef show --help`)"),
        (["keygen", "k"], "aef keygen: Missing option '--identity'. (see `aef keygen --help`)"),
        (["conformance", "run"], "aef conformance run: Missing argument 'CORPUS'. (see `aef conformance run --help`)"),
        (["bog\x1bus"], "aef: No such command 'bog\\u{1B}us'. (see `aef --help`)"),
    ],
)
def test_usage_errors_are_one_line(words: list[str], line: str) -> None:
    done = aef(*words)
    assert done.returncode == 2
    assert one_line(done).replace("\\x1b", "\\u{1B}") == line


def test_the_contract_is_the_contract(tmp_path: Path) -> None:
    words = ["contract", "chain", building.small().write(tmp_path / "run")]
    assert aef(*words).stdout == '{"problems":[]}\n'
    assert aef("--debug", *words).stdout == '{"problems":[]}\n'
    assert aef("--debug", "contract", "bogus").returncode == 2


@click.command()
def failing() -> None:
    raise KeyError("nobody expected this\x1b")


@click.command()
def refusing() -> None:
    raise InputError("not\nthis")


def test_a_failure_nobody_expected_is_1_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(main.commands._loaded, "show", failing)  # type: ignore[attr-defined]  # the lazy mapping's own
    monkeypatch.delenv("AEF_DEBUG", raising=False)
    done = CliRunner().invoke(main, ["show"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        "aef show: unexpected failure: KeyError: 'nobody expected this\\x1b'; `aef --debug` shows where\n"
    )
    try:
        traced = CliRunner().invoke(main, ["--debug", "show"])
    finally:
        os.environ.pop("AEF_DEBUG", None)
    assert traced.exit_code == 1
    assert "Traceback (most recent call last)" in traced.stderr


def test_an_input_error_is_2_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(main.commands._loaded, "show", refusing)  # type: ignore[attr-defined]  # the lazy mapping's own
    done = CliRunner().invoke(main, ["show"])
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "aef show: not this\n")


def test_commands_may_be_added_and_removed() -> None:
    try:
        main.add_command(failing, "extra")
        assert main.commands["extra"] is failing
        assert "extra" in list(main.commands)
    finally:
        del main.commands["extra"]
    assert tuple(main.commands) == NAMES


def test_a_module_beside_the_caller_is_not_loaded_by_workers(tmp_path: Path) -> None:
    for name in "abcd":
        building.small().write(tmp_path / "runs" / name)
    for name in ("json", "aef_verify", "pickle"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('loaded the wrong module')")
    script = str(Path(sys.executable).with_name("aef"))
    if not os.path.exists(script):
        pytest.skip("the command is not installed")
    done = subprocess.run(
        [script, "verify", "runs", "--jobs", "2", "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_command_is_the_module() -> None:
    assert AEF[1:] == ("-m", "aef_verify")


@pytest.mark.parametrize(("words", "code", "said"), [("verify .", 130, "aef"), ("contract run .", 1, "aef contract")])
def test_an_interrupt_while_modules_are_loaded_leaves_no_traceback(words: str, code: int, said: str) -> None:
    script = (
        "import builtins, sys\n"
        "from aef_verify.__main__ import main\n"
        "load = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        "    if name in ('aef_verify.cli', 'aef_verify.conformance.contract'): raise KeyboardInterrupt\n"
        "    return load(name, *rest)\n"
        "builtins.__import__ = interrupted\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script, *words.split()], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"{said}: interrupted\n")
