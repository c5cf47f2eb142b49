"""[OVL-1], [OVL-2], [OVL-5] Overlay events: what each kind needs, how lines are taken, and what is taken back."""

from __future__ import annotations

from typing import Any

import pytest

from aef_verify import limits
from aef_verify.integrity.events import Events
from tests import building
from tests.building import Json, compact, event, pairs, result_id

HASH = "ab" * 32
RESULT, BLOB = {"result": result_id("c1")}, {"blob": "0" * 64}
NEED: Json = {"requirement": "req-1"}
STATE, LATER = {"state": "failed"}, {"expires": "2027-01-01T00:00:00Z"}


def taken(*lines: Json | bytes, run: Json | None = None, size: int = 1 << 20) -> Events:
    """Return the lines as read in blocks of a size, of a run with the hash `HASH`."""
    events = Events({"runId": building.RUN_ID} if run is None else run, lambda: HASH)
    data = b"".join(line if isinstance(line, bytes) else compact(line) for line in lines)
    for at in range(0, len(data), size):
        events.feed(memoryview(data)[at : at + size])
    return events


@pytest.mark.parametrize(
    ("kind", "members", "valid"),
    [
        *((kind, {}, True) for kind in ("approve", "reject", "acknowledge", "accept_baseline", "annotate")),
        *((kind, RESULT, True) for kind in ("approve", "reject", "acknowledge", "accept_baseline", "annotate")),
        *((kind, NEED, True) for kind in ("acknowledge", "accept_baseline", "annotate")),
        *((kind, NEED, False) for kind in ("approve", "reject", "override", "adjudicate", "redact")),
        *((kind, BLOB, False) for kind in ("approve", "reject", "waive", "acknowledge", "accept_baseline", "annotate")),
        *((kind, {**RESULT, **STATE}, True) for kind in ("override", "adjudicate")),
        *((kind, STATE, False) for kind in ("override", "adjudicate")),
        *((kind, RESULT, False) for kind in ("override", "adjudicate")),
        *((kind, {**RESULT, "state": "pending"}, False) for kind in ("override", "adjudicate")),
        *((kind, {**RESULT, "state": "novel"}, False) for kind in ("override", "adjudicate")),
        ("waive", {**RESULT, **LATER}, True),
        ("waive", {**NEED, **LATER}, True),
        ("waive", {**RESULT, **NEED, **LATER}, True),
        ("waive", LATER, False),
        ("waive", RESULT, False),
        ("redact", BLOB, True),
        ("redact", {}, False),
        ("redact", {**BLOB, **RESULT}, False),
        ("novel", {}, True),
        ("novel", {**RESULT, **BLOB, **NEED}, True),
        ("Approve", {}, True),
    ],
)
def test_ovl1_each_kind_has_its_target_and_needs(kind: str, members: Json, valid: bool) -> None:
    """A kind nobody knows is an annotation [VER-8]; a member nobody knows is ignored."""
    events = taken(event("1", kind, novel=1, **members))
    assert pairs(events.problems) == ([] if valid else [["overlays/events.ndjson:1", "event-invalid"]])
    assert len(events.events) == valid


@pytest.mark.parametrize("kind", ["override", "adjudicate", "waive", "redact"])
def test_ovl1_a_reason_is_due(kind: str) -> None:
    targets: dict[str, Any] = {"waive": {**RESULT, **LATER}, "redact": BLOB}
    line = event("1", kind, **targets.get(kind, {**RESULT, **STATE}))
    assert taken(line).problems == []
    del line["reason"]
    assert pairs(taken(line).problems) == [["overlays/events.ndjson:1", "event-invalid"]]


def test_an_event_as_it_was_written() -> None:
    line = event("1", "waive", by=building.BOB, reason="why", requirement="req-1", runHash=HASH, **LATER)
    (found,) = taken(b"\n", line).events
    assert (found.line, found.start, found.id, found.kind) == (2, 1, "ov_1", "waive")
    assert found.target == {"run": building.RUN_ID, "runHash": HASH, "requirement": "req-1"}
    assert (found.identity, found.assurance, found.at) == (building.BOB, "self-attested", building.AT)
    assert (found.expires, found.reason, found.state, found.sound) == (LATER["expires"], "why", None, True)
    assert found.result is None
    assert not found.misses({})


def test_ovl2_an_event_about_a_result_misses_where_there_is_none() -> None:
    (found,) = taken(event("1", **RESULT)).events
    assert found.result == RESULT["result"]
    assert found.misses({})
    assert not found.misses({bytes.fromhex(RESULT["result"][2:])})


def test_ovl2_the_run_hash_is_asked_for_only_where_an_event_names_one() -> None:
    def never() -> str:
        raise AssertionError("asked for")

    events = Events({"runId": building.RUN_ID}, never)
    events.feed(memoryview(compact(event("1"))))
    assert events.problems == []


def test_ovl2_an_event_at_fault_is_kept_and_not_sound() -> None:
    events = taken(event("1"), event("1"), event("2", run="x"), event("3", runHash="0" * 64), event("4"))
    assert [found.sound for found in events.events] == [True, False, False, False, True]
    assert [problem.code for problem in events.problems] == ["event-id", "target", "target"]


@pytest.mark.parametrize("size", [1, 2, 5, 1 << 20])
def test_ovl5_lines_are_taken_whole_however_they_come(size: int) -> None:
    lines: list[Json | bytes] = [
        event("1"),
        b"\n",
        event("1"),
        compact(event("2"))[:-1] + b"\r\n",
        event("3"),
        b"unfinished",
    ]
    events = taken(*lines, size=size)
    assert [problem.path.rpartition(":")[2] for problem in events.problems] == ["2", "3", "4"]
    assert [found.line for found in events.events] == [1, 3, 5]
    finished = b"".join(line if isinstance(line, bytes) else compact(line) for line in lines[:-1])
    assert (events.read_end, events.more) == (len(finished), False)
    assert events.lines_from(0) == 5
    assert events.lines_from(events.events[1].start) == 3
    assert events.lines_from(events.read_end) == 0


@pytest.mark.parametrize("size", [1, 4, 1 << 20])
def test_enc17_reading_ends_at_the_last_lf_within_the_limits(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LINES", 2)
    events = taken(b"\n\n\n\n", size=size)
    assert (events.more, events.read_end, events.lines_from(0)) == (True, 2, 2)
    monkeypatch.setattr(limits, "LINES", 100)
    monkeypatch.setattr(limits, "NDJSON_BYTES", 10)
    events = taken(b"12345\n12345\n", size=size)
    assert (events.more, events.read_end, events.lines_from(0)) == (True, 6, 1)
    events = taken(b"1234\n1234\n", size=size)
    assert (events.more, events.read_end) == (False, 10)


@pytest.mark.parametrize("size", [1, 100, 1 << 20])
def test_enc17_a_line_at_its_limits_and_one_beyond(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    line = compact(event("1"))
    monkeypatch.setattr(limits, "JSON_BYTES", len(line) - 1)
    events = taken(line, b" " + line, event("2"), size=size)
    assert [found.line for found in events.events] == [1, 3]
    assert pairs(events.problems) == [["overlays/events.ndjson:2", "limit"]]
    deep = [b'{"x":' + b"[" * depth + b"]" * depth + b"}\n" for depth in (limits.DEPTH - 1, limits.DEPTH)]
    assert [problem.code for problem in taken(*deep, size=size).problems] == ["event-invalid", "limit"]


def test_ovl5_what_lines_past_an_offset_gave_is_taken_back() -> None:
    events = taken(event("1"), b"\n", event("2"), b"\n", event("3"))
    offset = events.events[1].start
    events.forget_from(offset)
    assert (events.lines_from(0), events.lines_from(offset)) == (2, 0)
    assert [found.id for found in events.events] == ["ov_1"]
    assert pairs(events.problems) == [["overlays/events.ndjson:2", "event-invalid"]]
    assert events.lines_from(events.read_end) == 0
