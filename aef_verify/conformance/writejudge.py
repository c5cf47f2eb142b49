"""Judging what an operation wrote (09 §9.3, "Judging what was written").

Rules kept: never byte for byte; always with this project's own verifier, whoever is tested, as the
reference verifier; a `refused` vector passes with exit 2 and a message, and with nothing written. Each
judge works on a fresh scratch copy of its vector. `WRITING` is where the judges of further writing kinds
join.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import stat
from collections.abc import Mapping

from aef_verify.conformance.case import Case, UnmetError, inside, read_value, shown
from aef_verify.conformance.drive import Answer, Failure, Refusal, in_process
from aef_verify.conformance.index import CorpusError, blocks
from aef_verify.conformance.judge import Judge, differences, problem_differences
from aef_verify.encoding.times import is_time, time_key
from aef_verify.layout import SEAL

Snapshot = Mapping[str, str]


def snapshot(folder: str) -> dict[str, str]:
    """Return path to content digest, or to what else it is, for every entry below a folder."""
    found: dict[str, str] = {}
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            where = os.path.join(above, name)
            path = os.path.relpath(where, folder).replace(os.sep, "/")
            mode = os.lstat(where).st_mode
            if stat.S_ISREG(mode):
                digest = hashlib.sha256()
                for block in blocks(where, path):
                    digest.update(block)
                found[path] = digest.hexdigest()
            else:
                found[path] = "folder" if stat.S_ISDIR(mode) else "irregular"
    return found


def changes(before: Snapshot, after: Snapshot, written: str = "") -> list[str]:
    """Return what was added, removed or changed, apart from the one file that was to be written."""
    lines = []
    for path in sorted(before.keys() | after.keys(), key=os.fsencode):
        if path == written or before.get(path) == after.get(path):
            continue
        what = "added" if path not in before else "removed" if path not in after else "changed"
        lines.append(f"{path}: {what}, and nothing but {written or 'nothing'} was to be written")
    return lines


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
    document = _verified("document", "seal", where)
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
    value = _verified("run", run)
    outcome = differences("the sealed run: outcome", "intact", value.get("outcome"))
    return [*outcome, *problem_differences([], value.get("problems"), "the sealed run: problems")]


def _verified(*words: str) -> dict[str, object]:
    """Return what the reference verifier answers; raises UnmetError where it has no answer."""
    match in_process(words):
        case Answer(value) if isinstance(value, dict):
            return value
        case Answer(value):
            raise UnmetError(f"the reference verifier ({words[0]}) answered {shown(value)}")
        case Refusal(reason) | Failure(reason):
            raise UnmetError(f"the reference verifier ({words[0]}) does not read what was written: {reason}")


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
    value = _verified("signature", where, file, case.place("policy"), "--payload-type", payload_type)
    identity = case.stated("identity")
    verified = {"keyid": case.stated("keyid"), "result": "verified", "identity": identity}
    expected = {"envelopeResult": None, "signatures": [verified], "verifiesFor": [identity]}
    return differences("the envelope, verified", expected, value)


WRITING: dict[str, Judge] = {
    "seal-write": judge_seal_write,
    "sign": judge_sign,
}
"""The judge of each kind that writes; each runs on a fresh copy of its vector."""
