"""Repeated trials [RES-8]: every case and path with trial lines has one rollup that says what they say.

The rules, in the order they are judged: a second rollup of a case and path; `n`, `passed` and `agree` against the trial
lines; the rollup's parent against the trial lines' parents; a trial line without a rollup.
That a line and its parent carry one trial is judged with the tree, in `results.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from aef_verify.layout import RESULTS
from aef_verify.problems import Problem


class _Repeated:
    """The trial lines and the first rollup of one case and path."""

    __slots__ = ("agree", "facts", "id", "line", "lines", "parent", "parents", "passed", "state")

    def __init__(self) -> None:
        self.lines: list[int] = []
        self.passed = 0
        self.state = ""
        self.agree = True
        self.parents: set[bytes | None] = set()
        self.line = 0
        self.facts: tuple[float, float, bool] | None = None
        self.id = b""
        self.parent: bytes | None = None


class Trials:
    """Takes trial lines and rollups in any order; `problems` judges them when all were given."""

    def __init__(self, closed: bool) -> None:
        """Start a run; `closed` says whether every case must have its rollup."""
        self._closed = closed
        self._groups: dict[tuple[str, str], _Repeated] = {}
        self._second: list[Problem] = []

    def _group(self, case: str, path: str) -> _Repeated:
        key = case, path
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Repeated()
        return group

    def trial(self, number: int, case: str, path: str, state: str, parent: bytes | None) -> None:
        """Take a line that carries `trial`."""
        group = self._group(case, path)
        if group.lines and state != group.state:
            group.agree = False
        group.state = state
        group.lines.append(number)
        group.passed += state == "passed"
        group.parents.add(parent)

    def rollup(
        self,
        number: int,
        case: str,
        path: str,
        facts: tuple[float, float, bool],
        identity: bytes,
        parent: bytes | None,
    ) -> None:
        """Take a line that carries `trials`, as `n`, `passed` and `agree`; the first of a case and path counts."""
        group = self._group(case, path)
        if group.line:
            detail = f"line {group.line} is the rollup of this case and path already"
            self._second.append(Problem(f"{RESULTS}:{number}", "trials", detail))
            return
        group.line, group.facts, group.id, group.parent = number, facts, identity, parent

    def problems(self, path_of: Callable[[bytes], str | None]) -> Iterator[Problem]:
        """Yield the `trials` problems; `path_of` gives the path of the line with a result id, None if there is none."""
        yield from self._second
        for (case, _), group in self._groups.items():
            if group.facts is not None:
                fault = _facts_fault(group, group.facts) or self._parent_fault(case, group, path_of)
                if fault:
                    yield Problem(f"{RESULTS}:{group.line}", "trials", fault)
            elif self._closed:
                for number in group.lines:
                    detail = "a trial line whose case has no rollup at this path"
                    yield Problem(f"{RESULTS}:{number}", "trials", detail)

    def _parent_fault(self, case: str, group: _Repeated, path_of: Callable[[bytes], str | None]) -> str:
        tops = {None if parent is None else path_of(parent) for parent in group.parents}
        if len(tops) > 1:
            return "the parents of its trial lines are at several paths, or some are roots and some are not"
        (top,) = tops
        if top is None:
            return "" if group.parent is None else "its trial lines are roots, and the rollup has a parent"
        above = self._groups.get((case, top))
        if above is None or not above.line or group.parent == above.id:
            return ""
        return f"its parent is not the rollup at {top}, line {above.line}, as its trial lines' parents are"


def _facts_fault(group: _Repeated, facts: tuple[float, float, bool]) -> str:
    n, passed, agree = facts
    if n != len(group.lines):
        return f"trials.n is {n}, and the number of trial lines at this path is {len(group.lines)}"
    if passed != group.passed:
        return f"trials.passed is {passed}, and the number of trial lines that passed is {group.passed}"
    if agree is not group.agree:
        return f"trials.agree is {str(agree).lower()}, and the trial lines say otherwise"
    return ""
