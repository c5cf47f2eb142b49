"""The text of each schema, and the names by which schemas are asked for [VER-2], [VER-3].

A name is that of a document (`run`), or of a definition in one (`decision#/$defs/input`). The schemas to read are in
`writer/` (written by hand) and `reader/` (derived); loaded are the same ones without references, from `bundled/`. A
profile (`memory-pair`) has one schema, for both sides.
"""

from __future__ import annotations

import json
import os
from typing import Literal

from aef_verify.problems import InputError

Side = Literal["writer", "reader"]

NAMES = (
    "run",
    "result",
    "metrics",
    "summary",
    "evidence",
    "gate-decision",
    "seal",
    "overlay-event",
    "overlay-seal",
    "checkpoint",
    "decision",
    "run-plan",
    "runner",
    "runner-event",
    "trust-policy",
)
"""The documents that have a schema."""

PROFILES = ("memory-pair",)
"""What profiles put into `ext`: one schema each, a reader's, without references (`profiles/`)."""

_HERE = os.path.dirname(__file__)
_BUNDLED = os.path.join(_HERE, "bundled")


def schema_text(name: str, side: Side) -> str:
    """Return the JSON text of a schema that holds no reference.

    Raises:
        InputError: no schema has that name; the message lists the names there are.
    """
    if name in NAMES:
        return _read(f"{_BUNDLED}/{side}/{name}.json")
    if name in PROFILES:
        return _read(f"{_HERE}/profiles/{name}.schema.json")
    definitions: dict[str, object] = json.loads(_read(f"{_BUNDLED}/{side}/definitions.json"))
    if name not in definitions:
        known = f"there are {', '.join(NAMES)}, and definitions such as decision#/$defs/input"
        raise InputError(f"no schema is named {name!r}; {known}")
    return json.dumps(definitions[name])


def _read(path: str) -> str:
    with open(path, "rb", buffering=0) as file:
        return file.read().decode()
