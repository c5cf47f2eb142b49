"""The overlay chain [OVL-1] to [OVL-5]: batch seals against `overlays/events.ndjson`, line by line.

Order: the kinds of the files, the batch seals one by one (`missing`, `limit`, `batch-invalid`, `batch-number`,
`run-id`, `run-hash`, `offset`, `previous`), then one pass over the events that hashes every claimed range, notes its
boundaries (`line-boundary`, `batch-digest`, `limit`) and judges every line (`event-invalid`, `limit`, `event-id`,
`target`), then `uncovered`. Nothing here changes the run's own outcome.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.folder import Entry, Folder, Read
from aef_verify.integrity.events import Event, Events
from aef_verify.layout import EVENTS
from aef_verify.problems import Problem
from aef_verify.schemas import validator

_BATCH = re.compile(r"overlays/seal-([0-9]{4})\.json", re.ASCII)
_ENVELOPE = re.compile(r"overlays/seal-([0-9]{4})\.dsse\.json", re.ASCII)

Document = dict[str, Any]


def batch_path(number: int) -> str:
    """Return the path of a batch's seal."""
    return f"overlays/seal-{number:04d}.json"


def envelope_path(number: int) -> str:
    """Return the path of the envelope over a batch's seal [SIG-1]."""
    return f"overlays/seal-{number:04d}.dsse.json"


class Claim:
    """The range that one batch seal claims, and what one pass over the events finds there."""

    __slots__ = ("digest", "end", "ends", "number", "start", "starts", "stated")

    def __init__(self, number: int, start: int, length: int, stated: str) -> None:
        """Claim `length` bytes from `start`; `stated` is the hex SHA-256 that the seal gives."""
        self.number = number
        self.start = start
        self.end = start + length
        self.stated = stated
        self.digest = sha256()
        self.starts = start == 0
        self.ends = False


class Chain(NamedTuple):
    """What the chain check found.

    Attributes:
        found: the problems, without those about `target.result`.
        ends: the offset at which each verified batch ends, from batch 1 on.
        events: the finished lines' valid events that are read, in file order.
        unsealed: the number of lines past the verified batches that a reader still reads.
        seals: SHA-256 in hex of every batch seal read, by number.
    """

    found: list[Problem]
    ends: list[int]
    events: list[Event]
    unsealed: int
    seals: dict[int, str]

    def problems(self, results: Container[bytes] | None) -> list[Problem]:
        """Return all problems of the chain; `results` are the run's result ids, None where they do not read."""
        problems = list(self.found)
        if results is not None:
            problems.extend(
                Problem(f"{EVENTS}:{event.line}", "target", "target.result is no result of the run", event.result)
                for event in self.events
                if event.misses(results)
            )
        return problems

    @property
    def verified_end(self) -> int:
        """The offset at which the verified batches end."""
        return self.ends[-1] if self.ends else 0

    def batch_of(self, event: Event) -> int:
        """Return the number of the verified batch that holds an event."""
        return bisect_right(self.ends, event.start) + 1

    def effective(self, results: Container[bytes] | None) -> list[Event]:
        """Return the events of verified batches that take effect, in file order (04 §4.3)."""
        return [
            event
            for event in self.events
            if event.start < self.verified_end and event.sound and not (results is not None and event.misses(results))
        ]


class _Batches(NamedTuple):
    """The batch seals as read: their problems, the claims of those that read, and the SHA-256 of each."""

    problems: list[Problem]
    claims: list[Claim]
    seals: dict[int, str]


def read_chain(folder: Folder, run: Document | None, run_hash: Callable[[], str]) -> Chain:
    """Check the overlay chain of a run.

    Args:
        folder: the run.
        run: `run.json`, or None where it does not read.
        run_hash: gives the run's run hash [SEAL-4]; asked for only where something states one.
    """
    problems = list(_unexpected(folder))
    batches = _read_batches(folder, run, run_hash)
    events = Events(run, run_hash)
    size = _read_events(folder, batches.claims, events)
    problems += batches.problems
    kept: dict[int, Claim] = {}
    for claim in batches.claims:
        if events.more and claim.end > events.read_end:
            detail = f"the batch ends beyond byte {events.read_end:,}, the last that is read"
            problems.append(Problem(batch_path(claim.number), "limit", detail, claim.end))
        else:
            problems.extend(_claim_faults(claim, kept.get(claim.number - 1), size))
            kept[claim.number] = claim
    if events.more:
        detail = f"at most {limits.LINES:,} lines and {limits.NDJSON_BYTES:,} bytes are read"
        problems.append(Problem(EVENTS, "limit", detail))
    if size > _covered(kept.values()):
        problems.append(Problem(EVENTS, "uncovered", "bytes of the file are in no batch"))
    ends = _verified(kept, {problem.path for problem in problems})
    end = ends[-1] if ends else 0
    if events.more:
        events.forget_from(end)
    return Chain(problems + events.problems, ends, events.events, events.lines_from(end), batches.seals)


def _unexpected(folder: Folder) -> Iterator[Problem]:
    """Files of no known kind, and what is no regular file; too many files at all [OVL-5]."""
    count = len(folder.overlays) + len(folder.irregular_overlays)
    many = count > limits.OVERLAY_FILES
    if many:
        yield Problem("overlays", "limit", f"{count:,} files; at most {limits.OVERLAY_FILES:,} are allowed")
    for entry in folder.irregular_overlays:
        if not many or _is_known(entry.path):
            yield Problem(entry.path, "unexpected-file", "not a regular file")
    if not many:
        for entry in folder.overlays:
            if not _is_known(entry.path):
                yield Problem(entry.path, "unexpected-file", "neither the events nor a batch's seal or envelope")


def _is_known(path: str) -> bool:
    return path == EVENTS or bool(_BATCH.fullmatch(path) or _ENVELOPE.fullmatch(path))


def _read_batches(folder: Folder, run: Document | None, run_hash: Callable[[], str]) -> _Batches:
    found = {int(match[1]): entry for entry in folder.overlays if (match := _BATCH.fullmatch(entry.path))}
    batches = _Batches([], [], {})
    highest = max(found, default=0)
    if 0 in found:
        detail = "batches are numbered from 1"
        batches.problems.append(Problem(batch_path(0), "batch-number", detail))
    for number in range(1, highest + 1):
        entry, place = found.get(number), batch_path(number)
        if entry is None:
            batches.problems.append(Problem(place, "missing", f"batches up to {highest} are there"))
            continue
        document, read, problem = _read_batch(folder, entry)
        batches.seals[number] = read.sha256
        if document is None:
            batches.problems.extend(() if problem is None else (problem,))
            continue
        predicate = document["predicate"]
        offset, length = int(predicate["offset"]), int(predicate["length"])
        stated = document["subject"][0]["digest"]["sha256"]
        batches.claims.append(Claim(number, offset, length, stated))
        batches.problems.extend(
            Problem(place, *fault) for fault in _batch_faults(number, predicate, run, run_hash, batches.seals)
        )
    return batches


def _read_batch(folder: Folder, entry: Entry) -> tuple[Document | None, Read, Problem | None]:
    data, read = folder.content(entry, limits.SEAL_BYTES)
    if data is None:
        return None, read, Problem(entry.path, "limit", f"more than {limits.SEAL_BYTES:,} bytes")
    try:
        document = read_object(data, limits.SEAL_BYTES)
    except UnreadableError as fault:
        code = "limit" if fault.code == "limit" else "batch-invalid"
        return None, read, Problem(entry.path, code, str(fault))
    if not validator("overlay-seal", "reader")(document):
        return None, read, Problem(entry.path, "batch-invalid", "not valid against the overlay-seal schema")
    return document, read, None


def _batch_faults(
    number: int,
    predicate: Document,
    run: Document | None,
    run_hash: Callable[[], str],
    seals: dict[int, str],
) -> Iterator[tuple[str, str, object]]:
    """Yield (code, detail, value) of one batch seal that reads, but for what the events decide."""
    if predicate["batch"] != number:
        yield "batch-number", f"the file's number is {number}", predicate["batch"]
    if run is not None and predicate["runId"] != run.get("runId"):
        yield "run-id", "not the runId of run.json", predicate["runId"]
    if predicate["runHash"] != run_hash():
        yield "run-hash", f"the run's run hash is {run_hash()}", predicate["runHash"]
    previous = predicate["previous"]
    if number == 1:
        if previous is not None:
            yield "previous", "the first batch follows no other", previous
        return
    stated = None if previous is None else (previous["path"], previous["sha256"])
    if number - 1 not in seals:
        yield "previous", f"{batch_path(number - 1)} is not there", previous
    elif stated != (batch_path(number - 1), seals[number - 1]):
        yield "previous", f"{batch_path(number - 1)} has the SHA-256 {seals[number - 1]}", previous


def _read_events(folder: Folder, claims: list[Claim], events: Events) -> int:
    """Hash the claimed ranges and judge the lines in one pass; return the size of the file in bytes."""
    entry = folder.get(EVENTS)
    if entry is None:
        return 0
    waiting = sorted(claims, key=lambda claim: claim.start, reverse=True)
    active: list[Claim] = []
    position = 0
    for block in folder.blocks(entry, []):
        end = position + len(block)
        while waiting and waiting[-1].start <= end:
            active.append(waiting.pop())
        for claim in active:
            _note(claim, block, position, end)
        active = [claim for claim in active if claim.end > end]
        events.feed(block)
        position = end
    return position


def _note(claim: Claim, block: memoryview, position: int, end: int) -> None:
    """Take the part of a block that a claim covers, and the bytes that bound it."""
    if position <= claim.start - 1 < end:
        claim.starts = block[claim.start - 1 - position] == 0x0A
    if position <= claim.end - 1 < end:
        claim.ends = block[claim.end - 1 - position] == 0x0A
    if claim.start < end and claim.end > position:
        claim.digest.update(block[max(claim.start - position, 0) : claim.end - position])


def _claim_faults(claim: Claim, before: Claim | None, size: int) -> Iterator[Problem]:
    """Yield what the events say of one claim; `before` is the preceding batch's, None after a refused seal."""
    place, found = batch_path(claim.number), claim.digest.hexdigest()
    expected = 0 if claim.number == 1 else None if before is None else before.end
    if expected is not None and claim.start != expected:
        yield Problem(place, "offset", f"the batch before it ends at byte {expected}", claim.start)
    if not (claim.starts and claim.ends):
        yield Problem(place, "line-boundary", f"bytes {claim.start} to {claim.end} are not whole lines of the file")
    if claim.end > size or found != claim.stated:
        yield Problem(place, "batch-digest", f"the batch's bytes hash to {found}", claim.stated)


def _covered(claims: Iterable[Claim]) -> int:
    """Return how far from the first byte on the claims cover the file without a gap."""
    end = 0
    for claim in sorted(claims, key=lambda claim: claim.start):
        if claim.start > end:
            break
        end = max(end, claim.end)
    return end


def _verified(claims: dict[int, Claim], faulty: set[str]) -> list[int]:
    """Return the ends of the batches that verify: up to the first with a problem of its own (04 §4.3)."""
    ends: list[int] = []
    while (claim := claims.get(len(ends) + 1)) is not None and batch_path(claim.number) not in faulty:
        ends.append(claim.end)
    return ends
