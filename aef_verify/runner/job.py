"""A plan run as a job: its suites as sealed runs and its event stream, within the plan's limits (06 §6.5, 09 §9.3).

In this order:

1. What the caller got wrong, before anything is written: the plan without a readable `planId`, the manifest, the
   target, the folder, the start of the clock.
2. The plan is taken or refused, before `job.accepted` [PLAN-7], [PLAN-8], [PLAN-3]; a refusal is a stream of its own.
3. `job.accepted`, `plan.estimated`; then each suite in the plan's order as one run, opened with its first case.
4. Before each case the limits, with the worst that the case may need, in the order of [PLAN-2]; a run is closed
   `completed` when its suite's last case has run, before the limits are looked at for the next case [PLAN-9].
5. A run is closed, sealed, checked by the verifier, and has its name only when it is whole; then it is announced.
6. One terminal event: `job.sealed`; `job.failed` with the limit, after the run that it cut off was closed `aborted`
   [RUN-5], [STRM-1]; `job.cancelled` for an interrupt; `job.failed` without a limit for whatever else went wrong. In
   the last two the open run is not written, and the runs sealed before stay.

No credential's value or path is in anything that is written or said [PLAN-3], [PLAN-4].
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from secrets import token_hex
from typing import Any, NamedTuple

from aef_verify import limits
from aef_verify.encoding.times import given_time
from aef_verify.given import read_given
from aef_verify.problems import InputError
from aef_verify.runner.clock import SECOND, Clock
from aef_verify.runner.events import Event, EventStream
from aef_verify.runner.header import planned_header
from aef_verify.runner.plan import Plan, PlanRefusedError, Runner, read_plan, read_runner
from aef_verify.runner.scripted import TARGET_BYTES, read_target
from aef_verify.runner.spend import Limits, Spend
from aef_verify.runner.taking import RefusedError, Taken, take
from aef_verify.runner.target import Opening, OpenRun, RunContent, Target
from aef_verify.writing.run import ClosedRun, Sealing, Written, encoded, publish_run

EVENTS, RUNS = "events.ndjson", "runs"
"""What a job writes into its folder."""

Document = dict[str, Any]
Watch = Callable[[Event], object]


class JobResult(NamedTuple):
    """How a job ended.

    Attributes:
        events: how many events its stream has.
        job_id: its id.
        terminal: the kind of its terminal event.
        reason: the reason of a refusal or a failure, None of a job that was sealed.
        limit: the limit that stopped it, if one did.
        runs: the runs that it sealed, in order.
        spent_usd: what it spent.
        ended_at: the time of its terminal event.
    """

    events: int
    job_id: str
    terminal: str
    reason: str | None
    limit: str | None
    runs: tuple[Written, ...]
    spent_usd: float
    ended_at: str


def run_job(
    plan_path: str,
    runner_path: str,
    target_path: str,
    out: str,
    *,
    at: str,
    environment: Mapping[str, str] = os.environ,
    watch: Watch | None = None,
) -> JobResult:
    """Run a plan against a scripted target, on the target's clock.

    Args:
        plan_path: the plan's file.
        runner_path: the file of the manifest that is acted as.
        target_path: the scripted target's file (09 §9.2.1).
        out: the folder to write into, which is empty or not there yet.
        at: where the clock starts [ENC-8].
        environment: the variables that `env` credentials are taken from.
        watch: called with each event once it is written.

    Raises:
        InputError: a mistake of the caller, as 09 §9.3 lists them; nothing was written.
        OSError: something could not be written; the stream says so as far as it could be written itself.
    """
    data = read_given(plan_path, limits.JSON_BYTES)
    plan = _readable(data)
    runner = read_runner(read_given(runner_path, limits.JSON_BYTES))
    target = read_target(read_given(target_path, TARGET_BYTES))
    return _perform(data, plan, runner, target, out, at, environment, watch)


def run_plan(
    plan: bytes,
    runner: Runner,
    target: Target,
    out: str,
    *,
    at: str,
    environment: Mapping[str, str],
    watch: Watch | None = None,
) -> JobResult:
    """Run the plan that the bytes of its file hold against any target (`runner.target`); else as `run_job`."""
    return _perform(plan, _readable(plan), runner, target, out, at, environment, watch)


def _readable(data: bytes) -> Plan | PlanRefusedError:
    """Return a plan, or why a reader refuses it; raises InputError where no `job.refused` could name it [PLAN-7]."""
    try:
        return read_plan(data)
    except PlanRefusedError as refused:
        if refused.plan_id is None:
            raise
        return refused


def _perform(
    data: bytes,
    plan: Plan | PlanRefusedError,
    runner: Runner,
    target: Target,
    out: str,
    at: str,
    environment: Mapping[str, str],
    watch: Watch | None,
) -> JobResult:
    given_time(at)
    clock = target.clock(at)
    _check_empty(out)
    os.makedirs(out, exist_ok=True)
    job_id = f"job-{token_hex(16)}"
    try:
        stream = EventStream(os.path.join(out, EVENTS), job_id, clock, watch)
    except FileExistsError:
        raise _not_empty(out) from None
    named: Document = {"planId": plan.plan_id, "planDigest": sha256(data).hexdigest(), "runnerId": runner.runner_id}
    try:
        if isinstance(plan, PlanRefusedError):
            return _refused(stream, job_id, clock, named, str(plan))
        try:
            taken = take(plan, runner, target, environment)
        except RefusedError as refused:
            return _refused(stream, job_id, clock, named, str(refused))
        return _Job(plan, target, taken, stream, clock, job_id, named, os.path.join(out, RUNS)).run()
    finally:
        stream.close()


def _check_empty(out: str) -> None:
    """Refuse a folder to write into that is not empty, or that is none."""
    try:
        with os.scandir(out) as entries:
            if any(entries):
                raise _not_empty(out)
    except FileNotFoundError:
        if os.path.islink(out):
            raise InputError(f"{out}: a link to nothing; name a folder that is empty or not there yet") from None
    except (OSError, ValueError) as fault:
        raise InputError(f"{out}: {getattr(fault, 'strerror', None) or fault}") from None


def _not_empty(out: str) -> InputError:
    return InputError(f"{out}: not empty; a job writes into a folder that is empty or not there yet")


def _refused(stream: EventStream, job_id: str, clock: Clock, named: Document, reason: str) -> JobResult:
    stream.write("job.refused", **named, reason=reason)
    return JobResult(stream.count, job_id, "job.refused", reason, None, (), 0.0, clock.now())


class _StoppedError(Exception):
    """The job ends before its last case: at a limit, or for a reason of its own."""

    def __init__(self, reason: str, limit: str | None = None) -> None:
        super().__init__(reason)
        self.limit = limit


_LIMITS = {
    "maxUsd": "the next case could take the spend above the plan's maxUsd",
    "cases": "as many cases as the plan allows have started",
    "timeout": "the next case, with closing and sealing its run, could end after the plan's timeout",
}
"""Each limit, and what a job says that stops at it."""


class _Job:
    """A job that was accepted."""

    def __init__(
        self,
        plan: Plan,
        target: Target,
        taken: Taken,
        stream: EventStream,
        clock: Clock,
        job_id: str,
        named: Document,
        runs: str,
    ) -> None:
        self.plan = plan
        self.target = target
        self.taken = taken
        self.stream = stream
        self.clock = clock
        self.job_id = job_id
        self.named = named
        self.runs = runs
        self.sealed: list[Written] = []
        self.spend = Spend()
        self.started = 0
        self.stated_usd = 0.0
        timeout = None if plan.timeout is None else plan.timeout * SECOND
        self.limits = Limits(plan.max_usd, plan.cases, timeout)

    def run(self) -> JobResult:
        """Run every suite, and end the stream whatever happens."""
        self.stream.write("job.accepted", **self.named)
        try:
            self._estimate()
            for place in range(len(self.taken.suites)):
                self._suite(place)
        except _StoppedError as stopped:
            limit = {} if stopped.limit is None else {"limit": stopped.limit}
            return self._end("job.failed", str(stopped), reason=str(stopped), **limit, runs=self._names())
        except BaseException as fault:
            self._broken(fault)
            raise
        return self._end("job.sealed", None, runs=self._names())

    def _estimate(self) -> None:
        cases, low, high = self.taken.estimate
        table = self.target.price_table
        self.stream.write("plan.estimated", cases=cases, usdLow=low, usdHigh=high, priceTable=table)

    def _suite(self, place: int) -> None:
        """Run one suite as one run [PLAN-8]; raises _StoppedError at a limit, after the run is closed and sealed."""
        suite = self.taken.suites[place]
        open_run: _Run | None = None
        for number, case in enumerate(suite.cases):
            ends = self.clock.elapsed() + (case.seconds_bound + self.target.close_seconds) * SECOND
            limit = self.limits.reached(self.spend, case.usd_bound, self.started, ends)
            if limit is not None:
                if open_run is not None:
                    self._close(open_run, _LIMITS[limit])
                raise _StoppedError(_LIMITS[limit], limit)
            if open_run is None:
                open_run = self._open(place)
            self._case(open_run, number, case.case_id)
        assert open_run is not None
        self._close(open_run, None)

    def _open(self, place: int) -> _Run:
        plan, run_id = self.plan, f"run-{token_hex(16)}"
        suite = plan.suites[place]
        provenance = {name: self.named[name] for name in ("planId", "planDigest", "runnerId")}
        header = planned_header(plan, suite, provenance | {"jobId": self.job_id}, self.target)
        started = self.clock.now()
        opening = Opening(run_id, suite.lane, plan.content_capture == "on", self.taken.credentials)
        return _Run(run_id, header, started, self.taken.suites[place].open(opening))

    def _case(self, run: _Run, number: int, case_id: str) -> None:
        """Run one case, and state it and its cost."""
        self.started += 1
        outcome = run.running.run_case(number)
        self.clock.case_ran(outcome.seconds)
        self.spend.add(outcome.usd)
        run.ended = self.clock.now()
        self.stream.write("case.completed", caseId=case_id, state=outcome.state, runId=run.run_id)
        if self.taken.each_spend:
            self._state_spend()

    def _state_spend(self) -> None:
        spent = self.spend.total()
        if spent != self.stated_usd:
            self.stream.write("spend.updated", spentUsd=spent)
            self.stated_usd = spent

    def _close(self, run: _Run, abort_reason: str | None) -> None:
        """Close a run, seal it, write it and announce it."""
        self._state_spend()
        content = run.running.close()
        cost = self.spend.close_run()
        closed = run.closed(content, cost, self.target.price_table, abort_reason)
        self._hold_back(closed)
        self.clock.run_closed()
        written = publish_run(closed, self.runs, sealing=Sealing(self.clock.now()))
        self.sealed.append(written)
        self.stream.write("evidence.produced", runId=written.run_id, runHash=written.run_hash)

    def _hold_back(self, run: ClosedRun) -> None:
        """Stop the job where a run would hold a credential, as an answer may repeat one [PLAN-3]."""
        credentials = self.taken.credentials
        if credentials.any and any(credentials.stand_in_bytes(data) for data in encoded(run).values()):
            raise _StoppedError("a run would have held a credential's value, or what one is stored under [PLAN-3]")

    def _names(self) -> list[str]:
        return [written.run_id for written in self.sealed]

    def _end(self, kind: str, said: str | None, **members: Any) -> JobResult:
        self.stream.write(kind, **members)
        ended, spent, runs = self.clock.now(), self.spend.total(), tuple(self.sealed)
        return JobResult(self.stream.count, self.job_id, kind, said, members.get("limit"), runs, spent, ended)

    def _broken(self, fault: BaseException) -> None:
        """End the stream after what nobody planned; the words are ours alone, as a fault's may hold anything."""
        if self.stream.ended or not self.stream.count:
            return
        try:
            if isinstance(fault, KeyboardInterrupt):
                self.stream.write("job.cancelled", reason="interrupted")
            else:
                reason = f"the runner failed: {type(fault).__name__}"
                self.stream.write("job.failed", reason=reason, runs=self._names())
        except OSError:
            return


class _Run:
    """A run while its cases run; `ended` is the end of its last case."""

    def __init__(self, run_id: str, header: Document, started: str, running: OpenRun) -> None:
        self.run_id = run_id
        self.started = self.ended = started
        self.running = running
        self._header = header

    def closed(self, content: RunContent, cost: float, price_table: str, abort_reason: str | None) -> ClosedRun:
        """Return its documents: what the plan fixes never comes from the target."""
        aborted = abort_reason is not None
        document = {
            **content.header,
            "schemaVersion": "1.0",
            "runId": self.run_id,
            "status": "aborted" if aborted else "completed",
            **({"abortReason": abort_reason} if aborted else {}),
            **self._header,
            "startedAt": self.started,
            "endedAt": self.ended,
        }
        summary = {**content.summary, "cost": {"totalUsd": cost, "source": price_table}}
        return ClosedRun(
            run=document,
            results=content.results,
            metrics=content.metrics,
            summary=summary,
            evidence=content.evidence,
            gates=content.gates,
            blobs=content.blobs,
            ext=content.ext,
        )
