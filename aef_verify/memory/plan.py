"""A benchmark's normal arm as a run plan: what would be run with these options, and within which limits (06 §6.1).

In the plan's order: the subject with its exact version [PLAN-1]; the suite, by the digest of the arm's definition
[PLAN-8]; the judge as the run will name it; the limits [PLAN-2], with the most that the questions can cost where no
budget is given; what is kept [RUN-11]; the target mode [RUN-7]; the keys, by the variables that hold them [PLAN-3].
The same options give the same bytes, and so the same plan [PLAN-5].
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

import rfc8785

from aef_verify.encoding.durations import parse_duration
from aef_verify.memory.bench import Settings, definition_of
from aef_verify.memory.definition import suite_of
from aef_verify.memory.digests import source_inputs_digest
from aef_verify.memory.judge import rubric_digest
from aef_verify.memory.model import NORMAL
from aef_verify.memory.profile import LANE
from aef_verify.memory.question import JUDGE_ASKED
from aef_verify.problems import InputError
from aef_verify.runner.spend import ExactSum
from aef_verify.schemas import accepts
from aef_verify.writing.shape import refused

LIVE, SCRIPTED = "live", "scripted"
TARGET_MODES = (LIVE, SCRIPTED)
"""The target modes that a benchmark can give [RUN-7]."""

PROCESS, LOCAL = "process", "local"
ANSWER_PURPOSE, JUDGE_PURPOSE = "subject", "judge"

FEWEST_CALLS = 2
"""The attempts of a question that is answered and judged at once."""

_ID_CHARACTERS = 24

Document = dict[str, Any]


class Bounds(NamedTuple):
    """What a question can need at most [PLAN-9].

    Attributes:
        usd_per_call: the most that one attempt of a call costs, in USD; None where that is not known.
        question_timeout: the seconds after which a question is given up.
    """

    usd_per_call: float | None
    question_timeout: float

    def usd(self, calls: int) -> float:
        """Return what so many attempts cost at most; nothing where the price is not known."""
        return calls * (self.usd_per_call or 0.0)


def most_calls(settings: Settings) -> int:
    """Return the attempts that a question of a built-in agent can take: one answer, and a judge asked again."""
    # A model that refuses `max_tokens` by that name is asked once more.
    return (1 + JUDGE_ASKED) * (1 + settings.retries + 1)


def target_mode(settings: Settings, wanted: str | None) -> str:
    """Return the mode that a benchmark gives: as the user says, or `scripted` with the bundled provider alone."""
    return wanted or (SCRIPTED if settings.scripted else LIVE)


def judge_of(settings: Settings) -> Document:
    """Return the judge as a plan names it."""
    provider = {} if settings.judge_provider is None else {"provider": settings.judge_provider}
    rubric = rubric_digest(settings.calls.label_rule)
    return {"model": settings.calls.judge.model, **provider, "rubricDigest": rubric}


def normal_definition(settings: Settings) -> Document:
    """Return the definition of the normal arm; raises InputError as `source_inputs_digest`."""
    source = source_inputs_digest(settings.dataset, settings.roster)
    return definition_of(settings, NORMAL, settings.agent, source)


def plan_of(
    settings: Settings, bounds: Bounds, *, mode: str, max_usd: float | None = None, timeout: str | None = None
) -> Document:
    """Return the run plan of a benchmark's normal arm, valid against the writer schema.

    Args:
        settings: the benchmark.
        bounds: what a question can need.
        mode: its target mode.
        max_usd: the budget in USD; None for the most that the questions can cost.
        timeout: how long the job may take, as a duration [ENC-9]; None for no such limit.

    Raises:
        InputError: no exact version, no budget and no price to compute one from, a duration that is none, or anything
            else that no plan can hold.
    """
    ref, version = settings.subject
    if version is None:
        raise InputError("a plan names an exact version: give --subject-version [PLAN-1]")
    plan: Document = {
        "schemaVersion": "1.0",
        "planId": "",
        "subject": {"ref": ref, "version": version},
        "suites": [_suite(settings)],
        "judges": [judge_of(settings)],
        "limits": {
            "maxUsd": _budget(settings, bounds) if max_usd is None else max_usd,
            "cases": len(settings.roster),
            **({} if timeout is None else {"timeout": _duration(timeout)}),
        },
        "contentCapture": "on" if settings.content else "off",
        "targetMode": mode,
        "isolation": PROCESS,
        "provider": LOCAL,
    }
    if references := _references(settings):
        plan["credentialRefs"] = references
    plan["planId"] = f"longmemeval-{sha256(rfc8785.dumps(plan)).hexdigest()[:_ID_CHARACTERS]}"
    if not accepts("run-plan", "writer", plan):
        raise InputError(f"no plan can say this: {refused('run-plan', plan)}")
    return plan


def _suite(settings: Settings) -> Document:
    suite = suite_of(normal_definition(settings))
    return {name: suite[name] for name in ("ref", "version", "digest")} | {"lane": LANE}


def _budget(settings: Settings, bounds: Bounds) -> float:
    if bounds.usd_per_call is None:
        raise InputError("a plan has a budget: give --max-usd, or --usd-per-call to compute it from [PLAN-2]")
    total = ExactSum()
    for _ in settings.roster:
        total.add(bounds.usd(most_calls(settings)))
    return total.rounded()


def _duration(text: str) -> str:
    try:
        parse_duration(text)
    except ValueError as fault:
        raise InputError(f"--job-timeout: {fault}") from None
    return text


def _references(settings: Settings) -> list[Document]:
    """Return a reference for each key: the variable that holds it here, under whose name it is handed over."""
    return [
        {"name": name, "scheme": "env", "path": name, "purpose": purpose}
        for name, purpose in zip(settings.key_names, (ANSWER_PURPOSE, JUDGE_PURPOSE), strict=True)
        if name is not None
    ]
