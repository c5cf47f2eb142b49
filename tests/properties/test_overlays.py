"""What is appended after sealing decides nothing that was decided: [OVL-5], [OVL-10], 04 §4.5, 08 §8.1."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aef_verify.integrity.events import Events
from aef_verify.integrity.policy import load_policy
from aef_verify.integrity.view import effective_view, verify_chain
from aef_verify.run.verify import verify_run
from aef_verify.strategies import OverlaidRun, RunFiles, mutations, near_json, overlaid_runs
from tests.properties.effort import examples
from tests.properties.scratch import written

EVENTS = "overlays/events.ndjson"
AT = "2026-10-02T14:00:00Z"
pieces = near_json() | st.sampled_from(
    [b"\n", b"\n\n", b"\r\n", b"{}\n", b"\xef\xbb\xbf{}\n", b"[" * 65 + b"\n", b"\xff"]
)


def facts(run: OverlaidRun, files: RunFiles) -> dict[str, object]:
    """What a reader goes by: outcome, withheld, which batches verify, the view but for its unsealed count."""
    policy = load_policy(run.policy.data)
    with written(files) as folder:
        report = verify_run(folder, policy=policy, overlays=True)
        view = effective_view(folder, AT, policy=policy)
        chain = [problem.pair for problem in verify_chain(folder) if ":" not in problem.path]
    assert report.overlays is not None
    view.pop("unsealedEvents")
    return {
        "outcome": report.outcome,
        "problems": report.problems,
        "withheld": report.withheld,
        "signed by": report.signed_by,
        "batches": report.overlays.batches,
        "effective": report.overlays.events,
        "view": view,
        "seals": [pair for pair in chain if pair != (EVENTS, "uncovered")],
    }


@examples(80)
@given(overlaid_runs(), st.lists(pieces, min_size=1, max_size=3), st.data())
def test_nothing_appended_changes_what_verifies_or_is_withheld(
    run: OverlaidRun, appended: list[bytes], data: st.DataObject
) -> None:
    """[OVL-5] Half a line, blank lines, anything, an event of this run once more: batches stand as they stood."""
    again = data.draw(st.sampled_from([b"", *run.files[EVENTS].splitlines(keepends=True)]))
    events = run.files[EVENTS] + again + b"".join(appended)
    assert facts(run, run.files.replacing({EVENTS: events})) == facts(run, run.files)


@st.composite
def changed_overlays(draw: st.DrawFn) -> tuple[OverlaidRun, RunFiles, str]:
    """Draw a run with overlays, and the same with one change below `overlays/`."""
    run = draw(overlaid_runs())
    overlays = RunFiles({path: data for path, data in run.files.items() if path.startswith("overlays/")})
    mutation = draw(mutations(overlays))
    changed = {path: data for path, data in mutation.files.items() if path.startswith("overlays/")}
    return run, run.files.without(*overlays).replacing(changed), mutation.description


@examples(120)
@given(changed_overlays())
def test_overlays_change_an_outcome_only_by_authorized_redactions(changed: tuple[OverlaidRun, RunFiles, str]) -> None:
    """04 §4.5 Without a policy never; with one only by saying whether a blob that is gone is withheld or missing."""
    run, files, _ = changed
    policy = load_policy(run.policy.data)
    with written(files) as folder:
        report, without = verify_run(folder, policy=policy), verify_run(folder)
    gone = [f"blobs/sha256/{name[:2]}/{name}" for name in run.gone]
    assert {problem.path for problem in report.problems if problem.code in ("missing", "withheld")} == set(gone)
    assert (report.outcome == "intact") == (report.withheld == len(gone))
    assert (without.outcome, without.withheld) == ("invalid" if gone else "intact", 0)


def fed(data: bytes, places: Sequence[int]) -> Events:
    ends = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    events = Events({"runId": "a"}, lambda: "0" * 64)
    blocks: Iterator[bytes] = (data[start:end] for start, end in pairwise(ends))
    for block in blocks:
        events.feed(memoryview(block))
    return events


@examples(80)
@given(overlaid_runs(), st.lists(pieces, max_size=2).map(b"".join), st.lists(st.integers(0, 2000), max_size=5))
def test_events_do_not_depend_on_how_the_file_is_read(run: OverlaidRun, appended: bytes, places: list[int]) -> None:
    data = run.files[EVENTS] + appended
    whole, cut = fed(data, []), fed(data, places)
    assert (cut.events, cut.problems, cut.read_end, cut.more) == (
        whole.events,
        whole.problems,
        whole.read_end,
        whole.more,
    )


@examples(60)
@given(overlaid_runs(), st.data())
def test_a_view_is_the_same_whatever_time_its_waivers_are_not(run: OverlaidRun, data: st.DataObject) -> None:
    """[OVL-6], [OVL-9] Time decides which waivers are active, and nothing else."""
    policy = load_policy(run.policy.data)
    views = []
    with written(run.files) as folder:
        for at in ("0001-01-01T00:00:00Z", "2026-10-02T14:00:00Z", "9999-12-31T23:59:59.999999999Z"):
            view = effective_view(folder, at, policy=policy)
            for waiver in view["waivers"]:
                waiver.pop("active")
            views.append(json.dumps(view))
    assert len(set(views)) == 1
