"""Why a reader schema refuses a document, as the detail and value of a `Problem`."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VERSION = re.compile(r"(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)", re.ASCII)

INVALID = "not valid against the reader schema"


def refusal(schema: str, document: dict[str, object], *, details: bool) -> tuple[str, object]:
    """Return in plain words the first thing that a reader schema refuses, and the offending value.

    Without `details` nothing is looked for, as that costs more than the verdict.
    """
    if details:
        from aef_verify.schemas import explain

        for fault in explain(schema, "reader", document):
            return f"{fault.pointer or '(document)'}: {fault.message}", fault.value
    return INVALID, None


def other_major(document: Mapping[str, object]) -> str | None:
    """Return the version of a document that is of another major one, which is refused [VER-4]; None of any other."""
    version = document.get("schemaVersion")
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    return found[0] if found is not None and found[1] != "1" else None
