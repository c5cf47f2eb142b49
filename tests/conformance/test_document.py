"""CONFORMANCE.md: written from a run in which every vector passed, and only then [CONF-4]."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aef_verify.cli import main
from aef_verify.cli.program import implementation
from aef_verify.conformance.document import READINGS, SOURCES, IncompleteError, claim_document, first_difference
from aef_verify.conformance.report import Report
from aef_verify.conformance.runner import PASSED, SKIPPED, Verdict
from tests.conformance.small_corpus import SmallCorpus

ROOT = Path(__file__).resolve().parents[2]
PATHS = [{"name": "a", "paths": [".x"], "problems": [[".x", "path"]]}]
TWO = "# Readings\n\n### One\n\n### Other\n"


@pytest.fixture
def two(small: SmallCorpus) -> SmallCorpus:
    small.add_file("a.json", "paths", PATHS, classes=["Producer", "Reader"])
    small.add_file("b.json", "paths", PATHS, classes=["Reader"])
    small.load()
    return small


def report(small: SmallCorpus, outcomes: Sequence[str]) -> Report:
    corpus = small.load()
    verdicts = tuple(map(Verdict, corpus.vectors, outcomes))
    return Report(corpus, "aef-verify 9.9", verdicts)


def test_it_says_what_conforms_to_what_and_by_which_vectors(two: SmallCorpus) -> None:
    text = claim_document(report(two, [PASSED, PASSED]), TWO)
    version = two.load().version
    assert "| Implementation | aef-verify 9.9 |\n| Format | AEF 1.0 |\n" in text
    assert f"`sha256:{version}`" in text
    assert "| Class | Vectors |\n|---|---|\n| Producer | 1 |\n| Reader | 2 |\n" in text
    assert "| `paths` | 2 |\n" in text
    claim = "aef-verify 9.9 conforms to AEF 1.0 as Producer and Reader: it passes every vector of these classes"
    assert f"\n> {claim} in the conformance corpus sha256:{version}.\n" in text
    assert "- 2 readings of points" in text
    assert all(f"| `{file}` | `{commit}` |" in text for file, commit, _ in SOURCES)


@pytest.mark.parametrize("outcomes", [[PASSED, SKIPPED], [PASSED, "failed"], [PASSED]])
def test_a_pass_that_is_not_full_gives_none(two: SmallCorpus, outcomes: list[str]) -> None:
    with pytest.raises(IncompleteError, match="1 of 2 vectors passed"):
        claim_document(report(two, outcomes), TWO)


def test_chapters_and_their_commits() -> None:
    assert [file[:2] for file, _, _ in SOURCES] == [f"{number:02}" for number in range(1, 10)]
    assert all(re.fullmatch("[0-9a-f]{40}", commit) for _, commit, _ in SOURCES)


def test_the_first_difference() -> None:
    assert first_difference("a\nb\n", "a\nb\n") == ""
    assert first_difference("a\nc\n", "a\nb\n") == "line 2 is 'c', and 'b' is due"
    assert first_difference("a\n", "a\nb\n") == "line 2 is '', and 'b' is due"
    assert first_difference("a", "a\n") == "it has 0 lines, and 1 are due"


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["conformance", "run", *map(str, words), "--jobs", "1"])


def test_it_is_written_and_compared_by_the_command(two: SmallCorpus, tmp_path: Path) -> None:
    page = tmp_path / "CONFORMANCE.md"
    done = run(two.root, "--document", page)
    assert (done.exit_code, done.stderr) == (0, "")
    written = page.read_text()
    assert written.startswith("# What aef-verify conforms to\n")
    readings = len(re.findall("^### ", (ROOT / READINGS).read_text(), re.MULTILINE))
    assert f"- {readings} readings of points" in written
    assert run(two.root, "--document", page, "--check").exit_code == 0
    page.write_text(written.replace("Reader", "Writer", 1))
    done = run(two.root, "--document", page, "--check")
    assert done.exit_code == 1
    assert "CONFORMANCE.md: not as this run claims it: line " in done.stderr
    assert "Writer" in page.read_text()


def test_it_is_not_written_from_a_part_of_the_corpus(two: SmallCorpus, tmp_path: Path) -> None:
    page = tmp_path / "CONFORMANCE.md"
    done = run(two.root, "--document", page, "--id", "a.json")
    assert done.exit_code == 1
    assert "not written: 1 of 2 vectors passed" in done.stderr
    assert not page.exists()


def test_calls_that_are_refused(two: SmallCorpus, tmp_path: Path) -> None:
    page = tmp_path / "CONFORMANCE.md"
    assert run(two.root, "--check").exit_code == 2
    assert run(two.root, "--document", page, "--command", "true").exit_code == 2
    assert run(two.root, "--document", page, "--check").exit_code == 2
    assert run(two.root, "--document", tmp_path / "none" / "x.md").exit_code == 3


def test_the_page_that_stands_here_is_of_this_version() -> None:
    """As a whole it is compared by CI, with a corpus."""
    page = (ROOT / "CONFORMANCE.md").read_text()
    assert f"| Implementation | {implementation()} |\n" in page
