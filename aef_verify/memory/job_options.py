"""What a benchmark that is planned, or run as a job, is asked for beyond the benchmark itself; contradictions refused.

A plan states its own limits, and a job keeps those of its plan; both run the normal arm alone, and write no evidence
but the job's.
"""

from __future__ import annotations

import json
import platform
from math import isfinite
from typing import NamedTuple

from aef_verify.memory.bench import Settings
from aef_verify.memory.options import Asked
from aef_verify.memory.plan import LOCAL, Bounds
from aef_verify.problems import InputError
from aef_verify.product import NAME
from aef_verify.runner.plan import Runner, load_runner

QUESTION_TIMEOUT = 300.0
"""Seconds after which a question is given up where nothing else is asked for."""

_SYSTEMS = {"Darwin": "macos", "Windows": "windows"}
_NEED_EITHER = ("usd_per_call", "question_timeout", "target_mode")
_NEED_PLAN = ("max_usd", "job_timeout")
_NEED_JOB = ("runner", "out")
_EVIDENCE = ("paired", "aef", "aef_unsealed", "aef_key", "no_aef")
_SPELLED = {"paired": "--paired-oracle"}


class JobAsked(NamedTuple):
    """What the user asked for, as given; None where not given.

    Attributes:
        print_plan: whether the plan is printed.
        job: the file of the plan to run.
        runner: the file of the manifest that is acted as.
        out: the folder that the job writes into.
        usd_per_call: the most that one attempt of a call costs, in USD.
        question_timeout: the seconds after which a question is given up.
        target_mode: the target mode, where it is not told by who answers.
        max_usd: the plan's budget in USD.
        job_timeout: the plan's timeout, a duration.
    """

    print_plan: bool = False
    job: str | None = None
    runner: str | None = None
    out: str | None = None
    usd_per_call: float | None = None
    question_timeout: float | None = None
    target_mode: str | None = None
    max_usd: float | None = None
    job_timeout: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether anything else than an ordinary benchmark is asked for."""
        return self.print_plan or self.job is not None


def check_job_options(asked: Asked, job: JobAsked) -> None:
    """Refuse options that contradict each other, in words that say what to change."""
    if job.print_plan and job.job is not None:
        raise InputError("--print-plan prints a plan, and --job runs one: give one of them")
    for names, have, needed in (
        (_NEED_EITHER, job.wanted, "--print-plan or --job"),
        (_NEED_PLAN, job.print_plan, "--print-plan; a job keeps the limits of its plan"),
        (_NEED_JOB, job.job is not None, "--job"),
    ):
        for name in names:
            if getattr(job, name) is not None and not have:
                raise InputError(f"{_option(name)} goes with {needed}")
    for name in ("usd_per_call", "max_usd"):
        value = getattr(job, name)
        if value is not None and not (isfinite(value) and value >= 0):
            raise InputError(f"{_option(name)}: an amount in USD")
    if job.job is not None and job.out is None:
        raise InputError("--job needs --out, the folder that the job writes into")
    if job.wanted:
        for name in _EVIDENCE:
            if getattr(asked, name):
                raise InputError(f"{_option(name)} goes with no plan and no job: the normal arm is run, and sealed")


def _option(name: str) -> str:
    return _SPELLED.get(name) or f"--{name.replace('_', '-')}"


def bounds_of(settings: Settings, job: JobAsked) -> Bounds:
    """Return what a question can need; the bundled provider costs nothing."""
    price = 0.0 if settings.scripted and job.usd_per_call is None else job.usd_per_call
    return Bounds(price, QUESTION_TIMEOUT if job.question_timeout is None else job.question_timeout)


def own_runner(version: str, mode: str) -> Runner:
    """Return the manifest of this program on this machine, which gives one target mode."""
    document = {
        "schemaVersion": "1.0",
        "runnerId": NAME,
        "version": version,
        "kind": LOCAL,
        "os": _SYSTEMS.get(platform.system(), "linux"),
        "runtime": {"name": "python", "version": platform.python_version()},
        "providers": [LOCAL],
        "tags": [],
        "targetModes": [mode],
    }
    return load_runner(json.dumps(document).encode())
