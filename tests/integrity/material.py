"""Keys, signatures and policies that the tests of signatures are made of; every key is made here, from its name."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

Private = EllipticCurvePrivateKey | Ed25519PrivateKey

P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
P256_FIELD = 2**256 - 2**224 + 2**192 + 2**96 - 1
ED_FIELD = 2**255 - 19
ED_ORDER = 2**252 + 27742317777372353535851937790883648493

P256_ALGORITHM = bytes.fromhex("301306072a8648ce3d020106082a8648ce3d030107")
ED_ALGORITHM = bytes.fromhex("300506032b6570")
RSA_ALGORITHM = bytes.fromhex("300d06092a864886f70d0101010500")


def p256(name: str) -> EllipticCurvePrivateKey:
    return derive_private_key(
        1 + int.from_bytes(hashlib.sha256(name.encode()).digest()) % (P256_ORDER - 1), SECP256R1()
    )


def ed25519(name: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


def spki_of(key: Private) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def pem_of(key: Private) -> str:
    return pem(spki_of(key))


def keyid_of(spki: bytes) -> str:
    return f"sha256:{hashlib.sha256(spki).hexdigest()}"


def sign(key: Private, message: bytes) -> bytes:
    return key.sign(message) if isinstance(key, Ed25519PrivateKey) else key.sign(message, ECDSA(SHA256()))


# DER and PEM


def tlv(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes((tag, 0x80 | len(digits))) + digits + content


def integer(value: int) -> bytes:
    size = (value if value >= 0 else ~value).bit_length() // 8 + 1
    return tlv(0x02, value.to_bytes(size, signed=True))


def spki(algorithm: bytes, key: bytes, unused: int = 0) -> bytes:
    return tlv(0x30, algorithm + tlv(0x03, bytes((unused,)) + key))


def pem(content: bytes, *, label: str = "PUBLIC KEY", width: int = 64, end: str = "\n") -> str:
    text = base64.b64encode(content).decode()
    lines = [text[at : at + width] for at in range(0, len(text), width)]
    return end.join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])


def ecdsa_parts(signature: bytes) -> tuple[int, int]:
    return decode_dss_signature(signature)


def ecdsa_der(r: int, s: int) -> bytes:
    return tlv(0x30, integer(r) + integer(s))


# The Edwards curve, in the plainest arithmetic there is

Point = tuple[int, int]
_D = -121665 * pow(121666, -1, ED_FIELD) % ED_FIELD
NEUTRAL: Point = (0, 1)


def add(a: Point, b: Point) -> Point:
    cross = _D * a[0] * b[0] * a[1] * b[1] % ED_FIELD
    x = (a[0] * b[1] + b[0] * a[1]) * pow(1 + cross, -1, ED_FIELD)
    y = (a[1] * b[1] + a[0] * b[0]) * pow(1 - cross, -1, ED_FIELD)
    return x % ED_FIELD, y % ED_FIELD


def times(count: int, point: Point) -> Point:
    total = NEUTRAL
    while count:
        if count & 1:
            total = add(total, point)
        point, count = add(point, point), count >> 1
    return total


def encode(point: Point) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def point_at(y: int, odd: int = 0) -> Point | None:
    square = (y * y - 1) * pow(_D * y * y + 1, -1, ED_FIELD) % ED_FIELD
    x = pow(square, (ED_FIELD + 3) // 8, ED_FIELD)
    if x * x % ED_FIELD != square:
        x = x * pow(2, (ED_FIELD - 1) // 4, ED_FIELD) % ED_FIELD
    if x * x % ED_FIELD != square:
        return None
    return (ED_FIELD - x) % ED_FIELD if x & 1 != odd else x, y


def _base() -> Point:
    point = point_at(4 * pow(5, -1, ED_FIELD) % ED_FIELD)
    assert point is not None
    return point


def _torsion() -> list[Point]:
    """Return the eight points of small order, as multiples of one of order eight."""
    for y in range(2, 100):
        point = point_at(y)
        generator = times(ED_ORDER, point) if point else NEUTRAL
        if times(4, generator) != NEUTRAL:
            return [times(count, generator) for count in range(8)]
    raise AssertionError("no point of order eight found")


BASE = _base()
TORSION = _torsion()


def challenge(r: bytes, a: bytes, message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(r + a + message).digest(), "little") % ED_ORDER


def ed_signature(r: bytes, s: int) -> bytes:
    return r + s.to_bytes(32, "little")


# Policies and envelopes


def entry(identity: str, key: Private | str, may: Sequence[str] | None = None) -> dict[str, object]:
    value: dict[str, object] = {
        "identity": identity,
        "publicKey": key if isinstance(key, str) else pem_of(key),
    }
    return value if may is None else value | {"may": list(may)}


def policy(*entries: dict[str, object], **members: object) -> bytes:
    return json.dumps({"keys": list(entries), **members}).encode()


def b64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def message(kind: str, payload: bytes) -> bytes:
    name = kind.encode()
    return b"DSSEv1 " + str(len(name)).encode() + b" " + name + b" " + str(len(payload)).encode() + b" " + payload


def envelope(payload: bytes, *signatures: Mapping[str, object], kind: str, **members: object) -> bytes:
    document = {"payloadType": kind, "payload": b64(payload), "signatures": list(signatures), **members}
    return json.dumps(document).encode()
