"""[RUN-2] [RUN-5] [RUN-11] [VER-2] A scenario to four files in a folder that is missing or empty, or nothing at all."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aef_verify.problems import InputError
from aef_verify.run.verify import verify_run
from aef_verify.writing import run as writing
from aef_verify.writing.produce import produce_file
from tests.building import Json
from tests.writing.breaking import small_disk
from tests.writing.facts import METRICS, case, child, composite, node, request, scenario, trials

SOUND = scenario(
    case("k1", node("q", scores=[{"metric": "quality", "value": 0.5}])),
    case("k2", composite("q", child("q/a"), child("q/b", "skipped"))),
    case("k3", node("q", "failed", severity="low"), trials=trials(node("q"), node("q", "failed"))),
)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "above" / "out"


def produced(document: object, out: Path, data: bytes | None = None) -> int:
    file = out.parents[1] / "scenario.json"
    file.write_bytes(json.dumps(document).encode() if data is None else data)
    return produce_file(str(file), str(out))


def read(file: Path) -> Any:
    return json.loads(file.read_bytes())


def test_the_four_files_of_a_run_that_verifies(out: Path) -> None:
    assert produced(SOUND, out) == 7
    assert sorted(os.listdir(out)) == ["metrics.json", "results.ndjson", "run.json", "summary.json"]
    assert read(out / "run.json") == SOUND["run"]
    assert read(out / "metrics.json") == METRICS
    assert read(out / "summary.json")["lanes"][0]["metrics"][0]["N"] == 3
    assert len((out / "results.ndjson").read_bytes().splitlines()) == 7
    report = verify_run(str(out))
    assert (report.outcome, report.problems) == ("unsealed", ())
    assert os.listdir(out.parent) == ["out"]


def test_run11_what_absence_means_is_said(out: Path) -> None:
    header = {name: value for name, value in SOUND["run"].items() if name != "contentCapture"}
    produced(SOUND | {"run": header}, out)
    assert read(out / "run.json") == header | {"contentCapture": "on"}


@pytest.mark.parametrize("capture", ["on", "off"])
def test_run11_what_is_said_stays(out: Path, capture: str) -> None:
    produced(SOUND | {"run": SOUND["run"] | {"contentCapture": capture}}, out)
    assert read(out / "run.json")["contentCapture"] == capture


def test_run5_an_aborted_run_without_a_result(out: Path) -> None:
    run = SOUND["run"] | {"status": "aborted", "abortReason": "stopped"}
    assert produced(scenario(run=run), out) == 0
    assert (out / "results.ndjson").read_bytes() == b""
    assert verify_run(str(out)).outcome == "unsealed"


def test_an_empty_folder_is_taken_with_its_permissions(out: Path) -> None:
    out.mkdir(parents=True)
    out.chmod(0o700)
    produced(SOUND, out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert len(os.listdir(out)) == 4


def test_a_file_system_that_is_mounted_there_is_written_into(tmp_path: Path) -> None:
    with small_disk(tmp_path / "out", 256) as disk:
        (tmp_path / "scenario.json").write_text(json.dumps(SOUND))
        assert produce_file(str(tmp_path / "scenario.json"), str(disk)) == 7
        assert sorted(os.listdir(disk)) == ["metrics.json", "results.ndjson", "run.json", "summary.json"]
        assert verify_run(str(disk)).problems == ()
        with pytest.raises(InputError, match="not empty"):
            produce_file(str(tmp_path / "scenario.json"), str(disk))


def test_a_link_to_an_empty_folder_is_followed(out: Path) -> None:
    there = out.parents[1] / "there"
    there.mkdir()
    out.parent.mkdir()
    out.symlink_to(there)
    produced(SOUND, out)
    assert out.is_symlink()
    assert len(os.listdir(there)) == 4


def _file(out: Path) -> None:
    out.write_bytes(b"mine")


def _full(out: Path) -> None:
    out.mkdir()
    _file(out / "notes")


def _link(out: Path) -> None:
    _full(out.parents[1] / "there")
    out.symlink_to(out.parents[1] / "there")


def _loop(out: Path) -> None:
    out.symlink_to(out)


@pytest.mark.parametrize(
    ("occupy", "said"), [(_file, "no folder"), (_full, "not empty"), (_link, "not empty"), (_loop, "cannot be used")]
)
def test_what_is_there_is_not_overwritten(out: Path, occupy: Callable[[Path], None], said: str) -> None:
    out.parent.mkdir()
    occupy(out)
    before = sorted(str(path) for path in out.parents[1].rglob("*"))
    with pytest.raises(InputError, match=said):
        produced(SOUND, out)
    (out.parents[1] / "scenario.json").unlink()
    assert sorted(str(path) for path in out.parents[1].rglob("*")) == before


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_a_name_that_no_folder_has(tmp_path: Path, name: str) -> None:
    (tmp_path / "s.json").write_text(json.dumps(SOUND))
    with pytest.raises(InputError):
        produce_file(str(tmp_path / "s.json"), name)


def test_a_folder_filled_in_the_meantime_is_not_overwritten(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def meanwhile(path: str, **members: Any) -> Any:
        _full(out)
        return verify_run(path, **members)

    monkeypatch.setattr(writing, "verify_run", meanwhile)
    with pytest.raises(FileExistsError):
        produced(SOUND, out)
    assert os.listdir(out.parent) == ["out"]
    assert os.listdir(out) == ["notes"]


def header(**members: Any) -> Json:
    run = SOUND["run"] | members
    return SOUND | {"run": {name: value for name, value in run.items() if value is not None}}


REFUSED: dict[str, tuple[Json, str]] = {
    "no scenario": ({}, "the scenario has no member"),
    "an open run": (header(status="running", endedAt=None), r"run\.json: .*running is not closed \[RUN-5\]"),
    "a header that is not valid": (header(execution={}), r"run\.json: /execution"),
    "a status that there is not": (header(status="done"), r"run\.json: /status"),
    "metrics that are not valid": (SOUND | {"metrics": {}}, r"metrics\.json: "),
    "a tree": (scenario(case("k", child("q"))), r"case k, path q: .*\[RES-5\]"),
    "a summary": (SOUND | {"summary": request({"metric": "other", "path": "q"})}, "main / other / q: .*SUM-1"),
    "a lane without a name": (
        SOUND | {"summary": request(lane="")},
        "the summary asked for is not valid: /lanes/0/lane",
    ),
    "a score of no metric": (
        scenario(case("k", node("q", scores=[{"metric": "m", "value": 1}]))),
        "results.ndjson:1: metric",
    ),
    "times that run backwards": (header(endedAt="2026-10-02T13:00:00Z"), "run.json: run-times"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_nothing_is_written_where_no_valid_run_comes_out(out: Path, why: str) -> None:
    document, said = REFUSED[why]
    with pytest.raises(InputError, match=said):
        produced(document, out)
    assert not out.exists()
    assert not out.parent.exists() or os.listdir(out.parent) == []


@pytest.mark.parametrize("data", [b"", b"[]", b'{"run": 1, "run": 1}', b"[" * 65, b'"\xff"'])
def test_enc1_enc2_enc17_a_file_that_does_not_read(out: Path, data: bytes) -> None:
    with pytest.raises(InputError, match=r"scenario\.json: "):
        produced(None, out, data)
    assert not out.exists()


def test_enc4_enc8_numbers_and_times_are_written_as_they_were_given(out: Path) -> None:
    run = {"startedAt": "2026-10-02T14:00:00.000000001Z", "endedAt": "2026-10-02T14:00:00.000000002Z"}
    text = json.dumps(header(**run)).replace('"value": 0.5', '"value": 0.1000000000000000055511151231257827')
    produced(None, out, text.encode())
    assert read(out / "run.json")["endedAt"] == run["endedAt"]
    assert '"value":0.1}' in (out / "results.ndjson").read_text()
