"""Judging jobs (09 §9.3): what this runner writes passes, and every way to write something else is named.

[PLAN-3], [PLAN-8] to [PLAN-10], [RUN-12], [STRM-3], [STRM-4]. A job is changed before a run of it is sealed, or in its
stream and folder afterwards.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from aef_verify.conformance.drive import Answer, Refusal, Reply, in_process
from aef_verify.conformance.runner import judge_vector
from aef_verify.run.results import result_id
from aef_verify.runner import running
from aef_verify.runner.job import run_job
from aef_verify.writing.run import ClosedRun, Written, publish_run
from tests.conformance.small_corpus import SmallCorpus
from tests.runner.jobbing import AT, DIGEST, Json, case, plan, runner, suite, target

PATH = "AEF_TEST_PLACE_OF_A_KEY"
REFERENCE = {"name": "KEY", "scheme": "env", "path": PATH, "purpose": "judge"}
PLAN = plan(
    {"ref": "suite:a", "version": "1", "lane": "quality", "digest": DIGEST},
    "suite:b",
    limits={"maxUsd": 9, "cases": 3},
    subject={"ref": "pipeline:x", "version": "1", "endpoint": "http://localhost/v1"},
    judges=[{"model": "m"}],
    credentialRefs=[REFERENCE],
)
FAILED = case("2", state="failed", severity="low", usd=0.1, usdBound=0.5)
TARGET = target(suite("suite:a", case("1"), FAILED), suite("suite:b", case("1"), case("2", state="error")))
EXPECTED: Json = {
    "plan": "plan.json",
    "runner": "runner.json",
    "target": "target.json",
    "at": AT,
    "env": {PATH: "set"},
    "terminal": "job.failed",
    "limit": "cases",
    "runs": [
        {
            "suite": {"ref": "suite:a", "version": "1"},
            "status": "completed",
            "cases": [["1", "passed"], ["2", "failed"]],
        },
        {"suite": {"ref": "suite:b", "version": "1"}, "status": "aborted", "cases": [["1", "passed"]]},
    ],
    "spentUsd": 0.6,
    "estimated": {"cases": 3, "usdLow": 0.6, "usdHigh": 1.0},
    "endsAt": "2026-10-09T09:01:02.000Z",
}
REFUSED: Json = EXPECTED | {
    "env": {PATH: "absent"},
    "terminal": "job.refused",
    "limit": None,
    "runs": [],
    "spentUsd": 0,
    "estimated": None,
    "endsAt": AT,
}

After = Callable[[Path], object]


def judged(
    small: SmallCorpus, after: After | None = None, expected: Json = EXPECTED, answer: object = None, **files: Any
) -> tuple[str, ...]:
    """Judge a vector whose operation is this runner's, and does something more with the folder afterwards."""
    documents = {"plan": PLAN, "runner": runner(), "target": TARGET} | files
    small.add(
        "v",
        "job",
        {
            f"{name}.json": given if isinstance(given, bytes) else json.dumps(given).encode()
            for name, given in documents.items()
        },
        expected,
    )

    def perform(words: Sequence[str]) -> Reply:
        reply = in_process(words)
        if after is not None:
            after(Path(words[4]))
        return reply if answer is None else Answer(answer)

    return judge_vector(*small.vector("v"), perform).lines


def test_what_this_runner_writes_passes(small: SmallCorpus) -> None:
    assert judged(small) == ()


@pytest.mark.parametrize("how", ["absent", "empty"])
def test_plan3_a_refusal_passes(how: str, small: SmallCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PATH, "set by somebody else")
    assert judged(small, expected=REFUSED | {"env": {PATH: how}}) == ()
    assert os.environ[PATH] == "set by somebody else"


def test_plan7_a_plan_that_the_reader_refuses_passes(small: SmallCorpus) -> None:
    assert judged(small, expected=REFUSED, plan=PLAN | {"schemaVersion": "2.0"}) == ()


def test_a_value_is_fresh_for_each_call(small: SmallCorpus) -> None:
    values = []

    def after(out: Path) -> None:
        values.append(os.environ[PATH])

    for corpus in (small, SmallCorpus(small.root.parent / "again")):
        judged(corpus, after)
    assert len(set(values)) == 2
    assert all(len(value) >= 16 for value in values)


@pytest.mark.parametrize(
    ("member", "value", "said"),
    [
        ("terminal", "job.sealed", "the last event: kind: expected"),
        ("terminal", "job.refused", "the first event: kind: expected"),
        ("limit", "maxUsd", "the last event: limit: expected"),
        ("limit", None, "the last event: limit: expected"),
        ("endsAt", "2026-10-09T09:01:02.000000001Z", "the last event: at: expected"),
        ("spentUsd", 0.6000000000000001, "the last spend.updated: expected"),
        ("estimated", None, "plan.estimated: 0 expected, got 1"),
        ("estimated", EXPECTED["estimated"] | {"usdHigh": 1.5}, "plan.estimated[0].usdHigh: expected"),
        ("runs", EXPECTED["runs"][:1], "how many runs were announced: expected 1, got 2"),
        ("runs", [EXPECTED["runs"][0], EXPECTED["runs"][1] | {"status": "completed"}], "status: expected"),
        ("env", {PATH: "absent"}, "the first event: kind: expected"),
    ],
)
def test_what_is_not_as_expected(small: SmallCorpus, member: str, value: object, said: str) -> None:
    lines = judged(small, expected=EXPECTED | {member: value})
    assert any(said in line for line in lines), lines


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("env", {PATH: "random"}),
        ("env", [PATH]),
        ("runs", [{"suite": {"ref": "suite:c", "version": "1"}, "status": "completed", "cases": []}]),
        ("runs", [EXPECTED["runs"][0] | {"cases": [["9", "passed"]]}]),
        ("runs", 1),
        ("at", 1),
    ],
)
def test_a_vector_that_states_what_cannot_be(small: SmallCorpus, member: str, value: object) -> None:
    (line,) = judged(small, expected=EXPECTED | {member: value})
    assert line.startswith("corpus: ")


def test_another_number_of_events(small: SmallCorpus) -> None:
    assert judged(small, answer={"events": 3}) == ("events: expected 11, got 3",)


def changed(change: Callable[[list[Json]], object]) -> After:
    """Change the events, and count them anew."""

    def after(out: Path) -> None:
        path = out / "events.ndjson"
        events = [json.loads(line) for line in path.read_text().splitlines()]
        change(events)
        lines = [json.dumps(event | {"seq": number}) + "\n" for number, event in enumerate(events, 1)]
        path.write_text("".join(lines))

    return after


def put(place: int, **members: Any) -> After:
    return changed(lambda events: events[place].update(members))


ESTIMATE = 1
CASE = 2


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (put(0, at="2026-10-09T09:00:00.1Z"), "the first event: at"),
        (put(0, planDigest="0" * 64), "stream: "),
        (put(0, planId="another"), "stream: "),
        (put(0, kind="case.completed"), "an event that is not valid against the writer schema"),
        (put(0, more="x"), "an event that is not valid against the writer schema"),
        (put(ESTIMATE, cases=2), "plan.estimated[0].cases: expected 3, got 2"),
        (changed(lambda events: events.pop(ESTIMATE)), "plan.estimated: 1 expected, got 0"),
        (changed(lambda events: events.insert(1, events[1])), "plan.estimated: 1 expected, got 2"),
        (put(CASE, caseId="3"), "case.completed[0][0]: expected"),
        (put(CASE, state="warn"), "case.completed[0][1]: expected"),
        (put(CASE, runId="run-another"), "runId: expected"),
        (put(-2, runHash="0" * 64), "conform: "),
        (put(-1, runs=[]), "stream: "),
        (put(-1, at="2026-10-09T09:01:03Z"), "the last event: at"),
        (put(-1, limit="timeout"), "the last event: limit"),
        (put(-1, ext={"place": PATH}), "events.ndjson: holds a credential reference's path"),
    ],
)
def test_a_stream_that_says_something_else(small: SmallCorpus, after: After, said: str) -> None:
    lines = judged(small, after)
    assert any(said in line for line in lines), lines


def test_a_case_without_a_run_and_spends_at_other_times_pass(small: SmallCorpus) -> None:
    def change(events: list[Json]) -> None:
        for event in events:
            if event["kind"] == "case.completed":
                del event["runId"]
        events[:] = [
            event for event in events if event["kind"] != "spend.updated" or event["spentUsd"] == EXPECTED["spentUsd"]
        ]

    lines = judged(small, changed(change))
    assert [line for line in lines if not line.startswith("events: ")] == []


def remove(name: str) -> After:
    return lambda out: (out / name).unlink()


def rename_run(out: Path) -> None:
    (run, *_) = (out / "runs").iterdir()
    run.rename(out / "runs" / "another")


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (remove("events.ndjson"), "events.ndjson: not written"),
        (lambda out: (out / "notes").write_text("x"), "notes: written, and it belongs to no run"),
        (lambda out: (out / "more").mkdir(), "more: written, and it belongs to no run"),
        (lambda out: (out / "runs" / "x").mkdir(), "runs/x: written, and it belongs to no run"),
        (rename_run, "announced, and not written"),
        (lambda out: (out / "events.ndjson").write_text(""), "events.ndjson: no event"),
        (lambda out: (next((out / "runs").iterdir()) / "run.json").write_text("{}"), "outcome: expected"),
        (lambda out: (next((out / "runs").iterdir()) / PATH).write_text(""), "holds a credential reference's path"),
        (
            lambda out: (out / "runs" / os.environ[PATH]).write_text(""),
            "holds a credential's value",
        ),
        (lambda out: (out / "x").write_text(os.environ[PATH]), "x: holds a credential's value"),
    ],
)
def test_a_folder_that_holds_something_else(small: SmallCorpus, after: After, said: str) -> None:
    lines = judged(small, after)
    assert any(said in line for line in lines), lines


@pytest.mark.parametrize("what", ["value", "path"])
def test_plan3_what_is_printed_is_looked_through(small: SmallCorpus, what: str) -> None:
    small.add("v", "job", files(), EXPECTED)

    def perform(words: Sequence[str]) -> Reply:
        reply = in_process(words)
        assert isinstance(reply, Answer)
        return Answer(reply.value, b"noise " + (os.environ[PATH] if what == "value" else PATH).encode())

    (line,) = judge_vector(*small.vector("v"), perform).lines
    assert line.startswith("printed: a credential")
    assert PATH not in line


def files() -> dict[str, bytes]:
    given = {"plan": PLAN, "runner": runner(), "target": TARGET}
    return {f"{name}.json": json.dumps(document).encode() for name, document in given.items()}


def before_sealing(monkeypatch: pytest.MonkeyPatch, change: Callable[[ClosedRun], ClosedRun], suite_ref: str) -> None:
    """Let a run of a suite be changed before it is sealed."""

    def publish(run: ClosedRun, destination: str, **members: Any) -> Written:
        changed_run = change(run) if run.run["suite"]["ref"] == suite_ref else run
        return publish_run(changed_run, destination, **members)

    monkeypatch.setattr(running, "publish_run", publish)


def header(**members: Any) -> Callable[[ClosedRun], ClosedRun]:
    return lambda run: run._replace(run={**run.run, **members})


def without(member: str) -> Callable[[ClosedRun], ClosedRun]:
    return lambda run: run._replace(run={name: value for name, value in run.run.items() if name != member})


def completed(run: ClosedRun) -> ClosedRun:
    return header(status="completed")(without("abortReason")(run))


def line(place: int, **members: Any) -> Callable[[ClosedRun], ClosedRun]:
    """Change a result line; None takes a member away."""

    def change(run: ClosedRun) -> ClosedRun:
        lines = list(run.results)
        found = lines[place] | members
        found["resultId"] = result_id(run.run["runId"], found["caseId"], found["path"])
        lines[place] = {name: value for name, value in found.items() if value is not None}
        return run._replace(results=lines)

    return change


def one_more_line(run: ClosedRun) -> ClosedRun:
    more = dict(run.results[0], caseId="9", resultId=result_id(run.run["runId"], "9", "check"))
    return run._replace(results=[*run.results, more])


def cost(run: ClosedRun) -> ClosedRun:
    return run._replace(summary={**run.summary, "cost": {"totalUsd": 0.2}})


def another_metric(run: ClosedRun) -> ClosedRun:
    return run._replace(metrics={**run.metrics, "metrics": [run.metrics["metrics"][0] | {"id": "rate"}]})


def a_lane(run: ClosedRun) -> ClosedRun:
    return run._replace(summary={**run.summary, "lanes": [{"lane": "quality", "metrics": []}]})


SUITE_B = {"ref": "suite:b", "version": "1"}
SUBJECT = {"ref": "pipeline:x", "version": "1"}
PROVENANCE = {"planId": "p", "planDigest": "0" * 64, "jobId": "j", "runnerId": "r"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (header(suite=SUITE_B | {"digest": DIGEST}), "suite.digest: expected null"),
        (completed, 'status: expected "aborted", got "completed"'),
        (header(execution={"targetMode": "mocked"}), 'execution.targetMode: expected "scripted"'),
        (header(judges=[{"model": "m"}]), "judges: 0 expected, got 1"),
        (header(subject=SUBJECT | {"kind": "agent"}), 'subject.kind: expected "other", got "agent"'),
        (
            header(deployment={"ref": "deployment:dev", "endpoint": "http://localhost/v1"}),
            "deployment.ref: expected",
        ),
        (without("deployment"), "deployment.ref: expected"),
        (header(endedAt="2026-10-09T09:01:01.5Z"), "endedAt: expected"),
        (header(provenance=PROVENANCE), "provenance.jobId: expected"),
        (without("provenance"), "provenance: expected"),
        (cost, "cost.totalUsd: expected 0.25, got 0.2"),
        (another_metric, "pass-rate is declared: expected true"),
        (a_lane, "lanes: 0 expected, got 1"),
        (one_more_line, "result lines: 1 expected, got 2"),
        (lambda run: run._replace(results=()), "result lines: 1 expected, got 0"),
        (line(0, state="warn", severity="low"), 'state: expected "passed", got "warn"'),
        (line(0, path="other"), 'path: expected "check", got "other"'),
        (line(0, caseId="suite-b-1"), 'caseId: expected "1"'),
        (line(0, lane="quality"), 'lane: expected null, got "quality"'),
        (line(0, severity="low"), 'severity: expected null, got "low"'),
    ],
)
def test_a_run_that_says_something_else(
    small: SmallCorpus, monkeypatch: pytest.MonkeyPatch, change: Callable[[ClosedRun], ClosedRun], said: str
) -> None:
    before_sealing(monkeypatch, change, "suite:b")
    lines = judged(small)
    assert any(said in line for line in lines), lines


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (header(suite={"ref": "suite:a", "version": "1"}), "suite.digest: expected"),
        (line(1, severity="high"), 'severity: expected "low", got "high"'),
        (line(1, severity=None), 'severity: expected "low", got null'),
        (line(0, lane=None), 'lane: expected "quality", got null'),
        (lambda run: run._replace(summary={**run.summary, "lanes": []}), "lanes: 1 expected, got 0"),
    ],
)
def test_plan8_a_run_of_a_suite_with_a_lane_and_a_digest(
    small: SmallCorpus, monkeypatch: pytest.MonkeyPatch, change: Callable[[ClosedRun], ClosedRun], said: str
) -> None:
    before_sealing(monkeypatch, change, "suite:a")
    lines = judged(small)
    assert any(said in line for line in lines), lines


def test_lines_in_another_order_and_members_of_the_runners_own_pass(
    small: SmallCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(run: ClosedRun) -> ClosedRun:
        own = [one | {"durationMs": 1, "ext": {"note": "mine"}} for one in run.results]
        return run._replace(results=own[::-1], run=run.run | {"ext": {"note": "mine"}})

    before_sealing(monkeypatch, change, "suite:a")
    assert judged(small) == ()


class TestRefused:
    """`refused`: exit 2 with a message, and no file."""

    expected = {name: EXPECTED[name] for name in ("plan", "runner", "target", "at")} | {"refused": True}

    def test_a_refusal_that_writes_nothing(self, small: SmallCorpus) -> None:
        assert judged(small, expected=self.expected, plan=b"{") == ()

    def test_an_answer(self, small: SmallCorpus) -> None:
        (text,) = judged(small, expected=self.expected, plan=plan())
        assert "a refusal (exit 2) is expected" in text

    def test_a_refusal_that_leaves_something(self, small: SmallCorpus) -> None:
        small.add("v", "job", files(), self.expected)

        def perform(words: Sequence[str]) -> Reply:
            Path(words[4]).mkdir()
            (Path(words[4]) / "events.ndjson").write_text("")
            return Refusal("no plan")

        assert judge_vector(*small.vector("v"), perform).lines == ("events.ndjson: written, and nothing was to be",)


def test_the_folder_is_fresh_and_the_call_is_that_of_the_contract(small: SmallCorpus) -> None:
    calls: list[Sequence[str]] = []

    def perform(words: Sequence[str]) -> Reply:
        calls.append(words)
        assert not os.path.lexists(words[4])
        operation, *given, option, at = words
        done = run_job(*given, at=at, environment=os.environ)
        assert (operation, option, at) == ("job", "--at", AT)
        return Answer({"events": done.events})

    small.add("v", "job", files(), EXPECTED)
    assert judge_vector(*small.vector("v"), perform).lines == ()
    assert len(calls) == 1
