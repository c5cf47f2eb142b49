"""What an event stream says of its job, taken from the events that read: for [STRM-4], and for people.

Of what should stand once the first counts (acceptance, announcement of a run, end), of what is told again and again
the last (estimate, spend, a lane's status). Held are the runs, and otherwise nothing that grows with the stream.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

ACCEPTED, REFUSED = "job.accepted", "job.refused"
SEALED, FAILED, CANCELLED = "job.sealed", "job.failed", "job.cancelled"

TERMINAL = frozenset((SEALED, FAILED, CANCELLED, REFUSED))
"""The kinds that end a stream; no later minor adds one [STRM-1]."""

MOST_NAMED = 100_000
"""Runs named by the ends of a stream that are kept; one end names 1,024 at most."""

MOST_LANES = 64
"""Lanes whose status is kept: as many as a plan has suites."""

Event = dict[str, Any]


class Answer(NamedTuple):
    """The runner's answer to the plan: `job.accepted`, or `job.refused` with its reason."""

    line: int
    at: str
    job_id: str
    plan_id: str
    plan_digest: str
    runner_id: str
    reason: str | None


class Estimate(NamedTuple):
    """What the runner expected: cases, and the least and the highest cost in US dollars."""

    cases: int
    usd_low: float
    usd_high: float
    price_table: str | None


class End(NamedTuple):
    """A terminal event; `limit` where the runner stopped at one, `runs` as named there, None where it names none."""

    line: int
    kind: str
    at: str
    reason: str | None
    limit: str | None
    runs: tuple[str, ...] | None


class Account:
    """The events of one stream, added up.

    Attributes:
        events: how many read.
        unknown: how many of them are of a kind that this version does not know.
        job_id: the first event's `jobId`.
        started_at: the first event's `at`.
        last_at: the last one's.
        accepted: the first `job.accepted`.
        refused: the first `job.refused`.
        estimate: the last one.
        spent: the last `spentUsd`.
        cases: how many cases completed, by state.
        lanes: the last status of each lane, of `MOST_LANES` at most.
        announced: the run hash that the first `evidence.produced` of each run gives, by run id.
        named: the runs that `job.sealed` and `job.failed` name, each once, in the order of the stream.
        named_all: whether `named` holds all of them, and not just `MOST_NAMED`.
        end: the first terminal event.
    """

    def __init__(self) -> None:
        """Start before the first event."""
        self.events = 0
        self.unknown = 0
        self.job_id: str | None = None
        self.started_at: str | None = None
        self.last_at: str | None = None
        self.accepted: Answer | None = None
        self.refused: Answer | None = None
        self.estimate: Estimate | None = None
        self.spent: float | None = None
        self.cases: Counter[str] = Counter()
        self.lanes: dict[str, str] = {}
        self.announced: dict[str, str] = {}
        self.named: dict[str, None] = {}
        self.named_all = True
        self.end: End | None = None

    def take(self, line: int, event: Event) -> None:
        """Add an event that the reader accepts; `line` is its number in the stream."""
        kind, at = event["kind"], event["at"]
        if not self.events:
            self.job_id, self.started_at = event["jobId"], at
        self.events += 1
        self.last_at = at
        match kind:
            case "case.completed":
                self.cases[event["state"]] += 1
            case "spend.updated":
                self.spent = float(event["spentUsd"])
            case "evidence.produced":
                self.announced.setdefault(event["runId"], event["runHash"])
            case "lane.completed":
                if event["lane"] in self.lanes or len(self.lanes) < MOST_LANES:
                    self.lanes[event["lane"]] = event["status"]
            case "plan.estimated":
                low, high = float(event["usdLow"]), float(event["usdHigh"])
                self.estimate = Estimate(int(event["cases"]), low, high, event.get("priceTable"))
            case "job.accepted":
                self.accepted = self.accepted or _answer(line, event)
            case "job.refused":
                self.refused = self.refused or _answer(line, event)
            case "job.sealed" | "job.failed":
                self._name(event.get("runs", ()))
            case "job.cancelled":
                pass
            case _:
                self.unknown += 1
        if self.end is None and kind in TERMINAL:
            runs = event.get("runs")
            named = None if runs is None else tuple(runs)
            self.end = End(line, kind, at, event.get("reason"), event.get("limit"), named)

    def _name(self, runs: list[str]) -> None:
        if not self.named_all:
            # To cut the same runs again at every end that follows would be quadratic.
            return
        self.named.update(dict.fromkeys(runs))
        if len(self.named) > MOST_NAMED:
            self.named_all = False
            self.named = dict.fromkeys(list(self.named)[:MOST_NAMED])


def _answer(line: int, event: Event) -> Answer:
    return Answer(
        line,
        event["at"],
        event["jobId"],
        event["planId"],
        event["planDigest"],
        event["runnerId"],
        event.get("reason"),
    )
