"""docs/CLI.md: every command and option it names exists, and it names every option of the commands it describes."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from aef_verify.cli import exits, main
from aef_verify.report.json import VALUE_CHARACTERS
from aef_verify.report.text import PROBLEMS, RUNS

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "CLI.md").read_text()
SECTIONS = dict(part.split("\n", 1) for part in TEXT.split("\n## ")[1:])
DESCRIBED = (
    *("verify", "show", "view", "pair", "compare-suites", "checkpoint", "decide", "stream", "job"),
    *("seal", "keygen", "sign", "explain"),
)


def options_of(name: str) -> set[str]:
    """Return the long options of a command."""
    found = (option for parameter in main.commands[name].params for option in parameter.opts)
    return {option for option in found if option.startswith("--")}


@pytest.mark.parametrize("name", DESCRIBED)
def test_every_option_is_in_the_section_of_its_command(name: str) -> None:
    (body,) = (body for title, body in SECTIONS.items() if re.search(rf"\baef {name}\b", title))
    assert {option for option in options_of(name) if option not in body} == set()


def test_every_option_named_exists() -> None:
    known = {option for name in DESCRIBED for option in options_of(name)} | {"--debug", "--help", "--command"}
    assert set(re.findall(r"--[a-z][a-z-]*", TEXT)) <= known


def test_every_command_named_exists() -> None:
    assert set(re.findall(r"\baef ([a-z][a-z-]*)", TEXT)) <= set(main.commands)


def test_numbers_are_the_codes() -> None:
    assert f"At most {PROBLEMS} problems of a run and {RUNS} runs" in TEXT
    assert f"more than {VALUE_CHARACTERS} characters" in TEXT
    codes = {exits.OK, exits.PROBLEM, exits.INPUT, exits.WRITE}
    assert {int(code) for code in re.findall(r"^\| ([0-9]) \|", TEXT, re.MULTILINE)} == codes


def test_short_options_are_named() -> None:
    assert isinstance(main.commands["sign"], click.Command)
    assert "[-o FILE | --out FILE]" in TEXT
