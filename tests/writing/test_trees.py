"""[RES-1] [RES-3] to [RES-8] Result trees become the lines that a verifier accepts, or the reason why not."""

from __future__ import annotations

from typing import Any

import pytest

from aef_verify.problems import InputError
from aef_verify.schemas import accepts
from aef_verify.writing.scenario import read_scenario
from aef_verify.writing.trees import CaseTree, Node, result_lines
from tests.building import RUN_ID, Json, result_id
from tests.writing.facts import case, child, composite, node, scenario, trials


def lines(*cases: Json) -> list[Json]:
    return result_lines(RUN_ID, read_scenario(scenario(*cases)).cases)


def test_res4_a_leaf_is_one_root_line_with_its_facts() -> None:
    facts: dict[str, Any] = {"scores": [{"metric": "quality", "value": 0.5}], "lane": "a", "severity": "low"}
    assert lines(case("k", node("q", "failed", **facts))) == [
        {
            "schemaVersion": "1.0",
            "resultId": result_id("k", "q"),
            "caseId": "k",
            "path": "q",
            "evaluator": {"id": "code:check"},
            "state": "failed",
            **facts,
        }
    ]


def test_res5_res6_a_composite_counts_every_child_and_names_the_decisive_ones() -> None:
    states = ["passed", "warn", "inconclusive", "scored", "failed", "skipped", "error", "error", "not_applicable"]
    below = [child(f"q/{at}", state) for at, state in enumerate(states)]
    facts = {"strategy": "Own", "rulePath": "severity", "score": None, "decisive": ["q/4", "q/6"]}
    top, *children = lines(case("k", composite("q", *below, aggregation=facts)))
    assert top["aggregation"] == {
        "strategy": "Own",
        "rulePath": "severity",
        "score": None,
        "total": 9,
        "measured": 5,
        "unmeasured": {"skipped": 1, "error": 2, "not_applicable": 1},
        "decisive": [result_id("k", "q/4"), result_id("k", "q/6")],
    }
    assert {line["parentResultId"] for line in children} == {result_id("k", "q")}
    assert {tuple(line["component"].items()) for line in children} == {(("weight", 1), ("required", True))}
    assert "parentResultId" not in top


def test_res6_without_an_absence_there_is_no_count_of_absences() -> None:
    top, _ = lines(case("k", composite("q", child("q/a"))))
    assert top["aggregation"] == {"strategy": "Min", "rulePath": "threshold", "total": 1, "measured": 1}


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["passed", "passed"], (2, 2, True)),
        (["passed", "failed"], (2, 1, False)),
        (["warn", "warn"], (2, 0, True)),
        (["failed", "error"], (2, 0, False)),
        (["passed"], (1, 1, True)),
    ],
)
def test_res8_a_rollup_says_what_its_trials_say(states: list[str], expected: tuple[int, int, bool]) -> None:
    found = lines(case("k", node("q"), trials=trials(*(node("q", state) for state in states))))
    rollup, *rest = found
    n, passed, agree = expected
    assert rollup["trials"] == {"n": n, "passed": passed, "agree": agree, "aggregation": "AllPass"}
    assert rollup["resultId"] == result_id("k", "q")
    assert [(line["trial"], line["resultId"]) for line in rest] == [
        (at, result_id("k", "q", at)) for at in range(len(states))
    ]


def test_res8_a_trial_is_a_whole_tree_and_its_rollups_are_one_too() -> None:
    """`q/b` has one trial line, as the second trial stopped before it."""
    first, second = composite("q", child("q/a"), child("q/b")), composite("q", child("q/a", "failed"))
    own = composite("q", child("q/a", "failed"), child("q/b"))
    found = lines(case("k", own, trials=trials(first, second, aggregation="PassAtK", k=2)))
    rollups = {line["path"]: line["trials"] for line in found if "trials" in line}
    assert {path: (facts["n"], facts["passed"], facts["agree"], facts["k"]) for path, facts in rollups.items()} == {
        "q": (2, 2, True, 2),
        "q/a": (2, 1, False, 2),
        "q/b": (1, 1, True, 2),
    }
    parents: dict[tuple[str, int | None], str | None] = {
        (line["path"], line.get("trial")): line.get("parentResultId") for line in found
    }
    assert parents == {
        ("q", None): None,
        ("q/a", None): result_id("k", "q"),
        ("q/b", None): result_id("k", "q"),
        ("q", 0): None,
        ("q", 1): None,
        ("q/a", 0): result_id("k", "q", 0),
        ("q/a", 1): result_id("k", "q", 1),
        ("q/b", 0): result_id("k", "q", 0),
    }


def test_res8_a_path_makes_no_parent() -> None:
    found = lines(case("k", node("q")), case("k", node("q/x"), trials=trials(node("q/x"))))
    assert [line["path"] for line in found if "parentResultId" not in line] == ["q", "q/x", "q/x"]


DEEP = case("k", composite("q", composite("q/a", child("q/a/b"), component={"weight": 1, "required": False})))
REFUSED: dict[str, tuple[list[Json], str]] = {
    "a child elsewhere": ([case("k", composite("q", child("tone")))], r"case k, path tone: .* at q/ .*\[RES-5\]"),
    "a child two levels down": ([case("k", composite("q", child("q/a/b")))], r"path q/a/b: .* one level"),
    "a child without a name": ([case("k", composite("q", child("q/")))], r"path q/: .* one level"),
    "a child at its parent's": ([case("k", composite("q", child("q")))], r"path q: .* one level"),
    "a child without component": ([case("k", composite("q", node("q/a")))], r"path q/a: .* component.*\[RES-5\]"),
    "a root with component": ([case("k", child("q"))], r"path q: the root .* no component \[RES-5\]"),
    "children, no aggregation": ([case("k", node("q", children=[child("q/a")]))], r"aggregation, .*\[RES-5\]"),
    "an aggregation, no children": ([case("k", composite("q"))], r"path q: .* no aggregation \[RES-5\]"),
    "a decisive stranger": (
        [case("k", composite("q", child("q/a"), aggregation={"strategy": "Min", "rulePath": "x", "decisive": ["q"]}))],
        r"path q: q is decisive.*\[RES-6\]",
    ),
    "a pending leaf": ([case("k", node("q", "pending"))], r"path q: .*pending.*\[RES-3\]"),
    "a pending trial": ([case("k", node("q"), trials=trials(node("q", "pending")))], r"q, trial 0: .*\[RES-3\]"),
    "a case twice": ([case("k", node("q")), case("k", node("q"))], r"case k, path q: .*already \[RES-4\]"),
    "a path twice": ([case("k", composite("q", child("q/a"), child("q/a")))], r"path q/a: .*\[RES-4\]"),
    "a tree in another's place": (
        [case("k", composite("q", child("q/a"))), case("k", node("q/a"))],
        r"case k, path q/a: .*\[RES-4\]",
    ),
    "a trial twice": (
        [case("k", composite("q", child("q/a")), trials=trials(composite("q", child("q/a"), child("q/a"))))],
        r"path q/a, trial 0: .*\[RES-4\]",
    ),
    "a trial elsewhere": ([case("k", node("q"), trials=trials(node("q2")))], r"path q2, trial 0: .*\[RES-8\]"),
    "a trial's path without rollup": (
        [case("k", node("q"), trials=trials(composite("q", child("q/a"))))],
        r"path q/a: the case has no rollup here.*\[RES-8\]",
    ),
    "a rollup without a trial": (
        [case("k", composite("q", child("q/a")), trials=trials(node("q")))],
        r"path q/a: no trial has a line here.*\[RES-8\]",
    ),
    "trials without a tree": ([case("k", node("q"), trials=trials())], r"path q: no trial.*\[RES-8\]"),
    "a state that there is not": ([case("k", node("q", "ok"))], r"case k, path q: /state"),
    "an absence without a reason": ([case("k", {**node("q"), "state": "error"})], r"case k, path q: .*reason"),
    "an absence with scores": ([case("k", node("q", "error", scores=[]))], r"case k, path q: /scores"),
    "a strategy that there is not": (
        [case("k", composite("q", child("q/a"), aggregation={"strategy": "Max", "rulePath": "threshold"}))],
        r"case k, path q: /aggregation/strategy",
    ),
    "a control character": ([case("k", node("q\n"))], r"path q\n: /path"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_res3_res4_res5_res6_res8_a_tree_that_contradicts_itself_is_refused(why: str) -> None:
    cases, said = REFUSED[why]
    with pytest.raises(InputError, match=said):
        lines(*cases)


def test_the_nearest_trees_are_not_refused() -> None:
    sound = [
        DEEP,
        case(
            "k2", composite("q", child("q/a"), aggregation={"strategy": "Min", "rulePath": "threshold", "decisive": []})
        ),
        case("k3", node("q", children=[])),
        case("k4", node("q")),
        case("k4", node("p")),
        case("k5", composite("q", child("q/a")), trials=trials(composite("q", child("q/a")))),
    ]
    found = lines(*sound)
    assert all(accepts("result", "writer", line) for line in found)
    assert len(found) == 3 + 2 + 1 + 1 + 1 + 4


@pytest.mark.parametrize("name", ["resultId", "trial", "component"])
def test_a_fact_that_is_derived_is_not_given(name: str) -> None:
    facts = {"evaluator": {"id": "e"}, "state": "passed", name: 1}
    with pytest.raises(InputError, match=f"{name} is no fact"):
        result_lines(RUN_ID, [CaseTree("k", Node("q", facts))])


@pytest.mark.parametrize("name", ["total", "measured", "unmeasured"])
def test_res6_a_count_is_not_given(name: str) -> None:
    facts = {"evaluator": {"id": "e"}, "state": "passed"}
    below = Node("q/a", facts, {"weight": 1, "required": True})
    with pytest.raises(InputError, match=f"{name} is counted"):
        result_lines(RUN_ID, [CaseTree("k", Node("q", facts, None, {name: 1}, (below,)))])


def test_a_tree_may_be_as_deep_as_its_path_is_long() -> None:
    """A Python program is not bound by the depth of a JSON text."""
    facts = {"evaluator": {"id": "e"}, "state": "passed"}
    part, how = {"weight": 1, "required": True}, {"strategy": "Own", "rulePath": "threshold"}
    deepest = 511
    tree = Node("q" + "/q" * deepest, facts, part)
    for depth in range(deepest - 1, -1, -1):
        tree = Node("q" + "/q" * depth, facts, part if depth else None, how, (tree,))
    assert len(result_lines(RUN_ID, [CaseTree("k", tree)])) == 512
