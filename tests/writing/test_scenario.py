"""A scenario is of its shape, or refused in words that name the place (09 §9.2.1)."""

from __future__ import annotations

from typing import Any

import pytest

from aef_verify.problems import InputError
from aef_verify.writing.scenario import read_scenario
from aef_verify.writing.summarize import Entry, Lane
from aef_verify.writing.trees import CaseTree, Node, Trials
from tests.writing.facts import METRICS, Json, case, child, composite, node, scenario, trials

FACTS: Json = {"evaluator": {"id": "code:check"}, "state": "passed"}


def test_what_a_scenario_holds() -> None:
    how = {"strategy": "Min", "rulePath": "threshold", "score": None, "threshold": 0.5, "decisive": ["q/a"]}
    tree = composite("q", child("q/a", scores=[], lane="b", severity="low", reason="r"), aggregation=how)
    found = read_scenario(
        scenario(case("k", tree, trials=trials(tree, aggregation="PassAtK", k=2)), case("l", node("p")))
    )
    below = Node(
        "q/a", FACTS | {"scores": [], "lane": "b", "severity": "low", "reason": "r"}, tree["children"][0]["component"]
    )
    root = Node("q", FACTS, None, how, (below,))
    assert found.cases == [CaseTree("k", root, Trials("PassAtK", (root,), 2)), CaseTree("l", Node("p", FACTS))]
    assert found.metrics == METRICS
    assert found.run == scenario()["run"]
    assert found.lanes == [Lane("main", (Entry("pass", "q"),))]


def without(value: Json, name: str) -> Json:
    return {member: found for member, found in value.items() if member != name}


def instead(**members: Any) -> Json:
    return scenario(case("k", composite("q", child("q/a")), **members))


def in_child(**members: Any) -> Json:
    return scenario(case("k", composite("q", child("q/a", **members))))


HOW: Json = {"strategy": "Min", "rulePath": "threshold"}
REFUSED: dict[str, list[object]] = {
    "the scenario is no object": [None, [], "x"],
    "the scenario has no member": [without(scenario(), name) for name in scenario()],
    "the scenario has a member 'more'": [scenario(more=1)],
    "the scenario: cases is not a list": [scenario(cases={"k": node("q")})],
    "the scenario: run is not an object": [scenario(run=[])],
    "the scenario: metrics is not an object": [scenario(metrics=[])],
    "case 1 of the scenario is no object": [scenario(cases=["k"])],
    "case 1 of the scenario has no member": [
        scenario(without(case("k", node("q")), name)) for name in ("caseId", "path", "state", "evaluator")
    ],
    "case 1 of the scenario has a member 'usage'": [instead(usage=[])],
    "case 1 of the scenario: caseId is not a text": [instead(caseId=1)],
    "case 1 of the scenario: children is not a list": [instead(children=None)],
    "case k: trials: trees is not a list": [instead(trials=trials() | {"trees": {}})],
    "case k: trials: k is not a whole number": [
        instead(trials=trials(aggregation="PassAtK", k=k)) for k in (True, 1.5, None)
    ],
    "case k: trials has a k": [instead(trials=trials(k=1))],
    "case k, trial 1: a node is no object": [instead(trials=trials(node("q")) | {"trees": [node("q"), 1]})],
    "case k: a node is no object": [instead(children=[1])],
    "case k: a node has no member 'state'": [instead(children=[without(child("q/a"), "state")])],
    "case k: a node has a member 'trials'": [in_child(trials=trials())],
    "case k: a node has a member 'caseId'": [in_child(caseId="k")],
    "case k, path q/a: component has no member": [
        in_child(component={"weight": 1}),
        in_child(component={"required": True}),
    ],
    "case k, path q/a: component has a member": [in_child(component={"weight": 1, "required": True, "more": 1})],
    "case k, path q/a: component: weight is not a number": [in_child(component={"weight": True, "required": True})],
    "case k, path q/a: component: required is not true or false": [in_child(component={"weight": 1, "required": 1})],
    "case k, path q: aggregation has a member 'total'": [instead(aggregation=HOW | {"total": 1})],
    "case k, path q: aggregation: score is not a number": [instead(aggregation=HOW | {"score": "1"})],
    "case k, path q: decisive holds": [instead(aggregation=HOW | {"decisive": [1]})],
    "the request has no member 'lanes'": [scenario(summary={})],
}
ROWS = [(said, value) for said, values in REFUSED.items() for value in values]


@pytest.mark.parametrize(("said", "value"), ROWS, ids=[f"{said}-{at}" for at, (said, _) in enumerate(ROWS)])
def test_another_shape_is_refused(said: str, value: object) -> None:
    with pytest.raises(InputError) as found:
        read_scenario(value)
    assert str(found.value).startswith(said)
