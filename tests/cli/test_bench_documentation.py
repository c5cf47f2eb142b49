"""docs/BENCH.md: every option it names exists, it names every option, and its example is an agent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aef_verify.cli import main
from aef_verify.memory.agents import RETRIEVED
from aef_verify.memory.dataset import bundled
from aef_verify.memory.model import REASONS
from tests.cli.calling import aef

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "BENCH.md").read_text()
OTHERS = {"--require", "--thorough", "--cli", "--help", "--runs"}
"""Options of other commands."""


def options() -> set[str]:
    command = main.commands["bench"]
    context = command.make_context("bench", ["longmemeval", "--subject", "x"])
    found = command.get_command(context, "longmemeval")  # type: ignore[attr-defined]  # it is a group
    return {option for parameter in found.params for option in parameter.opts}


def test_options() -> None:
    named = set(re.findall(r"--[a-z][a-z-]*", TEXT))
    assert options() - named == set()
    assert named - options() - OTHERS == set()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\]\(([^)#:]+)\)", TEXT))))
def test_links(name: str) -> None:
    assert (ROOT / "docs" / name).exists()


def test_numbers_and_reasons() -> None:
    assert f"a bundled workload of {len(bundled().items)} questions" in TEXT
    assert {8: "the eight sessions"}[RETRIEVED] in TEXT
    assert set(re.findall(r"`((?:answer|judge)-[a-z-]+)`", TEXT)) <= {*REASONS}


def test_the_example_is_an_agent(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "mine.py").write_text(example)
    done = aef(
        *("bench", "longmemeval", "--subject", "newest", "--offline", "--agent", "mine:Newest"),
        *("--max-questions", "6", "--threshold", "0"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "6 of 6 questions, 12 calls" in done.stdout
