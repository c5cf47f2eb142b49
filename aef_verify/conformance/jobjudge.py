"""Judging a job (09 §9.3, "Judging what was written"): its stream, its runs, and that no credential is in them.

Rules kept, in this order: the operation runs in an environment that the judge controls, with a fresh random value for
each variable that the vector sets; it exits 0; the folder holds the stream and the announced runs, and nothing else;
every event is valid against the writer schema; the first and the last event are as expected, on the job's clock;
[STRM-3] and [STRM-4] find nothing; each run is intact, has what the plan and [PLAN-10] give, and the expected cases;
the spend and the estimate are as expected; no byte written or printed holds a credential's value or path [PLAN-3].
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from aef_verify.conformance.case import Case, UnmetError, inside, shown
from aef_verify.conformance.drive import Reply, in_environment
from aef_verify.conformance.index import EXPECTED, CorpusError, blocks
from aef_verify.conformance.judge import FEW, Judge, differences, problem_differences
from aef_verify.conformance.written import snapshot, verified
from aef_verify.encoding.ijson import UnreadableError, parse_object
from aef_verify.encoding.times import is_time, time_key
from aef_verify.layout import EVIDENCE, GATES, METRICS, RESULTS, RUN, SEAL, SUMMARY
from aef_verify.problems import InputError
from aef_verify.runner.clock import ScriptedClock
from aef_verify.runner.header import deployment, subject_kind
from aef_verify.runner.job import EVENTS, RUNS
from aef_verify.runner.plan import Plan, PlanRefusedError, load_plan
from aef_verify.runner.scripted import METRIC, PATH, ScriptedCase, ScriptedTarget, load_target
from aef_verify.runner.spend import ExactSum

_SCHEMAS = {
    RUN: "run",
    METRICS: "metrics",
    SUMMARY: "summary",
    RESULTS: "result",
    EVIDENCE: "evidence",
    GATES: "gate-decision",
    SEAL: "seal",
}

_LINE = ("parentResultId", "path", "caseId", "state", "severity", "lane")

_HOW: dict[str, Callable[[], str | None]] = {
    "set": lambda: secrets.token_hex(16),
    "empty": lambda: "",
    "absent": lambda: None,
}
"""What becomes of a variable that a vector names."""

Document = dict[str, Any]


def judge_job(case: Case) -> list[str]:
    """Judge `job`: what it wrote into a fresh folder, in an environment of the judge's."""
    out = inside(case.scratch, "out")
    words = ("job", case.place("plan"), case.place("runner"), case.place("target"), out, "--at", case.text("at"))
    environment = _environment(case.expected.get("env", {}))
    printed = bytearray()
    driver = in_environment(case.driver, environment)

    def kept(arguments: Sequence[str]) -> Reply:
        reply = driver(arguments)
        printed.extend(reply.printed)
        return reply

    case = replace(case, driver=kept)
    if case.expected.get("refused") is True:
        written = snapshot(out) if not (refusal := case.refusal(*words)) else {}
        return [*refusal, *(f"{path}: written, and nothing was to be" for path in written)]
    got = case.answer(*words)
    data = b"".join(blocks(case.place("plan"), case.text("plan")))
    leaks = _leaks(out, bytes(printed), [value for value in environment.values() if value], data)
    job = _read(case, out, data)
    if stray := list(job.folder()):
        return [*stray, *leaks]
    return [
        *differences("events", len(job.events), got.get("events")),
        *job.ends(),
        *job.verified(),
        *job.runs(),
        *job.figures(),
        *leaks,
    ]


def _environment(asked: object) -> dict[str, str | None]:
    """Return the variables that a vector asks for: a fresh value, the empty text, or None for one to remove."""
    if not isinstance(asked, dict):
        raise CorpusError(f"{EXPECTED}: env is no object")
    if not all(isinstance(how, str) and how in _HOW for how in asked.values()):
        raise CorpusError(f"{EXPECTED}: env has a value that is none of {', '.join(_HOW)}")
    return {name: _HOW[how]() for name, how in asked.items()}


def _read(case: Case, out: str, data: bytes) -> _Job:
    """Read what a job wrote, and what it was given."""
    where = os.path.join(out, EVENTS)
    if not os.path.isfile(where) or os.path.islink(where):
        raise UnmetError(f"{EVENTS}: not written")
    if verified("document", "runner-event", where).get("writer") != "valid":
        raise UnmetError(f"{EVENTS}: an event that is not valid against the writer schema")
    try:
        plan: Plan | PlanRefusedError = load_plan(data)
    except PlanRefusedError as refused:
        plan = refused
    try:
        target = load_target(b"".join(blocks(case.place("target"), case.text("target"))))
    except InputError as fault:
        raise CorpusError(f"{case.text('target')}: {fault}") from None
    events = tuple(_lines(where, EVENTS))
    if not events:
        raise UnmetError(f"{EVENTS}: no event")
    return _Job(case, out, data, plan, target, events)


def _lines(where: str, name: str) -> Iterator[Document]:
    """Yield the objects of an NDJSON file that a verifier found valid."""
    try:
        for line in b"".join(blocks(where, name)).split(b"\n")[:-1]:
            yield parse_object(line)
    except UnreadableError as fault:
        raise UnmetError(f"{name}: does not read: {fault}") from None


class _Expected(NamedTuple):
    """One run as the vector expects it: its suite, its status, and its cases with what the target says of them."""

    suite: Document
    status: str
    cases: list[tuple[list[object], ScriptedCase]]


class _Job(NamedTuple):
    """One job to judge."""

    case: Case
    out: str
    data: bytes
    plan: Plan | PlanRefusedError
    target: ScriptedTarget
    events: tuple[Document, ...]

    def of(self, kind: str) -> list[Document]:
        """Return the events of a kind."""
        return [event for event in self.events if event["kind"] == kind]

    def run_ids(self) -> list[str]:
        """Return the runs that were announced, in order."""
        return [event["runId"] for event in self.of("evidence.produced")]

    def folder(self) -> Iterator[str]:
        """Yield what is in the folder beside the stream and the announced runs, and what is not."""
        found = snapshot(self.out)
        runs = {f"{RUNS}/{run_id}" for run_id in self.run_ids()}
        for path in sorted(found, key=os.fsencode):
            top = "/".join(path.split("/")[:2])
            if path not in (EVENTS, RUNS) and top not in runs:
                yield f"{path}: written, and it belongs to no run that was announced"
        yield from (f"{run}: announced, and not written" for run in sorted(runs) if found.get(run) != "folder")

    def ends(self) -> Iterator[str]:
        """Yield how the first and the last event differ from those expected, on the job's clock."""
        case, first, last = self.case, self.events[0], self.events[-1]
        kind = "job.refused" if case.stated("terminal") == "job.refused" else "job.accepted"
        yield from differences("the first event: kind", kind, first["kind"])
        yield from differences("the first event: at", *_instants(case.text("at"), first["at"]))
        yield from differences("the last event: kind", case.text("terminal"), last["kind"])
        yield from differences("the last event: limit", case.stated("limit"), last.get("limit"))
        yield from differences("the last event: at", *_instants(case.text("endsAt"), last["at"]))

    def verified(self) -> Iterator[str]:
        """Yield what a verifier finds, or how the stream of a plan that it refuses is not the one due."""
        if isinstance(self.plan, PlanRefusedError):
            digest = hashlib.sha256(self.data).hexdigest()
            due = {"kind": "job.refused", "planId": self.plan.plan_id, "planDigest": digest}
            got = [{name: event.get(name) for name in due} for event in self.events]
            yield from differences("the stream of a plan that the reader refuses", [due], got)
            return
        events, plan = os.path.join(self.out, EVENTS), self.case.place("plan")
        yield from problem_differences([], verified("stream", events, plan).get("problems"), "stream")
        yield from problem_differences([], verified("conform", events, plan, self.out).get("problems"), "conform")

    def expected(self) -> list[_Expected]:
        """Return the runs expected, in order."""
        stated = self.case.stated("runs")
        try:
            return [self._expected(run) for run in stated]  # type: ignore[attr-defined]  # as the except says
        except (KeyError, TypeError, ValueError, AttributeError):
            raise CorpusError(f"{EXPECTED}: runs are none that the target could have") from None

    def _expected(self, run: Document) -> _Expected:
        suite = self.target.suites[(run["suite"]["ref"], run["suite"]["version"])]
        known = {case.case_id: case for case in suite.cases}
        return _Expected(run["suite"], run["status"], [([name, state], known[name]) for name, state in run["cases"]])

    def runs(self) -> Iterator[str]:
        """Yield how the runs, and the cases that the events state, differ from those expected."""
        expected, run_ids = self.expected(), self.run_ids()
        yield from differences("how many runs were announced", len(expected), len(run_ids))
        completed = [[event["caseId"], event["state"]] for event in self.of("case.completed")]
        due = [pair for run in expected for pair, _ in run.cases]
        yield from differences("case.completed", due, completed)
        if len(expected) != len(run_ids) or due != completed or isinstance(self.plan, PlanRefusedError):
            return
        yield from self._homes(expected, run_ids)
        clock = ScriptedClock(self.case.text("at"), self.target.close_seconds, 0)
        for run_id, run in zip(run_ids, expected, strict=True):
            for _, case in run.cases:
                clock.case_ran(case.seconds)
            yield from _judge_run(self, self.plan, run_id, run, clock.now())
            clock.run_closed()

    def _homes(self, expected: Sequence[_Expected], run_ids: Sequence[str]) -> Iterator[str]:
        """Yield each case whose event names another run than its own."""
        homes = [run_id for run_id, run in zip(run_ids, expected, strict=True) for _ in run.cases]
        for home, event in zip(homes, self.of("case.completed"), strict=True):
            if event.get("runId", home) != home:
                yield f"event {event['seq']}: runId: expected {shown(home)}, got {shown(event['runId'])}"

    def figures(self) -> Iterator[str]:
        """Yield how the spend and the estimate differ from those expected."""
        spends = self.of("spend.updated")
        yield from differences(
            "the last spend.updated", self.case.stated("spentUsd"), spends[-1]["spentUsd"] if spends else 0
        )
        due = self.case.stated("estimated")
        names = ("cases", "usdLow", "usdHigh")
        got = [{name: event[name] for name in names} for event in self.of("plan.estimated")]
        yield from differences("plan.estimated", [] if due is None else [due], got)


def _judge_run(job: _Job, plan: Plan, run_id: str, due: _Expected, ended: str) -> list[str]:
    """Return how one run differs from the one that the plan, the target and the vector give."""
    where, name = os.path.join(job.out, RUNS, run_id), f"{RUNS}/{run_id}"
    value = verified("run", where)
    lines = differences(f"{name}: outcome", "intact", value.get("outcome"))
    lines += problem_differences([], value.get("problems"), f"{name}: problems")
    lines += _invalid(where, name)
    if lines:
        return lines
    ((run,), (summary,), (metrics,)) = (_document(where, file) for file in (RUN, SUMMARY, METRICS))
    suite = next(one for one in plan.suites if [one.ref, one.version] == [due.suite["ref"], due.suite["version"]])
    accepted = job.of("job.accepted")[0]
    got_place = run.get("deployment") or {}
    place = deployment(plan) or {}
    cost = ExactSum()
    for _, case in due.cases:
        cost.add(case.usd)
    facts: list[tuple[str, object, object]] = [
        ("suite", {**due.suite, "digest": suite.digest}, {"digest": None, **run.get("suite", {})}),
        ("status", due.status, run["status"]),
        ("execution.targetMode", "scripted", run["execution"]["targetMode"]),
        ("judges", [], run.get("judges") or []),
        ("subject.kind", subject_kind(plan.subject[0]), run["subject"]["kind"]),
        ("deployment.ref", place.get("ref"), got_place.get("ref")),
        ("endedAt", *_instants(ended, run["endedAt"])),
        ("cost.totalUsd", cost.rounded(), (summary.get("cost") or {}).get("totalUsd")),
        ("lanes", _lanes(suite.lane), _summary_lanes(summary)),
        ("pass-rate is declared", True, any(metric["id"] == METRIC for metric in metrics["metrics"])),
        ("provenance", _provenance(job, accepted), run.get("provenance")),
    ]
    for what, one, other in facts:
        lines += differences(f"{name}: {what}", one, other)
    written = [{member: line.get(member) for member in _LINE} for line in _lines(os.path.join(where, RESULTS), RESULTS)]
    lines += differences(
        f"{name}: result lines", *map(_by_case, ([_line(case, suite.lane) for _, case in due.cases], written))
    )
    return lines[:FEW]


def _invalid(where: str, name: str) -> list[str]:
    """Name each file of a run that is not valid against its writer schema."""
    return [
        f"{name}/{file}: not valid against the writer schema of {schema}"
        for file, schema in _SCHEMAS.items()
        if os.path.lexists(os.path.join(where, file))
        and verified("document", schema, os.path.join(where, file)).get("writer") != "valid"
    ]


def _document(where: str, file: str) -> tuple[Document]:
    return (parse_object(b"".join(blocks(os.path.join(where, file), file))),)


def _line(case: ScriptedCase, lane: str | None) -> Document:
    return {
        "parentResultId": None,
        "path": PATH,
        "caseId": case.case_id,
        "state": case.state,
        "severity": case.severity,
        "lane": lane,
    }


def _by_case(lines: Sequence[Document]) -> list[Document]:
    """Return lines in an order of their own, as their file has none."""
    return sorted(lines, key=lambda line: str(line["caseId"]))


def _lanes(lane: str | None) -> list[object]:
    return [] if lane is None else [[lane, [[METRIC, PATH]]]]


def _summary_lanes(summary: Document) -> list[object]:
    return [
        [lane["lane"], [[entry["metric"], entry["path"]] for entry in lane["metrics"]]] for lane in summary["lanes"]
    ]


def _provenance(job: _Job, accepted: Document) -> Document:
    return {name: accepted[name] for name in ("planId", "planDigest", "jobId", "runnerId")}


def _instants(one: str, other: str) -> tuple[str, str]:
    """Return two times as the instants that they are [ENC-8]; the expected one may be none."""
    return (time_key(one) if is_time(one) else one, time_key(other))


def _leaks(out: str, printed: bytes, values: Sequence[str], data: bytes) -> Iterator[str]:
    """Yield what was written or printed with a credential's value or path in it; neither is shown."""
    needles = [("a credential's value", value.encode()) for value in values]
    needles += [("a credential reference's path", path.encode()) for path in _paths(data)]
    for what, needle in needles:
        if needle in printed:
            yield f"printed: {what}"
        for path, kind in snapshot(out).items():
            held = needle in os.fsencode(path)
            if not held and kind not in ("folder", "irregular"):
                held = needle in b"".join(blocks(os.path.join(out, *path.split("/")), path))
            if held:
                yield f"{path}: holds {what}"


def _paths(data: bytes) -> Iterator[str]:
    """Yield the paths of a plan's credential references, as far as it reads."""
    try:
        references = parse_object(data).get("credentialRefs")
    except UnreadableError:
        return
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, Mapping) and isinstance(reference.get("path"), str) and reference["path"]:
            yield reference["path"]


JOB: dict[str, Judge] = {"job": judge_job}
"""The judge of jobs; each runs in an environment and with a folder of its own."""
