"""One arm of a pair: what a pair needs to know of a verified run, as a small value (docs/MEMORY_PAIR.md §2, §3).

A run is an arm where its `summary.json` carries `ext["agenteval.memoryPair"]`. Only then its results, its gates and its
definition are read a second time, by the readers of the run's own verification and within its limits; of a sealed run
the bytes read must be the sealed ones. Nothing is judged here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from aef_verify import limits
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.folder import Folder
from aef_verify.integrity.seal import read_seal
from aef_verify.layout import GATES, RESULTS, SUMMARY
from aef_verify.memory.definition import PATH as DEFINITION
from aef_verify.memory.model import NORMAL, ORACLE
from aef_verify.memory.pair_definition import ABSENT, Definition, definition_facts
from aef_verify.memory.pair_lines import Lines, LinesReader
from aef_verify.memory.profile import ACCURACY, EXTENSION, LANE, QUESTION_PATH
from aef_verify.problems import InputError
from aef_verify.run.members import Document, Named, named_in, object_in, objects_in, text_in
from aef_verify.run.reading import Documents
from aef_verify.schemas import explain, validator

if TYPE_CHECKING:
    from collections.abc import Callable

    from aef_verify.run.verify import RunReport

_DECISIONS = 2
"""Gate outcomes kept; how many lines there are is counted."""


class Fields(NamedTuple):
    """The members of the extension as a reader takes them: absent nullable ones None, `diagnosticOnly` False."""

    pair_id: str
    role: str
    source_inputs_digest: str
    planned: int
    observed: int
    scored: int | None
    calls: int | None
    complete: bool
    diagnostic_only: bool
    accuracy: float | None
    normal_run_hash: str | None
    gap: float | None


class Judge(NamedTuple):
    """One judge: model, provider, digest of its rubric; None for a part that is not there."""

    model: str | None
    provider: str | None
    rubric: str | None


class Entries(NamedTuple):
    """What the summary's entries say: how many have a rule, the verdicts there are, the accuracy entry's verdict."""

    ruled: int
    verdicts: frozenset[str]
    accuracy: str | None


class Arm(NamedTuple):
    """One arm.

    Attributes:
        path: the run's folder.
        run_id: the `runId`; the folder where `run.json` gives none.
        outcome: of the run: `intact`, `unsealed` or `invalid`.
        run_hash: of the run; what its seal states where it is sealed.
        signed_by: who signed the run, None without a trust policy.
        status, started_at, ended_at, target_mode: as `run.json` has them.
        producer, subject, suite: by name or reference, with version.
        suite_digest: `suite.digest`, or None.
        judges: in order.
        pair_id: the pair's id where it can be read, also where the rest cannot.
        role: `normal` or `oracle`, likewise.
        fields: the extension; None where it is not valid.
        refused: why it is not valid; empty where it is.
        decisions: the outcomes of the first lines of `gates.ndjson`.
        decided: how many lines that has.
        entries: what the summary's entries say.
        definition: facts of `ext/longmemeval/definition.json`.
        lines: facts of `results.ndjson`. Nothing is read of an invalid run, nor where the extension is refused.
    """

    path: str
    run_id: str
    outcome: str
    run_hash: str
    signed_by: tuple[str, ...] | None
    status: str | None
    started_at: str | None
    ended_at: str | None
    target_mode: str | None
    producer: Named
    subject: Named
    suite: Named
    suite_digest: str | None
    judges: tuple[Judge, ...]
    pair_id: str | None
    role: str | None
    fields: Fields | None
    refused: str
    decisions: tuple[str, ...]
    decided: int
    entries: Entries
    definition: Definition
    lines: Lines

    @property
    def is_sealed(self) -> bool:
        """Whether the run verifies against a seal."""
        return self.outcome == "intact"

    @property
    def is_complete(self) -> bool:
        """Whether the run ran to its end; `run.json`'s status alone says so."""
        return self.status == "completed"

    @property
    def is_running(self) -> bool:
        """Whether the run is still written to, and therefore no arm yet."""
        return self.status == "running"

    @property
    def is_usable(self) -> bool:
        """Whether the arm's own rules can be asked: the run has no problem, and the extension is valid."""
        return self.outcome != "invalid" and self.fields is not None


def read_arm(report: RunReport, watch: Callable[[int], object] | None = None) -> Arm | None:
    """Return the arm that a verified run is; None where it carries no extension of that name.

    Raises:
        InputError: a file cannot be read, or is not the one that was verified a moment ago.
    """
    summary = report.summary
    if summary is None and report.outcome == "invalid":
        summary = _summary_of(report.path)
    found = extension_of(summary)
    if summary is None or found is None:
        return None
    fields, refused = _fields(found)
    content = _Content(ABSENT, Lines.none(), (), 0)
    if fields is not None and report.outcome != "invalid" and text_in(report.run, "status") != "running":
        with Folder(report.path) as folder:
            folder.watch = watch
            content = _read(folder, sealed=report.sealed)
    run = report.run or {}
    suite = object_in(run, "suite")
    return Arm(
        report.path,
        report.run_id or text_in(summary, "runId") or report.path,
        report.outcome,
        report.run_hash,
        report.signed_by,
        text_in(run, "status"),
        text_in(run, "startedAt"),
        text_in(run, "endedAt"),
        text_in(object_in(run, "execution"), "targetMode"),
        named_in(run, "producer", "name"),
        named_in(run, "subject", "ref"),
        named_in(run, "suite", "ref"),
        text_in(suite, "digest"),
        judges_of(run),
        fields.pair_id if fields is not None else _readable_pair_id(found),
        fields.role if fields is not None else role_of(found),
        fields,
        refused,
        content.decisions,
        content.decided,
        _entries(summary),
        content.definition,
        content.lines,
    )


def extension_of(summary: Document | None) -> object:
    """Return what a summary, valid or not, has at `ext["agenteval.memoryPair"]`; None for nothing."""
    return object_in(summary, "ext").get(EXTENSION)


def judges_of(run: Document) -> tuple[Judge, ...]:
    """Return the judges of a header, in order."""
    found = run.get("judges")
    judges = [judge for judge in found if isinstance(judge, dict)] if isinstance(found, list) else []
    return tuple(
        Judge(text_in(judge, "model"), text_in(judge, "provider"), text_in(judge, "rubricDigest")) for judge in judges
    )


class _Content(NamedTuple):
    """What was read of the files that only a pair's rules need."""

    definition: Definition
    lines: Lines
    decisions: tuple[str, ...]
    decided: int


def _read(folder: Folder, *, sealed: bool) -> _Content:
    """Read the files that only a pair's rules need; see `read_arm` for what is raised."""
    documents = Documents(folder, details=False)
    definition = _definition(folder, documents)
    reader = LinesReader(ours=definition.present)
    outcomes: list[str] = []
    decided = 0

    def decide(number: int, line: Document) -> None:
        nonlocal decided
        decided += 1
        if len(outcomes) < _DECISIONS:
            outcomes.append(line["outcome"])

    documents.ndjson(RESULTS, "result", reader.take)
    documents.ndjson(GATES, "gate-decision", decide)
    if documents.problems or (sealed and not _is_as_sealed(folder, documents)):
        raise InputError(f"{folder.root}: changed while it was read; verify again when nothing writes to it")
    return _Content(definition, reader.lines(), tuple(outcomes), decided)


def _is_as_sealed(folder: Folder, documents: Documents) -> bool:
    """Whether the bytes read are those that the seal lists."""
    seal = read_seal(folder)
    if seal.document is None:
        return False
    stated = {subject["name"]: subject["digest"]["sha256"] for subject in seal.document["subject"]}
    return all(stated.get(path) == read.sha256 for path, read in documents.digests.items())


def read_definition(folder: Folder) -> Definition:
    """Return the facts of a run's definition; raises InputError where it cannot be read."""
    return _definition(folder, Documents(folder, details=False))


def _definition(folder: Folder, documents: Documents) -> Definition:
    entry = folder.get(DEFINITION)
    if entry is None:
        return ABSENT
    data, documents.digests[entry.name] = folder.content(entry, limits.JSON_BYTES)
    if data is None:
        return ABSENT._replace(present=True, fault=f"more than {limits.JSON_BYTES:,} bytes")
    try:
        return definition_facts(read_object(data))
    except UnreadableError as fault:
        return ABSENT._replace(present=True, fault=str(fault))


def _summary_of(path: str) -> Document | None:
    """Return the summary of a run where it reads, valid or not."""
    with Folder(path) as folder:
        return Documents(folder, details=False).json(SUMMARY, "summary", required=False).document


def _fields(found: object) -> tuple[Fields | None, str]:
    """Return the extension as a reader takes it, or why it is not valid."""
    if not isinstance(found, dict) or not validator("memory-pair", "reader")(found):
        for fault in explain("memory-pair", "reader", found):
            return None, f"{fault.pointer or 'the extension'}: {fault.message}"
        return None, "the extension is not valid"
    get: Callable[..., Any] = found.get
    return (
        Fields(
            get("pairId"),
            get("role"),
            get("sourceInputsDigest"),
            int(get("plannedQuestions")),
            int(get("observedQuestions")),
            _whole(get("scoredQuestions")),
            _whole(get("totalLlmCalls")),
            get("complete"),
            get("diagnosticOnly", False),
            _number(get("accuracyPercent")),
            get("normalRunHash"),
            _number(get("oracleGapPercentagePoints")),
        ),
        "",
    )


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _readable_pair_id(found: object) -> str | None:
    value = found.get("pairId") if isinstance(found, dict) else None
    is_id = isinstance(value, str) and 0 < len(value) <= 128 and all("!" <= character <= "~" for character in value)
    return value if is_id else None


def role_of(found: object) -> str | None:
    """Return the role that an extension states where it can be read, valid or not."""
    value = found.get("role") if isinstance(found, dict) else None
    return value if value in (NORMAL, ORACLE) else None


def _entries(summary: Document) -> Entries:
    """Return what the entries of a summary say, whatever stands in it."""
    ruled, verdicts, accuracy = 0, set(), None
    for lane in objects_in(summary, "lanes"):
        for entry in objects_in(lane, "metrics"):
            ruled += entry.get("rule") is not None
            verdict = text_in(entry, "verdict")
            if verdict is not None:
                verdicts.add(verdict)
            if (lane.get("lane"), entry.get("metric"), entry.get("path")) == (LANE, ACCURACY, QUESTION_PATH):
                accuracy = verdict
    return Entries(ruled, frozenset(verdicts), accuracy)
