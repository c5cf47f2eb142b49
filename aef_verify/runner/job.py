"""A plan run as a job: its suites as sealed runs and its event stream, within the plan's limits (06 §6.5, 09 §9.3).

In this order:

1. What the caller got wrong, before anything is written: a plan without a readable `planId`, the manifest, the target,
   the folder, the start of the clock.
2. The plan is taken or refused, before `job.accepted` (`taking`); a refusal is a stream of one event.
3. `job.accepted`; the suites run (`running`).
4. One terminal event: `job.sealed`; `job.failed` with the limit that stopped the job; `job.cancelled` for an interrupt;
   `job.failed` without a limit for whatever else went wrong. In these two the open run is not written, and the runs
   sealed before stay.

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
from aef_verify.runner.clock import Clock
from aef_verify.runner.events import Event, EventStream
from aef_verify.runner.plan import Plan, PlanRefusedError, Runner, load_plan, read_runner
from aef_verify.runner.running import Running, SealedRun, StoppedError
from aef_verify.runner.scripted import read_target
from aef_verify.runner.taking import MOST_REASON, Estimate, RefusedError, Taken, take
from aef_verify.runner.target import Target
from aef_verify.writing.destination import check_no_run, free_folder

EVENTS, RUNS = "events.ndjson", "runs"
"""What a job writes into its folder."""

Document = dict[str, Any]
Watch = Callable[[Event], object]


class JobResult(NamedTuple):
    """How a job ended.

    Attributes:
        events: how many events its stream has.
        job_id: its id.
        plan_id: its plan's.
        plan_digest: the SHA-256 of the plan's bytes in hex.
        runner_id: the id of the manifest that was acted as.
        target_mode: what answered [RUN-7].
        terminal: the kind of its terminal event.
        reason: the reason of a refusal or a failure, None of a job that was sealed.
        limit: the limit that stopped it, if one did.
        runs: the runs that it sealed, in order.
        cases: how many cases ran.
        estimate: what was estimated; None of a refusal.
        spent_usd: what it spent.
        ended_at: the time of its terminal event.
    """

    events: int
    job_id: str
    plan_id: str
    plan_digest: str
    runner_id: str
    target_mode: str
    terminal: str
    reason: str | None
    limit: str | None
    runs: tuple[SealedRun, ...]
    cases: int
    estimate: Estimate | None
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
    try:
        plan = _readable(data)
    except PlanRefusedError as refused:
        raise InputError(f"{plan_path}: {refused}") from None
    runner = read_runner(runner_path)
    target = read_target(target_path)
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
        return load_plan(data)
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
    folder = free_folder(out)
    check_no_run(folder)
    os.makedirs(folder, exist_ok=True)
    ids = _Ids(f"job-{token_hex(12)}", str(plan.plan_id), sha256(data).hexdigest(), runner.runner_id)
    try:
        stream = EventStream(os.path.join(folder, EVENTS), ids.job_id, clock, watch)
    except FileExistsError:
        raise InputError(f"{out}: is not empty any more") from None
    try:
        job = _Job(target, stream, clock, ids, os.path.join(folder, RUNS))
        if isinstance(plan, PlanRefusedError):
            return job.refuse(str(plan)[:MOST_REASON])
        try:
            taken = take(plan, runner, target, environment)
        except RefusedError as refused:
            return job.refuse(str(refused))
        return job.run(plan, taken)
    finally:
        stream.close()


class _Ids(NamedTuple):
    """What names a job: its id, its plan's id and digest, the runner's id."""

    job_id: str
    plan_id: str
    plan_digest: str
    runner_id: str

    def members(self) -> Document:
        """Return the members of `job.accepted` and `job.refused`."""
        return {"planId": self.plan_id, "planDigest": self.plan_digest, "runnerId": self.runner_id}

    def provenance(self) -> Document:
        """Return the provenance of a run [RUN-12]."""
        return self.members() | {"jobId": self.job_id}


class _Job:
    """One job: refused, or run to its end."""

    def __init__(self, target: Target, stream: EventStream, clock: Clock, ids: _Ids, runs: str) -> None:
        self.target = target
        self.stream = stream
        self.clock = clock
        self.ids = ids
        self.runs = runs

    def refuse(self, reason: str) -> JobResult:
        """Refuse the plan."""
        return self._end("job.refused", None, None, **self.ids.members(), reason=reason)

    def run(self, plan: Plan, taken: Taken) -> JobResult:
        """Run a plan that was taken, and end the stream whatever happens."""
        running = Running(plan, self.target, taken, self.ids.provenance(), self.runs, self.stream, self.clock)
        try:
            self.stream.write("job.accepted", **self.ids.members())
            running.run()
        except StoppedError as stopped:
            limit = {} if stopped.limit is None else {"limit": stopped.limit}
            names = _names(running)
            return self._end("job.failed", running, taken.estimate, reason=str(stopped), **limit, runs=names)
        except BaseException as fault:
            self._break_off(fault, running)
            if taken.credentials.stand_in_bytes(str(fault).encode("utf-8", "replace")):
                raise RuntimeError(f"{type(fault).__name__}, in words that hold a credential") from None
            raise
        return self._end("job.sealed", running, taken.estimate, runs=_names(running))

    def _end(self, kind: str, running: Running | None, estimate: Estimate | None, **members: Any) -> JobResult:
        """Write the terminal event."""
        event = self.stream.write(kind, **members)
        return JobResult(
            events=self.stream.count,
            job_id=self.ids.job_id,
            plan_id=self.ids.plan_id,
            plan_digest=self.ids.plan_digest,
            runner_id=self.ids.runner_id,
            target_mode=self.target.target_mode,
            terminal=kind,
            reason=members.get("reason"),
            limit=members.get("limit"),
            runs=() if running is None else tuple(running.sealed),
            cases=0 if running is None else running.started,
            estimate=estimate,
            spent_usd=0.0 if running is None else running.spend.total(),
            ended_at=event["at"],
        )

    def _break_off(self, fault: BaseException, running: Running) -> None:
        """End the stream after what nobody planned; the words are ours alone, as a fault's may hold anything."""
        if self.stream.ended or not self.stream.count:
            return
        try:
            if isinstance(fault, KeyboardInterrupt):
                self.stream.write("job.cancelled", reason="interrupted")
            else:
                reason = f"the runner failed: {type(fault).__name__}"
                self.stream.write("job.failed", reason=reason, runs=_names(running))
        except OSError:
            return


def _names(running: Running) -> list[str]:
    return [run.run_id for run in running.sealed]
