"""A runner's event stream against its plan [STRM-3], line by line, in constant memory but for the runs announced.

Order: the lines are framed as those of a file that may still be written to, so that a last one without LF is not read
[STRM-2]; each is read as an event, or is `event-invalid` and takes no part in anything else; then the rules of every
event (`first`, `seq`, `job-id`, `time`, `over-time`, `after-terminal`), then those of its kind; of a kind that this
version does not know there are none [STRM-1]. Spend is compared as binary64, times to the last digit [ENC-8].

A stream that breaks [ENC-5] or is beyond [ENC-17] has that one problem, and nothing that its lines gave counts.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.encoding.ndjson import Framing
from aef_verify.encoding.times import instant, time_key
from aef_verify.folder import BLOCK
from aef_verify.given import open_given
from aef_verify.problems import InputError, Problem, reason_of
from aef_verify.runner.account import ACCEPTED, REFUSED, Account
from aef_verify.runner.plan import Plan
from aef_verify.schemas import validator
from aef_verify.schemas.refusal import refusal

STREAM = "stream"
"""The place of a problem of the stream as a whole."""

EXPLAINED = 20
"""Problems of one code that are told why; the others are the code alone."""

_BEYOND = f"more than {limits.LINES:,} lines or {limits.NDJSON_BYTES:,} bytes, which is all that is read"
_SECOND = 1_000_000_000

Event = dict[str, Any]


class StreamReport(NamedTuple):
    """What a stream came to.

    Attributes:
        problems: [STRM-3]'s, in its order.
        account: what the stream says of its job; empty where the stream is refused as a whole.
        lines: how many lines were finished.
        is_unfinished: whether a last line has no LF yet, and so was not read.
        is_read: False where the stream is refused as a whole, `encoding` or `limit`.
    """

    problems: tuple[Problem, ...]
    account: Account
    lines: int
    is_unfinished: bool
    is_read: bool


def verify_stream(events: str | BinaryIO, plan: Plan) -> StreamReport:
    """Check a finished stream against its plan.

    Args:
        events: the path of a regular file, or an open binary file, which is read to its end.
        plan: the plan that the runner was given, from its file's exact bytes [PLAN-5].

    Raises:
        InputError: no such file, a folder, a pipe given by its path, or one that cannot be read.
    """
    if not isinstance(events, str):
        return _verified(events, "the event stream", plan)
    with open_given(events) as file:
        if os.fstat(file.fileno()).st_size > limits.NDJSON_BYTES:
            return _refused("limit", _BEYOND, 0)
        return _verified(file, events, plan)


def _verified(file: BinaryIO, name: str, plan: Plan) -> StreamReport:
    reader = StreamReader(plan)
    for block in _blocks(file, name):
        for number, line in reader.feed(block):
            reader.rules.take(number, line)
        if reader.is_beyond:
            break
    return reader.finish()


def _blocks(file: BinaryIO, name: str) -> Iterator[bytes]:
    try:
        while block := file.read(BLOCK):
            yield block
    except (OSError, ValueError) as fault:
        raise InputError(f"{name}: cannot be read: {reason_of(fault)}") from None
    if block is None:
        raise InputError(f"{name}: cannot be read: it would have to be waited for")


class StreamReader:
    """Cuts the bytes of a stream into lines, for the rules to take.

    Attributes:
        rules: takes the lines.
        lines: how many were finished so far.
    """

    def __init__(self, plan: Plan) -> None:
        """Start before the first byte."""
        self.rules = StreamRules(plan)
        self._framing = Framing(growing=True)

    @property
    def lines(self) -> int:
        """How many lines were finished so far."""
        return self._framing.count

    @property
    def is_beyond(self) -> bool:
        """Whether the stream is beyond a limit, whatever follows."""
        return self._framing.is_beyond

    @property
    def is_refused(self) -> bool:
        """Whether the stream is already refused as a whole: no line of it will be given any more."""
        return self._framing.finish() is not None

    def feed(self, block: bytes) -> list[tuple[int, bytes | None]]:
        """Take the next bytes and return the lines that they finish with their numbers; None for one too long."""
        found = self._framing.feed(block)
        return list(enumerate(found, self._framing.count - len(found) + 1))

    def finish(self) -> StreamReport:
        """Return what the stream came to, as one that ends here."""
        fault, lines = self._framing.finish(), self._framing.count
        if fault is None:
            unfinished = self._framing.is_unfinished
            return StreamReport(self.rules.finish(unfinished), self.rules.account, lines, unfinished, is_read=True)
        return _refused(fault.code, _BEYOND if self.is_beyond else str(fault), lines)


def _refused(code: str, detail: str, lines: int) -> StreamReport:
    """Return what a stream comes to that is refused as a whole."""
    return StreamReport((Problem(STREAM, code, detail),), Account(), lines, is_unfinished=False, is_read=False)


class StreamRules:
    """The rules of [STRM-3], fed line by line.

    Attributes:
        problems: those of the lines taken so far, by line, then by code.
        account: what the events say of the job.
    """

    def __init__(self, plan: Plan) -> None:
        """Start before the first line."""
        self.problems: list[Problem] = []
        self.account = Account()
        self._plan = plan
        self._valid = validator("runner-event", "reader")
        self._counts: Counter[str] = Counter()
        self._line = 0
        self._due: int | None = 1
        self._time = ""
        self._deadline: int | None = None

    def take(self, number: int, line: bytes | None) -> Event | None:
        """Judge a finished line, without its LF; None stands for one longer than any that is read.

        Returns its event, None where it is no event that reads.
        """
        self._line = number
        before = len(self.problems)
        event = self._read(line)
        if event is None:
            # The number that should follow is not known [STRM-3].
            self._due = None
            return None
        self._of_every_event(event)
        kind = event["kind"]
        rules = _RULES.get(kind)
        if rules is not None:
            rules(self, event)
        self.account.take(number, event)
        if len(self.problems) > before + 1:
            self.problems[before:] = sorted(self.problems[before:], key=lambda problem: problem.code.encode())
        return event

    def finish(self, is_unfinished: bool = False) -> tuple[Problem, ...]:
        """Return every problem of a stream that ends here; `is_unfinished` if a last line without LF was not read."""
        if self.account.end is not None:
            return tuple(self.problems)
        detail = "no event ends the job"
        if is_unfinished:
            detail += "; the last line has no LF, so that it does not count"
        return (*self.problems, Problem(STREAM, "no-terminal", detail))

    def _report(self, code: str, detail: str, value: object = None) -> None:
        self._counts[code] += 1
        reason = (detail, value) if self._counts[code] <= EXPLAINED else ()
        self.problems.append(Problem(f"event:{self._line}", code, *reason))

    def _read(self, line: bytes | None) -> Event | None:
        if line is None:
            self._report("event-invalid", f"longer than {limits.JSON_BYTES:,} bytes")
            return None
        try:
            event: Event = read_object(line)
        except UnreadableError as fault:
            self._report("event-invalid", str(fault))
            return None
        if self._valid(event):
            return event
        explained = self._counts["event-invalid"] < EXPLAINED
        self._report("event-invalid", *refusal("runner-event", event, details=explained))
        return None

    def _of_every_event(self, event: Event) -> None:
        account, seq, at = self.account, int(event["seq"]), event["at"]
        time = time_key(at)
        if self._due is not None and seq != self._due:
            self._report("seq", f"the number {self._due} is due", seq)
        self._due = seq + 1
        if not account.events:
            if event["kind"] not in (ACCEPTED, REFUSED):
                self._report("first", f"a stream begins with {ACCEPTED} or {REFUSED}", event["kind"])
            if self._plan.timeout is not None:
                self._deadline = instant(at) + self._plan.timeout * _SECOND
        elif event["jobId"] != account.job_id:
            self._report("job-id", f"the stream is of the job {account.job_id}", event["jobId"])
        if time < self._time:
            self._report("time", f"earlier than the event before it, which is of {account.last_at}", at)
        self._time = time
        if self._deadline is not None and instant(at) > self._deadline:
            self._deadline = None
            timeout = self._plan.document["limits"]["timeout"]
            self._report("over-time", f"later than the timeout of {timeout} after {account.started_at}", at)
        if account.end is not None:
            self._report("after-terminal", f"event:{account.end.line} ended the job", event["kind"])

    def _answer(self, event: Event) -> None:
        plan = self._plan
        if event["kind"] == ACCEPTED and self.account.accepted is not None:
            self._report("accepted-twice", f"event:{self.account.accepted.line} accepted it before")
        if event["planId"] != plan.plan_id:
            self._report("plan-id", f"the plan given is {plan.plan_id}", event["planId"])
        if event["planDigest"] != plan.digest:
            self._report("plan-digest", f"the bytes of the plan given hash to {plan.digest}", event["planDigest"])

    def _estimate(self, event: Event) -> None:
        low, high = float(event["usdLow"]), float(event["usdHigh"])
        if low > high:
            self._report("estimate", f"usdLow is above usdHigh {high!r}", low)

    def _spend(self, event: Event) -> None:
        spent, before = float(event["spentUsd"]), self.account.spent
        if before is not None and spent < before:
            self._report("spend-decreased", f"the spend before it was {before!r}", spent)
        if spent > self._plan.max_usd:
            self._report("over-budget", f"the plan allows {self._plan.max_usd!r} USD", spent)

    def _case(self, event: Event) -> None:
        if self._plan.cases is not None and self.account.cases.total() == self._plan.cases:
            self._report("over-cases", f"the plan allows {self._plan.cases:,} cases", event["caseId"])

    def _evidence(self, event: Event) -> None:
        first = self.account.announced.get(event["runId"])
        if first is not None and event["runHash"] != first:
            self._report("run-hash-changed", f"{event['runId']} was announced with {first}", event["runHash"])

    def _end(self, event: Event) -> None:
        announced = self.account.announced
        named = dict.fromkeys(event.get("runs", ()))
        unannounced = next((run for run in named if run not in announced), None)
        if unannounced is not None:
            self._report("unannounced-run", "no event before it announced this run", unannounced)
        # By numbers: to look for each announced run at each of many ends would be quadratic.
        if sum(run in announced for run in named) < len(announced):
            missing = next(run for run in announced if run not in named)
            self._report("unsealed-run", "this run was announced, and the end does not name it", missing)


_RULES: dict[str, Callable[[StreamRules, Event], None]] = {
    "job.accepted": StreamRules._answer,
    "job.refused": StreamRules._answer,
    "plan.estimated": StreamRules._estimate,
    "spend.updated": StreamRules._spend,
    "case.completed": StreamRules._case,
    "evidence.produced": StreamRules._evidence,
    "job.sealed": StreamRules._end,
    "job.failed": StreamRules._end,
}
"""The rules of each kind that has any."""
