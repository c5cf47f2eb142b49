"""[SIG-3] A public key: strict PEM, strict DER whatever the algorithm, its key id, its algorithm."""

from __future__ import annotations

import base64

import pytest

from aef_verify.integrity.algorithms import ECDSA_P256, ED25519, OTHER, KeyRefusedError
from aef_verify.integrity.keys import decode_pem, key_id, load_public_key
from tests.integrity import material
from tests.integrity.material import (
    ED_ALGORITHM,
    P256_ALGORITHM,
    RSA_ALGORITHM,
    integer,
    keyid_of,
    pem,
    pem_of,
    spki,
    spki_of,
    tlv,
)

P256 = spki_of(material.p256("keys"))
ED = spki_of(material.ed25519("keys"))
RSA = spki(RSA_ALGORITHM, tlv(0x30, integer(2**2048 - 1) + integer(65537)))


@pytest.mark.parametrize(
    ("content", "algorithm"),
    [
        (P256, ECDSA_P256),
        (ED, ED25519),
        (RSA, OTHER),
        (spki(ED_ALGORITHM[:1] + b"\x07" + ED_ALGORITHM[2:] + b"\x05\x00", ED[-32:]), OTHER),
        (spki(bytes.fromhex("300506032b6571"), bytes(57)), OTHER),
        (spki(bytes.fromhex("300506032b656e"), bytes(32)), OTHER),
        (spki(bytes.fromhex("301006072a8648ce3d020106052b81040022"), b"\x04" + bytes(96)), OTHER),
        (spki(bytes.fromhex("301006072a8648ce3d020106052b8104000a"), P256[-65:]), OTHER),
        (spki(bytes.fromhex("300906072a8648ce3d0201"), P256[-65:]), OTHER),
        (spki(bytes.fromhex("300b06072a8648ce3d02010500"), P256[-65:]), OTHER),
        (spki(bytes.fromhex("300d06072a8648ce3d0201") + b"\x30\x02\x05\x00", P256[-65:]), OTHER),
        (spki(bytes.fromhex("300306012a"), b""), OTHER),
    ],
    ids=[
        "p256",
        "ed25519",
        "rsa",
        "ed25519 with parameters",
        "ed448",
        "x25519",
        "p384",
        "secp256k1",
        "ec without a curve",
        "ec with null",
        "ec with explicit parameters",
        "unknown with an empty key",
    ],
)
def test_algorithm_and_key_id(content: bytes, algorithm: str) -> None:
    key = load_public_key(pem(content))
    assert (key.keyid, key.algorithm) == (keyid_of(content), algorithm)
    assert (key.verifies is None) is (algorithm == OTHER)
    assert key_id(content) == keyid_of(content)


@pytest.mark.parametrize("content", [P256, ED, RSA])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_strict_pem(content: bytes, end: str) -> None:
    text = pem(content, end=end)
    assert decode_pem(text) == content
    assert decode_pem(text.removesuffix(end)) == content
    lines = text.split(end)
    assert decode_pem("\n".join(lines[:2]) + "\r\n" + "\n".join(lines[2:])) == content


@pytest.mark.parametrize("size", [*range(1, 8), 46, 47, 48, 49, 95, 96, 97])
def test_pem_of_any_length(size: int) -> None:
    assert decode_pem(pem(bytes(size))) == bytes(size)


GOOD = pem(P256)
BEGIN, FIRST, SECOND, END, _ = GOOD.split("\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        GOOD + "\n",
        GOOD + "x",
        GOOD + GOOD,
        "\n" + GOOD,
        "Subject: me\n" + GOOD,
        " " + GOOD,
        "\ufeff" + GOOD,
        "\n".join([BEGIN, "", FIRST, SECOND, END, ""]),
        "\n".join([BEGIN, FIRST, "", SECOND, END, ""]),
        "\n".join([BEGIN, FIRST, SECOND, "", END, ""]),
        "\n".join([BEGIN, " " + FIRST, SECOND, END, ""]),
        "\n".join([BEGIN, FIRST + " ", SECOND, END, ""]),
        "\n".join([BEGIN, FIRST, SECOND[:8] + "\t" + SECOND[8:], END, ""]),
        "\n".join([BEGIN + " ", FIRST, SECOND, END, ""]),
        "\n".join([BEGIN, FIRST, SECOND, END + " ", ""]),
        "\n".join([BEGIN, FIRST + SECOND, END, ""]),
        "\n".join([BEGIN, FIRST[:60], FIRST[60:] + SECOND, END, ""]),
        "\n".join([BEGIN, FIRST[:32], FIRST[32:], SECOND, END, ""]),
        "\n".join([BEGIN, SECOND, END, ""]).replace("=", "") + "=",
        "\n".join([BEGIN, FIRST, SECOND.rstrip("="), END, ""]) if SECOND.endswith("=") else BEGIN,
        "\n".join([BEGIN, FIRST, "====", END, ""]),
        "\n".join([BEGIN, "=" + FIRST[1:], SECOND, END, ""]),
        "\n".join([BEGIN, FIRST, SECOND[:1] + "-" + SECOND[2:], END, ""]),
        "\n".join([BEGIN, FIRST, SECOND[:1] + "_" + SECOND[2:], END, ""]),
        "\n".join([BEGIN, END, ""]),
        "\r".join([BEGIN, FIRST, SECOND, END, ""]),
        "\r\r\n".join([BEGIN, FIRST, SECOND, END, ""]),
        "\x0b".join([BEGIN, FIRST, SECOND, END, ""]),
        "\u2028".join([BEGIN, FIRST, SECOND, END, ""]),
        BEGIN + FIRST + SECOND + END,
        "\n".join([BEGIN, FIRST, SECOND]),
        "\n".join([FIRST, SECOND, END]),
        GOOD.lower(),
        GOOD.replace("-----BEGIN", "----BEGIN"),
        GOOD.replace("PUBLIC KEY", "RSA PUBLIC KEY"),
        GOOD.replace("PUBLIC KEY", "CERTIFICATE"),
        GOOD.replace("PUBLIC KEY", "PRIVATE KEY"),
        GOOD.replace("-----END PUBLIC", "-----END PRIVATE"),
        GOOD.replace(FIRST[0], "\uff2d", 1),
    ],
)
def test_pem_refused(text: str) -> None:
    with pytest.raises(KeyRefusedError, match="PEM"):
        decode_pem(text)


def test_padding_line_of_its_own_is_refused() -> None:
    text = base64.b64encode(bytes(49)).decode()
    with pytest.raises(KeyRefusedError, match="PEM"):
        decode_pem("\n".join([BEGIN, text[:64], text[64:66], "==", END, ""]))


def test_pem_with_unused_bits_set_is_refused() -> None:
    with pytest.raises(KeyRefusedError, match="unused bits"):
        decode_pem("\n".join([BEGIN, "QR==", END, ""]))


def test_pem_with_66_characters_in_the_last_line_is_refused() -> None:
    with pytest.raises(KeyRefusedError, match="longer than 64"):
        decode_pem("\n".join([BEGIN, "A" * 64 + "==", END, ""]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("key", "no PEM block `PUBLIC KEY`"),
        (pem(ED, label="PRIVATE KEY"), "a PEM block `PRIVATE KEY`, where `PUBLIC KEY` is needed"),
        ("\n".join([BEGIN, FIRST, " " + SECOND, END, ""]), "at line 3"),
        (pem(RSA, width=76), "at line 2"),
        (pem(P256[:-1]), "strict DER"),
        (pem(P256 + b"\x00"), "bytes follow"),
        (pem(spki(P256_ALGORITHM, P256[-65:], unused=1)), "unused bits"),
        (pem(spki(P256_ALGORITHM, b"\x02" + P256[-64:-32])), "uncompressed"),
        (pem(spki(ED_ALGORITHM, bytes(32))), "small order"),
    ],
)
def test_refusal_says_why(text: str, said: str) -> None:
    with pytest.raises(KeyRefusedError) as refusal:
        load_public_key(text)
    assert said in str(refusal.value)


def test_key_id_is_of_the_bytes_given() -> None:
    assert load_public_key(pem_of(material.p256("keys"))).keyid == keyid_of(P256)
