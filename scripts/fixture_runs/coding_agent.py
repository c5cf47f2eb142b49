"""A coding agent that tries every repair three times: trial trees, rollups, flaky cases; sealed, anchored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.fixture_runs.building import Document, Entry, Metric, RunBuilder, sha256_uri, usage

SEALED_AT = "2026-09-30T22:05:00Z"
NEEDED = 2
"""How many of a case's trials must pass."""

HEADER: Document = {
    "runId": "repairs-2026-09-30-n1",
    "status": "completed",
    "producer": {"name": "evalbench", "version": "3.4.1"},
    "subject": {"ref": "agent:patch-writer", "kind": "agent", "version": "0.12.3"},
    "execution": {"targetMode": "live", "stimulus": "suite"},
    "suite": {
        "ref": "suite:repairs",
        "version": "7",
        "digest": sha256_uri("repairs, version 7: four defects\n"),
        "frozen": True,
        "executionPolicy": {"trialsPerCase": 3, "requirePasses": NEEDED, "aggregation": "AtLeast"},
    },
    "startedAt": "2026-09-30T20:11:00Z",
    "endedAt": "2026-09-30T22:04:31Z",
    "contentCapture": "off",
}

METRICS = (Metric("repaired", "rate", "higher_better", (0, 1), "Share of defects repaired in two of three trials."),)

TRIALS = {
    "off-by-one": ("passed", "passed", "passed"),
    "lost-update": ("passed", "failed", "passed"),
    "time-zone": ("failed", "failed", "passed"),
    "utf-8-split": ("failed", "failed", "failed"),
}
"""What the hidden tests said in each trial; the change stayed small in all of them."""

TESTS, CHANGE = "repair/tests", "repair/small-change"
EVALUATORS = {
    "repair": {"id": "composite:repair", "version": "1"},
    TESTS: {"id": "code:hidden-tests", "version": "1"},
    CHANGE: {"id": "code:lines-changed", "version": "1"},
}
WEIGHTS = {TESTS: (0.8, True), CHANGE: (0.2, False)}


def coding_agent(trials: Mapping[str, Sequence[str]] = TRIALS, *, hidden: str | None = None) -> RunBuilder:
    """Build the run; `hidden` names a case whose rollup says that every trial passed, whatever the trials say."""
    run = RunBuilder(HEADER, METRICS)
    for case, tests in trials.items():
        for trial, state in enumerate(tests):
            _tree(run, case, state, trial=trial)
        _rollup(run, case, ["passed"] * len(tests) if case == hidden else tests)
    run.summarize(
        {"repairs": (Entry("repaired", "repair", "at least half of the defects", least=0.5),)},
        cost_source="price table 2026-09",
    )
    return run


def _tree(run: RunBuilder, case: str, tests: str, *, trial: int) -> None:
    """Add a trial: the repair, what its tests said, and that the change is small."""
    failed = tests == "failed"
    facts: dict[str, Any] = {
        "reason": "A hidden test fails." if failed else None,
        "severity": "high" if failed else None,
        "usage": [usage("agent", "coder-2026-07", (41_000 + 900 * trial, 2_300), round(0.11 + 0.004 * trial, 3))],
        "durationMs": 182_400 + 7_150 * trial,
    }
    _node(run, case, "repair", tests, trial=trial, aggregation=_aggregation(run, case, tests, trial), **facts)
    _node(run, case, TESTS, tests, trial=trial)
    _node(run, case, CHANGE, "passed", trial=trial)


def _rollup(run: RunBuilder, case: str, states: Sequence[str]) -> None:
    """Add the case's result: the same tree, each node the rollup of its trials [RES-8]."""
    passed = states.count("passed")
    state = "passed" if passed >= NEEDED else "failed"
    facts: dict[str, Any] = {
        "reason": f"{passed} of {len(states)} trials passed." if state == "failed" else None,
        "severity": "high" if state == "failed" else None,
    }
    _node(run, case, "repair", state, trials=states, aggregation=_aggregation(run, case, state, None), **facts)
    _node(run, case, TESTS, state, trials=states)
    _node(run, case, CHANGE, "passed", trials=["passed"] * len(states))


def _aggregation(run: RunBuilder, case: str, state: str, trial: int | None) -> Document:
    return {
        "strategy": "CapByWorst",
        "rulePath": "threshold" if state == "passed" else "severity",
        "threshold": 0.8,
        "score": 1.0 if state == "passed" else 0.2,
        "measured": 2,
        "total": 2,
        "decisive": [run.result_id(case, TESTS, trial)],
    }


def _node(
    run: RunBuilder,
    case: str,
    path: str,
    state: str,
    *,
    trial: int | None = None,
    trials: Sequence[str] | None = None,
    **facts: Any,
) -> None:
    if trials is not None:
        facts["trials"] = {
            "n": len(trials),
            "passed": trials.count("passed"),
            "aggregation": "AtLeast",
            "agree": len(set(trials)) == 1,
        }
    run.result(
        case,
        path,
        state,
        trial=trial,
        parent=None if path == "repair" else run.result_id(case, "repair", trial),
        component=WEIGHTS.get(path),
        evaluator=EVALUATORS[path],
        **facts,
    )
