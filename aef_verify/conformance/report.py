"""The report of a conformance run: a line per failing vector, tables, the claim ([CONF-4]).

`as_value` is the report as one JSON value, `as_text` the report for people; both are made of the same
verdicts. What a corpus or a program wrote is shown escaped: a report never sends their control characters
to a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from aef_verify.conformance.claim import claim, claimed_classes, counts
from aef_verify.conformance.index import Corpus
from aef_verify.conformance.runner import FAILED, PASSED, SKIPPED, UNSUPPORTED, Verdict
from aef_verify.report.escape import escaped, well_formed

OUTCOMES = (PASSED, FAILED, SKIPPED, UNSUPPORTED)
VERSION = 1
"""The version of the JSON report."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run of vectors found.

    Attributes:
        implementation: name and version of what was tested, as a claim names it.
        classes: the classes that were asked for; none: all.
    """

    corpus: Corpus
    implementation: str
    verdicts: tuple[Verdict, ...]
    classes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no selected vector failed or is of an unsupported kind; skipped ones are told apart."""
        return all(verdict.outcome in (PASSED, SKIPPED) for verdict in self.verdicts)

    @property
    def claimed(self) -> list[str]:
        """The classes that may be claimed."""
        return claimed_classes(self.corpus, self.verdicts, self.classes) if self.passed else []

    @property
    def claim(self) -> str | None:
        """The text of the claim, where there is one."""
        return claim(self.corpus, self.implementation, self.claimed)


def _grouped(verdicts: Sequence[Verdict], names: Callable[[Verdict], Sequence[str]]) -> dict[str, dict[str, int]]:
    """Return name to number of verdicts by outcome, in the order the names first occur."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        for name in names(verdict):
            groups.setdefault(name, []).append(verdict)
    return {name: dict.fromkeys(OUTCOMES, 0) | dict(counts(group)) for name, group in groups.items()}


def by_kind(report: Report) -> dict[str, dict[str, int]]:
    """Return the number of verdicts by outcome for each kind, in the corpus's order."""
    return _grouped(report.verdicts, lambda verdict: (verdict.vector.kind,))


def by_class(report: Report) -> dict[str, dict[str, int]]:
    """Return the number of verdicts by outcome for each class, in the corpus's order."""
    return _grouped(report.verdicts, lambda verdict: verdict.vector.classes)


def as_value(report: Report) -> dict[str, object]:
    """Return the report as one JSON value."""
    return {
        "report": "aef-conformance",
        "version": VERSION,
        "aef": report.corpus.aef,
        "corpus": f"sha256:{report.corpus.version}",
        "implementation": report.implementation,
        "passed": report.passed,
        "counts": dict.fromkeys(OUTCOMES, 0) | dict(counts(report.verdicts)),
        "kinds": by_kind(report),
        "classes": by_class(report),
        "claimed": report.claimed,
        "claim": report.claim,
        "vectors": [
            {
                "id": verdict.vector.id,
                "kind": verdict.vector.kind,
                "rules": list(verdict.vector.rules),
                "outcome": verdict.outcome,
                "differences": [well_formed(line) for line in verdict.lines],
            }
            for verdict in report.verdicts
        ],
    }


def as_text(report: Report, *, verbose: bool = False) -> Iterator[str]:
    """Yield the lines of the report for people; `verbose` also lists what passed."""
    for verdict in report.verdicts:
        if verdict.outcome in (FAILED, SKIPPED) or (verbose and verdict.outcome == PASSED):
            yield from _vector_lines(verdict)
    for kind, numbers in by_kind(report).items():
        if numbers[UNSUPPORTED]:
            yield f"not supported yet: {escaped(kind)} ({numbers[UNSUPPORTED]})"
    yield ""
    yield from _table("kind", by_kind(report))
    yield ""
    yield from _table("class", by_class(report))
    yield ""
    yield f"corpus sha256:{report.corpus.version} (AEF {escaped(report.corpus.aef)})"
    yield _conclusion(report)
    if report.claim is not None:
        yield f"claim: {escaped(report.claim)}"
    elif report.passed:
        yield "claim: none; no class was run in full" + _because_skipped(report)


def _vector_lines(verdict: Verdict) -> Iterator[str]:
    first, *others = verdict.lines or ("",)
    rules = f" [{', '.join(verdict.vector.rules)}]" if verdict.outcome == FAILED else ""
    said = f": {escaped(first)}" if first else ""
    name = f"{verdict.vector.id} ({verdict.vector.kind}){rules}"
    yield f"{verdict.outcome:7} {escaped(name)}{said}"
    for line in others:
        yield f"        {escaped(line)}"


def _table(what: str, groups: dict[str, dict[str, int]]) -> Iterator[str]:
    """Yield a table: a name and its numbers by outcome, a column each."""
    width = max(len(what), *(len(escaped(name)) for name in groups))
    yield f"{what:{width}}" + "".join(f"  {outcome:>{len(outcome)}}" for outcome in OUTCOMES)
    for name, numbers in groups.items():
        yield f"{escaped(name):{width}}" + "".join(
            f"  {numbers[outcome] or '-':>{len(outcome)}}" for outcome in OUTCOMES
        )


def _conclusion(report: Report) -> str:
    found = counts(report.verdicts)
    said = ", ".join(f"{found[outcome]} {outcome}" for outcome in OUTCOMES if outcome in found)
    return f"{len(report.verdicts)} vectors: {said}"


def _because_skipped(report: Report) -> str:
    return " (a skipped vector is not passed)" if SKIPPED in counts(report.verdicts) else ""
