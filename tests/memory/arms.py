"""Results of arms for tests: a small one to change, and a Hypothesis strategy of all there can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import strategies as st

from aef_verify.memory import definition, judge
from aef_verify.memory.model import (
    NORMAL,
    QUESTION_TYPES,
    REASONS,
    ROLES,
    ArmResult,
    Outcome,
    RosterItem,
    Usage,
)
from tests import building

STARTED, ENDED = "2026-10-02T14:00:00Z", "2026-10-02T15:00:00Z"
FIRST_CALL, VERDICT = "2026-10-02T14:10:00.5Z", "2026-10-02T14:10:02Z"
SOURCE = "sha256:" + "5" * 64
NORMAL_HASH = "7" * 64


def defined(role: str, roster: Sequence[RosterItem]) -> dict[str, Any]:
    """Define an arm over a roster."""
    return definition.arm_definition(
        arm=role,
        variant="fixture",
        preset="subset",
        seed=7,
        source_inputs_digest=SOURCE,
        roster=roster,
        agent={"kind": "full-history"},
        answer={"model": "answerer", "version": None, "temperature": 0, "maxTokens": 256},
        judge={
            "model": "grader",
            "temperature": 0,
            "maxTokens": 16,
            "labelRule": "first-word",
            "policy": "absent",
        },
        thresholds={"accuracyPercent": 50},
    )


def outcome(
    identity: str = "q1", state: str = "passed", *, type: str = QUESTION_TYPES[0], asked: bool = True, **members: Any
) -> Outcome:
    """Say what became of a question; members given replace the usual ones."""
    absent = state not in ("passed", "failed")
    usual = Outcome(
        question=RosterItem(identity, type),
        state=state,
        reason="answer-failed" if absent else None,
        started_at=FIRST_CALL,
        ended_at=VERDICT,
        calls=2,
        usage=(Usage("agent", "answerer", 100, 10), Usage("judge", "grader", 20, 1)),
        prompt_digest=judge.prompt_digest("factual") if asked else None,
        answer="It was the blue bicycle.",
        judgement="yes",
    )
    return usual._replace(**members)


def arm(*outcomes: Outcome, role: str = NORMAL, planned: int | None = None, **members: Any) -> ArmResult:
    """State an arm that holds these outcomes; a roster larger than they are is filled up."""
    begun = [found.question for found in outcomes]
    rest = [RosterItem(f"r{at}", QUESTION_TYPES[at % 6]) for at in range((planned or 0) - len(begun))]
    roster = [*begun, *rest]
    usual = ArmResult(
        role=role,
        definition=defined(role, roster),
        pair_id="pair-1",
        subject=("agent:my-agent", "2.1"),
        judge_model="grader",
        judge_provider=None,
        rubric_digest=judge.rubric_digest("first-word"),
        status="completed",
        abort_reason=None,
        started_at=STARTED,
        ended_at=ENDED,
        target_mode="scripted",
        planned=len(roster),
        outcomes=outcomes,
        content=False,
    )
    return usual._replace(**members)


def aborted(*outcomes: Outcome, reason: str = "interrupted", planned: int = 10, **members: Any) -> ArmResult:
    """State an arm that was interrupted."""
    return arm(*outcomes, planned=planned, status="aborted", abort_reason=reason, **members)


def private_pem(identity: str) -> bytes:
    """Return the key of an identity of `building` as a file holds it."""
    key = building.KEYS[identity]
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


_TOKENS = st.none() | st.integers(0, 2**40)
_TEXTS = st.none() | st.text(max_size=30) | st.sampled_from(["", "\ud800", "yes", "no"])
_USAGE = st.lists(
    st.builds(Usage, st.sampled_from(["agent", "judge"]), st.sampled_from(["m1", "m2", "é/3"]), _TOKENS, _TOKENS),
    max_size=4,
    unique_by=lambda usage: usage[:2],
).map(tuple)
_PROMPTS = st.none() | st.sampled_from(sorted(judge.prompt_digests().values()))
_IDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=20)


@st.composite
def arms(draw: st.DrawFn, *, most: int = 200, role: str | None = None) -> ArmResult:
    """Draw an arm: of either role, complete or aborted at any point, of 0 to `most` questions."""
    count = draw(st.integers(0, most))
    stems = draw(st.lists(_IDS, min_size=min(count, 8), max_size=min(count, 8), unique=True))
    suffixes = draw(st.lists(st.sampled_from(["", "", "_abs"]), min_size=8, max_size=8))
    kinds = draw(st.lists(st.sampled_from(QUESTION_TYPES), min_size=8, max_size=8))
    ids = [f"{stems[at % 8]}{'' if at < 8 else f'-{at}'}{suffixes[(at + at // 8) % 8]}" for at in range(count)]
    chosen = [draw(_outcomes()) for _ in range(min(count, 8))]
    questions = [RosterItem(identity, kinds[at % 8]) for at, identity in enumerate(dict.fromkeys(ids))]
    found = [chosen[at % 8]._replace(question=question) for at, question in enumerate(questions)]
    whole = arm(
        *found,
        role=role or draw(st.sampled_from(ROLES)),
        pair_id=draw(
            st.none() | st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=9)
        ),
        subject=("agent:my-agent", draw(st.none() | st.just("2.1"))),
        judge_provider=draw(st.none() | st.just("openai")),
        target_mode=draw(st.sampled_from(["live", "scripted"])),
        content=draw(st.booleans()),
    )
    if draw(st.booleans()):
        return whole
    kept = draw(st.integers(0, len(found)))
    reason = draw(st.sampled_from(["interrupted", "provider-unavailable"]))
    return whole._replace(status="aborted", abort_reason=reason, outcomes=whole.outcomes[:kept])


@st.composite
def _outcomes(draw: st.DrawFn) -> Outcome:
    state = draw(st.sampled_from(["passed", "failed", "error", "not_measured"]))
    return outcome(
        state=state,
        reason=None if state in ("passed", "failed") else draw(st.sampled_from(REASONS)),
        calls=draw(st.integers(0, 12)),
        usage=draw(_USAGE),
        prompt_digest=draw(_PROMPTS),
        answer=draw(_TEXTS),
        judgement=draw(_TEXTS),
    )
