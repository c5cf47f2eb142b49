"""A checkpoint for people and programs: what must be said is said, bounded, and no text in it can steer a terminal.

[CKP-6], [CKP-9], [CKP-10], [RUN-7], [SIG-7], [VER-8].
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import aef_verify
from aef_verify.checkpoint.decision import RESULT_STATUSES, decide
from aef_verify.checkpoint.lanes import LaneResult, LaneRun
from aef_verify.checkpoint.verify import CheckpointReport, LaneReport
from aef_verify.codes import CHECKPOINT, CODES, DECISION
from aef_verify.integrity.dsse import EnvelopeReport, SignatureReport
from aef_verify.problems import Problem
from aef_verify.report.checkpoint import CheckpointView, view_of
from aef_verify.report.checkpoint_json import checkpoint_json, checkpoint_value
from aef_verify.report.checkpoint_text import EXCEPTIONS, RUNS, SIGNATURES, checkpoint_codes, checkpoint_text
from tests.report.reports import HASH, HOSTILE, text_of, verified

SCHEMA = json.loads(
    (Path(aef_verify.__file__).parent / "schemas" / "report" / "checkpoint-report.schema.json").read_text()
)
AT, DECIDED, CLOSED = "2026-10-05T12:00:00Z", "2026-10-04T09:00:00Z", "2026-10-02T15:00:00Z"
EXPIRES = "2026-10-12T00:00:00Z"
RESULT = {"status": "passed", "subjectVersion": "1.0", "oldestClosedAt": CLOSED}
LANE = {
    "lane": "quality",
    "rule": {"kind": "evidence-present", "runs": 1},
    "blocking": True,
    "freshness": "P14D",
    "runs": [{"runId": "run-1", "runHash": HASH, "origin": "launched"}],
}
EXCEPTION = {
    "lane": "quality",
    "evidence": [HASH],
    "reason": "known",
    "by": {"identity": "oidc:acme/reviewer", "assurance": "signed"},
    "at": DECIDED,
    "expires": EXPIRES,
}
PASSED = LaneResult("passed", "1.0", CLOSED)
VERIFIED = EnvelopeReport(None, (SignatureReport("k", "verified", "ci"),), ("ci",))

Document = dict[str, Any]


def manifest(result: Document | None = RESULT, exceptions: list[Document] | None = None) -> Document:
    """Return a decided manifest of one lane that agrees with itself."""
    given: Document = {
        "subjectVersion": "1.0",
        "evaluatedAt": DECIDED,
        "lanes": [
            {"lane": "quality", "blocking": True, "freshness": "P14D", "evidence": [HASH], "result": result},
        ],
        **({"exceptions": exceptions} if exceptions else {}),
    }
    decision = decide(given)
    return {
        "schemaVersion": "1.0",
        "checkpointId": "c-1",
        "subject": {"ref": "agent:a", "version": "1.0"},
        "lanes": [LANE],
        "state": "decided",
        "outcome": decision.outcome,
        "decision": decision.document(),
        "decisionInput": given,
    }


def run(path: str | None = "runs/one", *reasons: str, baseline: bool = False, mode: str = "live") -> LaneRun:
    if path is None:
        return LaneRun("run-1", HASH, baseline, None, None, reasons or ("no run has this id",))
    report = verified(path, run={"execution": {"targetMode": mode}})
    return LaneRun("run-1", HASH, baseline, path, report.outcome, reasons, report)


def view(
    document: Document | None = None,
    *problems: Problem,
    runs: tuple[LaneRun, ...] = (run(),),
    result: LaneResult | None = PASSED,
    signature: EnvelopeReport | None = VERIFIED,
    policy: bool = True,
    envelope: str | None = "c.dsse.json",
    at: str = AT,
    **facts: Any,
) -> CheckpointView:
    """Return a view; without anything given the checkpoint is approved, verified and signed."""
    found = manifest() if document is None else document
    given = found.get("decisionInput")
    recorded = given["lanes"][0]["result"] if given else None
    alone = tuple(problem for problem in problems if not problem.path)
    lanes = tuple(
        LaneReport(
            lane["lane"],
            lane["rule"],
            lane["blocking"],
            tuple(lane.get("requirements", ())),
            lane.get("freshness"),
            result,
            recorded,
            runs,
            facts.get("unknown", ""),
            facts.get("findings", ()),
        )
        for lane in found["lanes"]
    )
    report = CheckpointReport(
        "c.json",
        at,
        found,
        True,
        alone,
        tuple(problem for problem in problems if problem.path),
        facts.get("checked", True),
        lanes,
        signature if policy else None,
        (),
        found.get("outcome"),
        decide(given) if given else None,
        facts.get("now"),
    )
    return view_of(report, policy_given=policy, envelope=envelope)


def shown(found: CheckpointView, width: int = 200) -> str:
    return text_of(checkpoint_text(found), width)


FAILED = manifest(RESULT | {"status": "failed"})
WAIVED = manifest(RESULT | {"status": "failed"}, [EXCEPTION])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (view(), "Checkpoint c-1  approved\n"),
        (view(), "  signature   signed by ci\n"),
        (view(), "Lane quality  passed  blocking\n"),
        (view(), "  result      passed for version 1.0, recomputed from the runs as recorded\n"),
        (view(findings=("a: 1.0", "b: \x1b[31m")), "  found       a: 1.0\n  found       b: \\u{1B}[31m\n"),
        (view(findings=("a",) * 8), "  found       a\n              … and 3 runs more (--json lists all)\n"),
        (view(), "  age         closed 2 days 21 hours ago, fresh for 14 days, until 2026-10-16T15:00:00Z\n"),
        (view(), "  evidence    run-1 (abababababab), live, intact (unsigned): counts\n"),
        (view(runs=(run(baseline=True),)), "  baseline    run-1 (abababababab), live, intact (unsigned): counts\n"),
        (view(runs=(run(None),)), "  evidence    run-1 (abababababab), not found: no run has this id\n"),
        (view(runs=(run("r", "x", mode="mocked"),)), ": does not count: x; mocked runs are not evidence of the live"),
        (view(runs=(run("r", "x", mode="dreamt"),)), "mocked (written dreamt), intact (unsigned): does not count: x"),
        (view(runs=()), "  evidence    none: the lane names no runs\n"),
        (view(result=None), "the runs give no result; recorded: passed for version 1.0\n"),
        (
            view(result=LaneResult("failed", "1.0", CLOSED)),
            "the runs give failed for version 1.0; recorded: passed for",
        ),
        (
            view(result=LaneResult("incomparable", "1.0", CLOSED, ("suite", "judges"))),
            "the runs give incomparable (they differ in suite, judges) for version 1.0; recorded: passed",
        ),
        (view(unknown="its rule"), "recorded, not compared: its rule is of a later minor version\n"),
        (view(checked=False, runs=(), result=None), "passed for version 1.0 recorded, not checked against runs\n"),
        (view(envelope=None, signature=None), "none: without one this is anybody's claim [CKP-5]\n"),
        (view(signature=None, policy=False), "not checked: c.dsse.json is there, and no --policy says whose"),
        (
            view(signature=EnvelopeReport("malformed", (), (), "why")),
            "the envelope is malformed: why",
        ),
        (
            view(signature=EnvelopeReport(None, (SignatureReport("", "untrusted-key"),), ())),
            "signed by nobody in the policy: untrusted-key (no key id)\n",
        ),
        (view(FAILED), "Checkpoint c-1  blocked\n"),
        (view(FAILED), "  failed:quality   The lane blocks, and its evidence fails its rule.\n"),
        (view(WAIVED), "Checkpoint c-1  approved_with_exceptions\n"),
        (view(WAIVED), "  exception   accepted by oidc:acme/reviewer (signed is claimed, not verified) from "),
        (view(WAIVED, now="blocked", at=EXPIRES), "recorded as approved_with_exceptions, at 2026-10-12"),
        (view(WAIVED, now="blocked", at=EXPIRES), "Lane quality  failed (was waived)  blocking\n"),
        (view(WAIVED, now="blocked", at=EXPIRES), "  exception-expired: Have the failure fixed"),
        (view(None, Problem("", "lanes", "why")), "Checkpoint c-1  approved  not verified\n"),
        (view(None, Problem("", "lanes", "why")), "  the manifest  lanes\n    why\n"),
        (view(None, Problem("", "lanes", "why")), "Why approved, going by the recorded input\n"),
        (view(None, Problem("lanes/quality", "oldest-closed")), "Lane quality  passed  does not hold  blocking\n"),
        (view(None, Problem("lanes/quality/runs/run-1", "run-missing")), "Lane quality  passed  does not hold  bl"),
        (view(None, Problem("lanes/qualit", "oldest-closed")), "Lane quality  passed  blocking\n"),
    ],
)
def test_what_is_said(found: CheckpointView, said: str) -> None:
    assert said in shown(found)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (view(), "Approved: agent:a 1.0, signed by ci (exit 0)."),
        (view(WAIVED), "Approved: agent:a 1.0, with exceptions, signed by ci (exit 0)."),
        (
            view(policy=False),
            "Approved: agent:a 1.0; nobody's signature was checked, as --policy was not given (exit 0).",
        ),
        (view(FAILED), "Not approved: the outcome is blocked (exit 1)."),
        (
            view(now="expired"),
            f"Not approved: the outcome is expired at {AT}, and was recorded as approved (exit 1).",
        ),
        (view(signature=None), "Not approved: nobody in the policy signed it (exit 1)."),
        (
            view(None, Problem("", "lanes"), Problem("lanes/quality", "lane-result"), checked=False, signature=None),
            "Not approved: 2 problems found; it was not checked against its runs, as --runs was not given; nobody in "
            "the policy signed it (exit 1).",
        ),
    ],
)
def test_the_verdict_names_every_objection(found: CheckpointView, verdict: str) -> None:
    assert found.verdict() == verdict
    assert found.exit_code == int(not verdict.startswith("Approved"))
    assert shown(found).endswith(f"\n{verdict}\n")


def test_ckp10_an_approval_that_was_not_recorded_is_not_shown() -> None:
    old = manifest()
    old["decisionInput"]["evaluatedAt"] = "2026-12-01T00:00:00Z"
    old["outcome"] = "expired"
    old["decision"] = decide(old["decisionInput"]).document()
    found = view(old)
    assert found.again is None
    assert (found.outcome, found.exit_code) == ("expired", 1)
    assert "Why expired\n  stale:quality " in shown(found)
    assert checkpoint_value(found)["decisionNow"] is None


def test_ver8_an_outcome_that_nobody_knows_is_read_and_shown() -> None:
    later = manifest() | {"schemaVersion": "1.7", "outcome": "postponed"}
    found = view(later, Problem("", "unverifiable"))
    assert "Checkpoint c-1  unverifiable (written postponed)  not verified\n" in shown(found)
    assert (found.outcome, found.exit_code) == ("unverifiable", 1)


def test_ckp6_who_approved_the_budget_is_a_claim() -> None:
    document = manifest() | {
        "budget": {
            "approvedUsd": 5,
            "spentUsd": 1.5,
            "approvedBy": {"identity": "git:lead", "assurance": "authenticated"},
        }
    }
    words = "5 USD approved by git:lead (authenticated is claimed, not verified), 1.5 USD spent\n"
    assert words in shown(view(document))
    signed = EnvelopeReport(None, (), ("git:lead",))
    assert "5 USD approved by git:lead (who signed this checkpoint), 1.5" in shown(view(document, signature=signed))
    assert "  budget      1.5 USD spent\n" in shown(view(document | {"budget": {"spentUsd": 1.5}}))


def test_a_plan_and_an_aborted_checkpoint() -> None:
    plan = {name: value for name, value in manifest().items() if not name.startswith("decision")}
    plan |= {"state": "planned", "outcome": None}
    text = shown(view(plan))
    assert "Checkpoint c-1  undecided\n" in text
    assert "  state       planned\n" in text
    assert "Lane quality  not decided  blocking\n" in text
    assert "the runs give passed for version 1.0; none is recorded\n" in text
    assert "\nWhy " not in text
    assert CODES[DECISION, "undecided"].advice in text
    aborted = plan | {"state": "decided", "outcome": "aborted", "abortReason": "no money"}
    text = shown(view(aborted))
    assert "Checkpoint c-1  aborted\n" in text
    assert "  aborted     no money\n" in text


def test_advice_stands_once_for_each_code() -> None:
    found = view(FAILED, Problem("lanes/quality", "lane-result"), Problem("lanes/b", "lane-result"), signature=None)
    assert checkpoint_codes(found) == [(CHECKPOINT, "lane-result"), (DECISION, "failed")]
    assert checkpoint_codes(view()) == []


def test_long_lists_are_cut_and_say_so() -> None:
    entry = SignatureReport("k", "untrusted-key")
    found = view(
        manifest(RESULT | {"status": "failed"}, [EXCEPTION] * (EXCEPTIONS + 2)),
        runs=(run(),) * (RUNS + 3),
        signature=EnvelopeReport(None, (entry,) * (SIGNATURES + 4), ()),
    )
    text = " ".join(shown(found).split())
    assert "… and 3 runs more (--json lists all)" in text
    assert "… and 2 exceptions more (--json lists all)" in text
    assert text.count("untrusted-key (k)") == SIGNATURES
    assert " and 4 more Lane quality " in text


def hostile() -> CheckpointView:
    """Return a view with hostile text wherever a manifest, a run or a problem may have any."""
    by = {"identity": HOSTILE, "assurance": HOSTILE}
    document = manifest(RESULT | {"status": "failed"}, [EXCEPTION | {"reason": HOSTILE, "by": by, "requirement": "R"}])
    document["subject"] |= {"resolvedFrom": HOSTILE, "resolvedAt": AT, "deployment": HOSTILE}
    document["lanes"] = [LANE | {"rule": {"kind": HOSTILE}, "requirements": [HOSTILE]}]
    document |= {"state": HOSTILE, "checkpointId": HOSTILE, "budget": {"approvedBy": by}}
    return view(
        document,
        Problem("", "lanes", HOSTILE, HOSTILE),
        Problem(f"lanes/{HOSTILE}", "lane-result", HOSTILE, {HOSTILE: HOSTILE}),
        runs=(run(f"runs/{HOSTILE}", HOSTILE, mode=HOSTILE),),
        result=LaneResult("failed", HOSTILE, CLOSED, (HOSTILE,)),
        signature=EnvelopeReport("malformed", (SignatureReport(HOSTILE, "untrusted-key"),), (), HOSTILE),
        envelope=HOSTILE,
        unknown=HOSTILE,
    )


@pytest.mark.parametrize("width", [40, 100, 400])
def test_nothing_in_a_checkpoint_can_steer_a_terminal(width: int) -> None:
    for found in (hostile(), view(hostile().report.document, signature=None, policy=False, envelope=HOSTILE)):
        text = shown(found, width)
        assert all(character.isprintable() for character in text.replace("\n", ""))
        assert "\\u{1B}[31m" in text.replace("\n", "") or width == 40


def test_every_view_is_as_the_schema_describes() -> None:
    """[RUN-7], [SIG-7]: no run without its target mode and signers."""
    checker = jsonschema.Draft202012Validator(SCHEMA)
    views = [view(), view(FAILED), view(WAIVED), view(policy=False), view(envelope=None, signature=None)]
    views += [view(None, Problem("", "lanes"), checked=False, runs=(), result=None), view(runs=(run(None),))]
    for found in views:
        text = checkpoint_json(found)
        assert text.isascii()
        checker.validate(json.loads(text))
    assert checkpoint_value(view())["lanes"][0]["runs"][0]["targetMode"] == {"written": "live", "read": "live"}
    assert checkpoint_value(view())["lanes"][0]["runs"][0]["signedBy"] is None


def test_the_schema_refuses_what_is_no_report() -> None:
    checker = jsonschema.Draft202012Validator(SCHEMA)
    for change in ({"version": "2.0"}, {"outcome": "fine"}, {"exitCode": 2}, {"more": 1}):
        assert not checker.is_valid(checkpoint_value(view()) | change)


def test_every_code_in_the_schema_is_in_the_table() -> None:
    codes = SCHEMA["$defs"]["problem"]["properties"]["code"]["enum"]
    assert set(codes) == {code for scope, code in CODES if scope == CHECKPOINT}
    assert set(SCHEMA["properties"]["outcome"]["enum"]) >= {"approved", "unverifiable", "undecided"}


def test_every_reason_of_a_decision_is_explained() -> None:
    """[DEC-2]: each status but a pass gives a reason, and each has its words."""
    for status in RESULT_STATUSES:
        for word in decide(manifest(RESULT | {"status": status})["decisionInput"]).reasons:
            code, _, name = word.partition(":")
            assert (DECISION, name if code == "outcome" else code) in CODES
