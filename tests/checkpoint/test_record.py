"""A checkpoint is decided once, and only so that it verifies: [CKP-4], [CKP-5], [DEC-1]."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aef_verify.checkpoint.decision import RefusedInputError
from aef_verify.checkpoint.record import decide_checkpoint
from aef_verify.checkpoint.verify import verify_checkpoint
from aef_verify.problems import InputError
from aef_verify.schemas import accepts
from tests.building import ENDED, Json, Run, put
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
    named_run,
    pointer,
    present,
    scores,
    severity,
    threshold,
)

RUN = "run.json"


def exception(run: Run, **members: Any) -> Json:
    granted: Json = {
        "lane": "lane",
        "evidence": [run.run_hash()],
        "reason": "accepted by the test",
        "by": {"identity": "git:alice", "assurance": "self-attested"},
        "at": ENDED,
        "expires": "2026-12-01T00:00:00Z",
    }
    return granted | members


def lanes_of(place: Place) -> list[Json]:
    """Return a lane of each kind, and the runs that they name."""
    run, other, base = a_run("one", scores(c1=0.5)), a_run("two"), a_run("base", put(RUN, "producer", "version", "0"))
    place.add(run, other, base)
    return [
        lane(threshold("<", 1), other, other, name="threshold", freshness="P10D", requirements=["REQ-1"]),
        lane(severity(path="qa"), other, name="severity", blocking=False),
        lane(present(3), other, run, name="present"),
        lane(comparison(base, axes=["producer"]), run, name="comparison"),
        lane(present(), name="pending"),
    ]


def test_what_is_recorded_verifies(tmp_path: Path) -> None:
    place = Place(tmp_path)
    given = checkpoint(*lanes_of(place))
    before = copy.deepcopy(given)
    document = decide_checkpoint(given, str(place), AT)
    assert given == before
    assert (document["state"], document["outcome"]) == ("decided", "inconclusive")
    assert accepts("checkpoint", "writer", document)
    report = verify_checkpoint(encoded(document), str(place), at=AT)
    assert (report.manifest_problems, report.problems, report.writer) == ((), (), True)
    recorded = document["decisionInput"]
    assert list(recorded) == ["subjectVersion", "evaluatedAt", "lanes"]
    statuses = [None if item["result"] is None else item["result"]["status"] for item in recorded["lanes"]]
    assert statuses == ["passed", "passed", "not_measured", "incomparable", None]
    assert recorded["lanes"][3]["result"]["axes"] == ["producer"]
    assert [item.get("freshness") for item in recorded["lanes"]] == ["P10D", None, None, None, None]


def test_dec1_evidence_stands_once_and_in_ascending_order(tmp_path: Path) -> None:
    place = Place(tmp_path)
    document = decide_checkpoint(checkpoint(*lanes_of(place)), str(place), AT)
    for planned, recorded in zip(document["lanes"], document["decisionInput"]["lanes"], strict=True):
        hashes = recorded["evidence"]
        assert hashes == sorted(hashes)
        assert set(hashes) == {run["runHash"] for run in planned["runs"]}
        assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize("state", ["draft", "planned", "approved_to_spend", "running", "evidence_complete"])
def test_ckp4_it_is_decided_from_any_earlier_state(tmp_path: Path, state: str) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run)
    for members in ({}, {"outcome": None}):
        document = decide_checkpoint(checkpoint(lane(present(), run), state=state, **members), str(place), AT)
        assert (document["state"], document["outcome"]) == ("decided", "approved")


def test_an_exception_is_recorded_and_waives(tmp_path: Path) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run)
    given = checkpoint(lane(threshold(">", 5), run))
    assert decide_checkpoint(given, str(place), AT)["outcome"] == "blocked"
    document = decide_checkpoint(given, str(place), AT, exceptions=[exception(run)])
    assert document["outcome"] == "approved_with_exceptions"
    assert document["decisionInput"]["exceptions"] == [exception(run)]


def test_a_newer_version_is_recorded(tmp_path: Path) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run)
    document = decide_checkpoint(checkpoint(lane(present(), run)), str(place), AT, superseded_by="8")
    assert (document["outcome"], document["decisionInput"]["supersededBy"]) == ("expired", "8")


def test_a_lane_without_a_closing_time_is_of_the_time_of_the_decision(tmp_path: Path) -> None:
    run = a_run("one", put(RUN, "subject", "ref", "agent:other"))
    place = Place(tmp_path).add(run)
    document = decide_checkpoint(checkpoint(lane(present(), run)), str(place), AT)
    assert document["decisionInput"]["lanes"][0]["result"] == a_result("not_measured", VERSION, AT)
    assert verify_checkpoint(encoded(document), str(place), at="2026-11-01T00:00:00Z").sound


def _tampered(run: Run) -> None:
    run["ext/added"] = b"x\n"


GONE: Json = {"runId": "gone", "runHash": "0" * 64, "origin": "launched"}

REFUSED: dict[str, tuple[Callable[[Run], Json], dict[str, Any], str]] = {
    "decided": (lambda run: decided(checkpoint(lane(present(), run)), a_result()), {}, "never changes"),
    "aborted": (
        lambda run: checkpoint(lane(present(), run), state="decided", outcome="aborted", abortReason="x"),
        {},
        "never changes",
    ),
    "another state": (lambda run: checkpoint(lane(present(), run), state="settled"), {}, "no checkpoint that AEF 1.0"),
    "a later minor": (lambda run: checkpoint(lane(present(), run), schemaVersion="1.1"), {}, "no checkpoint that AEF"),
    "an unknown rule": (lambda run: checkpoint(lane({"kind": "weather"}, run)), {}, "no checkpoint that AEF 1.0"),
    "no lane": (lambda run: checkpoint(), {}, "no checkpoint that AEF 1.0"),
    "a lane twice": (lambda run: checkpoint(lane(present(), run), lane(present(), run)), {}, "duplicate-lane"),
    "a run that is gone": (lambda run: checkpoint(lane(present(), run, GONE)), {}, "lanes/lane/runs/gone: run-missing"),
    "a baseline that is gone": (
        lambda run: checkpoint(lane(comparison(pointer(run) | {"runHash": "0" * 64}), run)),
        {},
        "lanes/lane/runs/one: run-missing",
    ),
    "no time": (lambda run: checkpoint(lane(present(), run)), {"at": "2026-02-31T00:00:00Z"}, "is no time"),
    "no exact version": (lambda run: checkpoint(lane(present(), run)), {"superseded_by": "latest"}, "input-invalid"),
    "no folder": (lambda run: checkpoint(lane(present(), run)), {"runs": "/none/at/all"}, "/none/at/all"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_not_verify_is_refused(tmp_path: Path, name: str) -> None:
    made, options, why = REFUSED[name]
    run = a_run("one")
    place = Place(tmp_path).add(run)
    options = {"runs": str(place), "at": AT} | options
    with pytest.raises(InputError, match=why):
        decide_checkpoint(made(run), **options)


def test_a_run_that_is_not_intact_is_refused(tmp_path: Path) -> None:
    run = a_run("one")
    document = checkpoint(lane(present(), run), lane(present(), GONE, name="other"))
    _tampered(run)
    with pytest.raises(InputError, match=r"lanes/lane/runs/one: run-unverified: .* \(and 1 more\)"):
        decide_checkpoint(document, str(Place(tmp_path).add(run)), AT)


@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({"lane": "other"}, "exception-unknown-lane"),
        ({"evidence": []}, "exception-no-evidence"),
        ({"expires": ENDED}, "exception-never-in-force"),
        ({"reason": ""}, "input-invalid"),
        ({"by": {"identity": "git:alice"}}, "input-invalid"),
    ],
)
def test_dec1_an_exception_that_cannot_stand_is_refused(tmp_path: Path, members: Json, name: str) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run)
    with pytest.raises(RefusedInputError) as refused:
        decide_checkpoint(checkpoint(lane(present(), run)), str(place), AT, exceptions=[exception(run, **members)])
    assert refused.value.name == name


def test_ckp7_an_exception_for_evidence_that_the_lane_does_not_have_is_refused(tmp_path: Path) -> None:
    run, other = a_run("one"), a_run("two")
    place = Place(tmp_path).add(run, other)
    granted = exception(run, evidence=[run.run_hash(), other.run_hash()])
    with pytest.raises(InputError, match="exception-evidence"):
        decide_checkpoint(checkpoint(lane(present(), run)), str(place), AT, exceptions=[granted])


def test_an_exception_that_only_a_later_minor_writes_is_refused(tmp_path: Path) -> None:
    run = a_run("one")
    place = Place(tmp_path).add(run)
    granted = exception(run, by={"identity": "git:alice", "assurance": "notarized"})
    with pytest.raises(InputError, match="could not be recorded: /decisionInput/exceptions/0/by/assurance"):
        decide_checkpoint(checkpoint(lane(present(), run)), str(place), AT, exceptions=[granted])


def test_ckp8_a_lane_that_cannot_be_recomputed_here_is_not_decided(tmp_path: Path) -> None:
    run = a_run("one", later(), put(RUN, "execution", "targetMode", "shadow"))
    place = Place(tmp_path).add(run)
    with pytest.raises(InputError, match="lanes/lane: the target mode shadow of one is a later minor version's"):
        decide_checkpoint(checkpoint(lane(present(), named_run(run))), str(place), AT)
