"""Rules over the lines of `results.ndjson`, one pass, compact columns.

In the order of 03 §3.9: `result-id` [RES-4], `parent`, `component`, `aggregation` [RES-5] [RES-6], `annotator`
[RES-10], `trials` [RES-8] (in `trials.py`), `pending` [RES-3], `evidence`, `blob`, `reasoning-size`, `metric` [SUM-1],
`content-capture` [RUN-11], `attack`, `interval`, `result-times` [RES-10].

Every line given here is valid against the reader schema. What needs one line is judged when the line is given, what
needs others (children, trials) when the last one was.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from aef_verify.encoding.digests import bare
from aef_verify.encoding.times import time_key
from aef_verify.layout import RESULTS
from aef_verify.problems import Problem
from aef_verify.run.trials import Trials

UNIT = "\x1f"

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


class _Parent(NamedTuple):
    """A line with `aggregation`: what its children have to bear out."""

    line: int
    id: bytes
    total: int
    decisive: tuple[bytes, ...]


class ResultRules:
    """Takes the lines of `results.ndjson` in order; `problems` grows, `finish` adds what needed all lines.

    Attributes:
        ids: 16-byte result id to the number of the last line that has it.
        links: (line, traceId, spanId or None) of every `traceLink`, lower case as the schema has them.
    """

    def __init__(self, around: Surroundings) -> None:
        """Start before the first line."""
        self.around = around
        self.problems: list[Problem] = []
        self.ids: dict[bytes, int] = {}
        self.links: list[tuple[int, str, str | None]] = []
        self.trials = Trials(around.closed)
        self._cases: list[str] = [""]
        self._paths: list[str] = [""]
        self._known_paths: dict[str, str] = {}
        self._repeats: dict[bytes, list[int]] = {}
        self._children: list[tuple[int, bytes, bytes, int | None]] = []
        self._parents: list[_Parent] = []
        self._aggregated: set[int] = set()
        self._trial_of: dict[bytes, int] = {}

    def _report(self, line: int, code: str, detail: str, value: object = None) -> None:
        self.problems.append(Problem(f"{RESULTS}:{line}", code, detail, value))

    def take(self, number: int, line: Line) -> None:
        """Judge one line, valid against the reader schema, and keep what later lines may need."""
        get = line.get
        case, path, state, written = line["caseId"], line["path"], line["state"], line["resultId"]
        trial = get("trial")
        if trial is not None:
            trial = int(trial)
        path = self._known_paths.setdefault(path, path)
        self._cases.append(case)
        self._paths.append(path)
        identity = id_bytes(written)
        expected = result_digest(self.around.run_id, case, path, trial)
        if identity != expected:
            self._report(number, "result-id", f"the id of this case, path and trial is r_{expected.hex()}", written)
        if identity in self.ids:
            first = self.ids[identity]
            self._report(number, "result-id", f"line {first} has this resultId already", written)
            self._repeats.setdefault(identity, [first]).append(number)
        self.ids[identity] = number
        above = get("parentResultId")
        parent = None if above is None else id_bytes(above)
        if parent is not None:
            self._children.append((number, identity, parent, trial))
            if "component" not in line:
                self._report(number, "component", "a line with a parent has no component", above)
        if "aggregation" in line:
            self._aggregation(number, identity, line["aggregation"])
        if trial is not None:
            self._trial_of[identity] = trial
            self.trials.trial(number, case, path, state, parent)
        else:
            if identity in self._trial_of:
                del self._trial_of[identity]
            if "trials" in line:
                self.trials.rollup(number, case, path, line["trials"], identity, parent)
        if state == "pending" and self.around.closed:
            self._report(number, "pending", "a closed run has no pending result; write skipped or error", state)
        self._facts(number, line, get)

    def _aggregation(self, number: int, identity: bytes, facts: Line) -> None:
        self._aggregated.add(number)
        total, measured = int(facts["total"]), int(facts["measured"])
        absent = facts.get("unmeasured", {})
        unmeasured = sum(int(absent.get(state, 0)) for state in _ABSENCES)
        if measured + unmeasured != total:
            detail = f"measured {measured} and unmeasured {unmeasured} do not add up to total {total}"
            self._report(number, "aggregation", detail)
        decisive = tuple(id_bytes(result) for result in facts.get("decisive", ()))
        self._parents.append(_Parent(number, identity, total, decisive))

    def _facts(self, number: int, line: Line, get: Any) -> None:
        """Judge the facts of one line that need no other line."""
        if (scores := get("scores")) is not None:
            self._scores(number, scores)
        if (annotator := get("annotator")) is not None:
            self._annotator(number, annotator)
        if (usage := get("usage")) is not None and len(usage) > 1 and (party := twice(usage)):
            self._report(
                number,
                "result-times",
                "usage names one role and model twice",
                " / ".join(filter(None, party)),
            )
        if (ended := get("endedAt")) is not None:
            self._times(number, get("startedAt"), ended)
        if (cited := get("evidence")) is not None:
            for evidence in cited:
                if evidence not in self.around.evidence:
                    self._report(number, "evidence", "no record of evidence.ndjson has this id", evidence)
                    break
        if (reasoning := get("reasoning")) is not None:
            self._reasoning(number, reasoning)
        if (link := get("traceLink")) is not None:
            self.links.append((number, link["traceId"], link.get("spanId")))
        if (uncertainty := get("uncertainty")) is not None and (fault := inverted(uncertainty.get("ci"))):
            self._report(number, "interval", fault)
        if (attack := get("attack")) is not None and line["state"] == "passed" and attack.get("success") is True:
            self._report(
                number,
                "attack",
                "an attack that succeeded cannot stand on a passed line",
                attack["technique"],
            )

    def _times(self, number: int, started: str | None, ended: str) -> None:
        if started is not None and time_key(ended) < time_key(started):
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

    def finish(self) -> list[Problem]:
        """Judge what needed every line and return all problems, unordered."""
        self.problems.extend(self._tree())
        self.problems.extend(self.trials.problems(self._path_of))
        return self.problems

    def _tree(self) -> Iterator[Problem]:
        """Children against parents, both ways [RES-5], [RES-6], [RES-8]."""
        kids: dict[bytes, set[bytes]] = {}
        for number, child, parent, trial in self._children:
            yield from self._parenthood(number, parent, trial)
            kids.setdefault(parent, set()).add(child)
        for parent in kids:
            for number in self._lines_of(parent):
                if number not in self._aggregated:
                    yield Problem(f"{RESULTS}:{number}", "aggregation", "the line has children and no aggregation")
        nobody: set[bytes] = set()
        for node in self._parents:
            children = kids.get(node.id, nobody)
            if len(children) != node.total:
                detail = f"the number of its children is {len(children)}"
                yield Problem(f"{RESULTS}:{node.line}", "aggregation", detail, node.total)
            for decisive in node.decisive:
                if decisive not in children:
                    detail = "a decisive id is no child of the line"
                    yield Problem(f"{RESULTS}:{node.line}", "aggregation", detail, "r_" + decisive.hex())
                    break

    def _path_of(self, identity: bytes) -> str | None:
        number = self.ids.get(identity)
        return None if number is None else self._paths[number]

    def _lines_of(self, identity: bytes) -> Iterable[int]:
        if identity in self._repeats:
            return self._repeats[identity]
        return (self.ids[identity],) if identity in self.ids else ()

    def _parenthood(self, number: int, parent: bytes, own: int | None) -> Iterator[Problem]:
        above = self.ids.get(parent)
        if above is None:
            yield Problem(f"{RESULTS}:{number}", "parent", "no line of the run has this resultId", "r_" + parent.hex())
            return
        if self._cases[above] != self._cases[number]:
            detail = f"the parent, line {above}, is of another case"
            yield Problem(f"{RESULTS}:{number}", "parent", detail, self._cases[above])
        expected = self._trial_of.get(parent)
        if own != expected:
            if expected is None:
                detail = f"the line carries trial {own}, and its parent, line {above}, carries none"
            else:
                detail = f"its parent, line {above}, carries trial {expected}, and the line does not repeat it"
            yield Problem(f"{RESULTS}:{number}", "trials", detail, own)


def inverted(interval: Line | None) -> str:
    """Say what is wrong with an interval whose `low` is above its `high` as binary64 [ENC-4], or nothing."""
    if interval is not None and float(interval["low"]) > float(interval["high"]):
        return f"low {interval['low']} is above high {interval['high']}"
    return ""
