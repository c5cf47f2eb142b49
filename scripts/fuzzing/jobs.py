"""Plans, manifests, targets, scenarios and requests to begin with: small, sound, and of every member that matters."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from random import Random
from typing import Any

from aef_verify.strategies import RunFiles
from scripts.fuzzing.operations import SECRET_NAME

Document = dict[str, Any]

CONTENT = "what the suite asks"


def _file(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def job(*, limits: Document) -> RunFiles:
    """Return a job of two suites with a credential, under these limits."""
    digest = "sha256:" + sha256(CONTENT.encode()).hexdigest()
    plan = {
        "schemaVersion": "1.0",
        "planId": "plan-1",
        "subject": {
            "ref": "agent:triage",
            "version": "7",
            "deployment": "deployment:staging",
            "endpoint": "https://triage.example/v1",
        },
        "suites": [
            {"ref": "suite:a", "version": "1", "digest": digest, "lane": "quality"},
            {"ref": "suite:b", "version": "2"},
        ],
        "judges": [{"model": "model:judge", "provider": "local"}],
        "limits": limits,
        "contentCapture": "off",
        "targetMode": "scripted",
        "isolation": "process",
        "provider": "local",
        "credentialRefs": [{"name": "API_KEY", "scheme": "env", "path": SECRET_NAME, "purpose": "subject"}],
        "runnerSelector": ["os:linux"],
    }
    runner = {
        "schemaVersion": "1.0",
        "runnerId": "runner-1",
        "version": "1",
        "kind": "local",
        "os": "linux",
        "runtime": {"name": "python", "version": "3.11"},
        "providers": ["local"],
        "tags": ["os:linux"],
        "targetModes": ["scripted", "live"],
    }
    states = ("passed", "failed", "warn", "not_measured", "scored", "error", "inconclusive", "skipped")
    cases = [
        {"caseId": f"case {number}", "state": state, "usd": 0.1, "usdBound": 0.3, "seconds": 7, "secondsBound": 30}
        | ({"severity": "high"} if state in ("failed", "warn") else {})
        for number, state in enumerate(states)
    ]
    suites = [
        {"ref": "suite:a", "version": "1", "content": CONTENT, "cases": cases},
        {"ref": "suite:b", "version": "2", "content": "", "cases": cases[:2]},
    ]
    target = {"suites": suites, "closeSeconds": 2, "priceTable": "prices-1"}
    return RunFiles({"plan.json": _file(plan), "runner.json": _file(runner), "target.json": _file(target)})


LIMITS: tuple[Document, ...] = (
    {"maxUsd": 10},
    {"maxUsd": 0.65, "timeout": "PT1H"},
    {"maxUsd": 5, "cases": 9, "timeout": "PT5M"},
    {"maxUsd": 5, "cases": 3},
)


def jobs() -> list[RunFiles]:
    """Return jobs that end for different reasons."""
    return [job(limits=limits) for limits in LIMITS]


def below(files: RunFiles, name: str) -> RunFiles:
    """Return the files below one folder."""
    return RunFiles({path[len(name) + 1 :]: data for path, data in files.items() if path.startswith(f"{name}/")})


def finished(out: str, plan: bytes) -> RunFiles:
    """Return what a job wrote into a folder as a stream with its plan and its runs."""
    files = {path.removeprefix("runs/"): data for path, data in RunFiles.read(out).items()}
    return RunFiles({**files, "plan.json": plan})


def settled(chance: Random, files: RunFiles, before: RunFiles, changes: list[str]) -> RunFiles:
    """Make a changed stream consistent again, at times: the plan's digest, and the seals and hashes of changed runs."""
    if chance.randrange(2):
        return files
    try:
        old, new = (sha256(one["plan.json"]).hexdigest() for one in (before, files))
        files = _renamed(files, old, new)
        for name in sorted({path.partition("/")[0] for path in files if "/" in path}):
            run, was = below(files, name), below(before, name)
            if run != was:
                again = run.without("seal.json", "attestation.dsse.json").sealed()
                files = files.replacing({f"{name}/{path}": data for path, data in again.items()})
                files = _renamed(files, was.run_hash, again.run_hash)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return files
    changes.append("made consistent")
    return files


def _renamed(files: RunFiles, old: str, new: str) -> RunFiles:
    """Put another digest where one stands, in the events and in the headers of runs."""
    places = [path for path in files if path == "events.ndjson" or path.endswith("/run.json")]
    return files.replacing({path: files[path].replace(old.encode(), new.encode()) for path in places})


def scenario(run: RunFiles) -> RunFiles:
    """Return a scenario with the header and metrics of a run, and a tree of every kind."""
    header, metrics = run.document("run.json"), run.document("metrics.json")
    flat = [metric["id"] for metric in metrics["metrics"] if metric["kind"] == "score"][:1]
    facts = {"evaluator": {"id": "code:check"}}
    scores = {"scores": [{"metric": name, "value": 0.5} for name in flat]}
    part = {"component": {"weight": 0.5, "required": True}, **facts}
    cases = [
        {"caseId": "c1", "path": "qa", "state": "passed", **facts, **scores},
        {"caseId": "c2", "path": "qa", "state": "failed", "severity": "low", **facts},
        {
            "caseId": "c3",
            "path": "qa",
            "state": "passed",
            **facts,
            "aggregation": {"strategy": "WeightedSum", "rulePath": "threshold", "threshold": 0.5, "score": 1},
            "children": [
                {"path": "qa/one", "state": "passed", **part},
                {"path": "qa/two", "state": "error", "reason": "it broke", **part},
            ],
        },
        {
            "caseId": "c4",
            "path": "qa",
            "state": "passed",
            **facts,
            "trials": {
                "aggregation": "AnyPass",
                "trees": [{"path": "qa", "state": state, **facts} for state in ("passed", "failed", "passed")],
            },
        },
    ]
    asked = {"lanes": [{"lane": "main", "metrics": [{"metric": name, "path": "qa"} for name in flat]}]}
    plain = {name: value for name, value in header.items() if name != "suite" or value}
    return RunFiles({"scenario.json": _file({"run": plain, "metrics": metrics, "cases": cases, "summary": asked})})


def request(run: RunFiles) -> RunFiles:
    """Return a run with a request for the summary that it has."""
    kept = ("metric", "path", "rule", "verdict", "aggregate")
    lanes = []
    for lane in run.document("summary.json")["lanes"]:
        entries = []
        for entry in lane["metrics"]:
            asked = {name: entry[name] for name in kept if name in entry and entry[name] != "scored"}
            entries.append(asked)
        lanes.append({"lane": lane["lane"], "metrics": entries})
    files = {f"run/{path}": data for path, data in run.items()}
    return RunFiles({**files, "request.json": _file({"lanes": lanes})})


def corpus_cases(folder: str) -> list[tuple[str, RunFiles]]:
    """Return targets and files of the vectors of a corpus that stand by themselves."""
    found: list[tuple[str, RunFiles]] = []
    with open(os.path.join(folder, "index.json"), "rb") as file:
        vectors = json.load(file)["vectors"]
    for vector in vectors:
        place = os.path.join(folder, vector["path"])
        kind = vector["kind"]
        if kind == "decision":
            with open(place, "rb") as file:
                given = file.read()
            found.append(("decision", RunFiles({"input.json": given})))
        elif kind in _VECTORS:
            target, names = _VECTORS[kind]
            files = RunFiles.read(place).without("expected.json")
            shared = {name: os.path.join(os.path.dirname(place), name) for name in names}
            for name, path in shared.items():
                if name not in files and os.path.isfile(path):
                    with open(path, "rb") as file:
                        files = files.replacing({name: file.read()})
            renamed = {"document.json": "checkpoint.json", "envelope.dsse.json": "checkpoint.dsse.json"}
            files = RunFiles({renamed.get(path, path): data for path, data in files.items()})
            if sum(map(len, files.values())) <= 300_000:
                found.append((target, files))
    return found


_VECTORS: dict[str, tuple[str, tuple[str, ...]]] = {
    "checkpoint": ("release", ()),
    "lane": ("release", ()),
    "stream": ("stream", ("plan.json",)),
    "plan-conformance": ("stream", ("plan.json",)),
    "job": ("job", ("plan.json", "runner.json")),
    "produce": ("scenario", ()),
    "summarize": ("request", ()),
}
"""Kinds of vectors: the target, and the files that may lie beside the vector."""
