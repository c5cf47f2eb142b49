"""[SIG-2], [SIG-3] DER: a value has one encoding, in a SubjectPublicKeyInfo of any algorithm and in a signature."""

from __future__ import annotations

import pytest

from aef_verify.integrity import der
from tests.integrity.material import ED_ALGORITHM, RSA_ALGORITHM, integer, spki, tlv

KEY = b"\x04" * 32


def algorithm(parameters: bytes) -> bytes:
    return tlv(0x30, bytes.fromhex("06032a0304") + parameters)


def test_taken_apart() -> None:
    assert der.public_key_info(spki(ED_ALGORITHM, KEY)) == (bytes.fromhex("2b6570"), None, KEY)
    rsa = der.public_key_info(spki(RSA_ALGORITHM, b"\x30\x00"))
    assert rsa == (bytes.fromhex("2a864886f70d010101"), b"\x05\x00", b"\x30\x00")


@pytest.mark.parametrize(
    "parameters",
    [
        b"",
        b"\x05\x00",
        b"\x30\x00",
        b"\x01\x01\xff",
        integer(0),
        integer(-128),
        integer(128),
        b"\x03\x02\x04\xf0",
        b"\x03\x01\x00",
        tlv(0x04, b"x" * 200),
        tlv(0x04, b"x" * 70_000),
        tlv(0xA0, tlv(0x30, integer(1))),
        b"\x9f\x1f\x00",
        b"\x9f\x81\x00\x00",
        tlv(0x30, integer(1) + tlv(0x30, b"\x05\x00") + integer(2)),
    ],
)
def test_parameters_of_any_kind_in_der(parameters: bytes) -> None:
    assert der.public_key_info(spki(algorithm(parameters), KEY)).parameters == (parameters or None)


@pytest.mark.parametrize(
    "parameters",
    [
        b"\x05\x81\x00",
        b"\x05\x01\x00",
        b"\x30\x80\x05\x00\x00\x00",
        b"\x30\x80",
        b"\x01\x01\x01",
        b"\x01\x00",
        b"\x02\x00",
        b"\x02\x02\x00\x7f",
        b"\x02\x02\xff\x80",
        b"\x0a\x02\x00\x01",
        b"\x03\x00",
        b"\x03\x01\x01",
        b"\x03\x02\x08\x00",
        b"\x03\x02\x04\xf1",
        b"\x06\x00",
        b"\x06\x02\x2a\x80",
        b"\x06\x02\x2a\x86",
        b"\x06\x03\x2a\x80\x01",
        b"\x06\x02\x80\x01",
        b"\x24\x03\x04\x01x",
        b"\x10\x00",
        b"\x00\x00",
        b"\x9f\x1e\x00",
        b"\x9f\x80\x1f\x00",
        b"\x9f",
        b"\x9f\x81",
        b"\x04\x82\x00\x80" + b"x" * 128,
        b"\x04\x81\x7f" + b"x" * 127,
        b"\x04\xff" + b"x" * 127,
        b"\x04\x84\xff\xff\xff\xff",
        b"\x04\x05x",
        b"\x30\x03\x02\x02\x01",
        b"\x05\x00\x05\x00",
        b"\x05",
    ],
)
def test_parameters_that_are_not_der(parameters: bytes) -> None:
    with pytest.raises(der.DerError):
        der.public_key_info(spki(algorithm(parameters), KEY))


WHOLE = spki(ED_ALGORITHM, KEY)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x30",
        b"\x30\x00",
        WHOLE[:-1],
        WHOLE + b"\x00",
        WHOLE + WHOLE,
        b"\x31" + WHOLE[1:],
        b"\x30\x81" + WHOLE[1:],
        b"\x30\x80" + WHOLE[2:] + b"\x00\x00",
        spki(ED_ALGORITHM, KEY, unused=1),
        spki(ED_ALGORITHM, b"\xf0", unused=4),
        tlv(0x30, ED_ALGORITHM),
        tlv(0x30, ED_ALGORITHM + tlv(0x03, b"")),
        tlv(0x30, ED_ALGORITHM + tlv(0x04, KEY)),
        tlv(0x30, ED_ALGORITHM + tlv(0x23, tlv(0x03, b"\x00" + KEY))),
        tlv(0x30, ED_ALGORITHM + tlv(0x03, b"\x00" + KEY) + b"\x05\x00"),
        tlv(0x30, b"\x05\x00" + tlv(0x03, b"\x00" + KEY)),
        spki(b"\x30\x00", KEY),
        spki(b"\x30\x02\x05\x00", KEY),
        tlv(0x30, tlv(0x03, b"\x00" + KEY) + ED_ALGORITHM),
    ],
)
def test_no_public_key_info(data: bytes) -> None:
    with pytest.raises(der.DerError):
        der.public_key_info(data)


def test_nesting_of_any_depth_is_read() -> None:
    parameters = b""
    while len(parameters) < 40_000:
        parameters = tlv(0x30, parameters)
    assert der.public_key_info(spki(algorithm(parameters), KEY)).parameters == parameters


def test_every_cut_is_refused() -> None:
    whole = spki(algorithm(tlv(0x30, integer(1) + tlv(0x04, b"x" * 200))), KEY)
    der.public_key_info(whole)
    for size in range(len(whole)):
        with pytest.raises(der.DerError):
            der.public_key_info(whole[:size])


@pytest.mark.parametrize(("r", "s"), [(1, 1), (127, 128), (2**255, 2**256 - 1), (0, 0), (-1, -(2**255))])
def test_signature_integers(r: int, s: int) -> None:
    assert der.signature_integers(tlv(0x30, integer(r) + integer(s))) == (r, s)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x30\x00",
        tlv(0x30, integer(1)),
        tlv(0x30, integer(1) + integer(1) + integer(1)),
        tlv(0x30, integer(1) + integer(1)) + b"\x00",
        tlv(0x31, integer(1) + integer(1)),
        tlv(0x30, integer(1) + tlv(0x0A, b"\x01")),
        tlv(0x30, tlv(0x02, b"\x00\x01") + integer(1)),
        tlv(0x30, integer(1) + tlv(0x02, b"\xff\xff")),
        tlv(0x30, integer(1) + tlv(0x02, b"")),
        b"\x30\x81\x06" + integer(1) + integer(1),
        b"\x30\x07\x02\x81\x01\x01" + integer(1),
        b"\x30\x80" + integer(1) + integer(1) + b"\x00\x00",
        b"\x30\x05" + integer(1) + integer(1),
        b"\x30\x07" + integer(1) + integer(1),
    ],
)
def test_no_signature(data: bytes) -> None:
    with pytest.raises(der.DerError):
        der.signature_integers(data)
