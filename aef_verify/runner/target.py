"""What a job runs its cases against: the interface between the plan's rules, which `job` keeps, and an evaluation.

A target is asked in this order, and knows nothing of limits, events, seals or clocks but its own:

1. `target_mode`, `isolations`, `keeps_time`, `refusal(plan)`: whether it can run a plan as asked [PLAN-7];
2. `clock(at)`: the clock that the job goes by, from its first event on;
3. `suite(ref, version)`: a suite of the plan, its content's digest and its cases in the order they run [PLAN-8]; each
   case with its bounds, which the target itself enforces: no case costs or takes more [PLAN-9];
4. `Suite.open(opening)`: only when the suite's first case may run; the credentials are in `opening` [PLAN-3];
5. `OpenRun.run_case(place)`: one case at a time, in order, each after the limits let it pass;
6. `OpenRun.close(closing)`: the content of the run, after its last case, or after the last one that a limit let pass.

The job writes `run.json`, the cost in `summary.json`, the seal and every event; what a target adds to `run.json` never
replaces what the plan fixes [PLAN-10], [STRM-4]. A run has no cost of its own: what it costs is in its cases' bounds.
An `InputError` raised by `clock` is the caller's mistake, found before anything is written. Whatever `open`,
`run_case` or `close` raise ends the job: `KeyboardInterrupt` as `job.cancelled`, the rest as `job.failed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from aef_verify.runner.clock import Clock
    from aef_verify.runner.credentials import Credentials
    from aef_verify.runner.plan import Plan

Document = dict[str, Any]

STATES = frozenset(
    ("passed", "failed", "warn", "inconclusive", "scored", "not_measured", "not_applicable", "skipped", "error")
)
"""What can come of a case: the states of a closed run [RES-1]."""


class Case(Protocol):
    """One case before it runs."""

    @property
    def case_id(self) -> str:
        """The suite's own id of the case, never rewritten [PLAN-8]."""

    @property
    def usd_low(self) -> float:
        """What the case is expected to cost at least, in USD, for the estimate alone."""

    @property
    def usd_bound(self) -> float:
        """The most that the case can cost, in USD, not below `usd_low` [PLAN-9]."""

    @property
    def seconds_bound(self) -> int:
        """The deadline of the case, in seconds [PLAN-9]."""


class Opening(NamedTuple):
    """What a run of a suite is opened with.

    Attributes:
        run_id: the id of the run.
        lane: the lane that the plan gives the suite: every root line names it, and the summary has it [PLAN-8].
        content: whether prompts, answers and the like may be kept [RUN-11].
        credentials: the resolved values, for the processes that their purposes name [PLAN-3].
    """

    run_id: str
    lane: str | None
    content: bool
    credentials: Credentials


class Outcome(NamedTuple):
    """What came of one case: its state [RES-1], what it cost in USD, and how long it took on a scripted clock.

    `ends` says why no further case can be run, in words that an event may hold: the run is then closed `aborted` with
    this case as its last, sealed and announced, and the job fails.
    """

    state: str
    usd: float
    seconds: int = 0
    ends: str | None = None


class Closing(NamedTuple):
    """What a run is closed with: when it began, when its last case ended, and why it is `aborted`, if it is [RUN-5]."""

    started_at: str
    ended_at: str
    abort_reason: str | None


class RunContent(NamedTuple):
    """The documents of a run but `run.json`, as in `writing.run.ClosedRun`.

    `summary` has no `cost`: the job writes it. `header` are further members of `run.json`, such as `judges`, `config`
    and `ext`; those that the job writes itself are not taken from there.
    """

    results: Sequence[Document]
    metrics: Document
    summary: Document
    evidence: Sequence[Document] = ()
    gates: Sequence[Document] = ()
    blobs: Sequence[bytes] = ()
    ext: Mapping[str, bytes] = {}
    header: Mapping[str, Any] = {}


class OpenRun(Protocol):
    """A run of one suite while its cases run."""

    def run_case(self, place: int) -> Outcome:
        """Run the suite's case at this place, counted from 0, within its bounds."""

    def close(self, closing: Closing) -> RunContent:
        """Return the run's content: a root line for each case that ran, and none for any other [PLAN-9]."""


class Suite(Protocol):
    """One suite as the target resolved it."""

    @property
    def digest(self) -> str:
        """The digest of its content [ENC-11]."""

    @property
    def cases(self) -> Sequence[Case]:
        """Its cases, in the order they run."""

    def open(self, opening: Opening) -> OpenRun:
        """Open a run of it."""


class Target(Protocol):
    """What a job runs against."""

    @property
    def target_mode(self) -> str:
        """The mode that it gives [RUN-7]."""

    @property
    def isolations(self) -> frozenset[str]:
        """The isolations that it can run in."""

    @property
    def keeps_time(self) -> bool:
        """Whether it enforces its cases' deadlines; one that does not takes no plan with a timeout [PLAN-9]."""

    @property
    def price_table(self) -> str:
        """The name of the price table that its costs are from, at most 64 characters."""

    @property
    def close_seconds(self) -> int:
        """The time kept for closing and sealing one run, in seconds [PLAN-9]."""

    def refusal(self, plan: Plan) -> str | None:
        """Return why it cannot run a plan as asked, in words that hold nothing of its credentials, or None."""

    def clock(self, at: str) -> Clock:
        """Return a clock that starts at a time; raises InputError where it would leave the years of [ENC-8]."""

    def suite(self, ref: str, version: str) -> Suite | None:
        """Return a suite, or None where it has none of this name."""
