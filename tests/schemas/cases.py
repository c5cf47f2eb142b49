"""What one change makes of a full document, for a writer and for a reader: a table, by rule."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from tests.schemas.full import EVENT, FULL, HEX, MAX, PEM, RESULT, SPAN, SUITE, T1, TRACE, URI, USAGE

GONE = object()
"""Instead of a value: the member is taken out."""

NO, READER, YES = (False, False), (False, True), (True, True)
"""Verdicts of (writer, reader)."""


class Case(NamedTuple):
    """A full document, changed at JSON pointers, and who takes it."""

    rule: str
    name: str
    document: str
    changes: dict[str, Any]
    verdict: tuple[bool, bool]

    def value(self) -> Any:
        """Return the changed document."""
        value = copy.deepcopy(FULL[self.document])
        for pointer, new in self.changes.items():
            *steps, last = pointer.split("/")[1:] or [""]
            if not pointer:
                value = copy.deepcopy(new)
                continue
            place = value
            for step in steps:
                place = place[int(step) if isinstance(place, list) else step]
            if isinstance(place, list):
                place[int(last)] = new
            elif new is GONE:
                del place[last]
            else:
                place[last] = copy.deepcopy(new)
        return value


def one(verdict: tuple[bool, bool], rule: str, document: str, pointer: str, *values: Any) -> list[Case]:
    """Return one case for each value that stands at the pointer."""
    return [Case(rule, f"{pointer} {_named(new)}", document, {pointer: new}, verdict) for new in values]


def _named(value: Any) -> str:
    text = "absent" if value is GONE else ascii(value)
    return text if len(text) < 50 else f"{text[:30]} ... {text[-10:]} ({len(text)})"


UNKNOWN = "something new"
EXECUTION_POLICY = "/suite/executionPolicy"
ENTRY = "/lanes/0/metrics/0"
NOT_MEASURED = {"/state": "not_measured", "/scores": GONE}
APPROVE = {"/kind": "approve", "/expires": GONE, "/reason": GONE}
TARGET = {"run": "run-1"}
UNDECIDED = {"/state": "planned", "/outcome": None, "/decision": GONE, "/decisionInput": GONE}

EVENTS: dict[str, dict[str, tuple[Any, Any]]] = {
    "job.accepted": {"planId": ("p", "a b"), "planDigest": (HEX, URI), "runnerId": ("r", "")},
    "job.refused": {"planId": ("p", ""), "planDigest": (HEX, HEX[1:]), "runnerId": ("r", "é"), "reason": ("no", "")},
    "plan.estimated": {
        "cases": (0, -1),
        "usdLow": (0, -0.5),
        "usdHigh": (0.5, "1"),
        "priceTable?": ("t", "x" * 65),
    },
    "spend.updated": {"spentUsd": (0.5, -1)},
    "case.completed": {"caseId": ("c é", "c\n"), "state": ("passed", UNKNOWN), "runId?": ("r", "")},
    "lane.completed": {"lane": ("l", "l m"), "status": ("failed", None)},
    "evidence.produced": {"runId": ("r", ""), "runHash": (HEX, URI)},
    "job.cancelled": {"reason": ("asked", "x" * 2049)},
    "job.failed": {"reason": ("limit", ""), "limit?": ("maxUsd", None), "runs?": (["r"], [""])},
    "job.sealed": {"runs": (["r"], [])},
}
"""The members of each kind of event, `?` for those it may lack: a value that is taken, and one that is not."""


def event_cases(kind: str, members: dict[str, tuple[Any, Any]]) -> list[Case]:
    """Return what a kind of event takes and refuses."""
    event = {**EVENT, "kind": kind} | {name.rstrip("?"): good for name, (good, _) in members.items()}
    variants: list[tuple[str, Any, tuple[bool, bool]]] = [
        ("whole", event, YES),
        ("with a member more", event | {"surprise": 1}, READER),
        ("without kind", {name: value for name, value in event.items() if name != "kind"}, NO),
    ]
    for name, (_, bad) in members.items():
        member = name.rstrip("?")
        rest = {other: value for other, value in event.items() if other != member}
        variants.append((f"without {member}", rest, YES if name.endswith("?") else NO))
        variants.append((f"with a wrong {member}", event | {member: bad}, NO))
    return [Case("STRM-1", f"{kind} {name}", "runner-event", {"": value}, verdict) for name, value, verdict in variants]


CASES: list[Case] = [
    # Numbers and lengths.
    *one(YES, "ENC-4", "result", "/turns", 1, 1.0, 2e0, MAX, float(MAX)),
    *one(NO, "ENC-4", "result", "/turns", 0, -1, 1.5, True, "1", None, MAX + 1, 2.0**53, 1e300, 10**30, [1]),
    *one(YES, "ENC-4", "result", "/reasoning/bytes", 0, -0.0, 0.0),
    *one(YES, "ENC-4", "result", "/scores/0/value", 0, -1, 1e300, -1e300, 5e-324, 10**30),
    *one(NO, "ENC-4", "result", "/scores/0/value", True, "1", None),
    *one(YES, "ENC-4", "run", "/subject/environment", "", "x" * 64, "😀" * 64, "e\u0301" * 32),
    *one(NO, "ENC-4", "run", "/subject/environment", "x" * 65, "😀" * 65, "e\u0301" * 33),
    *one(YES, "ENC-4", "result", "/component/weight", 0, 1e300),
    *one(NO, "ENC-4", "result", "/component/weight", -5e-324, -1, None),
    *one(NO, "ENC-2", "result", "/severity", None),
    *one(NO, "ENC-2", "result", "/ext", None),
    *one(NO, "ENC-2", "run", "/endedAt", None),
    *one(NO, "ENC-2", "run", "/suite", None),
    # Times, durations, versions, digests, identifiers.
    *one(YES, "ENC-8", "run", "/startedAt", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"),
    *one(NO, "ENC-8", "run", "/startedAt", "0000-01-01T00:00:00Z", "2026-02-31T00:00:00Z", T1 + "\n", T1[:-1]),
    *one(NO, "ENC-8", "run", "/startedAt", "2026-10-02T14:00:60Z", "2026-10-02T14:00:00.1234567890Z", 0, None),
    *one(YES, "ENC-9", "run-plan", "/limits/timeout", "P14D", "PT36H", "PT90M", "P1DT12H30M", "P0D", "P99999D"),
    *one(NO, "ENC-9", "run-plan", "/limits/timeout", "P", "PT", "P1DT", "PT30S", "P1W", "PT1M1H", "P100000D", "-P1D"),
    *one(NO, "ENC-9", "run-plan", "/limits/timeout", "P1D\n", " P1D", "p1d", "P1.5D", 1),
    *one(YES, "ENC-10", "run", "/subject/version", "latest-1", "x" * 128, "!~"),
    *one(NO, "ENC-10", "run", "/subject/version", "latest", "LATEST", "LaTeSt", "", "a b", "x" * 129, "1\n", "é", 1),
    *one(NO, "ENC-11", "result", "/annotator/promptHash", HEX, URI.upper(), URI[:-1], URI + "0", URI + "\n", "sha256:"),
    *one(NO, "ENC-11", "gate-decision", "/inputs/baselineRun/runHash", URI, HEX.upper(), HEX[:-1], HEX + "\n"),
    *one(YES, "ENC-13", "run", "/runId", "a", "A.b_c:d-1", "x" * 128),
    *one(NO, "ENC-13", "run", "/runId", "", "x" * 129, "a b", "a/b", "é", "a\n", "a\x00", 1, None),
    *one(YES, "ENC-13", "run", "/subject/ref", "a:x", "a" * 32 + ":" + "~" * 256, "a-1:b:c%20"),
    *one(NO, "ENC-13", "run", "/subject/ref", "a", ":x", "a:", "A:x", "1:x", "a:b c", "a:é", "a" * 33 + ":x"),
    *one(NO, "ENC-13", "run", "/subject/ref", "a:" + "~" * 257, "a:x\n"),
    *one(NO, "ENC-15", "overlay-event", "/eventId", "ov_1\n", "ov_", "OV_1", "ov_1-2", "ov_" + "a" * 65),
    *one(YES, "ENC-15", "overlay-event", "/eventId", "ov_" + "a" * 64),
    *one(NO, "ENC-15", "result", "/evidence/0", "E-1\n", "E-", "e-1", "E-" + "a" * 65),
    *one(YES, "ENC-15", "result", "/evidence/0", "E-" + "a" * 64),
    # Versions of documents.
    *one(READER, "VER-3", "run", "/schemaVersion", "1.1", "1.10", "1.99999999999999999999"),
    *one(
        NO, "VER-1", "run", "/schemaVersion", GONE, "1", "1.00", "1.01", "01.0", "1.0\n", "1.0 ", "v1.0", 1, 1.0, None
    ),
    *one(NO, "VER-4", "run", "/schemaVersion", "2.0", "0.9", "10.0"),
    *one(READER, "VER-3", "run", "/surprise", None, 1, {"a": []}),
    *one(READER, "VER-3", "run", "/execution/surprise", UNKNOWN),
    *one(READER, "VER-3", "result", "/aggregation/unmeasured/surprise", -1),
    *one(READER, "VER-3", "seal", "/predicate/judges/0/surprise", True),
    *one(READER, "VER-3", "seal", "/subject/0/digest/sha512", "00"),
    *one(READER, "VER-3", "checkpoint", "/decisionInput/lanes/0/result/surprise", 1),
    *one(NO, "VER-9", "run", "/status", UNKNOWN, "sealed", None),
    *one(NO, "VER-9", "result", "/state", UNKNOWN, None),
    *one(NO, "VER-9", "metrics", "/metrics/0/kind", UNKNOWN),
    *one(NO, "VER-9", "overlay-event", "/state", UNKNOWN),
    *one(NO, "VER-9", "trust-policy", "/surprise", 1),
    *one(NO, "VER-9", "trust-policy", "/keys/0/surprise", 1),
    *one(NO, "VER-9", "trust-policy", "/schemaVersion", "1.1", "2.0", None),
    # The run.
    *one(READER, "RUN-7", "run", "/execution/targetMode", UNKNOWN, ""),
    *one(NO, "RUN-7", "run", "/execution/targetMode", GONE, None, 1),
    *one(NO, "RUN-7", "run", "/execution", GONE, {}),
    *one(READER, "RUN-7", "run", "/execution/stimulus", UNKNOWN),
    *one(READER, "RUN-6", "run", "/subject/kind", UNKNOWN),
    *one(NO, "RUN-5", "run", "/endedAt", GONE),
    *one(NO, "RUN-5", "run", "/abortReason", "why"),
    *one(NO, "RUN-5", "run", "/status", "running", "aborted"),
    Case("RUN-5", "running", "run", {"/status": "running", "/endedAt": GONE}, YES),
    Case("RUN-5", "running with a reason", "run", {"/status": "running", "/endedAt": GONE, "/abortReason": "x"}, NO),
    Case("RUN-5", "aborted", "run", {"/status": "aborted", "/abortReason": "why"}, YES),
    Case("RUN-5", "aborted, empty reason", "run", {"/status": "aborted", "/abortReason": ""}, NO),
    Case("RUN-5", "aborted, no end", "run", {"/status": "aborted", "/abortReason": "why", "/endedAt": GONE}, NO),
    *one(NO, "RUN-8", "run", f"{EXECUTION_POLICY}/requirePasses", GONE, 0, 1001),
    Case("RUN-8", "no AtLeast", "run", {EXECUTION_POLICY: {"trialsPerCase": 1, "aggregation": "AllPass"}}, YES),
    *one(NO, "RUN-8", "run", f"{EXECUTION_POLICY}/trialsPerCase", GONE, 0, 1001, 1.5),
    *one(READER, "RUN-8", "run", f"{EXECUTION_POLICY}/aggregation", UNKNOWN),
    *one(NO, "RUN-8", "run", "/suite/version", GONE, "latest"),
    *one(READER, "RUN-9", "run", "/judges/0/mode", UNKNOWN),
    *one(NO, "RUN-9", "run", "/judges/0/provider", "", "x" * 129),
    *one(NO, "RUN-9", "run", "/judges/0/panelSize", 0, 65),
    *one(NO, "RUN-9", "run", "/judges", [{"model": "j"}] * 65),
    *one(NO, "RUN-9", "run", "/judges/0/calibration/kappa", -1.5, 1.5),
    *one(NO, "RUN-9", "run", "/judges/0/calibration/accuracy", -0.1, 1.1),
    *one(NO, "RUN-9", "run", "/judges/0/calibration/measuredAt", GONE, "yesterday"),
    *one(YES, "RUN-10", "run", "/deployment/endpoint", "https://h", "http://localhost:5080/v1/", "x+y://h/a@b"),
    *one(
        NO, "RUN-10", "run", "/deployment/endpoint", "https://u:p@h/", "https://u@h", "https://h/?k=1", "https://h/#f"
    ),
    *one(NO, "RUN-10", "run", "/deployment/endpoint", "https://", "h", "https://h/ x", "https://h\n", "https://h?k"),
    *one(NO, "RUN-10", "run", "/deployment/endpoint", "https://" + "h" * 2041),
    *one(READER, "RUN-11", "run", "/contentCapture", UNKNOWN),
    *one(YES, "RUN-11", "run", "/contentCapture", GONE, "off"),
    *one(NO, "RUN-12", "run", "/provenance/planDigest", GONE, URI),
    *one(NO, "RUN-15", "run", "/imported/asserted", GONE, ["a", "a"], [""], ["1a"], ["a" * 129], ["a b"], ["a"] * 65),
    *one(YES, "RUN-15", "run", "/imported/asserted", []),
    *one(YES, "RUN-10", "run", "/config", {}, {"thresholds": {}}, {"x": {"op": 1}}),
    *one(NO, "RUN-10", "run", "/config", [], {"thresholds": []}, {"thresholds": {"m": {"op": ">="}}}),
    *one(READER, "VER-8", "run", "/config/thresholds/a.b", {"op": "~=", "value": 1}, {"op": ">=", "value": 1, "x": 1}),
    *one(NO, "ENC-13", "run", "/otel/schemaUrls", ["https://a", "https://a"], ["a"], ["A:b"], ["x:" + "y" * 2047]),
    *one(NO, "ENC-14", "run", "/otel/semconvVersion", "1", "1.", "1.2.", "1.2.3.4", "v1.2", "1.2\n"),
    *one(YES, "ENC-2", "run", "/subject/externalIds", {}, {"": None}, {"a": "x" * 1024}),
    *one(NO, "ENC-2", "run", "/subject/externalIds", None, {"a": "x" * 1025}, {"a": 1}),
    # Results.
    *one(NO, "RES-2", "result", "/state", "not_measured", "not_applicable", "skipped", "error", "pending"),
    Case("RES-2", "absence", "result", NOT_MEASURED, YES),
    Case("RES-2", "absence without reason", "result", {**NOT_MEASURED, "/reason": GONE}, NO),
    Case("RES-2", "absence, empty reason", "result", {**NOT_MEASURED, "/reason": ""}, NO),
    Case("RES-2", "absence, empty scores", "result", {**NOT_MEASURED, "/scores": []}, NO),
    *one(YES, "RES-1", "result", "/state", "passed", "failed", "warn", "inconclusive", "scored"),
    *one(NO, "RES-4", "result", "/resultId", "r_" + "0" * 31, "r_" + "0" * 33, RESULT.upper(), RESULT + "\n", GONE),
    *one(NO, "RES-4", "result", "/caseId", "", "a\n", "a\x00", "\x7f", "\x85", "\x9f", "x" * 257, 1, None),
    *one(YES, "RES-4", "result", "/caseId", "\xa0", "\u2028", "😀" * 256, " "),
    *one(YES, "RES-4", "result", "/path", "x" * 1024),
    *one(NO, "RES-4", "result", "/path", "x" * 1025, "a\tb"),
    *one(YES, "RES-5", "result", "/parentResultId", None, RESULT, GONE),
    *one(NO, "RES-5", "result", "/parentResultId", "", "x", 0),
    *one(READER, "RES-6", "result", "/aggregation/strategy", UNKNOWN),
    *one(READER, "RES-6", "result", "/aggregation/rulePath", UNKNOWN),
    *one(NO, "RES-6", "result", "/aggregation/unmeasured/error", -1, None, 0.5),
    *one(YES, "RES-6", "result", "/aggregation/threshold", None, GONE, -5),
    *one(NO, "RES-8", "result", "/trial", 0),
    Case("RES-8", "a trial", "result", {"/trials": GONE, "/trial": 999}, YES),
    Case("RES-8", "a trial beyond", "result", {"/trials": GONE, "/trial": 1000}, NO),
    *one(NO, "RES-8", "result", "/trials/n", 0, 1001),
    *one(NO, "RES-8", "result", "/trials/agree", 1, "true", None),
    *one(READER, "RES-8", "result", "/trials/aggregation", UNKNOWN),
    *one(READER, "RES-9", "result", "/severity", UNKNOWN),
    *one(YES, "RES-10", "result", "/uncertainty", None, {}, {"stderr": 0}),
    *one(NO, "RES-10", "result", "/uncertainty", 1, {"ci": None}, {"stderr": -1}, {"stderr": None}),
    *one(NO, "RES-10", "result", "/uncertainty/ci/level", 0, 1, 1.0, -0.0, GONE),
    *one(YES, "RES-10", "result", "/scores/0/normalized", None, 0, 1, GONE),
    *one(NO, "RES-10", "result", "/scores/0/normalized", 1.5, -0.5, "1", False),
    *one(READER, "RES-10", "result", "/usage/0/role", UNKNOWN),
    *one(NO, "RES-10", "result", "/usage", [], [USAGE] * 9, [{}]),
    *one(NO, "RES-10", "result", "/usage/0/gen_ai.usage.input_tokens", -1, 0.5, None, "1"),
    *one(YES, "RES-10", "result", "/attack/success", True, None, GONE),
    *one(NO, "RES-10", "result", "/attack/success", 0, "no"),
    *one(READER, "RES-10", "result", "/attack/taxonomy/0/scheme", UNKNOWN),
    *one(NO, "RES-10", "result", "/attack/taxonomy", [{"scheme": "other", "id": "x"}] * 2, [{"id": "x"}]),
    *one(READER, "RES-10", "result", "/annotator/kind", UNKNOWN),
    *one(NO, "RES-10", "result", "/annotator/panel/of", 0, GONE),
    *one(YES, "RES-10", "result", "/traceLink", {"traceId": TRACE}),
    *one(NO, "RES-10", "result", "/traceLink", {"spanId": SPAN}, {"traceId": TRACE + "0"}, {"traceId": TRACE + "\n"}),
    *one(NO, "RES-11", "result", "/evaluator", GONE, {}, {"id": ""}, {"id": "x" * 257}),
    # Metrics and summary.
    *one(READER, "SUM-1", "metrics", "/metrics/0/direction", UNKNOWN),
    *one(NO, "SUM-1", "metrics", "/metrics/0/scale", None, "bounded", {"min": 0}, {"min": 0, "max": None}, GONE),
    *one(READER, "SUM-1", "metrics", "/metrics/0/scale", {"min": 0, "max": 1, "step": 1}),
    *one(NO, "SUM-1", "metrics", "/metrics", GONE, {}, [None]),
    *one(NO, "SUM-3", "summary", f"{ENTRY}/path", GONE, "", "a\n"),
    *one(READER, "SUM-6", "summary", f"{ENTRY}/verdict", UNKNOWN),
    *one(NO, "SUM-6", "summary", f"{ENTRY}/n", 0, 0.0, -0.0),
    Case("SUM-6", "nothing", "summary", {f"{ENTRY}/n": 0, f"{ENTRY}/value": None}, NO),
    Case(
        "SUM-6",
        "nothing measured",
        "summary",
        {f"{ENTRY}/n": 0.0, f"{ENTRY}/value": None, f"{ENTRY}/verdict": "not_measured"},
        YES,
    ),
    *one(YES, "SUM-6", "summary", f"{ENTRY}/value", None, -3),
    *one(NO, "SUM-6", "summary", f"{ENTRY}/value", GONE, "1"),
    *one(YES, "SUM-7", "summary", f"{ENTRY}/ci", None, GONE),
    *one(NO, "SUM-7", "summary", f"{ENTRY}/ci/level", 0, 1),
    *one(NO, "SUM-7", "summary", f"{ENTRY}/stderr", -0.1, "0"),
    *one(NO, "SUM-8", "summary", f"{ENTRY}/aggregate/method", GONE, "", "Median", "1st", "x" * 65, "median\n"),
    *one(NO, "SUM-8", "summary", f"{ENTRY}/sumSq", -1, None),
    *one(NO, "SUM-9", "summary", "/lanes/0/lane", GONE, "a b"),
    # Evidence and gates.
    *one(NO, "EVD-1", "evidence", "/digest", GONE),
    *one(NO, "EVD-1", "evidence", "/link", GONE, {}, {"traceId": TRACE}, {"spanId": SPAN}, None),
    *one(NO, "EVD-1", "evidence", "/link", {"traceId": TRACE, "spanId": SPAN}),
    *one(NO, "EVD-1", "evidence", "/link", {"blob": URI, "uri": "x:y"}, {"blob": URI, "spanId": SPAN}),
    *one(NO, "EVD-1", "evidence", "/link", {"blob": URI, "traceId": TRACE, "spanId": SPAN}),
    *one(READER, "EVD-1", "evidence", "/link", {"blob": URI, "surprise": 1}),
    *one(NO, "EVD-1", "evidence", "/link", {"surprise": 1}),
    Case("EVD-1", "a span", "evidence", {"/link": {"traceId": TRACE, "spanId": SPAN}, "/digest": GONE}, YES),
    Case("EVD-1", "a URI", "evidence", {"/link": {"uri": "https://example.org/x"}}, YES),
    Case("EVD-1", "a URI, no digest", "evidence", {"/link": {"uri": "x:y"}, "/digest": GONE}, YES),
    *[
        Case("EVD-1", f"a link {_named(link)}", "evidence", {"/link": link, "/digest": GONE}, NO)
        for link in (
            {"traceId": TRACE[1:], "spanId": SPAN},
            {"traceId": TRACE.upper(), "spanId": SPAN},
            {"traceId": TRACE, "spanId": SPAN + "0"},
            {"traceId": TRACE, "spanId": 1},
            {"traceId": None, "spanId": SPAN},
            {"uri": "x"},
            {"uri": "x:" + "y" * 2047},
            {"uri": None},
        )
    ],
    *one(READER, "EVD-1", "evidence", "/kind", UNKNOWN),
    *one(NO, "GATE-1", "gate-decision", "/comparability", "incomparable", GONE, None),
    Case("GATE-1", "incomparable", "gate-decision", {"/comparability": "incomparable", "/outcome": "no_ship"}, YES),
    Case("GATE-1", "incomparable, new", "gate-decision", {"/comparability": "incomparable", "/outcome": "x"}, READER),
    *one(READER, "GATE-1", "gate-decision", "/comparability", UNKNOWN),
    *one(READER, "GATE-1", "gate-decision", "/outcome", UNKNOWN),
    *one(NO, "GATE-1", "gate-decision", "/exitCode", -1, 256, 0.5),
    *one(NO, "GATE-2", "gate-decision", "/inputs/baselineRun", {"runId": "run-0"}, {"runHash": HEX}, None),
    # Seals and overlays.
    *one(NO, "SEAL-5", "seal", "/_type", GONE, "https://in-toto.io/Statement/v2"),
    *one(NO, "SEAL-5", "seal", "/predicateType", GONE, "https://agenteval.dev/aef/1/overlay-batch"),
    *one(NO, "SEAL-5", "seal", "/subject", [], GONE, {}),
    *one(YES, "SEAL-5", "seal", "/predicate/deployment", None),
    *one(NO, "SEAL-5", "seal", "/predicate/deployment", GONE, {}, []),
    *one(YES, "SEAL-5", "seal", "/predicate/suite", None),
    *one(NO, "SEAL-5", "seal", "/predicate/suite", GONE, {"ref": "suite:s"}),
    *one(YES, "SEAL-5", "seal", "/predicate/judges", []),
    *one(NO, "SEAL-5", "seal", "/predicate/judges", GONE, None),
    *one(NO, "SEAL-5", "seal", "/predicate/sealedAt", GONE, "2026-02-30T00:00:00Z"),
    *one(READER, "SEAL-5", "seal", "/predicate/sealedBy", UNKNOWN),
    *one(YES, "RUN-3", "seal", "/subject/0/name", "ext/a.b", "-a/_b", "x" * 255),
    *one(NO, "RUN-3", "seal", "/subject/0/name", "/a", "a/", "a//b", "./a", "a/..", ".a", "a.", "a b", "a\\b", "é"),
    *one(NO, "RUN-3", "seal", "/subject/0/name", "", "x" * 256, "a\n", "a/\n"),
    *one(NO, "OVL-1", "overlay-event", "/expires", GONE, "2026-02-29T00:00:00Z"),
    *one(NO, "OVL-1", "overlay-event", "/reason", GONE, ""),
    *one(NO, "OVL-1", "overlay-event", "/target", TARGET, {**TARGET, "blob": HEX}, {"requirement": "R"}, None),
    *one(YES, "OVL-1", "overlay-event", "/target", {**TARGET, "result": RESULT}),
    *one(NO, "OVL-1", "overlay-event", "/target", {**TARGET, "result": RESULT[1:]}, {**TARGET, "result": None}),
    Case("OVL-1", "redact by URI", "overlay-event", {"/kind": "redact", "/target": {**TARGET, "blob": URI}}, NO),
    *one(READER, "OVL-1", "overlay-event", "/kind", UNKNOWN),
    Case("OVL-1", "approve", "overlay-event", {**APPROVE, "/target": TARGET}, YES),
    Case("OVL-1", "approve a result", "overlay-event", {**APPROVE, "/target": {**TARGET, "result": RESULT}}, YES),
    Case("OVL-1", "approve a requirement", "overlay-event", APPROVE, NO),
    Case("OVL-1", "reject a blob", "overlay-event", {"/kind": "reject", "/target": {**TARGET, "blob": HEX}}, NO),
    *[
        Case("OVL-1", f"{kind} {name}", "overlay-event", {"/kind": kind, "/target": target, "/state": state}, verdict)
        for kind in ("override", "adjudicate")
        for name, target, state, verdict in (
            ("a result", {**TARGET, "result": RESULT}, "passed", YES),
            ("to pending", {**TARGET, "result": RESULT}, "pending", NO),
            ("a requirement", {**TARGET, "requirement": "R"}, "passed", NO),
            ("a result and a requirement", {**TARGET, "result": RESULT, "requirement": "R"}, "passed", NO),
            ("the run", TARGET, "passed", NO),
        )
    ],
    Case("OVL-1", "override without state", "overlay-event", {"/kind": "override", "/target/result": RESULT}, NO),
    Case("OVL-1", "redact", "overlay-event", {"/kind": "redact", "/target": {**TARGET, "blob": HEX}}, YES),
    Case("OVL-1", "redact nothing", "overlay-event", {"/kind": "redact", "/target": TARGET}, NO),
    Case(
        "OVL-1",
        "redact a result",
        "overlay-event",
        {"/kind": "redact", "/target": {**TARGET, "blob": HEX, "result": RESULT}},
        NO,
    ),
    *one(YES, "OVL-1", "overlay-event", "/kind", "acknowledge", "accept_baseline", "annotate"),
    Case("OVL-1", "annotate a blob", "overlay-event", {"/kind": "annotate", "/target/blob": HEX}, NO),
    *one(READER, "OVL-3", "overlay-event", "/by/assurance", UNKNOWN),
    *one(NO, "OVL-3", "overlay-event", "/by", GONE, {"identity": "x"}, {"identity": "", "assurance": "signed"}),
    *one(NO, "OVL-4", "overlay-seal", "/predicate/previous", None, GONE, {"path": "overlays/seal-0001.json"}),
    *one(NO, "OVL-4", "overlay-seal", "/predicate/batch", 1, 1.0, 0, 10000, 1.5, GONE, "2"),
    *one(YES, "OVL-4", "overlay-seal", "/predicate/batch", 2.0, 9999),
    Case("OVL-4", "the first", "overlay-seal", {"/predicate/batch": 1.0, "/predicate/previous": None}, YES),
    *one(NO, "OVL-4", "overlay-seal", "/predicate/previous/path", "overlays/seal-1.json", "seal-0001.json"),
    *one(
        NO, "OVL-4", "overlay-seal", "/predicate/previous/path", "overlays/seal-0001.json\n", "overlays/seal-0001xjson"
    ),
    *one(NO, "OVL-4", "overlay-seal", "/subject/0/name", "run.json"),
    *one(NO, "OVL-4", "overlay-seal", "/subject", [], [FULL["overlay-seal"]["subject"][0]] * 2),
    *one(NO, "OVL-4", "overlay-seal", "/predicate/length", 0, GONE),
    *one(NO, "OVL-4", "overlay-seal", "/predicate/runHash", GONE),
    *one(NO, "SIG-4", "trust-policy", "/keys", GONE, {}, [{}], [{"identity": "x"}]),
    *one(YES, "SIG-4", "trust-policy", "/keys", []),
    *one(YES, "SIG-4", "trust-policy", "/schemaVersion", GONE),
    *one(YES, "SIG-3", "trust-policy", "/keys/0/publicKey", PEM.replace("\n", "\r\n"), PEM[:-1]),
    *one(NO, "SIG-3", "trust-policy", "/keys/0/publicKey", PEM + "\n", " " + PEM, PEM.replace("M", "*"), "", PEM[1:]),
    *one(NO, "SIG-3", "trust-policy", "/keys/0/publicKey", PEM.replace("M", "M" * 65536)),
    *one(NO, "SIG-4", "trust-policy", "/keys/0/may", ["redact", "redact"], [""], ["x" * 65], None, ["x"] * 65),
    # Checkpoints and decisions.
    *one(READER, "CKP-7", "checkpoint", "/state", UNKNOWN),
    *one(READER, "CKP-7", "checkpoint", "/outcome", UNKNOWN),
    *one(NO, "CKP-4", "checkpoint", "/outcome", None, GONE, 1),
    *one(NO, "CKP-4", "checkpoint", "/decision", GONE, None),
    *one(NO, "CKP-4", "checkpoint", "/decisionInput", GONE, None),
    *one(NO, "CKP-4", "checkpoint", "/outcome", "aborted"),
    Case("CKP-4", "planned", "checkpoint", UNDECIDED, YES),
    Case("CKP-4", "planned, no outcome", "checkpoint", {**UNDECIDED, "/outcome": GONE}, YES),
    Case("CKP-4", "planned with outcome", "checkpoint", {**UNDECIDED, "/outcome": "approved"}, NO),
    *[
        Case("CKP-4", f"{state} with a decision", "checkpoint", {"/state": state, "/outcome": None}, NO)
        for state in ("draft", "planned", "approved_to_spend", "running", "evidence_complete")
    ],
    Case(
        "CKP-4",
        "aborted",
        "checkpoint",
        {"/outcome": "aborted", "/abortReason": "why", "/decision": GONE, "/decisionInput": GONE},
        YES,
    ),
    Case(
        "CKP-4",
        "aborted without reason",
        "checkpoint",
        {"/outcome": "aborted", "/decision": GONE, "/decisionInput": GONE},
        NO,
    ),
    *one(READER, "LANE-1", "checkpoint", "/lanes/0/rule", {"kind": "new"}, {"kind": "new", "lane": 1}),
    *one(NO, "LANE-1", "checkpoint", "/lanes/0/rule", {}, {"kind": 1}, {"kind": None}, None, {"kind": "threshold"}),
    *one(READER, "LANE-2", "checkpoint", "/lanes/0/rule/op", "~="),
    *one(NO, "LANE-2", "checkpoint", "/lanes/0/rule/path", GONE, "a\n"),
    *one(READER, "LANE-2", "checkpoint", "/lanes/1/rule/max", "critical"),
    *one(READER, "LANE-6", "checkpoint", "/lanes/2/rule/axes", ["weather"]),
    *one(NO, "LANE-6", "checkpoint", "/lanes/2/rule/axes", ["suite", "suite"], [None], GONE),
    *one(NO, "LANE-8", "checkpoint", "/lanes/2/rule/significance", 0, 1, 1.0),
    *one(NO, "LANE-1", "checkpoint", "/lanes/3/rule/runs", 0, GONE),
    *one(NO, "CKP-2", "checkpoint", "/lanes/0/runs/0", {"runId": "x", "runHash": HEX}),
    *one(NO, "CKP-2", "checkpoint", "/lanes/0/runs/0/origin", "found", "adopted:", "launched\n", "launchedx"),
    *one(NO, "CKP-2", "checkpoint", "/lanes", [], GONE),
    *one(READER, "CKP-6", "checkpoint", "/budget/approvedBy/assurance", UNKNOWN),
    *one(READER, "CKP-7", "checkpoint", "/decision/outcome", UNKNOWN, "aborted"),
    *one(READER, "CKP-7", "checkpoint", "/decision/lanes/0/status", UNKNOWN),
    *one(READER, "DEC-2", "checkpoint", "/decisionInput/lanes/0/result/status", UNKNOWN, "stale"),
    *one(READER, "CKP-7", "decision", "/outcome", UNKNOWN),
    *one(NO, "DEC-4", "decision", "/reasons", GONE, ["A:b"], ["a:"], ["a:b c"], ["a" + ":" + "x" * 129], ["a\n"]),
    *one(YES, "DEC-4", "decision", "/reasons", [], ["a"], ["a:" + "x" * 128]),
    *one(NO, "DEC-1", "decision#/$defs/input", "/lanes", [], GONE),
    *one(NO, "DEC-1", "decision#/$defs/input", "/lanes/0/evidence", GONE, [HEX, HEX], [URI], None),
    *one(YES, "DEC-1", "decision#/$defs/input", "/lanes/0/evidence", [], [HEX, "0" * 64]),
    *one(NO, "DEC-1", "decision#/$defs/input", "/lanes/0/blocking", "true", 1, GONE),
    *one(NO, "DEC-1", "decision#/$defs/input", "/exceptions/0/evidence", [], GONE),
    *one(NO, "DEC-1", "decision#/$defs/input", "/exceptions/0/expires", GONE, "2026-13-01T00:00:00Z"),
    *one(YES, "DEC-1", "decision#/$defs/input", "/supersededBy", GONE, "2"),
    *one(NO, "DEC-1", "decision#/$defs/input", "/supersededBy", "latest", 2),
    *one(READER, "ENC-19", "decision", "/ext", {}),
    *one(READER, "ENC-19", "seal", "/ext", {}),
    # Plans, runners, streams.
    *one(NO, "PLAN-1", "run-plan", "/zone", GONE, "EU", "", "x" * 65, "a\n"),
    *one(YES, "PLAN-1", "run-plan", "/isolation", "process", "container"),
    Case("PLAN-1", "container, no image", "run-plan", {"/isolation": "container", "/subject/image": GONE}, NO),
    Case("PLAN-1", "process, no image", "run-plan", {"/isolation": "process", "/subject/image": GONE}, YES),
    *one(READER, "PLAN-7", "run-plan", "/isolation", UNKNOWN),
    *one(READER, "PLAN-7", "run-plan", "/provider", UNKNOWN, "ci:", "ci:A", "ci:" + "a" * 65, "ci:a\n", ""),
    *one(YES, "PLAN-7", "run-plan", "/provider", "local", "docker", "k8s", "ci:" + "a" * 64),
    *one(NO, "PLAN-7", "run-plan", "/provider", None, 1, GONE),
    *one(READER, "PLAN-7", "run-plan", "/contentCapture", UNKNOWN),
    *one(NO, "PLAN-7", "run-plan", "/contentCapture", GONE, None),
    *one(READER, "PLAN-7", "run-plan", "/targetMode", UNKNOWN),
    *one(READER, "PLAN-3", "run-plan", "/credentialRefs/0/scheme", UNKNOWN),
    *one(READER, "PLAN-3", "run-plan", "/credentialRefs/0/purpose", UNKNOWN),
    *one(NO, "PLAN-3", "run-plan", "/credentialRefs/0/name", "key", "1A", "", "A B", "A" * 129, "A\n"),
    *one(NO, "PLAN-3", "run-plan", "/credentialRefs/0/path", "", "a b", "x" * 513),
    *one(READER, "PLAN-4", "run-plan", "/credentialRefs/0/value", "secret"),
    *one(NO, "PLAN-4", "run-plan", "/subject/endpoint", "https://u:p@h/", "https://h/?k=1"),
    *one(NO, "PLAN-1", "run-plan", "/limits", GONE, {}, {"maxUsd": -1}, {"maxUsd": 1, "cases": 0}),
    *one(NO, "PLAN-8", "run-plan", "/suites", [], GONE, [{"ref": "suite:s"}], [SUITE] * 65),
    *one(YES, "PLAN-1", "run-plan", "/baseline", {"policy": "last release"}, GONE),
    *one(NO, "PLAN-1", "run-plan", "/baseline", {}, {"runId": "x"}, None, {"policy": ""}),
    *one(NO, "PLAN-1", "run-plan", "/baseline", {"policy": "p", "runId": "x", "runHash": HEX}),
    *one(READER, "LANE-6", "run-plan", "/comparability/required", ["weather"]),
    *one(NO, "LANE-6", "run-plan", "/comparability/required", ["suite", "suite"], GONE),
    *one(READER, "PLAN-7", "runner", "/kind", UNKNOWN),
    *one(READER, "PLAN-7", "runner", "/os", UNKNOWN),
    *one(NO, "PLAN-7", "runner", "/providers", [], GONE, ["local"] * 17, [None]),
    *one(READER, "PLAN-7", "runner", "/providers", ["mainframe"]),
    *one(NO, "PLAN-7", "runner", "/targetModes", [], ["live", "live"], [1]),
    *one(READER, "PLAN-7", "runner", "/targetModes", ["dreamt"]),
    *one(NO, "PLAN-7", "runner", "/tags", GONE, ["GPU"], [""]),
    *one(NO, "PLAN-7", "runner", "/gpu", "yes", 1),
    *one(READER, "STRM-1", "runner-event", "/kind", UNKNOWN),
    *one(NO, "STRM-1", "runner-event", "/kind", GONE, None, 1, "job.accepted", "plan.estimated"),
    *one(READER, "STRM-1", "runner-event", "/limit", UNKNOWN),
    *one(NO, "STRM-1", "runner-event", "/seq", 0, 1.5, MAX + 1, GONE, "1"),
    *one(YES, "STRM-1", "runner-event", "/seq", 1.0, MAX),
    *one(NO, "STRM-1", "runner-event", "/reason", GONE, "", "x" * 2049),
    *one(READER, "STRM-1", "runner-event", "/spentUsd", 1),
    *[one_event for kind, members in EVENTS.items() for one_event in event_cases(kind, members)],
]
