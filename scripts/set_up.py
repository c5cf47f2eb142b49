"""Make a checkout's virtual environment, once: the lock file's packages by hash, and the project, editable.

A stamp, written last, names what the environment was made from. An environment without the right stamp (made
by other means, interrupted, of an older lock file, of a checkout that was moved) is made again from nothing.
Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK_FILE = ROOT / "requirements-dev.txt"
PROJECT_FILE = ROOT / "pyproject.toml"
STAMP = "made-from"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def stamp() -> str:
    """Name everything an environment depends on: its inputs, the Python version and the checkout's place.

    Of pyproject.toml only what an installation reads: a change of a linter's settings makes nothing anew.
    """
    project = tomllib.loads(PROJECT_FILE.read_text())
    read = [project["build-system"], project["project"], project["tool"]["hatch"]]
    digest = hashlib.sha256(json.dumps(read).encode())
    for path in (LOCK_FILE, Path(__file__)):
        digest.update(path.read_bytes())
    return f"{digest.hexdigest()}\nPython {PYTHON}\n{ROOT}\n"


def is_whole(environment: Path, wanted: str) -> bool:
    """Say whether `environment` was made to its end from `wanted`, and still runs."""
    try:
        made_from = (environment / STAMP).read_text()
    except (OSError, UnicodeDecodeError):
        return False
    return made_from == wanted and os.access(environment / "bin" / "python", os.X_OK)


@contextmanager
def alone() -> Iterator[int]:
    """Let one set-up of this checkout work at a time; a second one waits for the first.

    Yields the descriptor that holds the lock. A child that has it too holds the lock for as long as it lives.
    """
    with open(LOCK_FILE, "rb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle.fileno()


def remove(environment: Path) -> None:
    """Remove what stands at `environment`, a link itself and not what it points at."""
    if environment.is_symlink() or environment.is_file():
        environment.unlink()
    elif environment.exists():
        shutil.rmtree(environment)


def make(environment: Path, lock: int) -> None:
    """Build `environment` with this interpreter; raises `CalledProcessError` when a step fails."""
    # The interpreter behind an environment's own: an environment may be replaced by what runs in it.
    base = getattr(sys, "_base_executable", None) or sys.executable
    python = str(environment / "bin" / "python")
    install = [python, "-m", "pip", "-qq", "--disable-pip-version-check", "install", "--no-deps"]
    report("  1/3 an empty environment")
    subprocess.run([base, "-I", "-m", "venv", str(environment)], check=True, pass_fds=[lock])
    report(f"  2/3 the packages of {LOCK_FILE.name}, each checked by its hash")
    subprocess.run([*install, "--require-hashes", "-r", str(LOCK_FILE)], check=True, pass_fds=[lock])
    report("  3/3 the project itself, editable")
    subprocess.run(
        [*install, "--no-index", "--no-build-isolation", "--editable", str(ROOT)], check=True, pass_fds=[lock]
    )


def report(line: str) -> None:
    """Tell the person who waits."""
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Make the environment unless it is there and whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=ROOT / ".venv", help="the environment's folder (.venv)")
    environment: Path = parser.parse_args().into.absolute()
    wanted = stamp()
    if is_whole(environment, wanted):
        return 0
    with alone() as lock:
        if is_whole(environment, wanted):
            return 0
        began = time.monotonic()
        report(f"Making {environment} with Python {PYTHON}: once only, and it needs the package index.")
        remove(environment)
        make(environment, lock)
        (environment / STAMP).write_text(wanted)
        report(f"Made in {time.monotonic() - began:.0f} s.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failure:
        sys.exit(f"Set-up failed (exit {failure.returncode}). Is the package index in reach?")
    except KeyboardInterrupt:
        sys.exit("Set-up interrupted; the next start begins anew.")
