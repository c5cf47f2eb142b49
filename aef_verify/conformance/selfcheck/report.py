"""The report of a self-check: for people, a line for each mutation and what the corpus misses; as one JSON value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aef_verify.conformance.selfcheck.check import BY_TEST, BY_VECTOR, SURVIVED, UNDECIDED, UNFIT, Outcome, Result
from aef_verify.report.escape import escaped, well_formed

VERSION = 1
"""The version of the JSON report."""

_BY = (BY_VECTOR, BY_TEST, SURVIVED, UNDECIDED, UNFIT)


def _counts(result: Result) -> dict[str, int]:
    return {by: sum(outcome.by == by for outcome in result.outcomes) for by in _BY}


def _missed(result: Result) -> list[Outcome]:
    return [outcome for outcome in result.outcomes if outcome.missed]


def as_value(result: Result, implementation: str) -> dict[str, object]:
    """Return the report as one JSON value; `implementation` is the name and version of what was checked."""
    return {
        "report": "aef-self-check",
        "version": VERSION,
        "implementation": implementation,
        "corpus": f"sha256:{result.corpus.version}" if result.corpus is not None else None,
        "passed": result.passed,
        "vectors": result.vectors,
        "vectorsLeftOut": result.left_out,
        "everyVector": result.every_vector,
        "broken": [{"id": name, "why": well_formed(why)} for name, why in result.broken],
        "counts": _counts(result),
        "corpusMisses": [outcome.mutation.id for outcome in _missed(result)] if result.corpus is not None else None,
        "mutations": [
            {
                "id": outcome.mutation.id,
                "rules": list(outcome.mutation.rules),
                "file": outcome.mutation.file,
                "switchedOff": outcome.mutation.what,
                "vectorsAsked": outcome.asked,
                "noticedBy": outcome.by,
                "name": outcome.name,
                "detail": well_formed(outcome.detail),
            }
            for outcome in result.outcomes
        ],
    }


def as_text(result: Result) -> Iterator[str]:
    """Yield the lines of the report for people."""
    if result.broken:
        yield "The code as it is fails, so nothing was switched off:"
        for name, why in result.broken:
            yield f"  {escaped(name)}: {escaped(why)}"
        return
    width = max(len(outcome.mutation.id) for outcome in result.outcomes)
    for outcome in result.outcomes:
        yield f"{outcome.by:12}  {outcome.mutation.id:{width}}  {_noticed(outcome)}"
    missed = _missed(result)
    yield from _list("The corpus misses, though vectors reach it:", [one for one in missed if one.asked])
    yield from _list("No vector reaches it:", [one for one in missed if not one.asked])
    yield ""
    if result.corpus is not None:
        left = f", {result.left_out} left out" if result.left_out else ""
        yield f"corpus sha256:{result.corpus.version}: {result.vectors} vectors{left}"
        if not result.every_vector:
            yield "vectors that take long were asked about the rules they name alone; --every-vector asks all of them"
    else:
        yield "no corpus was given: only our own tests were asked"
    said = ", ".join(f"{number} {_WORDS[by]}" for by, number in _counts(result).items() if number)
    yield f"{len(result.outcomes)} rules switched off: {said}"


def _list(title: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    if outcomes:
        yield ""
        yield title
    for outcome in outcomes:
        asked = f" (vectors asked: {outcome.asked})" if outcome.asked else ""
        yield f"  {outcome.mutation.id} [{', '.join(outcome.mutation.rules)}]: {outcome.mutation.what}{asked}"


_WORDS = {
    BY_VECTOR: "noticed by a vector",
    BY_TEST: "by a test alone",
    SURVIVED: "by nothing",
    UNDECIDED: "not decided",
    UNFIT: "that no longer fit the source",
}


def _noticed(outcome: Outcome) -> str:
    said = outcome.name if outcome.is_noticed else outcome.mutation.what
    return f"{escaped(said)}: {escaped(outcome.detail)}" if outcome.detail else escaped(said)
