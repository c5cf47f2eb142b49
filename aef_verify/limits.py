"""The numbers of [ENC-17], once: everything here is checked on bytes before content is trusted."""

DEPTH = 64
"""Nesting of objects and arrays; a top-level value has depth 1."""

JSON_BYTES = 4 << 20
"""One JSON file, or one NDJSON line without its LF."""

SEAL_BYTES = 40 << 20
"""`seal.json`, or one batch seal."""

ENVELOPE_BYTES = 56 << 20
"""One DSSE envelope; beyond it the envelope is `malformed`, not `limit` [SIG-1]."""

LINES = 1_000_000
"""Lines of one NDJSON file, counted as LFs."""

FILES = 100_000
"""Files of a run folder without `seal.json`, `attestation.dsse.json` and all below `overlays/`."""

BATCHES = 9_999
"""Overlay batches of one run."""

OVERLAY_FILES = 2 * BATCHES + 1
"""Files below `overlays/`: the events, and a seal with its envelope for every batch."""

BLOB_BYTES = 1 << 30
"""One blob."""

NDJSON_BYTES = 1 << 30
"""One NDJSON file."""
