"""The lines of `results.ndjson` against each other, once all ranges were judged: what `results.py` found, joined.

In the order of 03 §3.9: `result-id` of two lines [RES-4], `parent`, `aggregation` [RES-5] [RES-6], `trials` [RES-8]
(in `trials.py`). What is kept for it of a line is its result id and its case and path as text, in columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from aef_verify.layout import RESULTS
from aef_verify.problems import Problem
from aef_verify.run.results import Part
from aef_verify.run.trials import Trials

WIDTH = 16
"""Bytes of a result id."""


class Tree:
    """Takes the parts of the file in order; `finish` judges what needed all of them.

    Attributes:
        ids: 16-byte result id to the number of the last line that has it.
        links: (line, traceId, spanId or None) of every `traceLink`, lower case as the schema has them.
        taken: how many lines were judged.
    """

    def __init__(self, *, closed: bool) -> None:
        """Start before the first line of a run that is or is not closed."""
        self.ids: dict[bytes, int] = {}
        self.links: list[tuple[int, str, str | None]] = []
        self.taken = 0
        self._found: list[Problem] = []
        self._trials = Trials(closed)
        self._column = bytearray()
        self._case_columns: list[str] = []
        self._path_columns: list[str] = []
        self._repeats: dict[bytes, list[int]] = {}
        self._children: list[tuple[int, bytes]] = []
        self._parents: list[tuple[int, int, tuple[bytes, ...]]] = []
        self._trial_at: dict[int, int] = {}

    def add(self, part: Part) -> None:
        """Take the next part; every line before it was judged."""
        if not part.taken:
            return
        base = self.taken
        self.taken += part.taken
        column = part.ids
        self._column += column
        self._case_columns.append(part.cases)
        self._path_columns.append(part.paths)
        self.ids.update(zip(split_ids(column), range(base + 1, self.taken + 1), strict=True))
        for line, code, detail, value in part.found:
            self._found.append(Problem(f"{RESULTS}:{base + line}", code, detail, value))
        self.links += ((base + line, trace, span) for line, trace, span in part.links)
        self._children += ((base + line, parent) for line, parent in part.children)
        self._parents += ((base + line, total, decisive) for line, total, decisive in part.parents)
        for line, trial, rollup, case, path, state, parent in part.repeats:
            if rollup is not None:
                identity = column[WIDTH * (line - 1) : WIDTH * line]
                self._trials.rollup(base + line, case, path, rollup, identity, parent)
            elif trial is not None:
                self._trial_at[base + line] = trial
                self._trials.trial(base + line, case, path, state, parent)

    def finish(self) -> list[Problem]:
        """Return all problems, unordered, after the last part."""
        problems = self._found
        if len(self.ids) < self.taken:
            problems.extend(self._twice())
        problems.extend(self._tree())
        problems.extend(self._trials.problems(self._path_of))
        return problems

    def _twice(self) -> Iterator[Problem]:
        """Find the lines that have the id of an earlier one [RES-4]."""
        seen: dict[bytes, int] = {}
        for number, identity in enumerate(split_ids(bytes(self._column)), 1):
            first = seen.get(identity)
            seen[identity] = number
            if first is not None:
                self._repeats.setdefault(identity, [first]).append(number)
                detail, written = f"line {first} has this resultId already", "r_" + identity.hex()
                yield Problem(f"{RESULTS}:{number}", "result-id", detail, written)

    @cached_property
    def _cases(self) -> list[str]:
        return _texts(self._case_columns)

    @cached_property
    def _paths(self) -> list[str]:
        return _texts(self._path_columns)

    def _tree(self) -> Iterator[Problem]:
        """Children against parents, both ways [RES-5], [RES-6], [RES-8]."""
        kids: dict[bytes, set[bytes]] = {}
        column = bytes(self._column)
        for number, parent in self._children:
            yield from self._parenthood(number, parent)
            kids.setdefault(parent, set()).add(column[WIDTH * (number - 1) : WIDTH * number])
        aggregated = {number for number, _, _ in self._parents}
        for parent in kids:
            for number in self._lines_of(parent):
                if number not in aggregated:
                    yield Problem(f"{RESULTS}:{number}", "aggregation", "the line has children and no aggregation")
        nobody: set[bytes] = set()
        for number, total, decisive in self._parents:
            children = kids.get(column[WIDTH * (number - 1) : WIDTH * number], nobody)
            if len(children) != total:
                detail = f"the number of its children is {len(children)}"
                yield Problem(f"{RESULTS}:{number}", "aggregation", detail, total)
            for result in decisive:
                if result not in children:
                    detail = "a decisive id is no child of the line"
                    yield Problem(f"{RESULTS}:{number}", "aggregation", detail, "r_" + result.hex())
                    break

    def _path_of(self, identity: bytes) -> str | None:
        number = self.ids.get(identity)
        return None if number is None else self._paths[number - 1]

    def _lines_of(self, identity: bytes) -> Iterable[int]:
        if identity in self._repeats:
            return self._repeats[identity]
        return (self.ids[identity],) if identity in self.ids else ()

    def _parenthood(self, number: int, parent: bytes) -> Iterator[Problem]:
        above = self.ids.get(parent)
        if above is None:
            yield Problem(f"{RESULTS}:{number}", "parent", "no line of the run has this resultId", "r_" + parent.hex())
            return
        case = self._cases[above - 1]
        if case != self._cases[number - 1]:
            yield Problem(f"{RESULTS}:{number}", "parent", f"the parent, line {above}, is of another case", case)
        own, expected = self._trial_at.get(number), self._trial_at.get(above)
        if own != expected:
            if expected is None:
                detail = f"the line carries trial {own}, and its parent, line {above}, carries none"
            else:
                detail = f"its parent, line {above}, carries trial {expected}, and the line does not repeat it"
            yield Problem(f"{RESULTS}:{number}", "trials", detail, own)


def split_ids(column: bytes) -> list[bytes]:
    """Return the result ids of a column."""
    return [column[place : place + WIDTH] for place in range(0, len(column), WIDTH)]


def _texts(columns: list[str]) -> list[str]:
    """Return the texts of columns in order, equal ones after each other as one object."""
    texts: list[str] = []
    last = ""
    for column in columns:
        for text in column.split("\n"):
            if text != last:
                last = text
            texts.append(last)
    return texts
