"""A run in memory: its files by path, their seal, and the folder that they become.

The manifest, the run hash and the seal [SEAL-1] to [SEAL-5] are computed here from the format's text alone, not by the
rooms that verify them, so that neither hides a fault of the other.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

SEAL = "seal.json"
ATTESTATION = "attestation.dsse.json"
OVERLAYS = "overlays/"
LINE_FILES = ("results.ndjson", "evidence.ndjson", "gates.ndjson", "traces.otlp.jsonl", "logs.otlp.jsonl")
"""The files of a run that are NDJSON and may be sealed."""

Document = dict[str, Any]


def sha256(data: bytes) -> str:
    """Return the hex SHA-256 of bytes [SEAL-2]."""
    return hashlib.sha256(data).hexdigest()


def json_file(document: object) -> bytes:
    """Write a document as a JSON file, in the plainest way."""
    return json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"


def json_line(document: object) -> bytes:
    """Write a document as one NDJSON line with its LF [ENC-5]."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def path_order(path: str) -> bytes:
    """Sort key: the path's UTF-8 bytes [SEAL-3]."""
    return path.encode()


class RunFiles(Mapping[str, bytes]):
    """The files of one run, path to bytes, in path order; a change makes another one.

    It prints as an expression that makes it again, so that a failing example can be pasted into a test.
    """

    __slots__ = ("_files",)

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = {path: files[path] for path in sorted(files, key=path_order)}

    def __getitem__(self, path: str) -> bytes:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __eq__(self, other: object) -> bool:
        return self._files == other._files if isinstance(other, RunFiles) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._files.items()))

    def __repr__(self) -> str:
        return f"RunFiles({self._files!r})"

    def write(self, folder: str | os.PathLike[str]) -> str:
        """Write every file below a folder, which is made where it is not there; returns the folder's path."""
        root = os.fspath(folder)
        os.makedirs(root, exist_ok=True)
        made = {root}
        for path, data in self._files.items():
            file = os.path.join(root, *path.split("/"))
            parent = os.path.dirname(file)
            if parent not in made:
                os.makedirs(parent, exist_ok=True)
                made.add(parent)
            with open(file, "wb") as out:
                out.write(data)
        return root

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> RunFiles:
        """Read the regular files below a folder that the caller trusts."""
        root = os.fspath(folder)
        files = {}
        for parent, _, names in os.walk(root):
            for name in names:
                file = os.path.join(parent, name)
                if os.path.isfile(file) and not os.path.islink(file):
                    with open(file, "rb") as content:
                        files[os.path.relpath(file, root).replace(os.sep, "/")] = content.read()
        return cls(files)

    def replacing(self, changes: Mapping[str, bytes]) -> RunFiles:
        """Return the same files with these ones added or replaced."""
        return RunFiles({**self._files, **changes})

    def without(self, *paths: str) -> RunFiles:
        """Return the same files but these ones."""
        return RunFiles({path: data for path, data in self._files.items() if path not in paths})

    def document(self, path: str) -> Document:
        """Return the object that a JSON file holds."""
        document: Document = json.loads(self._files[path])
        return document

    def lines(self, path: str) -> list[Document]:
        """Return the objects that an NDJSON file holds; none where there is no such file."""
        return [json.loads(line) for line in self._files.get(path, b"").split(b"\n") if line]

    @property
    def run_id(self) -> str:
        """The `runId` of `run.json`."""
        return str(self.document("run.json")["runId"])

    @property
    def sealed_paths(self) -> list[str]:
        """The paths that a seal covers, in the manifest's order [SEAL-1]."""
        return [path for path in self if path not in (SEAL, ATTESTATION) and not path.startswith(OVERLAYS)]

    @property
    def manifest(self) -> str:
        """The manifest [SEAL-3]."""
        files = ((path, self._files[path]) for path in self.sealed_paths)
        return "".join(f"{sha256(data)}  {len(data)}  {path}\n" for path, data in files)

    @property
    def run_hash(self) -> str:
        """The run hash, recomputed from the files [SEAL-4]."""
        return sha256(self.manifest.encode())

    def sealed(self, *, by: str = "producer", at: str | None = None) -> RunFiles:
        """Return the same closed run with a seal [SEAL-5]; `at` is `endedAt` where it is not given."""
        run = self.document("run.json")
        predicate = {
            "schemaVersion": "1.0",
            "runId": run["runId"],
            "runHash": self.run_hash,
            "producer": _members(run["producer"], "name", "version"),
            "subject": _members(run["subject"], "ref", "version"),
            "deployment": _members(run.get("deployment"), "ref"),
            "suite": _members(run.get("suite"), "ref", "version", "digest"),
            "judges": [_members(judge, "model", "rubricDigest") for judge in run.get("judges", ())],
            "closedAt": run["endedAt"],
            "sealedAt": run["endedAt"] if at is None else at,
            "sealedBy": by,
        }
        statement = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": path, "digest": {"sha256": sha256(self[path])}} for path in self.sealed_paths],
            "predicateType": "https://agenteval.dev/aef/1/evidence",
            "predicate": predicate,
        }
        return self.replacing({SEAL: json_file(statement)})


def _members(value: Document | None, *names: str) -> Document | None:
    return None if value is None else {name: value[name] for name in names if name in value}
