"""What an operation wrote: the folder before and after, and what this project's own verifier says of it (09 §9.3)."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping

from aef_verify.conformance.case import UnmetError, shown
from aef_verify.conformance.drive import Answer, Failure, Refusal, in_process
from aef_verify.conformance.index import blocks

Snapshot = Mapping[str, str]


def snapshot(folder: str) -> dict[str, str]:
    """Return path to content digest, or to what else it is, for every entry below a folder."""
    found: dict[str, str] = {}
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            where = os.path.join(above, name)
            path = os.path.relpath(where, folder).replace(os.sep, "/")
            mode = os.lstat(where).st_mode
            if stat.S_ISREG(mode):
                digest = hashlib.sha256()
                for block in blocks(where, path):
                    digest.update(block)
                found[path] = digest.hexdigest()
            else:
                found[path] = "folder" if stat.S_ISDIR(mode) else "irregular"
    return found


def changes(before: Snapshot, after: Snapshot, written: str = "") -> list[str]:
    """Return what was added, removed or changed, apart from the one file that was to be written."""
    lines = []
    for path in sorted(before.keys() | after.keys(), key=os.fsencode):
        if path == written or before.get(path) == after.get(path):
            continue
        what = "added" if path not in before else "removed" if path not in after else "changed"
        lines.append(f"{path}: {what}, and nothing but {written or 'nothing'} was to be written")
    return lines


def verified(*words: str) -> dict[str, object]:
    """Return what the reference verifier answers; raises UnmetError where it has no answer."""
    match in_process(words):
        case Answer(value) if isinstance(value, dict):
            return value
        case Answer(value):
            raise UnmetError(f"the reference verifier ({words[0]}) answered {shown(value)}")
        case Refusal(reason) | Failure(reason):
            raise UnmetError(f"the reference verifier ({words[0]}) does not read what was written: {reason}")
