"""Where output goes, what it looks like there, and what happens where it cannot go."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import building
from tests.building import put
from tests.cli.calling import AEF, PLAIN, aef, small_disk

FIXTURES = Path(__file__).parents[2] / "fixtures"
CHECKPOINT = ("checkpoint", f"{FIXTURES}/checkpoints/sound/support.json", "--runs", f"{FIXTURES}/evidence/sound")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def run(tmp_path: Path) -> str:
    return building.small().seal().write(tmp_path / "run")


def in_terminal(*words: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Run `aef` with a terminal as standard output and error; return the exit code and what the terminal got."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*AEF, *words],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=PLAIN | {"TERM": "xterm-256color", "COLUMNS": "100"} | (env or {}),
    ) as process:
        os.close(theirs)
        got = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            got += part
        process.wait(timeout=60)
    os.close(ours)
    return process.returncode, got.decode().replace("\r\n", "\n")


def test_a_terminal_gets_colour(run: str) -> None:
    code, got = in_terminal("verify", run)
    assert code == 0
    assert "\x1b[32mintact (unsigned)" in got


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_gets_none_where_none_is_wanted(run: str, env: dict[str, str]) -> None:
    code, got = in_terminal("verify", run, env=env)
    assert code == 0
    assert "intact (unsigned)" in got
    assert "\x1b" not in got


def test_an_empty_no_color_says_nothing(run: str) -> None:
    assert COLOUR.search(in_terminal("verify", run, env={"NO_COLOR": ""})[1])


def test_what_is_no_terminal_gets_no_colour_and_no_trailing_spaces(run: str) -> None:
    done = aef("verify", run, env={"FORCE_COLOR": "1", "COLUMNS": "80"})
    assert "\x1b" not in done.stdout
    assert not re.search(r" +$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("columns", ["1", "40", "80", "nonsense"])
def test_any_width_will_do(run: str, columns: str) -> None:
    assert aef("verify", run, env={"COLUMNS": columns}).returncode == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_will_do(tmp_path: Path, encoding: str) -> None:
    run = building.small().but(put("run.json", "suite", "ref", "suite:x"), put("ext/é", b"")).write(tmp_path / "ü漢")
    done = subprocess.run(
        [*AEF, "verify", run], capture_output=True, env=PLAIN | {"PYTHONIOENCODING": encoding}, check=False
    )
    assert (done.returncode, done.stderr) == (1, b"")
    done.stdout.decode(encoding)


@pytest.mark.parametrize(
    "words",
    ["verify .", "verify . --json", "show .", "view .", "--help", "--version", "explain blob"],
)
def test_a_full_disk_is_3(run: str, words: str) -> None:
    with open("/dev/full", "wb") as full:
        done = aef(*words.split(), stdout=full, cwd=Path(run))
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "could not be written: No space left on device" in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("words", "code"), [("verify --json", 3), ("contract seal", 1)])
def test_output_that_fits_in_part_is_no_success(tmp_path: Path, unbuffered: str, words: str, code: int) -> None:
    lines = [building.result(f"c{number}", evidence=["E-gone"]) for number in range(400)]
    many = {f"ext/{number:04}": b"" for number in range(400)}
    run = building.Run(building.small() | many).but(put("results.ndjson", lines)).write(tmp_path / "run")
    with small_disk(tmp_path / "disk", "16k") as disk, open(disk / "output", "wb") as output:
        done = aef(*words.split(), run, stdout=output, env={"PYTHONUNBUFFERED": unbuffered})
    assert done.returncode == code
    assert "No space left on device" in done.stderr


def test_closed_standard_output_is_3(run: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *AEF, "verify", run], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert done.stderr == "aef verify: standard output is closed\n"


def test_closed_standard_error_changes_nothing() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *AEF, "verify", "/gone"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("words", ["--help", "verify --help", "--version", "explain --list"])
def test_short_output_that_nobody_reads_is_3(words: str) -> None:
    ready, end = os.pipe()
    os.close(ready)
    with os.fdopen(end, "wb") as gone:
        done = aef(*words.split(), stdout=gone)
    assert (done.returncode, done.stderr) == (3, "")


def test_a_reader_that_goes_away_hears_nothing(tmp_path: Path) -> None:
    lines = [building.result(f"c{number}", evidence=["E-gone"]) for number in range(30_000)]
    run = building.small().but(put("results.ndjson", lines)).write(tmp_path / "run")
    with subprocess.Popen(
        [*AEF, "verify", run, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PLAIN
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 3


@pytest.mark.parametrize("command", ["verify", "checkpoint"])
def test_progress_is_shown_on_a_terminal_only_and_taken_away(run: str, command: str) -> None:
    code = "from aef_verify.cli import main, progress; progress.SHOWN_AFTER = 0; main()"
    ours, theirs = pty.openpty()
    words = ("verify", run) if command == "verify" else (*CHECKPOINT, "--at", "2026-10-05T00:00:00Z")
    command_line = [sys.executable, "-c", code, *words]
    environment = PLAIN | {"TERM": "xterm"}
    done = subprocess.run(command_line, stdout=subprocess.PIPE, stderr=theirs, env=environment, check=False)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert "Verifying runs" in shown
    assert shown.endswith("\x1b[2K") or "\x1b[2K" in shown.rpartition("Verifying runs")[2]
    assert b"Verifying runs" not in done.stdout
    silent = subprocess.run(command_line, capture_output=True, env=environment, check=False)
    assert (silent.stdout, silent.stderr) == (done.stdout, b"")


def test_quiet_shows_nothing(run: str) -> None:
    quiet = aef("verify", run, "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_it_in_one_line(tmp_path: Path, number: int, code: int) -> None:
    for name in "ab":
        building.small().write(tmp_path / name)
        (tmp_path / name / "ext").mkdir()
        with open(tmp_path / name / "ext" / "large", "wb") as large:
            large.truncate(40 << 30)
    with subprocess.Popen(
        [*AEF, "verify", str(tmp_path), "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=PLAIN,
    ) as process:
        while len(_children_of(process.pid)) < 2:
            assert process.poll() is None
        workers = _children_of(process.pid)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (code, "", "aef verify: interrupted\n")
    assert not any(os.path.exists(f"/proc/{worker}/exe") for worker in workers)


def _children_of(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]
