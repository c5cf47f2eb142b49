"""Inputs of the decision function and checkpoint manifests for tests: valid as they come, changed as a test needs."""

from __future__ import annotations

import copy
from typing import Any

from aef_verify.checkpoint.decision import decide

Json = dict[str, Any]

VERSION, NEWER = "4.2.0", "4.3.0"
CLOSED, AT = "2026-10-02T15:00:00Z", "2026-10-05T09:00:00Z"
GRANTED, EXPIRES = "2026-10-03T10:00:00Z", "2026-10-19T00:00:00Z"


def run_hash(name: str) -> str:
    """Make a run hash of a hexadecimal digit or a few."""
    return (name * 64)[:64]


def lane(name: str, status: str | None = "passed", runs: str = "a", **members: Any) -> Json:
    """State a lane with one run hash for each character of `runs`; of status None it has no evidence.

    Members of the result may be given by name; any other member is one of the lane.
    """
    members = {"blocking": True} | members
    if status is None:
        return {"lane": name, "result": None, **members}
    result: Json = {"status": status, "subjectVersion": VERSION, "oldestClosedAt": CLOSED}
    if status == "incomparable":
        result["axes"] = ["judges"]
    for member in ("subjectVersion", "oldestClosedAt", "axes"):
        if member in members:
            result[member] = members.pop(member)
    return {"lane": name, "result": result, "evidence": [run_hash(run) for run in runs], **members}


def exception(name: str, runs: str = "a", **members: Any) -> Json:
    """State an exception in force at `AT` for a lane's evidence."""
    return {
        "lane": name,
        "evidence": [run_hash(run) for run in runs],
        "reason": f"{name} is fixed in the next release",
        "by": {"identity": "oidc:alice", "assurance": "authenticated"},
        "at": GRANTED,
        "expires": EXPIRES,
        **members,
    }


def given(*lanes: Json, **members: Any) -> Json:
    """State an input of these lanes."""
    return {"subjectVersion": VERSION, "evaluatedAt": AT, "lanes": list(lanes), **members}


def manifest(value: Json, recorded: Json | None = None, /, **members: Any) -> Json:
    """State the manifest of a decided checkpoint for an input, with a decision, or else the one the input gives.

    A member of value `...` is left out.
    """
    decision = decide(value).document() if recorded is None else recorded
    lanes = [
        {
            "lane": one["lane"],
            "rule": {"kind": "evidence-present", "runs": 1},
            "runs": [
                {"runId": f"run-{digest[0]}", "runHash": digest, "origin": "launched"}
                for digest in one.get("evidence", ())
            ],
            **{member: one[member] for member in ("blocking", "freshness") if member in one},
        }
        for one in value["lanes"]
    ]
    stated = {
        "schemaVersion": "1.0",
        "checkpointId": "release-42",
        "subject": {"ref": "agent:support", "version": VERSION},
        "lanes": lanes,
        "state": "decided",
        "outcome": decision["outcome"],
        "decision": decision,
        "decisionInput": value,
        **members,
    }
    return {member: part for member, part in copy.deepcopy(stated).items() if part is not ...}
