"""The cases that are one call each: evidence options, interruption points, provider faults, usage errors."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping

from scripts.paired_memory.lab import QUESTIONS, Case, Stop

N = QUESTIONS
ARM = 2 * N
"""The requests of one arm that nothing disturbs: an answer and a verdict for each question."""

INT, TERM = signal.SIGINT, signal.SIGTERM
PAIR = f"normal completed {N}/{N} intact, oracle completed {N}/{N} intact -> linked"
WRITTEN = ("--paired-oracle", "--aef", "DIR")


def _status(status: int) -> dict[str, object]:
    return {"kind": "status", "status": status, "retryAfter": 0}


def _once(fault: Mapping[str, object], **more: object) -> dict[str, object]:
    """Hit every request once, and then let it through."""
    return {"faults": {"rate": 1, "most": 1, "of": [fault], **more}}


def options() -> Iterator[Case]:
    """Yield a case for each way in which evidence is written, or not."""
    yield Case("sealed pair", f"exit 0, {PAIR}", requests=2 * ARM)
    unsealed = PAIR.replace("intact", "unsealed").replace("linked", "linked-unsealed")
    yield Case("unsealed pair", f"exit 0, {unsealed}", (*WRITTEN, "--aef-unsealed"), requests=2 * ARM)
    yield Case("no pair asked for", "exit 0, a run that is no arm -> ", ("--aef", "DIR"), requests=ARM)
    yield Case("suppressed (--no-aef)", "exit 0, nothing on disk", ("--paired-oracle", "--no-aef"), requests=2 * ARM)
    yield Case("contents kept", f"exit 0, {PAIR}", (*WRITTEN, "--content", "on"), requests=2 * ARM)
    yield Case("better oracle, failed gate", f"exit 1, {PAIR}", (*WRITTEN, "--threshold", "99"), requests=2 * ARM)


def usage_errors() -> Iterator[Case]:
    """Yield a case for each usage error; the provider must not have been asked."""
    for words in (
        ("--no-aef", "--aef", "DIR"),
        ("--no-aef", "--aef-unsealed"),
        ("--aef", "DIR", "--aef-unsealed", "--aef-key", "no-such-key"),
        ("--aef-key", "no-such-key"),
        ("--aef-unsealed",),
        ("--aef", "DIR", "--aef-key", "no-such-key"),
        ("--aef", "DIR", "--max-questions", "0"),
        ("--aef", "DIR", "--endpoint", "http://192.0.2.1/v1"),
    ):
        yield Case(f"refused: {' '.join(words)}", "exit 2, nothing on disk", words, requests=0)


def interruptions() -> Iterator[Case]:
    """Yield a case for each row of the interruption table; one question at a time, so that counts are exact."""
    empty = f"normal aborted (interrupted) 0/{N} intact -> normal-only"
    normal = f"normal completed {N}/{N} intact"
    yield Case("stopped before preparation", "exit 1, nothing on disk", point="before-preparation", requests=0)
    yield Case("stopped before the first question", f"exit 1, {empty}", point="before-first-question", requests=0)
    for sign in (INT, TERM):
        yield Case(
            f"{sign.name} while the normal arm answers",
            f"exit 1, normal aborted (interrupted) 4/{N} intact -> normal-only",
            stop=Stop(7, (sign,)),
        )
    yield Case(
        "SIGINT while the normal arm judges",
        f"exit 1, normal aborted (interrupted) 1/{N} intact -> normal-only",
        stop=Stop(2, (INT,)),
    )
    yield Case("stopped between the arms", f"exit 1, {normal} -> normal-only", point="between-arms", requests=ARM)
    yield Case(
        "stopped once the oracle is prepared",
        f"exit 1, {normal}, oracle aborted (interrupted) 0/{N} intact -> linked",
        point="oracle-prepared",
        requests=ARM,
    )
    for sign in (INT, TERM):
        yield Case(
            f"{sign.name} while the oracle arm answers",
            f"exit 1, {normal}, oracle aborted (interrupted) 3/{N} intact -> linked",
            stop=Stop(ARM + 5, (sign,)),
        )


def provider_faults() -> Iterator[Case]:
    """Yield a case for each fault of a provider; the evidence must count every attempt."""
    linked = f"exit 0, {PAIR}"
    hit: dict[str, Mapping[str, object]] = {
        "429 with Retry-After": _status(429),
        "500": _status(500),
        "connection reset before a response": {"kind": "reset", "when": "before"},
        "connection reset within a response": {"kind": "reset", "when": "body"},
        "truncated body": {"kind": "truncated"},
        "malformed JSON": {"kind": "malformed"},
    }
    for name, fault in hit.items():
        yield Case(f"{name}, once each", linked, script=_once(fault), requests=4 * ARM)
    yield Case(
        "timeout, once each",
        linked,
        (*WRITTEN, "--timeout", "0.5", "--concurrency", "12"),
        script=_once({"kind": "timeout"}, purpose="answer"),
        requests=3 * ARM,
    )
    slow = {"kind": "drip", "piece": 64, "pauseMs": 1}
    yield Case("slow drip", linked, script={"faults": {"rate": 1, "of": [slow]}}, requests=2 * ARM)
    for name, fault in {"empty": {"kind": "empty"}, "non-yes/no": {"kind": "indecisive"}}.items():
        yield Case(f"{name} verdict, once each", linked, script=_once(fault, purpose="judge"), requests=3 * ARM)
        # Nothing scored: the gate is inconclusive, whatever the threshold.
        always = {"faults": {"rate": 1, "of": [fault], "purpose": "judge"}}
        yield Case(f"{name} verdicts, always", f"exit 1, {PAIR}", script=always, requests=4 * ARM)
    silent = {"faults": {"rate": 1, "of": [{"kind": "empty"}], "purpose": "answer"}}
    yield Case("empty answers, always", f"exit 1, {PAIR}", script=silent, requests=ARM)
    yield Case(
        "20 % of requests 429 or 500",
        f"exit 0, {PAIR.replace(str(N), '50')}",
        script={"faults": {"rate": 0.2, "seed": 5, "most": 3, "of": [_status(429), _status(500)]}},
        questions=50,
    )


def downs() -> Iterator[Case]:
    """Yield a case for a provider that stays down: ten questions in a row end an arm."""
    down = {"match": {}, "fault": {"kind": "reset"}}
    alone = ("--concurrency", "1", "--retries", "0")
    yield Case(
        "provider down from the start",
        f"exit 1, normal aborted (provider-unavailable) 10/{N} intact -> normal-only",
        (*WRITTEN, *alone),
        rules=[down],
        requests=10,
    )
    yield Case(
        "provider down after one question",
        f"exit 1, normal aborted (provider-unavailable) 11/{N} intact -> normal-only",
        (*WRITTEN, *alone),
        rules=[{**down, "skip": 2}],
        requests=12,
    )
    yield Case(
        "provider down in the oracle arm",
        f"exit 1, normal completed {N}/{N} intact, oracle aborted (provider-unavailable) 10/{N} intact -> linked",
        (*WRITTEN, *alone),
        rules=[{**down, "skip": ARM}],
        requests=ARM + 10,
    )
