"""Verifying one of many runs: what is the same for all, and one answer whatever happens."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from aef_verify.memory.profile import EXTENSION
from aef_verify.problems import InputError
from aef_verify.report.model import NOT_VERIFIED, UNREADABLE, Unverified
from aef_verify.run.ranges import Ranges, judge_here
from aef_verify.run.verify import RunReport, verify_run

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy
    from aef_verify.memory.pair_arm import Arm
    from aef_verify.report.model import RunEntry


class ArmAnswer(NamedTuple):
    """What is said about a run that is an arm of a pair: the verifier's report, and what the pair needs to know."""

    report: RunReport
    arm: Arm


class EntryAnswer(NamedTuple):
    """What is said about a run, as a report has it, and what a pair needs to know where it is an arm of one."""

    entry: RunEntry
    arm: Arm | None


Answer = RunReport | ArmAnswer | Unverified
"""What is said about one run."""

_NO_FIELDS: dict[str, object] = {}


class Task(NamedTuple):
    """What every run is verified against: the caller's trust policy and run hashes, None where not given."""

    policy: TrustPolicy | None
    anchors: frozenset[str] | None

    def answer(self, path: str, watch: Callable[[int], object] | None = None, ranges: Ranges = judge_here) -> Answer:
        """Verify one run; `watch` is called with the number of bytes of every block read, `ranges` as for `verify_run`.

        A run that cannot be read and a failure of the verifier itself are answers, too: the other runs still get
        theirs. With AEF_DEBUG=1 such a failure is raised, so that its traceback is seen.
        """
        try:
            report = verify_run(
                path,
                policy=self.policy,
                anchors=self.anchors,
                overlays=True,
                details=True,
                watch=watch,
                ranges=ranges,
            )
            return _with_arm(report, watch)
        except InputError as fault:
            return Unverified(path, UNREADABLE, str(fault))
        except Exception as failure:
            if os.environ.get("AEF_DEBUG") == "1":
                raise
            return Unverified(path, NOT_VERIFIED, f"{type(failure).__name__}: {failure}")


def _with_arm(report: RunReport, watch: Callable[[int], object] | None) -> RunReport | ArmAnswer:
    """Add what a pair needs to know where the run is an arm of one; no other run is read again.

    The summary of an invalid run may be one that is not valid, and is then looked at once more.
    """
    if report.summary is None:
        is_arm = report.outcome == "invalid"
    else:
        is_arm = EXTENSION in report.summary.get("ext", _NO_FIELDS)
    if not is_arm:
        return report
    from aef_verify.memory.pair_arm import read_arm

    arm = read_arm(report, watch)
    return report if arm is None else ArmAnswer(report, arm)
