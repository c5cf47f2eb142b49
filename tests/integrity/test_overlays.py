"""[OVL-1], [OVL-2], [OVL-4], [OVL-5] The overlay chain: every code of 04 §4.2, and the readings of what it leaves open.

Each row of the table is the smallest change that shows a code and one that just does not; then what stands beside
what, how far the verified batches go, and what is read of a file beyond its limits.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aef_verify import folder, limits
from aef_verify.integrity.view import effective_view, verify_chain
from aef_verify.run.verify import verify_run
from tests import building
from tests.building import AT, EVENTS, RUN_ID, Case, Edit, Run, batch_path, compact, drop, event, pairs, put, result_id

SEAL1, SEAL2, SEAL3 = (batch_path(number) for number in (1, 2, 3))
UNCOVERED = [EVENTS, "uncovered"]
BOM = b"\xef\xbb\xbf"


def base() -> Run:
    """Return a sealed run with two batches of two events each."""
    return building.small().seal().batch(event("1"), event("2")).batch(event("3"), event("4"))


def predicate(path: str, *steps: Any) -> Edit:
    return put(path, "predicate", *steps)


def restated(number: int, **members: Any) -> Edit:
    """Change a batch's predicate, and make the next batch's `previous` follow."""

    def edit(run: Run) -> None:
        run[batch_path(number)]["predicate"].update(members)
        if batch_path(number + 1) in run:
            digest = building.sha256(run.bytes_of(batch_path(number)))
            run[batch_path(number + 1)]["predicate"]["previous"]["sha256"] = digest

    return edit


def relinked(run: Run) -> None:
    """Make every batch's `previous` what its predecessor's bytes now are."""
    number = 2
    while batch_path(number) in run:
        before = run.bytes_of(batch_path(number - 1))
        if isinstance(run[batch_path(number)], dict):
            run[batch_path(number)]["predicate"]["previous"] = {
                "path": batch_path(number - 1),
                "sha256": building.sha256(before),
            }
        number += 1


def in_events(old: bytes, new: bytes) -> Edit:
    """Replace bytes of the events file as it stands."""

    def edit(run: Run) -> None:
        assert old in run[EVENTS]
        run[EVENTS] = run[EVENTS].replace(old, new)

    return edit


def append(*lines: Any) -> Edit:
    return lambda run: run.append(*lines)


def batch(*lines: Any, **members: Any) -> Edit:
    return lambda run: run.batch(*lines, **members)


def line(number: int) -> str:
    return f"{EVENTS}:{number}"


OTHER_RUN = compact(event("5", run="run-0002"))

CASES = [
    Case("batch-invalid", (put(SEAL2, b"{}"),), [UNCOVERED, [SEAL2, "batch-invalid"]], ()),
    Case("batch-invalid", (put(SEAL2, b"\xff"),), [UNCOVERED, [SEAL2, "batch-invalid"]], ()),
    Case("batch-invalid", (put(SEAL2, b""),), [UNCOVERED, [SEAL2, "batch-invalid"]], ()),
    Case("batch-invalid", (restated(2, previous=None),), [UNCOVERED, [SEAL2, "batch-invalid"]], ()),
    Case(
        "batch-invalid",
        (restated(2, schemaVersion="2.0"),),
        [UNCOVERED, [SEAL2, "batch-invalid"]],
        (restated(2, schemaVersion="1.9"),),
    ),
    Case("missing", (drop(SEAL1),), [UNCOVERED, [SEAL1, "missing"], [SEAL2, "previous"]], ()),
    Case("batch-number", (restated(2, batch=3),), [[SEAL2, "batch-number"]], (restated(2, batch=2.0),)),
    Case("batch-number", (put(batch_path(0), {}),), [[batch_path(0), "batch-number"]], ()),
    Case("run-id", (restated(2, runId="run-0002"),), [[SEAL2, "run-id"]], (restated(2, runId=RUN_ID),)),
    Case("run-hash", (restated(2, runHash="0" * 64),), [[SEAL2, "run-hash"]], ()),
    Case(
        "offset",
        (batch(event("5"), offset=0),),
        [UNCOVERED, [SEAL3, "batch-digest"], [SEAL3, "offset"]],
        (batch(event("5")),),
    ),
    Case(
        "line-boundary",
        (batch(event("5"), length=5),),
        [UNCOVERED, [SEAL3, "batch-digest"], [SEAL3, "line-boundary"]],
        (batch(event("5"), event("6")),),
    ),
    Case("limit", (put(SEAL2, b"[" * 65),), [UNCOVERED, [SEAL2, "limit"]], ()),
    Case("limit", (batch(b"[" * 65 + b"\n"),), [[line(5), "limit"]], (batch(compact(event("5", ext={"a": [[]]}))),)),
    Case("batch-digest", (in_events(b"ov_3", b"ov_9"),), [[SEAL2, "batch-digest"]], ()),
    Case(
        "previous", (restated(1, novel=1), predicate(SEAL2, "previous", "sha256", "0" * 64)), [[SEAL2, "previous"]], ()
    ),
    Case("previous", (predicate(SEAL2, "previous", "path", SEAL2),), [[SEAL2, "previous"]], ()),
    Case(
        "previous", (restated(1, novel=1), predicate(SEAL1, "novel", 2)), [[SEAL2, "previous"]], (restated(1, novel=1),)
    ),
    Case("uncovered", (append(event("5")),), [UNCOVERED], (batch(event("5")),)),
    Case("uncovered", (append(b"half"),), [UNCOVERED], (put("ext/late", b""),)),
    Case("event-invalid", (batch(b"\n"),), [[line(5), "event-invalid"]], ()),
    Case(
        "event-invalid",
        (batch(compact(event("5"))[:-1] + b"\r\n"),),
        [[line(5), "event-invalid"]],
        (batch(b" " + compact(event("5"))),),
    ),
    Case("event-invalid", (batch(BOM + compact(event("5"))),), [[line(5), "event-invalid"]], ()),
    Case("event-invalid", (batch(b'{"half\n'),), [[line(5), "event-invalid"]], ()),
    Case(
        "event-invalid",
        (batch(event("5", "override", result=result_id("c1"))),),
        [[line(5), "event-invalid"]],
        (batch(event("5", "override", result=result_id("c1"), state="warn")),),
    ),
    Case(
        "event-invalid",
        (batch(event("5", at="2026-02-31T00:00:00Z")),),
        [[line(5), "event-invalid"]],
        (batch(event("5", "novel")),),
    ),
    Case("event-id", (batch(event("3")),), [[line(5), "event-id"]], (batch(event("03")),)),
    Case("target", (batch(OTHER_RUN),), [[line(5), "target"]], (batch(event("5")),)),
    Case(
        "target",
        (batch(event("5", runHash="0" * 64)),),
        [[line(5), "target"]],
        (lambda run: run.batch(event("5", runHash=run.run_hash())),),
    ),
    Case(
        "target",
        (batch(event("5", result=result_id("c9"))),),
        [[line(5), "target"]],
        (batch(event("5", result=result_id("c1"))),),
    ),
    Case(
        "unexpected-file",
        (put("overlays/notes.txt", b""),),
        [["overlays/notes.txt", "unexpected-file"]],
        (put("overlays/seal-0002.dsse.json", b""),),
    ),
    Case("unexpected-file", (put("overlays/.x", b""),), [["overlays/.x", "unexpected-file"]], ()),
    Case(
        "unexpected-file",
        (put("overlays/seal-00001.json", b""),),
        [["overlays/seal-00001.json", "unexpected-file"]],
        (),
    ),
    Case(
        "unexpected-file",
        (put("overlays/a/events.ndjson", b""),),
        [["overlays/a/events.ndjson", "unexpected-file"]],
        (),
    ),
]


def found(run: Run, root: Path) -> list[list[str]]:
    """Return the chain's problems, and hold that a run verifier reports them apart and as they are."""
    path = run.write(root)
    problems = verify_chain(path)
    assert all(problem.detail for problem in problems)
    overlays = verify_run(path, overlays=True).overlays
    assert pairs(overlays.problems if overlays is not None else ()) == pairs(problems)
    return pairs(problems)


@pytest.mark.parametrize("case", CASES, ids=building.named(CASES))
def test_the_smallest_change_that_shows_it_and_one_that_just_does_not(case: Case, tmp_path: Path) -> None:
    assert found(base().but(*case.broken), tmp_path / "broken") == case.expected
    assert found(base().but(*case.sound), tmp_path / "sound") == []


@pytest.mark.parametrize("case", CASES, ids=building.named(CASES))
def test_none_of_it_touches_the_run(case: Case, tmp_path: Path) -> None:
    """[OVL-5]: the run's own seal and outcome are unaffected."""
    run = base().but(*case.broken)
    assert verify_run(run.write(tmp_path)).outcome == "intact"


def test_every_code_of_the_section_stands_in_the_table() -> None:
    assert {case.code for case in CASES} == {
        "batch-invalid",
        "missing",
        "batch-number",
        "run-id",
        "run-hash",
        "offset",
        "limit",
        "line-boundary",
        "batch-digest",
        "previous",
        "uncovered",
        "event-invalid",
        "event-id",
        "target",
        "unexpected-file",
    }


@pytest.mark.parametrize(
    "edits",
    [
        (),
        (drop(EVENTS), drop(SEAL1), drop(SEAL2)),
        (drop(SEAL1), drop(SEAL2), put(EVENTS, b"")),
        (drop("seal.json"), lambda run: [restated(number, runHash=run.run_hash())(run) for number in (1, 2)]),
    ],
    ids=["two batches", "no overlays", "an empty file", "unsealed"],
)
def test_a_chain_without_a_problem(edits: tuple[Edit, ...], tmp_path: Path) -> None:
    """[SEAL-4]: an unsealed run's hash is that of its files."""
    assert found(base().but(*edits), tmp_path) == []


def test_no_run_at_all(tmp_path: Path) -> None:
    assert verify_chain(str(tmp_path)) == []


def test_the_shortest_chain_is_lines_that_nothing_seals(tmp_path: Path) -> None:
    """They are judged all the same."""
    run = building.small().append(event("1"), b"\n", event("1"), event("2", result=result_id("c9")))
    expected = [UNCOVERED, [line(2), "event-invalid"], [line(3), "event-id"], [line(4), "target"]]
    assert found(run, tmp_path) == expected


def test_events_that_are_gone(tmp_path: Path) -> None:
    """Every batch claims bytes past the end: `line-boundary` and `batch-digest`; nothing is uncovered."""
    expected = [[path, code] for path in (SEAL1, SEAL2) for code in ("batch-digest", "line-boundary")]
    assert found(base().but(drop(EVENTS)), tmp_path / "gone") == expected
    assert found(base().but(put(EVENTS, b"")), tmp_path / "empty") == expected


def test_a_range_past_the_end_of_the_file_is_both_codes(tmp_path: Path) -> None:
    run = base()
    run[EVENTS] = run[EVENTS][:-1]
    assert found(run, tmp_path / "short") == [[SEAL2, "batch-digest"], [SEAL2, "line-boundary"]]
    run = base().batch(event("5"), offset=1 << 52, length=1 << 52)
    codes = [[SEAL3, code] for code in ("batch-digest", "line-boundary", "offset")]
    assert found(run, tmp_path / "far") == [UNCOVERED, *codes]
    run = base()
    length = run[SEAL2]["predicate"]["length"]
    right = found(run.but(restated(2, length=length)), tmp_path / "right")
    beyond = found(run.but(restated(2, length=length + 5)), tmp_path / "of what is there")
    assert (right, beyond) == ([], [[SEAL2, "batch-digest"], [SEAL2, "line-boundary"]])


def test_claimed_bytes_are_covered_though_they_changed(tmp_path: Path) -> None:
    run = base().but(in_events(b"ov_1", b"ov_9"), in_events(b"ov_4", b"ov_8"))
    assert found(run, tmp_path) == [[SEAL1, "batch-digest"], [SEAL2, "batch-digest"]]


def test_a_gap_between_batches_is_uncovered(tmp_path: Path) -> None:
    run = building.small().seal().batch(event("1"))
    run.append(event("2")).batch(event("3"))
    assert found(run, tmp_path) == [UNCOVERED, [SEAL2, "offset"]]


def test_the_first_batch_starts_at_the_first_byte(tmp_path: Path) -> None:
    run = building.small().seal().append(event("1")).batch(event("2"))
    assert found(run, tmp_path) == [UNCOVERED, [SEAL1, "offset"]]


def test_overlapping_batches_cover_what_either_claims(tmp_path: Path) -> None:
    run = base()
    length = len(run[EVENTS])
    both = building.sha256(run[EVENTS])
    run.batch(event("5"))
    run.but(restated(1, length=length), put(SEAL1, "subject", 0, "digest", "sha256", both), relinked, relinked)
    assert found(run, tmp_path) == [[SEAL2, "offset"]]


def test_offset_is_not_checked_after_a_seal_that_is_missing_or_invalid(tmp_path: Path) -> None:
    """Nor after one beyond a limit (a reading); `previous` is, against the bytes of the refused one."""
    for at, refused in enumerate((b"{}", b"[" * 65, b"\xff")):
        run = base().batch(event("5")).but(put(SEAL2, refused), restated(3, offset=3, length=4), relinked)
        codes = [code for path, code in found(run, tmp_path / str(at)) if path == SEAL3]
        assert codes == ["batch-digest", "line-boundary"]
        run.but(predicate(SEAL3, "previous", "sha256", "0" * 64))
        assert [SEAL3, "previous"] in found(run, tmp_path / f"previous {at}")
    run = base().batch(event("5")).but(drop(SEAL2), restated(3, offset=3, length=4))
    codes = [code for path, code in found(run, tmp_path / "missing") if path == SEAL3]
    assert codes == ["batch-digest", "line-boundary", "previous"]


def test_the_one_after_continues_from_the_end_its_predecessor_claims(tmp_path: Path) -> None:
    """The reading: right or wrong. A batch that claims too little moves the next one's start."""
    run = base()
    short = run[SEAL1]["predicate"]["length"] - 3
    run.but(restated(1, length=short))
    assert [SEAL2, "offset"] in found(run, tmp_path / "as it was")
    run.but(restated(2, offset=short))
    assert [SEAL2, "offset"] not in found(run, tmp_path / "moved")


def test_seal_zero_is_a_number_and_nothing_more(tmp_path: Path) -> None:
    """Whatever it holds; and it is not the predecessor of batch 1."""
    for at, data in enumerate((b"", b"[" * 65, b"\xff", building.encoded(base()[SEAL1]))):
        assert found(base().but(put(batch_path(0), data)), tmp_path / str(at)) == [[batch_path(0), "batch-number"]]
    only = building.small().but(put(batch_path(0), {}), put(batch_path(0, "dsse.json"), b""))
    assert found(only, tmp_path / "only") == [[batch_path(0), "batch-number"]]


def test_missing_up_to_the_highest_present(tmp_path: Path) -> None:
    run = building.small().seal().batch(event("1"), batch=9)
    run[batch_path(9)] = run.pop(SEAL1)
    run[batch_path(9)]["predicate"]["previous"] = {"path": batch_path(8), "sha256": "0" * 64}
    missing = [[batch_path(number), "missing"] for number in range(1, 9)]
    assert found(run, tmp_path) == [*missing, [batch_path(9), "previous"]]


def test_the_highest_number_there_is(tmp_path: Path) -> None:
    """9,998 are missing below it, each said; 9999 itself is checked, past the end as it is."""
    run = building.small().but(put(batch_path(9999), b""))
    problems = found(run, tmp_path)
    assert len(problems) == limits.BATCHES
    assert problems[-1] == [batch_path(9999), "batch-invalid"]


def test_the_first_batch_follows_no_other_and_a_later_one_does(tmp_path: Path) -> None:
    """The schema ties `previous` to `batch`; a number that is wrong leaves it to the check."""
    previous = {"path": SEAL1, "sha256": "0" * 64}
    run = building.small().seal().batch(event("1"), batch=2, previous=previous)
    assert found(run, tmp_path / "first") == [[SEAL1, "batch-number"], [SEAL1, "previous"]]
    run = base().but(restated(2, batch=1, previous=None))
    assert found(run, tmp_path / "second") == [[SEAL2, "batch-number"], [SEAL2, "previous"]]
    run = building.small().seal().batch(event("1"), previous=previous)
    assert found(run, tmp_path / "schema") == [UNCOVERED, [SEAL1, "batch-invalid"]]


def test_each_event_answers_for_itself_whatever_stands_around_it(tmp_path: Path) -> None:
    """Inside the batches and after them: what is broken is one line's, and no batch fails for it."""
    broken = [
        b"\n",
        b"\r\n",
        BOM + b"{}\n",
        b'{"a":1,"a":1}\n',
        b"\xff\n",
        b"[]\n",
        compact({}),
        compact(event("2")),
        compact(event("2")),
        compact(event("3", run="x")),
        b"{" * 65 + b"\r\n",
        compact(event("4")),
    ]
    run = building.small().seal().batch(event("1"), *broken).append(*broken, b"half")
    first = [
        *([line(number), "event-invalid"] for number in range(2, 9)),
        [line(10), "event-id"],
        [line(11), "target"],
        [line(12), "limit"],
    ]
    later = [
        *([line(number), "event-invalid"] for number in range(14, 21)),
        *([line(number), "event-id"] for number in (21, 22, 23)),
        [line(23), "target"],
        [line(24), "limit"],
        [line(25), "event-id"],
    ]
    assert found(run, tmp_path) == [UNCOVERED, *first, *later]
    assert effective_view(str(tmp_path), AT)["unsealedEvents"] == len(broken)


def test_a_line_that_is_invalid_records_no_id(tmp_path: Path) -> None:
    invalid = compact(event("1", kind="waive"))
    refused = compact(event("2", ext={"a": 1}))[:-1].replace(b'"a":1', b'"a":' + b"[" * 70) + b"\n"
    run = building.small().seal().batch(invalid, refused, event("1"), event("2"))
    assert found(run, tmp_path) == [[line(1), "event-invalid"], [line(2), "limit"]]


def test_the_last_line_without_lf(tmp_path: Path) -> None:
    """No event, not reported, its bytes uncovered; once ended it reads as what it holds."""
    whole = compact(event("9"))
    assert found(base().append(whole[:-1]), tmp_path / "whole") == [UNCOVERED]
    assert effective_view(str(tmp_path / "whole"), AT)["unsealedEvents"] == 0
    assert found(base().append(b"\xff\r" + BOM), tmp_path / "junk") == [UNCOVERED]
    assert found(base().batch(whole), tmp_path / "ended") == []
    half = whole[:20]
    assert found(base().batch(half + b"\n", whole), tmp_path / "half") == [[line(5), "event-invalid"]]
    claimed = base().batch(whole[:-1])
    assert found(claimed, tmp_path / "claimed") == [[SEAL3, "line-boundary"]]


@pytest.mark.parametrize("size", [1, 3, 64, 1 << 20])
def test_ranges_and_lines_are_the_same_however_the_file_is_cut(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "BLOCK", size)
    run = base().batch(event("5"), b"\n", event("5")).append(event("6"), b"x")
    expected = [UNCOVERED, [line(6), "event-invalid"], [line(7), "event-id"]]
    assert found(run, tmp_path / "sound") == expected
    run.but(restated(2, length=run[SEAL2]["predicate"]["length"] - 1), relinked)
    codes = [[SEAL2, "batch-digest"], [SEAL2, "line-boundary"], [SEAL3, "offset"]]
    assert found(run, tmp_path / "broken") == [*expected, *codes]


def test_enc17_a_line_at_its_limit_and_one_beyond(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "JSON_BYTES", 2000)

    def padded(identity: str, size: int) -> bytes:
        data = compact(event(identity, ext={"pad": ""}))
        return data.replace(b'"pad":"', b'"pad":"' + b"x" * (size + 1 - len(data)))

    assert len(padded("1", 2000)) == 2001
    run = building.small().seal().batch(padded("1", 2000), padded("2", 2001), padded("2", 2000), b"\xff" * 5000 + b"\n")
    for size in (7, 1 << 20):
        monkeypatch.setattr(folder, "BLOCK", size)
        assert found(run, tmp_path / str(size)) == [[line(2), "limit"], [line(4), "limit"]]


@pytest.mark.parametrize("how", ["lines", "bytes"])
def test_enc17_a_file_that_holds_more_than_is_read(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read up to the last LF within the limits; beyond the verified batches then no line is read, nor counted."""
    run = base().append(event("1"), b"\n")
    size = len(run[EVENTS])
    if how == "lines":
        monkeypatch.setattr(limits, "LINES", 6)
    else:
        monkeypatch.setattr(limits, "NDJSON_BYTES", size)
    assert found(run, tmp_path / "at") == [UNCOVERED, [line(5), "event-id"], [line(6), "event-invalid"]]
    assert effective_view(str(tmp_path / "at"), AT)["unsealedEvents"] == 2
    run.append(b"\n")
    assert found(run, tmp_path / "beyond") == [[EVENTS, "limit"], UNCOVERED]
    view = effective_view(str(tmp_path / "beyond"), AT)
    assert (view["unsealedEvents"], len(view["assurance"])) == (0, 4)


def test_enc17_an_unfinished_line_is_no_line_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LINES", 4)
    assert found(base().append(b"unfinished"), tmp_path) == [UNCOVERED]


@pytest.mark.parametrize("how", ["lines", "bytes"])
def test_enc17_a_batch_that_ends_beyond_what_is_read(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`limit` at its seal ends the verified prefix; what it claims is uncovered; the next offset is not checked."""
    run = base().batch(event("1")).batch(event("6"), offset=7)
    end = run[SEAL2]["predicate"]["offset"] + run[SEAL2]["predicate"]["length"]
    if how == "lines":
        monkeypatch.setattr(limits, "LINES", 3)
    else:
        monkeypatch.setattr(limits, "NDJSON_BYTES", end - 1)
    refused = [[path, "limit"] for path in (SEAL2, SEAL3)]
    last = [[batch_path(4), code] for code in ("batch-digest", "line-boundary")]
    assert found(run, tmp_path) == [[EVENTS, "limit"], UNCOVERED, *refused, *last]
    assert len(effective_view(str(tmp_path), AT)["assurance"]) == 2


def test_enc17_a_batch_that_ends_where_reading_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LINES", 4)
    assert found(base().append(event("5")), tmp_path) == [[EVENTS, "limit"], UNCOVERED]
    assert len(effective_view(str(tmp_path), AT)["assurance"]) == 4


def test_enc17_lines_within_the_verified_batches_keep_their_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = building.small().seal().batch(event("1"), b"\n", event("1", result=result_id("c9"))).append(*[b"\n"] * 5)
    monkeypatch.setattr(limits, "LINES", 5)
    expected = [[EVENTS, "limit"], UNCOVERED, [line(2), "event-invalid"], [line(3), "event-id"], [line(3), "target"]]
    assert found(run, tmp_path) == expected


def test_enc17_too_many_files_below_overlays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`limit` at `overlays`, once; files of no known kind are then not reported; the chain is checked as usual."""
    monkeypatch.setattr(limits, "OVERLAY_FILES", 5)
    run = base().but(put("overlays/x", b""), put("overlays/a/y", b""))
    assert found(run, tmp_path / "at") == [["overlays/a/y", "unexpected-file"], ["overlays/x", "unexpected-file"]]
    run.but(put("overlays/z", b""), in_events(b"ov_4", b"ov_8"))
    assert found(run, tmp_path / "beyond") == [["overlays", "limit"], [SEAL2, "batch-digest"]]
    assert len(effective_view(str(tmp_path / "beyond"), AT)["assurance"]) == 2


def make_folder(path: Path) -> None:
    path.mkdir()
    (path / "x").touch()


def make_link(path: Path) -> None:
    path.symlink_to("seal-0001.json")


@pytest.mark.parametrize(
    ("make", "at"), [(make_link, ""), (os.mkfifo, ""), (make_folder, "/x")], ids=["link", "pipe", "folder"]
)
def test_a_name_of_the_chain_that_is_no_file(make: Callable[[Path], None], at: str, tmp_path: Path) -> None:
    """The reading: no seal. Below the highest one it is missing too; above it nothing is missing."""
    root = Path(base().batch(event("5")).write(tmp_path / "below"))
    (root / SEAL2).unlink()
    make(root / SEAL2)
    odd = [SEAL2 + at, "unexpected-file"]
    expected = [UNCOVERED, [SEAL2, "missing"], odd, [SEAL3, "previous"]]
    assert sorted(pairs(verify_chain(str(root)))) == sorted(expected)
    root = Path(base().write(tmp_path / "above"))
    make(root / SEAL3)
    assert pairs(verify_chain(str(root))) == [[SEAL3 + at, "unexpected-file"]]
    root = Path(base().write(tmp_path / "events"))
    (root / EVENTS).unlink()
    make(root / EVENTS)
    gone = [[path, code] for path in (SEAL1, SEAL2) for code in ("batch-digest", "line-boundary")]
    assert pairs(verify_chain(str(root))) == [[EVENTS + at, "unexpected-file"], *gone]
    root = Path(base().write(tmp_path / "envelope"))
    make(root / batch_path(1, "dsse.json"))
    assert pairs(verify_chain(str(root))) == [[batch_path(1, "dsse.json") + at, "unexpected-file"]]
    assert verify_run(str(root)).outcome == "intact"


def test_an_empty_folder_in_a_seals_place_is_nothing(tmp_path: Path) -> None:
    root = Path(base().write(tmp_path))
    (root / SEAL3).mkdir()
    assert verify_chain(str(root)) == []


def test_too_many_files_one_of_them_a_link_of_a_known_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading: it is of a known kind by its name, so that it is reported; other links are not."""
    monkeypatch.setattr(limits, "OVERLAY_FILES", 3)
    root = Path(base().write(tmp_path))
    make_link(root / batch_path(1, "dsse.json"))
    make_link(root / "overlays/other")
    expected = [["overlays", "limit"], [batch_path(1, "dsse.json"), "unexpected-file"]]
    assert pairs(verify_chain(str(root))) == expected


def test_a_name_below_overlays_that_is_not_unicode(tmp_path: Path) -> None:
    run = base()
    run["overlays/seal-0001.json\udcff"] = b""
    run["overlays/\udcfe/x"] = b""
    assert found(run, tmp_path) == [
        ["overlays/seal-0001.json\ufffd", "unexpected-file"],
        ["overlays/\ufffd/x", "unexpected-file"],
    ]


@pytest.mark.parametrize(
    "name",
    [
        "Events.ndjson",
        "SEAL-0001.json",
        "seal-1.json",
        "seal-٠٠٠١.json",
        "seal-0001.JSON",
        "seal-0001.json ",
        "seal-0001.dsse.json.bak",
    ],
)
def test_a_name_that_is_nearly_known(name: str, tmp_path: Path) -> None:
    assert found(base().but(put(f"overlays/{name}", b"")), tmp_path) == [[f"overlays/{name}", "unexpected-file"]]


def test_enc17_a_batch_seal_at_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a seal's limit; a refused one ends the verified prefix."""
    run = base()
    size = len(run.bytes_of(SEAL2))
    assert size > len(run.bytes_of(SEAL1))
    monkeypatch.setattr(limits, "SEAL_BYTES", size)
    run.but(
        drop("seal.json"),
        restated(1, runHash=building.small().run_hash()),
        restated(2, runHash=building.small().run_hash()),
    )
    assert found(run, tmp_path / "at") == []
    monkeypatch.setattr(limits, "SEAL_BYTES", size - 1)
    assert found(run, tmp_path / "beyond") == [UNCOVERED, [SEAL2, "limit"]]
    assert len(effective_view(str(tmp_path / "beyond"), AT)["assurance"]) == 2


UNREAD = {"run.json": [b"", b"[]", b"\xff", b"[" * 65], "results.ndjson": [b"x", b"\n", b"[]\n", b"{" * 65 + b"\n"]}
TARGETS = [
    event("5", run="x"),
    event("6", runHash="0" * 64),
    event("7", result=result_id("c9")),
    event("8", run="x", result=result_id("c9")),
]


@pytest.mark.parametrize("data", [None, *UNREAD["run.json"]])
def test_ovl2_without_a_header_that_reads(data: bytes | None, tmp_path: Path) -> None:
    """The reading, by part: `run-id` and `target.run` are not made; `target.runHash` and `target.result` are."""
    run = base().batch(*TARGETS, runId="x").but(drop("run.json") if data is None else put("run.json", data))
    assert found(run, tmp_path) == [[line(number), "target"] for number in (6, 7, 8)]


@pytest.mark.parametrize("data", [None, *UNREAD["results.ndjson"]])
def test_ovl2_without_results_that_read(data: bytes | None, tmp_path: Path) -> None:
    """`target.result` is not made, the other parts are; an event not checked keeps its effect."""
    run = base().batch(*TARGETS, runId="x")
    run.but(drop("results.ndjson") if data is None else put("results.ndjson", data))
    assert found(run, tmp_path) == [*([line(number), "target"] for number in (5, 6, 8)), [SEAL3, "run-id"]]


@pytest.mark.parametrize("value", [None, 5, "x"])
def test_ovl2_a_header_that_reads_has_another_run_id_or_none(value: object, tmp_path: Path) -> None:
    """The reading: it reads, so that both checks are made."""
    edit = drop("run.json", "runId") if value is None else put("run.json", "runId", value)
    expected = [*([line(number), "target"] for number in range(1, 5)), [SEAL1, "run-id"], [SEAL2, "run-id"]]
    assert found(base().but(edit), tmp_path) == expected


def test_ovl2_results_that_are_only_invalid_are_results(tmp_path: Path) -> None:
    """Schema problems keep no check from being made; a line without an id is none."""
    lines = compact({"resultId": result_id("c9")}) + compact({"resultId": 5}) + b"{}\n"
    run = base().but(put("results.ndjson", lines)).batch(*TARGETS)
    assert found(run, tmp_path) == [[line(number), "target"] for number in (5, 6, 8)]


def test_seal4_the_hash_a_batch_names_is_the_seals_as_it_stands(tmp_path: Path) -> None:
    """Also where the files no longer match it; recomputed where the seal is invalid."""
    run = base().but(put("ext/late", b""), put("metrics.json", {}))
    assert found(run, tmp_path / "changed") == []
    run.but(put("seal.json", b"{}"))
    expected = [[SEAL1, "run-hash"], [SEAL2, "run-hash"]]
    assert found(run, tmp_path / "invalid") == expected


def test_problems_of_one_batch_stand_beside_each_other(tmp_path: Path) -> None:
    run = base().but(
        restated(2, batch=7, runId="x", runHash="0" * 64, offset=1, length=2),
        predicate(SEAL2, "previous", "sha256", "0" * 64),
    )
    codes = ["batch-digest", "batch-number", "line-boundary", "offset", "previous", "run-hash", "run-id"]
    assert found(run, tmp_path) == [UNCOVERED, *([SEAL2, code] for code in codes)]
