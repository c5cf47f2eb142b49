"""The documents of a run, each read once: hashed for the seal while it is framed, parsed and validated.

Group A of 03 §3.9: `encoding`, `limit`, `schema`. JSON files are read whole, NDJSON files line by line; a framing
fault is reported once and voids what the file's lines gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, parse_object, read_object, too_deep
from aef_verify.encoding.ndjson import Framing, lines
from aef_verify.folder import Entry, Folder, Read
from aef_verify.problems import Problem
from aef_verify.schemas import validator
from aef_verify.schemas.refusal import INVALID, refusal

if TYPE_CHECKING:
    from aef_verify.run.ranges import Parts
    from aef_verify.run.results import Part

EXPLAINED = 20
"""Lines of one file whose schema faults are explained; the others get the code alone."""

BEYOND = f"a line has at most {limits.JSON_BYTES:,} bytes, nested {limits.DEPTH} deep at most"

Document = dict[str, Any]
Take = Callable[[int, Document], object]


class JsonFile(NamedTuple):
    """A JSON file: the object where it reads, and whether that is valid against the reader schema."""

    document: Document | None
    valid: bool


ABSENT = JsonFile(None, valid=False)


class Documents:
    """Reads the documents of one run folder.

    Attributes:
        problems: group A's, in the order they were found.
        digests: what was read so far, by the entry's name on disk.
    """

    def __init__(self, folder: Folder, *, details: bool) -> None:
        """Read nothing yet; `details` asks for the reason behind each `schema` problem."""
        self.folder = folder
        self.problems: list[Problem] = []
        self.digests: dict[str, Read] = {}
        self._details = details

    def digest(self, entry: Entry) -> Read:
        """Return the digest and size of a file, hashing it now if it was not read yet."""
        read = self.digests.get(entry.name)
        if read is None:
            read = self.digests[entry.name] = self.folder.digest(entry)
        return read

    def json(self, path: str, schema: str, *, required: bool) -> JsonFile:
        """Read one JSON file whole; an absent one is a `schema` problem where it is required [RUN-2]."""
        entry = self.folder.get(path)
        if entry is None:
            if required:
                self.problems.append(Problem(path, "schema", "the file is required, and it is not there"))
            return ABSENT
        data, self.digests[entry.name] = self.folder.content(entry, limits.JSON_BYTES)
        try:
            if data is None:
                size = self.digests[entry.name].size
                self.problems.append(
                    Problem(path, "limit", f"{size:,} bytes; at most {limits.JSON_BYTES:,} are allowed")
                )
                return ABSENT
            document = read_object(data)
        except UnreadableError as fault:
            self.problems.append(Problem(path, fault.code, str(fault)))
            return ABSENT
        valid = validator(schema, "reader")(document)
        if not valid:
            self._invalid(path, schema, document, explained=True)
        return JsonFile(document, valid)

    def _invalid(self, place: str, schema: str, document: Document, *, explained: bool) -> None:
        reason = refusal(schema, document, details=self._details and explained)
        self.problems.append(Problem(place, "schema", *reason))

    def ndjson(self, path: str, schema: str | None, take: Take, unread: Take | None = None) -> None:
        """Read one NDJSON file line by line, in constant memory.

        Args:
            path: the file's path.
            schema: the line's schema; None for a file whose lines need only be I-JSON objects.
            take: called with the number and the object of every line that is valid, as long as all before it were.
            unread: called with the number and the object of each line that reads and is not given to `take`.
        """
        entry = self.folder.get(path)
        if entry is None:
            return
        done: list[Read] = []
        before = len(self.problems)
        framing = Framing()
        self._lines(path, schema, framing, self.folder.blocks(entry, done), take, unread)
        self.digests[entry.name] = done[0]
        fault = framing.finish()
        if fault is not None:
            self.problems[before:] = [Problem(path, fault.code, str(fault))]

    def results(self, path: str, judge: Callable[[Iterable[bytes]], Parts], join: Callable[[Part], object]) -> bool:
        """Read the result lines, in constant memory.

        Args:
            path: the path of a file that is there.
            judge: yields the part that ranges of whole lines give, for every range of the file in order.
            join: called with each part.

        Returns:
            Whether the file's framing is sound; where it is not, what its lines gave is void.
        """
        entry = self.folder.get(path)
        assert entry is not None
        done: list[Read] = []
        before, explained, last = len(self.problems), 0, 0
        framing = Framing()
        pieces = (piece for block in self.folder.blocks(entry, done) if (piece := framing.cut(block)))
        with closing(pieces), closing(judge(pieces)) as parts:
            for part in parts:
                if part.blank and last >= 0:
                    framing.blank(last + part.blank)
                    last = -1
                if last < 0:
                    continue
                for line, code, detail, value in part.faults:
                    if code == "schema":
                        explained += 1
                        if explained > EXPLAINED:
                            detail, value = INVALID, None
                    self.problems.append(Problem(f"{path}:{last + line}", code, detail, value))
                last += part.lines
                join(part)
        self.digests[entry.name] = done[0]
        fault = framing.finish()
        if fault is not None:
            self.problems[before:] = [Problem(path, fault.code, str(fault))]
        return fault is None

    def _lines(
        self, path: str, schema: str | None, framing: Framing, blocks: Any, take: Take, unread: Take | None
    ) -> None:
        valid = validator(schema, "reader") if schema is not None else None
        sound, explained = True, 0
        for first, found in lines(blocks, framing):
            for number, data in enumerate(found, first):
                if data is None or too_deep(data):
                    self.problems.append(Problem(f"{path}:{number}", "limit", BEYOND))
                    sound = False
                    continue
                try:
                    line = parse_object(data)
                except UnreadableError as fault:
                    self.problems.append(Problem(f"{path}:{number}", fault.code, str(fault)))
                    sound = False
                    continue
                if valid is not None and not valid(line):
                    self._invalid(f"{path}:{number}", schema or "", line, explained=explained < EXPLAINED)
                    explained += 1
                    sound = False
                elif sound:
                    take(number, line)
                    continue
                if unread is not None:
                    unread(number, line)
