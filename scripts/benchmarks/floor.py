#!/usr/bin/env python3
"""What no verifier of evidence can avoid, in one process on one core: `floor.py FOLDER`.

Every file is opened once, read in blocks of 1 MiB and hashed. Every line of an NDJSON file and every JSON document is
parsed once by the parser that the verifier uses, with its settings: strict, and a member name given twice is refused.
Nothing is kept, looked up, validated or compared, and only what that takes is imported.
"""

import os
import sys
from collections.abc import Iterator
from hashlib import sha256
from time import perf_counter, process_time

from jiter import from_json

BLOCK = 1 << 20


def floor(folder: str) -> int:
    """Read every file below a folder; return how many lines of `results.ndjson` there were."""
    buffer = bytearray(BLOCK)
    lines = 0
    for path in _files(folder):
        if path.endswith("/results.ndjson"):
            lines += _read_lines(path, buffer)
        elif path.endswith(".ndjson"):
            _read_lines(path, buffer)
        else:
            _read(path, buffer, parsed=path.endswith(".json"))
    return lines


def _files(folder: str) -> Iterator[str]:
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield entry.path


def _blocks(path: str, buffer: bytearray) -> Iterator[memoryview]:
    """Yield the file's blocks, hashed; each is void once the next one is asked for."""
    view, digest = memoryview(buffer), sha256()
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            digest.update(view[:count])
            yield view[:count]
    digest.hexdigest()


def _read(path: str, buffer: bytearray, *, parsed: bool) -> None:
    if parsed:
        from_json(
            b"".join(map(bytes, _blocks(path, buffer))),
            allow_inf_nan=False,
            catch_duplicate_keys=True,
            cache_mode="keys",
        )
    else:
        for _ in _blocks(path, buffer):
            pass


def _read_lines(path: str, buffer: bytearray) -> int:
    count, rest = 0, b""
    for block in _blocks(path, buffer):
        first, *lines = bytes(block).split(b"\n")
        if not lines:
            rest += first
            continue
        lines.insert(0, rest + first)
        rest = lines.pop()
        for line in lines:
            from_json(line, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
        count += len(lines)
    return count


if __name__ == "__main__":
    start = perf_counter(), process_time()
    counted = floor(sys.argv[1])
    print(f"{counted} lines, {perf_counter() - start[0]:.4f} s, {process_time() - start[1]:.4f} s of CPU")
