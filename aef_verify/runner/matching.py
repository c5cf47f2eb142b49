"""Whether a runner takes a plan, as far as its manifest tells [PLAN-7].

In the rule's order: what this version does not know is not taken, whatever the manifest lists; then tags, provider,
target mode and zone. Suites, credentials and limits are only known where the job is run.
"""

from __future__ import annotations

from collections.abc import Iterator

from aef_verify.runner.plan import LIVE, Plan, Runner

_SHOWN = 64
"""Characters of a plan's value that a reason shows."""


def takes(plan: Plan, runner: Runner) -> bool:
    """Whether the runner takes the plan as far as its manifest tells."""
    return not reasons(plan, runner)


def reasons(plan: Plan, runner: Runner) -> tuple[str, ...]:
    """Return why the runner does not take the plan, a line each for people, which names no credential's path."""
    return tuple(_reasons(plan, runner))


def _reasons(plan: Plan, runner: Runner) -> Iterator[str]:
    for path, value in plan.unknown:
        # Of a credential nothing is shown, not even a value that should be harmless [PLAN-3].
        shown = "" if path.startswith("credentialRefs") else f" {_cut(value)}"
        yield f"the plan's {path}{shown} is not known to this version, which takes no plan that it does not understand"
    carried = frozenset(runner.tags)
    for tag in dict.fromkeys(plan.runner_selector):
        if tag not in carried:
            yield f"the runner does not carry the tag {tag}"
    if plan.provider not in runner.providers:
        yield f"the runner does not support the provider {_cut(plan.provider)}"
    if plan.target_mode not in runner.target_modes:
        asked = "" if "targetMode" in plan.document else ", which a plan without a target mode asks for"
        given = "" if "targetModes" in runner.document else f"; a manifest without target modes gives {LIVE} alone"
        yield f"the runner does not give the target mode {_cut(plan.target_mode)}{asked}{given}"
    if plan.isolation == "remote-zone" and runner.network_zone != plan.zone:
        where = "in no zone" if runner.network_zone is None else f"in the zone {runner.network_zone}"
        yield f"the plan asks for the zone {plan.zone}, and the runner is {where}"


def _cut(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
