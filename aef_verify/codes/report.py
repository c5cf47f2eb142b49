"""The outcomes of a run (04 §4.5), and what only a report over several runs can say."""

from __future__ import annotations

from aef_verify.codes.scopes import OUTCOME, REPORT, Row

ROWS: tuple[Row, ...] = (
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
    (
        REPORT,
        "require-linked",
        "SEAL-4 SIG-7",
        "A pair is not linked by a seal hash, or there is no pair, and --require linked asks for that.",
        "Ask the producer for both runs of the pair, sealed.",
    ),
)
