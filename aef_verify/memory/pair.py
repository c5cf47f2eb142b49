"""Pairs among arms: which belong together, what is wrong with each, and what it is called (docs/MEMORY_PAIR.md §3).

Arms of one `pairId` are one pair; copies of one run are one arm. Precedence: `pair-schema` ends the checks of its arm,
an invalid run gives `pair-run` alone, `pair-duplicate` ends the checks of its `pairId`; all of these still tell an
oracle that it has a normal run. Then the rules of each arm, then those of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aef_verify.memory.model import NORMAL, ORACLE, ROLES
from aef_verify.memory.pair_arm import Arm, read_arm
from aef_verify.memory.pair_lines import BIT
from aef_verify.memory.pair_rules import Findings, judge_arm, judge_pair, judge_runs
from aef_verify.problems import InputError, Problem, ordered
from aef_verify.run.verify import verify_run

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

LINKED, LINKED_UNSEALED, NORMAL_ONLY, INVALID = OUTCOMES = ("linked", "linked-unsealed", "normal-only", "invalid")
"""What a pair may come to."""

_PREFERRED = {"intact": 0, "unsealed": 1, "invalid": 2}


@dataclass(frozen=True, slots=True)
class PairReport:
    """One pair.

    Attributes:
        pair_id: its id; None where an arm's cannot be read.
        outcome: one of `OUTCOMES`.
        normal, oracle: the arm of each role, None where there is none.
        problems: ordered.
        notes: what could not be decided, in plain words.
        others: the folders of further arms of the pair: copies of the two, duplicates, arms without a role.
    """

    pair_id: str | None
    outcome: str
    normal: Arm | None
    oracle: Arm | None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether the pair has no problem."""
        return self.outcome != INVALID

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms there are, the normal one first."""
        return tuple(arm for arm in (self.normal, self.oracle) if arm is not None)

    @property
    def signed_by(self) -> tuple[str, ...] | None:
        """Who signed both arms, in policy order; None without a policy [SIG-7]."""
        signers = [arm.signed_by for arm in self.arms]
        if not signers or None in signers:
            return None
        if len(signers) < len(ROLES):
            return ()
        return tuple(identity for identity in signers[0] or () if identity in (signers[1] or ()))

    @property
    def scored_sets_differ(self) -> bool | None:
        """Whether other questions were scored in one arm than in the other; None where that cannot be told."""
        sets = [_scored_ids(arm) for arm in self.arms]
        return sets[0] != sets[1] if len(sets) == len(ROLES) and None not in sets else None


def _scored_ids(arm: Arm) -> frozenset[str] | None:
    questions = arm.lines.questions(arm.fields.observed) if arm.fields is not None else None
    if questions is None or not arm.is_usable:
        return None
    if not questions.number:
        return frozenset()
    if questions.ids is None:
        return None
    absent = ~(BIT["passed"] | BIT["failed"] | BIT["warn"] | BIT["scored"])
    return frozenset(identity for identity, states in questions.ids.items() if not states & absent)


def verify_pair(normal: str, oracle: str, *, policy: TrustPolicy | None = None) -> PairReport:
    """Verify two runs and check that they belong together.

    Args:
        normal: the folder of the normal arm's run.
        oracle: the folder of the oracle arm's run.
        policy: the caller's trust policy; without one nobody signed [SIG-4].

    Raises:
        InputError: a folder is no run or cannot be read, or the run carries no pair fields, or is still running.
    """
    arms = [_arm_at(path, policy) for path in (normal, oracle)]
    return check_given(*arms)


def _arm_at(path: str, policy: TrustPolicy | None) -> Arm:
    arm = read_arm(verify_run(path, policy=policy))
    if arm is None:
        raise InputError(f"{path}: no arm of a pair: its summary carries no agenteval.memoryPair")
    if arm.is_running:
        raise InputError(f"{path}: no arm yet: the run is still running")
    return arm


def check_given(normal: Arm, oracle: Arm) -> PairReport:
    """Check two arms that were given as a pair: also that each stands in its place, and both are of one pair."""
    reports = check_pairs((normal, oracle))
    found = Findings()
    for arm, role in ((normal, NORMAL), (oracle, ORACLE)):
        if arm.role is not None and arm.role != role and arm.is_usable and not _is_ended(reports, arm):
            found.of_run(arm, "pair-role", f"given as the {role} arm", arm.role)
    if len(reports) == 1 and not found.problems:
        return reports[0]
    by_role = {arm.role: arm for arm in (oracle, normal)}
    problems = [*found.problems, *(problem for report in reports for problem in report.problems)]
    ids = [report.pair_id for report in reports]
    return PairReport(
        ids[0] if len(set(ids)) == 1 else None,
        INVALID,
        by_role.get(NORMAL),
        by_role.get(ORACLE),
        tuple(ordered(problems)),
        tuple(note for report in reports for note in report.notes),
        tuple(path for report in reports for path in report.others),
    )


def _is_ended(reports: Sequence[PairReport], arm: Arm) -> bool:
    """Whether the checks of an arm's pair were ended by a duplicate."""
    own = (report for report in reports if report.pair_id == arm.pair_id)
    return any(problem.code == "pair-duplicate" for report in own for problem in report.problems)


def check_pairs(arms: Iterable[Arm]) -> list[PairReport]:
    """Return a report on every pair among some arms, in the order of the first arm of each; running ones are none."""
    groups: dict[object, list[Arm]] = {}
    for number, arm in enumerate(arms):
        if not arm.is_running:
            groups.setdefault(number if arm.pair_id is None else arm.pair_id, []).append(arm)
    return [_check(group) for group in groups.values()]


def _check(group: Sequence[Arm]) -> PairReport:
    """Check the arms of one `pairId`, or one arm without a readable one."""
    pair_id = group[0].pair_id
    found = Findings()
    chosen = {role: _chosen([arm for arm in group if arm.role == role]) for role in ROLES}
    normal, oracle = chosen[NORMAL], chosen[ORACLE]
    for arm in group:
        if pair_id is not None and arm.outcome == "invalid":
            found.of_pair(pair_id, "pair-run", f"the run {arm.run_id} is invalid")
        elif arm.fields is None:
            found.of_run(arm, "pair-schema", arm.refused)
    duplicates = list(_duplicates(group))
    for role, other in duplicates:
        found.of_pair(str(pair_id), "pair-duplicate", f"the run {other.run_id} is the {role} arm, too")
    if not duplicates:
        _judge(normal, oracle, found)
    shown = [arm for arm in (normal, oracle) if arm is not None]
    return PairReport(
        pair_id,
        _outcome(normal, oracle, found),
        normal,
        oracle,
        tuple(ordered(found.problems)),
        tuple(dict.fromkeys(found.notes)),
        tuple(arm.path for arm in group if not any(arm is other for other in shown)),
    )


def _chosen(arms: Sequence[Arm]) -> Arm | None:
    """Return the arm that stands for its role: of copies the one that is worth most, else the first."""

    def rank(arm: Arm) -> tuple[bool, int, bool]:
        return not arm.is_usable, _PREFERRED[arm.outcome], not arm.signed_by

    return min(arms, key=rank, default=None)


def _duplicates(group: Sequence[Arm]) -> Iterator[tuple[str, Arm]]:
    """Yield each usable arm that is another run than the first of its role."""
    first: dict[str, tuple[str, str]] = {}
    for arm in group:
        if arm.is_usable and arm.role is not None:
            identity = (arm.run_id, arm.run_hash)
            if first.setdefault(arm.role, identity) != identity:
                yield arm.role, arm


def _judge(normal: Arm | None, oracle: Arm | None, found: Findings) -> None:
    for arm in (normal, oracle):
        if arm is not None and arm.is_usable:
            judge_arm(arm, found)
    if oracle is None:
        return
    if normal is None:
        if oracle.is_usable:
            found.of_run(oracle, "pair-orphan", "no normal run of its pairId is among the runs given", oracle.pair_id)
    elif normal.is_usable and oracle.is_usable:
        judge_pair(normal, oracle, found)
        judge_runs(str(normal.pair_id), normal, oracle, found)


def _outcome(normal: Arm | None, oracle: Arm | None, found: Findings) -> str:
    if found.problems or normal is None:
        return INVALID
    if oracle is None:
        return NORMAL_ONLY
    return LINKED if normal.is_sealed else LINKED_UNSEALED
