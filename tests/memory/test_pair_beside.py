"""docs/MEMORY_PAIR.md §3: the oracles beside a run that name it as unsealed."""

from __future__ import annotations

from pathlib import Path

import pytest

from aef_verify.memory import pair_beside
from aef_verify.memory.pair_beside import unsealed_links_to
from tests import building
from tests.memory.pairing import SUMMARY, Drafts


def test_an_unsealed_oracle_of_the_pair_and_nothing_else(tmp_path: Path) -> None:
    normal, oracle = Drafts(sealed=False).finished()
    place = normal.write(tmp_path / "normal")
    for name in ("a", "b"):
        oracle.write(tmp_path / name)
    normal.write(tmp_path / "another normal")
    Drafts(sealed=False, pair_id="pair-2").finished()[1].write(tmp_path / "another pair")
    Drafts().finished()[1].write(tmp_path / "sealed")
    oracle.replacing({SUMMARY: b"{"}).write(tmp_path / "does not read")
    building.small().write(tmp_path / "no arm")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("a")
    assert unsealed_links_to(place, "pair-1") == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert unsealed_links_to(place + "/", "pair-1") == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert unsealed_links_to(place, "pair-2") == [str(tmp_path / "another pair")]
    assert unsealed_links_to(place, "pair-3") == []


def test_it_is_a_courtesy_with_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_beside, "MOST", 2)
    for name in ("a", "b", "c"):
        Drafts(sealed=False).finished()[1].write(tmp_path / name)
    assert unsealed_links_to(str(tmp_path / "b"), "pair-1") == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert unsealed_links_to(str(tmp_path / "gone" / "run"), "pair-1") == []
