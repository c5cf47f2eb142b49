"""Judging release decisions and jobs: `checkpoint`, `lane`, `decision`, `matching`, `stream`, `plan-conformance`.

Rules kept: as in `judge`. Beyond them: `problems` of a checkpoint that the reader refuses is `null`; `anchors` are
compared where the vector states them; a refused decision input passes with any message (09 §9.2.1, §9.3).
"""

from __future__ import annotations

from collections.abc import Mapping

from aef_verify.conformance.case import Case, shown
from aef_verify.conformance.index import CorpusError, located
from aef_verify.conformance.judge import Judge, member, problem_differences


def judge_checkpoint(case: Case) -> list[str]:
    """Judge `checkpoint`: both sides, and the codes of [CKP-7] or `null`."""
    got = case.answer("checkpoint", case.place("document", "document.json"))
    case.stated("writer")
    expected = case.expected if case.stated("reader") == "valid" else {**case.expected, "problems": None}
    if "problems" not in expected:
        raise CorpusError(f"{case.vector.path}: the reader accepts, and no problems are stated")
    return [line for name in ("writer", "reader", "problems") for line in member(expected, got, name)]


def judge_lane(case: Case) -> list[str]:
    """Judge `lanes`: each lane's result in manifest order, the problems of [CKP-8], the anchors of [CKP-9]."""
    words = ["lanes", case.place("checkpoint"), "--runs", case.place("runs")]
    if "at" in case.expected:
        words += ["--at", case.text("at")]
    got = case.answer(*words, *case.options("policy", "envelope"))
    case.stated("lanes")
    return [
        *member(case.expected, got, "lanes"),
        *problem_differences(case.stated("problems"), got.get("problems")),
        *(member(case.expected, got, "anchors") if "anchors" in case.expected else ()),
    ]


def judge_decision(case: Case) -> list[str]:
    """Judge `decide`: the decision, or a refusal in its own words."""
    vector = case.content()
    if not isinstance(vector, dict) or ("expected" in vector) == ("expectedError" in vector):
        raise CorpusError(f"{case.vector.path}: states neither a decision nor an error")
    got = case.answer("decide", located(case.folder, case.vector.path.rpartition("/")[2]))
    if "expected" in vector:
        return _refused(got) or member({"output": vector["expected"]}, got, "output")
    if "output" in got:
        return [f"decided {shown(got['output'])}, and a refusal is expected: {vector['expectedError']}"]
    error = got.get("error")
    return [] if isinstance(error, str) and error.strip() else [f"error: expected a message, got {shown(error)}"]


def _refused(got: Mapping[str, object]) -> list[str]:
    return [f"refused, and a decision is expected: {shown(got['error'])}"] if "error" in got else []


def judge_matching(case: Case) -> list[str]:
    """Judge `match`: whether the runner takes the plan [PLAN-7]."""
    got = case.answer("match", case.place("plan", "plan.json"), case.place("runner", "runner.json"))
    case.stated("matches")
    return member(case.expected, got, "matches")


def judge_stream(case: Case) -> list[str]:
    """Judge `stream`: the problems of [STRM-3]."""
    got = case.answer("stream", case.place("events", "events.ndjson"), case.place("plan"))
    return problem_differences(case.stated("problems"), got.get("problems"))


def judge_conform(case: Case) -> list[str]:
    """Judge `conform`: the problems of [STRM-4]."""
    places = (case.place(name) for name in ("events", "plan", "runs"))
    got = case.answer("conform", *places, *case.options("policy"))
    return problem_differences(case.stated("problems"), got.get("problems"))


RELEASE: dict[str, Judge] = {
    "checkpoint": judge_checkpoint,
    "lane": judge_lane,
    "decision": judge_decision,
    "matching": judge_matching,
    "stream": judge_stream,
    "plan-conformance": judge_conform,
}
"""The judge of each kind about decisions, plans and streams; each only reads."""
