#!/usr/bin/env python3
"""Write a large, valid, sealed AEF 1.0 run: the workload of the benchmarks.

    make_run.py OUT --lines 100000 [--blobs 0] [--blob-bytes 4096] [--trials 0] [--children 0] [--seed 0]

Standard library only and deliberately simple: it is a workload, not the product's writer. Every line is a
distinct case; with --children each case is a composite of that many leaves, with --trials it runs that often
and has a rollup. The same arguments always write the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ENDED_AT = "2026-10-02T15:00:00Z"


def main() -> None:
    """Read the arguments and write the run."""
    parser = arguments()
    options = parser.parse_args()
    if options.children and options.trials:
        parser.error("--children and --trials are not combined here")
    count = write_run(options)
    print(f"{options.out}: {count} files, results.ndjson {(options.out / 'results.ndjson').stat().st_size:,} bytes")


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--lines", type=int, default=100_000, help="cases, one root result line each")
    parser.add_argument("--children", type=int, default=0, help="leaves of each case")
    parser.add_argument("--trials", type=int, default=0, help="trials of each case")
    parser.add_argument("--blobs", type=int, default=0)
    parser.add_argument("--blob-bytes", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run-id", default="bench-run-0001")
    return parser


def write_run(options: argparse.Namespace) -> int:
    """Write the run that the arguments ask for; returns how many files are sealed."""
    rng = random.Random(options.seed)
    out: Path = options.out
    out.mkdir(parents=True)
    blobs = write_blobs(out, options.blobs, options.blob_bytes, rng)
    lines = Lines(options, len(blobs), rng)
    with open(out / "results.ndjson", "wb") as results:
        for line in lines:
            results.write(compact(line))
    for name, document in (
        ("run.json", header(options.run_id)),
        ("metrics.json", METRICS),
        ("summary.json", summary(options.run_id, lines.values, lines.passed)),
    ):
        (out / name).write_bytes(json.dumps(document, indent=2).encode() + b"\n")
    return seal(out, options.run_id)


def compact(value: object) -> bytes:
    """Write one NDJSON line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def result_id(run_id: str, case_id: str, path: str, trial: int | None = None) -> str:
    """Name a result [RES-4]."""
    text = "\x1f".join([run_id, case_id, path, "" if trial is None else str(trial)])
    return "r_" + hashlib.sha256(text.encode()).hexdigest()[:32]


METRICS = {
    "schemaVersion": "1.0",
    "metrics": [
        {"id": "score", "kind": "score", "direction": "higher_better", "scale": {"min": 0, "max": 1}},
        {"id": "pass", "kind": "rate", "direction": "higher_better", "scale": {"min": 0, "max": 1}},
    ],
}


def header(run_id: str) -> dict[str, Any]:
    """State `run.json`."""
    return {
        "schemaVersion": "1.0",
        "runId": run_id,
        "status": "completed",
        "producer": {"name": "make-run", "version": "1"},
        "subject": {"ref": "agent:bench", "kind": "agent", "version": "1"},
        "execution": {"targetMode": "scripted", "stimulus": "suite"},
        "suite": {"ref": "suite:bench", "version": "1"},
        "startedAt": "2026-10-02T14:00:00Z",
        "endedAt": ENDED_AT,
        "contentCapture": "on",
    }


def write_blobs(out: Path, count: int, size: int, rng: random.Random) -> list[str]:
    """Write `count` blobs of `size` bytes and the evidence that names them; returns their SHA-256 digests."""
    digests = []
    for _ in range(count):
        data = rng.randbytes(size)
        digest = hashlib.sha256(data).hexdigest()
        blob = out / "blobs" / "sha256" / digest[:2] / digest
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(data)
        digests.append(digest)
    if digests:
        with open(out / "evidence.ndjson", "wb") as evidence:
            for number, digest in enumerate(digests):
                line = {
                    "schemaVersion": "1.0",
                    "evidenceId": f"E-{number}",
                    "kind": "transcript",
                    "link": {"blob": f"sha256:{digest}"},
                    "digest": f"sha256:{digest}",
                    "description": "A bench transcript.",
                }
                evidence.write(compact(line))
    return digests


class Lines:
    """The result lines, one case after another; `values` and `passed` are whole once all were taken."""

    def __init__(self, options: argparse.Namespace, blobs: int, rng: random.Random) -> None:
        self.options = options
        self.blobs = blobs
        self.rng = rng
        self.values: list[float] = []
        self.passed = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for number in range(self.options.lines):
            value = self.rng.random()
            self.values.append(value)
            self.passed += value >= 0.25
            root = self.root(number, value)
            if self.options.trials:
                yield from self.trials(root, passes=0.9 if value >= 0.25 else 0.4)
            elif self.options.children:
                yield from self.composite(root, value)
            else:
                yield root | {"resultId": self.result_id(root)}

    def result_id(self, line: dict[str, Any], below: str = "", trial: int | None = None) -> str:
        """Name the line, or what stands `below` its path."""
        return result_id(self.options.run_id, line["caseId"], line["path"] + below, trial)

    def root(self, number: int, value: float) -> dict[str, Any]:
        """State a case's root line, without its id."""
        passed = value >= 0.25
        usage = {"gen_ai.usage.input_tokens": 900 + number % 100, "gen_ai.usage.output_tokens": 50}
        line: dict[str, Any] = {
            "schemaVersion": "1.0",
            "caseId": f"case-{number:07d}",
            "path": "qa",
            "lane": "bench",
            "evaluator": {"id": "judge:bench", "version": "1"},
            "state": "passed" if passed else "failed",
            "scores": [{"metric": "score", "value": value}],
            "annotator": {"kind": "LLM", "model": "bench-judge"},
            "usage": [{"role": "agent", **usage}],
            "startedAt": "2026-10-02T14:02:11.120Z",
            "endedAt": "2026-10-02T14:02:15Z",
            "durationMs": 3880,
        }
        if not passed:
            line["severity"] = "medium"
        if self.blobs:
            line["evidence"] = [f"E-{number % self.blobs}"]
        return line

    def trials(self, root: dict[str, Any], passes: float) -> Iterator[dict[str, Any]]:
        """State a case's trial lines and its rollup [RES-8]."""
        states = []
        for trial in range(self.options.trials):
            state = "passed" if self.rng.random() < passes else "failed"
            states.append(state)
            line = root | {"resultId": self.result_id(root, trial=trial), "trial": trial, "state": state}
            line.pop("severity", None)
            if state == "failed":
                line["severity"] = "low"
            yield line
        rollup = {
            "n": len(states),
            "passed": states.count("passed"),
            "aggregation": "AnyPass",
            "agree": len(set(states)) == 1,
        }
        yield root | {"resultId": self.result_id(root), "trials": rollup}

    def composite(self, root: dict[str, Any], score: float) -> Iterator[dict[str, Any]]:
        """State a composite and its leaves [RES-5]."""
        count = self.options.children
        names = [f"/c{child}" for child in range(count)]
        aggregation = {
            "strategy": "WeightedSum",
            "threshold": 0.25,
            "score": score,
            "rulePath": "threshold",
            "measured": count,
            "total": count,
            "decisive": [self.result_id(root, names[0])],
        }
        parent = self.result_id(root)
        yield root | {"resultId": parent, "aggregation": aggregation}
        for child, name in enumerate(names):
            yield {
                "schemaVersion": "1.0",
                "resultId": self.result_id(root, name),
                "parentResultId": parent,
                "caseId": root["caseId"],
                "path": root["path"] + name,
                "evaluator": {"id": f"code:c{child}"},
                "state": "passed",
                "component": {"weight": 1 / count, "required": False},
            }


def summary(run_id: str, values: list[float], passed: int) -> dict[str, Any]:
    """State `summary.json`: both metrics of the one lane [SUM-2] to [SUM-5]."""
    count = len(values)

    def entry(metric: str, total: float, mean: float | None) -> dict[str, Any]:
        return {
            "metric": metric,
            "path": "qa",
            "N": count,
            "n": count,
            "notMeasured": 0,
            "sum": total,
            "value": mean,
            "verdict": "scored" if count else "not_measured",
        }

    total = math.fsum(values)
    entries = [
        entry("score", total, total / count if count else None),
        entry("pass", passed, passed / count if count else None),
    ]
    return {"schemaVersion": "1.0", "runId": run_id, "lanes": [{"lane": "bench", "metrics": entries}]}


def seal(out: Path, run_id: str) -> int:
    """Write `seal.json` over the files of `out` [SEAL-1] to [SEAL-3]; returns how many there are."""
    names = (path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    manifest, subjects = [], []
    for name in sorted(names, key=str.encode):
        data = (out / name).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        manifest.append(f"{digest}  {len(data)}  {name}\n")
        subjects.append({"name": name, "digest": {"sha256": digest}})
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://agenteval.dev/aef/1/evidence",
        "predicate": {
            "schemaVersion": "1.0",
            "runId": run_id,
            "runHash": hashlib.sha256("".join(manifest).encode()).hexdigest(),
            "producer": {"name": "make-run", "version": "1"},
            "subject": {"ref": "agent:bench", "version": "1"},
            "deployment": None,
            "suite": {"ref": "suite:bench", "version": "1"},
            "judges": [],
            "closedAt": ENDED_AT,
            "sealedAt": "2026-10-02T15:00:01Z",
            "sealedBy": "producer",
        },
    }
    (out / "seal.json").write_bytes(json.dumps(statement).encode() + b"\n")
    return len(subjects)


if __name__ == "__main__":
    main()
