"""Arms without a network: a client that answers as a test says, questions, and an arm run to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from aef_verify.memory.agents import BUILT_IN, Agent
from aef_verify.memory.arm import ArmRun, run_arm
from aef_verify.memory.entry import read_question
from aef_verify.memory.model import Outcome, Question, RosterItem
from aef_verify.memory.question import Calls
from aef_verify.provider.client import Attempts, Endpoint, Reply
from tests.memory.datasets import entry

TRANSPORT, MALFORMED = "transport", "malformed"

Messages = list[dict[str, str]]


class Call(NamedTuple):
    """One call that a client got."""

    purpose: str
    messages: Messages
    endpoint: Endpoint
    temperature: float
    max_tokens: int

    @property
    def text(self) -> str:
        """All that was said."""
        return "\n".join(message["content"] for message in self.messages)


def reply(text: str | None = "yes", *, attempts: int = 1, failure: str | None = None, scripted: bool = False) -> Reply:
    """Say what a call came to; each attempt of a call that succeeds used ten tokens and one."""
    answered = text is not None
    return Reply(text, attempts, 10 if answered else None, 1 if answered else None, scripted, None, failure)


def lost(failure: str = TRANSPORT, attempts: int = 1) -> Reply:
    """Say that a call failed."""
    return reply(None, attempts=attempts, failure=failure)


Answering = Callable[[Call], Reply | Awaitable[Reply]]


class FakeClient:
    """Answers calls as told, in place of `provider.client.Client`."""

    def __init__(self, answering: Answering | None = None) -> None:
        self.calls: list[Call] = []
        self._answering = answering or (lambda call: reply())

    async def __aenter__(self) -> FakeClient:
        return self

    async def __aexit__(self, *fault: object) -> None:
        return None

    async def complete(
        self,
        endpoint: Endpoint,
        messages: Messages,
        *,
        temperature: float,
        max_tokens: int,
        purpose: str,
        attempts: Attempts,
    ) -> Reply:
        """Answer a call; its first attempt is counted before it is waited for, as in the real client."""
        call = Call(purpose, messages, endpoint, temperature, max_tokens)
        self.calls.append(call)
        attempts.count += 1
        made = self._answering(call)
        if isinstance(made, Awaitable):
            made = await made
        attempts.count += made.attempts - 1
        attempts.scripted |= made.scripted
        return made

    def of(self, purpose: str) -> list[Call]:
        """Return the calls for a purpose."""
        return [call for call in self.calls if call.purpose == purpose]


async def never() -> Reply:
    """Wait for an answer that does not come."""
    await asyncio.Event().wait()
    raise AssertionError


def questions(count: int, **members: Any) -> list[Question]:
    """Return questions with the ids `q1`, `q2` and so on."""
    return [read_question(entry(f"q{number}", **members)) for number in range(1, count + 1)]


CALLS = Calls(
    answer=Endpoint("http://127.0.0.1:1/v1", "answerer"),
    judge=Endpoint("http://127.0.0.1:1/v1", "grader"),
    temperature=0,
    max_tokens=100,
    judge_temperature=0,
    judge_max_tokens=10,
    label_rule="first-word",
    judge_failure="absent",
)


def arm(
    asked: Sequence[Question],
    client: FakeClient,
    agent: Agent = BUILT_IN["full-history"],
    *,
    concurrency: int = 1,
    stop: Callable[[asyncio.Event], object] = lambda stop: None,
    **changed: Any,
) -> ArmRun:
    """Run an arm over questions to its end; `stop` is given the event before the arm begins."""
    by_id = {question.id: question for question in asked}
    roster = tuple(RosterItem(question.id, question.type) for question in asked)

    async def run() -> ArmRun:
        event = asyncio.Event()
        stop(event)
        return await run_arm(
            roster,
            by_id.__getitem__,
            agent,
            client,  # type: ignore[arg-type]  # the client that a test made
            CALLS._replace(**changed),
            concurrency=concurrency,
            stop=event,
        )

    return asyncio.run(run())


def one(client: FakeClient, agent: Agent = BUILT_IN["full-history"], **changed: Any) -> Outcome:
    """Ask one question and return its outcome."""
    (outcome,) = arm(questions(1), client, agent, **changed).outcomes
    return outcome


def custom(factory: Callable[..., Any]) -> Agent:
    """Return a user's own agent."""
    from aef_verify.memory.agents import _accepting

    return Agent({"kind": "custom", "factory": "mine:factory"}, _accepting(factory))
