"""What a verdict depends on beyond the run's files: this code and what it runs on, the policy, the anchors, who asks.

A verdict is only ever found again where all of that is the same, to the byte.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aef_verify.engine.task import Task

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_READ = (".py", ".json")
"""What of the package decides a verdict: its sources and its schemas."""

_BESIDE = ("cryptography", "jiter", "jsonschema", "jsonschema-rs", "rfc8785")
"""What else decides a verdict, known by its version."""


def circumstances(task: Task, package: str = _PACKAGE) -> bytes | None:
    """Return a digest of all that a verdict depends on but the run; None where this code cannot be read."""
    sources = digest_of_sources(package)
    if sources is None:
        return None
    digest = blake2b(sources, digest_size=32)
    for part in (*_surroundings(), *_asked(task)):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def digest_of_sources(package: str) -> bytes | None:
    """Return the digest of every source and schema below a folder, by path and content; None where there is none."""
    digest = blake2b(digest_size=32)
    read = 0
    try:
        for path in _sources(package):
            with open(os.path.join(package, path), "rb", buffering=0) as file:
                content = file.readall()
            name = os.fsencode(path)
            digest.update(b"%d %d " % (len(name), len(content)) + name + content)
            read += 1
    except OSError:
        return None
    return digest.digest() if read else None


def _sources(package: str) -> Iterator[str]:
    """Yield the path of every source and schema, in one order."""

    def fail(fault: OSError) -> None:
        raise fault

    for folder, folders, files in os.walk(package, onerror=fail):
        folders.sort()
        for name in sorted(files):
            if name.endswith(_READ):
                yield os.path.relpath(os.path.join(folder, name), package)


def _surroundings() -> Iterator[bytes]:
    """Yield what this code runs on, and as whom: what may be read is not the same for everybody."""
    yield sys.version.encode()
    yield os.environ.get("AEF_PURE", "").encode("utf-8", "surrogateescape")
    from importlib import metadata

    for name in _BESIDE:
        try:
            yield f"{name} {metadata.version(name)}".encode()
        except metadata.PackageNotFoundError:
            yield f"{name} is not there".encode()
    yield repr((os.geteuid(), os.getegid(), sorted(os.getgroups()))).encode()


def _asked(task: Task) -> Iterator[bytes]:
    """Yield what every run is verified against: nothing given is not the same as an empty list."""
    yield b"" if task.policy is None else b"policy " + task.policy.source
    yield b"" if task.anchors is None else "\n".join(["anchors", *sorted(task.anchors)]).encode()
