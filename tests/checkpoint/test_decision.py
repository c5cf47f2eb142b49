"""[DEC-1] to [DEC-5], [CKP-10]: what the decision function refuses, decides and gives as reasons."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from aef_verify.checkpoint.decision import Decision, decide, decide_again, shown_beside
from aef_verify.checkpoint.refusals import RefusedInputError
from aef_verify.problems import InputError
from aef_verify.schemas import accepts
from tests.checkpoint.deciding import AT, CLOSED, EXPIRES, GRANTED, NEWER, VERSION, Json, exception, given, lane

QUALITY, ALWAYS = lane("quality"), ("P1D", "PT24H", "PT23H60M", "PT1440M")


def decided(*lanes: Json, **members: Any) -> Decision:
    """Decide an input, and check that the decision is a document and the input is left as it was."""
    value = given(*lanes, **members)
    before = copy.deepcopy(value)
    found = decide(value)
    assert value == before
    assert accepts("decision", "writer", found.document())
    assert found.reasons[-1] == f"outcome:{found.outcome}"
    return found


def refused(value: object) -> str:
    """Return the name under which an input is refused."""
    with pytest.raises(RefusedInputError) as found:
        decide(value)
    assert str(found.value).startswith(f"{found.value.name}: ")
    return found.value.name


# [DEC-1] What is refused rather than decided.

FAILED, WAIVER = lane("quality", "failed"), exception("quality")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("no-lanes", given()),
        ("duplicate-lane", given(QUALITY, lane("safety"), lane("quality", "failed"))),
        ("exception-unknown-lane", given(QUALITY, exceptions=[exception("Quality")])),
        ("exception-no-evidence", given(QUALITY, exceptions=[exception("quality", "")])),
        ("exception-never-in-force", given(QUALITY, exceptions=[exception("quality", at=GRANTED, expires=GRANTED)])),
        ("exception-never-in-force", given(QUALITY, exceptions=[exception("quality", at=EXPIRES, expires=GRANTED)])),
        (
            "exception-never-in-force",
            given(QUALITY, exceptions=[WAIVER | {"at": "2026-10-03T10:00:00.0Z", "expires": "2026-10-03T10:00:00Z"}]),
        ),
        # The name stays where the schema refuses something else, too.
        ("no-lanes", {"lanes": []}),
        ("duplicate-lane", {"lanes": [{"lane": "a"}, {"lane": "a"}]}),
        ("exception-unknown-lane", {"lanes": [QUALITY], "exceptions": [{"lane": "other"}]}),
        ("exception-no-evidence", {"lanes": [QUALITY], "exceptions": [{"lane": "quality"}]}),
        ("exception-never-in-force", {"lanes": [QUALITY], "exceptions": [WAIVER | {"expires": GRANTED, "by": 1}]}),
    ],
)
def test_what_is_refused_by_a_name_of_its_own(name: str, value: object) -> None:
    assert refused(value) == name


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        "input",
        [],
        {},
        given(None),  # type: ignore[arg-type]  # no lane at all
        given("quality"),  # type: ignore[arg-type]  # not an object
        given(QUALITY) | {"lanes": {"quality": QUALITY}},
        given(QUALITY, subjectVersion="latest"),
        given(QUALITY, subjectVersion="LATEST"),
        given(QUALITY, subjectVersion=None),
        given(QUALITY, evaluatedAt="2026-02-31T00:00:00Z"),
        given(QUALITY, evaluatedAt="2026-10-05T09:00:00+00:00"),
        given(QUALITY, evaluatedAt=AT + "\n"),
        given(QUALITY, supersededBy="latest"),
        given(QUALITY, supersededBy=""),
        given(QUALITY, exceptions=None),
        given(QUALITY, exceptions=[None]),
        given(QUALITY, exceptions=[WAIVER | {"lane": 1}]),
        given(QUALITY, exceptions=[WAIVER | {"evidence": ["A" * 64]}]),
        given(QUALITY, exceptions=[exception("quality", "aa")]),
        given(QUALITY, exceptions=[WAIVER | {"reason": ""}]),
        given(QUALITY, exceptions=[WAIVER | {"by": "alice"}]),
        given(QUALITY, exceptions=[WAIVER | {"at": "2026-02-31T00:00:00Z"}]),
        given(QUALITY, exceptions=[WAIVER | {"expires": None}]),
        given(QUALITY, exceptions=[WAIVER | {"expires": "2026-02-31T00:00:00Z"}]),
        given(lane("quality", blocking="true")),
        given(lane("quality", blocking=1)),
        given(lane("a lane")),
        given(lane("quality", freshness="P1W")),
        given(lane("quality", freshness="P")),
        given(lane("quality", freshness=None)),
        given(lane("quality", runs="aa")),
        given(lane("quality", oldestClosedAt="2026-02-31T00:00:00Z")),
        given(lane("quality", subjectVersion="a b")),
        given(QUALITY | {"evidence": [["a"]]}),
        given({name: QUALITY[name] for name in ("lane", "blocking", "result")}),
        given({name: QUALITY[name] for name in ("lane", "blocking", "evidence")}),
        given({name: QUALITY[name] for name in ("lane", "result", "evidence")}),
        given(QUALITY | {"result": "passed"}),
        given(QUALITY | {"result": {"status": "passed"}}),
        given(QUALITY | {"result": QUALITY["result"] | {"status": None}}),
        given(QUALITY | {"result": QUALITY["result"] | {"status": ["passed"]}}),
        given(*(lane(f"lane-{number}") for number in range(65))),
    ],
)
def test_whatever_else_the_reader_schema_refuses_is_refused(value: object) -> None:
    assert refused(value) == "input-invalid"


def test_the_refusal_says_where() -> None:
    with pytest.raises(RefusedInputError, match=r"/lanes/1/result/oldestClosedAt must be a time"):
        decide(given(QUALITY, lane("safety", oldestClosedAt="today")))


def deep(levels: int) -> object:
    value: object = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [deep(100_000), given(QUALITY, lanes=deep(5_000)), {1: 2}, {"lanes": {1}}, object(), float("nan"), 10**5000],
    ids=["deep", "deep lanes", "a number as a name", "a set", "an object", "nan", "digits"],
)
def test_what_no_json_text_within_the_limits_holds_is_refused(value: object) -> None:
    assert refused(value) == "input-invalid"


def test_a_name_of_any_length_is_refused_in_few_words() -> None:
    with pytest.raises(RefusedInputError) as found:
        decide({"lanes": [{"lane": "\u202e" * 10**6}, {"lane": "\u202e" * 10**6}]})
    assert found.value.name == "duplicate-lane"
    assert len(str(found.value)) < 2_000


def test_members_that_this_version_does_not_know_take_no_part() -> None:
    known = given(FAILED, exceptions=[WAIVER])
    later = copy.deepcopy(known) | {"x": 1}
    for part in (later["lanes"][0], later["lanes"][0]["result"], later["exceptions"][0]["by"]):
        part["x-later"] = {"outcome": "approved"}
    assert decide(later).document() == decide(known).document()


# [DEC-2] The status of a lane, 1 to 5.


@pytest.mark.parametrize(
    ("one", "status", "reason"),
    [
        (lane("quality"), "passed", None),
        (lane("quality", "failed"), "failed", "failed:quality"),
        (lane("quality", "failed", blocking=False), "failed", "advisory-failed:quality"),
        (lane("quality", "not_measured"), "not_measured", "not-measured:quality"),
        (lane("quality", "incomparable"), "incomparable", "incomparable:quality"),
        (lane("quality", None), "missing", "missing:quality"),
        (lane("quality", None, evidence=["a" * 64]), "missing", "missing:quality"),
        (lane("quality", subjectVersion=NEWER), "missing", "wrong-version:quality"),
        (lane("quality", subjectVersion="4.2.O"), "missing", "wrong-version:quality"),
        (lane("quality", oldestClosedAt="2026-10-05T09:00:00.000000001Z"), "missing", "future-evidence:quality"),
        (lane("quality", oldestClosedAt="2026-10-05T09:00:00.000Z"), "passed", None),
        (lane("quality", "failed", freshness="P1D"), "stale", "stale:quality"),
        # The first of the conditions that holds.
        (
            lane("quality", subjectVersion=NEWER, oldestClosedAt="2027-01-01T00:00:00Z"),
            "missing",
            "wrong-version:quality",
        ),
        (lane("quality", subjectVersion=NEWER, freshness="P1D"), "missing", "wrong-version:quality"),
        (lane("quality", "failed", oldestClosedAt="2027-01-01T00:00:00Z"), "missing", "future-evidence:quality"),
        # A status that version 1.0 does not know is no pass, whatever it looks like.
        (lane("quality", "Passed"), "not_measured", "not-measured:quality"),
        (lane("quality", "waived"), "not_measured", "not-measured:quality"),
        (lane("quality", "missing"), "not_measured", "not-measured:quality"),
        (lane("quality", ""), "not_measured", "not-measured:quality"),
    ],
)
def test_the_status_and_reason_of_a_lane(one: Json, status: str, reason: str | None) -> None:
    found = decided(one)
    assert found.lanes[0].status == status
    assert found.lanes[0].blocking is one["blocking"]
    assert list(found.reasons[:-1]) == ([reason] if reason else [])


@pytest.mark.parametrize("freshness", ALWAYS)
@pytest.mark.parametrize(
    ("closed", "status"),
    [
        ("2026-10-04T09:00:00Z", "passed"),
        ("2026-10-04T09:00:00.000000000Z", "passed"),
        ("2026-10-04T08:59:59.999999999Z", "stale"),
        ("2026-10-04T08:59:59Z", "stale"),
        (AT, "passed"),
    ],
)
def test_evidence_exactly_as_old_as_the_freshness_is_fresh(freshness: str, closed: str, status: str) -> None:
    """[DEC-2], 4; [ENC-8] and [ENC-9]: to the nanosecond, however the duration is spelled."""
    assert decided(lane("quality", freshness=freshness, oldestClosedAt=closed)).lanes[0].status == status


@pytest.mark.parametrize("freshness", ["P99999D", "P99999DT99999H99999M"])
def test_a_freshness_that_ends_after_the_last_year_is_no_crash(freshness: str) -> None:
    one = lane("quality", freshness=freshness, oldestClosedAt="9999-12-31T23:59:59Z")
    assert decided(one, evaluatedAt="9999-12-31T23:59:59.999999999Z").outcome == "approved"
    one = lane("quality", freshness=freshness, oldestClosedAt="0001-01-01T00:00:00Z")
    assert decided(one, evaluatedAt="9999-12-31T23:59:59Z").outcome == "expired"


def test_no_freshness_never_ages() -> None:
    one = lane("quality", oldestClosedAt="0001-01-01T00:00:00Z")
    assert decided(one, evaluatedAt="9999-12-31T23:59:59Z").outcome == "approved"
    assert decided(lane("quality", freshness="P0D", oldestClosedAt=AT)).outcome == "approved"


def test_axes_stand_by_an_incomparable_lane_alone() -> None:
    axes = ["suite", "judges", "judges"]
    found = decided(
        lane("memory", "incomparable", axes=axes),
        lane("other", "incomparable", axes=[]),
        lane("quality", "failed", axes=axes),
        lane("late", "incomparable", axes=axes, freshness="PT1H"),
    )
    assert [one.axes for one in found.lanes] == [tuple(axes), (), (), ()]
    assert found.document()["lanes"] == [
        {"lane": "memory", "status": "incomparable", "blocking": True, "axes": axes},
        {"lane": "other", "status": "incomparable", "blocking": True},
        {"lane": "quality", "status": "failed", "blocking": True},
        {"lane": "late", "status": "stale", "blocking": True},
    ]


# [DEC-2] Exceptions, 6.

EXPIRED, LATER = {"expires": AT}, {"at": "2026-10-05T09:00:00.000000001Z"}
JUST_IN_FORCE = {"at": AT, "expires": "2026-10-05T09:00:00.000000001Z"}


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize(
    ("exceptions", "codes"),
    [
        ([], []),
        ([WAIVER], None),
        ([WAIVER | JUST_IN_FORCE], None),
        ([WAIVER | EXPIRED], ["exception-expired"]),
        ([WAIVER | LATER], ["exception-expired"]),
        ([WAIVER | EXPIRED, WAIVER | LATER], ["exception-expired"]),
        ([exception("quality", "b")], ["exception-other-evidence"]),
        ([exception("quality", "ab")], ["exception-other-evidence"]),
        ([exception("quality", "b", **EXPIRED)], ["exception-other-evidence"]),
        ([exception("quality", "b"), exception("quality", "c")], ["exception-other-evidence"]),
        ([exception("quality", "b"), WAIVER | EXPIRED], ["exception-expired", "exception-other-evidence"]),
        ([WAIVER | EXPIRED, exception("quality", "b"), WAIVER], None),
        ([exception("other")], []),
    ],
)
def test_what_exceptions_make_of_a_failure(exceptions: list[Json], codes: list[str] | None, blocking: bool) -> None:
    one = lane("quality", "failed", blocking=blocking)
    found = decided(one, lane("other"), exceptions=exceptions)
    if codes is None:
        assert found.lanes[0].status == "waived"
        assert found.reasons == ("waived:quality", "outcome:approved_with_exceptions")
    else:
        first = "failed" if blocking else "advisory-failed"
        assert found.lanes[0].status == "failed"
        assert list(found.reasons[:-1]) == [f"{code}:quality" for code in (first, *codes)]


def test_evidence_is_a_set_of_run_hashes() -> None:
    """[DEC-1], [DEC-5]: in any order, all of them, byte for byte."""
    assert decided(lane("quality", "failed", "ab"), exceptions=[exception("quality", "ba")]).lanes[0].status == "waived"
    assert decided(lane("quality", "failed", "ab"), exceptions=[WAIVER]).lanes[0].status == "failed"
    no_evidence = lane("quality", "failed", "")
    found = decided(no_evidence, exceptions=[WAIVER])
    assert found.reasons == ("failed:quality", "exception-other-evidence:quality", "outcome:blocked")


@pytest.mark.parametrize(
    "one",
    [
        lane("quality"),
        lane("quality", None),
        lane("quality", None, evidence=["a" * 64]),
        lane("quality", "not_measured"),
        lane("quality", "unheard-of"),
        lane("quality", "incomparable"),
        lane("quality", "failed", freshness="P1D"),
        lane("quality", "failed", subjectVersion=NEWER),
        lane("quality", "failed", oldestClosedAt="2027-01-01T00:00:00Z"),
    ],
)
@pytest.mark.parametrize("exceptions", [[WAIVER], [WAIVER | EXPIRED], [exception("quality", "b")]])
def test_nothing_but_a_failure_is_waived(one: Json, exceptions: list[Json]) -> None:
    assert decided(one, exceptions=exceptions) == decided(one)


def test_the_exception_that_expires_first_waives() -> None:
    """[DEC-2], 6: and of two that expire together the first; a requirement is for display alone."""
    late = WAIVER | {"reason": "late"}
    soon = WAIVER | {"reason": "soon", "expires": "2026-10-05T09:00:00.10Z", "requirement": "REQ-7"}
    same = WAIVER | {"reason": "same", "expires": "2026-10-05T09:00:00.1Z"}
    sooner_but_over = WAIVER | {"reason": "over"} | EXPIRED
    elsewhere = exception("quality", "b", expires="2026-10-05T09:00:01Z")
    found = decided(FAILED, QUALITY | {"lane": "b"}, exceptions=[late, sooner_but_over, elsewhere, soon, same])
    assert found.lanes[0].waived_by == soon
    assert found.lanes[1].waived_by is None
    assert decided(FAILED, exceptions=[same, soon]).lanes[0].waived_by == same
    assert "waived_by" not in found.document()["lanes"][0]  # type: ignore[index]  # a list of lanes


# [DEC-3] The outcome.

STALE = lane("stale", freshness="P1D")
MISSING, UNMEASURED, UNLIKE = lane("missing", None), lane("unmeasured", "not_measured"), lane("unlike", "incomparable")
ADVISORY = lane("advisory", "failed", blocking=False)
WAIVED = lane("waived", "failed")
EXCEPTIONS = [exception("waived")]


def advisory(one: Json) -> Json:
    return one | {"blocking": False}


@pytest.mark.parametrize(
    ("outcome", "lanes"),
    [
        ("expired", [STALE]),
        ("expired", [advisory(STALE), FAILED, MISSING, WAIVED]),
        ("blocked", [FAILED]),
        ("blocked", [MISSING, UNMEASURED, UNLIKE, WAIVED, FAILED, ADVISORY]),
        ("inconclusive", [MISSING]),
        ("inconclusive", [UNMEASURED]),
        ("inconclusive", [UNLIKE]),
        ("inconclusive", [QUALITY, advisory(MISSING), WAIVED]),
        ("inconclusive", [QUALITY, advisory(UNMEASURED), ADVISORY]),
        ("inconclusive", [QUALITY, advisory(UNLIKE)]),
        ("approved_with_exceptions", [WAIVED]),
        ("approved_with_exceptions", [QUALITY, advisory(WAIVED), ADVISORY]),
        ("approved", [QUALITY]),
        ("approved", [QUALITY, ADVISORY]),
        ("approved", [ADVISORY]),
    ],
)
def test_the_first_rule_that_holds_gives_the_outcome(outcome: str, lanes: list[Json]) -> None:
    exceptions = EXCEPTIONS if any(one["lane"] == "waived" for one in lanes) else []
    assert decided(*lanes, exceptions=exceptions).outcome == outcome
    assert decided(*lanes, exceptions=exceptions, supersededBy=VERSION).outcome == outcome
    assert decided(*lanes, exceptions=exceptions, supersededBy=None).outcome == outcome
    assert decided(*lanes, exceptions=exceptions, supersededBy=NEWER).outcome == "expired"


# [DEC-4] The reasons.


def test_reasons_stand_in_lane_order_then_the_supersession_then_the_outcome() -> None:
    lanes = [lane("z"), ADVISORY, lane("b", "failed"), MISSING, WAIVED, lane("a", "failed"), STALE]
    exceptions = [exception("b", "c"), exception("b", **EXPIRED), *EXCEPTIONS, exception("advisory", "d")]
    assert decided(*lanes, exceptions=exceptions, supersededBy=NEWER).reasons == (
        "advisory-failed:advisory",
        "exception-other-evidence:advisory",
        "failed:b",
        "exception-expired:b",
        "exception-other-evidence:b",
        "missing:missing",
        "waived:waived",
        "failed:a",
        "stale:stale",
        f"superseded:{NEWER}",
        "outcome:expired",
    )


# [DEC-5] Comparisons.


def test_names_compare_as_they_are_written() -> None:
    found = decided(lane("quality"), lane("Quality", "failed"), exceptions=[exception("Quality")])
    assert [one.status for one in found.lanes] == ["passed", "waived"]
    assert decided(QUALITY, supersededBy=f"{VERSION}.0").outcome == "expired"


# [CKP-10] Later readers.


def test_a_later_reader_decides_the_recorded_input_at_another_time() -> None:
    recorded = given(WAIVED, lane("quality", freshness="P4D"), exceptions=EXCEPTIONS)
    before = copy.deepcopy(recorded)
    assert decide(recorded).outcome == "approved_with_exceptions"
    assert decide_again(recorded, AT) == decide(recorded)
    assert decide_again(recorded, "2026-10-06T15:00:00Z").outcome == "approved_with_exceptions"
    assert decide_again(recorded, "2026-10-06T15:00:00.001Z").outcome == "expired"
    del recorded["lanes"][1]["freshness"]
    assert decide_again(recorded, EXPIRES).outcome == "blocked"
    assert decide_again(recorded, EXPIRES).reasons[1] == "exception-expired:waived"
    assert recorded == before | {"lanes": recorded["lanes"]}


def test_a_later_reader_knows_of_a_newer_version() -> None:
    superseded = given(QUALITY, supersededBy=NEWER)
    assert decide_again(given(QUALITY), AT, NEWER).reasons == (f"superseded:{NEWER}", "outcome:expired")
    assert decide_again(superseded, AT).outcome == "expired"
    assert decide_again(superseded, AT, "5.0.0").reasons[0] == "superseded:5.0.0"
    # The version itself is no newer one.
    assert decide_again(given(QUALITY), AT, VERSION).outcome == "approved"
    assert decide_again(superseded, AT, VERSION).reasons[0] == f"superseded:{NEWER}"


@pytest.mark.parametrize("at", ["", "2026-02-31T00:00:00Z", "2026-10-05"])
def test_a_time_of_reading_that_does_not_exist_is_the_callers_mistake(at: str) -> None:
    with pytest.raises(InputError, match="is no time"):
        decide_again(given(QUALITY), at)


def test_what_cannot_be_decided_cannot_be_decided_again() -> None:
    with pytest.raises(RefusedInputError):
        decide_again([], AT)
    with pytest.raises(RefusedInputError):
        decide_again(given(QUALITY), AT, "latest")


@pytest.mark.parametrize(
    ("recorded", "again", "shown"),
    [
        ("approved", "approved", None),
        ("approved", "expired", "expired"),
        ("approved", "approved_with_exceptions", "approved_with_exceptions"),
        ("approved_with_exceptions", "blocked", "blocked"),
        ("approved_with_exceptions", "approved", "approved"),
        ("blocked", "approved", None),
        ("blocked", "approved_with_exceptions", None),
        ("inconclusive", "approved", None),
        ("expired", "approved_with_exceptions", None),
        ("blocked", "expired", "expired"),
        ("inconclusive", "inconclusive", None),
        ("ratified", "approved", None),
    ],
)
def test_an_approval_that_was_not_recorded_is_never_shown(recorded: str, again: str, shown: str | None) -> None:
    assert shown_beside(recorded, again) == shown


def test_evidence_closed_is_the_evidence_of_that_time() -> None:
    """[DEC-2], 3 at another reading: what was closed later did not exist then."""
    assert decide_again(given(QUALITY), CLOSED).outcome == "approved"
    assert decide_again(given(QUALITY), "2026-10-02T14:59:59.999999999Z").reasons[0] == "future-evidence:quality"
