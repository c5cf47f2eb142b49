"""Cases to verify: files, a policy, and what is asked of them; where the first come from and how others are made.

A kept case is one JSON file: text where the bytes are UTF-8, base64 where not.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from random import Random
from typing import NamedTuple
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from aef_verify.conformance.contract import perform
from aef_verify.strategies import (
    ALGORITHMS,
    STATEMENT_TYPE,
    DecisionCase,
    JobStream,
    Policy,
    RunFiles,
    SigningKey,
    checkpoints,
    decisions,
    envelope,
    job_streams,
    mutated,
    near_documents,
    overlaid_runs,
    runs,
    signed_runs,
    trust_policies,
    with_parts,
)
from scripts.fuzzing import jobs
from scripts.fuzzing.edits import edited
from scripts.fuzzing.jobs import corpus_cases, finished, request, scenario
from scripts.fuzzing.operations import AT, DECISION, JOB, RELEASE, REQUEST, SCENARIO, SECRET, SECRET_NAME, STREAM
from scripts.fuzzing.releases import MANIFEST, named, of_runs, release, settled, signed, trusting

EVENTS = "overlays/events.ndjson"
RUN, ENVELOPE, DOCUMENT = "run", "envelope", "document"
NO_POLICY = b'{"keys":[]}'
LARGEST = 200_000
"""Bytes of a given run at most: many cases are worth more than a large one."""


class Case(NamedTuple):
    """Files to verify.

    `target` says how: `run` (a run folder), `envelope` (`envelope.json` over `payload`), `document` (one file, named
    after its schema), or one of `operations.TARGETS`. `policy` is a trust policy's file. `changes` say what became of
    the first files, for people.
    """

    target: str
    files: RunFiles
    policy: bytes
    changes: tuple[str, ...] = ()

    def to_json(self, fault: str) -> bytes:
        """Return the case as it is kept, with the fault that it showed."""
        files = {path: _text(data) for path, data in self.files.items()}
        kept = {"fault": fault, "target": self.target, "changes": list(self.changes), "policy": _text(self.policy)}
        return json.dumps({**kept, "files": files}, ensure_ascii=False, indent=1).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> Case:
        """Return a kept case."""
        kept = json.loads(data)
        files = RunFiles({path: _bytes(text) for path, text in kept["files"].items()})
        return cls(kept["target"], files, _bytes(kept["policy"]), tuple(kept["changes"]))


def _text(data: bytes) -> object:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _bytes(text: str | dict[str, str]) -> bytes:
    return text.encode() if isinstance(text, str) else base64.b64decode(text["base64"])


def given_runs(folders: Iterable[str], policy: bytes = NO_POLICY) -> list[Case]:
    """Return a case for every run below these folders that is not too large."""
    found = []
    for folder in folders:
        for parent, below, names in os.walk(folder):
            if "run.json" in names:
                below.clear()
                files = RunFiles.read(parent)
                if sum(map(len, files.values())) <= LARGEST:
                    found.append(Case(RUN, files, policy))
    return sorted(found, key=lambda case: list(case.files.items()))


def given_operations(fixtures: str, policy: bytes, corpus: str | None = None) -> list[Case]:
    """Return cases of `operations` made from the fixtures, and from a corpus where there is one."""
    runs = {run.files.run_id: run.files for run in given_runs([os.path.join(fixtures, "evidence", "sound")])}
    trusted, found = trusting(policy), []
    sound = os.path.join(fixtures, "checkpoints", "sound")
    for name in sorted(os.listdir(sound) if os.path.isdir(sound) else ()):
        if name.endswith(".json") and not name.endswith(".dsse.json"):
            with open(os.path.join(sound, name), "rb") as file:
                manifest = json.load(file)
            files = signed(release(manifest, {key: runs[key] for key in named(manifest)}))
            found.append(Case(RELEASE, files, trusted))
    for files in jobs.jobs():
        found += (Case(JOB, files, trusted), Case(STREAM, _finished(files), trusted))
    small = sorted(runs.values(), key=lambda files: sum(map(len, files.values())))[:4]
    for files in small:
        found += (Case(SCENARIO, scenario(files), trusted), Case(REQUEST, request(files), trusted))
    return found + [Case(target, files, trusted) for target, files in (corpus_cases(corpus) if corpus else ())]


def _finished(files: RunFiles) -> RunFiles:
    """Run a job, and return its stream with its runs."""
    with tempfile.TemporaryDirectory(prefix="aef-fuzz-") as place:
        folder, out = files.write(os.path.join(place, "case")), os.path.join(place, "out")
        paths = [os.path.join(folder, f"{name}.json") for name in ("plan", "runner", "target")]
        with patch.dict(os.environ, {SECRET_NAME: SECRET}):
            perform(["job", *paths, out, "--at", AT])
        return finished(out, files["plan.json"])


def drawn_cases(number: int, count: int) -> list[Case]:
    """Draw cases of every target; the same number draws the same ones."""
    found: list[Case] = []

    def take(case: Case) -> None:
        found.append(case)

    quiet = settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    quiet(seed(number)(given(_cases())(take)))()
    return found


def _cases() -> st.SearchStrategy[Case]:
    policies = trust_policies()
    return (
        st.builds(lambda run: Case(RUN, run.files, run.policy.data), overlaid_runs())
        | st.builds(lambda run, policy: Case(RUN, run, policy.data), runs(later_minors=True), policies)
        | st.builds(lambda found: Case(RUN, found[0], found[1].data), signed_runs())
        | st.builds(_envelope_case, policies, st.binary(max_size=30))
        | st.sampled_from(DOCUMENTS).flatmap(
            lambda name: st.builds(_document_case, st.just(name), near_documents(name))
        )
        | st.builds(
            _release_case, st.lists(runs(statuses=("completed",)), min_size=1, max_size=2), st.integers(0, 99), policies
        )
        | st.builds(lambda manifest: Case(RELEASE, release(manifest, {}), NO_POLICY), checkpoints())
        | st.builds(_decision_case, decisions(later_minors=True))
        | st.builds(_stream_case, job_streams(later_minors=True))
    )


def _release_case(runs: list[RunFiles], number: int, policy: Policy) -> Case:
    return Case(RELEASE, of_runs(Random(number), runs), trusting(policy.data))


def _decision_case(case: DecisionCase) -> Case:
    return Case(DECISION, RunFiles({"input.json": json.dumps(case.input, ensure_ascii=False).encode()}), NO_POLICY)


def _stream_case(stream: JobStream) -> Case:
    return Case(STREAM, RunFiles({"plan.json": stream.plan, "events.ndjson": stream.data}), NO_POLICY)


DOCUMENTS = ("checkpoint", "decision", "run-plan", "runner", "runner-event", "overlay-event", "result", "run", "seal")


def _envelope_case(policy: Policy, payload: bytes) -> Case:
    files = {"envelope.json": envelope(payload, STATEMENT_TYPE, policy.keys[:2]), "payload": payload}
    return Case(ENVELOPE, RunFiles({**files, "policy.json": policy.data}), policy.data)


def _document_case(name: str, document: object) -> Case:
    return Case(DOCUMENT, RunFiles({f"{name}.json": json.dumps(document, ensure_ascii=False).encode()}), NO_POLICY)


def changed(chance: Random, case: Case) -> Case:
    """Change a case in one to four ways; now and then seal a run anew, so that what is behind its seals counts."""
    files, changes = case.files, list(case.changes)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        if files:
            description, files = _mutated(chance, case.target, files)
            changes.append(description)
    if case.target == RELEASE and MANIFEST in files:
        files = settled(chance, files, case.files, changes)
    if case.target == STREAM:
        files = jobs.settled(chance, files, case.files, changes)
    if case.target == RUN and chance.randrange(4) == 0:
        files = _sealed_anew(chance, files, changes)
    return case._replace(files=files, changes=tuple(changes[-12:]))


def _mutated(chance: Random, target: str, files: RunFiles) -> tuple[str, RunFiles]:
    """Change one thing; of a release or a stream as often in what it is named after as in its runs."""
    if target == RELEASE and chance.randrange(2):
        with suppress(ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            return edited(chance, files)
    main = {RELEASE: MANIFEST, STREAM: "events.ndjson"}.get(target, "")
    if main not in files or len(files) < 2 or chance.randrange(2):
        return mutated(chance, files)
    description, changed = mutated(chance, RunFiles({main: files[main]}))
    return description, files.without(main).replacing(changed)


def _sealed_anew(chance: Random, files: RunFiles, changes: list[str]) -> RunFiles:
    try:
        found = files.without("seal.json").sealed()
        changes.append("sealed anew")
        events = files.get(EVENTS, b"")
        if events and chance.randrange(2):
            signers = [SigningKey(chance.choice(ALGORITHMS), chance.randrange(6)) for _ in range(chance.randrange(3))]
            lines = events.splitlines(keepends=True)
            cut = chance.randrange(len(lines) + 1)
            parts = [part for part in (b"".join(lines[:cut]), b"".join(lines[cut:])) if part]
            found = with_parts(found, [(part, dict.fromkeys(signers)) for part in parts])  # type: ignore[misc]
            changes.append("batches sealed anew")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return files
    return found
