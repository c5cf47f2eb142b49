"""An accepted job while it runs: [PLAN-8] to [PLAN-10], [RUN-5], [STRM-1].

Each suite of the plan is one run, opened with its first case. Before each case the limits are looked at, with the worst
that it may need; at the first one that it could pass the open run is closed `aborted` and sealed, and the job stops. A
run is closed `completed` when its suite's last case has run, before the limits are looked at for the next case. A run
is closed, looked through for credentials, sealed, verified, and has its name only when it is whole; then it is
announced. Cases that did not run leave no line.
"""

from __future__ import annotations

from math import inf
from secrets import token_hex
from typing import Any, NamedTuple

from aef_verify.runner.clock import SECOND, Clock
from aef_verify.runner.events import EventStream
from aef_verify.runner.header import planned_header
from aef_verify.runner.plan import Plan
from aef_verify.runner.spend import Limits, Spend
from aef_verify.runner.taking import MOST_REASON, Taken
from aef_verify.runner.target import STATES, Closing, Opening, OpenRun, Outcome, RunContent, Target
from aef_verify.writing.run import ClosedRun, Sealing, encoded, publish_run

Document = dict[str, Any]


class SealedRun(NamedTuple):
    """A run that a job sealed: its id, hash and folder, its suite by reference and version, its status and cases."""

    run_id: str
    run_hash: str
    path: str
    suite: tuple[str, str]
    status: str
    cases: int


class StoppedError(Exception):
    """The job ends before its last case: at a limit, or for a reason of its own, in words that an event may hold."""

    def __init__(self, reason: str, limit: str | None = None) -> None:
        """Take the reason, and the limit if it is one."""
        super().__init__(reason)
        self.limit = limit


STOPS = {
    "maxUsd": "the next case could take the spend above the plan's maxUsd",
    "cases": "as many cases as the plan allows have started",
    "timeout": "the next case, with closing and sealing its run, could end after the plan's timeout",
}
"""Each limit in the order of [PLAN-2], and what a job says that stops at it."""


class Running:
    """A job's suites while they run.

    Attributes:
        sealed: the runs that were sealed so far.
        spend: what was spent so far.
        started: how many cases have started.
    """

    def __init__(
        self,
        plan: Plan,
        target: Target,
        taken: Taken,
        provenance: Document,
        destination: str,
        stream: EventStream,
        clock: Clock,
    ) -> None:
        """Start before the first case.

        Args:
            plan: the plan that was taken.
            target: what answers.
            taken: what the plan needs, resolved.
            provenance: what each run says of the job [RUN-12].
            destination: the folder that the runs are written into.
            stream: the job's stream, whose `job.accepted` is written.
            clock: the job's clock.
        """
        self.sealed: list[SealedRun] = []
        self.spend = Spend()
        self.started = 0
        self._plan = plan
        self._target = target
        self._taken = taken
        self._provenance = provenance
        self._destination = destination
        self._stream = stream
        self._clock = clock
        self._stated_usd = 0.0
        timeout = None if plan.timeout is None else plan.timeout * SECOND
        self._limits = Limits(plan.max_usd, plan.cases, timeout)

    def run(self) -> None:
        """State the estimate, and run every suite in the plan's order.

        Raises:
            StoppedError: the job stops before its end; the run that was open is sealed where a limit stopped it.
        """
        cases, low, high = self._taken.estimate
        table = self._target.price_table
        self._stream.write("plan.estimated", cases=cases, usdLow=low, usdHigh=high, priceTable=table)
        for place in range(len(self._taken.suites)):
            self._run_suite(place)

    def _run_suite(self, place: int) -> None:
        suite = self._taken.suites[place]
        run: _Run | None = None
        for number, case in enumerate(suite.cases):
            ends = self._clock.elapsed() + (case.seconds_bound + self._target.close_seconds) * SECOND
            limit = self._limits.reached(self.spend, case.usd_bound, self.started, ends)
            if limit is not None:
                if run is not None:
                    self._close(run, STOPS[limit])
                raise StoppedError(STOPS[limit], limit)
            if run is None:
                run = self._open(place)
            reason = self._run_case(run, number, case.case_id)
            if reason is not None:
                self._close(run, reason)
                raise StoppedError(reason)
        assert run is not None
        self._close(run, None)

    def _open(self, place: int) -> _Run:
        suite, run_id = self._plan.suites[place], f"run-{token_hex(12)}"
        header = planned_header(self._plan, suite, self._provenance, self._target)
        started = self._clock.now()
        opening = Opening(run_id, suite.lane, self._plan.content_capture == "on", self._taken.credentials)
        return _Run(run_id, header, started, self._taken.suites[place].open(opening))

    def _run_case(self, run: _Run, number: int, case_id: str) -> str | None:
        """Run one case, state what came of it and what was spent, and return why it is the last one, if it is."""
        self.started += 1
        outcome = _checked(run.running.run_case(number))
        self._clock.case_ran(outcome.seconds)
        self.spend.add(outcome.usd)
        run.cases += 1
        run.ended = self._clock.now()
        self._stream.write("case.completed", caseId=case_id, state=outcome.state, runId=run.run_id)
        if self._taken.each_spend:
            self._state_spend()
        return outcome.ends

    def _state_spend(self) -> None:
        spent = self.spend.total()
        if spent != self._stated_usd:
            self._stream.write("spend.updated", spentUsd=spent)
            self._stated_usd = spent

    def _close(self, run: _Run, abort_reason: str | None) -> None:
        """Close a run, seal it, write it and announce it."""
        self._state_spend()
        content = run.running.close(Closing(run.started, run.ended, abort_reason))
        closed = run.closed(content, self.spend.close_run(), self._target.price_table, abort_reason)
        self._hold_back(closed)
        self._clock.run_closed()
        written = publish_run(closed, self._destination, sealing=Sealing(self._clock.now()))
        run_hash, suite = str(written.run_hash), closed.run["suite"]
        self.sealed.append(
            SealedRun(
                run.run_id, run_hash, written.path, (suite["ref"], suite["version"]), closed.run["status"], run.cases
            )
        )
        self._stream.write("evidence.produced", runId=run.run_id, runHash=run_hash)

    def _hold_back(self, run: ClosedRun) -> None:
        """Stop the job where a run would hold a credential: an answer may repeat one [PLAN-3]."""
        credentials = self._taken.credentials
        if credentials.any and any(credentials.stand_in_bytes(data) for data in encoded(run).values()):
            raise StoppedError("a run would have held a credential's value, or what one is stored under [PLAN-3]")


def _checked(outcome: Outcome) -> Outcome:
    """Return an outcome that events, sums and a run can hold; raises ValueError for another one: a target's mistake."""
    if outcome.state not in STATES or not 0 <= outcome.usd < inf or outcome.seconds < 0:
        raise ValueError("a case came to a state, a cost or a duration that no case has")
    if outcome.ends is not None and not 1 <= len(outcome.ends) <= MOST_REASON:
        raise ValueError("a case ends the run for no reason that a run can state")
    return outcome


class _Run:
    """A run while its cases run; `ended` is the end of its last case."""

    def __init__(self, run_id: str, header: Document, started: str, running: OpenRun) -> None:
        self.run_id = run_id
        self.started = self.ended = started
        self.running = running
        self.cases = 0
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
        return ClosedRun(
            run=document,
            results=content.results,
            metrics=content.metrics,
            summary={**content.summary, "cost": {"totalUsd": cost, "source": price_table}},
            evidence=content.evidence,
            gates=content.gates,
            blobs=content.blobs,
            ext=content.ext,
        )
