"""[SIG-1] Envelopes are read strictly; [SIG-5] each signature has its result, and the envelope its identities."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, derive_private_key

from aef_verify import limits
from aef_verify.integrity.dsse import (
    CHECKPOINT_TYPE,
    STATEMENT_TYPE,
    EnvelopeReport,
    MalformedError,
    SignatureReport,
    pae,
    read_envelope,
    verify_envelope,
)
from aef_verify.integrity.policy import PolicyError, load_policy, read_policy
from tests.integrity import material
from tests.integrity.material import RSA_ALGORITHM, b64, entry, envelope, keyid_of, message, pem, policy, spki, spki_of

ALICE, BOB, CAROL = "git:alice@example.org", "spiffe://example.org/sealer", "git:carol@example.org"
KEY_A, KEY_B, KEY_C = material.p256("a"), material.ed25519("b"), material.p256("c")
ID_A, ID_B, ID_C = (keyid_of(spki_of(key)) for key in (KEY_A, KEY_B, KEY_C))
OTHER = spki(RSA_ALGORITHM, b"\x30\x00")
ID_OTHER = keyid_of(OTHER)
PAYLOAD = '{"héllo":"wörld"}\n'.encode()
KIND = STATEMENT_TYPE
POLICY = policy(entry(ALICE, KEY_A), entry(BOB, KEY_B), entry(CAROL, pem(OTHER)))


def sig(key: material.Private, payload: bytes = PAYLOAD, kind: str = KIND) -> str:
    return b64(material.sign(key, message(kind, payload)))


def verify(data: bytes | None, trust: bytes = POLICY, payload: bytes = PAYLOAD, kind: str = KIND) -> EnvelopeReport:
    return verify_envelope(data, payload, kind, load_policy(trust))


def results(report: EnvelopeReport) -> list[tuple[str, str, str | None]]:
    return [(signature.keyid, signature.result, signature.identity) for signature in report.signatures]


def test_pae_counts_bytes() -> None:
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert pae("", b"") == b"DSSEv1 0  0 "
    assert pae("é", "é\0".encode()) == b"DSSEv1 2 \xc3\xa9 3 \xc3\xa9\0"


@pytest.mark.parametrize(("key", "keyid", "identity"), [(KEY_A, ID_A, ALICE), (KEY_B, ID_B, BOB)])
@pytest.mark.parametrize("kind", [STATEMENT_TYPE, CHECKPOINT_TYPE, "é"])
def test_verified(key: material.Private, keyid: str, identity: str, kind: str) -> None:
    data = envelope(PAYLOAD, {"keyid": keyid, "sig": sig(key, kind=kind)}, kind=kind)
    assert verify(data, kind=kind) == (None, (SignatureReport(keyid, "verified", identity),), (identity,), "")


@pytest.mark.parametrize(
    ("signature", "result"),
    [
        ({"keyid": ID_C, "sig": sig(KEY_C)}, "untrusted-key"),
        ({"keyid": ID_A.upper(), "sig": sig(KEY_A)}, "untrusted-key"),
        ({"keyid": " ", "sig": sig(KEY_A)}, "untrusted-key"),
        ({"keyid": ID_A.removeprefix("sha256:"), "sig": sig(KEY_A)}, "untrusted-key"),
        ({"keyid": ID_A, "sig": sig(KEY_B)}, "invalid"),
        ({"keyid": ID_A, "sig": sig(KEY_C)}, "invalid"),
        ({"keyid": ID_B, "sig": sig(KEY_A)}, "invalid"),
        ({"keyid": ID_A, "sig": sig(KEY_A, PAYLOAD + b" ")}, "invalid"),
        ({"keyid": ID_A, "sig": sig(KEY_A, kind=CHECKPOINT_TYPE)}, "invalid"),
        ({"keyid": ID_A, "sig": ""}, "invalid"),
        ({"keyid": ID_B, "sig": ""}, "invalid"),
        ({"keyid": ID_A, "sig": b64(material.sign(KEY_A, PAYLOAD))}, "invalid"),
        ({"keyid": ID_OTHER, "sig": sig(KEY_A)}, "unsupported-algorithm"),
        ({"keyid": ID_OTHER, "sig": ""}, "unsupported-algorithm"),
    ],
)
def test_not_verified_by_the_key_named(signature: dict[str, object], result: str) -> None:
    report = verify(envelope(PAYLOAD, signature, kind=KIND))
    assert report == (None, (SignatureReport(str(signature["keyid"]), result),), (), "")


@pytest.mark.parametrize("keyid", [{}, {"keyid": None}, {"keyid": ""}])
def test_without_a_keyid_every_usable_key_is_tried(keyid: dict[str, object]) -> None:
    for key, named, identity in ((KEY_A, ID_A, ALICE), (KEY_B, ID_B, BOB)):
        report = verify(envelope(PAYLOAD, {"sig": sig(key), **keyid}, kind=KIND))
        assert report == (None, (SignatureReport(named, "verified", identity),), (identity,), "")
    for unknown in (sig(KEY_C), sig(material.ed25519("d")), "", b64(bytes(64)), sig(KEY_A, b"other")):
        report = verify(envelope(PAYLOAD, {"sig": unknown, **keyid}, kind=KIND))
        assert report == (None, (SignatureReport("", "untrusted-key"),), (), "")


def test_without_a_keyid_other_algorithms_are_skipped() -> None:
    report = verify(envelope(PAYLOAD, {"sig": sig(KEY_A)}, kind=KIND), policy(entry(CAROL, pem(OTHER))))
    assert results(report) == [("", "untrusted-key", None)]
    report = verify(
        envelope(PAYLOAD, {"sig": sig(KEY_A)}, kind=KIND), policy(entry(CAROL, pem(OTHER)), entry(ALICE, KEY_A))
    )
    assert results(report) == [(ID_A, "verified", ALICE)]


def test_without_a_keyid_the_first_key_in_policy_order_is_named() -> None:
    """ECDSA lets two keys verify one signature: with nonce R and -R the same r and s hold for another key."""
    order, secret, nonce = material.P256_ORDER, 99, 101
    digest = int.from_bytes(hashlib.sha256(message(KIND, PAYLOAD)).digest())
    r = derive_private_key(nonce, SECP256R1()).public_key().public_numbers().x
    s = pow(nonce, -1, order) * (digest + r * secret) % order
    twin = (-2 * digest * pow(r, -1, order) - secret) % order
    keys = [entry(f"git:{number}", derive_private_key(number, SECP256R1())) for number in (secret, twin)]
    data = envelope(PAYLOAD, {"sig": b64(material.ecdsa_der(r, s))}, kind=KIND)
    for first, other in (keys, reversed(keys)):
        report = verify(data, policy(entry(CAROL, pem(OTHER)), first, other))
        assert report.verifies_for == (first["identity"],)
        assert report.signatures[0].identity == first["identity"]


def test_results_in_envelope_order_and_identities_in_policy_order() -> None:
    report = verify(
        envelope(
            PAYLOAD,
            {"keyid": ID_B, "sig": sig(KEY_B)},
            {"keyid": ID_C, "sig": sig(KEY_C)},
            {"sig": sig(KEY_A)},
            {"keyid": ID_B, "sig": sig(KEY_A)},
            {"keyid": ID_B, "sig": sig(KEY_B)},
            kind=KIND,
        )
    )
    assert results(report) == [
        (ID_B, "verified", BOB),
        (ID_C, "untrusted-key", None),
        (ID_A, "verified", ALICE),
        (ID_B, "invalid", None),
        (ID_B, "verified", BOB),
    ]
    assert report.verifies_for == (ALICE, BOB)


@pytest.mark.parametrize(
    ("signers", "identities"),
    [([KEY_C, KEY_B], (BOB, ALICE)), ([KEY_C, KEY_B, KEY_A], (ALICE, BOB)), ([KEY_A, KEY_C], (ALICE,))],
)
def test_an_identity_of_two_keys_stands_where_its_first_verifying_key_does(
    signers: list[material.Private], identities: tuple[str, ...]
) -> None:
    trust = policy(entry(ALICE, KEY_A), entry(BOB, KEY_B), entry(ALICE, KEY_C))
    report = verify(envelope(PAYLOAD, *({"sig": sig(key)} for key in signers), kind=KIND), trust)
    assert report.verifies_for == identities


def test_payload_is_not_the_file() -> None:
    """The results stay, over the envelope's own payload; it verifies for no one."""
    data = envelope(PAYLOAD, {"keyid": ID_A, "sig": sig(KEY_A)}, {"keyid": ID_B, "sig": ""}, kind=KIND)
    for payload in (PAYLOAD + b"\n", PAYLOAD[:-1], b"", PAYLOAD.upper()):
        report = verify(data, payload=payload)
        assert report.result == "payload-mismatch"
        assert results(report) == [(ID_A, "verified", ALICE), (ID_B, "invalid", None)]
        assert report.verifies_for == ()
        assert "not the file" in report.detail


def test_payload_type_is_not_the_files() -> None:
    data = envelope(PAYLOAD, {"keyid": ID_A, "sig": sig(KEY_A)}, kind=KIND)
    report = verify(data, kind=CHECKPOINT_TYPE)
    assert report[:3] == ("payload-mismatch", (SignatureReport(ID_A, "verified", ALICE),), ())
    assert "payloadType" in report.detail


@pytest.mark.parametrize("write", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("padded", [True, False])
def test_both_base64_alphabets_each_string_on_its_own(write: object, padded: bool) -> None:
    assert callable(write)
    payload = b"\xfb\xff\xbf" * 5 + b"\xfb"
    signed = material.sign(KEY_B, message(KIND, payload))
    text = write(payload).decode()
    document = {
        "payloadType": KIND,
        "payload": text if padded else text.rstrip("="),
        "signatures": [
            {"keyid": ID_B, "sig": base64.urlsafe_b64encode(signed).decode().rstrip("=")},
            {"keyid": ID_B, "sig": base64.b64encode(signed).decode()},
        ],
    }
    report = verify(json.dumps(document).encode(), payload=payload)
    assert results(report) == [(ID_B, "verified", BOB)] * 2


def test_unknown_members_are_ignored() -> None:
    signature = {"keyid": ID_A, "sig": sig(KEY_A), "cert": 1, "Keyid": 2}
    assert verify(envelope(PAYLOAD, signature, kind=KIND, _type="x", payloadtype=3)).verifies_for == (ALICE,)


SIGNED = {"keyid": ID_A, "sig": sig(KEY_A)}
GOOD = {"payloadType": KIND, "payload": b64(PAYLOAD), "signatures": [SIGNED]}


def without(name: str) -> dict[str, object]:
    return {member: value for member, value in GOOD.items() if member != name}


def signatures(*entries: object) -> dict[str, object]:
    return GOOD | {"signatures": list(entries)}


@pytest.mark.parametrize(
    "document",
    [
        without("payloadType"),
        without("payload"),
        without("signatures"),
        GOOD | {"payloadType": None},
        GOOD | {"payloadType": 1},
        GOOD | {"payloadType": [KIND]},
        GOOD | {"payload": None},
        GOOD | {"payload": {}},
        GOOD | {"payload": "Q"},
        GOOD | {"payload": b64(PAYLOAD) + "\n"},
        GOOD | {"payload": "QR=="},
        GOOD | {"payload": "QQ="},
        GOOD | {"payload": "+_+_"},
        GOOD | {"signatures": None},
        GOOD | {"signatures": {}},
        GOOD | {"signatures": "x"},
        signatures(),
        signatures(None),
        signatures([]),
        signatures("x"),
        signatures(SIGNED, 1),
        signatures({"keyid": ID_A}),
        signatures({"keyid": ID_A, "sig": None}),
        signatures({"keyid": ID_A, "sig": 1}),
        signatures({"keyid": ID_A, "sig": "*"}),
        signatures({"keyid": ID_A, "sig": "QQ="}),
        signatures({"keyid": ID_A, "sig": "Q Q="}),
        signatures({"keyid": ID_A, "sig": "QR"}),
        signatures({"keyid": 1, "sig": sig(KEY_A)}),
        signatures({"keyid": False, "sig": sig(KEY_A)}),
        signatures({"keyid": [], "sig": sig(KEY_A)}),
        signatures(SIGNED, {"keyid": ID_A, "sig": "="}),
        [GOOD],
        "x",
        None,
    ],
)
def test_malformed_shape(document: object) -> None:
    report = verify(json.dumps(document).encode())
    assert report[:3] == ("malformed", (), ())
    assert report.detail


TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.encode() + b"x",
        TEXT.encode("utf-16"),
        TEXT.replace('"payload":', '"payload":"","payload":').encode(),
        TEXT.replace('"sig":', '"sig":"","sig":').encode(),
        TEXT.replace("{", '{"x":"\\ud800",', 1).encode(),
        TEXT.replace("{", '{"x":1e400,', 1).encode(),
        TEXT.replace("{", '{"x":NaN,', 1).encode(),
        TEXT.replace("{", '{"x":"\xff",', 1).encode("latin-1"),
        TEXT.replace("{", '{"x":' + "[" * 64 + "]" * 64 + ",", 1).encode(),
        b" " * limits.ENVELOPE_BYTES + TEXT.encode(),
        None,
    ],
    ids=range(14),
)
def test_malformed_bytes(data: bytes | None) -> None:
    report = verify(data)
    assert report[:3] == ("malformed", (), ())
    assert report.detail
    with pytest.raises(MalformedError):
        read_envelope(data)


def test_at_the_limits_an_envelope_is_read() -> None:
    data = TEXT.replace("{", '{"x":' + "[" * 63 + "]" * 63 + ",", 1).encode()
    assert verify(data + b" " * (limits.ENVELOPE_BYTES - len(data))).verifies_for == (ALICE,)


def test_many_signatures_without_a_keyid_under_many_keys() -> None:
    """Whatever has the form of no signature costs no check under any key."""
    trust = policy(*(entry(f"git:{number}", material.ed25519(str(number))) for number in range(200)))
    forms = [b64(b"%d" % number) for number in range(20_000)]
    report = verify(envelope(PAYLOAD, *({"sig": form} for form in forms), {"sig": sig(KEY_A)}, kind=KIND), trust)
    assert set(report.signatures) == {SignatureReport("", "untrusted-key")}
    assert len(report.signatures) == len(forms) + 1


CORPUS = os.environ.get("AEF_CORPUS")


@pytest.mark.skipif(not CORPUS, reason="AEF_CORPUS names no unpacked corpus")
def test_every_signature_vector_of_the_corpus() -> None:
    """[SIG-6]: the `signature` vectors, whether their result or the refusal of their policy is expected."""
    corpus = Path(CORPUS or "")
    index = json.loads((corpus / "index.json").read_bytes())
    vectors = [corpus / vector["path"] for vector in index["vectors"] if vector["kind"] == "signature"]
    assert vectors
    for folder in vectors:
        expected = json.loads((folder / "expected.json").read_bytes())
        if expected.get("policyRefused"):
            with pytest.raises(PolicyError):
                read_policy(str(folder / expected["policy"]))
            continue
        trust = read_policy(str(folder / expected["policy"]))
        data, payload = ((folder / expected[name]).read_bytes() for name in ("envelope", "file"))
        report = verify_envelope(data, payload, expected["payloadType"], trust)
        found = [(item["keyid"], item["result"], item.get("identity")) for item in expected["signatures"]]
        assert (folder.name, report.result, results(report), list(report.verifies_for)) == (
            folder.name,
            expected["envelopeResult"],
            found,
            expected["verifiesFor"],
        )
