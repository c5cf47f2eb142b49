"""Paths of a run [RUN-3]: names, lengths, reserved names, and names equal but for letter case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from aef_verify.layout import is_overlay
from aef_verify.problems import Problem, ordered

_SEGMENT = r"[A-Za-z0-9_-](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?"
_PATH = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*", re.ASCII)
_RESERVED = re.compile(r"(?:^|/)(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:[./]|\Z)", re.ASCII | re.IGNORECASE)
_MAX_BYTES = 255


def name_fault(path: str) -> str:
    """Return in plain words what [RUN-3] forbids about one path, or an empty string."""
    if len(path) <= _MAX_BYTES and _PATH.fullmatch(path) and not _RESERVED.search(path):
        return ""
    if len(path.encode("utf-8", "surrogatepass")) > _MAX_BYTES:
        return f"the path is longer than {_MAX_BYTES} bytes"
    if _PATH.fullmatch(path):
        return "a segment is a name that Windows reserves"
    if any(segment.startswith(".") or segment.endswith(".") for segment in path.split("/")):
        return "a segment starts or ends with a dot (hidden names are not allowed)"
    if any(not segment for segment in path.split("/")):
        return "a segment is empty"
    return "a segment holds a character outside A-Z a-z 0-9 . _ -"


def path_problems(names: Iterable[str]) -> list[Problem]:
    """Return the [RUN-3] problems of a run's file paths, ordered.

    `names` are the paths of files, relative to the run, with `/`; what lies below `overlays/` is exempt, a file
    named `overlays` and a first segment equal to `overlays` but for case are not.
    """
    paths = sorted({name for name in names if not is_overlay(name)}, key=_bytes)
    return ordered([*_names(paths), *_clashes(paths)])


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")


def _names(paths: list[str]) -> Iterator[Problem]:
    for path in paths:
        fault = name_fault(path)
        if not fault and path[:8].lower() == "overlays" and path[8:9] in ("", "/"):
            fault = "`overlays` must be a folder, spelled in lower case"
        if fault:
            yield Problem(path, "path", fault)


def folders_of(path: str) -> Iterator[str]:
    """Yield the folders above a path, outermost first."""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def _clashes(paths: list[str]) -> Iterator[Problem]:
    """Yield a problem at every later path, and at every file under a later folder, of names equal but for case."""
    files = set(paths)
    folders: set[str] = set()
    for path in paths:
        parent = path.rpartition("/")[0]
        if parent and parent not in folders:
            folders.add(parent)
            folders.update(folders_of(parent))
    nodes = files | folders
    if len({node.lower() for node in nodes}) == len(nodes):
        return
    spellings: dict[str, list[str]] = {}
    for node in nodes:
        spellings.setdefault(node.lower(), []).append(node)
    later: dict[str, str] = {}
    for spelled in spellings.values():
        first, *others = sorted(spelled, key=_bytes)
        later.update(dict.fromkeys(others, first))
    for path in paths:
        for node in (path, *folders_of(path)):
            if node in later:
                yield Problem(path, "path", f"{node} and {later[node]} differ only in letter case")
                break
