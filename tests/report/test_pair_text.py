"""Pairs and comparisons for people and programs: bounded, and no text in them can steer a terminal [SIG-7]."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import aef_verify
from aef_verify.memory.compare import Axis, Side, SuiteComparison
from aef_verify.memory.pair import INVALID, LINKED, LINKED_UNSEALED, NORMAL_ONLY, PairReport
from aef_verify.memory.pair_arm import Arm, Entries, Fields, Judge
from aef_verify.memory.pair_definition import ABSENT
from aef_verify.memory.pair_lines import Lines
from aef_verify.problems import Problem
from aef_verify.report.compare_text import comparison_text, comparison_value
from aef_verify.report.escape import well_formed_value
from aef_verify.report.json import as_json, pair_json
from aef_verify.report.model import EvidenceReport, PairNote
from aef_verify.report.pair_text import NOTES, PAIRS, pair_text
from aef_verify.report.text import evidence_text
from aef_verify.run.members import Named
from tests.report.reports import HASH, HOSTILE, text_of, verified
from tests.report.reports import report as report_of

SCHEMA = json.loads((Path(aef_verify.__file__).parent / "schemas" / "report" / "verify-report.schema.json").read_text())
FIELDS = Fields("p", "normal", f"sha256:{HASH}", 4, 4, 3, 9, True, False, 200 / 3, None, None)


def arm(role: str = "normal", text: str = "x", **members: Any) -> Arm:
    usual = Arm(
        path=f"runs/{text}",
        run_id=text,
        outcome="intact",
        run_hash=HASH,
        signed_by=None,
        status="completed",
        started_at=None,
        ended_at=None,
        target_mode=text,
        producer=Named(text, text),
        subject=Named(text, text),
        suite=Named(text, text),
        suite_digest=f"sha256:{HASH}",
        judges=(Judge(text, text, text),),
        pair_id="p",
        role=role,
        fields=FIELDS._replace(role=role),
        refused="",
        decisions=(),
        decided=0,
        entries=Entries(0, frozenset(), None),
        definition=ABSENT,
        lines=Lines.none(),
    )
    return usual._replace(**members)


def pair(outcome: str = LINKED, *problems: Problem, **members: Any) -> PairReport:
    given: dict[str, Any] = {"normal": arm(), "oracle": arm("oracle")} | members
    return PairReport("p", outcome, given.pop("normal"), given.pop("oracle"), problems, **given)


def shown(found: PairReport, width: int = 200) -> str:
    return text_of(pair_text(found), width)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (pair(), "Pair p  linked (unsigned)\n"),
        (pair(), "Linked shows that the runs are consistent, not who made them."),
        (pair(normal=arm(signed_by=("a",)), oracle=arm("oracle", signed_by=())), "Pair p  linked (not both signed)\n"),
        (pair(normal=arm(signed_by=("a",)), oracle=arm("oracle", signed_by=("a", "b"))), "linked, both signed by a\n"),
        (pair(LINKED_UNSEALED), "Neither run is sealed, so this proves nothing"),
        (pair(NORMAL_ONLY, oracle=None), "A normal arm without an oracle"),
        (pair(INVALID, Problem("pair:p", "pair-link", "why", "00")), '  pair:p  pair-link\n    why; written: "00"\n'),
        (pair(notes=("it is open",)), "Not decided: it is open"),
        (pair(others=("runs/copy",)), "Also of this pair: runs/copy"),
        (pair(), "4 planned, 4 observed, 3 scored"),
        (pair(), "66.67 % of 3 scored"),
        (pair(normal=arm(fields=None)), "Pair p  linked"),
        (pair(normal=None, oracle=None), "Pair p  linked"),
        (pair(), "Whether the arms scored the same questions is not known: their runs do not name them."),
    ],
)
def test_what_is_said(found: PairReport, said: str) -> None:
    assert said in shown(found)


def test_a_pairs_id_is_shown_whole() -> None:
    found = replace(pair(), pair_id="x" * 127 + "y")
    assert f"{'x' * 127}y" in shown(found)


def test_a_number_that_is_not_stated_is_no_number() -> None:
    interrupted = FIELDS._replace(scored=None, accuracy=None, calls=None, complete=False)
    assert "4 planned, 4 observed, scored not stated" in shown(pair(normal=arm(status="aborted", fields=interrupted)))


def test_an_oracle_of_the_agents_own_name_is_pointed_at() -> None:
    """docs/MEMORY_PAIR.md §2: no rule about the agent may read an oracle score."""
    said = "Both runs name one subject, so that a rule about it could read the oracle's score."
    assert said in shown(pair())
    assert said not in shown(pair(oracle=arm("oracle", subject=Named("agent:reader", None))))
    assert said not in shown(
        pair(normal=arm(subject=Named(None, None)), oracle=arm("oracle", subject=Named(None, "1")))
    )


def test_a_comparison_says_that_nobody_is_known_to_have_signed() -> None:
    """[SIG-7]: intact never stands alone."""
    sides = (Side("a", "intact", "r1", None), Side("b", "unsealed", "r2", None))
    lines = text_of(comparison_text(SuiteComparison("same", *sides, (), None, ())), 100).splitlines()
    assert lines[2].split("  ")[:1] == ["outcome"]
    assert "intact (unsigned)" in lines[2]


def with_pairs(*pairs: PairReport) -> EvidenceReport:
    return replace(report_of(verified()), pairs=pairs, pair_notes=(PairNote(HOSTILE, "running"),))


def hostile() -> PairReport:
    problem = Problem(f"run:{HOSTILE}", "pair-schema", HOSTILE, HOSTILE)
    bad = arm("oracle", HOSTILE, outcome="invalid", status=HOSTILE, fields=None, signed_by=(HOSTILE,))
    first = arm(text=HOSTILE, signed_by=(HOSTILE,))
    return PairReport(HOSTILE, INVALID, first, bad, (problem,), (HOSTILE,), (HOSTILE,))


def is_plain(text: str) -> bool:
    return all(character == "\n" or character.isprintable() for character in text)


@pytest.mark.parametrize("width", [40, 200])
def test_hostile_text_is_spelled_out(width: int) -> None:
    report = with_pairs(hostile(), pair())
    assert is_plain(text_of(evidence_text(report), width))
    side = Side(HOSTILE, "invalid", HOSTILE, None)
    axes = (Axis("suite", True, [HOSTILE, HOSTILE], None, "different"), Axis("subject", False, HOSTILE, [None], "same"))
    compared = SuiteComparison("different", side, side, axes, (HOSTILE,), (HOSTILE,))
    assert is_plain(text_of(comparison_text(compared), width))
    assert json.dumps(well_formed_value(comparison_value(compared))).isascii()


def test_json_of_hostile_pairs_is_valid() -> None:
    report = with_pairs(hostile(), pair())
    text = as_json(report)
    assert text.isascii()
    found = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert json.loads(pair_json(hostile())) == found["pairs"][0]


def test_what_is_long_is_bounded() -> None:
    many = tuple(f"n{at}" for at in range(10 * NOTES))
    problems = [Problem(f"run:{at}", "pair-counts", "x" * 5000) for at in range(2000)]
    text = shown(pair(INVALID, *problems, notes=many))
    assert len(text) < 60_000
    assert "more (--json lists all)" in text
    report = replace(with_pairs(*[pair()] * (PAIRS + 5)), pair_notes=(PairNote("a", "running"),) * (NOTES + 3))
    text = text_of(evidence_text(report))
    assert "… and 5 pairs more (--json lists all)" in text
    assert "… and 3 runs more (--json lists all)" in text
