"""The results of an arm, compactly, and which of them are its questions (docs/MEMORY_PAIR.md §3).

With our definition an arm's questions are its lines at path `qa`. In another layout they are, with several root cases,
the root cases, else the leaves; with one root case the leaves, else the root: the first of these whose number is
`observedQuestions`. Trial lines never count. Several states of one case are kept as a set, a bit each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from aef_verify.memory.profile import QUESTION_PATH, TYPE_PATH
from aef_verify.run.results import id_bytes

STATES = (
    "passed",
    "failed",
    "warn",
    "inconclusive",
    "scored",
    "not_measured",
    "not_applicable",
    "skipped",
    "error",
    "pending",
)
BIT = {state: 1 << place for place, state in enumerate(STATES)}
"""The bit of each state of a result [RES-1]."""

PASSED = BIT["passed"]
_SCORED = BIT["scored"]
_DECIDED = BIT["passed"] | BIT["failed"] | BIT["warn"]
_MEASURED = _DECIDED | BIT["inconclusive"] | BIT["scored"]

_SHORT = 64
"""Characters of a case id that are kept whole; a longer one is kept as its beginning and a digest."""


class Questions(NamedTuple):
    """An arm's questions: how many have each set of states, and that set by id where a question is a root case."""

    states: dict[int, int]
    ids: dict[str, int] | None

    @property
    def number(self) -> int:
        """How many there are."""
        return sum(self.states.values())

    @property
    def passed(self) -> int:
        """Those that passed and nothing else."""
        return self.states.get(PASSED, 0)

    @property
    def least_scored(self) -> int:
        """Those in no other state than `passed`, `failed` or `warn`: a verdict was reached on them."""
        return sum(count for states, count in self.states.items() if not states & ~_DECIDED)

    @property
    def most_scored(self) -> int:
        """Those that were measured at all."""
        return sum(count for states, count in self.states.items() if states & _MEASURED)

    @property
    def is_decided(self) -> bool:
        """Whether each has one state, and none is `scored`, which tells nobody whether it passed."""
        return all(states.bit_count() == 1 and states != _SCORED for states in self.states)


class Lines(NamedTuple):
    """What a pair needs of `results.ndjson`.

    Attributes:
        roots: the states of the root lines of each case.
        leaves: how many lines without children have each state, as bits; empty with our definition.
        asked: the states of each case's line at path `qa`; None without our definition.
        types: the lane of each case's view at path `type`; empty without our definition.
    """

    roots: dict[str, int]
    leaves: dict[int, int]
    asked: dict[str, int] | None
    types: dict[str, str]

    @classmethod
    def none(cls) -> Lines:
        """Return what a run without a line gives."""
        return cls({}, {}, None, {})

    @property
    def has_one_root(self) -> bool:
        """Whether all lines are of one case, in a layout that is not ours: its ids then tell no questions apart."""
        return self.asked is None and len(self.roots) == 1

    def questions(self, observed: int) -> Questions | None:
        """Return the arm's questions, of which `observed` are stated; None where no way of counting gives so many."""
        if self.asked is not None:
            return _by_id(self.asked)
        for found in self._ways():
            if found.number == observed:
                return found
        return None

    def _ways(self) -> Iterator[Questions]:
        if len(self.roots) > 1:
            yield _by_id(self.roots)
            yield Questions(self.leaves, None)
        else:
            yield Questions(self.leaves, None)
            yield _by_id(self.roots)


def _by_id(ids: dict[str, int]) -> Questions:
    return Questions(dict(Counter(ids.values())), ids)


class LinesReader:
    """Takes the lines of `results.ndjson`, valid against the reader schema, in order."""

    def __init__(self, *, ours: bool) -> None:
        """Start before the first line; `ours` says whether the arm has our definition."""
        self._ours = ours
        self._roots: dict[str, int] = {}
        self._asked: dict[str, int] = {}
        self._types: dict[str, str] = {}
        self._states: dict[bytes, int] = {}
        self._parents: set[bytes] = set()

    def take(self, number: int, line: dict[str, Any]) -> None:
        """Keep what a pair needs of one line."""
        if line.get("trial") is not None:
            return
        case, state, parent = shortened(line["caseId"]), BIT[line["state"]], line.get("parentResultId")
        if parent is None:
            self._roots[case] = self._roots.get(case, 0) | state
        if self._ours:
            if line["path"] == QUESTION_PATH:
                self._asked[case] = state
            elif line["path"] == TYPE_PATH:
                self._types[case] = line.get("lane") or ""
            return
        self._states[id_bytes(line["resultId"])] = state
        if parent is not None:
            self._parents.add(id_bytes(parent))

    def lines(self) -> Lines:
        """Return what the lines gave."""
        leaves = Counter(state for identity, state in self._states.items() if identity not in self._parents)
        return Lines(self._roots, dict(leaves), self._asked if self._ours else None, self._types)


def shortened(identity: str) -> str:
    """Return an id as it is kept: whole, or its beginning and a digest, so that equal ones stay equal."""
    if len(identity) <= _SHORT:
        return identity
    return f"{identity[:_SHORT]}…{sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
