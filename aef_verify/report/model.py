"""What was found about evidence, as frozen values: one model, whatever it is rendered to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aef_verify.problems import Problem
from aef_verify.run.members import Named
from aef_verify.run.verify import Overlays

if TYPE_CHECKING:
    from aef_verify.memory.pair import PairReport

SEALED, SIGNED, ANCHORED = RUN_REQUIREMENTS = ("sealed", "signed", "anchored")
"""What may be required of every run beyond having no problem."""

LINKED = "linked"
"""What may be required of every pair; then there has to be one."""

REQUIREMENTS = (*RUN_REQUIREMENTS, LINKED)
"""All that may be required."""

UNREADABLE = "unreadable"
"""The outcome of a run that could not be read, or changed meanwhile: nothing is said about it."""

NOT_VERIFIED = "not-verified"
"""The outcome of a run on which the verifier itself failed: nothing is said about it."""


class Unverified(NamedTuple):
    """A run about which nothing can be said: its path, `UNREADABLE` or `NOT_VERIFIED`, and why."""

    path: str
    outcome: str
    message: str


class PairNote(NamedTuple):
    """A run that carries pair fields and is no arm yet: its path, and why in plain words."""

    path: str
    note: str


class NotLookedAt(NamedTuple):
    """What was found while looking for runs and not verified as one: its path and the code that says why."""

    path: str
    code: str


class Reading(NamedTuple):
    """A value as it is written and as a reader reads it [VER-8]; None where nothing is written."""

    written: str | None
    read: str | None


class Imported(NamedTuple):
    """A conversion: the tool the run came from, and the fields that the converter supplied [RUN-15]."""

    source: str | None
    asserted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """What `run.json` says of a run, as far as it reads."""

    run_id: str | None
    status: str | None
    target_mode: Reading
    producer: Named
    subject: Named
    suite: Named
    imported: Imported | None

    def is_claimed(self, field: str) -> bool:
        """Whether the converter supplied a field, dotted as in `suite.version`, or a part of it [RUN-15]."""
        asserted = self.imported.asserted if self.imported is not None else ()
        return any(covers(name, field) or covers(field, name) for name in asserted)


def covers(field: str, part: str) -> bool:
    """Whether a dotted path names a field or something within it."""
    return part == field or part.startswith((field + ".", field + "["))


NO_HEADER = Header(None, None, Reading(None, None), Named(None, None), Named(None, None), Named(None, None), None)
"""Of a run whose `run.json` does not read."""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run of a report.

    Attributes:
        path: the run's folder: the PATH given, and the way from there.
        outcome: `intact`, `unsealed`, `invalid`, `unreadable` or `not-verified`.
        message: why nothing can be said about the run; empty where it was verified.
        problems: ordered; `withheld` ones do not make a run invalid [OVL-10].
        overlays: what the overlay chain says, apart from the outcome; None without one.
        run_hash: [SEAL-4]; None where the run was not verified.
        signed_by: the identities that signed, in policy order; None without a policy.
        anchored: whether the run hash is in the caller's list; None without one.
        withheld: how many sealed blobs an authorized redaction withholds.
        shortfalls: the requirements that the run does not meet, of `RUN_REQUIREMENTS`.
        cached: whether an earlier pass found this, and the run's files are unchanged since (docs/CACHE.md).
        disagreed: whether the run was read again, and an earlier pass had found something else in unchanged files.
    """

    path: str
    outcome: str
    message: str
    header: Header
    problems: tuple[Problem, ...] = ()
    overlays: Overlays | None = None
    run_hash: str | None = None
    signed_by: tuple[str, ...] | None = None
    anchored: bool | None = None
    withheld: int = 0
    shortfalls: tuple[str, ...] = ()
    cached: bool = False
    disagreed: bool = False

    @property
    def breaches(self) -> tuple[Problem, ...]:
        """The problems that make the run invalid."""
        return tuple(problem for problem in self.problems if problem.code != "withheld")

    @property
    def overlay_problems(self) -> tuple[Problem, ...]:
        """The problems of the overlay chain."""
        return self.overlays.problems if self.overlays is not None else ()

    @property
    def is_sound(self) -> bool:
        """Whether the run is intact or unsealed, with a sound chain, and meets what is required."""
        return self.outcome in ("intact", "unsealed") and not self.overlay_problems and not self.shortfalls


class CacheUse(NamedTuple):
    """How a cache was used: whether all was read again in spite of it, and why it was not used where it was not."""

    paranoid: bool
    warnings: tuple[str, ...] = ()


class Copies(NamedTuple):
    """Runs of one content: their run hash and where they are."""

    run_hash: str
    paths: tuple[str, ...]


class Clash(NamedTuple):
    """Different runs under one `runId` [RUN-13]."""

    run_id: str
    runs: tuple[Copies, ...]


@dataclass(frozen=True, slots=True)
class EvidenceReport:
    """What was found about every run, and every pair of runs, below the given paths.

    Attributes:
        paths: as the caller gave them.
        runs: in the order of the paths, below each by the path's bytes.
        clashes: ids that name different runs, by the first run that has them.
        not_looked_at: links and folders within runs, by path bytes.
        required: what was required of every run and pair, of `REQUIREMENTS`.
        policy_given: whether signatures could be judged.
        anchors_given: whether run hashes were compared with a list.
        pairs: the pairs among the runs, by the first run of each.
        pair_notes: runs with pair fields that are no arm yet.
        cache: how the cache was used; None without one.
    """

    paths: tuple[str, ...]
    runs: tuple[RunEntry, ...]
    clashes: tuple[Clash, ...] = ()
    not_looked_at: tuple[NotLookedAt, ...] = ()
    required: tuple[str, ...] = ()
    policy_given: bool = False
    anchors_given: bool = False
    pairs: tuple[PairReport, ...] = ()
    pair_notes: tuple[PairNote, ...] = ()
    cache: CacheUse | None = None

    @property
    def outcomes(self) -> Counter[str]:
        """How many runs have each outcome."""
        return Counter(run.outcome for run in self.runs)

    @property
    def pair_outcomes(self) -> Counter[str]:
        """How many pairs have each outcome."""
        return Counter(pair.outcome for pair in self.pairs)

    @property
    def unlinked(self) -> tuple[PairReport, ...]:
        """The pairs without a problem that are not linked as required."""
        if LINKED not in self.required:
            return ()
        return tuple(pair for pair in self.pairs if pair.is_sound and pair.outcome != LINKED)

    @property
    def lacks_pair(self) -> bool:
        """Whether pairs are required to be linked, and there is none."""
        return LINKED in self.required and not self.pairs

    @property
    def is_sound(self) -> bool:
        """Whether every run and every pair is sound, pairs are as required, and no id names two runs."""
        if self.clashes or self.unlinked or self.lacks_pair:
            return False
        return all(run.is_sound for run in self.runs) and all(pair.is_sound for pair in self.pairs)

    @property
    def exit_code(self) -> int:
        """0: all sound; 2: a run could not be read, so the answer is not whole; 1: anything else.

        A failure of the verifier itself is 1 whatever else was found, as it must never look like a refused input.
        """
        if self.is_sound:
            return 0
        outcomes = self.outcomes
        return 2 if outcomes[UNREADABLE] and not outcomes[NOT_VERIFIED] else 1
