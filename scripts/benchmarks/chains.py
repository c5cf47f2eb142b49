"""Writes a run whose overlay chain has many batches [OVL-1], [OVL-4], each of one annotation."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from scripts.make_run import arguments, compact, result_id, write_run

EVENTS = "overlays/events.ndjson"
LINES = 1000


def write_chain(folder: Path, batches: int) -> None:
    """Write a sealed run of 1,000 lines and `batches` batches over it."""
    options = arguments().parse_args([str(folder), "--lines", str(LINES)])
    write_run(options)
    run_hash = json.loads((folder / "seal.json").read_bytes())["predicate"]["runHash"]
    (folder / "overlays").mkdir()
    offset, previous = 0, None
    with open(folder / EVENTS, "wb") as events:
        for number in range(1, batches + 1):
            line = compact(event(options.run_id, number))
            events.write(line)
            path = f"overlays/seal-{number:04d}.json"
            data = compact(batch(options.run_id, run_hash, number, offset, line, previous))
            (folder / path).write_bytes(data)
            offset += len(line)
            previous = {"path": path, "sha256": sha256(data).hexdigest()}


def event(run_id: str, number: int) -> dict[str, Any]:
    """State the annotation of one result."""
    case = f"case-{number % LINES:07d}"
    return {
        "schemaVersion": "1.0",
        "eventId": f"ov_{number}",
        "kind": "annotate",
        "target": {"run": run_id, "result": result_id(run_id, case, "qa")},
        "by": {"identity": "mailto:bench@example.com", "assurance": "self-attested"},
        "at": "2026-10-03T09:00:00Z",
        "reason": "Seen by the bench.",
    }


def batch(run_id: str, run_hash: str, number: int, offset: int, lines: bytes, previous: object) -> dict[str, Any]:
    """State the seal of the batch that holds these lines."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": EVENTS, "digest": {"sha256": sha256(lines).hexdigest()}}],
        "predicateType": "https://agenteval.dev/aef/1/overlay-batch",
        "predicate": {
            "schemaVersion": "1.0",
            "batch": number,
            "runId": run_id,
            "runHash": run_hash,
            "offset": offset,
            "length": len(lines),
            "previous": previous,
        },
    }
