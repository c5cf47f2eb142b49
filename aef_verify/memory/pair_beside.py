"""Oracles beside a normal run that name it as unsealed: sealing it later breaks their link (docs/MEMORY_PAIR.md §3)."""

from __future__ import annotations

import os

from aef_verify.folder import Folder
from aef_verify.layout import RUN, SUMMARY
from aef_verify.memory.model import ORACLE
from aef_verify.memory.pair_arm import extension_of, role_of
from aef_verify.problems import InputError
from aef_verify.run.reading import Documents

MOST = 1000
"""Folders that are looked at; this is a courtesy, and what verifies is `aef verify`."""


def unsealed_links_to(folder: str, pair_id: str) -> list[str]:
    """Return the runs beside a run that are oracles of its pair and say that it is unsealed, by path."""
    parent = os.path.dirname(os.path.abspath(folder))
    try:
        with os.scandir(parent) as entries:
            beside = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [path for path in sorted(beside)[:MOST] if _says_unsealed(path, pair_id)]


def _says_unsealed(path: str, pair_id: str) -> bool:
    if not os.path.lexists(os.path.join(path, RUN)):
        return False
    try:
        with Folder(path) as found:
            summary = Documents(found, details=False).json(SUMMARY, "summary", required=False).document
    except InputError:
        return False
    fields = extension_of(summary)
    if not isinstance(fields, dict) or role_of(fields) != ORACLE:
        return False
    return fields.get("pairId") == pair_id and fields.get("normalRunHash") is None
