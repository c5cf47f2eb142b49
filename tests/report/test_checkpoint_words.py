"""Rules, ages, exceptions and reasons in words [CKP-3], [CKP-6], [DEC-2], [DEC-4], [VER-8]."""

from __future__ import annotations

from typing import Any

import pytest

from aef_verify.codes import CODES, DECISION
from aef_verify.report.checkpoint_words import (
    age_words,
    exception_words,
    reason_words,
    rule_words,
    seconds_between,
    span_words,
)
from tests.report.reports import HASH, HOSTILE

THRESHOLD: dict[str, Any] = {
    "kind": "threshold",
    "lane": "quality",
    "metric": "answer_correct",
    "path": "answer",
    "op": ">=",
    "value": 0.8,
}
COMPARISON: dict[str, Any] = {
    "kind": "comparison",
    "lane": "quality",
    "metric": "score",
    "path": "qa",
    "baseline": {"runId": "run-1", "runHash": HASH},
    "significance": 0.05,
    "minimumPairs": 20,
    "axes": ["suite", "judges"],
}
EXCEPTION: dict[str, Any] = {
    "lane": "quality",
    "evidence": [HASH],
    "reason": "known",
    "by": {"identity": "oidc:acme/reviewer", "assurance": "signed"},
    "at": "2026-10-04T08:30:00Z",
    "expires": "2026-10-18T00:00:00Z",
}


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (THRESHOLD, "`answer_correct` at `answer` in lane `quality` ≥ 0.8"),
        (
            THRESHOLD | {"minimumN": 50.0, "suite": {"ref": "suite:support", "version": "14"}},
            "`answer_correct` at `answer` in lane `quality` ≥ 0.8, at least 50 cases, on suite:support 14",
        ),
        (
            THRESHOLD | {"op": "<", "suite": {"ref": "suite:s", "digest": f"sha256:{HASH}"}},
            f"`answer_correct` at `answer` in lane `quality` < 0.8, on suite:s with the content sha256:{HASH}",
        ),
        (
            THRESHOLD | {"op": "~"},
            "`answer_correct` at `answer` in lane `quality` ~ (an operator that this version does not know) 0.8",
        ),
        ({"kind": "severity", "max": "low"}, "no failure worse than low, at least 1 decided result"),
        (
            {"kind": "severity", "max": "none", "lane": "a", "path": "p", "minimumN": 3},
            "no failure worse than none in lane `a` at or below `p`, at least 3 decided results",
        ),
        (
            {"kind": "severity", "max": "dire"},
            "no failure worse than dire (a severity that this version does not know), at least 1 decided result",
        ),
        ({"kind": "evidence-present", "runs": 1}, "at least 1 run that counts as evidence"),
        ({"kind": "evidence-present", "runs": 2}, "at least 2 runs that count as evidence"),
        (
            COMPARISON,
            "`score` at `qa` in lane `quality` is not significantly worse than in run run-1 (abababababab): sign test "
            "at 0.05, at least 20 pairs that differ, both alike in suite, judges",
        ),
        ({"kind": "oracle"}, "a rule of the kind oracle, which this version does not know"),
    ],
)
def test_a_rule_is_one_sentence(rule: dict[str, Any], words: str) -> None:
    assert rule_words(rule) == words


def test_no_rule_can_steer_a_terminal() -> None:
    for rule in (
        {"kind": HOSTILE},
        THRESHOLD | {"metric": HOSTILE, "path": HOSTILE, "op": HOSTILE, "suite": {"ref": HOSTILE, "version": HOSTILE}},
        {"kind": "severity", "max": HOSTILE, "path": HOSTILE},
        COMPARISON | {"axes": [HOSTILE]},
    ):
        assert rule_words(rule).isprintable()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "less than a second"),
        (1, "1 second"),
        (125, "2 minutes 5 seconds"),
        (3600, "1 hour"),
        (3659, "1 hour"),
        (86_400 + 3 * 3600 + 59, "1 day 3 hours"),
        (14 * 86_400, "14 days"),
        (14 * 86_400 + 59, "14 days"),
    ],
)
def test_a_span_has_its_two_largest_units(seconds: int, words: str) -> None:
    assert span_words(seconds) == words


@pytest.mark.parametrize(
    ("earlier", "later", "seconds"),
    [
        ("2026-10-02T00:00:00Z", "2026-10-02T00:00:01Z", 1),
        ("2026-10-02T00:00:00.5Z", "2026-10-02T00:00:01Z", 0),
        ("2026-10-02T00:00:01Z", "2026-10-02T00:00:00.5Z", -1),
        ("2024-02-28T00:00:00Z", "2024-03-01T00:00:00Z", 2 * 86_400),
    ],
)
def test_seconds_are_counted_down(earlier: str, later: str, seconds: int) -> None:
    assert seconds_between(earlier, later) == seconds


@pytest.mark.parametrize(
    ("closed", "freshness", "at", "words"),
    [
        (
            "2026-10-02T14:21:07.352Z",
            "P14D",
            "2026-10-05T14:21:07.352Z",
            "closed 3 days ago, fresh for 14 days, until 2026-10-16T14:21:07.352Z",
        ),
        ("2026-10-02T00:00:00Z", None, "2026-10-02T00:00:00Z", "closed less than a second ago, may be of any age"),
        (
            "2026-10-02T00:00:00Z",
            "PT36H",
            "2026-10-01T22:00:00Z",
            "closed 2 hours after this time, fresh for 1 day 12 hours, until 2026-10-03T12:00:00Z",
        ),
        ("9999-12-31T00:00:00Z", "P99999D", "9999-12-31T00:00:01Z", "closed 1 second ago, fresh for 99,999 days"),
    ],
)
def test_ckp3_age_stands_beside_what_is_allowed(closed: str, freshness: str | None, at: str, words: str) -> None:
    assert age_words(closed, freshness, at) == words


@pytest.mark.parametrize(
    ("at", "holds"),
    [
        ("2026-10-04T08:29:59.999Z", "not yet in force"),
        ("2026-10-04T08:30:00Z", "in force"),
        ("2026-10-17T23:59:59.999999999Z", "in force"),
        ("2026-10-18T00:00:00.000Z", "expired"),
    ],
)
def test_an_exception_says_whether_it_holds(at: str, holds: str) -> None:
    """[DEC-2]: in force from its time on, until it expires."""
    words = exception_words(EXCEPTION, at, ())
    assert f" from 2026-10-04T08:30:00Z until 2026-10-18T00:00:00Z ({holds}): known" in words


def test_ckp6_assurance_is_what_was_verified() -> None:
    by = "accepted by oidc:acme/reviewer "
    at = EXCEPTION["at"]
    assert exception_words(EXCEPTION, at, ()).startswith(by + "(signed is claimed, not verified) from ")
    assert exception_words(EXCEPTION, at, ("spiffe://acme/ci",)).startswith(by + "(signed is claimed, not verified)")
    assert exception_words(EXCEPTION, at, ("oidc:acme/reviewer",)).startswith(by + "(who signed this checkpoint)")
    asked = EXCEPTION | {"requirement": "REQ-1"}
    assert " for REQ-1 from " in exception_words(asked, at, ())


def test_no_exception_can_steer_a_terminal() -> None:
    hostile = EXCEPTION | {"reason": HOSTILE, "by": {"identity": HOSTILE, "assurance": HOSTILE}}
    assert exception_words(hostile, "2026-10-05T00:00:00Z", (HOSTILE,)).isprintable()
    assert exception_words(hostile, "2026-10-05T00:00:00Z", ()).isprintable()


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("stale:quality", "stale"),
        ("advisory-failed:red-team", "advisory-failed"),
        ("superseded:2.0", "superseded"),
        ("outcome:blocked", "blocked"),
        ("failed:a:b", "failed"),
    ],
)
def test_dec4_a_reason_is_explained(reason: str, code: str) -> None:
    assert reason_words(reason) == (reason, CODES[DECISION, code].meaning)


def test_a_reason_that_nobody_knows_is_shown() -> None:
    assert reason_words("weather:bad") == ("weather:bad", "")
    assert reason_words("outcome:stale-bread") == ("outcome:stale-bread", "")
