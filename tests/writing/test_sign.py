"""[SIG-1], [SIG-2], [SIG-3] Signing: the envelope that is written, and every key that is refused."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, rsa, x25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)

from aef_verify import limits
from aef_verify.integrity.dsse import CHECKPOINT_TYPE, STATEMENT_TYPE, verify_envelope
from aef_verify.integrity.policy import load_policy, read_policy
from aef_verify.problems import InputError
from aef_verify.writing.sign import envelope_of, key_id_of, load_private_key, sign_bytes, sign_file
from tests.integrity import material
from tests.integrity.material import entry, keyid_of, message, policy, spki_of, tlv

ALICE = "git:alice@example.org"
KEYS: list[material.Private] = [material.p256("sign"), material.ed25519("sign")]
PAYLOAD = '{"name":"é"}\n'.encode()


def written(
    key: object, form: PrivateFormat = PrivateFormat.PKCS8, encryption: KeySerializationEncryption | None = None
) -> bytes:
    data = key.private_bytes(Encoding.PEM, form, encryption or NoEncryption())  # type: ignore[attr-defined]
    assert isinstance(data, bytes)
    return data


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("payload", [b"", PAYLOAD, bytes(range(256))])
@pytest.mark.parametrize("kind", [STATEMENT_TYPE, CHECKPOINT_TYPE, "é/€"])
def test_a_signed_payload_verifies(key: material.Private, payload: bytes, kind: str) -> None:
    envelope = sign_bytes(payload, key, kind)
    assert list(envelope) == ["payloadType", "payload", "signatures"]
    assert envelope["payloadType"] == kind
    assert envelope["payload"] == material.b64(payload)
    report = verify_envelope(json.dumps(envelope).encode(), payload, kind, load_policy(policy(entry(ALICE, key))))
    assert report.result is None
    assert report.verifies_for == (ALICE,)
    assert [signature.keyid for signature in report.signatures] == [keyid_of(spki_of(key))] == [key_id_of(key)]


def test_ed25519_signs_the_pae_as_rfc_8032_gives() -> None:
    key = KEYS[1]
    assert sign_bytes(PAYLOAD, key, STATEMENT_TYPE)["signatures"] == [
        {"keyid": key_id_of(key), "sig": material.b64(material.sign(key, message(STATEMENT_TYPE, PAYLOAD)))}
    ]


@pytest.mark.parametrize("key", KEYS)
def test_files(tmp_path: Path, key: material.Private) -> None:
    (tmp_path / "seal.json").write_bytes(PAYLOAD)
    (tmp_path / "key.pem").write_bytes(written(key))
    before = sorted(os.listdir(tmp_path))
    envelope = sign_file(str(tmp_path / "seal.json"), str(tmp_path / "key.pem"), STATEMENT_TYPE)
    report = verify_envelope(
        json.dumps(envelope).encode(), PAYLOAD, STATEMENT_TYPE, load_policy(policy(entry(ALICE, key)))
    )
    assert report.verifies_for == (ALICE,)
    assert sorted(os.listdir(tmp_path)) == before


P256 = material.p256("sign")
SECRET = written(P256).splitlines()[1]


@pytest.mark.parametrize(
    ("pem", "said"),
    [
        (b"", "no PEM block"),
        (b"\xff\x00 key", "no PEM block"),
        (P256.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()), "no PEM block"),
        (written(P256, encryption=BestAvailableEncryption(b"secret")), "encrypted"),
        (written(P256, PrivateFormat.TraditionalOpenSSL), "SEC1"),
        (b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + SECRET, "SEC1"),
        (written(P256, PrivateFormat.OpenSSH), "OpenSSH"),
        (written(rsa.generate_private_key(65537, 2048), PrivateFormat.TraditionalOpenSSL), "PKCS#1"),
        (written(rsa.generate_private_key(65537, 2048)), "another algorithm (RSA)"),
        (written(ed448.Ed448PrivateKey.generate()), "another algorithm (Ed448)"),
        (written(x25519.X25519PrivateKey.generate()), "another algorithm (X25519)"),
        (written(dsa.generate_private_key(1024)), "another algorithm (DSA)"),
        (written(dsa.generate_private_key(1024), PrivateFormat.TraditionalOpenSSL), "DSA"),
        (written(ec.generate_private_key(ec.SECP384R1())), "the curve secp384r1"),
        (written(ec.generate_private_key(ec.SECP256K1())), "the curve secp256k1"),
        (material.pem_of(P256).encode(), "public key"),
        (material.pem(b"x", label="CERTIFICATE").encode(), "`CERTIFICATE`"),
        (written(P256) * 2, "2 PEM blocks"),
        (written(P256) + material.pem_of(P256).encode(), "public key"),
        (written(P256)[:60], "that reads"),
        (written(P256).replace(SECRET, SECRET[:-4] + b"****"), "that reads"),
        (written(P256).replace(SECRET, SECRET[:-4]), "that reads"),
        (material.pem(b"\x30\x00", label="PRIVATE KEY").encode(), "that reads"),
        (material.pem(tlv(0x30, b"\x02\x01\x00"), label="PRIVATE KEY").encode(), "that reads"),
    ],
)
def test_key_refused(pem: bytes, said: str) -> None:
    with pytest.raises(InputError) as refusal:
        load_private_key(pem)
    assert said in str(refusal.value)
    assert SECRET.decode() not in str(refusal.value)


def test_refusal_names_the_key_file(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(b"x")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match=re.escape(f"{tmp_path}/key.pem: no PEM block")):
        sign_file(str(tmp_path / "file"), str(tmp_path / "key.pem"), STATEMENT_TYPE)


@pytest.mark.parametrize("name", ["absent", "folder", "pipe", "/dev/zero"])
def test_files_that_are_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "key.pem").write_bytes(written(P256))
    (tmp_path / "file").write_bytes(b"")
    odd = os.path.join(tmp_path, name)
    with pytest.raises(InputError):
        sign_file(odd, str(tmp_path / "key.pem"), STATEMENT_TYPE)
    with pytest.raises(InputError):
        sign_file(str(tmp_path / "file"), odd, STATEMENT_TYPE)


def test_key_file_beyond_any_key(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(written(P256) + b"\n" * 65536)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="at most"):
        sign_file(str(tmp_path / "file"), str(tmp_path / "key.pem"), STATEMENT_TYPE)


@pytest.mark.parametrize(("kind", "said"), [("", "empty"), ("\udc80", "Unicode")])
def test_payload_type_refused(kind: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        sign_bytes(PAYLOAD, P256, kind)


def test_an_envelope_beyond_the_limit_is_not_made() -> None:
    with pytest.raises(InputError, match="58,720,256"):
        sign_bytes(bytes(limits.ENVELOPE_BYTES * 3 // 4), P256, STATEMENT_TYPE)
    assert sign_bytes(bytes(limits.SEAL_BYTES), P256, STATEMENT_TYPE)


@pytest.mark.parametrize(
    ("file", "envelope", "kind"),
    [
        ("seal.json", "attestation.dsse.json", STATEMENT_TYPE),
        ("a/run/seal.json", "a/run/attestation.dsse.json", STATEMENT_TYPE),
        ("overlays/seal-0001.json", "overlays/seal-0001.dsse.json", STATEMENT_TYPE),
        ("release.json", "release.dsse.json", CHECKPOINT_TYPE),
        ("seal-1.json", "seal-1.dsse.json", CHECKPOINT_TYPE),
        ("2.4.json", "2.4.dsse.json", CHECKPOINT_TYPE),
    ],
)
def test_where_an_envelope_belongs(file: str, envelope: str, kind: str) -> None:
    assert envelope_of(file) == (envelope, kind)


@pytest.mark.parametrize("file", ["", "seal", "results.ndjson", "release.dsse.json", ".json", "a/", "seal.JSON"])
def test_no_envelope_for_another_name(file: str) -> None:
    with pytest.raises(InputError, match="neither"):
        envelope_of(file)


CORPUS = os.environ.get("AEF_CORPUS")


@pytest.mark.skipif(not CORPUS, reason="AEF_CORPUS names no unpacked corpus")
def test_every_sign_vector_of_the_corpus() -> None:
    """Each envelope verifies for the vector's identity; an Ed25519 signature is the very one expected."""
    corpus = Path(CORPUS or "")
    index = json.loads((corpus / "index.json").read_bytes())
    vectors = [corpus / vector["path"] for vector in index["vectors"] if vector["kind"] == "sign"]
    assert vectors
    for folder in vectors:
        expected = json.loads((folder / "expected.json").read_bytes())
        file, kind = folder / expected["file"], expected["payloadType"]
        envelope = sign_file(str(file), str(folder / expected["key"]), kind)
        trust = read_policy(str(folder / expected["policy"]))
        report = verify_envelope(json.dumps(envelope).encode(), file.read_bytes(), kind, trust)
        assert (report.result, report.verifies_for) == (None, (expected["identity"],))
        [signature] = json.loads(json.dumps(envelope["signatures"]))
        assert signature["keyid"] == expected["keyid"]
        assert signature["sig"] == expected.get("sig", signature["sig"])
