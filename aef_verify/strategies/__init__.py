"""Hypothesis strategies for AEF 1.0 evidence, public: test your own reader, verifier or writer with them.

They need the extra `testing` (`pip install aef-verify[testing]`); docs/TESTING.md shows them at work. What is valid is
computed from the format's text alone, without the rooms that verify it, so that neither hides a fault of the other;
only `documents` asks the schemas.

- A valid run, unsealed: `runs`. Sealed: `sealed_runs`; signed: `signed_runs`; with overlays: `overlaid_runs`.
- Two arms of a memory benchmark that belong together: `pairs`.
- A runner's event stream that keeps to its plan: `job_streams`.
- A change of a run, of bytes, of a JSON text, with words that say which: `mutations`, `byte_changes`, `json_changes`.
- A folder that nobody sends in good faith: `hostile_folders`.
- An input of the decision function with the decision it must get: `decisions`. A checkpoint manifest that holds
  together: `checkpoints`; of one kind: `decided_checkpoints`, `undecided_checkpoints`, `aborted_checkpoints`.
- Keys, trust policies, envelopes: `signing_keys`, `trust_policies`, `envelopes`. Batches on a run of your own:
  `overlay_batches`, `with_batches`.
- A document that is valid against its schema, or nearly: `documents`, `near_documents`.
- I-JSON and other spellings of it: `json_values`, `json_objects`, `spellings`, `line_spellings`, `respellings`; bytes
  that nearly are JSON: `near_json`.
- Single values: `times`, `instants`, `spelled_times`, `durations`, `ids`, `refs`, `versions`, `paths`, `labels`,
  `texts`, `numbers`.

A run is a `RunFiles`: a mapping of paths to bytes with `write(folder)`, `sealed()`, `replacing(...)`, `without(...)`.
"""

from aef_verify.strategies.changes import BYTE_CHANGES, JSON_CHANGES, LINE_CHANGES, Change
from aef_verify.strategies.decisions import (
    DecisionCase,
    aborted_checkpoints,
    checkpoints,
    decided_checkpoints,
    decisions,
    undecided_checkpoints,
)
from aef_verify.strategies.documents import documents, near_documents
from aef_verify.strategies.files import RunFiles
from aef_verify.strategies.header import headers, metric_declarations
from aef_verify.strategies.hostile import Entry, HostileFolder, entries_of, hostile_folders
from aef_verify.strategies.ijson import json_objects, json_values, line_spellings, near_json, respellings, spellings
from aef_verify.strategies.keys import (
    ALGORITHMS,
    CHECKPOINT_TYPE,
    STATEMENT_TYPE,
    Policy,
    SigningKey,
    envelope,
    envelopes,
    identities,
    signing_keys,
    trust_policies,
)
from aef_verify.strategies.mutations import FILE_CHANGES, Mutation, byte_changes, json_changes, mutated, mutations
from aef_verify.strategies.overlays import (
    Batch,
    OverlaidRun,
    events,
    overlaid_runs,
    overlay_batches,
    signed_runs,
    with_batches,
    with_parts,
)
from aef_verify.strategies.pairs import PairFiles, pairs
from aef_verify.strategies.runs import runs, sealed_runs
from aef_verify.strategies.streams import JobStream, job_streams
from aef_verify.strategies.values import (
    durations,
    ids,
    instants,
    labels,
    numbers,
    paths,
    refs,
    spelled_time,
    spelled_times,
    texts,
    times,
    versions,
)

__all__ = [
    "ALGORITHMS",
    "BYTE_CHANGES",
    "CHECKPOINT_TYPE",
    "FILE_CHANGES",
    "JSON_CHANGES",
    "LINE_CHANGES",
    "STATEMENT_TYPE",
    "Batch",
    "Change",
    "DecisionCase",
    "Entry",
    "HostileFolder",
    "JobStream",
    "Mutation",
    "OverlaidRun",
    "PairFiles",
    "Policy",
    "RunFiles",
    "SigningKey",
    "aborted_checkpoints",
    "byte_changes",
    "checkpoints",
    "decided_checkpoints",
    "decisions",
    "documents",
    "durations",
    "entries_of",
    "envelope",
    "envelopes",
    "events",
    "headers",
    "hostile_folders",
    "identities",
    "ids",
    "instants",
    "job_streams",
    "json_changes",
    "json_objects",
    "json_values",
    "labels",
    "line_spellings",
    "metric_declarations",
    "mutated",
    "mutations",
    "near_documents",
    "near_json",
    "numbers",
    "overlaid_runs",
    "overlay_batches",
    "pairs",
    "paths",
    "refs",
    "respellings",
    "runs",
    "sealed_runs",
    "signed_runs",
    "signing_keys",
    "spelled_time",
    "spelled_times",
    "spellings",
    "texts",
    "times",
    "trust_policies",
    "undecided_checkpoints",
    "versions",
    "with_batches",
    "with_parts",
]
