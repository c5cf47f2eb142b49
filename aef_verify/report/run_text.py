"""A run for people, as a reader shows it: outcome and problems first, then header, lanes, results, evidence, gates.

Rules kept: the target mode wherever results are shown [RUN-7], unknown values as they read [VER-8], the converter's
claims marked [RUN-15], a case's trials below its rollup [RES-8], nothing recomputed [RES-6].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from aef_verify.report.assemble import header_of
from aef_verify.report.escape import cut, escaped, value_text
from aef_verify.report.model import Reading, RunEntry
from aef_verify.report.reader import Lines, Node, RunContent, forest
from aef_verify.report.text import advice_text, indented, run_codes, run_details
from aef_verify.report.verdict import counted
from aef_verify.report.words import CLAIM, SHORT, reading_words
from aef_verify.schemas import reads

if TYPE_CHECKING:
    from rich.console import RenderableType

Document = dict[str, Any]

STATE_STYLES = {"passed": "green", "failed": "red", "warn": "yellow", "inconclusive": "yellow", "error": "magenta"}
_DEEPEST = 12
"""Steps by which a result is indented at most."""


def run_text(run: RunEntry, content: RunContent, *, limit: int) -> Iterator[RenderableType]:
    """Yield the parts of one run in the order in which they are read; at most `limit` lines of each file."""
    run = replace(run, header=header_of(content.run))
    yield from run_details(run)
    yield from advice_text(run_codes(run))
    if content.run is not None:
        yield from section("Run", _header(run, content.run))
    if content.summary is not None:
        yield from section(f"Lanes ({_mode(run)})", _lanes(content.summary))
    yield from section(f"Results ({_mode(run)})", _results(content, limit))
    yield from section("Evidence", _evidence(content.evidence))
    yield from section("Gates, as the producer recorded them", _gates(content.gates))
    if run.overlays is not None:
        yield from section("Overlays", _overlays(run))


def section(title: str, parts: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """Yield a titled section, or nothing where it has no part."""
    begun = False
    for part in parts:
        if not begun:
            begun = True
            yield Text()
            yield Text(title, style="bold")
        yield part


def _mode(run: RunEntry) -> str:
    claim = CLAIM * run.header.is_claimed("execution.targetMode")
    return f"target mode {reading_words(run.header.target_mode)}{claim}"


def _object(value: object) -> Document:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _short(value: object) -> str:
    """Return a value in a few words: a string as it is, anything else as JSON."""
    return cut(value, SHORT) if isinstance(value, str) else value_text(value, SHORT)


def _joined(holder: Document, *names: str) -> str:
    return " ".join(_short(holder[name]) for name in names if holder.get(name) is not None)


def _read(written: object, readings: dict[str, str], field: str) -> str:
    """Return a value as it reads, with what is written where that is not known [VER-8]."""
    if not isinstance(written, str):
        return _short(written)
    return reading_words(Reading(written, readings.get(field, written)))


def _grid(rows: Iterable[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, words in rows:
        grid.add_row(Text(f"  {name}"), Text(words))
    return grid


def _header(entry: RunEntry, run: Document) -> Iterator[RenderableType]:
    readings = reads("run", run)
    rows: list[tuple[str, str]] = []

    def row(name: str, words: str, *fields: str) -> None:
        if words:
            rows.append((name, words + CLAIM * any(entry.header.is_claimed(field) for field in fields)))

    execution, suite = _object(run.get("execution")), _object(run.get("suite"))
    row("run id", _joined(run, "runId"), "runId")
    row("run hash", entry.run_hash or "")
    row("status", _joined(run, "status", "abortReason"), "status", "abortReason")
    row("started", _joined(run, "startedAt"), "startedAt")
    row("ended", _joined(run, "endedAt"), "endedAt")
    row("producer", _joined(_object(run.get("producer")), "name", "version"), "producer")
    subject = _object(run.get("subject"))
    kind = _read(subject.get("kind"), readings, "subject.kind") if "kind" in subject else ""
    row("subject", f"{_joined(subject, 'ref', 'version', 'environment')} {kind}".strip(), "subject")
    row("deployment", _joined(_object(run.get("deployment")), "ref", "environment", "endpoint"), "deployment")
    row("target mode", reading_words(entry.header.target_mode), "execution.targetMode")
    if "stimulus" in execution:
        row("stimulus", _read(execution["stimulus"], readings, "execution.stimulus"), "execution.stimulus")
    row("suite", _joined(suite, "ref", "version", "digest"), "suite")
    row("trials", _trials(_object(suite.get("executionPolicy"))), "suite.executionPolicy")
    for number, judge in enumerate(map(_object, _list(run.get("judges"))[:8])):
        row("judge", _judge(judge, number, readings), f"judges[{number}]")
    capture = run.get("contentCapture")
    row("content", "on" if capture is None else _read(capture, readings, "contentCapture"), "contentCapture")
    row("planned by", _joined(_object(run.get("provenance")), "planId", "jobId", "runnerId"), "provenance")
    yield _grid(rows)
    imported = entry.header.imported
    if imported is not None:
        tool = cut(imported.source or "?", SHORT)
        words = f"Imported from {tool}; {CLAIM} claims of the converter, not of the original producer [RUN-15]: "
        yield indented(Text(words + (", ".join(map(escaped, imported.asserted)) or "none"), style="dim"))


def _trials(policy: Document) -> str:
    """Return how often each case ran, and what made it pass [RUN-8]."""
    if not policy:
        return ""
    passes = f", {_short(policy['requirePasses'])} must pass" if "requirePasses" in policy else ""
    how = f", {_short(policy['aggregation'])}" if "aggregation" in policy else ""
    return f"{_short(policy.get('trialsPerCase'))} a case{how}{passes}"


def _judge(judge: Document, number: int, readings: dict[str, str]) -> str:
    words = _joined(judge, "model", "provider")
    if "mode" in judge:
        words += f" {_read(judge['mode'], readings, f'judges[{number}].mode')}"
    calibration = _object(judge.get("calibration"))
    if calibration:
        words += f", calibration claimed by the producer: {_joined(calibration, 'labelSet', 'n', 'accuracy', 'kappa')}"
    return words


def _lanes(summary: Document) -> Iterator[RenderableType]:
    readings = reads("summary", summary)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name, right in (("  Lane", 0), ("Metric", 0), ("Path", 0), ("Value", 1), ("Measured", 1), ("Verdict", 0)):
        table.add_column(name, overflow="fold", justify="right" if right else "left")
    for number, lane in enumerate(map(_object, _list(summary.get("lanes")))):
        for place, entry in enumerate(map(_object, _list(lane.get("metrics")))):
            verdict = _read(entry.get("verdict"), readings, f"lanes[{number}].metrics[{place}].verdict")
            value = "–" if entry.get("value") is None else _short(entry["value"])
            method = _object(entry.get("aggregate")).get("method")
            table.add_row(
                Text(f"  {_short(lane.get('lane'))}"),
                Text(_short(entry.get("metric"))),
                Text(_short(entry.get("path"))),
                Text(value if method is None else f"{value} ({_short(method)})"),
                Text(f"{_short(entry.get('n'))} of {_short(entry.get('N'))}"),
                Text(verdict, style=STATE_STYLES.get(verdict, "")),
            )
    if table.row_count:
        yield table


def _results(content: RunContent, limit: int) -> Iterator[RenderableType]:
    if not content.results.reads:
        yield indented(Text("results.ndjson does not read.", style="red"))
        return
    states = ", ".join(f"{number:,} {cut(state, SHORT)}" for state, number in content.states.most_common())
    counts = f"{counted(sum(content.states.values()), 'line')}, {counted(content.cases, 'case')}"
    yield indented(Text(f"{counts}: {states}" if states else counts))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    waiting = [(node, 0) for node in reversed(forest(content.results.kept))]
    while waiting and table.row_count < limit:
        node, level = waiting.pop()
        table.add_row(*_result(node, level))
        waiting += [(child, level + 1) for child in reversed(node.children)]
    if table.row_count:
        yield table
    if left := content.results.count - table.row_count:
        yield indented(Text(f"… and {counted(left, 'line')} more (--limit, --case)", style="dim"))


def _result(node: Node, level: int) -> Iterator[Text]:
    """Yield the state of one result, and what it says besides in one line."""
    line = node.line
    state = _short(line.get("state"))
    yield Text(f"  {state}", style=STATE_STYLES.get(state, "dim"))
    text = Text("  " * min(level, _DEEPEST) + f"{_short(line.get('caseId'))}  {_short(line.get('path'))}")
    facts = filter(None, _facts(line, reads("result", line)))
    text.append("".join(f"  {words}" for words in facts), style="dim")
    yield text


def _facts(line: Document, readings: dict[str, str]) -> Iterator[str]:
    if "trial" in line:
        yield f"trial {_short(line['trial'])}"
    if trials := _object(line.get("trials")):
        agree = "" if trials.get("agree") is True else ", not agreeing"
        passed = f"{_short(trials.get('passed'))} of {_short(trials.get('n'))}"
        yield f"trials {passed} passed by {_short(trials.get('aggregation'))}{agree}"
    for score in map(_object, _list(line.get("scores"))[:4]):
        yield f"{_short(score.get('metric'))}={_short(score.get('value'))}"
    if aggregation := _object(line.get("aggregation")):
        measured = f"{_short(aggregation.get('measured'))} of {_short(aggregation.get('total'))} measured"
        yield f"{_joined(aggregation, 'strategy', 'rulePath')}, {measured}"
    if "severity" in line:
        yield f"severity {_read(line['severity'], readings, 'severity')}"
    elif line.get("state") in ("failed", "warn"):
        yield "no severity, which counts as critical"
    if attack := _object(line.get("attack")):
        yield f"attack {_short(attack.get('technique'))}"
    yield f"by {_joined(_object(line.get('evaluator')), 'id', 'version')}"
    if "lane" in line:
        yield f"lane {_short(line['lane'])}"
    if isinstance(line.get("reason"), str):
        yield f"reason: {cut(line['reason'])}"


def _evidence(lines: Lines) -> Iterator[RenderableType]:
    for _, line in lines.kept:
        link = _object(line.get("link"))
        kind = _read(line.get("kind"), reads("evidence", line), "kind")
        where = "outside the run " if "uri" in link else ""
        text = Text(f"{_short(line.get('evidenceId'))}  {kind}  ")
        text.append(where + _joined(link, "blob", "traceId", "spanId", "uri"), style="dim")
        if isinstance(line.get("description"), str):
            text.append(f"  {cut(line['description'])}")
        yield indented(text)
    yield from _rest(lines)


def _gates(lines: Lines) -> Iterator[RenderableType]:
    for _, line in lines.kept:
        readings = reads("gate-decision", line)
        outcome = _read(line.get("outcome"), readings, "outcome")
        comparability = _read(line.get("comparability"), readings, "comparability")
        strategy = _short(_object(line.get("rule")).get("strategy"))
        words = f"{_short(line.get('gateId'))}  {outcome}  {comparability}  by {strategy}  {_joined(line, 'decidedAt')}"
        yield indented(Text(words))
    yield from _rest(lines)


def _rest(lines: Lines) -> Iterator[RenderableType]:
    if not lines.reads:
        yield indented(Text("The file does not read.", style="red"))
    elif lines.left:
        yield indented(Text(f"… and {counted(lines.left, 'line')} more (--limit)", style="dim"))


def _overlays(run: RunEntry) -> Iterator[RenderableType]:
    overlays = run.overlays
    assert overlays is not None
    batches = counted(overlays.batches, "verified batch", "verified batches")
    words = f"{batches} with {counted(overlays.events, 'event')} that take effect"
    if overlays.unsealed:
        words += f"; {counted(overlays.unsealed, 'event')} after them, unsealed and without effect"
    yield indented(Text(f"{words}. `aef view` shows what they say."))
