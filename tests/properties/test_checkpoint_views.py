"""Whatever is done to a signed release decision, it approves nothing any more, and what is shown stays harmless.

[CKP-5], [CKP-9], [CKP-10].
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

import aef_verify
from aef_verify.checkpoint.decision import APPROVALS, decide_again
from aef_verify.checkpoint.verify import verify_checkpoint
from aef_verify.integrity.policy import TrustPolicy, read_policy
from aef_verify.problems import InputError
from aef_verify.report.checkpoint import CheckpointView, view_of
from aef_verify.report.checkpoint_json import checkpoint_json
from aef_verify.report.checkpoint_text import checkpoint_text
from aef_verify.strategies import Change, byte_changes, json_changes
from tests.properties.effort import examples
from tests.report.reports import text_of

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
RUNS = str(FIXTURES / "evidence/sound/coding-agent")
MANIFEST = (FIXTURES / "checkpoints/sound/repairs.json").read_bytes()
ENVELOPE = (FIXTURES / "checkpoints/sound/repairs.dsse.json").read_bytes()
SUPPORT = (FIXTURES / "checkpoints/sound/support.json").read_bytes()
AT = "2026-10-05T12:00:00Z"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((Path(aef_verify.__file__).parent / "schemas" / "report" / "checkpoint-report.schema.json").read_text())
)


@cache
def policy() -> TrustPolicy:
    return read_policy(str(FIXTURES / "policy.json"))


def viewed(manifest: bytes, envelope: bytes | None, at: str = AT, runs: str | None = RUNS) -> CheckpointView | None:
    """Return a manifest as it is shown, None for one that is refused; it can be shown whole and harmlessly."""
    trusted = None if envelope is None else policy()
    try:
        report = verify_checkpoint(manifest, runs, at=at, policy=trusted, envelope=envelope)
    except InputError:
        return None
    view = view_of(report, policy_given=trusted is not None, envelope=None if envelope is None else "e")
    text = text_of(checkpoint_text(view), 120)
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert " ".join(text.split()).endswith(f"(exit {view.exit_code}).")
    SCHEMA.validate(json.loads(checkpoint_json(view)))
    return view


def test_the_manifest_itself_is_approved() -> None:
    view = viewed(MANIFEST, ENVELOPE)
    assert view is not None
    assert view.approves


@examples(80)
@given(st.one_of(byte_changes(MANIFEST), json_changes(MANIFEST)))
def test_no_change_of_a_signed_decision_is_approved(change: Change) -> None:
    view = viewed(change.data, ENVELOPE)
    assert change.data == MANIFEST or view is None or not view.approves


@examples(80)
@given(byte_changes(ENVELOPE))
def test_no_change_of_an_envelope_signs_more(change: Change) -> None:
    view = viewed(MANIFEST, change.data)
    assert view is not None
    assert view.signed_by in ((), ("spiffe://acme/ci",))


@examples(80)
@given(json_changes(MANIFEST))
def test_an_approval_is_recorded_and_recomputed(change: Change) -> None:
    """Without a policy: what approves agrees with itself and its runs, then and now."""
    view = viewed(change.data, None)
    if view is None or not view.approves:
        return
    document = view.report.document
    assert document["outcome"] in APPROVALS
    assert decide_again(document["decisionInput"], AT).outcome in APPROVALS
    for lane in view.report.lanes:
        assert lane.result is not None
        assert lane.recorded is not None
        assert lane.result.status == lane.recorded["status"]


@examples(80)
@given(json_changes(SUPPORT), st.sampled_from(["2026-10-03T00:00:00Z", AT, "2027-01-01T00:00:00Z"]))
def test_a_manifest_alone_approves_nothing(change: Change, at: str) -> None:
    view = viewed(change.data, None, at, runs=None)
    assert view is None or not view.approves
