"""Reports for tests, made as the verifier makes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType

from aef_verify.problems import Problem, ordered
from aef_verify.report.assemble import evidence_report
from aef_verify.report.model import UNREADABLE, EvidenceReport, NotLookedAt, RunEntry, Unverified
from aef_verify.run.verify import Overlays, RunReport
from tests import building

HASH = "ab" * 32
HOSTILE = "[red]x[/red]\x1b[31m\u202eevil\u200b\n\r\u2028\udcff\U000e0041]8;;http://x\x07"
DIGEST = Problem("results.ndjson", "digest", "the file's bytes hash to another one", "00ff")
GONE = Problem("blobs/sha256/ab/abab", "withheld", "an authorized redaction withholds this blob")
UNCOVERED = Problem("overlays/events.ndjson", "uncovered", "bytes of the file are in no batch")


def verified(
    path: str = "runs/one",
    *problems: Problem,
    outcome: str | None = None,
    run: dict[str, Any] | None = None,
    overlays: Iterable[Problem] | None = None,
    signed_by: tuple[str, ...] | None = None,
    anchored: bool | None = None,
    run_hash: str = HASH,
) -> RunReport:
    """Return what the verifier would say about a run with these problems; intact where there are none."""
    breaches = [problem for problem in problems if problem.code != "withheld"]
    return RunReport(
        path,
        outcome or ("invalid" if breaches else "intact"),
        tuple(ordered(problems)),
        signed_by,
        anchored,
        len(problems) - len(breaches),
        run_hash,
        building.small()["run.json"] if run is None else run,
        None,
        2,
        None if overlays is None else Overlays(tuple(overlays), 1, 1, 0),
        {},
    )


def report(
    *answers: RunReport | RunEntry | Unverified, paths: Sequence[str] = ("runs",), **options: Any
) -> EvidenceReport:
    return evidence_report(paths, answers, **options)


def text_of(parts: Iterable[RenderableType], width: int = 100) -> str:
    """Return parts as plain text, without spaces at the ends of lines."""
    shown = StringIO()
    console = Console(file=shown, width=width, color_system=None, highlight=False, markup=False, emoji=False)
    for part in parts:
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in shown.getvalue().splitlines())


def hostile_reports() -> list[EvidenceReport]:
    """Return reports with hostile text wherever evidence, paths or messages are shown."""
    named = {"name": HOSTILE, "ref": HOSTILE, "version": HOSTILE}
    run = {
        "runId": HOSTILE,
        "status": HOSTILE,
        "execution": {"targetMode": HOSTILE},
        "producer": named,
        "subject": named,
        "suite": named,
        "imported": {"from": HOSTILE, "asserted": [HOSTILE, "suite"]},
    }
    problem = Problem(f"ext/{HOSTILE}", "path", HOSTILE, {HOSTILE: [HOSTILE]})
    overlay = Problem(f"overlays/{HOSTILE}", "unexpected-file", HOSTILE, HOSTILE)
    several = report(
        verified(f"runs/{HOSTILE}", problem, run=run, overlays=[overlay], run_hash="00" * 32),
        verified(f"runs/2{HOSTILE}", run=run, signed_by=(HOSTILE, HOSTILE)),
        Unverified(f"runs/{HOSTILE}", UNREADABLE, HOSTILE),
        not_looked_at=[NotLookedAt(f"runs/{HOSTILE}", "link")],
    )
    one = report(verified(HOSTILE, run=run), paths=(HOSTILE,))
    below = report(verified(f"{HOSTILE}/x", run=run), paths=(HOSTILE,))
    return [several, one, below]
