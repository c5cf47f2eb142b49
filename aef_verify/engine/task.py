"""Verifying one of many runs: what is the same for all, and one answer whatever happens."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from aef_verify.integrity.policy import TrustPolicy
from aef_verify.problems import InputError
from aef_verify.report.model import NOT_VERIFIED, UNREADABLE, Unverified
from aef_verify.run.verify import RunReport, verify_run

Answer = RunReport | Unverified
"""What is said about one run."""


class Task(NamedTuple):
    """What every run is verified against: the caller's trust policy and run hashes, None where not given."""

    policy: TrustPolicy | None
    anchors: frozenset[str] | None

    def answer(self, path: str, watch: Callable[[int], object] | None = None) -> Answer:
        """Verify one run; `watch` is called with the number of bytes of every block read.

        A run that cannot be read and a failure of the verifier itself are answers, too: the other runs still get
        theirs. With AEF_DEBUG=1 such a failure is raised, so that its traceback is seen.
        """
        try:
            return verify_run(path, policy=self.policy, anchors=self.anchors, overlays=True, details=True, watch=watch)
        except InputError as fault:
            return Unverified(path, UNREADABLE, str(fault))
        except Exception as failure:
            if os.environ.get("AEF_DEBUG") == "1":
                raise
            return Unverified(path, NOT_VERIFIED, f"{type(failure).__name__}: {failure}")
