"""What stands in a document as far as it reads: a member of the type that it should have, or nothing.

For documents that may not be valid, and are shown or compared all the same [VER-3].
"""

from __future__ import annotations

from typing import Any, NamedTuple

Document = dict[str, Any]


class Named(NamedTuple):
    """A thing by its reference or name, and its exact version; None for a part that is not there."""

    ref: str | None
    version: str | None


def text_in(holder: Document | None, name: str) -> str | None:
    """Return a member that is text, or None."""
    found = holder.get(name) if holder is not None else None
    return found if isinstance(found, str) else None


def object_in(holder: Document | None, name: str) -> Document:
    """Return a member that is an object, or an empty one."""
    found = holder.get(name) if holder is not None else None
    return found if isinstance(found, dict) else {}


def objects_in(holder: Document, name: str) -> list[Document]:
    """Return the objects of a member that is a list; none where it is no list."""
    found = holder.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def named_in(run: Document, member: str, name: str) -> Named:
    """Return the thing that a member of `run.json` names, by its `ref` or its `name`."""
    holder = object_in(run, member)
    return Named(text_in(holder, name), text_in(holder, "version"))
