"""Whole runs: every file that [RUN-2] lists but the seal and the overlays, consistent with each other.

In the order drawn: `run.json`, blobs, `metrics.json`, `traces.otlp.jsonl` and `logs.otlp.jsonl` [RUN-14],
`evidence.ndjson` [EVD-1] to [EVD-3], `results.ndjson`, `summary.json`, `gates.ndjson` [GATE-1], `ext/`.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from aef_verify.strategies.files import RunFiles, json_file, json_line, sha256
from aef_verify.strategies.header import EXT, STATUSES, headers, members, metric_declarations
from aef_verify.strategies.minors import later_minor
from aef_verify.strategies.results import Around, result_lines
from aef_verify.strategies.summaries import LANES, summary_of
from aef_verify.strategies.values import SECOND, digest_uris, digests, ids, paths, refs, spelled_times, texts

Document = dict[str, Any]

CONTENT_KINDS = ("tool_call", "judge_reasoning", "document", "input", "expected", "output", "transcript")
"""Kinds of evidence that `contentCapture: off` rules out [RUN-11]."""

MOMENT = 63_500_000_000 * SECOND
"""A moment of the year 2013, around which results are timed."""

OTHER_KINDS = ("span", "compliance_artifact", "other")


def runs(
    *,
    statuses: tuple[str, ...] = STATUSES,
    capture: tuple[str, ...] = ("on", "off"),
    max_cases: int = 3,
    later_minors: bool = False,
) -> st.SearchStrategy[RunFiles]:
    """Any valid run without a seal: a verifier says `unsealed` and finds no problem.

    Args:
        statuses: what `status` may be, of `completed`, `aborted` and `running` [RUN-5].
        capture: what `contentCapture` may be [RUN-11].
        max_cases: how many cases there are at most.
        later_minors: also runs of a later minor, with members and values that version 1.0 does not know [VER-8].
    """
    plain = _runs(statuses, capture, max_cases, minor=False)
    return plain | _runs(statuses, capture, max_cases, minor=True) if later_minors else plain


def sealed_runs(
    *, statuses: tuple[str, ...] = ("completed", "aborted"), later_minors: bool = False, max_cases: int = 3
) -> st.SearchStrategy[RunFiles]:
    """Any valid sealed run: a verifier says `intact` and finds no problem."""
    sealers = st.sampled_from(("producer", "ingest"))
    found = runs(statuses=statuses, later_minors=later_minors, max_cases=max_cases)
    return st.builds(lambda run, by: run.sealed(by=by), found, sealers)


_BLOBS = st.lists(st.binary(max_size=40), max_size=2)
_DESCRIPTION = members({}, {"description": texts(), "ext": EXT})
_NUMBERS = st.lists(st.integers(0, 99), unique=True, max_size=3)


@st.composite
def _runs(
    draw: st.DrawFn, statuses: tuple[str, ...], capture: tuple[str, ...], max_cases: int, minor: bool
) -> RunFiles:
    run = draw(headers(statuses=statuses, capture=capture))
    off = run.get("contentCapture") == "off"
    blobs = {sha256(data): data for data in draw(_BLOBS)}
    metrics = draw(metric_declarations())
    spans, traces = draw(_traces(off))
    evidence = draw(_evidence(off, sorted(blobs), spans, bool(traces)))
    lanes = draw(LANES)
    around = Around(
        run["runId"],
        run["status"] != "running",
        off,
        MOMENT,
        [metric["id"] for metric in metrics["metrics"]],
        [record["evidenceId"] for record in evidence],
        {name: len(data) for name, data in blobs.items()},
        spans or ([] if traces else [("0" * 31 + "1", "0" * 15 + "1")]),
        lanes,
    )
    results = draw(result_lines(around, max_cases=max_cases))
    gates = draw(st.lists(_gates([line["resultId"] for line in results]), max_size=1))
    documents: dict[str, Document] = {"run.json": run, "metrics.json": metrics}
    if around.closed or draw(st.booleans()):
        documents["summary.json"] = summary_of(draw, run["runId"], metrics["metrics"], results, lanes)
    lines = {"results.ndjson": results, "evidence.ndjson": evidence, "gates.ndjson": gates}
    if minor:
        draw(later_minor(documents, lines))
    lines |= {"traces.otlp.jsonl": traces, "logs.otlp.jsonl": draw(_logs(off))}
    files = {path: json_file(document) for path, document in documents.items()}
    files |= {path: b"".join(map(json_line, found)) for path, found in lines.items() if found}
    files.setdefault("results.ndjson", b"")
    files |= {f"blobs/sha256/{name[:2]}/{name}": data for name, data in blobs.items()}
    return RunFiles(files | draw(_own_files()))


@st.composite
def _own_files(draw: st.DrawFn) -> dict[str, bytes]:
    """Draw files below `ext/`, none of which is a folder of another."""
    names: list[str] = []
    for name in draw(st.lists(paths(), max_size=2)):
        if not any(f"{name}/".startswith(f"{other}/") or f"{other}/".startswith(f"{name}/") for other in names):
            names.append(name)
    return {f"ext/{name}": draw(st.binary(max_size=20)) for name in names}


@st.composite
def _evidence(
    draw: st.DrawFn, off: bool, blobs: list[str], spans: list[tuple[str, str]], traced: bool
) -> list[Document]:
    numbers = draw(_NUMBERS)
    kinds = OTHER_KINDS if off else OTHER_KINDS + CONTENT_KINDS
    records: list[Document] = []
    for number in numbers:
        link, digest = draw(_links(blobs, spans, traced))
        record = {
            "schemaVersion": "1.0",
            "evidenceId": f"E-{number}",
            "kind": draw(st.sampled_from(kinds)),
            "link": link,
        }
        if digest is not None:
            record["digest"] = digest
        records.append(record | draw(_DESCRIPTION))
    return records


@st.composite
def _links(
    draw: st.DrawFn, blobs: list[str], spans: list[tuple[str, str]], traced: bool
) -> tuple[Document, str | None]:
    """Draw a link and the digest beside it [EVD-1], [EVD-2]."""
    kind = draw(st.sampled_from(("uri", *(["blob"] if blobs else []), *(["span"] if spans or not traced else []))))
    if kind == "blob":
        digest = f"sha256:{draw(st.sampled_from(blobs))}"
        return {"blob": digest}, digest
    if kind == "span":
        trace, span = draw(st.sampled_from(spans or [("ab" * 16, "cd" * 8)]))
        return {"traceId": trace, "spanId": span}, None
    return {"uri": draw(st.sampled_from(("https://e.example/x?y#z", "urn:a:b")))}, draw(st.none() | digest_uris())


@st.composite
def _gates(draw: st.DrawFn, results: list[str]) -> Document:
    some = st.lists(st.sampled_from(results), max_size=2) if results else st.just([])
    comparability = draw(st.sampled_from(("comparable", "incomparable", "not_applicable")))
    outcomes = ("no_ship", "inconclusive", "ship")[: 2 if comparability == "incomparable" else 3]
    pointer = members({"runId": ids(), "runHash": digests()})
    return {
        "schemaVersion": "1.0",
        "gateId": draw(refs()),
        "decisionId": draw(ids()),
        "rule": draw(members({"strategy": texts(1)}, {"inputs": st.lists(texts(), max_size=2)})),
        "inputs": draw(
            members({}, {"results": some, "requirements": st.lists(ids(), max_size=2), "baselineRun": pointer})
        ),
        "comparability": comparability,
        "outcome": draw(st.sampled_from(outcomes)),
        "decidedAt": draw(spelled_times(MOMENT)),
        **draw(members({}, {"exitCode": st.integers(0, 255), "decisive": some, "ext": EXT})),
    }


_SPANS = st.lists(st.tuples(st.binary(min_size=16, max_size=16), st.binary(min_size=8, max_size=8)), max_size=2)


@st.composite
def _traces(draw: st.DrawFn, off: bool) -> tuple[list[tuple[str, str]], list[Document]]:
    """Draw the lines of `traces.otlp.jsonl` and the (traceId, spanId) of their spans, lower case [RUN-14]."""
    spans = draw(_SPANS)
    found = [(trace.hex(), span.hex()) for trace, span in spans]
    written = []
    for trace, span in found:
        ids = {"traceId": trace, "spanId": span}
        if draw(st.booleans()):
            ids = {name: value.upper() for name, value in ids.items()}
        written.append({**ids, "name": draw(texts()), "attributes": draw(_attributes(off))})
    if not written and draw(st.booleans()):
        return [], []
    scope = {"scope": {"name": "s", "attributes": draw(_attributes(off))}, "spans": written}
    line = {"resourceSpans": [{"resource": {"attributes": draw(_attributes(off))}, "scopeSpans": [scope]}]}
    return found, draw(st.sampled_from(([line], [{}, line], [line, {"resourceSpans": None}])))


def _attributes(off: bool) -> st.SearchStrategy[list[Document]]:
    """Attributes, without those that hold content where none was captured [SEC-6]."""
    names = ("gen_ai.system", "gen_ai.request.model", *(() if off else ("gen_ai.prompt", "gen_ai.input.messages")))
    attribute = members({"key": st.sampled_from(names), "value": members({"stringValue": texts()})})
    return st.lists(attribute, max_size=2)


@st.composite
def _logs(draw: st.DrawFn, off: bool) -> list[Document]:
    if draw(st.booleans()):
        return []
    record = draw(members({"attributes": _attributes(off)}, {} if off else {"body": members({"stringValue": texts()})}))
    return [{"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}]
