"""No folder whatever makes the verifier crash, wait, follow a link or read outside: [RUN-3], [ENC-17], [OVL-5].

What comes out is a report or `InputError`, and nothing else; nothing is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aef_verify.conformance.contract import perform
from aef_verify.layout import LOGS, TRACES
from aef_verify.problems import InputError
from aef_verify.run.traces import TraceRules
from aef_verify.run.verify import verify_run
from aef_verify.strategies import (
    Entry,
    HostileFolder,
    OverlaidRun,
    Policy,
    entries_of,
    hostile_folders,
    mutations,
    overlaid_runs,
    trust_policies,
)
from tests.properties.effort import examples
from tests.properties.guard import Outside, ends, nothing_outside
from tests.properties.scratch import scratch

OUTCOMES = ("intact", "unsealed", "invalid")


def operations(folder: str, policy: str) -> Iterator[list[str]]:
    """Every call of the contract that reads a run folder."""
    yield ["run", folder]
    yield ["run", folder, "--policy", policy]
    yield ["seal", folder, "--policy", policy]
    yield ["chain", folder]
    yield ["view", folder, "--at", "2026-10-02T14:00:00Z", "--policy", policy]


def listing(folder: str) -> list[tuple[object, ...]]:
    """Everything below a folder, links and pipes as what they are."""
    found: list[tuple[object, ...]] = []
    for parent, folders, names in os.walk(os.fsencode(folder)):
        for name in (*folders, *names):
            path = os.path.join(parent, name)
            entry = os.lstat(path)
            found.append((path, entry.st_mode, entry.st_size, entry.st_mtime_ns))
    return sorted(found, key=repr)


def check(folder: str, policy: str) -> None:
    """Verify a folder in every way and hold what the module's docstring says."""
    before = listing(folder)
    for call in operations(folder, policy):
        with ends():
            try:
                value = perform(call)
            except InputError:
                continue
        json.dumps(value, allow_nan=False).encode()
        if call[0] == "run":
            assert isinstance(value, dict)
            assert value["outcome"] in OUTCOMES
    with ends(), nothing_outside(folder):
        try:
            report = verify_run(folder, overlays=True, details=True)
        except InputError:
            report = None
    if report is not None:
        assert report.outcome in OUTCOMES
        assert all(problem.path and problem.code for problem in report.problems)
    assert listing(folder) == before


@examples(150)
@given(hostile_folders(), trust_policies())
def test_a_hostile_folder_gets_a_report_or_a_refusal(hostile: HostileFolder, policy: Policy) -> None:
    with scratch() as place:
        outside = os.path.join(place, "outside")
        folder = hostile.write(os.path.join(place, "run"), outside)
        with open(os.path.join(place, "policy.json"), "wb") as file:
            file.write(policy.data)
        check(folder, file.name)


@st.composite
def changed_runs(draw: st.DrawFn) -> tuple[OverlaidRun, HostileFolder]:
    """Draw a run with overlays and one to three changes of it."""
    run = draw(overlaid_runs())
    files = run.files
    for _ in range(draw(st.integers(1, 3))):
        files = draw(mutations(files)).files if files else files
    return run, HostileFolder(entries_of(files))


@examples(100)
@given(changed_runs())
def test_a_changed_run_gets_a_report_or_a_refusal(changed: tuple[OverlaidRun, HostileFolder]) -> None:
    run, hostile = changed
    with scratch() as place:
        folder = hostile.write(os.path.join(place, "run"), os.path.join(place, "outside"))
        with open(os.path.join(place, "policy.json"), "wb") as file:
            file.write(run.policy.data)
        check(folder, file.name)


OTLP = (
    *("resourceSpans", "resourceLogs", "resource", "scopeSpans", "scopeLogs", "scope", "spans", "logRecords", "events"),
    *("attributes", "key", "value", "traceId", "spanId", "body"),
)
names = st.sampled_from(OTLP)
leaves = st.none() | st.booleans() | st.integers(-1, 1) | st.sampled_from(("", "gen_ai.prompt", "ab" * 16, "CD" * 8))
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3), max_leaves=12
)


def near_otlp(resources: str, scopes: str, records: str) -> st.SearchStrategy[dict[str, object]]:
    """A line that is shaped like OTLP/JSON down to where anything may stand."""
    attribute = st.fixed_dictionaries({"key": anything}) | anything
    holder = st.fixed_dictionaries({}, optional={"attributes": st.lists(attribute, max_size=2)}) | anything
    record = holder | st.dictionaries(names, anything, max_size=3)
    scope = st.fixed_dictionaries({records: st.lists(record, max_size=2)}, optional={"scope": holder}) | anything
    resource = st.fixed_dictionaries({scopes: st.lists(scope, max_size=2)}, optional={"resource": holder}) | anything
    return st.fixed_dictionaries({resources: st.lists(resource, max_size=2) | anything})


trace_lines = near_otlp("resourceSpans", "scopeSpans", "spans") | near_otlp("resourceLogs", "scopeLogs", "logRecords")


@examples(300)
@given(trace_lines, st.booleans())
def test_a_trace_line_may_have_any_shape(line: dict[str, object], capture_off: bool) -> None:
    """[RUN-14], [SEC-6] The format has no schema for these lines, so that nothing about them is sure."""
    links = [("results.ndjson", 1, "ab" * 16, "cd" * 8), ("results.ndjson", 2, "ab" * 16, None)]
    rules = TraceRules(links, capture_off)
    rules.take(TRACES, 1, line)
    rules.take(LOGS, 1, line)
    assert {problem.code for problem in rules.finish()} <= {"content-capture", "trace-link"}


@pytest.mark.parametrize("target", [b"OUTSIDE/canary", b"OUTSIDE/canaries", b"OUTSIDE/pipe", b"OUTSIDE", b".", b"/"])
@pytest.mark.parametrize(
    "path", [b"run.json", b"results.ndjson", b"blobs", b"overlays", b"ext", b"ext/a", b"overlays/x"]
)
def test_no_link_is_followed(path: bytes, target: bytes) -> None:
    """[RUN-3] A link is a problem at its own path, or below `overlays/` one of the chain alone."""
    with scratch() as place:
        entries = (Entry(path, "link", target), Entry(b"metrics.json", "file", b"{}"))
        folder = HostileFolder(entries).write(os.path.join(place, "run"), os.path.join(place, "outside"))
        with ends(), nothing_outside(folder):
            report = verify_run(folder, overlays=True)
    name = path.decode()
    assert ((name, "path") in {problem.pair for problem in report.problems}) == (name != "overlays/x")
    assert (report.overlays is not None) == (name == "overlays/x")


@pytest.mark.parametrize("kind", ["link", "file", "pipe", "socket"])
def test_what_is_no_folder_is_refused(kind: str) -> None:
    with scratch() as place:
        HostileFolder((Entry(b"run", kind, b"."),)).write(place, os.path.join(place, "outside"))
        with ends(), pytest.raises(InputError):
            verify_run(os.path.join(place, "run"))


def reads(path: str) -> Callable[[], object]:
    return lambda: os.close(os.open(path, os.O_RDONLY))


@pytest.mark.parametrize("path", ["link", "link/run.json", "../outside/canary", "/etc/hostname"])
def test_the_guard_itself_sees_what_leads_outside(path: str) -> None:
    """Else every test here would hold for nothing."""
    with scratch() as place:
        hostile = HostileFolder((Entry(b"link", "link", b"OUTSIDE/canaries"),))
        folder = hostile.write(os.path.join(place, "run"), os.path.join(place, "outside"))
        with pytest.raises(Outside), nothing_outside(folder):
            reads(os.path.join(folder, path))()
