"""Runs on disk are whole or named by no `run.json`: faults and kills at every step, disk full, sweeping."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.verify import verify_run
from aef_verify.writing import atomic
from tests import building
from tests.writing.breaking import in_child, small_disk

FILES = {path: building.full().bytes_of(path) for path in building.full()}
FEW = {path: FILES[path] for path in ("run.json", "results.ndjson", "ext/producer/notes.txt")}
NAME = "run-0001"


def accept(folder: str) -> None:
    """Find nothing wrong."""


def publish(destination: Path, check: Callable[[str], object] = accept, **members: Any) -> str:
    return atomic.publish(str(destination), NAME, FILES, check, **members)


def content(folder: Path) -> dict[str, bytes]:
    """Return the bytes of each file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def steps(destination: Path) -> list[str]:
    """Return what is told before each step."""
    told: list[str] = []
    publish(destination, step=told.append)
    return told


def test_a_folder_has_its_files_and_its_name(tmp_path: Path) -> None:
    where = tmp_path / "made" / "here"
    assert publish(where) == str(where / NAME)
    assert os.listdir(where) == [NAME]
    assert content(where / NAME) == FILES
    umask = os.umask(0o022)
    os.umask(umask)
    assert (where / NAME).stat().st_mode & 0o777 == 0o777 & ~umask
    assert (where / NAME / "run.json").stat().st_mode & 0o777 == 0o666 & ~umask


def test_run_json_is_the_last_file_that_gets_its_name(tmp_path: Path) -> None:
    told = steps(tmp_path)
    at = told.index("name run.json")
    assert {f"write {path}" for path in FILES} <= set(told[:at])
    assert {f"sync {path}" for path in FILES if path != "run.json"} <= set(told[:at])
    assert told[at:] == [
        "name run.json",
        "sync run.json",
        "check the folder",
        "name the folder",
        "sync the destination",
    ]


def test_the_check_sees_the_complete_folder_under_its_temporary_name(tmp_path: Path) -> None:
    seen: list[tuple[bool, dict[str, bytes]]] = []
    publish(tmp_path, lambda folder: seen.append((atomic.PREFIX in folder, content(Path(folder)))))
    assert seen == [(True, FILES)]


def test_what_the_check_raises_undoes_the_writing(tmp_path: Path) -> None:
    def refuse(folder: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish(tmp_path, refuse)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", ["folder", "file", "link", "full folder"])
def test_a_name_that_is_taken_stays_as_it_is(kind: str, tmp_path: Path) -> None:
    taken = tmp_path / NAME
    if kind == "file":
        taken.write_text("kept")
    elif kind == "link":
        taken.symlink_to(tmp_path / "nowhere")
    else:
        taken.mkdir()
        if kind == "full folder":
            (taken / "note.txt").write_text("kept")
    before = content(tmp_path)
    with pytest.raises(FileExistsError):
        publish(tmp_path)
    assert os.listdir(tmp_path) == [NAME]
    assert content(tmp_path) == before


def test_a_name_that_is_taken_meanwhile_stays_as_it_is(tmp_path: Path) -> None:
    def take(folder: str) -> None:
        (tmp_path / NAME).mkdir()
        (tmp_path / NAME / "note.txt").write_text("kept")

    with pytest.raises(FileExistsError):
        publish(tmp_path, take)
    assert content(tmp_path) == {f"{NAME}/note.txt": b"kept"}


def test_an_empty_folder_is_replaced_only_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir(mode=0o750)
    with pytest.raises(FileExistsError):
        publish(tmp_path)
    publish(tmp_path, over_empty=True)
    assert content(tmp_path / NAME) == FILES
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o750
    assert os.listdir(tmp_path) == [NAME]


@pytest.mark.parametrize("kind", ["file", "link", "full"])
def test_what_is_no_empty_folder_stays_as_it_is(kind: str, tmp_path: Path) -> None:
    taken = tmp_path / NAME
    if kind == "file":
        taken.write_bytes(b"mine")
    elif kind == "link":
        (tmp_path / "elsewhere").mkdir()
        taken.symlink_to("elsewhere")
    else:
        taken.mkdir()
        (taken / "notes").write_bytes(b"mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileExistsError):
        publish(tmp_path, over_empty=True)
    assert sorted(tmp_path.rglob("*")) == before


MOVES = sorted({path.split("/")[0] for path in FILES} - {"run.json"})


def test_where_something_is_mounted_the_files_go_there_run_json_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: True)
    (tmp_path / NAME).mkdir()
    inode, told = (tmp_path / NAME).stat().st_ino, list[str]()
    publish(tmp_path, over_empty=True, step=told.append)
    assert content(tmp_path / NAME) == FILES
    assert (tmp_path / NAME).stat().st_ino == inode
    assert told[-len(MOVES) - 2 :] == [*(f"move {name}" for name in MOVES), "move run.json", "sync the folder"]
    assert told[-len(MOVES) - 3].endswith("/.run.json")


@pytest.mark.parametrize("at", [f"move {MOVES[0]}", "move run.json", "sync the folder"])
def test_where_something_is_mounted_a_fault_leaves_it_empty(
    at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(words: str) -> None:
        if words == at:
            raise KeyboardInterrupt

    monkeypatch.setattr(os.path, "ismount", lambda path: True)
    (tmp_path / NAME).mkdir()
    with pytest.raises(KeyboardInterrupt):
        publish(tmp_path, over_empty=True, step=fail)
    assert [path.name for path in tmp_path.rglob("*")] == [NAME]


def test_where_something_is_mounted_a_kill_leaves_a_whole_run_or_no_run_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: True)
    (tmp_path / "once" / NAME).mkdir(parents=True)
    told: list[str] = []
    publish(tmp_path / "once", over_empty=True, step=told.append)
    for at in range(told.index("check the folder") + 1, len(told) + 1):
        final = tmp_path / str(at) / NAME
        final.mkdir(parents=True)
        assert killed_at(final.parent, at, torn=False, over_empty=True)
        runs = [path.parent for path in final.parent.rglob("run.json")]
        assert [content(run) for run in runs] in ([], [FILES])


def test_where_something_is_mounted_what_came_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: True)
    (tmp_path / NAME).mkdir()
    with pytest.raises(FileExistsError):
        publish(tmp_path, lambda folder: (tmp_path / NAME / "notes").write_bytes(b"mine"), over_empty=True)
    assert content(tmp_path / NAME) == {"notes": b"mine"}


def test_two_names_in_one_destination_stand_side_by_side(tmp_path: Path) -> None:
    publish(tmp_path)
    atomic.publish(str(tmp_path), "other", FILES, accept)
    assert sorted(os.listdir(tmp_path)) == ["other", NAME]


def test_a_destination_that_is_a_file_or_below_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    for where in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match=r"exists|directory"):
            publish(where)
    assert content(tmp_path) == {"file": b"kept"}


# faults


CALLS = ("mkdir", "open", "write", "fsync", "rename", "close")


class Failing:
    """Lets the n-th call of an `os` function fail, and every later one too where the fault lasts."""

    def __init__(self, call: Callable[..., Any], at: int, code: int, *, lasts: bool) -> None:
        self.call, self.at, self.code, self.lasts = call, at, code, lasts
        self.count = 0

    def __call__(self, *arguments: Any, **members: Any) -> Any:
        self.count += 1
        if self.count == self.at or (self.lasts and self.count > self.at):
            if self.call.__name__ == "close":
                self.call(*arguments)
            raise OSError(self.code, os.strerror(self.code))
        return self.call(*arguments, **members)


FAULTS = [
    *((name, errno.ENOSPC) for name in CALLS),
    ("mkdir", errno.EROFS),
    ("open", errno.EROFS),
    ("fsync", errno.EIO),
]


@pytest.mark.parametrize(("name", "code"), FAULTS)
def test_a_fault_at_any_call_leaves_nothing(
    name: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every `mkdir`, `open`, … of the writing fails in turn; what does not stop it leaves the whole run."""
    faults = []
    for at in range(1, 200):
        destination = tmp_path / str(at)
        destination.mkdir()
        failing = Failing(getattr(os, name), at, code, lasts=False)
        fault = attempt(destination, name, failing, monkeypatch)
        assert content(destination) == ({} if fault else {f"{NAME}/{path}": data for path, data in FEW.items()})
        assert len(os.listdir(destination)) == (0 if fault else 1)
        if failing.count < at:
            break
        faults.append(fault)
    assert failing.count < at
    assert code in faults
    assert set(faults) <= {code, None}


def attempt(destination: Path, name: str, failing: Failing, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """Publish with a function of `os` that fails, and return the fault's number, if there was any."""
    with monkeypatch.context() as patch:
        patch.setattr(os, name, failing)
        if name != "fsync":
            patch.setattr(os, "fsync", lambda fd: None)
        try:
            atomic.publish(str(destination), NAME, FEW, accept)
        except OSError as fault:
            return fault.errno
    return None


def test_a_short_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:7]))
    publish(tmp_path)
    assert content(tmp_path / NAME) == FILES


def test_a_file_system_that_syncs_no_folder_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def sync(fd: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            raise OSError(errno.EINVAL, "no folder")
        real(fd)

    monkeypatch.setattr(os, "fsync", sync)
    publish(tmp_path)
    assert content(tmp_path / NAME) == FILES


def test_a_disk_that_stays_full_leaves_a_folder_that_names_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not even the clearing works, what is left is no run, and the next start removes it."""
    real = os.unlink
    monkeypatch.setattr(os, "unlink", Failing(os.unlink, 1, errno.EIO, lasts=True))
    monkeypatch.setattr(os, "rmdir", Failing(os.rmdir, 1, errno.EIO, lasts=True))
    monkeypatch.setattr(os, "write", Failing(os.write, 3, errno.ENOSPC, lasts=True))
    with pytest.raises(OSError, match="space"):
        publish(tmp_path)
    (left,) = tmp_path.iterdir()
    assert not (left / "run.json").exists()
    monkeypatch.undo()
    assert os.unlink is real
    assert atomic.sweep(str(tmp_path)) == [left.name]
    assert os.listdir(tmp_path) == []


def test_a_full_disk_at_every_size(tmp_path: Path) -> None:
    """From too small for the first file to large enough, either the whole run is there or nothing."""
    left: list[tuple[int | None, dict[str, bytes], list[str]]] = []
    for kilobytes in range(4, 120, 8):
        with small_disk(tmp_path / str(kilobytes), kilobytes) as disk:
            try:
                publish(disk)
            except OSError as fault:
                left.append((fault.errno, content(disk), os.listdir(disk)))
            else:
                left.append((None, content(disk / NAME), os.listdir(disk)))
    assert left[0] == (errno.ENOSPC, {}, [])
    assert left[-1] == (None, FILES, [NAME])
    assert all(found in (left[0], left[-1]) for found in left)


# kills


def killed_at(destination: Path, count: int, *, torn: bool, **members: Any) -> bool:
    """Write in a child that is killed at its n-th step, in the middle of a file's bytes if `torn`.

    Returns whether it was killed.
    """
    return in_child(lambda: _die_at(destination, count, torn, **members))


def _die_at(destination: Path, count: int, torn: bool, **members: Any) -> None:
    told = 0
    real = os.write

    def tear(fd: int, data: memoryview) -> int:
        real(fd, data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def step(words: str) -> None:
        nonlocal told
        told += 1
        if told == count and torn and words.startswith("write"):
            os.write = tear  # type: ignore[assignment]
        elif told == count:
            os.kill(os.getpid(), signal.SIGKILL)

    publish(destination, step=step, **members)


@pytest.mark.parametrize("torn", [False, True])
def test_a_kill_at_any_step_leaves_a_whole_run_or_no_run_json(torn: bool, tmp_path: Path) -> None:
    count = len(steps(tmp_path / "once"))
    for at in range(1, count + 2):
        destination = tmp_path / str(at)
        destination.mkdir()
        assert killed_at(destination, at, torn=torn) == (at <= count)
        for folder in destination.iterdir():
            if (folder / "run.json").exists():
                assert verify_run(str(folder)).problems == ()
                assert content(folder) == FILES
            else:
                assert folder.name.startswith(atomic.PREFIX)
        runs = [folder.name for folder in destination.iterdir() if (folder / "run.json").exists()]
        atomic.sweep(str(destination))
        assert os.listdir(destination) == runs


def test_a_kill_while_a_refused_folder_is_removed_leaves_no_run_json(tmp_path: Path) -> None:
    def die(*_: Any, **members: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    for at in range(1, 40):
        destination = tmp_path / str(at)
        removals = 0

        def counted(real: Callable[..., None], at: int = at) -> Callable[..., None]:
            def remove(*arguments: Any, **members: Any) -> None:
                nonlocal removals
                removals += 1
                (die if removals == at else real)(*arguments, **members)

            return remove

        def refuse(folder: str) -> None:
            os.unlink, os.rmdir = counted(os.unlink), counted(os.rmdir)
            raise ValueError

        killed = in_child(lambda to=destination, check=refuse: publish(to, check))  # type: ignore[misc]
        left = list(destination.iterdir())
        if not killed:
            break
        # before the first removal the run is whole; after it no part of one is named by a run.json
        assert [(folder / "run.json").exists() for folder in left] == [at == 1]
        assert at > 1 or content(left[0]) == FILES
        assert len(atomic.sweep(str(destination))) == (at > 1)
    assert at > len(FILES)
    assert left == []


# sweeping


def test_sweep_removes_abandoned_folders_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "note.txt").write_text("kept")
    place = tmp_path / "place"

    def put(path: str, data: str = "x") -> None:
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(data)

    put(".aef-tmp-1/results.ndjson")
    put(".aef-tmp-1/ext/deep/er/note.txt")
    put(".aef-tmp-1/.run.json")
    put(".aef-tmp-2/run.json")
    put(".aef-tmp-3/deep/run.json")
    put(".aef-tmp-file")
    put("aef-tmp-5/note.txt")
    put("below/.aef-tmp-6/note.txt")
    put("run/summary.json")
    (place / ".aef-tmp-7").mkdir()
    (place / ".aef-tmp-8").symlink_to(outside)
    (place / ".aef-tmp-9").mkdir()
    (place / ".aef-tmp-9" / "link").symlink_to(outside)
    (place / ".aef-tmp-10").mkdir()
    (place / ".aef-tmp-10" / "run.json").symlink_to(place / "nowhere")
    (place / ".aef-tmp-11" / "run.json").mkdir(parents=True)
    os.mkfifo(place / ".aef-tmp-7" / "pipe")
    assert atomic.sweep(str(place)) == [".aef-tmp-1", ".aef-tmp-7", ".aef-tmp-9"]
    assert sorted(os.listdir(place)) == [
        ".aef-tmp-10",
        ".aef-tmp-11",
        ".aef-tmp-2",
        ".aef-tmp-3",
        ".aef-tmp-8",
        ".aef-tmp-file",
        "aef-tmp-5",
        "below",
        "run",
    ]
    assert content(outside) == {"note.txt": b"kept"}
    assert content(place / "below") == {".aef-tmp-6/note.txt": b"x"}


def test_sweep_leaves_a_folder_that_is_being_written(tmp_path: Path) -> None:
    swept: list[list[str]] = []
    publish(tmp_path, step=lambda words: swept.append(atomic.sweep(str(tmp_path))))
    assert len(swept) > 20
    assert not any(swept)
    assert os.listdir(tmp_path) == [NAME]


def test_sweep_of_another_process_leaves_it_too(tmp_path: Path) -> None:
    program = "import sys; from aef_verify.writing.atomic import sweep; print(sweep(sys.argv[1]))"

    def sweep_elsewhere(folder: str) -> None:
        os.unlink(os.path.join(folder, "run.json"))
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
        )
        assert done.stdout == "[]\n"
        assert os.path.isdir(folder)

    publish(tmp_path, sweep_elsewhere)


def test_a_folder_that_is_swept_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock
    swept: list[str] = []

    def lock(fd: int, operation: int) -> None:
        if not swept:
            swept.append("")
            swept[:] = atomic.sweep(str(tmp_path))
        real(fd, operation)

    monkeypatch.setattr(fcntl, "flock", lock)
    publish(tmp_path)
    assert len(swept) == 1
    assert content(tmp_path / NAME) == FILES


def test_sweep_of_no_folder_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("missing", "file", "link"):
        assert atomic.sweep(str(tmp_path / name)) == []


def test_what_cannot_be_removed_stays_and_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (".aef-tmp-1", ".aef-tmp-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("")
    real = os.unlink

    def unlink(path: Any, **members: Any) -> None:
        if not failed:
            failed.append(path)
            raise PermissionError(errno.EACCES, "no")
        real(path, **members)

    failed: list[Any] = []
    monkeypatch.setattr(os, "unlink", unlink)
    assert atomic.sweep(str(tmp_path)) == [".aef-tmp-2"]
    assert os.listdir(tmp_path) == [".aef-tmp-1"]
