"""Jobs of any plan and scripted target [PLAN-3], [PLAN-8], [PLAN-9], [SUM-5], [STRM-3], [STRM-4].

A verifier finds nothing wrong with what a job wrote; it stops exactly where a simulation with fractions says that a
limit could be passed; no limit is passed under either sum; no credential and no path of one is in any byte; and
whatever a job is given, it ends with a stream or writes nothing.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from aef_verify.encoding.durations import parse_duration
from aef_verify.encoding.times import instant
from aef_verify.problems import InputError
from aef_verify.runner.clock import SECOND
from aef_verify.runner.job import run_job
from aef_verify.runner.scripted import ABSENT
from aef_verify.runner.spend import Spend
from aef_verify.runner.target import STATES
from tests.properties.effort import examples
from tests.properties.scratch import scratch
from tests.runner import jobbing
from tests.runner.jobbing import AT, DIGEST, Json, Ran, problems

USD = st.sampled_from([0.1, 0.2, 0.3, 0.7]) | st.sampled_from(
    [0.0, 0.1, 0.2, 0.3, 0.7, 0.25, 1.0, 1e-17, 2.0**-53, 5e-324, 0.30000000000000004]
)
SECONDS = st.integers(0, 40)
TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[chr(n) for n in (*range(32), *range(127, 160))]),
    min_size=1,
    max_size=8,
)
"""What a case may be called."""


class Given(NamedTuple):
    """What a job is given."""

    plan: Json
    target: Json


@st.composite
def cases(draw: st.DrawFn) -> list[Json]:
    found = []
    for name in draw(st.lists(TEXT, min_size=1, max_size=5, unique=True)):
        state = draw(st.sampled_from(sorted(STATES)))
        usd, seconds = draw(USD), draw(SECONDS)
        graded = {"severity": draw(st.sampled_from(["low", "critical"]))} if state in ("failed", "warn") else {}
        case = jobbing.case(name, state=state, usd=usd, seconds=seconds, **graded)
        case["usdBound"] = max(usd, draw(st.just(usd) | USD))
        case["secondsBound"] = max(seconds, draw(st.just(seconds) | SECONDS))
        found.append(case)
    return found


@st.composite
def jobs(draw: st.DrawFn) -> Given:
    """Draw a target, and a plan of some of its suites whose limits lie near what they need."""
    count = draw(st.integers(1, 4))
    suites = [jobbing.suite(f"suite:{place}", *draw(cases())) for place in range(count)]
    target = jobbing.target(*suites, closeSeconds=draw(st.integers(0, 12)))
    asked = draw(st.permutations(range(count)))[: draw(st.integers(1, count))]
    named = []
    for place in asked:
        lane = draw(st.sampled_from([{}, {"lane": "quality"}, {"lane": "security"}]))
        digest = draw(st.sampled_from([{}, {"digest": DIGEST}]))
        named.append({"ref": f"suite:{place}", "version": "1"} | lane | digest)
    order = [suites[place]["cases"] for place in asked]
    return Given(jobbing.plan(*named, limits=draw(limits(order))), target)


@st.composite
def limits(draw: st.DrawFn, suites: list[list[Json]]) -> Json:
    """Draw limits, the budget near what either sum is before one of the cases."""
    order = [(place, case) for place, cases in enumerate(suites) for case in cases]
    some = order[: draw(st.integers(1, len(order)))]
    runs: list[list[float]] = [[] for _ in suites]
    for place, case in some:
        runs[place].append(case["usd"])
    place, last = some[-1]
    runs[place][-1] = last["usdBound"]
    near = draw(
        st.sampled_from([rounded([usd for run in runs for usd in run]), rounded([rounded(run) for run in runs])])
    )
    most = draw(st.sampled_from([near, near, near, math.nextafter(near, 9), max(0.0, math.nextafter(near, 0)), 100.0]))
    found: Json = {"maxUsd": most}
    if draw(st.booleans()):
        found["cases"] = draw(st.integers(1, len(order) + 1))
    if draw(st.booleans()):
        found["timeout"] = f"PT{draw(st.integers(0, 6))}M"
    return found


class Simulated(NamedTuple):
    """What a job must come to: the cases that ran, by run; the limit; the seconds that it took."""

    runs: list[tuple[str, list[Json]]]
    limit: str | None
    seconds: int


def rounded(values: list[float]) -> float:
    """Round the exact sum once."""
    return float(sum(map(Fraction, values), Fraction()))


def simulated(found: Given) -> Simulated:
    """Run a job in the plainest way: every sum anew before every case."""
    suites = {suite["ref"]: suite for suite in found.target["suites"]}
    most = found.plan["limits"]
    close = found.target["closeSeconds"]
    timeout = parse_duration(most["timeout"]) if "timeout" in most else None
    runs: list[tuple[str, list[Json]]] = []
    seconds = 0
    for named in found.plan["suites"]:
        ran: list[Json] = []
        for case in suites[named["ref"]]["cases"]:
            costs = [[one["usd"] for one in cases] for _, cases in runs] + [[one["usd"] for one in ran]]
            costs[-1].append(case["usdBound"])
            limit = None
            both = (rounded([usd for run in costs for usd in run]), rounded([rounded(run) for run in costs]))
            if max(both) > most["maxUsd"]:
                limit = "maxUsd"
            elif sum(len(cases) for _, cases in runs) + len(ran) == most.get("cases"):
                limit = "cases"
            elif timeout is not None and seconds + case["secondsBound"] + close > timeout:
                limit = "timeout"
            if limit is not None:
                if ran:
                    runs.append((named["ref"], ran))
                    seconds += close
                return Simulated(runs, limit, seconds)
            ran.append(case)
            seconds += case["seconds"]
        runs.append((named["ref"], ran))
        seconds += close
    return Simulated(runs, None, seconds)


def perform(folder: str, found: Given, environment: dict[str, str] | None = None) -> Ran:
    return jobbing.run(Path(folder), plan=found.plan, target=found.target, environment=environment)


@examples(120)
@given(jobs())
def test_plan9_a_job_stops_where_it_must_and_a_verifier_finds_nothing(found: Given) -> None:
    due = simulated(found)
    with scratch() as folder:
        ran = perform(folder, found)
        assert problems(ran) == []
        assert ran.end["kind"] == ("job.sealed" if due.limit is None else "job.failed")
        assert ran.end.get("limit") == due.limit
        assert instant(ran.end["at"]) - instant(AT) == due.seconds * SECOND
        assert [run.suite[0] for run in ran.result.runs] == [ref for ref, _ in due.runs]
        for place, (_, cases) in enumerate(due.runs):
            lines = ran.document("results.ndjson", place)
            assert [(line["caseId"], line["state"]) for line in lines] == [
                (case["caseId"], case["state"]) for case in cases
            ]
            assert all(("reason" in line) == (line["state"] in ABSENT) for line in lines)
            assert ran.document("summary.json", place)["cost"]["totalUsd"] == rounded([case["usd"] for case in cases])


RUNS = st.lists(st.lists(USD, min_size=1, max_size=4), min_size=2, max_size=4)


@examples(300)
@given(RUNS, USD, st.integers(-1, 1), st.booleans())
def test_plan9_sum5_either_sum_stops_a_case(runs: list[list[float]], bound: float, off: int, as_runs: bool) -> None:
    """The budget is one of the two sums, or the next number beside it."""
    spend = Spend()
    for place, costs in enumerate(runs):
        if place:
            assert spend.close_run() == rounded(runs[place - 1])
        for cost in costs:
            spend.add(cost)
    with_bound = [*runs[:-1], [*runs[-1], bound]]
    of_cases = rounded([usd for run in with_bound for usd in run])
    of_runs = rounded([rounded(run) for run in with_bound])
    near = of_runs if as_runs else of_cases
    most = math.nextafter(near, off * math.inf) if off else near
    assert spend.could_pass(bound, most) is (max(of_cases, of_runs) > most)
    assert spend.total() == rounded([usd for run in runs for usd in run])


@examples(80)
@given(jobs())
def test_plan9_no_limit_is_passed_under_either_sum(found: Given) -> None:
    most = found.plan["limits"]
    with scratch() as folder:
        ran = perform(folder, found)
        spent = [event["spentUsd"] for event in ran.of("spend.updated")]
        costs = [ran.document("summary.json", place)["cost"]["totalUsd"] for place in range(len(ran.result.runs))]
        assert max([0.0, *spent, rounded(costs)]) <= most["maxUsd"]
        assert spent == sorted(spent)
        assert ran.result.cases == len(ran.of("case.completed")) <= most.get("cases", 100)
        if "timeout" in most:
            assert instant(ran.end["at"]) - instant(AT) <= parse_duration(most["timeout"]) * SECOND


SECRET = st.text(st.characters(max_codepoint=0x2FFF, exclude_categories=["Cc", "Cs"]), max_size=20).map(
    "V_secret".__add__
)
PLACE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=20).map("P_place_".__add__)


@examples(60)
@given(jobs(), st.lists(st.tuples(PLACE, SECRET | st.just(""), st.booleans()), min_size=1, max_size=3), st.data())
def test_plan3_no_byte_holds_a_credential_or_where_it_is_stored(
    found: Given, secrets: list[tuple[str, str, bool]], data: st.DataObject
) -> None:
    """A path or a value may stand in the target, too: the job is refused then."""
    references = [
        {"name": data.draw(st.sampled_from(["KEY", "TOKEN"])), "scheme": "env", "path": path, "purpose": "judge"}
        for path, _, _ in secrets
    ]
    environment = {path: value for path, value, is_set in secrets if is_set}
    plan = found.plan | {"credentialRefs": references}
    leak = data.draw(st.sampled_from(["", *environment, *filter(None, environment.values())]))
    if leak:
        found.target["suites"][0]["cases"][0]["caseId"] = f"<{leak}>"
    with scratch() as folder:
        ran = perform(folder, Given(plan, found.target), environment)
        needles = [text.encode() for text in (*(path for path, _, _ in secrets), *environment.values()) if text]
        for data_written in written(ran.out):
            assert not any(needle in data_written for needle in needles)
        resolved = all(environment.get(path) for path, _, _ in secrets)
        asked = [named["ref"] for named in plan["suites"]]
        if not resolved or (leak and "suite:0" in asked):
            assert ran.end["kind"] == "job.refused"
        elif len({environment[path] for path, _, _ in secrets}) == 1:
            assert ran.end["kind"] != "job.refused"


def written(out: Path) -> Iterator[bytes]:
    """Yield the bytes of each file below a folder, and its name."""
    for above, folders, files in os.walk(out):
        yield from (name.encode() for name in (*folders, *files))
        yield from (Path(above, name).read_bytes() for name in files)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def broken(draw: st.DrawFn, document: Json) -> bytes:
    """Draw a document with some values changed, or bytes that do not read."""
    data = json.dumps(document)
    changed = json.loads(data)
    for _ in range(draw(st.integers(0, 2))):
        place: Any = changed
        while isinstance(place, dict | list) and place:
            keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = draw(st.sampled_from(keys))
            if draw(st.booleans()) or not isinstance(place[key], dict | list):
                if isinstance(place, dict) and draw(st.integers(0, 3)) == 0:
                    place[draw(st.text(max_size=4))] = draw(JSON)
                else:
                    place[key] = draw(JSON)
                break
            place = place[key]
    text = json.dumps(changed).encode()
    return text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 9)) == 0 else text


@examples(150)
@given(jobs(), st.data())
def test_plan7_whatever_it_is_given_a_job_ends_with_a_stream_or_writes_nothing(
    found: Given, data: st.DataObject
) -> None:
    given_bytes = {
        "plan": data.draw(broken(found.plan)),
        "runner": data.draw(broken(jobbing.runner())),
        "target": data.draw(broken(found.target)),
    }
    at = data.draw(st.sampled_from([AT, "9999-12-31T23:59:59Z", "", "2026-02-31T00:00:00Z", "0001-01-01T00:00:00.1Z"]))
    with scratch() as folder:
        paths = []
        for name, content in given_bytes.items():
            path = Path(folder, f"{name}.json")
            path.write_bytes(content)
            paths.append(str(path))
        out = Path(folder, "out")
        plan, runner, target = paths
        try:
            result = run_job(plan, runner, target, str(out), at=at, environment={})
        except InputError:
            assert not out.exists()
            return
        events = jobbing.read(out)
        assert len(events) == result.events
        assert events[0]["at"] == at
        assert events[-1]["kind"] == result.terminal
        if result.terminal != "job.refused":
            assert problems(Ran(result, events, out, Path(plan))) == []
