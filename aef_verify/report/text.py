"""A report for people: a table of the runs, what is wrong with each, pairs, what was not looked at, one last sentence.

Every text that comes from evidence or a path is escaped and cut before it stands in a `Text`, whose content `rich`
never takes for markup. What is long is bounded: the JSON report is the one that lists everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from aef_verify.codes import CODES, OUTCOME, OVERLAYS, PAIR, REPORT, RUN
from aef_verify.problems import Problem
from aef_verify.report.escape import cut, escaped, value_text
from aef_verify.report.model import Clash, EvidenceReport, RunEntry
from aef_verify.report.runs_table import RunsTable
from aef_verify.report.verdict import counted, verdict
from aef_verify.report.words import CLAIM, OUTCOME_STYLES, outcome_words

if TYPE_CHECKING:
    from rich.console import RenderableType

PROBLEMS = 50
"""Problems listed of one run, and of one overlay chain."""

RUNS = 200
"""Runs listed in the table, and runs whose problems are listed."""

OTHERS = 20
"""Links listed as not followed, and paths listed of a clash."""

ALL_IN_JSON = "--json lists all"

DISAGREED = (
    "The cache had another verdict on this run, although no file seems changed: a pass without --paranoid would have "
    "shown that one. What was read now counts, and is kept; docs/CACHE.md says what a cache cannot see."
)


def evidence_text(report: EvidenceReport) -> Iterator[RenderableType]:
    """Yield the parts of a report in the order in which they are read."""
    below = _root_of(report)
    yield _title(report, below)
    yield Text()
    yield from _runs_table(report, below)
    yield from _notes(report)
    yield from _details(report)
    yield from _clashes(report.clashes)
    yield from _pairs(report)
    yield from _not_looked_at(report)
    yield from advice_text(_codes_of(report))
    yield Text()
    yield Text(verdict(report), style="green" if report.is_sound else "bold red")


def _root_of(report: EvidenceReport) -> str:
    """Return the one folder that all runs lie below, with its slash; empty where they lie below several."""
    if len(report.paths) > 1 or (len(report.runs) == 1 and report.runs[0].path == report.paths[0].rstrip("/")):
        return ""
    return report.paths[0].rstrip("/") + "/"


def _title(report: EvidenceReport, below: str) -> Text:
    number = counted(len(report.runs), "run")
    return Text(f"{number} below {escaped(below)}" if below else number, style="bold")


def _runs_table(report: EvidenceReport, below: str) -> Iterator[RenderableType]:
    runs = list(report.runs)
    if len(runs) > RUNS:
        runs = [*(run for run in runs if not run.is_sound), *(run for run in runs if run.is_sound)][:RUNS]
        shown = set(map(id, runs))
        runs = [run for run in report.runs if id(run) in shown]
    yield RunsTable(runs, below)
    if left := len(report.runs) - len(runs):
        yield Text(f"… and {counted(left, 'run')} more ({ALL_IN_JSON})", style="dim")


def _notes(report: EvidenceReport) -> Iterator[RenderableType]:
    """Yield what explains the table."""
    notes = []
    if not report.policy_given and any(run.outcome == "intact" for run in report.runs):
        notes.append("Without --policy no signature was checked: intact shows that nothing changed, not who made it.")
    converted = [run for run in report.runs if run.header.imported is not None]
    if any(run.header.is_claimed(field) for run in converted for field in ("execution.targetMode", "suite")):
        notes.append(f"{CLAIM} supplied by the converter of an imported run: its claim, not the producer's.")
    if cached := sum(run.cached for run in report.runs):
        notes.append(
            f"cached: {cached:,} of {counted(len(report.runs), 'run')} did not change since an earlier pass read them, "
            "and were not read again (--paranoid reads all)."
        )
    if notes:
        yield Text()
    for note in notes:
        yield Text(note, style="dim")


def _details(report: EvidenceReport) -> Iterator[RenderableType]:
    """Yield what is wrong with each run, and what is withheld."""
    listed = [run for run in report.runs if not run.is_sound or run.problems or run.disagreed]
    for run in listed[:RUNS]:
        yield Text()
        yield from run_details(run)
    if left := listed[RUNS:]:
        number = sum(len(run.problems) + len(run.overlay_problems) for run in left)
        yield Text()
        yield Text(
            f"… and {counted(len(left), 'run')} more with {counted(number, 'problem')} ({ALL_IN_JSON})", style="dim"
        )


def run_details(run: RunEntry) -> Iterator[RenderableType]:
    """Yield what is wrong with one run: its outcome, its problems, and apart from them those of its overlays."""
    head = Text(escaped(run.path), style="bold")
    head.append("  ")
    head.append(outcome_words(run, with_signers=True), style=OUTCOME_STYLES[run.outcome])
    if run.header.run_id is not None:
        head.append(f"  runId {cut(run.header.run_id)}", style="dim")
    yield head
    if run.message:
        yield indented(Text(cut(run.message, 1000)))
    if run.disagreed:
        yield indented(Text(DISAGREED, style="red"))
    yield from problem_list(RUN, run.problems)
    if run.overlay_problems:
        yield indented(Text("Overlays (the run's own outcome is not touched by these):"))
        yield from problem_list(OVERLAYS, run.overlay_problems)
    for name in run.shortfalls:
        code = CODES[REPORT, f"require-{name}"]
        yield indented(Text(f"not {name}: {code.meaning}", style="red"))


def problem_list(scope: str, problems: Sequence[Problem], most: int = PROBLEMS) -> Iterator[RenderableType]:
    """Yield problems: where and what, then why, then, the first time a code comes up, what it means."""
    explained: set[str] = set()
    for problem in problems[:most]:
        line = Text(cut(problem.path))
        line.append("  ")
        line.append(problem.code, style="yellow" if problem.code == "withheld" else "red")
        yield indented(line)
        if problem.detail:
            value = "" if problem.value is None else f"; written: {value_text(problem.value)}"
            yield indented(Text(cut(problem.detail, 500) + value), 4)
        if problem.code not in explained:
            explained.add(problem.code)
            code = CODES[scope, problem.code]
            yield indented(Text(f"{code.meaning} [{', '.join(code.rules)}]", style="dim"), 4)
    if left := len(problems[most:]):
        yield indented(Text(f"… and {left:,} more ({ALL_IN_JSON})", style="dim"))


def indented(text: Text, by: int = 2) -> Padding:
    """Return a text whose lines all begin further right."""
    return Padding(text, (0, 0, 0, by))


def _clashes(clashes: Sequence[Clash]) -> Iterator[RenderableType]:
    code = CODES[REPORT, "run-id-clash"]
    for clash in clashes[:RUNS]:
        yield Text()
        head = Text(f"runId {cut(clash.run_id)}", style="bold")
        head.append("  ")
        head.append(f"{code.code}: {len(clash.runs):,} different runs", style="red")
        yield head
        for copies in clash.runs[:OTHERS]:
            yield indented(Text(f"run hash {copies.run_hash}"))
            for path in copies.paths[:OTHERS]:
                yield indented(Text(escaped(path)), 4)
            if left := len(copies.paths[OTHERS:]):
                yield indented(Text(f"… and {left:,} more copies ({ALL_IN_JSON})", style="dim"), 4)
        if left := len(clash.runs[OTHERS:]):
            yield indented(Text(f"… and {left:,} more ({ALL_IN_JSON})", style="dim"))
        yield indented(Text(f"{code.meaning} [{', '.join(code.rules)}]", style="dim"))


def _pairs(report: EvidenceReport) -> Iterator[RenderableType]:
    """Yield the pairs among the runs."""
    if report.pairs or report.pair_notes:
        from aef_verify.report.pair_text import pairs_text

        yield from pairs_text(report)
    if report.lacks_pair:
        yield Text()
        yield Text("There is no pair of runs here, and --require linked asks for one.", style="red")


def _not_looked_at(report: EvidenceReport) -> Iterator[RenderableType]:
    others = report.not_looked_at
    if not others:
        return
    yield Text()
    yield Text("Not looked at", style="bold")
    for other in others[:OTHERS]:
        line = Text(escaped(other.path))
        line.append("  ")
        line.append(other.code, style="yellow")
        yield indented(line)
    if left := len(others[OTHERS:]):
        yield indented(Text(f"… and {left:,} more ({ALL_IN_JSON})", style="dim"))
    for name in dict.fromkeys(other.code for other in others):
        code = CODES[REPORT, name]
        yield indented(Text(f"{code.meaning} [{', '.join(code.rules)}]", style="dim"))


def _codes_of(report: EvidenceReport) -> list[tuple[str, str]]:
    """Return every code of a report, each once, in the order in which they come up."""
    found: dict[tuple[str, str], None] = {}
    for run in report.runs:
        found.update(dict.fromkeys(run_codes(run)))
    if report.clashes:
        found[REPORT, "run-id-clash"] = None
    found.update(dict.fromkeys((PAIR, problem.code) for pair in report.pairs for problem in pair.problems))
    if report.unlinked or report.lacks_pair:
        found[REPORT, "require-linked"] = None
    found.update(dict.fromkeys((REPORT, other.code) for other in report.not_looked_at))
    return list(found)


def run_codes(run: RunEntry) -> list[tuple[str, str]]:
    """Return scope and word of every code of one run, each once."""
    found: dict[tuple[str, str], None] = {}
    if run.message:
        found[OUTCOME, run.outcome] = None
    found.update(dict.fromkeys((RUN, problem.code) for problem in run.breaches))
    found.update(dict.fromkeys((OVERLAYS, problem.code) for problem in run.overlay_problems))
    found.update(dict.fromkeys((REPORT, f"require-{name}") for name in run.shortfalls))
    return list(found)


def advice_text(codes: Sequence[tuple[str, str]]) -> Iterator[RenderableType]:
    """Yield what to do next, once for each code."""
    if not codes:
        return
    yield Text()
    yield Text("What to do next", style="bold")
    for scope, name in codes:
        code = CODES[scope, name]
        line = Text(f"{name}{' (overlays)' if scope == OVERLAYS else ''}: ")
        line.append(code.advice)
        yield indented(line)
