"""[STRM-2] A file that is followed is read as it grows, and anything else that becomes of it is an error."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aef_verify.folder import BLOCK
from aef_verify.problems import InputError
from aef_verify.runner.follow import followed


def steps(*done: Callable[[], object]) -> Callable[[], bool]:
    """Return what waits: each call does the next thing, and there is nothing more to wait for after the last."""
    waiting: Iterator[Callable[[], object]] = iter(done)

    def wait() -> bool:
        step = next(waiting, None)
        if step is None:
            return False
        step()
        return True

    return wait


def append(file: Path, data: bytes) -> Callable[[], object]:
    def write() -> None:
        with open(file, "ab") as out:
            out.write(data)

    return write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "events.ndjson"
    found.write_bytes(b"one\n")
    return found


def test_what_is_appended_is_read(file: Path) -> None:
    wait = steps(append(file, b"tw"), append(file, b""), append(file, b"o\n"))
    assert list(followed(str(file), wait)) == [b"one\n", b"tw", b"o\n"]


def test_what_there_is_comes_before_any_wait(file: Path) -> None:
    append(file, b"x" * BLOCK)()
    assert b"".join(followed(str(file), steps())) == b"one\n" + b"x" * BLOCK


def test_an_empty_file_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.write_bytes(b"")
    assert list(followed(str(file), steps(append(file, b""), append(file, b"x")))) == [b"x"]


def test_a_link_is_followed_to_its_file_as_it_is_the_callers_own_word(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(file)
    assert list(followed(str(link), steps(append(file, b"x")))) == [b"one\n", b"x"]


def replaced(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(file.read_bytes() + b"more\n")
    other.rename(file)


def written_over(file: Path) -> None:
    file.write_bytes(b"ONE\ntwo\nthree\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Path.unlink, "was removed while it was followed"),
        (replaced, "was replaced by another file"),
        (written_over, "was written over"),
        (lambda file: os.truncate(file, 3), "was cut to 3 bytes while it was followed, and 4 were already read"),
        (lambda file: os.truncate(file, 0), "was cut to 0 bytes"),
    ],
)
def test_a_file_that_does_not_grow_is_an_error(file: Path, change: Callable[[Path], object], said: str) -> None:
    blocks = followed(str(file), steps(lambda: change(file)))
    assert next(blocks) == b"one\n"
    with pytest.raises(InputError, match=said):
        next(blocks)


def test_what_becomes_of_a_file_that_is_no_longer_wanted_is_no_error(file: Path) -> None:
    """A runner may put its stream elsewhere once the job has ended."""
    blocks = followed(str(file), steps())
    assert next(blocks) == b"one\n"
    file.unlink()
    assert list(blocks) == []


@pytest.mark.parametrize("name", ["absent", "pipe", "."])
def test_what_is_no_file_is_an_error(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError):
        next(followed(str(tmp_path / name), steps()))
