"""Whatever became of an arm, its run is valid as a writer's, has no problem, and says what the arm says."""

from __future__ import annotations

import json
import os
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aef_verify.memory import evidence
from aef_verify.memory.gate import decide
from aef_verify.memory.model import NORMAL, ORACLE, ArmResult
from aef_verify.memory.profile import EXTENSION
from aef_verify.run.verify import verify_run
from aef_verify.schemas.document import check_document
from tests import building
from tests.memory.arms import NORMAL_HASH, arms, private_pem
from tests.properties.effort import examples
from tests.properties.scratch import scratch

DOCUMENTS = {
    "run.json": "run",
    "results.ndjson": "result",
    "metrics.json": "metrics",
    "summary.json": "summary",
    "evidence.ndjson": "evidence",
    "gates.ndjson": "gate-decision",
    "seal.json": "seal",
}
SEALS = st.sampled_from(["unsealed", "sealed", building.ALICE, building.BOB])


def lines(run: str, name: str) -> list[dict[str, Any]]:
    with open(os.path.join(run, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file.read().splitlines()]


@examples(40)
@given(arms(), SEALS, st.none() | st.floats(0, 100), st.floats(0, 100))
def test_every_arm_becomes_a_run_without_a_problem(
    found: ArmResult, seal: str, normal_accuracy: float | None, threshold: float
) -> None:
    with scratch() as folder:
        written = evidence.write_arm(
            found,
            folder,
            run_id="lme-1",
            normal_run_hash=NORMAL_HASH if seal != "unsealed" else None,
            normal_accuracy=normal_accuracy,
            threshold=threshold,
            seal=seal != "unsealed",
            key=private_pem(seal) if "@" in seal or "://" in seal else None,
            producer_version="0.1.0",
        )
        assert os.listdir(folder) == ["lme-1"]
        report = verify_run(written.path, policy=building.trust())
        assert (report.outcome, report.problems) == ("unsealed" if seal == "unsealed" else "intact", ())
        assert report.signed_by == ((seal,) if seal in building.KEYS else ())
        assert written.run_hash in (None, report.run_hash)
        for name, schema in DOCUMENTS.items():
            file = os.path.join(written.path, name)
            if os.path.exists(file):
                assert check_document(schema, file)[:2] == ("valid", "valid"), name
        _says_what_the_arm_says(found, written.path, threshold)


def _says_what_the_arm_says(found: ArmResult, run: str, threshold: float) -> None:
    roots = [line for line in lines(run, "results.ndjson") if line["path"] == "qa"]
    assert [(line["caseId"], line["state"], line.get("reason")) for line in roots] == [
        (outcome.question.id, outcome.state, outcome.reason) for outcome in found.outcomes
    ]
    gated = os.path.exists(os.path.join(run, "gates.ndjson"))
    assert gated == (found.role == NORMAL and found.complete)
    if gated:
        assert [decision["outcome"] for decision in lines(run, "gates.ndjson")] == [decide(found, threshold)]
    with open(os.path.join(run, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    entry = summary["lanes"][0]["metrics"][0]
    assert (entry["N"], entry["n"], entry["sum"]) == (len(found.outcomes), found.scored, found.passed)
    pair = summary.get("ext", {}).get(EXTENSION)
    assert (pair is None) == (found.pair_id is None)
    if pair is not None:
        assert pair["observedQuestions"] == len(found.outcomes)
        assert pair["diagnosticOnly"] == (found.role == ORACLE)
        nulls = [pair[name] is None for name in ("scoredQuestions", "totalLlmCalls")]
        assert nulls == [not found.complete] * 2
    assert found.content or not any(name.startswith(("blobs", "evidence")) for name in os.listdir(run))
