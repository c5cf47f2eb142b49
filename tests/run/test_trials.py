"""[RES-8] Repeated trials: rollups, trees of trials, and the tree of their rollups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.verify import verify_run
from tests import building
from tests.building import Json, aggregation, child, lines, pairs, put, result, result_id, rollup

RESULTS = "results.ndjson"


def found(root: Path, *given: Json, closed: bool = True) -> list[tuple[int, str]]:
    """Return (line, code) of the problems of these lines."""
    run = building.bare().but(lines(*given))
    if not closed:
        run.but(put("run.json", "status", "running"), building.drop("run.json", "endedAt"))
    problems = pairs(verify_run(run.write(root)).problems)
    return [(int(path.rpartition(":")[2]), code) for path, code in problems]


def trial(case: str, number: int, path: str = "qa", **members: Any) -> Json:
    return result(case, path, trial=number, **members)


def part(below: str, case: str = "c1", number: int | None = None) -> Json:
    """State the members that put a line below another one."""
    return {"parentResultId": result_id(case, below, number), "component": {"weight": 1, "required": True}}


def of(passed: int, n: int, *, agree: bool = True, **members: Any) -> Json:
    """State the members that make a line a rollup."""
    return {"trials": {"n": n, "passed": passed, "aggregation": "AllPass", "agree": agree}, **members}


def tree(number: int, *names: str) -> list[Json]:
    """State one trial of c1 at `qa` with a child for each name."""
    parent = trial("c1", number, aggregation=aggregation(len(names)))
    return [parent, *(child("c1", name, trial=number) for name in names)]


TREE = [*tree(0, "a", "b"), *tree(1, "a", "b")]
ROLLUPS = [
    result("c1", aggregation=aggregation(2), **of(2, 2)),
    child("c1", "a", **of(2, 2)),
    child("c1", "b", **of(2, 2)),
]


def test_a_composite_run_twice_has_a_rollup_at_each_path(tmp_path: Path) -> None:
    assert found(tmp_path / "1", *TREE, *ROLLUPS) == []
    assert found(tmp_path / "2", *reversed([*TREE, *ROLLUPS])) == []


@pytest.mark.parametrize(
    ("states", "passed", "agree"),
    [
        (["passed"], 1, True),
        (["passed", "passed"], 2, True),
        (["failed", "failed"], 0, True),
        (["passed", "failed"], 1, False),
        (["failed", "warn"], 0, False),
        (["error", "error"], 0, True),
        (["error", "skipped"], 0, False),
        (["passed", "passed", "failed", "passed"], 3, False),
        (["failed", "passed", "passed"], 2, False),
    ],
)
def test_n_passed_and_agree_are_what_the_trials_give(
    states: list[str], passed: int, agree: bool, tmp_path: Path
) -> None:
    """`agree` is true exactly when all are in one state, whichever that is."""
    given = [trial("c1", number, state=state) for number, state in enumerate(states)]
    n = len(states)
    assert found(tmp_path / "as", *given, rollup("c1", n=n, passed=passed, agree=agree)) == []
    wrong = [(n + 1, passed, agree), (n, passed + 1, agree), (n, passed, not agree)]
    if n > 1:
        wrong.append((n - 1, passed, agree))
    for at, facts in enumerate(wrong):
        line = rollup("c1", n=facts[0], passed=facts[1], agree=facts[2])
        assert found(tmp_path / str(at), *given, line) == [(n + 1, "trials")]


def test_the_aggregation_of_a_rollup_is_descriptive(tmp_path: Path) -> None:
    """[RES-6]; its own state too: a rollup of failures may be passed, and a flaky one anything."""
    facts = {"n": 2, "passed": 0, "aggregation": "Novel", "agree": True, "k": 5}
    given = [trial("c1", 0, state="failed"), trial("c1", 1, state="failed"), result("c1", trials=facts)]
    assert found(tmp_path, *given) == []


def test_trial_numbers_may_have_gaps(tmp_path: Path) -> None:
    """Only the number of lines counts."""
    assert found(tmp_path, trial("c1", 3), trial("c1", 999), rollup("c1", n=2, passed=2, agree=True)) == []


def test_a_trial_without_its_rollup_is_at_each_line_of_a_closed_run(tmp_path: Path) -> None:
    given = [trial("c1", 0), trial("c2", 0), rollup("c2", n=1, passed=1, agree=True), trial("c1", 1)]
    assert found(tmp_path / "closed", *given) == [(1, "trials"), (4, "trials")]
    assert found(tmp_path / "open", *given, closed=False) == []


def test_a_rollup_of_a_running_run_still_says_what_its_trials_say(tmp_path: Path) -> None:
    given = [trial("c1", 0), rollup("c1", n=2, passed=1, agree=True)]
    assert found(tmp_path, *given, closed=False) == [(2, "trials")]


def test_a_line_without_trials_is_no_rollup(tmp_path: Path) -> None:
    assert found(tmp_path, trial("c1", 0), result("c1")) == [(1, "trials")]


def test_a_rollup_counts_its_own_case_and_path_alone(tmp_path: Path) -> None:
    given = [
        trial("c1", 0),
        trial("c1", 0, "QA"),
        trial("C1", 0),
        rollup("c1", n=1, passed=1, agree=True),
        rollup("C1", n=1, passed=1, agree=True),
        rollup("c1", "QA", n=1, passed=1, agree=True),
    ]
    assert found(tmp_path, *given) == []


def test_two_rollups_the_first_counts_and_the_later_is_at_fault(tmp_path: Path) -> None:
    """The reading: whatever the later one says; a child rollup must name the first."""
    wrong = rollup("c1", n=9, passed=0, agree=False)
    right = rollup("c1", n=1, passed=1, agree=True)
    assert found(tmp_path / "1", trial("c1", 0), right, wrong) == [(3, "result-id"), (3, "trials")]
    assert found(tmp_path / "2", trial("c1", 0), wrong, right) == [(2, "trials"), (3, "result-id"), (3, "trials")]
    other = dict(right, resultId=result_id("c9"))
    given = [*tree(0, "a"), result("c1", aggregation=aggregation(1), **of(1, 1)), other]
    below = child("c1", "a", **of(1, 1))
    assert found(tmp_path / "3", *given, below) == [(4, "result-id"), (4, "trials")]
    below = dict(below, parentResultId=result_id("c9"))
    assert found(tmp_path / "4", *given, below) == [
        (3, "aggregation"),
        (4, "aggregation"),
        (4, "result-id"),
        (4, "trials"),
        (5, "trials"),
    ]


def test_a_line_below_a_trial_carries_it_too(tmp_path: Path) -> None:
    """At the child: another trial, none, or one below a line that has none."""
    above = trial("c1", 0, aggregation=aggregation(1))
    roll = result("c1", **of(1, 1))
    for at, (number, codes) in enumerate(
        [
            (0, [(2, "trials")]),
            (1, [(2, "trials")]),
            (None, [(2, "trials")]),
        ]
    ):
        below = result("c1", "qa/a", trial=number, **part("qa", number=0))
        problems = found(tmp_path / str(at), above, below, roll, closed=number is not None)
        assert problems == codes
    plain = result("c1", aggregation=aggregation(1))
    below = result("c1", "qa/a", trial=0, **part("qa"))
    assert found(tmp_path / "plain", plain, below, closed=False) == [(2, "trials")]


def test_a_trial_child_of_its_own_trial_needs_only_its_rollup(tmp_path: Path) -> None:
    above, below = tree(0, "a")
    roots = [result("c1", aggregation=aggregation(1), **of(1, 1)), child("c1", "a", **of(1, 1))]
    assert found(tmp_path, above, below, *roots) == []


def test_the_parent_of_a_rollup_is_the_rollup_at_its_trials_parents_path(tmp_path: Path) -> None:
    flat = result("c1", "qa/a", **of(2, 2))
    root = result("c1", aggregation=aggregation(1), **of(2, 2))
    assert found(tmp_path / "root", *TREE, root, flat, ROLLUPS[2]) == [(8, "trials")]
    lone = [trial("c1", 0, "q/x"), result("c1", "q/x", **of(1, 1))]
    assert found(tmp_path / "spelling", *lone) == []
    below = result("c1", "q/x", **of(1, 1), **part("qa"))
    above = result("c1", aggregation=aggregation(1))
    assert found(tmp_path / "roots", trial("c1", 0, "q/x"), above, below) == [(3, "trials")]


def test_a_rollup_may_stand_under_anything_where_the_case_has_no_rollup_above(tmp_path: Path) -> None:
    """Then the trial lines above lack one, and that is what a closed run reports."""
    given = [*tree(0, "a"), result("c1", "qa/a", **of(1, 1))]
    assert found(tmp_path / "closed", *given) == [(1, "trials")]
    assert found(tmp_path / "open", *given, closed=False) == []


def test_trials_whose_parents_are_at_several_paths_or_roots_and_not(tmp_path: Path) -> None:
    """At the rollup; its own parent no longer matters."""
    tops = [trial("c1", 0, "p", aggregation=aggregation(1)), trial("c1", 1, "q", aggregation=aggregation(1))]
    rolls = [result("c1", "p", **of(1, 1)), result("c1", "q", **of(1, 1))]
    two = [
        result("c1", "x", trial=0, **part("p", number=0)),
        result("c1", "x", trial=1, **part("q", number=1)),
    ]
    assert found(tmp_path / "paths", *tops, *rolls, *two, result("c1", "x", **of(2, 2))) == [(7, "trials")]
    mixed = [tops[0], rolls[0], two[0], trial("c1", 1, "x"), result("c1", "x", **of(2, 2))]
    assert found(tmp_path / "roots", *mixed) == [(5, "trials")]


def test_a_trial_line_whose_parent_is_no_line_counts_as_a_root(tmp_path: Path) -> None:
    """The reading: `parent` at it alone; its rollup is then one of roots."""
    lost = result("c1", "x", trial=0, **part("nowhere", number=0))
    alone = [lost, result("c1", "x", **of(1, 1))]
    assert found(tmp_path / "root", *alone) == [(1, "parent")]
    above = result("c1", aggregation=aggregation(1))
    below = result("c1", "x", **of(1, 1), **part("qa"))
    assert found(tmp_path / "child", lost, above, below) == [(1, "parent"), (3, "trials")]
    tops = [trial("c1", 1, "p", aggregation=aggregation(1)), result("c1", "p", **of(1, 1))]
    other = result("c1", "x", trial=1, **part("p", number=1))
    mixed = [lost, *tops, other, result("c1", "x", **of(2, 2))]
    assert found(tmp_path / "mixed", *mixed) == [(1, "parent"), (5, "trials")]


def test_a_pending_trial_in_a_running_run(tmp_path: Path) -> None:
    given = [trial("c1", 0), trial("c1", 1, state="pending"), rollup("c1", n=2, passed=1, agree=False, state="pending")]
    assert found(tmp_path, *given, closed=False) == []
