"""Generated vectors: the steps of `generate`, performed one by one on a copy of the vector (09 §9.2.1).

Rules kept, in this order: the vector's listed files are copied; each step is a one-member object of a known
kind; every path stays below the corpus (the source of a copy) or below the copy (all else), by its name and
through no link; what is copied from the corpus is checked against the index first ([CONF-3]). A step that
the platform cannot perform raises `SkippedError`: the vector is reported as skipped.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator

from aef_verify.conformance.index import (
    EXPECTED,
    Corpus,
    CorpusError,
    Vector,
    blocks,
    located,
    refuse_unlisted,
    safe,
)
from aef_verify.folder import BLOCK

WRITE_BYTES = 8 << 30
"""The most one `write` or `append` may add."""

EMPTY_FILES = 1_000_000
"""The most one `files` step may make."""


class RecipeError(CorpusError):
    """A recipe that is not of the shape, or leaves the corpus or the vector."""


class SkippedError(Exception):
    """The platform cannot perform a step."""


def copy_vector(corpus: Corpus, vector: Vector, scratch: str) -> None:
    """Copy the listed files of a vector below the scratch folder, each checked as it is copied."""
    base = vector.path.rpartition("/")[0] if vector.is_file else vector.path
    for path, _ in vector.listed():
        _copy_file(corpus, path, scratch, path[len(base) + 1 :] if base else path)


def perform(corpus: Corpus, steps: object, scratch: str) -> None:
    """Perform the steps of a recipe in the scratch folder.

    Raises:
        RecipeError: a step that is not of the shape or leaves its folder.
        CorpusError: what a step copies is missing, altered or not listed.
        SkippedError: the platform cannot perform a step.
    """
    if not isinstance(steps, list):
        raise RecipeError(f"{EXPECTED}: generate is no list of steps")
    for number, step in enumerate(steps):
        if not isinstance(step, dict) or len(step) != 1:
            raise RecipeError(f"{EXPECTED}: generate[{number}] is no object with one member")
        ((name, arguments),) = step.items()
        work = STEPS.get(name)
        if work is None:
            raise RecipeError(f"{EXPECTED}: generate[{number}]: no step {name!r}; there are {', '.join(STEPS)}")
        try:
            work(corpus, scratch, arguments)
        except CorpusError as fault:
            raise RecipeError(f"{EXPECTED}: generate[{number}]: {name}: {fault}") from None
        except OSError as fault:
            raise RecipeError(f"{EXPECTED}: generate[{number}]: {name}: {fault.strerror}") from None


def _texts(arguments: object, count: int) -> list[str]:
    """Return a step's arguments, which must be so many texts."""
    items = arguments if isinstance(arguments, list) else [arguments]
    found = [item for item in items if isinstance(item, str)]
    if not len(found) == len(items) == count:
        raise RecipeError(f"needs {count} text{'s' if count > 1 else ''}")
    return found


def _number(value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or not 0 <= value <= most:
        raise RecipeError(f"{value!r} is no whole number from 0 to {most:,}")
    return int(value)


def _target(scratch: str, path: str) -> str:
    """Return where a path lies in the scratch folder, its parents made; refuses a link on the way."""
    where = located(scratch, path)
    os.makedirs(os.path.dirname(where), exist_ok=True)
    return where


def _copy_file(corpus: Corpus, source: str, scratch: str, path: str) -> None:
    """Copy one listed file of the corpus, refused when what was copied is not what the index says."""
    found = hashlib.sha256()
    with open(_target(scratch, path), "wb") as target:
        for block in blocks(located(corpus.root, source), source):
            found.update(block)
            target.write(block)
    if found.hexdigest() != corpus.digests[source]:
        raise CorpusError(f"{source}: altered: its SHA-256 is {found.hexdigest()}, and the index gives another")


def _copy(corpus: Corpus, scratch: str, arguments: object) -> None:
    source, path = _texts(arguments, 2)
    safe(source)
    safe(path)
    if source in corpus.digests:
        _copy_file(corpus, source, scratch, path)
        return
    below = source + "/"
    listed = [file for file in corpus.digests if file.startswith(below)]
    if not listed:
        raise CorpusError(f"{source}: not listed in the index")
    refuse_unlisted(corpus, source)
    for file in listed:
        _copy_file(corpus, file, scratch, f"{path}/{file[len(below) :]}")


def _remove(corpus: Corpus, scratch: str, arguments: object) -> None:
    (path,) = _texts(arguments, 1)
    parent, _, last = safe(path).rpartition("/")
    where = os.path.join(located(scratch, parent) if parent else scratch, last)
    if os.path.isdir(where) and not os.path.islink(where):
        shutil.rmtree(where)
    else:
        os.unlink(where)


def _files(corpus: Corpus, scratch: str, arguments: object) -> None:
    if not (isinstance(arguments, list) and len(arguments) == 2 and isinstance(arguments[0], str)):
        raise RecipeError("needs a folder and a number")
    count = _number(arguments[1], EMPTY_FILES)
    folder = located(scratch, arguments[0])
    os.makedirs(folder, exist_ok=True)
    for number in range(count):
        os.close(os.open(os.path.join(folder, str(number)), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))


def _parts(arguments: object) -> tuple[str, list[tuple[bytes, int]]]:
    """Return the path and the (text, count) pairs of a `write` or `append`, within `WRITE_BYTES` together."""
    if not (isinstance(arguments, list) and len(arguments) == 2 and isinstance(arguments[0], str)):
        raise RecipeError("needs a path and a list of parts")
    path, items = arguments
    parts: list[tuple[bytes, int]] = []
    if not isinstance(items, list):
        raise RecipeError("needs a list of [text, count] parts")
    for item in items:
        if not (isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)):
            raise RecipeError("a part is no [text, count]")
        parts.append((item[0].encode(), _number(item[1], WRITE_BYTES)))
    if sum(len(text) * count for text, count in parts) > WRITE_BYTES:
        raise RecipeError(f"writes more than {WRITE_BYTES:,} bytes")
    return path, parts


def _repeated(text: bytes, count: int) -> Iterator[bytes]:
    """Yield a text so many times, in pieces of about `BLOCK` bytes."""
    if not text:
        return
    at_once = max(1, BLOCK // len(text))
    piece = text * min(at_once, count)
    for _ in range(count // at_once):
        yield piece
    yield text * (count % at_once)


def _writer(mode: str) -> Callable[[Corpus, str, object], None]:
    def write(corpus: Corpus, scratch: str, arguments: object) -> None:
        path, parts = _parts(arguments)
        with open(_target(scratch, path), mode) as file:
            for text, count in parts:
                for piece in _repeated(text, count):
                    file.write(piece)

    return write


def _ill_formed_name(corpus: Corpus, scratch: str, arguments: object) -> None:
    """Make an empty file whose name holds the byte 0xFF, or U+DCFF where names are UTF-16."""
    folder, before, after = _texts(arguments, 3)
    if any(mark in before + after for mark in "/\\\0"):
        raise RecipeError("a part of the name is none")
    where = located(scratch, folder)
    os.makedirs(where, exist_ok=True)
    name: str | bytes = os.path.join(where, f"{before}\udcff{after}")
    if os.name != "nt":
        name = os.path.join(os.fsencode(where), before.encode() + b"\xff" + after.encode())
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
    except (OSError, ValueError):
        raise SkippedError("this platform has no file name that is not Unicode") from None


def _link(corpus: Corpus, scratch: str, arguments: object) -> None:
    """Make a link whose text is the relative path from its folder to its target."""
    path, target = _texts(arguments, 2)
    where = _target(scratch, path)
    text = os.path.relpath(located(scratch, target), os.path.dirname(where))
    try:
        os.symlink(text, where, target_is_directory=os.path.isdir(os.path.join(scratch, target)))
    except FileExistsError:
        raise
    except (OSError, NotImplementedError, AttributeError):
        raise SkippedError("this platform makes no symbolic links here") from None


STEPS: dict[str, Callable[[Corpus, str, object], None]] = {
    "copy": _copy,
    "remove": _remove,
    "files": _files,
    "write": _writer("wb"),
    "append": _writer("ab"),
    "ill-formed-name": _ill_formed_name,
    "link": _link,
}
"""The steps of a recipe, by name."""
