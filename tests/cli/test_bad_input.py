"""Bad input gets one clear line and the right exit code: never a traceback, a hang or a partial answer.

[RUN-1], [RUN-3], [ENC-17].
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import building
from tests.cli.calling import AEF, aef, as_nobody, one_line
from tests.engine.test_discover import ODD_PATHS

COMMANDS = (["verify"], ["show"], ["view"], ["seal"])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("prepare", "said"), ODD_PATHS)
def test_a_path_that_is_no_run(tmp_path: Path, command: list[str], prepare: Callable[[Path], None], said: str) -> None:
    prepare(tmp_path / "p")
    done = aef(*command, tmp_path / "p")
    assert done.returncode == 2
    line = one_line(done)
    assert line.startswith(f"aef {command[0]}: {tmp_path}/p: ")
    assert said in line or "not a run: a run is the folder that holds run.json" in line


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (b"gone", "gone: No such file or directory"),
        (b"bad\xff", "bad\\u{DCFF}: its name is not UTF-8"),
        (b"esc\x1b[31m\xe2\x80\xae", "esc\\u{1B}[31m\\u{202E}: No such file or directory"),
        (b"new\nline", "new line: No such file or directory"),
        (b"/dev/null", "/dev/null: a device"),
        (b"x" * 5000, "x"),
        (b"", ": No such file or directory"),
    ],
)
def test_a_path_with_an_odd_name(tmp_path: Path, command: list[str], path: bytes, shown: str) -> None:
    done = aef(*command, path, cwd=tmp_path)
    assert done.returncode == 2
    assert shown in one_line(done)


def test_a_pipe_is_not_waited_for_anywhere(tmp_path: Path) -> None:
    folder = building.small().seal().write(tmp_path / "run")
    for name in ("summary.json", "overlays"):
        if os.path.exists(f"{folder}/{name}"):
            os.unlink(f"{folder}/{name}")
        os.mkfifo(f"{folder}/{name}")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "run.json")
    os.mkfifo(tmp_path / "policy")
    done = aef("verify", tmp_path, "--json")
    assert done.returncode == 1
    found = {run["path"]: [problem["code"] for problem in run["problems"]] for run in json.loads(done.stdout)["runs"]}
    assert "path" in found[folder]
    assert "schema" in found[f"{tmp_path}/pipe"]
    for option in ("--policy", "--anchors"):
        assert one_line(aef("verify", folder, option, tmp_path / "policy")).endswith("not a regular file")


def test_links_within_a_run_are_neither_followed_nor_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"secret": "do not read me"}')
    folder = Path(building.small().write(tmp_path / "run"))
    (folder / "summary.json").unlink()
    (folder / "summary.json").symlink_to(secret)
    (folder / "ext").symlink_to(tmp_path)
    (folder / "blobs").symlink_to("blobs")
    done = aef("verify", folder)
    assert done.returncode == 1
    assert "do not read me" not in done.stdout
    assert "neither a file nor a folder" in done.stdout


def test_a_run_json_that_is_a_link_is_an_invalid_run(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").symlink_to("/etc/hostname")
    done = aef("verify", tmp_path)
    assert done.returncode == 1
    assert "1 is invalid" in done.stdout


def test_a_folder_that_cannot_be_searched(tmp_path: Path) -> None:
    before = as_nobody()
    tmp_path.chmod(0o755)
    building.small().write(tmp_path / "runs" / "a")
    (tmp_path / "runs" / "closed").mkdir(mode=0o700)
    _reachable(tmp_path)
    done = aef("verify", tmp_path / "runs", before=before)
    assert done.returncode == 2
    assert f"{tmp_path}/runs/closed: cannot be searched: Permission denied" in one_line(done)
    assert "nothing was verified" in done.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_cannot_be_read_is_told_beside_the_others(tmp_path: Path, jobs: int) -> None:
    before = as_nobody()
    building.small().write(tmp_path / "runs" / "a")
    building.small().write(tmp_path / "runs" / "b")
    (tmp_path / "runs" / "b" / "results.ndjson").chmod(0)
    _reachable(tmp_path)
    done = aef("verify", tmp_path / "runs", "--jobs", jobs, before=before)
    assert (done.returncode, done.stderr) == (2, "")
    assert "unreadable" in done.stdout
    assert "results.ndjson: cannot be read: Permission denied" in done.stdout
    assert done.stdout.endswith("Not answered in full: of 2 runs, 1 could not be read (exit 2).\n")


def test_policy_and_key_that_cannot_be_read(tmp_path: Path) -> None:
    before = as_nobody()
    folder = building.small().seal().write(tmp_path / "run")
    (tmp_path / "closed").touch(mode=0o000)
    _reachable(tmp_path)
    for words in (["verify", folder, "--policy"], ["sign", f"{folder}/seal.json", "--key"]):
        done = aef(*words, tmp_path / "closed", before=before)
        assert done.returncode == 2
        assert one_line(done).endswith("closed: cannot be read: Permission denied")


def _reachable(folder: Path) -> None:
    """Let everybody come as far as this folder."""
    for above in (folder, *folder.parents):
        if above.owner() == "root" and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o055)


def test_standard_input_that_is_closed_or_taken_twice(tmp_path: Path) -> None:
    run = building.small().write(tmp_path / "run")
    for command in ("verify", "show"):
        done = aef(command, run, "--policy", "-", "--anchors", "-", stdin=b"{}")
        assert done.returncode == 2
        assert "cannot both be standard input" in one_line(done)
    closed = ("/bin/sh", "-c", 'exec "$@" <&-', "sh")
    done = aef("verify", run, "--policy", "-", before=closed)
    assert done.returncode == 2
    assert one_line(done).endswith("standard input: cannot be read: it is closed")
    ready, end = os.pipe()
    os.set_blocking(ready, False)
    with os.fdopen(ready, "rb") as waiting, os.fdopen(end, "wb"):
        process = subprocess.run(
            [*AEF, "verify", run, "--policy", "-"], stdin=waiting, capture_output=True, check=False
        )
    assert process.returncode == 2
    assert b"it would have to be waited for" in process.stderr


def test_a_line_of_5_mib_and_depth_65(tmp_path: Path) -> None:
    long = b'{"a":"' + b"x" * (5 << 20) + b'"}\n'
    deep = b'{"a":' + b"[" * 64 + b"]" * 64 + b"}\n"
    run = building.small().but(building.put("results.ndjson", long + deep))
    done = aef("verify", run.write(tmp_path / "run"), "--json")
    (found,) = json.loads(done.stdout)["runs"]
    assert [(problem["path"], problem["code"]) for problem in found["problems"]] == [
        ("results.ndjson:1", "limit"),
        ("results.ndjson:2", "limit"),
    ]
    assert len(done.stdout) < 5000


def test_names_that_are_not_utf_8_within_and_above_a_run(tmp_path: Path) -> None:
    building.small().write(tmp_path / "n\udcff" / "run")
    with open(os.fsencode(tmp_path) + b"/n\xff/run/o\xfe.txt", "w"):
        pass
    done = aef("verify", tmp_path)
    assert done.returncode == 1
    assert "n\\u{DCFF}/run" in done.stdout
    value = json.loads(aef("verify", tmp_path, "--json").stdout)
    assert value["runs"][0]["path"] == f"{tmp_path}/n\ufffd/run"
    assert value["runs"][0]["problems"][0]["path"] == "o\ufffd.txt"
