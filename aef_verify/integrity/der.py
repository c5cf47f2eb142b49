"""Strict DER, as much of it as public keys and ECDSA signatures need: [SIG-2], [SIG-3].

A value has one encoding: definite lengths in the fewest bytes, tags in the fewest bytes, nothing after it.
Within an algorithm's parameters, the universal types that have one form without a schema are held to it too.
"""

from __future__ import annotations

from typing import NamedTuple

BOOLEAN, INTEGER, BIT_STRING, NULL, OID, ENUMERATED = 0x01, 0x02, 0x03, 0x05, 0x06, 0x0A
SEQUENCE = 0x30

_CLASS, _CONSTRUCTED, _NUMBER = 0xC0, 0x20, 0x1F
_ALWAYS_CONSTRUCTED = frozenset((0x08, 0x0B, 0x10, 0x11, 0x1D))
"""EXTERNAL, EMBEDDED PDV, SEQUENCE, SET, CHARACTER STRING; every other universal type is primitive in DER."""


class DerError(ValueError):
    """Bytes that are not DER, or not the value they should be."""


class Value(NamedTuple):
    """One value: its first identifier byte, and where its content and it end begin."""

    tag: int
    start: int
    end: int


def read(data: bytes, at: int, end: int) -> Value:
    """Read the identifier and length at `at`; the value must end at or before `end`."""
    if at >= end:
        raise DerError("a value is missing")
    tag = data[at]
    at += 1
    if tag & _NUMBER == _NUMBER:
        at = _long_tag(data, at, end)
    if at >= end:
        raise DerError("a length is missing")
    length = data[at]
    at += 1
    if length >= 0x80:
        count = length & 0x7F
        digits = data[at : min(at + count, end)]
        if count == 0:
            raise DerError("an indefinite length, which DER does not have")
        length = int.from_bytes(digits, "big")
        if len(digits) < count or digits[0] == 0 or length < 0x80:
            raise DerError("a length that is cut off or not in its shortest form")
        at += count
    if length > end - at:
        raise DerError("a length that reaches beyond the bytes given")
    return Value(tag, at, at + length)


def _long_tag(data: bytes, at: int, end: int) -> int:
    """Return where a tag number of 31 or more ends."""
    first = at
    while at < end and data[at] & 0x80:
        at += 1
    if at >= end:
        raise DerError("a tag that is cut off")
    if data[first] == 0x80 or (at == first and data[first] < _NUMBER):
        raise DerError("a tag that is not in its shortest form")
    return at + 1


def check(data: bytes) -> None:
    """Check that the bytes are exactly one value in DER, values within it included; raises `DerError`.

    What a BIT STRING or OCTET STRING holds is its algorithm's own business and is not looked at.
    """
    at, ends = 0, [len(data)]
    while True:
        value = read(data, at, ends[-1])
        _check_form(value, data)
        at = value.start if value.tag & _CONSTRUCTED else value.end
        if value.tag & _CONSTRUCTED:
            ends.append(value.end)
        while ends and at == ends[-1]:
            ends.pop()
        if not ends:
            return
        if len(ends) == 1:
            raise DerError("bytes follow the value")


def _check_form(value: Value, data: bytes) -> None:
    """Check primitive or constructed, and the content of the universal types that have one form in DER."""
    if value.tag & _CLASS:
        return
    number = value.tag & _NUMBER
    if number == 0 or bool(value.tag & _CONSTRUCTED) != (number in _ALWAYS_CONSTRUCTED):
        raise DerError(f"a value of tag 0x{value.tag:02x}, a form DER does not have")
    if value.tag & _CONSTRUCTED:
        return
    content = data[value.start : value.end]
    if number in (INTEGER, ENUMERATED):
        check_integer(content)
    elif number == BIT_STRING:
        _check_bits(content)
    elif number == OID:
        _check_oid(content)
    elif number == NULL and content:
        raise DerError("a NULL that is not empty")
    elif number == BOOLEAN and content not in (b"\x00", b"\xff"):
        raise DerError("a BOOLEAN that is neither 00 nor FF")


def check_integer(content: bytes) -> None:
    """Check that an INTEGER's content is in its shortest form."""
    if not content or (len(content) > 1 and int.from_bytes(content[:2], "big") >> 7 in (0x000, 0x1FF)):
        raise DerError("an integer that is not in its shortest form")


def _check_bits(content: bytes) -> None:
    unused = content[0] if content else 8
    if unused > 7 or (unused and (len(content) == 1 or content[-1] & ((1 << unused) - 1))):
        raise DerError("a bit string whose unused bits are wrong")


def _check_oid(content: bytes) -> None:
    """Check that every part of an object identifier is finished and in its shortest form."""
    if not content or content[-1] & 0x80:
        raise DerError("an object identifier that is empty or cut off")
    starts = (part for before, part in zip(b"\x00" + content, content, strict=False) if not before & 0x80)
    if 0x80 in starts:
        raise DerError("an object identifier that is not in its shortest form")


class PublicKeyInfo(NamedTuple):
    """A SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), its parts as the bytes hold them.

    Attributes:
        algorithm: the content of the algorithm's object identifier.
        parameters: the parameters' whole encoding, or None when there are none.
        key: the content of the key's BIT STRING, without the byte that counts its unused bits.
    """

    algorithm: bytes
    parameters: bytes | None
    key: bytes


def public_key_info(data: bytes) -> PublicKeyInfo:
    """Take a SubjectPublicKeyInfo apart, whatever its algorithm; raises `DerError` [SIG-3]."""
    check(data)
    whole = _expect(data, 0, len(data), SEQUENCE)
    identifier = _expect(data, whole.start, whole.end, SEQUENCE)
    oid = _expect(data, identifier.start, identifier.end, OID)
    parameters = data[oid.end : identifier.end] or None
    if parameters and read(data, oid.end, identifier.end).end != identifier.end:
        raise DerError("more than one value follows the algorithm's object identifier")
    key = _expect(data, identifier.end, whole.end, BIT_STRING)
    if key.end != whole.end:
        raise DerError("a value follows the key")
    if data[key.start] != 0:
        raise DerError("the key's bit string has unused bits")
    return PublicKeyInfo(data[oid.start : oid.end], parameters, data[key.start + 1 : key.end])


def _expect(data: bytes, at: int, end: int, tag: int) -> Value:
    value = read(data, at, end)
    if value.tag != tag:
        raise DerError(f"a value of tag 0x{tag:02x} should stand where 0x{value.tag:02x} does")
    return value


def signature_integers(data: bytes) -> tuple[int, int]:
    """Read an ECDSA signature, exactly `SEQUENCE { r INTEGER, s INTEGER }`; raises `DerError` [SIG-2]."""
    whole = _expect(data, 0, len(data), SEQUENCE)
    r = _expect(data, whole.start, whole.end, INTEGER)
    s = _expect(data, r.end, whole.end, INTEGER)
    if whole.end != len(data) or s.end != whole.end:
        raise DerError("bytes follow the signature")
    values = []
    for integer in (r, s):
        content = data[integer.start : integer.end]
        check_integer(content)
        values.append(int.from_bytes(content, "big", signed=True))
    return values[0], values[1]
