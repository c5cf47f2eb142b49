"""`aef verify --cache`: warnings on standard error, marks in both reports, passes at once, nothing loaded in vain."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

import aef_verify
from aef_verify.cli import main
from tests import building
from tests.building import put
from tests.cli.calling import AEF, aef, one_line, read_only, small_disk
from tests.engine.caching import rested, tick

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((Path(aef_verify.__file__).parent / "schemas" / "report" / "verify-report.schema.json").read_text())


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["verify", *map(str, words)], env={"COLUMNS": "400"})


def parsed(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(value)
    return value


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write three runs that have been left alone for long enough."""
    for number in range(3):
        building.small().seal().write(tmp_path / "store" / f"{number}")
    rested(monkeypatch)
    tick(tmp_path)
    return tmp_path / "store"


def test_the_second_pass_is_marked(store: Path, tmp_path: Path) -> None:
    first, second = (call(store, "--cache", tmp_path / "cache") for _ in range(2))
    assert (first.exit_code, second.exit_code, first.stderr, second.stderr) == (0, 0, "", "")
    assert "cached" not in first.stdout
    assert second.stdout.count("intact (unsigned), cached") == 3
    assert second.stdout.endswith("Sound: 3 runs (3 cached), 3 intact (unsigned) (exit 0).\n")
    again = call(store, "--cache", tmp_path / "cache", "--paranoid")
    assert again.stdout == first.stdout == call(store).stdout


def test_json_marks_every_run(store: Path, tmp_path: Path) -> None:
    call(store, "--cache", tmp_path / "cache")
    (store / "1" / "run.json").chmod(0o600)
    value = parsed(call(store, "--cache", tmp_path / "cache", "--json").stdout)
    assert value["cache"] == {"paranoid": False, "warnings": []}
    assert [run["cached"] for run in value["runs"]] == [True, False, True]
    assert (value["totals"]["cached"], value["totals"]["cacheDisagreed"]) == (2, 0)
    assert parsed(call(store, "--json").stdout)["cache"] is None


def test_the_exit_code_of_a_cached_verdict_is_the_same(store: Path, tmp_path: Path) -> None:
    building.small().seal().but(put("summary.json", "runId", "other")).write(store / "changed")
    tick(tmp_path)
    done = [call(store, "--cache", tmp_path / "cache", "--quiet") for _ in range(2)]
    assert [(one.exit_code, one.stdout) for one in done] == [(1, ""), (1, "")]


def test_paranoid_needs_a_cache(store: Path) -> None:
    done = aef("verify", store, "--paranoid")
    assert done.returncode == 2
    assert "--paranoid reads again" in one_line(done)


@pytest.mark.parametrize("words", [[], ["--json"], ["--quiet"]])
def test_a_cache_that_cannot_be_used_is_one_warning_and_no_failure(
    store: Path, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "cache").write_bytes(b"")
    done = aef("verify", store, "--cache", tmp_path / "cache", *words)
    assert done.returncode == 0
    assert done.stderr == f"aef verify: warning: cache {tmp_path}/cache: not used: File exists\n"
    if "--json" in words:
        assert parsed(done.stdout)["cache"]["warnings"] == [f"cache {tmp_path}/cache: not used: File exists"]


def test_hostile_words_in_a_warning_are_escaped(store: Path, tmp_path: Path) -> None:
    (tmp_path / "\x1b[31m").write_bytes(b"")
    done = aef("verify", store, "--cache", tmp_path / "\x1b[31m")
    assert done.returncode == 0
    assert "\x1b" not in done.stderr
    assert "\\u{1B}[31m: not used" in done.stderr


def test_a_disk_that_cannot_be_written_costs_the_cache(store: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        read_only(disk)
        done = aef("verify", store, "--cache", disk / "cache")
    assert done.returncode == 0
    assert "not used: Read-only file system" in done.stderr


_RESTED = """
import pytest
from tests.engine.caching import rested
rested(pytest.MonkeyPatch())
"""


def test_two_passes_at_once_report_the_same_and_leave_a_whole_cache(store: Path, tmp_path: Path) -> None:
    for number in range(3, 40):
        building.small().but(put("run.json", "producer", "version", f"{number}")).write(store / f"{number}")
    tick(tmp_path)
    program = [sys.executable, "-c", f"{_RESTED}\nfrom aef_verify.cli import main; main()"]
    words = ["verify", str(store), "--cache", str(tmp_path / "cache"), "--json", "--jobs", "1"]
    both = [
        subprocess.Popen([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) for _ in range(3)
    ]
    told = [one.communicate(timeout=60) for one in both]
    assert {stderr for _, stderr in told} == {b""}
    reports = [parsed(stdout.decode()) for stdout, _ in told]
    last = parsed(call(*words[1:]).stdout)
    assert last["totals"]["cached"] == 40
    for report in (*reports, last):
        report["totals"].pop("cached")
        report.pop("verdict")
        for run in report["runs"]:
            run.pop("cached")
    assert all(report == reports[0] for report in (*reports, last))


LOADED = """
import sys
from aef_verify.cli import main
try:
    main()
finally:
    sys.stderr.write(str("sqlite3" in sys.modules))
"""


@pytest.mark.parametrize(("words", "loaded"), [((), "False"), (("--cache", "cache"), "True")])
def test_without_a_cache_nothing_of_it_is_loaded(
    store: Path, tmp_path: Path, words: tuple[str, ...], loaded: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "verify", str(store), *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == loaded


def test_the_cache_lies_where_it_is_named(store: Path, tmp_path: Path) -> None:
    done = subprocess.run([*AEF, "verify", str(store), "--cache", "made/here", "--quiet"], cwd=tmp_path, check=True)
    assert done.returncode == 0
    assert os.listdir(tmp_path / "made" / "here") == ["verdicts-1.sqlite3"]
