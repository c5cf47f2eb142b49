"""[CKP-7], [CKP-4], [VER-4], [VER-6] A manifest alone: each code, what just avoids it, and which ones are checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from aef_verify import limits
from aef_verify.checkpoint.decision import RESULT_STATUSES
from aef_verify.checkpoint.manifest import (
    ABORTED,
    LANE_STATUSES,
    OUTCOMES,
    STATES,
    is_checked_as_decided,
    is_later,
    manifest_problems,
    read_manifest,
)
from aef_verify.problems import InputError
from aef_verify.schemas import accepts
from aef_verify.schemas.source import schema_text
from tests.checkpoint.deciding import EXPIRES, NEWER, VERSION, Json, exception, given, lane, manifest, run_hash

WAIVED = given(
    lane("quality", freshness="P14D"),
    lane("safety", "failed", "bc"),
    lane("speed", None, blocking=False),
    exceptions=[exception("safety", "cb")],
)


def codes(checkpoint: Json) -> list[str]:
    """Return the codes of a manifest that a reader accepts; each problem says something, once, in code order."""
    assert accepts("checkpoint", "reader", checkpoint)
    problems = manifest_problems(checkpoint)
    found = [problem.code for problem in problems]
    assert found == sorted(set(found))
    assert all(problem.path == "" and problem.detail for problem in problems)
    return found


def changed(edit: Callable[[Json], object], value: Json = WAIVED, **members: Any) -> Json:
    """Return the manifest of an input after an edit."""
    checkpoint = manifest(value, **members)
    edit(checkpoint)
    return checkpoint


def test_a_manifest_that_holds_together_has_no_problems() -> None:
    assert accepts("checkpoint", "writer", manifest(WAIVED))
    assert codes(manifest(WAIVED)) == []
    assert codes(manifest(given(lane("quality")))) == []


# Each code alone, and with those that cannot but stand beside it.

EDITS: dict[str, tuple[list[str], Callable[[Json], object]]] = {
    "another outcome in the decision": (
        ["decision", "outcome"],
        lambda c: c["decision"].update(outcome="approved"),
    ),
    "another status in the decision": (
        ["decision"],
        lambda c: c["decision"]["lanes"][1].update(status="passed"),
    ),
    "a lane less in the decision": (["decision"], lambda c: c["decision"]["lanes"].pop()),
    "another order in the decision": (["decision"], lambda c: c["decision"]["lanes"].reverse()),
    "another blocking in the decision": (
        ["decision"],
        lambda c: c["decision"]["lanes"][0].update(blocking=False),
    ),
    "axes in the decision": (["decision"], lambda c: c["decision"]["lanes"][0].update(axes=["suite"])),
    "no axes, but written, in the decision": (["decision"], lambda c: c["decision"]["lanes"][0].update(axes=[])),
    "a reason less": (["decision"], lambda c: c["decision"]["reasons"].pop(0)),
    "a reason more": (["decision"], lambda c: c["decision"]["reasons"].append("outcome:approved")),
    "reasons in another order": (["decision"], lambda c: c["decision"]["reasons"].reverse()),
    "a later time of evaluation": (["decision"], lambda c: c["decisionInput"].update(evaluatedAt=EXPIRES)),
    "an exception dropped": (["decision"], lambda c: c["decisionInput"].pop("exceptions")),
    "an exception for a lane that is not there": (
        ["decision", "exception-evidence"],
        lambda c: c["decisionInput"]["exceptions"].append(exception("other")),
    ),
    "an exception for other runs": (
        ["exception-evidence"],
        lambda c: c["decisionInput"]["exceptions"].append(exception("quality", "d")),
    ),
    "an exception for one of the runs and another": (
        ["exception-evidence"],
        lambda c: c["decisionInput"]["exceptions"].append(exception("safety", "bd")),
    ),
    "an exception for some of the runs": (
        [],
        lambda c: c["decisionInput"]["exceptions"].append(exception("safety", "b")),
    ),
    "an exception for a lane without runs": (
        ["exception-evidence"],
        lambda c: c["decisionInput"]["exceptions"].append(exception("speed")),
    ),
    "a run taken away": (["lane-evidence"], lambda c: c["lanes"][1]["runs"].append(run("d"))),
    "a run of another hash": (["lane-evidence"], lambda c: c["lanes"][0]["runs"][0].update(runHash=run_hash("d"))),
    "a run named twice": ([], lambda c: c["lanes"][0]["runs"].append(run("a"))),
    "another id of a run": ([], lambda c: c["lanes"][0]["runs"][0].update(runId="run-other")),
    "runs in another order": ([], lambda c: c["lanes"][1]["runs"].reverse()),
    "runs in another order in the input": ([], lambda c: c["decisionInput"]["lanes"][1]["evidence"].reverse()),
    "every run taken away": (["evidence", "lane-evidence"], lambda c: c["lanes"][0]["runs"].clear()),
    "runs for a lane without result": (
        ["evidence", "lane-evidence"],
        lambda c: c["lanes"][2]["runs"].append(run("d")),
    ),
    "runs for a lane without result, named in the input": (
        ["evidence"],
        lambda c: (
            c["lanes"][2]["runs"].append(run("d")),
            c["decisionInput"]["lanes"][2].update(evidence=[run_hash("d")]),
        ),
    ),
    "run hashes in the input for a lane without result or runs": (
        ["lane-evidence"],
        lambda c: c["decisionInput"]["lanes"][2].update(evidence=[run_hash("d")]),
    ),
    "no run hashes for a lane without result or runs": (
        [],
        lambda c: c["decisionInput"]["lanes"][2].update(evidence=[]),
    ),
    "another outcome": (["outcome"], lambda c: c.update(outcome="approved")),
    "an outcome that nobody defined": (["outcome"], lambda c: c.update(outcome="ratified")),
    "another version of the subject": (["version"], lambda c: c["subject"].update(version=NEWER)),
    "another deployment": ([], lambda c: c["subject"].update(deployment="deployment:eu")),
    "a lane less in the manifest": (["lanes"], lambda c: c["lanes"].pop()),
    "a lane with runs less in the manifest": (["evidence", "lanes"], lambda c: c["lanes"].pop(0)),
    "a lane more in the manifest": (["lanes"], lambda c: c["lanes"].append(c["lanes"][2] | {"lane": "more"})),
    "a lane with runs more in the manifest": (
        ["evidence", "lanes"],
        lambda c: c["lanes"].append(c["lanes"][0] | {"lane": "more"}),
    ),
    "lanes in another order": (["lanes"], lambda c: c["lanes"].reverse()),
    "another blocking": (["lanes"], lambda c: c["lanes"][2].update(blocking=True)),
    "another freshness": (["lanes"], lambda c: c["lanes"][0].update(freshness="P7D")),
    "the same freshness written otherwise": (["lanes"], lambda c: c["lanes"][0].update(freshness="PT336H")),
    "a freshness less": (["lanes"], lambda c: c["lanes"][0].pop("freshness")),
    "a freshness more": (["lanes"], lambda c: c["lanes"][1].update(freshness="P14D")),
    "another rule": ([], lambda c: c["lanes"][0]["rule"].update(runs=2)),
    "a rule that nobody defined": ([], lambda c: c["lanes"][0].update(rule={"kind": "sentiment"})),
    "a member that nobody defined": (
        [],
        lambda c: [part.update({"x": 1}) for part in (c, c["lanes"][0], c["decision"], c["decision"]["lanes"][0])],
    ),
    "a status that nobody defined in the decision": (
        ["decision"],
        lambda c: c["decision"]["lanes"][0].update(status="cleared"),
    ),
    "a status that nobody defined in the input": (
        ["decision"],
        lambda c: c["decisionInput"]["lanes"][0]["result"].update(status="cleared"),
    ),
}


def run(name: str) -> Json:
    return {"runId": f"run-{name}", "runHash": run_hash(name), "origin": "adopted:nightly"}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_has_exactly_its_codes(edit: str) -> None:
    expected, change = EDITS[edit]
    assert codes(changed(change)) == expected


def test_an_input_for_another_version_is_decided_for_that_version() -> None:
    other = given(lane("quality", subjectVersion=NEWER), subjectVersion=NEWER)
    assert codes(manifest(other)) == ["version"]
    assert codes(manifest(other, subject={"ref": "agent:support", "version": NEWER})) == []


def test_a_lane_in_the_input_only_is_decided_and_has_no_runs() -> None:
    wider = given(*WAIVED["lanes"], lane("phantom"), exceptions=WAIVED["exceptions"])
    assert codes(changed(lambda c: c["lanes"].pop(), wider)) == ["evidence", "lanes"]
    wider = given(*WAIVED["lanes"], lane("phantom", None, evidence=[run_hash("d")]), exceptions=WAIVED["exceptions"])
    assert codes(changed(lambda c: c["lanes"].pop(), wider)) == ["lanes"]


def test_an_input_that_is_refused_cannot_be_decided() -> None:
    """[DEC-1], [CKP-2] Lane names are unique: a lane twice on both sides is refused by the decision function."""
    twice = given(lane("quality"), lane("quality"))
    decision = {"outcome": "approved", "lanes": [], "reasons": ["outcome:approved"]}
    problems = manifest_problems(manifest(twice, decision))
    assert [(problem.code, problem.detail) for problem in problems] == [
        ("decision", "the recorded input cannot be decided: duplicate-lane: lane 'quality' stands twice")
    ]


def test_a_lane_that_stands_twice_on_one_side_is_another_lane() -> None:
    """[CKP-2] Of two lanes with one name the first counts where runs and results are compared; `lanes` is certain."""
    assert codes(changed(lambda c: c["lanes"].insert(1, c["lanes"][0] | {"runs": []}))) == ["lanes"]
    assert codes(changed(lambda c: c["lanes"].insert(0, c["lanes"][0] | {"runs": []}))) == [
        "evidence",
        "lane-evidence",
        "lanes",
    ]


def test_every_code_at_once() -> None:
    def break_all(checkpoint: Json) -> None:
        checkpoint["lanes"].reverse()
        checkpoint["lanes"][0]["runs"].append(run("d"))
        checkpoint["subject"]["version"] = NEWER
        checkpoint["outcome"] = "approved"
        checkpoint["decision"]["reasons"].clear()
        checkpoint["decisionInput"]["exceptions"].append(exception("quality", "e"))

    expected = ["decision", "evidence", "exception-evidence", "lane-evidence", "lanes", "outcome", "version"]
    assert codes(changed(break_all)) == expected


# What problems say.


@pytest.mark.parametrize(
    ("edit", "detail"),
    [
        (
            lambda c: c["decision"].update(outcome="approved"),
            "the recorded outcome is 'approved', but the recorded input gives 'inconclusive'",
        ),
        (
            lambda c: c["decision"]["lanes"][1].update(status="passed"),
            "the recorded status of lane safety is 'passed', but the recorded input gives 'waived'",
        ),
        (
            lambda c: c["decision"]["lanes"][1].update(blocking=False),
            "lane safety is recorded as advisory, but decided as blocking",
        ),
        (
            lambda c: c["decision"]["lanes"][0].update(axes=["suite"]),
            "the recorded axes of lane quality are ['suite'], but the recorded input gives none",
        ),
        (
            lambda c: c["decision"]["reasons"].pop(0),
            "reason 1 of the recorded decision is 'missing:speed', but the recorded input gives 'waived:safety'",
        ),
        (
            lambda c: c["decision"]["lanes"].pop(),
            "lane 3 of the recorded decision is none, but the recorded input gives 'speed'",
        ),
        (
            lambda c: c["lanes"].reverse(),
            "lane 1 of the recorded input is 'quality', but the checkpoint's is 'speed'",
        ),
        (
            lambda c: c["lanes"][0].update(freshness="P7D"),
            "the freshness of lane quality is 'P7D', but it was decided with 'P14D'",
        ),
        (lambda c: c["lanes"][2].update(blocking=True), "lane speed is blocking, but decided as advisory"),
        (
            lambda c: c["lanes"][0].update(runs=[]) or c["decisionInput"]["lanes"][0].update(evidence=[]),
            "lane quality has a result in the recorded input and no runs",
        ),
        (
            lambda c: c["subject"].update(version=NEWER),
            f"the version decided on is '{VERSION}', but the checkpoint's is '{NEWER}'",
        ),
        (
            lambda c: c["lanes"][0]["runs"][0].update(runHash=run_hash("d")),
            f"lane quality has a run {run_hash('d')} that the recorded input does not name; "
            f"the recorded input names run hash {run_hash('a')} for lane quality, which has no such run",
        ),
        (
            lambda c: c["lanes"][2]["runs"].append(run("d")),
            "lane speed has runs and no result in the recorded input",
        ),
    ],
)
def test_a_problem_names_the_lane_and_both_values(edit: Callable[[Json], object], detail: str) -> None:
    assert manifest_problems(changed(edit))[0].detail == detail


@pytest.mark.parametrize(
    ("names", "more"), [("2", ""), ("234", ""), ("2345", "; and 1 more"), ("23456", "; and 2 more")]
)
def test_a_problem_names_three_differences_and_counts_the_others(names: str, more: str) -> None:
    checkpoint = changed(lambda c: c["lanes"][0]["runs"].extend(run(name) for name in names))
    (problem,) = manifest_problems(checkpoint)
    said = [f"lane quality has a run {run_hash(name)} that the recorded input does not name" for name in names[:3]]
    assert problem.detail == "; ".join(said) + more


def test_a_text_that_nobody_sends_in_good_faith_is_cut_and_spelled_out() -> None:
    (problem,) = manifest_problems(changed(lambda c: c.update(outcome="\x1b[2J\u202e" * 100_000)))
    assert len(problem.detail) < 2_000
    assert problem.detail.isprintable()


# Which manifests are checked, and how: 1 to 4.

LATER = "1.1"


@pytest.mark.parametrize("version", ["1.1", "1.9", "1.10", "1." + "9" * 5000])
def test_a_later_minor(version: str) -> None:
    assert is_later({"schemaVersion": version})


@pytest.mark.parametrize("version", ["1.0", "1.00", "1.01", "2.1", "11.1", "1.1\n", "1.١", "", None, 1.1])
def test_no_later_minor(version: object) -> None:
    assert not is_later({"schemaVersion": version})
    assert not is_later({})


UNKNOWN: dict[str, Callable[[Json], object]] = {
    "state": lambda c: c.update(state="sealed"),
    "outcome": lambda c: c.update(outcome="ratified"),
    "outcome of the decision": lambda c: c["decision"].update(outcome="aborted"),
    "status in the decision": lambda c: c["decision"]["lanes"][0].update(status="cleared"),
    "status in the input": lambda c: c["decisionInput"]["lanes"][0]["result"].update(status="missing"),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_later_minors_unknown_values_are_unverifiable_whatever_else_it_holds(kind: str) -> None:
    checkpoint = changed(UNKNOWN[kind], schemaVersion=LATER)
    assert codes(checkpoint) == ["unverifiable"]
    assert manifest_problems(checkpoint)[0].detail.startswith(
        "this version, 1.0, does not know what a later one wrote: "
    )
    checkpoint["subject"]["version"] = NEWER
    checkpoint["lanes"].reverse()
    assert codes(checkpoint) == ["unverifiable"]
    assert "unverifiable" not in codes(checkpoint | {"schemaVersion": "1.0"})


def test_a_later_minor_without_unknown_values_is_compared() -> None:
    assert codes(manifest(WAIVED, schemaVersion=LATER)) == []
    assert codes(changed(lambda c: c.update(outcome="approved", x=1), schemaVersion=LATER)) == ["outcome"]
    rule = {"kind": "sentiment", "best": 1}
    assert codes(changed(lambda c: c["lanes"][0].update(rule=rule), schemaVersion=LATER)) == []


NOTHING: Json = {"decision": ..., "decisionInput": ...}


@pytest.mark.parametrize(
    ("members", "ours", "later"),
    [
        # Decided, by a known state.
        ({"outcome": "ratified", **NOTHING}, ["decision"], ["unverifiable"]),
        ({"outcome": "ratified", "decision": ...}, ["decision"], ["unverifiable"]),
        ({"outcome": "ratified", "decisionInput": ...}, ["decision"], ["unverifiable"]),
        ({"outcome": ABORTED, "abortReason": "no budget", **NOTHING}, [], []),
        # A state that nobody defined.
        ({"state": "sealed"}, [], ["unverifiable"]),
        ({"state": "sealed", "outcome": "approved"}, ["outcome"], ["unverifiable"]),
        ({"state": "sealed", "outcome": None}, ["outcome"], ["unverifiable"]),
        ({"state": "sealed", "outcome": ...}, ["outcome"], ["unverifiable"]),
        ({"state": "sealed", **NOTHING}, ["decision"], ["unverifiable"]),
        ({"state": "sealed", "decisionInput": ...}, ["decision"], ["unverifiable"]),
        ({"state": "sealed", "outcome": None, "decisionInput": ...}, ["decision"], ["unverifiable"]),
        ({"state": "sealed", "outcome": None, "decision": ...}, [], ["unverifiable"]),
        ({"state": "sealed", "outcome": None, **NOTHING}, [], ["unverifiable"]),
        ({"state": "sealed", "outcome": ABORTED, "abortReason": "no budget", **NOTHING}, [], ["unverifiable"]),
        # Not decided yet.
        *(({"state": state, "outcome": None, **NOTHING}, [], []) for state in sorted(STATES - {"decided"})),
    ],
)
def test_which_manifests_are_checked(members: Json, ours: list[str], later: list[str]) -> None:
    assert codes(manifest(WAIVED, **members)) == ours
    assert codes(manifest(WAIVED, schemaVersion=LATER, **members)) == later


@pytest.mark.parametrize(
    ("members", "ours", "later"),
    [
        ({}, True, True),
        ({"outcome": "aborted", **NOTHING}, True, True),
        ({"state": "sealed"}, True, False),
        ({"state": "sealed", "outcome": None}, True, False),
        ({"state": "sealed", "outcome": None, "decision": ...}, False, False),
        ({"state": "sealed", **NOTHING}, True, False),
        ({"state": "planned", "outcome": None, **NOTHING}, False, False),
    ],
)
def test_checked_as_decided(members: Json, ours: bool, later: bool) -> None:
    assert is_checked_as_decided(manifest(WAIVED, **members)) is ours
    assert is_checked_as_decided(manifest(WAIVED, schemaVersion=LATER, **members)) is later


def test_the_known_values_are_the_writers() -> None:
    """[VER-8] What the writer's schema of this version accepts is what this version knows."""
    definitions = {
        name: json.loads(schema_text(name, "writer"))["enum"]
        for name in (
            "checkpoint#/$defs/state",
            "checkpoint#/$defs/outcome",
            "decision#/$defs/outcome",
            "decision#/$defs/laneStatus",
            "common#/$defs/laneOutcome",
        )
    }
    assert list(map(set, definitions.values())) == [
        STATES,
        {None, *OUTCOMES, ABORTED},
        OUTCOMES,
        LANE_STATUSES,
        RESULT_STATUSES,
    ]


# Reading the file.


def test_a_manifest_reads() -> None:
    assert read_manifest(json.dumps(manifest(WAIVED)).encode()) == manifest(WAIVED)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{" * 100, "does not read: nested deeper than 64"),
        (b" " * (limits.JSON_BYTES + 1), "does not read: 4,194,305 bytes; at most 4,194,304 are allowed"),
        (b'{"state": 1, "state": 2}', "does not read: "),
        (b"[]", "does not read: "),
        (b"{}", "no checkpoint manifest that a reader accepts [VER-3]: /schemaVersion: is required"),
        (
            json.dumps(manifest(WAIVED, schemaVersion="2.0")).encode(),
            "is of AEF '2.0'; this reader reads major version 1",
        ),
        (json.dumps(manifest(WAIVED, schemaVersion="0.9")).encode(), "is of AEF '0.9'"),
        (json.dumps(manifest(WAIVED, schemaVersion="20.10")).encode(), "is of AEF '20.10'"),
        (json.dumps(manifest(WAIVED, schemaVersion="2")).encode(), "/schemaVersion: must be a version of AEF 1"),
        (
            json.dumps(manifest(WAIVED, subject={"ref": "agent:a", "version": "latest"})).encode(),
            "/subject/version: must be one exact version, such as 4.2.0; resolve it before any run is made [CKP-1]",
        ),
        (json.dumps(manifest(WAIVED, schemaVersion="1.00")).encode(), "/schemaVersion: must be a version of AEF 1"),
        (json.dumps(manifest(WAIVED, outcome=None)).encode(), "/outcome: must not be null"),
        (
            json.dumps(changed(lambda c: c["lanes"][0]["runs"][0].pop("runHash"))).encode(),
            "/lanes/0/runs/0/runHash: is required",
        ),
        (
            json.dumps(changed(lambda c: c["lanes"][0]["runs"][0].update(origin="found"))).encode(),
            "/lanes/0/runs/0/origin: must be 'launched', or 'adopted:' and a name",
        ),
        (json.dumps(manifest(WAIVED, decision=...)).encode(), "/decision: is required"),
    ],
)
def test_what_is_no_manifest_is_the_callers_mistake(data: bytes, message: str) -> None:
    """[VER-4], [ENC-17], [CKP-2], [CKP-4]."""
    with pytest.raises(InputError) as found:
        read_manifest(data)
    assert message in str(found.value)
    assert ("[CKP-1]" in str(found.value)) == ("[CKP-1]" in message)
