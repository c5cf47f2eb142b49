"""The caller's list of run hashes that it trusts from elsewhere [SIG-8]."""

from __future__ import annotations

import re

from aef_verify.encoding.ijson import EncodingError, parse, too_deep
from aef_verify.problems import InputError

_RUN_HASH = re.compile(r"[0-9a-f]{64}")


def load_anchors(data: bytes) -> frozenset[str]:
    """Return the run hashes of a JSON list, 64 lower-case hex digits each; raises InputError for any other content."""
    try:
        found = None if too_deep(data) else parse(data)
    except EncodingError as fault:
        raise InputError(f"not JSON that reads: {fault}") from None
    if not isinstance(found, list):
        raise InputError("not a JSON list of run hashes")
    for item in found:
        if not (isinstance(item, str) and _RUN_HASH.fullmatch(item)):
            raise InputError(f"{item!r} is no run hash (64 lower-case hex digits)"[:200])
    return frozenset(found)
