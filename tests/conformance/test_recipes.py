"""Generated vectors: each step of a recipe, and every way a recipe tries to leave its folders (09 §9.2.1)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aef_verify.conformance.index import Corpus
from aef_verify.conformance.recipes import RecipeError, SkippedError, copy_vector, perform
from tests.conformance.small_corpus import SmallCorpus


@pytest.fixture
def corpus(small: SmallCorpus) -> Corpus:
    small.add("base", "run", {"run/run.json": b"{}", "run/a/b": b"b"}, {})
    small.add("v", "run", {"policy.json": b"{}"}, {})
    return small.load()


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_the_copy_holds_the_vectors_listed_files(corpus: Corpus, scratch: Path) -> None:
    copy_vector(corpus, corpus.vectors[1], str(scratch))
    assert set(content(scratch)) == {"policy.json", "expected.json"}


@pytest.mark.parametrize(
    ("steps", "files"),
    [
        ([{"copy": ["base/run", "run"]}], {"run/run.json": b"{}", "run/a/b": b"b"}),
        ([{"copy": ["base/run/a/b", "c"]}], {"c": b"b"}),
        ([{"copy": ["base/run", "run"]}, {"remove": "run/a"}], {"run/run.json": b"{}"}),
        ([{"copy": ["base/run", "run"]}, {"remove": "run/a/b"}], {"run/run.json": b"{}"}),
        ([{"files": ["f/g", 3]}], {"f/g/0": b"", "f/g/1": b"", "f/g/2": b""}),
        ([{"files": ["f", 2.0]}], {"f/0": b"", "f/1": b""}),
        ([{"write": ["a/b", [["é", 2], ["", 5], ["x", 0], ["y\n", 1]]]}], {"a/b": "ééy\n".encode()}),
        ([{"write": ["a", [["x", 1]]]}, {"write": ["a", [["y", 1]]]}], {"a": b"y"}),
        ([{"write": ["a", [["x", 1]]]}, {"append": ["a", [["y", 2]]]}], {"a": b"xyy"}),
        ([{"append": ["a", [["y", 1]]]}], {"a": b"y"}),
        ([{"write": ["a", [["0123456", 1_000_000]]]}], {"a": b"0123456" * 1_000_000}),
        ([], {}),
    ],
)
def test_each_step(corpus: Corpus, scratch: Path, steps: object, files: dict[str, bytes]) -> None:
    perform(corpus, steps, str(scratch))
    assert content(scratch) == files


def test_no_empty_files_make_an_empty_folder(corpus: Corpus, scratch: Path) -> None:
    perform(corpus, [{"files": ["run/Overlays", 0]}], str(scratch))
    assert (scratch / "run/Overlays").is_dir()


def test_a_name_that_is_not_unicode(corpus: Corpus, scratch: Path) -> None:
    perform(corpus, [{"ill-formed-name": ["run", "n", "o.txt"]}], str(scratch))
    assert os.listdir(os.fsencode(scratch / "run")) == [b"n\xffo.txt"]


def test_a_link_holds_the_relative_path_to_its_target(corpus: Corpus, scratch: Path) -> None:
    perform(corpus, [{"write": ["x/target", []]}, {"link": ["run/a/link", "x/target"]}], str(scratch))
    assert os.readlink(scratch / "run/a/link") == "../../x/target"
    perform(corpus, [{"remove": "run/a/link"}], str(scratch))
    assert (scratch / "x/target").exists()


@pytest.mark.parametrize("path", ["..", "../out", "a/../../out", "/tmp/out", "C:/out", "a\\b", "", "a//b"])
@pytest.mark.parametrize(
    "step",
    [
        {"copy": ["base/run/run.json", "PATH"]},
        {"copy": ["base/run", "PATH"]},
        {"copy": ["PATH", "run"]},
        {"remove": "PATH"},
        {"files": ["PATH", 1]},
        {"write": ["PATH", [["x", 1]]]},
        {"append": ["PATH", [["x", 1]]]},
        {"ill-formed-name": ["PATH", "a", "b"]},
        {"link": ["PATH", "run"]},
        {"link": ["run", "PATH"]},
    ],
)
def test_a_recipe_that_leaves_its_folders_is_refused(
    corpus: Corpus, scratch: Path, step: dict[str, object], path: str
) -> None:
    ((name, arguments),) = step.items()
    there = path if isinstance(arguments, str) else [path if one == "PATH" else one for one in arguments]  # type: ignore[attr-defined]  # a list
    before = sorted(scratch.parent.rglob("*"))
    with pytest.raises(RecipeError, match=rf"generate\[0\]: {name}"):
        perform(corpus, [{name: there}], str(scratch))
    assert sorted(scratch.parent.rglob("*")) == before


@pytest.mark.parametrize("part", ["a/b", "a\\b", "..\\", "\0"])
def test_a_part_of_a_name_is_no_path(corpus: Corpus, scratch: Path, part: str) -> None:
    with pytest.raises(RecipeError, match="a part of the name is none"):
        perform(corpus, [{"ill-formed-name": ["run", part, "x"]}], str(scratch))


@pytest.mark.parametrize(
    "step",
    [
        {"write": ["link/x", [["x", 1]]]},
        {"append": ["link", [["x", 1]]]},
        {"copy": ["base/run", "link/run"]},
        {"remove": "link/x"},
        {"files": ["link", 1]},
        {"ill-formed-name": ["link", "a", "b"]},
        {"link": ["link/x", "run"]},
        {"link": ["other", "link/x"]},
    ],
)
def test_no_step_goes_through_a_link(corpus: Corpus, scratch: Path, step: dict[str, object]) -> None:
    (scratch.parent / "out").mkdir()
    (scratch.parent / "out/x").write_bytes(b"kept")
    (scratch / "link").symlink_to("../out")
    with pytest.raises(RecipeError, match="a link"):
        perform(corpus, [step], str(scratch))
    assert content(scratch.parent / "out") == {"x": b"kept"}


@pytest.mark.parametrize(
    "steps",
    [
        {},
        "copy",
        [1],
        [{}],
        [{"copy": ["base/run", "run"], "remove": "run"}],
        [{"run": ["rm"]}],
        [{"copy": "base/run"}],
        [{"copy": ["base/run", 1]}],
        [{"copy": ["base/run", "run", "more"]}],
        [{"copy": ["none", "run"]}],
        [{"copy": ["index.json", "run"]}],
        [{"remove": "none"}],
        [{"remove": ["a", "b"]}],
        [{"files": ["run"]}],
        [{"files": ["run", -1]}],
        [{"files": ["run", 1.5]}],
        [{"files": ["run", True]}],
        [{"files": ["run", 1_000_001]}],
        [{"write": ["run"]}],
        [{"write": ["run", "text"]}],
        [{"write": ["run", [["x"]]]}],
        [{"write": ["run", [["x", "1"]]]}],
        [{"write": ["run", [["x", 1 << 33], ["x", 1]]]}],
        [{"write": ["run", [["x", 1e308]]]}],
        [{"link": ["run"]}],
        [{"write": ["a", [["x", 1]]]}, {"write": ["a/b", [["x", 1]]]}],
        [{"write": ["a", [["x", 1]]]}, {"link": ["a", "b"]}],
    ],
)
def test_what_is_no_recipe_is_refused(corpus: Corpus, scratch: Path, steps: object) -> None:
    with pytest.raises(RecipeError, match="generate"):
        perform(corpus, steps, str(scratch))


def test_what_is_copied_is_checked(small: SmallCorpus, corpus: Corpus, scratch: Path) -> None:
    (small.root / "base/run/extra").write_bytes(b"")
    with pytest.raises(RecipeError, match="base/run/extra: not listed"):
        perform(corpus, [{"copy": ["base/run", "run"]}], str(scratch))
    (small.root / "base/run/extra").unlink()
    (small.root / "base/run/a/b").write_bytes(b"other")
    with pytest.raises(RecipeError, match="base/run/a/b: altered"):
        perform(corpus, [{"copy": ["base/run", "run"]}], str(scratch))
    (small.root / "base/run/a/b").unlink()
    with pytest.raises(RecipeError, match="base/run/a/b: missing"):
        perform(corpus, [{"copy": ["base/run/a", "run"]}], str(scratch))


def test_what_the_platform_cannot_do_is_skipped(corpus: Corpus, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(*arguments: object, **options: object) -> None:
        raise OSError(84, "Invalid or incomplete multibyte or wide character")

    monkeypatch.setattr(os, "symlink", cannot)
    with pytest.raises(SkippedError, match="symbolic links"):
        perform(corpus, [{"link": ["a", "b"]}], str(scratch))
    (scratch / "run").mkdir()
    monkeypatch.setattr(os, "open", cannot)
    with pytest.raises(SkippedError, match="not Unicode"):
        perform(corpus, [{"ill-formed-name": ["run", "n", "o.txt"]}], str(scratch))
