"""The normal arm's gate: the decision, its exit code and the verdict of the accuracy entry (docs/MEMORY_PAIR.md §1).

Pure and exact: counts are integers, the threshold is the decimal number that was written, and nothing is divided.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from aef_verify.problems import InputError

if TYPE_CHECKING:
    from aef_verify.memory.model import ArmResult

Threshold = int | float | str
"""A percentage from 0 to 100, as a number or as it is written; a float is read as its shortest decimal form."""

DEFAULT_THRESHOLD = 50
SHIP, NO_SHIP, INCONCLUSIVE = "ship", "no_ship", "inconclusive"
VERDICTS = {SHIP: "passed", NO_SHIP: "failed", INCONCLUSIVE: "inconclusive"}
"""A decision's outcome to the verdict of the accuracy entry, where anything was measured."""

_WRITTEN = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,400})?", re.ASCII)


def percent(threshold: Threshold) -> Fraction:
    """Return the exact percentage; raises InputError for what is none from 0 to 100."""
    return Fraction(_decimal(threshold))


def written(threshold: Threshold) -> str:
    """Return a threshold as reports and rules spell it: `50`, `66.7`."""
    text = format(_decimal(threshold), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def outcome_of(passed: int, scored: int, planned: int, threshold: Threshold) -> str:
    """Return `ship`, `no_ship` or `inconclusive` for an arm's counts.

    Args:
        passed: the questions that passed.
        scored: the questions that a verdict was reached on.
        planned: the size of the roster, which the threshold is a share of: an unscored question is no pass.
        threshold: percent.
    """
    due = percent(threshold) * planned
    if not scored:
        return INCONCLUSIVE
    if 100 * passed >= due:
        return SHIP
    unscored = planned - scored
    return NO_SHIP if 100 * (passed + unscored) < due else INCONCLUSIVE


def decide(result: ArmResult, threshold: Threshold) -> str:
    """Return the decision of a completed normal arm; see `outcome_of`."""
    return outcome_of(result.passed, result.scored, result.planned, threshold)


def verdict(outcome: str, scored: int) -> str:
    """Return the verdict of the accuracy entry under a decision; `not_measured` where nothing was scored [SUM-6]."""
    return VERDICTS[outcome] if scored else "not_measured"


def exit_code(outcome: str) -> int:
    """Return the exit code of a decision: 0 for `ship`, else 1."""
    return int(outcome != SHIP)


def rule(threshold: Threshold) -> str:
    """Return the rule behind the verdict, in words for people."""
    return f"100 * passed >= {written(threshold)} * planned"


def _decimal(threshold: Threshold) -> Decimal:
    if isinstance(threshold, str):
        found = Decimal(threshold) if _WRITTEN.fullmatch(threshold) else None
    elif isinstance(threshold, bool) or not 0 <= threshold <= 100:
        found = None
    else:
        found = Decimal(repr(threshold))
    if found is None or found > 100:
        raise InputError(f"{threshold!r} is no percentage from 0 to 100")
    return found or Decimal(0)
