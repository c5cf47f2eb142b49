"""Small jobs for tests: a plan, a manifest and a scripted target that fit, run, and what came of them.

A suite's cases cost a quarter of a dollar and take 20 seconds, closing a run takes one: what a job comes to is counted
in the head.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from aef_verify.runner.conform import verify_plan_conformance
from aef_verify.runner.job import JobResult, Watch, run_job
from aef_verify.runner.plan import load_plan
from aef_verify.runner.stream import verify_stream
from tests.runner.telling import plan_document, runner_document

Json = dict[str, Any]

AT = "2026-10-09T09:00:00Z"
CONTENT = "what the suite is"
DIGEST = "sha256:" + sha256(CONTENT.encode()).hexdigest()


def case(name: str, **members: Any) -> Json:
    """State a case; members given replace or extend it, None takes one away."""
    state = {"caseId": name, "state": "passed", "usd": 0.25, "usdBound": 0.25, "seconds": 20, "secondsBound": 20}
    return {member: value for member, value in (state | members).items() if value is not None}


def suite(ref: str = "suite:a", *cases: Json, **members: Any) -> Json:
    """State a suite of two cases, or of those given."""
    return {"ref": ref, "version": "1", "content": CONTENT, "cases": list(cases) or [case("1"), case("2")]} | members


def target(*suites: Json, **members: Any) -> Json:
    """State a target of one suite, or of those given."""
    return {"suites": list(suites) or [suite()], "closeSeconds": 1, "priceTable": "prices-1"} | members


def plan(*suites: str | Json, **members: Any) -> Json:
    """State a plan of the suites of these references, or of `suite:a`; without a limit that a small job could pass."""
    named = [one if isinstance(one, dict) else {"ref": one, "version": "1"} for one in suites or ("suite:a",)]
    given: Json = {"suites": named, "limits": {"maxUsd": 100}, "targetMode": "scripted"}
    return plan_document(**(given | members))


def runner(**members: Any) -> Json:
    return runner_document(**({"targetModes": ["scripted"]} | members))


class Ran(NamedTuple):
    """A job that ran: its result, its events, and where its files are."""

    result: JobResult
    events: list[Json]
    out: Path
    plan: Path

    def of(self, kind: str) -> list[Json]:
        """Return the events of a kind."""
        return [event for event in self.events if event["kind"] == kind]

    @property
    def end(self) -> Json:
        """Return the terminal event."""
        return self.events[-1]

    def document(self, name: str, place: int = 0) -> Any:
        """Return a file of the run that was announced at this place: an object, or the lines of an NDJSON file."""
        run_id = self.of("evidence.produced")[place]["runId"]
        text = (self.out / "runs" / run_id / name).read_text()
        return [json.loads(line) for line in text.split("\n")[:-1]] if name.endswith(".ndjson") else json.loads(text)

    def cases(self) -> list[list[str]]:
        """Return the ids of each run's cases, from its result lines."""
        count = len(self.of("evidence.produced"))
        return [[line["caseId"] for line in self.document("results.ndjson", place)] for place in range(count)]

    def files(self) -> set[str]:
        """Return the files and folders of the job, two levels deep."""
        found = [*self.out.glob("*"), *self.out.glob("*/*")]
        return {str(path.relative_to(self.out)) for path in found}


def written(folder: Path, *, plan: Json | bytes, runner: Json, target: Json | bytes) -> tuple[str, str, str]:
    """Write what a job is given, and return the three paths."""
    for name, document in (("plan", plan), ("runner", runner), ("target", target)):
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        (folder / f"{name}.json").write_bytes(data)
    return str(folder / "plan.json"), str(folder / "runner.json"), str(folder / "target.json")


def run(
    folder: Path,
    *,
    plan: Json | bytes = plan(),  # noqa: B008  # as every default here: read alone
    runner: Json = runner(),  # noqa: B008
    target: Json | bytes = target(),  # noqa: B008
    at: str = AT,
    environment: Mapping[str, str] | None = None,
    watch: Watch | None = None,
) -> Ran:
    """Run a job below a folder."""
    asked, manifest, script = written(folder, plan=plan, runner=runner, target=target)
    out = folder / "out"
    result = run_job(asked, manifest, script, str(out), at=at, environment=environment or {}, watch=watch)
    return Ran(result, read(out), out, Path(asked))


def read(out: Path) -> list[Json]:
    """Return the events that a job wrote."""
    return [json.loads(line) for line in (out / "events.ndjson").read_text().split("\n")[:-1]]


def problems(ran: Ran) -> Sequence[object]:
    """Return what a verifier finds in a job's stream and runs [STRM-3], [STRM-4]."""
    asked = load_plan(ran.plan.read_bytes())
    stream = verify_stream(str(ran.out / "events.ndjson"), asked)
    found = verify_plan_conformance(str(ran.out / "events.ndjson"), asked, str(ran.out))
    return [*stream.problems, *found.problems]
