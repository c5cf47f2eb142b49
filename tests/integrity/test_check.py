"""[SEAL-6], [SIG-5], [OVL-10] The questions that are asked of a run's integrity, each answered once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aef_verify.folder import Folder
from aef_verify.integrity.check import Integrity, verify_seal
from aef_verify.integrity.facts import read_run
from aef_verify.integrity.manifest import read_sealed
from aef_verify.problems import InputError
from tests import building
from tests.building import ALICE, BOB, EVENTS, Run, drop, event, put, trust


def blobs(run: Run) -> list[str]:
    return sorted(path for path in run if path.startswith("blobs/"))


def redacted() -> Run:
    """Return a full run, sealed, whose blobs alice redacts in a signed batch."""
    run = building.full().seal()
    names = (path.rpartition("/")[2] for path in blobs(run))
    return run.batch(*(event(str(at), "redact", blob=name) for at, name in enumerate(names)), signed_by=[ALICE])


def test_what_is_gone_and_what_of_it_is_withheld(tmp_path: Path) -> None:
    """Gone: sealed blobs alone; withheld: those of them that an authorized redaction names."""
    run = redacted()
    first = blobs(run)[0]
    root = run.but(drop(first), drop("ext/producer/notes.txt")).write(tmp_path)
    with Folder(root) as folder:
        gone = Integrity(folder, read_run(folder), trust(alice=["redact"]))
        assert gone.gone == gone.withheld == {first.rpartition("/")[2]}
        other = Integrity(folder, read_run(folder), trust(bob=["redact"]))
        assert other.gone == gone.gone
        assert other.withheld == frozenset()
        assert Integrity(folder, read_run(folder), None).withheld == frozenset()


def test_nothing_is_gone_from_a_run_without_a_valid_seal(tmp_path: Path) -> None:
    for name, edit in (("none", drop("seal.json")), ("invalid", put("seal.json", b"{}"))):
        run = redacted()
        root = run.but(edit, drop(blobs(run)[0])).write(tmp_path / name)
        with Folder(root) as folder:
            integrity = Integrity(folder, read_run(folder), trust(alice=["redact"]))
            assert integrity.gone == integrity.withheld == frozenset()


def test_the_chain_is_not_read_where_nothing_is_gone(tmp_path: Path) -> None:
    """A run with very many overlays costs its seal check nothing."""
    root = redacted().write(tmp_path)
    (tmp_path / EVENTS).unlink()
    (tmp_path / EVENTS).write_bytes(b"never read")
    with Folder(root) as folder:
        integrity = Integrity(folder, read_run(folder), trust(alice=["redact"]))
        integrity.files = read_sealed(folder)
        assert integrity.problems() == []
        assert "chain" not in vars(integrity)


def test_sig5_who_signed_the_bytes_that_were_checked(tmp_path: Path) -> None:
    """The envelope is held against the bytes of the seal that was read, not against what is there by then."""
    root = building.small().seal().sign(ALICE, BOB).write(tmp_path)
    with Folder(root) as folder:
        integrity = Integrity(folder, read_run(folder), trust())
        other = building.small().seal(sealedAt="2030-01-01T00:00:00Z").sign(BOB)
        for path in ("seal.json", "attestation.dsse.json"):
            (tmp_path / path).write_bytes(other.bytes_of(path))
        assert integrity.signed_by() == ()
    with Folder(root) as folder:
        assert Integrity(folder, None, trust()).signed_by() == (BOB,)
        assert Integrity(folder, None, None).signed_by() == ()


def test_a_batch_seal_that_changes_after_the_chain_was_read_is_refused(tmp_path: Path) -> None:
    run = redacted()
    root = run.but(drop(blobs(run)[0])).write(tmp_path)
    with Folder(root) as folder:
        integrity = Integrity(folder, read_run(folder), trust(alice=["redact"]))
        assert integrity.chain.ends
        with open(tmp_path / building.batch_path(1), "ab") as out:
            out.write(b" ")
        with pytest.raises(InputError, match="changed while it was read"):
            _ = integrity.withheld


def test_verify_seal_leaves_nothing_open(tmp_path: Path) -> None:
    run = redacted()
    root = run.but(drop(blobs(run)[0])).write(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    verify_seal(root, policy=trust(alice=["redact"]))
    with pytest.raises(InputError):
        verify_seal(os.path.join(root, "nothing"))
    assert len(os.listdir("/proc/self/fd")) == before
