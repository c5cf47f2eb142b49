"""Running vectors ([CONF-3]): made ready, several at once, skipped, unsupported, and nothing left behind."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from aef_verify.conformance import contract, recipes, runner
from aef_verify.conformance.drive import Answer, Reply
from aef_verify.conformance.index import Vector
from aef_verify.conformance.operation import Operation, Options
from aef_verify.conformance.runner import FAILED, PASSED, SKIPPED, UNSUPPORTED, judge_vector, run
from tests.conformance.small_corpus import FakeProgram, SmallCorpus

PATHS = [{"name": "a", "paths": [".x"], "problems": [[".x", "path"]]}]
EXPECTED = {"run": "run", "outcome": "unsealed", "problems": []}
ANSWER = {"outcome": "unsealed", "problems": []}


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where scratch folders go, which must be empty afterwards."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def generated(small: SmallCorpus, *steps: object) -> None:
    small.add("base", "run", {"run/run.json": b"{}"}, EXPECTED)
    small.add("v", "run", {"policy.json": b"{}"}, {**EXPECTED, "generate": list(steps)})


def test_a_generated_vector_is_made_in_a_copy_that_is_removed(small: SmallCorpus, scratch: Path) -> None:
    generated(small, {"copy": ["base/run", "run"]}, {"write": ["run/x", [["x", 2]]]})
    seen: list[dict[str, bytes]] = []

    def driver(words: Sequence[str]) -> Reply:
        folder = Path(words[1]).parent
        assert scratch in folder.parents
        seen.append({str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()})
        return Answer(ANSWER)

    corpus, vector = small.vector("v")
    assert judge_vector(corpus, vector, driver).outcome == PASSED
    assert set(seen[0]) == {"expected.json", "policy.json", "run/run.json", "run/x"}
    assert seen[0]["run/x"] == b"xx"
    assert list(scratch.iterdir()) == []


def test_a_recipe_that_escapes_fails_its_vector_and_the_operation_never_runs(small: SmallCorpus, scratch: Path) -> None:
    generated(small, {"write": ["../../escaped", [["x", 1]]]})

    def driver(words: Sequence[str]) -> Reply:
        raise AssertionError("performed")

    corpus, vector = small.vector("v")
    verdict = judge_vector(corpus, vector, driver)
    assert verdict.outcome == FAILED
    assert verdict.lines[0].startswith("corpus: expected.json: generate[0]: write: '../../escaped' is no path")
    assert list(scratch.iterdir()) == []


def test_what_the_platform_cannot_do_is_skipped(small: SmallCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(*arguments: object) -> None:
        raise recipes.SkippedError("this platform makes no symbolic links here")

    monkeypatch.setitem(recipes.STEPS, "link", cannot)
    generated(small, {"link": ["run", "policy.json"]})
    corpus, vector = small.vector("v")
    verdict = judge_vector(corpus, vector, lambda words: Answer(ANSWER))
    assert (verdict.outcome, verdict.lines) == (SKIPPED, ("this platform makes no symbolic links here",))


def test_a_full_scratch_disk_fails_the_vector(small: SmallCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    small.add("v", "run", {"run/run.json": b"{}"}, EXPECTED)
    corpus, vector = small.vector("v")

    def full(**options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", full)
    verdict = judge_vector(corpus, vector, lambda words: Answer(ANSWER))
    assert verdict.lines[0].startswith("scratch folder: ")
    assert "No space left on device" in verdict.lines[0]


def test_an_unsupported_kind_is_said_and_still_checked(small: SmallCorpus) -> None:
    small.add("v", "hologram", {"a": b"1"}, {})
    corpus, vector = small.vector("v")
    verdict = judge_vector(corpus, vector, lambda words: Answer(None))
    assert (verdict.outcome, verdict.lines) == (UNSUPPORTED, ("not supported yet: hologram",))
    (small.root / "v/a").write_bytes(b"2")
    assert judge_vector(corpus, vector, lambda words: Answer(None)).outcome == FAILED


def several(small: SmallCorpus) -> None:
    for number in range(6):
        small.add_file(f"{number}.json", "paths", PATHS if number != 3 else [{**PATHS[0], "problems": []}])


@pytest.mark.parametrize("jobs", [1, 2])
def test_in_process_the_verdicts_keep_their_order(small: SmallCorpus, jobs: int, scratch: Path) -> None:
    several(small)
    corpus = small.load()
    done: list[tuple[int, int]] = []
    verdicts = run(corpus, corpus.vectors, jobs=jobs, progress=lambda one, all_: done.append((one, all_)))
    assert [verdict.vector.id for verdict in verdicts] == [f"{number}.json" for number in range(6)]
    assert [verdict.outcome for verdict in verdicts] == [PASSED] * 3 + [FAILED] + [PASSED] * 2
    assert done == [(number, 6) for number in range(1, 7)]
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_program_is_driven_in_threads(small: SmallCorpus, fake: FakeProgram, jobs: int) -> None:
    several(small)
    corpus = small.load()
    fake.says("paths", [{"name": "a", "problems": [[".x", "path"]]}])
    verdicts = run(corpus, corpus.vectors, program=fake.program, jobs=jobs)
    assert [verdict.outcome for verdict in verdicts] == [PASSED] * 3 + [FAILED] + [PASSED] * 2
    assert len(fake.calls) == 6


def test_a_process_that_dies_fails_its_vector_only(
    small: SmallCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several(small)
    corpus = small.load()
    monkeypatch.setattr(runner, "_judge_here", dies_at_2)
    verdicts = run(corpus, corpus.vectors, jobs=2)
    assert [verdict.outcome for verdict in verdicts] == [PASSED] * 2 + [FAILED] + [PASSED] * 3
    assert verdicts[2].lines == ("the process that judged it died",)


def dies_at_2(vector: Vector) -> runner.Verdict:
    if vector.id == "2.json":
        os.kill(os.getpid(), signal.SIGKILL)
    return runner.Verdict(vector, PASSED)


def test_an_interrupt_ends_the_programs_and_leaves_nothing(
    small: SmallCorpus, fake: FakeProgram, scratch: Path
) -> None:
    small.add("slow", "run", {"run/run.json": b"{}"}, EXPECTED)
    several(small)
    fake.says("run", hang=True).says("paths", [])

    def interrupt(done: int, all_vectors: int) -> None:
        raise KeyboardInterrupt

    corpus = small.load()
    with pytest.raises(KeyboardInterrupt):
        run(corpus, corpus.vectors, program=fake.program, jobs=2, progress=interrupt)
    assert list(scratch.iterdir()) == []


def test_a_crash_in_process_is_a_failure_of_its_vector(small: SmallCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(arguments: Sequence[str], options: Options) -> object:
        raise RecursionError("too deep")

    monkeypatch.setitem(contract.OPERATIONS, "paths", Operation(crash, ("FILE",)))
    small.add_file("a.json", "paths", PATHS)
    corpus = small.load()
    assert run(corpus, corpus.vectors)[0].lines == ("paths: unexpected failure: RecursionError: too deep",)
