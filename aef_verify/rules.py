"""The rules of chapters 2 to 9 in our own words, by id: what `aef explain RULE` prints.

A sentence or two each, as a reminder of what a rule asks; the specification's text is what binds.
"""

from __future__ import annotations

CHAPTERS = {
    "ENC": "chapter 2, encoding",
    "RUN": "chapter 3, the run",
    "RES": "chapter 3, results",
    "SUM": "chapter 3, metrics and summary",
    "EVD": "chapter 3, evidence",
    "GATE": "chapter 3, gates",
    "SEAL": "chapter 4, the seal",
    "OVL": "chapter 4, overlays",
    "SIG": "chapter 4, signatures",
    "CKP": "chapter 5, checkpoints",
    "LANE": "chapter 5, lane results",
    "DEC": "chapter 5, the decision",
    "PLAN": "chapter 6, plans and runners",
    "STRM": "chapter 6, event streams",
    "VER": "chapter 7, versions",
    "SEC": "chapter 8, security and privacy",
    "CONF": "chapter 9, conformance",
}
"""What a rule id's first part says about where the rule stands."""

RULES: dict[str, str] = {
    "ENC-1": "A JSON file is one object in UTF-8 without a byte order mark.",
    "ENC-2": "JSON is I-JSON: no member name twice in an object, no unpaired surrogate. Where nothing else is said, "
    "a null member means the same as none.",
    "ENC-3": "Numbers are finite; one too large for binary64 is refused, one too small reads as 0.",
    "ENC-4": "Numbers are read and compared as binary64; an integer is one by value, so 2.0 is 2. Lengths of strings "
    "count Unicode code points.",
    "ENC-5": "NDJSON is one JSON object a line in UTF-8, every line ended by LF: no CR, no blank line, no byte order "
    "mark. An empty file has no lines.",
    "ENC-6": "Only LF separates lines; Unicode's other line separators are text.",
    "ENC-7": "Every line keeps the rules of a JSON file. A last line without LF is unfinished and is not taken.",
    "ENC-8": "Times are RFC 3339 in UTC with Z and up to nine fraction digits, name a date that exists, and are "
    "compared exactly.",
    "ENC-9": "Durations are days, hours and minutes of one to five digits, such as P14D or PT90M.",
    "ENC-10": "Versions are exact strings of printable ASCII; `latest` is none.",
    "ENC-11": "A digest is `sha256:` and 64 lower-case hex digits; run hashes and blob names are the bare digits.",
    "ENC-12": "Identifiers of schemas and predicate types name major version 1 and are never fetched.",
    "ENC-13": "Ids are printable ASCII compared byte by byte; a typed reference is `kind:name`, its name derived from "
    "free text in one fixed way.",
    "ENC-14": "Patterns use a part of ECMA-262 that common regular expression engines share.",
    "ENC-15": "A pattern from ^ to $ covers the whole string; $ never stands before a final newline.",
    "ENC-16": "Valid against a schema means: the schema accepts it, with numbers by value, and every time exists. "
    "`format` decides nothing.",
    "ENC-17": "Limits that a writer keeps and a reader enforces on the bytes: depth 64, 4 MiB a JSON file or line, "
    "40 MiB a seal, 56 MiB an envelope, a million lines, 100,000 files, 9,999 batches, 1 GiB a blob or NDJSON file.",
    "ENC-18": "What is beyond a limit is reported as `limit` at its file or line, never read in part, and nothing "
    "within the limits is refused.",
    "ENC-19": "Every document that producers, hosts and runners write may carry an `ext` object; no rule depends on "
    "it, and it holds no secret.",
    "RUN-1": "A folder with run.json is one run, everything below it is that run's, and its id is in the file, not in "
    "the path. A run.json that does not read or has no runId names no run.",
    "RUN-2": "The kinds of files that a run has, and when each must be there.",
    "RUN-3": "Paths are plain ASCII names of at most 255 bytes that every system keeps, none equal to another but for "
    "letter case. Entries are regular files and folders; links are never followed.",
    "RUN-4": "A running run may be rewritten; a closed one only gains overlays.",
    "RUN-5": "A run is running, completed or aborted; a closed one has an end that is not before its start.",
    "RUN-6": "The run names what was evaluated, in which exact version, and where it was deployed.",
    "RUN-7": "The target mode says what answered: the live subject, its recorded answers, a script, or a stand-in. "
    "It is shown wherever results are shown, and live is never compared with another mode as like with like.",
    "RUN-8": "The suite has a reference and an exact version; its execution policy says how often each case runs and "
    "how many trials must pass.",
    "RUN-9": "Judges are the grading models; a stated calibration is the producer's claim and was made before the run.",
    "RUN-10": "No credential stands anywhere in run.json.",
    "RUN-11": "With contentCapture off neither content nor its digest is kept; an absent value means on.",
    "RUN-12": "A runner writes into each run which plan, job and runner it comes from.",
    "RUN-13": "A runId is used once; two runs with one id and different hashes are different runs, and a host keeps "
    "both and reports the clash.",
    "RUN-14": "Traces and logs are OTLP/JSON lines; trace and span ids are compared without letter case.",
    "RUN-15": "A converted run lists the fields that the converter supplied; a reader shows them as the converter's "
    "claims, not the original producer's.",
    "RES-1": "The ten states of a result. Only `passed` is a pass; five of them say that nothing was measured.",
    "RES-2": "A typed absence gives its reason and no scores; it is never a pass and never a zero.",
    "RES-3": "A closed run has no pending result.",
    "RES-4": "A result's id is computed from run, case, path and trial.",
    "RES-5": "A node with children says how it was combined; each child names its parent and its weight there, and is "
    "of the same case.",
    "RES-6": "How a composite got its state is described and never recomputed; only its counts and deciding children "
    "are checked against its children.",
    "RES-7": "A verdict rule's expression is text for people and is never evaluated.",
    "RES-8": "A case that ran several times has one rollup for each path, which says what its trial lines say.",
    "RES-9": "A failure carries a severity; where one is needed and absent, it is critical.",
    "RES-10": "What else a result may carry: scores, uncertainty, who judged, usage, times, an attack, a trace link, "
    "evidence, reasoning. No more of a panel agree than it has; no usage twice; no end before the start.",
    "RES-11": "Every result names the check, judge or composite behind it.",
    "SUM-1": "Every metric that is named is declared once, with kind, direction and a scale that is not inverted.",
    "SUM-2": "The summary carries the run's id.",
    "SUM-3": "An entry covers the lines of its lane at its path, rollups instead of trials. A line without a lane "
    "belongs to the only lane there is.",
    "SUM-4": "Which lines count, which were not measured, and with which value, by state and kind of metric.",
    "SUM-5": "How N, n, notMeasured, sum and value come from the lines; the sum is exact and rounded once.",
    "SUM-6": "The verdict is the producer's; where nothing was measured it is not_measured.",
    "SUM-7": "Cost and usage of the whole run, with the origin of the figure.",
    "SUM-8": "An entry may state another aggregate; median, min and max are recomputed, others are shown as written.",
    "SUM-9": "No lane, entry or usage stands twice.",
    "EVD-1": "An evidence record has an id of its own, a kind, and one link: to a blob, a span or a URI.",
    "EVD-2": "A link to a blob carries the blob's digest, one to a span none.",
    "EVD-3": "A blob is stored under the SHA-256 of its bytes.",
    "GATE-1": "A recorded gate decision names its rule, inputs and outcome.",
    "GATE-2": "A comparison that is not like with like never ships.",
    "SEAL-1": "A seal covers every file but itself, its signature and the overlays, of a closed run. A run with "
    "problems should not be sealed.",
    "SEAL-2": "Digests are SHA-256 over exact bytes.",
    "SEAL-3": "The manifest is a line a file with digest, size and path, sorted by the path's bytes.",
    "SEAL-4": "The run hash is the SHA-256 of the manifest. Where a valid seal is there, the hash it states is the "
    "run's; otherwise it is recomputed.",
    "SEAL-5": "seal.json is an in-toto statement over every sealed file that repeats who made the run, about what, "
    "and when.",
    "SEAL-6": "How a seal is verified, each difference as path and code. Without a seal a run is neither verified nor "
    "failed.",
    "OVL-1": "Overlay events are appended as whole lines, each with its own id, kind, target, author and time.",
    "OVL-2": "An event is about its own run, of the content it names.",
    "OVL-3": "An event's assurance is only claimed: it is shown as signed where the batch's signature verifies for "
    "that identity, and otherwise as self-attested with the claim unverified.",
    "OVL-4": "Events are sealed in batches that follow each other without a gap, each naming the seal before it.",
    "OVL-5": "How the chain is checked: batch by batch, line by line. What is wrong there never changes the run's own "
    "outcome.",
    "OVL-6": "Events apply in the order of the file, whatever times they state.",
    "OVL-7": "The last override or adjudication gives a result's effective state; the sealed one is shown beside it, "
    "and parents, summaries and gates are not recomputed.",
    "OVL-8": "The last approval or rejection gives the review status.",
    "OVL-9": "A waiver holds from its time until it expires, and is shown as expired afterwards.",
    "OVL-10": "A sealed blob may be gone where a signed event of someone whom your policy lets redact names it. Such "
    "a run is shown as intact with the number of blobs withheld.",
    "OVL-11": "The corpus holds runs with their events and the views that follow.",
    "SIG-1": "Signatures are DSSE envelopes; both the bytes and the type of what was signed are checked.",
    "SIG-2": "Signatures are ECDSA on P-256 or Ed25519, in one strict form each.",
    "SIG-3": "A key's id is the SHA-256 of its encoding; a policy with a malformed, unusable or repeated key is "
    "refused.",
    "SIG-4": "Trust is an input: the caller's policy names keys, identities and rights, and nothing in a run adds to "
    "it.",
    "SIG-5": "What is reported for each signature, and for whom an envelope verifies.",
    "SIG-6": "The corpus holds test keys, which nobody should ever trust.",
    "SIG-7": "Intact is consistent with itself, not authentic: it is shown as unsigned or with who signed.",
    "SIG-8": "A run whose hash stands in a list that you trust is that very run.",
    "CKP-1": "A checkpoint is about one exact version; whoever asked for `latest` had it resolved before any run, and "
    "both are recorded.",
    "CKP-2": "Each lane has a rule, says whether it blocks, and names its sealed runs by id and run hash; a lane "
    "without runs is pending. No lane name stands twice.",
    "CKP-3": "A lane's freshness is the shortest that its requirements ask for, and is fixed when the checkpoint is "
    "planned.",
    "CKP-4": "A checkpoint goes through six states, and only a decided one has an outcome. One that was aborted gives "
    "its reason and records no decision.",
    "CKP-5": "A decided checkpoint never changes. Its signature stands in an envelope beside it; without one it is "
    "anybody's claim.",
    "CKP-6": "Who approved a budget is a claim, shown with no more assurance than was verified.",
    "CKP-7": "What a manifest must agree on with itself: lanes, evidence, version, outcome, and that the decision is "
    "what its recorded input gives. Of a later minor's unknown values nothing is decided.",
    "CKP-8": "Every run and baseline is looked for by id and run hash and must be intact; each lane's result is "
    "recomputed from the runs and compared with the recorded one.",
    "CKP-9": "A checkpoint without problems that somebody trusted signed anchors its runs, baselines included.",
    "CKP-10": "Read later, a decision is taken again on its own input at the later time; where that differs, it is "
    "shown beside the recorded outcome. An approval is never shown that was not recorded as one.",
    "LANE-1": "A run is evidence only if it is intact, completed and live, is of the checkpoint's subject in a stated "
    "version, and matches its deployment and the rule's suite. One run that is not leaves the lane not measured.",
    "LANE-2": "A threshold reads one summary entry of each run: none, one that measured nothing or too few cases "
    "leaves the lane not measured, and one run that misses the bound fails it.",
    "LANE-3": "A severity rule fails on any failure worse than it allows, trials included; undecided results or too "
    "few decided ones leave the lane not measured. A failure without a severity counts as critical.",
    "LANE-4": "Evidence is present when every run counts as evidence and there are enough different ones; a run that "
    "is named twice is one.",
    "LANE-5": "A comparison takes one candidate and one baseline, which must be evidence too, except that it need not "
    "state a version.",
    "LANE-6": "Both runs must agree on every axis that the rule names; where they differ the lane is incomparable and "
    "says on which.",
    "LANE-7": "Cases that were measured in both runs are paired; which one is worse follows from the direction that "
    "the candidate's metric declares.",
    "LANE-8": "An exact one-sided sign test over the pairs that differ decides whether the candidate regressed; too "
    "few pairs leave the lane not measured.",
    "LANE-9": "A lane's result carries the version of its runs and the earliest time at which one of them was closed.",
    "LANE-10": "The corpus holds small sealed runs with rules and the results that follow.",
    "LANE-11": "The sign test stays exact however many pairs there are, and is done in as many steps at most.",
    "DEC-1": "The decision depends on nothing but its input: version, time, each lane's result and evidence, and the "
    "exceptions. An input that contradicts itself or has no lane is refused.",
    "DEC-2": "Each lane's status is the first that holds: missing, of another version, from the future, stale, then "
    "the result. Only a failure can be waived, by an exception in force for exactly that evidence.",
    "DEC-3": "The outcome is the first that holds: expired, blocked, inconclusive, approved with exceptions, approved. "
    "Missing evidence never becomes an approval.",
    "DEC-4": "The reasons come in the lanes' order and end with the outcome.",
    "DEC-5": "Versions, names and hashes are compared byte by byte, times exactly.",
    "PLAN-1": "A plan names the exact subject, suites, judges and baseline; the runner chooses none of them. An "
    "endpoint carries no credential.",
    "PLAN-2": "A plan always limits the cost, and may limit the number of cases and the time; the runner stops there.",
    "PLAN-3": "Credentials are references, resolved where the runner runs and before it accepts. No file and no event "
    "holds a value, or what it is stored under.",
    "PLAN-4": "No secret stands in a plan.",
    "PLAN-5": "A plan is its id and its exact bytes; whoever accepts it records the digest of these.",
    "PLAN-6": "A runner's manifest says what it is, where it runs and which target modes it gives; the key it names "
    "grants no trust.",
    "PLAN-7": "A runner takes a plan only if it knows and can keep everything in it, and says that it refuses any "
    "other.",
    "PLAN-8": "One suite is one run; content with a digest is checked against it, and case ids stay as the suite has "
    "them.",
    "PLAN-9": "Before each case the runner asks whether the worst it may need is still within every limit, and stops "
    "where it is not.",
    "PLAN-10": "A run's subject kind and deployment follow from the plan in one fixed way.",
    "STRM-1": "Every event has a number, its job and a time; four kinds end a stream, and no later version adds "
    "another such kind.",
    "STRM-2": "A stream whose last line has no LF is still being written.",
    "STRM-3": "What a finished stream must keep, line by line: order and numbers, one job, the plan it names, its "
    "limits, and that every run is announced before it is closed.",
    "STRM-4": "The runs that a job names must be there, intact, under the announced hash, and be what the plan asked "
    "for, within its limits.",
    "VER-1": "Documents state the schema version they are written in, as MAJOR.MINOR.",
    "VER-2": "Writers write what the writer schemas accept.",
    "VER-3": "Readers accept what the reader schemas accept: every 1.x, unknown fields and unknown values.",
    "VER-4": "A document of another major version is refused, and the message says so.",
    "VER-5": "A minor version only adds; it never narrows or changes what was valid.",
    "VER-6": "Each document is read by its own version; where the run's version decides, run.json's does.",
    "VER-7": "What is deprecated stays valid until the next major version.",
    "VER-8": "An unknown value reads as a table says for its field, never as a pass and never as better evidence.",
    "VER-9": "The states of a result, the status of a run, the kinds of metrics and trust policies are closed: an "
    "unknown value there is refused.",
    "SEC-1": "No credential stands in any file of the format.",
    "SEC-2": "A run that holds a secret is not sealed; a sealed one is withdrawn and made again.",
    "SEC-3": "With contentCapture off not even a digest of content is kept.",
    "SEC-4": "Identities in overlays should be opaque ids, as overlays cannot be erased.",
    "SEC-5": "Personal content in a blob is erased by a redaction event and deleting the blob.",
    "SEC-6": "With contentCapture off no trace or log carries prompts, responses or a log body.",
    "CONF-1": "The corpus lists its vectors with the digest of every file; the digest of that list is its version.",
    "CONF-2": "Problem lists are equal only if they agree in order, too.",
    "CONF-3": "A conformance runner calls one operation at a time, reads one JSON value and an exit code, and checks "
    "every file that it gives.",
    "CONF-4": "A claim names implementation, version, classes and corpus, and every vector of a class passes.",
    "CONF-5": "The published schemas of a minor version change only what a minor may change.",
}
"""Every rule by its id."""


def chapter_of(rule: str) -> str:
    """Return where a rule of the table stands in the specification."""
    return CHAPTERS[rule.partition("-")[0]]
