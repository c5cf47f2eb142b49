"""One arm: counting, judging and its policies, ten in a row, and where an interruption leaves its questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aef_verify.encoding.times import time_key
from aef_verify.memory import arm as memory_arm
from aef_verify.memory.arm import UNAVAILABLE_AFTER, ArmRun, run_arm
from aef_verify.memory.judge import prompt_digest
from aef_verify.memory.model import Question, RosterItem, Usage
from aef_verify.memory.question import JUDGE_ASKED
from aef_verify.problems import InputError
from aef_verify.provider.client import Reply
from tests.memory.asking import CALLS, MALFORMED, Call, FakeClient, arm, custom, lost, never, one, questions, reply


def by_purpose(answer: Reply, judge: Reply) -> Callable[[Call], Reply]:
    return lambda call: answer if call.purpose == "answer" else judge


def test_both_parties_are_asked_as_the_settings_say() -> None:
    client = FakeClient()
    outcome = one(client, temperature=0.5)
    answer, judge = client.calls
    assert (answer.purpose, answer.endpoint.model, answer.temperature, answer.max_tokens) == (
        "answer",
        "answerer",
        0.5,
        100,
    )
    assert (judge.purpose, judge.endpoint.model, judge.temperature, judge.max_tokens) == ("judge", "grader", 0, 10)
    assert outcome.prompt_digest == prompt_digest("factual")
    assert outcome.usage == (Usage("agent", "answerer", 10, 1), Usage("judge", "grader", 10, 1))
    assert (outcome.answer, outcome.judgement, outcome.calls) == ("yes", "yes", 2)
    assert time_key(outcome.started_at) <= time_key(outcome.ended_at)


@pytest.mark.parametrize(("verdict", "state"), [("Yes.", "passed"), ("no", "failed")])
def test_a_verdict_is_the_state(verdict: str, state: str) -> None:
    outcome = one(FakeClient(by_purpose(reply("three"), reply(verdict))))
    assert (outcome.state, outcome.reason) == (state, None)


def test_every_attempt_counts() -> None:
    outcome = one(FakeClient(by_purpose(reply("three", attempts=3), reply(attempts=4))))
    assert outcome.calls == 7


def test_usage_adds_up_over_verdicts() -> None:
    verdicts = iter(["perhaps", "well", "yes"])
    outcome = one(FakeClient(lambda call: reply("three") if call.purpose == "answer" else reply(next(verdicts))))
    assert outcome.usage == (Usage("agent", "answerer", 10, 1), Usage("judge", "grader", 30, 3))
    assert (outcome.calls, outcome.judgement) == (4, "yes")


def test_no_usage_is_reported_where_no_call_reported_any() -> None:
    silent = reply("yes")._replace(input_tokens=None, output_tokens=None)
    assert one(FakeClient(lambda call: silent)).usage == ()


def test_a_count_below_zero_is_no_usage() -> None:
    odd = reply("yes")._replace(input_tokens=-1)
    assert one(FakeClient(lambda call: odd)).usage == (
        Usage("agent", "answerer", None, 1),
        Usage("judge", "grader", None, 1),
    )


def test_a_clock_that_was_set_back_ends_no_question_before_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [f"2026-10-02T14:00:0{second}.000Z" for second in (5, 4, 3, 2, 1, 0)]
    monkeypatch.setattr(memory_arm, "now", lambda *_: times.pop(0))
    outcome = one(FakeClient())
    assert outcome.ended_at == outcome.started_at


@pytest.mark.parametrize("failure", ["transport", MALFORMED, "rejected"])
def test_an_answer_that_failed_is_no_wrong_answer(failure: str) -> None:
    client = FakeClient(lambda call: lost(failure, attempts=5))
    outcome = one(client)
    assert (outcome.state, outcome.reason, outcome.calls) == ("error", "answer-failed", 5)
    assert client.of("judge") == []


@pytest.mark.parametrize("verdict", ["", "perhaps", "Nope"])
@pytest.mark.parametrize(
    ("policy", "state", "reason", "abort"),
    [
        ("absent", "error", "judge-no-verdict", None),
        ("incorrect", "failed", None, None),
        ("fail", "error", "judge-no-verdict", "judge-failed"),
    ],
)
def test_a_judge_without_a_verdict(
    policy: str, state: str, reason: str | None, abort: str | None, verdict: str
) -> None:
    client = FakeClient(by_purpose(reply("three"), reply(verdict)))
    run = arm(questions(1), client, judge_failure=policy)
    assert [(outcome.state, outcome.reason) for outcome in run.outcomes] == [(state, reason)]
    assert run.abort_reason == abort
    assert len(client.of("judge")) == JUDGE_ASKED


@pytest.mark.parametrize(
    ("policy", "state", "reason", "abort"),
    [
        ("absent", "error", "judge-failed", None),
        ("incorrect", "failed", None, None),
        ("fail", "error", "judge-failed", "judge-failed"),
    ],
)
def test_a_judge_that_cannot_be_asked(policy: str, state: str, reason: str | None, abort: str | None) -> None:
    client = FakeClient(by_purpose(reply("three"), lost(attempts=5)))
    run = arm(questions(1), client, judge_failure=policy)
    assert [(outcome.state, outcome.reason, outcome.calls) for outcome in run.outcomes] == [(state, reason, 6)]
    assert run.abort_reason == abort
    assert len(client.of("judge")) == 1


def test_a_judge_that_fails_ends_the_arm_for_all() -> None:
    client = FakeClient(by_purpose(reply("three"), reply("perhaps")))
    run = arm(questions(5), client, judge_failure="fail")
    assert len(run.outcomes) == 1


def test_any_marked_response_makes_an_arm_scripted() -> None:
    assert not arm(questions(2), FakeClient()).scripted
    assert arm(questions(2), FakeClient(by_purpose(reply(), reply(scripted=True)))).scripted
    assert arm(questions(1), FakeClient(lambda call: reply(None, failure="transport", scripted=True))).scripted


# A provider that stays down


def test_ten_in_a_row_end_an_arm() -> None:
    run = arm(questions(30), FakeClient(lambda call: lost()))
    assert run.abort_reason == "provider-unavailable"
    assert len(run.outcomes) == UNAVAILABLE_AFTER


def test_nine_in_a_row_do_not() -> None:
    client = FakeClient(lambda call: lost() if len(client.of("answer")) % UNAVAILABLE_AFTER else reply())
    run = arm(questions(40), client)
    assert run.abort_reason is None
    assert sum(outcome.state == "passed" for outcome in run.outcomes) == 4


def test_a_response_that_cannot_be_used_was_a_response() -> None:
    assert arm(questions(30), FakeClient(lambda call: lost(MALFORMED))).abort_reason is None


def test_a_question_that_was_answered_was_reached_whatever_its_judge() -> None:
    run = arm(questions(30), FakeClient(by_purpose(reply("three"), lost())))
    assert run.abort_reason is None
    assert {outcome.reason for outcome in run.outcomes} == {"judge-failed"}


def test_of_an_agent_with_a_model_of_its_own_the_judge_alone_tells() -> None:
    class Own:
        def ingest(self, sessions: object) -> None:
            return None

        def answer(self, question: str, date: str) -> str:
            return "three"

    run = arm(questions(30), FakeClient(lambda call: lost()), custom(Own))
    assert (run.abort_reason, len(run.outcomes)) == ("provider-unavailable", UNAVAILABLE_AFTER)


def test_the_first_reason_to_end_an_arm_stays() -> None:
    class Own:
        async def ingest(self, sessions: object) -> None:
            return None

        async def answer(self, question: str, date: str) -> str:
            return "three"

    client = FakeClient(lambda call: lost())
    run = arm(questions(30), client, custom(Own), concurrency=UNAVAILABLE_AFTER, judge_failure="fail")
    assert (run.abort_reason, len(run.outcomes)) == ("judge-failed", UNAVAILABLE_AFTER)


def test_a_question_for_which_nothing_was_sent_was_not_lost() -> None:
    class Silent:
        def ingest(self, sessions: object) -> None:
            return None

        def answer(self, question: str, date: str) -> str:
            return ""

    run = arm(questions(UNAVAILABLE_AFTER + 5), FakeClient(lambda call: lost()), custom(Silent))
    assert (run.abort_reason, len(run.outcomes)) == (None, UNAVAILABLE_AFTER + 5)


def test_in_a_row_means_by_completion() -> None:
    # The first question of the roster waits until all others have failed: ten have by then, in a row.
    async def slow() -> Reply:
        while len(client.calls) < 10:
            await asyncio.sleep(0)
        return reply()

    def answering(call: Call) -> Reply | Awaitable[Reply]:
        return slow() if "q1?" in call.text else lost()

    client = FakeClient(answering)
    run = arm(questions(40), client, concurrency=2)
    assert run.abort_reason == "provider-unavailable"
    assert [outcome.question.id for outcome in run.outcomes if outcome.reason != "answer-failed"] == ["q1"]


# Interruption


def stopped_after(calls: int, *, total: int = 6, concurrency: int = 1) -> tuple[ArmRun, FakeClient]:
    """Stop an arm once it made this many calls, the last of which never ends."""
    held: list[asyncio.Event] = []

    async def hold() -> Reply:
        held[0].set()
        return await never()

    client = FakeClient(lambda call: hold() if len(client.calls) >= calls else reply())
    return arm(questions(total), client, stop=held.append, concurrency=concurrency), client


def test_stopped_before_its_first_question_an_arm_has_no_outcome() -> None:
    client = FakeClient()
    run = arm(questions(3), client, stop=lambda event: event.set())
    assert (run.outcomes, run.abort_reason, client.calls) == ((), "interrupted", [])


@pytest.mark.parametrize(
    ("calls", "states"),
    [
        (1, [("error", "interrupted", 1)]),
        (2, [("error", "interrupted", 2)]),
        (3, [("passed", None, 2), ("error", "interrupted", 1)]),
        (6, [("passed", None, 2), ("passed", None, 2), ("error", "interrupted", 2)]),
    ],
)
def test_what_was_begun_is_interrupted_and_counted(calls: int, states: list[Any]) -> None:
    run, _ = stopped_after(calls)
    assert [(outcome.state, outcome.reason, outcome.calls) for outcome in run.outcomes] == states
    assert run.abort_reason == "interrupted"


def test_an_interrupted_last_question_leaves_no_arm_that_completed() -> None:
    run, _ = stopped_after(4, total=2)
    assert [outcome.reason for outcome in run.outcomes] == [None, "interrupted"]
    assert run.abort_reason == "interrupted"


def test_all_that_were_begun_at_the_same_time_are_interrupted() -> None:
    run, _ = stopped_after(1, concurrency=4)
    assert [outcome.reason for outcome in run.outcomes] == ["interrupted"] * 4


def test_stopped_after_its_last_question_an_arm_is_complete() -> None:
    def answering(call: Call) -> Reply:
        if len(client.calls) == 4:
            events[0].set()
        return reply()

    events: list[asyncio.Event] = []
    client = FakeClient(answering)
    run = arm(questions(2), client, stop=events.append)
    assert run.abort_reason is None
    assert len(run.outcomes) == 2


def test_progress_is_told_by_question() -> None:
    told: list[tuple[int, int, int, int]] = []

    async def run() -> None:
        asked = questions(3)
        await run_arm(
            tuple(RosterItem(question.id, question.type) for question in asked),
            {question.id: question for question in asked}.__getitem__,
            custom(lambda model: Plain()),
            FakeClient(),  # type: ignore[arg-type]  # in place of a real one
            CALLS,
            concurrency=1,
            stop=asyncio.Event(),
            watch=told.append,
        )

    class Plain:
        def ingest(self, sessions: object) -> None:
            return None

        def answer(self, question: str, date: str) -> str:
            return "" if "q2" in question else "three"

    asyncio.run(run())
    assert told == [(1, 1, 1, 3), (2, 1, 1, 3), (3, 2, 2, 3)]


def test_outcomes_are_in_roster_order() -> None:
    async def later(turns: int) -> Reply:
        for _ in range(turns):
            await asyncio.sleep(0)
        return reply()

    client = FakeClient(lambda call: later(40 // len(client.calls)))
    run = arm(questions(8), client, concurrency=8)
    assert [outcome.question.id for outcome in run.outcomes] == [f"q{number}" for number in range(1, 9)]


def test_a_dataset_that_changed_ends_the_arm() -> None:
    asked = {question.id: question for question in questions(3)}

    def question_of(identity: str) -> Question:
        if identity == "q2":
            raise InputError("changed")
        return asked[identity]

    async def run() -> ArmRun:
        return await run_arm(
            tuple(RosterItem(question.id, question.type) for question in asked.values()),
            question_of,
            custom(lambda model: Answering()),
            FakeClient(),  # type: ignore[arg-type]  # in place of a real one
            CALLS,
            concurrency=1,
            stop=asyncio.Event(),
        )

    class Answering:
        async def ingest(self, sessions: object) -> None:
            return None

        async def answer(self, question: str, date: str) -> str:
            return "three"

    run_ended = asyncio.run(run())
    assert run_ended.abort_reason == "dataset-changed"
    assert [(outcome.state, outcome.reason) for outcome in run_ended.outcomes] == [
        ("passed", None),
        ("error", "interrupted"),
    ]
