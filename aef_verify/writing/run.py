"""A closed run from its documents to its folder: valid as a writer's, sealed and signed if asked, written whole.

In this order: every document against its writer schema [VER-2]; its bytes; the paths of its files [RUN-3], before any
of them is written; the seal [SEAL-5] and the envelope over it [SIG-1], both from the bytes in memory, so that
`run.json` can be the last file that gets its name; the folder, by `atomic.publish`; before it has its final name, the
verifier's verdict on it, which must be without a problem.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from aef_verify.encoding.digests import cited
from aef_verify.encoding.paths import folders_of, path_problems
from aef_verify.encoding.times import time_key
from aef_verify.integrity.dsse import STATEMENT_TYPE
from aef_verify.integrity.manifest import Sealed
from aef_verify.integrity.policy import TrustPolicy, load_policy
from aef_verify.layout import ATTESTATION, EVIDENCE, GATES, METRICS, RESULTS, RUN, SEAL, SUMMARY, blob_path
from aef_verify.problems import InputError
from aef_verify.run.header import is_closed
from aef_verify.run.verify import verify_run
from aef_verify.schemas import accepts, explain
from aef_verify.writing import atomic
from aef_verify.writing.keygen import policy_entry
from aef_verify.writing.seal import seal_statement
from aef_verify.writing.sign import public_pem_of, sign_bytes
from aef_verify.writing.whole import json_bytes

if TYPE_CHECKING:
    from aef_verify.writing.sign import PrivateKey

Document = dict[str, Any]


class ClosedRun(NamedTuple):
    """The documents of a run that is `completed` or `aborted`.

    Attributes:
        run: `run.json`.
        results: the lines of `results.ndjson`.
        metrics: `metrics.json`.
        summary: `summary.json`.
        evidence: the lines of `evidence.ndjson`; without any there is no such file.
        gates: the lines of `gates.ndjson`; likewise.
        blobs: the blobs' bytes; the same bytes may stand twice.
        ext: the producer's own files, by their path below `ext/`.
    """

    run: Document
    results: Sequence[Document]
    metrics: Document
    summary: Document
    evidence: Sequence[Document] = ()
    gates: Sequence[Document] = ()
    blobs: Sequence[bytes] = ()
    ext: Mapping[str, bytes] = {}


class Sealing(NamedTuple):
    """How a run is sealed by its producer: when, not before it ended, and with which key its seal is signed."""

    sealed_at: str
    key: PrivateKey | None = None


class Written(NamedTuple):
    """A run on disk: its folder, its id, and its run hash where it was sealed."""

    path: str
    run_id: str
    run_hash: str | None


class UnsoundRunError(OSError):
    """The run would not be valid, so it was not written."""

    def __init__(self, message: str) -> None:
        """Take what is wrong with it."""
        super().__init__(errno.EINVAL, message)


def publish_run(
    run: ClosedRun, destination: str, *, sealing: Sealing | None, step: atomic.Step | None = None
) -> Written:
    """Write a closed run into a destination, in a folder named after its `runId`.

    Args:
        run: its documents.
        destination: the folder to write into; made where it is missing.
        sealing: how it is sealed; None leaves it unsealed.
        step: see `atomic.publish`.

    Raises:
        OSError: it could not be written, or there is a folder of its name; nothing was left behind.
        UnsoundRunError: an `OSError` for a run that is not valid.
    """
    try:
        files = encoded(run)
        run_hash = None if sealing is None else _seal(run.run, files, sealing)
    except ValueError as fault:
        raise UnsoundRunError(f"a value has no form in I-JSON: {fault}") from None
    policy = None if sealing is None or sealing.key is None else _policy_of(sealing.key)
    run_id = str(run.run["runId"])
    if run_id.startswith("."):
        raise UnsoundRunError(f"the runId {run_id!r} cannot be the name of a folder")
    path = atomic.publish(destination, run_id, files, lambda folder: check_written(folder, run_hash, policy), step=step)
    return Written(path, run_id, run_hash)


def encoded(run: ClosedRun) -> dict[str, bytes]:
    """Return the bytes of each file of an unsealed run, by path.

    Raises:
        UnsoundRunError: a document is not valid against its writer schema, a path is none, or the run is not closed.
        ValueError: a value has no form in I-JSON.
    """
    files = {RESULTS: b""}
    for name, schema, document in (
        (RUN, "run", run.run),
        (METRICS, "metrics", run.metrics),
        (SUMMARY, "summary", run.summary),
    ):
        files[name] = json_bytes(_valid(name, schema, document))
    for name, schema, lines in (
        (RESULTS, "result", run.results),
        (EVIDENCE, "evidence", run.evidence),
        (GATES, "gate-decision", run.gates),
    ):
        if lines:
            files[name] = b"".join(_line_bytes(_valid(name, schema, line)) for line in lines)
    for blob in run.blobs:
        files[blob_path(sha256(blob).hexdigest())] = blob
    for path, data in run.ext.items():
        files[f"ext/{path}"] = data
    _check_paths(files)
    if not is_closed(run.run):
        raise UnsoundRunError(f"a run with the status {run.run['status']} is not closed [RUN-4]")
    return files


def _check_paths(files: Mapping[str, bytes]) -> None:
    """Refuse paths before any of them is written: one that leaves the folder must not be tried at all [RUN-3]."""
    for problem in path_problems(files):
        raise UnsoundRunError(f"{problem.path}: {problem.code}: {problem.detail}")
    for path in files:
        for folder in folders_of(path):
            if folder in files:
                raise UnsoundRunError(f"{path}: path: {folder} is a file, so nothing lies below it")


def _valid(name: str, schema: str, document: Document) -> Document:
    if not accepts(schema, "writer", document):
        raise UnsoundRunError("; ".join(_faults(name, schema, document)))
    return document


def _faults(name: str, schema: str, document: Document) -> Iterator[str]:
    found = explain(schema, "writer", document)
    if not found:
        yield f"{name}: not valid"
    for fault in found:
        yield f"{name}: {fault.pointer or '/'}: {fault.message}"


def _line_bytes(document: Document) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def blob_digest(data: bytes) -> str:
    """Return the digest by which a blob of these bytes is cited [EVD-2]."""
    return cited(sha256(data).hexdigest())


def _seal(run: Document, files: dict[str, bytes], sealing: Sealing) -> str:
    """Add the seal, and the envelope where there is a key; return the run hash."""
    if time_key(sealing.sealed_at) < time_key(run["endedAt"]):
        raise UnsoundRunError(f"sealed at {sealing.sealed_at}, before the run's endedAt {run['endedAt']} [SEAL-5]")
    paths = sorted(files, key=str.encode)
    sealed = [Sealed(path, sha256(files[path]).hexdigest(), len(files[path])) for path in paths]
    statement = seal_statement(run, sealed, sealed_by="producer", sealed_at=sealing.sealed_at)
    files[SEAL] = json_bytes(_valid(SEAL, "seal", statement))
    if sealing.key is not None:
        files[ATTESTATION] = json_bytes(sign_bytes(files[SEAL], sealing.key, STATEMENT_TYPE))
    return str(statement["predicate"]["runHash"])


_SIGNER = "producer"


def _policy_of(key: PrivateKey) -> TrustPolicy:
    """Return a policy that trusts the key alone."""
    return load_policy(json.dumps({"keys": [policy_entry(public_pem_of(key), _SIGNER)]}).encode())


def check_written(folder: str, run_hash: str | None, policy: TrustPolicy | None) -> None:
    """Refuse a folder that the verifier finds any problem in, or another verdict than is due.

    Args:
        folder: the run.
        run_hash: what it is sealed under; None for an unsealed run.
        policy: what trusts its signer alone; None for an unsigned run.

    Raises:
        UnsoundRunError: as said.
    """
    try:
        report = verify_run(folder, policy=policy, details=True)
    except InputError as fault:
        raise OSError(errno.EIO, f"the run that was written does not read: {fault}") from None
    if report.problems:
        first = report.problems[0]
        raise UnsoundRunError(f"{first.path}: {first.code}: {first.detail}")
    if report.sealed is (run_hash is None) or run_hash not in (None, report.run_hash):
        raise UnsoundRunError(f"the run that was written is {report.outcome}")
    if policy is not None and report.signed_by != (_SIGNER,):
        raise UnsoundRunError("the run that was written is not signed by its key")
