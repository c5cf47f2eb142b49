"""What the seal and the overlay chain need from the run's documents, where those read [OVL-2]."""

from __future__ import annotations

from typing import Any, NamedTuple

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.encoding.ndjson import Framing, lines
from aef_verify.folder import Folder
from aef_verify.integrity.manifest import manifest_hash, read_sealed
from aef_verify.integrity.seal import Seal
from aef_verify.layout import RESULTS, RUN

Document = dict[str, Any]


class Results(NamedTuple):
    """The state of every result by its 16-byte id, in file order, and whether every line of the file reads."""

    states: dict[bytes, str]
    whole: bool


def read_run(folder: Folder) -> Document | None:
    """Return `run.json`, or None where it does not read: missing, not I-JSON, or beyond a limit."""
    entry = folder.get(RUN)
    data = folder.within(entry, limits.JSON_BYTES) if entry is not None else None
    try:
        return None if data is None else read_object(data)
    except UnreadableError:
        return None


def read_results(folder: Folder) -> Results:
    """Return the results; a line without one is skipped (docs/READINGS.md, result lines without an id)."""
    entry = folder.get(RESULTS)
    if entry is None:
        return Results({}, whole=False)
    states: dict[bytes, str] = {}
    whole, framing = True, Framing()
    for _, found in lines(folder.blocks(entry, []), framing):
        for data in found:
            try:
                line = read_object(data) if data is not None else None
            except UnreadableError:
                line = None
            if line is None:
                whole = False
                continue
            identity = result_bytes(line.get("resultId"))
            if identity is not None:
                states[identity] = str(line.get("state"))
    return Results({}, whole=False) if framing.finish() is not None else Results(states, whole)


def result_bytes(identity: object) -> bytes | None:
    """Return the 16 bytes of a `resultId`, or None where it does not have an id's form."""
    if isinstance(identity, str) and len(identity) == 34 and identity.startswith("r_"):
        text = identity[2:]
        if text == text.lower() and text.isalnum() and text.isascii():
            try:
                return bytes.fromhex(text)
            except ValueError:
                return None
    return None


def run_hash(folder: Folder, seal: Seal) -> str:
    """Return the run's run hash: what a valid seal states, otherwise that of the files [SEAL-4]."""
    return seal.run_hash or manifest_hash(read_sealed(folder))
