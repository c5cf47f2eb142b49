"""`aef seal`, `aef sign`, `aef keygen`: what they write, that they overwrite nothing and leave nothing half-written.

[SEAL-1], [SEAL-5], [SIG-1] to [SIG-4], [OVL-3].
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from aef_verify import load_policy, verify_run
from tests import building
from tests.building import put
from tests.cli.calling import aef, as_nobody, fill, one_line, read_only, small_disk

POLICY_IDENTITY = "git:carol@example.org"


@pytest.fixture
def run(tmp_path: Path) -> str:
    return building.small().write(tmp_path / "run")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    done = aef("keygen", tmp_path / "key.pem", "--identity", POLICY_IDENTITY)
    (tmp_path / "policy.json").write_text(json.dumps({"keys": [json.loads(done.stdout)]}))
    return tmp_path / "key.pem"


def listing(folder: str | Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_seal(run: str) -> None:
    done = aef("seal", run, "--sealed-at", building.SEALED)
    assert (done.returncode, done.stderr) == (0, "")
    report = verify_run(run)
    assert report.outcome == "intact"
    assert done.stdout == f"sealed    {run}\nrun hash  {report.run_hash}\n"
    predicate = json.loads(Path(run, "seal.json").read_text())["predicate"]
    assert (predicate["sealedBy"], predicate["sealedAt"]) == ("producer", building.SEALED)


def test_seal_by_a_host_now(run: str) -> None:
    done = aef("seal", run, "--sealed-by", "ingest", "--json")
    assert json.loads(done.stdout) == {"runHash": verify_run(run).run_hash}
    predicate = json.loads(Path(run, "seal.json").read_text())["predicate"]
    assert predicate["sealedBy"] == "ingest"
    assert verify_run(run).outcome == "intact"


def test_a_run_with_problems_is_not_sealed_unless_asked(tmp_path: Path) -> None:
    run = building.small().but(put("summary.json", "runId", "other")).write(tmp_path / "run")
    before = listing(run)
    done = aef("seal", run)
    assert done.returncode == 1
    assert "summary.json  summary-run-id" in done.stdout
    assert done.stderr.startswith("aef seal: not sealed: ")
    assert listing(run) == before
    assert aef("seal", run, "--with-problems").returncode == 0
    assert [problem.code for problem in verify_run(run).problems] == ["summary-run-id"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sealed-at", "2026-10-02T14:59:59Z"], "before the run's endedAt"),
        (["--sealed-at", "yesterday"], "is no time"),
        (["--sealed-by", "me"], "'me' is not one of"),
    ],
)
def test_a_seal_that_is_refused(run: str, words: list[str], said: str) -> None:
    before = listing(run)
    done = aef("seal", run, *words)
    assert done.returncode == 2
    assert said in one_line(done)
    assert listing(run) == before


def test_an_open_run_and_a_sealed_one_are_refused(tmp_path: Path, run: str) -> None:
    open_run = building.small().but(put("run.json", "status", "running"), building.drop("run.json", "endedAt"))
    assert "only a closed run is sealed" in one_line(aef("seal", open_run.write(tmp_path / "open")))
    aef("seal", run)
    sealed = Path(run, "seal.json").read_bytes()
    done = aef("seal", run)
    assert done.returncode == 2
    assert "has a seal.json already" in one_line(done)
    assert Path(run, "seal.json").read_bytes() == sealed


def test_sign_a_run_and_verify_it(tmp_path: Path, run: str, key: Path) -> None:
    aef("seal", run)
    done = aef("sign", f"{run}/seal.json", "--key", key)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"envelope  {run}/attestation.dsse.json\n" in done.stdout
    policy = load_policy((tmp_path / "policy.json").read_bytes())
    assert verify_run(run, policy=policy).signed_by == (POLICY_IDENTITY,)
    again = aef("sign", f"{run}/seal.json", "--key", key)
    assert again.returncode == 2
    assert "is there already" in one_line(again)


def test_sign_a_batch_says_what_that_means(tmp_path: Path, key: Path) -> None:
    run = building.small().seal().batch(building.event("1")).write(tmp_path / "run")
    done = aef("sign", f"{run}/overlays/seal-0001.json", "--key", key)
    assert done.returncode == 0
    assert "[OVL-3]" in done.stderr
    assert Path(run, "overlays/seal-0001.dsse.json").exists()


def test_sign_another_file_needs_its_type(tmp_path: Path, key: Path) -> None:
    file = tmp_path / "release.json"
    file.write_text("{}")
    assert "--payload-type" in one_line(aef("sign", file, "--key", key))
    kind = "application/vnd.agenteval.aef.checkpoint+json"
    assert aef("sign", file, "--key", key, "--payload-type", kind).returncode == 0
    assert json.loads((tmp_path / "release.dsse.json").read_text())["payloadType"] == kind
    text = tmp_path / "notes.txt"
    text.write_text("x")
    assert "say with -o" in one_line(aef("sign", text, "--key", key, "--payload-type", "text/plain"))
    printed = aef("sign", text, "--key", key, "--payload-type", "text/plain", "-o", "-")
    assert json.loads(printed.stdout)["payloadType"] == "text/plain"
    assert aef("sign", text, "--key", key, "--payload-type", "text/plain", "-o", tmp_path / "e").returncode == 0


def test_sign_reads_standard_input_where_a_file_is_a_dash(tmp_path: Path, run: str, key: Path) -> None:
    aef("seal", run)
    words = ["sign", "-", "--payload-type", "text/plain", "--key"]
    signed = aef(*words, key, "-o", "-", stdin=b"hello")
    assert json.loads(signed.stdout)["payload"] == "aGVsbG8="
    assert "say with -o" in one_line(aef(*words, key, stdin=b"hello"))
    assert "cannot both be standard input" in one_line(aef(*words, "-", "-o", "-", stdin=b"hello"))
    assert aef("sign", f"{run}/seal.json", "--key", "-", stdin=key.read_bytes()).returncode == 0
    assert Path(run, "attestation.dsse.json").exists()
    assert one_line(aef(*words[:1], f"{run}/run.json", *words[2:], "-", stdin=b"")).startswith(
        "aef sign: -: no PEM block"
    )


def test_sign_refuses_what_is_no_key(tmp_path: Path, run: str) -> None:
    aef("seal", run)
    (tmp_path / "no-key").write_text("-----BEGIN PUBLIC KEY-----\n")
    done = aef("sign", f"{run}/seal.json", "--key", tmp_path / "no-key")
    assert done.returncode == 2
    assert "a public key, where the private key is needed" in one_line(done)


@pytest.mark.parametrize("algorithm", ["ecdsa-p256", "ed25519"])
def test_keygen(tmp_path: Path, algorithm: str) -> None:
    words = ["--algorithm", algorithm, "--identity", "git:a@example.org", "--may", "redact"]
    done = aef("keygen", tmp_path / "k", *words, "--public", tmp_path / "k.pub")
    assert done.returncode == 0
    entry = json.loads(done.stdout)
    assert entry["may"] == ["redact"]
    assert entry["publicKey"] == (tmp_path / "k.pub").read_text()
    assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o600
    (trusted,) = load_policy(json.dumps({"keys": [entry]}).encode()).keys
    assert trusted.key.keyid in done.stderr
    key = (tmp_path / "k").read_bytes()
    again = aef("keygen", tmp_path / "k", *words)
    assert again.returncode == 2
    assert "never overwritten" in one_line(again)
    assert (tmp_path / "k").read_bytes() == key


def test_keygen_of_what_no_policy_could_hold_writes_nothing(tmp_path: Path) -> None:
    done = aef("keygen", tmp_path / "k", "--identity", "")
    assert done.returncode == 2
    one_line(done)
    assert listing(tmp_path) == []


@pytest.mark.parametrize("spoil", [fill, read_only])
def test_a_full_or_read_only_disk_is_3_and_nothing_is_left(tmp_path: Path, key: Path, spoil: object) -> None:
    assert callable(spoil)
    with small_disk(tmp_path / "disk") as disk:
        unsealed = building.small().write(disk / "unsealed")
        sealed = building.small().seal().write(disk / "sealed")
        spoil(disk)
        before = [listing(disk), listing(unsealed), listing(sealed)]
        for words in (
            ["seal", unsealed],
            ["sign", f"{sealed}/seal.json", "--key", key],
            ["keygen", disk / "new", "--identity", "git:a@example.org"],
            ["keygen", disk / "new", "--public", disk / "new.pub", "--identity", "git:a@example.org"],
        ):
            done = aef(*words)
            assert done.returncode == 3, done
            assert "could not be written" in one_line(done)
        assert [listing(disk), listing(unsealed), listing(sealed)] == before
        assert aef("verify", disk).returncode == 0


def test_a_folder_that_may_not_be_written_is_3(tmp_path: Path, run: str) -> None:
    before = as_nobody()
    for above in (Path(run), *Path(run).parents):
        if above != Path("/") and above.owner() == "root":
            above.chmod(above.stat().st_mode | 0o055)
    done = aef("seal", run, before=before)
    assert done.returncode == 3
    assert "seal.json: could not be written: Permission denied" in one_line(done)
    assert "seal.json" not in listing(run)
