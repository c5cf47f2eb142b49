"""The rule `threshold` [LANE-2]: one summary entry of each run against a value."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from aef_verify.run.summary import RECOMPUTED

Document = dict[str, Any]

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
"""What a rule's `op` asks of the value."""


def threshold_status(rule: Document, summaries: Iterable[Document]) -> str:
    """Return the status of a lane whose runs are all eligible, from the summary of each."""
    found = {_of_run(rule, summary) for summary in summaries}
    return next(status for status in ("failed", "not_measured", "passed") if status in found)


def _of_run(rule: Document, summary: Document) -> str:
    entry = entry_of(rule, summary)
    holds = OPERATORS.get(rule["op"])
    if entry is None or holds is None or not entry["n"] or entry["value"] is None:
        # An operator that this version does not know reads so, too [VER-8].
        return "not_measured"
    if entry["n"] < rule.get("minimumN", 1):
        return "not_measured"
    if "aggregate" in entry and entry["aggregate"]["method"] not in RECOMPUTED:
        return "not_measured"
    return "passed" if holds(float(entry["value"]), float(rule["value"])) else "failed"


def entry_of(rule: Document, summary: Document) -> Document | None:
    """Return the entry that a rule names; a summary without problems has it once at most [SUM-9]."""
    wanted = rule["metric"], rule["path"]
    for lane in summary["lanes"]:
        if lane["lane"] == rule["lane"]:
            for entry in lane["metrics"]:
                if (entry["metric"], entry["path"]) == wanted:
                    found: Document = entry
                    return found
    return None
