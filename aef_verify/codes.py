"""Every code a report may show, in one table: rules, meaning, what to do next (03 §3.9, 04 §4.1, §4.2, §4.4, §4.5).

One word may mean different things in different scopes, so a code is found by scope and word. `run` holds the problems
of a run and its seal, `overlays` those of an overlay chain, `signature` what became of an envelope and its signatures,
`outcome` the verdicts, `report` what only a report over several runs can say.
"""

from __future__ import annotations

from typing import NamedTuple

RUN, OVERLAYS, SIGNATURE, OUTCOME, REPORT = SCOPES = ("run", "overlays", "signature", "outcome", "report")


class Code(NamedTuple):
    """One code: its scope and word, the rules behind it, its meaning and the next step, a sentence each."""

    scope: str
    code: str
    rules: tuple[str, ...]
    meaning: str
    advice: str


_FROM_PRODUCER = "Get the run again from its producer; if it is so there too, the producer has to fix it."
_AS_SEALED = "Get the files again as they were sealed; a change that was meant makes another run, with its own seal."
_OVERLAYS_AGAIN = "Get overlays/ again from whoever keeps the run; the run's own outcome is not touched by this."

_TABLE: tuple[tuple[str, str, str, str, str], ...] = (
    (
        RUN,
        "encoding",
        "ENC-1 ENC-2 ENC-3 ENC-5 ENC-7",
        "The file or line is not strict UTF-8 JSON, or the file is not framed as lines that end with LF.",
        "Have the producer write it again; do not repair it by hand, as a repaired file is no longer the evidence.",
    ),
    (
        RUN,
        "limit",
        "ENC-17 ENC-18",
        "The file, line or run is larger, deeper or longer than the format allows, so it was not read.",
        "Split the evidence into several runs, or have the producer write less into one file.",
    ),
    (
        RUN,
        "schema",
        "ENC-8 ENC-16 RUN-2 VER-3 VER-4",
        "The document does not have the shape that readers accept, or a required file is not there.",
        "Compare the named field with the format; if the document states a later major version, use a later verifier.",
    ),
    (
        RUN,
        "path",
        "RUN-3",
        "The name is not one that every system keeps, clashes with another but for letter case, or is no plain file.",
        "Rename or remove the entry where the run is made; a copying tool may have added or changed it.",
    ),
    (
        RUN,
        "result-id",
        "RES-4",
        "The result's id is not the one computed from its run, case, path and trial, or an earlier line has it too.",
        "Have the producer compute its ids as the rule says; two lines may describe one result.",
    ),
    (
        RUN,
        "parent",
        "RES-5",
        "The result names a parent that the run does not have, or one of another case.",
        "Look for the parent's line: it may have been dropped, or written under another id.",
    ),
    (
        RUN,
        "component",
        "RES-5",
        "The result has a parent and does not say how it weighs there.",
        "Have the producer write `component` with weight and required on every child.",
    ),
    (
        RUN,
        "aggregation",
        "RES-5 RES-6",
        "A composite's counts or deciding children do not agree with the children that the run holds.",
        "Compare total, measured and decisive with the child lines; a child may be missing.",
    ),
    (
        RUN,
        "annotator",
        "RES-10",
        "More members of a panel are said to agree than it has.",
        _FROM_PRODUCER,
    ),
    (
        RUN,
        "trials",
        "RES-8",
        "Repeated trials and the line that sums them up do not agree.",
        "Compare n, passed and agree with the trial lines of that case and path.",
    ),
    (
        RUN,
        "pending",
        "RES-3",
        "The run is closed, and one of its results is still unfinished.",
        "Have the producer write skipped or error, with the reason, when it closes the run.",
    ),
    (
        RUN,
        "evidence",
        "EVD-1 RES-10",
        "The result cites evidence that evidence.ndjson does not record.",
        "Look for the record: it may have been dropped or renamed.",
    ),
    (
        RUN,
        "evidence-id",
        "EVD-1",
        "An earlier evidence record has the same id.",
        _FROM_PRODUCER,
    ),
    (
        RUN,
        "evidence-digest",
        "EVD-2",
        "The digest of an evidence record is not that of the blob it links to.",
        "Do not rely on this record: it and the blob do not belong together.",
    ),
    (
        RUN,
        "blob",
        "EVD-3 OVL-10",
        "The blob that the line refers to is not in the run.",
        "Get the blob; if it was withheld on purpose, give the policy that allows it with --policy.",
    ),
    (
        RUN,
        "blob-digest",
        "EVD-3",
        "The blob's bytes do not hash to its name, so they are not the ones that were recorded.",
        _AS_SEALED,
    ),
    (
        RUN,
        "reasoning-size",
        "RES-10",
        "The size stated for a blob of reasoning is not the blob's size.",
        _FROM_PRODUCER,
    ),
    (
        RUN,
        "metric",
        "SUM-1 SUM-4",
        "A metric is used and not declared, declared twice, scored twice on one line, or has an inverted scale.",
        "Compare the named metric with metrics.json.",
    ),
    (
        RUN,
        "summary-run-id",
        "SUM-2",
        "summary.json belongs to another run.",
        "Do not use the summary: recompute it from the results, or get the right one.",
    ),
    (
        RUN,
        "summary",
        "SUM-3 SUM-4 SUM-5 SUM-6 SUM-8",
        "A figure of the summary is not what the results give.",
        "Trust the results, not the summary; the detail names the figure that they give.",
    ),
    (
        RUN,
        "summary-duplicate",
        "SUM-9",
        "The summary has a lane, an entry or a usage twice, so that it is not clear which holds.",
        _FROM_PRODUCER,
    ),
    (
        RUN,
        "gate",
        "GATE-1 GATE-2",
        "A gate decision names a result that is not there, or ships on a comparison that does not compare.",
        "Do not rely on the recorded decision; decide again from the results.",
    ),
    (
        RUN,
        "trace-link",
        "RUN-14",
        "A link to a span finds none in the traces that the run brings along.",
        "Look for the span: the traces may be incomplete, or the link may be to another trace.",
    ),
    (
        RUN,
        "content-capture",
        "RUN-11 SEC-3 SEC-6",
        "The run says that no content was kept, and keeps some.",
        "Treat the run as private, and have the producer write it again without the content.",
    ),
    (
        RUN,
        "run-times",
        "RUN-5",
        "The run ended before it started.",
        "Check the producer's clock; do not use the run's times.",
    ),
    (
        RUN,
        "unexpected-file",
        "RUN-2",
        "The seal lists a file of a kind that no run has.",
        "Have the producer keep its own files below ext/.",
    ),
    (
        RUN,
        "attack",
        "RES-10",
        "An attack is recorded as successful on a result that passed.",
        "Read the attack's evidence: one of the two statements is wrong.",
    ),
    (
        RUN,
        "calibration",
        "RUN-9",
        "A judge's calibration counts more dangerous errors than cases, or was measured after the run began.",
        "Do not rely on the stated calibration.",
    ),
    (
        RUN,
        "execution-policy",
        "RUN-8",
        "More trials must pass than are run.",
        _FROM_PRODUCER,
    ),
    (
        RUN,
        "interval",
        "RES-10 SUM-5",
        "An interval's lower end is above its upper end.",
        "Do not use the interval.",
    ),
    (
        RUN,
        "result-times",
        "RES-10",
        "A result ended before it started, or names one role and model twice in its usage.",
        _FROM_PRODUCER,
    ),
    (
        RUN,
        "seal-invalid",
        "SEAL-5 SEAL-6",
        "seal.json does not read or does not have the shape of a seal, so nothing is guarded by it.",
        "Get seal.json again, or have the run sealed again by its producer.",
    ),
    (
        RUN,
        "duplicate-subject",
        "SEAL-6",
        "The seal lists a file more than once, so that its digest is not certain.",
        "Have the run sealed again by its producer.",
    ),
    (
        RUN,
        "subject-path",
        "SEAL-1 SEAL-6",
        "The seal lists a file that no seal can cover: itself, its signature, or an overlay.",
        "Have the run sealed again by its producer.",
    ),
    (
        RUN,
        "digest",
        "SEAL-2 SEAL-6",
        "The file was changed after sealing.",
        _AS_SEALED,
    ),
    (
        RUN,
        "not-sealed",
        "SEAL-1 SEAL-6",
        "The file was added after sealing, or by a copying tool.",
        "Remove the file if it is not part of the evidence; additions belong into overlays/.",
    ),
    (
        RUN,
        "missing",
        "SEAL-6 OVL-10",
        "The file was sealed and is no longer there.",
        "Get the file; if it is a blob withheld on purpose, give the policy that allows it with --policy.",
    ),
    (
        RUN,
        "withheld",
        "OVL-10 SEC-5",
        "The blob was sealed and then removed by someone whom your policy lets do so; all else still verifies.",
        "Nothing has to be done; ask the named identity if you need the content.",
    ),
    (
        RUN,
        "run-hash",
        "SEAL-3 SEAL-4 SEAL-6",
        "All files are as sealed, and the seal states another hash for them together.",
        "Have the run sealed again by its producer; the hash names no run until then.",
    ),
    (
        RUN,
        "run-id",
        "SEAL-6",
        "The seal is for a run of another id.",
        "Look for the seal that belongs to this run: it may have been swapped.",
    ),
    (
        RUN,
        "predicate",
        "SEAL-5 SEAL-6",
        "The seal and run.json do not say the same of who made the run, about what, or when.",
        "Rely on neither until the producer says which holds.",
    ),
    (
        RUN,
        "run-open",
        "SEAL-1 SEAL-6",
        "The run was sealed while it was still running.",
        "Close the run first, then seal it.",
    ),
    (
        OVERLAYS,
        "batch-invalid",
        "OVL-4 OVL-5",
        "The seal of a batch does not read or does not have the shape of one; later batches have no effect.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "missing",
        "OVL-5",
        "The seal of a batch is not there although later ones are; no batch from here on has an effect.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "batch-number",
        "OVL-4 OVL-5",
        "A batch seal states another number than its file name.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "run-id",
        "OVL-4 OVL-5",
        "A batch seal is for a run of another id.",
        "Look where overlays/ came from: it may belong to another run.",
    ),
    (
        OVERLAYS,
        "run-hash",
        "OVL-4 OVL-5 SEAL-4",
        "A batch seal was made for other content of the run.",
        "Look where overlays/ came from: the run may have been made or sealed anew since.",
    ),
    (
        OVERLAYS,
        "offset",
        "OVL-4 OVL-5",
        "A batch does not begin where the one before it ends.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "limit",
        "ENC-17 OVL-5",
        "An overlay file, line or batch is beyond what is read, and what lies there has no effect.",
        "Look for what filled overlays/; everything that was verified before it still holds.",
    ),
    (
        OVERLAYS,
        "line-boundary",
        "OVL-4 OVL-5",
        "A batch does not cover whole lines of the events that are there.",
        "Compare the length of overlays/events.ndjson with a copy: it may have been cut.",
    ),
    (
        OVERLAYS,
        "batch-digest",
        "OVL-4 OVL-5",
        "The events of a batch were changed after it was sealed.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "previous",
        "OVL-4 OVL-5",
        "A batch does not follow the batch seal that stands before it.",
        "Compare with a copy: an earlier batch may have been exchanged.",
    ),
    (
        OVERLAYS,
        "uncovered",
        "OVL-4 OVL-5",
        "Some bytes of the events are in no batch; events there are shown as unsealed and have no effect.",
        "Have the new events sealed as the next batch, or ignore them.",
    ),
    (
        OVERLAYS,
        "event-invalid",
        "OVL-1 OVL-5",
        "A line is no event that reads, so it has no effect.",
        "Ask whoever wrote it to append the event again.",
    ),
    (
        OVERLAYS,
        "event-id",
        "OVL-1 OVL-5",
        "An earlier event has the same id, so this one has no effect.",
        "Ask whoever wrote it to append the event under a new id.",
    ),
    (
        OVERLAYS,
        "target",
        "OVL-2 OVL-5",
        "The event is about another run, other content, or a result that the run does not have; it has no effect.",
        "Check whether the event was copied from another run.",
    ),
    (
        OVERLAYS,
        "unexpected-file",
        "OVL-5",
        "Below overlays/ stands something that no overlay chain has.",
        "Remove it if nobody needs it; the chain and the run are judged without it.",
    ),
    (
        SIGNATURE,
        "verified",
        "SIG-2 SIG-5",
        "The signature verifies under a key of your policy.",
        "Nothing has to be done.",
    ),
    (
        SIGNATURE,
        "untrusted-key",
        "SIG-4 SIG-5",
        "No key of your policy made this signature.",
        "Find out whose key it is, from somewhere else than the run, before you add it to the policy.",
    ),
    (
        SIGNATURE,
        "invalid",
        "SIG-2 SIG-5",
        "The signature does not verify under the key that it names.",
        "Treat the envelope as unsigned; file or signature was changed.",
    ),
    (
        SIGNATURE,
        "unsupported-algorithm",
        "SIG-2 SIG-5",
        "The key that the signature names is neither P-256 nor Ed25519, so nothing was verified.",
        "Have it signed again with a P-256 or Ed25519 key.",
    ),
    (
        SIGNATURE,
        "malformed",
        "SIG-1 SIG-5",
        "The envelope does not read as DSSE, so it is signed by nobody.",
        "Get the envelope again, or have the file signed again.",
    ),
    (
        SIGNATURE,
        "payload-mismatch",
        "SIG-1 SIG-5",
        "The envelope is about other bytes, or another type of content, than the file beside it.",
        "Look for the envelope that belongs to the file: it may have been swapped.",
    ),
    (
        OUTCOME,
        "intact",
        "SEAL-6 SIG-7",
        "The documents keep the rules and nothing changed since the seal; that says nothing about who sealed it.",
        "Give --policy to learn who signed, or --anchors to compare with run hashes that you hold.",
    ),
    (
        OUTCOME,
        "unsealed",
        "SEAL-6",
        "The documents keep the rules, and nothing guards them against a change.",
        "Ask the producer for the sealed run; --require sealed refuses unsealed ones.",
    ),
    (
        OUTCOME,
        "invalid",
        "SEAL-6 RUN-2",
        "A rule is broken, or sealed content changed.",
        "Read the run's problems; `aef explain CODE` says more about each.",
    ),
    (
        OUTCOME,
        "signed",
        "SIG-5 SIG-7",
        "The run is intact, and a key that your policy gives to the named identity signed this seal.",
        "Nothing has to be done; that the results are true is not shown by it.",
    ),
    (
        OUTCOME,
        "anchored",
        "SIG-8",
        "The run is intact and its hash is in the list you gave, so it is that very run.",
        "Nothing has to be done.",
    ),
    (
        OUTCOME,
        "unreadable",
        "RUN-1",
        "The run could not be read, or changed while it was read, so nothing is said about it (exit 2).",
        "Fix what the message names, then verify again.",
    ),
    (
        OUTCOME,
        "not-verified",
        "SEAL-6",
        "The verifier itself failed on this run, so nothing is said about it (exit 1).",
        "Verify this run alone with `aef --debug verify`, and report what is printed as a fault of the verifier.",
    ),
    (
        REPORT,
        "run-id-clash",
        "RUN-13",
        "Runs with different content have one runId; they are different runs, and the id does not tell them apart.",
        "Tell them apart by run hash, keep both, and ask the producer which is meant.",
    ),
    (
        REPORT,
        "link",
        "RUN-1 RUN-3",
        "A link was found while looking for runs, and was not followed; what lies behind it was not verified.",
        "Name the folder it leads to as a PATH of its own if it should be verified.",
    ),
    (
        REPORT,
        "within-a-run",
        "RUN-1",
        "The folder has a run.json and lies below another run, so that its files are that run's.",
        "Move it out of the other run if it should be a run of its own.",
    ),
    (
        REPORT,
        "require-sealed",
        "SEAL-6",
        "The run is not intact under a seal, and --require sealed asks for that.",
        "Ask the producer for the sealed run.",
    ),
    (
        REPORT,
        "require-signed",
        "SIG-5 SIG-7",
        "Nobody whom your policy trusts signed the run's seal, and --require signed asks for that.",
        "Ask the producer for the attestation, or check that the policy holds the right key.",
    ),
    (
        REPORT,
        "require-anchored",
        "SIG-8",
        "The run's hash is not in your list, and --require anchored asks for that.",
        "Check that this is the run you meant, and that the list is the right one.",
    ),
)

CODES: dict[tuple[str, str], Code] = {
    (scope, code): Code(scope, code, tuple(rules.split()), meaning, advice)
    for scope, code, rules, meaning, advice in _TABLE
}
"""Every code by (scope, code), in the order in which the format introduces them."""


def meaning_of(scope: str, code: str) -> str:
    """Return what a code means, in one sentence; raises KeyError for one that no table of the format has."""
    return CODES[scope, code].meaning


def codes_named(word: str) -> list[Code]:
    """Return the codes of one word in every scope, letter case ignored."""
    return [code for code in CODES.values() if code.code == word.lower()]
