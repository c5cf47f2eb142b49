"""What the fuzzer holds checkpoints, streams, jobs and writers to: sound ones have no fault, and each lie is one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from aef_verify.conformance.contract import perform
from aef_verify.problems import InputError
from aef_verify.schemas import accepts
from scripts import fuzz
from scripts.fuzzing import checks
from scripts.fuzzing.cases import Case, changed, given_operations
from scripts.fuzzing.checks import check
from scripts.fuzzing.edits import edited
from scripts.fuzzing.evidence import Runs, statuses, unearned
from scripts.fuzzing.jobs import corpus_cases
from scripts.fuzzing.operations import AT, JOB, RELEASE, REQUEST, SCENARIO, SECRET, STREAM, TARGETS
from scripts.fuzzing.releases import MANIFEST, settled
from tests.properties.both_paths import both_paths

FIXTURES = Path(fuzz.__file__).resolve().parent.parent / "fixtures"
LATER = "2026-11-20T00:00:00Z"

Answered = Callable[[Sequence[str]], Any]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return given_operations(str(FIXTURES), (FIXTURES / "policy.json").read_bytes())


def of(cases: list[Case], target: str) -> Case:
    return next(case for case in cases if case.target == target)


def kinds(case: Case, place: Path, answered: Answered = perform, *, shown: bool = False) -> set[str]:
    with both_paths() as both, patch.object(checks, "perform", answered):
        return {fault.kind for fault in check(case, str(place / "case"), both, shown=shown).faults}


def test_the_fixtures_give_sound_cases_of_every_operation(cases: list[Case], tmp_path: Path) -> None:
    assert {case.target for case in cases} == {RELEASE, STREAM, JOB, SCENARIO, REQUEST}
    for target in (RELEASE, STREAM, JOB, SCENARIO, REQUEST):
        assert kinds(of(cases, target), tmp_path, shown=True) == set()


def lying(name: str, lie: Callable[[Sequence[str], Any], Any]) -> Answered:
    return lambda call: lie(call, perform(call)) if call[0] == name else perform(call)


def otherwise(call: Sequence[str], value: Any) -> Any:
    first, *rest = value["lanes"]
    status = "failed" if first["result"]["status"] == "passed" else "passed"
    return {**value, "lanes": [{**first, "result": {"status": status}}, *rest]}


def told(call: Sequence[str], value: Any) -> Any:
    Path(call[4], "notes.txt").write_text(f"the key is {SECRET}")
    return value


def cut(call: Sequence[str], value: Any) -> Any:
    events = Path(call[4], "events.ndjson")
    events.write_bytes(b"".join(events.read_bytes().splitlines(keepends=True)[:-1]))
    return value


def broken(call: Sequence[str], value: Any) -> Any:
    (run, *_) = Path(call[4], "runs").iterdir()
    Path(run, "more.txt").write_bytes(b"")
    return value


def refused_late(call: Sequence[str], value: Any) -> Any:
    raise InputError("it is written already")


LIES: dict[str, tuple[str, str, Callable[[Sequence[str], Any], Any], str]] = {
    "a lane is told otherwise": (RELEASE, "lanes", otherwise, "lanes: a status that the files do not give"),
    "anchors stay": (
        RELEASE,
        "lanes",
        lambda call, value: {**value, "anchors": ["0" * 64], "problems": [["lanes/a", "lane-result"]]},
        "lanes: anchors beside problems",
    ),
    "a job tells": (JOB, "job", told, "job: a credential is written"),
    "a job has no end": (JOB, "job", cut, "job: what was written does not keep to the plan"),
    "a job's run is changed": (JOB, "job", broken, "job: a run is invalid"),
    "a job is refused late": (JOB, "job", refused_late, "job: refused, and something is written"),
    "a run is refused late": (SCENARIO, "produce", refused_late, "produce: refused, and something is written"),
    "results are miscounted": (SCENARIO, "produce", lambda call, value: {"results": 99}, "produce: results miscounted"),
    "a summary is another": (
        REQUEST,
        "summarize",
        lambda call, value: {**value, "runId": "another"},
        "summarize: the run's own verifier objects",
    ),
    "a stream is out of order": (
        STREAM,
        "stream",
        lambda call, value: {"problems": [["event:10", "seq"], ["event:9", "seq"]]},
        "stream: malformed answer",
    ),
    "codes are out of order": (
        RELEASE,
        "checkpoint",
        lambda call, value: {**value, "problems": ["version", "lanes"]},
        "checkpoint: malformed answer",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_a_fault(lie: str, cases: list[Case], tmp_path: Path) -> None:
    target, name, told_instead, kind = LIES[lie]
    assert kind in kinds(of(cases, target), tmp_path, lying(name, told_instead))


def written(case: Case, place: Path) -> tuple[str, str]:
    policy = place / "policy.json"
    policy.write_bytes(case.policy)
    return case.files.write(place / "case"), str(policy)


def test_what_is_approved_has_earned_it(cases: list[Case], tmp_path: Path) -> None:
    """[LANE-1] [DEC-2] [CKP-10]: an approval that the files do not give is a fault, whatever is shown."""
    for number, case in enumerate(case for case in cases if case.target == RELEASE):
        (tmp_path / str(number)).mkdir()
        folder, policy = written(case, tmp_path / str(number))
        manifest = case.files.document(MANIFEST)
        assert list(unearned(manifest, Runs(folder, policy), AT)) == []
        assert list(unearned(manifest, Runs(folder, policy), LATER)) != []
        assert list(unearned(manifest, Runs(folder, policy), AT, newer="99")) != []
        shown = {"approves": True, "problems": [], "runsGiven": True, "policyGiven": False, "decisionNow": None}
        faults = TARGETS[RELEASE].faults
        assert list(faults(folder, policy, "", ["aef checkpoint"], shown)) == []
        results = next(Path(folder).glob("*/results.ndjson"))
        results.write_bytes(results.read_bytes() + b"{}\n")
        (fault, *_) = faults(folder, policy, "", ["aef checkpoint"], shown)
        assert fault.kind == "aef checkpoint: approves what has not earned it"


def test_an_approval_that_was_not_recorded_is_a_fault(cases: list[Case], tmp_path: Path) -> None:
    case = of(cases, RELEASE)
    manifest = case.files.document(MANIFEST) | {"outcome": "blocked"}
    folder, policy = written(
        case._replace(files=case.files.replacing({MANIFEST: json.dumps(manifest).encode()})), tmp_path
    )
    shown = {"approves": False, "decisionNow": {"outcome": "approved"}}
    (fault,) = TARGETS[RELEASE].faults(folder, policy, "", ["aef checkpoint"], shown)
    assert fault.kind == "aef checkpoint: an approval that was not recorded"


def test_a_release_is_made_consistent_with_its_changes(cases: list[Case], tmp_path: Path) -> None:
    """A vendor who seals, decides and signs anew gets beyond the problems of his changes, to what they amount to."""
    case = of(cases, RELEASE)
    name = next(path for path in case.files if path.endswith("/run.json"))
    run = case.files.document(name)
    run["execution"]["targetMode"] = "scripted"
    files = case.files.replacing({name: json.dumps(run).encode()})

    class Always(Random):
        def randrange(self, *bounds: int) -> int:  # type: ignore[override]  # only ever called with one
            return 0

    changes: list[str] = []
    files = settled(Always(), files, case.files, changes)
    assert changes == ["sealed anew", "decided anew", "signed anew"]
    folder, policy = written(case._replace(files=files), tmp_path)
    answer: Any = perform(["lanes", f"{folder}/{MANIFEST}", "--runs", folder, "--policy", policy])
    assert answer["problems"] == []
    assert "not_measured" in statuses(files.document(MANIFEST), Runs(folder, policy))


def test_changes_of_a_release_are_the_same_for_a_seed(cases: list[Case]) -> None:
    for case in cases:
        assert changed(Random(5), case) == changed(Random(5), case)


@pytest.mark.skipif(not os.environ.get("AEF_CORPUS"), reason="AEF_CORPUS names no corpus")
def test_the_vectors_of_a_corpus_are_cases(tmp_path: Path) -> None:
    found = corpus_cases(os.environ["AEF_CORPUS"])
    assert {target for target, _ in found} == set(TARGETS)
    policy = (FIXTURES / "policy.json").read_bytes()
    for target in TARGETS:
        files = next(files for name, files in found if name == target)
        assert kinds(Case(target, files, policy), tmp_path) == set()


def test_edits_of_a_release_stay_readable(cases: list[Case]) -> None:
    """They reach the rules of lanes: no reader's schema refuses them."""
    chance = Random(7)
    case = of(cases, RELEASE)
    said = set()
    for _ in range(200):
        description, files = edited(chance, case.files)
        said.add(description)
        assert accepts("checkpoint", "reader", files.document(MANIFEST)), description
    assert len(said) > 12
