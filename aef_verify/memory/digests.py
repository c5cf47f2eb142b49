"""Content digests: SHA-256 over canonical JSON [RFC 8785], written `sha256:<hex>` (docs/MEMORY_PAIR.md §2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import rfc8785

from aef_verify.encoding.digests import cited
from aef_verify.memory.dataset import Dataset
from aef_verify.memory.model import RosterItem


def jcs_digest(value: Any) -> str:
    """Return the digest of one JSON value.

    Raises:
        ValueError: the value holds a number or a text that canonical JSON cannot represent.
    """
    return cited(hashlib.sha256(rfc8785.dumps(value)).hexdigest())


def source_inputs_digest(dataset: Dataset, roster: Iterable[RosterItem]) -> str:
    """Return the digest of the list of the selected entries, in roster order, exactly as the dataset holds them.

    Streamed: one entry is in memory at a time.

    Raises:
        InputError: an entry cannot be read any more, or is not the one that was there when the dataset was opened.
    """
    state = hashlib.sha256(b"[")
    for place, item in enumerate(roster):
        state.update(b"," if place else b"")
        state.update(rfc8785.dumps(dataset.entry(item.id)))
    state.update(b"]")
    return cited(state.hexdigest())
