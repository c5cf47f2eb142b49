"""The seal check [SEAL-4], [SEAL-6], in that paragraph's order; it stops after `seal-invalid` and `limit`.

`seal.json` against the files (`duplicate-subject`, `subject-path`, `digest`, `not-sealed`, `missing`, `withheld`),
then against itself (`run-hash`), then against `run.json` (`run-id`, `predicate`, `run-open`), the last three only
where `run.json` reads [OVL-2].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.encoding.times import is_time, time_key
from aef_verify.folder import Folder
from aef_verify.integrity.manifest import Sealed, blob_name, is_sealed, manifest_hash
from aef_verify.layout import RUN, SEAL
from aef_verify.problems import Problem
from aef_verify.schemas import validator
from aef_verify.schemas.refusal import refusal

_MATCHED = frozenset(("duplicate-subject", "digest", "not-sealed", "missing", "withheld"))

Document = dict[str, Any]


class Seal(NamedTuple):
    """`seal.json` as it was read.

    `present` says whether the run has one; `document` is it when it is valid against the reader seal schema;
    `problem` is why it is not; `data` are the bytes, which a signature is over, None beyond the limit.
    """

    present: bool
    document: Document | None = None
    problem: Problem | None = None
    data: bytes | None = None

    @property
    def run_hash(self) -> str | None:
        """The hash that a valid seal states; None where the files decide it [SEAL-4]."""
        return None if self.document is None else str(self.document["predicate"]["runHash"])

    @property
    def subjects(self) -> list[str]:
        """The names that a valid seal lists, in its order."""
        return [] if self.document is None else [subject["name"] for subject in self.document["subject"]]


def read_seal(folder: Folder, *, details: bool = False) -> Seal:
    """Read `seal.json` of a run, with the reason why it is not valid if asked.

    A link or pipe of that name leaves the run unsealed (docs/READINGS.md, a seal that is no file).
    """
    entry = folder.get(SEAL)
    if entry is None:
        return Seal(present=False)
    data = folder.within(entry, limits.SEAL_BYTES)
    if data is None:
        detail = f"more than {limits.SEAL_BYTES:,} bytes"
        return Seal(present=True, problem=Problem(SEAL, "limit", detail))
    return parse_seal(data, details=details)


def parse_seal(data: bytes, *, details: bool = False) -> Seal:
    """Return the seal that these bytes hold."""
    try:
        document = read_object(data, limits.SEAL_BYTES)
    except UnreadableError as fault:
        code = "limit" if fault.code == "limit" else "seal-invalid"
        return Seal(present=True, problem=Problem(SEAL, code, str(fault)))
    if not validator("seal", "reader")(document):
        return Seal(present=True, problem=Problem(SEAL, "seal-invalid", *refusal("seal", document, details=details)))
    return Seal(present=True, document=document, data=data)


def seal_problems(
    seal: Seal, files: Sequence[Sealed], run: Document | None, withheld: Callable[[], frozenset[str]]
) -> list[Problem]:
    """Return the problems of a seal [SEAL-6], unordered.

    Args:
        seal: as `read_seal` gave it; one that is not present has no problem.
        files: every sealed file of the folder, in path order.
        run: `run.json`, or None where it does not read.
        withheld: gives the hex names of blobs that an authorized redaction names [OVL-10]; asked for only where a
            sealed blob is gone.
    """
    if seal.problem is not None:
        return [seal.problem]
    if seal.document is None:
        return []
    problems = list(_against_files(seal.document, files, withheld))
    if not any(problem.code in _MATCHED for problem in problems):
        found, stated = manifest_hash(files), seal.document["predicate"]["runHash"]
        if found != stated:
            detail = f"the manifest of the files has the hash {found}"
            problems.append(Problem(SEAL, "run-hash", detail, stated))
    if run is not None:
        problems.extend(_against_run(seal.document["predicate"], run))
    return problems


def _against_files(
    document: Document, files: Sequence[Sealed], withheld: Callable[[], frozenset[str]]
) -> Iterator[Problem]:
    stated: dict[str, str] = {}
    repeated: set[str] = set()
    for subject in document["subject"]:
        name = subject["name"]
        if name in stated:
            repeated.add(name)
        stated[name] = subject["digest"]["sha256"]
    for name in repeated:
        yield Problem(name, "duplicate-subject", "seal.json lists it more than once")
    present = {file.path for file in files}
    for name in stated:
        if not is_sealed(name):
            yield Problem(name, "subject-path", "seal.json lists a file that no seal covers")
        elif name not in present:
            if (blob := blob_name(name)) and blob in withheld():
                yield Problem(name, "withheld", "an authorized redaction withholds this blob")
            else:
                yield Problem(name, "missing", "sealed, and no longer a file of the run")
    for file in files:
        sha256 = stated.get(file.path)
        if sha256 is None:
            yield Problem(file.path, "not-sealed", "the file is not in the seal: it was added after sealing")
        elif sha256 != file.sha256 and file.path not in repeated:
            yield Problem(file.path, "digest", f"the file's bytes hash to {file.sha256}", sha256)


_COPIED = (
    ("producer", ("name", "version")),
    ("subject", ("ref", "version")),
    ("deployment", ("ref",)),
    ("suite", ("ref", "version", "digest")),
)
_JUDGE = ("model", "rubricDigest")


def _part(value: object, names: tuple[str, ...]) -> object:
    """Return the named members of an object that are there; null and absent are one [ENC-2]."""
    if not isinstance(value, dict):
        return value
    return {name: value[name] for name in names if value.get(name) is not None}


def _judges(value: object) -> object:
    return [_part(judge, _JUDGE) for judge in value] if isinstance(value, list) and value else None


def _instant(value: object) -> object:
    return time_key(value) if isinstance(value, str) and is_time(value) else value


def _against_run(predicate: Document, run: Document) -> Iterator[Problem]:
    if predicate["runId"] != run.get("runId"):
        yield Problem(SEAL, "run-id", "not the runId of run.json", predicate["runId"])
    for name, members in _COPIED:
        if _part(predicate.get(name), members) != _part(run.get(name), members):
            yield Problem(SEAL, "predicate", f"{name} is not as run.json has it", predicate.get(name))
    if _judges(predicate["judges"]) != _judges(run.get("judges")):
        yield Problem(SEAL, "predicate", "judges are not as run.json has them", predicate["judges"])
    closed, sealed = predicate["closedAt"], predicate["sealedAt"]
    if time_key(closed) != _instant(run.get("endedAt")):
        yield Problem(SEAL, "predicate", "closedAt is not run.json's endedAt", closed)
    if time_key(sealed) < time_key(closed):
        yield Problem(SEAL, "predicate", f"sealedAt is before closedAt {closed}", sealed)
    if run.get("status") == "running":
        yield Problem(RUN, "run-open", "sealed, and run.json says that the run is still running", "running")


class SealReport(NamedTuple):
    """What `verify_seal` found: the manifest's text, its SHA-256 in hex, and the problems, ordered."""

    manifest: str
    run_hash: str
    problems: list[Problem]
