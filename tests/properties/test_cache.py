"""A pass with a cache reports what one without reports, but for the mark, whatever happened to the runs in between.

Any run, signed or withheld from, sound or not, and any pair; any change in place; and any damage of the cache itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aef_verify.engine.cache_record import decoded, encoded
from aef_verify.engine.cache_store import NAME
from aef_verify.engine.evidence import verify_evidence
from aef_verify.engine.task import ArmAnswer, EntryAnswer, Task
from aef_verify.integrity.policy import load_policy
from aef_verify.report.assemble import run_entry
from aef_verify.report.model import EvidenceReport, Unverified
from aef_verify.strategies import PairFiles, Policy, RunFiles, mutations, pairs, runs, sealed_runs, signed_runs
from tests.engine.caching import plain, rested, tick
from tests.properties.effort import examples
from tests.properties.scratch import scratch


@contextmanager
def clock_ahead() -> Iterator[str]:
    """Give an empty folder, and let what is written there look old enough."""
    with pytest.MonkeyPatch.context() as patch, scratch() as folder:
        rested(patch)
        yield folder


def passed(folder: str, **options: Any) -> EvidenceReport:
    """Make a pass over the store in a folder, and hold it against one without a cache."""
    tick(folder)
    report = verify_evidence([f"{folder}/store"], cache=f"{folder}/cache", jobs=1, **options)
    assert report.cache is not None
    assert report.cache.warnings == ()
    assert plain(report) == verify_evidence([f"{folder}/store"], jobs=1, **options)
    return report


def is_cached(report: EvidenceReport) -> set[bool]:
    return {run.cached for run in report.runs}


def change(folder: str, before: RunFiles, after: RunFiles) -> None:
    """Make one run of another in place, touching only what differs."""
    for path in before:
        if path not in after:
            os.unlink(os.path.join(folder, path))
    for path, data in after.items():
        if before.get(path) != data:
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


@examples(40)
@given(runs(max_cases=2) | sealed_runs(max_cases=2), st.data())
def test_a_changed_run_never_comes_from_the_cache(run: RunFiles, data: st.DataObject) -> None:
    changed = data.draw(mutations(run)).files
    assume(dict(changed) != dict(run) and "run.json" in changed)
    assume(not any(other.startswith(f"{path}/") for path in run for other in changed))
    with clock_ahead() as folder:
        run.write(f"{folder}/store/run")
        assert is_cached(passed(folder)) == {False}
        assert is_cached(passed(folder)) == {True}
        tick(folder)
        change(f"{folder}/store/run", run, changed)
        assert is_cached(passed(folder)) == {False}
        assert is_cached(passed(folder)) == {True}


@examples(25)
@given(signed_runs())
def test_signers_come_from_the_cache_for_their_policy_alone(signed: tuple[RunFiles, Policy, list[str]]) -> None:
    run, trusted, _ = signed
    policy = load_policy(trusted.data)
    with clock_ahead() as folder:
        run.write(f"{folder}/store/run")
        assert is_cached(passed(folder, policy=policy)) == {False}
        assert is_cached(passed(folder, policy=policy)) == {True}
        assert is_cached(passed(folder)) == {False}
        assert is_cached(passed(folder, policy=policy, anchors=["00" * 32])) == {False}


@examples(25)
@given(pairs(), st.sampled_from(["normal", "oracle"]), st.data())
def test_pairs_of_cached_runs_are_the_same(found: PairFiles, role: str, data: st.DataObject) -> None:
    """Also of one cached arm, and one that was read again."""
    run: RunFiles = getattr(found, role)
    changed = data.draw(mutations(run)).files
    assume("run.json" in changed and not any(other.startswith(f"{path}/") for path in run for other in changed))
    with clock_ahead() as folder:
        normal, oracle = found.write(f"{folder}/store")
        passed(folder)
        report = passed(folder)
        assert (is_cached(report), len(report.pairs)) == ({True}, 1)
        tick(folder)
        change(normal if role == "normal" else oracle, run, changed)
        passed(folder)
        assert is_cached(passed(folder)) == {True}


def spelled(value: object) -> str:
    """Return a value as text, types and all; a set's members in one order, as theirs is not its own."""
    return re.sub(
        r"frozenset\(\{([^{}]*)\}\)", lambda found: str(sorted(found[1].split(", "))), repr(value), flags=re.DOTALL
    )


@examples(60)
@given(pairs() | sealed_runs(max_cases=2), st.data())
def test_a_record_gives_back_whatever_was_found(found: PairFiles | RunFiles, data: st.DataObject) -> None:
    run = found if isinstance(found, RunFiles) else found.normal
    with scratch() as folder:
        data.draw(mutations(run)).files.write(f"{folder}/run")
        answer = Task(None, None).answer(f"{folder}/run")
    assume(not isinstance(answer, Unverified))
    said = (
        EntryAnswer(run_entry(answer.report), answer.arm)
        if isinstance(answer, ArmAnswer)
        else EntryAnswer(run_entry(answer), None)
    )
    record = encoded(said)
    assert record is not None
    assert spelled(decoded(said.entry.path, record)) == spelled(said)
    moved = decoded("elsewhere", record)
    assert moved.entry.path == "elsewhere"
    assert moved.arm is None or moved.arm.path == "elsewhere"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """Fill a cache with two runs; return the folder around both, and the bytes of the cache."""
    from tests import building

    folder = str(tmp_path_factory.mktemp("filled"))
    building.full().seal().write(Path(folder, "store", "full"))
    building.small().seal().but(building.put("summary.json", "runId", "other")).write(Path(folder, "store", "small"))
    with pytest.MonkeyPatch.context() as patch:
        rested(patch)
        passed(folder)
    return folder, Path(folder, "cache", NAME).read_bytes()


@examples(150)
@given(st.data())
def test_no_damage_of_the_cache_changes_a_verdict(filled: tuple[str, bytes], data: st.DataObject) -> None:
    folder, whole = filled
    damaged = bytearray(whole)
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4)):
        damaged[place] ^= data.draw(st.integers(1, 255))
    if data.draw(st.booleans()):
        del damaged[data.draw(st.integers(0, len(whole))) :]
    file = Path(folder, "cache", NAME)
    for beside in file.parent.glob(f"{NAME}-*"):
        beside.unlink()
    file.write_bytes(damaged)
    with pytest.MonkeyPatch.context() as patch:
        rested(patch)
        report = verify_evidence([f"{folder}/store"], cache=f"{folder}/cache", jobs=1)
    assert plain(report) == verify_evidence([f"{folder}/store"], jobs=1)
