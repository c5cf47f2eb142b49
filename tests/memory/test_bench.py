"""Both arms: what is on disk after each interruption, exit codes, and evidence that cannot be written."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aef_verify.memory import bench, definition
from aef_verify.memory.agents import BUILT_IN
from aef_verify.memory.bench import BenchResult, Evidence, Settings, groups, run_bench
from aef_verify.memory.dataset import open_dataset
from aef_verify.memory.model import ArmResult
from aef_verify.memory.pair import check_pairs
from aef_verify.memory.pair_arm import read_arm
from aef_verify.provider.client import Reply
from aef_verify.run.verify import verify_run
from tests.cli.calling import fill, read_only, small_disk
from tests.memory.arms import aborted, arm, outcome
from tests.memory.asking import CALLS, Call, FakeClient, lost, never, reply
from tests.memory.datasets import entry, write

Run = Callable[..., BenchResult]


class Bench:
    """Runs benchmarks over four questions with a client in place of the real one."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.destination = folder / "evidence"
        self.dataset = write(folder, [entry(f"q{number}") for number in range(1, 5)])
        self._patch = patch

    def settings(self, **changed: Any) -> Settings:
        dataset = open_dataset(self.dataset)
        usual = Settings(
            dataset=dataset,
            roster=dataset.items,
            preset="full",
            seed=0,
            subject=("agent:my-agent", "1.0"),
            agent=BUILT_IN["full-history"],
            calls=CALLS,
            answer_version=None,
            judge_provider=None,
            threshold="50",
            paired=True,
            evidence=Evidence(str(self.destination)),
            content=False,
            concurrency=1,
            timeout=1,
            retries=0,
            offline=True,
            scripted=False,
            version="0.1.0",
        )
        return usual._replace(**changed)

    def run(
        self,
        client: FakeClient | None = None,
        *,
        stop: asyncio.Event | None = None,
        settings: Settings | None = None,
        **changed: Any,
    ) -> BenchResult:
        self._patch.setattr(bench, "Client", lambda **bounds: client or FakeClient())
        return run_bench(settings or self.settings(**changed), stop=stop or asyncio.Event())

    def stopped_at(self, call: int, **changed: Any) -> BenchResult:
        """Run until this call, which never ends, and stop then."""
        stop = asyncio.Event()

        async def hold() -> Reply:
            stop.set()
            return await never()

        client = FakeClient(lambda asked: hold() if len(client.calls) >= call else reply())
        return self.run(client, stop=stop, **changed)

    def on_disk(self) -> str:
        """Say what is there: every run is read, and none may have a problem."""
        runs = [verify_run(str(path.parent)) for path in sorted(self.destination.rglob("run.json"))]
        assert [problem for run in runs for problem in run.problems] == []
        assert list(self.destination.glob(".aef-tmp-*")) == []
        arms = [found for found in map(read_arm, runs) if found is not None]
        words = [f"{found.role} {found.status} {found.fields.observed}" for found in arms if found.fields is not None]
        pairs = [pair.outcome for pair in check_pairs(arms)]
        return "; ".join([*sorted(words), *pairs])


@pytest.fixture
def benches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_both_arms_are_written_and_linked(benches: Bench) -> None:
    result = benches.run()
    assert benches.on_disk() == "normal completed 4; oracle completed 4; linked"
    assert [written.path for written in result.written] == [
        str(benches.destination / f"lme-{result.normal.pair_id}-{role}")  # type: ignore[union-attr]  # there is one
        for role in ("normal", "oracle")
    ]
    assert (result.gap, result.outcome, result.exit_code(interrupted=False)) == (0.0, "ship", 0)


def test_the_oracle_is_asked_after_the_last_of_the_normal_arm_and_over_gold_alone(benches: Bench) -> None:
    client = FakeClient()
    benches.run(client, concurrency=4)
    answers = [place for place, call in enumerate(client.calls) if call.purpose == "answer"]
    whole = ["Ahoy" in client.calls[place].text for place in answers]
    assert whole == [True] * 4 + [False] * 4
    assert answers[4] == 8


def test_unsealed_arms_are_linked_unsealed(benches: Bench) -> None:
    benches.run(evidence=Evidence(str(benches.destination), seal=False))
    assert benches.on_disk().endswith("linked-unsealed")


def test_an_arm_alone_is_no_pair(benches: Bench) -> None:
    result = benches.run(paired=False)
    assert (benches.on_disk(), len(result.written), result.oracle) == ("", 1, None)


def test_no_evidence_is_written_where_none_is_wanted(benches: Bench) -> None:
    result = benches.run(evidence=None)
    assert (result.written, benches.destination.exists(), result.exit_code(interrupted=False)) == ((), False, 0)
    assert result.oracle is not None


# Interruption


def test_before_the_normal_arm_is_prepared_nothing_is_left(benches: Bench) -> None:
    stop = asyncio.Event()
    stop.set()
    result = benches.run(stop=stop)
    assert (result.normal, benches.on_disk(), result.exit_code(interrupted=True)) == (None, "", 1)


def test_before_the_first_question_an_empty_normal_run_is_left(benches: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = asyncio.Event()
    prepared = definition.arm_definition

    def prepare(**members: Any) -> dict[str, Any]:
        stop.set()
        return prepared(**members)

    monkeypatch.setattr(bench, "arm_definition", prepare)
    result = benches.run(stop=stop)
    assert benches.on_disk() == "normal aborted 0; normal-only"
    assert (result.oracle, result.outcome, result.exit_code(interrupted=False)) == (None, None, 1)
    held = json.loads(next(benches.destination.glob("*/ext/longmemeval/definition.json")).read_bytes())
    assert len(held["roster"]) == 4


@pytest.mark.parametrize(("call", "observed"), [(1, 1), (2, 1), (3, 2), (8, 4)])
def test_during_the_normal_arm_what_was_observed_is_left(benches: Bench, call: int, observed: int) -> None:
    result = benches.stopped_at(call)
    assert benches.on_disk() == f"normal aborted {observed}; normal-only"
    assert (result.oracle, result.outcome, result.gap) == (None, None, None)
    assert result.exit_code(interrupted=False) == 1


@pytest.mark.parametrize("step", ["write_arm", "project"])
def test_between_the_arms_the_normal_run_alone_is_left(
    benches: Bench, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    stop = asyncio.Event()
    usual = getattr(bench, step)

    def stopping(*arguments: Any, **named: Any) -> Any:
        stop.set()
        return usual(*arguments, **named)

    monkeypatch.setattr(bench, step, stopping)
    result = benches.run(stop=stop)
    assert benches.on_disk() == "normal completed 4; normal-only"
    assert (result.oracle, result.outcome, result.exit_code(interrupted=True)) == (None, "ship", 1)


@pytest.mark.parametrize(("call", "observed"), [(9, 1), (11, 2), (16, 4)])
def test_in_the_oracle_arm_both_are_left_and_linked(benches: Bench, call: int, observed: int) -> None:
    result = benches.stopped_at(call)
    assert benches.on_disk() == f"normal completed 4; oracle aborted {observed}; linked"
    assert (result.outcome, result.gap, result.exit_code(interrupted=False)) == ("ship", None, 1)


def test_once_the_oracle_is_prepared_an_empty_run_is_left(benches: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = asyncio.Event()
    usual = definition.arm_definition

    def prepare(**members: Any) -> dict[str, Any]:
        if members["arm"] == "oracle":
            stop.set()
        return usual(**members)

    monkeypatch.setattr(bench, "arm_definition", prepare)
    benches.run(stop=stop)
    assert benches.on_disk() == "normal completed 4; oracle aborted 0; linked"


def test_a_provider_that_stays_down_leaves_an_aborted_arm(benches: Bench, tmp_path: Path) -> None:
    benches.dataset = write(tmp_path, [entry(f"q{number}") for number in range(1, 15)])
    result = benches.run(FakeClient(lambda call: lost()))
    assert benches.on_disk() == "normal aborted 10; normal-only"
    assert result.exit_code(interrupted=False) == 1
    assert result.normal is not None
    assert result.normal.abort_reason == "provider-unavailable"


@pytest.mark.parametrize(
    ("call", "left"),
    [(3, "normal aborted 2; normal-only"), (11, "normal completed 4; oracle aborted 2; linked")],
)
def test_a_cancelled_benchmark_leaves_its_evidence(
    benches: Bench, monkeypatch: pytest.MonkeyPatch, call: int, left: str
) -> None:
    async def run() -> None:
        held = asyncio.Event()

        async def hold() -> Reply:
            held.set()
            return await never()

        client = FakeClient(lambda asked: hold() if len(client.calls) >= call else reply())
        monkeypatch.setattr(bench, "Client", lambda **bounds: client)
        running = asyncio.create_task(bench.bench(benches.settings(), stop=asyncio.Event()))
        await held.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(run())
    assert benches.on_disk() == left


def test_written_evidence_is_not_written_again(benches: Bench) -> None:
    first = benches.run()
    before = {path: path.read_bytes() for path in benches.destination.rglob("*") if path.is_file()}
    second = benches.run()
    assert {path: path.read_bytes() for path in before} == before
    assert {written.run_id for written in first.written}.isdisjoint(written.run_id for written in second.written)


def test_two_executions_have_one_definition(benches: Bench) -> None:
    results = [benches.run(), benches.run()]
    assert len({json.dumps(result.normal.definition) for result in results if result.normal}) == 1
    assert len({result.normal.pair_id for result in results if result.normal}) == 2


# The dataset changes meanwhile


def test_a_dataset_that_changes_between_the_arms_leaves_the_normal_result(benches: Bench) -> None:
    settings = benches.settings()

    def answering(call: Call) -> Reply:
        if len(client.calls) == 8:
            Path(benches.dataset).write_bytes(b"[]")
        return reply()

    client = FakeClient(answering)
    result = benches.run(client, settings=settings)
    assert benches.on_disk() == "normal completed 4; normal-only"
    assert "could not be prepared" in str(result.unprepared)
    assert result.exit_code(interrupted=False) == 1


# Evidence that cannot be written


@pytest.fixture
def disk(tmp_path: Path, benches: Bench) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "512k") as folder:
        benches.destination = folder
        yield folder


@pytest.mark.parametrize("breaking", [fill, read_only])
def test_what_cannot_be_written_is_exit_3_and_ends_the_benchmark(
    benches: Bench, disk: Path, breaking: Callable[[Path], object]
) -> None:
    client = FakeClient()
    breaking(disk)
    result = benches.run(client)
    assert len(client.calls) == 8
    assert (result.oracle, result.written, result.outcome) == (None, (), "ship")
    assert "the normal run could not be written" in str(result.unwritten)
    assert result.exit_code(interrupted=True) == 3


def test_an_oracle_that_cannot_be_written_leaves_the_normal_run(benches: Bench, disk: Path) -> None:
    def answering(call: Call) -> Reply:
        if len(client.calls) == 9:
            fill(disk)
        return reply()

    client = FakeClient(answering)
    result = benches.run(client)
    os.unlink(disk / "ballast")
    assert benches.on_disk() == "normal completed 4; normal-only"
    assert "the oracle run could not be written" in str(result.unwritten)
    assert (result.gap, result.exit_code(interrupted=False)) == (0.0, 3)


# What a result says

WHOLE = arm(outcome("q1"), outcome("q2", "failed"))
ORACLE = arm(outcome("q1"), outcome("q2"), role="oracle")
NOTHING_SCORED = arm(outcome("q1", "error"), role="oracle")


def result(normal: ArmResult | None = WHOLE, oracle: ArmResult | None = ORACLE, **members: Any) -> BenchResult:
    usual = BenchResult(normal, oracle, (), None, "ship", None, {})
    return usual._replace(**members)


@pytest.mark.parametrize(
    ("found", "interrupted", "code"),
    [
        (result(), False, 0),
        (result(oracle=None), False, 0),
        (result(outcome="no_ship"), False, 1),
        (result(outcome="inconclusive"), False, 1),
        (result(), True, 1),
        (result(oracle=aborted(role="oracle")), False, 1),
        (result(aborted(), None, outcome=None), False, 1),
        (result(None, None, outcome=None), True, 1),
        (result(unprepared="changed"), False, 1),
        (result(unwritten="full"), False, 3),
        (result(unwritten="full"), True, 3),
        (result(aborted(), None, outcome=None, unwritten="full"), True, 3),
    ],
)
def test_exit_code(found: BenchResult, interrupted: bool, code: int) -> None:
    assert found.exit_code(interrupted=interrupted) == code


@pytest.mark.parametrize(
    ("found", "gap"),
    [
        (result(), 50.0),
        (result(oracle=None), None),
        (result(oracle=aborted(outcome("q1"), role="oracle")), None),
        (result(oracle=NOTHING_SCORED), None),
        (result(aborted(outcome("q1")), None), None),
    ],
)
def test_gap(found: BenchResult, gap: float | None) -> None:
    assert found.gap == gap


def test_groups_count_over_the_roster() -> None:
    found = arm(
        outcome("q1"),
        outcome("q2_abs", "error", type="multi-session"),
        outcome("q3", "failed", type="multi-session"),
    )
    roster = [outcome.question for outcome in found.outcomes]
    assert [tuple(group) for group in groups(found, roster)] == [
        ("overall", 1, 2, 3),
        ("single-session-user", 1, 1, 1),
        ("multi-session", 0, 1, 2),
        ("abstention", 0, 0, 1),
    ]
