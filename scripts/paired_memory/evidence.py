"""What a call left on disk, as the reference reader sees it, and what must hold of all of it whatever was called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aef_verify.integrity.policy import TrustPolicy
from aef_verify.memory.model import NORMAL, ORACLE
from aef_verify.memory.pair import PairReport, check_pairs
from aef_verify.memory.pair_arm import Arm, read_arm
from aef_verify.provider.record import Request
from aef_verify.run.verify import RunReport, verify_run
from aef_verify.schemas import explain
from scripts.paired_memory.program import SECRET, Done

TEMPORARY = ".aef-tmp-"
DOCUMENTS = {"run.json": "run", "metrics.json": "metrics", "summary.json": "summary"}
LINES = {"results.ndjson": "result", "evidence.ndjson": "evidence", "gates.ndjson": "gate-decision"}


class Left(NamedTuple):
    """The runs below a folder, their arms and pairs."""

    runs: tuple[RunReport, ...]
    arms: tuple[Arm, ...]
    pairs: tuple[PairReport, ...]

    def arm(self, role: str) -> Arm | None:
        """Return the one arm of a role."""
        return next((arm for arm in self.arms if arm.role == role), None)


def left_in(folder: Path, policy: TrustPolicy | None = None) -> Left:
    """Read every run below a folder."""
    places = sorted(found.parent for found in folder.rglob("run.json")) if folder.is_dir() else []
    runs = tuple(verify_run(str(place), policy=policy) for place in places)
    arms = tuple(arm for arm in map(read_arm, runs) if arm is not None)
    return Left(runs, arms, tuple(check_pairs(arms)))


def words_of(left: Left) -> str:
    """Say what is there: the arms with their status and counts, and what the pair comes to."""
    if not left.runs:
        return "nothing on disk"
    arms = sorted(left.arms, key=lambda arm: arm.role != NORMAL)
    words = [_arm_words(arm, left) for arm in arms]
    words += ["a run that is no arm"] * (len(left.runs) - len(arms))
    return ", ".join(words) + " -> " + ", ".join(pair.outcome for pair in left.pairs)


def _arm_words(arm: Arm, left: Left) -> str:
    run = next(run.run or {} for run in left.runs if run.path == arm.path)
    reason = f" ({run.get('abortReason')})" if arm.status == "aborted" else ""
    counts = f" {arm.fields.observed}/{arm.fields.planned}" if arm.fields is not None else ""
    return f"{arm.role} {arm.status}{reason}{counts} {arm.outcome}"


def faults(folder: Path, left: Left, done: Done | None, requests: Sequence[Request], *, whole: bool) -> Iterator[str]:
    """Yield what must not be: a problem, a writer's invalid document, a trace of the key, a wrong count or order."""
    for run in left.runs:
        yield from (f"{run.path}: {problem.code} at {problem.path}: {problem.detail}" for problem in run.problems)
        yield from _schema_faults(Path(run.path))
    for pair in left.pairs:
        yield from (f"pair {pair.pair_id}: {problem.code} at {problem.path}" for problem in pair.problems)
    yield from _secret_faults(folder, done)
    if whole:
        yield from (f"{path}: left behind" for path in folder.glob(f"{TEMPORARY}*"))
        yield from _call_faults(left, requests)


def _schema_faults(run: Path) -> Iterator[str]:
    """Yield what a writer's schema has against a run's documents."""
    for name, schema in DOCUMENTS.items():
        if (run / name).is_file():
            yield from _explained(run / name, schema, json.loads((run / name).read_bytes()))
    for name, schema in LINES.items():
        if (run / name).is_file():
            for line in (run / name).read_bytes().splitlines():
                yield from _explained(run / name, schema, json.loads(line))


def _explained(path: Path, schema: str, value: Any) -> Iterator[str]:
    yield from (f"{path}: {fault.pointer}: {fault.message}" for fault in explain(schema, "writer", value))


def _secret_faults(folder: Path, done: Done | None) -> Iterator[str]:
    if done is not None and SECRET in done.told:
        yield "the API key was printed"
    for path in folder.rglob("*") if folder.is_dir() else ():
        if path.is_file() and SECRET.encode() in path.read_bytes():
            yield f"{path}: holds the API key"


def _call_faults(left: Left, requests: Sequence[Request]) -> Iterator[str]:
    """Yield where the evidence's calls are not the provider's requests, or an oracle began before its normal arm ended.

    Which arm an answer was asked for is told by its prompt: an oracle's holds fewer sessions.
    """
    normal, oracle = left.arm(NORMAL), left.arm(ORACLE)
    calls = [arm.fields.calls if arm.fields is not None else None for arm in (normal, oracle) if arm is not None]
    counted = [call for call in calls if call is not None]
    if calls and len(counted) == len(calls) and sum(counted) != len(requests):
        yield f"the evidence counts {' + '.join(map(str, counted))} calls, the provider {len(requests)} requests"
    if normal is None or oracle is None or calls[0] is None:
        return
    longest: dict[str | None, int] = {}
    asked = [request for request in requests if request.purpose == "answer"]
    for request in asked:
        longest[request.question] = max(longest.get(request.question, 0), request.length)
    first = min((request.n for request in asked if request.length < longest[request.question]), default=None)
    last = max((request.n for request in asked if request.length == longest[request.question]), default=0)
    if first is not None and not (last < first and first > counted[0]):
        yield f"the oracle's first request is number {first}, the normal arm's last one {max(last, counted[0])}"
