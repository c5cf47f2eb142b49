"""One question of a benchmark, answered and judged (docs/MEMORY_PAIR.md §1).

In this order: the agent's answer; a judge's verdict, asked again where it gave none; the outcome. What a question costs
is counted as it goes: every attempt, and the tokens that a response reports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from aef_verify.encoding.times import time_key
from aef_verify.memory.agents import Agent, AgentAnswer, AnswerFailedError, HandedSession, answer_with
from aef_verify.memory.judge import case_of, judge_messages, prompt_digest, verdict
from aef_verify.memory.model import (
    ANSWER_EMPTY,
    ANSWER_FAILED,
    INTERRUPTED,
    JUDGE_FAILED,
    JUDGE_NO_VERDICT,
    Outcome,
    Question,
    RosterItem,
    Usage,
)
from aef_verify.problems import InputError
from aef_verify.provider.client import Attempts, Client, Endpoint, Reply

JUDGE_ENDED = "judge-failed"
"""`abortReason` where `--judge-failure fail` ended the arm."""

DATASET_CHANGED = "dataset-changed"

JUDGE_ASKED = 3
"""How often a judge is asked that gives no verdict."""

MOST_CALLS = 1_000_000
"""What an agent may state for one answer; ten thousand questions of it still make an exact number."""


class Calls(NamedTuple):
    """Whom an arm asks, and how.

    `temperature` and `max_tokens` are the answer model's, which both arms share; `label_rule` reads a judge's reply,
    `judge_failure` says what becomes of a question without a verdict: `absent`, `incorrect` or `fail`.
    """

    answer: Endpoint
    judge: Endpoint
    temperature: float
    max_tokens: int
    judge_temperature: float
    judge_max_tokens: int
    label_rule: str
    judge_failure: str


@dataclass(slots=True)
class Asking:
    """What the questions of one arm have in common.

    Attributes:
        question_of: reads a question; what it raises as `InputError` says that the dataset has changed.
        agent: what answers.
        client: what calls go through.
        calls: whom they go to.
        now: what says the time.
        end: called with a reason where the arm is to end before its last question.
        retrieved: of each answered question, whether its agent named all gold sessions.
    """

    question_of: Callable[[str], Question]
    agent: Agent
    client: Client
    calls: Calls
    now: Callable[[], str]
    end: Callable[[str], object]
    retrieved: dict[str, bool] = field(default_factory=dict)


class _Handle:
    """The `Model` that an agent is given: what it asks is known here, which question it asks for is not."""

    __slots__ = ("ask",)

    def __init__(self, ask: Callable[[list[dict[str, str]]], Awaitable[str]]) -> None:
        async def asked(messages: list[dict[str, str]]) -> str:
            return await ask(messages)

        self.ask = asked


def _is_cancelled() -> bool:
    """Whether this task was cancelled, and not only something that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class AskedQuestion:
    """One question while it is answered and judged."""

    def __init__(self, asking: Asking, item: RosterItem) -> None:
        """Begin it now."""
        self._asking = asking
        self._item = item
        self._lost = self._reached = False
        self._attempts = Attempts()
        self._own_calls = 0
        self._usage: dict[tuple[str, str], list[int | None]] = {}
        self._started = asking.now()
        self._prompt: str | None = None
        self._answer: str | None = None
        self._judgement: str | None = None

    @property
    def scripted(self) -> bool:
        """Whether a response came marked by the fixture provider."""
        return self._attempts.scripted

    @property
    def attempts(self) -> int:
        """The attempts that were begun, the agent's own calls not among them."""
        return self._attempts.count

    @property
    def heard(self) -> bool:
        """Whether a call got a response that was not taken for a failure in transport."""
        return self._reached

    @property
    def answered(self) -> bool:
        """Whether there is an answer to judge."""
        return self._answer is not None

    @property
    def reached(self) -> bool:
        """Whether any attempt got a response, or none was needed."""
        return self._reached or not self._lost

    async def ask(self, messages: list[dict[str, str]]) -> str:
        """Ask the answer model, as `Model` says."""
        calls = self._asking.calls
        reply = await self._complete(calls.answer, messages, calls.temperature, calls.max_tokens, "answer", "agent")
        if reply.text is None:
            raise AnswerFailedError(transport=reply.failure == "transport")
        return reply.text

    async def _complete(
        self, endpoint: Endpoint, messages: list[dict[str, str]], temperature: float, most: int, purpose: str, role: str
    ) -> Reply:
        reply = await self._asking.client.complete(
            endpoint, messages, temperature=temperature, max_tokens=most, purpose=purpose, attempts=self._attempts
        )
        unreached = reply.failure == "transport"
        self._lost |= unreached
        self._reached |= not unreached
        self._add(Usage(role, endpoint.model, reply.input_tokens, reply.output_tokens))
        return reply

    def _add(self, usage: Usage) -> None:
        totals = self._usage.setdefault((usage.role, usage.model), [None, None])
        for place, count in enumerate((usage.input_tokens, usage.output_tokens)):
            if isinstance(count, int) and count >= 0:
                totals[place] = (totals[place] or 0) + count

    async def outcome(self) -> Outcome:
        """Answer and judge the question."""
        try:
            question = self._asking.question_of(self._item.id)
        except InputError:
            self._asking.end(DATASET_CHANGED)
            return self.closed("error", INTERRUPTED)
        try:
            answer = await self._answered(question)
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            return self.closed("error", ANSWER_FAILED)
        except (Exception, SystemExit):
            # An agent under test is a stranger's code: whatever it raises is its failure on this question.
            return self.closed("error", ANSWER_FAILED)
        if not answer.text.strip():
            return self.closed("not_measured", ANSWER_EMPTY)
        self._answer = answer.text
        return await self._judged(question)

    async def _answered(self, question: Question) -> AgentAnswer:
        handles = {f"h{place}": session for place, session in enumerate(question.sessions, 1)}
        handed = [HandedSession(handle, session.date, session.turns) for handle, session in handles.items()]
        before = self._attempts.count
        answer = await answer_with(self._asking.agent, _Handle(self.ask), handed, question.text, question.date)
        named = {handles[handle].id for handle in answer.retrieved if handle in handles}
        stated = 0 if answer.calls is None else int(answer.calls)
        # One that states none is taken to have made one, so that no question is scored on a single call.
        least = 1 if self._attempts.count == before else 0
        self._own_calls += min(max(stated, least), MOST_CALLS)
        for usage in answer.usage:
            self._add(Usage("agent", str(usage.model), usage.input_tokens, usage.output_tokens))
        self._asking.retrieved[question.id] = set(question.gold) <= named
        return answer

    async def _judged(self, question: Question) -> Outcome:
        calls = self._asking.calls
        self._prompt = prompt_digest(case_of(question))
        messages = judge_messages(question, self._answer or "")
        reason = JUDGE_NO_VERDICT
        for _ in range(JUDGE_ASKED):
            reply = await self._complete(
                calls.judge, messages, calls.judge_temperature, calls.judge_max_tokens, "judge", "judge"
            )
            if reply.text is None:
                reason = JUDGE_FAILED
                break
            self._judgement = reply.text
            said = verdict(reply.text, calls.label_rule)
            if said is not None:
                return self.closed("passed" if said else "failed", None)
        if calls.judge_failure == "incorrect":
            return self.closed("failed", None)
        if calls.judge_failure == "fail":
            self._asking.end(JUDGE_ENDED)
        return self.closed("error", reason)

    def closed(self, state: str, reason: str | None) -> Outcome:
        """Return the outcome as it stands now."""
        usage = tuple(Usage(*party, *totals) for party, totals in self._usage.items() if totals != [None, None])
        return Outcome(
            self._item,
            state,
            reason,
            self._started,
            # The clock may have been set back meanwhile.
            max(self._started, self._asking.now(), key=time_key),
            self._attempts.count + self._own_calls,
            usage,
            self._prompt,
            self._answer,
            self._judgement,
        )
