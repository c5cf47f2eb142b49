"""Every code a report may show, by scope: rules, meaning, what to do next (03 §3.9, 04 §4.1, §4.2, §4.4, §4.5, 05).

One word may mean different things in different scopes, so a code is found by scope and word. `run` holds the problems
of a run and its seal, `overlays` those of an overlay chain, `signature` what became of an envelope and its signatures,
`outcome` the verdicts, `report` what only a report over several runs can say, `pair` what is said of the two arms of a
memory benchmark (docs/MEMORY_PAIR.md), with the rules of the format that its own rest on, `checkpoint` the problems of
a checkpoint, `decision` what a decision comes to and why, `stream` the problems of a runner's event stream and of the
runs that it names.
"""

from __future__ import annotations

from typing import NamedTuple

from aef_verify.codes import checkpoint, overlays, pair, report, run, signature, stream
from aef_verify.codes.scopes import (
    CHECKPOINT,
    DECISION,
    OUTCOME,
    OVERLAYS,
    PAIR,
    REPORT,
    RUN,
    SCOPES,
    SIGNATURE,
    STREAM,
)

__all__ = [
    "CHECKPOINT",
    "CODES",
    "DECISION",
    "OUTCOME",
    "OVERLAYS",
    "PAIR",
    "REPORT",
    "RUN",
    "SCOPES",
    "SIGNATURE",
    "STREAM",
    "Code",
    "codes_named",
    "meaning_of",
]


class Code(NamedTuple):
    """One code: its scope and word, the rules behind it, its meaning and the next step, a sentence each."""

    scope: str
    code: str
    rules: tuple[str, ...]
    meaning: str
    advice: str


CODES: dict[tuple[str, str], Code] = {
    (scope, code): Code(scope, code, tuple(rules.split()), meaning, advice)
    for table in (run, overlays, signature, report, pair, checkpoint, stream)
    for scope, code, rules, meaning, advice in table.ROWS
}
"""Every code by (scope, code), in the order in which the format introduces them."""


def meaning_of(scope: str, code: str) -> str:
    """Return what a code means, in one sentence; raises KeyError for one that no table of the format has."""
    return CODES[scope, code].meaning


def codes_named(word: str) -> list[Code]:
    """Return the codes of one word in every scope, letter case ignored."""
    return [code for code in CODES.values() if code.code == word.lower()]
