"""A checkpoint as it is shown: what was recorded, what holds at the time of reading, and whether that approves.

An approval counts if the manifest agrees with itself and with its runs, the outcome was recorded as an approval and is
one at the time of reading [CKP-10], and, where a trust policy was given, somebody in it signed these bytes [CKP-9].
What was not checked does not count as checked: without runs nothing is approved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aef_verify.checkpoint.decision import APPROVALS, Decision, RefusedInputError, decide_again
from aef_verify.problems import Problem
from aef_verify.report.escape import cut, escaped
from aef_verify.report.model import Reading
from aef_verify.report.verdict import counted
from aef_verify.report.words import SHORT, reading_words
from aef_verify.schemas import reads

if TYPE_CHECKING:
    from aef_verify.checkpoint.verify import CheckpointReport

Document = dict[str, Any]

UNDECIDED, ABORTED = "undecided", "aborted"


@dataclass(frozen=True, slots=True)
class CheckpointView:
    """A checkpoint report with what stands beside it.

    Attributes:
        report: what the verifier found.
        again: the decision on the recorded input at the time of reading; None where there is none, or where it would
            approve what was not recorded as an approval [CKP-10].
        policy_given: whether signatures could be judged.
        envelope: where the envelope is; None where there is none.
    """

    report: CheckpointReport
    again: Decision | None
    policy_given: bool
    envelope: str | None

    @property
    def path(self) -> str:
        """The manifest's path, `-` where it came from standard input."""
        return self.report.source or "-"

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the manifest, then what differs from the runs."""
        return (*self.report.manifest_problems, *self.report.problems)

    @property
    def recorded(self) -> Reading:
        """The recorded outcome, as written and as read [VER-8]."""
        written = self.report.outcome
        return Reading(written, reads("checkpoint", self.report.document).get("outcome", written))

    @property
    def outcome(self) -> str:
        """The outcome at the time of reading: a word of [DEC-3], `aborted`, `undecided` or `unverifiable`."""
        return self.report.outcome_now or self.recorded.read or UNDECIDED

    @property
    def signed_by(self) -> tuple[str, ...] | None:
        """For whom the signature verifies, in policy order; None without a policy."""
        return self.report.signed_by if self.policy_given else None

    @property
    def holds(self) -> bool:
        """Whether the checkpoint was checked against its runs, and nothing was found wrong."""
        return self.report.checked_runs and not self.problems

    @property
    def approves(self) -> bool:
        """Whether the checkpoint approves at the time of reading, as far as could be checked."""
        return next(self.objections(), None) is None

    @property
    def exit_code(self) -> int:
        """0 where it approves, else 1."""
        return 0 if self.approves else 1

    def objections(self) -> Iterator[str]:
        """Yield why there is no approval, a clause each; nothing where there is one."""
        if number := len(self.problems):
            yield f"{counted(number, 'problem')} found"
        if self.outcome not in APPROVALS or self.report.outcome not in APPROVALS:
            yield f"the outcome is {self._outcome_words()}"
        if not self.report.checked_runs:
            yield "it was not checked against its runs, as --runs was not given"
        if self.policy_given and not self.report.signed_by:
            yield "nobody in the policy signed it"

    def _outcome_words(self) -> str:
        if self.report.outcome_now is not None:
            return f"{self.outcome} at {escaped(self.report.at)}, and was recorded as {reading_words(self.recorded)}"
        return UNDECIDED if self.report.outcome is None else reading_words(self.recorded)

    def verdict(self) -> str:
        """Return what came out, and why the exit code is what it is."""
        if not self.approves:
            return f"Not approved: {'; '.join(self.objections())} (exit {self.exit_code})."
        subject = self.report.document["subject"]
        what = f"{cut(subject['ref'], SHORT)} {cut(subject['version'], SHORT)}"
        with_exceptions = ", with exceptions" if self.outcome != APPROVALS[0] else ""
        if self.signed_by:
            return f"Approved: {what}{with_exceptions}, signed by {self.signers()} (exit 0)."
        return f"Approved: {what}{with_exceptions}; nobody's signature was checked, as --policy was not given (exit 0)."

    def signers(self) -> str:
        """Return for whom the signature verifies, in policy order."""
        return ", ".join(cut(identity, SHORT) for identity in self.report.signed_by)


def view_of(
    report: CheckpointReport, *, policy_given: bool, envelope: str | None, superseded_by: str | None = None
) -> CheckpointView:
    """Return a report as it is shown; the arguments are those that it was made with."""
    return CheckpointView(report, _again(report, superseded_by), policy_given, envelope)


def _again(report: CheckpointReport, superseded_by: str | None) -> Decision | None:
    given = report.document.get("decisionInput")
    if given is None or report.decided is None:
        return None
    try:
        again = decide_again(given, report.at, superseded_by)
    except RefusedInputError:
        return None
    return None if again.outcome in APPROVALS and report.outcome not in APPROVALS else again
