"""The lines of `overlays/events.ndjson`, judged one by one [OVL-1], [OVL-2], [OVL-5].

A blank line, a CR or a byte order mark is one line's fault (`event-invalid`), a line beyond [ENC-17] is `limit`, a
last line without LF is no event. At most 1 GiB and 1,000,000 lines are read, ending at the last LF in that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container
from typing import Any, NamedTuple

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, parse_object, too_deep
from aef_verify.layout import EVENTS
from aef_verify.problems import Problem
from aef_verify.schemas import validator

Document = dict[str, Any]


class Event(NamedTuple):
    """One valid event: the line and byte offset it starts at, what it says, and whether it may take effect.

    `sound` is False for an event with an `event-id` or `target` problem; `target.result` is not judged in it.
    """

    line: int
    start: int
    id: str
    kind: str
    target: Document
    state: str | None
    identity: str
    assurance: str
    at: str
    expires: str | None
    reason: str | None
    sound: bool

    @property
    def result(self) -> str | None:
        """The `resultId` that the event is about, if it is about one."""
        found: str | None = self.target.get("result")
        return found

    def misses(self, results: Container[bytes]) -> bool:
        """Whether the event is about a result that is not among these result ids."""
        return self.result is not None and bytes.fromhex(self.result[2:]) not in results


class Events:
    """Takes the bytes of the file in order.

    Attributes:
        problems: of the lines read; `forget_from` takes back those past an offset.
        events: the valid events.
        more: whether the file goes on beyond what is read.
        read_end: the offset after the last LF that is read.
    """

    def __init__(self, run: Document | None, run_hash: Callable[[], str]) -> None:
        """Start before the first byte; `run` is None where `run.json` does not read."""
        self.problems: list[Problem] = []
        self.events: list[Event] = []
        self.more = False
        self.read_end = 0
        self._run = run
        self._run_hash = run_hash
        self._ids: set[str] = set()
        self._starts: list[int] = []
        self._size = 0
        self._tail: list[bytes] = []
        self._tail_size = 0
        self._validate = validator("overlay-event", "reader")

    def feed(self, block: memoryview) -> None:
        """Take the next bytes."""
        if self.more:
            return
        data = bytes(block)
        room = limits.NDJSON_BYTES - self._size
        self.more = len(data) > room
        self._size += len(data)
        *finished, rest = data[:room].split(b"\n")
        for piece in finished:
            if len(self._starts) >= limits.LINES:
                self.more = True
                return
            self._line(piece)
        if rest:
            self._keep(rest)

    def _keep(self, piece: bytes) -> None:
        """Add to the unfinished line; of one beyond the limit only the size is kept."""
        self._tail_size += len(piece)
        if self._tail_size <= limits.JSON_BYTES:
            self._tail.append(piece)
        else:
            self._tail.clear()

    def _line(self, piece: bytes) -> None:
        if self._tail_size:
            self._keep(piece)
            data, size = b"".join(self._tail), self._tail_size
            self._tail.clear()
            self._tail_size = 0
        else:
            data, size = piece, len(piece)
        start, self.read_end = self.read_end, self.read_end + size + 1
        self._starts.append(start)
        number = len(self._starts)
        if size > limits.JSON_BYTES or (data and too_deep(data)):
            detail = f"{size:,} bytes; at most {limits.JSON_BYTES:,} are allowed, nested {limits.DEPTH} deep at most"
            self.problems.append(Problem(f"{EVENTS}:{number}", "limit", detail))
            return
        self._judge(number, start, data)

    def _judge(self, number: int, start: int, data: bytes) -> None:
        place = f"{EVENTS}:{number}"
        if not data:
            self.problems.append(Problem(place, "event-invalid", "a blank line"))
            return
        try:
            value = parse_object(data)
        except UnreadableError as fault:
            self.problems.append(Problem(place, "event-invalid", str(fault)))
            return
        if b"\r" in data:
            self.problems.append(Problem(place, "event-invalid", "the line holds a CR; lines end with LF alone"))
        elif not self._validate(value):
            self.problems.append(Problem(place, "event-invalid", "not valid against the overlay-event schema"))
        else:
            self._event(number, start, value)

    def _event(self, number: int, start: int, value: Document) -> None:
        """Keep a valid event, and judge its id and what of its target needs no result."""
        place, target, identity = f"{EVENTS}:{number}", value["target"], value["eventId"]
        sound = True
        if identity in self._ids:
            sound = False
            self.problems.append(Problem(place, "event-id", "an earlier line has this eventId", identity))
        self._ids.add(identity)
        if self._run is not None and target["run"] != self._run.get("runId"):
            sound = False
            self.problems.append(Problem(place, "target", "target.run is not the runId of run.json", target["run"]))
        elif "runHash" in target and target["runHash"] != self._run_hash():
            sound = False
            self.problems.append(Problem(place, "target", "target.runHash is not the run hash", target["runHash"]))
        by = value["by"]
        self.events.append(
            Event(
                number,
                start,
                identity,
                value["kind"],
                target,
                value.get("state"),
                by["identity"],
                by["assurance"],
                value["at"],
                value.get("expires"),
                value.get("reason"),
                sound,
            )
        )

    def forget_from(self, offset: int) -> None:
        """Take back what the lines from this offset on gave: they are not read in a file beyond its limits."""
        first = bisect_left(self._starts, offset) + 1
        self.problems = [problem for problem in self.problems if int(problem.path.rpartition(":")[2]) < first]
        self.events = [event for event in self.events if event.line < first]
        del self._starts[first - 1 :]

    def lines_from(self, offset: int) -> int:
        """Return how many finished lines start at the offset or after it."""
        return len(self._starts) - bisect_left(self._starts, offset)
