"""The facts of a run as a scenario states them, to be changed as a test needs (09 §9.2.1)."""

from __future__ import annotations

import copy
from typing import Any

from tests import building

Json = dict[str, Any]

METRICS: Json = {
    "schemaVersion": "1.0",
    "metrics": [
        {"id": "quality", "kind": "score", "direction": "higher_better", "scale": {"min": 0, "max": 1}},
        {"id": "pass", "kind": "rate", "direction": "higher_better", "scale": {"min": 0, "max": 1}},
    ],
}


def node(path: str, state: str = "passed", **members: Any) -> Json:
    """State a node; members given replace or extend it."""
    absent = state in ("not_measured", "not_applicable", "skipped", "error", "pending")
    reason = {"reason": "stated by the test"} if absent else {}
    return {"path": path, "evaluator": {"id": "code:check"}, "state": state, **reason, **members}


def child(path: str, state: str = "passed", **members: Any) -> Json:
    """State a node below another one."""
    return node(path, state, **({"component": {"weight": 1, "required": True}} | members))


def composite(path: str, *children: Json, state: str = "passed", **members: Any) -> Json:
    """State a node with children."""
    facts: Json = {"strategy": "Min", "rulePath": "threshold"}
    return node(path, state, **({"aggregation": facts, "children": list(children)} | members))


def trials(*trees: Json, aggregation: str = "AllPass", **members: Any) -> Json:
    return {"aggregation": aggregation, "trees": list(trees), **members}


def case(case_id: str, root: Json, **members: Any) -> Json:
    return {"caseId": case_id, **root, **members}


def request(*entries: Json, lane: str = "main") -> Json:
    return {"lanes": [{"lane": lane, "metrics": list(entries)}]}


def scenario(*cases: Json, **members: Any) -> Json:
    """State a scenario of these cases; members given replace its own."""
    run = copy.deepcopy(building.small()["run.json"]) | {"contentCapture": "on"}
    asked = request({"metric": "pass", "path": "q"})
    return {"run": run, "metrics": copy.deepcopy(METRICS), "cases": list(cases), "summary": asked, **members}
