"""The report for people: what is said, that it is bounded, and that no text in it can steer a terminal.

[RUN-7], [RUN-13], [RUN-15], [SIG-7], [OVL-10], [VER-8].
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.console import RenderableType

from aef_verify.codes import CODES
from aef_verify.memory.pair import NORMAL_ONLY, PairReport
from aef_verify.problems import Problem
from aef_verify.report.assemble import run_entry
from aef_verify.report.escape import escaped
from aef_verify.report.model import NOT_VERIFIED, UNREADABLE, EvidenceReport, NotLookedAt, Unverified
from aef_verify.report.text import DISAGREED, PROBLEMS, RUNS, evidence_text
from tests import building
from tests.report.reports import DIGEST, GONE, UNCOVERED, hostile_reports, report, text_of, verified


def shown(found: EvidenceReport, width: int = 100) -> str:
    return text_of(evidence_text(found), width)


def rows(text: str) -> list[list[str]]:
    """Return the cells of the table's rows."""
    table = text.split("\n\n")[1]
    return [re.split(r"  +", line) for line in table.splitlines()]


def test_table() -> None:
    found = report(
        verified("runs/a"),
        verified("runs/b", signed_by=("git:alice@example.org",)),
        verified("runs/c", GONE),
        verified("runs/d", outcome="unsealed"),
        verified("runs/e", DIGEST, overlays=[UNCOVERED]),
        Unverified("runs/f", UNREADABLE, "runs/f/run.json: cannot be read: Permission denied"),
    )
    assert shown(found).startswith("6 runs below runs/\n\nRun ")
    assert rows(shown(found)) == [
        ["Run", "Target", "Suite", "Outcome", "Signer", "Problems"],
        ["a", "live", "suite:triage 3", "intact (unsigned)", "–", "0"],
        ["b", "live", "suite:triage 3", "intact", "git:alice@example.org", "0"],
        ["c", "live", "suite:triage 3", "intact, 1 withheld (unsigned)", "–", "0"],
        ["d", "live", "suite:triage 3", "unsealed", "–", "0"],
        ["e", "live", "suite:triage 3", "invalid", "–", "1, overlays 1"],
        ["f", "unknown", "–", "unreadable", "–", "not known"],
    ]


def test_narrow_table_puts_the_path_above() -> None:
    text = shown(report(verified("runs/a-rather-long-name-of-a-run-that-leaves-no-room"), verified("runs/b")), 80)
    assert "\na-rather-long-name-of-a-run-that-leaves-no-room\n    live " in text


def test_one_run_is_shown_by_its_path() -> None:
    text = shown(report(verified("some/run"), paths=("some/run/",)))
    assert text.startswith("1 run\n\n")
    assert rows(text)[1][0] == "some/run"


def test_runs_below_several_paths_are_shown_by_their_paths() -> None:
    assert [row[0] for row in rows(shown(report(verified("a/x"), verified("b/y"), paths=("a", "b"))))[1:]] == [
        "a/x",
        "b/y",
    ]


@pytest.mark.parametrize("signed_by", [None, (), ("git:alice@example.org", "spiffe://example.org/bob")])
def test_intact_never_stands_alone(signed_by: tuple[str, ...] | None) -> None:
    text = shown(report(verified("a", GONE, signed_by=signed_by), verified("b", signed_by=signed_by)))
    for line in text.splitlines():
        if "intact" in line and "exit" not in line and "--policy" not in line:
            assert "unsigned" in line or "git:alice@example.org" in line


def test_anchored_is_said() -> None:
    assert rows(shown(report(verified(anchored=True))))[1][3] == "intact, anchored (unsigned)"


def test_an_unknown_target_mode_is_shown_as_read_and_as_written() -> None:
    run = building.small()["run.json"] | {"execution": {"targetMode": "holographic"}}
    assert "mocked (written holographic)" in shown(report(verified(run=run)))


def test_claims_of_a_converter_are_marked() -> None:
    imported = {"from": "tool 1", "asserted": ["execution.targetMode", "suite"]}
    text = shown(report(verified(run=building.small()["run.json"] | {"imported": imported})))
    assert rows(text)[1][1:3] == ["live*", "suite:triage 3*"]
    assert "* supplied by the converter" in text


def test_a_problem_says_where_what_why_and_what_next() -> None:
    text = shown(report(verified("runs/e", DIGEST)))
    code = CODES["run", "digest"]
    assert (
        "runs/e  invalid  runId run-0001\n"
        "  results.ndjson  digest\n"
        '    the file\'s bytes hash to another one; written: "00ff"\n'
        f"    {code.meaning} [SEAL-2, SEAL-6]\n"
    ) in text
    assert "\nWhat to do next\n  digest: Get the files again" in text


def test_a_meaning_stands_once_a_run_and_an_advice_once() -> None:
    problems = [Problem(f"results.ndjson:{line}", "metric", "metrics.json declares no such metric") for line in (1, 2)]
    text = shown(report(verified("a", *problems), verified("b", *problems)))
    assert text.count(CODES["run", "metric"].meaning.split()[0] + " metric is used") == 2
    assert text.count("  metric: ") == 1


def test_overlay_problems_stand_apart() -> None:
    text = shown(report(verified("a", overlays=[UNCOVERED])))
    assert "a  intact (unsigned)  runId run-0001\n  Overlays (the run's own outcome is not touched" in text
    assert "  uncovered (overlays): " in text
    assert text.endswith("Not sound: of 1 run, 1 has problems in the overlays (exit 1).\n")


def test_a_clash_lists_the_runs_by_their_hashes() -> None:
    text = shown(report(verified("a"), verified("b"), verified("c", run_hash="cd" * 32)))
    assert f"runId run-0001  run-id-clash: 2 different runs\n  run hash {'ab' * 32}\n    a\n    b\n" in text
    assert "1 runId names different runs (exit 1)." in text


def test_what_was_not_looked_at_is_listed() -> None:
    others = [NotLookedAt(f"runs/link-{number:02}", "link") for number in range(25)]
    text = shown(report(verified(), not_looked_at=others))
    assert "Not looked at\n  runs/link-00  link\n" in text
    assert "… and 5 more (--json lists all)" in text
    assert text.endswith("(exit 0).\n")


def test_requirements_that_are_not_met() -> None:
    text = shown(report(verified(outcome="unsealed"), required=("sealed",)))
    assert rows(text)[1][3:] == ["unsealed", "–", "0, not sealed"]
    assert "  not sealed: The run is not intact under a seal" in text
    assert text.endswith("Not sound: of 1 run, 1 is not sealed as required (exit 1).\n")


def test_problems_of_one_run_are_bounded() -> None:
    problems = [Problem(f"results.ndjson:{line}", "metric", "no such metric") for line in range(1, 12_396)]
    text = shown(report(verified("a", *problems)))
    assert text.count("no such metric") == PROBLEMS
    assert f"… and {12_395 - PROBLEMS:,} more (--json lists all)" in text
    assert "1 is invalid" in text


def test_runs_are_bounded_and_the_unsound_ones_kept() -> None:
    sound = [verified(f"runs/{number:05}", run_hash=f"{number:064}") for number in range(5 * RUNS)]
    text = shown(report(*sound, verified("runs/last", DIGEST), paths=("runs",)))
    assert "\nlast  " in text
    assert f"… and {4 * RUNS + 1:,} runs more (--json lists all)" in text
    assert len(text.splitlines()) < 3 * RUNS + 1100


def test_details_of_runs_are_bounded() -> None:
    found = report(*(verified(f"runs/{number:05}", DIGEST, run_hash="ab" * 32) for number in range(RUNS + 3)))
    assert "… and 3 runs more with 3 problems (--json lists all)" in shown(found)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (report(verified()), "Sound: 1 run, 1 intact (unsigned) (exit 0)."),
        (
            report(verified("a", signed_by=("x",)), verified("b"), verified("c", outcome="unsealed")),
            "Sound: 3 runs, 2 intact (1 signed, 1 unsigned), 1 unsealed (exit 0).",
        ),
        (
            report(verified("a", GONE, signed_by=("x",), anchored=True)),
            "Sound: 1 run, 1 intact (signed), 1 anchored, 1 blob withheld (exit 0).",
        ),
        (
            report(verified("a", DIGEST), Unverified("b", UNREADABLE, "gone")),
            "Not answered in full: of 2 runs, 1 could not be read, 1 is invalid (exit 2).",
        ),
        (
            report(Unverified("b", NOT_VERIFIED, "KeyError: 1")),
            "Not answered in full: of 1 run, the verifier failed on 1 (exit 1).",
        ),
        (
            report(verified("a", DIGEST), verified("b"), policy=True, required=("signed",)),
            "Not sound: of 2 runs, 1 is invalid, 1 is not signed as required (exit 1).",
        ),
        (
            report(Unverified("a", UNREADABLE, "gone"), verified("b"), policy=True, required=("signed",)),
            "Not answered in full: of 2 runs, 1 could not be read, 1 is not signed as required (exit 2).",
        ),
        (
            report(verified(), required=("linked",)),
            "Not sound: of 1 run, there is no pair, and linked is required (exit 1).",
        ),
        (
            report(verified(), required=("linked",), pairs=lambda: ([PairReport("p", NORMAL_ONLY, None, None)], ())),
            "Not sound: of 1 run, 1 pair is not linked as required (exit 1).",
        ),
        (
            report(verified("a", overlays=[UNCOVERED]), verified("b", run_hash="cd" * 32)),
            "Not sound: of 2 runs, 1 has problems in the overlays, 1 runId names different runs (exit 1).",
        ),
    ],
)
def test_the_last_line_says_the_verdict_and_the_exit_code(found: EvidenceReport, sentence: str) -> None:
    assert shown(found).splitlines()[-1] == sentence


@pytest.mark.parametrize("width", [50, 100, 1000])
@pytest.mark.parametrize("found", hostile_reports())
def test_no_text_steers_a_terminal_or_is_taken_for_markup(found: EvidenceReport, width: int) -> None:
    parts: list[RenderableType] = list(evidence_text(found))
    text = text_of(parts, width)
    assert "".join(text.splitlines()) == escaped("".join(text.split("\n")))
    assert "[red]" in text


def test_verdicts_of_a_cache_are_marked() -> None:
    entries = [run_entry(verified("runs/a")), run_entry(verified("runs/b", DIGEST)), run_entry(verified("runs/c"))]
    text = shown(report(*(replace(entry, cached=place < 2) for place, entry in enumerate(entries))))
    assert [row[3] for row in rows(text)[1:]] == ["intact (unsigned), cached", "invalid, cached", "intact (unsigned)"]
    assert "cached: 2 of 3 runs did not change since an earlier pass read them" in text
    assert text.endswith("Not sound: of 3 runs (2 cached), 1 is invalid (exit 1).\n")


def test_a_run_that_the_cache_was_wrong_about_is_listed() -> None:
    entry = run_entry(verified("runs/a"))
    text = shown(report(replace(entry, disagreed=True)), 400)
    assert f"runs/a  intact (unsigned)  runId run-0001\n  {DISAGREED}\n" in text
    assert "The cache" not in shown(report(entry))
