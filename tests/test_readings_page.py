"""The page of readings has an entry for every reading that the code names, each complete and each once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/READINGS.md").read_text()
ENTRIES = dict(re.findall(r"^### (.+)\n((?:(?!^##).*\n)*)", PAGE, re.MULTILINE))


def mentions() -> list[tuple[str, str]]:
    """Return (file, entry named) of every mention of the page in the package, but for the link to the page itself."""
    found = []
    for file in sorted({*(ROOT / "aef_verify").rglob("*.py")} - {ROOT / "aef_verify/conformance/document.py"}):
        text = re.sub(r"\s+(?:#\s*)?", " ", file.read_text())
        found += [(file.name, name) for name in re.findall(r"docs/READINGS\.md(?:, ([^).;]+))?", text)]
    return found


def test_code_names_readings() -> None:
    assert len(mentions()) >= 3


@pytest.mark.parametrize(("file", "name"), mentions())
def test_a_reading_that_code_names_is_an_entry(file: str, name: str) -> None:
    """By its heading, in any letter case."""
    assert name.lower() in {entry.lower() for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_says_point_reading_why_and_vector(entry: str) -> None:
    parts = [line.partition(":")[0] for line in ENTRIES[entry].splitlines() if re.match(r"(- )?[A-Z][a-z]+:", line)]
    assert parts == ["Point", "- Reading", "- Why", "- Vector"]


def test_no_entry_stands_twice() -> None:
    headings = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
    assert len(headings) == len({heading.lower() for heading in headings}) == len(ENTRIES)
