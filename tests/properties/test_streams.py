"""Streams, plans and matching: [STRM-1] to [STRM-4], [PLAN-4], [PLAN-7] against what the text says, told naively."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

import aef_verify
from aef_verify.cli.output import rendered
from aef_verify.report.job import JobReport
from aef_verify.report.stream_json import job_value
from aef_verify.report.stream_text import event_line, job_text, problem_line
from aef_verify.runner.conform import verify_plan_conformance
from aef_verify.runner.follow import followed
from aef_verify.runner.matching import takes
from aef_verify.runner.plan import PlanRefusedError, load_plan, load_runner
from aef_verify.runner.stream import StreamReader, verify_stream
from aef_verify.schemas import accepts
from aef_verify.strategies import JobStream, documents, job_streams, near_documents, near_json
from tests.building import compact, put
from tests.properties.effort import examples
from tests.properties.scratch import scratch
from tests.runner.telling import plan_document, with_run

Pairs = list[tuple[str, str]]
HASHES = ("0" * 64, "1" * 64)
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((Path(aef_verify.__file__).parent / "schemas" / "report" / "stream-report.schema.json").read_text())
)


def codes(data: bytes, plan: bytes) -> Pairs:
    return [problem.pair for problem in verify_stream(io.BytesIO(data), load_plan(plan)).problems]


def refused(plan: bytes) -> str | None:
    """Return why a plan is refused, None where it is read."""
    try:
        load_plan(plan)
    except PlanRefusedError as fault:
        return str(fault)
    return None


@examples(120)
@given(job_streams(later_minors=True), st.data())
def test_a_stream_that_keeps_the_rules_has_no_problem_and_any_part_of_it_only_no_end(
    stream: JobStream, data: st.DataObject
) -> None:
    """[STRM-2] Wherever it is cut: half a line, half a character, before the last LF."""
    assert codes(stream.data, stream.plan) == []
    cut = data.draw(st.integers(0, len(stream.data) - 1))
    assert codes(stream.data[:cut], stream.plan) == [("stream", "no-terminal")]
    assert codes(stream.data[:-1], stream.plan) == [("stream", "no-terminal")]


@examples(80)
@given(job_streams(), st.data())
def test_the_plan_given_is_the_plan_byte_for_byte(stream: JobStream, data: st.DataObject) -> None:
    """[PLAN-5] White space makes another plan."""
    place = data.draw(st.integers(0, len(stream.plan)))
    plan = stream.plan[:place] + b" " + stream.plan[place:]
    if refused(plan) is None:
        assert ("event:1", "plan-digest") in codes(stream.data, plan)


# The rules once more, naively: whole lists, exact instants, no state.

START = datetime(2026, 1, 1)
TIMES = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000001Z", "2026-01-01T00:01:00Z", "2026-01-01T00:01:00.5Z")
KINDS = (
    "job.accepted",
    "job.refused",
    "plan.estimated",
    "spend.updated",
    "case.completed",
    "evidence.produced",
    "job.sealed",
    "job.failed",
    "job.cancelled",
    "job.paused",
)
PLAN = json.dumps(
    {
        "schemaVersion": "1.0",
        "planId": "p",
        "subject": {"ref": "agent:a", "version": "1"},
        "suites": [{"ref": "suite:a", "version": "1"}],
        "limits": {"maxUsd": 1, "cases": 2, "timeout": "PT1M"},
        "contentCapture": "on",
        "isolation": "process",
        "provider": "local",
    }
).encode()
DIGEST = load_plan(PLAN).digest


def instant(text: str) -> Fraction:
    seconds = (datetime.fromisoformat(text[:19]) - START) // timedelta(seconds=1)
    return seconds + Fraction("0" + text[19:-1]) if "." in text else Fraction(seconds)


@st.composite
def loose_events(draw: st.DrawFn) -> bytes:
    """Draw lines of which many break a rule, as everything comes from few values."""
    lines: list[bytes] = []
    for number in range(1, draw(st.integers(0, 9)) + 1):
        if draw(st.integers(0, 9)) == 0:
            lines.append(draw(st.sampled_from([b"x\n", b"{}\n", b'{"seq":1}\n'])))
            continue
        kind = draw(st.sampled_from(KINDS[:1] if number == 1 and draw(st.booleans()) else KINDS))
        run = st.sampled_from(("r", "s", "t"))
        few: dict[str, dict[str, st.SearchStrategy[Any]]] = {
            "plan.estimated": {"cases": st.just(1), "usdLow": st.integers(0, 1), "usdHigh": st.integers(0, 1)},
            "spend.updated": {"spentUsd": st.sampled_from((0, 0.5, 1, 1.0000000000000002))},
            "case.completed": {"caseId": st.just("c"), "state": st.just("passed")},
            "evidence.produced": {"runId": run, "runHash": st.sampled_from(HASHES)},
            "job.sealed": {"runs": st.lists(run, min_size=1, max_size=3)},
            "job.failed": {"reason": st.just("x"), "runs": st.lists(run, max_size=3)},
            "job.cancelled": {"reason": st.just("x")},
            "job.refused": {"reason": st.just("x")},
        }
        event = {
            "schemaVersion": "1.0",
            "seq": number + draw(st.sampled_from((0, 0, 0, 1))),
            "kind": kind,
            "jobId": draw(st.sampled_from(("j", "j", "j", "k"))),
            "at": draw(st.sampled_from(TIMES)),
        }
        if kind in ("job.accepted", "job.refused"):
            digest = draw(st.sampled_from((DIGEST, DIGEST, HASHES[0])))
            event |= {"planId": draw(st.sampled_from(("p", "p", "q"))), "planDigest": digest, "runnerId": "r"}
        lines.append(compact(event | {name: draw(value) for name, value in few.get(kind, {}).items()}))
    return b"".join(lines)


def with_plan(data: bytes) -> tuple[bytes, bytes]:
    """Return a stream with the plan that it is about."""
    return data, PLAN


def told(data: bytes) -> Pairs:
    """Return what [STRM-3] says of a stream that is framed as it should be."""
    read: list[tuple[int, dict[str, Any] | None]] = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        read.append((number, event if event is not None and accepts("runner-event", "reader", event) else None))
    events = [(number, event) for number, event in read if event is not None]
    found = {(number, "event-invalid") for number, event in read if event is None}
    found |= {(number, code) for number, code in _in_order(read, events)}
    for place, (number, event) in enumerate(events):
        found |= {(number, code) for code in _of_kind(event, [before for _, before in events[:place]])}
    paths = [(f"event:{number}", code) for number, code in sorted(found)]
    ends = any(event["kind"] in ("job.sealed", "job.failed", "job.cancelled", "job.refused") for _, event in events)
    return paths if ends else [*paths, ("stream", "no-terminal")]


def _in_order(
    read: Sequence[tuple[int, dict[str, Any] | None]], events: Sequence[tuple[int, dict[str, Any]]]
) -> Iterator[tuple[int, str]]:
    if read and read[0][1] is not None and read[0][1]["seq"] != 1:
        yield 1, "seq"
    for (_, before), (number, after) in pairwise(read):
        if before is not None and after is not None and after["seq"] != before["seq"] + 1:
            yield number, "seq"
    for (_, one), (number, other) in pairwise(events):
        if instant(other["at"]) < instant(one["at"]):
            yield number, "time"
    if events:
        number, first = events[0]
        if first["kind"] not in ("job.accepted", "job.refused"):
            yield number, "first"
        late = [number for number, event in events if instant(event["at"]) > instant(first["at"]) + 60]
        yield from ((number, "over-time") for number in late[:1])
        yield from ((number, "job-id") for number, event in events if event["jobId"] != first["jobId"])
    completed = [number for number, event in events if event["kind"] == "case.completed"]
    yield from ((number, "over-cases") for number in completed[2:3])
    accepted = [number for number, event in events if event["kind"] == "job.accepted"]
    yield from ((number, "accepted-twice") for number in accepted[1:])


def _of_kind(event: dict[str, Any], before: list[dict[str, Any]]) -> Iterator[str]:
    def earlier(*kinds: str) -> list[dict[str, Any]]:
        return [other for other in before if other["kind"] in kinds]

    if earlier("job.sealed", "job.failed", "job.cancelled", "job.refused"):
        yield "after-terminal"
    match event["kind"]:
        case "job.accepted" | "job.refused":
            if event["planId"] != "p":
                yield "plan-id"
            if event["planDigest"] != DIGEST:
                yield "plan-digest"
        case "plan.estimated" if event["usdLow"] > event["usdHigh"]:
            yield "estimate"
        case "spend.updated":
            if event["spentUsd"] > 1:
                yield "over-budget"
            if (spent := earlier("spend.updated")) and event["spentUsd"] < spent[-1]["spentUsd"]:
                yield "spend-decreased"
        case "evidence.produced":
            same = [other for other in earlier("evidence.produced") if other["runId"] == event["runId"]]
            if same and same[0]["runHash"] != event["runHash"]:
                yield "run-hash-changed"
        case "job.sealed" | "job.failed":
            announced = {other["runId"] for other in earlier("evidence.produced")}
            if set(event["runs"]) - announced:
                yield "unannounced-run"
            if announced - set(event["runs"]):
                yield "unsealed-run"


@examples(400)
@given(loose_events())
def test_strm3_the_rules_are_what_the_text_says(data: bytes) -> None:
    assert codes(data, PLAN) == told(data)


@examples(60)
@given(loose_events(), st.lists(st.integers(0, 3000), max_size=8))
def test_a_stream_is_judged_alike_however_it_comes(data: bytes, places: list[int]) -> None:
    """Whole, in blocks, or followed while somebody appends to it."""
    ends = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    parts = [data[start:end] for start, end in pairwise(ends)]
    reader = StreamReader(load_plan(PLAN))
    with scratch() as folder:
        path = os.path.join(folder, "events.ndjson")
        open(path, "wb").close()

        def append() -> bool:
            if not parts:
                return False
            with open(path, "ab") as file:
                file.write(parts.pop(0))
            return True

        for block in followed(path, append):
            for number, line in reader.feed(block):
                reader.rules.take(number, line)
    assert [problem.pair for problem in reader.finish().problems] == told(data)


@examples(150)
@given(
    st.lists(near_json() | st.sampled_from([b"\n", b"\r\n", b"\xef\xbb\xbf", b"{}\n", b"[" * 65 + b"\n"])).map(b"".join)
)
def test_no_bytes_break_a_stream(data: bytes) -> None:
    report = verify_stream(io.BytesIO(data), load_plan(PLAN))
    assert report.problems
    assert report.is_read or [problem.path for problem in report.problems] == ["stream"]


@examples(60)
@given(job_streams(later_minors=True).map(lambda found: (found.data, found.plan)) | loose_events().map(with_plan))
def test_what_is_shown_of_a_stream_neither_steers_a_terminal_nor_breaks_a_line(found: tuple[bytes, bytes]) -> None:
    """Each event and each problem in one line, the report in printable ones, and its JSON as its schema has it."""
    data, plan = found[0], load_plan(found[1])
    reader = StreamReader(plan)
    for number, line in reader.feed(data):
        event = reader.rules.take(number, line)
        if event is not None:
            assert event_line(number, event, plan, reader.rules.account).isprintable()
    report = JobReport("events", plan, reader.finish())
    assert all(problem_line(problem).isprintable() for problem in report.stream.problems)
    assert all(line.isprintable() for line in rendered(job_text(report)).splitlines())
    SCHEMA.validate(json.loads(json.dumps(job_value(report))))


# Plans and manifests


@examples(150)
@given(near_json() | near_documents("run-plan", "reader").map(lambda plan: json.dumps(plan).encode()))
def test_a_plan_is_read_or_refused_and_nothing_else(data: bytes) -> None:
    """[VER-3] The reader schema's verdict is the reader's."""
    said = refused(data)
    if said is not None:
        assert said.startswith("plan refused: ")
        assert said.isprintable()
        return
    plan = load_plan(data)
    assert accepts("run-plan", "reader", plan.document)
    assert plan.plan_id == plan.document["planId"]


SECRET = "sk-live-never-shown"


@examples(150)
@given(documents("run-plan", "reader"), st.data())
def test_plan4_no_text_of_a_refused_plan_is_repeated(plan: dict[str, Any], data: st.DataObject) -> None:
    """A secret in any place at which a text or anything else stands, and in those where it is not allowed."""
    places = list(_places(plan))
    *way, last = data.draw(st.sampled_from(places))
    holder: Any = plan
    for step in way:
        holder = holder[step]
    holder[last] = data.draw(st.sampled_from((SECRET, [SECRET], {"value": SECRET}, f"https://{SECRET}@host/")))
    said = refused(json.dumps(plan).encode())
    assert said is None or SECRET not in said


def _places(value: Any) -> Iterator[list[Any]]:
    """Yield the way to every member and item of a value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in steps:
        yield [step]
        yield from ([step, *rest] for rest in _places(part))


@examples(120)
@given(documents("run-plan", "reader"), documents("runner", "reader"), st.data())
def test_plan7_a_runner_takes_what_the_text_says(
    asked: dict[str, Any], given: dict[str, Any], data: st.DataObject
) -> None:
    for name, value in (
        ("provider", st.sampled_from(("local", "ci:x", "podman"))),
        ("isolation", st.sampled_from(("process", "remote-zone", "vm"))),
        ("contentCapture", st.sampled_from(("on", "some"))),
        ("targetMode", st.sampled_from(("live", "scripted", "dreamt"))),
        ("zone", st.sampled_from(("z", "y"))),
        ("runnerSelector", st.lists(st.sampled_from(("a", "b")), max_size=3)),
    ):
        asked[name] = data.draw(value)
    if data.draw(st.booleans()):
        del asked["targetMode"]
    asked.pop("credentialRefs", None)
    given["providers"] = data.draw(st.lists(st.sampled_from(("local", "ci:x", "podman")), min_size=1, max_size=3))
    given["tags"] = data.draw(st.lists(st.sampled_from(("a", "b")), max_size=3))
    given["networkZone"] = data.draw(st.sampled_from(("z", "y")))
    given["targetModes"] = data.draw(st.lists(st.sampled_from(("live", "scripted", "dreamt")), min_size=1, unique=True))
    if data.draw(st.booleans()):
        del given["targetModes"]
    mode = asked.get("targetMode", "live")
    expected = (
        set(asked["runnerSelector"]) <= set(given["tags"])
        and asked["provider"] in given["providers"]
        and asked["provider"] != "podman"
        and asked["isolation"] != "vm"
        and asked["contentCapture"] == "on"
        and mode in given.get("targetModes", ["live"])
        and mode != "dreamt"
        and (asked["isolation"] != "remote-zone" or asked["zone"] == given["networkZone"])
    )
    plan, runner = load_plan(json.dumps(asked).encode()), load_runner(json.dumps(given).encode())
    assert takes(plan, runner) is expected


@examples(60)
@given(
    st.lists(st.sampled_from(("m", "n")), max_size=5),
    st.lists(st.sampled_from(("m", "n")), max_size=4),
)
def test_strm4_judges_are_the_plans_with_some_left_out(asked: list[str], run: list[str]) -> None:
    def named(models: list[str]) -> list[dict[str, str]]:
        return [{"model": model} for model in models]

    expected = any(list(some) == run for some in combinations(asked, len(run)))
    with scratch() as folder:
        files = with_run(Path(folder), put("run.json", "judges", named(run)), plan=plan_document(judges=named(asked)))
        plan = load_plan(files.plan.read_bytes())
        found = verify_plan_conformance(str(files.events), plan, str(files.runs))
    assert ([problem.code for problem in found.problems] == []) is expected
