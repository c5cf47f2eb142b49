"""One arm of a benchmark: every question answered, then judged, several at a time (docs/MEMORY_PAIR.md §1).

A question that was begun when the arm is stopped is an `error` with the reason `interrupted`; one never begun has no
outcome. Ten questions in a row, by completion, whose every attempt failed in transport end the arm.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from aef_verify.memory.agents import Agent
from aef_verify.memory.model import INTERRUPTED, Outcome, Question, RosterItem
from aef_verify.memory.question import AskedQuestion, Asking, Calls
from aef_verify.provider.client import Client

UNAVAILABLE_AFTER = 10
"""Questions in a row without one attempt that reached the provider, after which it is taken to stay down."""

PROVIDER_UNAVAILABLE = "provider-unavailable"


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
    return ArmRun(outcomes, None if whole else arm.reason or INTERRUPTED, arm.scripted, arm.asking.retrieved)


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
        self.asking = Asking(question_of, agent, client, calls, now, self.end)
        self.outcomes: dict[str, Outcome] = {}
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
            asked = AskedQuestion(self.asking, item)
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
