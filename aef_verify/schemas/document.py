"""One file against one schema, as writer and as reader: the operation `document` (09 §9.3).

A file is valid on a side when it reads ([ENC-1] to [ENC-7], within [ENC-17]) and every document in it, or line of it,
is valid against that side's schema [ENC-16].
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.encoding.ndjson import Framing, lines
from aef_verify.folder import BLOCK, READ_FILE
from aef_verify.problems import InputError, reason_of
from aef_verify.schemas import reads, validator

LINE_FILES = (".ndjson", ".jsonl")
"""How the name of a file that is read as NDJSON ends."""

LARGE = frozenset(("seal", "overlay-seal"))
"""Documents that may be as large as a seal [ENC-17]."""


class DocumentReport(NamedTuple):
    """The verdict of each side (`valid` or `invalid`), and how the reader reads unknown values [VER-8].

    `reads` is empty unless the reader accepts and the file holds exactly one document or line.
    """

    writer: str
    reader: str
    reads: dict[str, str]


def check_document(name: str, path: str) -> DocumentReport:
    """Check a file against the schema of a name.

    Args:
        name: a document (`run`) or a definition in one (`decision#/$defs/input`).
        path: a JSON file, or an NDJSON file when its name ends with one of `LINE_FILES`.

    Raises:
        InputError: no schema has that name, or there is no regular file that can be read.
    """
    writer, reader = validator(name, "writer"), validator(name, "reader")
    written = accepted = True
    count = 0
    value: object = None
    try:
        for value in _documents(name, path):
            count += 1
            written = written and writer(value)
            accepted = accepted and reader(value)
            if not (written or accepted):
                break
    except UnreadableError:
        written = accepted = False
    found = reads(name, value) if accepted and count == 1 else {}
    return DocumentReport(_verdict(written), _verdict(accepted), found)


def _verdict(valid: bool) -> str:
    return "valid" if valid else "invalid"


def _documents(name: str, path: str) -> Iterator[dict[str, object]]:
    """Yield each document of a file; raises UnreadableError where one, or the file as a whole, does not read."""
    if not path.endswith(LINE_FILES):
        most = limits.SEAL_BYTES if name in LARGE else limits.JSON_BYTES
        yield read_object(b"".join(_blocks(path, most + 1)), most)
        return
    framing = Framing()
    for _, found in lines(_blocks(path, limits.NDJSON_BYTES + 1), framing):
        for line in found:
            if line is None:
                raise UnreadableError(f"a line is longer than {limits.JSON_BYTES:,} bytes")
            yield read_object(line)
    fault = framing.finish()
    if fault is not None:
        raise fault


def _blocks(path: str, most: int) -> Iterator[bytes]:
    """Yield the bytes of a regular file, at most `most` of them; raises InputError for anything else."""
    try:
        descriptor = os.open(path, READ_FILE)
    except (OSError, ValueError) as fault:
        raise InputError(f"{path}: cannot be read: {reason_of(fault)}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError(f"{path}: not a regular file")
        while most > 0 and (block := os.read(descriptor, min(BLOCK, most))):
            most -= len(block)
            yield block
    except OSError as fault:
        raise InputError(f"{path}: cannot be read: {fault.strerror}") from None
    finally:
        os.close(descriptor)
