"""Benchmarks as jobs for tests: settings over a few questions, a plan of them, and the job that a client answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aef_verify.memory import job
from aef_verify.memory.agents import BUILT_IN
from aef_verify.memory.bench import Settings
from aef_verify.memory.dataset import open_dataset
from aef_verify.memory.job import MemoryTarget
from aef_verify.memory.job_options import own_runner
from aef_verify.memory.plan import LIVE, Bounds, plan_of
from aef_verify.runner.conform import verify_plan_conformance
from aef_verify.runner.job import JobResult, run_plan
from aef_verify.runner.plan import load_plan
from aef_verify.runner.stream import verify_stream
from tests.memory.asking import CALLS, FakeClient
from tests.memory.datasets import entry, write

AT = "2026-10-02T14:00:00Z"
BOUNDS = Bounds(0.5, 60)
Json = dict[str, Any]


class Client(FakeClient):
    """A fake client that can be closed."""

    closed = 0

    async def aclose(self) -> None:
        self.closed += 1


class Lab(NamedTuple):
    """Plans and runs benchmarks over four questions in a folder."""

    folder: Path
    patch: pytest.MonkeyPatch

    def settings(self, **changed: Any) -> Settings:
        path = self.folder / "longmemeval_s_cleaned.json"
        if not path.exists():
            write(self.folder, [entry(f"q{number}") for number in range(1, 5)])
        dataset = open_dataset(str(path))
        usual = Settings(
            dataset=dataset,
            roster=dataset.items,
            preset="full",
            seed=0,
            subject=("agent:my-agent", "1.0"),
            agent=BUILT_IN["full-history"],
            calls=CALLS,
            answer_version=None,
            judge_provider=None,
            threshold="50",
            paired=False,
            evidence=None,
            content=False,
            concurrency=8,
            timeout=1,
            retries=0,
            offline=True,
            scripted=False,
            version="0.1.0",
        )
        return usual._replace(**changed)

    def plan(self, *, bounds: Bounds = BOUNDS, mode: str = LIVE, members: Json | None = None, **changed: Any) -> Json:
        """Plan what these settings say; `members` replace those of the plan, None takes one away."""
        plan = plan_of(self.settings(**changed), bounds, mode=mode) | (members or {})
        return {name: value for name, value in plan.items() if value is not None}

    def run(
        self,
        plan: Json,
        client: Client | None = None,
        *,
        bounds: Bounds = BOUNDS,
        mode: str = LIVE,
        environment: dict[str, str] | None = None,
        **changed: Any,
    ) -> JobResult:
        """Run a plan with what these settings say, answered by a client."""
        found = client or Client()
        self.patch.setattr(job, "Client", lambda **given: found)
        with MemoryTarget(self.settings(**changed), bounds, mode) as target:
            return run_plan(
                self.plan_bytes(plan),
                own_runner("0.1.0", mode),
                target,
                str(self.out),
                at=AT,
                environment=environment or {},
            )

    @staticmethod
    def plan_bytes(plan: Json) -> bytes:
        return json.dumps(plan).encode()

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def events(self) -> list[Json]:
        return [json.loads(line) for line in (self.out / "events.ndjson").read_bytes().splitlines()]

    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.events()]

    def document(self, name: str) -> Json:
        """Return a document of the one run that there is."""
        (folder,) = (self.out / "runs").iterdir()
        found: Json = json.loads((folder / name).read_bytes())
        return found

    def results(self) -> list[Json]:
        (folder,) = (self.out / "runs").iterdir()
        return [json.loads(line) for line in (folder / "results.ndjson").read_bytes().splitlines()]

    def check(self, plan: Json) -> None:
        """Check the stream against the plan, and the runs against both; nothing may be found [STRM-3], [STRM-4]."""
        read = load_plan(self.plan_bytes(plan))
        events = str(self.out / "events.ndjson")
        assert verify_stream(events, read).problems == ()
        (self.out / "runs").mkdir(exist_ok=True)
        assert verify_plan_conformance(events, read, str(self.out / "runs")).problems == ()
