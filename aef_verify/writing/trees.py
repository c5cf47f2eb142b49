"""The result trees of cases, and the lines of `results.ndjson` that they become [RES-3] to [RES-8].

For each case, in this order: its trial trees stand at its own path, and it has a node at each path that they have and
at no other [RES-8]. For each node, outer ones first: a child stands one level below its parent, with its `component`; a
node with children has its `aggregation`, and no other has one; `decisive` names children [RES-5], [RES-6]; nothing is
`pending` [RES-3]; no other line has its case, path and trial [RES-4]. Then its line: the facts as they were given, and
what they give: `resultId`, `parentResultId`, `trial`, a rollup's `trials`, a composite's counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from aef_verify.problems import InputError
from aef_verify.run.results import result_id
from aef_verify.schemas import accepts
from aef_verify.writing.shape import refused

Document = dict[str, Any]

MEASURED = frozenset(("passed", "failed", "warn", "inconclusive", "scored"))
"""The states in which something was measured [RES-1]."""

DERIVED = frozenset(
    ("schemaVersion", "resultId", "caseId", "path", "parentResultId", "trial", "trials", "component", "aggregation")
)
"""The members of a result line that a node's facts never hold: they have a place of their own, or are derived."""


COUNTED = frozenset(("total", "measured", "unmeasured"))
"""The members of an aggregation that are counted from the children [RES-6]."""


class Node(NamedTuple):
    """What one result line will say.

    Attributes:
        path: where it stands; a child's is its parent's, `/` and one name.
        facts: `evaluator`, `state` and whatever else the line says, as it will be written; none of `DERIVED`.
        component: `weight` and `required` of a child [RES-5].
        aggregation: of a node with children, `strategy`, `rulePath` and what else the producer knows; `decisive` holds
            paths of children.
        children: the nodes below it.
    """

    path: str
    facts: Document
    component: Document | None = None
    aggregation: Document | None = None
    children: tuple[Node, ...] = ()


class Trials(NamedTuple):
    """The trials of a case: how they become one result, with `k` where that has one, and one tree each, in order."""

    aggregation: str
    trees: tuple[Node, ...]
    k: int | None = None


class CaseTree(NamedTuple):
    """One tree of a case: its root, and the trials whose rollups its nodes then are [RES-8]."""

    case_id: str
    root: Node
    trials: Trials | None = None


def result_lines(run_id: str, cases: Iterable[CaseTree]) -> list[Document]:
    """Return the result lines of a closed run, valid against the writer schema, each parent before its children.

    Raises:
        InputError: a tree breaks one of the rules above; the message names case, path and rule.
    """
    lines: list[Document] = []
    known: set[tuple[str, str, int | None]] = set()
    for case in cases:
        rollups = _rollups(case)
        lines += _tree(run_id, case.case_id, None, case.root, rollups, known)
        for trial, root in enumerate(case.trials.trees if case.trials is not None else ()):
            lines += _tree(run_id, case.case_id, trial, root, {}, known)
    return lines


def walk(root: Node) -> Iterator[tuple[Node, Node | None]]:
    """Yield each node of a tree with its parent, parents first."""
    waiting: list[tuple[Node, Node | None]] = [(root, None)]
    while waiting:
        node, above = waiting.pop()
        yield node, above
        waiting += ((child, node) for child in reversed(node.children))


def _place(case_id: str, path: str, trial: int | None) -> str:
    return f"case {case_id}, path {path}" + ("" if trial is None else f", trial {trial}")


def _rollups(case: CaseTree) -> dict[str, Document]:
    """Return what each rollup of a case says about its trials, by path; nothing for a case that was run once."""
    if case.trials is None:
        return {}
    states: dict[str, list[object]] = {}
    for trial, root in enumerate(case.trials.trees):
        if root.path != case.root.path:
            place = _place(case.case_id, root.path, trial)
            raise InputError(f"{place}: a trial's tree stands at its case's path, {case.root.path} [RES-8]")
        for node, _ in walk(root):
            states.setdefault(node.path, []).append(node.facts.get("state"))
    own = {node.path for node, _ in walk(case.root)}
    for path in sorted(own ^ states.keys()):
        what = "no trial has a line here, and the case has one" if path in own else "the case has no rollup here"
        raise InputError(f"{_place(case.case_id, path, None)}: {what}; there is one at each path of its trials [RES-8]")
    shared = {"aggregation": case.trials.aggregation} | ({} if case.trials.k is None else {"k": case.trials.k})
    return {
        path: {"n": len(found), "passed": found.count("passed"), "agree": all(state == found[0] for state in found)}
        | shared
        for path, found in states.items()
    }


def _tree(
    run_id: str,
    case_id: str,
    trial: int | None,
    root: Node,
    rollups: dict[str, Document],
    known: set[tuple[str, str, int | None]],
) -> Iterator[Document]:
    """Yield the lines of one tree."""
    for node, above in walk(root):
        place = _place(case_id, node.path, trial)
        if fault := _fault(node, above):
            raise InputError(f"{place}: {fault}")
        key = case_id, node.path, trial
        if key in known:
            raise InputError(f"{place}: there is a line of this case, path and trial already [RES-4]")
        known.add(key)
        line: Document = {
            "schemaVersion": "1.0",
            "resultId": result_id(run_id, *key),
            "caseId": case_id,
            "path": node.path,
        }
        if above is not None:
            line["parentResultId"] = result_id(run_id, case_id, above.path, trial)
            line["component"] = node.component
        if trial is not None:
            line["trial"] = trial
        line |= node.facts
        if node.path in rollups:
            line["trials"] = rollups[node.path]
        if node.aggregation is not None:
            line["aggregation"] = _counted(node, node.aggregation)
            if decisive := node.aggregation.get("decisive"):
                line["aggregation"]["decisive"] = [result_id(run_id, case_id, path, trial) for path in decisive]
        if not accepts("result", "writer", line):
            raise InputError(f"{place}: {refused('result', line)}")
        yield line


def _fault(node: Node, above: Node | None) -> str:
    """Say what is wrong with a node, or nothing."""
    if above is None:
        if node.component is not None:
            return "the root of a tree is no child, so it has no component [RES-5]"
    else:
        name = node.path.removeprefix(f"{above.path}/")
        if name == node.path or not name or "/" in name:
            return f"a child stands one level below its parent, at {above.path}/ and a name [RES-5]"
        if node.component is None:
            return "a child says what it is to its parent: a component, with weight and required [RES-5]"
    if node.children and node.aggregation is None:
        return "a node with children says how they were combined: an aggregation, with strategy and rulePath [RES-5]"
    if node.aggregation is not None and not node.children:
        return "a node without children combines nothing, so it has no aggregation [RES-5]"
    below = {child.path for child in node.children}
    for path in (node.aggregation or {}).get("decisive", ()):
        if path not in below:
            return f"{path} is decisive, and no child stands there [RES-6]"
    if counted := COUNTED & (node.aggregation or {}).keys():
        return f"an aggregation's {min(counted)} is counted, not given [RES-6]"
    if node.facts.get("state") == "pending":
        return "a closed run has no pending result; write skipped or error, with a reason [RES-3]"
    if wrong := DERIVED & node.facts.keys():
        return f"{min(wrong)} is no fact that is given; it is derived"
    return ""


def _counted(node: Node, facts: Document) -> Document:
    """Return a composite's facts with the counts of its children [RES-6]."""
    states = [child.facts.get("state") for child in node.children]
    measured = sum(state in MEASURED for state in states)
    counted = {name: value for name, value in facts.items() if name != "decisive"}
    counted |= {"total": len(states), "measured": measured}
    if measured < len(states):
        counted["unmeasured"] = dict(Counter(state for state in states if state not in MEASURED))
    return counted
