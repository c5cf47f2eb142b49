"""NDJSON framing [ENC-5], [ENC-6], [ENC-7] over a stream of blocks, within [ENC-17], in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aef_verify import limits
from aef_verify.encoding.ijson import EncodingError, LimitError, UnreadableError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

LONG = b"\r"
"""What stands for a line beyond `limits.JSON_BYTES` that was not kept; no line of a file that reads holds a CR."""


class Framing:
    """Cuts a stream of bytes into its lines.

    `feed` returns the lines that a block completes, without their LF: None stands for a line beyond
    `limits.JSON_BYTES`, whose bytes are not kept. A file with a framing fault has no line read: from the first
    fault on `feed` returns nothing, and `finish` returns that fault; what was returned before it is void.
    A file beyond a limit of [ENC-17] earns that alone, whatever else is wrong with it.
    """

    def __init__(self, *, growing: bool = False) -> None:
        """Start before the first byte.

        Args:
            growing: whether the file may still be written to: then a last line without LF is no fault, nor is
                whatever it holds so far [STRM-2].
        """
        self._growing = growing
        self._return = False
        self.count = 0
        self._size = 0
        self._head = b""
        self._tail = b""
        self._long = False
        self._fault: EncodingError | None = None

    def feed(self, block: bytes | memoryview) -> list[bytes | None]:
        """Take the next bytes and return the lines that they complete."""
        data = bytes(block)
        return self._cut(data) if self._completes(data) else []

    def cut(self, block: bytes | memoryview) -> bytes:
        """Take the next bytes and return the lines that they complete as one piece, each with its LF.

        `LONG` stands for a line beyond `limits.JSON_BYTES` whose bytes were not kept; others may be beyond it, too.
        A blank line is for the caller to find [ENC-5], and to report by `blank`.
        """
        data = bytes(block)
        if not self._completes(data):
            return b""
        first, end = data.find(b"\n"), data.rfind(b"\n") + 1
        self._keep(data[:first])
        whole = (LONG if self._long else self._tail) + data[first:end]
        self._tail, self._long = data[end:], False
        return whole

    def blank(self, line: int) -> None:
        """Report a blank line, found before any other fault of the file."""
        self._fault = EncodingError(f"line {line} is blank")

    def _completes(self, data: bytes) -> bool:
        """Count the next bytes, and return whether they complete lines of a file without fault so far."""
        self._size += len(data)
        ends = data.count(b"\n")
        self.count += ends
        if len(self._head) < len(BYTE_ORDER_MARK):
            self._head += data[: len(BYTE_ORDER_MARK) - len(self._head)]
        if self._head == BYTE_ORDER_MARK and (self.count or not self._growing):
            self._fault = EncodingError("the file starts with a byte order mark")
        if self._fault is None and (self._return or b"\r" in data) and self._returns(data):
            self._fault = EncodingError("the file holds a CR; lines end with LF alone")
        if self._fault is not None or self.is_beyond:
            self._tail = b""
            return False
        if not ends:
            self._keep(data)
        return ends > 0

    @property
    def is_beyond(self) -> bool:
        """Whether the file is beyond a limit of [ENC-17], so that nothing that follows can change what it earns."""
        return self.count > limits.LINES or self._size > limits.NDJSON_BYTES

    @property
    def is_unfinished(self) -> bool:
        """Whether the last line so far has no LF."""
        return bool(self._tail) or self._long

    def _returns(self, data: bytes) -> bool:
        """Whether a CR stands where it is a fault: in a growing file only once its line is finished."""
        if not self._growing:
            return True
        finished, end, rest = data.rpartition(b"\n")
        found = bool(end) and (self._return or b"\r" in finished)
        self._return = b"\r" in rest or (self._return and not end)
        return found

    def _keep(self, data: bytes) -> None:
        """Add to the unfinished line."""
        if self._long or len(self._tail) + len(data) > limits.JSON_BYTES:
            self._long, self._tail = True, b""
        else:
            self._tail += data

    def _cut(self, data: bytes) -> list[bytes | None]:
        pieces = data.split(b"\n")
        self._keep(pieces[0])
        lines: list[bytes | None] = [None if self._long else self._tail]
        lines.extend(pieces[1:-1])
        self._tail, self._long = pieces[-1], False
        if b"" in lines:
            self._fault = EncodingError(f"line {self.count - len(lines) + 1 + lines.index(b'')} is blank")
            return []
        if len(data) > limits.JSON_BYTES:
            return [None if line is not None and len(line) > limits.JSON_BYTES else line for line in lines]
        return lines

    def finish(self) -> UnreadableError | None:
        """Return what is wrong with the file as a whole, or None."""
        if self._size > limits.NDJSON_BYTES:
            return LimitError(f"{self._size:,} bytes; at most {limits.NDJSON_BYTES:,} are allowed")
        if self.count > limits.LINES:
            return LimitError(f"{self.count:,} lines; at most {limits.LINES:,} are allowed")
        if self._fault is None and self.is_unfinished and not self._growing:
            return EncodingError("the last line is unfinished: it does not end with LF")
        return self._fault


def lines(blocks: Iterable[bytes | memoryview], framing: Framing) -> Iterator[tuple[int, list[bytes | None]]]:
    """Yield (number of the first line, lines) for each block that completes lines."""
    for block in blocks:
        found = framing.feed(block)
        if found:
            yield framing.count - len(found) + 1, found
