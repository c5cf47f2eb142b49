"""[STRM-4] Plan conformance: the runs that a stream names are what its plan asked for. [PLAN-8], [SUM-5], [OVL-10]."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aef_verify.integrity.policy import TrustPolicy
from aef_verify.problems import InputError
from aef_verify.run.store import RunStore
from aef_verify.runner.conform import ConformanceReport, plan_conformance, verify_plan_conformance
from aef_verify.runner.plan import load_plan
from aef_verify.runner.stream import verify_stream
from tests import building
from tests.building import ALICE, RUN_ID, Edit, drop, put, result
from tests.runner.telling import AT, END, HASH, JobFiles, Json, data, event, made, plan_document, with_run

RUN = f"run:{RUN_ID}"
DIGEST, OTHER_DIGEST = "sha256:" + "a" * 64, "sha256:" + "b" * 64
SUBJECT, LIMITS = plan_document()["subject"], plan_document()["limits"]
SUITE = {"ref": "suite:triage", "version": "3"}


def verified(files: JobFiles, policy: TrustPolicy | None = None) -> ConformanceReport:
    asked = load_plan(files.plan.read_bytes())
    return verify_plan_conformance(str(files.events), asked, str(files.runs), policy=policy)


def codes(files: JobFiles, policy: TrustPolicy | None = None) -> list[list[str]]:
    return building.pairs(verified(files, policy).problems)


def tell(files: JobFiles, *events: Json) -> JobFiles:
    """Write another stream, accepted for the plan's digest."""
    digest = load_plan(files.plan.read_bytes()).digest
    told = [line | {"planDigest": digest} if line["kind"] == "job.accepted" else line for line in events]
    files.events.write_bytes(data(told))
    return files


def judges(*found: Any) -> Edit:
    return put("run.json", "judges", [{"model": judge} if isinstance(judge, str) else judge for judge in found])


def deployed(**members: str) -> Edit:
    return put("run.json", "deployment", {"ref": "deployment:dev"} | members)


def costs(usd: float) -> Edit:
    return put("summary.json", "cost", {"totalUsd": usd})


class Case(NamedTuple):
    """A code: members of the plan, edits of its run that differ from it, and edits that just do not."""

    code: str
    plan: Json
    broken: tuple[Edit, ...]
    sound: tuple[Edit, ...] | None = None
    path: str = RUN


def named(*models: Any) -> Json:
    return {"judges": [{"model": judge} if isinstance(judge, str) else judge for judge in models]}


UNSUMMED = put("summary.json", "lanes", 0, "metrics", [])
FIRST = {"model": "m", "provider": "p", "rubricDigest": DIGEST}

CASES = [
    Case("content-capture", {"contentCapture": "off"}, ()),
    Case(
        "content-capture", {}, (put("run.json", "contentCapture", "off"),), (put("run.json", "contentCapture", "on"),)
    ),
    Case("content-capture", {"contentCapture": "some"}, (put("run.json", "contentCapture", "some"),)),
    Case(
        "content-capture",
        {"contentCapture": "off"},
        (put("run.json", "contentCapture", "some"),),
        (put("run.json", "contentCapture", "off"),),
    ),
    Case("deployment", {"subject": SUBJECT | {"deployment": "deployment:dev"}}, (), (deployed(),)),
    Case("deployment", {"subject": SUBJECT | {"deployment": "deployment:prod"}}, (deployed(),)),
    Case(
        "deployment",
        {"subject": SUBJECT | {"endpoint": "http://localhost:1/v1"}},
        (deployed(),),
        (deployed(endpoint="http://localhost:1/v1"),),
    ),
    Case(
        "deployment",
        {"subject": SUBJECT | {"endpoint": "http://localhost:1/v1"}},
        (deployed(endpoint="http://localhost:1/v1/"),),
    ),
    Case("judges", {}, (judges("m"),), ()),
    Case("judges", named("m"), (judges("n"),), (judges("m"),)),
    Case("judges", named("m"), (judges("m", "m"),), ()),
    Case("judges", named("m", "m"), (judges("m", "m", "m"),), (judges("m", "m"),)),
    Case("judges", named("m", "n"), (judges("n", "m"),), (judges("n"),)),
    Case("judges", named("m", "n", "m"), (judges("n", "n"),), (judges("n", "m"),)),
    Case("judges", named(FIRST), (judges(FIRST | {"provider": "q"}),), (judges(FIRST),)),
    Case("judges", named(FIRST), (judges("m"),)),
    Case("judges", named(FIRST), (judges(FIRST | {"rubricDigest": OTHER_DIGEST}),)),
    Case("judges", named("m", FIRST), (judges(FIRST, FIRST, FIRST),), (judges(FIRST, FIRST),)),
    Case("no-cost", {}, (drop("summary.json", "cost"),), (costs(0),)),
    Case("over-budget", {}, (costs(3.0000000000000004),), (costs(3),), "job"),
    Case("over-cases", {"limits": LIMITS | {"cases": 1}}, (), None, "job"),
    Case(
        "over-cases",
        {"limits": LIMITS | {"cases": 2}},
        (building.also("results.ndjson", result("c3", state="skipped")), UNSUMMED),
        (
            building.also(
                "results.ndjson",
                result("c2", trial=0),
                result("c2", trial=1),
            ),
            put("results.ndjson", 1, building.rollup("c2", n=2, passed=2, agree=True)),
            UNSUMMED,
        ),
        "job",
    ),
    Case("provenance", {}, (drop("run.json", "provenance"),)),
    Case("provenance", {}, (put("run.json", "provenance", "planId", "plan-2"),)),
    Case("provenance", {}, (put("run.json", "provenance", "planDigest", HASH),)),
    Case("provenance", {}, (put("run.json", "provenance", "jobId", "job-2"),)),
    Case("provenance", {}, (put("run.json", "provenance", "runnerId", "runner-2"),)),
    Case("subject", {}, (put("run.json", "subject", "version", "8"),)),
    Case("subject", {}, (drop("run.json", "subject", "version"),)),
    Case("subject", {}, (put("run.json", "subject", "ref", "agent:other"),)),
    Case("suite", {}, (put("run.json", "suite", "version", "4"),), (put("run.json", "suite", "digest", DIGEST),)),
    Case("suite", {}, (drop("run.json", "suite"),)),
    Case("suite", {"suites": [SUITE | {"digest": DIGEST}]}, (), (put("run.json", "suite", "digest", DIGEST),)),
    Case("target-mode", {}, (put("run.json", "execution", "targetMode", "scripted"),)),
    Case(
        "target-mode",
        {"targetMode": "scripted"},
        (),
        (put("run.json", "execution", "targetMode", "scripted"),),
    ),
    Case(
        "target-mode",
        {"targetMode": "dreamt"},
        (put("run.json", "execution", "targetMode", "mocked"),),
        (put("run.json", "execution", "targetMode", "dreamt"),),
    ),
    Case(
        "time",
        {},
        (put("run.json", "startedAt", "2026-10-02T13:58:59.999999999Z"),),
        (put("run.json", "startedAt", "2026-10-02T13:59:00.000Z"),),
    ),
    Case(
        "time",
        {},
        (put("run.json", "endedAt", "2026-10-02T15:00:02.000000001Z"),),
        (put("run.json", "endedAt", "2026-10-02T15:00:02.0Z"),),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.code}-{place}" for place, case in enumerate(CASES)])
def test_strm4_each_code(case: Case, tmp_path: Path) -> None:
    asked = plan_document(**case.plan)
    assert codes(with_run(tmp_path / "broken", *case.broken, plan=asked)) == [[case.path, case.code]]
    if case.sound is not None:
        assert codes(with_run(tmp_path / "sound", *case.sound, plan=asked)) == []


def test_the_job_as_told_conforms(tmp_path: Path) -> None:
    found = verified(with_run(tmp_path))
    assert found.problems == ()
    assert (found.named, found.usd, found.cases, found.links) == (1, 1.5, 2, ())
    (run,) = found.found
    assert (run.run_id, run.usd, run.signed_by) == (RUN_ID, 1.5, None)


def test_strm4_run_missing(tmp_path: Path) -> None:
    files = with_run(tmp_path, runs=[RUN_ID, "r2"])
    assert codes(files) == [["run:r2", "run-missing"]]
    shutil.rmtree(files.runs / "r")
    assert codes(files) == [["run:r2", "run-missing"], [RUN, "run-missing"]]


def test_strm4_a_run_is_found_wherever_it_lies_below_the_folder(tmp_path: Path) -> None:
    assert codes(with_run(tmp_path, name="deep/er/r")) == []
    files = with_run(tmp_path / "itself", name=".")
    assert codes(files) == []


def test_strm4_run_hash_for_a_run_that_was_never_announced(tmp_path: Path) -> None:
    files = tell(with_run(tmp_path), event("job.accepted"), event("job.sealed", at=END, runs=[RUN_ID]))
    (problem,) = verified(files).problems
    assert problem.pair == (RUN, "run-hash")
    assert "never announced" in problem.detail


def test_strm4_run_hash_of_the_first_announcement_wherever_it_stands(tmp_path: Path) -> None:
    """Announced twice the first counts, announced after the end it counts as well: [STRM-3] has its own codes."""
    files = with_run(tmp_path)
    run_hash = read_hash(files)
    sealed, good = event("job.sealed", at=END, runs=[RUN_ID]), announced(run_hash)
    assert codes(tell(files, event("job.accepted"), good, announced(HASH), sealed)) == []
    assert codes(tell(files, event("job.accepted"), announced(HASH), good, sealed)) == [[RUN, "run-hash"]]
    assert codes(tell(files, event("job.accepted"), sealed, good)) == []


def announced(run_hash: str, run_id: str = RUN_ID) -> Json:
    return event("evidence.produced", at=END, runId=run_id, runHash=run_hash)


def read_hash(files: JobFiles) -> str:
    """Return the run hash that the stream announces first."""
    lines = [json.loads(line) for line in files.events.read_bytes().splitlines()]
    return next(str(line["runHash"]) for line in lines if line["kind"] == "evidence.produced")


def test_strm4_run_hash_for_a_run_that_is_not_intact(tmp_path: Path) -> None:
    """It is the run's only problem: the rest would be about files that nobody announced."""
    files = with_run(tmp_path, put("run.json", "subject", "version", "8"))
    seal = files.runs / "r" / "seal.json"
    kept = seal.read_bytes()
    seal.unlink()
    assert codes(files) == [[RUN, "run-hash"]]
    seal.write_bytes(kept)
    assert codes(files) == [[RUN, "subject"]]
    (files.runs / "r" / "metrics.json").write_bytes(b"{}")
    assert codes(files) == [[RUN, "run-hash"]]


def test_strm4_one_id_in_two_folders_the_announced_hash_decides(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    made(HASH).but(put("run.json", "subject", "version", "8")).seal().write(files.runs / "a")
    assert codes(files) == []
    shutil.copytree(files.runs / "r", files.runs / "copy")
    (files.runs / "copy" / "results.ndjson").write_bytes(b"")
    assert codes(files) == []
    shutil.rmtree(files.runs / "r")
    assert codes(files) == [[RUN, "run-hash"]]


def test_ovl10_a_withheld_blob_leaves_a_run_intact_where_the_policy_authorizes_it(tmp_path: Path) -> None:
    def redacted(run: building.Run) -> None:
        name = run.blob(b"personal")
        run["evidence.ndjson"] = [building.evidence("E-1", {"blob": f"sha256:{name}"}, digest=f"sha256:{name}")]
        run.seal()
        run.batch(building.event("1", "redact", blob=name), signed_by=[ALICE])
        del run[building.blob_path(name)]

    files = with_run(tmp_path)
    run = made(load_plan(files.plan.read_bytes()).digest)
    redacted(run)
    shutil.rmtree(files.runs)
    run.write(files.runs / "r")
    tell(files, event("job.accepted"), announced(run.run_hash()), event("job.sealed", at=END, runs=[RUN_ID]))
    assert codes(files) == [[RUN, "run-hash"]]
    assert codes(files, building.trust(alice=["redact"])) == []
    assert codes(files, building.trust()) == [[RUN, "run-hash"]]


def two_runs(tmp_path: Path, first: float, second: float, *edits: Edit, **limits: Any) -> JobFiles:
    """Write a job of two runs of these costs, the second one changed by edits."""
    files = with_run(tmp_path, costs(first), plan=plan_document(limits={"maxUsd": 3} | limits))
    digest = load_plan(files.plan.read_bytes()).digest
    other = made(digest).but(costs(second), put("run.json", "runId", "r2"), put("summary.json", "runId", "r2"))
    renamed = [line | {"resultId": building.result_id(line["caseId"], run_id="r2")} for line in other["results.ndjson"]]
    other.but(put("results.ndjson", renamed), *edits).seal().write(files.runs / "r2")
    return tell(
        files,
        event("job.accepted"),
        announced(read_hash(files)),
        announced(other.run_hash(), "r2"),
        event("job.failed", at=END, runs=["r2", RUN_ID]),
    )


def test_sum5_costs_are_summed_exactly_and_rounded_once(tmp_path: Path) -> None:
    assert codes(two_runs(tmp_path / "a", 1.5, 1.5)) == []
    assert codes(two_runs(tmp_path / "b", 1.5, 1.5000000000000004)) == [["job", "over-budget"]]
    assert codes(two_runs(tmp_path / "c", 3, 1e-17)) == []
    found = verified(two_runs(tmp_path / "d", 1.7e308, 1.7e308))
    assert building.pairs(found.problems) == [["job", "over-budget"]]
    assert found.usd is None


def test_plan8_a_case_is_its_suite_with_its_id(tmp_path: Path) -> None:
    """In two runs of one suite a case counts once, in two suites twice."""
    assert codes(two_runs(tmp_path / "a", 1, 1, cases=2)) == []
    other = put("run.json", "suite", "version", "4")
    assert codes(two_runs(tmp_path / "b", 1, 1, other, cases=3)) == [["job", "over-cases"], ["run:r2", "suite"]]
    assert codes(two_runs(tmp_path / "c", 1, 1, other, cases=4)) == [["run:r2", "suite"]]
    named = put("run.json", "suite", "ref", "suite:other")
    assert codes(two_runs(tmp_path / "f", 1, 1, named, cases=3)) == [["job", "over-cases"], ["run:r2", "suite"]]
    found = verified(two_runs(tmp_path / "d", 1, 1, other, cases=1))
    assert (found.cases, ["job", "over-cases"] in building.pairs(found.problems)) == (2, True)
    assert verified(two_runs(tmp_path / "e", 1, 1)).cases is None


def test_plan8_a_child_is_no_case(tmp_path: Path) -> None:
    tree = [
        result("c1", aggregation=building.aggregation(1)),
        building.child("c1", "a", severity="low", state="failed"),
        result("c2"),
    ]
    edits = (put("results.ndjson", tree), UNSUMMED)
    assert codes(with_run(tmp_path, *edits, plan=plan_document(limits=LIMITS | {"cases": 2}))) == []


def test_strm4_a_run_is_checked_once_however_often_it_is_named(tmp_path: Path) -> None:
    files = with_run(tmp_path, put("run.json", "subject", "version", "8"), costs(2), runs=[RUN_ID, RUN_ID])
    found = verified(files)
    assert building.pairs(found.problems) == [[RUN, "subject"]]
    assert (found.named, found.usd) == (1, 2)


def test_strm4_each_half_of_time_takes_both_its_times(tmp_path: Path) -> None:
    late = put("run.json", "endedAt", "2026-10-02T15:00:03Z")
    files = with_run(tmp_path, late, put("run.json", "startedAt", "2026-10-02T13:00:00Z"))
    good, sealed = announced(read_hash(files)), event("job.sealed", at=END, runs=[RUN_ID])
    assert codes(tell(files, event("job.accepted"), good, sealed)) == [[RUN, "time"]]
    assert codes(tell(files, good, sealed | {"at": "2026-10-02T15:00:03Z"})) == [[RUN, "provenance"]]


def test_strm4_only_the_first_acceptance_counts(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    good, sealed = announced(read_hash(files)), event("job.sealed", at=END, runs=[RUN_ID])
    again = event("job.accepted", jobId="job-2", at=END)
    assert codes(tell(files, event("job.accepted"), again, good, sealed)) == []
    assert codes(tell(files, again | {"at": AT}, event("job.accepted"), good, sealed)) == [[RUN, "provenance"]]


def test_problems_come_by_path_as_bytes(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    ids = ["9", "10", RUN_ID]
    tell(files, event("job.accepted"), event("job.sealed", at=END, runs=ids), announced(HASH))
    assert codes(files) == [["run:10", "run-missing"], ["run:9", "run-missing"], [RUN, "run-hash"]]


def test_a_stream_that_names_no_run_has_none_to_check(tmp_path: Path) -> None:
    files = tell(with_run(tmp_path), event("job.accepted"), event("job.cancelled"))
    found = verified(files)
    assert (found.problems, found.named, found.usd) == ((), 0, 0.0)


def test_a_stream_refused_as_a_whole_is_an_input_error(tmp_path: Path) -> None:
    """It names no run that could be checked, and no problem would say that everything is as planned."""
    files = with_run(tmp_path)
    files.events.write_bytes(files.events.read_bytes() + b"\n")
    with pytest.raises(InputError, match="refused as a whole"):
        verified(files)


def test_no_folder_is_an_input_error_and_a_link_is_not_followed(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    os.rename(files.runs / "r", tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", files.runs / "r")
    found = verified(files)
    assert building.pairs(found.problems) == [[RUN, "run-missing"]]
    assert found.links == (str(files.runs / "r"),)
    with pytest.raises(InputError):
        verified(files._replace(runs=tmp_path / "absent"))


def test_results_that_change_after_they_were_verified_are_an_input_error(tmp_path: Path) -> None:
    """They are read a second time, for their cases, and nothing is said of what nobody verified."""
    files = with_run(tmp_path)
    asked = load_plan(files.plan.read_bytes())
    account = verify_stream(str(files.events), asked).account
    store = RunStore(str(files.runs))
    assert store.named(RUN_ID)[0].intact
    results = files.runs / "r" / "results.ndjson"
    results.write_bytes(results.read_bytes().replace(b"c2", b"c3"))
    with pytest.raises(InputError, match="changed while it was read"):
        plan_conformance(account, asked, store)
