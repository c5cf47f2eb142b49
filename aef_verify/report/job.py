"""What was found about one job: its stream, and the runs that this names; one model, for people and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aef_verify.report.verdict import counted

if TYPE_CHECKING:
    from aef_verify.runner.conform import ConformanceReport
    from aef_verify.runner.plan import Plan
    from aef_verify.runner.stream import StreamReport


@dataclass(frozen=True, slots=True)
class JobReport:
    """One job, checked.

    Attributes:
        events: the stream, as the caller named it.
        plan: the plan that it was checked against.
        stream: what the stream came to [STRM-3].
        runs: the folder of runs as the caller named it, None where none was given.
        conformance: what the runs came to [STRM-4]; None where they were not checked.
        message: why the runs that were to be checked could not be read; empty where they could.
        gave_up: seconds without an event after which a stream was no longer followed; None where it was not given up.
        policy_given: whether signatures could be judged.
    """

    events: str
    plan: Plan
    stream: StreamReport
    runs: str | None = None
    conformance: ConformanceReport | None = None
    message: str = ""
    gave_up: float | None = None
    policy_given: bool = False

    @property
    def problems(self) -> int:
        """The number of problems, of the stream and of its runs."""
        return len(self.stream.problems) + (len(self.conformance.problems) if self.conformance else 0)

    @property
    def is_sound(self) -> bool:
        """Whether everything that was to be checked was, and no problem found."""
        return not self.problems and not self.message

    @property
    def exit_code(self) -> int:
        """0 sound, 1 a problem, 2 where the runs could not be read."""
        return 2 if self.message else int(self.problems > 0)


def job_verdict(report: JobReport) -> str:
    """Return what came out in one sentence, and why the exit code is what it is."""
    exit_words = f"(exit {report.exit_code})"
    found = report.conformance
    if not report.is_sound:
        faults = []
        if number := len(report.stream.problems):
            faults.append(f"{counted(number, 'problem')} in the stream")
        if found is not None and found.problems:
            faults.append(f"{counted(len(found.problems), 'problem')} in the runs that it names")
        if report.message:
            return f"Not answered in full: {', '.join([*faults, 'the runs could not be checked'])} {exit_words}."
        return f"Not sound: {', '.join(faults)} {exit_words}."
    if not report.stream.account.named:
        return f"Sound: the stream keeps its rules and its plan, and names no run {exit_words}."
    if found is None:
        return f"Sound: the stream keeps its rules and its plan; no run was checked {exit_words}."
    runs = counted(found.named, "run that it names is", "runs that it names are")
    return f"Sound: the stream keeps its rules and its plan, and the {runs} what the plan asked for {exit_words}."
