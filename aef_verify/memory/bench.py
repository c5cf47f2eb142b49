"""A LongMemEval benchmark, one arm after the other, as evidence (docs/MEMORY_PAIR.md §1).

Order: everything that can be refused is refused before a call is made; the roster and the normal arm's definition are
fixed; the normal arm runs and its evidence is written; then, and only where that arm completed and its evidence is
there, the oracle's histories are projected, the oracle arm runs and its evidence is written.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from aef_verify.encoding.times import time_key
from aef_verify.memory import gate
from aef_verify.memory.agents import ORACLE_READER, Agent
from aef_verify.memory.arm import ArmRun, Progress, now, run_arm
from aef_verify.memory.dataset import Dataset
from aef_verify.memory.definition import arm_definition
from aef_verify.memory.digests import source_inputs_digest
from aef_verify.memory.evidence import ORACLE_SUBJECT, write_arm
from aef_verify.memory.judge import rubric_digest
from aef_verify.memory.model import (
    ABSTENTION_SUFFIX,
    NORMAL,
    ORACLE,
    QUESTION_TYPES,
    ArmResult,
    Question,
    RosterItem,
)
from aef_verify.memory.projection import project
from aef_verify.memory.question import Calls
from aef_verify.problems import InputError, reason_of
from aef_verify.provider.client import Client
from aef_verify.writing.atomic import sweep
from aef_verify.writing.run import Written


class Evidence(NamedTuple):
    """Where evidence goes and how: the destination, whether runs are sealed, and the PEM key that signs seals."""

    destination: str
    seal: bool = True
    key: bytes | None = None


class Settings(NamedTuple):
    """One benchmark, ready to run: everything that could be refused was.

    Attributes:
        dataset: the workload.
        roster: the selected questions.
        preset: how they were selected.
        seed: likewise.
        subject: (ref, version) of the agent under test.
        agent: what answers in the normal arm.
        calls: whom both arms ask, and how.
        answer_version: the answer model's version, where the user names one.
        judge_provider: who serves the judge, where that is known.
        threshold: percent, for the normal arm's gate.
        paired: whether an oracle arm follows.
        evidence: where the runs go; None writes nothing.
        content: whether answers and judgements are kept.
        concurrency: questions at a time.
        timeout: seconds that one attempt may take.
        retries: further attempts of a call.
        offline: whether only loopback addresses are used.
        scripted: whether the provider is known to be the fixture one.
        version: this product's version.
        key_names: the environment variables that hold the answer model's key and the judge's; None for none.
    """

    dataset: Dataset
    roster: tuple[RosterItem, ...]
    preset: str
    seed: int
    subject: tuple[str, str | None]
    agent: Agent
    calls: Calls
    answer_version: str | None
    judge_provider: str | None
    threshold: gate.Threshold
    paired: bool
    evidence: Evidence | None
    content: bool
    concurrency: int
    timeout: float
    retries: int
    offline: bool
    scripted: bool
    version: str
    key_names: tuple[str | None, str | None] = (None, None)


def definition_of(settings: Settings, role: str, agent: Agent, source: str) -> dict[str, Any]:
    """Return the definition of an arm; `source` is the digest of its source inputs (`digests.source_inputs_digest`)."""
    calls = settings.calls
    return arm_definition(
        arm=role,
        variant=settings.dataset.variant,
        preset=settings.preset,
        seed=settings.seed,
        source_inputs_digest=source,
        roster=settings.roster,
        agent=agent.definition,
        answer={
            "model": calls.answer.model,
            "version": settings.answer_version,
            "temperature": calls.temperature,
            "maxTokens": calls.max_tokens,
        },
        judge={
            "model": calls.judge.model,
            "temperature": calls.judge_temperature,
            "maxTokens": calls.judge_max_tokens,
            "labelRule": calls.label_rule,
            "policy": calls.judge_failure,
        },
        thresholds={"accuracyPercent": gate.written(settings.threshold)},
    )


class BenchResult(NamedTuple):
    """What came of a benchmark.

    Attributes:
        normal: the normal arm; None where it was never prepared.
        oracle: the oracle arm; None where it was never prepared.
        written: the runs on disk, normal first.
        unwritten: why a run that is due is not on disk; None where all are.
        outcome: the gate's outcome; None where the normal arm did not complete.
        unprepared: why an oracle arm that is due could not be prepared, where no signal kept it from being.
        retrieved: of each answered question of the normal arm, whether its agent named all gold sessions.
    """

    normal: ArmResult | None
    oracle: ArmResult | None
    written: tuple[Written, ...]
    unwritten: str | None
    outcome: str | None
    unprepared: str | None
    retrieved: dict[str, bool]

    @property
    def gap(self) -> float | None:
        """Oracle minus normal accuracy in percentage points, of two completed arms that scored something."""
        arms = (self.normal, self.oracle)
        figures = [arm.accuracy_percent if arm is not None and arm.complete else None for arm in arms]
        return None if figures[0] is None or figures[1] is None else figures[1] - figures[0]

    def exit_code(self, *, interrupted: bool) -> int:
        """Return the exit code, the first that applies: 3 unwritten, 1 interrupted, else the gate's."""
        if self.unwritten is not None:
            return 3
        aborted = any(arm is not None and not arm.complete for arm in (self.normal, self.oracle))
        if interrupted or aborted or self.unprepared is not None or self.outcome is None:
            return 1
        return gate.exit_code(self.outcome)


Watch = Callable[[str, Progress], object]
"""Called with the arm's role and how far it is."""


def run_bench(settings: Settings, *, stop: asyncio.Event, watch: Watch | None = None) -> BenchResult:
    """Run a benchmark; returns early, with evidence of what there is, once `stop` is set.

    `stop` may be set from a signal handler through the running loop, or before the call.
    """
    return asyncio.run(bench(settings, stop=stop, watch=watch))


async def bench(settings: Settings, *, stop: asyncio.Event, watch: Watch | None = None) -> BenchResult:
    """See `run_bench`; cancelling it sets `stop`, and it is cancelled once the evidence is written.

    Raises:
        InputError: a source entry that canonical JSON cannot represent, or a dataset that changed meanwhile.
    """
    running = asyncio.ensure_future(_Bench(settings, stop, watch).run())
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await running
        raise


class _Bench:
    """One execution."""

    def __init__(self, settings: Settings, stop: asyncio.Event, watch: Watch | None) -> None:
        self.settings = settings
        self.stop = stop
        self.watch = watch
        self.execution = uuid.uuid4().hex
        self.scripted = settings.scripted
        self.normal: ArmResult | None = None
        self.oracle: ArmResult | None = None
        self.written: list[Written] = []
        self.unwritten: str | None = None
        self.unprepared: str | None = None
        self.retrieved: dict[str, bool] = {}
        self.source = ""

    async def run(self) -> BenchResult:
        settings = self.settings
        if settings.evidence is not None:
            sweep(settings.evidence.destination)
        if not self.stop.is_set():
            self.source = source_inputs_digest(settings.dataset, settings.roster)
            # A signal that came meanwhile sets `stop` from the loop.
            await asyncio.sleep(0)
        if not self.stop.is_set():
            async with Client(
                timeout=settings.timeout,
                retries=settings.retries,
                offline=settings.offline,
                concurrency=settings.concurrency,
            ) as client:
                await self._arms(client)
        outcome = None
        if self.normal is not None and self.normal.complete:
            outcome = gate.decide(self.normal, settings.threshold)
        return BenchResult(
            self.normal, self.oracle, tuple(self.written), self.unwritten, outcome, self.unprepared, self.retrieved
        )

    async def _arms(self, client: Client) -> None:
        settings = self.settings
        self.normal, run = await self._arm(client, NORMAL, settings.agent, settings.dataset.question)
        self.retrieved = run.retrieved
        self._write(self.normal)
        if not settings.paired or not self.normal.complete or self.unwritten is not None:
            return
        projected = await self._projected()
        if projected is not None:
            self.oracle, _ = await self._arm(client, ORACLE, ORACLE_READER, projected.__getitem__)
            self._write(self.oracle)

    async def _projected(self) -> dict[str, Question] | None:
        """Project every history; None where a signal comes first, or the dataset is not what it was."""
        projected: dict[str, Question] = {}
        for item in self.settings.roster:
            # A signal is seen between two questions, here as while they are asked.
            await asyncio.sleep(0)
            if self.stop.is_set():
                return None
            try:
                projected[item.id] = project(self.settings.dataset.question(item.id))
            except InputError as fault:
                self.unprepared = f"the oracle arm could not be prepared: {fault}"
                return None
        return projected

    async def _arm(
        self, client: Client, role: str, agent: Agent, question_of: Callable[[str], Question]
    ) -> tuple[ArmResult, ArmRun]:
        """Run one prepared arm."""
        settings = self.settings
        definition = definition_of(settings, role, agent, self.source)
        started = now()
        if self.normal is not None:
            started = max(started, self.normal.ended_at, key=time_key)
        watch = self.watch
        run = await run_arm(
            settings.roster,
            question_of,
            agent,
            client,
            settings.calls,
            concurrency=settings.concurrency,
            stop=self.stop,
            watch=None if watch is None else lambda progress: watch(role, progress),
        )
        self.scripted |= run.scripted
        result = ArmResult(
            role=role,
            definition=definition,
            pair_id=self.execution if settings.paired else None,
            subject=(ORACLE_SUBJECT, settings.version) if role == ORACLE else settings.subject,
            judge_model=settings.calls.judge.model,
            judge_provider=settings.judge_provider,
            rubric_digest=rubric_digest(settings.calls.label_rule),
            status="completed" if run.abort_reason is None else "aborted",
            abort_reason=run.abort_reason,
            started_at=started,
            ended_at=_latest(now(), started, *(outcome.ended_at for outcome in run.outcomes)),
            target_mode="scripted" if self.scripted else "live",
            planned=len(settings.roster),
            outcomes=run.outcomes,
            content=settings.content,
        )
        return result, run

    def _write(self, result: ArmResult) -> None:
        """Write an arm's evidence, where some is wanted; what keeps it from being there is kept for the report."""
        settings, evidence = self.settings, self.settings.evidence
        if evidence is None:
            return
        normal = self.written[0] if self.written else None
        try:
            self.written.append(
                write_arm(
                    result,
                    evidence.destination,
                    run_id=f"lme-{self.execution}-{result.role}",
                    normal_run_hash=None if normal is None else normal.run_hash,
                    normal_accuracy=self._normal_accuracy() if result.role == ORACLE else None,
                    threshold=settings.threshold,
                    seal=evidence.seal,
                    key=evidence.key,
                    producer_version=settings.version,
                )
            )
        except (OSError, InputError) as fault:
            reason = reason_of(fault)
            self.unwritten = f"the {result.role} run could not be written to {evidence.destination}: {reason}"

    def _normal_accuracy(self) -> float | None:
        return self.normal.accuracy_percent if self.normal is not None and self.normal.complete else None


def _latest(*times: str) -> str:
    return max(times, key=time_key)


class Group(NamedTuple):
    """One figure of an arm: what it is over, and its counts; `planned` counts the roster's questions."""

    name: str
    passed: int
    scored: int
    planned: int

    @property
    def percent(self) -> float | None:
        """100 × passed / scored; None where nothing was scored."""
        return 100 * self.passed / self.scored if self.scored else None


def groups(result: ArmResult, roster: Iterable[RosterItem]) -> Iterator[Group]:
    """Yield an arm's figures: overall, for each type that the roster has, and over its abstention questions."""

    def counted(name: str, wanted: Callable[[RosterItem], bool]) -> Group:
        states = [outcome.state for outcome in result.outcomes if wanted(outcome.question)]
        passed, failed = states.count("passed"), states.count("failed")
        return Group(name, passed, passed + failed, sum(map(wanted, planned)))

    planned = tuple(roster)
    yield counted("overall", lambda item: True)
    for kind in QUESTION_TYPES:
        group = counted(kind, lambda item, kind=kind: item.type == kind)  # type: ignore[misc]  # a default binds it
        if group.planned:
            yield group
    abstentions = counted("abstention", lambda item: item.id.endswith(ABSTENTION_SUFFIX))
    if abstentions.planned:
        yield abstentions
