"""Why a reader schema refuses a document, as the detail and value of a `Problem`."""

from __future__ import annotations

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
