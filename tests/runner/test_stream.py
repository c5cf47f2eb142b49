"""Event streams: [STRM-1] what every event has, [STRM-2] what is still being written, [STRM-3] the rules and codes."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aef_verify import limits
from aef_verify.codes import CODES, STREAM
from aef_verify.problems import InputError
from aef_verify.runner.account import MOST_LANES, MOST_NAMED, Account
from aef_verify.runner.plan import Plan
from aef_verify.runner.stream import EXPLAINED, StreamReader, StreamReport, verify_stream
from tests import building
from tests.runner.telling import AT, END, HASH, Edit, add, before_end, data, event, line, plan, put, stream

Pairs = list[list[str]]
OTHER = "1" * 64


def verified(found: bytes, asked: Plan | None = None) -> StreamReport:
    return verify_stream(io.BytesIO(found), asked or plan())


def codes(found: bytes, asked: Plan | None = None) -> Pairs:
    return building.pairs(verified(found, asked).problems)


class Case(NamedTuple):
    """A code: edits of the sound stream that break a rule, what is reported, and the nearest that break none."""

    code: str
    broken: tuple[Edit, ...]
    expected: Pairs
    sound: tuple[Edit, ...]


CASES = [
    Case("first", (line(1),), [["event:1", "first"]], (line(1, event("job.accepted")),)),
    Case("seq", (put(4, seq=5),), [["event:4", "seq"], ["event:5", "seq"]], (put(4, seq=4.0),)),
    Case("seq", (put(1, seq=2),), [["event:1", "seq"], ["event:2", "seq"]], (put(1, seq=1),)),
    Case("seq", (*(put(n, seq=n + 3) for n in range(4, 9)),), [["event:4", "seq"]], ()),
    Case("job-id", (put(2, jobId="job-2"), put(3, jobId="j")), [["event:2", "job-id"], ["event:3", "job-id"]], ()),
    Case(
        "time",
        (put(2, at="2026-10-02T13:59:00.000000002Z"), put(3, at="2026-10-02T13:59:00.000000001Z"), put(4, at=END)),
        [["event:3", "time"], ["event:5", "time"]],
        (put(2, at="2026-10-02T13:59:00.1Z"), *(put(n, at="2026-10-02T13:59:00.10Z") for n in range(3, 7))),
    ),
    Case(
        "over-time",
        (put(7, at="2026-10-02T15:59:00.000000001Z"), put(8, at="2026-10-02T16:59:00Z")),
        [["event:7", "over-time"]],
        (put(7, at="2026-10-02T15:59:00.000Z"), put(8, at="2026-10-02T15:59:00Z")),
    ),
    Case(
        "after-terminal",
        (add(event("spend.updated", at=END, spentUsd=1.5), event("job.cancelled", at=END)),),
        [["event:10", "after-terminal"], ["event:9", "after-terminal"]],
        (before_end(event("spend.updated", at=END, spentUsd=1.5)),),
    ),
    Case("accepted-twice", (before_end(event("job.accepted", at=END)),), [["event:8", "accepted-twice"]], ()),
    Case("plan-id", (put(1, planId="plan-2"),), [["event:1", "plan-id"]], ()),
    Case("plan-digest", (put(1, planDigest=OTHER),), [["event:1", "plan-digest"]], ()),
    Case("estimate", (put(2, usdLow=1.0000000000000002, usdHigh=1),), [["event:2", "estimate"]], (put(2, usdLow=1.5),)),
    Case(
        "spend-decreased",
        (put(3, spentUsd=1.5), put(5, spentUsd=1), before_end(event("spend.updated", at=END, spentUsd=1.25))),
        [["event:5", "spend-decreased"]],
        (put(3, spentUsd=1.5),),
    ),
    Case(
        "over-budget",
        (put(5, spentUsd=3.0000000000000004), before_end(event("spend.updated", at=END, spentUsd=4))),
        [["event:5", "over-budget"], ["event:8", "over-budget"]],
        (put(5, spentUsd=3),),
    ),
    Case(
        "over-cases",
        (before_end(*(event("case.completed", at=END) for _ in range(4))),),
        [["event:10", "over-cases"]],
        (before_end(*(event("case.completed", at=END) for _ in range(2))),),
    ),
    Case("run-hash-changed", (before_end(event("evidence.produced", at=END, runHash=OTHER)),), [], ()),
    Case(
        "unannounced-run", (put(8, runs=["r1", "r2", "r3"]),), [["event:8", "unannounced-run"]], (put(8, runs=["r1"]),)
    ),
    Case("unannounced-run", (line(8, event("job.failed", at=END, runs=["r2", "r1"])),), [], ()),
    Case(
        "unsealed-run",
        (before_end(event("evidence.produced", at=END, runId="r2")),),
        [["event:9", "unsealed-run"]],
        (before_end(event("evidence.produced", at=END, runId="r2")), put(9, runs=["r2", "r1", "r2"])),
    ),
    Case("unsealed-run", (line(8, event("job.failed", at=END)),), [["event:8", "unsealed-run"]], ()),
    Case("no-terminal", (line(8),), [["stream", "no-terminal"]], (line(8, event("job.cancelled", at=END)),)),
    Case("event-invalid", (line(2, b"{}\n"),), [["event:2", "event-invalid"]], (put(2, ext={}, colour="blue"),)),
    Case("encoding", (put(3, spentUsd=99), line(5, b"{}\r\n")), [["stream", "encoding"]], ()),
]
"""Each code's smallest stream, and the nearest without a problem."""


@pytest.mark.parametrize("case", CASES, ids=[f"{case.code}-{place}" for place, case in enumerate(CASES)])
def test_strm3_each_code(case: Case) -> None:
    expected = case.expected or [["event:8", case.code]]
    found = codes(stream(*case.broken))
    assert sorted(found) == sorted(expected)
    assert [int(path.partition(":")[2] or 10**9) for path, _ in found] == sorted(
        int(path.partition(":")[2] or 10**9) for path, _ in expected
    )
    assert codes(stream(*case.sound)) == []


def test_every_code_of_a_stream_has_a_case() -> None:
    of_the_runs = {"run-missing", "run-hash", "provenance", "subject", "deployment", "suite", "judges", "target-mode"}
    of_the_runs |= {"content-capture", "no-cost"}
    table = {code.code for code in CODES.values() if code.scope == STREAM}
    assert {case.code for case in CASES} | {"limit"} == table - of_the_runs


def test_the_sound_stream_is_sound() -> None:
    report = verified(stream())
    assert report.problems == ()
    assert (report.lines, report.is_unfinished, report.is_read) == (8, False, True)


def test_strm3_the_codes_of_one_event_come_by_their_bytes() -> None:
    broken = put(2, seq=9, jobId="j", at="2026-10-02T13:58:00Z", usdLow=2)
    assert codes(stream(broken))[:4] == [["event:2", code] for code in ("estimate", "job-id", "seq", "time")]


def test_strm3_an_event_that_does_not_read_takes_no_part_in_anything() -> None:
    """The first event is the first valid one, and what follows an invalid one has no number due."""
    broken = b'{"seq":7,"jobId":"other"}\n'
    assert codes(stream(line(1, broken, event("job.accepted", seq=5)))) == [
        ["event:1", "event-invalid"],
        ["event:3", "seq"],
    ]
    assert codes(stream(line(3, broken), put(4, seq=99), *(put(n, seq=96 + n) for n in range(5, 9))))[0] == [
        "event:3",
        "event-invalid",
    ]


@pytest.mark.parametrize(
    "broken",
    [
        b"x\n",
        b"[]\n",
        b'{"seq":1,"seq":2}\n',
        b"\xff\n",
        b"[" * 65 + b"\n",
        b" \n",
        building.compact(event("job.cancelled", seq=2) | {"at": "2026-02-30T00:00:00Z"}),
        building.compact(event("spend.updated", seq=2, spentUsd=-1)),
        building.compact(event("spend.updated", seq=2, spentUsd="1")),
        building.compact(event("job.cancelled", seq=2.5)),
        building.compact(event("job.cancelled", seq=0)),
        building.compact(event("job.cancelled", seq=2, schemaVersion="2.0")),
        building.compact(event("job.sealed", seq=2, runs=[])),
    ],
)
def test_strm3_what_is_no_event(broken: bytes) -> None:
    assert codes(data([event("job.accepted"), broken, event("job.cancelled")])) == [["event:2", "event-invalid"]]


def test_enc17_a_line_too_long_or_too_deep_is_no_event() -> None:
    long = building.compact(event("job.cancelled", seq=2, ext={"x": "y" * limits.JSON_BYTES}))
    assert codes(data([event("job.accepted"), long, event("job.cancelled")])) == [["event:2", "event-invalid"]]
    inner: Any = {}
    for _ in range(62):
        inner = [inner]
    assert codes(data([event("job.accepted"), event("job.cancelled", ext={"x": inner})]))[0] == [
        "event:2",
        "event-invalid",
    ]
    assert codes(data([event("job.accepted"), event("job.cancelled", ext={"x": inner[0]})])) == []


def test_strm1_a_kind_that_is_not_known_has_no_rules_but_those_of_every_event() -> None:
    unknown = event("job.paused", spentUsd=99, runs=["x"], planId=3)
    assert codes(stream(line(2, unknown))) == []
    assert codes(data([unknown, event("job.cancelled")])) == [["event:1", "first"]]
    assert codes(stream(line(2, unknown), put(2, seq=7)))[0] == ["event:2", "seq"]
    assert verified(stream(line(2, unknown))).account.unknown == 1


def test_strm1_a_terminal_event_of_each_kind_ends_a_stream() -> None:
    for last in ("job.cancelled", "job.failed"):
        assert codes(data([event("job.accepted"), event(last)])) == []
    assert codes(data([event("job.refused")])) == []
    assert codes(data([event("job.accepted"), event("job.refused")])) == []
    assert codes(data([event("job.refused"), event("job.accepted")])) == [["event:2", "after-terminal"]]


@pytest.mark.parametrize("rest", [b"", b"{", b'{"seq"\r', b"\r", b"\r\r", b"x" * (limits.JSON_BYTES + 1)])
def test_strm2_a_last_line_without_lf_is_not_read(rest: bytes) -> None:
    """Whatever it holds; an event that would end the job does not end it before its LF."""
    report = verified(stream() + rest)
    assert report.problems == ()
    assert report.is_unfinished is bool(rest)
    assert codes(stream()[:-1] + rest.replace(b"x", b"")) == [["stream", "no-terminal"]]


def test_strm2_no_terminal_says_that_a_line_was_not_read() -> None:
    (problem,) = verified(stream()[:-1]).problems
    assert "the last line has no LF" in problem.detail


def test_an_empty_stream_has_no_terminal() -> None:
    report = verified(b"")
    assert building.pairs(report.problems) == [["stream", "no-terminal"]]
    assert (report.account.events, report.account.job_id) == (0, None)


@pytest.mark.parametrize(
    "found",
    [
        stream().replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + stream(),
        stream() + b"\n",
        b"\n" + stream(),
        stream(line(1), put(3, spentUsd=99)) + b"\r\n",
    ],
)
def test_strm3_framing_is_the_whole_streams_and_the_only_problem(found: bytes) -> None:
    report = verified(found)
    assert building.pairs(report.problems) == [["stream", "encoding"]]
    assert (report.is_read, report.account.events) == (False, 0)


def test_enc17_more_lines_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside every other fault, and reported alone."""
    monkeypatch.setattr(limits, "LINES", 8)
    assert codes(stream()) == []
    assert codes(stream() + b"{") == []
    assert codes(stream() + b"x\n") == [["stream", "limit"]]
    assert codes(b"\xef\xbb\xbf" + stream() + b"\r\n") == [["stream", "limit"]]


def test_enc17_more_bytes_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "NDJSON_BYTES", len(stream()))
    assert codes(stream()) == []
    assert codes(stream() + b"{") == [["stream", "limit"]]


def test_enc17_what_is_beyond_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LINES", 10)

    class Endless(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return b"{}\n" * 100

    assert building.pairs(verify_stream(Endless(), plan()).problems) == [["stream", "limit"]]


def test_enc4_spend_is_compared_as_binary64() -> None:
    asked = plan(limits={"maxUsd": 2**53})
    digest = {"planDigest": asked.digest}
    exact = stream(put(1, **digest), put(5, spentUsd=2**53 + 1))
    assert codes(exact, asked) == []
    assert codes(exact.replace(str(2**53 + 1).encode(), str(2**53 + 2).encode()), asked) == [["event:5", "over-budget"]]


def test_plan2_what_the_plan_does_not_limit_is_not_limited() -> None:
    asked = plan(limits={"maxUsd": 3})
    many = before_end(*(event("case.completed", at=END) for _ in range(9)))
    assert codes(stream(put(1, planDigest=asked.digest), many, put(17, at="9999-12-31T23:59:59Z")), asked) == []


def test_enc9_a_timeout_may_reach_beyond_every_time() -> None:
    asked = plan(limits={"maxUsd": 3, "timeout": "P99999DT99999H99999M"})
    late = "9999-12-31T23:59:59.999999999Z"
    assert (
        codes(data([event("job.accepted", at=late, planDigest=asked.digest), event("job.cancelled", at=late)]), asked)
        == []
    )


def test_many_problems_of_one_code_are_told_why_a_few_times() -> None:
    broken = [event("spend.updated", spentUsd=9) for _ in range(EXPLAINED + 5)]
    problems = verified(data([event("job.accepted"), *broken, event("job.cancelled")])).problems
    assert [bool(problem.detail) for problem in problems] == [True] * EXPLAINED + [False] * 5


def test_the_account_holds_what_the_stream_says() -> None:
    account = verified(stream()).account
    assert account.accepted is not None
    assert account.accepted[:3] == (1, AT, "job-1")
    assert account.estimate == (2, 0.5, 1.5, "prices-1")
    assert (account.spent, dict(account.cases), account.lanes) == (1.5, {"passed": 1}, {"main": "passed"})
    assert (account.announced, list(account.named)) == ({"r1": HASH}, ["r1"])
    assert account.end == (8, "job.sealed", END, None, None, ("r1",))
    assert (account.started_at, account.last_at, account.events, account.unknown) == (AT, END, 8, 0)


def test_strm4_the_first_announcement_and_the_first_end_count() -> None:
    later = event("job.failed", at=END, runs=["r2", "r1"], limit="cases")
    account = verified(stream(before_end(event("evidence.produced", at=END, runHash=OTHER)), add(later))).account
    assert account.announced == {"r1": HASH}
    assert account.end is not None
    assert account.end.kind == "job.sealed"
    assert list(account.named) == ["r1", "r2"]


def test_the_account_does_not_grow_with_the_stream() -> None:
    account = Account()
    for number in range(MOST_LANES + 10):
        account.take(1, event("lane.completed", lane=f"lane-{number}", status="passed"))
    assert len(account.lanes) == MOST_LANES
    account.take(1, event("lane.completed", lane="lane-1", status="failed"))
    assert account.lanes["lane-1"] == "failed"
    for number in range(MOST_NAMED // 1000 + 1):
        account.take(1, event("job.sealed", runs=[f"{number}-{place}" for place in range(1000)]))
    assert (len(account.named), account.named_all) == (MOST_NAMED, False)
    kept = account.named
    account.take(1, event("job.failed", reason="again", runs=["one-more"]))
    assert account.named is kept
    assert "one-more" not in kept


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_lines_come_out_alike_however_the_bytes_come_in(size: int) -> None:
    found = stream(put(4, seq=9), line(6, b"x\n"))
    reader = StreamReader(plan())
    for start in range(0, len(found), size):
        for number, finished in reader.feed(found[start : start + size]):
            reader.rules.take(number, finished)
    assert reader.finish().problems == verified(found).problems


def test_a_file_is_read_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "events.ndjson"
    file.write_bytes(stream())
    assert verify_stream(str(file), plan()).problems == ()


def test_what_is_no_file_is_an_input_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("absent", "pipe", "."):
        with pytest.raises(InputError):
            verify_stream(str(tmp_path / name), plan())


def test_what_would_have_to_be_waited_for_is_an_input_error() -> None:
    class Waiting(io.BytesIO):
        def read(self, size: int | None = -1) -> Any:
            return None

    with pytest.raises(InputError, match="waited for"):
        verify_stream(Waiting(), plan())


def test_many_ends_of_many_runs_take_no_quadratic_work() -> None:
    """Each end looks at the runs that it names, never at all those announced: counted, not timed."""

    class Counting(dict[str, str]):
        asked = 0

        def __contains__(self, key: object) -> bool:
            Counting.asked += 1
            return super().__contains__(key)

        def __iter__(self) -> Any:
            for key in super().__iter__():
                Counting.asked += 1
                yield key

    reader = StreamReader(plan())
    reader.rules.account.announced = Counting({f"r{number}": HASH for number in range(10_000)})
    ends = [json.dumps(event("job.sealed", seq=number, runs=["r1", "x"])).encode() for number in range(1, 101)]
    for number, end in enumerate(ends, 1):
        reader.rules.take(number, end)
    assert {problem.code for problem in reader.rules.problems} >= {"unsealed-run", "unannounced-run"}
    assert Counting.asked < 1000
