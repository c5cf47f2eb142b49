"""The content of a run that was verified, read again for its lanes: never anything but what was judged.

What is read is hashed on the way and held against the digests of the run's report; what was made of other bytes never
leaves here. Of a run that is not intact the lines that read are given as they are, for what a later minor's values
settle [CKP-8].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, parse_object, read_object, too_deep
from aef_verify.encoding.ndjson import Framing, lines
from aef_verify.folder import Entry, Folder, Read
from aef_verify.layout import METRICS, RESULTS
from aef_verify.problems import InputError
from aef_verify.run.store import StoredRun
from aef_verify.schemas import validator

Document = dict[str, Any]
Take = Callable[[Document], object]


def read_results(run: StoredRun, take: Take) -> None:
    """Give every result line of an intact run to `take`, in file order and constant memory.

    Raises:
        InputError: the file cannot be read, or is not the one that was verified; what was taken is void then.
    """
    with Folder(run.path) as folder:
        done: list[Read] = []
        blocks = folder.blocks(_entry(run, folder, RESULTS), done)
        fault: Exception | None = None
        try:
            for _, found in lines(blocks, Framing()):
                for line in found:
                    take(parse_object(line or b""))
        except InputError:
            raise
        except Exception as raised:
            # Other bytes than those that were judged may be anything, so what they led to is told by their digest.
            fault = raised
            for _ in blocks:
                pass
        _check(run, RESULTS, done[0])
        if fault is not None:
            raise fault


def read_metrics(run: StoredRun) -> Document | None:
    """Return `metrics.json` of a run; None for one that is not intact and whose file is not valid.

    Raises:
        InputError: the file cannot be read, or the run is intact and the file is not the one that was verified.
    """
    with Folder(run.path) as folder:
        entry = _entry(run, folder, METRICS) if run.intact else folder.get(METRICS)
        data, read = (None, None) if entry is None else folder.content(entry, limits.JSON_BYTES)
    if run.intact and read is not None:
        _check(run, METRICS, read)
    try:
        document = None if data is None else read_object(data)
    except UnreadableError:
        return None
    return document if document is not None and validator("metrics", "reader")(document) else None


def scan_results(run: StoredRun, take: Take) -> bool:
    """Give each result line that is valid to `take`, of a run that is not intact; False where its framing is broken.

    Of a file with broken framing no line is read (03 §3.9), so what was taken of it is void. Raises InputError where
    the file cannot be read.
    """
    valid = validator("result", "reader")
    with Folder(run.path) as folder:
        entry = folder.get(RESULTS)
        if entry is None:
            return False
        framing = Framing()
        for _, found in lines(folder.blocks(entry, []), framing):
            for data in found:
                line = None if data is None or too_deep(data) else _parsed(data)
                if line is not None and valid(line):
                    take(line)
        return framing.finish() is None


def _parsed(data: bytes) -> Document | None:
    try:
        return parse_object(data)
    except UnreadableError:
        return None


def _entry(run: StoredRun, folder: Folder, path: str) -> Entry:
    entry = folder.get(path)
    if entry is None:
        raise _changed(run, path)
    return entry


def _check(run: StoredRun, path: str, read: Read) -> None:
    if read.sha256 != run.report.digests.get(path):
        raise _changed(run, path)


def _changed(run: StoredRun, path: str) -> InputError:
    return InputError(f"{run.path}/{path}: changed since it was verified; verify again when nothing writes to it")
