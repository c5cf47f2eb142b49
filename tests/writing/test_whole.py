"""Files that are written whole or not at all, and never over another one [RUN-4]."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from aef_verify.problems import InputError
from aef_verify.writing.whole import write_new


def test_a_new_file_is_all_that_there_is(tmp_path: Path) -> None:
    write_new(str(tmp_path / "seal.json"), b"{}")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"seal.json": b"{}"}


def test_a_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "seal.json").write_bytes(b"first")
    with pytest.raises(InputError, match="is there already, and is not overwritten"):
        write_new(str(tmp_path / "seal.json"), b"second")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"seal.json": b"first"}


def test_nor_where_the_disk_gives_no_second_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*names: str) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refused)
    write_new(str(tmp_path / "a"), b"first")
    with pytest.raises(InputError, match="is there already"):
        write_new(str(tmp_path / "a"), b"second")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"first"}
