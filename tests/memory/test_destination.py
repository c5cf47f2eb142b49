"""Where evidence may go [RUN-1]: what is refused before any call, and that the rest is left as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aef_verify.memory.destination import check_destination
from aef_verify.problems import InputError
from tests.cli.calling import read_only, small_disk


def a_file(folder: Path) -> str:
    (folder / "file").write_text("mine")
    return str(folder / "file")


def below_a_file(folder: Path) -> str:
    return a_file(folder) + "/below"


def a_link(folder: Path) -> str:
    (folder / "target").mkdir()
    (folder / "link").symlink_to("target")
    return str(folder / "link")


def a_link_with_a_slash(folder: Path) -> str:
    return a_link(folder) + "//"


def a_link_to_nothing(folder: Path) -> str:
    (folder / "link").symlink_to("nothing")
    return str(folder / "link")


def a_run(folder: Path) -> str:
    (folder / "run").mkdir()
    (folder / "run" / "run.json").write_text("{}")
    return str(folder / "run")


def below_a_run(folder: Path) -> str:
    return a_run(folder) + "/blobs/deep"


def below_a_run_by_a_link(folder: Path) -> str:
    (Path(a_run(folder)) / "blobs").mkdir()
    (folder / "other").symlink_to("run")
    return str(folder / "other" / "blobs")


def a_run_whose_header_is_a_dead_link(folder: Path) -> str:
    (folder / "run").mkdir()
    (folder / "run" / "run.json").symlink_to("nothing")
    return str(folder / "run")


def a_pipe(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return str(folder / "pipe")


def a_name_with_nul(folder: Path) -> str:
    return str(folder / "a\0b")


def no_name(folder: Path) -> str:
    return ""


def a_long_name(folder: Path) -> str:
    return str(folder / ("a" * 300))


@pytest.mark.parametrize(
    "make",
    [
        a_file,
        below_a_file,
        a_link,
        a_link_with_a_slash,
        a_link_to_nothing,
        a_run,
        below_a_run,
        below_a_run_by_a_link,
        a_run_whose_header_is_a_dead_link,
        a_pipe,
        a_name_with_nul,
        no_name,
        a_long_name,
    ],
)
def test_refused(make: Callable[[Path], str], tmp_path: Path) -> None:
    path = make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError):
        check_destination(path)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["", "new"])
def test_a_disk_that_takes_nothing_is_refused(name: str, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        read_only(disk)
        with pytest.raises(InputError, match="nothing can be written"):
            check_destination(str(disk / name))


@pytest.mark.parametrize("name", ["new", "new/deep/", "."])
def test_taken(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "run.json").write_text("{}")
    check_destination(str(tmp_path / name))
    assert (tmp_path / name).is_dir()
    assert list((tmp_path / name).glob(".aef-tmp-*")) == []


def test_a_linked_ancestor_is_fine(tmp_path: Path) -> None:
    a_link(tmp_path)
    check_destination(str(tmp_path / "link" / "evidence"))
    assert (tmp_path / "target" / "evidence").is_dir()
