"""Judging what an operation wrote (09 §9.3, "Judging what was written").

Rules kept: never byte for byte; always with this project's own verifier, whoever is tested, as the
reference verifier; a `refused` vector passes with exit 2 and a message, and with nothing written. Each
judge works on a fresh scratch copy of its vector. What a producer writes is judged in `producejudge`,
a job in `jobjudge`; `WRITING` is where the judges of further writing kinds join.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Mapping

from aef_verify.conformance.case import Case, inside, read_value, shown
from aef_verify.conformance.index import CorpusError, blocks
from aef_verify.conformance.jobjudge import JOB
from aef_verify.conformance.judge import Judge, differences, problem_differences
from aef_verify.conformance.producejudge import PRODUCING
from aef_verify.conformance.written import changes, snapshot, verified
from aef_verify.encoding.times import is_time, time_key
from aef_verify.layout import SEAL


def judge_seal_write(case: Case) -> list[str]:
    """Judge `seal-write`: `seal.json` against the expected manifest and predicate, and the run now sealed."""
    run = case.place("run")
    words = ("seal-write", run, "--sealed-by", case.text("sealedBy"), "--sealed-at", case.text("sealedAt"))
    before = snapshot(case.folder)
    if case.expected.get("refused") is True:
        return [*case.refusal(*words), *changes(before, snapshot(case.folder))]
    got = case.answer(*words)
    name = f"{case.text('run')}/{SEAL}"
    manifest = b"".join(blocks(case.place("manifest"), case.text("manifest")))
    lines = differences("runHash", hashlib.sha256(manifest).hexdigest(), got.get("runHash"))
    lines += changes(before, snapshot(case.folder), name)
    if name in before:
        raise CorpusError(f"{name}: a run to be sealed holds one already")
    if not os.path.isfile(os.path.join(run, SEAL)):
        return [*lines, f"{name}: not written"]
    return [
        *lines,
        *_judge_seal_file(case, os.path.join(run, SEAL), name, manifest),
        *_judge_intact(run),
    ]


def _judge_seal_file(case: Case, where: str, name: str, manifest: bytes) -> list[str]:
    document = verified("document", "seal", where)
    if document.get("writer") != "valid":
        return [f"{name}: not valid against the writer schema of seal"]
    seal = read_value(where, name)
    assert isinstance(seal, dict)
    subjects = [[subject["digest"]["sha256"], subject["name"]] for subject in seal["subject"]]
    expected = [line.split("  ", 2)[::2] for line in manifest.decode().split("\n")[:-1]]
    predicate = case.stated("predicate")
    return [
        *differences(f"{name}: subject", expected, subjects),
        *differences(f"{name}: predicate", _by_instant(predicate), _by_instant(seal["predicate"])),
    ]


def _by_instant(predicate: object) -> object:
    """Return a seal's predicate with its two times as what they mean, at full precision [ENC-8]."""
    if not isinstance(predicate, dict):
        return predicate
    return {
        name: time_key(value) if name in ("closedAt", "sealedAt") and is_time(value) else value
        for name, value in predicate.items()
    }


def _judge_intact(run: str) -> list[str]:
    value = verified("run", run)
    outcome = differences("the sealed run: outcome", "intact", value.get("outcome"))
    return [*outcome, *problem_differences([], value.get("problems"), "the sealed run: problems")]


def judge_sign(case: Case) -> list[str]:
    """Judge `sign`: one signature by the key, in standard padded base64, that verifies for its identity."""
    file, payload_type = case.place("file"), case.text("payloadType")
    words = ("sign", file, case.place("key"), "--payload-type", payload_type)
    if case.expected.get("refused") is True:
        return case.refusal(*words)
    envelope = case.answer(*words)
    lines = differences("payloadType", payload_type, envelope.get("payloadType"))
    payload = base64.b64encode(b"".join(blocks(file, case.text("file")))).decode()
    if envelope.get("payload") != payload:
        lines.append("payload: not the file's bytes in base64 (standard alphabet, padded)")
    signatures = envelope.get("signatures")
    if not (isinstance(signatures, list) and len(signatures) == 1 and isinstance(signatures[0], dict)):
        return [*lines, f"signatures: expected exactly one, got {shown(signatures)}"]
    signature = signatures[0]
    lines += differences("keyid", case.stated("keyid"), signature.get("keyid"))
    if not _standard_base64(signature.get("sig")):
        lines.append(f"sig: {shown(signature.get('sig'))} is not standard base64 with padding")
    if "sig" in case.expected:
        lines += differences("sig", case.expected["sig"], signature.get("sig"))
    return [*lines, *_judge_verifies(case, envelope, file, payload_type)]


def _standard_base64(text: object) -> bool:
    """Whether a text is base64 in the standard alphabet, padded, with no unused bit set [SIG-1]."""
    if not isinstance(text, str) or not text.isascii():
        return False
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode() == text
    except binascii.Error:
        return False


def _judge_verifies(case: Case, envelope: Mapping[str, object], file: str, payload_type: str) -> list[str]:
    where = inside(case.scratch, "envelope.dsse.json")
    with open(where, "w", encoding="utf-8") as target:
        json.dump(envelope, target, ensure_ascii=False)
    value = verified("signature", where, file, case.place("policy"), "--payload-type", payload_type)
    identity = case.stated("identity")
    signature = {"keyid": case.stated("keyid"), "result": "verified", "identity": identity}
    expected = {"envelopeResult": None, "signatures": [signature], "verifiesFor": [identity]}
    return differences("the envelope, verified", expected, value)


WRITING: dict[str, Judge] = {
    **JOB,
    **PRODUCING,
    "seal-write": judge_seal_write,
    "sign": judge_sign,
}
"""The judge of each kind that writes; each runs on a fresh copy of its vector."""
