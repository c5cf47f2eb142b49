"""Calling `aef` as a process of its own, as root, as somebody else, and on small disks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import IO, Any

import pytest

AEF = (sys.executable, "-m", "aef_verify")
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all")
PLAIN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "AEF_DEBUG")}


def aef(
    *words: object,
    env: dict[str, str] | None = None,
    before: Sequence[str] = (),
    stdin: bytes | None = None,
    stdout: int | IO[Any] = subprocess.PIPE,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `aef` and return what it wrote; it may take a minute, and waits for nobody."""
    done = subprocess.run(
        [*before, *AEF, *(word if isinstance(word, bytes) else str(word) for word in words)],
        env=PLAIN | {"COLUMNS": "400"} | (env or {}),
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=cwd,
        timeout=60,
        check=False,
    )
    text = (done.stdout or b"").decode()
    return subprocess.CompletedProcess(done.args, done.returncode, text, done.stderr.decode())


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the one line that a command wrote to standard error, and that it wrote nothing else."""
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "Traceback" not in line
    return line


def as_nobody() -> Sequence[str]:
    """Return what to put before a command to run it as somebody who may read nothing; skips where that cannot be."""
    if os.geteuid() != 0 or which("setpriv") is None:
        pytest.skip("only root can become somebody else, with setpriv")
    tried = subprocess.run([*NOBODY, *AEF, "--version"], capture_output=True, check=False)
    if tried.returncode != 0:
        pytest.skip("somebody else cannot run this Python")
    return NOBODY


@contextmanager
def small_disk(folder: Path, size: str = "256k") -> Iterator[Path]:
    """Mount a disk of this size; skips where that cannot be."""
    if os.geteuid() != 0 or which("mount") is None:
        pytest.skip("only root can mount a disk")
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Leave no room on a disk."""
    with open(folder / "ballast", "wb", buffering=0) as ballast:
        for size in (4096, 1):
            try:
                while ballast.write(b"x" * size):
                    pass
            except OSError:
                continue


def read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
