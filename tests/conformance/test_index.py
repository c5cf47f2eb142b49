"""The index of a corpus: [CONF-1] its version, [CONF-3] the digest of every file, 09 §9.1 the selection."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from aef_verify.conformance.index import CorpusError, check, listed_file, load, located, safe, select
from aef_verify.problems import InputError
from tests.conformance.small_corpus import SmallCorpus, sha256


def test_the_version_is_the_sha256_of_the_index_itself(small: SmallCorpus) -> None:
    small.add("v", "run", {"run/run.json": b"{}"}, {})
    corpus = small.load()
    assert corpus.version == sha256((small.root / "index.json").read_bytes())
    assert corpus.aef == "1.0"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not read"),
        ("[]", "does not read"),
        ("{}", "no list of vectors"),
        ('{"vectors": 1}', "no list of vectors"),
        ('{"vectors": [1]}', r"vectors\[0\] is no object"),
        ('{"vectors": [], "vectors": []}', "does not read"),
        ("[" * 100 + "]" * 100, "nested too deep"),
        ('{"vectors": [{"id": "a"}]}', "files"),
    ],
)
def test_what_is_no_index_is_an_input_error(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(InputError, match=said):
        load(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", ""),
        ("id", 1),
        ("kind", None),
        ("classes", "Reader"),
        ("classes", [1]),
        ("rules", None),
        ("path", 3),
        ("files", {}),
        ("files", {"a": "0" * 63}),
        ("files", {"a": "A" * 64}),
        ("level", "best"),
        ("algorithm", 1),
    ],
)
def test_a_member_of_another_type_is_an_input_error(small: SmallCorpus, name: str, value: object) -> None:
    small.add("v", "run", {"run/run.json": b"{}"}, {})
    small.items[0][name] = value
    with pytest.raises(InputError, match=r"vectors\[0\]"):
        small.load()


def test_one_id_twice_and_one_file_with_two_digests_are_input_errors(small: SmallCorpus) -> None:
    small.add("v", "run", {"a": b""}, {})
    small.items.append(dict(small.items[0]))
    with pytest.raises(InputError, match="twice"):
        small.load()
    small.items[1] |= {"id": "w", "files": {"a": "0" * 64}}
    with pytest.raises(InputError, match="two digests"):
        small.load()


def test_a_folder_without_an_index_is_an_input_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError):
            load(str(path))
    os.mkfifo(tmp_path / "index.json")
    with pytest.raises(InputError, match="not a regular file"):
        load(str(tmp_path))
    os.unlink(tmp_path / "index.json")
    (tmp_path / "real.json").write_text('{"vectors": []}')
    (tmp_path / "index.json").symlink_to("real.json")
    with pytest.raises(InputError, match="cannot be read"):
        load(str(tmp_path))


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "..", "a/../b", "a/..", "./a", "a//b", "a/", "a\\b", "..\\a", "C:/a", "c:a", "a\0b", "."],
)
def test_a_path_that_could_leave_its_folder_is_refused(path: str) -> None:
    with pytest.raises(CorpusError, match="no path below its folder"):
        safe(path)


def test_no_link_is_followed_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert located(str(tmp_path), "real/a") == str(tmp_path / "real" / "a")
    for path in ("link", "link/a"):
        with pytest.raises(CorpusError, match="a link"):
            located(str(tmp_path), path)


class TestDigests:
    """Every file is checked before it is used, and the one at fault is named [CONF-3]."""

    def checked(self, small: SmallCorpus, identity: str = "v") -> None:
        corpus, vector = small.vector(identity)
        check(corpus, vector)

    def made(self, small: SmallCorpus) -> Path:
        small.add("v", "run", {"run/run.json": b"{}"}, {})
        return small.root / "v"

    def test_an_untouched_vector_passes(self, small: SmallCorpus) -> None:
        self.made(small)
        self.checked(small)

    def test_an_altered_file(self, small: SmallCorpus) -> None:
        (self.made(small) / "run/run.json").write_bytes(b"{} ")
        with pytest.raises(CorpusError, match=r"^v/run/run.json: altered: its SHA-256 is"):
            self.checked(small)

    def test_a_missing_file(self, small: SmallCorpus) -> None:
        (self.made(small) / "run/run.json").unlink()
        with pytest.raises(CorpusError, match=r"^v/run/run.json: missing$"):
            self.checked(small)

    def test_a_file_that_the_index_does_not_list(self, small: SmallCorpus) -> None:
        (self.made(small) / "run/extra.json").write_bytes(b"{}")
        with pytest.raises(CorpusError, match=r"^v/run/extra.json: not listed"):
            self.checked(small)

    @pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
    def test_what_is_no_regular_file(self, small: SmallCorpus, kind: str) -> None:
        path = self.made(small) / "run/run.json"
        path.unlink()
        if kind == "link":
            path.symlink_to(small.root / "index.json")
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            path.mkdir()
        with pytest.raises(CorpusError, match=r"run\.json"):
            self.checked(small)

    def test_a_folder_that_is_a_link(self, small: SmallCorpus) -> None:
        folder = self.made(small) / "run"
        folder.rename(small.root / "elsewhere")
        folder.symlink_to("../elsewhere")
        with pytest.raises(CorpusError, match="a link"):
            self.checked(small)

    @pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "run\\run.json", "C:/run.json"])
    def test_a_name_that_leaves_the_vector(self, small: SmallCorpus, name: str) -> None:
        self.made(small)
        (small.root / "secret").write_bytes(b"")
        files = small.items[0]["files"]
        assert isinstance(files, dict)
        files[name] = sha256(b"")
        with pytest.raises(CorpusError, match="no path below its folder"):
            self.checked(small)

    def test_a_vector_path_that_leaves_the_corpus(self, small: SmallCorpus) -> None:
        self.made(small)
        small.items[0]["path"] = "../corpus/v"
        with pytest.raises(CorpusError, match="no path below its folder"):
            self.checked(small)

    def test_a_fixture_may_hold_other_vectors(self, small: SmallCorpus) -> None:
        small.add("shared", "fixture", {"plan.json": b"{}"})
        small.add("shared/one", "run", {"run/run.json": b"{}"}, {})
        (small.root / "shared/other").write_bytes(b"")
        self.checked(small, "shared")
        self.checked(small, "shared/one")

    def test_a_vector_that_is_one_file(self, small: SmallCorpus) -> None:
        small.add_file("paths.json", "paths", [])
        self.checked(small, "paths.json")
        (small.root / "paths.json").write_bytes(b"[1]")
        with pytest.raises(CorpusError, match="altered"):
            self.checked(small, "paths.json")

    def test_a_file_elsewhere_must_be_listed_and_unaltered(self, small: SmallCorpus) -> None:
        self.made(small)
        small.add("keys", "fixture", {"a.pem": b"key"})
        corpus = small.load()
        assert listed_file(corpus, "keys/a.pem") == str(small.root / "keys/a.pem")
        with pytest.raises(CorpusError, match="not listed"):
            listed_file(corpus, "index.json")
        (small.root / "keys/a.pem").write_bytes(b"other")
        with pytest.raises(CorpusError, match="altered"):
            listed_file(corpus, "keys/a.pem")


class TestSelection:
    """Vectors are chosen by class, kind, level, algorithm and id; every condition counts."""

    @pytest.fixture
    def several(self, small: SmallCorpus) -> SmallCorpus:
        small.add("runs/one", "run", {}, {}, classes=["Reader", "Run verifier"])
        small.add("runs/two", "run", {}, {}, classes=["Run verifier"], level="signed")
        small.add("sign/p", "sign", {}, {}, classes=["Sealer"], algorithm="ecdsa-p256")
        small.add("sign/e", "sign", {}, {}, classes=["Sealer"], algorithm="ed25519")
        return small

    @pytest.mark.parametrize(
        ("conditions", "ids"),
        [
            ({}, ["runs/one", "runs/two", "sign/p", "sign/e"]),
            ({"kinds": ["run"]}, ["runs/one", "runs/two"]),
            ({"kinds": ["run", "sign"], "level": "intact"}, ["runs/one", "sign/p", "sign/e"]),
            ({"classes": ["run VERIFIER"]}, ["runs/one", "runs/two"]),
            ({"classes": ["Reader", "Sealer"]}, ["runs/one", "sign/p", "sign/e"]),
            ({"algorithms": ["ed25519"]}, ["runs/one", "runs/two", "sign/e"]),
            ({"ids": ["runs/*"]}, ["runs/one", "runs/two"]),
            ({"ids": ["sign/p", "*two"]}, ["runs/two", "sign/p"]),
        ],
    )
    def test_each_condition(self, several: SmallCorpus, conditions: dict[str, object], ids: list[str]) -> None:
        chosen = select(several.load(), **conditions)  # type: ignore[arg-type]  # one condition at a time
        assert [vector.id for vector in chosen] == ids

    @pytest.mark.parametrize(
        ("conditions", "said"),
        [
            ({"kinds": ["Run"]}, "no kind 'Run'"),
            ({"classes": ["Writer"]}, "no class 'writer'"),
            ({"algorithms": ["rsa"]}, "no algorithm 'rsa'"),
            ({"ids": ["none/*"]}, "no vector is selected"),
        ],
    )
    def test_a_name_that_no_vector_has(self, several: SmallCorpus, conditions: dict[str, object], said: str) -> None:
        with pytest.raises(InputError, match=said):
            select(several.load(), **conditions)  # type: ignore[arg-type]  # one condition at a time


def test_an_index_of_hostile_ids_is_read_as_text(small: SmallCorpus) -> None:
    small.add("v", "run", {}, {})
    small.items[0]["id"] = "\x1b[31m../../etc"
    assert json.loads(json.dumps(small.load().vectors[0].id)) == "\x1b[31m../../etc"
