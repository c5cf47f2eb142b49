"""A checkpoint against its runs: [CKP-8], [CKP-9], [CKP-10], [SIG-8]; [CKP-7]'s problems beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.checkpoint.record import decide_checkpoint
from aef_verify.checkpoint.verify import CheckpointReport, verify_checkpoint
from aef_verify.integrity.dsse import CHECKPOINT_TYPE
from aef_verify.integrity.policy import load_policy
from aef_verify.problems import InputError
from tests import building
from tests.building import ALICE, BOB, ENDED, Json, Run, drop, pairs, put, result
from tests.checkpoint.lane_runs import (
    AT,
    VERSION,
    Place,
    a_result,
    a_run,
    checkpoint,
    comparison,
    decided,
    encoded,
    lane,
    later,
    lines_of,
    named_run,
    pointer,
    present,
    scores,
    severity,
    threshold,
)
from tests.integrity import material

RUN, METRICS = "run.json", "metrics.json"
LATER = {"schemaVersion": "1.1"}
MISSING = "lanes/lane/runs/gone", "run-missing"
GONE = {"runId": "gone", "runHash": "0" * 64, "origin": "launched"}


def verified(place: Place | None, document: Json, **options: Any) -> CheckpointReport:
    options = {"at": AT} | options
    return verify_checkpoint(encoded(document), None if place is None else str(place), **options)


def codes(place: Place, document: Json, **options: Any) -> list[list[str]]:
    return pairs(verified(place, document, **options).problems)


# Found and intact, in any state


@pytest.mark.parametrize("state", ["draft", "planned", "approved_to_spend", "running", "evidence_complete"])
def test_ckp8_every_run_and_baseline_is_looked_for_in_any_state(tmp_path: Path, state: str) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run)
    sound = checkpoint(lane(present(), run), lane(comparison(run), run, name="cmp"), state=state)
    assert codes(place, sound) == []
    document = checkpoint(
        lane(present(), run, GONE), lane(comparison(pointer(run) | {"runHash": "0" * 64}), run, name="cmp"), state=state
    )
    report = verified(place, document)
    assert pairs(report.problems) == [["lanes/cmp/runs/one", "run-missing"], list(MISSING)]
    assert report.sound is False
    assert [problem.value for problem in report.problems] == ["0" * 64] * 2
    assert "baseline" in report.problems[0].detail


def test_ckp8_a_run_that_is_found_and_not_intact_is_unverified(tmp_path: Path) -> None:
    unsealed, tampered, base = a_run("unsealed"), a_run("tampered"), a_run("base")
    document = checkpoint(lane(comparison(base), unsealed, tampered))
    del unsealed["seal.json"]
    tampered["ext/added"] = b"x\n"
    base["ext/added"] = b"x\n"
    place = Place(tmp_path).add(unsealed, tampered, base)
    report = verified(place, document)
    expected = [[f"lanes/lane/runs/{name}", "run-unverified"] for name in ("base", "tampered", "unsealed")]
    assert pairs(report.problems) == expected
    assert "not-sealed at ext/added" in report.problems[0].detail
    assert "it has no seal" in report.problems[2].detail


def test_ckp8_a_blob_that_is_rightly_withheld_is_no_problem(tmp_path: Path) -> None:
    """[OVL-10]: by whom the policy lets redact."""
    blob = b"what somebody said"
    name = building.sha256(blob)
    line = result("c1", reasoning={"blob": f"sha256:{name}", "bytes": len(blob)})
    run = a_run("run-0001", lines_of(line), lambda run: run.blob(blob))
    document = checkpoint(lane(severity(), run))
    run.batch(building.event("1", "redact", blob=name), signed_by=[ALICE])
    del run[building.blob_path(name)]
    place = Place(tmp_path).add(run)
    allowed = verified(place, document, policy=building.trust(alice=["redact"]))
    assert (pairs(allowed.problems), allowed.lanes[0].result) == ([], ("passed", VERSION, ENDED, ()))
    for policy in (None, building.trust()):
        assert codes(place, document, policy=policy) == [["lanes/lane/runs/run-0001", "run-unverified"]]


def test_ckp8_one_id_under_two_hashes_is_two_runs_at_one_path(tmp_path: Path) -> None:
    tampered = a_run("one")
    names = [named_run(tampered), named_run(tampered, runHash="0" * 64), named_run(tampered, runHash="1" * 64)]
    tampered["ext/added"] = b"x\n"
    assert codes(Place(tmp_path).add(tampered), checkpoint(lane(present(), *names))) == [
        ["lanes/lane/runs/one", "run-missing"],
        ["lanes/lane/runs/one", "run-unverified"],
    ]


def test_ckp8_problems_are_ordered_by_the_bytes_of_their_paths(tmp_path: Path) -> None:
    gone = [GONE | {"runId": f"results.ndjson:{number}"} for number in (9, 10, 1)]
    assert [path.rpartition(":")[2] for path, _ in codes(Place(tmp_path), checkpoint(lane(present(), *gone)))] == [
        "1",
        "10",
        "9",
    ]


# Recorded and recomputed


DIFFERENCES: dict[str, tuple[Json | None, list[str]]] = {
    "equal": (a_result(), []),
    "empty axes are none": (a_result(axes=[]), []),
    "a time spelled otherwise": (a_result(at="2026-10-02T15:00:00.000Z"), []),
    "another status": (a_result("failed"), ["lane-result"]),
    "an unknown status reads as not measured": (a_result("splendid"), ["lane-result"]),
    "axes where none are due": (a_result(axes=["suite"]), ["lane-result"]),
    "no result": (None, ["lane-result"]),
    "another version": (a_result(version="6"), ["lane-version"]),
    "another time": (a_result(at="2026-10-02T15:00:00.000000001Z"), ["oldest-closed"]),
    "all of it": (a_result("failed", "6", AT), ["lane-result", "lane-version", "oldest-closed"]),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_ckp8_a_recorded_result_is_compared_with_what_the_runs_give(tmp_path: Path, name: str) -> None:
    recorded, expected = DIFFERENCES[name]
    run = a_run("one")
    place = Place(tmp_path).add(run)
    document = checkpoint(lane(threshold(), run))
    assert codes(place, decided(document, recorded)) == [["lanes/lane", code] for code in expected]
    assert codes(place, document) == []


def test_ckp8_a_result_without_any_run_is_one_too_many(tmp_path: Path) -> None:
    place = Place(tmp_path)
    document = checkpoint(lane(threshold()), lane(threshold(), GONE, name="other"))
    other = ["lanes/other/runs/gone", "run-missing"]
    assert codes(place, decided(document, None, None)) == [other]
    found = codes(place, decided(document, a_result(), a_result()))
    assert found == [["lanes/lane", "lane-result"], ["lanes/other", "lane-result"], other]


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (["weather", "producer"], []),
        (["producer", "weather"], ["lane-result"]),
        (["weather"], ["lane-result"]),
        (["weather", "producer", "producer"], ["lane-result"]),
        (None, ["lane-result"]),
    ],
)
def test_ckp8_axes_are_compared_in_order(tmp_path: Path, axes: list[str] | None, expected: list[str]) -> None:
    run, base = a_run("one"), a_run("base", put(RUN, "producer", "version", "0"))
    document = checkpoint(lane(comparison(base, axes=["weather", "producer"]), run))
    recorded = a_result("incomparable") | ({} if axes is None else {"axes": axes})
    report = verified(Place(tmp_path).add(run, base), decided(document, recorded))
    assert pairs(report.problems) == [["lanes/lane", code] for code in expected]
    assert {problem.detail for problem in report.problems} <= {"the runs give incomparable on weather, producer"}


def test_ckp8_an_unknown_status_of_this_version_reads_as_not_measured(tmp_path: Path) -> None:
    run = a_run("one")
    document = checkpoint(lane(present(2), run))
    assert codes(Place(tmp_path).add(run), decided(document, a_result("splendid"))) == []


def test_ckp8_a_lane_is_compared_with_the_first_of_its_name_in_the_input(tmp_path: Path) -> None:
    """And one that is not in the input with nothing."""
    run = a_run("one")
    document = decided(checkpoint(lane(threshold(), run)), a_result())
    (given,) = document["decisionInput"]["lanes"]
    place = Place(tmp_path).add(run)
    for results, expected in [
        ([a_result(), a_result("failed")], []),
        ([a_result("failed"), a_result()], [["lanes/lane", "lane-result"]]),
        ([], []),
    ]:
        others = [given | {"lane": "other", "result": a_result("failed")}]
        lanes = [*(given | {"result": recorded} for recorded in results), *others]
        assert codes(place, document | {"decisionInput": document["decisionInput"] | {"lanes": lanes}}) == expected


def test_ckp8_only_what_is_checked_as_decided_is_compared(tmp_path: Path) -> None:
    """[CKP-7], 2: a state that nobody defined is, in this version's manifest, and is not in a later one's."""
    run = a_run("one")
    place = Place(tmp_path).add(run)
    wrong = decided(checkpoint(lane(threshold(), run)), a_result("failed"))
    differs = [["lanes/lane", "lane-result"]]
    assert codes(place, wrong) == differs
    assert codes(place, wrong | {"state": "settled"}) == differs
    assert codes(place, wrong | LATER) == differs
    assert codes(place, wrong | LATER | {"state": "settled"}) == []
    assert codes(place, checkpoint(lane(threshold(), run), state="decided", outcome="aborted", abortReason="x")) == []


def test_ckp8_problems_of_the_manifest_are_apart_and_hide_nothing(tmp_path: Path) -> None:
    run = a_run("one")
    report = verified(Place(tmp_path).add(run), decided(checkpoint(lane(threshold(), run)), a_result("failed")))
    assert [problem.code for problem in report.manifest_problems] == ["decision"]
    assert pairs(report.problems) == [["lanes/lane", "lane-result"]]


def test_lane9_without_a_closing_time_the_recorded_time_of_evaluation_stands(tmp_path: Path) -> None:
    run = a_run("one", put(RUN, "subject", "ref", "agent:other"))
    place = Place(tmp_path).add(run)
    document = checkpoint(lane(threshold(), run))
    later_on = "2026-11-01T00:00:00Z"
    report = verified(place, decided(document, a_result("not_measured", at=AT)), at=later_on)
    assert (report.problems, report.lanes[0].result) == ((), ("not_measured", VERSION, AT, ()))
    assert verified(place, document, at=later_on).lanes[0].result == ("not_measured", VERSION, later_on, ())


# What a later minor may mean


def unknown_mode(*more: building.Edit) -> Run:
    return a_run("one", put(RUN, "execution", "targetMode", "shadow"), *more)


def unknown_severity(*more: building.Edit, **members: Any) -> Run:
    return a_run("one", lines_of(result("c1", state="failed", severity="catastrophic", **members)), *more)


def unknown_direction(*more: building.Edit) -> Run:
    return a_run("one", scores(c1=0.5), put(METRICS, "metrics", 0, "direction", "target_band"), *more)


RULE_OF_A_LATER_MINOR: dict[str, Json] = {
    "kind": {"kind": "weather"},
    "member": threshold(colour="red"),
    "operator": threshold("=="),
    "maximum": severity("critical"),
    "axis": comparison(pointer(a_run("base")), axes=["weather"]),
    "suite's member": threshold(suite={"ref": "suite:triage", "era": "1"}),
}


@pytest.mark.parametrize("name", RULE_OF_A_LATER_MINOR)
def test_ckp8_a_rule_that_only_a_later_minor_writes_is_not_compared(tmp_path: Path, name: str) -> None:
    """Where the checkpoint declares one; whatever is recorded, equal or not."""
    run = a_run("one")
    place = Place(tmp_path).add(run, a_run("base"))
    rule = RULE_OF_A_LATER_MINOR[name]
    document = checkpoint(lane(rule, run))
    (lane_now,) = verified(place, document).lanes
    assert lane_now.result is not None
    equal = lane_now.result.document()
    for recorded in (equal, a_result("failed", "6", AT), None):
        wrong = [] if recorded is equal else ["lane-result", *(["lane-version", "oldest-closed"] if recorded else [])]
        assert codes(place, decided(document, recorded)) == [["lanes/lane", code] for code in wrong]
        assert codes(place, decided(document, recorded, **LATER)) == [["lanes/lane", "unverifiable"]]
    known = checkpoint(lane(threshold(), run))
    assert codes(place, decided(known, a_result("failed"), **LATER)) == [["lanes/lane", "lane-result"]]


def test_ckp8_without_runs_a_rule_of_a_later_minor_is_not_compared_either(tmp_path: Path) -> None:
    document = decided(checkpoint(lane({"kind": "weather"})), None, **LATER)
    report = verified(Place(tmp_path), document)
    assert pairs(report.problems) == [["lanes/lane", "unverifiable"]]
    assert report.lanes[0].unknown == "its rule"


DEPENDS: dict[str, tuple[Any, Json, str]] = {
    "mode": (unknown_mode, threshold(), "the target mode shadow of one"),
    "severity": (unknown_severity, severity(), "a severity in one"),
    "severity of a trial": (
        lambda *more: unknown_severity(
            lambda run: run["results.ndjson"].append(building.rollup("c1", n=1, passed=0, agree=True)), *more, trial=0
        ),
        severity(),
        "a severity in one",
    ),
    "direction": (
        unknown_direction,
        comparison(pointer(a_run("base"))),
        "the direction target_band of the metric score in one",
    ),
}


@pytest.mark.parametrize("name", DEPENDS)
def test_ckp8_a_value_that_a_run_of_a_later_minor_holds_is_not_compared(tmp_path: Path, name: str) -> None:
    """By what `run.json` declares, whatever the line or `metrics.json` does; the run's, not the checkpoint's."""
    made, rule, why = DEPENDS[name]
    for number, (edits, expected) in enumerate(
        [((later(),), "unverifiable"), ((), "lane-result"), ((later(METRICS),), "lane-result")]
    ):
        run = made(*edits)
        place = Place(tmp_path / str(number)).add(run, a_run("base"))
        document = decided(checkpoint(lane(rule, run)), a_result())
        for members in ({}, LATER):
            report = verified(place, document | members)
            assert pairs(report.problems) == [["lanes/lane", expected]]
            assert report.lanes[0].unknown == (why if expected == "unverifiable" else "")


def test_ckp8_a_line_that_declares_a_later_minor_alone_changes_nothing(tmp_path: Path) -> None:
    run = unknown_severity(schemaVersion="1.1")
    document = decided(checkpoint(lane(severity(), run)), a_result())
    assert codes(Place(tmp_path).add(run), document) == [["lanes/lane", "lane-result"]]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (severity(), "unverifiable"),
        (severity(path="qa"), "unverifiable"),
        (severity(lane="main"), "unverifiable"),
        (severity(path="qb"), "lane-result"),
        (severity(lane="red"), "lane-result"),
        (threshold(), "lane-result"),
        (present(2), "lane-result"),
    ],
)
def test_ckp8_a_severity_counts_within_its_lane_and_path(tmp_path: Path, rule: Json, expected: str) -> None:
    """And for a severity rule alone."""
    run = unknown_severity(later())
    document = decided(checkpoint(lane(rule, run)), a_result())
    assert codes(Place(tmp_path).add(run), document) == [["lanes/lane", expected]]


def test_ckp8_a_baselines_target_mode_counts_and_its_direction_does_not(tmp_path: Path) -> None:
    run = a_run("cand", scores(c1=0.5))
    for base, expected in [(unknown_mode(later()), "unverifiable"), (unknown_direction(later()), "lane-result")]:
        place = Place(tmp_path / expected).add(run, base)
        document = decided(checkpoint(lane(comparison(base), run)), a_result("failed"))
        assert codes(place, document) == [["lanes/lane", expected]]


def test_ckp8_a_direction_counts_for_the_metric_of_the_rule_and_one_candidate(tmp_path: Path) -> None:
    run, other, base = unknown_direction(later()), a_run("two"), a_run("base")
    place = Place(tmp_path).add(run, other, base)
    for rule, runs, expected in [
        (comparison(base, metric="pass"), (run,), "lane-result"),
        (comparison(base, metric="undeclared"), (run,), "lane-result"),
        (comparison(base), (run, other), "lane-result"),
        (comparison(base), (run, run), "unverifiable"),
    ]:
        document = decided(checkpoint(lane(rule, *runs)), a_result())
        assert codes(place, document) == [["lanes/lane", expected]]


@pytest.mark.parametrize("made", [unknown_mode, unknown_severity, unknown_direction])
def test_ckp8_a_run_that_is_not_intact_is_read_for_it_too(tmp_path: Path, made: Any) -> None:
    run = made(later())
    rule = {unknown_severity: severity(), unknown_direction: comparison(pointer(a_run("base")))}.get(made, threshold())
    document = decided(checkpoint(lane(rule, run)), a_result("failed", at=AT))
    run["ext/added"] = b"x\n"
    place = Place(tmp_path).add(run, a_run("base"))
    broken = ["lanes/lane/runs/one", "run-unverified"]
    assert codes(place, document) == [["lanes/lane", "unverifiable"], broken]
    for file in ("results.ndjson", METRICS):
        (tmp_path / "one" / file).write_bytes(b"{\r\n")
    settled = "unverifiable" if made is unknown_mode else "lane-result"
    assert codes(place, document) == [["lanes/lane", settled], broken]


def test_ckp8_of_two_broken_copies_the_first_by_path_is_read(tmp_path: Path) -> None:
    run = unknown_severity(later())
    document = decided(checkpoint(lane(severity(), run)), a_result("not_measured", at=AT))
    place = Place(tmp_path)
    for first, expected in [("a", ["unverifiable"]), ("z", [])]:
        for name in ("a", "z"):
            run.write(place.folder / name)
            (place.folder / name / "ext").mkdir(exist_ok=True)
            (place.folder / name / "ext" / "added").write_bytes(b"x\n")
        (place.folder / ("z" if first == "a" else "a") / "results.ndjson").write_bytes(b"")
        found = codes(place, document)
        assert found == [*(["lanes/lane", code] for code in expected), ["lanes/lane/runs/one", "run-unverified"]]


# Who signed it, and what it anchors


def sound(place: Place) -> tuple[bytes, Run, Run]:
    """Return a decided checkpoint over two runs and a baseline, with what it names."""
    run, base = a_run("one", scores(c1=0.5)), a_run("base", scores(c1=0.75))
    place.add(run, base)
    lanes = [lane(threshold("<", 5), run), lane(comparison(base, minimumPairs=2), run, name="cmp")]
    return encoded(decide_checkpoint(checkpoint(*lanes), str(place), AT)), run, base


def signed(payload: bytes, *identities: str, kind: str = CHECKPOINT_TYPE) -> bytes:
    return building.envelope(payload, identities, kind)


def test_ckp9_a_sound_checkpoint_that_somebody_trusted_signed_anchors_its_runs(tmp_path: Path) -> None:
    """[SIG-8]: its baselines too, in byte order."""
    place = Place(tmp_path)
    data, run, base = sound(place)
    policy = building.trust()
    report = verify_checkpoint(data, str(place), at=AT, policy=policy, envelope=signed(data, BOB, ALICE))
    assert (report.manifest_problems, report.problems, report.sound) == ((), (), True)
    assert report.signed_by == (ALICE, BOB)
    assert report.signature is not None
    assert [signature.identity for signature in report.signature.signatures] == [BOB, ALICE]
    assert report.anchors == tuple(sorted({run.run_hash(), base.run_hash()}))


def test_ckp9_nothing_is_anchored_otherwise(tmp_path: Path) -> None:
    place = Place(tmp_path)
    data, _, _ = sound(place)
    policy, envelope = building.trust(), signed(data, ALICE)
    other = load_policy(material.policy())
    unsigned: dict[str, dict[str, Any]] = {
        "no policy": {"envelope": envelope},
        "no envelope": {"policy": policy},
        "nobody trusted": {"policy": other, "envelope": envelope},
        "another payload": {"policy": policy, "envelope": signed(data + b"\n", ALICE)},
        "another type": {"policy": policy, "envelope": signed(data, ALICE, kind="application/vnd.in-toto+json")},
        "no envelope at all": {"policy": policy, "envelope": b"{}"},
    }
    for name, options in unsigned.items():
        report = verify_checkpoint(data, str(place), at=AT, **options)
        assert (report.sound, report.anchors, report.signed_by) == (True, (), ()), name
        assert (report.signature is None) == (name in ("no policy", "no envelope"))
    alone = verify_checkpoint(data, at=AT, policy=policy, envelope=envelope)
    assert (alone.sound, alone.anchors, alone.signed_by, alone.checked_runs) == (True, (), (ALICE,), False)
    (place.folder / "base" / "results.ndjson").write_bytes(b"")
    broken = verify_checkpoint(data, str(place), at=AT, policy=policy, envelope=envelope)
    assert (broken.anchors, broken.signed_by) == ((), (ALICE,))
    assert ["lanes/cmp/runs/base", "run-unverified"] in pairs(broken.problems)


def test_ckp9_a_problem_of_the_manifest_anchors_nothing(tmp_path: Path) -> None:
    run = a_run("one")
    data = encoded(decided(checkpoint(lane(threshold(), run)), a_result()))
    place, policy = Place(tmp_path).add(run), building.trust()
    report = verify_checkpoint(data, str(place), at=AT, policy=policy, envelope=signed(data, ALICE))
    assert (report.problems, report.signed_by, report.anchors) == ((), (ALICE,), ())
    assert [problem.code for problem in report.manifest_problems] == ["decision"]


def test_ckp9_an_undecided_checkpoint_anchors_too(tmp_path: Path) -> None:
    run = a_run("one")
    data = encoded(checkpoint(lane(threshold(), run)))
    place = Place(tmp_path).add(run)
    report = verify_checkpoint(data, str(place), at=AT, policy=building.trust(), envelope=signed(data, ALICE))
    assert report.anchors == (run.run_hash(),)


def test_files_are_read_as_bytes_are(tmp_path: Path) -> None:
    place = Place(tmp_path / "runs")
    data, _, _ = sound(place)
    file, envelope = tmp_path / "cp.json", tmp_path / "cp.dsse.json"
    file.write_bytes(data)
    envelope.write_bytes(signed(data, ALICE))
    options: dict[str, Any] = {"at": AT, "policy": building.trust()}
    by_path = verify_checkpoint(str(file), str(place), envelope=str(envelope), **options)
    by_bytes = verify_checkpoint(data, str(place), envelope=envelope.read_bytes(), **options)
    assert by_path.source == str(file)
    assert by_path._replace(source="") == by_bytes


def test_an_envelope_beyond_its_limit_is_malformed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SIG-1]; it is not an input error."""
    data = encoded(checkpoint(lane(threshold())))
    file = tmp_path / "cp.dsse.json"
    file.write_bytes(signed(data, ALICE))
    for less, expected in [(0, None), (1, "malformed")]:
        monkeypatch.setattr("aef_verify.limits.ENVELOPE_BYTES", file.stat().st_size - less)
        for envelope in (str(file), file.read_bytes()):
            report = verify_checkpoint(data, at=AT, policy=building.trust(), envelope=envelope)
            assert report.signature is not None
            assert report.signature.result == expected


# Read later


def fresh(place: Place) -> bytes:
    run = a_run("one")
    document = checkpoint(lane(threshold(), run, freshness="P10D"))
    return encoded(decide_checkpoint(document, str(place.add(run)), AT))


def test_ckp10_the_outcome_of_reading_it_later_stands_beside_the_recorded_one(tmp_path: Path) -> None:
    place = Place(tmp_path)
    data = fresh(place)
    for at, now in [(AT, None), ("2026-10-12T15:00:00Z", None), ("2026-10-12T15:00:00.1Z", "expired")]:
        report = verify_checkpoint(data, str(place), at=at)
        assert (report.outcome, report.outcome_now, report.sound) == ("approved", now, True)
    newer = verify_checkpoint(data, at=AT, superseded_by="8")
    assert (newer.outcome, newer.outcome_now) == ("approved", "expired")
    assert verify_checkpoint(data, at=AT, superseded_by=VERSION).outcome_now is None


def test_ckp10_an_exception_lapses(tmp_path: Path) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run)
    waiver = {
        "lane": "lane",
        "evidence": [run.run_hash()],
        "reason": "accepted by the test",
        "by": {"identity": ALICE, "assurance": "self-attested"},
        "at": ENDED,
        "expires": "2026-12-01T00:00:00Z",
    }
    document = checkpoint(lane(threshold(">", 5), run))
    data = encoded(decide_checkpoint(document, str(place), AT, exceptions=[waiver]))
    report = verify_checkpoint(data, str(place), at="2026-11-30T23:59:59.9Z")
    assert (report.outcome, report.outcome_now, report.sound) == ("approved_with_exceptions", None, True)
    assert report.decided is not None
    assert report.decided.lanes[0].waived_by == waiver
    assert verify_checkpoint(data, at="2026-12-01T00:00:00Z").outcome_now == "blocked"


def test_ckp10_no_approval_is_shown_that_was_not_recorded(tmp_path: Path) -> None:
    """Evidence that was not closed yet when it was decided, and is now."""
    run = a_run("one")
    place = Place(tmp_path).add(run)
    data = encoded(decide_checkpoint(checkpoint(lane(threshold(), run)), str(place), "2026-10-01T00:00:00Z"))
    report = verify_checkpoint(data, str(place), at=AT)
    assert (report.outcome, report.outcome_now, report.sound) == ("inconclusive", None, True)


def test_ckp10_what_cannot_be_decided_is_not_decided_later(tmp_path: Path) -> None:
    run = a_run("one")
    document = decided(checkpoint(lane(threshold(), run)), a_result())
    document["decisionInput"]["lanes"] *= 2
    report = verified(Place(tmp_path).add(run), document)
    assert (report.decided, report.outcome_now, report.outcome) == (None, None, "inconclusive")
    silent = decided(checkpoint(lane(threshold(), run)), a_result(), state="settled", outcome=None)
    nothing = verified(Place(tmp_path), silent)
    assert (nothing.decided, nothing.outcome_now, nothing.outcome) == (None, None, None)
    undecided = verified(Place(tmp_path), checkpoint(lane(threshold(), run)))
    assert (undecided.decided, undecided.outcome_now, undecided.outcome) == (None, None, None)
    aborted = verified(None, checkpoint(lane(threshold()), state="decided", outcome="aborted", abortReason="x"))
    assert (aborted.decided, aborted.outcome_now, aborted.outcome) == (None, None, "aborted")


def test_ckp10_what_only_a_later_minor_decides_is_not_decided_here(tmp_path: Path) -> None:
    """What an unknown status reads as would look like a decision that time has changed."""
    run = a_run("one")
    place = Place(tmp_path).add(run)
    data = decide_checkpoint(checkpoint(lane(present(), run)), str(place), AT)
    data["decisionInput"]["lanes"][0]["result"]["status"] = "splendid"
    report = verified(place, data)
    assert (report.outcome, report.outcome_now) == ("approved", "inconclusive")
    report = verified(place, data | LATER)
    assert [problem.code for problem in report.manifest_problems] == ["unverifiable"]
    assert (report.outcome, report.decided, report.outcome_now) == ("approved", None, None)


# Inputs


def test_the_report_says_what_was_read(tmp_path: Path) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run)
    document = checkpoint(lane(threshold(), run, requirements=["REQ-1"], freshness="P10D", blocking=False))
    (found,) = verified(place, document).lanes
    assert (found.lane, found.rule, found.blocking) == ("lane", threshold(), False)
    assert (found.requirements, found.freshness, found.recorded) == (("REQ-1",), "P10D", None)
    report = verified(place, decided(document, a_result()) | {"colour": "red"})
    assert report.lanes[0].recorded == a_result()
    assert (report.writer, report.at, report.document["colour"]) == (False, AT, "red")
    assert verified(None, document).writer is True


def test_the_manifest_alone_is_checked_without_runs() -> None:
    report = verified(None, decided(checkpoint(lane(threshold(), GONE)), a_result()))
    assert [problem.code for problem in report.manifest_problems] == ["decision"]
    assert (report.problems, report.lanes[0].result, report.lanes[0].runs) == ((), None, ())
    assert report.checked_runs is False


REFUSED: dict[str, bytes] = {
    "empty": b"",
    "no object": b"[]",
    "no UTF-8": b"\xff",
    "twice": b'{"lanes":[],"lanes":[]}',
    "deep": b"[" * 65 + b"]" * 65,
    "no checkpoint": b"{}",
    "another major version": encoded(checkpoint(lane(present())) | {"schemaVersion": "2.0"}),
    "latest": encoded(checkpoint(lane(present())) | {"subject": {"ref": "agent:x", "version": "latest"}}),
    "no lane": encoded(checkpoint()),
    "no run hash": encoded(checkpoint(lane(present(), {"runId": "x", "runHash": "x", "origin": "launched"}))),
    "too large": encoded(checkpoint(lane(present())) | {"ext": {"x": "y" * (4 << 20)}}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_ver4_a_manifest_that_no_reader_accepts_is_refused(tmp_path: Path, name: str) -> None:
    """It would fail open: nothing of it is evaluated."""
    file = tmp_path / "cp.json"
    file.write_bytes(REFUSED[name])
    for given in (str(file), REFUSED[name]):
        with pytest.raises(InputError):
            verify_checkpoint(given, str(tmp_path), at=AT)


@pytest.mark.parametrize(
    "at", ["", "yesterday", "2026-02-31T00:00:00Z", "2026-10-08T00:00:00", "2026-10-08T00:00:00+00:00"]
)
def test_enc8_a_time_that_is_none_is_refused(at: str) -> None:
    with pytest.raises(InputError, match="is no time"):
        verify_checkpoint(encoded(checkpoint(lane(present()))), at=at)


@pytest.mark.parametrize("version", ["", "latest", "a b"])
def test_enc10_a_newer_version_is_an_exact_one(version: str) -> None:
    with pytest.raises(InputError, match="no exact version"):
        verify_checkpoint(encoded(checkpoint(lane(present()))), at=AT, superseded_by=version)


def test_files_that_are_not_there_are_input_errors(tmp_path: Path) -> None:
    data = encoded(checkpoint(lane(present())))
    none = str(tmp_path / "none")
    options: dict[str, Any] = {"at": AT, "policy": building.trust()}
    calls: list[tuple[str | bytes, dict[str, Any]]] = [
        (none, {}),
        (data, {"runs": none}),
        (data, {"envelope": none}),
        (str(tmp_path), {}),
        (data, {"envelope": str(tmp_path)}),
    ]
    for given, more in calls:
        with pytest.raises(InputError):
            verify_checkpoint(given, **options, **more)


def test_a_run_without_a_header_that_reads_is_nobody(tmp_path: Path) -> None:
    run = a_run("one")
    document = checkpoint(lane(present(), run))
    drop(RUN, "runId")(run)
    assert codes(Place(tmp_path), document) == [["lanes/lane/runs/one", "run-missing"]]
    run.write(tmp_path / "one")
    assert codes(Place(tmp_path), document) == [["lanes/lane/runs/one", "run-missing"]]
