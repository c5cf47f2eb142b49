"""What is sealed verifies, what is signed verifies for its signer: [SEAL-1..5], [SIG-1..5]."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aef_verify.integrity.check import verify_seal
from aef_verify.integrity.dsse import verify_envelope
from aef_verify.integrity.policy import load_policy
from aef_verify.problems import InputError
from aef_verify.run.verify import verify_run
from aef_verify.strategies import (
    CHECKPOINT_TYPE,
    STATEMENT_TYPE,
    Policy,
    RunFiles,
    SigningKey,
    byte_changes,
    envelope,
    labels,
    runs,
    signing_keys,
    trust_policies,
)
from aef_verify.writing.seal import seal_run
from aef_verify.writing.sign import sign_file
from tests.properties.effort import examples
from tests.properties.scratch import scratch, written

closed_runs = runs(statuses=("completed", "aborted"), later_minors=True, max_cases=2)


@examples(60)
@given(closed_runs, st.sampled_from(("producer", "ingest")))
def test_a_closed_run_that_was_sealed_is_intact(run: RunFiles, sealer: str) -> None:
    ended = run.document("run.json")["endedAt"]
    with written(run) as folder:
        run_hash = seal_run(folder, sealed_by=sealer, sealed_at=ended)
        report, seal = verify_run(folder, anchors=[run_hash]), verify_seal(folder)
        sealed = RunFiles.read(folder)
        with pytest.raises(InputError):
            seal_run(folder, sealed_by=sealer, sealed_at=ended)
    assert (report.outcome, report.problems, report.anchored) == ("intact", (), True)
    assert run_hash == report.run_hash == seal.run_hash == run.run_hash
    assert seal.manifest == run.manifest
    assert sealed.without("seal.json") == run
    assert sealed.document("seal.json") == run.sealed(by=sealer).document("seal.json")


@examples(30)
@given(runs(statuses=("running",), max_cases=1))
def test_an_open_run_is_not_sealed(run: RunFiles) -> None:
    with written(run) as folder:
        with pytest.raises(InputError):
            seal_run(folder, sealed_by="producer", sealed_at="9999-01-01T00:00:00Z")
        assert RunFiles.read(folder) == run


@examples(40)
@given(closed_runs, trust_policies(), signing_keys())
def test_a_sealed_and_signed_run_is_signed_by_its_signer(run: RunFiles, policy: Policy, key: SigningKey) -> None:
    """Under a policy that trusts the key, and by nobody under one that does not, or under none."""
    with scratch() as folder:
        path = run.write(os.path.join(folder, "run"))
        seal_run(path, sealed_by="producer", sealed_at=run.document("run.json")["endedAt"])
        signed = sign(folder, os.path.join(path, "seal.json"), key, STATEMENT_TYPE)
        with open(os.path.join(path, "attestation.dsse.json"), "wb") as attestation:
            attestation.write(signed)
        report, without = verify_run(path, policy=load_policy(policy.data)), verify_run(path)
    assert report.outcome == without.outcome == "intact"
    assert list(report.signed_by or ()) == policy.signed_by([key])
    assert without.signed_by is None


def sign(folder: str, file: str, key: SigningKey, payload_type: str) -> bytes:
    """Sign a file with a key that is written to a file, as a caller of the command has them."""
    key_file = os.path.join(folder, "key.pem")
    with open(key_file, "wb") as out:
        out.write(key.private_pem)
    return json.dumps(sign_file(file, key_file, payload_type)).encode()


@examples(60)
@given(st.binary(max_size=200), st.sampled_from((STATEMENT_TYPE, CHECKPOINT_TYPE)) | labels(), signing_keys())
def test_what_is_signed_verifies_for_exactly_these_bytes_and_this_type(
    payload: bytes, payload_type: str, key: SigningKey
) -> None:
    """[SIG-1] Another payload or type is a mismatch, whoever signed."""
    policy = load_policy(Policy((("git:ada@example", key, ()),)).data)
    with scratch() as folder:
        file = os.path.join(folder, "payload")
        with open(file, "wb") as out:
            out.write(payload)
        signed = sign(folder, file, key, payload_type)
    report = verify_envelope(signed, payload, payload_type, policy)
    assert (report.result, report.verifies_for) == (None, ("git:ada@example",))
    assert [(found.keyid, found.result) for found in report.signatures] == [(key.keyid, "verified")]
    theirs = envelope(payload, payload_type, [key])
    assert verify_envelope(theirs, payload, payload_type, policy).verifies_for == ("git:ada@example",)
    if key.algorithm == "ed25519":
        assert json.loads(signed) == json.loads(theirs)
    shorter = payload[:-1] if payload else b"x"
    for other, kind in ((payload + b"\n", payload_type), (shorter, payload_type), (payload, f"{payload_type}x")):
        report = verify_envelope(signed, other, kind, policy)
        assert (report.result, report.verifies_for) == ("payload-mismatch", ())


@examples(60)
@given(st.binary(max_size=50), signing_keys(), signing_keys(), st.data())
def test_a_signature_verifies_under_its_own_key_alone(
    payload: bytes, key: SigningKey, other: SigningKey, data: st.DataObject
) -> None:
    """[SIG-2], [SIG-5] Nor does any other signature verify, be it one bit away."""
    policy = load_policy(Policy((("git:ada@example", other, ()),)).data)
    document = json.loads(envelope(payload, STATEMENT_TYPE, [key]))
    result = "verified" if key == other else "untrusted-key"
    assert results(document, payload, policy) == [result]
    document["signatures"][0]["keyid"] = other.keyid
    assert results(document, payload, policy) == ["verified" if key == other else "invalid"]
    import base64

    signature = base64.b64decode(document["signatures"][0]["sig"])
    changed = data.draw(byte_changes(signature, ("bit flipped", "byte deleted", "byte inserted", "cut short"))).data
    document["signatures"][0]["sig"] = base64.b64encode(changed).decode()
    assert results(document, payload, policy) == ["invalid"]


def results(document: object, payload: bytes, policy: object) -> list[str]:
    report = verify_envelope(json.dumps(document).encode(), payload, STATEMENT_TYPE, policy)  # type: ignore[arg-type]
    return [found.result for found in report.signatures]


@examples(80)
@given(trust_policies())
def test_an_identity_has_the_rights_of_all_its_keys(policy: Policy) -> None:
    """[SIG-4] Rights are a union, by exact value."""
    loaded = load_policy(policy.data)
    for identity, _, _ in policy.entries:
        for right in ("redact", "Redact", "something-else", ""):
            assert loaded.may(identity, right) == policy.may(identity, right)
    assert [trusted.key.keyid for trusted in loaded.keys] == [key.keyid for key in policy.keys]
