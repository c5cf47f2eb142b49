"""Single changes of a run, each with words that say what was changed where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, TypeVar

from hypothesis import reject
from hypothesis import strategies as st

from aef_verify.strategies.changes import (
    BYTE_CHANGES,
    JSON_CHANGES,
    LINE_CHANGES,
    Change,
    json_changed,
    json_line_changed,
)
from aef_verify.strategies.files import LINE_FILES, RunFiles

T = TypeVar("T")


class Mutation(NamedTuple):
    """A run with one change, and what was changed where."""

    description: str
    files: RunFiles


FileChange = Callable[[Random, RunFiles], "Mutation | None"]

_NAMES = (
    *("notes.txt", ".DS_Store", "ext/added", "ext/A", "ext/a", "ext/con", "ext/" + "x" * 252, "blobs/sha256/00/x"),
    *("overlays", "Overlays/x", "overlays/junk", "overlays/seal-0001.json", "overlays/events.ndjson", "seal.json"),
    *("attestation.dsse.json", "runs/run.json", *LINE_FILES),
)
_CONTENTS = (b"", b"\n", b"{}", b"{}\n", b"null", b"[]\n", b"\xff", b"{\n", b'{"a":1,"a":2}\n', b"[" * 65)


def _free(name: str, files: RunFiles) -> bool:
    """Whether a file of this name can stand beside the others: it is no folder of theirs, nor they of it."""
    return not any(f"{path}/".startswith(f"{name}/") or f"{name}/".startswith(f"{path}/") for path in files)


def file_added(chance: Random, files: RunFiles) -> Mutation | None:
    """Add a file."""
    name, data = chance.choice(_NAMES), chance.choice(_CONTENTS)
    return Mutation(f"{name} added", files.replacing({name: data})) if _free(name, files) else None


def file_removed(chance: Random, files: RunFiles) -> Mutation | None:
    """Remove a file."""
    name = chance.choice(list(files))
    return Mutation(f"{name} removed", files.without(name))


def file_renamed(chance: Random, files: RunFiles) -> Mutation | None:
    """Rename a file."""
    name = chance.choice(list(files))
    new = chance.choice((*_NAMES, name.upper(), f"{name}.bak", f"ext/{name}"))
    rest = files.without(name)
    if new == name or not _free(new, rest):
        return None
    return Mutation(f"{name} renamed {new}", rest.replacing({new: files[name]}))


def files_swapped(chance: Random, files: RunFiles) -> Mutation | None:
    """Give two files each other's content."""
    first, second = chance.choice(list(files)), chance.choice(list(files))
    if files[first] == files[second]:
        return None
    return Mutation(f"{first} and {second} swapped", files.replacing({first: files[second], second: files[first]}))


def file_emptied(chance: Random, files: RunFiles) -> Mutation | None:
    """Put something else into a file: nothing, or the least of a few kinds."""
    name, data = chance.choice(list(files)), chance.choice(_CONTENTS)
    return Mutation(f"{name}: holds {data!r}", files.replacing({name: data})) if files[name] != data else None


FILE_CHANGES: dict[str, FileChange] = {
    "file added": file_added,
    "file removed": file_removed,
    "file renamed": file_renamed,
    "files swapped": files_swapped,
    "file emptied": file_emptied,
}


def content_changed(chance: Random, files: RunFiles) -> Mutation | None:
    """Change the content of one file: a JSON value, a line, a byte."""
    name = chance.choice(list(files))
    lined = name in LINE_FILES or name == "overlays/events.ndjson"
    kind = chance.randrange(4)
    if kind >= 2:
        change = (json_line_changed if lined else json_changed)(chance, files[name])
    elif kind == 1 and lined:
        change = LINE_CHANGES[chance.choice(list(LINE_CHANGES))](chance, files[name])
    else:
        change = BYTE_CHANGES[chance.choice(list(BYTE_CHANGES))](chance, files[name])
    if change is None or change.data == files[name]:
        return None
    return Mutation(f"{name}: {change.description}", files.replacing({name: change.data}))


def mutated(chance: Random, files: RunFiles) -> Mutation:
    """Change one thing in a run that has a file, whatever it is."""
    while True:
        change = FILE_CHANGES[chance.choice(list(FILE_CHANGES))] if chance.randrange(8) == 0 else content_changed
        if (mutation := change(chance, files)) is not None:
            return mutation


# As strategies


def mutations(files: RunFiles, kinds: Sequence[str] | None = None) -> st.SearchStrategy[Mutation]:
    """One change of a run.

    Args:
        files: the run.
        kinds: names of `FILE_CHANGES`, where only these are wanted; otherwise any change of a file or its content.
    """
    if kinds is None:
        return st.randoms().map(lambda chance: mutated(chance, files))
    return _found(lambda chance: FILE_CHANGES[chance.choice(kinds)](chance, files))


def byte_changes(data: bytes, kinds: Sequence[str] = tuple(BYTE_CHANGES)) -> st.SearchStrategy[Change]:
    """One change of bytes, of the kinds of `BYTE_CHANGES`."""
    return _found(lambda chance: BYTE_CHANGES[chance.choice(kinds)](chance, data))


def json_changes(data: bytes, kinds: Sequence[str] = tuple(JSON_CHANGES)) -> st.SearchStrategy[Change]:
    """One change of a JSON text, of the kinds of `JSON_CHANGES`."""
    return _found(lambda chance: json_changed(chance, data, kinds))


def _found(change: Callable[[Random], T | None]) -> st.SearchStrategy[T]:
    """Make a strategy of a change, without the times it finds nothing to change."""

    @st.composite
    def found(draw: st.DrawFn) -> T:
        result = change(draw(st.randoms()))
        if result is None:
            reject()
        return result

    return found()
