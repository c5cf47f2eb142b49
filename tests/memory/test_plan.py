"""[PLAN-1] to [PLAN-5] [PLAN-8] [RUN-7] [RUN-11] The plan of a benchmark: what would be run, and nothing of a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aef_verify.memory.definition import suite_of
from aef_verify.memory.evidence import documents
from aef_verify.memory.model import ArmResult
from aef_verify.memory.plan import Bounds, normal_definition, plan_of, target_mode
from aef_verify.problems import InputError
from aef_verify.runner.plan import load_plan
from aef_verify.schemas import accepts
from tests.memory.arms import arm, outcome
from tests.memory.asking import CALLS
from tests.memory.jobs import BOUNDS, Json, Lab


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(tmp_path, monkeypatch)


def test_plan1_plan8_it_says_what_would_be_run(lab: Lab) -> None:
    settings = lab.settings(judge_provider="openai")
    suite = suite_of(normal_definition(settings))
    plan = plan_of(settings, BOUNDS, mode="live", max_usd=2.5, timeout="PT2H")
    assert {name: value for name, value in plan.items() if name != "planId"} == {
        "schemaVersion": "1.0",
        "subject": {"ref": "agent:my-agent", "version": "1.0"},
        "suites": [{name: suite[name] for name in ("ref", "version", "digest")} | {"lane": "longmemeval"}],
        "judges": [{"model": "grader", "provider": "openai", "rubricDigest": arm().rubric_digest}],
        "limits": {"maxUsd": 2.5, "cases": 4, "timeout": "PT2H"},
        "contentCapture": "off",
        "targetMode": "live",
        "isolation": "process",
        "provider": "local",
    }
    assert accepts("run-plan", "writer", plan)
    assert load_plan(json.dumps(plan).encode()).timeout == 7200


def test_plan8_the_suite_is_that_of_the_arms_own_run(lab: Lab) -> None:
    settings = lab.settings()
    result: ArmResult = arm(outcome())._replace(definition=normal_definition(settings), pair_id=None)
    run = documents(
        result,
        run_id="r",
        normal_run_hash=None,
        normal_accuracy=None,
        threshold=settings.threshold,
        producer_version="0.1.0",
    )
    (planned,) = lab.plan()["suites"]
    assert {name: run.run["suite"][name] for name in ("ref", "version", "digest")} | {"lane": "longmemeval"} == planned
    assert {line["lane"] for line in run.results if line["path"] == "qa"} == {planned["lane"]}
    (judge,) = run.run["judges"]
    assert lab.plan()["judges"] == [{"model": judge["model"], "rubricDigest": judge["rubricDigest"]}]


CHANGES: dict[str, Json] = {
    "the subject": {"subject": ("agent:other", "1.0")},
    "its version": {"subject": ("agent:my-agent", "1.1")},
    "the threshold": {"threshold": "60"},
    "the judge": {"calls": CALLS._replace(judge=CALLS.judge._replace(model="other"))},
    "the label rule": {"calls": CALLS._replace(label_rule="upstream")},
    "the content": {"content": True},
    "the retries": {"retries": 3},
    "the seed": {"seed": 3},
}


@pytest.mark.parametrize("what", CHANGES)
def test_plan5_the_same_options_give_the_same_plan_and_others_another(lab: Lab, what: str) -> None:
    assert lab.plan() == lab.plan()
    assert lab.plan(**CHANGES[what])["planId"] != lab.plan()["planId"]


@pytest.mark.parametrize(("price", "expected"), [(0.0, 0.0), (0.1, 4 * 0.8)])
def test_plan2_without_a_budget_it_is_what_the_questions_can_cost(lab: Lab, price: float, expected: float) -> None:
    assert lab.plan(bounds=Bounds(price, 60))["limits"]["maxUsd"] == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((None, None), None),
        (("A", None), [("A", "subject")]),
        (("A", "A"), [("A", "subject"), ("A", "judge")]),
        ((None, "J"), [("J", "judge")]),
    ],
)
def test_plan3_plan4_a_key_is_a_reference(lab: Lab, names: Any, expected: Any) -> None:
    keyed = CALLS._replace(answer=CALLS.answer._replace(api_key="sk-1"), judge=CALLS.judge._replace(api_key="sk-2"))
    plan = lab.plan(key_names=names, calls=keyed)
    references = plan.get("credentialRefs")
    assert (references and [(found["path"], found["purpose"]) for found in references]) == expected
    assert references is None or {(found["scheme"], found["name"] == found["path"]) for found in references} == {
        ("env", True)
    }
    assert "sk-" not in json.dumps(plan)


REFUSED: dict[str, tuple[Json, Json, str]] = {
    "no version": ({"subject": ("agent:my-agent", None)}, {}, r"--subject-version \[PLAN-1\]"),
    "no price": ({}, {"bounds": Bounds(None, 60)}, r"--max-usd.*\[PLAN-2\]"),
    "no duration": ({}, {"timeout": "2h"}, "--job-timeout: .*no duration"),
    "no amount": ({}, {"max_usd": -1.0}, "/limits/maxUsd"),
    "no variable's name": ({"key_names": ("my key", None)}, {}, "/credentialRefs/0/name"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_no_plan_can_say_is_refused(lab: Lab, why: str) -> None:
    changed, given, said = REFUSED[why]
    with pytest.raises(InputError, match=said):
        plan_of(lab.settings(**changed), given.pop("bounds", BOUNDS), mode="live", **given)


@pytest.mark.parametrize(
    ("scripted", "wanted", "expected"),
    [(True, None, "scripted"), (False, None, "live"), (False, "scripted", "scripted"), (True, "live", "live")],
)
def test_run7_the_mode_is_who_answers_or_what_the_user_says(
    lab: Lab, scripted: bool, wanted: str | None, expected: str
) -> None:
    assert target_mode(lab.settings(scripted=scripted), wanted) == expected
