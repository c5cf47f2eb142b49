"""docs/STREAMS.md: every code of a stream stands in one of its tables, every option of the command is named."""

from __future__ import annotations

import json
import re
from pathlib import Path

from click.testing import CliRunner

from aef_verify.cli import main
from aef_verify.codes import CODES, STREAM
from aef_verify.runner.plan import load_plan
from tests.runner.telling import event, plan_bytes, with_run

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "STREAMS.md").read_text(encoding="utf-8")
OF_THE_RUNS = TEXT.partition("## The runs")[2].partition("## While")[0]
OF_THE_STREAM = TEXT.partition("## The stream")[2].partition("## The runs")[0]


def codes(text: str) -> set[str]:
    """Return the codes in the first column of a page's tables."""
    cells = (line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    return {code for cell in cells for code in re.findall(r"`([a-z-]+)`", cell)}


def test_every_code_is_in_a_table_and_no_other() -> None:
    of_the_runs = {code.code for code in CODES.values() if code.scope == STREAM and "STRM-4" in code.rules}
    of_the_stream = {code.code for code in CODES.values() if code.scope == STREAM and "STRM-3" in code.rules}
    assert codes(OF_THE_RUNS) == of_the_runs
    assert codes(OF_THE_STREAM) == of_the_stream


def test_every_option_is_named() -> None:
    options = {option for parameter in main.commands["stream"].params for option in parameter.opts}
    assert {option for option in options if option.startswith("--")} <= set(re.findall(r"--[a-z-]+", TEXT))


def test_the_example_of_following_is_what_is_printed(tmp_path: Path) -> None:
    shown = re.findall(r"^    ((?:2026|PROBLEM).*)$", TEXT, re.MULTILINE)
    plan, events = tmp_path / "plan.json", tmp_path / "events.ndjson"
    plan.write_bytes(plan_bytes())
    told = [
        event("job.accepted"),
        event("spend.updated", at="2026-10-02T13:59:10Z", spentUsd=1.5),
        event("spend.updated", at="2026-10-02T13:59:20Z", spentUsd=3.5),
        event("job.cancelled", at="2026-10-02T13:59:20Z"),
    ]
    events.write_text("".join(json.dumps({"seq": number} | line) + "\n" for number, line in enumerate(told, 1)))
    done = CliRunner().invoke(main, ["stream", str(events), str(plan), "--follow"])
    assert done.stdout.splitlines()[: len(shown)] == shown
    assert len(shown) == 4


def test_the_members_of_the_report_are_those_there_are(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    words = ["stream", str(files.events), str(files.plan), "--runs", str(files.runs), "--json"]
    found = json.loads(CliRunner().invoke(main, words).stdout)
    table = TEXT.partition("## The report as JSON")[2].partition("## In Python")[0]
    named = {name for line in table.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line)}
    members = set(found) | set(found["plan"]) | set(found["conformance"]) | set(found["conformance"]["found"][0])
    assert members - {"schema", "version", "policyGiven"} <= named
    assert set(found["job"]) - {"events", "eventsOfUnknownKinds", "startedAt", "lastAt"} <= named


def test_the_python_example_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    files = with_run(tmp_path / "out")
    files.events.rename(tmp_path / "events.ndjson")
    files.plan.rename(tmp_path / "plan.json")
    place = str(tmp_path)
    for name in ("plan.json", "events.ndjson", "out/runs"):
        assert f'"{name}"' in example
        example = example.replace(f'"{name}"', repr(f"{place}/{name}"))
    names: dict[str, object] = {}
    exec(example, names)
    assert load_plan((tmp_path / "plan.json").read_bytes()).plan_id == "plan-1"
    assert names["conformance"].problems == ()  # type: ignore[attr-defined] # as the example makes it
