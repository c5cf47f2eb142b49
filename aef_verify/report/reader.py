"""A run's content as a reader takes it, bounded: what reads is there to be shown, whatever is wrong with the rest.

Lines of a file whose framing is broken are not read (03 §3.9). Values stand as written; how an unknown one reads is
`schemas.reads`' to say [VER-8].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from aef_verify.folder import Folder
from aef_verify.layout import EVIDENCE, GATES, METRICS, RESULTS, RUN, SUMMARY
from aef_verify.run.reading import Documents

Document = dict[str, Any]

_KEPT = 10_000
"""Result lines that are kept to be shown; a tree larger than that is shown in part."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of one file: how many read, the first of them, and whether the file reads at all."""

    count: int
    kept: tuple[tuple[int, Document], ...]
    reads: bool

    @property
    def left(self) -> int:
        """How many lines were not kept."""
        return self.count - len(self.kept)


@dataclass(frozen=True, slots=True)
class Node:
    """A result line in its tree: its number, what it says, its children in file order."""

    number: int
    line: Document
    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class RunContent:
    """What a run says.

    Attributes:
        run, metrics, summary: the documents that read, None otherwise.
        results: the lines of the first cases, or of the case that was asked for.
        states: how many of all result lines have each state; what is no string counts as `?`.
        cases: how many different cases the result lines have.
        evidence, gates: the first lines.
    """

    run: Document | None
    metrics: Document | None
    summary: Document | None
    results: Lines
    states: Counter[str]
    cases: int
    evidence: Lines
    gates: Lines


def read_content(path: str, *, limit: int, case: str | None = None) -> RunContent:
    """Read a run.

    Args:
        path: the run's folder.
        limit: how many lines of each file are enough; of results, whole cases are kept until there are so many.
        case: keep only results of this case.

    Raises:
        InputError: the folder or one of its files cannot be read.
    """
    with Folder(path) as folder:
        documents = Documents(folder, details=False)
        run, metrics, summary = (
            documents.json(name, schema, required=False).document
            for name, schema in ((RUN, "run"), (METRICS, "metrics"), (SUMMARY, "summary"))
        )
        lines = _Results(limit, case)
        found = _lines(documents, RESULTS, "result", lines.take)
        return RunContent(
            run,
            metrics,
            summary,
            Lines(lines.matching if found else 0, tuple(lines.kept) if found else (), found),
            lines.states if found else Counter(),
            len(lines.cases) if found else 0,
            _first(documents, EVIDENCE, "evidence", limit),
            _first(documents, GATES, "gate-decision", limit),
        )


def _lines(documents: Documents, file: str, schema: str, take: Callable[[int, Document], object]) -> bool:
    """Give every line that reads to `take`; return whether the file reads, an absent one counting as empty."""
    documents.ndjson(file, schema, take, take)
    return not any(problem.path == file for problem in documents.problems)


def _first(documents: Documents, file: str, schema: str, limit: int) -> Lines:
    kept: list[tuple[int, Document]] = []
    count = 0

    def take(number: int, line: Document) -> None:
        nonlocal count
        count += 1
        if len(kept) < limit:
            kept.append((number, line))

    reads = _lines(documents, file, schema, take)
    return Lines(count, tuple(kept), reads) if reads else Lines(0, (), reads)


class _Results:
    """Keeps the lines of the first cases, or of one case."""

    def __init__(self, limit: int, case: str | None) -> None:
        self.kept: list[tuple[int, Document]] = []
        self.states: Counter[str] = Counter()
        self.cases: set[str] = set()
        self.matching = 0
        self._limit = limit
        self._case = case
        self._shown: set[str] = set()

    def take(self, number: int, line: Document) -> None:
        """Take one line."""
        state, case = line.get("state"), line.get("caseId")
        name = case if isinstance(case, str) else ""
        self.states[state if isinstance(state, str) else "?"] += 1
        self.cases.add(name)
        if self._case is not None and name != self._case:
            return
        self.matching += 1
        if len(self.kept) < self._limit:
            self._shown.add(name)
        if name in self._shown and len(self.kept) < _KEPT:
            self.kept.append((number, line))


def forest(lines: tuple[tuple[int, Document], ...]) -> tuple[Node, ...]:
    """Return the result trees of some lines: cases in file order, a case's trials after what is none.

    A line whose parent is not among them is a root; so is the first line of a circle of parents.
    """
    ids = {line.get("resultId"): number for number, line in lines if isinstance(line.get("resultId"), str)}
    children: dict[int, list[int]] = {}
    roots: list[int] = []
    for number, line in lines:
        above = line.get("parentResultId")
        parent = ids.get(above) if isinstance(above, str) else None
        if parent is None or parent == number:
            roots.append(number)
        else:
            children.setdefault(parent, []).append(number)
    texts = dict(lines)
    first: dict[str, int] = {}
    for number, line in lines:
        first.setdefault(str(line.get("caseId")), number)
    roots.sort(key=lambda number: (first[str(texts[number].get("caseId"))], "trial" in texts[number]))
    made: set[int] = set()
    nodes = [node for number in roots for node in _tree(number, texts, children, made)]
    nodes += [node for number, _ in lines for node in _tree(number, texts, children, made)]
    return tuple(nodes)


def _tree(root: int, texts: dict[int, Document], children: dict[int, list[int]], made: set[int]) -> Iterator[Node]:
    """Yield the tree below a line, if the line is in no other one; trees may be deep, so nothing recurses."""
    if root in made:
        return
    order: list[int] = []
    waiting = [root]
    kept: dict[int, list[int]] = {}
    while waiting:
        number = waiting.pop()
        made.add(number)
        order.append(number)
        kept[number] = [child for child in children.get(number, ()) if child not in made]
        made.update(kept[number])
        waiting += kept[number]
    nodes: dict[int, Node] = {}
    for number in reversed(order):
        nodes[number] = Node(number, texts[number], tuple(nodes[child] for child in kept[number]))
    yield nodes[root]
