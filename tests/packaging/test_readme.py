"""README.md: what it tells a stranger to type exists, and its transcripts are what the commands print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aef_verify.cli import main as commands

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "CONTRIBUTING.md")
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
TRANSCRIPTS = [
    transcript for block in BLOCKS for transcript in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_exist(document: str) -> None:
    text = (ROOT / document).read_text()
    named = set(re.findall(r"(?<![\w/.-])((?:scripts|fixtures|docs|tests|\.ci)/[\w./-]*\w)", text))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_exist(document: str) -> None:
    named = set(re.findall(r"(?:^\$ |^    |`|bin/)aef ([a-z-]+)", (ROOT / document).read_text(), re.MULTILINE))
    assert sorted(named - {*commands.commands, "contract"}) == []


@pytest.mark.parametrize(("command", "output"), TRANSCRIPTS, ids=[command for command, _ in TRANSCRIPTS])
def test_transcript(command: str, output: str) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "110",
        "NO_COLOR": "1",
    }
    shown = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert shown.stdout == output


PYTHON = re.findall(r"^```python\n((?:(?!```).*\n)*)```\n(?:\n```\n((?:(?!```).*\n)*)```)?", README, re.MULTILINE)


@pytest.mark.parametrize(("example", "output"), PYTHON)
def test_a_library_example_prints_what_it_says(example: str, output: str, tmp_path: Path) -> None:
    """In the checkout where it says what it prints, elsewhere where it writes."""
    place = ROOT if output else tmp_path
    shown = subprocess.run([sys.executable, "-c", example], cwd=place, capture_output=True, text=True, check=False)
    assert shown.stdout + shown.stderr == output


def test_there_are_examples_of_reading_and_writing() -> None:
    assert sorted(bool(output) for _, output in PYTHON) == [False, True]


def test_there_are_transcripts() -> None:
    assert any(command.startswith("aef verify") for command, _ in TRANSCRIPTS)
