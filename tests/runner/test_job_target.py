"""Any target that keeps the interface runs as a job; what it does wrong never gets out [PLAN-3], [PLAN-9], [RUN-5]."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aef_verify.run.results import result_id
from aef_verify.runner.clock import Clock, SteadyClock
from aef_verify.runner.job import JobResult, run_plan
from aef_verify.runner.plan import Plan, load_runner
from aef_verify.runner.scripted import PATH, ScriptedSuite, load_target
from aef_verify.runner.target import Closing, Opening, Outcome, RunContent
from tests.building import result
from tests.runner import jobbing
from tests.runner.jobbing import AT, Json, case, plan, read, runner, suite, target

SECRET = "sk-0123456789abcdef"
REFERENCE = {"name": "KEY", "scheme": "env", "path": "PLACE_OF_KEY", "purpose": "subject"}


class LiveCase(NamedTuple):
    case_id: str
    usd_low: float = 0.0
    usd_bound: float = 0.5
    seconds_bound: int = 5


class LiveRun:
    """A run whose cases are answered by a function."""

    def __init__(self, opening: Opening, answer: Callable[[int], Outcome], changes: Json) -> None:
        self.opening = opening
        self.answer = answer
        self.changes = changes
        self.states: list[str] = []
        self.closing: Closing | None = None

    def run_case(self, place: int) -> Outcome:
        outcome = self.answer(place)
        self.states.append(outcome.state)
        return outcome

    def close(self, closing: Closing) -> RunContent:
        self.closing = closing
        run_id = self.opening.run_id
        lines = []
        for number, state in enumerate(self.states):
            line = result(str(number), PATH, state=state)
            lines.append(line | {"resultId": result_id(run_id, str(number), PATH)})
        content = RunContent(
            results=lines,
            metrics={"schemaVersion": "1.0", "metrics": []},
            summary={"schemaVersion": "1.0", "runId": run_id, "lanes": []},
        )
        return content._replace(**self.changes)


class LiveSuite(NamedTuple):
    digest: str
    cases: Sequence[LiveCase]
    answer: Callable[[int], Outcome]
    changes: Json
    opened: list[LiveRun]

    def open(self, opening: Opening) -> LiveRun:
        run = LiveRun(opening, self.answer, self.changes)
        self.opened.append(run)
        return run


class Live:
    """A live target with one suite, on a clock whose seconds are the calls of it."""

    target_mode = "live"
    isolations = frozenset(("process",))
    keeps_time = True
    price_table = "prices-1"
    close_seconds = 1

    def __init__(self, answer: Callable[[int], Outcome], cases: int = 3, **changes: Any) -> None:
        self.suite_a = LiveSuite(jobbing.DIGEST, [LiveCase(str(n)) for n in range(cases)], answer, changes, [])
        self.reason: str | None = None
        self.ticks = 0

    def refusal(self, plan: Plan) -> str | None:
        return self.reason

    def clock(self, at: str) -> Clock:
        def tick() -> int:
            self.ticks += 1
            return self.ticks * 10**9

        return SteadyClock(at, tick)

    def suite(self, ref: str, version: str) -> LiveSuite | None:
        return self.suite_a if (ref, version) == ("suite:a", "1") else None

    @property
    def run(self) -> LiveRun:
        (run,) = self.suite_a.opened
        return run


def passed(place: int) -> Outcome:
    return Outcome("passed", 0.25)


def perform(folder: Path, live: Live, environment: dict[str, str] | None = None, **members: Any) -> JobResult:
    asked = plan(targetMode=None, **members)
    (folder / "plan.json").write_text(json.dumps(asked))
    manifest = load_runner(json.dumps(runner(targetModes=None)).encode())
    data = (folder / "plan.json").read_bytes()
    return run_plan(data, manifest, live, str(folder / "out"), at=AT, environment=environment or {})


def kinds(folder: Path) -> list[str]:
    return [event["kind"] for event in read(folder / "out")]


def check(folder: Path, result: JobResult | None) -> None:
    """Show that a verifier finds nothing wrong with what a job wrote."""
    ran = jobbing.Ran(result, read(folder / "out"), folder / "out", folder / "plan.json")  # type: ignore[arg-type]
    assert jobbing.problems(ran) == []


def test_a_live_target_runs_as_a_job(tmp_path: Path) -> None:
    header = {"judges": [{"model": "m"}], "subject": {"ref": "agent:another"}, "runId": "another", "status": "running"}
    live = Live(passed, header=header, blobs=[b"kept"], ext={"mine/notes.txt": b"notes"})
    done = perform(tmp_path, live, judges=[{"model": "m"}])
    assert (done.terminal, done.target_mode, done.spent_usd) == ("job.sealed", "live", 0.75)
    assert done.ended_at == read(tmp_path / "out")[-1]["at"]
    (run,) = done.runs
    document = json.loads((Path(run.path) / "run.json").read_text())
    assert document["judges"] == [{"model": "m"}]
    assert document["subject"]["ref"] == "agent:triage"
    assert (document["runId"], document["status"]) == (run.run_id, "completed")
    assert (Path(run.path) / "ext/mine/notes.txt").read_bytes() == b"notes"
    closing = live.run.closing
    assert closing == (document["startedAt"], document["endedAt"], None)
    check(tmp_path, done)


def test_plan3_a_target_has_the_values_of_its_credentials(tmp_path: Path) -> None:
    live = Live(passed)
    assert perform(tmp_path, live, {"PLACE_OF_KEY": SECRET}, credentialRefs=[REFERENCE]).terminal == "job.sealed"
    assert live.run.opening.credentials.of("subject") == {"KEY": SECRET}
    assert live.run.opening.content is True


def test_plan7_a_target_may_refuse_a_plan(tmp_path: Path) -> None:
    live = Live(passed)
    live.reason = "no model of that name is served here"
    assert perform(tmp_path, live).reason == live.reason
    assert kinds(tmp_path) == ["job.refused"]


def test_plan9_a_target_without_deadlines_takes_no_plan_with_a_timeout(tmp_path: Path) -> None:
    live = Live(passed)
    live.keeps_time = False
    assert "PLAN-9" in str(perform(tmp_path, live, limits={"maxUsd": 9, "timeout": "PT1H"}).reason)
    (tmp_path / "out" / "events.ndjson").unlink()
    assert perform(tmp_path, live, limits={"maxUsd": 9}).terminal == "job.sealed"


def test_plan8_a_suite_without_a_case_is_refused(tmp_path: Path) -> None:
    assert "has no case" in str(perform(tmp_path, Live(passed, cases=0)).reason)


def test_run5_a_target_is_told_why_its_run_is_aborted(tmp_path: Path) -> None:
    live = Live(passed)
    done = perform(tmp_path, live, limits={"maxUsd": 9, "cases": 2})
    assert live.run.closing is not None
    assert live.run.closing.abort_reason == done.reason
    check(tmp_path, done)


def test_run5_a_target_may_end_its_run(tmp_path: Path) -> None:
    live = Live(lambda place: Outcome("error", 0, ends="the provider is gone" if place == 1 else None))
    done = perform(tmp_path, live)
    assert (done.terminal, done.limit, done.reason) == ("job.failed", None, "the provider is gone")
    assert [(run.status, run.cases) for run in done.runs] == [("aborted", 2)]
    check(tmp_path, done)


def failing(fault: BaseException) -> Callable[[int], Outcome]:
    def answer(place: int) -> Outcome:
        if place == 1:
            raise fault
        return passed(place)

    return answer


def test_strm1_an_interrupt_cancels_the_job(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        perform(tmp_path, Live(failing(KeyboardInterrupt())))
    assert kinds(tmp_path)[-1] == "job.cancelled"
    assert not (tmp_path / "out" / "runs").exists()
    check(tmp_path, None)


def test_strm1_a_failure_of_the_target_ends_the_stream_without_its_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="odd"):
        perform(tmp_path, Live(failing(ValueError("odd"))))
    assert read(tmp_path / "out")[-1]["reason"] == "the runner failed: ValueError"
    check(tmp_path, None)


def test_plan3_a_failure_with_a_secret_in_its_words_is_not_passed_on(tmp_path: Path) -> None:
    live = Live(failing(ValueError(f"401 for {SECRET}")))
    with pytest.raises(RuntimeError, match="in words that hold a credential") as fault:
        perform(tmp_path, live, {"PLACE_OF_KEY": SECRET}, credentialRefs=[REFERENCE])
    assert SECRET not in "".join(traceback.format_exception(fault.value))
    assert SECRET.encode() not in (tmp_path / "out" / "events.ndjson").read_bytes()


@pytest.mark.parametrize("where", ["header", "blobs", "ext", "results"])
def test_plan3_a_run_that_repeats_a_secret_is_not_written(where: str, tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "header": {"ext": {"note": f"x{SECRET}"}},
        "blobs": [SECRET.encode()],
        "ext": {"notes.txt": f"x{SECRET}".encode()},
        "results": [result("0", PATH, evaluator={"id": SECRET})],
    }
    live = Live(passed, **{where: changes[where]})
    done = perform(tmp_path, live, {"PLACE_OF_KEY": SECRET}, credentialRefs=[REFERENCE])
    assert (done.terminal, done.limit, done.runs) == ("job.failed", None, ())
    assert "PLAN-3" in str(done.reason)
    assert not (tmp_path / "out" / "runs").exists()
    check(tmp_path, done)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("pending", 0),
        Outcome("passed", -0.25),
        Outcome("passed", float("nan")),
        Outcome("passed", float("inf")),
        Outcome("passed", 0, -1),
        Outcome("passed", 0, ends=""),
        Outcome("passed", 0, ends="x" * 2049),
    ],
)
def test_an_outcome_that_no_case_has_ends_the_job(outcome: Outcome, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a case"):
        perform(tmp_path, Live(lambda place: outcome))
    assert kinds(tmp_path)[-1] == "job.failed"
    check(tmp_path, None)


def test_a_run_that_would_not_be_valid_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="results"):
        perform(tmp_path, Live(passed, results=[result("0", PATH, state="odd")]))
    assert kinds(tmp_path)[-1] == "job.failed"
    assert not (tmp_path / "out" / "runs").exists()


def test_plan9_a_case_above_its_bound_is_reported_as_it_is(tmp_path: Path) -> None:
    done = perform(tmp_path, Live(lambda place: Outcome("passed", 2)), limits={"maxUsd": 2.5})
    assert (done.terminal, done.limit, done.spent_usd) == ("job.failed", "maxUsd", 4)


def test_a_scripted_suite_keeps_the_interface() -> None:
    found = load_target(json.dumps(target(suite("suite:a", case("1")))).encode())
    assert isinstance(found.suite("suite:a", "1"), ScriptedSuite)
