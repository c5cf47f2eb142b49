"""The table of all bundled evidence: how each folder is made, and what a verifier must say of it.

What must be said is written down here by hand, from the rules; nothing of it is computed by the verifier.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.fixture_runs import coding_agent, nightly, red_team, retrieval, support_assistant, triage
from scripts.fixture_runs.building import Document, RunBuilder, hex_digest
from scripts.fixture_runs.sealing import CI, REVIEWER, STRANGER, Sealer

Pair = tuple[str, str]
"""A problem as the format reports it: path and code."""

SIGNED_BY_CI = ("spiffe://acme/ci",)


class Workshop(NamedTuple):
    """Where evidence is made: the folder of sound runs and of tampered copies, and who seals."""

    root: Path
    sealer: Sealer

    def sound(self, name: str) -> Path:
        """Return the folder of a sound run."""
        return self.root / "sound" / name

    def tampered(self, name: str) -> Path:
        """Return the folder of a tampered copy."""
        return self.root / "tampered" / name


class Exhibit(NamedTuple):
    """One folder of evidence, and what a verifier with the bundled policy and anchors must say of it.

    Attributes:
        name: the folder's name.
        copy_of: the sound run that was tampered with; None for a sound one.
        about: what a sound run is, or what was done to a copy, in one sentence.
        says: what the verifier must say, in one sentence.
        make: makes the folder.
        outcome: `intact`, `unsealed` or `invalid` (04 §4.5).
        problems: of the run, in the order of 03 §3.9.
        overlay_problems: of the overlay chain, likewise.
        signed_by: the identities it is signed by.
        anchored: whether the run hash is in the bundled list.
        withheld: how many blobs are lawfully gone.
        clashes: whether it has the `runId` of `copy_of` and another run hash [RUN-13].
    """

    name: str
    copy_of: str | None
    about: str
    says: str
    make: Callable[[Workshop, Path], None]
    outcome: str
    problems: tuple[Pair, ...] = ()
    overlay_problems: tuple[Pair, ...] = ()
    signed_by: tuple[str, ...] = ()
    anchored: bool = False
    withheld: int = 0
    clashes: bool = False

    @property
    def path(self) -> str:
        """The folder, below `fixtures/`."""
        return f"evidence/{'tampered' if self.copy_of else 'sound'}/{self.name}"

    def document(self) -> Document:
        """Return the entry of `expected.json`."""
        return {
            "path": self.path,
            "copyOf": self.copy_of and f"evidence/sound/{self.copy_of}",
            "about": self.about,
            "says": self.says,
            "outcome": self.outcome,
            "problems": [list(pair) for pair in self.problems],
            "overlayProblems": [list(pair) for pair in self.overlay_problems],
            "signedBy": list(self.signed_by),
            "anchored": self.anchored,
            "withheld": self.withheld,
            "clashes": self.clashes,
        }


def _make_support(shop: Workshop, folder: Path) -> None:
    support_assistant.support_assistant().write(folder)
    shop.sealer.seal(folder, support_assistant.SEALED_AT)
    shop.sealer.attest(folder, CI)


def _make_retrieval(shop: Workshop, folder: Path) -> None:
    retrieval.retrieval().write(folder)


def _make_red_team(shop: Workshop, folder: Path) -> None:
    red_team.red_team().write(folder)
    run_hash = shop.sealer.seal(folder, red_team.SEALED_AT)
    shop.sealer.attest(folder, CI)
    red_team.add_overlays(folder, run_hash, shop.sealer)


def _make_triage(shop: Workshop, folder: Path) -> None:
    triage.triage().write(folder)
    shop.sealer.seal(folder, triage.SEALED_AT)


def _make_coding_agent(shop: Workshop, folder: Path) -> None:
    coding_agent.coding_agent().write(folder)
    shop.sealer.seal(folder, coding_agent.SEALED_AT)


def _make_nightly(shop: Workshop, folder: Path) -> None:
    nightly.nightly().write(folder)
    shop.sealer.seal(folder, nightly.SEALED_AT, sealed_by="ingest")


def _change(file: Path, old: str, new: str) -> None:
    """Replace the one place in a file where a text stands."""
    text = file.read_bytes()
    if text.count(old.encode()) != 1:
        raise ValueError(f"{file}: {old!r} does not stand there exactly once")
    file.write_bytes(text.replace(old.encode(), new.encode()))


def _change_verdict(shop: Workshop, folder: Path) -> None:
    shutil.copytree(shop.sound("support"), folder)
    line = RunBuilder(support_assistant.HEADER, ()).result_id("two-vouchers", "answer")
    before = f'"resultId":"{line}","caseId":"two-vouchers","path":"answer","state":'
    _change(folder / "results.ndjson", before + '"failed"', before + '"passed"')


def _reseal(shop: Workshop, folder: Path) -> None:
    support_assistant.support_assistant(polished=True).write(folder)
    shop.sealer.seal(folder, support_assistant.SEALED_AT)
    shutil.copy(shop.sound("support") / "attestation.dsse.json", folder)


def _polish_summary(shop: Workshop, folder: Path) -> None:
    shutil.copytree(shop.sound("retrieval"), folder)
    file = folder / "summary.json"
    entry = json.loads(file.read_bytes())["lanes"][0]["metrics"][0]
    _change(
        file,
        f'"value": {entry["value"]},\n          "verdict": "failed",\n          "rule": "0.85 or more"',
        '"value": 0.9141666666666667,\n          "verdict": "passed",\n          "rule": "0.85 or more"',
    )


def _alter_overlay(shop: Workshop, folder: Path) -> None:
    shutil.copytree(shop.sound("red-team"), folder)
    _change(folder / "overlays/events.ndjson", '"expires":"2026-10-12T', '"expires":"2027-10-12T')


def _redact_alone(shop: Workshop, folder: Path) -> None:
    shutil.copytree(shop.sound("red-team"), folder)
    predicate = json.loads((folder / "seal.json").read_bytes())["predicate"]
    blob = {"blob": hex_digest(red_team.LEAK)}
    redact = red_team.event(
        "ov_9",
        "redact",
        "2026-10-07T18:40:00Z",
        REVIEWER,
        blob,
        predicate["runHash"],
        reason="Not needed any more.",
    )
    shop.sealer.append_batch(folder, [redact], REVIEWER)
    (folder / red_team.LEAK_PATH).unlink()
    (folder / red_team.LEAK_PATH).parent.rmdir()


def _hide_part(shop: Workshop, folder: Path) -> None:
    triage.triage(facts_hidden=True).write(folder)
    shop.sealer.seal(folder, triage.SEALED_AT)


def _hide_trials(shop: Workshop, folder: Path) -> None:
    coding_agent.coding_agent(hidden="time-zone").write(folder)
    shop.sealer.seal(folder, coding_agent.SEALED_AT)


def _other_run(shop: Workshop, folder: Path) -> None:
    better = {**coding_agent.TRIALS, "time-zone": ("passed",) * 3, "utf-8-split": ("passed", "passed", "failed")}
    coding_agent.coding_agent(better).write(folder)
    shop.sealer.seal(folder, coding_agent.SEALED_AT)
    shop.sealer.attest(folder, STRANGER)


def _add_file(shop: Workshop, folder: Path) -> None:
    shutil.copytree(shop.sound("nightly"), folder)
    note = folder / "ext/evalbench/rerun.json"
    note.parent.mkdir(parents=True)
    note.write_bytes(b'{"opening-hours": "passed", "refund": "passed", "complaint": "passed", "goodbye": "passed"}\n')


def _two_statuses(shop: Workshop, folder: Path) -> None:
    nightly.nightly().write(folder)
    _change(folder / "run.json", '"contentCapture": "off",', '"status": "completed",\n  "contentCapture": "off",')
    shop.sealer.seal_anything(folder, nightly.SEALED_AT)


_WITHHELD, _LEAK = red_team.WITHHELD_PATH, red_team.LEAK_PATH

SOUND: Sequence[Exhibit] = (
    Exhibit(
        "support",
        None,
        "A live evaluation of a support assistant; its gate said no_ship, which is a result like any other.",
        "Intact, signed by the CI and anchored.",
        _make_support,
        "intact",
        signed_by=SIGNED_BY_CI,
        anchored=True,
    ),
    Exhibit(
        "retrieval",
        None,
        "A benchmark of a help centre's search, never sealed.",
        "Unsealed: the documents keep the rules, and nothing guards them.",
        _make_retrieval,
        "unsealed",
    ),
    Exhibit(
        "red-team",
        None,
        "A red-team campaign with two signed overlay batches; a transcript with a customer's address is redacted.",
        "Intact with 1 withheld, signed by the CI; without the policy invalid, for who says the blob may be gone?",
        _make_red_team,
        "intact",
        problems=((_WITHHELD, "withheld"),),
        signed_by=SIGNED_BY_CI,
        withheld=1,
    ),
    Exhibit(
        "triage",
        None,
        "Replayed tickets as trees of parts, with typed absences and a trace.",
        "Intact, signed by nobody.",
        _make_triage,
        "intact",
    ),
    Exhibit(
        "coding-agent",
        None,
        "Every repair tried three times: trial trees, rollups, two flaky cases.",
        "Intact, signed by nobody, anchored.",
        _make_coding_agent,
        "intact",
        anchored=True,
    ),
    Exhibit(
        "nightly",
        None,
        "A scripted run that was aborted over its budget, sealed by the host that took it in.",
        "Intact, signed by nobody; an aborted run is evidence too.",
        _make_nightly,
        "intact",
    ),
)

TAMPERED: Sequence[Exhibit] = (
    Exhibit(
        "changed-verdict",
        "support",
        "In one result line, failed became passed.",
        "The file is not what was sealed, and the summary no longer follows from it.",
        _change_verdict,
        "invalid",
        problems=(("results.ndjson", "digest"), ("summary.json", "summary")),
    ),
    Exhibit(
        "resealed",
        "support",
        "The verdict, its summary and the gate's decision were all rewritten and sealed anew; the signature was kept.",
        "Intact, but signed by nobody and not anchored: anyone can seal. --require signed refuses it.",
        _reseal,
        "intact",
        clashes=True,
    ),
    Exhibit(
        "polished-summary",
        "retrieval",
        "A mean below its bound was raised in the summary, and its verdict with it.",
        "The summary does not follow from the results; no seal is needed to see that.",
        _polish_summary,
        "invalid",
        problems=(("summary.json", "summary"),),
        clashes=True,
    ),
    Exhibit(
        "altered-overlay",
        "red-team",
        "An expired waiver was given one more year, after the batch that holds it was sealed and signed.",
        "The run stays intact; the batch is not what was sealed, and nothing in it counts any more.",
        _alter_overlay,
        "intact",
        problems=((_WITHHELD, "withheld"),),
        overlay_problems=(("overlays/seal-0002.json", "batch-digest"),),
        signed_by=SIGNED_BY_CI,
        withheld=1,
    ),
    Exhibit(
        "self-made-redaction",
        "red-team",
        "A transcript was deleted, and its redaction signed by the reviewer, whom the policy gives no right to redact.",
        "The overlay chain is sound, but the blob is missing all the same.",
        _redact_alone,
        "invalid",
        problems=(
            *sorted(((_WITHHELD, "withheld"), (_LEAK, "missing"))),
            ("evidence.ndjson:3", "blob"),
        ),
        withheld=1,
    ),
    Exhibit(
        "hidden-part",
        "triage",
        "A ticket's failed part was left out, the ticket passes, all was sealed anew; only a total of 2 remained.",
        "The seal holds, but the line says 2 parts and has 1.",
        _hide_part,
        "invalid",
        problems=(("results.ndjson:11", "aggregation"),),
        clashes=True,
    ),
    Exhibit(
        "hidden-trials",
        "coding-agent",
        "A case that failed in two of three trials is summed up as passed in all three, and sealed anew.",
        "The rollups do not say what their trial lines say.",
        _hide_trials,
        "invalid",
        problems=(("results.ndjson:34", "trials"), ("results.ndjson:35", "trials")),
        clashes=True,
    ),
    Exhibit(
        "other-run",
        "coding-agent",
        "A better run took the same runId, sealed and signed with a key of its own.",
        "Intact in itself, but signed by nobody you trust and not anchored; beside the real run, a clash.",
        _other_run,
        "intact",
        clashes=True,
    ),
    Exhibit(
        "added-file",
        "nightly",
        "The results of a second attempt were slipped into the folder after it was sealed.",
        "The file is not in the seal.",
        _add_file,
        "invalid",
        problems=(("ext/evalbench/rerun.json", "not-sealed"),),
    ),
    Exhibit(
        "two-statuses",
        "nightly",
        "The header has its status twice, aborted and completed, for a reader that takes the last; sealed anew.",
        "A member twice is no I-JSON: refused, before anybody can choose.",
        _two_statuses,
        "invalid",
        problems=(("run.json", "encoding"),),
    ),
)
