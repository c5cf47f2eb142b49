"""Run plans and runner manifests as a reader takes them: [PLAN-1] to [PLAN-6], [VER-3], [VER-4].

A plan or a manifest that its reader schema refuses is refused whole. What is said about it names the place and the
rule, and no value of it: whatever stands in a plan may be a secret by mistake [PLAN-4].
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from aef_verify.encoding.durations import parse_duration
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.given import read_given
from aef_verify.limits import JSON_BYTES
from aef_verify.problems import InputError
from aef_verify.schemas import explain, reads, validator

LIVE = "live"
"""The target mode that a plan without one asks for, and the only one that a manifest without any gives [RUN-7]."""

Document = dict[str, Any]


class PlanRefusedError(InputError):
    """A plan that a reader refuses; `plan_id` is its id where that can be read all the same [PLAN-7], else None."""

    def __init__(self, message: str, plan_id: str | None = None) -> None:
        """Take the reason, which holds no value of the plan."""
        super().__init__(message)
        self.plan_id = plan_id


class Suite(NamedTuple):
    """One suite of a plan; `digest` as cited, None where the content is not frozen."""

    ref: str
    version: str
    digest: str | None
    lane: str | None


class Judge(NamedTuple):
    """One judge of a plan; what is None is left to the runner [STRM-4]."""

    model: str
    provider: str | None
    rubric_digest: str | None


class Credential(NamedTuple):
    """A reference to a credential [PLAN-3]; its `path` stands in no document, event or message."""

    name: str
    scheme: str
    path: str
    purpose: str


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A plan that a reader accepts, identified by its id and its digest [PLAN-5].

    Attributes:
        plan_id: its `planId`.
        digest: the SHA-256 of its bytes in hex.
        subject: reference and exact version of what is evaluated.
        deployment: where that answers, by reference.
        endpoint: where that answers, by URL.
        suites: in the plan's order.
        max_usd: the budget, as binary64.
        cases: how many cases may run, None without that limit.
        timeout: seconds that the job may take, None without that limit.
        content_capture: `off`, `on`, or a value that this version does not know.
        target_mode: as written; `live` where the plan has none.
        isolation: as written.
        zone: the zone of a `remote-zone` plan.
        provider: as written.
        judges: in the plan's order.
        credentials: every reference, in the plan's order.
        runner_selector: the tags that a runner must carry.
        unknown: the path and value of each field of [VER-8] that this version does not know, for which every runner
            refuses the plan [PLAN-7].
        document: the plan as it stands.
    """

    plan_id: str
    digest: str
    subject: tuple[str, str]
    deployment: str | None
    endpoint: str | None
    suites: tuple[Suite, ...]
    max_usd: float
    cases: int | None
    timeout: int | None
    content_capture: str
    target_mode: str
    isolation: str
    zone: str | None
    provider: str
    judges: tuple[Judge, ...]
    credentials: tuple[Credential, ...] = field(repr=False)
    runner_selector: tuple[str, ...]
    unknown: tuple[tuple[str, str], ...] = field(repr=False)
    document: Document = field(repr=False)


class Runner(NamedTuple):
    """A runner's manifest that a reader accepts [PLAN-6]; `target_modes` is `live` alone where it names none."""

    runner_id: str
    providers: tuple[str, ...]
    tags: tuple[str, ...]
    network_zone: str | None
    target_modes: tuple[str, ...]
    document: Document


def load_plan(data: bytes) -> Plan:
    """Return the plan that the bytes of a file hold.

    Raises:
        PlanRefusedError: it does not read [ENC-1], [ENC-17], or its reader schema refuses it; the message says what,
            where and by which rule, and holds no value of the plan.
    """
    try:
        document: Document = read_object(data)
    except UnreadableError as fault:
        raise PlanRefusedError(f"plan refused: {fault}") from None
    if not validator("run-plan", "reader")(document):
        raise PlanRefusedError(f"plan refused: {_plan_fault(document)}", plan_id_of(document))
    get, subject, limits = document.get, document["subject"], document["limits"]
    cases, timeout = limits.get("cases"), limits.get("timeout")
    return Plan(
        plan_id=document["planId"],
        digest=sha256(data).hexdigest(),
        subject=(subject["ref"], subject["version"]),
        deployment=subject.get("deployment"),
        endpoint=subject.get("endpoint"),
        suites=tuple(
            Suite(suite["ref"], suite["version"], suite.get("digest"), suite.get("lane"))
            for suite in document["suites"]
        ),
        max_usd=float(limits["maxUsd"]),
        cases=None if cases is None else int(cases),
        timeout=None if timeout is None else parse_duration(timeout),
        content_capture=document["contentCapture"],
        target_mode=get("targetMode", LIVE),
        isolation=document["isolation"],
        zone=get("zone"),
        provider=document["provider"],
        judges=tuple(
            Judge(judge["model"], judge.get("provider"), judge.get("rubricDigest")) for judge in get("judges", ())
        ),
        credentials=tuple(
            Credential(given["name"], given["scheme"], given["path"], given["purpose"])
            for given in get("credentialRefs", ())
        ),
        runner_selector=tuple(get("runnerSelector", ())),
        unknown=tuple(
            (path, _value_at(document, path)) for path, read in reads("run-plan", document).items() if read == "refused"
        ),
        document=document,
    )


def read_plan(path: str) -> Plan:
    """Return the plan in a file; raises InputError where there is none, and PlanRefusedError as `load_plan`."""
    data = read_given(path, JSON_BYTES)
    try:
        return load_plan(data)
    except PlanRefusedError as refusal:
        raise PlanRefusedError(f"{path}: {refusal}", refusal.plan_id) from None


def plan_id_of(document: object) -> str | None:
    """Return the `planId` that a `job.refused` can carry, of a plan accepted or not; None where there is none."""
    found = document.get("planId") if isinstance(document, dict) else None
    return found if isinstance(found, str) and _ID.fullmatch(found) else None


def load_runner(data: bytes) -> Runner:
    """Return the manifest that the bytes of a file hold.

    Raises:
        InputError: it does not read, or its reader schema refuses it; the message says what and where.
    """
    try:
        document: Document = read_object(data)
    except UnreadableError as fault:
        raise InputError(f"runner manifest refused: {fault}") from None
    if not validator("runner", "reader")(document):
        raise InputError(f"runner manifest refused: {_fault('runner', document, _RUNNER_RULES)}")
    return Runner(
        document["runnerId"],
        tuple(document["providers"]),
        tuple(document["tags"]),
        document.get("networkZone"),
        tuple(document.get("targetModes", (LIVE,))),
        document,
    )


_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
_USER = re.compile(r"://[^/?#]*@")
_REFERENCE = re.compile(r"/credentialRefs(/[0-9]+)?")

_PLAN_RULES = (
    ("/schemaVersion", "[VER-4]"),
    ("/planId", "[PLAN-5]"),
    ("/subject/endpoint", "[PLAN-1] [PLAN-4]"),
    ("/subject", "[PLAN-1]"),
    ("/suites", "[PLAN-1]"),
    ("/judges", "[PLAN-1]"),
    ("/baseline", "[PLAN-1]"),
    ("/comparability", "[PLAN-1]"),
    ("/limits/timeout", "[PLAN-2] [ENC-9]"),
    ("/limits", "[PLAN-2]"),
    ("/contentCapture", "[RUN-11]"),
    ("/targetMode", "[RUN-7]"),
    ("/isolation", "[PLAN-7]"),
    ("/zone", "[PLAN-7]"),
    ("/provider", "[PLAN-7]"),
    ("/runnerSelector", "[PLAN-7]"),
    ("/credentialRefs", "[PLAN-3]"),
    ("", "[VER-3]"),
)
"""The rules behind each part of a plan, the first one that a place begins with."""

_RUNNER_RULES = (("/schemaVersion", "[VER-4]"), ("", "[PLAN-6]"))


def read_runner(path: str) -> Runner:
    """Return the manifest in a file; raises InputError where there is none, or as `load_runner`."""
    data = read_given(path, JSON_BYTES)
    try:
        return load_runner(data)
    except InputError as refusal:
        raise InputError(f"{path}: {refusal}") from None


def _plan_fault(document: Document) -> str:
    """Say what keeps a plan from being accepted: what may be a secret before anything else."""
    for fault in explain("run-plan", "reader", document):
        if _REFERENCE.fullmatch(fault.pointer) and isinstance(fault.value, str):
            return (
                f"{fault.pointer} is a bare text, which may be a secret and is not shown: write a reference with "
                "name, scheme, path and purpose [PLAN-3] [PLAN-4]"
            )
        if fault.pointer == "/subject/endpoint" and (part := _secret_part(fault.value)):
            return (
                f"{fault.pointer} has {part}, which may be a secret and is not shown: write scheme, host and path "
                "only [PLAN-1] [PLAN-4]"
            )
    return _fault("run-plan", document, _PLAN_RULES)


def _secret_part(endpoint: object) -> str | None:
    """Return in words the part of an endpoint in which credentials stand."""
    if not isinstance(endpoint, str):
        return None
    if _USER.search(endpoint):
        return "user information"
    return "a query" if "?" in endpoint else "a fragment" if "#" in endpoint else None


def _fault(schema: str, document: Document, rules: tuple[tuple[str, str], ...]) -> str:
    for fault in explain(schema, "reader", document):
        rule = next(rule for place, rule in rules if fault.pointer.startswith(place))
        return f"{fault.pointer or 'the document'} {fault.message} {rule}"
    return "its reader schema refuses it [VER-3]"


def _value_at(document: Document, path: str) -> str:
    """Return the text at a path of [VER-8], which has no member name with a dot in it."""
    value: Any = document
    for step in re.findall(r"[^.\[\]]+", path):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return str(value)
