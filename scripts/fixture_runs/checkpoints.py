"""Release decisions over the bundled runs, and copies of them that somebody tampered with.

Input, decision and outcome are written down here by hand, from the rules of chapter 5, so that they test the verifier
instead of repeating it.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from aef_verify.integrity.dsse import CHECKPOINT_TYPE
from scripts.fixture_runs import coding_agent, red_team, support_assistant
from scripts.fixture_runs.building import Document, leave_out_none, pretty
from scripts.fixture_runs.sealing import CI, REVIEWER, STRANGER, PublishedKey, Sealer

Pair = tuple[str, str]
"""A problem as path and code; the path of one that the manifest alone shows is empty [CKP-7]."""

RUNS = "evidence/sound"
REPAIRS_AT, SUPPORT_AT = "2026-10-01T09:00:00Z", "2026-10-04T09:00:00Z"
"""When the two checkpoints were decided."""

LATER = "2026-10-20T12:00:00Z"
"""When the repairs are older than two weeks, and the accepted failure is not accepted any more."""


class CheckpointExhibit(NamedTuple):
    """One checkpoint, and what a verifier with the bundled policy must say of it.

    Attributes:
        name: the file's name without `.json`.
        copy_of: the sound checkpoint that was tampered with; None for a sound one.
        about: what it is, or what was done to a copy, in one sentence.
        says: what the verifier must say, in one sentence.
        make: returns the manifest.
        key: who signed it; None for a copy that keeps the envelope of the sound one.
        at: the time at which it is read.
        recorded: the outcome that it records.
        outcome: the outcome at that time [CKP-10].
        problems: [CKP-7] and [CKP-8].
        signed_by: the identities that it is signed by.
        exit_code: of `aef checkpoint`.
    """

    name: str
    copy_of: str | None
    about: str
    says: str
    make: Callable[[Path], Document]
    key: PublishedKey | None
    at: str
    recorded: str
    outcome: str
    problems: tuple[Pair, ...] = ()
    signed_by: tuple[str, ...] = ()
    exit_code: int = 1

    @property
    def path(self) -> str:
        """The manifest, below `fixtures/`."""
        return f"checkpoints/{'tampered' if self.copy_of else 'sound'}/{self.name}.json"

    def write(self, fixtures: Path, sealer: Sealer) -> None:
        """Write the manifest and its envelope."""
        file = fixtures / self.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pretty(self.make(fixtures)))
        envelope = file.with_suffix(".dsse.json")
        if self.key is not None:
            sealer.sign(file, self.key, envelope.name, CHECKPOINT_TYPE)
        else:
            shutil.copy(fixtures / f"checkpoints/sound/{self.copy_of}.dsse.json", envelope)

    def document(self) -> Document:
        """Return the entry of `expected.json`."""
        return {
            "path": self.path,
            "copyOf": self.copy_of and f"checkpoints/sound/{self.copy_of}.json",
            "about": self.about,
            "says": self.says,
            "runs": RUNS,
            "at": self.at,
            "recorded": self.recorded,
            "outcome": self.outcome,
            "problems": [list(pair) for pair in self.problems],
            "signedBy": list(self.signed_by),
            "exitCode": self.exit_code,
        }


class Lane(NamedTuple):
    """One lane with what its runs give, by hand: the result, the status after exceptions, the earliest closing time.

    `runs` holds the folder's name and the origin of each run.
    """

    name: str
    rule: Document
    blocking: bool
    freshness: str
    requirements: Sequence[str]
    runs: Sequence[tuple[str, str]]
    result: str
    status: str
    closed_at: str


def _manifest(fixtures: Path, head: Document, at: str, lanes: Sequence[Lane], decided: Document) -> Document:
    """Return a decided manifest; `decided` has its outcome and reasons, and exceptions if there are any."""
    version = head["subject"]["version"]
    exceptions = decided.get("exceptions")
    return {
        "schemaVersion": "1.0",
        **head,
        "lanes": [
            {
                "lane": lane.name,
                "rule": lane.rule,
                "requirements": list(lane.requirements),
                "runs": [{**_pointer(fixtures, name), "origin": origin} for name, origin in lane.runs],
                "blocking": lane.blocking,
                "freshness": lane.freshness,
            }
            for lane in lanes
        ],
        "state": "decided",
        "outcome": decided["outcome"],
        "decision": {
            "outcome": decided["outcome"],
            "lanes": [{"lane": lane.name, "status": lane.status, "blocking": lane.blocking} for lane in lanes],
            "reasons": decided["reasons"],
        },
        "decisionInput": leave_out_none(
            subjectVersion=version,
            evaluatedAt=at,
            lanes=[
                {
                    "lane": lane.name,
                    "blocking": lane.blocking,
                    "freshness": lane.freshness,
                    "evidence": sorted(_pointer(fixtures, name)["runHash"] for name, _ in lane.runs),
                    "result": {
                        "status": lane.result,
                        "subjectVersion": version,
                        "oldestClosedAt": lane.closed_at,
                    },
                }
                for lane in lanes
            ],
            exceptions=exceptions,
        ),
    }


def _pointer(fixtures: Path, name: str) -> Document:
    """Return the id and run hash of a bundled run; a name with a slash is of another folder than the sound ones."""
    seal = fixtures / "evidence" / (name if "/" in name else f"sound/{name}") / "seal.json"
    predicate = json.loads(seal.read_bytes())["predicate"]
    return {"runId": predicate["runId"], "runHash": predicate["runHash"]}


def repairs(fixtures: Path, run: str = "coding-agent") -> Document:
    """Return the checkpoint of the coding agent, over its one run."""
    closed = coding_agent.HEADER["endedAt"]
    suite = {"ref": "suite:repairs", "version": "7"}
    rule = {"kind": "threshold", "lane": "repairs", "metric": "repaired", "path": "repair", "op": ">=", "value": 0.5}
    present = {"kind": "evidence-present", "runs": 1}
    runs = ((run, "launched"),)
    return _manifest(
        fixtures,
        {
            "checkpointId": "patch-writer-0.12.3",
            "subject": {
                "ref": "agent:patch-writer",
                "version": "0.12.3",
                "resolvedFrom": "latest",
                "resolvedAt": "2026-09-30T20:00:00Z",
            },
        },
        REPAIRS_AT,
        (
            Lane(
                "repairs",
                {**rule, "suite": suite, "minimumN": 4},
                True,
                "P14D",
                ("REQ-repairs",),
                runs,
                "passed",
                "passed",
                closed,
            ),
            Lane("evidence", present, True, "P30D", (), runs, "passed", "passed", closed),
        ),
        {"outcome": "approved", "reasons": ["outcome:approved"]},
    )


def support(fixtures: Path) -> Document:
    """Return the checkpoint of the support assistant: one failure accepted for two weeks, one that does not block."""
    answers = {"kind": "threshold", "lane": "quality", "path": "answer", "op": ">="}
    suite = {"ref": "suite:support", "version": "14"}
    closed = support_assistant.HEADER["endedAt"]
    runs = (("support", "launched"),)
    return _manifest(
        fixtures,
        {
            "checkpointId": "support-assistant-2.8.0",
            "subject": {
                "ref": "agent:support-assistant",
                "version": "2.8.0",
                "deployment": "deployment:support-staging",
            },
            "budget": {
                "approvedUsd": 10,
                "spentUsd": 0.16,
                "approvedBy": {"identity": "oidc:acme/budget", "assurance": "authenticated"},
            },
        },
        SUPPORT_AT,
        (
            Lane(
                "answers",
                {**answers, "metric": "answer_correct", "value": 0.8, "minimumN": 5, "suite": suite},
                True,
                "P30D",
                ("REQ-answers",),
                runs,
                "failed",
                "waived",
                closed,
            ),
            Lane(
                "helpfulness",
                {**answers, "metric": "helpfulness", "value": 0.7, "suite": suite},
                True,
                "P30D",
                (),
                runs,
                "passed",
                "passed",
                closed,
            ),
            Lane(
                "red-team",
                {"kind": "severity", "max": "high", "path": "attack"},
                False,
                "P90D",
                (),
                (("red-team", "adopted:security-team"),),
                "failed",
                "failed",
                red_team.HEADER["endedAt"],
            ),
        ),
        {
            "outcome": "approved_with_exceptions",
            "reasons": ["waived:answers", "advisory-failed:red-team", "outcome:approved_with_exceptions"],
            "exceptions": [
                {
                    "lane": "answers",
                    "evidence": [_pointer(fixtures, "support")["runHash"]],
                    "requirement": "REQ-answers",
                    "reason": "Two vouchers on one order: the shop refuses them whatever the assistant says.",
                    "by": {"identity": "oidc:acme/reviewer", "assurance": "signed"},
                    "at": "2026-10-04T08:30:00Z",
                    "expires": "2026-10-18T00:00:00Z",
                }
            ],
        },
    )


def _edited_decision(fixtures: Path) -> Document:
    found = support(fixtures)
    found["outcome"] = found["decision"]["outcome"] = "approved"
    found["decision"]["reasons"] = ["advisory-failed:red-team", "outcome:approved"]
    found["decision"]["lanes"][0]["status"] = "passed"
    return found


def _longer_exception(fixtures: Path) -> Document:
    found = support(fixtures)
    found["decisionInput"]["exceptions"][0]["expires"] = "2027-10-18T00:00:00Z"
    return found


def _better_result(fixtures: Path) -> Document:
    found = copy.deepcopy(_edited_decision(fixtures))
    found["decisionInput"]["lanes"][0]["result"]["status"] = "passed"
    del found["decisionInput"]["exceptions"]
    return found


def _exchanged_run(fixtures: Path) -> Document:
    return repairs(fixtures, "tampered/other-run")


_REPAIRS_RUN = f"runs/{coding_agent.HEADER['runId']}"

CHECKPOINTS: Sequence[CheckpointExhibit] = (
    CheckpointExhibit(
        "repairs",
        None,
        "The coding agent 0.12.3, over one live run.",
        "Approved, signed by the CI; from 2026-10-14 on expired, as the run is older than 14 days then.",
        repairs,
        CI,
        "2026-10-03T12:00:00Z",
        "approved",
        "approved",
        signed_by=("spiffe://acme/ci",),
        exit_code=0,
    ),
    CheckpointExhibit(
        "support",
        None,
        "The support assistant 2.8.0, over two live runs: the reviewer accepts one failure until 2026-10-18.",
        "Approved with exceptions, signed by the reviewer; from 2026-10-18 on blocked.",
        support,
        REVIEWER,
        "2026-10-05T12:00:00Z",
        "approved_with_exceptions",
        "approved_with_exceptions",
        signed_by=("oidc:acme/reviewer",),
        exit_code=0,
    ),
    CheckpointExhibit(
        "edited-decision",
        "support",
        "The recorded decision and outcome were edited to approved, as if no failure had to be accepted.",
        "The decision is not what its own input gives, and the envelope is of other bytes.",
        _edited_decision,
        None,
        "2026-10-05T12:00:00Z",
        "approved",
        "approved_with_exceptions",
        problems=(("", "decision"),),
    ),
    CheckpointExhibit(
        "longer-exception",
        "support",
        "The accepted failure was given one more year.",
        "Manifest and runs agree, and only the signature tells: the envelope is of other bytes.",
        _longer_exception,
        None,
        LATER,
        "approved_with_exceptions",
        "approved_with_exceptions",
    ),
    CheckpointExhibit(
        "better-result",
        "support",
        "The failed lane's recorded result became passed, the exception was dropped, and a stranger signed it.",
        "The manifest agrees with itself, but not with the run; the signature is of nobody you trust.",
        _better_result,
        STRANGER,
        "2026-10-05T12:00:00Z",
        "approved",
        "approved",
        problems=(("lanes/answers", "lane-result"),),
    ),
    CheckpointExhibit(
        "exchanged-run",
        "repairs",
        "The run was exchanged for a better one with the same runId.",
        "The run that it names is not there, and the envelope is of other bytes.",
        _exchanged_run,
        None,
        "2026-10-03T12:00:00Z",
        "approved",
        "approved",
        problems=(
            ("lanes/evidence", "lane-result"),
            (f"lanes/evidence/{_REPAIRS_RUN}", "run-missing"),
            ("lanes/repairs", "lane-result"),
            (f"lanes/repairs/{_REPAIRS_RUN}", "run-missing"),
        ),
    ),
)
