"""[SIG-2] ECDSA P-256 and Ed25519 at their edges, whatever the library below does there."""

from __future__ import annotations

import hashlib

import pytest

from aef_verify.integrity.algorithms import BY_IDENTIFIER, ECDSA_P256, ED25519, SHAPES, Check, KeyRefusedError, Message
from tests.integrity import material
from tests.integrity.material import (
    BASE,
    ED_FIELD,
    ED_ORDER,
    NEUTRAL,
    P256_FIELD,
    P256_ORDER,
    TORSION,
    Point,
    add,
    challenge,
    ecdsa_der,
    ed_signature,
    encode,
    integer,
    point_at,
    times,
    tlv,
)

TAKE = dict(BY_IDENTIFIER.values())
TEXT = b"what is signed"


def p256(point: bytes) -> Check:
    return TAKE[ECDSA_P256](point)


def ed25519(point: bytes) -> Check:
    return TAKE[ED25519](point)


class TestP256:
    key = material.p256("p256")
    point = material.spki_of(key)[-65:]
    signature = material.sign(key, TEXT)
    r, s = material.ecdsa_parts(signature)

    def verifies(self, signature: bytes, text: bytes = TEXT) -> bool:
        return p256(self.point)(signature, Message(text))

    def test_valid(self) -> None:
        assert self.verifies(self.signature)
        assert self.verifies(ecdsa_der(self.r, self.s))
        assert not self.verifies(self.signature, TEXT + b".")

    def test_low_and_high_s(self) -> None:
        assert self.verifies(ecdsa_der(self.r, P256_ORDER - self.s))

    def test_a_form_from_the_smallest_to_the_largest_integers(self) -> None:
        """From 8 bytes to 72: what has not the form is not even tried."""
        least, most = 1, P256_ORDER - 1
        for r, s in ((least, least), (least, most), (most, least), (most, most)):
            assert SHAPES[ECDSA_P256](ecdsa_der(r, s))
        for beyond in (0, -1, P256_ORDER):
            assert not SHAPES[ECDSA_P256](ecdsa_der(beyond, most))
            assert not SHAPES[ECDSA_P256](ecdsa_der(least, beyond))
        assert (len(ecdsa_der(least, least)), len(ecdsa_der(most, most))) == (8, 72)

    def test_raw_signature_is_none(self) -> None:
        assert not self.verifies(self.r.to_bytes(32) + self.s.to_bytes(32))

    def test_der_is_strict(self) -> None:
        r, s = integer(self.r), integer(self.s)
        for signature in (
            b"",
            tlv(0x30, r + s) + b"\x00",
            tlv(0x30, r + s + b"\x05\x00"),
            tlv(0x31, r + s),
            b"\x30\x81" + bytes((len(r + s),)) + r + s,
            b"\x30\x80" + r + s + b"\x00\x00",
            tlv(0x30, tlv(0x02, b"\x00" + r[2:]) + s),
            tlv(0x30, r + tlv(0x02, b"\x00" + s[2:])),
            tlv(0x30, b"\x02\x81" + r[1:] + s),
            tlv(0x30, r),
        ):
            assert not self.verifies(signature)

    def test_r_and_s_out_of_range(self) -> None:
        for r, s in (
            (0, self.s),
            (self.r, 0),
            (0, 0),
            (P256_ORDER, self.s),
            (self.r, P256_ORDER),
            (self.r + P256_ORDER, self.s),
            (self.r, self.s + P256_ORDER),
            (self.r, self.s - P256_ORDER),
            (-self.r, self.s),
            (self.r, 2**4096),
        ):
            signature = ecdsa_der(r, s)
            assert not SHAPES[ECDSA_P256](signature)
            assert not self.verifies(signature)

    def test_point_is_uncompressed_and_on_the_curve(self) -> None:
        x, y = self.point[1:33], self.point[33:]
        odd = y[-1] & 1
        for point, why in (
            (bytes((2 + odd,)) + x, "uncompressed"),
            (bytes((6 + odd,)) + x + y, "uncompressed"),
            (b"\x00", "uncompressed"),
            (b"", "uncompressed"),
            (self.point[:-1], "uncompressed"),
            (self.point + b"\x00", "uncompressed"),
            (b"\x04" + x + y[:-1] + bytes((y[-1] ^ 1,)), "not on the curve"),
            (b"\x04" + bytes(64), "not on the curve"),
        ):
            with pytest.raises(KeyRefusedError, match=why):
                p256(point)

    def test_coordinates_are_reduced(self) -> None:
        b = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
        y = pow(b, (P256_FIELD + 1) // 4, P256_FIELD)
        assert y * y % P256_FIELD == b
        p256(b"\x04" + bytes(32) + y.to_bytes(32))
        with pytest.raises(KeyRefusedError, match="not on the curve"):
            p256(b"\x04" + P256_FIELD.to_bytes(32) + y.to_bytes(32))


class TestEd25519:
    secret, nonce = 1234567, 7654321
    a, r = times(secret, BASE), times(nonce, BASE)

    def signature(self, r: Point, a: Point, text: bytes = TEXT) -> tuple[bytes, int]:
        """Sign as the secret would, over an R and an A that may hold a part of small order; and return k."""
        k = challenge(encode(r), encode(a), text)
        return ed_signature(encode(r), (self.nonce + k * self.secret) % ED_ORDER), k

    def test_valid(self) -> None:
        signature, _ = self.signature(self.r, self.a)
        assert ed25519(encode(self.a))(signature, Message(TEXT))
        assert not ed25519(encode(self.a))(signature, Message(TEXT + b"."))
        assert not ed25519(encode(self.a))(signature[:31] + b"\x00" + signature[32:], Message(TEXT))

    def test_s_is_below_the_order(self) -> None:
        signature, _ = self.signature(self.r, self.a)
        s = int.from_bytes(signature[32:], "little")
        for multiple in range(1, 15):
            larger = ed_signature(signature[:32], s + multiple * ED_ORDER)
            assert not SHAPES[ED25519](larger)
            assert not ed25519(encode(self.a))(larger, Message(TEXT))

    def test_s_at_the_order_and_just_below(self) -> None:
        signature, _ = self.signature(self.r, self.a)
        assert SHAPES[ED25519](ed_signature(signature[:32], ED_ORDER - 1))
        assert not SHAPES[ED25519](ed_signature(signature[:32], ED_ORDER))

    @pytest.mark.parametrize("size", [0, 1, 32, 63, 65, 96])
    def test_64_bytes(self, size: int) -> None:
        signature = (self.signature(self.r, self.a)[0] * 2)[:size]
        assert not SHAPES[ED25519](signature)
        assert not ed25519(encode(self.a))(signature, Message(TEXT))

    def test_the_equation_without_the_cofactor_decides_under_a_key_of_mixed_order(self) -> None:
        answers = set()
        for number, torsion in enumerate(TORSION):
            mixed = add(self.a, torsion)
            verifies = ed25519(encode(mixed))
            for attempt in range(40):
                text = b"%d.%d" % (number, attempt)
                signature, k = self.signature(self.r, mixed, text)
                holds = times(k % 8, torsion) == NEUTRAL
                assert verifies(signature, Message(text)) is holds
                answers.add((number, holds))
        assert len(answers) == 15, "both answers for every torsion point but the neutral one"

    def test_k_is_reduced_mod_l(self) -> None:
        """Under a key of mixed order k mod L and k itself differ, and the reduced one decides."""
        mixed, told_apart = add(self.a, TORSION[1]), 0
        verifies = ed25519(encode(mixed))
        for attempt in range(40):
            text = b"k %d" % attempt
            signature, k = self.signature(self.r, mixed, text)
            whole = int.from_bytes(hashlib.sha512(signature[:32] + encode(mixed) + text).digest(), "little")
            assert verifies(signature, Message(text)) is (k % 8 == 0)
            told_apart += (k % 8 == 0) != (whole % 8 == 0)
        assert told_apart

    def test_a_part_of_small_order_in_r_counts(self) -> None:
        for torsion in TORSION:
            signature, _ = self.signature(add(self.r, torsion), self.a)
            assert ed25519(encode(self.a))(signature, Message(TEXT)) is (torsion == NEUTRAL)

    def test_parts_of_small_order_in_r_and_a_may_cancel(self) -> None:
        mixed, cancelled = add(self.a, TORSION[1]), 0
        for attempt in range(40):
            text = b"cancel %d" % attempt
            signature, k = self.signature(add(self.r, TORSION[attempt % 8]), mixed, text)
            holds = (attempt + k) % 8 == 0
            assert ed25519(encode(mixed))(signature, Message(text)) is holds
            cancelled += holds and attempt % 8 != 0
        assert cancelled

    def test_r_of_small_order(self) -> None:
        """The neutral point is an R that decodes; only the form [RFC 8032 §5.1.3] decodes is taken."""
        k = challenge(encode(NEUTRAL), encode(self.a), TEXT)
        good = ed_signature(encode(NEUTRAL), k * self.secret % ED_ORDER)
        assert ed25519(encode(self.a))(good, Message(TEXT))
        for other in ((1 + ED_FIELD).to_bytes(32, "little"), (1 | 1 << 255).to_bytes(32, "little")):
            k = challenge(other, encode(self.a), TEXT)
            assert not ed25519(encode(self.a))(ed_signature(other, k * self.secret % ED_ORDER), Message(TEXT))

    @pytest.mark.parametrize("point", TORSION)
    def test_key_of_small_order_is_refused(self, point: Point) -> None:
        with pytest.raises(KeyRefusedError, match="small order"):
            ed25519(encode(point))

    def test_key_that_decodes_to_no_point_is_refused(self) -> None:
        no_point = [y for y in range(200) if point_at(y) is None]
        reduced_elsewhere = [y + ED_FIELD for y in range(19)]
        negative_zero = [1 | 1 << 255, (ED_FIELD - 1) | 1 << 255]
        for number in (
            *no_point,
            *reduced_elsewhere,
            *(y | 1 << 255 for y in no_point + reduced_elsewhere),
            *negative_zero,
        ):
            with pytest.raises(KeyRefusedError, match="no point"):
                ed25519(number.to_bytes(32, "little"))

    def test_every_other_point_is_taken(self) -> None:
        for y in range(2, 200):
            for odd in (0, 1):
                point = point_at(y, odd)
                if point:
                    ed25519(encode(point))

    @pytest.mark.parametrize("size", [0, 31, 33, 64])
    def test_key_of_another_size_is_refused(self, size: int) -> None:
        with pytest.raises(KeyRefusedError, match=f"{size} bytes"):
            ed25519(bytes(size))


def test_message_is_hashed_once() -> None:
    message = Message(TEXT)
    assert message.sha256 == hashlib.sha256(TEXT).digest()
    assert message.sha256 is message.sha256
