"""From what the verifier said about each run to one report: headers as read, requirements, clashes. Pure.

Rules kept, in this order: unknown values as [VER-8] reads them, the converter's claims [RUN-15], what a caller requires
of a run, one `runId` for different runs [RUN-13]. What a caller requires of a pair is the report's own to say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aef_verify.problems import InputError
from aef_verify.report.model import (
    ANCHORED,
    NO_HEADER,
    REQUIREMENTS,
    RUN_REQUIREMENTS,
    SEALED,
    SIGNED,
    Clash,
    Copies,
    EvidenceReport,
    Header,
    Imported,
    NotLookedAt,
    PairNote,
    Reading,
    RunEntry,
    Unverified,
)
from aef_verify.run.members import named_in, object_in, text_in
from aef_verify.run.verify import RunReport
from aef_verify.schemas import reads

if TYPE_CHECKING:
    from aef_verify.memory.pair import PairReport


def check_required(required: Collection[str], *, policy: bool, anchors: bool) -> tuple[str, ...]:
    """Return what is required, in the order of `REQUIREMENTS`, each once.

    Raises:
        InputError: a requirement that does not exist, or one that nothing could meet without a policy or anchors.
    """
    for name in required:
        if name not in REQUIREMENTS:
            raise InputError(f"nothing is called {name!r} that could be required; there are {', '.join(REQUIREMENTS)}")
    if SIGNED in required and not policy:
        raise InputError("`signed` is required, and without a trust policy nobody's signature counts")
    if ANCHORED in required and not anchors:
        raise InputError("`anchored` is required, and no list of run hashes is given")
    return tuple(name for name in REQUIREMENTS if name in required)


def evidence_report(
    paths: Sequence[str],
    answers: Iterable[RunReport | RunEntry | Unverified],
    *,
    not_looked_at: Sequence[NotLookedAt] = (),
    required: Sequence[str] = (),
    policy: bool = False,
    anchors: bool = False,
    pairs: Callable[[], tuple[Sequence[PairReport], Sequence[PairNote]]] = lambda: ((), ()),
) -> EvidenceReport:
    """Return the report over what was said about each run, in the order given.

    Args:
        paths: where the caller asked to look.
        answers: one for each run.
        not_looked_at: what was found there and is no run of its own.
        required: as `check_required` returned it.
        policy: whether a trust policy was given.
        anchors: whether a list of run hashes was given.
        pairs: gives the pairs among the runs, and the notes on them; asked when all answers were taken.
    """
    runs = tuple(run_entry(answer, required) for answer in answers)
    found, notes = pairs()
    return EvidenceReport(
        tuple(paths),
        runs,
        tuple(_clashes(runs)),
        tuple(not_looked_at),
        tuple(required),
        policy,
        anchors,
        tuple(found),
        tuple(notes),
    )


def run_entry(answer: RunReport | RunEntry | Unverified, required: Sequence[str] = ()) -> RunEntry:
    """Return a report's entry for one run; one that is made already is only held against what is required."""
    asked = [name for name in required if name in RUN_REQUIREMENTS]
    if isinstance(answer, Unverified):
        return RunEntry(answer.path, answer.outcome, answer.message, NO_HEADER, shortfalls=tuple(asked))
    met = {
        SEALED: answer.outcome == "intact",
        SIGNED: bool(answer.signed_by),
        ANCHORED: bool(answer.anchored),
    }
    shortfalls = tuple(name for name in asked if not met[name])
    if isinstance(answer, RunEntry):
        return replace(answer, shortfalls=shortfalls) if shortfalls else answer
    return RunEntry(
        answer.path,
        answer.outcome,
        "",
        header_of(answer.run),
        answer.problems,
        answer.overlays,
        answer.run_hash,
        answer.signed_by,
        answer.anchored,
        answer.withheld,
        shortfalls,
    )


def header_of(run: dict[str, Any] | None) -> Header:
    """Return what `run.json` says, whatever stands in it; None is one that does not read."""
    if run is None:
        return NO_HEADER
    mode = text_in(object_in(run, "execution"), "targetMode")
    return Header(
        text_in(run, "runId"),
        text_in(run, "status"),
        Reading(mode, reads("run", run).get("execution.targetMode")),
        named_in(run, "producer", "name"),
        named_in(run, "subject", "ref"),
        named_in(run, "suite", "ref"),
        _imported(run.get("imported")),
    )


def _imported(value: object) -> Imported | None:
    if not isinstance(value, dict):
        return None
    asserted = value.get("asserted")
    names = asserted if isinstance(asserted, list) else []
    return Imported(text_in(value, "from"), tuple(name for name in names if isinstance(name, str)))


def _clashes(runs: Sequence[RunEntry]) -> Iterable[Clash]:
    """Yield each id that names runs of different content; copies of one run are none."""
    found: dict[str, dict[str, list[str]]] = {}
    for run in runs:
        if run.header.run_id is not None and run.run_hash is not None:
            found.setdefault(run.header.run_id, {}).setdefault(run.run_hash, []).append(run.path)
    for run_id, by_hash in found.items():
        if len(by_hash) > 1:
            yield Clash(run_id, tuple(Copies(run_hash, tuple(paths)) for run_hash, paths in by_hash.items()))
