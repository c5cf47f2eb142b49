"""What a lane's rule found in its runs, in words: the figure behind a result, for whoever has to act on it.

The status itself is `threshold`'s, `severity`'s and `comparison`'s to say [LANE-2], [LANE-3], [LANE-7], [LANE-8]; each
sentence here names the first of the rule's conditions that decides it.
"""

from __future__ import annotations

from typing import Any

from aef_verify.checkpoint.comparison import Differences
from aef_verify.checkpoint.severity import RANKS, Tally
from aef_verify.checkpoint.threshold import OPERATORS, entry_of
from aef_verify.run.summary import RECOMPUTED

Document = dict[str, Any]

_NAMES = {rank: name for name, rank in RANKS.items()}


def threshold_finding(rule: Document, summary: Document) -> str:
    """Say what one run's summary gives for a threshold [LANE-2]."""
    entry = entry_of(rule, summary)
    if entry is None:
        return "its summary has no such entry"
    n = int(entry["n"])
    if not n:
        return "nothing was measured"
    if entry["value"] is None:
        return "its sum is beyond binary64, so that it has no value"
    if rule["op"] not in OPERATORS:
        return f"the operator {rule['op']} is not known"
    due = rule.get("minimumN", 1)
    if n < due:
        return f"{n:,} measured, and at least {int(due):,} are due"
    method = entry["aggregate"]["method"] if "aggregate" in entry else None
    if method is not None and method not in RECOMPUTED:
        return f"its value is the producer's own ({method}), which no lane relies on"
    value = float(entry["value"])
    holds = OPERATORS[rule["op"]](value, float(rule["value"]))
    return f"{value!r} over {n:,} measured, which {'is' if holds else 'is not'} {rule['op']} {rule['value']!r}"


def severity_finding(tally: Tally) -> str:
    """Say what one run's lines come to for a severity rule [LANE-3]."""
    worst = f"the worst failure is of severity {_NAMES[tally.worst]}" if tally.worst >= 0 else "no failure"
    undecided = f", {tally.undecided:,} undecided" if tally.undecided else ""
    return f"{worst}; {tally.decided:,} decided{undecided}"


def comparison_finding(rule: Document, direction: str, pairs: Differences) -> str:
    """Say what the pairs of two runs come to [LANE-7], [LANE-8]."""
    if direction not in ("higher_better", "lower_better"):
        return f"the metric's direction is {direction}, so that nothing can be worse"
    worse, better = (pairs.below, pairs.above) if direction == "higher_better" else (pairs.above, pairs.below)
    found = f"{worse:,} cases are worse and {better:,} better than in the baseline"
    due = int(rule["minimumPairs"])
    return found if worse + better >= due else f"{found}, and at least {due:,} must differ"
