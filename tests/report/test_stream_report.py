"""A job's report: its verdict and exit code, its words, and its JSON as the schema has it. [STRM-3], [STRM-4]."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import aef_verify
from aef_verify.cli.output import rendered
from aef_verify.report.job import JobReport, job_verdict
from aef_verify.report.stream_json import event_line as event_json
from aef_verify.report.stream_json import job_value
from aef_verify.report.stream_text import RUNS, event_line, job_text
from aef_verify.run.store import RunStore
from aef_verify.runner.account import Account
from aef_verify.runner.conform import ConformanceReport, FoundRun, plan_conformance
from aef_verify.runner.plan import Plan, load_plan
from aef_verify.runner.stream import verify_stream
from tests.building import drop
from tests.runner.telling import END, HASH, JobFiles, before_end, event, line, plan, put, stream, with_run

SCHEMA = json.loads((Path(aef_verify.__file__).parent / "schemas" / "report" / "stream-report.schema.json").read_text())


def report(found: bytes, asked: Plan | None = None, **members: Any) -> JobReport:
    chosen = asked or plan()
    return JobReport("events.ndjson", chosen, verify_stream(io.BytesIO(found), chosen), **members)


def of_job(files: JobFiles) -> JobReport:
    asked = load_plan(files.plan.read_bytes())
    checked = verify_stream(str(files.events), asked)
    found = plan_conformance(checked.account, asked, RunStore(str(files.runs)))
    return JobReport(str(files.events), asked, checked, str(files.runs), found)


def text(found: JobReport) -> str:
    """Return a report as it is printed, each run of white space as one space."""
    return " ".join(rendered(job_text(found)).split())


def conforming(*runs: str, named: int = 1, links: tuple[str, ...] = ()) -> ConformanceReport:
    found = tuple(FoundRun(run, HASH, f"runs/{run}", 0.5, None) for run in runs)
    return ConformanceReport((), named, found, 0.5 * len(found), None, links)


@pytest.mark.parametrize(
    "found",
    [
        report(stream()),
        report(stream(put(5, spentUsd=9), line(8)) + b"{"),
        report(b"\n"),
        report(b""),
        report(stream(line(1, event("job.refused")))),
        report(stream(), runs="runs", message="runs: No such file or directory"),
        report(stream(line(8)), gave_up=1.5),
        report(stream(), runs="runs", conformance=conforming("r1")),
        report(stream(before_end(event("spend.updated", at=END, spentUsd=1.5, ext={"x": "y" * 5000}), b"x\n"))),
        report(stream(put(3, colour="y" * 5000, spentUsd="x"))),
        report(stream(), plan(limits={"maxUsd": 0})),
    ],
)
def test_the_json_is_as_its_schema_has_it(found: JobReport) -> None:
    value = json.loads(json.dumps(job_value(found)))
    jsonschema.Draft202012Validator(SCHEMA).validate(value)
    assert value["exitCode"] == found.exit_code
    assert job_verdict(found) == value["verdict"]
    assert f"(exit {found.exit_code})" in value["verdict"]
    # Whatever is reported can be shown.
    assert text(found)


def test_the_json_of_runs_is_as_its_schema_has_it(tmp_path: Path) -> None:
    found = of_job(with_run(tmp_path, drop("summary.json", "cost"), runs=["run-0001", "r2"]))
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(job_value(found))))
    assert (found.problems, found.is_sound, found.exit_code) == (3, False, 1)


def test_runs_that_could_not_be_read_are_2_whatever_else_was_found() -> None:
    found = report(stream(put(5, spentUsd=9)), runs="runs", message="no")
    assert found.exit_code == 2
    assert job_verdict(found) == (
        "Not answered in full: 1 problem in the stream, the runs could not be checked (exit 2)."
    )


def test_what_is_long_is_cut_and_says_so() -> None:
    many = [event("evidence.produced", at=END, runId=f"s{number}") for number in range(RUNS)]
    shown = text(report(stream(before_end(*many))))
    assert "… and 1 more (--json lists all)" in shown
    shown = text(report(stream(), runs="runs", conformance=conforming(*(f"r{n}" for n in range(RUNS + 2)), named=22)))
    assert "… and 2 runs more (--json lists all)" in shown


def test_a_link_that_was_passed_by_is_named() -> None:
    shown = text(report(stream(), runs="runs", conformance=conforming(named=0, links=("runs/\x1bx",))))
    assert "The stream names no run." in shown
    shown = text(report(stream(), runs="runs", conformance=conforming("r1", links=("runs/\x1bx",))))
    assert "Not looked at: runs/\\u{1B}x is a link" in shown


def test_ver8_a_status_that_is_not_known_is_read_and_shown() -> None:
    account = Account()
    told = event("lane.completed", lane="main", status="splendid")
    account.take(1, told)
    assert event_line(1, told, plan(), account).endswith("lane main: not_measured (written splendid)")


@pytest.mark.parametrize(
    ("spent", "budget", "said"),
    [
        (1, 3, "spent 1 of 3 USD (33%)"),
        (0, 0, "spent 0 of 0 USD"),
        (5, 0, "spent 5 of 0 USD"),
        (1e308, 5e-324, "spent 1e+308 of 4.94066e-324 USD"),
        (0.000123456789, 1234567, "spent 0.000123457 of 1.23457e+06 USD (0%)"),
    ],
)
def test_spend_is_shown_against_the_budget(spent: float, budget: float, said: str) -> None:
    account, told = Account(), event("spend.updated", spentUsd=spent)
    account.take(1, told)
    assert event_line(1, told, plan(limits={"maxUsd": budget}), account).endswith(said)


def test_an_event_as_json_is_one_line_of_ascii() -> None:
    told = event("job.cancelled", reason="\u2028\U0001f600\n")
    found = event_json(3, told, plan(), Account())
    assert found.isascii()
    assert found.isprintable()
    assert json.loads(found) == {"type": "event", "number": 3, "event": told}
