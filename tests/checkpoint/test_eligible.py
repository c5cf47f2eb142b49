"""Which runs a lane may rely on, and what version and age they give it: [LANE-1], [LANE-9]."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.building import ENDED, Edit, drop, put
from tests.checkpoint.lane_runs import (
    AT,
    VERSION,
    Place,
    a_run,
    checkpoint,
    comparison,
    lane,
    later,
    named_run,
    present,
    threshold,
)

RUN = "run.json"
ABORTED = (put(RUN, "status", "aborted"), put(RUN, "abortReason", "stopped by the test"))
DEPLOYMENT = put(RUN, "deployment", {"ref": "deployment:eu"})
DIGEST = "sha256:" + "a" * 64


def suite(**members: str) -> dict[str, dict[str, str]]:
    return {"suite": {"ref": "suite:triage"} | members}


INELIGIBLE: dict[str, tuple[tuple[Edit, ...], str]] = {
    "aborted": (ABORTED, "its status is aborted, not completed"),
    "scripted": ((put(RUN, "execution", "targetMode", "scripted"),), "its target mode is scripted, not live"),
    "replayed": ((put(RUN, "execution", "targetMode", "replayed"),), "its target mode is replayed, not live"),
    "mocked": ((put(RUN, "execution", "targetMode", "mocked"),), "its target mode is mocked, not live"),
    "unknown mode": ((put(RUN, "execution", "targetMode", "shadow"),), "its target mode is shadow, not live"),
    "other subject": ((put(RUN, "subject", "ref", "agent:other"),), "its subject is agent:other, not agent:triage"),
    "no version": ((drop(RUN, "subject", "version"),), "it does not state its subject's version"),
}


@pytest.mark.parametrize("name", INELIGIBLE)
def test_lane1_one_run_that_does_not_count_leaves_the_lane_not_measured(tmp_path: Path, name: str) -> None:
    edits, reason = INELIGIBLE[name]
    sound, other = a_run("sound"), a_run("other", *edits)
    place = Place(tmp_path).add(sound, other)
    (found,) = place.evaluate(checkpoint(lane(present(), sound, other)))
    assert found.result is not None
    assert found.result.status == "not_measured"
    assert [run.reasons for run in found.runs] == [(), (reason,)]
    assert [run.eligible for run in found.runs] == [True, False]
    assert all(run.found and run.intact for run in found.runs)
    assert place.status(present(), sound) == "passed"


def test_lane1_every_reason_is_given(tmp_path: Path) -> None:
    run = a_run("one", *(edit for name in ("aborted", "mocked", "other subject") for edit in INELIGIBLE[name][0]))
    (found,) = Place(tmp_path).add(run).evaluate(checkpoint(lane(present(), run)))
    assert found.runs[0].reasons == tuple(INELIGIBLE[name][1] for name in ("aborted", "mocked", "other subject"))


def test_lane1_a_run_has_to_be_intact(tmp_path: Path) -> None:
    unsealed, tampered = a_run("unsealed"), a_run("tampered")
    place = Place(tmp_path)
    names = [named_run(unsealed), named_run(tampered)]
    del unsealed["seal.json"]
    tampered["results.ndjson"] = []
    place.add(unsealed, tampered)
    (found,) = place.evaluate(checkpoint(lane(present(), *names)))
    assert found.result is not None
    assert found.result.status == "not_measured"
    assert [run.outcome for run in found.runs] == ["unsealed", "invalid"]
    assert found.runs[0].reasons == ("it is not intact: it has no seal",)
    assert found.runs[1].reasons == ("it is not intact: digest at results.ndjson, and 1 more",)
    added = a_run("added")
    names = [named_run(added)]
    added["ext/added"] = b"x\n"
    (found,) = place.add(added).evaluate(checkpoint(lane(present(), *names)))
    assert found.runs[0].reasons == ("it is not intact: not-sealed at ext/added",)


def test_lane1_a_deployment_binds_where_the_checkpoint_names_one(tmp_path: Path) -> None:
    here, nowhere = a_run("here", DEPLOYMENT), a_run("nowhere")
    place = Place(tmp_path).add(here, nowhere)
    bound = {"subject": {"ref": "agent:triage", "version": VERSION, "deployment": "deployment:eu"}}
    elsewhere = {"subject": {"ref": "agent:triage", "version": VERSION, "deployment": "deployment:us"}}
    assert place.status(present(), here, **bound) == "passed"
    assert place.status(present(), here, **elsewhere) == "not_measured"
    assert place.status(present(), nowhere, **bound) == "not_measured"
    assert place.status(present(), here) == "passed"


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        (suite(), "passed"),
        (suite(version="3"), "passed"),
        (suite(version="4"), "not_measured"),
        (suite(digest=DIGEST), "passed"),
        (suite(digest=DIGEST.replace("a", "b")), "not_measured"),
        (suite(version="3", digest=DIGEST), "passed"),
        ({"suite": {"ref": "suite:other"}}, "not_measured"),
    ],
)
def test_lane1_a_suite_binds_as_far_as_the_rule_gives_it(tmp_path: Path, rule: dict[str, object], status: str) -> None:
    run = a_run("one", put(RUN, "suite", "digest", DIGEST))
    assert Place(tmp_path).add(run).status(present(**rule), run) == status


def test_lane1_a_run_without_a_suite_matches_none(tmp_path: Path) -> None:
    run = a_run("one", drop(RUN, "suite"))
    place = Place(tmp_path).add(run)
    assert place.status(present(**suite()), run) == "not_measured"
    assert place.status(present(), run) == "passed"


def test_lane1_what_a_run_is_about_instead_is_said(tmp_path: Path) -> None:
    there, nowhere = a_run("there", put(RUN, "deployment", {"ref": "deployment:us"})), a_run("nowhere")
    bound = {"ref": "agent:triage", "version": VERSION, "deployment": "deployment:eu"}
    rule = present(suite={"ref": "suite:triage", "version": "4", "digest": DIGEST})
    document = checkpoint(lane(rule, there, nowhere), subject=bound)
    (found,) = Place(tmp_path).add(there, nowhere).evaluate(document)
    suite_reasons = ("its suite's version is 3, not 4", f"its suite's digest is not stated, not {DIGEST}")
    assert [run.reasons for run in found.runs] == [
        ("its deployment is deployment:us, not deployment:eu", *suite_reasons),
        ("its deployment is not stated, not deployment:eu", *suite_reasons),
    ]


def test_lane9_another_version_is_used_and_carried(tmp_path: Path) -> None:
    runs = [a_run(f"v{version}", put(RUN, "subject", "version", version)) for version in ("7", "6", "5")]
    place = Place(tmp_path).add(*runs)
    seven, six, five = runs
    for given, version in [((seven,), "7"), ((seven, six, five), "6"), ((five, six, seven), "5")]:
        result = place.result(present(), *given)
        assert result is not None
        assert (result.status, result.subject_version) == ("passed", version)


def test_lane9_a_run_without_a_version_gives_none(tmp_path: Path) -> None:
    run = a_run("one", drop(RUN, "subject", "version"))
    result = Place(tmp_path).add(run).result(present(), run)
    assert result is not None
    assert (result.subject_version, result.oldest_closed_at) == (VERSION, ENDED)


def test_lane9_the_oldest_closing_time_is_an_instant_spelled_as_it_was_written(tmp_path: Path) -> None:
    ends = {"a": "2026-10-02T15:00:00.50Z", "b": "2026-10-02T15:00:00.5Z", "c": "2026-10-02T15:00:00.51Z"}
    runs = [a_run(name, put(RUN, "endedAt", end)) for name, end in ends.items()]
    a, b, c = runs
    for run in runs:
        run.seal(sealedAt="2026-10-03T00:00:00Z")
    place = Place(tmp_path).add(*runs)
    for given, oldest in [((c, b, a), ends["b"]), ((c, a, b), ends["a"]), ((c,), ends["c"])]:
        result = place.result(present(), *given)
        assert result is not None
        assert result.oldest_closed_at == oldest


@pytest.mark.parametrize("name", ["other subject", "tampered", "unsealed"])
def test_lane9_a_run_of_something_else_gives_neither_version_nor_age(tmp_path: Path, name: str) -> None:
    edits = INELIGIBLE["other subject"][0] if name == "other subject" else ()
    older = put(RUN, "endedAt", "2026-10-02T14:30:00Z")
    sound, other = a_run("sound"), a_run("other", older, put(RUN, "subject", "version", "6"), *edits)
    names = [named_run(other), named_run(sound)]
    if name == "tampered":
        other["ext/more"] = b"added\n"
    if name == "unsealed":
        del other["seal.json"]
    result = Place(tmp_path).add(sound, other).result(present(), *names)
    assert result == ("not_measured", VERSION, ENDED, ())


def test_lane9_an_ineligible_run_of_the_right_thing_gives_both(tmp_path: Path) -> None:
    edits = (*ABORTED, put(RUN, "subject", "version", "6"))
    run = a_run("one", put(RUN, "endedAt", "2026-10-02T14:30:00Z"), *edits)
    result = Place(tmp_path).add(run).result(present(), run)
    assert result == ("not_measured", "6", "2026-10-02T14:30:00Z", ())


def test_lane9_without_a_closing_time_the_evaluation_time_stands(tmp_path: Path) -> None:
    """A running run has none, and is not eligible."""
    run = a_run("one", put(RUN, "status", "running"), drop(RUN, "endedAt"))
    assert Place(tmp_path).add(run).result(present(), run) == ("not_measured", VERSION, AT, ())


def test_lane9_a_baseline_gives_neither(tmp_path: Path) -> None:
    baseline = a_run("base", put(RUN, "subject", "version", "6"), put(RUN, "endedAt", "2026-10-02T14:30:00Z"))
    candidate = a_run("cand")
    place = Place(tmp_path).add(baseline, candidate)
    result = place.result(comparison(baseline), candidate)
    assert result is not None
    assert (result.subject_version, result.oldest_closed_at) == (VERSION, ENDED)


def test_a_value_of_a_later_minor_counts_as_it_reads(tmp_path: Path) -> None:
    """A target mode that a later minor defines is not live here [VER-8]."""
    run = a_run("one", later(), put(RUN, "execution", "targetMode", "shadow"))
    assert Place(tmp_path).add(run).status(threshold(), run) == "not_measured"
