"""The values that the rooms of a paired memory benchmark hand to each other (docs/MEMORY_PAIR.md §1, §2)."""

from __future__ import annotations

from typing import Any, NamedTuple

QUESTION_TYPES = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)
"""The six question types of LongMemEval, in the order in which reports list them."""

ABSTENTION_SUFFIX = "_abs"
"""What the id of a question ends with that cannot be answered from its history."""

NORMAL, ORACLE = "normal", "oracle"
ROLES = (NORMAL, ORACLE)

ANSWER_FAILED = "answer-failed"
ANSWER_EMPTY = "answer-empty"
JUDGE_FAILED = "judge-failed"
JUDGE_NO_VERDICT = "judge-no-verdict"
INTERRUPTED = "interrupted"
REASONS = (ANSWER_FAILED, ANSWER_EMPTY, JUDGE_FAILED, JUDGE_NO_VERDICT, INTERRUPTED)
"""The reasons that a line without a measurement gives; provider text is never copied into one."""


class Turn(NamedTuple):
    """One turn of a session: `user` or `assistant`, and what was said; no label."""

    role: str
    content: str


class Session(NamedTuple):
    """One session of a question's history: its id in the dataset, its date as written, its turns."""

    id: str
    date: str
    turns: tuple[Turn, ...]


class Question(NamedTuple):
    """One question of the dataset, read whole.

    `answer` is a string or a number as the dataset has it; `gold` are the ids of the sessions that hold the evidence;
    `date` and the sessions' dates are in the dataset's own form (`2023/05/30 (Tue) 23:17`).
    """

    id: str
    type: str
    text: str
    answer: str | int | float
    date: str
    sessions: tuple[Session, ...]
    gold: tuple[str, ...]

    @property
    def abstention(self) -> bool:
        """Whether the question cannot be answered from its history; told by its id alone."""
        return self.id.endswith(ABSTENTION_SUFFIX)


class RosterItem(NamedTuple):
    """One selected question: its id and type, in dataset order."""

    id: str
    type: str


class Usage(NamedTuple):
    """Tokens that one party (`agent` or `judge`) used with one model; None where no call reported any."""

    role: str
    model: str
    input_tokens: int | None
    output_tokens: int | None


class Outcome(NamedTuple):
    """What became of one question in one arm.

    Attributes:
        question: its id and type.
        state: `passed`, `failed`, or a typed absence (`error`, `not_measured`) with its `reason`.
        reason: one of `REASONS` on a typed absence, else None.
        started_at: when its first call began, RFC 3339 in UTC.
        ended_at: when its verdict was there, or it was given up.
        calls: answer plus judge calls, every attempt counted.
        usage: what its calls used, at most one entry a role and model.
        prompt_digest: the digest of the judge's prompt template, `sha256:…`, None where the judge was not asked.
        answer: the answer's text; kept in evidence only with content capture on.
        judgement: the judge's reply; likewise.
    """

    question: RosterItem
    state: str
    reason: str | None
    started_at: str
    ended_at: str
    calls: int
    usage: tuple[Usage, ...]
    prompt_digest: str | None
    answer: str | None
    judgement: str | None


class ArmResult(NamedTuple):
    """One prepared arm of one execution, complete or interrupted: all that its evidence is written from.

    Attributes:
        role: `normal` or `oracle`.
        definition: the arm's `definition.json` (§2); its JCS digest is the suite's.
        pair_id: one per execution; None without `--paired-oracle`, and then no `memoryPair` is written.
        subject: (ref, version) of the run's subject; the version may be None.
        judge_model: the judge's model, as asked for.
        judge_provider: who serves it, or None.
        rubric_digest: the JCS digest of the five judge-prompt digests and the label rule.
        status: `completed` or `aborted`.
        abort_reason: why, for `aborted`.
        started_at: RFC 3339 in UTC.
        ended_at: likewise; not before any outcome's `ended_at`.
        target_mode: `live`, or `scripted` when any answer came marked by the fixture provider.
        planned: the size of the roster.
        outcomes: in roster order; of an aborted arm those that were begun.
        content: whether contents are captured.
    """

    role: str
    definition: dict[str, Any]
    pair_id: str | None
    subject: tuple[str, str | None]
    judge_model: str
    judge_provider: str | None
    rubric_digest: str
    status: str
    abort_reason: str | None
    started_at: str
    ended_at: str
    target_mode: str
    planned: int
    outcomes: tuple[Outcome, ...]
    content: bool

    @property
    def complete(self) -> bool:
        """Whether the arm ran to its end."""
        return self.status == "completed"

    @property
    def passed(self) -> int:
        """The questions that passed."""
        return sum(outcome.state == "passed" for outcome in self.outcomes)

    @property
    def scored(self) -> int:
        """The questions that a verdict was reached on: the accuracy's denominator."""
        return sum(outcome.state in ("passed", "failed") for outcome in self.outcomes)

    @property
    def calls(self) -> int:
        """Answer plus judge calls, every attempt counted."""
        return sum(outcome.calls for outcome in self.outcomes)

    @property
    def accuracy_percent(self) -> float | None:
        """100 × passed / scored; None where nothing was scored."""
        return 100 * self.passed / self.scored if self.scored else None
