"""A cache that is damaged, foreign, locked or open to others is told of and left alone; what is reported is right."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from aef_verify.engine import cache_store
from aef_verify.engine.cache_code import circumstances
from aef_verify.engine.cache_store import NAME, Row, Store, StoreError
from aef_verify.engine.evidence import verify_evidence
from aef_verify.engine.task import Task
from tests import building
from tests.building import put
from tests.engine.caching import Passes, plain, rested


@pytest.fixture
def passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Passes:
    """Make a first pass over three runs."""
    building.full().seal().write(tmp_path / "store" / "full")
    building.small().write(tmp_path / "store" / "small")
    building.small().seal().but(put("summary.json", "runId", "other")).write(tmp_path / "store" / "changed")
    rested(monkeypatch)
    made = Passes(tmp_path / "store", tmp_path / "cache")
    assert set(made.cached().values()) == {False}
    return made


def test_everything_in_the_folder_is_the_callers_alone(passes: Passes) -> None:
    modes = {stat.S_IMODE(os.lstat(entry.path).st_mode) for entry in os.scandir(passes.folder)}
    assert (modes, stat.S_IMODE(os.lstat(passes.folder).st_mode)) == ({0o600}, 0o700)


def told(passes: Passes) -> str:
    """Make a pass that takes nothing from the cache; return the one warning."""
    report = passes.once()
    assert report.cache is not None
    assert not any(run.cached for run in report.runs)
    (warning,) = report.cache.warnings
    assert warning.startswith(f"cache {passes.folder}: ")
    return warning


def file_of(passes: Passes) -> Path:
    return Path(passes.folder, NAME)


def garbage(passes: Passes) -> None:
    file_of(passes).write_bytes(b"no database at all, whatever its name says" * 200)


def cut_off(passes: Passes) -> None:
    os.truncate(file_of(passes), 5000)


def foreign(passes: Passes) -> None:
    file_of(passes).unlink()
    with sqlite3.connect(file_of(passes)) as base:
        base.execute("CREATE TABLE recipes (name TEXT)")
    base.close()
    file_of(passes).chmod(0o600)


def trigger(passes: Passes) -> None:
    with sqlite3.connect(file_of(passes)) as base:
        base.execute("CREATE TRIGGER t AFTER INSERT ON verdicts BEGIN DELETE FROM verdicts; END")
    base.close()


def application(passes: Passes) -> None:
    with sqlite3.connect(file_of(passes)) as base:
        base.execute("PRAGMA application_id = 7")
    base.close()


def linked(passes: Passes) -> None:
    file_of(passes).rename(file_of(passes).with_name("elsewhere"))
    file_of(passes).symlink_to("elsewhere")


def pipe(passes: Passes) -> None:
    file_of(passes).unlink()
    os.mkfifo(file_of(passes), 0o600)


def folder_in_place(passes: Passes) -> None:
    file_of(passes).unlink()
    file_of(passes).mkdir()


def no_folder(passes: Passes) -> None:
    file_of(passes).unlink()
    os.rmdir(passes.folder)
    Path(passes.folder).write_bytes(b"")


REFUSED: dict[str, tuple[Callable[[Passes], object], str]] = {
    "garbage": (garbage, "not a database"),
    "cut off": (cut_off, NAME),
    "foreign": (foreign, "no store of verdicts"),
    "a trigger": (trigger, "no store of verdicts"),
    "another application's": (application, "no store of verdicts"),
    "open to others": (lambda passes: file_of(passes).chmod(0o640), "open to others"),
    "a link": (linked, "Too many levels"),
    "a second name": (lambda passes: os.link(file_of(passes), f"{passes.folder}/x"), "no file of its own"),
    "a pipe": (pipe, "no file of its own"),
    "a folder in its place": (folder_in_place, "Is a directory"),
    "a folder others write to": (lambda passes: os.chmod(passes.folder, 0o770), "others may write"),
    "no folder": (no_folder, "File exists"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_cache_that_may_not_be_used_is_told_of_and_left_alone(passes: Passes, name: str) -> None:
    spoil, said = REFUSED[name]
    spoil(passes)
    file = file_of(passes)
    before = file.read_bytes() if file.is_file() else None
    assert said in told(passes)
    assert (file.read_bytes() if file.is_file() else None) == before


def test_a_folder_of_somebody_else_is_not_used(passes: Passes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert "belongs to somebody else" in told(passes)


def rows(passes: Passes) -> sqlite3.Connection:
    return sqlite3.connect(file_of(passes), isolation_level=None)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE verdicts SET record = replace(record, 'invalid', 'intact')",
        "UPDATE verdicts SET record = 7, seen = 'never'",
        "UPDATE verdicts SET record = X'', proof = NULL || X''",
        "UPDATE verdicts SET names = X'00'",
        "UPDATE verdicts SET names = (SELECT max(names) FROM verdicts), identity = X'00'",
    ],
)
def test_a_damaged_row_is_not_taken_and_is_replaced(passes: Passes, change: str) -> None:
    base = rows(passes)
    try:
        base.execute(change)
    except sqlite3.IntegrityError:
        base.execute("UPDATE verdicts SET proof = X''")
    base.close()
    report = passes.once()
    assert report.cache is not None
    assert "damaged, and not used" in report.cache.warnings[0]
    assert len(report.cache.warnings) == 1
    assert set(passes.cached().values()) == {True}


def test_a_row_of_another_run_is_not_taken(passes: Passes) -> None:
    base = rows(passes)
    paths = [path for (path,) in base.execute("SELECT path FROM verdicts ORDER BY path")]
    for one, other in zip(paths, [*paths[1:], b"last"], strict=True):
        base.execute("UPDATE verdicts SET path = ? WHERE path = ?", (b"moved " + other, one))
    base.execute("UPDATE verdicts SET path = substr(path, 7)")
    base.close()
    assert "damaged, and not used" in told(passes)


@pytest.mark.parametrize("record", [b"", b"[", b"[]", b"{}", b"[" * 100_000, b"\xff", b"7", b"[1,2,3,4,5,6,7,8,9]"])
def test_a_record_that_is_none_is_not_taken(passes: Passes, record: bytes) -> None:
    path = f"{passes.store}/full"
    found = circumstances(Task(None, None))
    assert found is not None
    kept = Store(passes.folder, found, 0)
    row = kept.get(path)
    assert row is not None
    kept.put([(path, Row(row.names, row.identity, record))])
    kept.close()
    report = passes.once()
    assert report.cache is not None
    assert report.cache.warnings == (f"cache {passes.folder}: damaged, and not used: the verdict of {path}",)
    assert {run.path: run.cached for run in report.runs}[path] is False


def test_another_pass_that_writes_for_long_is_not_waited_for(
    passes: Passes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cache_store, "_PATIENCE", 0.01)
    building.small().write(tmp_path / "store" / "new")
    base = rows(passes)
    base.execute("BEGIN IMMEDIATE")
    report = passes.once()
    base.execute("ROLLBACK")
    base.close()
    assert report.cache is not None
    assert [warning.rpartition(": ")[2] for warning in report.cache.warnings] == ["database is locked"]
    assert [run.path for run in report.runs if not run.cached] == [f"{passes.store}/new"]
    assert passes.cached()["new"] is False
    assert passes.cached()["new"] is True


def test_a_full_disk_costs_the_cache_and_no_verdict(
    passes: Passes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cache_store, "MOST_BYTES", 1 << 15)
    building.small().write(tmp_path / "store" / "new")
    for number in range(40):
        building.small().but(put("run.json", "runId", f"run-{number}" * 50)).write(tmp_path / "store" / f"n{number}")
    report = verify_evidence([passes.store], cache=passes.folder)
    assert report.cache is not None
    assert "full" in report.cache.warnings[0]
    assert plain(report) == verify_evidence([passes.store])


def test_a_store_is_made_once_by_two_that_begin_together(tmp_path: Path) -> None:
    one = Store(str(tmp_path / "a" / "b"), b"x", 0)
    two = Store(str(tmp_path / "a" / "b"), b"x", 0)
    one.put([("run", Row(b"", b"1", b"one"))])
    assert two.get("run") == Row(b"", b"1", b"one")
    two.put([("run", Row(b"", b"2", b"two"))])
    assert one.get("run") == Row(b"", b"2", b"two")
    one.close()
    two.close()


def test_other_circumstances_share_a_store_and_nothing_in_it(tmp_path: Path) -> None:
    one, two = Store(str(tmp_path), b"one", 0), Store(str(tmp_path), b"two", 0)
    one.put([("run", Row(b"", b"", b"one"))])
    assert two.get("run") is None
    two.put([], gone=["run"])
    assert one.get("run") == Row(b"", b"", b"one")
    one.close()
    two.close()


@pytest.mark.parametrize("folder", ["nul\0", "x" * 300, "\ud800"])
def test_a_folder_that_cannot_be_is_told_of(tmp_path: Path, folder: str) -> None:
    with pytest.raises(StoreError):
        Store(f"{tmp_path}/{folder}", b"x", 0)


@pytest.mark.parametrize("below", ["", "ext", "ext/producer/cache"])
def test_nothing_is_ever_written_into_a_run(passes: Passes, tmp_path: Path, below: str) -> None:
    run = Path(passes.store, "full")
    before = sorted(run.rglob("*"))
    report = verify_evidence([passes.store], cache=str(run / below))
    assert report.cache is not None
    assert report.cache.warnings == (
        f"cache {run / below}: not used: the folder lies in the run {run}, which it would change",
    )
    assert sorted(run.rglob("*")) == before


def test_a_run_of_very_many_names_is_not_kept(passes: Passes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = [put(f"ext/{number}-" + "n" * 200, b"") for number in range(40)]
    building.small().but(*names).write(tmp_path / "store" / "new")
    for limit, kept in ((8_000, False), (100_000, True)):
        monkeypatch.setattr(cache_store, "LONGEST", limit)
        passes.once()
        assert passes.cached()["new"] is kept
