"""Pairs for tests: the documents of both arms, edited as a test needs, linked, sealed, checked; in three layouts.

An edit is a function of a `Drafts`. Edits come before the arms are finished: what must fit an edited document (its
digest in the suite, the counts of the summary) is refitted by an edit of its own, as a producer that cheats would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from aef_verify.memory.pair import PairReport, check_given
from aef_verify.memory.pair_arm import Arm, read_arm
from aef_verify.problems import Problem
from aef_verify.run.verify import verify_run
from aef_verify.strategies import RunFiles
from aef_verify.strategies.pairs import (
    DEFINITION,
    EXTENSION,
    OURS,
    TYPES,
    Question,
    accuracy,
    decision,
    draft,
    finished,
    recount,
    redefine,
)

RUN, SUMMARY, RESULTS, GATES = "run.json", "summary.json", "results.ndjson", "gates.ndjson"
NORMAL, ORACLE = "normal", "oracle"
PAIR = "pair:pair-1"
AT_NORMAL, AT_ORACLE = "run:pair-1-normal", "run:pair-1-oracle"

QUESTIONS = (
    Question("q1", TYPES[0], "passed", "passed"),
    Question("q2_abs", TYPES[1], "failed", "passed"),
    Question("q3", TYPES[4], "passed", "failed"),
    Question("q4", TYPES[3], "failed", "passed"),
)
"""Two of four passed, and three of four: accuracies 50 and 75, so that a threshold of 50 ships."""

INTERRUPTED = (*QUESTIONS[:2], *(question._replace(oracle=None) for question in QUESTIONS[2:]))
"""The same, the oracle interrupted after two questions."""

Json = dict[str, Any]


class Drafts:
    """Both arms before they are finished.

    Attributes:
        normal, oracle: the documents of each by path.
        link: whether the oracle names the normal run's seal hash when both are finished; off once a test names one.
        sealed: which roles are sealed.
    """

    def __init__(
        self,
        questions: Sequence[Question] = QUESTIONS,
        *,
        layout: str = OURS,
        pair_id: str = "pair-1",
        sealed: bool = True,
        complete: bool = True,
        threshold: str = "50",
    ) -> None:
        self.normal = draft(NORMAL, questions, layout=layout, pair_id=pair_id, threshold=threshold)
        self.oracle = draft(
            ORACLE,
            questions,
            layout=layout,
            pair_id=pair_id,
            complete=complete,
            normal_accuracy=accuracy(questions, NORMAL),
        )
        self.link = True
        self.sealed = {NORMAL, ORACLE} if sealed else set()

    def of(self, role: str) -> Json:
        """Return the documents of an arm."""
        return self.normal if role == NORMAL else self.oracle

    def but(self, *edits: Edit) -> Drafts:
        """Apply edits in order and return these drafts."""
        for edit in edits:
            edit(self)
        return self

    def finished(self) -> tuple[RunFiles, RunFiles]:
        """Return both runs, the oracle linked to the normal one."""
        normal = finished(self.normal, sealed=NORMAL in self.sealed)
        if self.link and NORMAL in self.sealed:
            pair_of(self.oracle)["normalRunHash"] = normal.run_hash
        return normal, finished(self.oracle, sealed=ORACLE in self.sealed)

    def arms(self, folder: Path) -> tuple[Arm, Arm]:
        """Return both arms as they are read of their runs."""
        normal, oracle = self.finished()
        return arm_of(normal, folder / "normal"), arm_of(oracle, folder / "oracle")

    def report(self, folder: Path) -> PairReport:
        """Return what is said of the two runs, given as a pair."""
        return check_given(*self.arms(folder))


Edit = Callable[[Drafts], object]


def arm_of(run: RunFiles, folder: Path) -> Arm:
    """Write a run, verify it and read it as an arm."""
    arm = read_arm(verify_run(run.write(folder)))
    assert arm is not None
    return arm


def pair_of(documents: Json) -> Json:
    """Return the pair fields of an arm."""
    found: Json = documents[SUMMARY]["ext"][EXTENSION]
    return found


def codes(problems: Sequence[Problem]) -> list[tuple[str, str]]:
    """Return problems as (path, code)."""
    return [problem.pair for problem in problems]


# Edits


def field(role: str, name: str, value: Any) -> Edit:
    """Set a pair field."""
    return lambda drafts: pair_of(drafts.of(role)).__setitem__(name, value)


def without(role: str, name: str) -> Edit:
    """Take a pair field away."""
    return lambda drafts: pair_of(drafts.of(role)).pop(name)


def put(role: str, path: str, *steps: Any) -> Edit:
    """Set the value at a place in a document: `put("normal", "run.json", "suite", "version", "4")`."""

    def edit(drafts: Drafts) -> None:
        holder = drafts.of(role)
        *way, last, value = (path, *steps)
        for step in way:
            holder = holder[step]
        holder[last] = value

    return edit


def drop(role: str, path: str, *steps: Any) -> Edit:
    """Take a document, or the value at a place in it, away."""

    def edit(drafts: Drafts) -> None:
        holder = drafts.of(role)
        *way, last = (path, *steps)
        for step in way:
            holder = holder[step]
        del holder[last]

    return edit


def defined(role: str, name: str, value: Any, *, refit: bool = True) -> Edit:
    """Set a member of a definition, and by default name the new definition in the suite."""

    def edit(drafts: Drafts) -> None:
        drafts.of(role)[DEFINITION][name] = value
        if refit:
            redefine(drafts.of(role))

    return edit


def state(role: str, case: str, new: str) -> Edit:
    """Set the state of a question's lines, and count the summary again as it was decided."""

    def edit(drafts: Drafts) -> None:
        documents = drafts.of(role)
        verdict = documents[SUMMARY]["lanes"][0]["metrics"][0]["verdict"] if documents[SUMMARY]["lanes"] else None
        for line in documents[RESULTS]:
            if line["caseId"] == case:
                line["state"] = new
                line.pop("severity", None)
                line |= {"severity": "low"} if new == "failed" else {}
        recount(documents)
        if verdict is not None:
            documents[SUMMARY]["lanes"][0]["metrics"][0]["verdict"] = verdict

    return edit


def without_case(role: str, case: str) -> Edit:
    """Take a question's lines away, and count the summary again as it was decided."""

    def edit(drafts: Drafts) -> None:
        documents = drafts.of(role)
        verdict = documents[SUMMARY]["lanes"][0]["metrics"][0]["verdict"] if documents[SUMMARY]["lanes"] else None
        documents[RESULTS] = [line for line in documents[RESULTS] if line["caseId"] != case]
        recount(documents)
        if verdict is not None:
            documents[SUMMARY]["lanes"][0]["metrics"][0]["verdict"] = verdict

    return edit


def relabelled(role: str, case: str, kind: str) -> Edit:
    """Count a question under another type, the summary with it."""

    def edit(drafts: Drafts) -> None:
        documents = drafts.of(role)
        verdict = documents[SUMMARY]["lanes"][0]["metrics"][0]["verdict"]
        for line in documents[RESULTS]:
            if (line["caseId"], line["path"]) == (case, "type"):
                line["lane"] = f"longmemeval.{kind}"
        recount(documents)
        documents[SUMMARY]["lanes"][0]["metrics"][0]["verdict"] = verdict

    return edit


def decided(role: str, *outcomes: str) -> Edit:
    """Make these the gate decisions of an arm."""

    def edit(drafts: Drafts) -> None:
        documents = drafts.of(role)
        ended = documents[RUN]["endedAt"]
        documents[GATES] = [
            decision(outcome, ended) | {"decisionId": f"decision-{number}"} for number, outcome in enumerate(outcomes)
        ]

    return edit


def unsealed(role: str) -> Edit:
    """Leave an arm unsealed."""
    return lambda drafts: drafts.sealed.discard(role)


def named_hash(value: str | None) -> Edit:
    """Let the oracle name this hash, whatever the normal run's is."""

    def edit(drafts: Drafts) -> None:
        drafts.link = False
        pair_of(drafts.oracle)["normalRunHash"] = value

    return edit


def aborted(role: str) -> Edit:
    """Let the run say that it was aborted, and nothing else."""

    def edit(drafts: Drafts) -> None:
        drafts.of(role)[RUN] |= {"status": "aborted", "abortReason": "interrupted"}

    return edit
