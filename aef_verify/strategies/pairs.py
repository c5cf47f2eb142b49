"""Pairs of runs of one memory benchmark: a normal and an oracle arm that belong together (docs/MEMORY_PAIR.md).

`draft` states the documents of one arm, which a test may change; `finished` makes a run's files of them; `pairs` draws
two arms that are linked. Three layouts: `ours` (the profile's own, with a definition), `cases` (a root case for each
question, no definition) and `tree` (one case: a root, the question types, the questions). Everything is computed here
from the text of the profile and the format, not by the rooms that check it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import rfc8785
from hypothesis import strategies as st

from aef_verify.strategies.files import LINE_FILES, RunFiles, json_file, json_line, sha256

TYPES = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)
OURS, CASES, TREE = LAYOUTS = ("ours", "cases", "tree")
EXTENSION = "agenteval.memoryPair"
DEFINITION = "ext/longmemeval/definition.json"
SOURCE = "sha256:" + "5e" * 32
_STARTED = {"normal": "2026-10-02T14:00:00Z", "oracle": "2026-10-02T15:00:00Z"}
_ENDED = {"normal": "2026-10-02T15:00:00Z", "oracle": "2026-10-02T16:00:00Z"}
_RUBRIC = "sha256:" + "ab" * 32
_MEASURED = ("passed", "failed")

Document = dict[str, Any]
Documents = dict[str, Any]


class Question(NamedTuple):
    """One question of a roster: its id, its type, and the state it came to in the normal and in the oracle arm.

    An arm that was interrupted before the question was begun has the state None.
    """

    id: str
    type: str
    normal: str | None
    oracle: str | None


class PairFiles(NamedTuple):
    """The two runs of a pair; `write` puts them side by side into a folder."""

    normal: RunFiles
    oracle: RunFiles

    def write(self, folder: str) -> tuple[str, str]:
        """Write both runs below a folder and return where they are."""
        return self.normal.write(f"{folder}/normal"), self.oracle.write(f"{folder}/oracle")


def jcs_digest(value: object) -> str:
    """Return the digest of a value's canonical JSON."""
    return "sha256:" + sha256(rfc8785.dumps(value))  # type: ignore[arg-type]  # a JSON value, whatever its type here


def accuracy(questions: Sequence[Question], role: str) -> float | None:
    """Return the accuracy of an arm in percent."""
    states = [getattr(question, role) for question in questions]
    scored = sum(state in _MEASURED for state in states)
    return 100 * states.count("passed") / scored if scored else None


def draft(
    role: str,
    questions: Sequence[Question],
    *,
    layout: str = OURS,
    pair_id: str = "pair-1",
    run_id: str | None = None,
    complete: bool = True,
    threshold: str = "50",
    normal_run_hash: str | None = None,
    normal_accuracy: float | None = None,
) -> Documents:
    """State the documents of an arm, by path: an object for a JSON file, a list for an NDJSON file.

    Args:
        role: `normal` or `oracle`.
        questions: the roster, with what became of each question.
        layout: one of `LAYOUTS`.
        pair_id: of the execution.
        run_id: of the run; by default the pair's id and the role.
        complete: whether the arm ran to its end.
        threshold: what the normal arm's gate decides by, in percent.
        normal_run_hash: of an oracle, the hash that it names.
        normal_accuracy: of an oracle, the accuracy of its completed normal arm.
    """
    identity = run_id or f"{pair_id}-{role}"
    states = [(question, getattr(question, role)) for question in questions]
    begun = [(question, state) for question, state in states if state is not None]
    documents: Documents = {
        "run.json": _header(role, identity, complete),
        "results.ndjson": _LINES[layout](identity, begun),
        "metrics.json": _METRICS,
        "summary.json": {"schemaVersion": "1.0", "runId": identity, "lanes": []},
    }
    if layout == OURS:
        documents[DEFINITION] = definition(role, questions, threshold)
        redefine(documents)
    recount(documents)
    if layout == OURS and role == "normal" and complete:
        decide(documents)
    measured = accuracy(questions, role) if complete else None
    scored = sum(state in _MEASURED for _, state in begun)
    documents["summary.json"]["ext"] = {
        EXTENSION: {
            "schemaVersion": "1.0",
            "pairId": pair_id,
            "role": role,
            "sourceInputsDigest": SOURCE,
            "plannedQuestions": len(questions),
            "observedQuestions": len(begun),
            "scoredQuestions": scored if complete else None,
            "totalLlmCalls": 2 * len(begun) if complete else None,
            "complete": complete,
            "diagnosticOnly": role == "oracle",
            "accuracyPercent": measured,
            "normalRunHash": normal_run_hash,
            "oracleGapPercentagePoints": None
            if role == "normal" or measured is None or normal_accuracy is None
            else measured - normal_accuracy,
        }
    }
    return documents


def definition(role: str, questions: Sequence[Question], threshold: str = "50") -> Document:
    """State the definition of an arm."""
    oracle = role == "oracle"
    return {
        "format": "aef-verify-longmemeval-1",
        "arm": role,
        "variant": "fixture",
        "preset": "subset",
        "seed": 7,
        "sourceInputsDigest": SOURCE,
        "roster": [{"id": question.id, "type": question.type} for question in questions],
        "historyFormat": "turns-1",
        "projection": "gold-sessions-1" if oracle else None,
        "agent": {"name": "oracle-reader" if oracle else "full-history"},
        "answer": {"model": "answerer", "version": None, "temperature": 0, "maxTokens": 256, "promptDigest": _RUBRIC},
        "judge": {"model": "grader", "temperature": 0, "maxTokens": 8, "labelRule": "first-word", "policy": "absent"},
        "thresholds": None if oracle else {"accuracyPercent": threshold},
    }


def redefine(documents: Documents) -> None:
    """Name the definition that is there in the suite, as its producer would."""
    found = documents[DEFINITION]
    digest = jcs_digest(found)
    documents["run.json"]["suite"] = {
        "ref": f"suite:longmemeval-{found['variant']}-{found['preset']}-{found['arm']}",
        "version": "1+" + digest[7:23],
        "digest": digest,
        "frozen": True,
    }


def recount(documents: Documents) -> None:
    """Recompute the entries of the summary from the results; only our layout has any."""
    if DEFINITION not in documents:
        return
    places = [("longmemeval", "qa"), *((f"longmemeval.{kind}", "type") for kind in TYPES)]
    places.append(("longmemeval.abstention", "abstention"))
    documents["summary.json"]["lanes"] = [
        {"lane": lane, "metrics": [_entry(documents["results.ndjson"], lane, path)]} for lane, path in places
    ]


def _entry(lines: Sequence[Document], lane: str, path: str) -> Document:
    states = [line["state"] for line in lines if (line["lane"], line["path"]) == (lane, path)]
    n, passed = sum(state in _MEASURED for state in states), states.count("passed")
    entry: Document = {"metric": "accuracy", "path": path, "N": len(states), "n": n, "notMeasured": len(states) - n}
    if not n:
        return entry | {"value": None, "verdict": "not_measured"}
    return entry | {"sum": passed, "value": passed / n, "verdict": "scored"}


def decide(documents: Documents) -> None:
    """Give a completed normal arm its one decision, and its accuracy entry the verdict that goes with it."""
    entry = documents["summary.json"]["lanes"][0]["metrics"][0]
    found = documents[DEFINITION]
    planned, passed = len(found["roster"]), entry.get("sum", 0)
    due = Fraction(found["thresholds"]["accuracyPercent"]) * planned
    outcome = "inconclusive"
    if entry["n"]:
        outcome = "ship" if 100 * passed >= due else outcome
        outcome = "no_ship" if 100 * (passed + planned - entry["n"]) < due else outcome
        entry |= {
            "verdict": {"ship": "passed", "no_ship": "failed"}.get(outcome, outcome),
            "rule": "100 * passed >= threshold * planned",
        }
    documents["gates.ndjson"] = [decision(outcome, documents["run.json"]["endedAt"])]


def decision(outcome: str, at: str) -> Document:
    """State one gate decision."""
    return {
        "schemaVersion": "1.0",
        "gateId": "gate:longmemeval-accuracy",
        "decisionId": "decision-1",
        "rule": {"strategy": "accuracy-threshold"},
        "inputs": {},
        "comparability": "not_applicable",
        "outcome": outcome,
        "exitCode": int(outcome != "ship"),
        "decidedAt": at,
    }


def finished(documents: Mapping[str, Any], *, sealed: bool = True) -> RunFiles:
    """Return the run that some documents are; bytes are taken as they are."""
    files = RunFiles({path: _bytes(path, document) for path, document in documents.items()})
    return files.sealed() if sealed else files


def _bytes(path: str, document: Any) -> bytes:
    if isinstance(document, bytes):
        return document
    return b"".join(map(json_line, document)) if path in LINE_FILES else json_file(document)


_METRICS: Document = {
    "schemaVersion": "1.0",
    "metrics": [
        {"id": "accuracy", "kind": "rate", "direction": "higher_better", "scale": {"min": 0, "max": 1}},
    ],
}


def _header(role: str, run_id: str, complete: bool) -> Document:
    return {
        "schemaVersion": "1.0",
        "runId": run_id,
        "status": "completed" if complete else "aborted",
        **({} if complete else {"abortReason": "interrupted"}),
        "producer": {"name": "pair-maker", "version": "1.0.0"},
        "subject": {"ref": "agent:oracle-reader" if role == "oracle" else "agent:mine", "kind": "agent"},
        "suite": {"ref": f"suite:memory-{role}", "version": "1"},
        "judges": [{"model": "grader", "mode": "single", "rubricDigest": _RUBRIC}],
        "execution": {"targetMode": "scripted"},
        "contentCapture": "off",
        "startedAt": _STARTED[role],
        "endedAt": _ENDED[role],
    }


_Begun = Sequence[tuple[Question, str]]


def _line(run_id: str, case: str, path: str, state: str, **members: Any) -> Document:
    line: Document = {
        "schemaVersion": "1.0",
        "resultId": _result_id(run_id, case, path),
        "caseId": case,
        "path": path,
        "evaluator": {"id": "longmemeval-judge", "version": "1"},
        "state": state,
    }
    if state == "failed":
        line["severity"] = "low"
    elif state != "passed":
        line["reason"] = "judge-no-verdict"
    return line | members


def _result_id(run_id: str, case: str, path: str) -> str:
    return "r_" + sha256("\x1f".join((run_id, case, path, "")).encode())[:32]


def _aggregation(states: Sequence[str]) -> Document:
    measured = sum(state in _MEASURED for state in states)
    absent = {state: states.count(state) for state in dict.fromkeys(states) if state not in _MEASURED}
    facts: Document = {"strategy": "Own", "rulePath": "threshold" if measured else "nothing-measured"}
    facts |= {"measured": measured, "total": len(states)}
    return facts | ({"unmeasured": absent} if absent else {})


_CHILD: Document = {"component": {"weight": 0, "required": False}}


def _our_lines(run_id: str, begun: _Begun) -> list[Document]:
    lines = []
    for question, state in begun:
        views = [("type", f"longmemeval.{question.type}")]
        if question.id.endswith("_abs"):
            views.append(("abstention", "longmemeval.abstention"))
        shown = _aggregation([state] * len(views))
        lines.append(_line(run_id, question.id, "qa", state, lane="longmemeval", aggregation=shown))
        parent = {"parentResultId": _result_id(run_id, question.id, "qa")} | _CHILD
        lines += (_line(run_id, question.id, path, state, lane=lane, **parent) for path, lane in views)
    return lines


def _case_lines(run_id: str, begun: _Begun) -> list[Document]:
    return [_line(run_id, question.id, "answer", state) for question, state in begun]


def _tree_lines(run_id: str, begun: _Begun) -> list[Document]:
    case, root = "longmemeval", "longmemeval"
    kinds = list(dict.fromkeys(question.type for question, _ in begun))
    lines = []
    for kind in kinds:
        states = [state for question, state in begun if question.type == kind]
        parent = {"parentResultId": _result_id(run_id, case, root)} | _CHILD
        lines.append(_line(run_id, case, f"{root}/{kind}", "passed", aggregation=_aggregation(states), **parent))
    for question, state in begun:
        above = f"{root}/{question.type}"
        parent = {"parentResultId": _result_id(run_id, case, above)} | _CHILD
        lines.append(_line(run_id, case, f"{above}/{question.id}", state, **parent))
    if kinds:
        lines.insert(0, _line(run_id, case, root, "passed", aggregation=_aggregation(["passed"] * len(kinds))))
    return lines


_LINES = {OURS: _our_lines, CASES: _case_lines, TREE: _tree_lines}

_STATES = st.sampled_from(("passed", "failed", "passed", "failed", "error", "not_measured"))
_THRESHOLDS = st.sampled_from(("0", "50", "66.7", "100"))


def pairs(
    *, layouts: Sequence[str] = LAYOUTS, sealed: bool | None = None, max_questions: int = 6
) -> st.SearchStrategy[PairFiles]:
    """Two arms that belong together: a verifier says `linked`, or `linked-unsealed` where they are not sealed.

    Args:
        layouts: what the layout of both may be, of `LAYOUTS`.
        sealed: whether both are sealed; either where it is None.
        max_questions: how many questions there are at most.
    """
    return _pairs(layouts, sealed, max_questions)


@st.composite
def _pairs(draw: st.DrawFn, layouts: Sequence[str], sealed: bool | None, max_questions: int) -> PairFiles:
    layout = draw(st.sampled_from(layouts))
    is_sealed = draw(st.booleans()) if sealed is None else sealed
    complete = draw(st.booleans())
    abstains = draw(st.lists(st.booleans(), max_size=max_questions))
    questions = [
        Question(
            f"q{number}{'_abs' * abstention}",
            draw(st.sampled_from(TYPES)),
            draw(_STATES),
            draw(_STATES if complete else st.none() | _STATES),
        )
        for number, abstention in enumerate(abstains)
    ]
    threshold = draw(_THRESHOLDS)
    pair_id = draw(st.from_regex(r"[0-9a-z]{1,12}", fullmatch=True))
    normal = finished(draft("normal", questions, layout=layout, pair_id=pair_id, threshold=threshold), sealed=is_sealed)
    oracle = draft(
        "oracle",
        questions,
        layout=layout,
        pair_id=pair_id,
        complete=complete,
        normal_run_hash=normal.run_hash if is_sealed else None,
        normal_accuracy=accuracy(questions, "normal"),
    )
    return PairFiles(normal, finished(oracle, sealed=is_sealed))
