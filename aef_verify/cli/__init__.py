"""The `aef` command: click commands without logic, one module each, loaded when they are called."""

from __future__ import annotations

from aef_verify.cli.program import Commands, Program

__all__ = ["main"]

main = Program(
    name="aef",
    help="Verify AI-agent evaluation evidence in the AEF 1.0 format, independently of the tool that wrote it.",
    commands=Commands(
        {
            "verify": "Verify every run at and below the given folders.",
            "show": "Show a run as a reader sees it.",
            "view": "Show what a run's overlays say at a time.",
            "pair": "Check that two runs are the normal and the oracle arm of one memory benchmark.",
            "compare-suites": "Say whether two runs measured the same thing.",
            "checkpoint": "Check a release decision against its runs.",
            "decide": "Decide a checkpoint by its runs.",
            "stream": "Check a runner's event stream, and the runs that it names, against the plan.",
            "job": "Run a plan against a scripted target.",
            "seal": "Seal a closed run.",
            "keygen": "Make a key to sign with, and its entry for a trust policy.",
            "sign": "Sign a file into a DSSE envelope.",
            "bench": "Run a benchmark and write its evidence.",
            "explain": "Explain a problem code or a rule.",
            "conformance": "Judge an implementation of AEF against a conformance corpus.",
            "provider": "Serve scripted answers in place of a model.",
            "contract": "The command-line contract of AEF 1.0 (chapter 9), for conformance runners.",
        }
    ),
)
"""The command line; called without arguments it runs on `sys.argv` and exits."""
