"""Sealing a closed run [SEAL-1], [SEAL-2], [SEAL-5]: one statement over its exact bytes, written once and whole.

Refused, with nothing written: an open run, a time before the run closed, a run that has a seal, a name that a seal
cannot list; by `ingest` also a path that breaks [RUN-3] and a file that is missing, does not read or is not valid
against its reader schema.
"""

from __future__ import annotations

import os
from typing import Any

from aef_verify import limits
from aef_verify.encoding.paths import path_problems
from aef_verify.encoding.times import given_time, is_time, time_key
from aef_verify.folder import Folder
from aef_verify.integrity.facts import read_run
from aef_verify.integrity.manifest import Sealed, manifest_hash, read_sealed, sealed_entries
from aef_verify.layout import EVIDENCE, GATES, LOGS, METRICS, RESULTS, RUN, SEAL, SUMMARY, TRACES
from aef_verify.problems import InputError, Problem
from aef_verify.run.header import is_closed
from aef_verify.run.reading import Documents
from aef_verify.schemas import accepts
from aef_verify.writing.whole import json_bytes, write_new

SEALERS = ("producer", "ingest")
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://agenteval.dev/aef/1/evidence"

Document = dict[str, Any]


def seal_run(path: str, *, sealed_by: str, sealed_at: str) -> str:
    """Write `seal.json` into a closed run and return the run hash [SEAL-4].

    Args:
        path: the run's folder.
        sealed_by: `producer`, or `ingest` for a host that takes the run into custody [SEAL-1].
        sealed_at: the time of sealing [ENC-8], not before the run closed.

    Raises:
        InputError: the run or the call is refused; nothing was written.
        OSError: the seal could not be written; nothing was left behind.
    """
    if sealed_by not in SEALERS:
        raise InputError(f"sealed by {sealed_by!r}: it is `producer` or `ingest`")
    given_time(sealed_at)
    with Folder(path) as folder:
        run = _closed_run(folder, sealed_at)
        _check_names(folder)
        if sealed_by == "ingest":
            _check_documents(folder)
        files = read_sealed(folder)
        statement = seal_statement(run, files, sealed_by=sealed_by, sealed_at=sealed_at)
        data = json_bytes(statement)
        if not accepts("seal", "writer", statement) or len(data) > limits.SEAL_BYTES:
            raise InputError(f"{path}: run.json is not valid, so no valid seal can be written for it")
        write_new(os.path.join(path, SEAL), data)
        return str(statement["predicate"]["runHash"])


def _closed_run(folder: Folder, sealed_at: str) -> Document:
    if any(entry.path == SEAL for entry in (*folder.files, *folder.irregular)):
        raise InputError(f"{folder.root}: has a seal.json already; a sealed run is extended only by overlays")
    run = read_run(folder)
    if run is None:
        raise InputError(f"{folder.root}: run.json is missing or does not read, so there is nothing to seal")
    if not is_closed(run):
        raise InputError(f"{folder.root}: run.json has the status {run.get('status')!r}; only a closed run is sealed")
    ended = run.get("endedAt")
    if not is_time(ended):
        raise InputError(f"{folder.root}: run.json has no valid endedAt, so the run cannot be sealed")
    if time_key(sealed_at) < time_key(str(ended)):
        raise InputError(f"{folder.root}: {sealed_at} is before the run's endedAt {ended}")
    return run


def _check_names(folder: Folder) -> None:
    problems = path_problems([entry.path for entry in folder.files])
    problems += [Problem(entry.path, "path", "neither a file nor a folder") for entry in folder.irregular]
    if problems:
        first = problems[0]
        raise InputError(f"{folder.root}: {first.path}: {first.detail} [RUN-3]; nothing was sealed")
    if len(sealed_entries(folder)) > limits.FILES:
        raise InputError(f"{folder.root}: more than {limits.FILES:,} files; nothing was sealed")


def _check_documents(folder: Folder) -> None:
    """Refuse a run that a host may not seal: each file must be there, read, and be valid for a reader."""
    documents = Documents(folder, details=True)
    for name, schema in ((RUN, "run"), (METRICS, "metrics"), (SUMMARY, "summary")):
        documents.json(name, schema, required=True)
    if folder.get(RESULTS) is None:
        raise InputError(f"{folder.root}: {RESULTS} is required, and it is not there; nothing was sealed")
    for file, line_schema in (
        (RESULTS, "result"),
        (EVIDENCE, "evidence"),
        (GATES, "gate-decision"),
        (TRACES, None),
        (LOGS, None),
    ):
        documents.ndjson(file, line_schema, lambda number, line: None)
    if documents.problems:
        first = documents.problems[0]
        raise InputError(f"{folder.root}: {first.path}: {first.code}: {first.detail}; nothing was sealed")


def _copied(value: Any, *names: str) -> Document | None:
    if not isinstance(value, dict):
        return None
    return {name: value[name] for name in names if value.get(name) is not None}


def seal_statement(run: Document, files: list[Sealed], *, sealed_by: str, sealed_at: str) -> Document:
    """Return the in-toto statement over a run's sealed files, given in path order [SEAL-5]."""
    judges = run.get("judges") or []
    return {
        "_type": STATEMENT,
        "subject": [{"name": file.path, "digest": {"sha256": file.sha256}} for file in files],
        "predicateType": PREDICATE,
        "predicate": {
            "schemaVersion": "1.0",
            "runId": run.get("runId"),
            "runHash": manifest_hash(files),
            "producer": _copied(run.get("producer"), "name", "version"),
            "subject": _copied(run.get("subject"), "ref", "version"),
            "deployment": _copied(run.get("deployment"), "ref"),
            "suite": _copied(run.get("suite"), "ref", "version", "digest"),
            "judges": [_copied(judge, "model", "rubricDigest") for judge in judges] if isinstance(judges, list) else [],
            "closedAt": run.get("endedAt"),
            "sealedAt": sealed_at,
            "sealedBy": sealed_by,
        },
    }
