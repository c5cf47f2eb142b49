"""What one line of `results.ndjson` decides alone, for any range of whole lines at a time.

In the order of 03 §3.9: `encoding`, `limit`, `schema`; then, for the lines before the first of those, `result-id`
[RES-4], `component`, `aggregation` [RES-5] [RES-6], `annotator` [RES-10], `pending` [RES-3], `evidence`, `blob`,
`reasoning-size`, `metric` [SUM-1], `content-capture` [RUN-11], `attack`, `interval`, `result-times` [RES-10].

A range is judged without any other one, here or in another process; what its lines say to other lines goes into
compact columns, and `tree.py` joins them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from aef_verify import limits
from aef_verify.encoding.digests import bare
from aef_verify.encoding.ijson import UnreadableError, line_parser, may_be_too_deep, parse_object, too_deep
from aef_verify.encoding.ndjson import LONG
from aef_verify.encoding.times import time_key
from aef_verify.run.reading import BEYOND, EXPLAINED
from aef_verify.schemas import validator
from aef_verify.schemas.refusal import refusal

if TYPE_CHECKING:
    from aef_verify.run.summary import Counted, Summary

UNIT = "\x1f"
_SECONDS = len("2026-10-02T14:00:00")
_RARE = frozenset(
    (
        "aggregation",
        "attack",
        "evidence",
        "parentResultId",
        "reasoning",
        "traceLink",
        "trial",
        "trials",
        "uncertainty",
    )
)
"""Members that few lines have: one look tells that a line has none of them."""

Line = dict[str, Any]
_ABSENCES = ("not_measured", "not_applicable", "skipped", "error", "pending")


def result_digest(run_id: str, case_id: str, path: str, trial: int | None = None) -> bytes:
    """Return the 16 bytes behind a `resultId` [RES-4]."""
    text = f"{run_id}{UNIT}{case_id}{UNIT}{path}{UNIT}{'' if trial is None else trial}"
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def result_id(run_id: str, case_id: str, path: str, trial: int | None = None) -> str:
    """Return the `resultId` of a line: `r_` and 32 hex characters [RES-4]."""
    return "r_" + result_digest(run_id, case_id, path, trial).hex()


def id_bytes(result_id: str) -> bytes:
    """Return the 16 bytes of a `resultId` that fits its pattern."""
    return bytes.fromhex(result_id[2:])


def twice(entries: Iterable[Line]) -> tuple[str, str | None] | None:
    """Return the first (role, model) that two `usage` entries share; an absent model is a value of its own."""
    seen: set[tuple[str, str | None]] = set()
    for entry in entries:
        party = entry["role"], entry.get("model")
        if party in seen:
            return party
        seen.add(party)
    return None


class Surroundings(NamedTuple):
    """What the lines are judged against: the other documents of the run, already read.

    `evidence` holds the evidence ids; `blobs` the size in bytes by hex name of every blob present; `withheld` the
    blobs that an authorized redaction withholds; `capture_off` whether `contentCapture` is `off` [RUN-11].
    """

    run_id: str
    closed: bool
    capture_off: bool
    metrics: frozenset[str]
    evidence: Container[str]
    blobs: dict[str, int]
    withheld: frozenset[str]


class Parent(NamedTuple):
    """A line with `aggregation`: what its children have to bear out; `line` counts from 1 within its range."""

    line: int
    total: int
    decisive: tuple[bytes, ...]


class Child(NamedTuple):
    """A line with a parent."""

    line: int
    parent: bytes


class Repeat(NamedTuple):
    """A line that carries `trial` or `trials`: what trials and rollups are compared by [RES-8].

    `trial` is None on a rollup, `rollup` (`n`, `passed`, `agree`) is None on a trial line.
    """

    line: int
    trial: int | None
    rollup: tuple[float, float, bool] | None
    case: str
    path: str
    state: str
    parent: bytes | None


class Found(NamedTuple):
    """A problem at a line that counts from 1 within its range."""

    line: int
    code: str
    detail: str
    value: object


class Part(NamedTuple):
    """What a range of whole lines gives.

    Attributes:
        lines: how many there are.
        blank: the first blank one, 0 without any; nothing else of the range is read then.
        faults: `encoding`, `limit` and `schema`, in order.
        taken: how many lines before the first fault were judged; all that follows but `unread` is about these.
        ids: their result ids, 16 bytes each.
        cases: their cases, and `paths` their paths, one a line.
        found: what is wrong with one of them.
        children: the lines with a parent.
        parents: the lines with `aggregation`.
        repeats: the lines with `trial` or `trials`.
        links: (line, traceId, spanId or None) of every `traceLink`.
        counted: what they give to the summary.
        unread: the result ids of the lines that read and were not judged, whatever text they are.
    """

    lines: int
    blank: int = 0
    faults: tuple[Found, ...] = ()
    taken: int = 0
    ids: bytes = b""
    cases: str = ""
    paths: str = ""
    found: tuple[Found, ...] = ()
    children: tuple[Child, ...] = ()
    parents: tuple[Parent, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    links: tuple[tuple[int, str, str | None], ...] = ()
    counted: tuple[Counted, ...] = ()
    unread: tuple[str, ...] = ()


class LineRules:
    """Judges ranges of whole lines one after the other, each for itself."""

    def __init__(self, around: Surroundings | None, totals: Summary | None, *, details: bool) -> None:
        """Start before the first range.

        Args:
            around: what the lines are judged against; None where they are only to be read and validated.
            totals: counts the lines for the summary.
            details: find the reason behind each `schema` problem, for people.
        """
        self.around = around if around is not None else Surroundings("", False, False, frozenset(), (), {}, frozenset())
        self._judging = around is not None
        self._totals = totals
        self._details = details
        self._explained = 0
        self._valid = validator("result", "reader")
        self._start = f"{self.around.run_id}{UNIT}".encode("utf-8", "surrogatepass")
        self._clear()

    def _clear(self) -> None:
        self._faults: list[Found] = []
        self._found: list[Found] = []
        self._children: list[Child] = []
        self._parents: list[Parent] = []
        self._repeats: list[Repeat] = []
        self._links: list[tuple[int, str, str | None]] = []
        self._unread: list[str] = []

    def _report(self, line: int, code: str, detail: str, value: object = None) -> None:
        self._found.append(Found(line, code, detail, value))

    def judge(self, data: bytes) -> Part:
        """Judge whole lines, each with its LF, as `Framing.cut` gives them."""
        lines = data.split(b"\n")
        lines.pop()
        if b"" in lines:
            return Part(len(lines), blank=lines.index(b"") + 1)
        self._clear()
        written: list[str] = []
        cases: list[str] = []
        paths: list[str] = []
        texts = self._read(data, lines, written, cases, paths)
        ids = self._ids(written, texts)
        return Part(
            len(lines),
            0,
            tuple(self._faults),
            len(written),
            ids,
            "\n".join(cases),
            "\n".join(paths),
            tuple(self._found),
            tuple(self._children),
            tuple(self._parents),
            tuple(self._repeats),
            tuple(self._links),
            () if self._totals is None else self._totals.counted(),
            tuple(self._unread),
        )

    def _read(
        self, data: bytes, lines: list[bytes], written: list[str], cases: list[str], paths: list[str]
    ) -> list[str]:
        """Parse, validate and judge the lines; returns what each one's result id is the hash of, but for the run."""
        texts: list[str] = []
        add_id, add_case, add_path, add_text = written.append, cases.append, paths.append, texts.append
        parse, valid, take = line_parser(data), self._valid, self._take
        judging, faults = self._judging, self._faults
        # Whether any line could be beyond a limit is seen at once for all of them.
        careful = may_be_too_deep(data) or LONG in lines or max(map(len, lines), default=0) > limits.JSON_BYTES
        for number, written_line in enumerate(lines, 1):
            if careful and (written_line == LONG or len(written_line) > limits.JSON_BYTES or too_deep(written_line)):
                faults.append(Found(number, "limit", BEYOND, None))
                continue
            try:
                line: Any = parse(written_line)
                if type(line) is not dict:
                    line = parse_object(written_line)
            except ValueError:
                try:
                    line = parse_object(written_line)
                except UnreadableError as fault:
                    faults.append(Found(number, fault.code, str(fault), None))
                    continue
            if not valid(line):
                self._invalid(number, line)
            elif judging and not faults:
                case, path = line["caseId"], line["path"]
                add_id(line["resultId"])
                add_case(case)
                add_path(path)
                add_text(f"{case}{UNIT}{path}{UNIT}{take(number, line)}")
                continue
            identity = line.get("resultId")
            if isinstance(identity, str):
                self._unread.append(identity)
        return texts

    def _invalid(self, number: int, line: Line) -> None:
        reason = refusal("result", line, details=self._details and self._explained < EXPLAINED)
        self._explained += 1
        self._faults.append(Found(number, "schema", *reason))

    def _ids(self, written: list[str], texts: list[str]) -> bytes:
        """Return the ids of the judged lines, compared with what they are to be."""
        start = self._start
        ids = bytes.fromhex("".join(written).replace("r_", ""))
        # No case and no path holds a control character: all are encoded at once.
        encoded = "\n".join(texts).encode("utf-8", "surrogatepass").split(b"\n") if texts else []
        due = b"".join([sha256(start + text).digest()[:16] for text in encoded])
        if ids != due:
            for place, text in enumerate(written):
                identity, expected = ids[16 * place : 16 * place + 16], due[16 * place : 16 * place + 16]
                if identity != expected:
                    detail = f"the id of this case, path and trial is r_{expected.hex()}"
                    self._report(place + 1, "result-id", detail, text)
        return ids

    def _take(self, number: int, line: Line) -> int | str:
        """Judge one line, valid against the reader schema; returns its trial as its id is made of it [RES-4]."""
        get, around = line.get, self.around
        state = line["state"]
        if state == "pending" and self.around.closed:
            self._report(number, "pending", "a closed run has no pending result; write skipped or error", state)
        scores = get("scores")
        if scores is not None and (len(scores) != 1 or scores[0]["metric"] not in around.metrics):
            self._scores(number, scores)
        annotator = get("annotator")
        if annotator is not None and (around.capture_off or "panel" in annotator):
            self._annotator(number, annotator)
        usage = get("usage")
        if usage is not None and len(usage) > 1 and (party := twice(usage)):
            self._report(
                number,
                "result-times",
                "usage names one role and model twice",
                " / ".join(filter(None, party)),
            )
        ended, started = get("endedAt"), get("startedAt")
        # Most lines end in a later second than they started in.
        if ended is not None and started is not None and ended[:_SECONDS] <= started[:_SECONDS]:
            self._times(number, started, ended)
        if self._totals is not None:
            self._totals.take(line)
        trial = None if _RARE.isdisjoint(line) else self._rare(number, line, get)
        return "" if trial is None else trial

    def _rare(self, number: int, line: Line, get: Any) -> int | None:
        """Judge the members that few lines have; returns the line's trial."""
        trial: int | None = get("trial")
        if trial is not None:
            trial = int(trial)
        above = get("parentResultId")
        parent = None if above is None else id_bytes(above)
        if parent is not None:
            self._children.append(Child(number, parent))
            if "component" not in line:
                self._report(number, "component", "a line with a parent has no component", above)
        if "aggregation" in line:
            self._aggregation(number, line["aggregation"])
        if trial is not None:
            self._repeats.append(Repeat(number, trial, None, line["caseId"], line["path"], line["state"], parent))
        elif "trials" in line:
            facts = line["trials"]
            rollup = facts["n"], facts["passed"], facts["agree"]
            self._repeats.append(Repeat(number, None, rollup, line["caseId"], line["path"], "", parent))
        if (cited := get("evidence")) is not None:
            for evidence in cited:
                if evidence not in self.around.evidence:
                    self._report(number, "evidence", "no record of evidence.ndjson has this id", evidence)
                    break
        if (reasoning := get("reasoning")) is not None:
            self._reasoning(number, reasoning)
        if (link := get("traceLink")) is not None:
            self._links.append((number, link["traceId"], link.get("spanId")))
        if (uncertainty := get("uncertainty")) is not None and (fault := inverted(uncertainty.get("ci"))):
            self._report(number, "interval", fault)
        if (attack := get("attack")) is not None and line["state"] == "passed" and attack.get("success") is True:
            self._report(
                number,
                "attack",
                "an attack that succeeded cannot stand on a passed line",
                attack["technique"],
            )
        return trial

    def _aggregation(self, number: int, facts: Line) -> None:
        total, measured = int(facts["total"]), int(facts["measured"])
        absent = facts.get("unmeasured", {})
        unmeasured = sum(int(absent.get(state, 0)) for state in _ABSENCES)
        if measured + unmeasured != total:
            detail = f"measured {measured} and unmeasured {unmeasured} do not add up to total {total}"
            self._report(number, "aggregation", detail)
        decisive = tuple(id_bytes(result) for result in facts.get("decisive", ()))
        self._parents.append(Parent(number, total, decisive))

    def _times(self, number: int, started: str, ended: str) -> None:
        if time_key(ended) < time_key(started):
            self._report(number, "result-times", f"endedAt is before startedAt {started}", ended)

    def _scores(self, number: int, scores: list[Line]) -> None:
        declared = self.around.metrics
        seen: set[str] = set()
        for score in scores:
            metric = score["metric"]
            if metric not in declared:
                self._report(number, "metric", "metrics.json declares no such metric", metric)
                return
            if metric in seen:
                self._report(number, "metric", "one line scores this metric twice", metric)
                return
            seen.add(metric)

    def _annotator(self, number: int, annotator: Line) -> None:
        panel = annotator.get("panel")
        if panel is not None and panel["agree"] > panel["of"]:
            detail = f"panel.agree {panel['agree']} is more than panel.of {panel['of']}"
            self._report(number, "annotator", detail)
        if self.around.capture_off and "promptHash" in annotator:
            detail = "contentCapture is off, and a promptHash is a digest of content"
            self._report(number, "content-capture", detail, annotator["promptHash"])

    def _reasoning(self, number: int, reasoning: Line) -> None:
        if self.around.capture_off:
            self._report(number, "content-capture", "contentCapture is off, and the line keeps reasoning")
        name = bare(reasoning["blob"])
        size = self.around.blobs.get(name)
        if size is None:
            if name not in self.around.withheld:
                self._report(number, "blob", "the blob of its reasoning is not in the run", name)
        elif size != reasoning["bytes"]:
            self._report(number, "reasoning-size", f"the blob has {size} bytes", reasoning["bytes"])


def inverted(interval: Line | None) -> str:
    """Say what is wrong with an interval whose `low` is above its `high` as binary64 [ENC-4], or nothing."""
    if interval is not None and float(interval["low"]) > float(interval["high"]):
        return f"low {interval['low']} is above high {interval['high']}"
    return ""
