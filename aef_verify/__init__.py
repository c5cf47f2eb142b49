"""Independent verification of AI-agent evaluation evidence in the AEF 1.0 format.

Everything public stands here, and is loaded when it is first used. Functions take a path or bytes and return frozen
values; none prints, exits, or trusts anything that was not given to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from aef_verify.writing.producer import Case, Check, write_run
    from aef_verify.writing.run import Written
    from aef_verify.writing.seal import seal_run
    from aef_verify.writing.sign import sign_file

__all__ = [
    "Case",
    "Check",
    "EnvelopeReport",
    "EvidenceReport",
    "InputError",
    "Overlays",
    "PairReport",
    "PolicyError",
    "Problem",
    "Progress",
    "ReadError",
    "Run",
    "RunEntry",
    "RunReport",
    "SealReport",
    "SuiteComparison",
    "TrustPolicy",
    "Written",
    "compare_suites",
    "effective_view",
    "load_policy",
    "open_run",
    "read_policy",
    "result_id",
    "seal_run",
    "sign_file",
    "verify_chain",
    "verify_envelope",
    "verify_evidence",
    "verify_pair",
    "verify_run",
    "verify_seal",
    "write_run",
]

_HOMES = {
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
    "writing.producer": ("Case", "Check", "write_run"),
    "writing.run": ("Written",),
    "writing.seal": ("seal_run",),
    "writing.sign": ("sign_file",),
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
