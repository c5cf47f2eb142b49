"""The two signature algorithms [SIG-2]: which keys are usable, and whether a signature verifies.

`cryptography` does the arithmetic of signatures. What it does not offer, or leaves to the version of the
library below it, is checked here: strict DER and the range of an ECDSA signature's integers, that S < L, that
the bytes of an Ed25519 key are a point (RFC 8032 §5.1.3) and that this point is not of small order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from aef_verify.integrity import der

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA

ECDSA_P256 = "ecdsa-p256"
ED25519 = "ed25519"
ALGORITHMS = (ECDSA_P256, ED25519)
"""The two, by name, in the order of [SIG-2]."""

OTHER = "other"
"""The algorithm of a key that AEF does not support; a policy may hold one."""


class KeyRefusedError(ValueError):
    """A public key that no trust policy may hold; the message says why in plain words."""


class Message:
    """A message to verify signatures against; its SHA-256 is computed once, when it is first asked for."""

    __slots__ = ("_digest", "content")

    def __init__(self, content: bytes) -> None:
        """Hold the message's bytes."""
        self.content = content
        self._digest = b""

    @property
    def sha256(self) -> bytes:
        """The digest of the message."""
        self._digest = self._digest or hashlib.sha256(self.content).digest()
        return self._digest


Check = Callable[[bytes, Message], bool]
"""Whether a signature over a message verifies under one key."""

_P256_FIELD = 2**256 - 2**224 + 2**192 + 2**96 - 1
_P256_ORDER = 0xFFFFFFFF_00000000_FFFFFFFF_FFFFFFFF_BCE6FAAD_A7179E84_F3B9CAC2_FC632551
_UNCOMPRESSED = 4
_P256_SIGNATURE = (8, 72)
"""Fewest and most bytes of a signature: two integers of 1 to 33 bytes, with two bytes before each and the whole."""


def _p256(point: bytes) -> Check:
    """Take an uncompressed point of the curve [SIG-2]; raises `KeyRefusedError`."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey

    if len(point) != 65 or point[0] != _UNCOMPRESSED:
        raise KeyRefusedError("it is a P-256 key whose point is not in the uncompressed form of 65 bytes")
    try:
        if max(int.from_bytes(point[1:33], "big"), int.from_bytes(point[33:], "big")) >= _P256_FIELD:
            raise ValueError
        key = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point)
    except ValueError:
        raise KeyRefusedError("it is a P-256 key whose point is not on the curve") from None

    def verifies(signature: bytes, message: Message) -> bool:
        if not _is_p256_signature(signature):
            return False
        try:
            key.verify(signature, message.sha256, _ecdsa())
        except InvalidSignature:
            return False
        return True

    return verifies


@cache
def _ecdsa() -> ECDSA:
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
    from cryptography.hazmat.primitives.hashes import SHA256

    return ECDSA(Prehashed(SHA256()))


def _is_p256_signature(signature: bytes) -> bool:
    """Whether the bytes are `r` and `s` in strict DER, both from 1 to n - 1; `s` may be high [SIG-2]."""
    if not _P256_SIGNATURE[0] <= len(signature) <= _P256_SIGNATURE[1]:
        return False
    try:
        return all(0 < value < _P256_ORDER for value in der.signature_integers(signature))
    except der.DerError:
        return False


_FIELD = 2**255 - 19
_GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _FIELD) % _FIELD
_ORDER_EIGHT_Y = 0x7A03AC92_77FDC74E_C6CC392C_FA53202A_0F67100D_760B3CBA_4FD84D3D_706A17C7
_SMALL_ORDER_Y = frozenset((0, 1, _FIELD - 1, _ORDER_EIGHT_Y, _FIELD - _ORDER_EIGHT_Y))
"""The y of the points of order 1, 2, 4 and 8: no other point has one of these."""


def _ed25519(point: bytes) -> Check:
    """Take 32 bytes that decode to a point of more than small order [SIG-2]; raises `KeyRefusedError`.

    A key of mixed order is usable: the equation without the cofactor, over k reduced mod L, decides.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if len(point) != 32:
        raise KeyRefusedError(f"it is an Ed25519 key of {len(point)} bytes, where 32 are needed")
    if not _is_point(point):
        raise KeyRefusedError("it is an Ed25519 key whose bytes are no point of the curve")
    if int.from_bytes(point, "little") & (1 << 255) - 1 in _SMALL_ORDER_Y:
        raise KeyRefusedError("it is an Ed25519 key of small order, under which forged signatures verify")
    key = Ed25519PublicKey.from_public_bytes(point)

    def verifies(signature: bytes, message: Message) -> bool:
        if not _is_ed25519_signature(signature):
            return False
        try:
            key.verify(signature, message.content)
        except InvalidSignature:
            return False
        # The library compares R as bytes, so no R that does not decode gets here; this does not rely on it.
        return _is_point(signature[:32])

    return verifies


def _is_ed25519_signature(signature: bytes) -> bool:
    """Whether the bytes are 32 for R and 32 for an S < L [SIG-2]."""
    return len(signature) == 64 and int.from_bytes(signature[32:], "little") < _GROUP_ORDER


def _is_point(encoding: bytes) -> bool:
    """Whether 32 bytes decode to a point (RFC 8032 §5.1.3): a reduced y, a square x², no negative zero."""
    number = int.from_bytes(encoding, "little")
    y, negative = number & (1 << 255) - 1, number >> 255
    if y >= _FIELD:
        return False
    # x² = u/v is a square exactly when u·v is one: v is never 0, as -1/d is no square.
    product = (y * y - 1) * (_D * y * y + 1) % _FIELD
    if product == 0:
        return not negative
    return pow(product, (_FIELD - 1) // 2, _FIELD) == 1


BY_IDENTIFIER: dict[tuple[bytes, bytes | None], tuple[str, Callable[[bytes], Check]]] = {
    (bytes.fromhex("2a8648ce3d0201"), bytes.fromhex("06082a8648ce3d030107")): (ECDSA_P256, _p256),
    (bytes.fromhex("2b6570"), None): (ED25519, _ed25519),
}
"""AlgorithmIdentifier, as (object identifier, parameters), to algorithm: any other is `OTHER` [SIG-2]."""

SHAPES: dict[str, Callable[[bytes], bool]] = {ECDSA_P256: _is_p256_signature, ED25519: _is_ed25519_signature}
"""Algorithm to whether bytes have the form of its signatures, which costs far less than to verify them."""
