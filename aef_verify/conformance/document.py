"""CONFORMANCE.md: the claim of [CONF-4], written from a run in which every vector of a corpus passed.

Nothing in it depends on when or where it was written, so that a later run can compare it byte by byte. Without every
vector passed there is no document: a claim with exceptions is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from aef_verify.conformance.report import Report, by_class, by_kind
from aef_verify.conformance.runner import PASSED

_COMMON = "36d2eb2eb743212192a4751f00221e14e2ad9d28"
_EARLIER = "79108418e70259c5ec99b4a0ae00733b1e7b94d2"
SOURCES = (
    ("01-introduction.md", "7bd5bf4fc794af4bb4a3789c2c1220a899d24daa", "terms, classes and conventions"),
    ("02-encoding.md", _EARLIER, "ENC"),
    ("03-run.md", _COMMON, "RUN, RES, SUM, EVD, GATE"),
    ("04-integrity.md", _EARLIER, "SEAL, OVL, SIG"),
    ("05-checkpoints.md", _COMMON, "CKP, LANE, DEC"),
    ("06-runners.md", _COMMON, "PLAN, STRM"),
    ("07-versioning.md", _COMMON, "VER"),
    ("08-security.md", "9156596c6e85dffaf3776f9b295a7572be56346d", "SEC"),
    ("09-conformance.md", _COMMON, "CONF"),
)
"""The chapters that this implementation was written from, each with its commit and what it has."""

READINGS = "docs/READINGS.md"

_READING = re.compile(r"^### ", re.MULTILINE)


class IncompleteError(Exception):
    """Not every vector of the corpus passed, so there is nothing to claim in full; the message says how many did."""


def claim_document(report: Report, readings: str) -> str:
    """Return the text of CONFORMANCE.md.

    Args:
        report: of a run of this implementation.
        readings: the text of docs/READINGS.md.

    Raises:
        IncompleteError: a vector of the corpus was not run, or did not pass.
    """
    every = len(report.corpus.vectors)
    passed = sum(verdict.outcome == PASSED for verdict in report.verdicts)
    if passed < every or report.claim is None:
        raise IncompleteError(f"{passed} of {every} vectors passed; a claim in full needs all of them")
    return "".join(f"{line}\n" for line in _lines(report, len(_READING.findall(readings))))


def _lines(report: Report, readings: int) -> Iterator[str]:
    corpus, named = report.corpus, dict(zip(by_class(report), report.claimed, strict=True))
    yield from (
        "# What aef-verify conforms to",
        "",
        "`aef conformance run CORPUS --document CONFORMANCE.md` writes this page from a run in which every vector",
        "of the conformance corpus passed, and `.ci/run` compares it with every change. Do not edit it.",
        "",
        "| | |",
        "|---|---|",
        f"| Implementation | {report.implementation} |",
        f"| Format | AEF {corpus.aef} |",
        f"| Conformance corpus | `sha256:{corpus.version}` (SHA-256 of its `index.json`) |",
        f"| Vectors | {len(corpus.vectors)}, all passed: none failed, none skipped, none left out |",
        "",
        "## Classes",
        "",
        "Every vector that the corpus lists for a class passed.",
        "",
    )
    yield from _table(
        ("Class", "Vectors"), [(named[name], str(numbers[PASSED])) for name, numbers in by_class(report).items()]
    )
    yield from (
        "",
        "Here is the claim as [CONF-4] asks for it:",
        "",
        f"> {report.claim}",
        "",
        "## Kinds of vectors",
        "",
    )
    yield from _table(
        ("Kind", "Vectors"), [(f"`{kind}`", str(numbers[PASSED])) for kind, numbers in by_kind(report).items()]
    )
    yield from (
        "",
        "The vectors are judged in three ways, and every change must pass all of them: in process, in process with the",
        "parser and the validator in pure Python, and one call of the command line contract (chapter 9) at a time.",
        "",
        "## What it was written from",
        "",
        "- The text of the format, in the repository `AgentEvalHQ/AgentEval`, folder `contracts/aef/1/spec`:",
        "",
    )
    yield from _table(("Chapter", "Commit", "Rules"), [(f"`{file}`", f"`{at}`", has) for file, at, has in SOURCES])
    yield from (
        "",
        "- How vectors of plans, matching and streams are laid out, which chapter 9 leaves to the header of",
        "  `tools/aef_stream.py` there: these facts alone.",
        "- What the published schemas say of each member of a document: its name, its type and its limits. The schemas",
        "  here were written anew from that.",
        "- The conformance corpus named above. It is not part of this repository.",
        f"- {readings} readings of points that the text leaves open, each with its reason and the vector that settles",
        f"  it, if one does: [{READINGS}]({READINGS}).",
        "",
        "No code of another implementation was read.",
    )


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def first_difference(written: str, due: str) -> str:
    """Say where two texts differ first, in one line; nothing where they are equal."""
    if written == due:
        return ""
    ours, theirs = due.split("\n"), written.split("\n")
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False), 1):
        if one != other:
            return f"line {number} is {other!r}, and {one!r} is due"
    return f"it has {len(theirs) - 1} lines, and {len(ours) - 1} are due"
