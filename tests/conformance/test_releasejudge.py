"""Judging decisions, plans and streams ([CONF-2], 09 §9.3): [CKP-7], [CKP-8], [DEC-1], [PLAN-7], [STRM-3], [STRM-4]."""

from __future__ import annotations

import pytest

from aef_verify.conformance.drive import Answer
from aef_verify.conformance.runner import FAILED, PASSED, judge_vector
from tests.conformance.small_corpus import FakeProgram, SmallCorpus

Value = dict[str, object]

NAMES = "checkpoint.json document.json plan.json runner.json events.ndjson runs/r/run.json policy.json envelope.json"
AT = "2026-01-01T00:00:00Z"
POLICY = ("--policy", "policy.json")
FILES = dict.fromkeys(NAMES.split(), b"{}")
VALID: Value = {"schema": "checkpoint", "writer": "valid", "reader": "valid", "problems": ["decision", "lanes"]}
REFUSED: Value = {"schema": "checkpoint", "writer": "invalid", "reader": "invalid"}
RESULT = {"status": "passed", "subjectVersion": "1", "oldestClosedAt": "2026-01-01T00:00:00Z"}
LANES: Value = {
    "checkpoint": "checkpoint.json",
    "runs": "runs",
    "lanes": [{"lane": "a", "result": RESULT}, {"lane": "b", "result": None}],
    "problems": [["lanes/b/runs/r", "run-missing"]],
}
LANES_GOT = {"lanes": LANES["lanes"], "problems": LANES["problems"], "anchors": []}
DECISION = {"outcome": "approved", "lanes": [], "reasons": ["outcome:approved"]}
STREAM: Value = {"plan": "plan.json", "problems": [["event:1", "first"]]}
CONFORM: Value = {"events": "events.ndjson", "plan": "plan.json", "runs": "runs", "problems": [["job", "over-cases"]]}


def lines(small: SmallCorpus, kind: str, expected: Value, got: object) -> list[str]:
    small.add("v", kind, FILES, expected)
    corpus, vector = small.vector("v")
    verdict = judge_vector(corpus, vector, lambda words: Answer(got))
    assert verdict.outcome == (FAILED if verdict.lines else PASSED)
    return list(verdict.lines)


@pytest.mark.parametrize(
    ("kind", "expected", "got"),
    [
        ("checkpoint", VALID, {name: VALID[name] for name in ("writer", "reader", "problems")}),
        ("checkpoint", REFUSED, {"writer": "invalid", "reader": "invalid", "problems": None}),
        ("lane", LANES, LANES_GOT),
        ("lane", LANES, {**LANES_GOT, "anchors": ["whatever"]}),
        ("lane", {**LANES, "anchors": []}, LANES_GOT),
        ("matching", {"matches": False}, {"matches": False}),
        ("stream", STREAM, {"problems": [["event:1", "first"]]}),
        ("plan-conformance", CONFORM, {"problems": [["job", "over-cases"]]}),
        (
            "plan",
            {"schema": "runner", "writer": "invalid", "reader": "valid", "reads": {"os": "other"}},
            {"writer": "invalid", "reader": "valid", "reads": {"os": "other", "kind": "ci"}},
        ),
    ],
)
def test_what_is_expected_passes(small: SmallCorpus, kind: str, expected: Value, got: Value) -> None:
    assert lines(small, kind, expected, got) == []


@pytest.mark.parametrize(
    ("kind", "expected", "got", "said"),
    [
        ("checkpoint", VALID, {"writer": "valid", "reader": "valid", "problems": ["lanes", "decision"]}, "problems[0]"),
        ("checkpoint", VALID, {"writer": "valid", "reader": "valid", "problems": None}, "problems: expected ["),
        ("checkpoint", VALID, {"writer": "valid", "reader": "valid"}, "problems: not printed"),
        ("checkpoint", VALID, {"writer": "invalid", "reader": "valid", "problems": VALID["problems"]}, "writer: "),
        ("checkpoint", REFUSED, {"writer": "invalid", "reader": "invalid", "problems": []}, "problems: expected null"),
        ("checkpoint", {**VALID, "problems": None}, {"writer": "valid", "reader": "valid", "problems": []}, "problems"),
        ("lane", LANES, {**LANES_GOT, "lanes": LANES_GOT["lanes"][::-1]}, "lanes[0].lane: "),  # type: ignore[index]
        ("lane", LANES, {"lanes": LANES["lanes"], "problems": []}, "problems: first difference"),
        ("lane", {**LANES, "anchors": ["h"]}, LANES_GOT, "anchors: 1 expected, got 0"),
        ("lane", {**LANES, "anchors": []}, {**LANES_GOT, "anchors": ["h"]}, "anchors: 0 expected, got 1"),
        ("matching", {"matches": False}, {"matches": 0}, "matches: expected false, got 0"),
        ("matching", {"matches": True}, {}, "matches: not printed"),
        ("stream", STREAM, {"problems": []}, "problems: first difference"),
        ("stream", STREAM, {}, "problems: expected a list"),
        ("plan-conformance", CONFORM, {"problems": []}, "problems: first difference"),
    ],
)
def test_anything_else_fails(small: SmallCorpus, kind: str, expected: Value, got: Value, said: str) -> None:
    assert any(line.startswith(said) for line in lines(small, kind, expected, got))


def test_a_checkpoint_that_is_read_states_its_problems(small: SmallCorpus) -> None:
    stated = {name: value for name, value in VALID.items() if name != "problems"}
    assert "no problems are stated" in lines(small, "checkpoint", stated, {"writer": "valid", "reader": "valid"})[0]


@pytest.mark.parametrize(
    ("vector", "got", "said"),
    [
        ({"input": {}, "expected": DECISION}, {"output": DECISION}, None),
        ({"input": {}, "expectedError": "no-lanes"}, {"error": "in other words"}, None),
        ({"input": {}, "expected": DECISION}, {"output": {**DECISION, "reasons": []}}, "output.reasons"),
        ({"input": {}, "expected": DECISION}, {"error": "no"}, "refused, and a decision is expected"),
        ({"input": {}, "expected": DECISION}, {}, "output: not printed"),
        ({"input": {}, "expectedError": "no-lanes"}, {"output": DECISION}, "decided "),
        ({"input": {}, "expectedError": "no-lanes"}, {"error": " "}, "error: expected a message"),
        ({"input": {}, "expectedError": "no-lanes"}, {}, "error: expected a message"),
        ({"input": {}}, {"error": "no"}, "corpus: "),
        ({"input": {}, "expected": DECISION, "expectedError": "no"}, {"error": "no"}, "corpus: "),
    ],
)
def test_a_decision_or_a_refusal(small: SmallCorpus, vector: Value, got: Value, said: str | None) -> None:
    small.add_file("d.json", "decision", vector)
    corpus, found = small.vector("d.json")
    verdict = judge_vector(corpus, found, lambda words: Answer(got))
    if said is None:
        assert verdict.outcome == PASSED
    else:
        assert verdict.outcome == FAILED
        assert verdict.lines[0].startswith(said)


@pytest.mark.parametrize(
    ("kind", "expected", "call"),
    [
        ("checkpoint", VALID, ["checkpoint", "document.json"]),
        ("lane", LANES, ["lanes", "checkpoint.json", "--runs", "runs"]),
        (
            "lane",
            {**LANES, "at": AT, "policy": "policy.json", "envelope": "envelope.json"},
            ["lanes", "checkpoint.json", "--runs", "runs", "--at", AT, *POLICY, "--envelope", "envelope.json"],
        ),
        ("matching", {"matches": True}, ["match", "plan.json", "runner.json"]),
        ("stream", STREAM, ["stream", "events.ndjson", "plan.json"]),
        ("plan-conformance", CONFORM, ["conform", "events.ndjson", "plan.json", "runs"]),
        (
            "plan-conformance",
            {**CONFORM, "policy": "policy.json"},
            ["conform", "events.ndjson", "plan.json", "runs", *POLICY],
        ),
    ],
)
def test_the_inputs_are_given(
    small: SmallCorpus, fake: FakeProgram, kind: str, expected: Value, call: list[str]
) -> None:
    small.add("v", kind, FILES, expected)
    fake.says(call[0], {})
    corpus, vector = small.vector("v")
    judge_vector(corpus, vector, fake.program)
    base = f"{corpus.root}/v"
    assert fake.calls == [[f"{base}/{word}" if word in FILES or word == "runs" else word for word in call]]
