"""The scripted target: a fixture that stands for the subject and answers each case with fixed results (09 §9.2.1).

Rules kept: its shape, member by member, with what a result line asks of ids, states and severities [RES-1], [RES-9];
suites found by reference and version, their digest that of their `content` [PLAN-8]; the target mode `scripted`
[RUN-7], the isolation `process` [PLAN-7]; one root line a case at path `check`, with a reason on a typed absence
[RES-2]; `pass-rate` in the suite's lane, if it has one [SUM-3]; no judges [RUN-9]. It runs on a clock of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple, overload

from aef_verify.encoding.digests import cited
from aef_verify.encoding.ijson import UnreadableError, parse_object
from aef_verify.given import read_given
from aef_verify.problems import InputError
from aef_verify.run.results import result_id
from aef_verify.runner.clock import ScriptedClock
from aef_verify.runner.plan import Plan
from aef_verify.runner.target import STATES, Closing, Opening, Outcome, RunContent
from aef_verify.schemas import validator
from aef_verify.writing.summarize import Entry, Lane, summarize

TARGET_BYTES = 512 << 20
"""A target is a fixture, no document of the format: it may hold a million cases."""

PATH, METRIC = "check", "pass-rate"

ABSENT = {
    "not_measured": "the script has no measurement for this case",
    "not_applicable": "the script does not apply to this case",
    "skipped": "the script skips this case",
    "error": "the script ends this case with an error",
}
"""The typed absences, and the reason that a line states [RES-2]."""

GRADED = frozenset(("failed", "warn"))
"""The states with a severity."""

SEVERITIES = frozenset(("none", "low", "medium", "high", "critical"))

_METRICS = {
    "schemaVersion": "1.0",
    "metrics": [
        {
            "id": METRIC,
            "kind": "rate",
            "direction": "higher_better",
            "scale": {"min": 0, "max": 1},
            "description": "The share of the measured cases that passed.",
        }
    ],
}

Document = dict[str, Any]


class ScriptedCase(NamedTuple):
    """One case: its result, what it costs and takes, and its bounds, in USD and seconds."""

    case_id: str
    state: str
    severity: str | None
    usd: float
    usd_bound: float
    seconds: int
    seconds_bound: int

    @property
    def usd_low(self) -> float:
        """What it costs."""
        return self.usd


class ScriptedSuite(NamedTuple):
    """One suite: its name, the digest of its content, and its cases in the order they run."""

    ref: str
    version: str
    digest: str
    cases: tuple[ScriptedCase, ...]

    def open(self, opening: Opening) -> ScriptedRun:
        """Open a run of it."""
        return ScriptedRun(self.cases, opening)


class ScriptedRun:
    """A run of a suite: nothing but how many cases ran, as the script has the rest."""

    def __init__(self, cases: Sequence[ScriptedCase], opening: Opening) -> None:
        """Start before the first case."""
        self._cases = cases
        self._opening = opening
        self._ran = 0

    def run_case(self, place: int) -> Outcome:
        """Answer a case as the script says."""
        case = self._cases[place]
        self._ran = place + 1
        return Outcome(case.state, case.usd, case.seconds)

    def close(self, closing: Closing) -> RunContent:
        """Return a line for each case that ran, and their pass rate."""
        run_id, lane = self._opening.run_id, self._opening.lane
        lines = _Lines(self._cases, self._ran, run_id, lane)
        lanes = [] if lane is None else [Lane(lane, (Entry(METRIC, PATH),))]
        summary = summarize(run_id, {METRIC: "rate"}, lanes, lines if lanes else ())
        return RunContent(lines, _METRICS, summary)


class _Lines(Sequence[Document]):
    """The result lines of the first cases, each made when it is asked for: a million of them are no burden."""

    def __init__(self, cases: Sequence[ScriptedCase], count: int, run_id: str, lane: str | None) -> None:
        self._cases = cases
        self._count = count
        self._run_id = run_id
        self._lane = {} if lane is None else {"lane": lane}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Document: ...
    @overload
    def __getitem__(self, place: slice) -> list[Document]: ...
    def __getitem__(self, place: int | slice) -> Document | list[Document]:
        places = range(self._count)[place]
        return self._line(places) if isinstance(places, int) else [self._line(one) for one in places]

    def _line(self, place: int) -> Document:
        case = self._cases[place]
        line = {
            "schemaVersion": "1.0",
            "resultId": result_id(self._run_id, case.case_id, PATH, None),
            "caseId": case.case_id,
            "path": PATH,
            "evaluator": {"id": "code:script"},
            "state": case.state,
            **self._lane,
        }
        if case.severity is not None:
            line["severity"] = case.severity
        if case.state in ABSENT:
            line["reason"] = ABSENT[case.state]
        return line


@dataclass(frozen=True, slots=True)
class ScriptedTarget:
    """A target whose every answer is written down.

    Attributes:
        suites: its suites by reference and version.
        close_seconds: what closing and sealing one run takes.
        price_table: the name of the price table that its costs are from.
    """

    suites: Mapping[tuple[str, str], ScriptedSuite]
    close_seconds: int
    price_table: str

    target_mode: ClassVar[str] = "scripted"
    isolations: ClassVar[frozenset[str]] = frozenset(("process",))
    keeps_time: ClassVar[bool] = True

    def refusal(self, plan: Plan) -> str | None:
        """Refuse no plan for a reason of its own."""
        return None

    def clock(self, at: str) -> ScriptedClock:
        """Return the clock of a job; raises InputError where the whole script could leave the years of [ENC-8]."""
        cases = sum(case.seconds_bound for suite in self.suites.values() for case in suite.cases)
        return ScriptedClock(at, self.close_seconds, cases + self.close_seconds * len(self.suites))

    def suite(self, ref: str, version: str) -> ScriptedSuite | None:
        """Return the suite of this reference and version."""
        return self.suites.get((ref, version))


def load_target(data: bytes) -> ScriptedTarget:
    """Read a scripted target.

    Raises:
        InputError: it does not read, or is not of the shape that 09 §9.2.1 gives; the message says where.
    """
    if len(data) > TARGET_BYTES:
        raise InputError(f"the target does not read: more than {TARGET_BYTES:,} bytes")
    try:
        # No document of the format, so no limit of depth: the shape has its own, and so have both parsers.
        document = parse_object(data)
    except UnreadableError as fault:
        raise InputError(f"the target does not read: {fault}") from None
    try:
        return _target(document)
    except _ShapeError as fault:
        raise InputError(f"the target is not of its shape: {fault}") from None


def read_target(path: str) -> ScriptedTarget:
    """Return the scripted target in a file; raises InputError where there is none, or as `load_target`."""
    data = read_given(path, TARGET_BYTES)
    try:
        return load_target(data)
    except InputError as refusal:
        raise InputError(f"{path}: {refusal}") from None


class _ShapeError(Exception):
    """What is wrong with a target, and where."""


def _target(document: Document) -> ScriptedTarget:
    _check_members(document, ("suites", "closeSeconds", "priceTable"))
    table = document["priceTable"]
    if not isinstance(table, str) or not 1 <= len(table) <= 64:
        raise _ShapeError("priceTable is no name of 1 to 64 characters")
    if not isinstance(document["suites"], list):
        raise _ShapeError("suites is no list")
    suites: dict[tuple[str, str], ScriptedSuite] = {}
    for number, given in enumerate(document["suites"]):
        with _at(f"suites[{number}]: "):
            suite = _suite(given)
            if suites.setdefault((suite.ref, suite.version), suite) is not suite:
                raise _ShapeError("its ref and version stand twice")
    return ScriptedTarget(suites, _whole(document, "closeSeconds"), table)


def _suite(given: object) -> ScriptedSuite:
    suite = _check_members(given, ("ref", "version", "content", "cases"))
    if not validator("common#/$defs/ref", "writer")(suite["ref"]):
        raise _ShapeError("ref is no reference")
    if not validator("common#/$defs/exactVersion", "writer")(suite["version"]):
        raise _ShapeError("version is no exact version")
    if not isinstance(suite["content"], str):
        raise _ShapeError("content is no text")
    cases = suite["cases"]
    if not isinstance(cases, list) or not cases:
        raise _ShapeError("cases is no list of one or more cases")
    digest = cited(sha256(suite["content"].encode()).hexdigest())
    return ScriptedSuite(suite["ref"], suite["version"], digest, tuple(_cases(cases)))


def _cases(given: list[object]) -> Iterator[ScriptedCase]:
    # What a result line asks of its `caseId` beyond the length.
    is_text = validator("common#/$defs/text", "writer")
    seen: set[str] = set()
    for number, one in enumerate(given):
        try:
            case = _case(one, is_text)
            if case.case_id in seen:
                raise _ShapeError("caseId stands twice in its suite")
        except _ShapeError as fault:
            raise _ShapeError(f"cases[{number}]: {fault}") from None
        seen.add(case.case_id)
        yield case


_CASE = ("caseId", "state", "usd", "usdBound", "seconds", "secondsBound")


def _case(given: object, is_text: Callable[[object], bool]) -> ScriptedCase:
    state = given.get("state") if isinstance(given, dict) else None
    graded = isinstance(state, str) and state in GRADED
    case = _check_members(given, (*_CASE, "severity") if graded else _CASE)
    name, severity = case["caseId"], case.get("severity")
    if not is_text(name) or not 1 <= len(name) <= 256:
        raise _ShapeError("caseId is no text of 1 to 256 characters without control characters")
    if not isinstance(state, str) or state not in STATES:
        raise _ShapeError("state is none that a case of a closed run has")
    if graded and not (isinstance(severity, str) and severity in SEVERITIES):
        raise _ShapeError("severity is none that a failure has")
    usd, usd_bound = _amount(case, "usd"), _amount(case, "usdBound")
    seconds, seconds_bound = _whole(case, "seconds"), _whole(case, "secondsBound")
    if usd_bound < usd:
        raise _ShapeError("usdBound is below usd")
    if seconds_bound < seconds:
        raise _ShapeError("secondsBound is below seconds")
    return ScriptedCase(name, state, severity, usd, usd_bound, seconds, seconds_bound)


def _check_members(given: object, names: tuple[str, ...]) -> Document:
    """Return an object that has these members and no other."""
    if not isinstance(given, dict):
        raise _ShapeError("no object")
    for name in names:
        if name not in given:
            raise _ShapeError(f"no member {name!r}")
    if len(given) > len(names):
        other = next(name for name in given if name not in names)
        raise _ShapeError(f"a member {other!r}, which none has here")
    return given


def _amount(given: Document, name: str) -> float:
    """Return an amount of USD, in binary64 [ENC-4]."""
    value = given[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise _ShapeError(f"{name} is no amount")
    return float(value)


def _whole(given: Document, name: str) -> int:
    """Return a number of seconds, whole by value [ENC-4]."""
    value = given[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != int(value):
        raise _ShapeError(f"{name} is no number of whole seconds")
    return int(value)


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say where a part is not of its shape."""
    try:
        yield
    except _ShapeError as fault:
        raise _ShapeError(f"{place}{fault}") from None
