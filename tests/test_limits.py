"""[ENC-17] The limits, as its table gives them."""

from __future__ import annotations

from aef_verify import limits

MIB, GIB = 1024**2, 1024**3


def test_the_table() -> None:
    assert {name: getattr(limits, name) for name in dir(limits) if name.isupper()} == {
        "DEPTH": 64,
        "JSON_BYTES": 4 * MIB,
        "SEAL_BYTES": 40 * MIB,
        "ENVELOPE_BYTES": 56 * MIB,
        "LINES": 1_000_000,
        "FILES": 100_000,
        "BATCHES": 9_999,
        "OVERLAY_FILES": 19_999,
        "BLOB_BYTES": GIB,
        "NDJSON_BYTES": GIB,
    }
