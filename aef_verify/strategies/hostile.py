"""Folders that nobody sends in good faith: random bytes under known names, links, pipes, odd names [RUN-3].

Such a folder is written with care (no link is followed) and must be read with more: whatever it holds, a verifier ends
with a report or a refusal, opens nothing outside it and waits for nothing.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from hypothesis import strategies as st

from aef_verify.strategies.files import LINE_FILES, RunFiles
from aef_verify.strategies.ijson import json_objects, near_json
from aef_verify.strategies.overlays import overlaid_runs
from aef_verify.strategies.runs import runs
from aef_verify.strategies.values import sizes

OUTSIDE = b"OUTSIDE"
"""Stands in a link's target for the folder with the canaries."""

KNOWN = (
    *("run.json", "metrics.json", "summary.json", *LINE_FILES, "seal.json", "attestation.dsse.json", "overlays"),
    *("overlays/events.ndjson", "overlays/seal-0001.json", "overlays/seal-0001.dsse.json", "overlays/seal-0002.json"),
    *(
        "overlays/seal-0000.json",
        "overlays/seal-9999.json",
        "blobs",
        "blobs/sha256",
        "ext",
        f"blobs/sha256/ab/{'ab' * 32}",
    ),
)
_ODD = (
    *(
        b"\xff",
        b"n\xffo.txt",
        b"overlays/\xff",
        b"ext/\xed\xa0\x80",
        b" ",
        b"a\nb",
        b"\x1b[2J",
        b"\xe2\x80\xae",
        b"con",
    ),
    *(b"Overlays/x", b"RUN.JSON", b"ext/.hidden", b".git/config", b"ext/a/../b", b"-rf", b"~", b"*", b"x" * 255),
    *(b"ext/" + b"d/" * 30 + b"f", b"d/" * 210 + b"f", b"overlays/" + b"d/" * 40 + b"f", b"blobs/sha256/ab/cd/ef"),
)
_TARGETS = (
    *(OUTSIDE + b"/canary", OUTSIDE + b"/canaries", OUTSIDE + b"/pipe", OUTSIDE, OUTSIDE + b"/absent", b"run.json"),
    *(b".", b"..", b"../..", b"/", b"/dev/zero", b"/dev/stdin", b"/proc/self/mem", b"loop", b"", b"\xff"),
)


class Entry(NamedTuple):
    """One entry: its path in bytes, its kind (`file`, `folder`, `link`, `pipe`, `socket`), and content or target."""

    path: bytes
    kind: str
    content: bytes = b""


class HostileFolder(NamedTuple):
    """The entries of a folder; of two that cannot both be there the first counts."""

    entries: tuple[Entry, ...]

    def write(self, folder: str, outside: str) -> str:
        """Write the folder, and the canaries that its links name into another one; returns the folder's path.

        Canaries are a file, a folder with a file, and a pipe at which a reader would wait for ever.
        """
        os.makedirs(os.path.join(outside, "canaries"), exist_ok=True)
        for name in ("canary", "canaries/run.json"):
            with open(os.path.join(outside, name), "wb") as canary:
                canary.write(b'{"schemaVersion":"1.0"}\n')
        with suppress(FileExistsError):
            os.mkfifo(os.path.join(outside, "pipe"))
        root = os.fsencode(folder)
        os.makedirs(root, exist_ok=True)
        for entry in self.entries:
            with suppress(OSError, ValueError):
                _make(root, entry, os.fsencode(os.path.abspath(outside)))
        return folder


def _make(root: bytes, entry: Entry, outside: bytes) -> None:
    path = root
    *above, last = [step for step in entry.path.split(b"/") if step not in (b"", b".", b"..")]
    for step in above:
        path = os.path.join(path, step)
        with suppress(FileExistsError):
            os.mkdir(path)
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            return
    path = os.path.join(path, last)
    if entry.kind == "folder":
        os.mkdir(path)
    elif entry.kind == "link":
        os.symlink(entry.content.replace(OUTSIDE, outside), path)
    elif entry.kind == "pipe":
        os.mkfifo(path)
    elif entry.kind == "socket":
        os.mknod(path, stat.S_IFSOCK | 0o600)
    else:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with open(fd, "wb") as file:
            file.write(entry.content)


def entries_of(files: RunFiles) -> tuple[Entry, ...]:
    """Return the entries that write a run."""
    return tuple(Entry(path.encode(), "file", data) for path, data in files.items())


@cache
def _contents() -> st.SearchStrategy[bytes]:
    lines = st.lists(near_json(), max_size=3).map(b"\n".join)
    objects = json_objects().map(str).map(str.encode)
    return near_json() | lines | lines.map(lambda data: data + b"\n") | st.binary(max_size=40) | objects


@cache
def _entries() -> st.SearchStrategy[Entry]:
    paths = st.sampled_from([*map(str.encode, KNOWN)]) | st.sampled_from(_ODD)
    kinds = st.sampled_from(("folder", "pipe", "socket"))
    return (
        st.builds(Entry, paths, st.just("file"), _contents())
        | st.builds(Entry, paths, st.just("link"), st.sampled_from(_TARGETS))
        | st.builds(Entry, paths, kinds)
    )


@st.composite
def hostile_folders(draw: st.DrawFn) -> HostileFolder:
    """Draw a hostile folder: a valid run with odd entries in it or instead of its files, or odd entries alone."""
    odd = draw(sizes(1, 2, 3, 5).flatmap(lambda n: st.lists(_entries(), min_size=n, max_size=n)))
    base = draw(st.none() | runs(max_cases=1) | overlaid_runs().map(lambda run: run.files))
    return HostileFolder((*odd, *(() if base is None else entries_of(base))))
