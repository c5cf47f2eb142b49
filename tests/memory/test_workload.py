"""The bundled workload and the generator: official format, every kind of question, answered by its script."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from aef_verify.memory import dataset, history, judge, roster
from aef_verify.memory.dataset import Dataset
from aef_verify.memory.model import QUESTION_TYPES, Question
from aef_verify.memory.projection import project
from aef_verify.provider.play import Message, Play
from aef_verify.provider.script import Reply, load_script
from scripts import make_workload


class Scores(NamedTuple):
    """How many of a roster's questions pass with the full history, with gold sessions alone, with none."""

    asked: int
    normal: int
    oracle: int
    none: int


@pytest.fixture(scope="module")
def bundled() -> Dataset:
    return dataset.bundled()


@pytest.fixture(scope="module")
def questions(bundled: Dataset) -> list[Question]:
    return [bundled.question(item.id) for item in bundled.items]


def entries(found: Dataset) -> Iterator[dict[str, object]]:
    return (found.entry(item.id) for item in found.items)


def scored(found: Dataset, script: str, preset: str) -> Scores:
    play = Play(load_script(script))

    def ask(messages: list[dict[str, str]], purpose: str, question: Question) -> str:
        asked = play.read("model", [Message(message["role"], message["content"]) for message in messages])
        assert (asked.purpose, asked.question) == (purpose, question.text)
        outcome = play.outcome(asked)
        assert isinstance(outcome, Reply)
        return outcome.text

    passed: Counter[str] = Counter()
    chosen = roster.select(found.items, preset=preset, seed=0)
    for item in chosen:
        question = found.question(item.id)
        for arm, sessions in (("normal", question.sessions), ("oracle", project(question).sessions), ("none", ())):
            answer = ask(history.answer_messages(question, sessions), "answer", question)
            reply = ask(judge.judge_messages(question, answer), "judge", question)
            verdict = judge.verdict(reply, judge.FIRST_WORD)
            assert verdict is judge.verdict(reply, judge.UPSTREAM)
            passed[arm] += verdict is True
    return Scores(len(chosen), passed["normal"], passed["oracle"], passed["none"])


def test_what_it_holds(bundled: Dataset, questions: list[Question]) -> None:
    assert bundled.variant == "fixture"
    assert bundled.unpairable is None
    assert Counter(question.type for question in questions) == dict.fromkeys(QUESTION_TYPES, 11)
    assert {question.type for question in questions if question.abstention} == set(QUESTION_TYPES)
    assert sum(isinstance(question.answer, int) for question in questions) >= 10
    assert any(len(question.gold) == 3 for question in questions)
    assert any(len({s.id for s in question.sessions}) < len(question.sessions) for question in questions)
    assert any(len(project(question).sessions) > len(question.gold) for question in questions)
    assert {question.text.isascii() for question in questions} == {True, False}


def test_labels_are_as_in_the_official_file(bundled: Dataset) -> None:
    evidence = Counter[str]()
    for entry in entries(bundled):
        sessions = zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True)  # type: ignore[call-overload] # official form
        for identity, turns in sessions:
            said = [turn for turn in turns if turn.get("has_answer")]
            assert bool(said) is (identity in entry["answer_session_ids"])  # type: ignore[operator] # official form
            evidence.update(turn["role"] for turn in said)
        dates = [re.sub(r" \(...\)", "", date) for date in entry["haystack_dates"]]  # type: ignore[attr-defined] # official form
        assert dates == sorted(dates)
        assert dates[-1] < str(entry["question_date"])
    assert evidence["assistant"] >= 11


def test_the_script_tells_questions_and_answers_apart(questions: list[Question]) -> None:
    texts = [question.text for question in questions]
    assert not [(a, b) for a in texts for b in texts if a != b and a in b]
    for question in questions:
        said = history.render(question.sessions)
        assert not [text for text in texts if text in said]


@pytest.mark.parametrize(("preset", "scores"), [("full", Scores(66, 38, 61, 8)), ("subset", Scores(50, 27, 46, 7))])
def test_scores_over_the_script(bundled: Dataset, preset: str, scores: Scores) -> None:
    """Wrong answers in every arm, the oracle well above normal, and an empty history good for abstention alone."""
    assert scored(bundled, dataset.bundled_script(), preset) == scores


def test_what_is_bundled_is_what_is_written(tmp_path: Path) -> None:
    assert make_workload.differences(tmp_path) == []


def test_a_generated_workload(tmp_path: Path) -> None:
    path, script = make_workload.generate(tmp_path, 120, prompt_bytes=5_000, latency_ms=50)
    found = dataset.open_dataset(str(path))
    assert len(found.items) == 120
    assert {item.type for item in found.items} == set(QUESTION_TYPES)
    sizes = []
    for item in found.items:
        question = found.question(item.id)
        messages = history.answer_messages(question, question.sessions)
        sizes.append(sum(len(message["content"].encode()) for message in messages))
    assert max(sizes) <= 5_000
    assert min(sizes) > 2_000
    got = scored(found, str(script), "full")
    assert got.none < got.normal < got.oracle < got.asked
    assert json.loads(script.read_text(encoding="utf-8"))["latencyMs"] == 50


def test_generation_is_deterministic(tmp_path: Path) -> None:
    made = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        made.append(
            [path.read_bytes() for path in make_workload.generate(tmp_path / name, 12, seed=seed, prompt_bytes=3_000)]
        )
    assert made[0] == made[1] != made[2]


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make_workload.main(["--check"]) == 0
    assert make_workload.main([str(tmp_path / "new"), "--questions", "6", "--prompt-bytes", "1"]) == 0
    path = capsys.readouterr().out.split("\n")[0]
    assert len(dataset.open_dataset(path).items) == 6
