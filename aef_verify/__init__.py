"""Independent verification of AI-agent evaluation evidence in the AEF 1.0 format.

Everything public stands here, and is loaded when it is first used. Functions take a path or bytes and return frozen
values; none prints, exits, or trusts anything that was not given to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aef_verify.checkpoint.decision import Decision, decide
    from aef_verify.checkpoint.record import decide_checkpoint
    from aef_verify.checkpoint.refusals import RefusedInputError
    from aef_verify.checkpoint.verify import CheckpointReport, verify_checkpoint
    from aef_verify.engine.evidence import Progress, verify_evidence
    from aef_verify.integrity.check import verify_seal
    from aef_verify.integrity.dsse import EnvelopeReport, verify_envelope
    from aef_verify.integrity.policy import PolicyError, TrustPolicy, load_policy, read_policy
    from aef_verify.integrity.seal import SealReport
    from aef_verify.integrity.view import effective_view, verify_chain
    from aef_verify.memory.compare import SuiteComparison, compare_suites
    from aef_verify.memory.pair import PairReport, verify_pair
    from aef_verify.problems import InputError, Problem
    from aef_verify.report.model import EvidenceReport, RunEntry
    from aef_verify.run.reader import ReadError, Run, open_run
    from aef_verify.run.results import result_id
    from aef_verify.run.verify import Overlays, RunReport, verify_run
    from aef_verify.runner.conform import ConformanceReport, verify_plan_conformance
    from aef_verify.runner.job import JobResult, run_job
    from aef_verify.runner.plan import Plan, PlanRefusedError, load_plan, read_plan
    from aef_verify.runner.stream import StreamReport, verify_stream
    from aef_verify.writing.producer import Case, Check, write_run
    from aef_verify.writing.run import Written
    from aef_verify.writing.seal import seal_run
    from aef_verify.writing.sign import sign_file
    from aef_verify.writing.summarize import read_request, summarize_run

__all__ = [
    "Case",
    "Check",
    "CheckpointReport",
    "ConformanceReport",
    "Decision",
    "EnvelopeReport",
    "EvidenceReport",
    "InputError",
    "JobResult",
    "Overlays",
    "PairReport",
    "Plan",
    "PlanRefusedError",
    "PolicyError",
    "Problem",
    "Progress",
    "ReadError",
    "RefusedInputError",
    "Run",
    "RunEntry",
    "RunReport",
    "SealReport",
    "StreamReport",
    "SuiteComparison",
    "TrustPolicy",
    "Written",
    "compare_suites",
    "decide",
    "decide_checkpoint",
    "effective_view",
    "load_plan",
    "load_policy",
    "open_run",
    "read_plan",
    "read_policy",
    "read_request",
    "result_id",
    "run_job",
    "seal_run",
    "sign_file",
    "summarize_run",
    "verify_chain",
    "verify_checkpoint",
    "verify_envelope",
    "verify_evidence",
    "verify_pair",
    "verify_plan_conformance",
    "verify_run",
    "verify_seal",
    "verify_stream",
    "write_run",
]

_HOMES = {
    "checkpoint.decision": ("Decision", "decide"),
    "checkpoint.record": ("decide_checkpoint",),
    "checkpoint.refusals": ("RefusedInputError",),
    "checkpoint.verify": ("CheckpointReport", "verify_checkpoint"),
    "engine.evidence": ("Progress", "verify_evidence"),
    "integrity.check": ("verify_seal",),
    "integrity.dsse": ("EnvelopeReport", "verify_envelope"),
    "integrity.policy": ("PolicyError", "TrustPolicy", "load_policy", "read_policy"),
    "integrity.seal": ("SealReport",),
    "integrity.view": ("effective_view", "verify_chain"),
    "memory.compare": ("SuiteComparison", "compare_suites"),
    "memory.pair": ("PairReport", "verify_pair"),
    "problems": ("InputError", "Problem"),
    "report.model": ("EvidenceReport", "RunEntry"),
    "run.reader": ("ReadError", "Run", "open_run"),
    "run.results": ("result_id",),
    "run.verify": ("Overlays", "RunReport", "verify_run"),
    "runner.conform": ("ConformanceReport", "verify_plan_conformance"),
    "runner.job": ("JobResult", "run_job"),
    "runner.plan": ("Plan", "PlanRefusedError", "load_plan", "read_plan"),
    "runner.stream": ("StreamReport", "verify_stream"),
    "writing.producer": ("Case", "Check", "write_run"),
    "writing.run": ("Written",),
    "writing.seal": ("seal_run",),
    "writing.sign": ("sign_file",),
    "writing.summarize": ("read_request", "summarize_run"),
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            found: object = getattr(import_module(f"{__name__}.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
