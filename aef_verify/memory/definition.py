"""An arm's `definition.json` and the suite that names it by content (docs/MEMORY_PAIR.md §2).

A definition says what is measured and how, and nothing of one execution: no pair id, no times, no results. Two
executions of one definition have one digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aef_verify.encoding.digests import bare
from aef_verify.memory import history, projection
from aef_verify.memory.digests import jcs_digest
from aef_verify.memory.judge import prompt_digests
from aef_verify.memory.model import ORACLE, RosterItem

FORMAT = "aef-verify-longmemeval-1"
"""The layout of `definition.json`."""

PATH = "ext/longmemeval/definition.json"
"""Where a run holds it."""

MEMBERS = (
    "format",
    "arm",
    "variant",
    "preset",
    "seed",
    "sourceInputsDigest",
    "roster",
    "historyFormat",
    "projection",
    "agent",
    "answer",
    "judge",
    "thresholds",
)

BETWEEN_ARMS = frozenset(("arm", "projection", "agent", "thresholds"))
"""The members in which the two definitions of a pair may differ."""


def arm_definition(
    *,
    arm: str,
    variant: str,
    preset: str,
    seed: int,
    source_inputs_digest: str,
    roster: Iterable[RosterItem],
    agent: Mapping[str, Any],
    answer: Mapping[str, Any],
    judge: Mapping[str, Any],
    thresholds: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the definition of one arm.

    Args:
        arm: `normal` or `oracle`.
        variant: one of `dataset.VARIANTS`.
        preset: one of `roster.PRESETS`.
        seed: what the roster was drawn with.
        source_inputs_digest: `sha256:…`, as `digests.source_inputs_digest` gives it.
        roster: the selected questions, in dataset order.
        agent: what answers: the agent under test, or the oracle's reader.
        answer: `model`, `version`, `temperature`, `maxTokens` of the answer call; the prompt's digest is added.
        judge: `model`, `temperature`, `maxTokens`, `labelRule`, `policy`; the prompts' digests are added.
        thresholds: what the gate decides by; ignored in the oracle, which has no gate.
    """
    oracle = arm == ORACLE
    return {
        "format": FORMAT,
        "arm": arm,
        "variant": variant,
        "preset": preset,
        "seed": seed,
        "sourceInputsDigest": source_inputs_digest,
        "roster": [{"id": item.id, "type": item.type} for item in roster],
        "historyFormat": history.FORMAT,
        "projection": projection.NAME if oracle else None,
        "agent": dict(agent),
        "answer": {**answer, "promptDigest": history.ANSWER_PROMPT_DIGEST},
        "judge": {**judge, "promptDigests": prompt_digests()},
        "thresholds": None if oracle or thresholds is None else dict(thresholds),
    }


def suite_ref(variant: str, preset: str, arm: str) -> str:
    """Return the `suite.ref` of an arm."""
    return f"suite:longmemeval-{variant}-{preset}-{arm}"


def suite_of(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `suite` of the run that holds the definition.

    Raises:
        ValueError: the definition holds a value that canonical JSON cannot represent.
    """
    digest = jcs_digest(definition)
    return {
        "ref": suite_ref(definition["variant"], definition["preset"], definition["arm"]),
        "version": "1+" + bare(digest)[:16],
        "digest": digest,
        "frozen": True,
    }
