"""Finding runs: by `run.json` whatever it is, no link followed, nothing passed over in silence [RUN-1], [RUN-3]."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aef_verify.engine.discover import discover
from aef_verify.problems import InputError
from aef_verify.report.model import NotLookedAt
from aef_verify.run.folders import one_run


def make(root: Path, *runs: str) -> str:
    for run in runs:
        (root / run).mkdir(parents=True, exist_ok=True)
        (root / run / "run.json").write_text("{}")
    return str(root)


def found(*paths: Path | str) -> list[str]:
    return list(discover([str(path) for path in paths]).runs)


def test_a_path_may_be_a_run_itself(tmp_path: Path) -> None:
    make(tmp_path, "r")
    assert found(tmp_path / "r") == [f"{tmp_path}/r"]
    assert found(f"{tmp_path}/r//") == [f"{tmp_path}/r"]


def test_runs_come_in_the_order_of_their_path_bytes(tmp_path: Path) -> None:
    root = make(tmp_path, "b", "a/z", "a-b", "a.b", "Z", "é")
    assert found(root) == [f"{root}/{name}" for name in ("Z", "a-b", "a.b", "a/z", "b", "é")]


def test_paths_keep_their_order(tmp_path: Path) -> None:
    make(tmp_path, "b/2", "b/1", "a/3")
    assert found(tmp_path / "b", tmp_path / "a") == [f"{tmp_path}/{name}" for name in ("b/1", "b/2", "a/3")]


def test_nothing_below_a_run_is_another_run(tmp_path: Path) -> None:
    root = make(tmp_path, "r", "r/ext/copy")
    assert found(root) == [f"{root}/r"]


def test_a_run_within_another_one_that_is_named_too_is_listed(tmp_path: Path) -> None:
    make(tmp_path, "r", "r/ext/copy")
    both = discover([f"{tmp_path}/r/ext/copy", f"{tmp_path}/r"])
    assert both.runs == (f"{tmp_path}/r",)
    assert both.not_looked_at == (NotLookedAt(f"{tmp_path}/r/ext/copy", "within-a-run"),)


def test_a_run_reached_twice_comes_once_where_it_was_reached_first(tmp_path: Path) -> None:
    root = make(tmp_path, "a", "b")
    assert found(f"{root}/b", root, f"{root}/./a") == [f"{root}/b", f"{root}/a"]


def link(path: Path) -> None:
    path.symlink_to("nowhere")


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("odd", [link, folder, os.mkfifo])
def test_an_odd_run_json_makes_a_run_all_the_same(tmp_path: Path, odd: Callable[[Path], None]) -> None:
    (tmp_path / "r").mkdir()
    odd(tmp_path / "r" / "run.json")
    assert found(tmp_path) == [f"{tmp_path}/r"]


def test_links_are_listed_and_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "r", "elsewhere/x")
    (tmp_path / "in").mkdir()
    make(tmp_path / "in", "y")
    (tmp_path / "in" / "to-folder").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "dangling").symlink_to("gone")
    got = discover([f"{tmp_path}/in"])
    assert got.runs == (f"{tmp_path}/in/y",)
    assert got.not_looked_at == tuple(
        NotLookedAt(f"{tmp_path}/in/{name}", "link") for name in ("dangling", "loop", "to-folder")
    )


def test_links_within_a_run_are_the_runs(tmp_path: Path) -> None:
    make(tmp_path, "r")
    (tmp_path / "r" / "link").symlink_to("run.json")
    assert discover([str(tmp_path)]).not_looked_at == ()


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Callable[[int], str]]:
    """Make folders so deep that neither recursion nor, perhaps, a path reaches the run at the bottom."""

    def dig(levels: int) -> str:
        path = str(tmp_path)
        at = os.open(path, os.O_RDONLY)
        for _ in range(levels):
            os.mkdir("d", dir_fd=at)
            below = os.open("d", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at, path = below, f"{path}/d"
        os.close(os.open("run.json", os.O_CREAT, dir_fd=at))
        os.close(at)
        return path

    yield dig
    subprocess.run(["rm", "-rf", f"{tmp_path}/d"], check=True)


def test_a_very_deep_tree_is_searched(tmp_path: Path, deep: Callable[[int], str]) -> None:
    path = deep(1100)
    assert found(tmp_path) == [path]


def test_a_folder_that_no_path_reaches_is_an_error(tmp_path: Path, deep: Callable[[int], str]) -> None:
    deep(2100)
    with pytest.raises(InputError, match="cannot be searched: File name too long"):
        discover([str(tmp_path)])


def pipe(path: Path) -> None:
    os.mkfifo(path)


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def file(path: Path) -> None:
    path.write_text("")


def linked_run(path: Path) -> None:
    make(path.parent, "real")
    path.symlink_to("real")


def circle(path: Path) -> None:
    path.symlink_to(path.name)


ODD_PATHS = [
    (pipe, "a pipe, where a folder is needed"),
    (bound_socket, "a socket, where a folder is needed"),
    (file, "a file, where a folder is needed: a run is the folder that holds run.json"),
    (linked_run, "a link, and links are not followed; name what it leads to"),
    (circle, "a link, and links are not followed; name what it leads to"),
    (folder, "no run is here; a run is a folder that holds run.json"),
    (lambda path: None, "No such file or directory"),
]


@pytest.mark.parametrize(("prepare", "said"), ODD_PATHS)
@pytest.mark.parametrize("end", ["", "/"])
def test_a_path_that_is_no_folder_with_a_run(
    tmp_path: Path, prepare: Callable[[Path], None], said: str, end: str
) -> None:
    prepare(tmp_path / "p")
    with pytest.raises(InputError) as caught:
        discover([f"{tmp_path}/p{end}"])
    assert str(caught.value) == f"{tmp_path}/p{end}: {said}"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/dev/null", "/dev/null: a device, where a folder is needed"),
        ("", ": No such file or directory"),
        ("nul\0", "nul\0: it holds a NUL character"),
        ("bad\udcff", "bad\udcff: its name is not UTF-8, so no report could name it; rename it"),
        ("x" * 300, "x" * 300 + ": File name too long"),
    ],
)
def test_other_odd_paths(path: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        discover([path])
    assert str(caught.value) == said


def test_no_path_at_all() -> None:
    with pytest.raises(InputError, match="name at least one folder"):
        discover([])


def test_one_path_without_a_run_fails_all(tmp_path: Path) -> None:
    make(tmp_path, "a")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: no run is here"):
        discover([f"{tmp_path}/a", f"{tmp_path}/empty"])


def test_a_run_below_a_name_that_is_not_utf_8_is_found(tmp_path: Path) -> None:
    os.makedirs(os.fsencode(tmp_path) + b"/n\xff/r")
    with open(os.fsencode(tmp_path) + b"/n\xff/r/run.json", "w"):
        pass
    assert found(tmp_path) == [f"{tmp_path}/n\udcff/r"]


def test_one_run_is_the_path_itself(tmp_path: Path) -> None:
    make(tmp_path, "a")
    assert one_run(f"{tmp_path}/a/") == f"{tmp_path}/a"
    with pytest.raises(InputError, match="not a run"):
        one_run(str(tmp_path))


@given(st.text())
def test_no_path_whatever_does_anything_but_raise_an_input_error(path: str) -> None:
    with pytest.raises(InputError):
        discover([f"/nowhere-at-all/{path}"])
