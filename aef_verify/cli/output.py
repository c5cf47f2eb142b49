"""What commands print: results on standard output, whole or with exit code 3, and one-line words on standard error."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from aef_verify.cli.exits import WriteError
from aef_verify.problems import reason_of
from aef_verify.report.escape import escaped, json_document
from aef_verify.stdout import abandon_output, write_out

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMNS = 100
"""The width of output that no terminal shows, unless COLUMNS says another."""

_MESSAGE = 2000
_ENDS = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


def say(message: str) -> None:
    """Write one line to standard error, escaped; one that nobody reads is no error."""
    line = " ".join(message.split("\n"))
    line = line if len(line) <= _MESSAGE else line[:_MESSAGE] + "…"
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(_encodable(escaped(line) + "\n", sys.stderr))
        sys.stderr.flush()


def write_text(text: str) -> None:
    """Write text to standard output, all of it.

    Raises:
        WriteError: it could not be written; without a message where the reader has gone.
    """
    if sys.stdout is None:
        raise WriteError("standard output is closed")
    try:
        if hasattr(sys.stdout, "buffer"):
            write_out(_encodable(text, sys.stdout).encode(sys.stdout.encoding))
        else:
            sys.stdout.write(text)
            sys.stdout.flush()
    except (OSError, ValueError) as fault:
        abandon_output()
        if isinstance(fault, BrokenPipeError) or getattr(fault, "errno", None) == errno.EPIPE:
            raise WriteError from None
        reason = reason_of(fault)
        raise WriteError(f"standard output could not be written: {reason}") from None


def write_json(value: object) -> None:
    """Write one JSON value to standard output; raises as `write_text`."""
    write_text(json_document(value) + "\n")


def _encodable(text: str, stream: TextIO) -> str:
    """Return a text that the stream's encoding holds, other characters as escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn what keeps a file from being written into a WriteError; what is called here leaves nothing half-written."""
    try:
        yield
    except OSError as fault:
        raise WriteError(f"{path}: could not be written: {reason_of(fault)}; nothing was left behind") from None


@contextmanager
def writing_job(out: str) -> Iterator[None]:
    """Turn what keeps a job from being written into a WriteError; its stream then says what is there."""
    try:
        yield
    except OSError as fault:
        from aef_verify.runner.job import EVENTS

        raise WriteError(
            f"{out}: could not be written: {reason_of(fault)}; what is there is whole, and {EVENTS} says what it is"
        ) from None


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is shown by a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def show(parts: Iterable[RenderableType]) -> None:
    """Print parts of a report on standard output: in colour on a terminal, unless NO_COLOR is set."""
    write_text(rendered(parts))


def rendered(parts: Iterable[RenderableType]) -> str:
    """Return parts of a report as text for standard output."""
    from io import StringIO

    from rich.console import Console

    colour = is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    text = StringIO()
    console = Console(
        file=text,
        width=max(shutil.get_terminal_size((COLUMNS, 24)).columns, 40),
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(part)
    return _ENDS.sub(r"\1", text.getvalue())
