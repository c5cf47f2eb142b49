"""What is said of a checkpoint: its problems [CKP-7], [CKP-8], what a decision comes to and why [DEC-2] to [DEC-4]."""

from __future__ import annotations

from aef_verify.codes.scopes import CHECKPOINT, DECISION, Row

_DECIDE_AGAIN = "Do not act on the recorded outcome; have the checkpoint decided again from its runs, as a new one."
_LATER = "Use a verifier of the version that the document states; until then the checkpoint is not verified."
_GET_RUN = "Get the run that the checkpoint names, under this very hash, and put it below the --runs folder."
_NEW_EVIDENCE = "Run the lane's suite on exactly this version, seal the run, and decide a new checkpoint over it."

PROBLEMS: tuple[Row, ...] = (
    (
        CHECKPOINT,
        "decision",
        "CKP-7 DEC-1 DEC-3",
        "The recorded decision is not what its own recorded input gives, or there is no input to decide on.",
        _DECIDE_AGAIN,
    ),
    (
        CHECKPOINT,
        "evidence",
        "CKP-7 DEC-1",
        "A lane has a result and names no runs, or names runs and has no result.",
        "Do not rely on that lane: either its runs or its result were removed or added.",
    ),
    (
        CHECKPOINT,
        "exception-evidence",
        "CKP-7 DEC-1",
        "An exception accepts a failure of a run that is not among its lane's runs.",
        "Do not take the exception for this evidence: ask whoever granted it for a new one.",
    ),
    (
        CHECKPOINT,
        "lane-evidence",
        "CKP-7 DEC-1",
        "The run hashes that were decided on are not those of the lane's runs.",
        "Do not act on the outcome: the runs were exchanged after the decision, or the decision was taken over others.",
    ),
    (
        CHECKPOINT,
        "lanes",
        "CKP-7 CKP-2",
        "The lanes that were decided on are not the checkpoint's, or differ in blocking, freshness or order.",
        _DECIDE_AGAIN,
    ),
    (
        CHECKPOINT,
        "outcome",
        "CKP-7 CKP-4",
        "The checkpoint's outcome is not the one of the decision that it records.",
        _DECIDE_AGAIN,
    ),
    (
        CHECKPOINT,
        "version",
        "CKP-7 CKP-1",
        "The decision was taken on another version than the checkpoint is about.",
        "Do not release this version on it: decide a checkpoint on this version.",
    ),
    (
        CHECKPOINT,
        "run-missing",
        "CKP-8",
        "No run with this id and this run hash is below the given folder.",
        _GET_RUN,
    ),
    (
        CHECKPOINT,
        "run-unverified",
        "CKP-8 SEAL-6 LANE-1",
        "The run is there and is not intact: it has no seal, or problems.",
        "Run `aef verify` on it to see what is wrong, and get the run as it was sealed.",
    ),
    (
        CHECKPOINT,
        "lane-result",
        "CKP-8 LANE-1",
        "The runs give the lane another result than the one that was decided on.",
        "Go by the recomputed result; the runs or the recorded result are not what they were.",
    ),
    (
        CHECKPOINT,
        "lane-version",
        "CKP-8 LANE-9",
        "The lane's runs are of another version than the recorded result says.",
        "Do not take the result for this version: find out which version was run.",
    ),
    (
        CHECKPOINT,
        "oldest-closed",
        "CKP-8 LANE-9",
        "The evidence was closed at another time than the recorded result says, so its age is not what it seems.",
        "Go by the runs' own times, and decide again if the evidence is older than the lane allows.",
    ),
    (
        CHECKPOINT,
        "unverifiable",
        "CKP-7 CKP-8 VER-6 VER-8",
        "A later minor version wrote something here that this version does not know, so this was not judged.",
        _LATER,
    ),
)
"""[CKP-7], [CKP-8]."""

OUTCOMES: tuple[Row, ...] = (
    (
        DECISION,
        "approved",
        "DEC-3 CKP-5",
        "Every blocking lane passed, and no lane lacks evidence.",
        "Check that the checkpoint is signed by whom you trust, and release exactly this version.",
    ),
    (
        DECISION,
        "approved_with_exceptions",
        "DEC-3 CKP-6",
        "A lane failed, and somebody accepted that failure for a time.",
        "Read who accepted what and until when; the approval ends with the exception.",
    ),
    (
        DECISION,
        "blocked",
        "DEC-3",
        "A blocking lane failed, and nobody accepted that.",
        "Fix what failed and evaluate again, or have somebody accept the failure in a new checkpoint.",
    ),
    (
        DECISION,
        "inconclusive",
        "DEC-3",
        "Evidence is missing, was not measured or does not compare, so nothing was decided for or against.",
        "Supply what is missing and decide a new checkpoint; an exception cannot stand in for evidence.",
    ),
    (
        DECISION,
        "expired",
        "DEC-3 CKP-10",
        "The evidence is older than a lane allows, or a newer version is known.",
        "Decide a new checkpoint over fresh evidence, of the version that is to be released now.",
    ),
    (
        DECISION,
        "aborted",
        "CKP-4",
        "The checkpoint was abandoned before anything was decided.",
        "Read the recorded reason; a release needs a checkpoint of its own.",
    ),
    (
        DECISION,
        "undecided",
        "CKP-4",
        "The checkpoint has no outcome yet.",
        "Wait until it is decided, or decide it with `aef decide`.",
    ),
)
"""What a decision comes to [DEC-3], and what a checkpoint is without one [CKP-4]."""

REASONS: tuple[Row, ...] = (
    (
        DECISION,
        "missing",
        "DEC-2 LANE-9",
        "The lane has no evidence.",
        _NEW_EVIDENCE,
    ),
    (
        DECISION,
        "wrong-version",
        "DEC-2 LANE-9",
        "The lane's evidence is of another version than the one to be released.",
        _NEW_EVIDENCE,
    ),
    (
        DECISION,
        "future-evidence",
        "DEC-2 DEC-5",
        "The lane's evidence was closed after the time of the decision.",
        "Check the clocks of whoever ran and whoever decided, and decide again at a later time.",
    ),
    (
        DECISION,
        "stale",
        "DEC-2 CKP-3",
        "The lane's evidence is older than the lane allows.",
        _NEW_EVIDENCE,
    ),
    (
        DECISION,
        "failed",
        "DEC-2",
        "The lane blocks, and its evidence fails its rule.",
        "Fix what failed and evaluate again, or have somebody accept the failure in a new checkpoint.",
    ),
    (
        DECISION,
        "advisory-failed",
        "DEC-2 DEC-3",
        "The lane does not block, and its evidence fails its rule.",
        "Decide for yourself whether the failure matters; it does not change the outcome.",
    ),
    (
        DECISION,
        "not-measured",
        "DEC-2 LANE-1",
        "The lane's runs do not measure what its rule asks for, or are not evidence of this subject.",
        "Read why each run does not count, and supply runs that do.",
    ),
    (
        DECISION,
        "incomparable",
        "DEC-2 LANE-6",
        "The run and its baseline differ in something that must be alike.",
        "Run both alike on the named axes, or choose another baseline in a new checkpoint.",
    ),
    (
        DECISION,
        "waived",
        "DEC-2",
        "The lane failed, and an exception in force accepts that failure of exactly this evidence.",
        "Read who accepted it, why, and until when.",
    ),
    (
        DECISION,
        "exception-expired",
        "DEC-2",
        "An exception for this evidence is there and was not in force at the time.",
        "Have the failure fixed, or a new exception granted in a new checkpoint.",
    ),
    (
        DECISION,
        "exception-other-evidence",
        "DEC-2",
        "An exception is there and accepts the failure of other evidence.",
        "Ask whoever granted it whether it is meant for these runs, too; a re-run needs a new exception.",
    ),
    (
        DECISION,
        "superseded",
        "DEC-3 CKP-10",
        "A newer version is known.",
        "Look at the newer version's checkpoint.",
    ),
)
"""The reasons of a decision [DEC-2], [DEC-4]; the one that names the outcome is explained by it."""

ROWS: tuple[Row, ...] = (*PROBLEMS, *OUTCOMES, *REASONS)
