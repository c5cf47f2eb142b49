"""Small valid runs for tests: documents by path, changed as a test needs, sealed, extended, signed, written to disk.

A `Run` maps paths to documents: an object is written as a JSON file, a list as an NDJSON file, bytes as they are.
Ids, digests, seals and chains are computed here by the text of the rules, not by the code under test. The manifest is
made from the bytes that `write` would write, so that a seal is made last, or made first to be broken by what follows.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aef_verify.integrity.policy import TrustPolicy, load_policy
from aef_verify.problems import Problem
from tests.integrity import material

RUN_ID = "run-0001"
STARTED, ENDED, SEALED = "2026-10-02T14:00:00Z", "2026-10-02T15:00:00Z", "2026-10-02T15:00:01Z"
AT = "2026-10-03T08:00:00Z"
IN_TOTO = "application/vnd.in-toto+json"
EVENTS = "overlays/events.ndjson"
ALICE, BOB = "git:alice@example.org", "spiffe://example.org/bob"
KEYS: dict[str, material.Private] = {ALICE: material.p256("building alice"), BOB: material.ed25519("building bob")}

Json = dict[str, Any]
Edit = Callable[["Run"], object]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def result_id(case: str, path: str = "qa", trial: int | None = None, run_id: str = RUN_ID) -> str:
    """Name a result [RES-4]."""
    text = "\x1f".join((run_id, case, path, "" if trial is None else str(trial)))
    return "r_" + sha256(text.encode())[:32]


def result(case: str, path: str = "qa", *, trial: int | None = None, state: str = "passed", **members: Any) -> Json:
    """State a valid result line; members given replace or extend it."""
    line: Json = {
        "schemaVersion": "1.0",
        "resultId": result_id(case, path, trial),
        "caseId": case,
        "path": path,
        "evaluator": {"id": "code:check"},
        "state": state,
    }
    if trial is not None:
        line["trial"] = trial
    if state in ("not_measured", "not_applicable", "skipped", "error", "pending"):
        line["reason"] = "stated by the test"
    return line | members


def child(case: str, name: str, *, below: str = "qa", trial: int | None = None, **members: Any) -> Json:
    """State a line below another one of its case [RES-5]."""
    parts = {"parentResultId": result_id(case, below, trial), "component": {"weight": 0.5, "required": True}}
    return result(case, f"{below}/{name}", trial=trial, **(parts | members))


def aggregation(total: int, measured: int | None = None, **members: Any) -> Json:
    """State the facts of a composite [RES-5]."""
    done = total if measured is None else measured
    facts = {"strategy": "WeightedSum", "rulePath": "threshold", "measured": done, "total": total}
    return facts | members


def rollup(case: str, path: str = "qa", *, n: int, passed: int, agree: bool, **members: Any) -> Json:
    """State the rollup of a case's trials at a path [RES-8]."""
    facts = {"n": n, "passed": passed, "aggregation": "AnyPass", "agree": agree}
    return result(case, path, **({"trials": facts} | members))


def score(value: float, metric: str = "score") -> Json:
    return {"metric": metric, "value": value}


def entry(metric: str, path: str = "qa", **figures: Any) -> Json:
    """State a summary entry; without figures one that no line was measured for."""
    start = {"metric": metric, "path": path, "N": 0, "n": 0, "notMeasured": 0, "value": None, "verdict": "not_measured"}
    return start | ({"verdict": "scored"} if figures.get("n") else {}) | figures


def evidence(identity: str, link: Json, **members: Any) -> Json:
    return {"schemaVersion": "1.0", "evidenceId": identity, "kind": "other", "link": link, **members}


def gate(**members: Any) -> Json:
    decision: Json = {
        "schemaVersion": "1.0",
        "gateId": "gate:release",
        "decisionId": "decision-1",
        "rule": {"strategy": "fail-on"},
        "inputs": {},
        "comparability": "comparable",
        "outcome": "ship",
        "decidedAt": ENDED,
    }
    return decision | members


def spans(*found: Json, **scope: Any) -> Json:
    """State one line of traces with these spans."""
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(found), **scope}]}]}


def records(*found: Json) -> Json:
    """State one line of logs with these records."""
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": list(found)}]}]}


def encoded(document: Any) -> bytes:
    """Return the bytes of a document: as given, JSON for an object, NDJSON for a list."""
    if isinstance(document, bytes):
        return document
    if isinstance(document, list):
        return b"".join(line if isinstance(line, bytes) else compact(line) for line in document)
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"


def compact(line: Any) -> bytes:
    """Return one NDJSON line."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Run(dict[str, Any]):
    """The documents of a run by path; see the functions below for those there are to begin with."""

    def blob(self, data: bytes) -> str:
        """Add a blob and return its hex name [EVD-3]."""
        name = sha256(data)
        self[blob_path(name)] = data
        return name

    def bytes_of(self, path: str) -> bytes:
        return encoded(self[path])

    def manifest(self) -> str:
        """Return the manifest of what would be written [SEAL-3]."""
        paths = (path for path in self if path not in ("seal.json", "attestation.dsse.json"))
        sealed = sorted((path for path in paths if not path.startswith("overlays/")), key=str.encode)
        return "".join(f"{sha256(data)}  {len(data)}  {path}\n" for path in sealed for data in (self.bytes_of(path),))

    def run_hash(self) -> str:
        """Return the run hash that the seal states, or else that of the files [SEAL-4]."""
        if isinstance(seal := self.get("seal.json"), dict):
            return str(seal["predicate"]["runHash"])
        return sha256(self.manifest().encode())

    def seal(self, **predicate: Any) -> Run:
        """Seal what is there [SEAL-5]; members given replace those of the predicate."""
        self.pop("seal.json", None)
        header = self["run.json"]

        def copied(value: Json | None, *names: str) -> Json | None:
            return None if value is None else {name: value[name] for name in names if name in value}

        lines = [line.split("  ", 2) for line in self.manifest().splitlines()]
        self["seal.json"] = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": path, "digest": {"sha256": digest}} for digest, _, path in lines],
            "predicateType": "https://agenteval.dev/aef/1/evidence",
            "predicate": {
                "schemaVersion": "1.0",
                "runId": header["runId"],
                "runHash": self.run_hash(),
                "producer": copied(header["producer"], "name", "version"),
                "subject": copied(header["subject"], "ref", "version"),
                "deployment": copied(header.get("deployment"), "ref"),
                "suite": copied(header.get("suite"), "ref", "version", "digest"),
                "judges": [copied(judge, "model", "rubricDigest") for judge in header.get("judges", ())],
                "closedAt": header.get("endedAt", ENDED),
                "sealedAt": SEALED,
                "sealedBy": "producer",
            }
            | predicate,
        }
        return self

    def sign(self, *identities: str, payload: bytes | None = None) -> Run:
        """Put an envelope of these identities over `seal.json` [SIG-1]."""
        self["attestation.dsse.json"] = envelope(self.bytes_of("seal.json") if payload is None else payload, identities)
        return self

    def batch(self, *events: Json | bytes, signed_by: Sequence[str] = (), **predicate: Any) -> Run:
        """Append lines to the overlay events and seal them as the next batch [OVL-4]; bytes are taken as they are."""
        before = self.bytes_of(EVENTS) if EVENTS in self else b""
        data = b"".join(event if isinstance(event, bytes) else compact(event) for event in events)
        number = 1 + sum(path.startswith("overlays/seal-") and ".dsse." not in path for path in self)
        path, last = batch_path(number), batch_path(number - 1)
        previous = {"path": last, "sha256": sha256(self.bytes_of(last))} if last in self else None
        self[EVENTS] = before + data
        self[path] = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": EVENTS, "digest": {"sha256": sha256(data)}}],
            "predicateType": "https://agenteval.dev/aef/1/overlay-batch",
            "predicate": {
                "schemaVersion": "1.0",
                "batch": number,
                "runId": RUN_ID,
                "runHash": self.run_hash(),
                "offset": len(before),
                "length": len(data),
                "previous": previous,
            }
            | predicate,
        }
        if signed_by:
            self.sign_batch(number, *signed_by)
        return self

    def sign_batch(self, number: int, *identities: str) -> Run:
        self[batch_path(number, "dsse.json")] = envelope(self.bytes_of(batch_path(number)), identities)
        return self

    def append(self, *lines: Json | bytes) -> Run:
        """Append overlay events that no batch seals."""
        before = self.bytes_of(EVENTS) if EVENTS in self else b""
        self[EVENTS] = before + b"".join(line if isinstance(line, bytes) else compact(line) for line in lines)
        return self

    def but(self, *edits: Edit) -> Run:
        """Apply edits in order and return the run."""
        for edit in edits:
            edit(self)
        return self

    def write(self, folder: Path) -> str:
        """Write every document below a folder, made where it is not there, and return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        for path, document in self.items():
            file = os.path.join(os.fsencode(folder), path.encode("utf-8", "surrogateescape"))
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "wb") as out:
                out.write(encoded(document))
        return str(folder)


def blob_path(name: str) -> str:
    return f"blobs/sha256/{name[:2]}/{name}"


def batch_path(number: int, kind: str = "json") -> str:
    return f"overlays/seal-{number:04d}.{kind}"


def event(identity: str, kind: str = "annotate", *, by: str = ALICE, **members: Any) -> Json:
    """State an overlay event on the run; `result`, `blob`, `requirement`, `runHash` go into its target [OVL-1]."""
    names = ("run", "runHash", "result", "requirement", "blob")
    target = {"run": RUN_ID} | {name: members.pop(name) for name in names if name in members}
    needs: Json = {"reason": "stated by the test"} if kind in ("override", "adjudicate", "waive", "redact") else {}
    start = {"schemaVersion": "1.0", "eventId": f"ov_{identity}", "kind": kind, "target": target}
    return start | {"by": {"identity": by, "assurance": "self-attested"}, "at": AT} | needs | members


def envelope(payload: bytes, identities: Iterable[str], kind: str = IN_TOTO) -> bytes:
    """Return an envelope over a payload with a signature of each identity's key."""
    signatures = [
        {
            "keyid": material.keyid_of(material.spki_of(KEYS[identity])),
            "sig": material.b64(material.sign(KEYS[identity], material.message(kind, payload))),
        }
        for identity in identities
    ]
    return material.envelope(payload, *signatures, kind=kind)


def trust(**may: Sequence[str]) -> TrustPolicy:
    """Return a policy that trusts alice and bob; `alice=["redact"]` gives alice that right."""
    entries = [material.entry(ALICE, KEYS[ALICE], may.get("alice")), material.entry(BOB, KEYS[BOB], may.get("bob"))]
    return load_policy(material.policy(*entries))


def small() -> Run:
    """Return a closed run of two cases with one line each."""
    return Run(
        {
            "run.json": {
                "schemaVersion": "1.0",
                "runId": RUN_ID,
                "status": "completed",
                "producer": {"name": "building", "version": "1.2"},
                "subject": {"ref": "agent:triage", "kind": "agent", "version": "7"},
                "suite": {"ref": "suite:triage", "version": "3"},
                "execution": {"targetMode": "live"},
                "startedAt": STARTED,
                "endedAt": ENDED,
            },
            "results.ndjson": [
                result("c1", scores=[score(0.75)]),
                result("c2", state="failed", severity="low", scores=[score(0.25)]),
            ],
            "metrics.json": {
                "schemaVersion": "1.0",
                "metrics": [
                    {"id": "score", "kind": "score", "direction": "higher_better", "scale": {"min": 0, "max": 1}},
                    {"id": "pass", "kind": "rate", "direction": "higher_better", "scale": {"min": 0, "max": 1}},
                ],
            },
            "summary.json": {
                "schemaVersion": "1.0",
                "runId": RUN_ID,
                "lanes": [
                    {
                        "lane": "main",
                        "metrics": [
                            entry("score", N=2, n=2, sum=1, value=0.5),
                            entry("pass", N=2, n=2, sum=1, value=0.5),
                        ],
                    }
                ],
            },
        }
    )


def bare() -> Run:
    """Return a closed run without a result, and without a lane in its summary."""
    return small().but(put("results.ndjson", []), put("summary.json", "lanes", []))


TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def full() -> Run:
    """Return a closed run with one of everything: a composite, trials, evidence, blobs, a gate, traces and logs."""
    run = small()
    note = run.blob(b"What the judge said.\r\n")
    report = run.blob("Ein Bericht, größer als nichts.\n".encode())
    run["results.ndjson"] = [
        result(
            "c1",
            lane="main",
            scores=[score(0.5)],
            aggregation=aggregation(2, 1, unmeasured={"skipped": 1}, decisive=[result_id("c1", "qa/a")]),
            evidence=["E-1", "E-2"],
            startedAt=STARTED,
            endedAt=ENDED,
        ),
        child("c1", "a", reasoning={"blob": f"sha256:{note}", "bytes": 22}, traceLink={"traceId": TRACE}),
        child("c1", "b", state="skipped"),
        result("c2", trial=0, scores=[score(0.25)]),
        result("c2", trial=1, state="failed", scores=[score(0.75)]),
        rollup("c2", n=2, passed=1, agree=False, scores=[score(0.5)]),
    ]
    run["summary.json"]["lanes"][0]["metrics"] = [
        entry("score", N=2, n=2, sum=1, sumSq=0.5, value=0.5),
        entry("pass", N=2, n=2, sum=2, value=1),
    ]
    run["evidence.ndjson"] = [
        evidence("E-1", {"blob": f"sha256:{report}"}, digest=f"sha256:{report}"),
        evidence("E-2", {"traceId": TRACE, "spanId": SPAN}, kind="span"),
        evidence("E-3", {"uri": "https://example.org/report"}),
    ]
    run["gates.ndjson"] = [gate(inputs={"results": [result_id("c1")]}, decisive=[result_id("c2")])]
    run["traces.otlp.jsonl"] = [spans({"traceId": TRACE, "spanId": SPAN})]
    run["logs.otlp.jsonl"] = [records({"traceId": TRACE, "body": {"stringValue": "hello"}})]
    run["ext/producer/notes.txt"] = b"the producer's own\n"
    return run


# Edits, to be given to `Run.but` or to stand in a table


def put(path: str, *steps: Any) -> Edit:
    """Set the value at a place in a document: `put("run.json", "suite", "version", "4")`."""

    def edit(run: Run) -> None:
        *way, value = steps
        if not way:
            run[path] = value
            return
        holder = run[path]
        for step in way[:-1]:
            holder = holder[step]
        holder[way[-1]] = value

    return edit


def drop(path: str, *steps: Any) -> Edit:
    """Take a document, or the value at a place in it, away."""

    def edit(run: Run) -> None:
        if not steps:
            del run[path]
            return
        holder = run[path]
        for step in steps[:-1]:
            holder = holder[step]
        del holder[steps[-1]]

    return edit


def also(path: str, *lines: Any) -> Edit:
    """Append lines to an NDJSON document, or begin one."""
    return lambda run: run.setdefault(path, []).extend(lines)


def lines(*found: Any, file: str = "results.ndjson") -> Edit:
    """Make these the lines of an NDJSON document."""
    return put(file, list(found))


def lane(*entries: Json, name: str = "main") -> Edit:
    """Add a lane to the summary."""
    return lambda run: run["summary.json"]["lanes"].append({"lane": name, "metrics": list(entries)})


def metric(identity: str, kind: str = "score") -> Edit:
    """Declare a metric."""
    declared = {"id": identity, "kind": kind, "direction": "none", "scale": "unbounded"}
    return lambda run: run["metrics.json"]["metrics"].append(declared)


def sealed(**predicate: Any) -> Edit:
    return lambda run: run.seal(**predicate)


class Case(NamedTuple):
    """A row of a table of codes: edits that break a rule, the whole report then, and edits that just do not.

    Attributes:
        code: what the row is about.
        broken: edits of the run at hand that break the rule.
        expected: the problems, [path, code] each, in their order.
        sound: the nearest edits that break nothing.
    """

    code: str
    broken: tuple[Edit, ...]
    expected: list[list[str]]
    sound: tuple[Edit, ...]


def named(cases: Sequence[Case]) -> list[str]:
    """Return a test id for each row: its code, numbered."""
    return [f"{case.code}-{sum(other.code == case.code for other in cases[:at])}" for at, case in enumerate(cases)]


def pairs(problems: Iterable[Problem]) -> list[list[str]]:
    """Return problems as the format's own report has them."""
    return [list(problem.pair) for problem in problems]
