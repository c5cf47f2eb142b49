"""Whether the runs that a stream names are what its plan asked for: plan conformance [STRM-4].

Order: the runs named by `job.sealed` and `job.failed`, each once; for each the run folder of its id that is intact
under the hash announced first for it, else `run-missing` or `run-hash` and nothing more; each run found against plan
and stream; then all of them together against the plan's limits. Costs are summed exactly and rounded once [SUM-5].
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from aef_verify.encoding.times import time_key
from aef_verify.folder import Folder
from aef_verify.layout import RESULTS
from aef_verify.problems import InputError, Problem, ordered
from aef_verify.run.reading import Documents
from aef_verify.run.store import RunStore, StoredRun
from aef_verify.run.summary import exact_sum
from aef_verify.runner.account import MOST_NAMED, Account
from aef_verify.runner.plan import Judge, Plan
from aef_verify.runner.stream import verify_stream
from aef_verify.schemas.readings import as_read

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

JOB = "job"
"""The place of a problem of all runs together."""

Document = dict[str, Any]


class FoundRun(NamedTuple):
    """A run that the stream names, intact under the hash announced for it; `usd` is None where it states no cost."""

    run_id: str
    run_hash: str
    path: str
    usd: float | None
    signed_by: tuple[str, ...] | None


class ConformanceReport(NamedTuple):
    """What the runs of a job came to.

    Attributes:
        problems: [STRM-4]'s, in §3.9's order.
        named: how many runs the stream names.
        found: the runs found, in the order in which they are named.
        usd: what they cost together; None beyond binary64.
        cases: how many cases they have together, counted to one beyond the limit; None where the plan sets none.
        links: what was passed by below the folder of runs because it is a link.
    """

    problems: tuple[Problem, ...]
    named: int
    found: tuple[FoundRun, ...]
    usd: float | None
    cases: int | None
    links: tuple[str, ...]


def verify_plan_conformance(
    events: str | BinaryIO, plan: Plan, runs: str, *, policy: TrustPolicy | None = None
) -> ConformanceReport:
    """Check the runs that a stream names against its plan.

    Args:
        events: the stream, as `verify_stream` takes it.
        plan: the plan that the runner was given.
        runs: a folder; the job's runs are found below it by their `run.json` [RUN-1].
        policy: whose redactions may withhold blobs [OVL-10].

    Raises:
        InputError: the stream, the folder or a run of it cannot be read, or the stream is refused as a whole, so that
            nothing is known of the runs that it names.
    """
    report = verify_stream(events, plan)
    if not report.is_read:
        (problem,) = report.problems
        raise InputError(
            f"the stream is refused as a whole ({problem.code}: {problem.detail}), so that it names no run to check"
        )
    return plan_conformance(report.account, plan, RunStore(runs, policy))


def plan_conformance(account: Account, plan: Plan, store: RunStore) -> ConformanceReport:
    """Check the runs that a stream names, by what it says of its job; see `verify_plan_conformance`."""
    if not account.named_all:
        raise InputError(
            f"the ends of the stream name more than {MOST_NAMED:,} runs, which no job does; none is checked"
        )
    problems: list[Problem] = []
    found: list[FoundRun] = []
    cases = _Cases(plan.cases)
    for run_id in account.named:
        place = f"run:{run_id}"
        run = _run_of(store, run_id, account.announced.get(run_id))
        if isinstance(run, Problem):
            problems.append(run)
            continue
        report = run.report
        assert report.run is not None
        problems += _run_problems(place, report.run, plan, account)
        usd = _cost(report.summary)
        if usd is None:
            problems.append(Problem(place, "no-cost", "its summary has no cost.totalUsd"))
        cases.count(run, report.run)
        found.append(FoundRun(run_id, report.run_hash, run.path, usd, report.signed_by))
    total = exact_sum(array("d", [run.usd for run in found if run.usd is not None]))
    if total is None or total > plan.max_usd:
        detail = f"the runs cost more together than the {plan.max_usd!r} USD that the plan allows"
        problems.append(Problem(JOB, "over-budget", detail, total))
    if plan.cases is not None and cases.number > plan.cases:
        problems.append(Problem(JOB, "over-cases", f"the plan allows {plan.cases:,} cases, and the runs have more"))
    number = None if plan.cases is None else cases.number
    return ConformanceReport(tuple(ordered(problems)), len(account.named), tuple(found), total, number, store.links)


def _run_of(store: RunStore, run_id: str, run_hash: str | None) -> StoredRun | Problem:
    """Return the run of an id that is intact under the hash announced for it, else what is reported instead."""
    place = f"run:{run_id}"
    runs = store.named(run_id)
    if not runs:
        return Problem(place, "run-missing", f"no run.json below {store.folder} has this runId", run_id)
    if run_hash is None:
        return Problem(place, "run-hash", "the stream names the run and never announced it")
    found = store.find(run_id, run_hash)
    if found is None:
        had = ", ".join(run.run_hash for run in runs[:3])
        return Problem(place, "run-hash", f"the run hash here is {had}, and the one announced is another", run_hash)
    if not found.intact:
        return Problem(place, "run-hash", f"{found.path} has the run hash announced, and is {found.report.outcome}")
    return found


def _cost(summary: Document | None) -> float | None:
    cost = None if summary is None else summary.get("cost")
    return None if cost is None else float(cost["totalUsd"])


class _Cases:
    """Counts distinct cases over runs: a case is its run's suite with its id [PLAN-8]."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._seen: set[tuple[object, object, str]] = set()

    @property
    def number(self) -> int:
        return len(self._seen)

    def count(self, run: StoredRun, header: Document) -> None:
        """Count the cases of a run, as far as the limit is not passed."""
        if self._limit is None or self.number > self._limit:
            return
        suite = header.get("suite", {})
        with Folder(run.path) as folder:
            entry = folder.get(RESULTS)
            documents = Documents(folder, details=False)
            documents.ndjson(RESULTS, None, partial(self._take, suite.get("ref"), suite.get("version"), self._limit))
            # It is read a second time, and must be what was verified.
            if entry is None or documents.digest(entry).sha256 != run.report.digests.get(RESULTS):
                raise InputError(f"{run.path}: {RESULTS} changed while it was read")

    def _take(self, ref: object, version: object, limit: int, number: int, line: Document) -> None:
        if line.get("parentResultId") is None and len(self._seen) <= limit:
            self._seen.add((ref, version, line["caseId"]))


def _run_problems(place: str, written: Document, plan: Plan, account: Account) -> Iterator[Problem]:
    """Yield what is not as the plan and the stream have it in a run that was found."""
    run = as_read("run", written)
    for code, check in _CHECKS:
        fault = check(run, written, plan, account)
        if fault is not None:
            yield Problem(place, code, *fault)


Fault = tuple[str, object] | None


def _subject(run: Document, written: Document, plan: Plan, account: Account) -> Fault:
    subject = run["subject"]
    found = subject["ref"], subject.get("version")
    return None if found == plan.subject else (f"the plan asks for {' '.join(plan.subject)}", _pair(*found))


def _deployment(run: Document, written: Document, plan: Plan, account: Account) -> Fault:
    deployment = run.get("deployment", {})
    for asked, name in ((plan.deployment, "ref"), (plan.endpoint, "endpoint")):
        if asked is not None and deployment.get(name) != asked:
            return f"the plan names {asked}, and deployment.{name} is another or none", deployment.get(name)
    return None


def _suite(run: Document, written: Document, plan: Plan, account: Account) -> Fault:
    suite = run.get("suite", {})
    named = suite.get("ref"), suite.get("version")
    of_that_name = [asked for asked in plan.suites if (asked.ref, asked.version) == named]
    if any(asked.digest in (None, suite.get("digest")) for asked in of_that_name):
        return None
    if of_that_name:
        return f"the plan freezes {_pair(*named)} as {of_that_name[0].digest}", suite.get("digest")
    return "the plan has no suite of this reference and version", _pair(*named)


def _judges(run: Document, written: Document, plan: Plan, account: Account) -> Fault:
    asked = iter(plan.judges)
    for judge in run.get("judges", ()):
        # Each takes the next of the plan's that it is, and what lies between is left out.
        if not any(_is_judge(judge, wanted) for wanted in asked):
            return "this judge is not among the plan's, or more often or earlier than the plan names it", judge["model"]
    return None


def _is_judge(judge: Document, asked: Judge) -> bool:
    return (
        judge["model"] == asked.model
        and asked.provider in (None, judge.get("provider"))
        and asked.rubric_digest in (None, judge.get("rubricDigest"))
    )


def _target_mode(run: Document, written: Document, plan: Plan, account: Account) -> Fault:
    # As written, unlike the capture: two values that nobody knows may still be one [RUN-7].
    found = written["execution"]["targetMode"]
    return None if found == plan.target_mode else (f"the plan asks for {plan.target_mode}", found)


def _content_capture(run: Document, written: Document, plan: Plan, account: Account) -> Fault:
    found = run.get("contentCapture", "on")
    if found == plan.content_capture:
        return None
    return f"the plan asks for {plan.content_capture}, and the run reads as {found}", written.get("contentCapture")


def _provenance(run: Document, written: Document, plan: Plan, account: Account) -> Fault:
    accepted = account.accepted
    if accepted is None:
        return "the stream has no job.accepted that the run could come from", None
    due = {
        "planId": accepted.plan_id,
        "planDigest": accepted.plan_digest,
        "jobId": accepted.job_id,
        "runnerId": accepted.runner_id,
    }
    found = run.get("provenance")
    if found is None:
        return "the run states no provenance", None
    for name, value in due.items():
        if found[name] != value:
            return f"{name} is not {value}, as in event:{accepted.line}", found[name]
    return None


def _time(run: Document, written: Document, plan: Plan, account: Account) -> Fault:
    accepted, end, ended = account.accepted, account.end, run.get("endedAt")
    if accepted is not None and time_key(run["startedAt"]) < time_key(accepted.at):
        return f"startedAt is before the job was accepted at {accepted.at}", run["startedAt"]
    if end is not None and ended is not None and time_key(ended) > time_key(end.at):
        return f"endedAt is after the job's end at {end.at}", ended
    return None


_CHECKS: tuple[tuple[str, Callable[[Document, Document, Plan, Account], Fault]], ...] = (
    ("content-capture", _content_capture),
    ("deployment", _deployment),
    ("judges", _judges),
    ("provenance", _provenance),
    ("subject", _subject),
    ("suite", _suite),
    ("target-mode", _target_mode),
    ("time", _time),
)
"""What each run found must keep, by code: the run as read [VER-8] and as written, the plan, the stream's account."""


def _pair(ref: object, version: object) -> str:
    return f"{ref or 'no reference'} {version or 'without a version'}"
