"""[SEAL-1], [SEAL-2], [SEAL-3], [SEAL-5], [RUN-4] Sealing a closed run: what is written, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from aef_verify import limits
from aef_verify.integrity.check import verify_seal
from aef_verify.problems import InputError
from aef_verify.run.verify import verify_run
from aef_verify.schemas import accepts
from aef_verify.writing.seal import seal_run
from tests import building
from tests.building import ENDED, Edit, Run, drop, put

SEALED = "2026-10-02T16:00:00Z"


def seal(run: Run, root: Path, by: str = "producer", at: str = SEALED) -> dict[str, Any]:
    """Seal a run on disk and return the seal; hold that it verifies and that the hash returned is the run's."""
    path = run.write(root)
    names = {name for name in os.listdir(path) if name != "seal.json"}
    returned = seal_run(path, sealed_by=by, sealed_at=at)
    assert set(os.listdir(path)) == {*names, "seal.json"}
    found: dict[str, Any] = json.loads((root / "seal.json").read_bytes())
    assert accepts("seal", "writer", found)
    assert verify_seal(path) == (run.manifest(), returned, [])
    assert returned == building.sha256(run.manifest().encode())
    return found


def refused(run: Run, root: Path, match: str, by: str = "producer", at: str = SEALED) -> None:
    """Hold that a run is refused with these words, and that nothing was written or changed."""
    path = run.write(root)
    before = {name: os.stat(os.path.join(path, name)).st_mtime_ns for name in os.listdir(path)}
    with pytest.raises(InputError, match=match):
        seal_run(path, sealed_by=by, sealed_at=at)
    assert {name: os.stat(os.path.join(path, name)).st_mtime_ns for name in os.listdir(path)} == before


@pytest.mark.parametrize("by", ["producer", "ingest"])
@pytest.mark.parametrize("make", [building.small, building.full, building.bare])
def test_a_sealed_run_is_intact(by: str, make: Any, tmp_path: Path) -> None:
    seal(make(), tmp_path, by)
    assert verify_run(str(tmp_path)).outcome == "intact"


def test_seal5_the_statement(tmp_path: Path) -> None:
    """The members that §4.1 names, as `run.json` has them; nothing else of it."""
    run = building.small().but(
        put("run.json", "deployment", {"ref": "site:eu", "environment": "prod"}),
        put("run.json", "suite", "digest", "sha256:" + "5" * 64),
        put("run.json", "suite", "frozen", True),
        put(
            "run.json",
            "judges",
            [{"model": "m", "provider": "p", "rubricDigest": "sha256:" + "6" * 64}, {"model": "n"}],
        ),
        put("run.json", "endedAt", "2026-10-02T15:00:00.000000001Z"),
        put("ext/u", b"\r\n"),
        put("overlays/events.ndjson", b"not sealed"),
        put("attestation.dsse.json", b"not sealed"),
    )
    lines = [line.split("  ", 2) for line in run.manifest().splitlines()]
    assert seal(run, tmp_path, "ingest") == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path, "digest": {"sha256": digest}} for digest, _, path in lines],
        "predicateType": "https://agenteval.dev/aef/1/evidence",
        "predicate": {
            "schemaVersion": "1.0",
            "runId": building.RUN_ID,
            "runHash": run.run_hash(),
            "producer": {"name": "building", "version": "1.2"},
            "subject": {"ref": "agent:triage", "version": "7"},
            "deployment": {"ref": "site:eu"},
            "suite": {"ref": "suite:triage", "version": "3", "digest": "sha256:" + "5" * 64},
            "judges": [{"model": "m", "rubricDigest": "sha256:" + "6" * 64}, {"model": "n"}],
            "closedAt": "2026-10-02T15:00:00.000000001Z",
            "sealedAt": SEALED,
            "sealedBy": "ingest",
        },
    }


def test_seal5_what_a_run_lacks_is_null_or_empty_or_left_out(tmp_path: Path) -> None:
    run = building.small().but(drop("run.json", "suite"), drop("run.json", "subject", "version"))
    found = seal(run, tmp_path)["predicate"]
    assert (found["deployment"], found["suite"], found["judges"]) == (None, None, [])
    assert found["subject"] == {"ref": "agent:triage"}


def test_an_aborted_run_is_closed(tmp_path: Path) -> None:
    seal(building.bare().but(put("run.json", "status", "aborted"), put("run.json", "abortReason", "x")), tmp_path)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (ENDED, ""),
        ("2026-10-02T15:00:00.0Z", ""),
        ("2026-10-02T14:59:59.999999999Z", "before the run's endedAt"),
        ("2026-10-02", "no time"),
        ("2026-02-31T00:00:00Z", "no time"),
        ("", "no time"),
    ],
)
def test_a_run_is_sealed_at_a_time_not_before_it_closed(at: str, words: str, tmp_path: Path) -> None:
    if words:
        refused(building.small(), tmp_path, words, at=at)
    else:
        assert seal(building.small(), tmp_path, at=at)["predicate"]["sealedAt"] == at


UNSEALABLE = "no valid seal can be written|run.json: schema"


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ((put("run.json", "status", "running"), drop("run.json", "endedAt")), "'running'; only a closed run"),
        ((put("run.json", "status", "sealed"),), "'sealed'; only a closed run"),
        ((put("run.json", "status", ["completed"]),), "only a closed run"),
        ((drop("run.json"),), "missing or does not read"),
        ((put("run.json", b'{"a":1,"a":1}'),), "missing or does not read"),
        ((put("run.json", b"[" * 65),), "missing or does not read"),
        ((drop("run.json", "endedAt"),), "no valid endedAt"),
        ((put("run.json", "endedAt", "2026-02-31T00:00:00Z"),), "no valid endedAt"),
        ((put("run.json", "endedAt", 5),), "no valid endedAt"),
        ((drop("run.json", "producer"),), UNSEALABLE),
        ((put("run.json", "subject", []),), UNSEALABLE),
        ((put("run.json", "judges", [5]),), UNSEALABLE),
        ((put("run.json", "runId", "a b"),), UNSEALABLE),
        ((put("run.json", "producer", "version", "Latest"),), UNSEALABLE),
        ((put("seal.json", b""),), "has a seal.json already"),
        ((put(".DS_Store", b""),), "RUN-3"),
        ((put("ext/A", b""), put("ext/a", b"")), "RUN-3"),
        ((put("ext/nul.txt", b""),), "RUN-3"),
        ((put("n\udcff", b""),), "RUN-3"),
        ((put("overlays", b""),), "RUN-3"),
    ],
)
def test_what_no_one_seals(edits: tuple[Edit, ...], words: str, tmp_path: Path) -> None:
    refused(building.small().but(*edits), tmp_path / "producer", words)
    refused(building.small().but(*edits), tmp_path / "ingest", words, "ingest")


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ((drop("metrics.json"),), "metrics.json: schema"),
        ((drop("summary.json"),), "summary.json: schema"),
        ((drop("results.ndjson"),), "results.ndjson is required"),
        ((put("run.json", "execution", {}),), "run.json: schema: /execution"),
        ((put("metrics.json", {}),), "metrics.json: schema"),
        ((put("summary.json", b"\xff"),), "summary.json: encoding"),
        ((put("results.ndjson", b"{}\n"),), "results.ndjson:1: schema"),
        ((put("results.ndjson", b"{}"),), "results.ndjson: encoding"),
        ((put("evidence.ndjson", b"[" * 65 + b"\n"),), "evidence.ndjson:1: limit"),
        ((put("gates.ndjson", b"{}\n"),), "gates.ndjson:1: schema"),
        ((put("traces.otlp.jsonl", b"\n"),), "traces.otlp.jsonl: encoding"),
        ((put("logs.otlp.jsonl", b"[]\n"),), "logs.otlp.jsonl:1: encoding"),
    ],
)
def test_seal1_what_a_host_does_not_seal_and_a_producer_may(
    edits: tuple[Edit, ...], words: str, tmp_path: Path
) -> None:
    """By `ingest` every file is there, reads, and is valid for a reader; a producer SHOULD NOT, and can."""
    refused(building.small().but(*edits), tmp_path / "ingest", words, "ingest")
    seal(building.small().but(*edits), tmp_path / "producer")


def test_seal1_a_host_takes_what_a_reader_takes(tmp_path: Path) -> None:
    """A later minor, values and files nobody knows, and a breach of the rules across files, which §3.9 judges."""
    run = building.small().but(
        put("run.json", "schemaVersion", "1.9"),
        put("run.json", "novel", 1),
        put("run.json", "execution", "targetMode", "novel"),
        put("summary.json", "runId", "other"),
        put("notes.txt", b""),
    )
    assert seal(run, tmp_path, "ingest")["predicate"]["schemaVersion"] == "1.0"
    assert verify_run(str(tmp_path)).outcome == "invalid"


@pytest.mark.parametrize("by", ["", "Producer", "host"])
def test_a_sealer_is_one_of_two(by: str, tmp_path: Path) -> None:
    refused(building.small(), tmp_path, "`producer` or `ingest`", by)


@pytest.mark.parametrize("name", ["ext/link", "seal.json", "overlays", "attestation.dsse.json"])
def test_run3_a_link_is_refused_wherever_it_stands(name: str, tmp_path: Path) -> None:
    path = Path(building.small().but(put("ext/a", b"")).write(tmp_path / "run"))
    (path / name).symlink_to(tmp_path / "target")
    with pytest.raises(InputError, match="already" if name == "seal.json" else "RUN-3"):
        seal_run(str(path), sealed_by="producer", sealed_at=SEALED)
    assert not (tmp_path / "target").exists()


def test_enc17_a_run_at_the_limit_of_files_is_sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attestation and the overlays do not count."""
    run = building.small().but(put("attestation.dsse.json", b""), put("overlays/a", b""), put("overlays/b", b""))
    monkeypatch.setattr(limits, "FILES", 4)
    seal(run, tmp_path / "at")
    monkeypatch.setattr(limits, "FILES", 3)
    refused(run, tmp_path / "beyond", "more than 3 files")


def test_enc17_a_seal_beyond_its_limit_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seal(building.small(), tmp_path / "at")
    monkeypatch.setattr(limits, "SEAL_BYTES", (tmp_path / "at/seal.json").stat().st_size - 1)
    refused(building.small(), tmp_path / "beyond", "seal")


def test_run4_a_sealed_run_is_not_sealed_again(tmp_path: Path) -> None:
    seal(building.small(), tmp_path)
    before = (tmp_path / "seal.json").read_bytes()
    with pytest.raises(InputError, match="already"):
        seal_run(str(tmp_path), sealed_by="producer", sealed_at=SEALED)
    assert (tmp_path / "seal.json").read_bytes() == before


def test_no_run_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(InputError):
            seal_run(str(path), sealed_by="producer", sealed_at=SEALED)
    assert os.listdir(tmp_path) == []


def test_text_that_is_not_ascii_is_sealed_as_it_is(tmp_path: Path) -> None:
    run = building.small().but(put("run.json", "producer", "name", "Größe 😀\u2028"))
    assert seal(run, tmp_path)["predicate"]["producer"]["name"] == "Größe 😀\u2028"
