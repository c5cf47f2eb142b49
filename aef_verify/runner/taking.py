"""Whether a job is taken, found out before `job.accepted`: [PLAN-7], [PLAN-8], [PLAN-3], [PLAN-9].

In this order: what the manifest tells; the target's mode, isolations, deadlines and its own reasons; the suites, each
resolved once, with the digest that the plan gives; the credentials, all of them; an estimate and a stream that the
format can hold [SUM-5], [ENC-17]; and no credential's value or path in what the job would write [PLAN-3], [PLAN-4].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import NamedTuple

from aef_verify import limits
from aef_verify.runner.credentials import Credentials, UnresolvedError, resolve
from aef_verify.runner.matching import reasons
from aef_verify.runner.plan import Plan, Runner
from aef_verify.runner.spend import ExactSum
from aef_verify.runner.target import Case, Suite, Target

NO_REASON = "the plan is not one that this runner takes"
"""What is said where the reason itself cannot be written."""

MOST_REASON = 2048
"""Characters of a reason, of an event or of a run that was aborted."""

_OTHER_EVENTS, _EVENTS_A_SUITE = 3, 2
"""Events of a job besides those of its cases: accepted, estimated and the end; and a suite's spend and evidence."""

_LINE_BYTES = 320
"""More than a line of the stream has on the average, besides the ids of its cases twice over."""


class RefusedError(Exception):
    """The job is refused, and why; the reason holds neither a credential's value nor its path."""


class Estimate(NamedTuple):
    """What the counted cases cost at least and at most, in USD, each exact and rounded once."""

    cases: int
    usd_low: float
    usd_high: float


class Taken(NamedTuple):
    """What a job needs to run.

    Attributes:
        suites: the plan's, as the target resolved them, in the plan's order.
        credentials: the resolved ones.
        estimate: of the cases that the limits let run.
        each_spend: whether there is room in the stream for the spend after each case; else it is stated once a run.
    """

    suites: Sequence[Suite]
    credentials: Credentials
    estimate: Estimate
    each_spend: bool


def take(plan: Plan, runner: Runner, target: Target, environment: Mapping[str, str]) -> Taken:
    """Take a plan, or refuse it.

    Args:
        plan: what a reader accepts.
        runner: the manifest that is acted as.
        target: what answers.
        environment: the environment variables that credentials come from.

    Raises:
        RefusedError: it is refused.
    """
    secrets = _secrets(plan, environment)
    for reason in (*reasons(plan, runner), *_target_reasons(plan, target)):
        raise RefusedError(_safe(reason, plan, secrets))
    suites = tuple(_resolved(plan, target, secrets))
    try:
        credentials = resolve(plan.credentials, environment)
    except UnresolvedError as fault:
        raise RefusedError(_safe(str(fault), plan, secrets)) from None
    estimate = _estimate(plan, suites)
    each_spend = _has_room(plan, suites)
    if credentials.stand_in(_texts(plan, runner, target, suites)):
        raise RefusedError("what the job would write holds a credential's value, or what one is stored under [PLAN-3]")
    return Taken(suites, credentials, estimate, each_spend)


def _target_reasons(plan: Plan, target: Target) -> Iterator[str]:
    if plan.target_mode != target.target_mode:
        yield f"the plan asks for the target mode {plan.target_mode}, and the target gives {target.target_mode}"
    if plan.isolation not in target.isolations:
        given = ", ".join(sorted(target.isolations))
        yield f"the plan asks for the isolation {plan.isolation}, and the target runs in {given} alone"
    if plan.timeout is not None and not target.keeps_time:
        yield "the plan sets a timeout, and the target keeps no deadline for a case [PLAN-9]"
    if reason := target.refusal(plan):
        yield reason


def _resolved(plan: Plan, target: Target, secrets: frozenset[str]) -> Iterator[Suite]:
    """Yield each suite as the target has it [PLAN-8]."""
    seen: set[tuple[str, str]] = set()
    for number, wanted in enumerate(plan.suites, 1):
        name = wanted.ref, wanted.version
        which = f"suite {number} of the plan ({wanted.ref} {wanted.version})"
        if name in seen:
            raise RefusedError(_safe(f"{which} stands in it twice, and a job runs a suite once", plan, secrets))
        seen.add(name)
        suite = target.suite(*name)
        if suite is None:
            raise RefusedError(_safe(f"{which} is none that the target has", plan, secrets))
        if wanted.digest is not None and wanted.digest != suite.digest:
            raise RefusedError(
                _safe(f"{which} is not frozen as the plan says: its content has another digest", plan, secrets)
            )
        if not suite.cases:
            raise RefusedError(_safe(f"{which} has no case", plan, secrets))
        yield suite


def _counted(plan: Plan, suites: Sequence[Suite]) -> Iterator[Case]:
    """Yield the cases that the plan's `cases` lets run, in order."""
    return islice((case for suite in suites for case in suite.cases), plan.cases)


def _estimate(plan: Plan, suites: Sequence[Suite]) -> Estimate:
    low, high, count = ExactSum(), ExactSum(), 0
    for case in _counted(plan, suites):
        low.add(case.usd_low)
        high.add(case.usd_bound)
        count += 1
    estimate = Estimate(count, low.rounded(), high.rounded())
    if not isfinite(estimate.usd_high):
        raise RefusedError("the sum of the cases' cost bounds is beyond binary64, so that no estimate can state it")
    return estimate


def _has_room(plan: Plan, suites: Sequence[Suite]) -> bool:
    """Whether the stream holds the spend after each case; raises RefusedError where it does not hold the cases."""
    cases = ids = 0
    for case in _counted(plan, suites):
        cases += 1
        ids += 2 * len(case.case_id.encode())
    for each in (2, 1):
        lines = each * cases + _OTHER_EVENTS + _EVENTS_A_SUITE * len(suites)
        if lines <= limits.LINES and ids + lines * _LINE_BYTES <= limits.NDJSON_BYTES:
            return each > 1
    raise RefusedError(f"{cases:,} cases would take the event stream beyond what the format allows [ENC-17]")


def _texts(plan: Plan, runner: Runner, target: Target, suites: Sequence[Suite]) -> Iterator[str]:
    """Yield every text that the job would write and that is not this product's own."""
    yield from (plan.plan_id, *plan.subject, plan.deployment or "", plan.endpoint or "", runner.runner_id)
    yield target.price_table
    for wanted, suite in zip(plan.suites, suites, strict=True):
        yield from (wanted.ref, wanted.version, wanted.lane or "")
        yield from (case.case_id for case in suite.cases)


def _secrets(plan: Plan, environment: Mapping[str, str]) -> frozenset[str]:
    """Return what no reason may hold: the paths of a plan's credentials, and the values of those that are resolved."""
    values = (environment.get(given.path) for given in plan.credentials if given.scheme == "env")
    return frozenset((*(given.path for given in plan.credentials), *filter(None, values)))


def _safe(reason: str, plan: Plan, secrets: frozenset[str]) -> str:
    """Return a reason as an event may hold it: cut, and without anything of a credential [PLAN-3].

    A reason may show a part of a text of the plan, or spell it otherwise: so those texts are looked through as well.
    """
    suites = (text for suite in plan.suites for text in (suite.ref, suite.version))
    modes = (plan.provider, plan.target_mode, plan.isolation, plan.content_capture, plan.zone or "")
    unknown = (value for path, value in plan.unknown if not path.startswith("credentialRefs"))
    # No value of a variable holds a zero byte.
    texts = "\0".join((reason, *suites, *modes, *plan.runner_selector, *unknown))
    if any(secret in texts for secret in secrets):
        return NO_REASON
    return reason if len(reason) <= MOST_REASON else reason[: MOST_REASON - 1] + "…"
