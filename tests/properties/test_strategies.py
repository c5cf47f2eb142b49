"""The public strategies themselves: what they say of a run is so, and a change is the change it says it is."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from aef_verify.schemas import NAMES, accepts
from aef_verify.strategies import (
    BYTE_CHANGES,
    FILE_CHANGES,
    JSON_CHANGES,
    LINE_CHANGES,
    RunFiles,
    byte_changes,
    documents,
    json_changes,
    mutated,
    mutations,
    runs,
    sealed_runs,
)
from tests.properties.effort import examples
from tests.properties.scratch import scratch, written

FILES = RunFiles({"run.json": b'{\n  "a": [1, {"b": null}],\n  "c": "d"\n}\n', "results.ndjson": b'{"x":1}\n{"y":2}\n'})


@examples(30)
@given(sealed_runs(max_cases=1))
def test_a_run_reads_back_as_it_was_written_and_prints_as_what_it_is(run: RunFiles) -> None:
    with written(run) as folder:
        assert RunFiles.read(folder) == run
    again: object = eval(repr(run), {"RunFiles": RunFiles})
    assert again == run
    assert hash(again) == hash(run)


@examples(60)
@given(sealed_runs(max_cases=1).flatmap(lambda run: st.tuples(st.just(run), mutations(run))))
def test_a_mutation_changes_what_it_names(found: tuple[RunFiles, object]) -> None:
    run, mutation = found
    files, description = mutation.files, mutation.description  # type: ignore[attr-defined]
    assert files != run
    changed = [path for path in {*run, *files} if run.get(path) != files.get(path)]
    assert all(path in description for path in changed)
    with scratch() as folder:
        assert RunFiles.read(files.write(folder)) == files


@pytest.mark.parametrize("kind", [*BYTE_CHANGES, *LINE_CHANGES])
def test_each_kind_of_change_changes_bytes(kind: str) -> None:
    change = (BYTE_CHANGES | LINE_CHANGES)[kind](Random(1), FILES["results.ndjson"])
    assert change is not None
    assert change.data != FILES["results.ndjson"]
    assert change.description


@pytest.mark.parametrize("kind", JSON_CHANGES)
def test_each_kind_of_change_changes_a_document(kind: str) -> None:
    found = find(
        json_changes(FILES["run.json"], [kind]), lambda change: change.data != b'{"a":[1,{"b":null}],"c":"d"}\n'
    )
    assert found.description


@pytest.mark.parametrize("kind", FILE_CHANGES)
def test_each_kind_of_change_changes_files(kind: str) -> None:
    assert find(mutations(FILES, [kind]), lambda mutation: mutation.files != FILES).description


@pytest.mark.parametrize("kind", [*BYTE_CHANGES, *LINE_CHANGES])
def test_what_cannot_be_changed_stays(kind: str) -> None:
    change = (BYTE_CHANGES | LINE_CHANGES)[kind](Random(1), b"")
    assert change is None or change.data


def test_a_source_of_chance_gives_the_same_change_again() -> None:
    assert mutated(Random(7), FILES) == mutated(Random(7), FILES)


@pytest.mark.parametrize("name", NAMES)
def test_documents_are_valid(name: str) -> None:
    @examples(10)
    @given(documents(name))
    def valid(document: object) -> None:
        assert accepts(name, "writer", document)

    valid()


SHOWN: dict[str, Callable[[RunFiles], bool]] = {
    "a composite": lambda run: any("aggregation" in line for line in run.lines("results.ndjson")),
    "a rollup": lambda run: any("trials" in line for line in run.lines("results.ndjson")),
    "a composite trial": lambda run: any(
        "aggregation" in line and "trial" in line for line in run.lines("results.ndjson")
    ),
    "a flaky case": lambda run: any(
        line.get("trials", {}).get("agree") is False for line in run.lines("results.ndjson")
    ),
    "a typed absence": lambda run: any(line["state"] == "skipped" for line in run.lines("results.ndjson")),
    "a pending result": lambda run: any(line["state"] == "pending" for line in run.lines("results.ndjson")),
    "cited evidence": lambda run: any(line.get("evidence") for line in run.lines("results.ndjson")),
    "reasoning in a blob": lambda run: any("reasoning" in line for line in run.lines("results.ndjson")),
    "a resolved trace link": lambda run: (
        "traces.otlp.jsonl" in run and any("traceLink" in line for line in run.lines("results.ndjson"))
    ),
    "a blob": lambda run: any(path.startswith("blobs/") for path in run),
    "a gate that ships": lambda run: any(line["outcome"] == "ship" for line in run.lines("gates.ndjson")),
    "logs": lambda run: "logs.otlp.jsonl" in run,
    "no content captured": lambda run: run.document("run.json").get("contentCapture") == "off",
    "a file of the producer's": lambda run: any(path.startswith("ext/") for path in run),
    "an aborted run": lambda run: run.document("run.json")["status"] == "aborted",
    "an open run": lambda run: run.document("run.json")["status"] == "running",
    "an open run without a summary": lambda run: "summary.json" not in run,
    "a later minor": lambda run: run.document("run.json")["schemaVersion"] != "1.0",
    "not ASCII": lambda run: any(not line["caseId"].isascii() for line in run.lines("results.ndjson")),
    "a measured mean": lambda run: any(
        entry["n"] > 1 and "aggregate" not in entry
        for lane in (run.document("summary.json")["lanes"] if "summary.json" in run else ())
        for entry in lane["metrics"]
    ),
    "a median, least or greatest": lambda run: any(
        entry["n"] > 0 and entry.get("aggregate", {}).get("method") in ("median", "min", "max")
        for lane in (run.document("summary.json")["lanes"] if "summary.json" in run else ())
        for entry in lane["metrics"]
    ),
}


def test_runs_hold_everything_that_a_run_can() -> None:
    missing = set(SHOWN)

    @examples(250)
    @given(runs(later_minors=True))
    def look(run: RunFiles) -> None:
        missing.difference_update([what for what in missing if SHOWN[what](run)])

    look()
    assert not missing


@examples(50)
@given(st.binary(min_size=1, max_size=20).flatmap(lambda data: st.tuples(st.just(data), byte_changes(data))))
def test_a_change_of_bytes_is_one(found: tuple[bytes, object]) -> None:
    data, change = found
    assert change.data != data  # type: ignore[attr-defined]
