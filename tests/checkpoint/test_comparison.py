"""The rule `comparison`: [LANE-5] to [LANE-8], [SUM-3], [SUM-4]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.checkpoint.comparison import AXES, declared, differing_axes, measured_value
from aef_verify.checkpoint.content import Take, read_results
from aef_verify.checkpoint.eligible import facts_of
from aef_verify.run.store import StoredRun
from aef_verify.run.verify import verify_run
from aef_verify.schemas import accepts
from tests.building import Edit, Json, Run, drop, put, result, rollup
from tests.checkpoint.lane_runs import (
    Place,
    a_run,
    checkpoint,
    comparison,
    lane,
    lines_of,
    named_run,
    pointer,
    score,
    scores,
    severity,
)

RUN, METRICS = "run.json", "metrics.json"
DIGEST = "sha256:" + "a" * 64

Scores = dict[str, float | None]


def _all(value: float) -> Scores:
    return {f"c{number}": value for number in range(5)}


BASE, WORSE, BETTER = (_all(value) for value in (0.5, 0.25, 0.75))


def direction(value: str) -> Edit:
    return put(METRICS, "metrics", 0, "direction", value)


def kind(value: str) -> Edit:
    return put(METRICS, "metrics", 0, "kind", value)


def judge(model: str, rubric: str | None = None) -> Json:
    return {"model": model} if rubric is None else {"model": model, "rubricDigest": rubric}


def compared(
    tmp_path: Path, candidate: tuple[Edit, ...], baseline: tuple[Edit, ...], **members: Any
) -> tuple[str, tuple[str, ...]]:
    """Return the status and the axes of comparing two runs."""
    run, base = a_run("cand", *candidate), a_run("base", *baseline)
    result = Place(tmp_path).add(run, base).result(comparison(base, **members), run)
    assert result is not None
    return result.status, result.axes


def status(tmp_path: Path, candidate: Edit, baseline: Edit, *both: Edit, **members: Any) -> str:
    return compared(tmp_path, (candidate, *both), (baseline, *both), **members)[0]


@pytest.mark.parametrize(
    ("way", "candidate", "expected"),
    [
        ("higher_better", WORSE, "failed"),
        ("higher_better", BETTER, "passed"),
        ("lower_better", WORSE, "passed"),
        ("lower_better", BETTER, "failed"),
        ("none", WORSE, "not_measured"),
        ("target_band", WORSE, "not_measured"),
    ],
)
def test_lane7_the_direction_says_which_is_worse(tmp_path: Path, way: str, candidate: Scores, expected: str) -> None:
    assert status(tmp_path, scores(**candidate), scores(**BASE), direction(way)) == expected


@pytest.mark.parametrize("way", ["lower_better", "none", "target_band"])
def test_lane7_the_candidate_declares_the_direction(tmp_path: Path, way: str) -> None:
    assert compared(tmp_path, (scores(**WORSE),), (scores(**BASE), direction(way)))[0] == "failed"
    other = compared(tmp_path / "other", (scores(**WORSE), direction(way)), (scores(**BASE),))
    assert other[0] != "failed"


def test_lane7_the_candidate_declares_the_kind_for_both(tmp_path: Path) -> None:
    """As a rate a failed line is 0, whatever it scored."""
    passed = lines_of(*(result(f"c{i}", scores=[score(0.1)]) for i in range(5)))
    failed = lines_of(*(result(f"c{i}", state="failed", severity="low", scores=[score(0.9)]) for i in range(5)))
    assert compared(tmp_path / "rate", (failed, kind("rate")), (passed,))[0] == "failed"
    assert compared(tmp_path / "score", (failed,), (passed, kind("rate")))[0] == "passed"


def test_lane7_cases_are_paired_whatever_their_order(tmp_path: Path) -> None:
    candidate = scores(c4=0.2, c0=0.2, c3=0.2, only=0.1, c1=0.2, c2=0.2, gone=None)
    baseline = scores(gone=0.3, c0=0.3, c1=0.3, c2=0.3, c3=0.3, c4=0.3, other=0.9)
    for pairs, expected in [(5, "failed"), (6, "not_measured")]:
        assert status(tmp_path / str(pairs), candidate, baseline, minimumPairs=pairs) == expected


def test_lane7_a_case_that_one_run_did_not_measure_is_no_pair(tmp_path: Path) -> None:
    some: Scores = BASE | {"c0": None, "c1": None}
    sides: list[tuple[Scores, Scores]] = [(WORSE, some), (WORSE | {"c0": None, "c1": None}, BASE)]
    for number, (candidate, baseline) in enumerate(sides):
        for pairs, expected in [(3, "passed"), (4, "not_measured")]:
            place = tmp_path / f"{number}-{pairs}"
            # 3 of 3 worse: p = 1/8.
            assert status(place, scores(**candidate), scores(**baseline), minimumPairs=pairs) == expected


def test_lane7_only_lines_of_the_lane_at_the_path_count(tmp_path: Path) -> None:
    """Of a summary with several lanes a line without one belongs to none; membership is by each run's own summary."""

    def of(name: str | None, path: str, value: float) -> Edit:
        more: Json = {} if name is None else {"lane": name}
        return lines_of(*(result(f"c{i}", path, state="scored", scores=[score(value)], **more) for i in range(5)))

    two = put("summary.json", "lanes", [{"lane": name, "metrics": []} for name in ("main", "red")])
    expected = {
        (None, "qa"): "failed",
        ("main", "qa"): "failed",
        ("red", "qa"): "not_measured",
        (None, "qa/x"): "not_measured",
        ("main", "q"): "not_measured",
    }
    for number, ((name, path), expected_status) in enumerate(expected.items()):
        place = tmp_path / str(number)
        assert compared(place, (of(name, path, 0.1),), (of("main", "qa", 0.2),))[0] == expected_status
    for name, candidate, baseline in [("cand", (two,), ()), ("base", (), (two,))]:
        found = compared(tmp_path / name, (of(None, "qa", 0.1), *candidate), (of(None, "qa", 0.2), *baseline))
        assert found[0] == "not_measured"


def test_lane7_a_rollup_counts_and_its_trials_do_not(tmp_path: Path) -> None:
    def trials(rolled: float) -> Edit:
        lines: list[Json] = []
        for case in BASE:
            lines.append(result(case, trial=0, scores=[score(0.5)]))
            lines.append(rollup(case, n=1, passed=1, agree=True, scores=[score(rolled)]))
        return lines_of(*lines)

    assert status(tmp_path, trials(0.1), trials(0.2)) == "failed"
    assert status(tmp_path / "more", trials(0.1), trials(0.2), minimumPairs=6) == "not_measured"


def test_lane8_ties_are_dropped(tmp_path: Path) -> None:
    tied = BASE | {f"t{i}": 0.5 for i in range(9)}
    for pairs, expected in [(5, "failed"), (6, "not_measured")]:
        place = tmp_path / str(pairs)
        assert status(place, scores(**(tied | WORSE)), scores(**tied), minimumPairs=pairs) == expected


def test_lane8_each_improvement_is_one_pair_against(tmp_path: Path) -> None:
    """5 of 6 worse: p = 7/64; 5 better alone are 5 pairs."""
    base = BASE | {"better": 0.5}
    for significance, expected in [(7 / 64, "failed"), (0.109, "passed")]:
        place = tmp_path / str(significance)
        found = status(place, scores(**WORSE, better=0.75), scores(**base), significance=significance)
        assert found == expected
    for pairs, expected in [(5, "passed"), (6, "not_measured")]:
        assert status(tmp_path / str(pairs), scores(**BETTER), scores(**BASE), minimumPairs=pairs) == expected


@pytest.mark.parametrize(
    ("significance", "expected"), [(0.03125, "failed"), (0.031249999999999997, "passed"), (0.05, "failed")]
)
def test_lane8_equality_fails(tmp_path: Path, significance: float, expected: str) -> None:
    """5 of 5 worse: p = 1/32."""
    assert status(tmp_path, scores(**WORSE), scores(**BASE), significance=significance) == expected


def test_lane5_there_is_one_candidate(tmp_path: Path) -> None:
    """One named twice is one [LANE-4]."""
    base, one, two = a_run("base", scores(**BASE)), a_run("one", scores(**WORSE)), a_run("two", scores(**WORSE))
    place = Place(tmp_path).add(base, one, two)
    rule = comparison(base)
    assert place.status(rule, one, two) == "not_measured"
    assert place.status(rule, one, one) == "failed"
    assert place.result(rule) is None


BASELINES: dict[str, tuple[tuple[Edit, ...], str]] = {
    "without a version": ((drop(RUN, "subject", "version"),), "failed"),
    "of another version": ((put(RUN, "subject", "version", "6"),), "failed"),
    "of another subject": ((put(RUN, "subject", "ref", "agent:other"),), "not_measured"),
    "scripted": ((put(RUN, "execution", "targetMode", "scripted"),), "not_measured"),
    "aborted": ((put(RUN, "status", "aborted"), put(RUN, "abortReason", "x")), "not_measured"),
    "of another suite": ((put(RUN, "suite", "version", "4"),), "not_measured"),
    "deployed elsewhere": ((put(RUN, "deployment", {"ref": "deployment:us"}),), "not_measured"),
}


@pytest.mark.parametrize("name", BASELINES)
def test_lane5_a_baseline_is_checked_as_a_run_but_for_its_version(tmp_path: Path, name: str) -> None:
    edits, expected = BASELINES[name]
    here = put(RUN, "deployment", {"ref": "deployment:eu"})
    base, run = a_run("base", here, scores(**BASE), *edits), a_run("cand", here, scores(**WORSE))
    place = Place(tmp_path).add(base, run)
    subject = {"ref": "agent:triage", "version": "7", "deployment": "deployment:eu"}
    rule = comparison(base, suite={"ref": "suite:triage", "version": "3"})
    assert place.status(rule, run, subject=subject) == expected


def test_lane5_a_baseline_that_is_missing_or_not_intact_measures_nothing(tmp_path: Path) -> None:
    base, run = a_run("base", scores(**BASE)), a_run("cand", scores(**WORSE))
    place = Place(tmp_path).add(run)
    assert place.status(comparison(base), run) == "not_measured"
    assert place.status(comparison(pointer(run) | {"runHash": "0" * 64}), run) == "not_measured"
    tampered = comparison(base)
    base["ext/added"] = b"x\n"
    assert place.add(base).status(tampered, run) == "not_measured"


def test_lane5_a_run_against_itself_has_no_pair(tmp_path: Path) -> None:
    run = a_run("cand", scores(**BASE))
    assert Place(tmp_path).add(run).status(comparison(run), run) == "not_measured"


AXIS_EDITS: dict[str, tuple[Edit, ...]] = {
    "suite": (put(RUN, "suite", "version", "4"),),
    "suite-content": (put(RUN, "suite", "digest", DIGEST),),
    "judges": (put(RUN, "judges", [judge("one"), judge("two")]),),
    "rubrics": (put(RUN, "judges", [judge("one", DIGEST)]),),
    "deployment": (put(RUN, "deployment", {"ref": "deployment:eu"}),),
    "producer": (put(RUN, "producer", "version", "1.3"),),
}


@pytest.mark.parametrize("axis", AXIS_EDITS)
def test_lane6_an_axis_that_differs_makes_the_lane_incomparable(tmp_path: Path, axis: str) -> None:
    edits = AXIS_EDITS[axis]
    run, base = a_run("cand", scores(**WORSE), *edits), a_run("base", scores(**BASE))
    same = a_run("same", scores(**BASE), *edits)
    place = Place(tmp_path).add(run, base, same)
    for rule in (comparison(base, axes=[axis]), comparison(base, axes=["subject", axis, "target-mode"])):
        result = place.result(rule, run)
        assert result is not None
        assert (result.status, result.axes) == ("incomparable", (axis,))
    assert place.status(comparison(same, axes=[axis]), run) == "failed"
    others = [other for other in AXIS_EDITS if other not in (axis, "judges", "rubrics")]
    assert place.status(comparison(base, axes=others), run) == "failed"


def test_lane6_runs_of_two_target_modes_are_not_alike(tmp_path: Path) -> None:
    """Lanes compare live runs alone, so that none of them can show it [LANE-1]."""
    live = facts_of(verify_run(a_run("live").write(tmp_path)))
    scripted = live._replace(target_mode="scripted")
    assert differing_axes(live, scripted, ["subject", "target-mode"]) == ("target-mode",)
    assert differing_axes(live, live, ["subject", "target-mode"]) == ()


def test_lane6_axes_come_in_the_rules_order_and_an_unknown_one_differs(tmp_path: Path) -> None:
    edits = (*AXIS_EDITS["producer"], *AXIS_EDITS["suite"])
    axes = ["suite", "weather", "subject", "producer"]
    for number, order in enumerate((axes, axes[::-1])):
        place = tmp_path / str(number)
        found = compared(place, (scores(**WORSE), *edits), (scores(**BASE),), axes=order)
        assert found == ("incomparable", tuple(axis for axis in order if axis != "subject"))


@pytest.mark.parametrize(
    ("candidate", "baseline", "axes"),
    [
        (None, [], ()),
        ([], None, ()),
        ([judge("one"), judge("two")], [judge("two"), judge("one")], ("judges",)),
        ([judge("one", DIGEST)], [judge("two", DIGEST)], ("judges",)),
        ([judge("one", DIGEST)], [judge("one")], ("rubrics",)),
        ([judge("one")], [judge("one")], ()),
        ([judge("one")], None, ("judges", "rubrics")),
    ],
)
def test_lane6_judges_are_ordered_lists_and_none_are_an_empty_one(
    tmp_path: Path, candidate: list[Json] | None, baseline: list[Json] | None, axes: tuple[str, ...]
) -> None:
    def judges(given: list[Json] | None) -> Edit:
        return (lambda run: None) if given is None else put(RUN, "judges", given)

    found = compared(
        tmp_path,
        (scores(**WORSE), judges(candidate)),
        (scores(**BASE), judges(baseline)),
        axes=["judges", "rubrics"],
    )
    assert found == (("incomparable", axes) if axes else ("failed", ()))


def test_lane6_axes_come_before_the_metric_and_the_pairs(tmp_path: Path) -> None:
    """So with a metric that is not declared, of no direction, or with too few pairs."""
    cases: list[tuple[tuple[Edit, ...], Json]] = [
        ((direction("none"),), {}),
        ((), {"metric": "undeclared"}),
        ((), {"minimumPairs": 99}),
    ]
    for number, (edits, members) in enumerate(cases):
        place = tmp_path / str(number)
        run = (scores(**WORSE), *edits)
        assert compared(place, run, (scores(**BASE),), axes=["weather"], **members)[0] == "incomparable"
        assert compared(place / "same", run, (scores(**BASE),), **members)[0] == "not_measured"


def test_the_axes_are_the_writers() -> None:
    assert all(accepts("common#/$defs/axis", "writer", axis) for axis in AXES)
    assert not accepts("common#/$defs/axis", "writer", "weather")


def test_a_metric_that_is_declared_twice_is_the_first() -> None:
    """In a run that is not intact; of the others nothing is kept."""
    names = [("a", "none"), ("score", "target_band"), ("score", "none"), ("b", "none")]
    document = {"metrics": [{"id": name, "kind": "score", "direction": way} for name, way in names]}
    assert declared(document, {"score", "gone"}) == {"score": ("score", "target_band")}


STATES: dict[str, tuple[float | None, float | None]] = {
    "passed": (1.0, 0.25),
    "failed": (0.0, 0.25),
    "warn": (0.0, 0.25),
    "inconclusive": (0.0, 0.25),
    "scored": (None, 0.25),
    "not_measured": (None, None),
    "skipped": (None, None),
    "error": (None, None),
    "pending": (None, None),
    "not_applicable": (None, None),
}


@pytest.mark.parametrize("state", STATES)
def test_sum4_what_a_line_measures(state: str) -> None:
    as_rate, as_score = STATES[state]
    line = {"state": state, "scores": [score(0.25), {"metric": "other", "value": 7}]}
    assert [measured_value(line, "score", kind) for kind in ("rate", "verdict")] == [as_rate, as_rate]
    assert [measured_value(line, "score", kind) for kind in ("score", "count", "cost", "duration")] == [as_score] * 4
    assert measured_value({"state": state}, "score", "score") is None
    assert measured_value({"state": state}, "score", "rate") == as_rate


def test_sum4_a_metric_scored_twice_is_not_measured() -> None:
    line = {"state": "passed", "scores": [score(0.25), score(0.25)]}
    assert measured_value(line, "score", "score") is None
    assert measured_value(line, "score", "rate") is None


def test_a_candidate_is_read_once_for_all_comparisons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And each baseline once for each candidate; severities are counted on the way."""
    read: list[str] = []

    def watched(run: StoredRun, take: Take) -> None:
        read.append(run.run_id)
        read_results(run, take)

    monkeypatch.setattr("aef_verify.checkpoint.measuring.read_results", watched)
    base: Run = a_run("base", scores(**BASE))
    older = a_run("older", scores(**BETTER))
    run, alone = a_run("cand", scores(**WORSE)), a_run("alone")
    place = Place(tmp_path).add(base, older, run, alone)
    lanes = [
        lane(rule, used, name=f"lane-{number}")
        for number, (rule, used) in enumerate(
            [
                (comparison(base), run),
                (comparison(base, significance=0.01), run),
                (comparison(base, metric="pass"), run),
                (comparison(older), run),
                (severity(), named_run(run)),
                (severity("none"), named_run(base)),
                (severity("none", path="qa"), named_run(alone)),
                (severity("low"), named_run(alone)),
            ]
        )
    ]
    found = place.evaluate(checkpoint(*lanes))
    statuses = [None if one.result is None else one.result.status for one in found]
    assert statuses == [
        "failed",
        "passed",
        "not_measured",
        "failed",
        "not_measured",
        "not_measured",
        "failed",
        "passed",
    ]
    assert sorted(read) == ["alone", "base", "cand", "older"]
