"""The scopes of codes: one word may mean different things in different ones."""

from __future__ import annotations

RUN, OVERLAYS, SIGNATURE, OUTCOME, REPORT, PAIR = ("run", "overlays", "signature", "outcome", "report", "pair")
CHECKPOINT, DECISION, STREAM = ("checkpoint", "decision", "stream")
SCOPES = (RUN, OVERLAYS, SIGNATURE, OUTCOME, REPORT, PAIR, CHECKPOINT, DECISION, STREAM)

Row = tuple[str, str, str, str, str]
"""A code as its table has it: scope, word, the rules behind it with spaces between, meaning, advice."""
