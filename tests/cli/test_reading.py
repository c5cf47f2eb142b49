"""`aef show`, `aef view` and `aef explain`: what readers see.

[RUN-7], [RUN-15], [RES-6], [RES-8], [VER-8], [OVL-3], [OVL-7], [OVL-8], [OVL-9], [OVL-10], [SIG-7].
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aef_verify import effective_view
from aef_verify.cli import main
from aef_verify.codes import CODES
from aef_verify.report.reader import forest, read_content
from aef_verify.rules import RULES
from tests import building
from tests.building import ALICE, AT, BOB, drop, event, put

HOSTILE = "\x1b[31m\u202ex\u200b[red]y[/red]"


def call(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)), env={"COLUMNS": "200"})


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.json"
    file.write_bytes(building.trust(alice=["redact"]).source)
    return file


def test_show_says_the_outcome_first_and_the_mode_with_the_results(tmp_path: Path) -> None:
    done = call("show", building.full().seal().write(tmp_path / "run"))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{tmp_path}/run  intact (unsigned)  runId run-0001\n")
    for title in ("Lanes (target mode live)", "Results (target mode live)", "Evidence", "Gates, as the producer"):
        assert f"\n{title}" in done.stdout


def test_show_of_a_run_with_problems_shows_them_above_all_else(tmp_path: Path) -> None:
    done = call("show", building.small().but(put("summary.json", "runId", "other")).write(tmp_path / "run"))
    assert done.exit_code == 1
    assert done.stdout.index("summary-run-id") < done.stdout.index("\nRun\n")


def test_show_names_who_signed(tmp_path: Path, policy: Path) -> None:
    done = call("show", building.small().seal().sign(BOB).write(tmp_path / "run"), "--policy", policy)
    assert f"intact, signed by {BOB}" in done.stdout


def test_show_reads_unknown_values_as_the_table_says(tmp_path: Path) -> None:
    run = building.full().but(
        put("run.json", "execution", {"targetMode": "holographic", "stimulus": "dice"}),
        put("run.json", "subject", "kind", "swarm"),
        put("run.json", "contentCapture", "sometimes"),
        put("results.ndjson", 0, "severity", "apocalyptic"),
        put("summary.json", "lanes", 0, "metrics", 0, "verdict", "splendid"),
        put("evidence.ndjson", 0, "kind", "rumour"),
        put("gates.ndjson", 0, "comparability", "roughly"),
        put("gates.ndjson", 0, "outcome", "maybe"),
    )
    done = call("show", run.write(tmp_path / "run"))
    assert done.exit_code == 0
    for words in (
        "mocked (written holographic)",
        "other (written dice)",
        "other (written swarm)",
        "on (written sometimes)",
        "critical (written apocalyptic)",
        "inconclusive (written splendid)",
        "other (written rumour)",
        "inconclusive (written maybe)",
        "incomparable (written roughly)",
    ):
        assert words in done.stdout


def test_show_marks_claims_of_a_converter(tmp_path: Path) -> None:
    imported = {"from": "tool 2.1", "asserted": ["subject.version", "execution.targetMode"]}
    done = call("show", building.small().but(put("run.json", "imported", imported)).write(tmp_path / "run"))
    assert "target mode  live*" in done.stdout
    assert "Imported from tool 2.1; * claims of the converter" in done.stdout
    assert "subject.version, execution.targetMode" in done.stdout


def test_show_puts_trials_below_their_rollup_and_children_below_their_parent(tmp_path: Path) -> None:
    lines = building.full()["results.ndjson"]
    done = call("show", building.full().but(put("results.ndjson", lines[::-1])).write(tmp_path / "run"))
    results = done.stdout.split("Results (target mode live)\n")[1].split("\n\n")[0].splitlines()[1:]
    assert [line.strip().split("  ")[0] for line in results] == [
        "passed",
        "failed",
        "passed",
        "passed",
        "skipped",
        "passed",
    ]
    assert "trials 1 of 2 passed by AnyPass, not agreeing" in results[0]
    assert "trial 1" in results[1]
    assert "trial 0" in results[2]


def test_show_is_bounded_and_finds_a_case(tmp_path: Path) -> None:
    lines = [building.result(f"c{number}") for number in range(500)]
    run = building.bare().but(put("results.ndjson", lines)).write(tmp_path / "run")
    done = call("show", run, "--limit", 10)
    assert "… and 490 lines more (--limit, --case)" in done.stdout
    assert done.stdout.count("  passed  c") == 10
    only = call("show", run, "--case", "c321")
    assert only.stdout.count("  c321  ") == 1
    assert "c320" not in only.stdout


@pytest.mark.parametrize(
    "edit",
    [
        put("run.json", b"\xff"),
        put("run.json", b"[]"),
        put("run.json", {}),
        put("results.ndjson", b'{"a":1}'),
        put("results.ndjson", [b"nonsense\n", {"caseId": 7, "scores": [1], "aggregation": [], "trials": {}}]),
        put("results.ndjson", [{"resultId": "x", "parentResultId": "x"}, {"parentResultId": []}]),
        put("summary.json", {"lanes": [{"metrics": [{"n": "x"}, 3]}, 7]}),
        put("evidence.ndjson", [{"link": 3, "description": 9}]),
        put("gates.ndjson", b"\xef\xbb\xbf{}\n"),
        drop("summary.json"),
        drop("results.ndjson"),
    ],
)
def test_show_shows_what_reads(tmp_path: Path, edit: building.Edit) -> None:
    done = call("show", building.full().but(edit).write(tmp_path / "run"))
    assert done.exit_code == 1
    assert "invalid" in done.stdout
    assert done.stderr == ""


def test_trees_with_circles_and_strangers_are_shown_whole() -> None:
    lines = (
        (1, {"resultId": "a", "parentResultId": "b"}),
        (2, {"resultId": "b", "parentResultId": "a"}),
        (3, {"resultId": "c", "parentResultId": "gone"}),
        (4, {"resultId": "d", "parentResultId": "d"}),
        (5, {"resultId": "a"}),
    )
    seen: list[int] = []
    waiting = list(forest(lines))
    while waiting:
        node = waiting.pop()
        seen.append(node.number)
        waiting += node.children
    assert sorted(seen) == [1, 2, 3, 4, 5]


def test_a_deep_tree_is_shown(tmp_path: Path) -> None:
    lines = [building.result("c", "p0", aggregation=building.aggregation(1))]
    for level in range(1, 1500):
        component = {"weight": 1, "required": True}
        above = building.result_id("c", f"p{level - 1}")
        facts: building.Json = {"aggregation": building.aggregation(1)} if level < 1499 else {}
        lines.append(building.result("c", f"p{level}", parentResultId=above, component=component, **facts))
    run = building.bare().but(put("results.ndjson", lines)).write(tmp_path / "run")
    done = call("show", run, "--limit", 2000)
    assert done.exit_code == 0
    assert "  c  p1499  " in done.stdout


def test_content_is_kept_in_whole_cases(tmp_path: Path) -> None:
    lines = [building.result(f"c{number % 3}", f"p{number}") for number in range(30)]
    run = building.bare().but(put("results.ndjson", lines)).write(tmp_path / "run")
    found = read_content(run, limit=2)
    assert len(found.results.kept) == 20
    assert (found.results.count, found.cases, found.results.left) == (30, 3, 10)


def reviewed() -> building.Run:
    """Return a run with events of every kind that a view shows."""
    run = building.full()
    blob = next(path for path in run if path.startswith("blobs/"))[-64:]
    run.seal().batch(
        event("1", "override", result=building.result_id("c1"), state="failed", reason="Graded again."),
        event("2", "reject", by=BOB),
        event("3", "approve"),
        event("4", "waive", requirement="REQ-1", expires="2026-12-01T00:00:00Z"),
        event("5", "waive", requirement="REQ-2", expires="2026-10-04T00:00:00Z"),
        event("6", "redact", blob=blob),
        event("7", by=BOB),
        event("8", "prophesy"),
        signed_by=[ALICE],
    )
    return run.append(event("9"), event("10"))


def test_view(tmp_path: Path, policy: Path) -> None:
    done = call("view", reviewed().write(tmp_path / "run"), "--at", "2026-11-01T00:00:00Z", "--policy", policy)
    assert done.exit_code == 1
    text = done.stdout
    assert "uncovered" in text
    assert "none is recomputed [OVL-7]" in text
    assert re.search(r"  c1 qa +passed +failed +override ov_1 ", text)
    assert "the run: approved by git:alice@example.org in ov_3" in text
    assert "REQ-1: waived until 2026-12-01T00:00:00Z" in text
    assert "REQ-2: expired at 2026-10-04T00:00:00Z" in text
    assert "Withheld blobs" in text
    assert "2 lines after the verified batches: unsealed events, without effect." in text
    assert "annotate (written prophesy)" in text
    events = text.split("Events in verified batches")[1]
    (first,) = (line for line in events.splitlines() if "ov_1 " in line)
    (other,) = (line for line in events.splitlines() if "ov_7 " in line)
    assert "signed" in first
    assert "self-attested" in other


def test_view_before_a_waiver_holds(tmp_path: Path) -> None:
    run = building.small().seal().batch(event("1", "waive", requirement="R", expires="2027-01-01T00:00:00Z"))
    done = call("view", run.write(tmp_path / "run"), "--at", "2026-01-01T00:00:00Z")
    assert f"R: waived from {AT} until 2027-01-01T00:00:00Z, not yet" in done.stdout


@pytest.mark.parametrize("claimed", ["signed", "authenticated", "notarised"])
def test_view_tells_claims_from_what_was_verified(tmp_path: Path, claimed: str) -> None:
    by = {"identity": ALICE, "assurance": claimed}
    done = call("view", building.small().seal().batch(event("1") | {"by": by}).write(tmp_path / "run"))
    assert f"self-attested; {claimed} is claimed, not verified" in done.stdout
    assert "Without --policy no signature was checked" in done.stdout


def test_view_in_json_is_the_contracts(tmp_path: Path, policy: Path) -> None:
    run = reviewed().write(tmp_path / "run")
    at = "2026-11-01T00:00:00Z"
    done = call("view", run, "--at", at, "--policy", policy, "--json")
    assert json.loads(done.stdout) == effective_view(run, at, policy=building.trust(alice=["redact"]))
    assert done.stderr == ""


def test_view_of_a_run_without_overlays(tmp_path: Path) -> None:
    done = call("view", building.small().seal().write(tmp_path / "run"))
    assert done.exit_code == 0
    assert "No event takes effect." in done.stdout


def test_view_at_no_time(tmp_path: Path) -> None:
    done = call("view", building.small().write(tmp_path / "run"), "--at", "2026-02-31T00:00:00Z")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1


def test_no_text_of_a_run_steers_the_terminal(tmp_path: Path) -> None:
    run = building.full().but(
        put("run.json", "suite", "ref", HOSTILE),
        put("run.json", "producer", "name", HOSTILE),
        put("run.json", "execution", "targetMode", HOSTILE),
        put("run.json", "judges", [{"model": HOSTILE, "mode": HOSTILE, "calibration": {"labelSet": HOSTILE}}]),
        put("run.json", "imported", {"from": HOSTILE, "asserted": [HOSTILE]}),
        put("results.ndjson", 0, "caseId", HOSTILE),
        put("results.ndjson", 0, "reason", HOSTILE),
        put("results.ndjson", 0, "state", HOSTILE),
        put("results.ndjson", 0, "severity", HOSTILE),
        put("results.ndjson", 0, "evaluator", {"id": HOSTILE, "version": {HOSTILE: HOSTILE}}),
        put("results.ndjson", 0, "attack", {"technique": HOSTILE}),
        put("summary.json", "lanes", 0, "lane", HOSTILE),
        put("summary.json", "lanes", 0, "metrics", 0, "verdict", HOSTILE),
        put("evidence.ndjson", 0, "description", HOSTILE),
        put("gates.ndjson", 0, "rule", "strategy", HOSTILE),
    )
    run.seal().batch(
        event("1", "override", result=building.result_id("c2"), state="failed", reason=HOSTILE),
        event("2", HOSTILE, reason=HOSTILE) | {"by": {"identity": HOSTILE, "assurance": HOSTILE}},
        event("3", "waive", requirement="R-1", expires="2027-01-01T00:00:00Z", reason=HOSTILE),
        event("4", "reject", reason=HOSTILE) | {"by": {"identity": HOSTILE, "assurance": HOSTILE}},
    )
    folder = run.write(tmp_path / "run")
    for words in (["show", folder, "--limit", 100], ["view", folder], ["verify", folder]):
        text = call(*words).stdout
        assert "\\u{1B}[31m\\u{202E}x\\u{200B}[red]y[/red]" in text
        assert not set("\x1b\u202e\u200b") & set(text)


def test_explain_a_code_and_a_rule() -> None:
    done = call("explain", "Blob-Digest")
    assert done.exit_code == 0
    code = CODES["run", "blob-digest"]
    assert code.meaning in done.stdout
    assert f"Next: {code.advice}" in done.stdout
    assert f"EVD-3: {RULES['EVD-3']}" in done.stdout
    assert RULES["RES-6"] in call("explain", "[res-6]").stdout
    assert call("explain", "missing").stdout.count("Next: ") == 3


def test_explain_a_near_miss() -> None:
    done = call("explain", "blob-digset")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "did you mean" in done.stderr
    assert "blob-digest" in done.stderr
    assert "`aef explain --list`" in call("explain", "zzzzzz\x1b").stderr
    assert "\x1b" not in call("explain", "zzzzzz\x1b").stderr


def test_explain_list() -> None:
    text = call("explain", "--list").stdout
    assert all(f"\n{rule}" in text for rule in RULES)
    found = json.loads(call("explain", "--list", "--json").stdout)
    assert len(found) == len(CODES) + len(RULES)


def test_explain_in_json() -> None:
    assert json.loads(call("explain", "SIG-7", "--json").stdout) == [{"rule": "SIG-7", "text": RULES["SIG-7"]}]
    (found,) = json.loads(call("explain", "digest", "--json").stdout)
    assert (found["code"], found["scope"], found["rules"]) == ("digest", "run", ["SEAL-2", "SEAL-6"])


@pytest.mark.parametrize("words", [[], ["digest", "--list"]])
def test_explain_wants_one_thing(words: list[str]) -> None:
    assert call("explain", *words).exit_code == 2
