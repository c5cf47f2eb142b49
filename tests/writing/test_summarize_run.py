"""[SUM-2] [ENC-2] [ENC-5] [ENC-17] The summary of a run folder, or the file that keeps it from being counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from aef_verify import limits
from aef_verify.problems import InputError
from aef_verify.writing.summarize import Entry, Lane, summarize_run
from tests import building
from tests.building import Edit, also, drop, put

LANES = [Lane("main", (Entry("score", "qa"), Entry("pass", "qa")))]


def test_sum2_it_is_what_the_run_says(tmp_path: Path) -> None:
    run = building.full()
    folder = run.write(tmp_path / "run")
    found = summarize_run(folder, LANES)
    assert found["runId"] == building.RUN_ID
    expected = run["summary.json"]["lanes"][0]["metrics"]
    for one, other in zip(expected, found["lanes"][0]["metrics"], strict=True):
        assert {name: other[name] for name in one} == one


@pytest.mark.parametrize(
    "edit",
    [
        drop("summary.json"),
        put("summary.json", b"not read"),
        put("results.ndjson", []),
        drop("run.json", "endedAt"),
        put("ext/notes", b"\xff"),
    ],
)
def test_what_else_there_is_or_is_not_does_not_matter(tmp_path: Path, edit: Edit) -> None:
    run = building.small().but(edit)
    if "endedAt" not in run["run.json"]:
        run["run.json"]["status"] = "running"
    (lane,) = summarize_run(run.write(tmp_path / "run"), LANES)["lanes"]
    assert {entry["N"] for entry in lane["metrics"]} <= {0, 2}


LINE = building.compact(building.result("c9"))
REFUSED: dict[str, Edit] = {
    "run.json: schema: the file is required": drop("run.json"),
    "run.json: encoding": put("run.json", b"{"),
    "run.json: schema": drop("run.json", "runId"),
    "metrics.json: schema: the file is required": drop("metrics.json"),
    "metrics.json: encoding": put("metrics.json", b'{"metrics": [], "metrics": []}'),
    "metrics.json: schema": put("metrics.json", {}),
    "metrics.json: limit": put("metrics.json", b" " * (limits.JSON_BYTES + 1)),
    "results.ndjson is required": drop("results.ndjson"),
    "results.ndjson:3: encoding": also("results.ndjson", b'{"state": "passed", "state": "failed"}\n'),
    "results.ndjson:3: schema": also("results.ndjson", {}),
    "results.ndjson:3: limit": also("results.ndjson", b"[" * 65 + b"\n"),
    "results.ndjson: encoding": also("results.ndjson", LINE[:-1]),
}


@pytest.mark.parametrize("said", REFUSED)
def test_enc2_enc5_enc17_a_run_that_cannot_be_counted(tmp_path: Path, said: str) -> None:
    folder = building.small().but(REFUSED[said]).write(tmp_path / "run")
    with pytest.raises(InputError, match=said):
        summarize_run(folder, LANES)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        summarize_run(str(tmp_path / "nowhere"), LANES)


@pytest.mark.parametrize(
    ("lane", "said"),
    [
        (Lane("", ()), "/lanes/0/lane"),
        (Lane("main", (Entry("score", "qa", verdict="ok"),)), "/lanes/0/metrics/0/verdict"),
        (Lane("main", (Entry("score", "qa", aggregate={"of": 1}, value=1),)), "/lanes/0/metrics/0/aggregate"),
    ],
)
def test_ver2_a_summary_that_no_writer_may_write(tmp_path: Path, lane: Lane, said: str) -> None:
    with pytest.raises(InputError, match=f"the summary asked for is not valid: {said}"):
        summarize_run(building.small().write(tmp_path / "run"), [lane])
