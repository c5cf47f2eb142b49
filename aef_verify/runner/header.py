"""`run.json` of a job's run: what the plan gives, and what is derived where it says nothing [PLAN-10], [RUN-12].

Two runners given one plan derive the same values: `subject.kind` from the subject's reference, `deployment.ref` from
the endpoint where the plan names no deployment. The suite's digest is the plan's, never one of the runner's own
[PLAN-8].
"""

from __future__ import annotations

import platform
from typing import Any

from aef_verify import product
from aef_verify.encoding.names import reference_name
from aef_verify.runner.plan import Plan, Suite
from aef_verify.runner.target import Target

Document = dict[str, Any]

KINDS = frozenset(("agent", "workflow", "model", "endpoint", "mcp-server", "other"))
"""The values of `subject.kind`."""

OTHER = "other"


def subject_kind(ref: str) -> str:
    """Return the kind of a subject's reference where `run.json` knows it, else `other` [PLAN-10]."""
    kind = ref.partition(":")[0]
    return kind if kind in KINDS else OTHER


def deployment(plan: Plan) -> Document | None:
    """Return a run's deployment; None where the plan names neither one nor an endpoint [PLAN-10]."""
    if plan.deployment is None and plan.endpoint is None:
        return None
    ref = plan.deployment or f"endpoint:{reference_name(plan.endpoint or '')}"
    return {"ref": ref} | ({} if plan.endpoint is None else {"endpoint": plan.endpoint})


def planned_header(plan: Plan, suite: Suite, provenance: Document, target: Target) -> Document:
    """Return the members of `run.json` that are fixed before a run begins, but for its id and times.

    Args:
        plan: the plan.
        suite: the suite in it.
        provenance: the plan's id and digest, the job's and the runner's id [RUN-12].
        target: what answers.
    """
    ref, version = plan.subject
    place = deployment(plan)
    runtime = {"name": "python", "version": platform.python_version()}
    return {
        "producer": {"name": product.NAME, "version": product.version(), "runtime": runtime},
        "subject": {"ref": ref, "kind": subject_kind(ref), "version": version},
        **({} if place is None else {"deployment": place}),
        "suite": {"ref": suite.ref, "version": suite.version}
        | ({} if suite.digest is None else {"digest": suite.digest}),
        "execution": {"targetMode": target.target_mode, "stimulus": "suite"},
        "contentCapture": plan.content_capture,
        "costPolicy": {"maxUsd": plan.max_usd, "priceTable": target.price_table},
        "provenance": provenance,
    }
