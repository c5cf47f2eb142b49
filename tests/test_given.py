"""A file that the caller names is read when it is a regular one within its limit, and refused at once otherwise."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest

from aef_verify.given import read_given
from aef_verify.problems import InputError


def test_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    (tmp_path / "link").symlink_to(file)
    assert read_given(str(file), 5) == b"12345"
    assert read_given(str(tmp_path / "link"), 6) == b"12345"
    with pytest.raises(InputError, match="5 bytes; at most 4 are read"):
        read_given(str(file), 4)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "cannot be read"),
        ("absent", "No such file"),
        ("folder", "not a regular file"),
        ("pipe", "not a regular file"),
        ("link to pipe", "not a regular file"),
        ("loop", "symbolic links"),
        ("nul\0", "embedded null"),
        ("x" * 300, "too long"),
        ("/dev/null", "not a regular file"),
        ("/dev/zero", "not a regular file"),
    ],
)
def test_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link to pipe").symlink_to("pipe")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match=said):
        read_given(os.path.join(tmp_path, name) if name else "", 10)


def test_socket_is_refused() -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/s")
        with pytest.raises(InputError, match="not a regular file"):
            read_given(f"{folder}/s", 10)


def test_a_file_larger_than_it_says_is_refused() -> None:
    with pytest.raises(InputError, match="grew beyond 10 bytes"):
        read_given("/proc/self/maps", 10)


def test_a_file_whose_reader_would_wait_is_refused() -> None:
    regular = os.stat(__file__)
    ready, end = os.pipe()
    try:
        with (
            patch("os.stat", return_value=regular),
            patch("os.fstat", return_value=regular),
            pytest.raises(InputError, match="it would have to be waited for"),
        ):
            read_given(f"/dev/fd/{ready}", 1 << 20)
    finally:
        os.close(ready)
        os.close(end)
