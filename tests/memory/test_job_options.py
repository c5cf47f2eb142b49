"""What goes with a plan, with a job, with either and with neither."""

from __future__ import annotations

from typing import Any

import pytest

from aef_verify.memory.job_options import QUESTION_TIMEOUT, JobAsked, bounds_of, check_job_options
from aef_verify.memory.plan import Bounds
from aef_verify.problems import InputError
from tests.memory.test_options import BUNDLED, asked, settings

PLAN: dict[str, Any] = {"print_plan": True}
JOB: dict[str, Any] = {"job": "plan.json", "out": "out"}
ALONE: dict[str, Any] = {"paired": False}

REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (PLAN | JOB, {}, "one of them"),
    ({"job": "plan.json"}, {}, "--job needs --out"),
    ({"runner": "r.json"}, {}, "--runner goes with --job"),
    (PLAN | {"out": "out"}, {}, "--out goes with --job"),
    ({"usd_per_call": 1.0}, {}, "--usd-per-call goes with --print-plan or --job"),
    ({"question_timeout": 1.0}, {}, "--question-timeout goes with"),
    ({"target_mode": "live"}, {}, "--target-mode goes with"),
    (JOB | {"max_usd": 1.0}, {}, "--max-usd goes with --print-plan; a job keeps"),
    ({"job_timeout": "PT1H"}, {}, "--job-timeout goes with"),
    (PLAN | {"usd_per_call": float("inf")}, {}, "--usd-per-call: an amount"),
    (PLAN | {"max_usd": float("nan")}, {}, "--max-usd: an amount"),
    (PLAN, {"paired": True}, "--paired-oracle goes with no plan and no job"),
    (JOB, {"paired": True}, "--paired-oracle goes with no"),
    (JOB, {"aef": "x"}, "--aef goes with no"),
    (JOB, {"aef": "x", "aef_unsealed": True}, "--aef goes with no"),
    (JOB, {"no_aef": True}, "--no-aef goes with no"),
]


@pytest.mark.parametrize(("job", "changed", "said"), REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_go_together_is_refused(job: dict[str, Any], changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_job_options(asked(**ALONE | changed), JobAsked(**job))


@pytest.mark.parametrize(
    "job",
    [
        {},
        PLAN,
        PLAN | {"max_usd": 0.0, "job_timeout": "PT1H", "usd_per_call": 0.0, "question_timeout": 5.0},
        JOB,
        JOB | {"runner": "r.json", "usd_per_call": 1.0, "target_mode": "scripted"},
    ],
)
def test_the_rest_goes_together(job: dict[str, Any]) -> None:
    check_job_options(asked(**ALONE), JobAsked(**job))


def test_an_ordinary_benchmark_is_what_it_was() -> None:
    check_job_options(asked(), JobAsked())
    assert not JobAsked().wanted


@pytest.mark.parametrize(
    ("bundled", "job", "expected"),
    [
        (BUNDLED, {}, Bounds(0.0, QUESTION_TIMEOUT)),
        (BUNDLED, {"usd_per_call": 0.5}, Bounds(0.5, QUESTION_TIMEOUT)),
        (None, {}, Bounds(None, QUESTION_TIMEOUT)),
        (None, {"usd_per_call": 0.0, "question_timeout": 7.0}, Bounds(0.0, 7.0)),
    ],
)
def test_only_the_bundled_provider_is_known_to_cost_nothing(
    bundled: str | None, job: dict[str, Any], expected: Bounds
) -> None:
    assert bounds_of(settings(bundled=bundled, paired=False), JobAsked(**job)) == expected


@pytest.mark.parametrize(
    ("environment", "changed", "expected"),
    [
        ({}, {}, (None, None)),
        ({"OPENAI_API_KEY": "k"}, {}, ("OPENAI_API_KEY", "OPENAI_API_KEY")),
        ({"OPENAI_API_KEY": ""}, {}, (None, None)),
        ({"OPENAI_API_KEY": "k", "JUDGE_OPENAI_API_KEY": "j"}, {}, ("OPENAI_API_KEY", "JUDGE_OPENAI_API_KEY")),
        ({"OPENAI_API_KEY": "k"}, {"judge_endpoint": "http://127.0.0.1:7/v1"}, ("OPENAI_API_KEY", None)),
    ],
)
def test_plan3_the_variables_that_hold_the_keys(
    environment: dict[str, str], changed: dict[str, Any], expected: tuple[str | None, str | None]
) -> None:
    found = settings({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", **environment}, paired=False, **changed)
    assert found.key_names == expected
    keys = [found.calls.answer.api_key, found.calls.judge.api_key]
    assert keys == [None if name is None else environment[name] for name in expected]
