"""[OVL-3], [OVL-6] to [OVL-9], [OVL-11] The effective view: what verified overlays say beside what was sealed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.integrity.policy import TrustPolicy
from aef_verify.integrity.view import effective_view
from aef_verify.problems import InputError
from tests import building
from tests.building import ALICE, AT, BOB, EVENTS, Run, compact, drop, event, lines, put, result, result_id, trust

C1, C2 = result_id("c1"), result_id("c2")
EMPTY: dict[str, Any] = {
    "results": [],
    "reviews": [],
    "waivers": [],
    "withheld": [],
    "unsealedEvents": 0,
    "assurance": [],
}


def view(run: Run, root: Path, at: str = AT, policy: TrustPolicy | None = None) -> dict[str, Any]:
    return effective_view(run.write(root), at, policy=policy)


def overlaid(*events: Any, **how: Any) -> Run:
    return building.small().seal().batch(*events, **how)


def changed(result: str, state: str, identity: str, kind: str = "override") -> Any:
    return event(identity, kind, result=result, state=state)


def test_without_overlays_there_is_nothing_to_see(tmp_path: Path) -> None:
    assert view(building.small(), tmp_path / "unsealed") == EMPTY
    assert view(building.small().seal(), tmp_path / "sealed", policy=trust()) == EMPTY
    (tmp_path / "empty").mkdir()
    assert effective_view(str(tmp_path / "empty"), AT) == EMPTY


def test_ovl7_the_last_override_or_adjudication_decides_and_both_states_are_shown(tmp_path: Path) -> None:
    """In the order of the results, not of the events; nothing else is recomputed."""
    run = overlaid(
        changed(C2, "warn", "1"),
        changed(C1, "failed", "2", "adjudicate"),
        changed(C2, "passed", "3", "adjudicate"),
        changed(C1, "error", "4"),
    )
    assert view(run, tmp_path)["results"] == [
        {"resultId": C1, "sealedState": "passed", "effectiveState": "error", "event": "ov_4"},
        {"resultId": C2, "sealedState": "failed", "effectiveState": "passed", "event": "ov_3"},
    ]
    assert (tmp_path / "results.ndjson").read_bytes() == building.small().bytes_of("results.ndjson")


def test_ovl6_file_order_decides_and_at_never_does(tmp_path: Path) -> None:
    late, early = "2030-01-01T00:00:00Z", "2000-01-01T00:00:00Z"
    first = {**changed(C1, "failed", "1"), "at": late}
    second = {**changed(C1, "warn", "2"), "at": early}
    run = overlaid(first).batch(second, {**event("3", "approve"), "at": late}, {**event("4", "reject"), "at": early})
    found = view(run, tmp_path, at=early)
    assert found["results"][0]["effectiveState"] == "warn"
    assert found["reviews"] == [{"target": "run", "status": "reject", "event": "ov_4"}]


def test_ovl8_reviews_of_the_run_come_first_then_of_results_in_their_order(tmp_path: Path) -> None:
    run = overlaid(
        event("1", "approve", result=C2),
        event("2", "reject", result=C1),
        event("3", "approve", runHash=building.small().run_hash()),
        event("4", "approve", result=C1),
        event("5", "Reject"),
        event("6", "acknowledge", result=C1),
    )
    assert view(run, tmp_path)["reviews"] == [
        {"target": "run", "status": "approve", "event": "ov_3"},
        {"target": C1, "status": "approve", "event": "ov_4"},
        {"target": C2, "status": "approve", "event": "ov_1"},
    ]


@pytest.mark.parametrize(
    ("at", "active"),
    [
        ("2026-10-03T07:59:59.999999999Z", False),
        ("2026-10-03T08:00:00Z", True),
        ("2026-10-03T08:00:00.000000000Z", True),
        ("2026-10-04T07:59:59.999999999Z", True),
        ("2026-10-04T08:00:00Z", False),
        ("2026-10-04T08:00:00.000000001Z", False),
        ("9999-12-31T23:59:59Z", False),
    ],
)
def test_ovl9_a_waiver_holds_from_its_time_until_it_expires(at: str, active: bool, tmp_path: Path) -> None:
    """To the nanosecond; an expired one is shown as expired."""
    until = "2026-10-04T08:00:00.0Z"
    run = overlaid(
        event("1", "waive", requirement="req-1", expires=until),
        event("2", "waive", result=C1, requirement="req-2", runHash=building.small().run_hash(), expires=AT),
    )
    assert view(run, tmp_path, at)["waivers"] == [
        {"target": {"requirement": "req-1"}, "expires": until, "active": active, "event": "ov_1"},
        {"target": {"result": C1, "requirement": "req-2"}, "expires": AT, "active": False, "event": "ov_2"},
    ]


@pytest.mark.parametrize(
    "at", ["", "now", "2026-10-03", "2026-02-31T00:00:00Z", "2026-10-03T08:00:00+00:00", AT + "\n"]
)
def test_enc8_a_view_is_of_a_time(at: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no time"):
        view(overlaid(event("1")), tmp_path, at)


def test_kinds_that_are_only_recorded_change_nothing(tmp_path: Path) -> None:
    kinds = ("acknowledge", "accept_baseline", "annotate", "novel", "Override")
    run = overlaid(*(event(str(at), kind, result=C1) for at, kind in enumerate(kinds)))
    found = view(run, tmp_path)
    assert [entry["event"] for entry in found["assurance"]] == [f"ov_{at}" for at in range(len(kinds))]
    assert {name: value for name, value in found.items() if name != "assurance"} == {
        name: value for name, value in EMPTY.items() if name != "assurance"
    }


def test_events_that_are_at_fault_have_no_effect(tmp_path: Path) -> None:
    """Invalid, another target, or a second use of an id; the first use stands."""
    run = overlaid(
        changed(C1, "warn", "1"),
        changed(C1, "error", "1"),
        {**changed(C1, "error", "2"), "reason": ""},
        event("3", "override", result=C1, state="error", run="x"),
        event("4", "override", result=C1, state="error", runHash="0" * 64),
        changed(result_id("c9"), "error", "5"),
        b"{" * 65 + b"\n",
        b"\n",
    )
    found = view(run, tmp_path)
    assert [(entry["effectiveState"], entry["event"]) for entry in found["results"]] == [("warn", "ov_1")]
    assert [entry["event"] for entry in found["assurance"]] == ["ov_1"]
    assert found["unsealedEvents"] == 0


BATCH_FAULTS: list[dict[str, Any]] = [
    {"batch": 3},
    {"runId": "x"},
    {"runHash": "0" * 64},
    {"offset": 0},
    {"length": 7},
    {"previous": {"path": building.batch_path(1), "sha256": "0" * 64}},
    {"schemaVersion": "2.0"},
]


@pytest.mark.parametrize("fault", BATCH_FAULTS, ids=lambda fault: next(iter(fault)))
def test_the_first_batch_with_a_problem_of_its_own_and_all_after_it_have_no_effect(
    fault: dict[str, Any], tmp_path: Path
) -> None:
    """Even if they verify alone; their finished lines are counted as unsealed."""
    run = overlaid(changed(C1, "warn", "1")).batch(changed(C1, "error", "2"), **fault).batch(changed(C2, "warn", "3"))
    found = view(run, tmp_path)
    assert [entry["event"] for entry in found["results"]] == ["ov_1"]
    assert found["unsealedEvents"] == 2


@pytest.mark.parametrize("edit", [drop(building.batch_path(1)), put(building.batch_path(1), b"["), drop(EVENTS)])
def test_a_first_batch_that_is_none_leaves_nothing_verified(edit: building.Edit, tmp_path: Path) -> None:
    found = view(overlaid(changed(C1, "warn", "1")).batch(event("2")).but(edit), tmp_path)
    assert (found["results"], found["assurance"]) == ([], [])


def test_an_uncovered_tail_or_a_strange_file_voids_no_batch(tmp_path: Path) -> None:
    run = overlaid(changed(C1, "warn", "1")).append(changed(C1, "error", "2"), b"\n", b"half")
    run.but(put("overlays/strange", b""), put("overlays/seal-0000.json", b""))
    found = view(run, tmp_path)
    assert [entry["event"] for entry in found["results"]] == ["ov_1"]
    assert found["unsealedEvents"] == 2


def test_ovl3_signed_is_shown_where_the_batch_verifies_for_the_events_own_identity(tmp_path: Path) -> None:
    """Whatever it claims; `authenticated` never."""

    def claims(identity: str, by: str, assurance: str) -> Any:
        return {**event(identity), "by": {"identity": by, "assurance": assurance}}

    first = [claims("1", ALICE, "self-attested"), claims("2", BOB, "signed"), claims("3", ALICE, "authenticated")]
    run = overlaid(*first, signed_by=[ALICE]).batch(claims("4", ALICE, "signed"), claims("5", BOB, "authenticated"))
    run.batch(claims("6", BOB, "novel"), claims("7", ALICE, "self-attested"), signed_by=[BOB, ALICE])

    def shown(policy: TrustPolicy | None, name: str) -> str:
        found = view(run, tmp_path / name, policy=policy)["assurance"]
        return "".join("s" if entry["shown"] == "signed" else "-" for entry in found)

    assert shown(trust(), "policy") == "s-s--ss"
    assert shown(None, "none") == "-------"
    found = view(run, tmp_path / "words", policy=trust())["assurance"]
    assert {entry["shown"] for entry in found} == {"signed", "self-attested"}


def test_ovl10_withheld_lists_what_is_redacted_gone_or_not(tmp_path: Path) -> None:
    run = building.full().seal()
    names = [path.rpartition("/")[2] for path in run if path.startswith("blobs/")]
    run.batch(*(event(str(at), "redact", blob=name) for at, name in enumerate([*names, "f" * 64])), signed_by=[ALICE])
    policy = trust(alice=["redact"])
    assert view(run, tmp_path / "there", policy=policy)["withheld"] == [*names, "f" * 64]
    assert view(run, tmp_path / "none")["withheld"] == []
    run.but(drop(building.blob_path(names[0])))
    assert view(run, tmp_path / "gone", policy=policy)["withheld"] == [*names, "f" * 64]


@pytest.mark.parametrize("header", [None, b"", b"[]"])
def test_ovl2_without_a_header_that_reads_events_keep_their_effect(header: bytes | None, tmp_path: Path) -> None:
    """The reading: what is not checked is not at fault; so with results that do not read, in the order they came."""
    edit = drop("run.json") if header is None else put("run.json", header)
    run = overlaid(changed(C2, "warn", "1"), changed(C1, "warn", "2"), event("3", "approve", run="x")).but(edit)
    found = view(run, tmp_path / "header")
    assert [entry["resultId"] for entry in found["results"]] == [C1, C2]
    assert found["reviews"] == [{"target": "run", "status": "approve", "event": "ov_3"}]


@pytest.mark.parametrize("data", [None, b"x", b"\n", b"[]\n"])
def test_ovl2_without_results_that_read(data: bytes | None, tmp_path: Path) -> None:
    nowhere = result_id("c9")
    run = overlaid(changed(C2, "warn", "1"), changed(nowhere, "warn", "2"), changed(C1, "warn", "3"))
    run.but(drop("results.ndjson") if data is None else put("results.ndjson", data))
    assert view(run, tmp_path)["results"] == [
        {"resultId": result, "sealedState": None, "effectiveState": "warn", "event": f"ov_{at}"}
        for at, result in enumerate((C2, nowhere, C1), 1)
    ]


def test_ovl2_results_of_which_one_line_does_not_read(tmp_path: Path) -> None:
    """Those that read are in their order and have their state, the others follow; no target is judged."""
    data = compact(result("c2", state="failed")) + b"[]\n" + compact(result("c1"))
    run = overlaid(changed(result_id("c9"), "warn", "1"), changed(C1, "warn", "2"), changed(C2, "warn", "3"))
    found = view(run.but(put("results.ndjson", data)), tmp_path)["results"]
    assert [(entry["resultId"], entry["sealedState"]) for entry in found] == [
        (C2, "failed"),
        (C1, "passed"),
        (result_id("c9"), None),
    ]


def test_a_result_line_without_an_id_is_skipped(tmp_path: Path) -> None:
    """The reading: no crash, and its neighbours are results."""
    given = lines({}, {"resultId": 5, "state": "x"}, result("c1"), {**result("c1"), "resultId": "r_"})
    run = overlaid(changed(C1, "warn", "1")).but(given)
    assert [entry["sealedState"] for entry in view(run, tmp_path)["results"]] == ["passed"]


def test_two_lines_with_one_id_have_the_place_of_the_first_and_the_state_of_the_last(tmp_path: Path) -> None:
    given = lines(result("c1"), result("c2"), result("c1", state="error"))
    run = overlaid(changed(C2, "warn", "1"), changed(C1, "warn", "2")).but(given)
    found = view(run, tmp_path)["results"]
    assert [(entry["resultId"], entry["sealedState"]) for entry in found] == [(C1, "error"), (C2, "passed")]


def test_a_view_of_a_run_that_is_not_intact_is_a_view_all_the_same(tmp_path: Path) -> None:
    """The chain hangs on the hash that the seal states; that the files changed is the run verifier's to say."""
    run = overlaid(changed(C1, "warn", "1")).but(put("ext/late", b""), drop("metrics.json"))
    assert view(run, tmp_path)["results"][0]["effectiveState"] == "warn"
