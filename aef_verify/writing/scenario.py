"""A scenario: the facts of a closed run as a producer has them (09 §9.2.1), read from its document.

In this order: the scenario's four members, each case, each node of its tree, its trials, the summary asked for. Only
shapes are judged here, every member that has no place among them refused; what the facts say is judged in `trees`, in
`summarize` and by the writer schemas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aef_verify.problems import InputError
from aef_verify.writing.shape import NULL, Document, Shape, members
from aef_verify.writing.summarize import Lane, read_request
from aef_verify.writing.trees import CaseTree, Node, Trials

_SCENARIO: Shape = {"run": dict, "metrics": dict, "cases": list, "summary": dict}
_FACTS: Shape = {"evaluator": dict, "state": str}
_OPTIONAL_FACTS: Shape = {"scores": list, "severity": str, "reason": str, "lane": str}
_NODE: Shape = {"path": str, **_FACTS}
_NODE_OPTIONS: Shape = {**_OPTIONAL_FACTS, "component": dict, "aggregation": dict, "children": list}
_COMPONENT: Shape = {"weight": (int, float), "required": bool}
_AGGREGATION: Shape = {"strategy": str, "rulePath": str}
_AGGREGATION_OPTIONS: Shape = {"threshold": (int, float, NULL), "score": (int, float, NULL), "decisive": list}
_TRIALS: Shape = {"aggregation": str, "trees": list}

WITH_K = "PassAtK"
"""The one aggregation of trials that has a `k`."""


class Scenario(NamedTuple):
    """The documents and trees of a run: `run.json`, `metrics.json`, its cases, and the summary asked for."""

    run: Document
    metrics: Document
    cases: Sequence[CaseTree]
    lanes: Sequence[Lane]


def read_scenario(document: object) -> Scenario:
    """Return what a scenario holds; raises InputError where it is not of its shape."""
    given = members(document, "the scenario", _SCENARIO)
    cases = [_case(case, number) for number, case in enumerate(given["cases"], 1)]
    return Scenario(given["run"], given["metrics"], cases, read_request(given["summary"]))


def _case(value: object, number: int) -> CaseTree:
    case = members(value, f"case {number} of the scenario", {"caseId": str, **_NODE}, {**_NODE_OPTIONS, "trials": dict})
    case_id = case["caseId"]
    place = f"case {case_id}"
    trials = _trials(case["trials"], place) if "trials" in case else None
    root = {name: found for name, found in case.items() if name not in ("caseId", "trials")}
    return CaseTree(case_id, _node(root, place), trials)


def _trials(value: object, place: str) -> Trials:
    given = members(value, f"{place}: trials", _TRIALS, {"k": int})
    aggregation, k = given["aggregation"], given.get("k")
    if k is not None and aggregation != WITH_K:
        raise InputError(f"{place}: trials has a k, which belongs to the aggregation {WITH_K} alone")
    trees = tuple(_node(tree, f"{place}, trial {number}") for number, tree in enumerate(given["trees"]))
    return Trials(aggregation, trees, k)


def _node(value: object, place: str) -> Node:
    """Read a node and what is below it; within the depth that a JSON text may have, this calls itself."""
    given = members(value, f"{place}: a node", _NODE, _NODE_OPTIONS)
    at = f"{place}, path {given['path']}"
    component, aggregation = given.get("component"), given.get("aggregation")
    if component is not None:
        members(component, f"{at}: component", _COMPONENT)
    if aggregation is not None:
        members(aggregation, f"{at}: aggregation", _AGGREGATION, _AGGREGATION_OPTIONS)
        if not all(isinstance(path, str) for path in aggregation.get("decisive", ())):
            raise InputError(f"{at}: decisive holds something else than paths")
    facts = {name: found for name, found in given.items() if name in _FACTS or name in _OPTIONAL_FACTS}
    children = tuple(_node(child, place) for child in given.get("children", ()))
    return Node(given["path"], facts, component, aggregation, children)
