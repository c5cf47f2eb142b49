"""Every code of 03 §3.9: the smallest run that shows it, and one that just avoids it.

[ENC-1] to [ENC-8], [ENC-16] to [ENC-18], [RUN-2], [RUN-3], [RUN-5], [RUN-8], [RUN-9], [RUN-11], [RUN-14], [RES-3] to
[RES-6], [RES-8], [RES-10], [SUM-1] to [SUM-6], [SUM-8], [SUM-9], [EVD-1] to [EVD-3], [GATE-1], [GATE-2], [SEC-6].
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.verify import verify_run
from tests import building
from tests.building import (
    ENDED,
    RUN_ID,
    SPAN,
    STARTED,
    TRACE,
    Case,
    Edit,
    Json,
    aggregation,
    also,
    child,
    compact,
    drop,
    entry,
    evidence,
    gate,
    lane,
    lines,
    metric,
    pairs,
    put,
    records,
    result,
    result_id,
    rollup,
    score,
    sealed,
    spans,
)

RESULTS, EVIDENCE, GATES = "results.ndjson", "evidence.ndjson", "gates.ndjson"
TRACES, LOGS = "traces.otlp.jsonl", "logs.otlp.jsonl"
LINE = compact(result("c1"))
BLOB = b"a blob"
HEX = building.sha256(BLOB)
PATH = building.blob_path(HEX)
OFF = put("run.json", "contentCapture", "off")
R1, R2, R3 = ([f"{RESULTS}:{number}"] for number in (1, 2, 3))
BLOB_LINK = evidence("E-1", {"blob": f"sha256:{HEX}"}, digest=f"sha256:{HEX}")
SPAN_LINK = evidence("E-1", {"traceId": TRACE, "spanId": SPAN}, kind="span")
URI_LINK = evidence("E-1", {"uri": "https://example.org/"})


def blob(data: bytes = BLOB) -> Edit:
    return lambda run: run.blob(data)


def at(place: list[str], code: str) -> list[list[str]]:
    return [[*place, code]]


def parent(**members: Any) -> Json:
    """State a composite of one child, of case c1."""
    return result("c1", aggregation=aggregation(1, **members))


def judge(**calibration: Any) -> Edit:
    facts = {"labelSet": "labels:gold", "n": 5, "measuredAt": STARTED} | calibration
    return put("run.json", "judges", [{"model": "judge-1", "calibration": facts}])


def reasoning(size: int, name: str = HEX) -> Json:
    return result("c1", reasoning={"blob": f"sha256:{name}", "bytes": size})


def panel(agree: int, of: int) -> Json:
    return result("c1", annotator={"kind": "LLM", "panel": {"agree": agree, "of": of}})


def usage(*parties: tuple[str, str | None]) -> list[Json]:
    return [{"role": role} | ({} if model is None else {"model": model}) for role, model in parties]


def interval(low: float, high: float) -> Json:
    return {"low": low, "high": high, "level": 0.95}


def attributes(*keys: str) -> Json:
    return {"attributes": [{"key": key, "value": {"stringValue": "x"}} for key in keys]}


TRIAL_0, TRIAL_1 = result("c1", trial=0), result("c1", trial=1)
ROLLUP = rollup("c1", n=2, passed=2, agree=True)
PARENTS = [result("c1", trial=0, aggregation=aggregation(1)), child("c1", "a", trial=0)]
ROLLUPS = [
    rollup("c1", n=1, passed=1, agree=True, aggregation=aggregation(1)),
    child("c1", "a", trials={"n": 1, "passed": 1, "aggregation": "AnyPass", "agree": True}),
]

GROUP_A = [
    Case("encoding", (put("run.json", b"\xef\xbb\xbf{}"),), [["run.json", "encoding"]], ()),
    Case("encoding", (put("metrics.json", b"[]"),), [["metrics.json", "encoding"]], ()),
    Case("encoding", (put("summary.json", b'{"a":1e400}'),), [["summary.json", "encoding"]], ()),
    Case("encoding", (put(RESULTS, LINE[:-1]),), [[RESULTS, "encoding"]], (put(RESULTS, LINE),)),
    Case("encoding", (put(RESULTS, LINE + b"\n"),), [[RESULTS, "encoding"]], (put(RESULTS, LINE[:-1] + b" \n"),)),
    Case("encoding", (put(RESULTS, LINE[:-1] + b"\r\n"),), [[RESULTS, "encoding"]], (put(RESULTS, b"\t" + LINE),)),
    Case("encoding", (put(RESULTS, b"\xef\xbb\xbf" + LINE),), [[RESULTS, "encoding"]], (put(RESULTS, b""),)),
    Case("encoding", (put(RESULTS, LINE + b" \n"),), at(R2, "encoding"), (put(RESULTS, b" " + LINE),)),
    Case("encoding", (put(RESULTS, b"[]\n"),), at(R1, "encoding"), ()),
    Case("encoding", (put(RESULTS, LINE[:-2] + b',"ext":{"a":1,"a":1}}\n'),), at(R1, "encoding"), ()),
    Case("encoding", (put(RESULTS, LINE[:-2] + b',"ext":{"a":"\\ud800"}}\n'),), at(R1, "encoding"), ()),
    Case(
        "encoding",
        (put(RESULTS, LINE[:-2] + b',"ext":{"a":1e400}}\n'),),
        at(R1, "encoding"),
        (put(RESULTS, LINE[:-2] + b',"ext":{"a":1e-400}}\n'),),
    ),
    Case("encoding", (put(EVIDENCE, b"{}\n{"),), [[EVIDENCE, "encoding"]], (put(EVIDENCE, b""),)),
    Case("encoding", (put(GATES, b"\n"),), [[GATES, "encoding"]], (put(GATES, b""),)),
    Case("encoding", (put(TRACES, b"{}\n{}\nnull\n"),), [[f"{TRACES}:3", "encoding"]], (put(TRACES, b"{}\n{}\n"),)),
    Case("encoding", (put(LOGS, b"{}\r\n"),), [[LOGS, "encoding"]], (put(LOGS, b"{}\n"),)),
    Case(
        "limit",
        (
            put("run.json", "ext", {"a": b""}),
            put("run.json", b'{"a":' * 65),
        ),
        [["run.json", "limit"]],
        (put("run.json", "ext", {}),),
    ),
    Case(
        "limit",
        (put(RESULTS, LINE[:-2] + b',"ext":' + b'{"a":' * 64 + b"1" + b"}" * 65 + b"\n"),),
        at(R1, "limit"),
        (put(RESULTS, LINE[:-2] + b',"ext":' + b'{"a":' * 63 + b"1" + b"}" * 64 + b"\n"),),
    ),
    Case("schema", (drop("run.json"),), [["run.json", "schema"]], ()),
    Case("schema", (drop(RESULTS),), [[RESULTS, "schema"]], ()),
    Case("schema", (drop("metrics.json"),), [["metrics.json", "schema"]], ()),
    Case(
        "schema",
        (drop("summary.json"),),
        [["summary.json", "schema"]],
        (drop("summary.json"), put("run.json", "status", "running"), drop("run.json", "endedAt")),
    ),
    Case("schema", (drop("run.json", "execution"),), [["run.json", "schema"]], ()),
    Case("schema", (put("run.json", "status", "sealed"),), [["run.json", "schema"]], ()),
    Case("schema", (put("run.json", "execution", {}),), [["run.json", "schema"]], ()),
    Case("schema", (put("run.json", "abortReason", "x"),), [["run.json", "schema"]], ()),
    Case(
        "schema",
        (put("run.json", "status", "aborted"),),
        [["run.json", "schema"]],
        (put("run.json", "status", "aborted"), put("run.json", "abortReason", "x")),
    ),
    Case(
        "schema",
        (put("run.json", "endedAt", "2026-02-31T00:00:00Z"),),
        [["run.json", "schema"]],
        (put("run.json", "endedAt", "2027-02-28T00:00:00Z"),),
    ),
    Case(
        "schema",
        (put("run.json", "schemaVersion", "2.0"),),
        [["run.json", "schema"]],
        (put("run.json", "schemaVersion", "1.7"), put("run.json", "novel", 1)),
    ),
    Case(
        "schema",
        (put("run.json", "deployment", {"ref": "site:a", "endpoint": "https://user:pw@example.org/"}),),
        [["run.json", "schema"]],
        (put("run.json", "deployment", {"ref": "site:a", "endpoint": "https://example.org/"}),),
    ),
    Case("schema", (lines(result("c1", state="skipped", scores=[score(0)])),), at(R1, "schema"), ()),
    Case("schema", (lines(result("c1", state="error", reason="")),), at(R1, "schema"), ()),
    Case("schema", (lines(result("c1", state="unheard")),), at(R1, "schema"), ()),
    Case("schema", (lines(result("c\x1f1")),), at(R1, "schema"), (lines(result("c 1")),)),
    Case("schema", (lines(result("c1", trial=0, trials=ROLLUP["trials"])),), at(R1, "schema"), ()),
    Case("schema", (lines({**result("c1"), "evaluator": {}}),), at(R1, "schema"), (lines(result("c1", later=1)),)),
    Case("schema", (lines(result("c1", turns=1.5)),), at(R1, "schema"), (lines(result("c1", turns=2.0)),)),
    Case("schema", (lines(evidence("E-1", {}), file=EVIDENCE),), [[f"{EVIDENCE}:1", "schema"]], ()),
    Case(
        "schema",
        (blob(), lines({**BLOB_LINK, "link": BLOB_LINK["link"] | {"uri": "x:y"}}, file=EVIDENCE)),
        [[f"{EVIDENCE}:1", "schema"]],
        (lines(URI_LINK, file=EVIDENCE),),
    ),
    Case("path", (put(".DS_Store", b""),), [[".DS_Store", "path"]], (put("DS_Store", b""),)),
    Case("path", (put("ext/a", b""), put("ext/A", b"")), [["ext/a", "path"]], (put("ext/a", b""),)),
    Case("path", (put("ext/aux.txt", b""),), [["ext/aux.txt", "path"]], (put("ext/auxx.txt", b""),)),
    Case("path", (put("overlays", b""),), [["overlays", "path"]], (put("ext/overlays", b""),)),
    Case("path", (put("Overlays/x", b""),), [["Overlays/x", "path"]], (put("overlays/ x", b""),)),
    Case(
        "path",
        (put("ext/" + "/".join(["d" * 60] * 4) + "/" + "e" * 8, b""),),
        [["ext/" + "/".join(["d" * 60] * 4) + "/" + "e" * 8, "path"]],
        (put("ext/" + "/".join(["d" * 60] * 4) + "/" + "e" * 7, b""),),
    ),
]

GROUP_B = [
    Case("result-id", (lines(result("c1", resultId=result_id("c2"))),), at(R1, "result-id"), (lines(result("c1")),)),
    Case("result-id", (lines(result("c1"), result("c1")),), at(R2, "result-id"), (lines(result("c1"), result("c2")),)),
    Case(
        "result-id",
        (lines(result("é", resultId=result_id("e\u0301"))),),
        at(R1, "result-id"),
        (lines(result("é"), result("e\u0301"), result("é", "ü/ß"), result("\U0001f600")),),
    ),
    Case(
        "result-id",
        (put("run.json", "runId", "run-2"), put("summary.json", "runId", "run-2"), lines(result("c1"))),
        at(R1, "result-id"),
        (lines(result("c1")),),
    ),
    Case(
        "parent",
        (lines(child("c1", "a")),),
        at(R1, "parent"),
        (lines(child("c1", "a"), parent()),),
    ),
    Case(
        "parent",
        (lines(parent(), child("c2", "a", parentResultId=result_id("c1"))),),
        at(R2, "parent"),
        (lines(parent(), child("c1", "a", parentResultId=result_id("c1"))),),
    ),
    Case(
        "parent",
        (lines(result("c1", parentResultId=result_id("c9"), component={"weight": 1, "required": False})),),
        at(R1, "parent"),
        (lines(result("c1", parentResultId=None)),),
    ),
    Case(
        "component",
        (lines(parent(), result("c1", "qa/a", parentResultId=result_id("c1"))),),
        at(R2, "component"),
        (lines(parent(), child("c1", "a")),),
    ),
    Case(
        "aggregation",
        (lines(result("c1"), child("c1", "a")),),
        at(R1, "aggregation"),
        (lines(parent(), child("c1", "a")),),
    ),
    Case(
        "aggregation",
        (lines(result("c1", aggregation=aggregation(2)), child("c1", "a")),),
        at(R1, "aggregation"),
        (lines(result("c1", aggregation=aggregation(2)), child("c1", "a"), child("c1", "b")),),
    ),
    Case(
        "aggregation",
        (lines(result("c1", aggregation=aggregation(1))),),
        at(R1, "aggregation"),
        (lines(result("c1", aggregation=aggregation(0))),),
    ),
    Case(
        "aggregation",
        (lines(parent(measured=0), child("c1", "a")),),
        at(R1, "aggregation"),
        (lines(parent(measured=0, unmeasured={"error": 1, "skipped": 0}), child("c1", "a")),),
    ),
    Case(
        "aggregation",
        (lines(parent(measured=2), child("c1", "a")),),
        at(R1, "aggregation"),
        (lines(parent(measured=1, unmeasured={}), child("c1", "a")),),
    ),
    Case(
        "aggregation",
        (lines(parent(unmeasured={"skipped": 1}), child("c1", "a")),),
        at(R1, "aggregation"),
        (lines(parent(unmeasured={"skipped": 0}), child("c1", "a")),),
    ),
    Case(
        "aggregation",
        (lines(parent(decisive=[result_id("c1")]), child("c1", "a")),),
        at(R1, "aggregation"),
        (lines(parent(decisive=[result_id("c1", "qa/a")]), child("c1", "a")),),
    ),
    Case("annotator", (lines(panel(3, 2)),), at(R1, "annotator"), (lines(panel(2, 2)),)),
    Case(
        "trials", (lines(TRIAL_0, TRIAL_1),), [*at(R1, "trials"), *at(R2, "trials")], (lines(TRIAL_0, TRIAL_1, ROLLUP),)
    ),
    Case(
        "trials",
        (lines(TRIAL_0, TRIAL_1, rollup("c1", n=1, passed=1, agree=True)),),
        at(R3, "trials"),
        (lines(TRIAL_0, rollup("c1", n=1, passed=1, agree=True)),),
    ),
    Case(
        "trials",
        (lines(TRIAL_0, TRIAL_1, rollup("c1", n=2, passed=1, agree=True)),),
        at(R3, "trials"),
        (lines(TRIAL_0, TRIAL_1, ROLLUP),),
    ),
    Case(
        "trials",
        (lines(TRIAL_0, TRIAL_1, rollup("c1", n=2, passed=2, agree=False)),),
        at(R3, "trials"),
        (lines(TRIAL_0, result("c1", trial=1, state="warn"), rollup("c1", n=2, passed=1, agree=False)),),
    ),
    Case(
        "trials",
        (lines(rollup("c1", n=1, passed=2, agree=True)),),
        at(R1, "trials"),
        (lines(TRIAL_0, rollup("c1", n=1, passed=1, agree=True)),),
    ),
    Case(
        "trials",
        (lines(TRIAL_0, TRIAL_1, ROLLUP, ROLLUP),),
        [[f"{RESULTS}:4", "result-id"], [f"{RESULTS}:4", "trials"]],
        (lines(TRIAL_0, TRIAL_1, ROLLUP),),
    ),
    Case(
        "trials",
        (lines(*PARENTS, ROLLUPS[0], rollup("c1", "qa/a", n=1, passed=1, agree=True)),),
        [[f"{RESULTS}:3", "aggregation"], [f"{RESULTS}:4", "trials"]],
        (lines(*PARENTS, *ROLLUPS),),
    ),
    Case(
        "trials",
        (lines(parent(), child("c1", "a"), child("c1", "b", trial=0, parentResultId=result_id("c1"))),),
        [[f"{RESULTS}:1", "aggregation"], [f"{RESULTS}:3", "trials"]],
        (lines(parent(), child("c1", "a")),),
    ),
    Case(
        "pending",
        (lines(result("c1", state="pending")),),
        at(R1, "pending"),
        (
            lines(result("c1", state="pending")),
            put("run.json", "status", "running"),
            drop("run.json", "endedAt"),
            drop("summary.json"),
        ),
    ),
    Case(
        "evidence",
        (lines(result("c1", evidence=["E-1", "E-2"])), lines(URI_LINK, file=EVIDENCE)),
        at(R1, "evidence"),
        (lines(result("c1", evidence=["E-1"])), lines(URI_LINK, file=EVIDENCE)),
    ),
    Case("evidence", (lines(result("c1", evidence=["E-1"])),), at(R1, "evidence"), (lines(result("c1", evidence=[])),)),
    Case(
        "evidence-id",
        (lines(URI_LINK, URI_LINK, file=EVIDENCE),),
        [[f"{EVIDENCE}:2", "evidence-id"]],
        (lines(URI_LINK, {**URI_LINK, "evidenceId": "E-01"}, file=EVIDENCE),),
    ),
    Case(
        "evidence-digest",
        (blob(), lines({**BLOB_LINK, "digest": "sha256:" + "0" * 64}, file=EVIDENCE)),
        [[f"{EVIDENCE}:1", "evidence-digest"]],
        (blob(), lines(BLOB_LINK, {**URI_LINK, "evidenceId": "E-2", "digest": "sha256:" + "0" * 64}, file=EVIDENCE)),
    ),
    Case(
        "blob",
        (lines(BLOB_LINK, file=EVIDENCE),),
        [[f"{EVIDENCE}:1", "blob"]],
        (blob(), lines(BLOB_LINK, file=EVIDENCE)),
    ),
    Case("blob", (lines(reasoning(6)),), at(R1, "blob"), (blob(), lines(reasoning(6)))),
    Case(
        "blob",
        (put(f"blobs/sha256/{HEX}", BLOB), put(f"blobs/sha256/ff/{HEX}", BLOB), lines(reasoning(6))),
        at(R1, "blob"),
        (blob(), put(f"blobs/sha256/ff/{HEX}", b"no blob of the format"), lines(reasoning(6))),
    ),
    Case("blob-digest", (put(PATH, b"another"),), [[PATH, "blob-digest"]], (put(PATH, BLOB),)),
    Case("reasoning-size", (blob(), lines(reasoning(5))), at(R1, "reasoning-size"), (blob(), lines(reasoning(6)))),
    Case(
        "metric",
        (lines(result("c1", scores=[score(1, "unheard")])),),
        at(R1, "metric"),
        (lines(result("c1", scores=[score(1, "unheard")])), metric("unheard")),
    ),
    Case(
        "metric",
        (lines(result("c1", scores=[score(1), score(1)])),),
        at(R1, "metric"),
        (lines(result("c1", scores=[score(1), score(1, "pass")])),),
    ),
    Case("metric", (metric("score"),), [["metrics.json", "metric"]], (metric("Score"),)),
    Case(
        "metric",
        (put("metrics.json", "metrics", 0, "scale", "min", 1.5),),
        [["metrics.json", "metric"]],
        (put("metrics.json", "metrics", 0, "scale", "min", 1),),
    ),
    Case(
        "metric", (lane(entry("unheard")),), [["summary.json", "metric"]], (lane(entry("unheard")), metric("unheard"))
    ),
    Case(
        "summary-run-id",
        (put("summary.json", "runId", "run-0002"),),
        [["summary.json", "summary-run-id"]],
        (put("summary.json", "runId", RUN_ID),),
    ),
    Case(
        "summary",
        (lines(result("c1", scores=[score(0.5)])), lane(entry("score"))),
        [["summary.json", "summary"]],
        (lines(result("c1", scores=[score(0.5)])), lane(entry("score", N=1, n=1, value=0.5))),
    ),
    Case(
        "summary", (lane(entry("score", N=1, notMeasured=1)),), [["summary.json", "summary"]], (lane(entry("score")),)
    ),
    Case("summary-duplicate", (lane(), lane()), [["summary.json", "summary-duplicate"]], (lane(), lane(name="Main"))),
    Case(
        "summary-duplicate",
        (lane(entry("score"), entry("score")),),
        [["summary.json", "summary-duplicate"]],
        (lane(entry("score"), entry("score", "q"), entry("pass")), lane(entry("score"), name="b")),
    ),
    Case(
        "summary-duplicate",
        (put("summary.json", "usage", usage(("agent", None), ("agent", None))),),
        [["summary.json", "summary-duplicate"]],
        (put("summary.json", "usage", usage(("agent", None), ("agent", "m"), ("judge", None), ("agent", "M"))),),
    ),
    Case(
        "gate",
        (lines(gate(inputs={"results": [result_id("c1")]}), file=GATES),),
        [[f"{GATES}:1", "gate"]],
        (lines(gate(inputs={"results": [result_id("c1")]}), file=GATES), lines(result("c1"))),
    ),
    Case(
        "gate",
        (lines(gate(), gate(decisive=[result_id("c1")]), file=GATES),),
        [[f"{GATES}:2", "gate"]],
        (lines(gate(), gate(decisive=[]), file=GATES),),
    ),
    Case(
        "gate",
        (lines(gate(comparability="unheard"), file=GATES),),
        [[f"{GATES}:1", "gate"]],
        (lines(gate(comparability="unheard", outcome="no_ship"), gate(comparability="not_applicable"), file=GATES),),
    ),
    Case(
        "trace-link",
        (lines(SPAN_LINK, file=EVIDENCE), lines(spans({"traceId": TRACE, "spanId": "0" * 16}), file=TRACES)),
        [[f"{EVIDENCE}:1", "trace-link"]],
        (
            lines(SPAN_LINK, file=EVIDENCE),
            lines(spans({"traceId": TRACE.upper(), "spanId": SPAN.upper()}), file=TRACES),
        ),
    ),
    Case(
        "trace-link",
        (lines(result("c1", traceLink={"traceId": TRACE})), lines(file=TRACES)),
        at(R1, "trace-link"),
        (lines(result("c1", traceLink={"traceId": TRACE})), lines(spans({"traceId": TRACE}), file=TRACES)),
    ),
    Case(
        "trace-link",
        (
            lines(result("c1", traceLink={"traceId": TRACE, "spanId": SPAN})),
            lines(spans({"traceId": TRACE}), file=TRACES),
        ),
        at(R1, "trace-link"),
        (lines(result("c1", traceLink={"traceId": TRACE, "spanId": SPAN})),),
    ),
    Case(
        "content-capture", (OFF, blob(), lines(reasoning(6))), at(R1, "content-capture"), (blob(), lines(reasoning(6)))
    ),
    Case(
        "content-capture",
        (OFF, lines(result("c1", annotator={"kind": "LLM", "promptHash": f"sha256:{HEX}"}))),
        at(R1, "content-capture"),
        (OFF, lines(result("c1", annotator={"kind": "LLM", "rubricDigest": f"sha256:{HEX}"}))),
    ),
    Case(
        "content-capture",
        (OFF, lines({**URI_LINK, "kind": "transcript"}, file=EVIDENCE)),
        [[f"{EVIDENCE}:1", "content-capture"]],
        (OFF, lines({**URI_LINK, "kind": "compliance_artifact"}, file=EVIDENCE)),
    ),
    Case(
        "content-capture",
        (OFF, lines(spans(attributes("gen_ai.prompt")), file=TRACES)),
        [[f"{TRACES}:1", "content-capture"]],
        (OFF, lines(spans(attributes("gen_ai.prompts")), file=TRACES)),
    ),
    Case(
        "content-capture",
        (OFF, lines({}, records({"body": None}), file=LOGS)),
        [[f"{LOGS}:2", "content-capture"]],
        (OFF, lines({}, records({"Body": None}), file=LOGS)),
    ),
    Case(
        "run-times",
        (put("run.json", "endedAt", "2026-10-02T13:59:59.999999999Z"),),
        [["run.json", "run-times"]],
        (put("run.json", "endedAt", STARTED.replace("Z", ".000Z")),),
    ),
    Case(
        "unexpected-file",
        (put("notes.txt", b""), put("blobs/x", b""), sealed()),
        [["blobs/x", "unexpected-file"], ["notes.txt", "unexpected-file"]],
        (put("ext/notes.txt", b""), sealed(), put("overlays/x", b"")),
    ),
    Case(
        "unexpected-file", (put("a/run.json", b""), sealed()), [["a/run.json", "unexpected-file"]], (put("a/b", b""),)
    ),
    Case(
        "attack",
        (lines(result("c1", attack={"technique": "t", "success": True})),),
        at(R1, "attack"),
        (
            lines(
                result("c1", attack={"technique": "t", "success": False}),
                result("c2", attack={"technique": "t", "success": None}),
                result("c3", attack={"technique": "t"}),
                *(
                    result(f"c-{state}", state=state, attack={"technique": "t", "success": True})
                    for state in ("failed", "warn", "inconclusive", "scored", "error")
                ),
            ),
        ),
    ),
    Case("calibration", (judge(dangerousErrors=6),), [["run.json", "calibration"]], (judge(dangerousErrors=5),)),
    Case(
        "calibration",
        (judge(measuredAt=STARTED.replace("Z", ".000000001Z")),),
        [["run.json", "calibration"]],
        (judge(measuredAt=STARTED.replace("Z", ".0Z")),),
    ),
    Case(
        "execution-policy",
        (put("run.json", "suite", "executionPolicy", {"trialsPerCase": 2, "requirePasses": 3}),),
        [["run.json", "execution-policy"]],
        (put("run.json", "suite", "executionPolicy", {"trialsPerCase": 2, "requirePasses": 2}),),
    ),
    Case(
        "interval",
        (lines(result("c1", uncertainty={"ci": interval(0.2, 0.1)})),),
        at(R1, "interval"),
        (lines(result("c1", uncertainty={"ci": interval(0.1, 0.1)}), result("c2", uncertainty=None)),),
    ),
    Case(
        "interval",
        (lane(entry("score", ci=interval(1, -1))),),
        [["summary.json", "interval"]],
        (lane(entry("score", ci=interval(-1, 1)), entry("pass", ci=None)),),
    ),
    Case(
        "result-times",
        (lines(result("c1", startedAt=ENDED, endedAt=STARTED)),),
        at(R1, "result-times"),
        (lines(result("c1", startedAt=ENDED, endedAt=ENDED.replace("Z", ".00Z")), result("c2", endedAt=STARTED)),),
    ),
    Case(
        "result-times",
        (lines(result("c1", usage=usage(("judge", "m"), ("agent", "m"), ("judge", "m")))),),
        at(R1, "result-times"),
        (lines(result("c1", usage=usage(("judge", "m"), ("agent", "m"), ("judge", None), ("judge", "M")))),),
    ),
]

CASES = GROUP_A + GROUP_B
CODES_A = {"encoding", "limit", "schema", "path"}
CODES_B = (
    "result-id parent component aggregation annotator trials pending evidence evidence-id evidence-digest blob "
    "blob-digest reasoning-size metric summary-run-id summary summary-duplicate gate trace-link content-capture "
    "run-times unexpected-file attack calibration execution-policy interval result-times"
)


@pytest.mark.parametrize("case", CASES, ids=building.named(CASES))
def test_the_smallest_run_that_shows_it_and_one_that_just_does_not(case: Case, tmp_path: Path) -> None:
    report = verify_run(building.bare().but(*case.broken).write(tmp_path / "broken"))
    assert pairs(report.problems) == case.expected
    assert report.outcome == "invalid"
    assert all(problem.detail for problem in report.problems)
    report = verify_run(building.bare().but(*case.sound).write(tmp_path / "sound"))
    assert pairs(report.problems) == []
    assert report.outcome in ("unsealed", "intact")


def test_every_code_of_the_chapter_stands_in_the_table() -> None:
    assert {case.code for case in GROUP_A} == CODES_A
    assert {case.code for case in GROUP_B} == set(CODES_B.split())


STOPS: dict[str, tuple[str, Any]] = {
    "encoding": (f"{LOGS}:1", b"[]\n"),
    "limit": (f"{LOGS}:1", b"[" * 65 + b"\n"),
    "schema": ("metrics.json", {}),
}


@pytest.mark.parametrize(
    ("case", "stop"),
    [(case, stop) for at, case in enumerate(GROUP_B) for stop in ("path", sorted(STOPS)[at % len(STOPS)])],
)
def test_what_does_not_read_stops_group_b_and_a_path_does_not(case: Case, stop: str, tmp_path: Path) -> None:
    """Precedence 3 of §3.9: the logs or the metrics do not read, or a name beside them breaks [RUN-3]."""
    run = building.bare().but(*case.broken)
    if stop == "path":
        place, kept = "ext/aux", case.expected
        run[place] = b""
    else:
        place, kept = STOPS[stop][0], []
        run[place.partition(":")[0]] = STOPS[stop][1]
    if "seal.json" in run:
        run.seal()
    assert pairs(verify_run(run.write(tmp_path)).problems) == sorted([*kept, [place, stop]])


def test_everything_at_once(tmp_path: Path) -> None:
    """The full run has one of everything and no problem, sealed and not."""
    assert pairs(verify_run(building.full().write(tmp_path / "unsealed")).problems) == []
    assert verify_run(building.full().seal().write(tmp_path / "sealed")).outcome == "intact"
    also_logs = building.full().but(also(LOGS, {}), put("run.json", "contentCapture", "on"))
    assert pairs(verify_run(also_logs.write(tmp_path / "on")).problems) == []
