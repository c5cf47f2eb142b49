"""What became of an envelope and its signatures (04 §4.4)."""

from __future__ import annotations

from aef_verify.codes.scopes import SIGNATURE, Row

ROWS: tuple[Row, ...] = (
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
)
