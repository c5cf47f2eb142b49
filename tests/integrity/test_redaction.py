"""[OVL-3], [OVL-10], [SIG-1], [SIG-4] Who signed a batch, and which redactions that authorizes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aef_verify import limits
from aef_verify.folder import Folder
from aef_verify.integrity.facts import read_run
from aef_verify.integrity.overlays import Chain, read_chain
from aef_verify.integrity.policy import TrustPolicy, load_policy
from aef_verify.integrity.redaction import BatchSigners, signers_of, withheld_blobs
from tests import building
from tests.building import ALICE, BOB, KEYS, Run, batch_path, drop, event, put, trust
from tests.integrity import material

A, B, C = ("a" * 64, "b" * 64, "c" * 64)
BOTH = trust(alice=["redact"], bob=["redact"])


def chain_of(folder: Folder, run: Run) -> Chain:
    return read_chain(folder, read_run(folder), run.run_hash)


def withheld(run: Run, root: Path, policy: TrustPolicy | None = BOTH) -> list[str]:
    with Folder(run.write(root)) as folder:
        chain = chain_of(folder, run)
        return withheld_blobs(chain, BatchSigners(folder, chain, policy), policy)


def redacting(name: str, by: str = ALICE, identity: str = "1", **more: object) -> building.Json:
    return event(identity, "redact", by=by, blob=name, **more)


def run_with(*signed_by: str, by: str = ALICE) -> Run:
    return building.small().seal().batch(redacting(A, by), signed_by=signed_by)


@pytest.mark.parametrize(
    ("signed_by", "policy", "authorized"),
    [
        ([ALICE], trust(alice=["redact"]), True),
        ([BOB, ALICE], trust(alice=["redact"]), True),
        ([ALICE], trust(alice=["sign", "redact"]), True),
        ([ALICE], trust(), False),
        ([ALICE], trust(alice=[]), False),
        ([ALICE], trust(alice=["REDACT"]), False),
        ([ALICE], trust(alice=["redact "]), False),
        ([ALICE], trust(bob=["redact"]), False),
        ([BOB], trust(alice=["redact"], bob=["redact"]), False),
        ([BOB], trust(bob=["redact"]), False),
        ([], trust(alice=["redact"]), False),
        ([ALICE], None, False),
    ],
)
def test_ovl10_a_redaction_is_authorized_by_its_own_signed_identity_with_the_right(
    signed_by: list[str], policy: TrustPolicy | None, authorized: bool, tmp_path: Path
) -> None:
    assert withheld(run_with(*signed_by), tmp_path, policy) == ([A] if authorized else [])


def test_sig4_the_rights_of_an_identity_are_those_of_all_its_keys(tmp_path: Path) -> None:
    """One key signs, another one has the right: the identity has it."""
    entries = [material.entry(ALICE, KEYS[ALICE]), material.entry(ALICE, KEYS[BOB], ["redact"])]
    assert withheld(run_with(ALICE), tmp_path, load_policy(material.policy(*entries))) == [A]


def test_ovl10_what_the_event_claims_of_itself_counts_for_nothing(tmp_path: Path) -> None:
    """[OVL-3]: assurance is only claimed."""
    for at, assurance in enumerate(("self-attested", "signed", "authenticated", "novel")):
        by = {"identity": ALICE, "assurance": assurance}
        line = {**redacting(A), "by": by}
        assert withheld(building.small().seal().batch(line), tmp_path / f"u{at}") == []
        assert withheld(building.small().seal().batch(line, signed_by=[ALICE]), tmp_path / f"s{at}") == [A]


def test_ovl10_in_file_order_each_once(tmp_path: Path) -> None:
    run = building.small().seal()
    run.batch(redacting(C), redacting(A, identity="2"), signed_by=[ALICE])
    run.batch(redacting(B, BOB, "3"), redacting(A, BOB, "4"), redacting(B, identity="5"), signed_by=[BOB])
    assert withheld(run, tmp_path) == [C, A, B]


def test_ovl10_only_from_verified_batches(tmp_path: Path) -> None:
    """Not from one that fails, one after it, or unsealed lines."""
    run = building.small().seal().batch(redacting(A), signed_by=[ALICE])
    run.batch(redacting(B, identity="2"), signed_by=[ALICE], offset=1)
    run.batch(redacting(C, identity="3"), signed_by=[ALICE])
    run.append(redacting("d" * 64, identity="4"))
    assert withheld(run, tmp_path) == [A]


def test_ovl10_not_from_an_event_that_has_no_effect(tmp_path: Path) -> None:
    lines = [
        redacting(A),
        redacting(B),
        redacting(C, identity="2", run="x"),
        redacting("d" * 64, identity="3", runHash="0" * 64),
        {**redacting("e" * 64, identity="4"), "reason": ""},
        event("5", "annotate", requirement="f"),
    ]
    assert withheld(building.small().seal().batch(*lines, signed_by=[ALICE]), tmp_path) == [A]


def test_ovl10_a_signature_over_another_batch_is_none(tmp_path: Path) -> None:
    run = building.small().seal().batch(event("1")).batch(redacting(A, identity="2"), signed_by=[ALICE])
    assert withheld(run, tmp_path / "right") == [A]
    run[batch_path(1, "dsse.json")] = run.pop(batch_path(2, "dsse.json"))
    assert withheld(run, tmp_path / "moved") == []
    run[batch_path(2, "dsse.json")] = building.envelope(run.bytes_of("seal.json"), [ALICE])
    assert withheld(run, tmp_path / "seal") == []
    run[batch_path(2, "dsse.json")] = building.envelope(run.bytes_of(batch_path(2)), [ALICE], kind="application/json")
    assert withheld(run, tmp_path / "type") == []


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b"[" * 65])
def test_sig1_a_malformed_envelope_verifies_for_no_one(data: bytes, tmp_path: Path) -> None:
    assert withheld(run_with(ALICE).but(put(batch_path(1, "dsse.json"), data)), tmp_path) == []


def test_sig1_an_envelope_is_read_within_its_limit_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_with(ALICE)
    path = batch_path(1, "dsse.json")
    monkeypatch.setattr(limits, "ENVELOPE_BYTES", len(run.bytes_of(path)))
    assert withheld(run, tmp_path / "at") == [A]
    monkeypatch.setattr(limits, "ENVELOPE_BYTES", len(run.bytes_of(path)) - 1)
    assert withheld(run, tmp_path / "beyond") == []
    monkeypatch.undo()
    os.truncate(tmp_path / "at" / path, 1 << 40)
    with Folder(str(tmp_path / "at")) as folder:
        folder.watch = lambda _: pytest.fail("a block was read")
        assert signers_of(folder, path, b"", BOTH) == ()
        assert signers_of(folder, batch_path(2, "dsse.json"), b"", BOTH) == ()


def test_ovl3_a_batch_is_verified_once_for_all_its_events(tmp_path: Path) -> None:
    run = building.small().seal().batch(event("1"), event("2"), signed_by=[BOB, ALICE]).batch(event("3"))
    with Folder(run.write(tmp_path)) as folder:
        chain = chain_of(folder, run)
        signers = BatchSigners(folder, chain, trust())
        assert signers.of(1) == (ALICE, BOB)
        for name in (batch_path(1), batch_path(1, "dsse.json")):
            (tmp_path / name).unlink()
        assert signers.of(1) == (ALICE, BOB)
        assert signers.of(2) == ()
        assert BatchSigners(folder, chain, None).of(1) == ()


def test_ovl10_a_policy_alone_is_no_redaction(tmp_path: Path) -> None:
    assert withheld(building.small().seal(), tmp_path / "none") == []
    assert withheld(run_with(ALICE).but(drop(building.EVENTS)), tmp_path / "gone") == []
