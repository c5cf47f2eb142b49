"""The five judging cases, their texts, and what a reply means (docs/MEMORY_PAIR.md §2)."""

from __future__ import annotations

import pytest

from aef_verify.memory import judge, prompts
from aef_verify.memory.digests import jcs_digest
from aef_verify.memory.entry import read_question
from aef_verify.memory.model import QUESTION_TYPES
from tests.memory.datasets import entry

CASE_OF = dict(
    zip(QUESTION_TYPES, ("factual", "factual", "preference", "factual", "temporal", "knowledge-update"), strict=True)
)


@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_the_case_follows_from_type_and_suffix(kind: str) -> None:
    assert judge.judging_case(kind, False) == CASE_OF[kind]
    assert judge.judging_case(kind, True) == "unanswerable"
    assert judge.case_of(read_question(entry("a_abs", question_type=kind))) == "unanswerable"
    assert judge.case_of(read_question(entry("a_abs_1", question_type=kind))) == CASE_OF[kind]


def test_an_unknown_type_has_no_case() -> None:
    with pytest.raises(KeyError):
        judge.judging_case("multi", True)


@pytest.mark.parametrize("kind", QUESTION_TYPES)
@pytest.mark.parametrize("suffix", ["", "_abs"])
def test_a_prompt_holds_its_parts_once(kind: str, suffix: str) -> None:
    question = read_question(
        entry("a" + suffix, question_type=kind, question="What {answer}?", answer="REF {question}")
    )
    (message,) = judge.judge_messages(question, "SAID {reference}")
    content = message["content"]
    assert content.splitlines()[0] == "You are grading one answer to a question about past conversations."
    assert [content.count(part) for part in ("What {answer}?", "REF {question}", "SAID {reference}")] == [1, 1, 1]
    assert content.count("yes") == content.count("the single word no") == 1


@pytest.mark.parametrize(("answer", "text"), [(3, "3"), (3.0, "3"), (2.5, "2.5"), ("x", "x"), (1e300, str(int(1e300)))])
def test_numeric_answers_as_text(answer: str | int | float, text: str) -> None:
    assert judge.reference_text(answer) == text


FIRST_WORD = {
    "yes": True, "No": False, " YES.": True, "**No**, it does not": False, "\n- yes": True, '"Yes"': True,
    "no\nyes": False, "": None, "  ": None, "...": None, "maybe": None,
    "yesterday": None, "not quite": None, "The answer is yes": None,
    "yes2": None,
}  # fmt: skip
UPSTREAM = {
    "yes": True, "No": False, "The answer is YES": True, "no, yesterday": True, "maybe": False, "": None, " \n": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "reply", "verdict"),
    [(judge.FIRST_WORD, *item) for item in FIRST_WORD.items()] + [(judge.UPSTREAM, *item) for item in UPSTREAM.items()],
)
def test_label_rules(rule: str, reply: str, verdict: bool | None) -> None:
    assert judge.verdict(reply, rule) is verdict


def test_digests_cover_every_text_and_the_rule() -> None:
    found = judge.prompt_digests()
    assert tuple(found) == judge.CASES == ("factual", "temporal", "knowledge-update", "preference", "unanswerable")
    assert len(set(found.values())) == 5
    assert found["factual"] == jcs_digest(
        {"version": prompts.VERSION, "case": "factual", "template": prompts.TEMPLATES["factual"].text}
    )
    assert judge.rubric_digest("first-word") == jcs_digest({"labelRule": "first-word", "promptDigests": found})
    assert judge.rubric_digest("upstream") != judge.rubric_digest("first-word")


def test_texts_change_only_with_their_version() -> None:
    assert (prompts.VERSION, judge.rubric_digest("first-word")) == PINNED


PINNED = ("1", "sha256:1091888ca1515aa88c9b4fb578a2c4e9db0ae5479e54c87785f8c29b36b26a7e")
