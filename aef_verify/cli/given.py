"""What callers give on the command line: files, and `-` for standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from aef_verify import limits
from aef_verify.given import read_given
from aef_verify.problems import InputError, reason_of

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

ANCHOR_BYTES = 256 << 20
"""A list of run hashes: some millions of them."""


def read_input(path: str, limit: int) -> bytes:
    """Return the content of a file, or of standard input for `-`; raises InputError where it cannot be read."""
    if path != "-":
        return read_given(path, limit)
    try:
        data = sys.stdin.buffer.read(limit + 1)
    except (OSError, ValueError, AttributeError) as fault:
        reason = "it is closed" if sys.stdin is None else reason_of(fault)
        raise InputError(f"standard input: cannot be read: {reason}") from None
    if data is None:
        raise InputError("standard input: cannot be read: it would have to be waited for")
    if len(data) > limit:
        raise InputError(f"standard input: more than {limit:,} bytes")
    return data


def policy_given(path: str | None) -> TrustPolicy | None:
    """Return the trust policy in a file, None for none; raises InputError where it is refused [SIG-4]."""
    if path is None:
        return None
    from aef_verify.integrity.policy import load_policy

    data = read_input(path, limits.JSON_BYTES)
    try:
        return load_policy(data)
    except InputError as fault:
        raise InputError(f"{path}: {fault}") from None


def anchors_given(path: str | None) -> frozenset[str] | None:
    """Return the run hashes in a file, None for none; raises InputError for other content."""
    if path is None:
        return None
    from aef_verify.integrity.anchors import load_anchors

    data = read_input(path, ANCHOR_BYTES)
    try:
        return load_anchors(data)
    except InputError as fault:
        raise InputError(f"{path}: {fault}") from None
