"""DSSE envelopes: [SIG-1] strict reading and the signed message, [SIG-5] what each signature proves.

In this order: size and depth of the envelope, its JSON, its shape (`malformed` at the first fault); then each
signature, in envelope order, over the envelope's own payload; last whether that payload and its type are the
file's. A bad envelope is a result, never an exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.integrity import base64
from aef_verify.integrity.algorithms import SHAPES, Message
from aef_verify.integrity.policy import TrustedKey, TrustPolicy

STATEMENT_TYPE = "application/vnd.in-toto+json"
"""`payloadType` of an envelope over `seal.json` or a batch seal [SIG-1]."""

CHECKPOINT_TYPE = "application/vnd.agenteval.aef.checkpoint+json"
"""`payloadType` of an envelope over a checkpoint manifest [SIG-1]."""

MALFORMED = "malformed"
PAYLOAD_MISMATCH = "payload-mismatch"
VERIFIED = "verified"
UNTRUSTED_KEY = "untrusted-key"
INVALID = "invalid"
UNSUPPORTED_ALGORITHM = "unsupported-algorithm"


class MalformedError(ValueError):
    """An envelope that [SIG-1] calls malformed; the message says why in plain words."""


class Signature(NamedTuple):
    """One signature of an envelope; `keyid` is empty where the envelope gives none."""

    keyid: str
    sig: bytes


class Envelope(NamedTuple):
    """A DSSE envelope as read: the payload's type, the payload's bytes, the signatures in their order."""

    payload_type: str
    payload: bytes
    signatures: list[Signature]


class SignatureReport(NamedTuple):
    """The result of one signature [SIG-5].

    Attributes:
        keyid: the envelope's; without one, that of the key which verifies, or empty where none does.
        result: `verified`, `untrusted-key`, `invalid` or `unsupported-algorithm`.
        identity: for whom the signature is verified; None for every other result.
    """

    keyid: str
    result: str
    identity: str | None = None


class EnvelopeReport(NamedTuple):
    """What an envelope proves about one file, under one trust policy [SIG-5].

    Attributes:
        result: None, `malformed` or `payload-mismatch`.
        signatures: one report a signature, in envelope order; none for a malformed envelope.
        verifies_for: the identities it verifies for, each at the first policy position that verified for it.
        detail: why it is malformed or does not match, for people; empty otherwise.
    """

    result: str | None
    signatures: tuple[SignatureReport, ...]
    verifies_for: tuple[str, ...]
    detail: str = ""


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the message that is signed: DSSE's pre-authentication encoding, lengths in bytes [SIG-1]."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def read_envelope(data: bytes | None) -> Envelope:
    """Read an envelope strictly [SIG-1]; None stands for one beyond its size limit.

    Raises:
        MalformedError: for anything but an I-JSON object within [ENC-17] of the shape DSSE gives.
    """
    if data is None:
        raise MalformedError(f"more than {limits.ENVELOPE_BYTES:,} bytes")
    try:
        document = read_object(data, limits.ENVELOPE_BYTES)
    except UnreadableError as fault:
        raise MalformedError(str(fault)) from None
    payload_type = document.get("payloadType")
    if not isinstance(payload_type, str):
        raise MalformedError("payloadType is absent or not a string")
    payload = _decoded(document, "payload", "")
    entries = document.get("signatures")
    if not isinstance(entries, list) or not entries:
        raise MalformedError("signatures is absent, not a list or empty")
    for position, entry in enumerate(entries):
        # In place, as millions of entries may stand here: each is freed as soon as it is read.
        entries[position] = _signature(entry, position)
    return Envelope(payload_type, payload, entries)


def _signature(entry: object, position: int) -> Signature:
    where = f"signatures[{position}]"
    if not isinstance(entry, dict):
        raise MalformedError(f"{where} is not an object")
    keyid = entry.get("keyid")
    if not (keyid is None or isinstance(keyid, str)):
        raise MalformedError(f"{where}.keyid is neither a string nor null")
    return Signature(keyid or "", _decoded(entry, "sig", where + "."))


def _decoded(holder: dict[str, object], name: str, where: str) -> bytes:
    text = holder.get(name)
    if not isinstance(text, str):
        raise MalformedError(f"{where}{name} is absent or not a string")
    try:
        return base64.decode(text)
    except ValueError as fault:
        raise MalformedError(f"{where}{name}: {fault}") from None


def verify_envelope(envelope: bytes | None, payload: bytes, payload_type: str, policy: TrustPolicy) -> EnvelopeReport:
    """Verify an envelope over one file under a trust policy [SIG-5].

    Args:
        envelope: the envelope's bytes; None where they are beyond `limits.ENVELOPE_BYTES`.
        payload: the exact bytes of the file that it should sign.
        payload_type: the type [SIG-1] gives for that file.
        policy: the keys the caller trusts.

    The results are exact whatever the envelope holds, so only [ENC-17] and the policy bound the cost: a
    check for a signature with a `keyid`; for one without, a check under each trusted key of the algorithm
    whose form it has. A check takes about 50 µs and, with Ed25519, one SHA-512 pass over the payload.
    """
    try:
        read = read_envelope(envelope)
    except MalformedError as fault:
        return EnvelopeReport(MALFORMED, (), (), str(fault))
    reports = tuple(_judge(read, policy))
    detail = _mismatch(read, payload, payload_type)
    if detail:
        return EnvelopeReport(PAYLOAD_MISMATCH, reports, (), detail)
    positions = {policy.by_keyid[report.keyid].position for report in reports if report.result == VERIFIED}
    identities = dict.fromkeys(policy.keys[position].identity for position in sorted(positions))
    return EnvelopeReport(None, reports, tuple(identities))


def _mismatch(read: Envelope, payload: bytes, payload_type: str) -> str:
    if read.payload_type != payload_type:
        return f"its payloadType is {read.payload_type[:80]!r}, not {payload_type!r}"
    return "" if read.payload == payload else "its payload is not the file, byte for byte"


def _judge(read: Envelope, policy: TrustPolicy) -> Iterator[SignatureReport]:
    """Yield the result of every signature, over the envelope's own payload."""
    message = Message(pae(read.payload_type, read.payload))
    tried: dict[frozenset[str], list[TrustedKey]] = {}
    for keyid, sig in read.signatures:
        if keyid:
            yield _judge_named(keyid, sig, policy.by_keyid.get(keyid), message)
            continue
        shapes = frozenset(algorithm for algorithm, fits in SHAPES.items() if fits(sig))
        if shapes not in tried:
            tried[shapes] = [trusted for trusted in policy.keys if trusted.key.algorithm in shapes]
        yield _judge_unnamed(sig, tried[shapes], message)


def _judge_named(keyid: str, sig: bytes, trusted: TrustedKey | None, message: Message) -> SignatureReport:
    """Judge a signature by the one key that its `keyid` names."""
    if trusted is None:
        return SignatureReport(keyid, UNTRUSTED_KEY)
    if trusted.key.verifies is None:
        return SignatureReport(keyid, UNSUPPORTED_ALGORITHM)
    return _verified(trusted) if trusted.key.verifies(sig, message) else SignatureReport(keyid, INVALID)


def _judge_unnamed(sig: bytes, tried: list[TrustedKey], message: Message) -> SignatureReport:
    """Judge a signature without a `keyid` by the trusted keys, in policy order."""
    for trusted in tried:
        if trusted.key.verifies is not None and trusted.key.verifies(sig, message):
            return _verified(trusted)
    return _NO_KEY


def _verified(trusted: TrustedKey) -> SignatureReport:
    return SignatureReport(trusted.key.keyid, VERIFIED, trusted.identity)


_NO_KEY = SignatureReport("", UNTRUSTED_KEY)
