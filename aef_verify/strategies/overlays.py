"""Overlays after sealing: batches of events, their seals and signatures, redactions and what they withhold.

[OVL-1] to [OVL-4], [OVL-10]. The chain of every run here is sound; events past the last batch are no fault but
`uncovered`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from aef_verify.strategies.files import RunFiles, json_file, json_line, sha256
from aef_verify.strategies.header import EXT, members
from aef_verify.strategies.keys import STATEMENT_TYPE, Policy, SigningKey, envelope, identities, trust_policies
from aef_verify.strategies.runs import sealed_runs
from aef_verify.strategies.values import digests, ids, sizes, texts, times

Document = dict[str, Any]

EVENTS = "overlays/events.ndjson"
STATES = ("passed", "failed", "warn", "inconclusive", "scored", "not_measured", "not_applicable", "skipped", "error")


class Batch(NamedTuple):
    """One batch: its number, its events, and who signed its seal (nobody: no envelope)."""

    number: int
    events: tuple[Document, ...]
    signers: tuple[SigningKey, ...]


class OverlaidRun(NamedTuple):
    """A sealed run with overlays.

    Attributes:
        files: every file, `overlays/` included; blobs that an authorized redaction names may be gone.
        policy: the caller's trust policy, under which redactions are authorized.
        batches: the sealed batches, in order.
        redacted: hex names of the blobs that authorized redactions name, in file order, gone or not.
        gone: the sealed blobs that were deleted, all of them among `redacted`.
    """

    files: RunFiles
    policy: Policy
    batches: tuple[Batch, ...]
    redacted: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def covered(self) -> int:
        """How many bytes of the events the batches cover."""
        return sum(len(json_line(event)) for batch in self.batches for event in batch.events)


def batch_path(number: int) -> str:
    """Return the path of a batch's seal."""
    return f"overlays/seal-{number:04d}.json"


def with_batches(run: RunFiles, batches: Sequence[Batch]) -> RunFiles:
    """Return a sealed run with these overlay batches, sealed and signed [OVL-4]."""
    return with_parts(run, [(b"".join(map(json_line, batch.events)), batch.signers) for batch in batches])


def with_parts(run: RunFiles, parts: Sequence[tuple[bytes, Sequence[SigningKey]]]) -> RunFiles:
    """Return a sealed run with these bytes as its overlay batches, whatever they hold, and who signed each."""
    files: dict[str, bytes] = {}
    written, previous = b"", None
    run_hash = run.document("seal.json")["predicate"]["runHash"]
    for number, (appended, signers) in enumerate(parts, 1):
        predicate = {
            "schemaVersion": "1.0",
            "runId": run.run_id,
            "runHash": run_hash,
            "batch": number,
            "offset": len(written),
            "length": len(appended),
            "previous": previous,
        }
        statement = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": EVENTS, "digest": {"sha256": sha256(appended)}}],
            "predicateType": "https://agenteval.dev/aef/1/overlay-batch",
            "predicate": predicate,
        }
        path, data = batch_path(number), json_file(statement)
        files[path] = data
        if signers:
            files[path.replace(".json", ".dsse.json")] = envelope(data, STATEMENT_TYPE, signers)
        written += appended
        previous = {"path": path, "sha256": sha256(data)}
    return run.replacing({**files, EVENTS: written})


@st.composite
def events(draw: st.DrawFn, run: RunFiles, number: int, people: Sequence[str]) -> Document:
    """Draw a valid event on a sealed run [OVL-1]; `number` makes its id, `people` are who it may be by."""
    results = [line["resultId"] for line in run.lines("results.ndjson")]
    blobs = [path.rpartition("/")[2] for path in run if path.startswith("blobs/")]
    kinds = ("redact", "redact", *_KINDS, *(("override", "adjudicate", "waive") if results else ("waive",)))
    kind = draw(st.sampled_from(kinds))
    target: Document = {"run": run.run_id}
    if draw(st.booleans()):
        target["runHash"] = run.run_hash
    if kind == "redact":
        target["blob"] = draw(st.sampled_from(blobs) | digests() if blobs else digests())
    elif results and (kind in ("override", "adjudicate") or draw(st.booleans())):
        target["result"] = draw(st.sampled_from(results))
    elif kind not in ("approve", "reject") and (kind == "waive" or draw(st.booleans())):
        target["requirement"] = draw(ids())
    event: Document = {
        "schemaVersion": "1.0",
        "eventId": f"ov_{number}",
        "kind": kind,
        "target": target,
        "by": {"identity": draw(st.sampled_from(people) | identities()), "assurance": draw(_ASSURANCES)},
        "at": draw(times()),
    }
    if kind in ("override", "adjudicate"):
        event["state"] = draw(st.sampled_from(STATES))
    if kind == "waive":
        event["expires"] = draw(times())
    if kind in ("override", "adjudicate", "waive", "redact"):
        event["reason"] = draw(texts(1))
    more: Document = draw(_MORE)
    return event | more


_KINDS = ("approve", "reject", "acknowledge", "accept_baseline", "annotate")
_ASSURANCES = st.sampled_from(("self-attested", "signed", "authenticated"))
_MORE = members({}, {"ext": EXT})


@st.composite
def overlay_batches(draw: st.DrawFn, run: RunFiles, policy: Policy, *, max_batches: int = 3) -> tuple[Batch, ...]:
    """Draw batches of events on a sealed run, signed by keys of the policy or by nobody."""
    people = [identity for identity, _, _ in policy.entries]
    batches: list[Batch] = []
    count = 0
    for number in range(1, draw(sizes(*range(1, max_batches + 1))) + 1):
        found = []
        for _ in range(draw(sizes(1, 2, 3))):
            count += 1
            found.append(draw(events(run, count, people)))
        signers = draw(st.lists(st.sampled_from(policy.keys), max_size=2, unique=True))
        batches.append(Batch(number, tuple(found), tuple(signers)))
    return tuple(batches)


@st.composite
def overlaid_runs(draw: st.DrawFn, *, unsealed_events: bool = True) -> OverlaidRun:
    """Draw a sealed run with sound overlays; `unsealed_events` allows events that no batch covers yet."""
    run = draw(sealed_runs(max_cases=2))
    policy = draw(trust_policies())
    batches = draw(overlay_batches(run, policy))
    if draw(st.booleans()):
        batches = _with_redaction(draw, run, policy, batches)
    redacted = _authorized(batches, policy)
    present = [name for name in redacted if _blob(name) in run]
    gone = draw(st.lists(st.sampled_from(present), unique=True)) if present else []
    files = with_batches(run, batches).without(*map(_blob, gone))
    if unsealed_events and draw(st.booleans()):
        later = draw(events(run, 1000, [identity for identity, _, _ in policy.entries]))
        files = files.replacing({EVENTS: files[EVENTS] + json_line(later)})
    return OverlaidRun(files, policy, batches, tuple(redacted), tuple(gone))


def _with_redaction(draw: st.DrawFn, run: RunFiles, policy: Policy, batches: tuple[Batch, ...]) -> tuple[Batch, ...]:
    """Add an authorized redaction of one of the run's blobs to one batch, where the policy lets somebody redact."""
    blobs = [path.rpartition("/")[2] for path in run if path.startswith("blobs/")]
    allowed = [(identity, key) for identity, key, may in policy.entries if "redact" in may]
    if not blobs or not allowed:
        return batches
    identity, key = draw(st.sampled_from(allowed))
    at = draw(st.integers(0, len(batches) - 1))
    event = {
        "schemaVersion": "1.0",
        "eventId": "ov_redaction",
        "kind": "redact",
        "target": {"run": run.run_id, "blob": draw(st.sampled_from(blobs))},
        "by": {"identity": identity, "assurance": "signed"},
        "at": draw(times()),
        "reason": draw(texts(1)),
    }
    changed = Batch(at + 1, (*batches[at].events, event), tuple(dict.fromkeys((*batches[at].signers, key))))
    return (*batches[:at], changed, *batches[at + 1 :])


def _blob(name: str) -> str:
    return f"blobs/sha256/{name[:2]}/{name}"


def _authorized(batches: Sequence[Batch], policy: Policy) -> list[str]:
    """Return the blobs whose redaction is authorized: signed for an identity that may redact [OVL-10]."""
    named = []
    for batch in batches:
        signed_for = policy.signed_by(batch.signers)
        for event in batch.events:
            identity = event["by"]["identity"]
            if event["kind"] == "redact" and identity in signed_for and policy.may(identity, "redact"):
                named.append(event["target"]["blob"])
    return list(dict.fromkeys(named))


@st.composite
def signed_runs(draw: st.DrawFn) -> tuple[RunFiles, Policy, list[str]]:
    """Draw a sealed run with an attestation [SIG-1], a policy, and the identities it is signed by under that policy."""
    run = draw(sealed_runs(max_cases=1))
    policy = draw(trust_policies())
    strangers = (SigningKey("ed25519", 99), SigningKey("ecdsa-p256", 99))
    signers = draw(st.lists(st.sampled_from((*policy.keys, *strangers)), min_size=1, max_size=3, unique=True))
    attestation = envelope(run["seal.json"], STATEMENT_TYPE, signers)
    return run.replacing({"attestation.dsse.json": attestation}), policy, policy.signed_by(signers)
