"""The shapes of what a writer is given: objects with members of a type, each due or optional, and no others.

What a value's content must be is judged by the writer schema of the document that it goes into; this says only where a
value of another kind stands, in words that name the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.given import read_given
from aef_verify.problems import InputError
from aef_verify.schemas import explain

Document = dict[str, Any]
Shape = Mapping[str, type | tuple[type, ...]]
"""The type of each member, or several; `bool` is a type of its own, never a number. None stands for null."""

NONE: Shape = {}
NULL = type(None)


def read_given_object(path: str) -> Document:
    """Return the JSON object of a file that the caller names, within [ENC-17]; raises InputError where it is none."""
    try:
        return read_object(read_given(path, limits.JSON_BYTES))
    except UnreadableError as fault:
        raise InputError(f"{path}: {fault}") from None


def members(value: object, what: str, due: Shape, optional: Shape = NONE) -> Document:
    """Return an object's members.

    Args:
        value: what should be the object.
        what: the object, in words for people.
        due: the members that it must have.
        optional: those that it may have.

    Raises:
        InputError: it is no object, or a member is missing, unknown or of another type.
    """
    if not isinstance(value, dict):
        raise InputError(f"{what} is no object")
    for name in due:
        if name not in value:
            raise InputError(f"{what} has no member {name!r}")
    types = {**due, **optional}
    for name, found in value.items():
        if name not in types:
            raise InputError(f"{what} has a member {name!r}, which does not belong there")
        if not _is_of(found, types[name]):
            raise InputError(f"{what}: {name} is not {_in_words(types[name])}")
    return value


_WORDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a whole number"}


def _in_words(types: type | tuple[type, ...]) -> str:
    return "a number" if isinstance(types, tuple) else _WORDS[types]


def _is_of(value: object, types: type | tuple[type, ...]) -> bool:
    allowed = types if isinstance(types, tuple) else (types,)
    return bool in allowed if isinstance(value, bool) else isinstance(value, allowed)


def refused(schema: str, document: object) -> str:
    """Say in one line what a writer schema refuses in a document that is not valid against it."""
    faults = [f"{fault.pointer or '/'}: {fault.message}" for fault in explain(schema, "writer", document)]
    return "; ".join(faults) or "not valid against its writer schema"
