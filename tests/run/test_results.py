"""[RES-1] to [RES-11] The result tree: ids, parents, composites, and what one line says of itself.

Beside the rows of `test_codes.py`: the readings of two lines with one id, numbers written as `2.0`, and what is
descriptive and never judged [RES-6], [RES-7], [RES-9], [RES-11].
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.results import id_bytes, result_id
from aef_verify.run.verify import verify_run
from tests import building
from tests.building import Json, aggregation, child, compact, lines, pairs, put, result

RESULTS = "results.ndjson"


def found(root: Path, *given: Json, closed: bool = True) -> list[tuple[int, str]]:
    """Return (line, code) of the problems of these lines."""
    run = building.bare().but(lines(*given))
    if not closed:
        run.but(put("run.json", "status", "running"), building.drop("run.json", "endedAt"))
    problems = pairs(verify_run(run.write(root)).problems)
    assert all(path.startswith(f"{RESULTS}:") for path, _ in problems)
    return [(int(path.rpartition(":")[2]), code) for path, code in problems]


ABSENT = ("not_measured", "not_applicable", "skipped", "error", "pending")
STATES = ("passed", "failed", "warn", "inconclusive", "scored", *ABSENT)


@pytest.mark.parametrize("state", STATES)
def test_res1_res2_a_typed_absence_has_a_reason_and_no_score(state: str, tmp_path: Path) -> None:
    """Ten states, closed [VER-9]; another state needs no reason and may have scores."""
    line = result("c1", state=state)
    bare = {name: value for name, value in line.items() if name != "reason"}
    scored = line | {"scores": [building.score(0)]}
    expected = [(1, "schema")] if state in ABSENT else []
    assert found(tmp_path / "right", line, closed=False) == []
    assert found(tmp_path / "bare", bare, closed=False) == expected
    assert found(tmp_path / "scored", scored, closed=False) == expected
    assert found(tmp_path / "empty", line | {"scores": []}, closed=False) == expected


@pytest.mark.parametrize("state", ["Passed", "ok", "", None, 1, ["passed"]])
def test_res1_there_is_no_other_state(state: Any, tmp_path: Path) -> None:
    assert found(tmp_path, result("c1") | {"state": state}) == [(1, "schema")]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("run-1", "case", "path", None), "run-1\x1fcase\x1fpath\x1f"),
        (("run-1", "case", "path", 0), "run-1\x1fcase\x1fpath\x1f0"),
        (("run-1", "case", "path", 999), "run-1\x1fcase\x1fpath\x1f999"),
        (("r", "Fall ü", "質問/😀", 12), "r\x1fFall ü\x1f質問/😀\x1f12"),
        (("r", "e\u0301", "\u2028", None), "r\x1fe\u0301\x1f\u2028\x1f"),
    ],
)
def test_res4_an_id_is_the_hash_of_what_names_the_line(parts: tuple[str, str, str, int | None], expected: str) -> None:
    assert result_id(*parts) == "r_" + building.sha256(expected.encode())[:32]
    assert id_bytes(result_id(*parts)).hex() == building.sha256(expected.encode())[:32]


def test_res4_a_trial_is_written_in_plain_digits_whatever_its_form_on_the_line(tmp_path: Path) -> None:
    """[ENC-4]: `2.0` and `2e0` are the integer 2, here and in every count."""
    facts = {"n": 3.0, "passed": 3e0, "aggregation": "AnyPass", "agree": True}
    trials = [result("c1", trial=0), result("c1", trial=1), result("c1", trial=2) | {"trial": 2.0}]
    assert found(tmp_path, *trials, result("c1", trials=facts)) == []


@pytest.mark.parametrize(
    "written", ["r_" + "0" * 32, building.result_id("c1", "QA"), building.result_id("c1", run_id="")]
)
def test_res4_another_id_is_reported_at_its_line_alone(written: str, tmp_path: Path) -> None:
    assert found(tmp_path, result("c1", resultId=written), result("c2")) == [(1, "result-id")]


def test_res4_a_member_that_reads_as_absent_has_no_part_in_the_id(tmp_path: Path) -> None:
    """A line without a trial is not the line of trial 0."""
    assert found(tmp_path, result("c1", trial=0, resultId=building.result_id("c1")), closed=False) == [(1, "result-id")]


def test_res5_children_may_come_before_their_parent(tmp_path: Path) -> None:
    tree = [
        child("c1", "x", below="qa/a"),
        child("c1", "a", aggregation=aggregation(1)),
        child("c1", "b"),
        result("c1", aggregation=aggregation(2)),
    ]
    assert found(tmp_path, *tree) == []


def test_res5_a_deep_tree(tmp_path: Path) -> None:
    """Four hundred nodes below each other, from the leaf up."""
    paths = ["qa" + "/x" * level for level in range(400)]
    tree = [result("c1", "qa", aggregation=aggregation(1))]
    for above, path in pairwise(paths):
        last = path == paths[-1]
        line = child("c1", "x", below=above) | ({} if last else {"aggregation": aggregation(1)})
        tree.append(line)
    assert found(tmp_path, *reversed(tree)) == []


@pytest.mark.parametrize("state", ABSENT)
def test_res6_measured_and_each_typed_absence_add_up_to_total(state: str, tmp_path: Path) -> None:
    def judged(name: str, **unmeasured: int) -> list[tuple[int, str]]:
        tree = [result("c1", aggregation=aggregation(1, 0, unmeasured=unmeasured)), child("c1", "a", state=state)]
        return found(tmp_path / name, *tree, closed=False)

    assert judged("all", **{state: 1}) == []
    assert judged("none") == [(1, "aggregation")]
    assert judged("more", **{state: 2}) == [(1, "aggregation")]
    assert judged("unknown", novel=1) == [(1, "aggregation")]


def test_res6_total_counts_distinct_ids(tmp_path: Path) -> None:
    """A child given twice is one child; the second line's id is at fault, not its parent."""
    tree = [result("c1", aggregation=aggregation(1)), child("c1", "a"), child("c1", "a")]
    assert found(tmp_path, *tree) == [(3, "result-id")]


def test_res6_a_line_may_be_its_own_parent_and_no_crash(tmp_path: Path) -> None:
    """Nothing forbids a circle but the ids: both lines are children, and composites."""
    own = result("c1", parentResultId=building.result_id("c1"), component={"weight": 1, "required": True})
    assert found(tmp_path / "own", own | {"aggregation": aggregation(1)}) == []
    above, below = building.result_id("c1", "a"), building.result_id("c1", "b")
    part: Json = {"component": {"weight": 1, "required": True}, "aggregation": aggregation(1)}
    circle = [result("c1", "a", parentResultId=below, **part), result("c1", "b", parentResultId=above, **part)]
    assert found(tmp_path / "circle", *circle) == []


def test_res6_a_decisive_id_is_a_child_and_not_a_grandchild(tmp_path: Path) -> None:
    tree = [
        result("c1", aggregation=aggregation(1, decisive=[building.result_id("c1", "qa/a/x")])),
        child("c1", "a", aggregation=aggregation(1, decisive=[building.result_id("c1", "qa/a/x")])),
        child("c1", "x", below="qa/a"),
    ]
    assert found(tmp_path, *tree) == [(1, "aggregation")]


def test_res6_states_are_never_recomputed(tmp_path: Path) -> None:
    """Strategy, rule path, threshold and score are shown, not judged; unknown ones too [VER-8]."""
    facts = aggregation(1, strategy="Novel", rulePath="novel", threshold=0.9, score=0.1)
    tree = [result("c1", aggregation=facts), child("c1", "a", state="failed", severity="critical")]
    assert found(tmp_path, *tree) == []


def test_res7_res9_res11_facts_that_no_rule_judges(tmp_path: Path) -> None:
    """A rule's text is not evaluated, a failure may lack its severity, evaluators may repeat or differ."""
    line = result("c1", state="failed", verdictRule={"expr": "__import__('os').abort()", "threshold": None})
    other = result("c2", state="warn", evaluator={"id": "code:check", "version": "2"}, severity="unheard")
    assert found(tmp_path, line, other) == []


def test_two_lines_with_one_id_the_last_is_the_parent(tmp_path: Path) -> None:
    """The reading: its `caseId` is the children's; `aggregation` is judged at both; `result-id` at the later."""
    first = result("c1", aggregation=aggregation(1))
    second = result("c2", resultId=building.result_id("c1"))
    below = child("c1", "a")
    assert found(tmp_path / "1", first, second, below) == [(2, "aggregation"), (2, "result-id"), (3, "parent")]
    assert found(tmp_path / "2", second, first, below) == [(1, "aggregation"), (1, "result-id"), (2, "result-id")]


def test_two_lines_with_one_id_the_last_ones_trial_counts(tmp_path: Path) -> None:
    with_trial = result("c1", trial=0, aggregation=aggregation(1))
    without = result("c1", resultId=with_trial["resultId"], aggregation=aggregation(1))
    below = child("c1", "a", trial=0)
    assert (3, "trials") in found(tmp_path / "1", with_trial, without, below, closed=False)
    assert (3, "trials") not in found(tmp_path / "2", without, with_trial, below, closed=False)


def test_res3_a_running_run_may_hold_pending_lines_of_any_kind(tmp_path: Path) -> None:
    assert found(tmp_path / "open", result("c1", state="pending"), closed=False) == []
    assert found(tmp_path / "closed", result("c1", state="pending"), result("c2", state="error")) == [(1, "pending")]


def test_res10_panels_times_and_usage_at_their_edges(tmp_path: Path) -> None:
    start, end = "2026-10-02T14:00:00.000000001Z", "2026-10-02T14:00:00Z"
    given = [
        result("c1", annotator={"kind": "LLM", "panel": {"agree": 2.0, "of": 2}}),
        result("c2", startedAt=start, endedAt=end),
        result("c3", startedAt=end, endedAt=start),
        result("c4", startedAt=start),
        result("c5", usage=[{"role": "novel"}, {"role": "other"}]),
        result("c6", usage=[{"role": "novel"}, {"role": "novel", "model": "novel"}]),
        result("c7", usage=[{"role": "novel", "model": "é"}, {"role": "novel", "model": "e\u0301"}]),
        result("c8", usage=[{"role": "novel"}, {"role": "novel"}]),
    ]
    assert found(tmp_path, *given) == [(2, "result-times"), (8, "result-times")]


def test_enc4_an_interval_is_compared_as_binary64(tmp_path: Path) -> None:
    """Two integers one apart beyond 2**53 are one number, however they are written."""

    def interval(low: float, high: float) -> Json:
        return {"uncertainty": {"ci": {"low": low, "high": high, "level": 0.5}}}

    given = [
        result("c1", **interval(9007199254740993, 9007199254740992.0)),
        result("c2", **interval(9007199254740993, 9007199254740992)),
        result("c3", **interval(9007199254740994, 9007199254740992)),
        result("c4", **interval(-0.0, 0)),
        result("c5", **interval(0, -0.0)),
        result("c6", **interval(5e-324, 0)),
    ]
    assert found(tmp_path, *given) == [(3, "interval"), (6, "interval")]


def test_one_line_may_break_many_rules(tmp_path: Path) -> None:
    """Ordered by code; each once."""
    line = result(
        "c1",
        resultId=building.result_id("c9"),
        parentResultId=building.result_id("c8"),
        aggregation=aggregation(1),
        annotator={"kind": "LLM", "panel": {"agree": 2, "of": 1}},
        attack={"technique": "t", "success": True},
        evidence=["E-1"],
        reasoning={"blob": "sha256:" + "0" * 64, "bytes": 1},
        scores=[building.score(1, "unheard")],
        uncertainty={"ci": {"low": 1, "high": 0, "level": 0.5}},
        usage=[{"role": "agent"}, {"role": "agent"}],
    )
    codes = ["aggregation", "annotator", "attack", "blob", "component", "evidence", "interval", "metric", "parent"]
    assert found(tmp_path, line) == [(1, code) for code in [*codes, "result-id", "result-times"]]


def test_a_late_line_that_does_not_read_voids_what_the_early_ones_gave(tmp_path: Path) -> None:
    wrong = compact(result("c1", resultId=building.result_id("c9")))
    run = building.bare().but(put(RESULTS, wrong * 1000 + b"{}\n"))
    assert pairs(verify_run(run.write(tmp_path)).problems) == [[f"{RESULTS}:1001", "schema"]]
