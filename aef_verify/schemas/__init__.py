"""The schemas of the documents: validation as a writer or a reader [VER-2], [VER-3], [VER-4], [VER-9].

A validator is compiled when it is first asked for. Two implementations stand behind one interface: `native`
(jsonschema-rs), and `pure` (jsonschema) when `AEF_PURE=1` is set. Both take values as `encoding.ijson` parses them,
read numbers by value [ENC-4], patterns as ECMA-262's [ENC-15] and count lengths in code points; that a time exists
[ENC-8] is in the pattern, so that "valid" is the schema's verdict alone [ENC-16].
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from aef_verify.encoding.ijson import PURE
from aef_verify.schemas.source import NAMES, Side, schema_text

if PURE:
    from aef_verify.schemas.pure import compile_schema
else:
    from aef_verify.schemas.native import compile_schema

__all__ = ["NAMES", "Fault", "Side", "accepts", "explain", "reads", "validator"]


class Fault(NamedTuple):
    """What is wrong at one place of a document, for people.

    `pointer` is a JSON pointer (RFC 6901), empty for the document itself; `value` is what stands there, None where
    nothing does.
    """

    pointer: str
    message: str
    value: object


@cache
def validator(name: str, side: Side) -> Callable[[object], bool]:
    """Return what tells whether a value is valid against a schema.

    Args:
        name: a document (`run`) or a definition in one (`decision#/$defs/input`).
        side: whose schema, the writer's or the reader's.

    Raises:
        InputError: no schema has that name.
    """
    return compile_schema(schema_text(name, side))


def accepts(name: str, side: Side, value: object) -> bool:
    """Return whether a value is valid against a schema; see `validator`."""
    return validator(name, side)(value)


def explain(name: str, side: Side, value: object) -> list[Fault]:
    """Return the first faults of a value in plain words, or none when it is valid; see `validator`."""
    from aef_verify.schemas.faults import explain as first_faults

    return first_faults(name, side, value)


def reads(name: str, value: object) -> dict[str, str]:
    """Return how each field of [VER-8] that an accepted document holds is read, by the field's path."""
    from aef_verify.schemas.readings import reads as read_fields

    return read_fields(name, value)
