"""Problems as data, and the one order in which they are reported (03 §3.9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from aef_verify.layout import LINE_FILES


class InputError(Exception):
    """The caller's mistake, or an input that cannot be read at all: exit code 2, never a verdict."""


class Problem(NamedTuple):
    """One difference between evidence and a rule.

    `path` and `code` are the format's own report (03 §3.9); `detail` says in plain words what is wrong and
    `value` is the offending value as found, both for people and empty where there is nothing to add.
    """

    path: str
    code: str
    detail: str = ""
    value: object = None

    @property
    def pair(self) -> tuple[str, str]:
        """The (path, code) pair that identifies the problem in a report."""
        return self.path, self.code


def order_key(problem: Problem) -> tuple[bytes, int, bytes]:
    """Sort key: path by UTF-8 bytes, then line as a number in the files of `LINE_FILES`, then code.

    The lines of a file stand together (docs/READINGS.md, names that look like lines).
    """
    path = problem.path
    file, colon, line = path.rpartition(":")
    if colon and file in LINE_FILES and line.isascii() and line.isdigit():
        return (file + ":").encode(), int(line), problem.code.encode()
    return path.encode("utf-8", "surrogatepass"), 0, problem.code.encode()


def ordered(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems in §3.9's order, each (path, code) pair once (the first given is kept)."""
    seen: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        seen.setdefault((problem.path, problem.code), problem)
    return sorted(seen.values(), key=order_key)


def reason_of(fault: Exception) -> str:
    """Return why something could not be read or written, for people: the system's own words where it has some."""
    return getattr(fault, "strerror", None) or str(fault)
