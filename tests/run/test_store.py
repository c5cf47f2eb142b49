"""Runs looked up by id and hash: [RUN-1], [SEAL-4], [CKP-8], [STRM-4]."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from aef_verify.problems import InputError
from aef_verify.run.store import RunStore

SOUND = Path(__file__).parents[2] / "fixtures" / "evidence" / "sound" / "support"


def copied(root: Path, *names: str) -> Path:
    for name in names:
        shutil.copytree(SOUND, root / name)
    return root


def the_id(root: Path, name: str) -> str:
    import json

    found = json.loads((root / name / "run.json").read_bytes())["runId"]
    assert isinstance(found, str)
    return found


def test_a_run_is_found_by_its_id_and_hash_wherever_it_lies(tmp_path: Path) -> None:
    root = copied(tmp_path, "some/where/b")
    run_id = the_id(root, "some/where/b")
    store = RunStore(str(root))
    (run,) = store.named(run_id)
    assert run.intact
    assert store.find(run_id, run.run_hash) is run
    assert len(store) == 1


def test_another_hash_or_id_is_another_run(tmp_path: Path) -> None:
    root = copied(tmp_path, "b")
    store = RunStore(str(root))
    run_id = the_id(root, "b")
    assert store.find(run_id, "0" * 64) is None
    assert store.named("none") == ()
    assert store.find("none", store.named(run_id)[0].run_hash) is None


def test_an_intact_copy_is_preferred_whatever_the_order(tmp_path: Path) -> None:
    root = copied(tmp_path, "a", "b", "c")
    for broken in ("a", "c"):
        (root / broken / "results.ndjson").write_bytes(b"")
    run_id = the_id(root, "b")
    store = RunStore(str(root))
    assert [os.path.basename(run.path) for run in store.named(run_id)] == ["a", "b", "c"]
    found = store.find(run_id, store.named(run_id)[0].run_hash)
    assert found is not None
    assert os.path.basename(found.path) == "b"


def test_without_an_intact_copy_the_first_by_path_is_found(tmp_path: Path) -> None:
    root = copied(tmp_path, "b", "a")
    for broken in ("a", "b"):
        (root / broken / "results.ndjson").write_bytes(b"")
    store = RunStore(str(root))
    run_id = the_id(root, "a")
    found = store.find(run_id, store.named(run_id)[1].run_hash)
    assert found is not None
    assert not found.intact
    assert os.path.basename(found.path) == "a"


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"runId": 1}', b"\xff", b'{"runId": "a", "runId": "b"}', b" " * ((4 << 20) + 1)]
)
def test_a_folder_that_names_no_run_is_under_no_id(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "run.json").write_bytes(content)
    assert len(RunStore(str(tmp_path))) == 0


def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    root = copied(tmp_path, "away")
    (root / "in").mkdir()
    os.symlink("../away", root / "in" / "linked")
    (root / "in" / "odd").mkdir()
    os.symlink("../../away/run.json", root / "in" / "odd" / "run.json")
    (root / "in" / "pipe").mkdir()
    os.mkfifo(root / "in" / "pipe" / "run.json")
    store = RunStore(f"{root}/in")
    assert len(store) == 0
    assert store.links == (f"{root}/in/linked",)


def test_an_empty_folder_holds_no_run(tmp_path: Path) -> None:
    assert len(RunStore(str(tmp_path))) == 0


def test_no_folder_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        RunStore(str(tmp_path / "none"))
