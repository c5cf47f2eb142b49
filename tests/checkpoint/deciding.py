"""Inputs of the decision function and checkpoint manifests for tests: valid as they come, changed as a test needs."""

from __future__ import annotations

from typing import Any

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
