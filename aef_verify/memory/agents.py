"""The memory systems that can be put under test, behind one small protocol (docs/BENCH.md).

No label reaches an agent: it is handed dated sessions under opaque handles and asked with a question's text and date.
Which session a handle stands for is known here alone. A fresh agent answers each question.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from aef_verify.memory.history import messages
from aef_verify.memory.model import Turn, Usage
from aef_verify.problems import InputError

RETRIEVED = 8
"""Sessions that `bm25` hands to the model."""


class HandedSession(NamedTuple):
    """One session as an agent gets it: an opaque handle, its date as the dataset writes it, its turns."""

    handle: str
    date: str
    turns: tuple[Turn, ...]


class AgentAnswer(NamedTuple):
    """What an agent answered.

    `calls` are the model calls it made itself, and one that states none and asked no model counts one; `usage` is what
    they used; `retrieved` the handles of the sessions it looked at, for a report of what its memory found.
    """

    text: str
    calls: int | None = None
    usage: tuple[Usage, ...] = ()
    retrieved: tuple[str, ...] = ()


class MemoryAgent(Protocol):
    """A memory system under test. Plain methods run in a thread of their own, coroutine functions on the loop."""

    def ingest(self, sessions: Sequence[HandedSession]) -> Any:
        """Take the history of one question, in the order in which it took place."""

    def answer(self, question: str, date: str) -> Any:
        """Return an `AgentAnswer`, or its text alone."""


class Model(Protocol):
    """The answer model as the benchmark offers it to an agent: its calls are counted and bounded there."""

    async def ask(self, messages: list[dict[str, str]]) -> str:
        """Return the model's text; raises AnswerFailedError where every attempt failed."""


class AnswerFailedError(Exception):
    """No answer could be had; `transport` says that every attempt failed in transport."""

    def __init__(self, *, transport: bool) -> None:
        """Say how it failed."""
        super().__init__("no answer could be had")
        self.transport = transport


class AgentError(Exception):
    """A user's own agent failed; the message is the name of what it raised."""


Factory = Callable[[Model], MemoryAgent]


class Agent(NamedTuple):
    """A kind of agent: what a definition says of it, and what makes one."""

    definition: dict[str, Any]
    factory: Factory


class FullHistory:
    """Hands the model every session: what a model does without a memory. The oracle's reader is one, too."""

    def __init__(self, model: Model) -> None:
        """Take the model to ask."""
        self._model = model
        self._sessions: Sequence[HandedSession] = ()

    def ingest(self, sessions: Sequence[HandedSession]) -> None:
        """Keep the sessions."""
        self._sessions = sessions

    async def answer(self, question: str, date: str) -> AgentAnswer:
        """Ask over all of them."""
        text = await self._model.ask(messages(question, date, self._sessions))
        return AgentAnswer(text, retrieved=tuple(session.handle for session in self._sessions))


class NoMemory:
    """Hands the model the question alone: what the model knows without any history."""

    def __init__(self, model: Model) -> None:
        """Take the model to ask."""
        self._model = model

    def ingest(self, sessions: Sequence[HandedSession]) -> None:
        """Forget the sessions."""

    async def answer(self, question: str, date: str) -> AgentAnswer:
        """Ask over none."""
        return AgentAnswer(await self._model.ask(messages(question, date, ())))


class Bm25:
    """Hands the model the sessions that BM25 ranks first for the question's words, in the order they took place."""

    def __init__(self, model: Model, retrieved: int = RETRIEVED) -> None:
        """Take the model to ask, and how many sessions it gets."""
        self._model = model
        self._retrieved = retrieved
        self._sessions: Sequence[HandedSession] = ()

    def ingest(self, sessions: Sequence[HandedSession]) -> None:
        """Keep the sessions."""
        self._sessions = sessions

    async def answer(self, question: str, date: str) -> AgentAnswer:
        """Ask over the sessions that rank first."""
        places = self._rank(question) if len(self._sessions) > self._retrieved else range(len(self._sessions))
        found = [self._sessions[place] for place in sorted(places)]
        text = await self._model.ask(messages(question, date, found))
        return AgentAnswer(text, retrieved=tuple(session.handle for session in found))

    def _rank(self, question: str) -> list[int]:
        import bm25s

        texts = ["\n".join(turn.content for turn in session.turns) for session in self._sessions]
        words = bm25s.tokenize([*texts, question], stopwords="en", show_progress=False, return_ids=False)
        if not words[-1] or not any(words[:-1]):
            return list(range(len(texts) - self._retrieved, len(texts)))
        index = bm25s.BM25()
        index.index(words[:-1], show_progress=False)
        ranked, _ = index.retrieve([words[-1]], k=self._retrieved, show_progress=False)
        return [int(place) for place in ranked[0]]


BUILT_IN: dict[str, Agent] = {
    "full-history": Agent({"kind": "full-history"}, FullHistory),
    "none": Agent({"kind": "none"}, NoMemory),
    "bm25": Agent({"kind": "bm25", "sessions": RETRIEVED}, Bm25),
}
"""The agents that come with the benchmark, by their name on the command line."""

ORACLE_READER = Agent({"kind": "oracle-reader"}, FullHistory)
"""What answers in the oracle arm: no retrieval at all, over histories that hold the gold sessions alone."""


def load_agent(name: str) -> Agent:
    """Return a built-in agent, or a user's own as `module:factory`.

    Raises:
        InputError: no such agent, module or factory.
    """
    if name == "bm25":
        _check_bm25()
    if name in BUILT_IN:
        return BUILT_IN[name]
    module, colon, factory = name.partition(":")
    if not (module and colon and factory):
        raise InputError(f"--agent {name}: one of {', '.join(BUILT_IN)}, or module:factory of your own")
    # A user's own module stands where the command is called, as with `python -m`.
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: object = import_module(module)
        for part in factory.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as fault:
        # A user's own module is a stranger's code: importing it may raise anything.
        raise InputError(f"--agent {name}: {type(fault).__name__}: {fault}") from None
    if not callable(found):
        raise InputError(f"--agent {name}: {factory} cannot be called")
    return Agent({"kind": "custom", "factory": name}, _accepting(found))


def _check_bm25() -> None:
    try:
        import bm25s  # noqa: F401
    except ImportError:
        raise InputError("--agent bm25 needs bm25s: install aef-verify[bench]") from None


def _accepting(factory: Callable[..., Any]) -> Factory:
    """Return a factory that takes the model, whether or not the user's own does."""
    try:
        takes = len(inspect.signature(factory).parameters) > 0
    except (TypeError, ValueError):
        takes = False
    return factory if takes else lambda model: factory()


async def answer_with(
    agent: Agent, model: Model, sessions: Sequence[HandedSession], question: str, date: str
) -> AgentAnswer:
    """Have a fresh agent take a history and answer one question.

    Raises:
        AnswerFailedError: the model gave no answer.
        TypeError: the agent answered with something else than an `AgentAnswer` or a text.
        Exception: whatever a user's own agent raises.
    """
    made = await _called(agent.factory, model)
    await _called(made.ingest, sessions)
    given = await _called(made.answer, question, date)
    if isinstance(given, str):
        return AgentAnswer(given)
    if not isinstance(given, AgentAnswer) or not isinstance(given.text, str):
        raise TypeError("an agent answers with an AgentAnswer or a text")
    return given


_BUILT_IN_TYPES = (FullHistory, NoMemory, Bm25)


async def _called(method: Callable[..., Any], *arguments: object) -> Any:
    """Call a method, in a thread where it could block, and wait for it."""
    built_in = method in _BUILT_IN_TYPES or isinstance(getattr(method, "__self__", None), _BUILT_IN_TYPES)
    if built_in or inspect.iscoroutinefunction(method):
        found = method(*arguments)
    else:
        found = await _in_thread(method, *arguments)
    return await found if isinstance(found, Awaitable) else found


async def _in_thread(method: Callable[..., Any], *arguments: object) -> Any:
    """Call a method in a thread of its own, which nobody waits for once the benchmark is stopped."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def end(found: object, fault: BaseException | None) -> None:
        if future.done():
            return
        if fault is None:
            future.set_result(found)
        else:
            # A future takes no StopIteration, and SystemExit would end the loop.
            future.set_exception(fault if isinstance(fault, AnswerFailedError) else AgentError(type(fault).__name__))

    def call() -> None:
        found, raised = None, None
        try:
            found = context.run(method, *arguments)
        except BaseException as fault:
            raised = fault
        # The loop is closed where the benchmark has ended meanwhile.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(end, found, raised)

    threading.Thread(target=call, name="aef-agent", daemon=True).start()
    return await future
