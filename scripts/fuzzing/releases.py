"""Checkpoints with their runs as cases, and what a vendor may do with his own: seal anew, decide anew, sign anew.

What a vendor records need not be true. To get beyond the first problem, a changed release is at times made consistent
with the answers of the verifier itself; whether those answers are right is asked in `evidence`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from aef_verify.conformance.contract import perform
from aef_verify.problems import InputError
from aef_verify.strategies import CHECKPOINT_TYPE, RunFiles, SigningKey, envelope
from scripts.fuzzing.jobs import below
from scripts.fuzzing.operations import AT

MANIFEST, ENVELOPE = "checkpoint.json", "checkpoint.dsse.json"
VENDOR = SigningKey("ed25519", 0)
"""Who signs releases that are signed anew; every policy of a release trusts him."""

DECIDED = ("2026-10-04T09:00:00Z", "2026-10-01T09:00:00Z", AT, "2026-11-20T00:00:00Z")

STARTED, ENDED = "2026-10-01T08:00:00Z", "2026-10-01T08:30:00.25Z"
"""When drawn runs ran."""

Document = dict[str, Any]
_BROKEN = (InputError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def trusting(policy: bytes) -> bytes:
    """Return a policy that trusts the vendor, too."""
    keys = [{"identity": "git:vendor", "publicKey": VENDOR.public_pem}]
    return json.dumps({"keys": json.loads(policy)["keys"] + keys}).encode()


def release(manifest: Document, runs: dict[str, RunFiles]) -> RunFiles:
    """Return the files of a release: its manifest, and each run in a folder of its name."""
    found = {f"{name}/{path}": data for name, files in runs.items() for path, data in files.items()}
    return RunFiles({**found, MANIFEST: json.dumps(manifest, ensure_ascii=False).encode()})


def named(manifest: Document) -> set[str]:
    """Return the ids of the runs and baselines that a manifest names."""
    runs = [run for lane in manifest["lanes"] for run in lane["runs"]]
    runs += [lane["rule"]["baseline"] for lane in manifest["lanes"] if "baseline" in lane["rule"]]
    return {run["runId"] for run in runs}


def settled(chance: Random, files: RunFiles, before: RunFiles, changes: list[str]) -> RunFiles:
    """Make a changed release consistent again, in as many steps as chance wants."""
    for likely, step in ((2, _sealed_anew), (2, _decided_anew), (2, _signed_anew)):
        if chance.randrange(likely):
            continue
        try:
            files = step(chance, files, before)
        except _BROKEN:
            return files
        changes.append(step.__name__.strip("_").replace("_", " "))
    return files


def _sealed_anew(chance: Random, files: RunFiles, before: RunFiles) -> RunFiles:
    """Seal the runs that changed, at times without their overlays, and name them by what they are now."""
    manifest = json.loads(files[MANIFEST])
    for name in sorted({path.partition("/")[0] for path in files if "/" in path}):
        run, was = below(files, name), below(before, name)
        if run == was:
            continue
        old = [path for path in run if path.startswith("overlays/")] if chance.randrange(2) else []
        new = run.without("seal.json", "attestation.dsse.json", *old).sealed()
        files = RunFiles({path: data for path, data in files.items() if not path.startswith(f"{name}/")})
        files = files.replacing({f"{name}/{path}": data for path, data in new.items()})
        for place in _pointers(manifest):
            if place["runId"] in (run.run_id, was.run_id):
                place.update(runId=new.run_id, runHash=new.run_hash)
    return files.replacing({MANIFEST: json.dumps(manifest, ensure_ascii=False).encode()})


def _pointers(value: object) -> Iterator[Document]:
    """Yield every object that names a run by id and hash."""
    if isinstance(value, dict):
        if {"runId", "runHash"} <= value.keys():
            yield value
        for part in value.values():
            yield from _pointers(part)
    elif isinstance(value, list):
        for part in value:
            yield from _pointers(part)


def _decided_anew(chance: Random, files: RunFiles, before: RunFiles) -> RunFiles:
    """Record for every lane what the verifier says of it, and what it decides on that."""
    manifest = json.loads(files[MANIFEST])
    old = manifest.get("decisionInput") or {}
    plain = {name: value for name, value in manifest.items() if name not in ("decision", "decisionInput", "outcome")}
    at = chance.choice(DECIDED)
    with tempfile.TemporaryDirectory(prefix="aef-fuzz-") as place:
        folder = files.replacing({MANIFEST: json.dumps(plain | {"state": "running"}).encode()}).write(place)
        answer: Any = perform(["lanes", os.path.join(folder, MANIFEST), "--runs", folder, "--at", at])
        results = {lane["lane"]: lane["result"] for lane in answer["lanes"]}
        given: Document = {"subjectVersion": plain["subject"]["version"], "evaluatedAt": at, "lanes": []}
        for lane in plain["lanes"]:
            kept = {name: lane[name] for name in ("lane", "blocking", "freshness") if name in lane}
            evidence = sorted({run["runHash"] for run in lane["runs"]})
            given["lanes"].append({**kept, "result": results[lane["lane"]], "evidence": evidence})
        failed = [lane for lane in given["lanes"] if (lane["result"] or {}).get("status") == "failed"]
        given["exceptions"] = old.get("exceptions", []) if chance.randrange(3) else [_accepted(one) for one in failed]
        file = os.path.join(folder, "input.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(given, out)
        decision = perform(["decide", file])["output"]  # type: ignore[index]
    recorded = {"state": "decided", "outcome": decision["outcome"], "decision": decision, "decisionInput": given}
    return files.replacing({MANIFEST: json.dumps(plain | recorded, ensure_ascii=False).encode()})


def _accepted(lane: Document) -> Document:
    by = {"identity": "git:vendor", "assurance": "signed"}
    times = {"at": "2026-09-01T00:00:00Z", "expires": "2026-10-06T00:00:00Z"}
    return {"lane": lane["lane"], "evidence": lane["evidence"], "reason": "it is known", "by": by, **times}


def _signed_anew(chance: Random, files: RunFiles, before: RunFiles) -> RunFiles:
    return signed(files)


def signed(files: RunFiles) -> RunFiles:
    """Return a release with the vendor's signature."""
    return files.replacing({ENVELOPE: envelope(files[MANIFEST], CHECKPOINT_TYPE, [VENDOR])})


def of_runs(chance: Random, drawn: list[RunFiles]) -> RunFiles:
    """Return a release over drawn runs, made evidence of one subject, with lanes of each kind about the first."""
    about = drawn[0].document("run.json")
    subject = {"version": "1"} | about["subject"]
    runs = [_evidence(files, subject, about.get("deployment")) for files in drawn]
    first, last = runs[0], runs[-1]
    pointer = {"runId": first.run_id, "runHash": first.run_hash, "origin": "launched"}
    manifest = {
        "schemaVersion": "1.0",
        "checkpointId": "drawn",
        "subject": {"ref": subject["ref"], "version": subject["version"]},
        "lanes": [
            {"lane": f"lane-{number}", "rule": rule, "runs": [pointer], "blocking": bool(number)}
            for number, rule in enumerate(_rules(chance, first, last))
        ],
        "state": "running",
    }
    files = release(manifest, {f"run-{number}": files for number, files in enumerate(runs)})
    for step in (_decided_anew, _signed_anew):
        files = _where_it_can(step, chance, files)
    return files


def _evidence(files: RunFiles, subject: Document, deployment: Document | None) -> RunFiles:
    """Return a run as one of a subject, live, closed before checkpoints are read, and sealed."""
    run = files.document("run.json") | {"subject": subject, "startedAt": STARTED, "endedAt": ENDED}
    run["execution"] = run["execution"] | {"targetMode": "live"}
    run.pop("deployment", None)
    if deployment is not None:
        run["deployment"] = deployment
    return files.replacing({"run.json": json.dumps(run, ensure_ascii=False).encode()}).sealed()


def _where_it_can(step: Callable[[Random, RunFiles, RunFiles], RunFiles], chance: Random, files: RunFiles) -> RunFiles:
    try:
        return step(chance, files, files)
    except _BROKEN:
        return files


def _rules(chance: Random, run: RunFiles, other: RunFiles) -> Iterator[Document]:
    yield {"kind": "evidence-present", "runs": 1}
    yield {"kind": "severity", "max": chance.choice(("none", "low", "high"))}
    for lane in run.document("summary.json")["lanes"][:2]:
        for entry in lane["metrics"][:2]:
            place = {"lane": lane["lane"], "metric": entry["metric"], "path": entry["path"]}
            value = entry["value"] or 0
            yield {"kind": "threshold", **place, "op": chance.choice((">=", ">", "<=", "<")), "value": value}
            baseline = {"runId": other.run_id, "runHash": other.run_hash}
            rule = {"kind": "comparison", **place, "baseline": baseline, "axes": [], "minimumPairs": 1}
            yield rule | {"significance": chance.choice((0.05, 0.5, 0.75))}
