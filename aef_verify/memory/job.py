"""A benchmark's normal arm as the target of a job (docs/BENCH.md): the questions are cases, asked one by one.

What the plan asks for is compared with what would be run before the job is taken: the agent under test, the lane, the
judge, the keys, and that a question's cost is bounded [PLAN-9]. The suite's digest is that of the arm's definition, so
that a plan for other options is refused [PLAN-8]. A question is given up at its deadline. An answer that comes marked
by the fixture provider is scripted, and every other one live [RUN-7]: one of the other kind than the plan says ends
the job.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

from aef_verify.memory.agents import BUILT_IN
from aef_verify.memory.arm import PROVIDER_UNAVAILABLE, UNAVAILABLE_AFTER
from aef_verify.memory.bench import Settings
from aef_verify.memory.definition import suite_of
from aef_verify.memory.evidence import documents
from aef_verify.memory.judge import rubric_digest
from aef_verify.memory.model import ANSWER_FAILED, JUDGE_FAILED, NORMAL, ArmResult, RosterItem
from aef_verify.memory.model import Outcome as QuestionOutcome
from aef_verify.memory.plan import (
    ANSWER_PURPOSE,
    FEWEST_CALLS,
    JUDGE_PURPOSE,
    PROCESS,
    SCRIPTED,
    Bounds,
    judge_of,
    most_calls,
    normal_definition,
)
from aef_verify.memory.profile import LANE
from aef_verify.memory.question import AskedQuestion, Asking, Calls
from aef_verify.provider.client import Client
from aef_verify.runner.clock import Clock, SteadyClock
from aef_verify.runner.plan import Judge, Plan
from aef_verify.runner.running import StoppedError
from aef_verify.runner.target import Case, Closing, Opening, OpenRun, Outcome, RunContent, Suite

CLOSE_SECONDS = 10
"""The time kept for closing and sealing the run."""

NO_COST = "no-cost"
"""The price table of the bundled provider."""

OTHER_MODE = "the answers were not of the plan's target mode"


class QuestionCase(NamedTuple):
    """One question before it is asked."""

    case_id: str
    usd_low: float
    usd_bound: float
    seconds_bound: int


class MemoryTarget:
    """The normal arm of a benchmark. A context manager, which closes the connections that a run opened."""

    isolations = frozenset((PROCESS,))
    keeps_time = True
    close_seconds = CLOSE_SECONDS

    def __init__(self, settings: Settings, bounds: Bounds, mode: str) -> None:
        """Take a benchmark that could be run, what a question can need, and the target mode that it gives.

        Raises:
            InputError: the dataset has changed since it was opened.
        """
        self.settings = settings
        self.bounds = bounds
        self.target_mode = mode
        self._definition = normal_definition(settings)
        self._runs: list[_Run] = []
        self._clock: Clock | None = None

    def __enter__(self) -> MemoryTarget:
        """Return the target."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what a run left open."""
        for run in self._runs:
            run.end()

    @property
    def price_table(self) -> str:
        """What the costs are computed by."""
        price = self.bounds.usd_per_call
        return NO_COST if not price else f"usd-per-call:{price!r}"

    def refusal(self, plan: Plan) -> str | None:
        """Return why the plan is for something else, or None."""
        settings = self.settings
        if self.bounds.usd_per_call is None:
            return "what a call costs is not known, so that no bound can be kept: give --usd-per-call [PLAN-9]"
        if settings.agent not in BUILT_IN.values():
            return "what an agent of the user's own costs is not bounded [PLAN-9]"
        if plan.subject != settings.subject:
            return "the plan is for another subject, or another version of it"
        if plan.deployment is not None or plan.endpoint is not None:
            return "the plan says where the subject answers, and here it is asked in this process"
        if any(suite.lane not in (None, LANE) for suite in plan.suites):
            return f"the questions have the lane {LANE}, and the plan asks for another one"
        if not any(_is_judge(judge, judge_of(settings)) for judge in plan.judges):
            return "the plan does not name the judge that would be asked"
        return self._keys_fault(plan)

    def _keys_fault(self, plan: Plan) -> str | None:
        """Say that a key would not be handed over; no variable is named [PLAN-3]."""
        for name, purpose in zip(self.settings.key_names, (ANSWER_PURPOSE, JUDGE_PURPOSE), strict=True):
            given = [credential.name for credential in plan.credentials if credential.purpose == purpose]
            if name is not None and name not in given:
                return f"a key is needed for the purpose {purpose}, and the plan does not reference it"
        return None

    def clock(self, at: str) -> Clock:
        """Return a clock that goes by itself."""
        self._clock = SteadyClock(at)
        return self._clock

    def suite(self, ref: str, version: str) -> Suite | None:
        """Return the normal arm's suite by its name; None for any other."""
        named = suite_of(self._definition)
        return _MemorySuite(self, named["digest"]) if (ref, version) == (named["ref"], named["version"]) else None

    def open(self, opening: Opening) -> OpenRun:
        """Open the run of the arm."""
        assert self._clock is not None
        run = _Run(self, self._definition, opening, self._clock)
        self._runs.append(run)
        return run


class _MemorySuite:
    """The normal arm's questions."""

    def __init__(self, target: MemoryTarget, digest: str) -> None:
        self.digest = digest
        self._target = target
        bounds, most = target.bounds, most_calls(target.settings)
        seconds = ceil(bounds.question_timeout) + 1
        self.cases: Sequence[Case] = [
            QuestionCase(item.id, bounds.usd(FEWEST_CALLS), bounds.usd(most), seconds)
            for item in target.settings.roster
        ]

    def open(self, opening: Opening) -> OpenRun:
        return self._target.open(opening)


class _Run:
    """The arm while its questions are asked."""

    def __init__(self, target: MemoryTarget, definition: dict[str, Any], opening: Opening, clock: Clock) -> None:
        settings = target.settings
        self._target = target
        self._definition = definition
        self._opening = opening
        self._outcomes: list[QuestionOutcome] = []
        self._unreached = 0
        self._ends: str | None = None
        self._loop = asyncio.Runner()
        self._open = True
        self._client = Client(
            timeout=settings.timeout, retries=settings.retries, offline=settings.offline, concurrency=1
        )
        calls = _with_keys(settings.calls, opening, settings.key_names)
        self._asking = Asking(settings.dataset.question, settings.agent, self._client, calls, clock.now, self._end)

    def _end(self, reason: str) -> None:
        self._ends = self._ends or reason

    def run_case(self, place: int) -> Outcome:
        """Ask a question."""
        asked, outcome = self._loop.run(self._ask(self._target.settings.roster[place]))
        self._outcomes.append(outcome)
        self._check_mode(asked)
        self._unreached = 0 if asked.reached else self._unreached + 1
        if self._unreached >= UNAVAILABLE_AFTER:
            self._end(PROVIDER_UNAVAILABLE)
        return Outcome(outcome.state, self._target.bounds.usd(asked.attempts), ends=self._ends)

    async def _ask(self, item: RosterItem) -> tuple[AskedQuestion, QuestionOutcome]:
        asked = AskedQuestion(self._asking, item)
        try:
            async with asyncio.timeout(self._target.bounds.question_timeout):
                return asked, await asked.outcome()
        except TimeoutError:
            return asked, asked.closed("error", JUDGE_FAILED if asked.answered else ANSWER_FAILED)

    def _check_mode(self, asked: AskedQuestion) -> None:
        scripted = self._target.target_mode == SCRIPTED
        if asked.scripted is not scripted and (asked.scripted or asked.heard):
            raise StoppedError(OTHER_MODE)

    def close(self, closing: Closing) -> RunContent:
        """Return the content of the arm's run, as the benchmark itself writes it."""
        self.end()
        settings, run_id = self._target.settings, self._opening.run_id
        result = ArmResult(
            role=NORMAL,
            definition=self._definition,
            pair_id=None,
            subject=settings.subject,
            judge_model=settings.calls.judge.model,
            judge_provider=settings.judge_provider,
            rubric_digest=rubric_digest(settings.calls.label_rule),
            status="completed" if closing.abort_reason is None else "aborted",
            abort_reason=closing.abort_reason,
            started_at=closing.started_at,
            ended_at=closing.ended_at,
            target_mode=self._target.target_mode,
            planned=len(settings.roster),
            outcomes=tuple(self._outcomes),
            content=self._opening.content,
        )
        run = documents(
            result,
            run_id=run_id,
            normal_run_hash=None,
            normal_accuracy=None,
            threshold=settings.threshold,
            producer_version=settings.version,
        )
        return RunContent(
            results=run.results,
            metrics=run.metrics,
            summary=run.summary,
            evidence=run.evidence,
            gates=run.gates,
            blobs=run.blobs,
            ext=run.ext,
            header={"judges": run.run["judges"]},
        )

    def end(self) -> None:
        """Close the connections; once is enough."""
        if self._open:
            self._open = False
            with self._loop as loop:
                loop.run(self._client.aclose())


def _with_keys(calls: Calls, opening: Opening, names: tuple[str | None, str | None]) -> Calls:
    """Return whom to ask, with the keys that the plan's references give, and no other [PLAN-3]."""
    keys = [
        None if name is None else opening.credentials.of(purpose).get(name)
        for name, purpose in zip(names, (ANSWER_PURPOSE, JUDGE_PURPOSE), strict=True)
    ]
    return calls._replace(answer=calls.answer._replace(api_key=keys[0]), judge=calls.judge._replace(api_key=keys[1]))


def _is_judge(planned: Judge, own: dict[str, Any]) -> bool:
    """Whether a judge of the plan is the one that is asked, in all that the plan says of it [STRM-4]."""
    return (
        planned.model == own["model"]
        and planned.provider in (None, own.get("provider"))
        and planned.rubric_digest in (None, own["rubricDigest"])
    )
