"""Parts of a checkpoint in words: rules, ages, reasons of a decision, who accepted what.

Whatever comes from the manifest is escaped and cut. Rules kept: a rule that this version does not know is said to be
one [VER-8], times are compared exactly [ENC-8], a claim is shown as a claim [CKP-6].
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from aef_verify.codes import CODES, DECISION
from aef_verify.encoding.durations import parse_duration
from aef_verify.encoding.times import instant
from aef_verify.report.escape import cut, escaped, value_text
from aef_verify.report.verdict import counted
from aef_verify.report.words import SHORT

Document = dict[str, Any]

_SECOND = 10**9

HASH = 12
"""Digits shown of a run hash; `--json` has all of them."""

_OPERATORS = {">=": "≥", ">": ">", "<=": "≤", "<": "<"}
_SEVERITIES = ("none", "low", "medium", "high")
_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def rule_words(rule: Document) -> str:
    """Return what a lane must show, in one sentence without its full stop (05 §5.3)."""
    kinds = {
        "threshold": _threshold,
        "severity": _severity,
        "evidence-present": _evidence_present,
        "comparison": _comparison,
    }
    words = kinds.get(rule["kind"])
    if words is None:
        return f"a rule of the kind {cut(rule['kind'], SHORT)}, which this version does not know"
    return words(rule) + _suite(rule.get("suite"))


def _threshold(rule: Document) -> str:
    operator = _OPERATORS.get(rule["op"])
    if operator is None:
        operator = f"{cut(rule['op'], SHORT)} (an operator that this version does not know)"
    return f"{_figure(rule)} {operator} {value_text(rule['value'], SHORT)}{_at_least(rule.get('minimumN'), 'case')}"


def _severity(rule: Document) -> str:
    worst = f"no failure worse than {cut(rule['max'], SHORT)}"
    if rule["max"] not in _SEVERITIES:
        worst += " (a severity that this version does not know)"
    lane, path = rule.get("lane"), rule.get("path")
    where = f" in lane {_quoted(lane)}" if lane else ""
    where += f" at or below {_quoted(path)}" if path else ""
    return worst + where + _at_least(rule.get("minimumN") or 1, "decided result")


def _evidence_present(rule: Document) -> str:
    return f"at least {_counted(rule['runs'], 'run')} that count{'s' if rule['runs'] == 1 else ''} as evidence"


def _comparison(rule: Document) -> str:
    baseline = rule["baseline"]
    axes = ", ".join(cut(axis, SHORT) for axis in rule["axes"])
    return (
        f"{_figure(rule)} is not significantly worse than in run {cut(baseline['runId'], SHORT)} "
        f"({baseline['runHash'][:HASH]}): sign test at {value_text(rule['significance'], SHORT)}"
        f"{_at_least(rule['minimumPairs'], 'pair')} that differ" + (f", both alike in {axes}" if axes else "")
    )


def _figure(rule: Document) -> str:
    return f"{_quoted(rule['metric'])} at {_quoted(rule['path'])} in lane {_quoted(rule['lane'])}"


def _quoted(text: str) -> str:
    return f"`{cut(text, SHORT)}`"


def _at_least(number: Any, what: str) -> str:
    return f", at least {_counted(number, what)}" if number else ""


def _counted(number: Any, what: str) -> str:
    return counted(int(number), what)


def _suite(suite: Document | None) -> str:
    if not suite:
        return ""
    version = f" {cut(suite['version'], SHORT)}" if suite.get("version") else ""
    digest = f" with the content {escaped(suite['digest'])}" if suite.get("digest") else ""
    return f", on {cut(suite['ref'], SHORT)}{version}{digest}"


def span_words(seconds: int) -> str:
    """Return a span of time in its two largest units, rounded down: `14 days`, `2 minutes 5 seconds`."""
    for place, (name, size) in enumerate(_UNITS):
        number, rest = divmod(seconds, size)
        if number:
            words = counted(number, name)
            if rest and place + 1 < len(_UNITS):
                smaller, next_size = _UNITS[place + 1]
                words += f" {counted(rest // next_size, smaller)}" if rest >= next_size else ""
            return words
    return "less than a second"


def seconds_between(earlier: str, later: str) -> int:
    """Return the whole seconds from one valid time to another, rounded down; negative where it is the other way."""
    return (instant(later) - instant(earlier)) // _SECOND


def age_words(closed_at: str, freshness: str | None, at: str) -> str:
    """Return how old evidence is at a time, beside how old the lane lets it be [CKP-3], [DEC-2]."""
    age = seconds_between(closed_at, at)
    words = f"closed {span_words(age)} ago" if age >= 0 else f"closed {span_words(-age)} after this time"
    if freshness is None:
        return f"{words}, may be of any age"
    seconds = parse_duration(freshness)
    until = _after(closed_at, seconds)
    return f"{words}, fresh for {span_words(seconds)}" + (f", until {until}" if until else "")


def _after(time: str, seconds: int) -> str:
    """Return the time so many seconds later, its fraction kept; empty where the calendar ends before."""
    try:
        later = datetime.fromisoformat(time[:19]) + timedelta(seconds=seconds)
    except OverflowError:
        return ""
    return later.isoformat() + time[19:]


def identity_words(by: Document, signed_by: Collection[str]) -> str:
    """Return an identity with no more assurance than was verified: it signed the checkpoint, or claims [CKP-6]."""
    if by["identity"] in signed_by:
        return f"{cut(by['identity'], SHORT)} (who signed this checkpoint)"
    claimed = by["assurance"]
    return f"{cut(by['identity'], SHORT)} " + (
        "(a claim)" if claimed == "self-attested" else f"({cut(claimed, SHORT)} is claimed, not verified)"
    )


def exception_words(exception: Document, at: str, signed_by: Collection[str]) -> str:
    """Return who accepts a failure, until when and why, and whether that holds at a time [DEC-2], [CKP-6].

    Args:
        exception: as a decision input has it.
        at: the time of reading.
        signed_by: for whom the checkpoint's signature verified.
    """
    words = f"accepted by {identity_words(exception['by'], signed_by)}"
    if exception.get("requirement"):
        words += f" for {cut(exception['requirement'], SHORT)}"
    granted, expires = exception["at"], exception["expires"]
    words += f" from {escaped(granted)} until {escaped(expires)}{_holding(granted, expires, at)}"
    return f"{words}: {cut(exception['reason'])}"


def _holding(granted: str, expires: str, at: str) -> str:
    if instant(at) < instant(granted):
        return " (not yet in force)"
    return " (in force)" if instant(at) < instant(expires) else " (expired)"


def reason_words(reason: str) -> tuple[str, str]:
    """Return a reason of a decision and what it means [DEC-4]; the meaning is empty for one nobody knows."""
    word, _, name = reason.partition(":")
    code = CODES.get((DECISION, name if word == "outcome" else word))
    return cut(reason), "" if code is None else code.meaning
