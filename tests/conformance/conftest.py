"""Fixtures: an empty small corpus, and a program that answers as a test says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.small_corpus import FakeProgram, SmallCorpus


@pytest.fixture
def small(tmp_path: Path) -> SmallCorpus:
    return SmallCorpus(tmp_path / "corpus")


@pytest.fixture
def fake(tmp_path: Path) -> FakeProgram:
    return FakeProgram(tmp_path / "fake")
