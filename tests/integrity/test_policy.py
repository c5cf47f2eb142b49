"""[SIG-4] Trust policies: what they give to whom; [SIG-3], [SIG-4] when one is refused, always as a whole."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest

from aef_verify import limits
from aef_verify.integrity.algorithms import Message
from aef_verify.integrity.policy import REDACT, PolicyError, load_policy, read_policy
from aef_verify.problems import InputError
from tests.integrity import material
from tests.integrity.material import (
    ED_ALGORITHM,
    P256_ALGORITHM,
    RSA_ALGORITHM,
    TORSION,
    encode,
    entry,
    integer,
    keyid_of,
    pem,
    pem_of,
    policy,
    spki,
    spki_of,
    tlv,
)

ALICE, BOB, CAROL = "git:alice@example.org", "spiffe://example.org/sealer", "oidc:https://id.example.org/carol"
KEY_A, KEY_B, KEY_C = material.p256("a"), material.ed25519("b"), material.p256("c")
RSA = spki(RSA_ALGORITHM, tlv(0x30, integer(2**2048 - 1) + integer(65537)))


def test_keys_in_policy_order() -> None:
    loaded = load_policy(policy(entry(BOB, KEY_B), entry(ALICE, KEY_A), entry(CAROL, pem(RSA))))
    assert [(key.position, key.identity, key.key.algorithm) for key in loaded.keys] == [
        (0, BOB, "ed25519"),
        (1, ALICE, "ecdsa-p256"),
        (2, CAROL, "other"),
    ]
    assert list(loaded.by_keyid) == [keyid_of(spki_of(KEY_B)), keyid_of(spki_of(KEY_A)), keyid_of(RSA)]


def test_rights_are_the_union_of_an_identitys_keys() -> None:
    loaded = load_policy(
        policy(
            entry(BOB, KEY_B),
            entry(ALICE, KEY_A),
            entry(CAROL, pem(RSA), may=["redact", "fly"]),
            entry(ALICE, KEY_C, may=["redact"]),
        )
    )
    assert load_policy(policy(entry(ALICE, KEY_C, may=["redact"]), entry(ALICE, KEY_A))).may(ALICE, REDACT)
    assert loaded.may(ALICE, REDACT)
    assert not loaded.may(BOB, REDACT)
    assert loaded.identities_with(REDACT) == {ALICE, CAROL}
    assert loaded.identities_with("fly") == {CAROL}
    assert not loaded.may("git:mallory@example.org", REDACT)


@pytest.mark.parametrize("value", ["Redact", "redact ", "REDACT", "*", "redact,sign", "r\u00e9dact"])
def test_rights_match_by_exact_value(value: str) -> None:
    loaded = load_policy(policy(entry(ALICE, KEY_A, may=[value])))
    assert not loaded.may(ALICE, REDACT)
    assert loaded.identities_with(REDACT) == frozenset()


@pytest.mark.parametrize("may", [None, []])
def test_no_rights(may: list[str] | None) -> None:
    assert load_policy(policy(entry(ALICE, KEY_A, may=may))).rights == {ALICE: frozenset()}


def test_no_keys_trusts_no_one() -> None:
    assert load_policy(b'{"keys":[]}').keys == ()


def test_version_is_optional() -> None:
    assert load_policy(policy(entry(ALICE, KEY_A), schemaVersion="1.0")).keys


ENTRY = entry(ALICE, KEY_A)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", ""),
        (b"{", ""),
        (b"[]", "no object"),
        (b"null", "no object"),
        (b"\xef\xbb\xbf" + policy(ENTRY), ""),
        (b'{"keys":[],"keys":[]}', "keys"),
        (b'{"keys":[{"identity":"\xff"}]}', ""),
        (b'{"keys":[{"identity":"\\ud800"}]}', ""),
        (b" " * limits.JSON_BYTES + policy(ENTRY), "4,194,304"),
        (b'{"ext":' + b"[" * 64 + b"]" * 64 + b"}", "64"),
        (b"{}", ""),
        (policy(ENTRY, schemaVersion="1.1"), "`schemaVersion` must be"),
        (policy(ENTRY, schemaVersion="2.0"), "`schemaVersion` must be"),
        (policy(ENTRY, schemaVersion=1.0), "`schemaVersion` must be"),
        (policy(ENTRY, schemaVersion=None), "`schemaVersion` must be"),
        (policy(ENTRY, ext={}), "ext"),
        (policy(ENTRY, keyless=[]), "keyless"),
        (b'{"keys":{}}', "keys"),
        (b'{"keys":[null]}', "keys[0]"),
        (policy(ENTRY, ENTRY | {"note": ""}), f"keys[1] ({ALICE!r})"),
        (policy(ENTRY | {"identity": ""}), "identity"),
        (policy(ENTRY | {"identity": "x" * 1025}), "identity"),
        (policy(ENTRY | {"identity": None}), "keys[0]: `identity` must"),
        (policy(ENTRY | {"may": "redact"}), "may"),
        (policy(ENTRY | {"may": None}), "may"),
        (policy(ENTRY | {"may": ["redact", "redact"]}), "may"),
        (policy(ENTRY | {"may": [""]}), "may"),
        (policy(ENTRY | {"may": [1]}), "may"),
        (policy(ENTRY | {"publicKey": None}), "publicKey"),
        (policy({"identity": ALICE}), f"keys[0] ({ALICE!r})"),
        (policy({"publicKey": pem_of(KEY_A)}), "keys[0]"),
        (policy(*[ENTRY] * 10_001), "keys"),
    ],
)
def test_refused_as_a_document(data: bytes, said: str) -> None:
    with pytest.raises(PolicyError, match=r"^trust policy refused: ") as refusal:
        load_policy(data)
    assert said in str(refusal.value)
    assert isinstance(refusal.value, InputError)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("", "no PEM block"),
        ("not a key", "no PEM block"),
        (pem(spki_of(KEY_B), label="CERTIFICATE"), "`CERTIFICATE`"),
        (pem(spki_of(KEY_B)) + "\n", "strict PEM"),
        (" " + pem(spki_of(KEY_B)), "strict PEM"),
        (pem(RSA, width=76), "strict PEM at line 2"),
        (pem(RSA, width=60), "strict PEM"),
        (pem(spki_of(KEY_B)).replace("M", " M", 1), "strict PEM"),
        (pem(spki_of(KEY_B)[:-1]), "strict DER"),
        (pem(b"\x30\x81" + spki_of(KEY_B)[1:]), "strict DER"),
        (pem(spki(RSA_ALGORITHM, RSA[24:], unused=1)), "unused bits"),
        (pem(RSA + b"\x00"), "strict DER"),
        (pem(spki(P256_ALGORITHM, bytes((2,)) + bytes(32))), "uncompressed"),
        (pem(spki(P256_ALGORITHM, b"\x04" + bytes(64))), "not on the curve"),
        (pem(spki(P256_ALGORITHM, b"")), "uncompressed"),
        (pem(spki(ED_ALGORITHM, bytes(31))), "31 bytes"),
        (pem(spki(ED_ALGORITHM, b"\xff" * 32)), "no point"),
        (pem(spki(ED_ALGORITHM, encode(TORSION[3]))), "small order"),
    ],
)
def test_refused_for_one_key_that_is_named(key: str, said: str) -> None:
    data = policy(entry(ALICE, KEY_A), entry("git:bob\u202e@example.org", key), entry(CAROL, KEY_C))
    with pytest.raises(PolicyError) as refusal:
        load_policy(data)
    assert str(refusal.value).startswith("trust policy refused: keys[1] ('git:bob\\u202e@example.org'): ")
    assert said in str(refusal.value)


def test_refused_for_one_key_id_twice() -> None:
    with pytest.raises(PolicyError, match=r"keys\[2\] .* is the same key as keys\[0\]"):
        load_policy(policy(entry(ALICE, KEY_A), entry(BOB, KEY_B), entry(CAROL, KEY_A)))
    with pytest.raises(PolicyError, match="same key"):
        load_policy(policy(entry(ALICE, pem(RSA)), entry(ALICE, pem(RSA, end="\r\n"))))


def test_a_long_identity_is_cut_in_a_message() -> None:
    with pytest.raises(PolicyError) as refusal:
        load_policy(policy(entry("x" * 1024, pem(RSA + b"\x00"))))
    assert "…" in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_a_policy_goes_to_another_process() -> None:
    data = policy(entry(ALICE, KEY_A, may=["redact"]), entry(BOB, KEY_B))
    loaded = load_policy(data)
    arrived = pickle.loads(pickle.dumps(loaded))
    assert arrived == loaded
    assert arrived.rights == loaded.rights
    check = arrived.keys[1].key.verifies
    assert check is not None
    assert check(material.sign(KEY_B, b"x"), Message(b"x"))


def test_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_bytes(policy(entry(ALICE, KEY_A)))
    (tmp_path / "link").symlink_to(file)
    assert read_policy(str(file)) == read_policy(str(tmp_path / "link"))


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "policy.json", "wb") as file:
        file.truncate(limits.JSON_BYTES + 1)
    with pytest.raises(InputError, match="4,194,305 bytes"):
        read_policy(str(tmp_path / "policy.json"))


@pytest.mark.parametrize("name", ["absent", "folder", "pipe", "loop", "dangling", "nul\0", "/dev/null", "/dev/zero"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("absent")
    with pytest.raises(InputError):
        read_policy(os.path.join(tmp_path, name))


def test_policy_of_ten_thousand_keys() -> None:
    numbers = range(10_000)
    document = {"keys": [entry(f"git:{number}", pem(_other(number))) for number in numbers]}
    assert len(load_policy(json.dumps(document).encode()).by_keyid) == len(numbers)


def _other(number: int) -> bytes:
    return spki(RSA_ALGORITHM, number.to_bytes(2))
