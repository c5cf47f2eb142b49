"""Public keys as a trust policy holds them [SIG-3]: strict PEM, strict DER, the key id, the algorithm.

A key is read in that order: the strict form of RFC 7468, below it a SubjectPublicKeyInfo in DER whatever
its algorithm; then, for the two algorithms of [SIG-2], whether it is usable. Where one step fails, the
policy that holds the key is refused.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from aef_verify.encoding.digests import cited
from aef_verify.integrity import base64, der
from aef_verify.integrity.algorithms import BY_IDENTIFIER, OTHER, Check, KeyRefusedError

_LABEL = "PUBLIC KEY"
_LINE = 64
_PEM = re.compile(
    r"-----BEGIN PUBLIC KEY-----\r?\n((?:[A-Za-z0-9+/]{64}\r?\n)*[A-Za-z0-9+/]{1,64}={0,2})\r?\n"
    r"-----END PUBLIC KEY-----(?:\r?\n)?"
)
_PEM_LINE = re.compile(r"-----(?:BEGIN|END) PUBLIC KEY-----|(?=.{1,64}$)[A-Za-z0-9+/]+={0,2}|")


class PublicKey(NamedTuple):
    """A public key as a trust policy holds it.

    Attributes:
        keyid: `sha256:` and the hex SHA-256 of the SubjectPublicKeyInfo as the PEM holds it [SIG-3].
        algorithm: `ECDSA_P256`, `ED25519` or `OTHER`.
        verifies: whether a signature verifies under the key [SIG-2]; None for a key of another algorithm.
    """

    keyid: str
    algorithm: str
    verifies: Check | None


def key_id(spki: bytes) -> str:
    """Return the key id of a DER SubjectPublicKeyInfo [SIG-3]."""
    return cited(hashlib.sha256(spki).hexdigest())


def load_public_key(pem: str) -> PublicKey:
    """Read one public key; raises `KeyRefusedError` where [SIG-3] refuses the policy that holds it."""
    spki = decode_pem(pem)
    try:
        info = der.public_key_info(spki)
    except der.DerError as fault:
        raise KeyRefusedError(f"its content is no SubjectPublicKeyInfo in strict DER: {fault}") from None
    algorithm, take = BY_IDENTIFIER.get((info.algorithm, info.parameters), (OTHER, None))
    return PublicKey(key_id(spki), algorithm, take(info.key) if take else None)


def decode_pem(pem: str) -> bytes:
    """Return the bytes of a `PUBLIC KEY` block in RFC 7468's strict form; raises `KeyRefusedError`."""
    found = _PEM.fullmatch(pem)
    if not found:
        raise KeyRefusedError(_pem_fault(pem))
    lines = found[1].split()
    body = "".join(lines)
    if len(lines[-1]) > _LINE:
        raise KeyRefusedError("a line of its PEM is longer than 64 characters")
    if len(body) % 4:
        raise KeyRefusedError("the base64 of its PEM is not padded")
    try:
        return base64.decode(body)
    except ValueError as fault:
        raise KeyRefusedError(f"its PEM does not decode: {fault}") from None


def _pem_fault(pem: str) -> str:
    """Say what keeps a text from being strict PEM, the likeliest cause first."""
    label = re.search(r"-----BEGIN ([A-Z0-9 ]+)-----", pem)
    if not label:
        return f"it is no PEM block `{_LABEL}`"
    if label[1] != _LABEL:
        return f"it is a PEM block `{label[1]}`, where `{_LABEL}` is needed"
    lines = pem.replace("\r\n", "\n").split("\n")
    bad = next((f" at line {number}" for number, line in enumerate(lines, 1) if not _PEM_LINE.fullmatch(line)), "")
    return (
        f"it is no strict PEM{bad}: base64 lines of 64 characters, the last one of 1 to 64, no blank line, "
        "no space within a line, nothing before or after the block"
    )
