"""Where everything of a run stands, once: its files by name [RUN-2], its blobs [EVD-3], its overlays [OVL-1]."""

RUN, METRICS, SUMMARY = "run.json", "metrics.json", "summary.json"
RESULTS, EVIDENCE, GATES = "results.ndjson", "evidence.ndjson", "gates.ndjson"
TRACES, LOGS = "traces.otlp.jsonl", "logs.otlp.jsonl"
SEAL, ATTESTATION = "seal.json", "attestation.dsse.json"
OVERLAYS = "overlays"
EVENTS = "overlays/events.ndjson"

KNOWN_FILES = frozenset((RUN, METRICS, SUMMARY, RESULTS, EVIDENCE, GATES, TRACES, LOGS, SEAL, ATTESTATION))
"""The files of [RUN-2] outside `blobs/`, `ext/` and `overlays/`."""

LINE_FILES = frozenset((RESULTS, EVIDENCE, GATES, TRACES, LOGS, EVENTS))
"""The files whose lines have problems of their own, at `<file>:<line>`."""


def is_overlay(path: str) -> bool:
    """Whether the path lies below `overlays/`, which the overlay chain judges [OVL-5], not the run."""
    return path.startswith("overlays/")


def blob_path(name: str) -> str:
    """Return where the blob of a hex name stands [EVD-3]."""
    return f"blobs/sha256/{name[:2]}/{name}"
