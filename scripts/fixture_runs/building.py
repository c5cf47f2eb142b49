"""A small builder of runs: lines, blobs and evidence in, a folder of exact bytes out.

Deliberately apart from the verifier: it names results, sums and averages by itself, so that the bundled evidence
tests the rules instead of repeating them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Document = dict[str, Any]


def hex_digest(data: bytes | str) -> str:
    """Return the SHA-256 of bytes, or of a text's UTF-8, in hex."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def sha256_uri(data: bytes | str) -> str:
    """Return a digest as the documents write it."""
    return f"sha256:{hex_digest(data)}"


def blob_path(text: str) -> str:
    """Return where the blob that holds this text stands [EVD-3]."""
    name = hex_digest(text)
    return f"blobs/sha256/{name[:2]}/{name}"


def pretty(document: Document) -> bytes:
    """Return the bytes of a JSON file."""
    return json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"


def ndjson(lines: Iterable[Document]) -> bytes:
    """Return the bytes of an NDJSON file."""
    compact = (",", ":")
    return b"".join(json.dumps(line, ensure_ascii=False, separators=compact).encode() + b"\n" for line in lines)


def leave_out_none(**members: Any) -> Document:
    """Return an object of the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


class Metric(NamedTuple):
    """A metric's declaration in `metrics.json` [SUM-1]; `scale` is None where it is unbounded."""

    id: str
    kind: str
    direction: str
    scale: tuple[float, float] | None
    description: str
    unit: str | None = None

    def document(self) -> Document:
        """Return the declaration as written."""
        scale = "unbounded" if self.scale is None else {"min": self.scale[0], "max": self.scale[1]}
        return leave_out_none(
            id=self.id,
            kind=self.kind,
            direction=self.direction,
            scale=scale,
            unit=self.unit,
            description=self.description,
        )


class Entry(NamedTuple):
    """One figure that `summary.json` states: the metric at a path, its rule, and the share or bound that passes it.

    `aggregate` is `median`, `min` or `max` where the figure is not the mean [SUM-8].
    """

    metric: str
    path: str
    rule: str | None = None
    least: float | None = None
    most: float | None = None
    aggregate: str | None = None


class RunBuilder:
    """One run in the making; `write` puts it into a folder."""

    def __init__(self, header: Document, metrics: Sequence[Metric]) -> None:
        """Start a run with its `run.json` and its metrics."""
        self.header: Document = {"schemaVersion": "1.0", **header}
        self.metrics = metrics
        self.results: list[Document] = []
        self.evidence: list[Document] = []
        self.gates: list[Document] = []
        self.summary: Document = {}
        self.files: dict[str, bytes] = {}

    @property
    def run_id(self) -> str:
        """The run's id."""
        return str(self.header["runId"])

    def result_id(self, case: str, path: str, trial: int | None = None) -> str:
        """Return the id of a result [RES-4]."""
        parts = (self.run_id, case, path, "" if trial is None else str(trial))
        return "r_" + hex_digest("\x1f".join(parts))[:32]

    def result(
        self,
        case: str,
        path: str,
        state: str,
        *,
        trial: int | None = None,
        parent: str | None = None,
        component: tuple[float, bool] | None = None,
        **facts: Any,
    ) -> str:
        """Add a result line and return its id; `facts` are members as written, None leaves one out."""
        identity = self.result_id(case, path, trial)
        weighed = component and {"weight": component[0], "required": component[1]}
        self.results.append(
            leave_out_none(
                schemaVersion="1.0",
                resultId=identity,
                parentResultId=parent,
                caseId=case,
                path=path,
                trial=trial,
                state=state,
                component=weighed,
                **facts,
            )
        )
        return identity

    def blob(self, text: str) -> Document:
        """Keep a text as a blob, and return what a result's `reasoning` says of it."""
        self.files[blob_path(text)] = text.encode()
        return {"blob": sha256_uri(text), "bytes": len(text.encode())}

    def cite(self, identity: str, kind: str, text: str, description: str) -> str:
        """Keep a text as a blob with its evidence record, and return the record's id [EVD-1]."""
        self.blob(text)
        self.evidence.append(
            {
                "schemaVersion": "1.0",
                "evidenceId": identity,
                "kind": kind,
                "digest": sha256_uri(text),
                "link": {"blob": sha256_uri(text)},
                "description": description,
            }
        )
        return identity

    def gate(self, **members: Any) -> None:
        """Add a gate decision [GATE-1]."""
        self.gates.append({"schemaVersion": "1.0", **members})

    def summarize(self, lanes: dict[str, Sequence[Entry]], *, cost_source: str | None = None) -> None:
        """State `summary.json` from the results so far [SUM-2] to [SUM-6]; the run's usage is the sum of its lines'."""
        usage = _usage(self.results)
        total = round(math.fsum(entry.get("costUsd", 0) for entry in usage), 6)
        self.summary = leave_out_none(
            schemaVersion="1.0",
            runId=self.run_id,
            lanes=[
                {"lane": lane, "metrics": [self._entry(lane, entry, alone=len(lanes) == 1) for entry in entries]}
                for lane, entries in lanes.items()
            ],
            cost=cost_source and {"totalUsd": total, "source": cost_source},
            usage=usage or None,
        )

    def _entry(self, lane: str, entry: Entry, *, alone: bool) -> Document:
        kind = next(metric.kind for metric in self.metrics if metric.id == entry.metric)
        lines = [
            line
            for line in self.results
            if line["path"] == entry.path
            and (line.get("lane") == lane or (alone and "lane" not in line))
            and "trial" not in line
            and line["state"] != "not_applicable"
        ]
        values = [value for line in lines if (value := _measured(line, entry.metric, kind)) is not None]
        value = _figure(values, kind, entry.aggregate)
        return leave_out_none(
            metric=entry.metric,
            path=entry.path,
            N=len(lines),
            n=len(values),
            notMeasured=len(lines) - len(values),
            sum=math.fsum(values),
            aggregate=entry.aggregate and {"method": entry.aggregate},
        ) | {"value": value, "verdict": _verdict(value, entry), **({"rule": entry.rule} if entry.rule else {})}

    def documents(self) -> dict[str, bytes]:
        """Return the run's files by path, without seal and overlays."""
        files = {
            "run.json": pretty(self.header),
            "metrics.json": pretty({"schemaVersion": "1.0", "metrics": [m.document() for m in self.metrics]}),
            "results.ndjson": ndjson(self.results),
            "summary.json": pretty(self.summary),
        }
        if self.evidence:
            files["evidence.ndjson"] = ndjson(self.evidence)
        if self.gates:
            files["gates.ndjson"] = ndjson(self.gates)
        return files | self.files

    def write(self, folder: Path) -> None:
        """Write the run into a folder that does not exist yet."""
        folder.mkdir(parents=True)
        for name, data in self.documents().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def _measured(line: Document, metric: str, kind: str) -> float | None:
    """Return what a line measures of a metric [SUM-4]."""
    state = line["state"]
    if state in ("not_measured", "skipped", "error", "pending"):
        return None
    if kind in ("rate", "verdict"):
        return None if state == "scored" else float(state == "passed")
    return next((float(score["value"]) for score in line.get("scores", ()) if score["metric"] == metric), None)


def _figure(values: list[float], kind: str, aggregate: str | None) -> float | None:
    """Return an entry's `value` [SUM-5], [SUM-8]; a median here is of an odd count, or of halves that are exact."""
    if not values:
        return None
    if aggregate == "median":
        ranked = sorted(values)
        return (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2
    if aggregate is not None:
        return {"min": min, "max": max}[aggregate](values)
    total = math.fsum(values)
    return total if kind == "count" else total / len(values)


def _verdict(value: float | None, entry: Entry) -> str:
    if value is None:
        return "not_measured"
    if entry.least is None and entry.most is None:
        return "scored"
    good = (entry.least is None or value >= entry.least) and (entry.most is None or value <= entry.most)
    return "passed" if good else "failed"


def _usage(results: Iterable[Document]) -> list[Document]:
    """Return the run's total usage by role and model [SUM-7]."""
    totals: dict[tuple[str, str], Document] = {}
    for line in results:
        for entry in line.get("usage", ()):
            total = totals.setdefault(
                (entry["role"], entry.get("model", "")),
                {name: entry[name] for name in ("role", "model") if name in entry},
            )
            for name, value in entry.items():
                if name not in ("role", "model"):
                    total[name] = round(total.get(name, 0) + value, 6)
    return list(totals.values())


def usage(role: str, model: str, tokens: tuple[int, int], cost: float) -> Document:
    """Return one party's usage on a line: input and output tokens, and their cost in USD."""
    return {
        "role": role,
        "model": model,
        "gen_ai.usage.input_tokens": tokens[0],
        "gen_ai.usage.output_tokens": tokens[1],
        "costUsd": cost,
    }
