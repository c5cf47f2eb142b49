"""Decisions, sign tests and checkpoint manifests, whatever they are: [DEC-1] to [DEC-5], [CKP-7], [CKP-10], [LANE-8].

Any JSON value is decided or refused; missing evidence never becomes a pass, not by an exception, not by time, not by a
newer version; order decides nothing where it carries no meaning.
"""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from math import comb, nextafter
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from aef_verify.checkpoint.decision import APPROVALS, Decision, RefusedInputError, decide, decide_again, shown_beside
from aef_verify.checkpoint.manifest import is_checked_as_decided, is_later, manifest_problems, read_manifest
from aef_verify.checkpoint.refusals import INPUT
from aef_verify.checkpoint.signtest import is_regression
from aef_verify.encoding.times import instant
from aef_verify.problems import InputError
from aef_verify.schemas import accepts
from aef_verify.strategies import (
    DecisionCase,
    checkpoints,
    decided_checkpoints,
    decisions,
    documents,
    json_changes,
    json_values,
    near_documents,
    spelled_time,
    spelled_times,
)
from tests.properties.effort import examples

Json = dict[str, Any]

REFUSALS = {
    *("no-lanes", "duplicate-lane", "exception-unknown-lane", "exception-no-evidence", "exception-never-in-force"),
    "input-invalid",
}
CODES = ["decision", "evidence", "exception-evidence", "lane-evidence", "lanes", "outcome", "unverifiable", "version"]
UNMEASURED = {"missing", "not_measured", "incomparable", "stale"}
TIMES = ("oldestClosedAt", "at", "expires", "evaluatedAt")


def outcome_of(value: object) -> Decision | str:
    """Return the decision, or the name of the refusal; a decision is one that the writer's schema accepts."""
    try:
        decided = decide(value)
    except RefusedInputError as refusal:
        return refusal.name
    assert accepts(INPUT, "reader", value)
    assert accepts("decision", "writer", decided.document())
    assert decided.reasons[-1] == f"outcome:{decided.outcome}"
    return decided


def timed(value: Any, change: Any) -> Any:
    """Return a copy of a document with each of its times changed."""
    if isinstance(value, dict):
        return {name: change(part) if name in TIMES else timed(part, change) for name, part in value.items()}
    return [timed(item, change) for item in value] if isinstance(value, list) else value


@examples(80)
@given(decisions(later_minors=True))
def test_an_input_is_decided_as_its_lanes_were_meant(case: DecisionCase) -> None:
    before = copy.deepcopy(case.input)
    decided = outcome_of(case.input)
    assert isinstance(decided, Decision)
    assert decided.document() == case.decision
    assert {lane.lane: lane.waived_by for lane in decided.lanes if lane.waived_by is not None} == case.waivers
    assert case.input == before


@examples(60)
@given(json_values() | near_documents(INPUT, "writer") | near_documents(INPUT, "reader"))
def test_any_value_is_decided_or_refused(value: object) -> None:
    found = outcome_of(value)
    assert isinstance(found, Decision) or found in REFUSALS
    if found == "input-invalid":
        assert not accepts(INPUT, "reader", value)


@examples(40)
@given(decisions(), st.data())
def test_a_changed_input_is_decided_or_refused(case: DecisionCase, data: st.DataObject) -> None:
    value: object = case.input
    for _ in range(2):
        change = data.draw(json_changes(json.dumps(value).encode()))
        try:
            value = json.loads(change.data)
        except ValueError:
            return
        found = outcome_of(value)
        if not isinstance(found, Decision):
            assert found in REFUSALS
            return


@examples(40)
@given(decisions(later_minors=True), st.data())
def test_taking_evidence_away_never_approves(case: DecisionCase, data: st.DataObject) -> None:
    less = copy.deepcopy(case.input)
    lane = data.draw(st.sampled_from(less["lanes"]))
    lane["result"] = data.draw(st.none() | st.just(lane["result"] and lane["result"] | {"status": "unheard-of"}))
    decided = decide(less)
    assert decided.outcome not in APPROVALS
    assert {one.status for one in decided.lanes if one.lane == lane["lane"]} <= UNMEASURED


@examples(40)
@given(decisions(later_minors=True))
def test_exceptions_change_failures_alone(case: DecisionCase) -> None:
    decided = decide(case.input)
    bare = decide({member: part for member, part in case.input.items() if member != "exceptions"})
    for one, without in zip(decided.lanes, bare.lanes, strict=True):
        if without.status != "failed":
            assert one == without
        else:
            assert one.status in ("failed", "waived")
    if bare.outcome in ("expired", "inconclusive"):
        assert decided.outcome == bare.outcome
    if decided.outcome == "approved":
        assert bare.outcome == "approved"
    if any(one.status in UNMEASURED for one in decided.lanes):
        assert decided.outcome not in APPROVALS


@examples(40)
@given(decisions(later_minors=True), st.data())
def test_order_carries_no_meaning_between_lanes_exceptions_and_hashes(case: DecisionCase, data: st.DataObject) -> None:
    decided = decide(case.input)
    mixed = copy.deepcopy(case.input)
    mixed["lanes"] = data.draw(st.permutations(mixed["lanes"]))
    mixed["exceptions"] = data.draw(st.permutations(mixed.get("exceptions", [])))
    for part in (*mixed["lanes"], *mixed["exceptions"]):
        if "evidence" in part:
            part["evidence"] = data.draw(st.permutations(part["evidence"]))
    again = decide(mixed)
    assert again.outcome == decided.outcome
    statuses = {one.lane: one._replace(waived_by=None) for one in decided.lanes}
    assert [one._replace(waived_by=None) for one in again.lanes] == [statuses[lane["lane"]] for lane in mixed["lanes"]]
    assert sorted(again.reasons) == sorted(decided.reasons)
    for one, two in ((one, two) for one in decided.lanes for two in again.lanes if one.lane == two.lane):
        if one.waived_by is not None and two.waived_by is not None:
            assert instant(one.waived_by["expires"]) == instant(two.waived_by["expires"])


@examples(25)
@given(decisions(), st.data())
def test_the_spelling_of_times_carries_no_meaning(case: DecisionCase, data: st.DataObject) -> None:
    respelled = timed(case.input, lambda time: data.draw(spelled_times(instant(time))))
    assert decide(respelled).document() == case.decision


@examples(25)
@given(decisions(), st.integers(-(10**18), 10**18))
def test_only_the_distance_between_times_matters(case: DecisionCase, by: int) -> None:
    moved = timed(case.input, lambda time: spelled_time(instant(time) + by))
    assert decide(moved).document() == case.decision


@examples(40)
@given(decisions(), st.integers(0, 10**18), st.none() | st.just("9.9.9"))
def test_time_and_newer_versions_only_take_approvals_away(case: DecisionCase, later: int, newer: str | None) -> None:
    """[CKP-10] Once everything that the input names has begun, a later reader never sees more than was decided."""
    given = copy.deepcopy(case.input)
    now = instant(given["evaluatedAt"])
    begins = [(lane["result"], "oldestClosedAt") for lane in given["lanes"] if lane["result"] is not None]
    begins += [(exception, "at") for exception in given.get("exceptions", ())]
    for holder, member in begins:
        holder[member] = spelled_time(min(instant(holder[member]), now))
    decided, again = decide(given), decide_again(given, spelled_time(now + later), newer)
    if decided.outcome == "expired":
        assert again.outcome == "expired"
    if again.outcome in APPROVALS:
        assert decided.outcome in APPROVALS
        assert newer in (None, given["subjectVersion"])
    for before, after in zip(decided.lanes, again.lanes, strict=True):
        assert after.status in {before.status, "stale", *(["failed"] if before.status == "waived" else [])}
    assert decide_again(given, given["evaluatedAt"]) == decided


@examples(25)
@given(decisions(), st.data())
def test_an_approval_that_was_not_recorded_is_never_shown(case: DecisionCase, data: st.DataObject) -> None:
    at = data.draw(spelled_times(instant(case.input["evaluatedAt"]) + data.draw(st.integers(-(10**18), 10**18))))
    again = decide_again(case.input, at)
    shown = shown_beside(case.decision["outcome"], again.outcome)
    assert shown in (None, again.outcome)
    if shown in APPROVALS:
        assert case.decision["outcome"] in APPROVALS


def problem_codes(checkpoint: Json) -> list[str]:
    problems = manifest_problems(checkpoint)
    codes = [problem.code for problem in problems]
    assert codes == [code for code in CODES if code in codes]
    assert all(problem.path == "" and problem.detail.isprintable() for problem in problems)
    return codes


@examples(30)
@given(checkpoints())
def test_a_manifest_that_holds_together_has_no_problems(checkpoint: Json) -> None:
    assert accepts("checkpoint", "writer", checkpoint)
    assert read_manifest(json.dumps(checkpoint).encode()) == checkpoint
    assert problem_codes(checkpoint) == []


@examples(40)
@given(decided_checkpoints(), st.data())
def test_a_changed_manifest_is_refused_or_judged(checkpoint: Json, data: st.DataObject) -> None:
    checkpoint["schemaVersion"] = data.draw(st.sampled_from(("1.0", "1.0", "1.1")))
    text = json.dumps(checkpoint).encode()
    for _ in range(data.draw(st.integers(1, 3))):
        text = data.draw(json_changes(text)).data
        if text[:1] != b"{":
            return
    try:
        changed = read_manifest(text)
    except InputError:
        return
    codes = problem_codes(changed)
    if "unverifiable" in codes:
        assert is_later(changed)
        assert codes == ["unverifiable"]
    if not is_checked_as_decided(changed):
        assert codes in ([], ["unverifiable"])


@examples(25)
@given(documents("checkpoint", "reader"))
def test_any_manifest_that_a_reader_accepts_is_judged(checkpoint: Json) -> None:
    codes = problem_codes(checkpoint)
    assert ("unverifiable" in codes) <= is_later(checkpoint)


TAMPERED = {
    "outcome": lambda c: c.update(outcome=other(c["outcome"])),
    "decision": lambda c: c["decision"]["reasons"].append("outcome:approved"),
    "version": lambda c: c["subject"].update(version=c["subject"]["version"] + "!"),
    "lanes": lambda c: c["lanes"].append(c["lanes"][0] | {"lane": "one-more", "runs": []}),
    "lane-evidence": lambda c: c["lanes"][0]["runs"].append(c["lanes"][0]["runs"][0] | {"runHash": "e" * 64}),
    "exception-evidence": lambda c: c["decisionInput"]["exceptions"][0]["evidence"].append("e" * 64),
}


def other(outcome: str) -> str:
    return "blocked" if outcome != "blocked" else "approved"


@examples(40)
@given(decided_checkpoints(), st.sampled_from(sorted(TAMPERED)))
def test_tampering_is_found(checkpoint: Json, code: str) -> None:
    assume(code != "exception-evidence" or checkpoint["decisionInput"].get("exceptions"))
    assume(code != "lane-evidence" or checkpoint["lanes"][0]["runs"])
    TAMPERED[code](checkpoint)
    assert accepts("checkpoint", "reader", checkpoint)
    assert code in problem_codes(checkpoint)


pairs = st.integers(1, 400).flatmap(lambda pairs: st.tuples(st.integers(0, pairs), st.just(pairs)))
significances = st.floats(5e-324, nextafter(1, 0)) | st.integers(1, 1074).map(lambda e: 2.0**-e)


@examples(200)
@given(pairs, significances, st.sampled_from((None, -1, 0, 1)))
def test_the_sign_test_is_the_plain_one(case: tuple[int, int], significance: float, near: int | None) -> None:
    regressed, untied = case
    p = Fraction(sum(comb(untied, k) for k in range(regressed, untied + 1)), 2**untied)
    if near is not None:
        significance = nextafter(float(p), near) if near else float(p)
        assume(0 < significance < 1)
    assert is_regression(regressed, untied, significance) == (p <= Fraction(significance))


@examples(60)
@given(pairs, significances)
def test_more_regressions_never_pass_where_fewer_fail(case: tuple[int, int], significance: float) -> None:
    regressed, untied = case
    if is_regression(regressed, untied, significance):
        assert regressed == untied or is_regression(regressed + 1, untied, significance)
        assert significance >= nextafter(1, 0) or is_regression(regressed, untied, nextafter(significance, 1))
