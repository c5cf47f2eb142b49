"""docs/MEMORY_PAIR.md §2: what the run of an arm holds; [RUN-7] [RUN-9] [RUN-11] [RES-5] [RES-9] [SUM-7] [GATE-1]."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aef_verify.encoding.times import time_key
from aef_verify.memory import definition, evidence, judge
from aef_verify.memory.model import ORACLE, QUESTION_TYPES, ArmResult, Usage
from aef_verify.problems import InputError
from aef_verify.run.results import result_id
from aef_verify.run.verify import verify_run
from aef_verify.writing.run import UnsoundRunError, Written
from tests import building
from tests.memory import arms
from tests.memory.arms import aborted, arm, outcome

Json = dict[str, Any]
Write = Callable[..., "Run"]
ARGUMENTS: Json = {
    "run_id": "lme-pair-1-normal",
    "normal_run_hash": None,
    "normal_accuracy": None,
    "threshold": 50,
    "producer_version": "0.1.0",
}


class Run:
    """A run that was written, read back."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.path = Path(written.path)

    def json(self, name: str) -> Json:
        found: Json = json.loads((self.path / name).read_bytes())
        return found

    def lines(self, name: str = "results.ndjson") -> list[Json]:
        file = self.path / name
        return [json.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []

    def files(self) -> list[str]:
        return sorted(str(file.relative_to(self.path)) for file in self.path.rglob("*") if file.is_file())

    def pair(self) -> Json:
        found: Json = self.json("summary.json")["ext"]["agenteval.memoryPair"]
        return found

    def entries(self) -> dict[tuple[str, str], Json]:
        lanes = self.json("summary.json")["lanes"]
        return {(lane["lane"], entry["path"]): entry for lane in lanes for entry in lane["metrics"]}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write an arm, unsealed unless said otherwise, and read it back."""

    def write(result: ArmResult, **members: Any) -> Run:
        given = ARGUMENTS | {"seal": False, "key": None} | members
        return Run(evidence.write_arm(result, str(tmp_path), **given))

    return write


def three() -> ArmResult:
    """State a completed arm with a pass, a failure and an absence; the last is an abstention question."""
    return arm(
        outcome("q1", "passed", type="multi-session"),
        outcome("q2", "failed", type="multi-session"),
        outcome("q3_abs", "not_measured", type="temporal-reasoning", reason="judge-no-verdict"),
    )


# run.json


def test_the_header_of_a_normal_run(write: Write) -> None:
    found = three()
    run = write(found)
    assert run.json("run.json") == {
        "schemaVersion": "1.0",
        "runId": "lme-pair-1-normal",
        "status": "completed",
        "producer": {"name": "aef-verify", "version": "0.1.0"},
        "subject": {"ref": "agent:my-agent", "kind": "agent", "version": "2.1"},
        "suite": definition.suite_of(found.definition),
        "judges": [{"model": "grader", "mode": "single", "rubricDigest": found.rubric_digest}],
        "execution": {"targetMode": "scripted", "stimulus": "suite"},
        "contentCapture": "off",
        "startedAt": arms.STARTED,
        "endedAt": arms.ENDED,
    }
    assert os.path.basename(run.path) == run.written.run_id == "lme-pair-1-normal"
    assert run.written.run_hash is None


def test_the_subject_of_an_oracle_is_never_the_agent_under_test(write: Write) -> None:
    for subject in (("agent:my-agent", "2.1"), (evidence.ORACLE_SUBJECT, None)):
        run = write(three()._replace(role=ORACLE, subject=subject), run_id=f"lme-{subject[1]}-oracle")
        assert run.json("run.json")["subject"] == {
            "ref": "agent:longmemeval-oracle-reader",
            "kind": "agent",
            "version": "0.1.0",
        }


def test_what_is_not_known_is_left_out(write: Write) -> None:
    run = write(three()._replace(subject=("agent:my-agent", None), judge_provider="openai", target_mode="live"))
    header = run.json("run.json")
    assert header["subject"] == {"ref": "agent:my-agent", "kind": "agent"}
    assert header["judges"][0]["provider"] == "openai"
    assert header["execution"]["targetMode"] == "live"


def test_the_suite_is_the_definition_whose_bytes_have_its_digest(write: Write) -> None:
    found = three()
    run = write(found)
    data = (run.path / "ext/longmemeval/definition.json").read_bytes()
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    assert json.loads(data) == found.definition
    assert run.json("run.json")["suite"] == {
        "ref": "suite:longmemeval-fixture-subset-normal",
        "version": "1+" + digest[7:23],
        "digest": digest,
        "frozen": True,
    }


# results.ndjson


def test_a_root_line_and_its_view(write: Write) -> None:
    prompt = judge.prompt_digest("factual")
    root, view = write(arm(outcome("q1", type="multi-session"))).lines()
    shared = {
        "schemaVersion": "1.0",
        "caseId": "q1",
        "evaluator": {"id": "longmemeval-judge", "version": judge.rubric_digest("first-word")[7:23]},
        "state": "passed",
        "annotator": {"kind": "LLM", "model": "grader", "rubricDigest": prompt},
    }
    assert root == shared | {
        "resultId": result_id("lme-pair-1-normal", "q1", "qa"),
        "path": "qa",
        "lane": "longmemeval",
        "aggregation": {"strategy": "Own", "rulePath": "threshold", "measured": 1, "total": 1},
        "usage": [
            {"role": "agent", "model": "answerer", "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10},
            {"role": "judge", "model": "grader", "gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": 1},
        ],
        "startedAt": arms.FIRST_CALL,
        "endedAt": arms.VERDICT,
    }
    assert view == shared | {
        "resultId": result_id("lme-pair-1-normal", "q1", "type"),
        "parentResultId": root["resultId"],
        "path": "type",
        "lane": "longmemeval.multi-session",
        "component": {"weight": 0, "required": False},
    }


def test_an_abstention_question_has_one_view_more(write: Write) -> None:
    root, kind, abstention = write(arm(outcome("q1_abs", "failed", type="knowledge-update"))).lines()
    assert [(line["path"], line["lane"]) for line in (root, kind, abstention)] == [
        ("qa", "longmemeval"),
        ("type", "longmemeval.knowledge-update"),
        ("abstention", "longmemeval.abstention"),
    ]
    assert root["aggregation"] == {"strategy": "Own", "rulePath": "threshold", "measured": 2, "total": 2}
    assert abstention["parentResultId"] == kind["parentResultId"] == root["resultId"]


@pytest.mark.parametrize("state", ["error", "not_measured"])
def test_res2_an_absence_has_its_reason_on_each_line_and_no_severity(state: str, write: Write) -> None:
    lines = write(arm(outcome("q1_abs", state, reason="answer-empty", asked=False))).lines()
    assert {(line["state"], line["reason"], line.get("severity")) for line in lines} == {(state, "answer-empty", None)}
    assert not any("annotator" in line or "scores" in line for line in lines)
    assert lines[0]["aggregation"] == {
        "strategy": "Own",
        "rulePath": "nothing-measured",
        "measured": 0,
        "total": 2,
        "unmeasured": {state: 2},
    }


def test_res9_each_failed_line_has_the_severity_low(write: Write) -> None:
    lines = write(arm(outcome("q1", "failed"), outcome("q2", "passed"))).lines()
    assert [line.get("severity") for line in lines] == ["low", "low", None, None]


def test_each_line_names_the_digest_of_its_own_prompt(write: Write) -> None:
    prompts = [judge.prompt_digest(case) for case in ("temporal", "unanswerable")]
    lines = write(arm(*(outcome(f"q{at}", prompt_digest=prompt) for at, prompt in enumerate(prompts)))).lines()
    assert [line["annotator"]["rubricDigest"] for line in lines] == [prompts[0]] * 2 + [prompts[1]] * 2


def test_usage_that_no_call_reported_is_left_out(write: Write) -> None:
    nothing = outcome("q1", usage=(Usage("agent", "answerer", None, None), Usage("judge", "grader", None, None)))
    run = write(arm(nothing, outcome("q2", usage=())))
    assert not any("usage" in line for line in run.lines())
    assert "usage" not in run.json("summary.json")


def test_usage_that_no_document_holds_is_left_out(write: Write) -> None:
    odd = (Usage("agent", "m", -1, 2**53), Usage("judge", "\ud800", 3, None), Usage("agent", "", 4, None))
    first, _ = write(arm(outcome("q1", usage=odd))).lines()
    assert first["usage"] == [
        {"role": "judge", "gen_ai.usage.input_tokens": 3},
        {"role": "agent", "gen_ai.usage.input_tokens": 4},
    ]


def test_more_models_than_a_line_may_name_become_one_entry_a_role(write: Write) -> None:
    many = tuple(Usage(role, f"m{at}", 10, None) for role in ("agent", "judge") for at in range(5))
    run = write(arm(outcome("q1", usage=many)))
    assert run.lines()[0]["usage"] == [
        {"role": "agent", "gen_ai.usage.input_tokens": 50},
        {"role": "judge", "gen_ai.usage.input_tokens": 50},
    ]
    assert len(run.json("summary.json")["usage"]) == 10


# metrics.json, summary.json


def test_sum1_accuracy_is_the_one_metric(write: Write) -> None:
    (metric,) = write(three()).json("metrics.json")["metrics"]
    assert (metric["id"], metric["kind"], metric["direction"], metric["scale"]) == (
        "accuracy",
        "rate",
        "higher_better",
        {"min": 0, "max": 1},
    )


PLACES = [
    ("longmemeval", "qa"),
    *((f"longmemeval.{kind}", "type") for kind in QUESTION_TYPES),
    ("longmemeval.abstention", "abstention"),
]


def test_the_summary_has_every_type_and_abstention_and_each_lane_once(write: Write) -> None:
    entries = write(three()).entries()
    assert list(entries) == PLACES
    counts = {place: (entry["N"], entry["n"], entry["value"]) for place, entry in entries.items() if entry["N"]}
    assert counts == {
        ("longmemeval", "qa"): (3, 2, 0.5),
        ("longmemeval.multi-session", "type"): (2, 2, 0.5),
        ("longmemeval.temporal-reasoning", "type"): (1, 0, None),
        ("longmemeval.abstention", "abstention"): (1, 0, None),
    }
    for place, entry in entries.items():
        if not entry["n"]:
            assert (entry["value"], entry["verdict"]) == (None, "not_measured"), place


GATES = [(33, "ship", 0, "passed"), (33.4, "inconclusive", 1, "inconclusive"), (66.7, "no_ship", 1, "failed")]


@pytest.mark.parametrize(("threshold", "decided", "code", "verdict"), GATES)
def test_the_gate_of_a_completed_normal_run(
    threshold: float, decided: str, code: int, verdict: str, write: Write
) -> None:
    run = write(three(), threshold=threshold)
    (decision,) = run.lines("gates.ndjson")
    assert decision == {
        "schemaVersion": "1.0",
        "gateId": "gate:longmemeval-accuracy",
        "decisionId": "decision-1",
        "rule": {"strategy": "accuracy-threshold"},
        "inputs": {},
        "comparability": "not_applicable",
        "outcome": decided,
        "exitCode": code,
        "decidedAt": arms.ENDED,
    }
    root, *views = run.entries().values()
    assert (root["verdict"], root["rule"]) == (verdict, f"100 * passed >= {threshold} * planned")
    assert {view["verdict"] for view in views} == {"scored", "not_measured"}
    assert not any("rule" in view for view in views)


def test_without_a_threshold_the_default_decides(write: Write) -> None:
    run = write(arm(outcome("q1"), outcome("q2", "failed")), threshold=None)
    assert run.entries()[PLACES[0]]["rule"] == "100 * passed >= 50 * planned"
    assert run.lines("gates.ndjson")[0]["outcome"] == "ship"


def test_nothing_scored_is_inconclusive_and_not_measured(write: Write) -> None:
    run = write(arm(outcome("q1", "error")), threshold=0)
    assert run.lines("gates.ndjson")[0]["outcome"] == "inconclusive"
    assert run.entries()[PLACES[0]]["verdict"] == "not_measured"
    assert run.pair()["accuracyPercent"] is None
    assert run.pair()["scoredQuestions"] == 0


@pytest.mark.parametrize(
    "found", [three()._replace(role=ORACLE), aborted(outcome("q1")), aborted(outcome("q1"), role=ORACLE)]
)
def test_an_oracle_or_an_aborted_arm_has_no_gate_and_no_rule(found: ArmResult, write: Write) -> None:
    run = write(found)
    assert "gates.ndjson" not in run.files()
    assert {entry["verdict"] for entry in run.entries().values()} == {"scored", "not_measured"}
    assert not any("rule" in entry for entry in run.entries().values())


def test_sum7_usage_is_this_arms_alone_by_role_and_model(write: Write) -> None:
    other = outcome("q3", usage=(Usage("agent", "answerer", 1, None), Usage("agent", "reranker", 5, 6)))
    run = write(arm(outcome("q1"), outcome("q2"), other))
    assert run.json("summary.json")["usage"] == [
        {"role": "agent", "model": "answerer", "gen_ai.usage.input_tokens": 201, "gen_ai.usage.output_tokens": 20},
        {"role": "judge", "model": "grader", "gen_ai.usage.input_tokens": 40, "gen_ai.usage.output_tokens": 2},
        {"role": "agent", "model": "reranker", "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 6},
    ]


# ext["agenteval.memoryPair"]


def fields(**members: Any) -> Json:
    usual = {
        "schemaVersion": "1.0",
        "pairId": "pair-1",
        "role": "normal",
        "sourceInputsDigest": arms.SOURCE,
        "plannedQuestions": 3,
        "observedQuestions": 3,
        "scoredQuestions": 2,
        "totalLlmCalls": 6,
        "complete": True,
        "diagnosticOnly": False,
        "accuracyPercent": 50.0,
        "normalRunHash": None,
        "oracleGapPercentagePoints": None,
    }
    return usual | members


ORACLE_FIELDS: Json = {"role": "oracle", "diagnosticOnly": True}
INTERRUPTED: Json = {"complete": False, "scoredQuestions": None, "totalLlmCalls": None, "accuracyPercent": None}
PAIR_ROWS: list[tuple[ArmResult, Json, Json]] = [
    (three(), {}, fields()),
    # what only an oracle states is null in a normal arm, whatever the caller knows
    (three(), {"normal_run_hash": arms.NORMAL_HASH, "normal_accuracy": 25.0}, fields()),
    (
        three()._replace(role=ORACLE),
        {"normal_run_hash": arms.NORMAL_HASH, "normal_accuracy": 12.5},
        fields(**ORACLE_FIELDS, normalRunHash=arms.NORMAL_HASH, oracleGapPercentagePoints=37.5),
    ),
    (
        three()._replace(role=ORACLE),
        {"normal_accuracy": 62.5},
        fields(**ORACLE_FIELDS, oracleGapPercentagePoints=-12.5),
    ),
    (three()._replace(role=ORACLE), {}, fields(**ORACLE_FIELDS)),
    (
        arm(outcome("q1", "error"), role=ORACLE),
        {"normal_accuracy": 62.5},
        fields(
            **ORACLE_FIELDS,
            plannedQuestions=1,
            observedQuestions=1,
            scoredQuestions=0,
            totalLlmCalls=2,
            accuracyPercent=None,
        ),
    ),
    (aborted(planned=3), {}, fields(**INTERRUPTED, observedQuestions=0)),
    (aborted(*three().outcomes[:2], planned=3), {}, fields(**INTERRUPTED, observedQuestions=2)),
    (
        aborted(*three().outcomes, planned=3, role=ORACLE),
        {"normal_run_hash": arms.NORMAL_HASH, "normal_accuracy": 12.5},
        fields(**INTERRUPTED, **ORACLE_FIELDS, normalRunHash=arms.NORMAL_HASH),
    ),
]


@pytest.mark.parametrize(("found", "known", "expected"), PAIR_ROWS)
def test_every_field_of_the_pair_is_written(found: ArmResult, known: Json, expected: Json, write: Write) -> None:
    assert write(found, **known).pair() == expected


def test_one_third_is_one_division(write: Write) -> None:
    run = write(arm(outcome("q1"), outcome("q2", "failed"), outcome("q3", "failed")))
    assert run.pair()["accuracyPercent"] == 100 / 3


def test_without_a_pair_id_there_is_no_pair(write: Write) -> None:
    assert "ext" not in write(three()._replace(pair_id=None)).json("summary.json")


# interruption


def test_an_arm_interrupted_before_its_first_question_is_an_empty_run(write: Write) -> None:
    run = write(aborted(planned=5))
    header = run.json("run.json")
    assert (header["status"], header["abortReason"], header["endedAt"]) == ("aborted", "interrupted", arms.ENDED)
    assert (run.path / "results.ndjson").read_bytes() == b""
    assert len(run.json("ext/longmemeval/definition.json")["roster"]) == 5
    assert list(run.entries()) == PLACES
    assert "usage" not in run.json("summary.json")


def test_an_arm_holds_the_questions_begun_and_no_line_of_others(write: Write) -> None:
    begun = (outcome("q1"), outcome("q2", "error", reason="interrupted", asked=False))
    run = write(aborted(*begun, reason="provider-unavailable", planned=5))
    assert run.json("run.json")["abortReason"] == "provider-unavailable"
    assert [(line["caseId"], line["state"]) for line in run.lines() if line["path"] == "qa"] == [
        ("q1", "passed"),
        ("q2", "error"),
    ]
    assert run.entries()[PLACES[0]]["N"] == 2


def test_run5_an_aborted_run_has_a_reason_and_a_completed_one_none(write: Write) -> None:
    assert write(aborted()._replace(abort_reason=None)).json("run.json")["abortReason"] == "interrupted"
    assert "abortReason" not in write(three()._replace(abort_reason="late"), run_id="other").json("run.json")


# content


def test_run11_with_content_off_nothing_of_a_question_is_kept(write: Write) -> None:
    secret = outcome("q1", answer="the answer's own words", judgement="the judge's own words")
    run = write(arm(secret))
    assert run.files() == [
        "ext/longmemeval/definition.json",
        "gates.ndjson",
        "metrics.json",
        "results.ndjson",
        "run.json",
        "summary.json",
    ]
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in (secret.answer or "", secret.judgement or "")]
    for file in run.files():
        data = (run.path / file).read_text()
        assert "own words" not in data
        assert not any(digest in data for digest in digests)
    assert not any({"promptHash", "reasoning"} & {*line, *line.get("annotator", ())} for line in run.lines())


def test_with_content_on_answers_and_judgements_are_evidence(write: Write) -> None:
    found = arm(outcome("q1", answer="bleu é"), outcome("q2", answer=None, judgement=None), content=True)
    run = write(found)
    assert run.json("run.json")["contentCapture"] == "on"
    records = run.lines("evidence.ndjson")
    assert [(record["evidenceId"], record["kind"]) for record in records] == [
        ("E-0001-output", "output"),
        ("E-0001-judge_reasoning", "judge_reasoning"),
    ]
    texts = []
    for record in records:
        name = record["digest"].removeprefix("sha256:")
        assert record["link"] == {"blob": record["digest"]}
        texts.append((run.path / "blobs/sha256" / name[:2] / name).read_text())
    assert texts == ["bleu é", "yes"]
    assert [line.get("evidence") for line in run.lines()] == [
        [record["evidenceId"] for record in records],
        None,
        None,
        None,
    ]


def test_with_content_on_and_none_there_is_no_evidence(write: Write) -> None:
    run = write(arm(outcome("q1", answer=None, judgement=None), content=True))
    assert not any(file.startswith(("blobs", "evidence")) for file in run.files())


def test_a_text_without_utf8_form_is_kept_as_it_can_be_written(write: Write) -> None:
    run = write(arm(outcome("q1", answer="a\ud800b", judgement=""), content=True))
    kept = [file for file in run.files() if file.startswith("blobs")]
    assert sorted((run.path / file).read_bytes() for file in kept) == [b"", b"a\\ud800b"]


# sealing


def test_seal_by_default_signed_with_a_key(write: Write) -> None:
    sealed = write(three(), seal=True)
    assert "seal.json" in sealed.files()
    assert "attestation.dsse.json" not in sealed.files()
    predicate = sealed.json("seal.json")["predicate"]
    assert predicate["sealedBy"] == "producer"
    assert time_key(predicate["sealedAt"]) >= time_key(arms.ENDED)
    assert predicate["runHash"] == sealed.written.run_hash == verify_run(sealed.written.path).run_hash
    signed = write(three(), seal=True, key=arms.private_pem(building.ALICE), run_id="signed")
    assert verify_run(signed.written.path, policy=building.trust()).signed_by == (building.ALICE,)


def test_seal5_a_run_that_ends_after_the_clock_is_sealed_when_it_ends(write: Write) -> None:
    late = "2999-12-31T23:59:59.123456789Z"
    run = write(three()._replace(ended_at=late), seal=True)
    assert run.json("seal.json")["predicate"]["sealedAt"] == late


# refusals


def test_a_key_without_a_seal_and_a_key_that_is_none_are_input_errors(tmp_path: Path) -> None:
    for seal, key in ((False, arms.private_pem(building.ALICE)), (True, b"no key")):
        with pytest.raises(InputError):
            evidence.write_arm(three(), str(tmp_path), **ARGUMENTS, seal=seal, key=key)
    assert os.listdir(tmp_path) == []


INVALID: list[ArmResult] = [
    three()._replace(subject=("My Agent", None)),
    three()._replace(subject=("agent:x", "latest")),
    three()._replace(judge_model=""),
    three()._replace(ended_at="2026-10-02 15:00"),
    three()._replace(ended_at="2026-10-02T13:00:00Z"),
    arm(outcome("q1", ended_at=arms.STARTED)),
    arm(outcome("q\n1")),
    arm(outcome("q1"), outcome("q1")),
]


@pytest.mark.parametrize("found", INVALID)
@pytest.mark.parametrize("seal", [False, True])
def test_a_run_that_would_not_be_valid_is_not_written(found: ArmResult, seal: bool, tmp_path: Path) -> None:
    with pytest.raises(UnsoundRunError):
        evidence.write_arm(found, str(tmp_path), **ARGUMENTS, seal=seal, key=None)
    assert os.listdir(tmp_path) == []


def test_a_name_that_is_taken_is_never_overwritten(write: Write, tmp_path: Path) -> None:
    before = write(three()).written.path
    files = {file: (Path(before) / file).read_bytes() for file in os.listdir(before) if file.endswith("json")}
    with pytest.raises(FileExistsError):
        write(aborted())
    assert os.listdir(tmp_path) == ["lme-pair-1-normal"]
    assert {file: (Path(before) / file).read_bytes() for file in files} == files
