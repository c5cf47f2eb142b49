"""Event streams of runners that keep to their plan: [STRM-1], [STRM-3], [PLAN-5].

Numbers, times, spend and announcements follow from the text of the rules alone: nothing here asks the room that
verifies streams. The runs that a stream announces are names with hashes; there are no folders behind them.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NamedTuple

from hypothesis import strategies as st

from aef_verify.strategies.documents import documents
from aef_verify.strategies.files import json_line
from aef_verify.strategies.values import (
    LAST_INSTANT,
    SECOND,
    counts,
    digests,
    ids,
    labels,
    numbers,
    spelled_times,
    texts,
)

Document = dict[str, Any]

STATES = ("passed", "failed", "warn", "inconclusive", "scored", "not_measured", "not_applicable", "skipped", "error")
_LANE_STATES = ("passed", "failed", "not_measured", "incomparable")
_UNIT_SECONDS = {"D": 86_400, "H": 3_600, "M": 60}


class JobStream(NamedTuple):
    """A finished stream and the plan that it is about.

    Attributes:
        plan: the bytes of the plan's file.
        events: the events, each a line.
    """

    plan: bytes
    events: tuple[Document, ...]

    @property
    def data(self) -> bytes:
        """The bytes of the stream."""
        return b"".join(map(json_line, self.events))

    @property
    def limits(self) -> Document:
        """The plan's limits."""
        found: Document = json.loads(self.plan)["limits"]
        return found


class _Job:
    """A stream while it is drawn, event by event."""

    def __init__(self, draw: st.DrawFn, plan: bytes) -> None:
        self.draw = draw
        self.plan = json.loads(plan)
        self.digest = hashlib.sha256(plan).hexdigest()
        self.limits = self.plan["limits"]
        self.job_id = draw(ids())
        self.now = draw(st.integers(0, LAST_INSTANT))
        self.last = min(LAST_INSTANT, self.now + _seconds(self.limits.get("timeout")) * SECOND)
        self.events: list[Document] = []
        self.spent = 0.0
        self.cases = 0
        self.announced: dict[str, str] = {}

    def tell(self, kind: str, **members: Any) -> None:
        """Add an event, at the time of the one before it or later."""
        if self.events:
            self.now = self.draw(st.just(self.now) | st.just(self.last) | st.integers(self.now, self.last))
        event = {
            "schemaVersion": "1.0",
            "seq": len(self.events) + 1,
            "kind": kind,
            "jobId": self.job_id,
            "at": self.draw(spelled_times(self.now)),
        }
        if self.draw(st.booleans()) and self.draw(st.booleans()):
            members["ext"] = {"note": self.draw(texts())}
        self.events.append(event | members)

    def answer(self, kind: str, **members: Any) -> None:
        named = {"planId": self.plan["planId"], "planDigest": self.digest, "runnerId": self.draw(ids())}
        self.tell(kind, **named, **members)

    def estimate(self) -> None:
        low, high = sorted(self.draw(st.tuples(numbers(0), numbers(0))), key=float)
        prices = {"priceTable": self.draw(texts())} if self.draw(st.booleans()) else {}
        self.tell("plan.estimated", cases=self.draw(counts()), usdLow=low, usdHigh=high, **prices)

    def spend(self) -> None:
        most = float(self.limits["maxUsd"])
        self.spent = self.draw(st.just(self.spent) | st.just(most) | st.floats(self.spent, most))
        self.tell("spend.updated", spentUsd=self.spent)

    def case(self) -> None:
        if self.cases >= self.limits.get("cases", 2**53):
            return
        self.cases += 1
        run = {"runId": self.draw(ids())} if self.draw(st.booleans()) else {}
        self.tell("case.completed", caseId=self.draw(labels()), state=self.draw(st.sampled_from(STATES)), **run)

    def lane(self) -> None:
        self.tell("lane.completed", lane=self.draw(ids()), status=self.draw(st.sampled_from(_LANE_STATES)))

    def evidence(self) -> None:
        run_id = self.draw(st.sampled_from([*self.announced, ""]) | ids()) or self.draw(ids())
        run_hash = self.announced.setdefault(run_id, self.draw(digests()))
        self.tell("evidence.produced", runId=run_id, runHash=run_hash)

    def later(self) -> None:
        """An event of a kind that a later minor may have [STRM-1]."""
        self.tell("job." + self.draw(st.sampled_from(("paused", "resumed", "Sealed"))), runs=3, schemaVersion="1.7")

    def end(self) -> None:
        runs = self.draw(st.permutations([*self.announced]))
        runs += self.draw(st.lists(st.sampled_from(runs), max_size=2)) if runs else []
        kind = self.draw(st.sampled_from(("job.sealed", "job.failed", "job.cancelled")))
        if kind == "job.sealed" and runs:
            self.tell(kind, runs=runs)
        elif kind == "job.cancelled":
            self.tell(kind, reason=self.draw(texts(1)))
        else:
            limit = self.draw(st.sampled_from(("maxUsd", "cases", "timeout", "")))
            named = {"limit": limit} if limit else {}
            self.tell("job.failed", reason=self.draw(texts(1)), **named, **({"runs": runs} if runs else {}))


def _seconds(duration: str | None) -> int:
    """Return the length of a duration [ENC-9], a week where there is none."""
    if duration is None:
        return 7 * 86_400
    return sum(int(number) * _UNIT_SECONDS[unit] for number, unit in re.findall(r"([0-9]+)([DHM])", duration))


_KINDS = (_Job.estimate, _Job.spend, _Job.case, _Job.case, _Job.lane, _Job.evidence, _Job.evidence)


@st.composite
def job_streams(draw: st.DrawFn, *, max_events: int = 12, later_minors: bool = False) -> JobStream:
    """A finished stream without a problem, and its plan: of a job accepted or refused, sealed, failed or cancelled.

    Args:
        draw: given by Hypothesis.
        max_events: events between the first and the last one.
        later_minors: whether there may be events of kinds that version 1.0 does not know.
    """
    plan = json.dumps(draw(documents("run-plan")), ensure_ascii=False).encode()
    job = _Job(draw, plan)
    if draw(st.integers(0, 9)) == 0:
        job.answer("job.refused", reason=draw(texts(1)))
        return JobStream(plan, tuple(job.events))
    job.answer("job.accepted")
    kinds = (*_KINDS, _Job.later) if later_minors else _KINDS
    for tell in draw(st.lists(st.sampled_from(kinds), max_size=max_events)):
        tell(job)
    job.end()
    return JobStream(plan, tuple(job.events))
