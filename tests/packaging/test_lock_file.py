"""The lock file: every package pinned and hashed, no place named, enough for the project."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "requirements-dev.txt").read_text()
ENTRIES = re.findall(r"^(?![ #])(\S+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", TEXT, re.MULTILINE)
PINNED = {canonicalize_name(name): version for name, version, _ in ENTRIES}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def needed() -> list[Requirement]:
    """Say what the lock file must hold: what the project, its build and its development need."""
    tools = [line for line in (ROOT / "requirements-dev.in").read_text().splitlines() if not line.startswith("#")]
    extras = PROJECT["project"]["optional-dependencies"]
    own = [
        *PROJECT["project"]["dependencies"],
        *extras["testing"],
        *extras["bench"],
        *PROJECT["build-system"]["requires"],
    ]
    return [Requirement(line) for line in [*own, *tools]]


def test_every_line_is_a_pin_with_hashes_or_a_comment() -> None:
    rest = TEXT
    for name, version, hashes in ENTRIES:
        rest = rest.replace(f"{name}=={version} \\\n{hashes}", "")
    assert [line for line in rest.splitlines() if not line.lstrip().startswith("#")] == []


def test_no_place_is_named() -> None:
    assert not re.search(r"https?:|file:|--(?:extra-)?index-url|--find-links|--trusted-host| @ ", TEXT)


@pytest.mark.parametrize("requirement", needed(), ids=str)
def test_pins_satisfy_the_project(requirement: Requirement) -> None:
    assert requirement.specifier.contains(PINNED[canonicalize_name(requirement.name)])


def test_environment_is_consistent() -> None:
    checked = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
