"""A plan run as a job: taken or refused, its suites as runs, its events, its clock [PLAN-5], [PLAN-7] to [PLAN-10]."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from aef_verify import limits
from aef_verify.problems import InputError
from aef_verify.run.verify import verify_run
from aef_verify.runner import taking
from aef_verify.runner.job import run_job
from tests.runner.jobbing import AT, CONTENT, DIGEST, case, plan, problems, run, runner, suite, target, written

TWO = target(suite(), suite("suite:b", case("1", state="failed", severity="low"), case("2", state="skipped")))


def test_plan8_each_suite_is_a_run_in_the_plans_order(tmp_path: Path) -> None:
    ran = run(tmp_path, plan=plan("suite:b", "suite:a"), target=TWO)
    assert [event["kind"] for event in ran.events] == [
        "job.accepted",
        "plan.estimated",
        *["case.completed", "spend.updated"] * 2,
        "evidence.produced",
        *["case.completed", "spend.updated"] * 2,
        "evidence.produced",
        "job.sealed",
    ]
    assert [ran.document("run.json", place)["suite"] for place in (0, 1)] == [
        {"ref": "suite:b", "version": "1"},
        {"ref": "suite:a", "version": "1"},
    ]
    assert ran.cases() == [["1", "2"], ["1", "2"]]
    run_ids = [event["runId"] for event in ran.of("evidence.produced")]
    assert ran.end["runs"] == run_ids
    assert [event["runId"] for event in ran.of("case.completed")] == [run_ids[0], run_ids[0], run_ids[1], run_ids[1]]
    assert ran.files() == {"events.ndjson", "runs", *(f"runs/{run_id}" for run_id in run_ids)}
    assert problems(ran) == []


def test_plan9_the_spend_and_the_estimate_are_stated(tmp_path: Path) -> None:
    script = target(suite("suite:a", case("1", usd=0.1, usdBound=0.5), case("2", usd=0), case("3", usd=0.2)))
    ran = run(tmp_path, target=script)
    (estimate,) = ran.of("plan.estimated")
    assert (estimate["cases"], estimate["priceTable"]) == (3, "prices-1")
    assert (estimate["usdLow"], estimate["usdHigh"]) == (0.30000000000000004, 1.0)
    # A case that costs nothing changes no spend.
    assert [event["spentUsd"] for event in ran.of("spend.updated")] == [0.1, 0.30000000000000004]
    assert ran.document("summary.json")["cost"] == {"totalUsd": 0.30000000000000004, "source": "prices-1"}
    assert ran.result.spent_usd == 0.30000000000000004


def test_plan9_the_estimate_counts_the_first_cases_up_to_the_limit(tmp_path: Path) -> None:
    asked = plan("suite:b", "suite:a", limits={"maxUsd": 9, "cases": 3})
    (estimate,) = run(tmp_path, plan=asked, target=TWO).of("plan.estimated")
    assert [estimate[name] for name in ("cases", "usdLow", "usdHigh")] == [3, 0.75, 0.75]


def test_plan9_the_clock_moves_by_cases_and_closes_alone(tmp_path: Path) -> None:
    script = target(suite(), suite("suite:b", case("1", seconds=7, secondsBound=9)), closeSeconds=5)
    at = "2026-10-09T09:00:00.000000001Z"
    ran = run(tmp_path, plan=plan("suite:a", "suite:b"), target=script, at=at)
    assert ran.events[0]["at"] == at
    assert ran.end["at"] == "2026-10-09T09:00:57.000000001Z"
    times = [[ran.document("run.json", place)[name][17:19] for name in ("startedAt", "endedAt")] for place in (0, 1)]
    assert times == [["00", "40"], ["45", "52"]]
    assert ran.document("seal.json", 0)["predicate"]["sealedAt"][17:19] == "45"
    assert problems(ran) == []


def test_plan10_run12_a_run_has_what_the_plan_and_the_job_give(tmp_path: Path) -> None:
    asked = plan(
        {"ref": "suite:a", "version": "1", "lane": "quality", "digest": DIGEST},
        subject={"ref": "pipeline:triage", "version": "7", "endpoint": "http://localhost:5080/v1"},
        judges=[{"model": "m"}],
        contentCapture="off",
    )
    ran = run(tmp_path, plan=asked)
    document = ran.document("run.json")
    accepted = ran.events[0]
    assert accepted["planDigest"] == sha256(ran.plan.read_bytes()).hexdigest()
    assert document["provenance"] == {name: accepted[name] for name in ("planId", "planDigest", "jobId", "runnerId")}
    assert document["subject"] == {"ref": "pipeline:triage", "kind": "other", "version": "7"}
    assert document["deployment"] == {
        "ref": "endpoint:http://localhost:5080/v1",
        "endpoint": "http://localhost:5080/v1",
    }
    assert document["suite"] == {"ref": "suite:a", "version": "1", "digest": DIGEST}
    assert document["contentCapture"] == "off"
    assert document["execution"]["targetMode"] == "scripted"
    assert "judges" not in document
    assert document["costPolicy"] == {"maxUsd": 100, "priceTable": "prices-1"}
    assert [lane["lane"] for lane in ran.document("summary.json")["lanes"]] == ["quality"]
    assert {line["lane"] for line in ran.document("results.ndjson")} == {"quality"}
    (sealed,) = ran.result.runs
    report = verify_run(sealed.path)
    assert (report.outcome, report.run_hash) == ("intact", sealed.run_hash)
    assert problems(ran) == []


def test_plan8_a_plan_without_lane_or_digest_gives_a_run_none(tmp_path: Path) -> None:
    ran = run(tmp_path)
    assert ran.document("run.json")["suite"] == {"ref": "suite:a", "version": "1"}
    assert ran.document("summary.json")["lanes"] == []
    assert all("lane" not in line for line in ran.document("results.ndjson"))


def test_plan8_suites_share_case_ids_and_keep_them(tmp_path: Path) -> None:
    ran = run(tmp_path, plan=plan("suite:a", "suite:b", limits={"maxUsd": 9, "cases": 4}), target=TWO)
    assert (ran.cases(), ran.end["kind"]) == ([["1", "2"], ["1", "2"]], "job.sealed")
    assert problems(ran) == []


def test_run13_two_jobs_of_one_plan_share_no_id(tmp_path: Path) -> None:
    results = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        results.append(run(tmp_path / name).result)
    one, two = results
    assert one.job_id != two.job_id
    assert one.runs[0].run_id != two.runs[0].run_id


def env(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "scheme": "env", "path": name, "purpose": "subject"} | members


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "the target mode is live": (
        {"plan": plan(targetMode=None), "runner": runner(targetModes=["live"])},
        "target mode live, and the target gives scripted",
    ),
    "the manifest gives another mode": ({"runner": runner(targetModes=None)}, "does not give the target mode"),
    "the isolation is a container": (
        {
            "plan": plan(
                isolation="container", subject={"ref": "agent:a", "version": "1", "image": "sha256:" + "0" * 64}
            )
        },
        "isolation container, and the target runs in process alone",
    ),
    "the isolation is a zone": (
        {
            "plan": plan(isolation="remote-zone", zone="eu"),
            "runner": runner(targetModes=["scripted"], networkZone="eu"),
        },
        "isolation remote-zone",
    ),
    "the provider is another": ({"plan": plan(provider="docker")}, "provider"),
    "the isolation is unknown": ({"plan": plan(isolation="cloud")}, "isolation"),
    "a tag is not carried": ({"plan": plan(runnerSelector=["gpu"])}, "tag gpu"),
    "a suite is not there": ({"plan": plan("suite:a", "suite:c")}, "suite 2 of the plan (suite:c 1) is none"),
    "a version is not there": ({"plan": plan({"ref": "suite:a", "version": "2"})}, "is none that the target has"),
    "a suite stands twice": ({"plan": plan("suite:a", {"ref": "suite:a", "version": "1", "lane": "b"})}, "twice"),
    "a digest is another": (
        {"plan": plan({"ref": "suite:a", "version": "1", "digest": "sha256:" + "0" * 64})},
        "another digest",
    ),
    "a credential does not resolve": ({"plan": plan(credentialRefs=[env("KEY")])}, "does not resolve"),
    "the reader refuses its timeout": ({"plan": plan(limits={"maxUsd": 1, "timeout": "PT30S"})}, "ENC-9"),
    "the reader refuses its major version": ({"plan": plan(schemaVersion="2.0")}, "VER-4"),
    "its bounds have no sum": (
        {"target": target(suite("suite:a", case("1", usdBound=1.7e308), case("2", usdBound=1.7e308)))},
        "beyond binary64",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_plan7_plan8_a_plan_that_is_refused(why: str, tmp_path: Path) -> None:
    given, reason = REFUSED[why]
    ran = run(tmp_path, **given)
    (event,) = ran.events
    assert (event["kind"], event["at"], event["planId"]) == ("job.refused", AT, "plan-1")
    assert event["planDigest"] == sha256(ran.plan.read_bytes()).hexdigest()
    assert ran.result.reason == event["reason"]
    assert reason in event["reason"]
    if "reader" not in why:
        assert problems(ran) == []
    assert ran.files() == {"events.ndjson"}
    assert (ran.result.runs, ran.result.cases, ran.result.estimate) == ((), 0, None)


def test_plan8_a_digest_is_that_of_the_content(tmp_path: Path) -> None:
    digest = "sha256:" + sha256(CONTENT.encode()).hexdigest()
    assert run(tmp_path, plan=plan({"ref": "suite:a", "version": "1", "digest": digest})).end["kind"] == "job.sealed"


def test_enc17_a_job_whose_stream_could_be_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cases, with three events of the job and two of the suite: seven lines, nine with the spend after each."""
    ends = []
    for lines in (9, 8, 7, 6):
        (tmp_path / str(lines)).mkdir()
        monkeypatch.setattr(limits, "LINES", lines)
        ran = run(tmp_path / str(lines))
        assert len(ran.events) <= lines
        ends.append((ran.end["kind"], len(ran.of("spend.updated"))))
    assert ends == [("job.sealed", 2), ("job.sealed", 1), ("job.sealed", 1), ("job.refused", 0)]
    monkeypatch.undo()
    monkeypatch.setattr(taking, "_LINE_BYTES", limits.NDJSON_BYTES)
    (tmp_path / "bytes").mkdir()
    assert "ENC-17" in str(run(tmp_path / "bytes").result.reason)


def test_plan7_a_long_reason_is_cut(tmp_path: Path) -> None:
    script = target(suite("suite:" + "a" * 250))
    asked = plan(*(f"suite:{'b' * 250}{n}" for n in range(3)), runnerSelector=[f"tag-{n}" for n in range(32)])
    assert len(run(tmp_path, plan=asked, target=script).end["reason"]) <= 2048


INPUT: dict[str, dict[str, Any]] = {
    "the plan does not read": {"plan": b'{"planId": "p"'},
    "the plan is no object": {"plan": b"[]"},
    "the plan is too deep": {"plan": b'{"planId": "p", "ext": ' + b"[" * 64 + b"]" * 64 + b"}"},
    "the plan has no planId": {"plan": plan(planId=None)},
    "the planId is none": {"plan": plan(planId="a b")},
    "the manifest is refused": {"runner": runner(providers=[])},
    "the target has another shape": {"target": target(schemaVersion="1.0")},
    "the time is none": {"at": "2026-02-31T09:00:00Z"},
    "the time has another zone": {"at": "2026-02-01T09:00:00+00:00"},
    "the clock leaves the years": {"at": "9999-12-31T23:59:19Z"},
}


@pytest.mark.parametrize("what", INPUT)
def test_plan7_an_input_error_writes_nothing(what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        run(tmp_path, **INPUT[what])
    assert not (tmp_path / "out").exists()


def test_enc8_the_clock_may_come_to_the_last_second(tmp_path: Path) -> None:
    assert run(tmp_path, at="9999-12-31T23:59:18Z").end["at"] == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize("made", ["file", "folder", "hidden", "link", "a file itself"])
def test_a_folder_that_is_not_empty_is_left_alone(made: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if made == "a file itself":
        out.write_text("x")
    else:
        out.mkdir()
        inside = out / {"hidden": ".x"}.get(made, "x")
        if made == "folder":
            inside.mkdir()
        elif made == "link":
            inside.symlink_to("nowhere")
        else:
            inside.write_text("x")
    before = sorted(out.iterdir()) if out.is_dir() else out.is_file()
    with pytest.raises(InputError, match="out"):
        run(tmp_path)
    assert (sorted(out.iterdir()) if out.is_dir() else out.is_file()) == before


def test_a_folder_that_is_empty_or_below_none_is_taken(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert run(tmp_path).end["kind"] == "job.sealed"
    asked, manifest, script = written(tmp_path, plan=plan(), runner=runner(), target=target())
    run_job(asked, manifest, script, str(tmp_path / "a" / "b"), at=AT)
    assert (tmp_path / "a" / "b" / "events.ndjson").is_file()


@pytest.mark.parametrize("out", ["", "run", "run/blobs/new", "\0"])
def test_run1_a_folder_without_a_name_or_within_a_run_is_none(out: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    given = written(tmp_path, plan=plan(), runner=runner(), target=target())
    with pytest.raises(InputError):
        run_job(*given, str(tmp_path / out) if out else out, at=AT)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.json"]


def test_every_event_is_told_once_it_is_written(tmp_path: Path) -> None:
    told: list[tuple[int, bool]] = []
    path = tmp_path / "out" / "events.ndjson"

    def watch(event: dict[str, Any]) -> None:
        last = path.read_bytes().split(b"\n")[-2]
        told.append((event["seq"], json.loads(last) == event))

    ran = run(tmp_path, watch=watch)
    assert told == [(event["seq"], True) for event in ran.events]
