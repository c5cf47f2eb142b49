"""From answers to a report: what headers say, requirements, clashes, soundness and exit codes.

[RUN-7], [RUN-13], [RUN-15], [VER-8].
"""

from __future__ import annotations

from typing import Any

import pytest

from aef_verify.problems import InputError, Problem
from aef_verify.report.assemble import check_required, header_of
from aef_verify.report.model import NO_HEADER, NOT_VERIFIED, UNREADABLE, Clash, Copies, Reading, Unverified
from aef_verify.run.members import Named
from tests import building
from tests.report.reports import HASH, report, verified

DIGEST = Problem("results.ndjson", "digest", "the file's bytes hash to another one", "00")
GONE = Problem("blobs/sha256/ab/abab", "withheld", "an authorized redaction withholds this blob")
UNCOVERED = Problem("overlays/events.ndjson", "uncovered", "bytes of the file are in no batch")


def header(**members: Any) -> dict[str, Any]:
    found: dict[str, Any] = building.small()["run.json"] | members
    return found


def test_header_of_a_run_says_what_it_says() -> None:
    found = header_of(header())
    assert (found.run_id, found.status) == ("run-0001", "completed")
    assert found.target_mode == Reading("live", "live")
    assert found.producer == Named("building", "1.2")
    assert found.subject == Named("agent:triage", "7")
    assert found.suite == Named("suite:triage", "3")
    assert found.imported is None


def test_an_unknown_target_mode_reads_as_mocked() -> None:
    assert header_of(header(execution={"targetMode": "holographic"})).target_mode == Reading("holographic", "mocked")


@pytest.mark.parametrize("value", [None, 7, [], {}, [{"targetMode": 1}]])
def test_a_header_may_hold_anything(value: object) -> None:
    members = ("runId", "status", "producer", "subject", "suite", "execution", "imported")
    found = header_of(dict.fromkeys(members, value))
    assert found.run_id is None
    assert found.target_mode == Reading(None, None)


def test_there_may_be_no_header() -> None:
    assert header_of(None) == NO_HEADER


def test_claims_of_a_converter_cover_what_they_name_and_what_is_in_it() -> None:
    found = header_of(header(imported={"from": "tool 1", "asserted": ["subject.version", "suite", 3]}))
    assert found.imported is not None
    assert found.imported.asserted == ("subject.version", "suite")
    claimed = [
        name for name in ("subject", "subject.version", "subject.ref", "suite.version") if found.is_claimed(name)
    ]
    assert claimed == ["subject", "subject.version", "suite.version"]
    assert not header_of(header()).is_claimed("suite")


def test_nothing_wrong_is_sound() -> None:
    found = report(verified(), verified("runs/two", outcome="unsealed"))
    assert (found.is_sound, found.exit_code) == (True, 0)


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([verified("a", DIGEST)], 1),
        ([verified("a"), verified("b", DIGEST)], 1),
        ([verified("a", GONE)], 0),
        ([verified("a", overlays=[UNCOVERED])], 1),
        ([verified("a", overlays=[])], 0),
        ([Unverified("a", UNREADABLE, "changed")], 2),
        ([Unverified("a", UNREADABLE, "changed"), verified("b", DIGEST)], 2),
        ([Unverified("a", NOT_VERIFIED, "KeyError")], 1),
        ([Unverified("a", NOT_VERIFIED, "KeyError"), Unverified("b", UNREADABLE, "changed")], 1),
    ],
)
def test_exit_codes(answers: list[Any], code: int) -> None:
    assert report(*answers).exit_code == code


def test_withheld_blobs_are_no_breach() -> None:
    (run,) = report(verified("a", GONE)).runs
    assert (run.outcome, run.withheld, run.breaches, len(run.problems)) == ("intact", 1, (), 1)


def test_one_id_for_different_runs_is_a_clash() -> None:
    found = report(verified("a"), verified("b", run_hash="cd" * 32), verified("c"))
    assert found.clashes == (Clash("run-0001", (Copies(HASH, ("a", "c")), Copies("cd" * 32, ("b",)))),)
    assert found.exit_code == 1


def test_copies_of_one_run_are_no_clash() -> None:
    assert report(verified("a"), verified("b")).clashes == ()


@pytest.mark.parametrize("run", [None, header(runId=7), {}])
def test_a_run_without_a_string_for_an_id_names_no_run(run: dict[str, Any] | None) -> None:
    answers = [verified(path, DIGEST, run={} if run is None else run, run_hash=path * 64) for path in "ab"]
    assert report(*answers).clashes == ()


@pytest.mark.parametrize(
    ("answer", "shortfalls"),
    [
        (verified(signed_by=("alice",), anchored=True), ()),
        (verified(signed_by=(), anchored=False), ("signed", "anchored")),
        (verified(outcome="unsealed", signed_by=(), anchored=False), ("sealed", "signed", "anchored")),
        (verified("a", DIGEST, signed_by=(), anchored=False), ("sealed", "signed", "anchored")),
        (Unverified("a", UNREADABLE, "changed"), ("sealed", "signed", "anchored")),
    ],
)
def test_what_is_required_and_not_there(answer: Any, shortfalls: tuple[str, ...]) -> None:
    required = check_required(("anchored", "signed", "sealed", "signed"), policy=True, anchors=True)
    assert required == ("sealed", "signed", "anchored")
    (run,) = report(answer, required=required, policy=True, anchors=True).runs
    assert run.shortfalls == shortfalls
    assert run.is_sound is (not shortfalls)


@pytest.mark.parametrize("required", [("sounder",), ("signed",), ("anchored",), ("sealed", "signed")])
def test_what_nothing_could_meet_is_refused(required: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        check_required(required, policy=False, anchors=False)
