"""Lanes as a whole: [LANE-1], [LANE-3], [LANE-4], [LANE-9], and what [CKP-8] calls found."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from aef_verify.checkpoint.lanes import LaneResult
from aef_verify.problems import InputError
from tests.building import ENDED, Json, put, result
from tests.checkpoint.lane_runs import (
    AT,
    VERSION,
    Place,
    a_run,
    checkpoint,
    comparison,
    lane,
    later,
    lines_of,
    named_run,
    pointer,
    present,
    severity,
    threshold,
)

RULES: dict[str, Json] = {
    "threshold": threshold(),
    "severity": severity(),
    "evidence-present": present(),
    "comparison": comparison(pointer(a_run("base"))),
    "unknown": {"kind": "weather"},
}


@pytest.mark.parametrize("kind", RULES)
def test_lane9_no_run_or_none_found_is_no_result(tmp_path: Path, kind: str) -> None:
    place = Place(tmp_path).add(a_run("base"))
    assert place.result(RULES[kind]) is None
    assert place.result(RULES[kind], named_run(a_run("gone"))) is None


@pytest.mark.parametrize("kind", RULES)
def test_lane1_one_run_that_is_not_found_leaves_the_lane_not_measured(tmp_path: Path, kind: str) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run, a_run("base"))
    assert place.result(RULES[kind], run, named_run(a_run("gone"))) == ("not_measured", VERSION, ENDED, ())


def test_an_unknown_kind_is_not_measured(tmp_path: Path) -> None:
    """Of any shape: it is a later version's [VER-3]. Its `suite`, where it is one, binds as any rule's does."""
    run = a_run("one")
    place = Place(tmp_path).add(run)
    for rule in ({"kind": "weather"}, {"kind": "", "suite": 5}, {"kind": "weather", "suite": {"ref": "suite:triage"}}):
        assert place.result(rule, run) == ("not_measured", VERSION, ENDED, ())
    for suite in ({"ref": "suite:other"}, {}, {"ref": ["suite:triage"]}):
        assert place.result({"kind": "weather", "suite": suite}, run) == ("not_measured", VERSION, AT, ())


def test_lane4_a_run_named_twice_is_one(tmp_path: Path) -> None:
    one, two = a_run("one"), a_run("two")
    place = Place(tmp_path).add(one, two)
    assert place.status(present(2), one, one) == "not_measured"
    assert place.status(present(2), one, two, named_run(one, origin="adopted:nightly")) == "passed"
    assert place.status(severity(minimumN=3), one, one) == "not_measured"
    assert place.status(severity(minimumN=4), one, two, one) == "passed"
    (found,) = place.evaluate(checkpoint(lane(present(), one, two, one)))
    assert [run.run_id for run in found.runs] == ["one", "two"]


@pytest.mark.parametrize(("runs", "status"), [(1, "passed"), (2, "passed"), (2.0, "passed"), (3, "not_measured")])
def test_lane4_evidence_is_present_when_there_is_enough(tmp_path: Path, runs: int, status: str) -> None:
    one, two = a_run("one"), a_run("two")
    assert Place(tmp_path).add(one, two).status(present(runs), one, two) == status


def test_a_run_is_found_by_id_and_hash(tmp_path: Path) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run)
    for other in (named_run(run, runHash="0" * 64), named_run(run, runId="two")):
        (found,) = place.evaluate(checkpoint(lane(present(), other)))
        assert found.result is None
        assert [(used.found, used.intact, used.outcome) for used in found.runs] == [(False, False, None)]
        assert found.runs[0].reasons == ("no run that was found has this id and this run hash",)


def test_an_intact_copy_beside_a_tampered_one_is_used(tmp_path: Path) -> None:
    run = a_run("one")
    for names in ("a-tampered", "z-tampered"), ("z-tampered", "a-tampered"):
        place = Place(tmp_path / names[0])
        for name in (*names, "m-sound"):
            run.write(place.folder / name)
        for name in names:
            (place.folder / name / "results.ndjson").write_bytes(b"")
        (found,) = place.evaluate(checkpoint(lane(present(), run)))
        assert found.result is not None
        assert found.result.status == "passed"
        assert found.runs[0].path == str(place.folder / "m-sound")
        shutil.rmtree(place.folder / "m-sound")
        (found,) = place.evaluate(checkpoint(lane(present(), run)))
        assert (found.runs[0].path, found.runs[0].outcome) == (str(place.folder / "a-tampered"), "invalid")


def test_lines_without_a_lane_belong_to_the_only_lane_of_their_own_summary(tmp_path: Path) -> None:
    """[SUM-3], for each run by itself."""
    bad = result("c1", state="failed", severity="high")
    single = a_run("single", lines_of(bad))
    lanes = [{"lane": "main", "metrics": []}, {"lane": "red", "metrics": []}]
    several = a_run("several", lines_of(bad, result("c2", lane="main")), put("summary.json", "lanes", lanes))
    place = Place(tmp_path).add(single, several)
    rule = severity(lane="main")
    assert place.status(rule, single) == "failed"
    assert place.status(rule, several) == "passed"
    assert place.status(rule, several, single) == "failed"
    assert place.status(severity(), several) == "failed"


def test_lanes_come_in_the_manifests_order_and_each_is_for_itself(tmp_path: Path) -> None:
    run = a_run("one")
    rules = [threshold(">", 0.5), threshold(), severity("none"), severity("low", path="qb"), present()]
    lanes = [lane(rule, run, name=f"lane-{number}") for number, rule in enumerate(rules)]
    found = Place(tmp_path).add(run).evaluate(checkpoint(*lanes, lane(present(), run, name="lane-0")))
    statuses = [None if one.result is None else one.result.status for one in found]
    assert statuses == ["failed", "passed", "failed", "not_measured", "passed", "passed"]
    assert [one.lane for one in found] == [f"lane-{number}" for number in (0, 1, 2, 3, 4, 0)]


def test_a_run_is_verified_once_however_many_lanes_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aef_verify.run import verify

    verified: list[str] = []

    def watched(path: str, **options: Any) -> verify.RunReport:
        verified.append(path)
        return verify.verify_run(path, **options)

    monkeypatch.setattr("aef_verify.run.store.verify_run", watched)
    run, base = a_run("one"), a_run("base")
    place = Place(tmp_path).add(run, base, a_run("unnamed"))
    lanes = [lane(rule, run, name=name) for name, rule in RULES.items()]
    place.evaluate(checkpoint(*lanes, *(one | {"lane": f"{one['lane']}-2"} for one in lanes)), *RULES)
    assert sorted(verified) == [str(tmp_path / "base"), str(tmp_path / "one")]


def test_a_run_that_changes_after_it_was_verified_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aef_verify.run import verify

    def changing(path: str, **options: Any) -> verify.RunReport:
        report = verify.verify_run(path, **options)
        Path(path, "results.ndjson").write_bytes(b"")
        return report

    run = a_run("one")
    place = Place(tmp_path).add(run)
    monkeypatch.setattr("aef_verify.run.store.verify_run", changing)
    with pytest.raises(InputError, match=r"results\.ndjson: changed since it was verified"):
        place.result(severity(), run)


def test_a_large_checkpoint_over_no_run_is_settled_at_once(tmp_path: Path) -> None:
    """64 lanes of 1,024 runs each: nothing is read for a run that is not there."""
    runs = [{"runId": f"r{number}", "runHash": f"{number:064x}", "origin": "launched"} for number in range(1024)]
    kinds = list(RULES.values())
    lanes = [lane(kinds[number % len(kinds)], name=f"lane-{number}") | {"runs": runs} for number in range(64)]
    found = Place(tmp_path).evaluate(checkpoint(*lanes), *(one["lane"] for one in lanes))
    assert {one.result for one in found} == {None}
    assert sum(len(one.runs) for one in found) >= 64 * 1024


def test_many_runs_of_one_id_are_looked_up_in_one_step_each(tmp_path: Path) -> None:
    run = a_run("one")
    place = Place(tmp_path)
    for number in range(30):
        run.write(place.folder / f"{number:02}")
    runs = [named_run(run), *(named_run(run, runHash=f"{number:064x}") for number in range(1000))]
    (found,) = place.evaluate(checkpoint(lane(present(), *runs)))
    assert found.result == LaneResult("not_measured", VERSION, ENDED)


def test_only_a_comparison_reads_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And only one that the metric still decides."""
    read: list[str] = []
    monkeypatch.setattr("aef_verify.checkpoint.lanes.read_metrics", lambda run: read.append(run.run_id))
    run, base = a_run("one", later()), a_run("base")
    place = Place(tmp_path).add(run, base)
    for kind, rule in RULES.items():
        place.status(rule, run)
        assert read == (["one"] if kind == "comparison" else [])
        read.clear()
    assert place.status(comparison(base, axes=["weather"]), run) == "incomparable"
    assert read == []
