"""The rules of a pair (docs/MEMORY_PAIR.md §3), as functions from values to problems and notes. Pure.

Of one arm, at `run:<runId>`, in this order: `pair-role`, `pair-diagnostic`, `pair-gate`, `pair-complete`,
`pair-interrupted`, `pair-counts`, `pair-accuracy`, `pair-calls`, `pair-definition`. Of both, at `pair:<pairId>`:
`pair-source`, `pair-roster`, `pair-link`, `pair-gap`, `pair-order`, `pair-suite`, `pair-model`, `pair-run`; and
`pair-definition` at the arm it is about. `pair-counts` leaves accuracy and calls of its arm unjudged; an arm that did
not complete has no accuracy. What the layout of a run cannot decide becomes a note.
"""

from __future__ import annotations

from typing import NamedTuple

from aef_verify.encoding.times import time_key
from aef_verify.memory import gate
from aef_verify.memory.model import ORACLE
from aef_verify.memory.pair_arm import Arm, Fields
from aef_verify.memory.pair_definition import definition_faults, differing
from aef_verify.memory.pair_lines import Questions
from aef_verify.problems import InputError, Problem

TOLERANCE = 1e-9
"""Of percentages and percentage points, times the value where that is above 1."""

ORACLE_VERDICTS = frozenset(("scored", "not_measured"))
"""The verdicts of a summary entry where no rule is applied."""


class Findings:
    """Collects the problems of a pair, and notes on what could not be decided."""

    def __init__(self) -> None:
        """Start with none."""
        self.problems: list[Problem] = []
        self.notes: list[str] = []

    def of_run(self, arm: Arm, code: str, detail: str, value: object = None) -> None:
        """Add a problem of what one arm gets wrong."""
        self.problems.append(Problem(f"run:{arm.run_id}", code, detail, value))

    def of_pair(self, pair_id: str, code: str, detail: str, value: object = None) -> None:
        """Add a problem of the pair."""
        self.problems.append(Problem(f"pair:{pair_id}", code, detail, value))

    def note(self, text: str) -> None:
        """Add a note."""
        self.notes.append(text)


class Accuracy(NamedTuple):
    """An accuracy in percent as the results give it: None where nothing was scored; undecided where they cannot."""

    is_decided: bool
    percent: float | None = None


UNDECIDED = Accuracy(is_decided=False)


def accuracy_of(arm: Arm, fields: Fields) -> Accuracy:
    """Return an arm's accuracy, recomputed from its results.

    Where several numbers of scored questions agree with the results, `scoredQuestions` says which it is.
    """
    questions = arm.lines.questions(fields.observed)
    if questions is None or not questions.is_decided:
        return UNDECIDED
    scored: int | None = questions.least_scored
    if scored != questions.most_scored:
        scored = fields.scored
        if scored is None or not questions.least_scored <= scored <= questions.most_scored:
            return UNDECIDED
    return Accuracy(True, _percent(questions.passed, scored))


def _percent(passed: int, scored: int) -> float | None:
    return 100 * passed / scored if scored else None


def is_near(stated: float, expected: float) -> bool:
    """Whether a stated percentage is the expected one but for rounding."""
    return abs(stated - expected) <= TOLERANCE * max(1.0, abs(expected))


def judge_arm(arm: Arm, found: Findings) -> None:
    """Apply the rules of one usable arm."""
    fields = arm.fields
    assert fields is not None
    for rule in (_role, _diagnostic, _gate, _complete, _interrupted):
        rule(arm, fields, found)
    if _counts(arm, fields, found):
        _accuracy(arm, fields, found)
        _calls(arm, fields, found)
    for fault in definition_faults(arm, fields):
        found.of_run(arm, "pair-definition", fault)


def _role(arm: Arm, fields: Fields, found: Findings) -> None:
    if fields.role == ORACLE:
        return
    if fields.normal_run_hash is not None:
        found.of_run(arm, "pair-role", "normalRunHash is the oracle's to state", fields.normal_run_hash)
    if fields.gap is not None:
        found.of_run(arm, "pair-role", "oracleGapPercentagePoints is the oracle's to state", fields.gap)


def _diagnostic(arm: Arm, fields: Fields, found: Findings) -> None:
    if fields.diagnostic_only != (fields.role == ORACLE):
        found.of_run(arm, "pair-diagnostic", f"diagnosticOnly of the {fields.role} arm", fields.diagnostic_only)


def _gate(arm: Arm, fields: Fields, found: Findings) -> None:
    ours = arm.definition.present
    if fields.role == ORACLE:
        if arm.decided:
            found.of_run(arm, "pair-gate", f"the oracle has no gate, and gates.ndjson has lines: {arm.decided:,}")
        if ours:
            _oracle_applies_no_rule(arm, found)
    elif ours and arm.is_complete:
        if arm.decided == 1:
            _outcome(arm, fields, found)
        else:
            found.of_run(arm, "pair-gate", f"a completed normal run has one decision, and this one {arm.decided:,}")
    elif ours and arm.decided:
        found.of_run(arm, "pair-gate", f"an aborted run has no decision, and this one {arm.decided:,}")


def _oracle_applies_no_rule(arm: Arm, found: Findings) -> None:
    if arm.entries.ruled:
        found.of_run(
            arm, "pair-gate", f"the oracle applies no rule; entries of its summary with one: {arm.entries.ruled:,}"
        )
    for verdict in sorted(arm.entries.verdicts - ORACLE_VERDICTS):
        found.of_run(arm, "pair-gate", "the oracle judges nothing, and its summary has a verdict", verdict)
    if arm.definition.has_thresholds:
        found.of_run(arm, "pair-gate", "the oracle has no thresholds, and its definition has")


def _outcome(arm: Arm, fields: Fields, found: Findings) -> None:
    """Compare the decision and the accuracy entry's verdict with what the results and the threshold give."""
    questions = arm.lines.questions(fields.observed)
    threshold = arm.definition.threshold
    if questions is None or not _is_scored_known(questions) or threshold is None:
        found.note(f"the gate of {arm.run_id} is not decided: its results or its threshold do not say enough")
        return
    roster = arm.definition.roster
    planned = fields.planned if roster is None else len(roster)
    try:
        due = gate.outcome_of(questions.passed, questions.least_scored, planned, threshold)
    except InputError:
        found.note(f"the gate of {arm.run_id} is not decided: its threshold is no percentage")
        return
    if arm.decisions[0] != due:
        found.of_run(arm, "pair-gate", f"the results and the threshold give {due}", arm.decisions[0])
    verdict = gate.verdict(due, questions.least_scored)
    if arm.entries.accuracy != verdict:
        found.of_run(arm, "pair-gate", f"the verdict of the accuracy entry should be {verdict}", arm.entries.accuracy)


def _is_scored_known(questions: Questions) -> bool:
    return questions.is_decided and questions.least_scored == questions.most_scored


def _complete(arm: Arm, fields: Fields, found: Findings) -> None:
    if fields.complete != arm.is_complete:
        found.of_run(
            arm, "pair-complete", f"the run's status is {arm.status}, and complete says otherwise", fields.complete
        )


def _interrupted(arm: Arm, fields: Fields, found: Findings) -> None:
    stated: dict[str, float | None] = {"scoredQuestions": fields.scored, "totalLlmCalls": fields.calls}
    if arm.is_complete:
        for name, value in stated.items():
            if value is None:
                found.of_run(arm, "pair-interrupted", f"the run completed, and {name} is null")
        return
    for name, value in (stated | {"accuracyPercent": fields.accuracy}).items():
        if value is not None:
            found.of_run(arm, "pair-interrupted", f"the run did not complete, and {name} is not null", value)


def _counts(arm: Arm, fields: Fields, found: Findings) -> bool:
    """Judge the numbers of questions; return whether they hold."""
    planned, observed, scored = fields.planned, fields.observed, fields.scored
    faults = []
    if observed > planned:
        faults.append(f"observedQuestions {observed:,} is more than plannedQuestions {planned:,}")
    if arm.is_complete and observed != planned:
        faults.append(f"the run completed with {observed:,} questions of {planned:,}")
    questions = arm.lines.questions(observed)
    if questions is None or questions.number != observed:
        held = "another number" if questions is None else f"{questions.number:,}"
        faults.append(f"observedQuestions is {observed:,}, and the results hold {held}")
    if scored is not None and questions is not None:
        least, most = questions.least_scored, questions.most_scored
        if not least <= scored <= most:
            found_range = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            faults.append(f"scoredQuestions is {scored:,}, and by the results it is {found_range}")
    for fault in faults:
        found.of_run(arm, "pair-counts", fault)
    return not faults


def _accuracy(arm: Arm, fields: Fields, found: Findings) -> None:
    questions = arm.lines.questions(fields.observed)
    if not arm.is_complete or fields.scored is None or questions is None:
        return
    if not questions.is_decided:
        found.note(f"accuracyPercent of {arm.run_id} is not decided: its results do not say which questions passed")
        return
    expected, stated = _percent(questions.passed, fields.scored), fields.accuracy
    if (stated is None) != (expected is None) or (
        stated is not None and expected is not None and not is_near(stated, expected)
    ):
        given = "null" if expected is None else f"{expected!r}"
        found.of_run(
            arm, "pair-accuracy", f"{questions.passed:,} of {fields.scored:,} passed, which is {given}", stated
        )


def _calls(arm: Arm, fields: Fields, found: Findings) -> None:
    if not arm.is_complete or fields.calls is None or fields.scored is None:
        return
    least = 2 * fields.scored if arm.definition.present else fields.scored
    if fields.calls < least:
        detail = f"{fields.scored:,} scored questions take at least {least:,} calls"
        found.of_run(arm, "pair-calls", detail, fields.calls)


def judge_pair(normal: Arm, oracle: Arm, found: Findings) -> None:
    """Apply the rules of two usable arms of one pair."""
    for rule in (_source, _roster, _link, _gap, _order, _suite, _model, _definitions):
        rule(normal, oracle, found)


def judge_runs(pair_id: str, normal: Arm, oracle: Arm, found: Findings) -> None:
    """Apply `pair-run` to two usable arms: one producer made two runs, both sealed or neither."""
    if normal.run_id == oracle.run_id:
        found.of_pair(pair_id, "pair-run", "both arms have one runId", normal.run_id)
    if normal.producer != oracle.producer:
        made = " / ".join(f"{arm.producer.ref} {arm.producer.version}" for arm in (normal, oracle))
        found.of_pair(pair_id, "pair-run", f"the arms have different producers: {made}")
    if normal.is_sealed != oracle.is_sealed:
        sealed = "normal" if normal.is_sealed else "oracle"
        found.of_pair(pair_id, "pair-run", f"only the {sealed} arm is sealed")


def _source(normal: Arm, oracle: Arm, found: Findings) -> None:
    left, right = _both(normal, oracle)
    if left.source_inputs_digest != right.source_inputs_digest:
        detail = f"the normal arm's is {left.source_inputs_digest}"
        found.of_pair(left.pair_id, "pair-source", detail, right.source_inputs_digest)


def _roster(normal: Arm, oracle: Arm, found: Findings) -> None:
    left, right = _both(normal, oracle)
    if left.planned != right.planned:
        detail = f"plannedQuestions of the normal arm is {left.planned:,}"
        found.of_pair(left.pair_id, "pair-roster", detail, right.planned)
    if normal.lines.has_one_root or oracle.lines.has_one_root:
        found.note("the questions of the arms are not compared: a run with one root case does not name them")
        return
    first, second = normal.lines.roots.keys(), oracle.lines.roots.keys()
    if normal.is_complete and oracle.is_complete and first != second:
        for question in sorted(first ^ second)[:1]:
            role = "normal" if question in first else "oracle"
            found.of_pair(left.pair_id, "pair-roster", f"only the {role} arm has the question {question}")
    elif not oracle.is_complete:
        for question in sorted(second - first)[:1]:
            found.of_pair(left.pair_id, "pair-roster", f"the normal arm has no question {question}")


def _link(normal: Arm, oracle: Arm, found: Findings) -> None:
    left, right = _both(normal, oracle)
    stated = right.normal_run_hash
    if normal.is_sealed and stated != normal.run_hash:
        detail = f"normalRunHash is not the normal run's seal hash {normal.run_hash}"
        found.of_pair(left.pair_id, "pair-link", detail, stated)
    elif not normal.is_sealed and stated is not None:
        found.of_pair(left.pair_id, "pair-link", "the normal run is not sealed, and normalRunHash names a seal", stated)


def _gap(normal: Arm, oracle: Arm, found: Findings) -> None:
    left, right = _both(normal, oracle)
    before, after = _used_accuracy(normal, left), _used_accuracy(oracle, right)
    expected = None if before is None or after is None else after - before
    stated = right.gap
    if expected is None:
        if stated is not None:
            detail = "there are not two completed arms with an accuracy each, and the gap is not null"
            found.of_pair(left.pair_id, "pair-gap", detail, stated)
    elif stated is None or not is_near(stated, expected):
        found.of_pair(left.pair_id, "pair-gap", f"the oracle's accuracy minus the normal one is {expected!r}", stated)


def _used_accuracy(arm: Arm, fields: Fields) -> float | None:
    """Return an arm's accuracy as its results give it, as its fields do where those leave it open."""
    if not arm.is_complete:
        return None
    found = accuracy_of(arm, fields)
    return found.percent if found.is_decided else fields.accuracy


def _order(normal: Arm, oracle: Arm, found: Findings) -> None:
    left, _ = _both(normal, oracle)
    if not normal.is_complete:
        detail = f"an oracle needs a normal arm that completed, and this one's status is {normal.status}"
        found.of_pair(left.pair_id, "pair-order", detail)
    started, ended = oracle.started_at, normal.ended_at
    if started is not None and ended is not None and time_key(started) < time_key(ended):
        found.of_pair(left.pair_id, "pair-order", f"the oracle started before the normal arm ended at {ended}", started)


def _suite(normal: Arm, oracle: Arm, found: Findings) -> None:
    left, _ = _both(normal, oracle)
    if normal.suite_digest is not None and oracle.suite_digest is not None:
        if normal.suite_digest == oracle.suite_digest:
            detail = "both arms state one suite.digest, and are different evaluations"
            found.of_pair(left.pair_id, "pair-suite", detail, normal.suite_digest)
    elif normal.suite.ref is None and oracle.suite.ref is None:
        found.note("neither arm names its suite")
    elif normal.suite == oracle.suite:
        detail = f"both arms have the suite {normal.suite.ref} {normal.suite.version}, and are different evaluations"
        found.of_pair(left.pair_id, "pair-suite", detail)


def _model(normal: Arm, oracle: Arm, found: Findings) -> None:
    left, right = _both(normal, oracle)
    if normal.target_mode != oracle.target_mode:
        detail = f"the normal arm's target mode is {normal.target_mode}"
        found.of_pair(left.pair_id, "pair-model", detail, oracle.target_mode)
    if normal.judges != oracle.judges and _has_scored(normal, left) and _has_scored(oracle, right):
        found.of_pair(left.pair_id, "pair-model", "the arms were not judged by the same judges in one order")


def _has_scored(arm: Arm, fields: Fields) -> bool:
    """Whether a verdict was reached on any question of an arm."""
    questions = arm.lines.questions(fields.observed)
    return bool(fields.scored) if questions is None else questions.most_scored > 0


def _definitions(normal: Arm, oracle: Arm, found: Findings) -> None:
    first, second = normal.definition, oracle.definition
    if first.present != second.present:
        bare = oracle if first.present else normal
        found.of_run(bare, "pair-definition", "the other arm has a definition, and this one has none")
    elif first.reads and second.reads and first.shared != second.shared:
        names = ", ".join(differing(first, second)) or "some members"
        found.of_run(oracle, "pair-definition", f"the definition differs from the normal arm's in {names}")


def _both(normal: Arm, oracle: Arm) -> tuple[Fields, Fields]:
    assert normal.fields is not None
    assert oracle.fields is not None
    return normal.fields, oracle.fields
