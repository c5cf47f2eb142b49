"""The manifest and the run hash [SEAL-1] to [SEAL-4]: over exact bytes, sorted by the path's UTF-8 bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from aef_verify.folder import Entry, Folder
from aef_verify.layout import ATTESTATION, OVERLAYS, SEAL, is_overlay

NEVER_SEALED = frozenset((SEAL, ATTESTATION))

_BLOB = re.compile(r"blobs/sha256/([0-9a-f]{2})/(\1[0-9a-f]{62})")


class Sealed(NamedTuple):
    """One file that a seal covers, or would cover: its path, SHA-256 in hex and size in bytes."""

    path: str
    sha256: str
    size: int


def is_sealed(path: str) -> bool:
    """Whether a seal covers the file at this path [SEAL-1]; a file named `overlays` is a breach of [RUN-3] alone."""
    return path not in NEVER_SEALED and path != OVERLAYS and not is_overlay(path)


def blob_name(path: str) -> str:
    """Return the hex name of the blob at a path; empty where no blob is stored at such a path [EVD-3]."""
    found = _BLOB.fullmatch(path)
    return found[2] if found is not None else ""


def sealed_entries(folder: Folder) -> list[Entry]:
    """Return the files that a seal of the folder covers, by path bytes."""
    return [entry for entry in folder.files if is_sealed(entry.path)]


def read_sealed(folder: Folder) -> list[Sealed]:
    """Hash every sealed file, one pass each; raises InputError where one cannot be read."""
    return [Sealed(entry.path, *folder.digest(entry)) for entry in sealed_entries(folder)]


def manifest_text(files: Iterable[Sealed]) -> str:
    """Return the manifest of files given in path order [SEAL-3]."""
    return "".join(f"{file.sha256}  {file.size}  {file.path}\n" for file in files)


def manifest_hash(files: Iterable[Sealed]) -> str:
    """Return the hex SHA-256 of the manifest, without building it [SEAL-4]."""
    digest = sha256()
    for file in files:
        digest.update(f"{file.sha256}  {file.size}  {file.path}\n".encode())
    return digest.hexdigest()
