"""[VER-2] [RUN-4] [SEAL-5] [SIG-1] A closed run from its documents to its folder, or the reason why not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.verify import verify_run
from aef_verify.writing import run as writing
from aef_verify.writing.run import ClosedRun, Sealing, UnsoundRunError, publish_run
from aef_verify.writing.seal import seal_run
from tests import building

AFTER = building.SEALED
NOTE, REPORT = b"What the judge said.\r\n", "Ein Bericht, größer als nichts.\n".encode()


def closed() -> ClosedRun:
    """Return the documents of a run with one of everything but traces."""
    run = building.full()
    return ClosedRun(
        run["run.json"],
        [_untraced(line) for line in run["results.ndjson"]],
        run["metrics.json"],
        run["summary.json"],
        run["evidence.ndjson"],
        run["gates.ndjson"],
        [NOTE, REPORT, REPORT],
        {"producer/notes.txt": b"the producer's own\n"},
    )


def _untraced(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "traceLink"}


def test_an_unsealed_run_is_what_its_documents_say(tmp_path: Path) -> None:
    written = publish_run(closed(), str(tmp_path), sealing=None)
    assert written == (str(tmp_path / building.RUN_ID), building.RUN_ID, None)
    folder = tmp_path / building.RUN_ID
    assert json.loads((folder / "run.json").read_bytes()) == closed().run
    lines = (folder / "results.ndjson").read_bytes().splitlines()
    assert [json.loads(line) for line in lines] == closed().results
    assert sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()) == sorted(
        [
            *(building.blob_path(building.sha256(blob)) for blob in {NOTE, REPORT}),
            "evidence.ndjson",
            "ext/producer/notes.txt",
            "gates.ndjson",
            "metrics.json",
            "results.ndjson",
            "run.json",
            "summary.json",
        ]
    )


def test_without_lines_only_the_results_are_an_empty_file(tmp_path: Path) -> None:
    bare = building.bare()
    publish_run(
        ClosedRun(bare["run.json"], [], bare["metrics.json"], bare["summary.json"]), str(tmp_path), sealing=None
    )
    folder = tmp_path / building.RUN_ID
    assert sorted(os.listdir(folder)) == ["metrics.json", "results.ndjson", "run.json", "summary.json"]
    assert (folder / "results.ndjson").read_bytes() == b""


def test_seal5_the_seal_is_the_one_that_the_sealer_writes(tmp_path: Path) -> None:
    written = publish_run(closed(), str(tmp_path / "here"), sealing=Sealing(AFTER))
    other = publish_run(closed(), str(tmp_path / "there"), sealing=None)
    assert written.run_hash == seal_run(other.path, sealed_by="producer", sealed_at=AFTER)
    seals = [(Path(found.path) / "seal.json").read_bytes() for found in (written, other)]
    assert seals[0] == seals[1]
    assert verify_run(written.path).outcome == "intact"


@pytest.mark.parametrize("identity", [building.ALICE, building.BOB])
def test_sig1_a_signed_run_is_signed_by_its_key(identity: str, tmp_path: Path) -> None:
    written = publish_run(closed(), str(tmp_path), sealing=Sealing(AFTER, building.KEYS[identity]))
    report = verify_run(written.path, policy=building.trust())
    assert (report.outcome, report.signed_by) == ("intact", (identity,))


def edited(**members: Any) -> ClosedRun:
    run = closed()
    return run._replace(run={**run.run, **members})


REFUSED: dict[str, tuple[Callable[[], ClosedRun], str]] = {
    "run.json is not valid": (lambda: edited(execution={}), "run.json: /execution"),
    "a line is not valid": (lambda: closed()._replace(results=[{"state": "passed"}]), r"results\.ndjson: "),
    "the run is open": (
        lambda: closed()._replace(
            run={n: v for n, v in closed().run.items() if n != "endedAt"} | {"status": "running"}
        ),
        "not closed",
    ),
    "the name is no folder's": (lambda: edited(runId=".."), "cannot be the name of a folder"),
    "the name is a temporary folder's": (lambda: edited(runId=".aef-tmp-1"), "cannot be the name of a folder"),
    "a value has no UTF-8 form": (lambda: edited(ext={"note": "\ud800"}), "no form in I-JSON"),
    "a value is no number": (lambda: edited(ext={"note": float("nan")}), "no form in I-JSON"),
    "a line stands twice": (lambda: closed()._replace(results=[*closed().results, closed().results[0]]), "result-id"),
    "a blob is missing": (lambda: closed()._replace(blobs=[NOTE]), "blob"),
    "a path breaks RUN-3": (lambda: closed()._replace(ext={"a.": b""}), "path"),
    "a path is empty": (lambda: closed()._replace(ext={"": b""}), "ext/: path: "),
    "a path is a folder's": (lambda: closed()._replace(ext={"a/": b""}), "ext/a/: path: "),
    "a file lies below a file": (
        lambda: closed()._replace(ext={"a/b": b"", "a": b""}),
        "ext/a/b: path: ext/a is a file",
    ),
    "a path is too long": (lambda: closed()._replace(ext={"x" * 300: b""}), "longer than 255 bytes"),
    "the times run backwards": (lambda: edited(startedAt=AFTER), "run-times"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_run_that_is_not_sound_is_not_written(why: str, tmp_path: Path) -> None:
    make, said = REFUSED[why]
    with pytest.raises(UnsoundRunError, match=said) as found:
        publish_run(make(), str(tmp_path), sealing=None)
    assert found.value.strerror
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "path", ["../../../note.txt", "../note.txt", "a/../../../../note.txt", "..", ".", "a/./b", "a//b"]
)
def test_run3_no_file_of_the_producer_leaves_the_folder(path: str, tmp_path: Path) -> None:
    with pytest.raises(UnsoundRunError, match="path: a segment"):
        publish_run(closed()._replace(ext={path: b"note"}), str(tmp_path / "there"), sealing=None)
    assert list(tmp_path.rglob("*")) == []


def test_seal5_a_run_is_not_sealed_before_it_ended(tmp_path: Path) -> None:
    with pytest.raises(UnsoundRunError, match="before the run's endedAt"):
        publish_run(closed(), str(tmp_path), sealing=Sealing("2026-10-02T14:59:59.999Z"))
    assert os.listdir(tmp_path) == []


def test_what_the_disk_gives_back_is_what_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that change between the writing and the reading are found before the run has its name."""

    def spoil(path: str, **members: Any) -> Any:
        with open(os.path.join(path, "ext/producer/notes.txt"), "ab") as file:
            file.write(b"!")
        return verify_run(path, **members)

    monkeypatch.setattr(writing, "verify_run", spoil)
    with pytest.raises(UnsoundRunError, match="digest"):
        publish_run(closed(), str(tmp_path), sealing=Sealing(AFTER))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("change", [{"outcome": "unsealed"}, {"run_hash": "0" * 64}, {"signed_by": ()}])
def test_a_verdict_other_than_the_one_that_is_due_is_refused(
    change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "verify_run", lambda path, **members: verify_run(path, **members)._replace(**change))
    with pytest.raises(UnsoundRunError):
        publish_run(closed(), str(tmp_path), sealing=Sealing(AFTER, building.KEYS[building.BOB]))
    assert os.listdir(tmp_path) == []
