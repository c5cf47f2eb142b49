"""[SIG-2], [SIG-4] Keys that are made: their files, their modes, and the policy entry for one."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from aef_verify.integrity.dsse import STATEMENT_TYPE, verify_envelope
from aef_verify.integrity.keys import load_public_key
from aef_verify.integrity.policy import PolicyError, load_policy
from aef_verify.problems import InputError
from aef_verify.writing.keygen import GENERATORS, generate_key, policy_entry
from aef_verify.writing.sign import sign_file

IDENTITY = "git:alice@example.org"


@pytest.fixture(params=[0o022, 0o000, 0o077, 0o007])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("algorithm", GENERATORS)
def test_a_made_key_signs_and_its_policy_entry_trusts_it(tmp_path: Path, algorithm: str) -> None:
    path, public, file = tmp_path / "key.pem", tmp_path / "pub.pem", tmp_path / "seal.json"
    made = generate_key(str(path), algorithm, public_path=str(public))
    assert public.read_text() == made.public_pem
    key = load_public_key(made.public_pem)
    assert (key.keyid, key.algorithm) == (made.keyid, algorithm)
    file.write_bytes(b"{}")
    envelope = json.dumps(sign_file(str(file), str(path), STATEMENT_TYPE)).encode()
    trust = load_policy(json.dumps({"keys": [policy_entry(made.public_pem, IDENTITY, ["redact"])]}).encode())
    assert verify_envelope(envelope, b"{}", STATEMENT_TYPE, trust).verifies_for == (IDENTITY,)
    assert trust.may(IDENTITY, "redact")


@pytest.mark.parametrize("algorithm", GENERATORS)
def test_every_key_is_another_one(tmp_path: Path, algorithm: str) -> None:
    keys = [generate_key(str(tmp_path / f"{number}.pem"), algorithm) for number in range(3)]
    assert len({key.keyid for key in keys}) == 3
    assert sorted(os.listdir(tmp_path)) == ["0.pem", "1.pem", "2.pem"]


def test_only_the_owner_may_read_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    private, public = tmp_path / "key.pem", tmp_path / "pub.pem"
    generate_key(str(private), "ed25519", public_path=str(public))
    assert mode(private) == 0o600
    assert mode(public) == 0o644 & ~umask


def test_the_mode_is_there_from_the_first_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def created(path: str, flags: int, *arguments: int) -> int:
        fd = real(path, flags, *arguments)
        seen.append(stat.S_IMODE(os.fstat(fd).st_mode))
        return fd

    real = os.open
    monkeypatch.setattr("aef_verify.writing.keygen.os.open", created)
    before = os.umask(0)
    try:
        generate_key(str(tmp_path / "key.pem"), "ed25519")
    finally:
        os.umask(before)
    assert seen == [0o600]


@pytest.mark.parametrize("kind", ["file", "link", "dangling", "folder", "pipe"])
@pytest.mark.parametrize("which", ["private", "public"])
def test_nothing_is_overwritten_or_followed(tmp_path: Path, kind: str, which: str) -> None:
    old, taken = tmp_path / "old", tmp_path / "taken"
    old.write_text("old")
    match kind:
        case "file":
            taken.write_text("old")
        case "link":
            taken.symlink_to(old)
        case "dangling":
            taken.symlink_to("absent")
        case "folder":
            taken.mkdir()
        case _:
            os.mkfifo(taken)
    private, public = (taken, tmp_path / "new") if which == "private" else (tmp_path / "new", taken)
    with pytest.raises(InputError, match="never overwritten"):
        generate_key(str(private), "ed25519", public_path=str(public))
    assert sorted(os.listdir(tmp_path)) == ["old", "taken"]
    assert old.read_text() == "old"


@pytest.mark.parametrize("path", ["absent/key.pem", "file/key.pem", "nul\0"])
def test_no_such_folder(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError):
        generate_key(os.path.join(tmp_path, path), "ed25519")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("failing", [1, 2])
def test_a_failure_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    calls: list[int] = []

    def full(fd: int) -> None:
        calls.append(fd)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("aef_verify.writing.keygen.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        generate_key(str(tmp_path / "key.pem"), "ed25519", public_path=str(tmp_path / "pub.pem"))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("algorithm", ["", "rsa", "ED25519", "p256", "other"])
def test_no_other_algorithm(tmp_path: Path, algorithm: str) -> None:
    with pytest.raises(InputError, match="ecdsa-p256, ed25519"):
        generate_key(str(tmp_path / "key.pem"), algorithm)
    assert os.listdir(tmp_path) == []


def test_policy_entry(tmp_path: Path) -> None:
    pem = generate_key(str(tmp_path / "key.pem"), "ecdsa-p256").public_pem
    assert policy_entry(pem, IDENTITY) == {"identity": IDENTITY, "publicKey": pem}
    assert policy_entry(pem, IDENTITY, ("redact",)) == {
        "identity": IDENTITY,
        "publicKey": pem,
        "may": ["redact"],
    }


@pytest.mark.parametrize(
    ("identity", "may"), [("", ()), ("x" * 1025, ()), (IDENTITY, ("",)), (IDENTITY, ("redact", "redact"))]
)
def test_policy_entry_that_no_policy_holds(tmp_path: Path, identity: str, may: tuple[str, ...]) -> None:
    pem = generate_key(str(tmp_path / "key.pem"), "ed25519").public_pem
    with pytest.raises(PolicyError):
        policy_entry(pem, identity, may)
    with pytest.raises(PolicyError, match="PEM"):
        policy_entry("not a key", IDENTITY)
