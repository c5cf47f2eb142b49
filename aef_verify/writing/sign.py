"""Signing: one file's bytes into a DSSE envelope with one signature [SIG-1], [SIG-2], [SIG-3].

The key is an unencrypted PKCS#8 PEM, P-256 or Ed25519; every other form or algorithm is refused in words that
say what it is. A signature leaves here only after it verified under the public half of its key.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from aef_verify import limits
from aef_verify.given import read_given
from aef_verify.integrity import base64
from aef_verify.integrity.algorithms import Message
from aef_verify.integrity.dsse import CHECKPOINT_TYPE, STATEMENT_TYPE, pae
from aef_verify.integrity.keys import load_public_key
from aef_verify.layout import ATTESTATION, SEAL
from aef_verify.problems import InputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    PrivateKey = EllipticCurvePrivateKey | Ed25519PrivateKey

KEY_BYTES = 64 << 10
"""A private key file: far more than one key of either algorithm needs."""

_LABEL = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,40})-----")
_TO_PKCS8 = "convert it with `openssl pkcs8 -topk8 -nocrypt`"
_REFUSED_LABELS = {
    "ENCRYPTED PRIVATE KEY": f"an encrypted private key, where an unencrypted one is needed: {_TO_PKCS8}",
    "EC PRIVATE KEY": f"an EC key in SEC1 form, where PKCS#8 is needed: {_TO_PKCS8}",
    "EC PARAMETERS": f"an EC key in SEC1 form, where PKCS#8 is needed: {_TO_PKCS8}",
    "RSA PRIVATE KEY": "an RSA key in PKCS#1 form, where a P-256 or Ed25519 key in PKCS#8 is needed",
    "DSA PRIVATE KEY": "a DSA key, where a P-256 or Ed25519 key is needed",
    "OPENSSH PRIVATE KEY": "a key in OpenSSH's form, where PKCS#8 is needed",
    "PUBLIC KEY": "a public key, where the private key is needed to sign",
}


def sign_file(file: str, key_file: str, payload_type: str) -> dict[str, object]:
    """Sign a file's bytes with the key in another file, and return the envelope.

    Raises:
        InputError: a file that cannot be read, a key that is refused, a payload too large for an envelope.
    """
    key = load_named_key(key_file, read_given(key_file, KEY_BYTES))
    return sign_bytes(read_given(file, limits.ENVELOPE_BYTES), key, payload_type)


def sign_bytes(payload: bytes, key: PrivateKey, payload_type: str) -> dict[str, object]:
    """Sign a payload and return the envelope: `payloadType`, `payload`, one signature with its `keyid`.

    Raises:
        InputError: a payload type that is empty or no Unicode text, an envelope beyond [ENC-17], or a key
            whose halves do not belong together.
    """
    try:
        message = pae(payload_type, payload)
    except UnicodeEncodeError:
        raise InputError(f"the payload type {payload_type!r} is no Unicode text") from None
    if not payload_type:
        raise InputError("the payload type is empty")
    public = load_public_key(public_pem_of(key))
    signature = _sign(key, message)
    if public.verifies is None or not public.verifies(signature, Message(message)):
        raise InputError("the key's private and public half do not belong together")
    envelope: dict[str, object] = {
        "payloadType": payload_type,
        "payload": base64.encode(payload),
        "signatures": [{"keyid": public.keyid, "sig": base64.encode(signature)}],
    }
    if len(json.dumps(envelope)) > limits.ENVELOPE_BYTES:
        raise InputError(f"the envelope would be larger than {limits.ENVELOPE_BYTES:,} bytes [ENC-17]")
    return envelope


def _sign(key: PrivateKey, message: bytes) -> bytes:
    """Sign as the key's algorithm does: ECDSA with SHA-256 in DER, or Ed25519 [SIG-2]."""
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256

    if isinstance(key, EllipticCurvePrivateKey):
        return key.sign(message, ECDSA(SHA256()))
    return key.sign(message)


def load_named_key(name: str, pem: bytes) -> PrivateKey:
    """Load a key as `load_private_key` does; a refusal begins with the name of where it is from."""
    try:
        return load_private_key(pem)
    except InputError as fault:
        raise InputError(f"{name}: {fault}") from None


def load_private_key(pem: bytes) -> PrivateKey:
    """Load an unencrypted PKCS#8 PEM key, P-256 or Ed25519; raises `InputError` for any other key."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    _check_labels([label.decode() for label in _LABEL.findall(pem)])
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InputError("not an unencrypted PKCS#8 PEM key that reads") from None
    if isinstance(key, Ed25519PrivateKey):
        return key
    if not isinstance(key, EllipticCurvePrivateKey):
        kind = type(key).__name__.removesuffix("PrivateKey").lstrip("_")
        raise InputError(f"a key of another algorithm ({kind}), where P-256 or Ed25519 is needed")
    if not isinstance(key.curve, SECP256R1):
        raise InputError(f"an EC key on the curve {key.curve.name}, where P-256 is needed")
    return key


def _check_labels(labels: list[str]) -> None:
    """Refuse what the PEM labels already tell, before the content is parsed."""
    if not labels:
        raise InputError("no PEM block, where an unencrypted PKCS#8 `PRIVATE KEY` block is needed")
    for label in labels:
        if label != "PRIVATE KEY":
            raise InputError(_REFUSED_LABELS.get(label, f"a PEM block `{label}`, where `PRIVATE KEY` is needed"))
    if len(labels) > 1:
        raise InputError(f"{len(labels)} PEM blocks, where one key is needed")


def public_pem_of(key: PrivateKey) -> str:
    """Return the public half as a trust policy holds it: a SubjectPublicKeyInfo in strict PEM [SIG-3]."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")


def key_id_of(key: PrivateKey) -> str:
    """Return the key id of a private key's public half [SIG-3]."""
    return load_public_key(public_pem_of(key)).keyid


_BATCH_SEAL = re.compile(r"seal-[0-9]{4}\.json")


def envelope_of(file: str) -> tuple[str, str]:
    """Return where the envelope of a file belongs and its payload type, as the table of [SIG-1] gives them.

    `seal.json` and batch seals are statements; any other `.json` file is taken for a checkpoint manifest.

    Raises:
        InputError: a file of another name, which [SIG-1] gives no envelope.
    """
    folder, name = os.path.split(file)
    stem, extension = os.path.splitext(name)
    if extension != ".json" or name.endswith(".dsse.json"):
        raise InputError(f"{file}: neither seal.json, nor a batch seal, nor a checkpoint manifest <name>.json")
    if name == SEAL:
        return os.path.join(folder, ATTESTATION), STATEMENT_TYPE
    kind = STATEMENT_TYPE if _BATCH_SEAL.fullmatch(name) else CHECKPOINT_TYPE
    return os.path.join(folder, stem + ".dsse.json"), kind
