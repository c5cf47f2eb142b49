"""The set-up the scripts share: which Python it takes, and when an environment counts as whole."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def set_up() -> ModuleType:
    """Load scripts/set_up.py."""
    spec = importlib.util.spec_from_file_location("set_up", ROOT / "scripts" / "set_up.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def whole_environment(folder: Path, made_from: str) -> Path:
    """Lay down what a set-up leaves, as far as the check looks."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "made-from").write_text(made_from)
    return folder


def test_stamped_environment_is_whole(set_up: ModuleType, tmp_path: Path) -> None:
    assert set_up.is_whole(whole_environment(tmp_path / "venv", set_up.stamp()), set_up.stamp())


def test_environment_without_stamp_is_not_whole(set_up: ModuleType, tmp_path: Path) -> None:
    environment = whole_environment(tmp_path / "venv", set_up.stamp())
    (environment / "made-from").unlink()
    assert not set_up.is_whole(environment, set_up.stamp())


def test_environment_of_another_lock_file_is_not_whole(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = whole_environment(tmp_path / "venv", set_up.stamp())
    (tmp_path / "requirements-dev.txt").write_text("")
    monkeypatch.setattr(set_up, "LOCK_FILE", tmp_path / "requirements-dev.txt")
    assert not set_up.is_whole(environment, set_up.stamp())


@pytest.mark.parametrize(
    ("edit", "whole"),
    [(("line-length = 120", "line-length = 100"), True), (('version = "', 'version = "9'), False)],
    ids=["linter", "version"],
)
def test_only_what_an_installation_reads_of_the_project_file_counts(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: tuple[str, str], whole: bool
) -> None:
    environment = whole_environment(tmp_path / "venv", set_up.stamp())
    edited = (ROOT / "pyproject.toml").read_text().replace(*edit, 1)
    (tmp_path / "pyproject.toml").write_text(edited)
    monkeypatch.setattr(set_up, "PROJECT_FILE", tmp_path / "pyproject.toml")
    assert set_up.is_whole(environment, set_up.stamp()) is whole


def test_environment_whose_interpreter_is_gone_is_not_whole(set_up: ModuleType, tmp_path: Path) -> None:
    environment = whole_environment(tmp_path / "venv", set_up.stamp())
    (environment / "bin" / "python").unlink()
    (environment / "bin" / "python").symlink_to(tmp_path / "gone")
    assert not set_up.is_whole(environment, set_up.stamp())


def test_a_linked_environment_is_unlinked_not_emptied(set_up: ModuleType, tmp_path: Path) -> None:
    elsewhere = whole_environment(tmp_path / "elsewhere", "")
    (tmp_path / "venv").symlink_to(elsewhere)
    set_up.remove(tmp_path / "venv")
    assert not (tmp_path / "venv").is_symlink()
    assert (elsewhere / "made-from").is_file()


def interpreter(root: Path, path: Path, python: str | None = None) -> tuple[int, str, str]:
    """Source environment.sh in a checkout whose set-up does nothing; returns exit, output, messages."""
    scripts = root / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "environment.sh").write_text((ROOT / "scripts" / "environment.sh").read_text())
    (scripts / "set_up.py").write_text("import os; print(os.environ['CHOSEN'])\n")
    environment = {"PATH": f"{path}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    if python is not None:
        environment["PYTHON"] = python
    told = subprocess.run(
        ["/bin/sh", "-c", 'set -eu; root=$1; . "$root/scripts/environment.sh"', "demo", root],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return told.returncode, told.stdout.strip(), told.stderr


def put(folder: Path, name: str, body: str) -> Path:
    """Write an executable shell script."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f'#!/bin/sh\nexport CHOSEN="$0"\n{body}\n')
    (folder / name).chmod(0o755)
    return folder / name


REAL = f'exec "{sys.executable}" "$@"'
BROKEN = "echo 'not installed' >&2; exit 127"


def test_a_shim_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "shims"
    put(path, "python3.13", BROKEN)
    suitable = put(path, "python3.12", REAL)
    put(path, "python3.11", REAL)
    assert interpreter(tmp_path / "a checkout", path) == (0, str(suitable), "")


def test_the_environment_there_is_taken_first(tmp_path: Path) -> None:
    put(tmp_path / "shims", "python3.13", REAL)
    own = put(tmp_path / "checkout" / ".venv" / "bin", "python", REAL)
    assert interpreter(tmp_path / "checkout", tmp_path / "shims") == (0, str(own), "")


def test_python_in_the_environment_is_taken(tmp_path: Path) -> None:
    put(tmp_path / "checkout" / ".venv" / "bin", "python", REAL)
    chosen = put(tmp_path / "a folder", "my python", REAL)
    assert interpreter(tmp_path / "checkout", tmp_path, python=str(chosen)) == (0, str(chosen), "")


def test_an_unsuitable_python_is_refused_by_name(tmp_path: Path) -> None:
    chosen = put(tmp_path / "old", "python", BROKEN)
    status, _, messages = interpreter(tmp_path / "checkout", tmp_path, python=str(chosen))
    assert status == 2
    assert f"PYTHON={chosen}" in messages
    assert len(messages.splitlines()) == 1


def test_no_python_at_all_is_said(tmp_path: Path) -> None:
    path = tmp_path / "shims"
    for name in ("python3.13", "python3.12", "python3.11", "python3"):
        put(path, name, BROKEN)
    status, _, messages = interpreter(tmp_path / "checkout", path)
    assert status == 2
    assert messages.startswith("No Python 3.11 or newer")
