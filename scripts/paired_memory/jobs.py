"""The checks of a benchmark that is planned and run as a job: its plan, its stream, its run, and no trace of a key."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from aef_verify.problems import Problem
from aef_verify.runner.conform import verify_plan_conformance
from aef_verify.runner.plan import Plan, load_plan
from aef_verify.runner.stream import verify_stream
from scripts.paired_memory.lab import QUESTIONS, Lab, UnmetError, look_at
from scripts.paired_memory.program import SECRET, Done

PLANNED = ("--subject-version", "1.0", "--target-mode", "scripted", "--usd-per-call", "0.25", "--retries", "0")
MOST, SPENT = 8 * 0.25, 2 * 0.25
"""What a question can cost, and what one does that nothing disturbs."""

SEALED = f"exit 0, job.sealed, 1 run, {QUESTIONS} cases, no problem"
STOPPED = "exit 1, job.failed (maxUsd), 1 run, 3 cases, no problem"
CANCELLED = "exit 130, job.cancelled, 0 runs, 2 cases, no problem"
KILLED = "exit -9, no end, 0 runs, 2 cases, no-terminal"


def sealed(lab: Lab) -> str:
    """Run a job to its end."""
    return _job(lab, SEALED)


def stopped(lab: Lab) -> str:
    """Run a job whose budget lets three questions begin."""
    return _job(lab, STOPPED, budget=2 * SPENT + MOST)


def cancelled(lab: Lab) -> str:
    """Interrupt a job while it asks its third question."""
    return _job(lab, CANCELLED, signals=(signal.SIGINT,))


def killed(lab: Lab) -> str:
    """Kill a job while it asks its third question: its stream is whole lines, and has no end."""
    return _job(lab, KILLED, signals=(signal.SIGKILL,))


def _job(lab: Lab, wanted: str, *, budget: float | None = None, signals: Sequence[signal.Signals] = ()) -> str:
    folder = lab.folder()
    out, file = folder / "job", folder / "plan.json"
    limits = () if budget is None else ("--max-usd", str(budget))
    rules = [{"match": {}, "skip": 4, "fault": {"kind": "timeout"}}] if signals else []
    with lab.provider(rules=rules) as serving:
        planned = lab.call(serving, [*PLANNED, *limits, "--print-plan"], folder)
        if planned.code or serving.requests:
            raise UnmetError("a plan, and no request", f"exit {planned.code}", look_at(planned, folder))
        file.write_text(planned.stdout)
        done = lab.call(
            serving,
            [*PLANNED, "--job", str(file), "--out", str(out)],
            folder,
            reached=(lambda: len(serving.requests) >= 5) if signals else None,
            signals=signals,
        )
    seen = _words(done, out, load_plan(file.read_bytes()))
    found = list(_traces(folder, done))
    if seen != wanted or found:
        raise UnmetError(wanted, "; ".join([seen, *found]), look_at(done, out))
    return seen


def _words(done: Done, out: Path, plan: Plan) -> str:
    """Say how a job ended, what it left, and what the verifier finds in that."""
    events, runs = str(out / "events.ndjson"), out / "runs"
    report = verify_stream(events, plan)
    account = report.account
    problems: list[Problem] = list(report.problems)
    if runs.exists():
        problems += verify_plan_conformance(events, plan, str(runs)).problems
    left = sum(1 for run in runs.iterdir()) if runs.exists() else 0
    end = "no end" if account.end is None else account.end.kind
    if account.end is not None and account.end.limit is not None:
        end += f" ({account.end.limit})"
    words = ", ".join(problem.code for problem in problems) or "no problem"
    cases = sum(account.cases.values())
    return f"exit {done.code}, {end}, {left} run{'' if left == 1 else 's'}, {cases} cases, {words}"


def _traces(folder: Path, done: Done) -> Iterator[str]:
    """Yield where a key was seen, or the variable that it is in where the plan alone may name it."""
    if SECRET in done.told:
        yield "the key was printed"
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if SECRET.encode() in data or (path.name != "plan.json" and b"OPENAI_API_KEY" in data):
            yield f"{path.name} holds the key or its variable"
