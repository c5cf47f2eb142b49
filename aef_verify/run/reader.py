"""The reference reader: the documents of one run, typed, read when they are asked for, as 07 §7.3 says.

A document that the reader's schema refuses is refused ([VER-3], [VER-4] by name); unknown members are kept and ignored;
an unknown value of [VER-8] is what it reads as, and `written` still has it as it stands. Nothing is judged here: what
breaks a rule across files reads all the same, so verify a run before its content is relied on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from types import TracebackType
from typing import Any, NamedTuple

from aef_verify import limits
from aef_verify.encoding.digests import bare
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.encoding.ndjson import Framing, lines
from aef_verify.folder import Entry, Folder, Read
from aef_verify.layout import EVIDENCE, GATES, METRICS, RESULTS, RUN, SUMMARY, blob_path
from aef_verify.problems import InputError
from aef_verify.schemas import validator
from aef_verify.schemas.readings import as_read
from aef_verify.schemas.refusal import other_major

Document = dict[str, Any]

_NAME = re.compile(r"[0-9a-f]{64}", re.ASCII)


class ReadError(InputError):
    """A document that a reader of AEF 1 refuses, or cannot read; the message names the file, and the line."""


class Header(NamedTuple):
    """`run.json`, as read; `written` is the document as it stands."""

    run_id: str
    status: str
    producer: tuple[str, str]
    subject: tuple[str, str | None]
    suite: tuple[str, str] | None
    target_mode: str
    content_capture: str
    started_at: str
    ended_at: str | None
    document: Document
    written: Document


class Metric(NamedTuple):
    """One metric that `metrics.json` declares, as read."""

    id: str
    kind: str
    direction: str
    unit: str | None
    document: Document


class SummaryEntry(NamedTuple):
    """One entry of `summary.json`, as read: a lane's metric at a path; `N`, `n` and `value` as [SUM-5] has them."""

    lane: str
    metric: str
    path: str
    N: int
    n: int
    value: float | None
    verdict: str
    document: Document


class Result(NamedTuple):
    """One line of `results.ndjson`, as read; `scores` are (metric, value)."""

    line: int
    result_id: str
    parent_result_id: str | None
    case_id: str
    path: str
    trial: int | None
    state: str
    reason: str | None
    severity: str | None
    lane: str | None
    scores: tuple[tuple[str, float], ...]
    document: Document
    written: Document


class Evidence(NamedTuple):
    """One line of `evidence.ndjson`, as read; `blob` is the hex name of the blob it links to, if it does."""

    line: int
    evidence_id: str
    kind: str
    blob: str | None
    document: Document
    written: Document


class Gate(NamedTuple):
    """One line of `gates.ndjson`, as read."""

    line: int
    gate_id: str
    outcome: str
    comparability: str
    document: Document
    written: Document


def open_run(path: str) -> Run:
    """Open a run folder for reading; nothing but its list of files is read yet.

    Raises:
        InputError: no folder, or one that cannot be searched.
    """
    return Run(path)


class Run:
    """One run, read as it is asked; a context manager that closes the folder."""

    def __init__(self, path: str) -> None:
        """See `open_run`."""
        self.path = path
        self._folder = Folder(path)

    def __enter__(self) -> Run:
        """Return the run."""
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        """Close the folder."""
        self.close()

    def close(self) -> None:
        """Close the folder; what was read stays readable."""
        self._folder.close()

    @cached_property
    def header(self) -> Header:
        """`run.json`; raises ReadError where there is none that reads."""
        written = self._json(RUN, "run")
        document = as_read("run", written)
        producer, subject, suite = document["producer"], document["subject"], document.get("suite")
        return Header(
            document["runId"],
            document["status"],
            (producer["name"], producer["version"]),
            (subject["ref"], subject.get("version")),
            None if suite is None else (suite["ref"], suite["version"]),
            document["execution"]["targetMode"],
            # Absent reads as `on` [RUN-11].
            document.get("contentCapture", "on"),
            document["startedAt"],
            document.get("endedAt"),
            document,
            written,
        )

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """`metrics.json`; raises ReadError where there is none that reads."""
        document = as_read("metrics", self._json(METRICS, "metrics"))
        return tuple(
            Metric(metric["id"], metric["kind"], metric["direction"], metric.get("unit"), metric)
            for metric in document["metrics"]
        )

    @cached_property
    def summary(self) -> tuple[SummaryEntry, ...]:
        """The entries of `summary.json` in order, none where the run has no summary; raises ReadError."""
        if self._folder.get(SUMMARY) is None:
            return ()
        document = as_read("summary", self._json(SUMMARY, "summary"))
        return tuple(
            SummaryEntry(
                lane["lane"],
                entry["metric"],
                entry["path"],
                int(entry["N"]),
                int(entry["n"]),
                None if entry["value"] is None else float(entry["value"]),
                entry["verdict"],
                entry,
            )
            for lane in document["lanes"]
            for entry in lane["metrics"]
        )

    def results(self) -> Iterator[Result]:
        """Yield the results in file order, in constant memory.

        Raises:
            ReadError: at the line that does not read; for a file with broken framing at the latest after its last line.
        """
        for number, document, written in self._lines(RESULTS, "result"):
            get = document.get
            trial = get("trial")
            yield Result(
                number,
                document["resultId"],
                get("parentResultId"),
                document["caseId"],
                document["path"],
                None if trial is None else int(trial),
                document["state"],
                get("reason"),
                get("severity"),
                get("lane"),
                tuple((score["metric"], float(score["value"])) for score in get("scores", ())),
                document,
                written,
            )

    def evidence(self) -> Iterator[Evidence]:
        """Yield the evidence records in file order; none where the run has no such file. Raises as `results`."""
        for number, document, written in self._lines(EVIDENCE, "evidence", required=False):
            blob = document["link"].get("blob")
            name = None if blob is None else bare(blob)
            yield Evidence(number, document["evidenceId"], document["kind"], name, document, written)

    def gates(self) -> Iterator[Gate]:
        """Yield the gate decisions in file order; none where the run has no such file. Raises as `results`."""
        for number, document, written in self._lines(GATES, "gate-decision", required=False):
            yield Gate(number, document["gateId"], document["outcome"], document["comparability"], document, written)

    def blob(self, name: str) -> bytes:
        """Return a blob by the hex SHA-256 that names it.

        Raises:
            ReadError: no such blob (withheld, perhaps), one beyond 1 GiB, or one whose bytes do not hash to its name.
        """
        entry = self._folder.get(blob_path(name)) if _NAME.fullmatch(name) else None
        if entry is None:
            raise ReadError(f"{self.path}: no blob {name[:64]}")
        data = self._folder.within(entry, limits.BLOB_BYTES)
        if data is None or sha256(data).hexdigest() != name:
            raise ReadError(f"{self.path}/{entry.path}: too large, or its bytes do not hash to its name")
        return data

    def _json(self, file: str, schema: str) -> Document:
        data = self._folder.within(self._entry(file), limits.JSON_BYTES)
        try:
            if data is None:
                raise ReadError(f"{self.path}/{file}: more than {limits.JSON_BYTES:,} bytes")
            document = read_object(data)
        except UnreadableError as fault:
            raise ReadError(f"{self.path}/{file}: {fault}") from None
        return self._accepted(file, schema, document)

    def _entry(self, file: str) -> Entry:
        entry = self._folder.get(file)
        if entry is None:
            raise ReadError(f"{self.path}/{file}: not there")
        return entry

    def _lines(self, file: str, schema: str, *, required: bool = True) -> Iterator[tuple[int, Document, Document]]:
        """Yield (line, document as read, document as written)."""
        if not required and self._folder.get(file) is None:
            return
        done: list[Read] = []
        framing = Framing()
        for first, found in lines(self._folder.blocks(self._entry(file), done), framing):
            for number, data in enumerate(found, first):
                place = f"{file}:{number}"
                try:
                    written = read_object(data) if data is not None else None
                except UnreadableError as fault:
                    raise ReadError(f"{self.path}/{place}: {fault}") from None
                if written is None:
                    raise ReadError(f"{self.path}/{place}: more than {limits.JSON_BYTES:,} bytes")
                yield number, as_read(schema, self._accepted(place, schema, written)), written
        broken = framing.finish()
        if broken is not None:
            raise ReadError(f"{self.path}/{file}: {broken}")

    def _accepted(self, place: str, schema: str, document: Document) -> Document:
        if validator(schema, "reader")(document):
            return document
        version = other_major(document)
        if version is not None:
            raise ReadError(f"{self.path}/{place}: AEF {version}, and this reader reads major version 1 alone [VER-4]")
        from aef_verify.schemas import explain

        faults = explain(schema, "reader", document)
        reason = f"{faults[0].pointer or '(document)'}: {faults[0].message}" if faults else "refused by its schema"
        raise ReadError(f"{self.path}/{place}: {reason}")
