"""Digests [ENC-11]: `sha256:` and 64 hex digits where a document cites one; run hashes and blob names are bare."""

from __future__ import annotations

PREFIX = "sha256:"


def cited(digits: str) -> str:
    """Return a SHA-256 in hex as documents cite it."""
    return PREFIX + digits


def bare(digest: str) -> str:
    """Return the hex digits of a digest as cited."""
    return digest.removeprefix(PREFIX)
