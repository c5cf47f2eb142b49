"""What a script does with a request: which question it asks, what it is for, which rule is due, what faults hit it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from aef_verify.provider.play import NO_RULE, Asked, Message, Play, Questions, weather_fault
from aef_verify.provider.script import JUDGE_MARKER, Fault, Reply, Weather, parse_script


def play(*rules: Any, **members: Any) -> Play:
    return Play(parse_script({"version": "1", "rules": list(rules)} | members))


def ask(script: Play, text: str = "Where?", model: str = "m", before: Sequence[Message] = ()) -> Asked:
    return script.read(model, [*before, Message("user", text)])


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Where is it?", "Where is it?"),
        ("  Where is it?\r\n", "Where is it?"),
        ("Question: Where is it?\nAnswer:", "Where is it?"),
        ("**Question**: Where is it?", "Where is it?"),
        ("Who?\nQuestion: Where is it?", "Where is it?"),
        ("Question: Where is it?\nuser: Who?", "Who?"),
        ("Question: Where is it?\nA reply in which Who? is said.", "Where is it?"),
        ("I ask you: Where is it? And now reply.", "Where is it?"),
        ("First Who? and then Where is it? Reply.", "Where is it?"),
        ("Tell me: Now, where is it? Where is it? Who?!", "Who?"),
        ("{Now Where is it?}", "Now Where is it?"),
        ("one\ntwo\n?", "one\ntwo"),
        ("What?", None),
        ("", None),
    ],
)
def test_the_question_a_text_asks(text: str, question: str | None) -> None:
    assert Questions(["Who?", "Where is it?", "Now Where is it?", "one\ntwo", None]).asked_in(text) == question


def test_the_question_is_looked_for_in_the_last_user_message() -> None:
    script = play({"match": {"question": "A?"}, "reply": ""}, {"match": {"question": "B?"}, "reply": ""})
    asked = script.read("m", [Message("user", "A?"), Message("user", "B?"), Message("assistant", "A?")])
    assert asked.question == "B?"
    assert script.read("m", [Message("system", "A?")]).question is None


@pytest.mark.parametrize(
    ("text", "model", "purpose"),
    [
        ("Where?", "m", "answer"),
        (f"{JUDGE_MARKER}\nQuestion: …", "m", "judge"),
        (f"\n {JUDGE_MARKER}", "m", "judge"),
        (f"You said: {JUDGE_MARKER}", "m", "answer"),
        ("Grade it: …", "m", "judge"),
        ("Where?", "grader", "judge"),
    ],
)
def test_what_a_request_is_for(text: str, model: str, purpose: str) -> None:
    script = play(judge={"models": "grader", "markers": ["Grade it"]})
    assert ask(script, text, model).purpose == purpose
    assert script.read(model, [Message("system", text), Message("user", "-")]).purpose == purpose


def test_the_digest_tells_messages_apart() -> None:
    script = play()
    messages = [
        [Message("user", "ab")],
        [Message("user", "a"), Message("user", "b")],
        [Message("user", "b"), Message("user", "a")],
        [Message("usera", "b")],
        [Message("user", "\ud800")],
    ]
    digests = {script.read("m", some).digest for some in messages}
    assert len(digests) == len(messages)
    assert script.read("m", messages[0]) == script.read("m", messages[0])


def test_the_first_rule_that_holds_is_taken() -> None:
    script = play(
        {"match": {"question": "A?", "purpose": "judge"}, "reply": "1"},
        {"match": {"model": "x"}, "reply": "2"},
        {"match": {"question": "A?", "contains": ["one", "two"], "lacks": "three"}, "reply": "3"},
        {"match": {"question": "A?"}, "reply": "4"},
        {"match": {"question": "B?"}, "reply": "5"},
        {"match": {"contains": "any"}, "reply": "6"},
    )
    outcomes = [
        ask(script, f"{JUDGE_MARKER}\nA?"),
        ask(script, "A?", "x"),
        ask(script, "one two\nA?"),
        ask(script, "two\nA?", before=[Message("system", "one")]),
        ask(script, "one two three\nA?"),
        ask(script, "B?"),
        ask(script, "any\nB?"),
        ask(script, "any"),
        ask(script, "other"),
    ]
    said = [script.outcome(asked) for asked in outcomes]
    assert said == [*(Reply(text) for text in "12334556"), NO_RULE]


def test_rules_are_skipped_and_used_up() -> None:
    script = play(
        {"match": {"contains": "a"}, "skip": 1, "times": 2, "reply": "first"},
        {"match": {}, "times": 1, "reply": "second"},
        default={"reply": "default"},
    )
    said = [script.outcome(ask(script, text)) for text in ("a", "b", "a", "a", "a")]
    assert said == [Reply(text) for text in ("second", "default", "first", "first", "default")]


def test_a_provider_can_go_down_and_stay_down() -> None:
    script = play({"match": {}, "skip": 3, "fault": {"kind": "reset"}}, default={"reply": ""})
    said = [script.outcome(ask(script, str(at))) for at in range(10)]
    assert said == [Reply("")] * 3 + [Fault("reset")] * 7


def test_a_drip_has_the_text_of_what_it_stands_before() -> None:
    drip = {"kind": "drip", "piece": 4}
    after = [
        play({"fault": drip}, {"match": {"contains": "Where"}, "reply": "there"}),
        play({"fault": drip}, {"fault": {"kind": "reset"}}),
        play({"fault": drip}),
        play({"fault": {**drip, "text": "own"}}, default={"reply": "there"}),
        play(faults={"rate": 1, "of": [drip]}, default={"reply": "there"}),
    ]
    said = [script.outcome(ask(script)) for script in after]
    assert said == [Fault("drip", piece=4, text=text) for text in ("there", "", "", "own", "there")]


def test_faults_depend_on_the_messages_and_not_on_their_order() -> None:
    weather = {"rate": 0.3, "seed": 5, "of": [{"kind": "reset"}, {"kind": "status"}]}
    texts = [f"question {at % 40}" for at in range(200)]

    def outcomes(order: Sequence[str]) -> list[tuple[str, Any]]:
        script = play(faults=weather, default={"reply": ""})
        return sorted((text, repr(script.outcome(ask(script, text)))) for text in order)

    assert outcomes(texts) == outcomes(texts[::-1])
    assert {kind for _, kind in outcomes(texts)} == {
        repr(Fault("reset")),
        repr(Fault("status")),
        repr(Reply("")),
    }


@pytest.mark.parametrize(("rate", "least", "most"), [(0, 0, 0), (0.2, 350, 450), (1, 2000, 2000)])
def test_faults_hit_their_share(rate: float, least: int, most: int) -> None:
    weather = Weather(rate, 1, (Fault("reset"),))
    hit = sum(weather_fault(weather, f"{at:064x}", 0) is not None for at in range(2000))
    assert least <= hit <= most


def test_another_seed_hits_other_requests() -> None:
    def hit(seed: int) -> list[bool]:
        weather = Weather(0.5, seed, (Fault("reset"),))
        return [weather_fault(weather, "", at) is not None for at in range(64)]

    assert hit(1) == hit(1) != hit(2)


def test_the_same_messages_are_hit_at_most_so_often_in_a_row() -> None:
    script = play(faults={"rate": 1, "most": 2, "of": [{"kind": "reset"}]}, default={"reply": ""})
    kinds = [type(script.outcome(ask(script))) for _ in range(7)]
    assert kinds == [Fault, Fault, Reply, Fault, Fault, Reply, Fault]


def test_faults_can_be_for_one_purpose() -> None:
    script = play(faults={"rate": 1, "purpose": "judge", "of": [{"kind": "reset"}]}, default={"reply": ""})
    assert script.outcome(ask(script)) == Reply("")
    assert script.outcome(ask(script, JUDGE_MARKER)) == Fault("reset")
