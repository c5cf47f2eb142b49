"""What reaches the one who answers: a question's text and date, dated turns, and no label (docs/MEMORY_PAIR.md §2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aef_verify.memory import dataset, history
from aef_verify.memory.entry import read_question
from aef_verify.memory.model import QUESTION_TYPES, Question, Session, Turn
from aef_verify.memory.projection import project
from tests.memory.datasets import entry, turn, write

DATES = ("2023/05/01 (Mon) 10:00", "2024/02/29 (Thu) 00:00", "2022/12/31 (Sat) 23:59")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def prompts(question: Question) -> list[list[dict[str, str]]]:
    """The answer messages of the normal arm and of the oracle."""
    return [history.answer_messages(question, arm.sessions) for arm in (question, project(question))]


def said(question: Question) -> str:
    """All that may be seen of a question, and all that our own templates say."""
    parts = [history.SYSTEM, history.REQUEST, history.NO_HISTORY, question.text, question.date, "user", "assistant"]
    for session in question.sessions:
        parts += [session.date, *(item.content for item in session.turns)]
    return "\n".join([*parts, "--- Conversation of ---"])


@st.composite
def labelled(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """An entry, the same with other labels, and the labels of the first."""
    tokens = st.text("0123456789abcdef_-Z", min_size=6, max_size=12)
    contents = [draw(st.lists(TEXTS, max_size=3)) for _ in range(draw(st.integers(1, 4)))]
    dates = [draw(st.sampled_from(DATES)) for _ in contents]
    text = draw(TEXTS.filter(str.strip))
    gold = draw(st.lists(st.integers(0, len(contents) - 1), unique=True))

    def build() -> tuple[dict[str, Any], list[str]]:
        ids = [draw(tokens) for _ in contents]
        identity, answer, kind = draw(tokens), draw(tokens), draw(st.sampled_from(QUESTION_TYPES))
        sessions = [
            [
                turn(content, has_answer=draw(st.booleans())) if draw(st.booleans()) else turn(content)
                for content in part
            ]
            for part in contents
        ]
        made = entry(
            identity,
            question=text,
            question_type=kind,
            answer=answer,
            haystack_session_ids=ids,
            haystack_dates=dates,
            haystack_sessions=sessions,
            # The ids may coincide, and then so do the sessions they name: gold is told by id.
            answer_session_ids=[ids[at] for at in gold],
        )
        return made, [identity, answer, kind, "has_answer", *ids]

    first, labels = build()
    second, _ = build()
    return first, second, labels


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(labelled())
def test_no_label_reaches_a_prompt(planted: tuple[dict[str, Any], dict[str, Any], list[str]]) -> None:
    first, second, labels = planted
    question = read_question(first)
    text = said(question)
    for messages in prompts(question):
        for label in labels:
            assert label in text or not any(label in message["content"] for message in messages)
    unique = all(
        len(set(made["haystack_session_ids"])) == len(made["haystack_session_ids"]) for made in (first, second)
    )
    if unique:
        assert prompts(question) == prompts(read_question(second))


def test_each_label_planted() -> None:
    labels = ["qid-7781", "single-session-preference", "filler-0b", "answer_77", "ANSWER-TEXT", "has_answer"]
    planted = entry(
        labels[0],
        question="What is it?",
        question_type=labels[1],
        haystack_session_ids=[labels[2], labels[3], labels[2]],
        answer_session_ids=[labels[3]],
        answer=labels[4],
    )
    for messages in prompts(read_question(planted)):
        assert not [label for label in labels if any(label in message["content"] for message in messages)]


def test_rendering_is_pinned() -> None:
    """A change here needs a new `history.FORMAT`."""
    session = Session("s", DATES[0], (Turn("user", "Hé {x}"), Turn("assistant", "")))
    assert history.render([session, session._replace(turns=())]) == (
        f"--- Conversation of {DATES[0]} ---\nuser: Hé {{x}}\nassistant: \n\n--- Conversation of {DATES[0]} ---"
    )
    assert history.render([]) == history.NO_HISTORY
    assert history.FORMAT == "dated-sessions-1"


def test_messages_put_the_question_last(tmp_path: Path) -> None:
    question = dataset.open_dataset(write(tmp_path, [entry(question="{history}?")])).question("q1")
    system, user = history.answer_messages(question, question.sessions)
    assert (system["role"], user["role"]) == ("system", "user")
    assert user["content"].endswith("\nQuestion: {history}?")
    assert history.messages(question.text, question.date, question.sessions) == [system, user]


def test_projection_keeps_gold_sessions_in_haystack_order() -> None:
    made = entry(
        haystack_session_ids=["answer_2", "x", "answer_1", "answer_2"],
        haystack_dates=[DATES[0]] * 4,
        haystack_sessions=[[turn("two", has_answer=True)], [turn("x")], [turn("one")], [turn("two")]],
        answer_session_ids=["answer_1", "answer_2"],
    )
    question = read_question(made)
    projected = project(question)
    assert [(session.id, session.turns[0].content) for session in projected.sessions] == [
        ("s1", "two"), ("s2", "one"), ("s3", "two"),
    ]  # fmt: skip
    assert projected._replace(sessions=question.sessions, gold=question.gold) == question
    assert projected.gold == ()


def test_projection_of_a_question_without_gold() -> None:
    assert project(read_question(entry(answer_session_ids=[]))).sessions == ()
