"""[RUN-3] Paths of a run: characters, dots, length, names that Windows reserves, case clashes, `overlays`."""

from __future__ import annotations

import pytest

from aef_verify.encoding.paths import name_fault, path_problems


def found(*names: str) -> list[str]:
    problems = path_problems(names)
    assert all(problem.code == "path" and problem.detail for problem in problems)
    return [problem.path for problem in problems]


@pytest.mark.parametrize(
    "path",
    [
        "run.json",
        "a",
        "A-Z_0.9",
        "-",
        "_",
        "-a/-b_",
        "a..b",
        "a/b/c/d/e/f",
        "blobs/sha256/ab/" + "a" * 64,
        "a" * 255,
        "a" * 127 + "/" + "b" * 127,
        "console",
        "com",
        "com0",
        "com10",
        "lpt",
        "xcon",
        "con-1",
        "con_",
        "a.con",
        "a/b.aux",
    ],
)
def test_a_path(path: str) -> None:
    assert found(path) == []
    assert name_fault(path) == ""


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "../a",
        "a/../b",
        "./a",
        ".DS_Store",
        "ext/.hidden",
        ".hidden/x",
        "a.",
        "a./b",
        "ext/a.",
        "/a",
        "a/",
        "a//b",
        "a b",
        "a\\b",
        "a:b",
        "C:",
        "a\n",
        "a\0b",
        "a*",
        "a%20b",
        "é",
        "e\u0301",
        "ａ",
        "Ⅰ",
        "a\u200b",
        "a\ufffd",
        "~a",
        "a,b",
        "a+b",
        "a@b",
        "a" * 256,
        "a/" * 127 + "bb",
        "é" * 128,
    ],
)
def test_no_path(path: str) -> None:
    assert found(path) == [path]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a" * 256, "longer than 255 bytes"),
        ("é" * 128, "longer than 255 bytes"),
        ("é" * 127, "a character outside"),
        ("con", "Windows reserves"),
        (".a", "starts or ends with a dot"),
        ("a.", "starts or ends with a dot"),
        ("a//b", "a segment is empty"),
        ("a b", "a character outside"),
    ],
)
def test_what_is_wrong_with_a_path_is_said(path: str, said: str) -> None:
    assert said in name_fault(path)


@pytest.mark.parametrize(
    "name",
    ["con", "PRN", "Aux", "nul", *(f"{port}{digit}" for port in ("com", "LPT") for digit in "123456789")],
)
def test_a_name_that_windows_reserves(name: str) -> None:
    """Tested on what precedes the first dot, case ignored, in every segment."""
    bad = [name, f"{name}.txt", f"{name}.tar.gz", f"ext/{name}", f"{name}/x", f"ext/{name.upper()}.x/y"]
    assert sorted(set(found(*bad))) == sorted({*bad})
    assert found(f"x{name}", f"{name}x", f"x.{name}", f"{name}-1") == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["ext/a", "ext/b"], []),
        (["ext/a", "ext/A"], ["ext/a"]),
        (["Run.json", "run.json"], ["run.json"]),
        (["ext/ab", "ext/aB", "ext/Ab", "ext/AB"], ["ext/Ab", "ext/aB", "ext/ab"]),
        (["ext/Data/x", "ext/data/y"], ["ext/data/y"]),
        (["ext/Data/x", "ext/data/x"], ["ext/data/x"]),
        (["ext/Data/x", "ext/data/y", "ext/data/z"], ["ext/data/y", "ext/data/z"]),
        (["ext/DATA/x", "ext/Data/y", "ext/data/z"], ["ext/Data/y", "ext/data/z"]),
        (["a/B/c", "A/b/c"], ["a/B/c"]),
        (["A/x", "a/y", "A/z"], ["a/y"]),
        (["a/b/C/d", "a/b/c/d"], ["a/b/c/d"]),
        (["ext/A", "ext/a/x"], ["ext/a/x"]),
        (["ext/A/x", "ext/a"], ["ext/a"]),
        (["ext/A/x", "ext/a-b", "ext/a.b"], []),
        (["ext/a", "ext/a/b"], []),
        (["x/y", "x/y", "x/Y"], ["x/y"]),
    ],
)
def test_no_two_paths_or_folders_differ_only_in_case(names: list[str], expected: list[str]) -> None:
    """The later in byte order is reported, and each file under the later folder; a folder's own path takes part."""
    assert found(*names) == expected
    assert found(*reversed(names)) == expected


def test_a_clash_and_a_bad_name_are_one_problem_a_path() -> None:
    assert found("ext/A.", "ext/a.") == ["ext/A.", "ext/a."]
    assert found("k", "\u212a", "ext/É", "ext/é") == ["ext/É", "ext/é", "\u212a"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["overlays/events.ndjson", "overlays/.x", "overlays/a b", "overlays/A/x", "overlays/a/y"], []),
        (["overlays"], ["overlays"]),
        (["Overlays"], ["Overlays"]),
        (["Overlays/x"], ["Overlays/x"]),
        (["OVERLAYS/x", "overlays/x"], ["OVERLAYS/x"]),
        (["oVERLAYS/a/b", "oVERLAYS/c"], ["oVERLAYS/a/b", "oVERLAYS/c"]),
        (["ext/overlays", "ext/Overlays/x", "overlays2/x", "overlays.x", "a/overlays/x"], ["ext/overlays"]),
    ],
)
def test_overlays_is_a_folder_in_lower_case_and_what_it_holds_is_exempt(names: list[str], expected: list[str]) -> None:
    """As in a run, so for a list of names (a reading: below `overlays/` exempt, the other two are `path`)."""
    assert found(*names) == expected


def test_a_name_that_is_no_unicode_is_one_problem_and_no_crash() -> None:
    assert found("a\udcff", "a\ud800/b") == ["a\ud800/b", "a\udcff"]


def test_problems_come_in_byte_order_each_once() -> None:
    assert found("z.", "é", "a.", "Z.", "a.", "b/.c") == ["Z.", "a.", "b/.c", "z.", "é"]
    assert found() == []
