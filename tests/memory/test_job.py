"""A benchmark as the target of a job: what it refuses, what it costs, how it ends, and what its run holds.

[PLAN-1] [PLAN-3] [PLAN-7] [PLAN-8] [PLAN-9] [PLAN-10] [RUN-7] [RUN-11] [RUN-12] [STRM-1] [STRM-3] [STRM-4].
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from aef_verify.memory.arm import PROVIDER_UNAVAILABLE, UNAVAILABLE_AFTER
from aef_verify.memory.job import OTHER_MODE, MemoryTarget
from aef_verify.memory.job_options import own_runner
from aef_verify.memory.plan import SCRIPTED, Bounds, most_calls
from aef_verify.memory.profile import ACCURACY, LANE
from aef_verify.memory.question import DATASET_CHANGED, JUDGE_ASKED, JUDGE_ENDED
from aef_verify.problems import InputError
from aef_verify.provider.client import Endpoint
from aef_verify.run.verify import verify_run
from tests.memory.asking import CALLS, Call, custom, lost, never, reply
from tests.memory.datasets import entry, write
from tests.memory.jobs import AT, BOUNDS, Client, Json, Lab

PRICE = 0.5


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(tmp_path, monkeypatch)


def test_plan8_run12_strm3_strm4_one_sealed_run_and_a_stream_without_a_problem(lab: Lab) -> None:
    plan = lab.plan()
    client = Client()
    result = lab.run(plan, client)
    assert (result.terminal, result.cases, result.spent_usd) == ("job.sealed", 4, 4 * 2 * PRICE)
    assert lab.kinds() == [
        "job.accepted",
        "plan.estimated",
        *["case.completed", "spend.updated"] * 4,
        "evidence.produced",
        "job.sealed",
    ]
    assert [event["caseId"] for event in lab.events() if event["kind"] == "case.completed"] == ["q1", "q2", "q3", "q4"]
    lab.check(plan)
    (run,) = result.runs
    assert verify_run(run.path).outcome == "intact"
    header = lab.document("run.json")
    assert header["suite"] == {name: plan["suites"][0][name] for name in ("ref", "version", "digest")}
    assert header["provenance"]["planId"] == plan["planId"]
    assert [judge["model"] for judge in header["judges"]] == ["grader"]
    assert lab.document("summary.json")["cost"] == {"totalUsd": 4.0, "source": "usd-per-call:0.5"}
    assert {line["lane"] for line in lab.results() if "parentResultId" not in line} == {LANE}
    assert client.closed == 1


def test_it_is_no_arm_of_a_pair(lab: Lab) -> None:
    lab.run(lab.plan())
    summary = lab.document("summary.json")
    assert "ext" not in summary
    assert summary["lanes"][0]["metrics"][0]["metric"] == ACCURACY


def test_the_events_are_there_as_they_come(lab: Lab) -> None:
    plan, seen = lab.plan(), []

    def answering(call: Call) -> Any:
        seen.append((lab.out / "events.ndjson").read_bytes().count(b"\n"))
        return reply()

    lab.run(plan, Client(answering))
    assert seen == [2, 2, 4, 4, 6, 6, 8, 8]


OTHER: dict[str, tuple[Json, Json, str]] = {
    "another subject": ({}, {"subject": ("agent:other", "1.0")}, "another subject"),
    "another version": ({}, {"subject": ("agent:my-agent", "2.0")}, "another subject"),
    "other options": ({}, {"threshold": "60"}, "suite 1 of the plan .* is none that the target has"),
    "an endpoint": (
        {"subject": {"ref": "agent:my-agent", "version": "1.0", "endpoint": "http://127.0.0.1/a"}},
        {},
        "in this process",
    ),
    "a deployment": (
        {"subject": {"ref": "agent:my-agent", "version": "1.0", "deployment": "env:prod"}},
        {},
        "in this process",
    ),
    "no judge": ({"judges": None}, {}, "does not name the judge"),
    "another judge": ({"judges": [{"model": "other"}]}, {}, "does not name the judge"),
    "another rubric": ({"judges": [{"model": "grader", "rubricDigest": "sha256:" + "0" * 64}]}, {}, "the judge"),
    "another provider of the judge": ({"judges": [{"model": "grader", "provider": "x"}]}, {}, "the judge"),
    "a container": ({"isolation": "container"}, {}, "isolation|image"),
    "another target mode": ({"targetMode": "scripted"}, {}, "target mode"),
    "a place to run": ({"provider": "docker"}, {}, "provider"),
}


@pytest.mark.parametrize("how", OTHER)
def test_plan7_plan8_a_plan_for_something_else_is_refused(lab: Lab, how: str) -> None:
    members, changed, said = OTHER[how]
    client = Client()
    result = lab.run(lab.plan(members=members), client, **changed)
    assert result.terminal == "job.refused"
    assert re.search(said, str(result.reason)), result.reason
    assert lab.kinds() == ["job.refused"]
    assert client.calls == []
    assert sorted(path.name for path in lab.out.iterdir()) == ["events.ndjson"]


def test_plan8_a_suite_of_another_digest_is_refused(lab: Lab) -> None:
    plan = lab.plan()
    plan["suites"][0]["digest"] = "sha256:" + "0" * 64
    assert "another digest" in str(lab.run(plan).reason)


def test_plan8_a_lane_of_the_plans_own_is_refused_and_none_is_not(lab: Lab) -> None:
    plan = lab.plan()
    plan["suites"][0]["lane"] = "quality"
    assert "have the lane longmemeval" in str(lab.run(plan).reason)
    del plan["suites"][0]["lane"]
    (lab.out / "events.ndjson").unlink()
    assert lab.run(plan).terminal == "job.sealed"
    lab.check(plan)


def test_plan9_what_cannot_be_bounded_is_refused(lab: Lab) -> None:
    plan = lab.plan()
    assert "--usd-per-call" in str(lab.run(plan, bounds=Bounds(None, 60)).reason)
    (lab.out / "events.ndjson").unlink()
    own = custom(lambda model: None)
    assert "agent of the user's own" in str(lab.run(lab.plan(agent=own), agent=own).reason)


def test_plan9_the_budget_is_what_the_questions_can_cost(lab: Lab) -> None:
    plan = lab.plan(retries=3)
    most = most_calls(lab.settings(retries=3))
    assert plan["limits"] == {"maxUsd": 4 * most * PRICE, "cases": 4}
    assert most == (1 + JUDGE_ASKED) * 5
    lab.run(plan, retries=3)
    (estimated,) = [event for event in lab.events() if event["kind"] == "plan.estimated"]
    assert (estimated["usdLow"], estimated["usdHigh"], estimated["cases"]) == (4.0, plan["limits"]["maxUsd"], 4)


def test_plan9_every_attempt_is_paid_for(lab: Lab) -> None:
    lab.run(lab.plan(), Client(lambda call: reply(attempts=2) if call.purpose == "answer" else reply()))
    assert [event["spentUsd"] for event in lab.events() if event["kind"] == "spend.updated"] == [1.5, 3.0, 4.5, 6.0]


@pytest.mark.parametrize(
    ("limits", "limit", "asked"),
    [
        ({"maxUsd": 4 * 2 * PRICE + 1}, "maxUsd", 2),
        ({"maxUsd": 1e6, "cases": 3}, "cases", 3),
        ({"maxUsd": 0}, "maxUsd", 0),
        ({"maxUsd": 1e6, "timeout": "PT1M"}, "timeout", 0),
    ],
)
def test_plan2_plan9_a_limit_stops_it_with_a_run_of_what_was_asked(
    lab: Lab, limits: Json, limit: str, asked: int
) -> None:
    """Each question could need 8 attempts, of which 2 are made."""
    plan = lab.plan(members={"limits": limits})
    result = lab.run(plan)
    assert (result.terminal, result.limit, result.cases) == ("job.failed", limit, asked)
    lab.check(plan)
    assert len(result.runs) == (asked > 0)
    if asked:
        assert lab.document("run.json")["status"] == "aborted"
        roots = [line for line in lab.results() if "parentResultId" not in line]
        assert [line["caseId"] for line in roots] == [f"q{at}" for at in range(1, asked + 1)]
        assert not (Path(result.runs[0].path) / "gates.ndjson").exists()


def test_plan9_a_question_is_given_up_at_its_deadline(lab: Lab) -> None:
    """The answer of the second question, and the verdict of the third, never come."""

    def answering(call: Call) -> Any:
        late = ("q2", "answer"), ("q3", "judge")
        return never() if any(name in call.text and call.purpose == purpose for name, purpose in late) else reply()

    bounds = Bounds(PRICE, 0.05)
    plan = lab.plan(bounds=bounds)
    assert lab.run(plan, Client(answering), bounds=bounds).terminal == "job.sealed"
    roots = {line["caseId"]: line for line in lab.results() if "parentResultId" not in line}
    assert [(line["state"], line.get("reason")) for line in roots.values()] == [
        ("passed", None),
        ("error", "answer-failed"),
        ("error", "judge-failed"),
        ("passed", None),
    ]
    lab.check(plan)


@pytest.mark.parametrize(("mode", "scripted"), [("live", True), (SCRIPTED, False)])
def test_run7_answers_of_another_mode_than_the_plan_says_end_the_job(lab: Lab, mode: str, scripted: bool) -> None:
    plan = lab.plan(mode=mode)
    result = lab.run(plan, Client(lambda call: reply(scripted=scripted)), mode=mode)
    assert (result.terminal, result.reason, result.limit) == ("job.failed", OTHER_MODE, None)
    assert not (lab.out / "runs").exists()
    lab.check(plan)


def test_run7_a_question_without_a_response_says_nothing_of_the_mode(lab: Lab) -> None:
    plan = lab.plan(mode=SCRIPTED)
    answering = Client(lambda call: lost() if "q1" in call.text else reply(scripted=True))
    assert lab.run(plan, answering, mode=SCRIPTED).terminal == "job.sealed"
    assert lab.document("run.json")["execution"]["targetMode"] == SCRIPTED


@pytest.mark.parametrize(
    ("changed", "answer", "reason", "asked"),
    [
        ({"judge_failure": "fail"}, "what?", JUDGE_ENDED, 1),
        ({}, None, PROVIDER_UNAVAILABLE, UNAVAILABLE_AFTER),
    ],
)
def test_strm1_what_ends_an_arm_ends_the_job_with_an_aborted_run(
    lab: Lab, changed: Json, answer: str | None, reason: str, asked: int
) -> None:
    write(lab.folder, [entry(f"q{number:02}") for number in range(12)])
    calls = CALLS._replace(**changed)
    plan = lab.plan(calls=calls)
    client = Client(lambda call: lost() if answer is None else reply(answer))
    result = lab.run(plan, client, calls=calls)
    assert (result.terminal, result.reason, result.limit, result.cases) == ("job.failed", reason, None, asked)
    header = lab.document("run.json")
    assert (header["status"], header["abortReason"]) == ("aborted", reason)
    assert lab.kinds()[-2:] == ["evidence.produced", "job.failed"]
    assert lab.events()[-1]["runs"] == [result.runs[0].run_id]
    lab.check(plan)


def test_a_dataset_that_changes_ends_the_job(lab: Lab) -> None:
    plan = lab.plan()

    def answering(call: Call) -> Any:
        write(lab.folder, [entry("q1"), entry("q2", question="Another?"), entry("q3"), entry("q4")])
        return reply()

    result = lab.run(plan, Client(answering))
    assert (result.terminal, result.reason) == ("job.failed", DATASET_CHANGED)
    lab.check(plan)


def test_strm1_an_interrupt_cancels_the_job(lab: Lab) -> None:
    plan, client = lab.plan(), Client()

    def answering(call: Call) -> Any:
        if "q2" in call.text:
            raise KeyboardInterrupt
        return reply()

    client = Client(answering)
    with pytest.raises(KeyboardInterrupt):
        lab.run(plan, client)
    assert lab.kinds()[-1] == "job.cancelled"
    assert client.closed == 1


@pytest.mark.parametrize("content", ["on", "off"])
def test_run11_the_plan_says_what_is_kept(lab: Lab, content: str) -> None:
    plan = lab.plan(content=content == "on")
    assert plan["contentCapture"] == content
    (run,) = lab.run(plan, content=content == "off").runs
    assert lab.document("run.json")["contentCapture"] == content
    assert (Path(run.path) / "evidence.ndjson").exists() is (content == "on")
    lab.check(plan)


KEYS = {"OPENAI_API_KEY": "sk-answer-1234", "JUDGE_OPENAI_API_KEY": "sk-judge-12345"}
WITH_KEYS: Json = {
    "calls": CALLS._replace(
        answer=Endpoint("http://127.0.0.1:1/v1", "answerer", "stale"), judge=Endpoint("http://127.0.0.1:1/v1", "grader")
    ),
    "key_names": ("OPENAI_API_KEY", "JUDGE_OPENAI_API_KEY"),
}


def test_plan3_the_keys_are_those_that_the_references_name(lab: Lab) -> None:
    plan, client = lab.plan(**WITH_KEYS), Client()
    assert [(given["path"], given["purpose"]) for given in plan["credentialRefs"]] == [
        ("OPENAI_API_KEY", "subject"),
        ("JUDGE_OPENAI_API_KEY", "judge"),
    ]
    assert lab.run(plan, client, environment=KEYS, **WITH_KEYS).terminal == "job.sealed"
    assert {(call.purpose, call.endpoint.api_key) for call in client.calls} == {
        ("answer", "sk-answer-1234"),
        ("judge", "sk-judge-12345"),
    }
    texts = [path.read_bytes() for path in lab.out.rglob("*") if path.is_file()]
    assert not any(secret.encode() in text for secret in (*KEYS, *KEYS.values()) for text in texts)


def test_plan3_a_key_that_is_not_set_or_not_referenced(lab: Lab) -> None:
    plan = lab.plan(**WITH_KEYS)
    assert lab.run(plan, environment={}, **WITH_KEYS).terminal == "job.refused"
    (lab.out / "events.ndjson").unlink()
    plan["credentialRefs"].pop()
    assert "the purpose judge" in str(lab.run(plan, environment=KEYS, **WITH_KEYS).reason)


def test_plan3_an_answer_that_repeats_a_key_is_not_written(lab: Lab) -> None:
    plan = lab.plan(content=True, **WITH_KEYS)
    result = lab.run(plan, Client(lambda call: reply("yes sk-answer-1234")), environment=KEYS, **WITH_KEYS)
    assert (result.terminal, result.runs) == ("job.failed", ())
    assert not (lab.out / "runs").exists()


def test_a_dataset_that_has_changed_is_a_mistake_of_the_caller(lab: Lab) -> None:
    settings = lab.settings()
    write(lab.folder, [entry("q1")])
    with pytest.raises(InputError):
        MemoryTarget(settings, BOUNDS, "live")


def test_the_manifest_made_up_here_is_this_program_on_this_machine() -> None:
    runner = own_runner("0.1.0", "live")
    assert (runner.providers, runner.target_modes, runner.tags) == (("local",), ("live",), ())


def test_the_clock_starts_where_the_caller_says(lab: Lab) -> None:
    lab.run(lab.plan())
    assert lab.events()[0]["at"].startswith(AT[:-1])
    header = lab.document("run.json")
    times = [line[name] for line in lab.results() for name in ("startedAt", "endedAt") if name in line]
    assert header["startedAt"] <= min(times) <= max(times) <= header["endedAt"]
