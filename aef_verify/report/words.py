"""The words that reports share: outcomes as [SIG-7] and [OVL-10] want them, target modes as [RUN-7] and [VER-8] do."""

from __future__ import annotations

from aef_verify.report.escape import cut, escaped
from aef_verify.report.model import NOT_VERIFIED, Reading, RunEntry
from aef_verify.run.members import Named

SHORT = 80
"""Characters shown of a name."""

CLAIM = "*"
"""Marks a value that a converter supplied [RUN-15]."""

OUTCOME_STYLES = {
    "intact": "green",
    "unsealed": "yellow",
    "invalid": "bold red",
    "unreadable": "bold magenta",
    NOT_VERIFIED: "bold magenta",
}
"""How an outcome stands out."""

_OUTCOMES = {NOT_VERIFIED: "not verified"}


def outcome_words(run: RunEntry, *, with_signers: bool) -> str:
    """Return the outcome of a run: `intact` never without who signed or that nobody did, nor without what is withheld.

    `with_signers` names the signers, too; without it they are expected to stand beside. What was not found by this
    pass is marked.
    """
    return _outcome(run, with_signers=with_signers) + ", cached" * run.cached


def _outcome(run: RunEntry, *, with_signers: bool) -> str:
    if run.outcome != "intact":
        return _OUTCOMES.get(run.outcome, run.outcome)
    words = "intact"
    if run.withheld:
        words += f", {run.withheld:,} withheld"
    if run.anchored:
        words += ", anchored"
    if not run.signed_by:
        words += " (unsigned)"
    elif with_signers:
        words += f", signed by {signers(run)}"
    return words


def signers(run: RunEntry) -> str:
    """Return the identities that signed a run, in policy order."""
    return ", ".join(cut(identity, SHORT) for identity in run.signed_by or ())


def reading_words(reading: Reading) -> str:
    """Return a value as a reader reads it, with what is written where that is not known [VER-8]."""
    if reading.read is None:
        return "unknown"
    if reading.read == reading.written:
        return escaped(reading.read)
    return f"{escaped(reading.read)} (written {cut(reading.written or '', SHORT)})"


def named_words(named: Named) -> str:
    """Return a reference and its version, or a dash."""
    if named.ref is None and named.version is None:
        return "–"
    ref = cut(named.ref, SHORT) if named.ref is not None else "?"
    return ref if named.version is None else f"{ref} {cut(named.version, SHORT)}"
