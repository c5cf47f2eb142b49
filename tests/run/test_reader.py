"""The reference reader: [VER-3], [VER-4], [VER-8], [RUN-11], [ENC-5], [ENC-17], [EVD-3]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify import open_run, result_id
from aef_verify.run.reader import ReadError
from aef_verify.schemas.readings import READINGS, as_read, reads
from tests import building


def test_a_run_is_read_typed_and_in_order(tmp_path: Path) -> None:
    folder = building.full().write(tmp_path / "run")
    with open_run(folder) as run:
        header = run.header
        assert (header.status, header.target_mode) == (
            header.written["status"],
            header.written["execution"]["targetMode"],
        )
        results = list(run.results())
        assert [result.line for result in results] == list(range(1, len(results) + 1))
        for result in results:
            assert result.result_id == result_id(header.run_id, result.case_id, result.path, result.trial)
        assert {entry.metric for entry in run.summary} <= {metric.id for metric in run.metrics}
        assert [record.evidence_id for record in run.evidence()]
        assert all(gate.document is gate.written for gate in run.gates())


def test_blobs_are_checked_against_their_names(tmp_path: Path) -> None:
    folder = building.full().write(tmp_path / "run")
    with open_run(folder) as run:
        name = next(record.blob for record in run.evidence() if record.blob)
        data = run.blob(name)
        with pytest.raises(ReadError, match="no blob"):
            run.blob("../run.json")
    place = Path(folder, "blobs", "sha256", name[:2], name)
    place.write_bytes(data + b"x")
    with open_run(folder) as run, pytest.raises(ReadError, match="do not hash"):
        run.blob(name)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"schemaVersion": "2.0"}, "AEF 2.0, and this reader reads major version 1 alone"),
        ({"status": "paused"}, "/status"),
        ({"startedAt": "2026-02-31T00:00:00Z"}, "/startedAt"),
    ],
)
def test_what_a_reader_refuses_is_named(tmp_path: Path, edit: dict[str, Any], message: str) -> None:
    run = building.small()
    run["run.json"] |= edit
    with open_run(run.write(tmp_path / "run")) as opened, pytest.raises(ReadError, match=message):
        _ = opened.header


def test_unknown_values_read_as_the_table_says_and_stay_as_written(tmp_path: Path) -> None:
    run = building.small()
    run["run.json"] |= {"execution": {"targetMode": "dreamt"}, "schemaVersion": "1.7", "later": {"x": 1}}
    with open_run(run.write(tmp_path / "run")) as opened:
        assert opened.header.target_mode == "mocked"
        assert opened.header.written["execution"]["targetMode"] == "dreamt"
        assert opened.header.content_capture == "on"


def test_a_file_with_broken_framing_does_not_end_as_if_whole(tmp_path: Path) -> None:
    folder = building.small().write(tmp_path / "run")
    with open(Path(folder, "results.ndjson"), "ab") as file:
        file.write(b"{}")
    with open_run(folder) as run, pytest.raises(ReadError, match="unfinished"):
        list(run.results())


@pytest.mark.parametrize("name", sorted(READINGS))
def test_as_read_agrees_with_the_list_of_readings(name: str) -> None:
    """[VER-8]: one table, two uses."""
    for reading in READINGS[name]:
        document = _holding(reading.field.replace("[]", ".[]").split("."), "unheard-of", reading.of_kind)
        listed = reads(name, document)
        found = as_read(name, document)
        assert list(listed.values())[-1:] == ["unheard-of" if reading.unknown is None else reading.unknown]
        assert (found is document) == (reading.unknown is None)
        assert "unheard-of" in str(document), "the document itself is left alone"


def _holding(steps: list[str], value: str, kind: str | None) -> Any:
    step, *rest = steps
    inner: Any = value if not rest else _holding(rest, value, kind)
    if step == "[]":
        return [inner]
    holder = {"any" if step == "*" else step: inner}
    return holder | {"kind": kind} if kind is not None and step != "kind" else holder
