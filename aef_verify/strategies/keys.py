"""Signing keys, trust policies and DSSE envelopes [SIG-1] to [SIG-5].

Keys follow from a number, and signatures of both algorithms from key and message alone, so that an example is the same
each time. Never trust such a key: anyone can make it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, derive_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import strategies as st

from aef_verify.strategies.values import texts

STATEMENT_TYPE = "application/vnd.in-toto+json"
CHECKPOINT_TYPE = "application/vnd.agenteval.aef.checkpoint+json"
ALGORITHMS = ("ecdsa-p256", "ed25519")
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


class SigningKey(NamedTuple):
    """A key pair for tests, by its algorithm and a number."""

    algorithm: str
    number: int

    @property
    def private_pem(self) -> bytes:
        """The private half, unencrypted PKCS#8 in PEM."""
        return _private(self).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def public_pem(self) -> str:
        """The public half as a trust policy holds it [SIG-3]."""
        return _public(self)[0]

    @property
    def keyid(self) -> str:
        """The key id [SIG-3]."""
        return _public(self)[1]

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message [SIG-2]."""
        return _signature(self, message)


class Policy(NamedTuple):
    """A trust policy: who holds which key and may do what; `data` is its file."""

    entries: tuple[tuple[str, SigningKey, tuple[str, ...]], ...]

    @property
    def data(self) -> bytes:
        """The policy as a file [SIG-4]."""
        keys: list[dict[str, object]] = []
        for identity, key, may in self.entries:
            keys.append({"identity": identity, "publicKey": key.public_pem, **({"may": list(may)} if may else {})})
        return json.dumps({"keys": keys}, ensure_ascii=False).encode()

    @property
    def keys(self) -> list[SigningKey]:
        """The trusted keys, in policy order."""
        return [key for _, key, _ in self.entries]

    def signed_by(self, signers: Sequence[SigningKey]) -> list[str]:
        """Return the identities that signatures of these keys verify for, in policy order [SIG-5]."""
        return list(dict.fromkeys(identity for identity, key, _ in self.entries if key in signers))

    def may(self, identity: str, right: str) -> bool:
        """Whether some key of the identity has the right [SIG-4]."""
        return any(right in may for name, _, may in self.entries if name == identity)


@cache
def _private(key: SigningKey) -> EllipticCurvePrivateKey | Ed25519PrivateKey:
    seed = hashlib.sha256(f"a test key, {key.number}".encode()).digest()
    if key.algorithm == "ed25519":
        return Ed25519PrivateKey.from_private_bytes(seed)
    return derive_private_key(1 + int.from_bytes(seed, "big") % (_P256_ORDER - 1), SECP256R1())


@cache
def _public(key: SigningKey) -> tuple[str, str]:
    public = _private(key).public_key()
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")
    return pem, f"sha256:{hashlib.sha256(der).hexdigest()}"


@lru_cache(4096)
def _signature(key: SigningKey, message: bytes) -> bytes:
    private = _private(key)
    if isinstance(private, Ed25519PrivateKey):
        return private.sign(message)
    return private.sign(message, ECDSA(SHA256(), deterministic_signing=True))


def envelope(payload: bytes, payload_type: str, signers: Sequence[SigningKey]) -> bytes:
    """Return the DSSE envelope of a payload, signed with each of the keys [SIG-1]."""
    kind = payload_type.encode()
    message = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
    signatures = [{"keyid": key.keyid, "sig": base64.b64encode(key.sign(message)).decode()} for key in signers]
    encoded = base64.b64encode(payload).decode()
    return json.dumps({"payloadType": payload_type, "payload": encoded, "signatures": signatures}).encode() + b"\n"


@cache
def signing_keys() -> st.SearchStrategy[SigningKey]:
    """One of a few keys of both algorithms."""
    return st.builds(SigningKey, st.sampled_from(ALGORITHMS), st.integers(0, 5))


@cache
def identities() -> st.SearchStrategy[str]:
    """An identity that a policy trusts; the common ones come often, so that several keys share one."""
    return st.sampled_from(("git:ada@example", "spiffe://example/ci", "oidc:https://i.example/42")) | texts(1).map(
        "git:{}".format
    )


@cache
def trust_policies() -> st.SearchStrategy[Policy]:
    """A trust policy of one to four keys; an identity may have several, with rights of their own."""
    rights = st.sampled_from(((), (), ("redact",), ("redact", "something-else"), ("Redact",)))
    entry = st.tuples(identities(), signing_keys(), rights)
    return st.lists(entry, min_size=1, max_size=4, unique_by=lambda found: found[1]).map(
        lambda entries: Policy(tuple(entries))
    )


def envelopes(
    payload: bytes, payload_type: str, keys: Sequence[SigningKey]
) -> st.SearchStrategy[tuple[bytes, list[SigningKey]]]:
    """A signed envelope of a payload and who signed it: one key or more of these."""
    signers = st.lists(st.sampled_from(keys), min_size=1, max_size=3, unique=True)
    return signers.map(lambda chosen: (envelope(payload, payload_type, chosen), chosen))
