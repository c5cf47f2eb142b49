"""What docs/TESTING.md shows works as shown: the example against the project's own command, the rest as it stands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import aef_verify.strategies as public

PAGE = Path(__file__).resolve().parents[2] / "docs" / "TESTING.md"
EXAMPLE, *SHORT = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


FEW = {"max_examples=20": "max_examples=6, phases=[Phase.generate]", "import given,": "import Phase, given,"}
"""Fewer examples than the page has, none of them shrunk: each costs a process."""


def example(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the page's example against a program."""
    text = EXAMPLE
    for shown, few in FEW.items():
        assert shown in text
        text = text.replace(shown, few)
    (folder / "test_my_verifier.py").write_text(text, encoding="utf-8")
    call = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
        str(folder),
        *words,
    ]
    environment = {**os.environ, "AEF_PROGRAM": program, "CI": "1"}
    return subprocess.run(call, capture_output=True, text=True, check=False, cwd=folder, env=environment)


def test_the_example_passes_for_this_project_s_own_command(tmp_path: Path) -> None:
    done = example(tmp_path, f"{shlex.quote(sys.executable)} -m aef_verify contract")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_the_example_fails_for_a_program_that_finds_everything_intact(tmp_path: Path) -> None:
    """Else it would test nothing."""
    program = tmp_path / "program.py"
    program.write_text('print(\'{"outcome": "intact", "problems": []}\')\n')
    done = example(tmp_path, shlex.join([sys.executable, "-I", "-S", str(program)]), "-k", "changed_byte or agrees")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed" in done.stdout


def test_the_short_pieces_run_as_they_stand() -> None:
    names: dict[str, object] = {}
    for piece in SHORT:
        exec(piece, names)
    assert len(SHORT) == 2


def test_every_strategy_that_is_named_is_public() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| Strategy |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`([a-z_]+)(?:\(|`)", row.split("|")[1])}
    assert named <= set(public.__all__)
    assert {"runs", "mutations", "hostile_folders", "pairs"} <= named
