"""Whether two runs measured the same thing: their suites and the axes of a comparison (docs/MEMORY_PAIR.md §3).

Axes are compared as [LANE-6] does: the same value in both headers, absent equal only to absent. Five decide, three are
shown. A suite or its content that neither run names is unknown, not the same. Two arms of different roles are
different evaluations whatever else agrees. What a run says of itself proves nothing where the run is invalid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from aef_verify.folder import Folder
from aef_verify.layout import RUN
from aef_verify.memory.model import NORMAL
from aef_verify.memory.pair_arm import extension_of, read_definition, role_of
from aef_verify.memory.pair_definition import ABSENT, Definition, members_differing
from aef_verify.problems import InputError
from aef_verify.run.verify import verify_run

SAME, DIFFERENT, UNKNOWN = VERDICTS = ("same", "different", "unknown")
"""What a comparison, and each axis of it, may come to."""

Document = dict[str, Any]


class Axis(NamedTuple):
    """One axis: its name, whether it decides, its values, None where a run has none, and its verdict."""

    name: str
    decides: bool
    first: object
    second: object
    verdict: str


class Side(NamedTuple):
    """One of the two runs: its folder, its outcome, its id, the role of the arm that it is, None for none."""

    path: str
    outcome: str
    run_id: str | None
    role: str | None


class SuiteComparison(NamedTuple):
    """What came out of comparing two runs.

    Attributes:
        verdict: one of `VERDICTS`.
        first, second: the runs.
        axes: every axis, those that decide first.
        members: the members in which the two definitions of a memory benchmark differ; None unless both have one.
        notes: what else bears on the verdict, in plain words.
    """

    verdict: str
    first: Side
    second: Side
    axes: tuple[Axis, ...]
    members: tuple[str, ...] | None
    notes: tuple[str, ...]


def _part(holder: object, *names: str) -> object:
    """Return the named members of an object, a single one as it is; None where there is none of them."""
    values = [holder.get(name) for name in names] if isinstance(holder, dict) else [None] * len(names)
    if all(value is None for value in values):
        return None
    return values[0] if len(values) == 1 else values


def _of_judges(name: str) -> Callable[[Document], object]:
    return lambda run: [judge.get(name) for judge in run.get("judges", ())]


_AXES: tuple[tuple[str, bool, Callable[[Document], object]], ...] = (
    ("suite", True, lambda run: _part(run.get("suite"), "ref", "version")),
    ("suite-content", True, lambda run: _part(run.get("suite"), "digest")),
    ("judges", True, _of_judges("model")),
    ("rubrics", True, _of_judges("rubricDigest")),
    ("target-mode", True, lambda run: _part(run.get("execution"), "targetMode")),
    ("subject", False, lambda run: _part(run.get("subject"), "ref")),
    ("deployment", False, lambda run: _part(run.get("deployment"), "ref")),
    ("producer", False, lambda run: _part(run.get("producer"), "name", "version")),
)
"""Each axis, whether it decides, and its value in a header that is valid against the reader schema [LANE-6]."""

_NEEDED = frozenset(("suite", "suite-content"))
"""Axes on which two runs that say nothing are not the same."""


def compare_suites(first: str, second: str) -> SuiteComparison:
    """Say whether two runs measured the same thing.

    Args:
        first: the folder of one run.
        second: the folder of the other.

    Raises:
        InputError: a folder is no run or cannot be read, or its `run.json` is not valid.
    """
    one, two = _Read.of(first), _Read.of(second)
    return compare(one.side, one.run, one.definition, two.side, two.run, two.definition)


class _Read(NamedTuple):
    """What is read of one run."""

    side: Side
    run: Document
    definition: Definition

    @classmethod
    def of(cls, path: str) -> _Read:
        report = verify_run(path)
        if report.run is None or any(problem.pair == (RUN, "schema") for problem in report.problems):
            raise InputError(f"{path}: run.json is not valid, so that it says nothing to compare")
        with Folder(path) as folder:
            definition = read_definition(folder)
        side = Side(path, report.outcome, report.run_id, role_of(extension_of(report.summary)))
        return cls(side, report.run, definition)


def compare(
    first: Side,
    run: Document,
    definition: Definition,
    second: Side,
    other_run: Document,
    other_definition: Definition = ABSENT,
) -> SuiteComparison:
    """Compare two runs, of each its side, its header and the facts of its definition. Pure."""
    axes = tuple(_axis(name, decides, value(run), value(other_run)) for name, decides, value in _AXES)
    members = None
    if definition.reads and other_definition.reads:
        members = tuple(members_differing(definition, other_definition))
    notes = [f"{side.path} is invalid: what it says of itself proves nothing" for side in (first, second) if _bad(side)]
    # A run that is no arm of a pair measures what a normal arm measures.
    roles = (first.role or NORMAL, second.role or NORMAL)
    if roles[0] != roles[1]:
        notes.insert(0, "a normal and an oracle arm are different evaluations, whatever else agrees")
    verdicts = [axis.verdict for axis in axes if axis.decides]
    if DIFFERENT in verdicts or roles[0] != roles[1] or members:
        verdict = DIFFERENT
    else:
        verdict = UNKNOWN if UNKNOWN in verdicts or _bad(first) or _bad(second) else SAME
    return SuiteComparison(verdict, first, second, axes, members, tuple(notes))


def _bad(side: Side) -> bool:
    return side.outcome == "invalid"


def _axis(name: str, decides: bool, first: object, second: object) -> Axis:
    if first is None and second is None and name in _NEEDED:
        return Axis(name, decides, None, None, UNKNOWN)
    return Axis(name, decides, first, second, SAME if first == second else DIFFERENT)
