"""This product by name and version, as evidence, claims and `--version` state it."""

from __future__ import annotations

NAME = "aef-verify"


def version() -> str:
    """Return this product's version; `0` where it was not installed."""
    from importlib import metadata

    try:
        return metadata.version(NAME)
    except metadata.PackageNotFoundError:
        return "0"
