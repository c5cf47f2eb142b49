"""What may be claimed after a run of vectors ([CONF-4]).

A class is claimed only where every vector it must pass was selected and passed: none failed, none skipped,
none of an unsupported kind. Two classes have a part that may be left out and is then named: a Run verifier
its level, a Sealer the algorithms it does not sign with (09 §9.1). A claim with exceptions is none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from aef_verify.conformance.index import Corpus, Vector
from aef_verify.conformance.runner import PASSED, Verdict
from aef_verify.integrity.algorithms import ALGORITHMS

RUN_VERIFIER = "Run verifier"
SEALER = "Sealer"


def claimed_classes(corpus: Corpus, verdicts: Sequence[Verdict], classes: Collection[str] = ()) -> list[str]:
    """Return the classes that may be claimed, as a claim names them, in the order the index first names them.

    Args:
        corpus: the corpus.
        verdicts: of all vectors that were selected.
        classes: consider these only, letter case ignored; none given: every class.
    """
    passed = {verdict.vector.id for verdict in verdicts if verdict.outcome == PASSED}
    failed = {verdict.vector.id for verdict in verdicts} - passed
    asked = {name.casefold() for name in classes}
    claimed = []
    for name in dict.fromkeys(name for vector in corpus.vectors for name in vector.classes):
        vectors = [vector for vector in corpus.vectors if name in vector.classes]
        if (not asked or name.casefold() in asked) and not any(vector.id in failed for vector in vectors):
            spelled = _claimed(name, vectors, passed)
            if spelled:
                claimed.append(spelled)
    return claimed


def _claimed(name: str, vectors: Sequence[Vector], passed: Collection[str]) -> str:
    """Return a class as its claim names it, or "" where a vector that it must pass is not among them."""
    left = [vector for vector in vectors if vector.id not in passed]
    if name == RUN_VERIFIER:
        if all(vector.level == "signed" for vector in left):
            return f"{name} ({'intact' if left else 'signed'})"
        return ""
    if name == SEALER:
        lacking = {vector.algorithm for vector in left}
        kept = [one for one in ALGORITHMS if one not in lacking and _signs(vectors, one)]
        return f"{name} ({', '.join(kept)})" if kept and "" not in lacking else ""
    return "" if left else name


def _signs(vectors: Sequence[Vector], algorithm: str) -> bool:
    return any(vector.algorithm == algorithm for vector in vectors)


def claim(corpus: Corpus, implementation: str, classes: Sequence[str]) -> str | None:
    """Return the text of a claim, or None where no class may be claimed."""
    if not classes:
        return None
    return (
        f"{implementation} conforms to AEF {corpus.aef} as {_listed(classes)}: it passes every vector of "
        f"{'this class' if len(classes) == 1 else 'these classes'} in the conformance corpus "
        f"sha256:{corpus.version}."
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counts(verdicts: Sequence[Verdict]) -> Mapping[str, int]:
    """Return how many verdicts there are of each outcome."""
    found: dict[str, int] = {}
    for verdict in verdicts:
        found[verdict.outcome] = found.get(verdict.outcome, 0) + 1
    return found
