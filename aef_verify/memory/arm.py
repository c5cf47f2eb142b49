"""One arm of a benchmark: every question answered, then judged, several at a time (docs/MEMORY_PAIR.md §1).

Order within a question: the agent's answer; a judge's verdict, asked again where it gave none; the outcome. A question
that was begun when the arm is stopped is an `error` with the reason `interrupted`; one never begun has no outcome. Ten
questions in a row, by completion, whose every attempt failed in transport end the arm.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
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

UNAVAILABLE_AFTER = 10
"""Questions in a row without one attempt that reached the provider, after which it is taken to stay down."""

PROVIDER_UNAVAILABLE = "provider-unavailable"
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


class Progress(NamedTuple):
    """How far an arm has come: questions done, passed, scored, of how many."""

    done: int
    passed: int
    scored: int
    planned: int


class ArmRun(NamedTuple):
    """How an arm ended: the outcomes in roster order, why it was aborted (None: completed), what agents retrieved.

    `retrieved` says of each answered question whether all gold sessions are among those that its agent named.
    """

    outcomes: tuple[Outcome, ...]
    abort_reason: str | None
    scripted: bool
    retrieved: dict[str, bool]


def now() -> str:
    """Return the time, RFC 3339 in UTC to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def run_arm(
    roster: tuple[RosterItem, ...],
    question_of: Callable[[str], Question],
    agent: Agent,
    client: Client,
    calls: Calls,
    *,
    concurrency: int,
    stop: asyncio.Event,
    watch: Callable[[Progress], object] | None = None,
) -> ArmRun:
    """Answer and judge every question of a roster; returns early, with what there is, once `stop` is set."""
    arm = _Arm(question_of, agent, client, calls, len(roster), watch)
    # A signal that came meanwhile sets `stop` from the loop.
    await asyncio.sleep(0)
    if stop.is_set():
        return ArmRun((), INTERRUPTED, scripted=False, retrieved={})
    waiting = iter(roster)
    workers = [asyncio.create_task(arm.work(waiting)) for _ in range(min(concurrency, max(len(roster), 1)))]
    everything = asyncio.create_task(_all_of(workers))
    stopping = asyncio.create_task(stop.wait())
    ending = asyncio.create_task(arm.ended.wait())
    try:
        await asyncio.wait({everything, stopping, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (*workers, everything, stopping, ending):
            task.cancel()
        ends = await asyncio.gather(*workers, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
            raise end
    done = arm.outcomes
    outcomes = tuple(done[item.id] for item in roster if item.id in done)
    whole = len(outcomes) == len(roster) and arm.reason is None and not arm.interrupted
    return ArmRun(outcomes, None if whole else arm.reason or INTERRUPTED, arm.scripted, arm.retrieved)


async def _all_of(workers: list[asyncio.Task[None]]) -> bool:
    """Wait until every worker has ended, or one failed."""
    _, pending = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    return not pending


class _Arm:
    """What the workers of one arm share."""

    def __init__(
        self,
        question_of: Callable[[str], Question],
        agent: Agent,
        client: Client,
        calls: Calls,
        planned: int,
        watch: Callable[[Progress], object] | None,
    ) -> None:
        self.question_of = question_of
        self.agent = agent
        self.client = client
        self.calls = calls
        self.outcomes: dict[str, Outcome] = {}
        self.retrieved: dict[str, bool] = {}
        self.reason: str | None = None
        self.interrupted = False
        self.scripted = False
        self.ended = asyncio.Event()
        self._planned = planned
        self._watch = watch
        self._passed = self._scored = 0
        self._unreached = 0

    async def work(self, waiting: Iterator[RosterItem]) -> None:
        """Take questions until there are no more."""
        for item in waiting:
            asked = _Asked(self, item)
            try:
                outcome = await asked.outcome()
            except asyncio.CancelledError:
                self.interrupted = True
                self.outcomes[item.id] = asked.closed("error", INTERRUPTED)
                raise
            finally:
                self.scripted |= asked.scripted
            self._take(outcome, reached=asked.reached)
            if self.ended.is_set():
                return

    def _take(self, outcome: Outcome, *, reached: bool) -> None:
        self.outcomes[outcome.question.id] = outcome
        self._passed += outcome.state == "passed"
        self._scored += outcome.state in ("passed", "failed")
        self._unreached = 0 if reached else self._unreached + 1
        if self._unreached >= UNAVAILABLE_AFTER:
            self.end(PROVIDER_UNAVAILABLE)
        if self._watch is not None:
            self._watch(Progress(len(self.outcomes), self._passed, self._scored, self._planned))

    def end(self, reason: str) -> None:
        """End the arm before its last question."""
        self.reason = self.reason or reason
        self.ended.set()


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


class _Asked:
    """One question while it is answered and judged."""

    def __init__(self, arm: _Arm, item: RosterItem) -> None:
        self.arm = arm
        self.item = item
        self._lost = self._reached = False
        self._attempts = Attempts()
        self._own_calls = 0
        self._usage: dict[tuple[str, str], list[int | None]] = {}
        self._started = now()
        self._prompt: str | None = None
        self._answer: str | None = None
        self._judgement: str | None = None

    @property
    def scripted(self) -> bool:
        """Whether a response came marked by the fixture provider."""
        return self._attempts.scripted

    @property
    def reached(self) -> bool:
        """Whether any attempt got a response, or none was needed."""
        return self._reached or not self._lost

    async def ask(self, messages: list[dict[str, str]]) -> str:
        """Ask the answer model, as `Model` says."""
        calls = self.arm.calls
        reply = await self._complete(calls.answer, messages, calls.temperature, calls.max_tokens, "answer", "agent")
        if reply.text is None:
            raise AnswerFailedError(transport=reply.failure == "transport")
        return reply.text

    async def _complete(
        self, endpoint: Endpoint, messages: list[dict[str, str]], temperature: float, most: int, purpose: str, role: str
    ) -> Reply:
        reply = await self.arm.client.complete(
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
            question = self.arm.question_of(self.item.id)
        except InputError:
            self.arm.end(DATASET_CHANGED)
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
        answer = await answer_with(self.arm.agent, _Handle(self.ask), handed, question.text, question.date)
        named = {handles[handle].id for handle in answer.retrieved if handle in handles}
        stated = 0 if answer.calls is None else int(answer.calls)
        # One that states none is taken to have made one, so that no question is scored on a single call.
        least = 1 if self._attempts.count == before else 0
        self._own_calls += min(max(stated, least), MOST_CALLS)
        for usage in answer.usage:
            self._add(Usage("agent", str(usage.model), usage.input_tokens, usage.output_tokens))
        self.arm.retrieved[question.id] = set(question.gold) <= named
        return answer

    async def _judged(self, question: Question) -> Outcome:
        calls = self.arm.calls
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
            self.arm.end(JUDGE_ENDED)
        return self.closed("error", reason)

    def closed(self, state: str, reason: str | None) -> Outcome:
        """Return the outcome as it stands now."""
        usage = tuple(Usage(*party, *totals) for party, totals in self._usage.items() if totals != [None, None])
        return Outcome(
            self.item,
            state,
            reason,
            self._started,
            # The clock may have been set back meanwhile.
            max(self._started, now(), key=time_key),
            self._attempts.count + self._own_calls,
            usage,
            self._prompt,
            self._answer,
            self._judgement,
        )
