"""The repository: its files speak of the project alone, and the scripts can be run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Each pattern has a class of one letter, so that this file passes its own test.
PLACES = re.compile("/[w]ork/|/[r]oot/|/[h]ome/|/[U]sers/|[p]ypi[.]org|[p]ythonhosted")
SCRIPTS = ("scripts/demo", "scripts/test", "scripts/lock", ".ci/run")


def tracked() -> list[Path]:
    """List the files that git holds."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split(b"\0") if name and (path := ROOT / os.fsdecode(name)).is_file()]


def test_no_file_names_a_place_on_a_machine() -> None:
    named = []
    for path in tracked():
        if PLACES.search(os.fspath(path.relative_to(ROOT))) or PLACES.search(path.read_text("utf-8", "replace")):
            named.append(path.relative_to(ROOT).as_posix())
    assert named == []


def test_no_file_of_a_tool_is_tracked() -> None:
    stray = re.compile(r"(^|/)(__pycache__|\.venv|\.\w+_cache|dist|build|\.DS_Store)(/|$)|\.(pyc|swp|orig|rej)$")
    assert [path for path in tracked() if stray.search(path.relative_to(ROOT).as_posix())] == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_can_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    assert (ROOT / script).read_text().startswith("#!")
