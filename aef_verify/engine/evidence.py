"""Every run below some folders, verified here or in several processes, as one report [RUN-1], [RUN-13].

Runs that are arms of a pair are checked as pairs, too, when every run was verified (docs/MEMORY_PAIR.md §3).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from aef_verify.engine.discover import discover
from aef_verify.engine.jobs import jobs_allowed
from aef_verify.engine.ranges import ranges_in
from aef_verify.engine.task import Answer, ArmAnswer, EntryAnswer, Task
from aef_verify.problems import InputError
from aef_verify.report.assemble import check_required, evidence_report
from aef_verify.report.model import PairNote

if TYPE_CHECKING:
    from collections.abc import Generator

    from aef_verify.engine.cache import Cache
    from aef_verify.integrity.policy import TrustPolicy
    from aef_verify.memory.pair import PairReport
    from aef_verify.memory.pair_arm import Arm
    from aef_verify.report.model import EvidenceReport, RunEntry, Unverified
    from aef_verify.run.verify import RunReport

_MANY_RUNS = 150
"""From so many runs on, however small, several processes are faster than one."""

_MANY_BYTES = 8 << 20
"""From so many bytes of results on, several processes are faster than one."""


class Progress(NamedTuple):
    """How far a verification has come: runs verified, of how many, and bytes read."""

    verified: int
    runs: int
    read: int


def verify_evidence(
    paths: Sequence[str],
    *,
    policy: TrustPolicy | None = None,
    anchors: Collection[str] | None = None,
    jobs: int | None = None,
    require: Collection[str] | None = None,
    pairs: bool = True,
    cache: str | None = None,
    paranoid: bool = False,
    watch: Callable[[Progress], object] | None = None,
) -> EvidenceReport:
    """Find every run at and below the paths, verify each, then every pair among them, and return one report.

    The report is the same whatever `jobs` is. A run that cannot be read is in it as `unreadable`.

    Args:
        paths: folders, each a run or above at least one.
        policy: the caller's trust policy; without one nobody signed, and no redaction is authorized [SIG-4].
        anchors: the run hashes that the caller trusts, lower-case hex [SIG-8].
        jobs: how many runs, or ranges of one large run, are verified at once; by default 1 where they are few and
            small, else the number of cores, at most AEF_JOBS.
        require: what every run must be to count as sound: any of `sealed`, `signed`, `anchored`; `linked`: every
            pair must be, and there must be one.
        pairs: whether pairs among the runs are checked, too.
        cache: a folder for the verdicts of this pass, from which runs that did not change since an earlier one take
            theirs (docs/CACHE.md); one that cannot be used is told in the report.
        paranoid: whether every run is read in spite of the cache, which is brought up to date.
        watch: called here whenever something was read or verified.

    Raises:
        InputError: a path that is no folder or holds no run, a folder that cannot be searched, a requirement that
            does not exist or that nothing could meet.
    """
    if isinstance(paths, str):
        raise InputError("paths is one string, where a list of paths is needed")
    required = check_required(require or (), policy=policy is not None, anchors=anchors is not None)
    task = Task(policy, None if anchors is None else frozenset(anchors))
    arms: list[Arm] = []
    with _opened(cache, task, paranoid) as kept:
        found = discover(paths, None if kept is None else kept.known)
        with closing(_answers(found.runs, task, jobs, watch, kept)) as answers:
            report = evidence_report(
                paths,
                _without_arms(answers, arms),
                not_looked_at=found.not_looked_at,
                required=required,
                policy=policy is not None,
                anchors=anchors is not None,
                pairs=lambda: _pairs(arms if pairs else ()),
            )
    return report if kept is None else replace(report, cache=kept.use)


def _opened(cache: str | None, task: Task, paranoid: bool) -> AbstractContextManager[Cache | None]:
    if cache is None:
        return nullcontext()
    from aef_verify.engine.cache import opened

    return opened(cache, task, paranoid=paranoid)


def _without_arms(
    answers: Iterator[Answer | EntryAnswer], arms: list[Arm]
) -> Iterator[RunReport | RunEntry | Unverified]:
    """Yield what is said about each run alone, and keep the arms of pairs apart."""
    for answer in answers:
        if isinstance(answer, EntryAnswer):
            if answer.arm is not None:
                arms.append(answer.arm)
            yield answer.entry
        elif isinstance(answer, ArmAnswer):
            arms.append(answer.arm)
            yield answer.report
        else:
            yield answer


def _pairs(arms: Sequence[Arm]) -> tuple[Sequence[PairReport], Sequence[PairNote]]:
    if not arms:
        return (), ()
    from aef_verify.memory.pair import check_pairs

    running = "still running, and therefore no arm of a pair yet"
    return check_pairs(arms), [PairNote(arm.path, running) for arm in arms if arm.is_running]


def _answers(
    runs: Sequence[str],
    task: Task,
    jobs: int | None,
    watch: Callable[[Progress], object] | None,
    cache: Cache | None,
) -> Generator[Answer | EntryAnswer, None, None]:
    """Yield the answer for each run in order, telling how far it is."""
    verified = read = 0

    def note(count: int) -> None:
        nonlocal read
        read += count
        if watch is not None:
            watch(Progress(verified, len(runs), read))

    def verify(these: Sequence[str]) -> Generator[Answer, None, None]:
        at_once = jobs or default_jobs(these)
        if at_once > 1 and len(these) > 1:
            from aef_verify.engine.pool import verify_in_processes

            yield from verify_in_processes(these, task, at_once, note)
        else:
            # One run may be large enough for several processes; of several runs, each is then one process's.
            ranges = ranges_in(at_once if jobs or len(these) > 1 else jobs_allowed())
            for path in these:
                yield task.answer(path, note, ranges)

    note(0)
    with closing(verify(runs) if cache is None else cache.answers(runs, verify)) as answers:
        for answer in answers:
            yield answer
            verified += 1
            note(0)


def default_jobs(runs: Sequence[str]) -> int:
    """Return how many runs to verify at once: 1 where starting processes would cost more than it gains."""
    cores = jobs_allowed()
    if len(runs) < 2 or cores == 1:
        return 1
    return cores if len(runs) >= _MANY_RUNS or _has_many_bytes(runs) else 1


def _has_many_bytes(runs: Sequence[str]) -> bool:
    """Whether the files that stand directly in the runs' folders are large together; only a guess is needed."""
    size = 0
    for run in runs:
        try:
            with os.scandir(run) as entries:
                size += sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        except OSError:
            continue
        if size >= _MANY_BYTES:
            return True
    return False
