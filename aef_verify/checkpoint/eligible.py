"""Which runs a lane may rely on [LANE-1], and what version and age they give it [LANE-9].

In the order of [LANE-1]: intact, `completed`, `live`; of the checkpoint's subject in a stated version; of its
deployment; of the rule's suite. What is read of each run are a few members of its `run.json`; a value that this version
does not know counts as [VER-8] reads it, and is noted where the run declares a later minor [CKP-8].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from aef_verify.checkpoint.manifest import is_later
from aef_verify.encoding.times import time_key
from aef_verify.run.members import Named, named_in, object_in, objects_in, text_in
from aef_verify.run.verify import RunReport
from aef_verify.schemas import accepts

Document = dict[str, Any]

COMPLETED, LIVE = "completed", "live"


class RunFacts(NamedTuple):
    """What lanes ask of one run; None for a member that its `run.json` does not have.

    Attributes:
        outcome: `intact`, `unsealed` or `invalid` (04 §4.5).
        fault: why it is not intact, for people; empty where it is.
        later: whether its `run.json` declares a later minor [VER-6].
        unknown_mode: whether its target mode is one that this version does not know.
        suite_digest: the digest of the suite's content.
        judges: the model and the rubric's digest of each judge, in order.
    """

    outcome: str
    fault: str
    later: bool
    status: str | None
    target_mode: str | None
    unknown_mode: bool
    subject: Named
    deployment: str | None
    suite: Named
    suite_digest: str | None
    producer: Named
    judges: tuple[tuple[str | None, str | None], ...]
    ended_at: str | None

    @property
    def intact(self) -> bool:
        """Whether the run verifies against its seal."""
        return self.outcome == "intact"


def facts_of(report: RunReport) -> RunFacts:
    """Return what lanes ask of a verified run, valid or not."""
    run: Document = report.run if report.run is not None else {}
    mode = text_in(object_in(run, "execution"), "targetMode")
    return RunFacts(
        report.outcome,
        _fault(report),
        is_later(run),
        text_in(run, "status"),
        mode,
        mode is not None and not accepts("common#/$defs/targetMode", "writer", mode),
        named_in(run, "subject", "ref"),
        text_in(object_in(run, "deployment"), "ref"),
        named_in(run, "suite", "ref"),
        text_in(object_in(run, "suite"), "digest"),
        named_in(run, "producer", "name"),
        tuple((text_in(judge, "model"), text_in(judge, "rubricDigest")) for judge in objects_in(run, "judges")),
        text_in(run, "endedAt"),
    )


def _fault(report: RunReport) -> str:
    wrong = [problem for problem in report.problems if problem.code != "withheld"]
    if not wrong:
        return "" if report.sealed else "it has no seal"
    more = f", and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
    return f"{wrong[0].code} at {wrong[0].path}{more}"


class Binding(NamedTuple):
    """What evidence has to be about: the checkpoint's subject, and its deployment and the rule's suite where stated."""

    subject: str
    deployment: str | None
    suite: Document | None

    def misses(self, run: RunFacts) -> Iterator[str]:
        """Yield how a run is of something else, in words for people; nothing where it is of this."""
        if run.subject.ref != self.subject:
            yield f"its subject is {run.subject.ref}, not {self.subject}"
        if self.deployment is not None and run.deployment != self.deployment:
            yield f"its deployment is {run.deployment or 'not stated'}, not {self.deployment}"
        if self.suite is not None:
            found = {"ref": run.suite.ref, "version": run.suite.version, "digest": run.suite_digest}
            for member, value in found.items():
                # A rule of an unknown kind may have a suite without a reference, which no run matches.
                if value != self.suite.get(member) and (member in self.suite or member == "ref"):
                    yield f"its suite's {member} is {value or 'not stated'}, not {self.suite.get(member)}"


def binding_of(checkpoint: Document, rule: Document) -> Binding:
    """Return what the runs of a rule have to be about; both documents are as the reader schema accepts them."""
    subject, suite = checkpoint["subject"], rule.get("suite")
    return Binding(subject["ref"], subject.get("deployment"), suite if isinstance(suite, dict) else None)


def ineligible(run: RunFacts, binding: Binding, *, versioned: bool) -> tuple[str, ...]:
    """Return why a run may not be relied on, in words for people; nothing where it may [LANE-1].

    Args:
        run: what its `run.json` says.
        binding: what it has to be about.
        versioned: whether it has to state its subject's version, as any run but a baseline does [LANE-5].
    """
    if not run.intact:
        return (f"it is not intact: {run.fault}",)
    reasons: list[str] = []
    if run.status != COMPLETED:
        reasons.append(f"its status is {run.status}, not {COMPLETED}")
    if run.target_mode != LIVE:
        reasons.append(f"its target mode is {run.target_mode}, not {LIVE}")
    reasons += binding.misses(run)
    if versioned and run.subject.version is None:
        reasons.append("it does not state its subject's version")
    return tuple(reasons)


def counted(runs: Iterable[RunFacts], binding: Binding) -> list[RunFacts]:
    """Return the found runs that give a lane its version and its age, in lane order [LANE-9]."""
    return [run for run in runs if run.intact and next(binding.misses(run), None) is None]


def version_of(runs: Iterable[RunFacts], version: str) -> str:
    """Return the version that a lane's result is for: the checkpoint's, or the first other one [LANE-9]."""
    stated = (run.subject.version for run in runs)
    return next((found for found in stated if found is not None and found != version), version)


def oldest_of(runs: Iterable[RunFacts], otherwise: str) -> str:
    """Return the earliest closing time as it is written, of equal ones the first; `otherwise` without any [LANE-9]."""
    closed = [run.ended_at for run in runs if run.ended_at is not None]
    return min(closed, key=time_key, default=otherwise)
