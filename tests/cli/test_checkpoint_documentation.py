"""docs/CHECKPOINTS.md: its codes, outcomes and options are those that there are, and its commands can be called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aef_verify.checkpoint.decision import APPROVALS
from aef_verify.cli import main
from aef_verify.codes import CODES, DECISION
from aef_verify.codes.checkpoint import OUTCOMES, PROBLEMS

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "CHECKPOINTS.md").read_text()
SECTIONS = dict(part.split("\n", 1) for part in TEXT.split("\n## ")[1:])


def first_cells(section: str) -> list[str]:
    """Return the words in backquotes that begin the rows of a section's tables, and those of plain text."""
    return [cell.strip("`") for cell in re.findall(r"^\| ([^|]+?) \|", SECTIONS[section], re.MULTILINE)]


def test_every_problem_has_its_row() -> None:
    assert sorted(first_cells("Problems")[1:]) == sorted(code for _, code, *_ in PROBLEMS)


def test_every_outcome_has_its_row_and_exit_code() -> None:
    rows = dict(re.findall(r"^\| `?([a-z_]+)`? \|.*\| ([01]) \|$", SECTIONS["Outcomes"], re.MULTILINE))
    assert rows == {code: str(int(code not in APPROVALS)) for _, code, *_ in OUTCOMES}


def options_of(*names: str) -> set[str]:
    """Return the long options of some commands."""
    found = (option for name in names for parameter in main.commands[name].params for option in parameter.opts)
    return {option for option in found if option.startswith("--")}


@pytest.mark.parametrize(("name", "section"), [("checkpoint", "Check one"), ("decide", "Decide one")])
def test_every_option_is_described(name: str, section: str) -> None:
    assert {option for option in options_of(name) if option not in SECTIONS[section]} == set()


def test_every_option_named_exists() -> None:
    assert set(re.findall(r"--[a-z][a-z-]*", TEXT)) <= options_of("checkpoint", "decide", "sign")


def test_what_is_explained_can_be_explained() -> None:
    assert {(DECISION, word) for word in re.findall(r"`aef explain ([a-z-]+)`", TEXT)} <= set(CODES)
