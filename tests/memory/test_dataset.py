"""A dataset in the official format: opened as a stream, each fault named by question and field [ENC-1..3, ENC-17]."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aef_verify import limits
from aef_verify.memory import dataset
from aef_verify.memory.model import QUESTION_TYPES, RosterItem, Session, Turn
from aef_verify.problems import InputError
from tests.memory.datasets import DATE, entry, turn, write


def refused(folder: Path, entries: list[dict[str, Any]] | bytes, *parts: str) -> None:
    with pytest.raises(InputError) as caught:
        dataset.open_dataset(write(folder, entries))
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_questions_in_file_order_without_labels(tmp_path: Path) -> None:
    found = dataset.open_dataset(write(tmp_path, [entry("b"), entry("a_abs", question_type="knowledge-update")]))
    assert found.items == (RosterItem("b", "multi-session"), RosterItem("a_abs", "knowledge-update"))
    question = found.question("a_abs")
    assert question.abstention
    assert not found.question("b").abstention
    assert (question.text, question.answer, question.date, question.gold) == (
        "What about a_abs?",
        3,
        DATE,
        ("answer_1",),
    )
    assert question.sessions[1] == Session("answer_1", "2023/05/02 (Tue) 10:00", (Turn("user", "It is three."),))


def test_an_entry_is_given_as_the_dataset_holds_it(tmp_path: Path) -> None:
    held = [entry("a", extra={"deep": [1.5, None, "é"]}), entry("b")]
    found = dataset.open_dataset(write(tmp_path, held))
    assert [found.entry("b"), found.entry("a")] == [held[1], held[0]]


def test_what_official_files_do(tmp_path: Path) -> None:
    """Repeated sessions, numeric answers, empty turns, sessions without turns, `has_answer` also false."""
    labelled = [[turn("x", has_answer=False)], [turn("", has_answer=True)], []]
    items = [entry(f"q{at}", question_type=kind) for at, kind in enumerate(QUESTION_TYPES)]
    items += [entry("n", answer=2.5), entry("l", haystack_sessions=labelled), entry("t", answer="x")]
    found = dataset.open_dataset(write(tmp_path, items))
    assert [session.id for session in found.question("q0").sessions] == ["5f3c", "answer_1", "5f3c"]
    assert found.question("n").answer == 2.5
    assert found.question("l").sessions[2].turns == ()


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("question_id", 7, "not a text"),
        ("question_id", "with a space", "visible ASCII"),
        ("question_type", "multi", "none of single-session-user"),
        ("question", None, "not a text"),
        ("question", " ", "empty"),
        ("answer", True, "neither a text nor a number"),
        ("answer", ["3"], "neither a text nor a number"),
        ("answer", "", "empty"),
        ("question_date", "2023-05-30", "no date such as"),
        ("question_date", "2023/02/29 (Wed) 10:00", "no date such as"),
        ("question_date", "2023/05/30 (Tue) 24:00", "no date such as"),
        ("haystack_dates", [DATE], "1 items, but haystack_session_ids has 3"),
        ("haystack_sessions", [[]] * 4, "4 items, but haystack_session_ids has 3"),
        ("haystack_session_ids", "abc", "not a list"),
        ("answer_session_ids", {}, "not a list"),
    ],
)
def test_a_fault_names_question_and_field(tmp_path: Path, field: str, value: object, why: str) -> None:
    other = entry("fine")
    bad = entry("q1", **{field: value})
    refused(
        tmp_path, [other, bad], repr(bad["question_id"]) if value != 7 else "question number 2", f"field {field}: ", why
    )


@pytest.mark.parametrize(
    ("field", "at", "value", "named"),
    [
        ("haystack_session_ids", 1, "", "haystack_session_ids[1]"),
        ("haystack_session_ids", 2, 5, "haystack_session_ids[2]"),
        ("haystack_dates", 0, "yesterday", "haystack_dates[0]"),
        ("haystack_sessions", 0, {}, "haystack_sessions[0]"),
        ("haystack_sessions", 2, ["hello"], "haystack_sessions[2][0]"),
        ("haystack_sessions", 2, [turn("x", "system")], "haystack_sessions[2][0].role"),
        ("haystack_sessions", 0, [turn("x"), {"role": "user"}], "haystack_sessions[0][1].content"),
        ("haystack_sessions", 0, [turn("x", has_answer="yes")], "haystack_sessions[0][0].has_answer"),
        ("answer_session_ids", 0, "answer_9", "answer_session_ids[0]"),
    ],
)
def test_a_fault_in_a_list_names_its_place(tmp_path: Path, field: str, at: int, value: object, named: str) -> None:
    bad = entry()
    bad[field][at] = value
    refused(tmp_path, [bad], "'q1'", f"field {named}: ")


@pytest.mark.parametrize("field", sorted(entry()))
def test_a_missing_member_is_named(tmp_path: Path, field: str) -> None:
    bad = entry("q1")
    del bad[field]
    refused(tmp_path, [bad], f"field {field}: missing")


def test_an_id_that_stands_twice(tmp_path: Path) -> None:
    refused(tmp_path, [entry("a"), entry("b"), entry("a")], "'a'", "question_id", "number 1 and 3")


def test_a_definition_can_hold_every_roster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = {"id": "q" * 256, "type": max(QUESTION_TYPES, key=len)}
    assert len(json.dumps(longest) + ", ") * dataset.QUESTIONS < limits.JSON_BYTES - (1 << 16)
    monkeypatch.setattr(dataset, "QUESTIONS", 2)
    refused(tmp_path, [entry("a"), entry("b"), entry("c")], "more than 2 questions")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('"question": ', '"question": "x", "question": ', "question"),
        ("It is three.", "\\ud800", "haystack_sessions[1][0].content"),
        ('"has_answer"', '"\\udc00"', "haystack_sessions[1][0].\\udc00"),
        ('"answer": 3', '"answer": 1e999', "answer"),
        ('"answer": 3', '"answer": 9007199254740993', "answer"),
        ('"answer": 3', '"answer": NaN', "answer"),
        ('"answer": 3', '"x": {"y": [1, 9007199254740992]}, "answer": 3', "x.y[1]"),
    ],
)
def test_what_canonical_json_cannot_represent(tmp_path: Path, old: str, new: str, field: str) -> None:
    data = json.dumps([entry()]).replace(old, new, 1).encode()
    refused(tmp_path, data, "'q1'", f"field {field}: ")


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    data = json.dumps([entry()]).replace("It is three.", "@").encode().replace(b"@", b"\xff")
    refused(tmp_path, data, "'q1'", "field haystack_sessions[1][0].content: ")


def test_an_error_quotes_little_and_nothing_unprintable(tmp_path: Path) -> None:
    name = "\\u001b[31m" + "x" * 100_000
    data = json.dumps([entry()]).replace('"answer": 3', f'"{name}": 1, "{name}": 2, "answer": 3').encode()
    with pytest.raises(InputError) as caught:
        dataset.open_dataset(write(tmp_path, data))
    assert len(str(caught.value)) < 1000
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(("levels", "sound"), [(62, True), (63, False), (100_000, False)])
def test_depth_counts_from_the_file(tmp_path: Path, levels: int, sound: bool) -> None:
    deep = "[" * levels + "]" * levels
    data = json.dumps([entry()]).replace('"answer": 3', f'"extra": {deep}, "answer": 3').encode()
    if sound:
        assert len(dataset.open_dataset(write(tmp_path, data)).items) == 1
    else:
        refused(tmp_path, data, "'q1'", "field extra[0]", "deeper than 64")


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"[1]", b"null", b"[{}", b"\xef\xbb\xbf[]", b"\x00\xff"])
def test_what_is_no_dataset(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path, data, "longmemeval_s_cleaned.json")


@pytest.mark.parametrize(
    ("name", "given", "variant"),
    [
        ("longmemeval_s.json", None, "s"),
        ("longmemeval_s_cleaned.json", None, "s"),
        ("longmemeval_m_cleaned.json", "m", "m"),
        ("LongMemEval_oracle.json", None, "oracle"),
        ("my-longmemeval-fixture.v2.json", None, "fixture"),
        ("questions.json", "m", "m"),
    ],
)
def test_how_a_variant_is_told(tmp_path: Path, name: str, given: str | None, variant: str) -> None:
    assert dataset.open_dataset(write(tmp_path, [entry()], name), variant=given).variant == variant


@pytest.mark.parametrize(
    ("name", "given"),
    [("questions.json", None), ("longmemeval_sample.json", None), ("longmemeval_s.json", "m"), ("q.json", "l")],
)
def test_a_variant_is_never_guessed(tmp_path: Path, name: str, given: str | None) -> None:
    with pytest.raises(InputError, match="variant"):
        dataset.open_dataset(write(tmp_path, [entry()], name), variant=given)


def test_gold_only_histories_cannot_be_paired(tmp_path: Path) -> None:
    gold = entry("g", answer_session_ids=["answer_1", "5f3c"])
    assert dataset.open_dataset(write(tmp_path, [gold, entry("q")])).unpairable is None
    only = dataset.open_dataset(write(tmp_path, [gold]))
    assert only.gold_only
    assert "gold" in str(only.unpairable)
    named = dataset.open_dataset(write(tmp_path, [entry("q")], "longmemeval_oracle.json"))
    assert "oracle variant" in str(named.unpairable)


def test_a_file_that_changes_after_it_was_opened(tmp_path: Path) -> None:
    path = write(tmp_path, [entry("a")])
    found = dataset.open_dataset(path)
    write(tmp_path, [entry("a", answer=4)])
    with pytest.raises(InputError, match="changed after"):
        found.question("a")
    os.remove(path)
    with pytest.raises(InputError, match="cannot be read"):
        found.question("a")
    with pytest.raises(InputError, match="holds no question 'z'"):
        found.entry("z")


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "longmemeval_s.json"
    os.mkfifo(pipe)
    for path in (str(pipe), str(tmp_path), str(tmp_path / "none"), "a\0b"):
        with pytest.raises(InputError):
            dataset.open_dataset(path, variant="s")


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="asks the kernel for the largest resident set")
def test_memory_does_not_grow_with_the_dataset(tmp_path: Path) -> None:
    filler = [[turn("word " * 2000)] * 20] * 2
    text = json.dumps(entry("x", haystack_sessions=[*filler, [turn("z")]]))
    path = tmp_path / "longmemeval_s.json"
    path.write_text("[" + ",\n".join(text.replace('"x"', f'"x{at}"', 1) for at in range(100)) + "]")
    assert path.stat().st_size > 40_000_000
    script = (
        "import sys; from aef_verify.memory import dataset; "
        "peak = lambda: int(next(line for line in open('/proc/self/status') if line[:5] == 'VmHWM').split()[1]); "
        "before = peak(); dataset.open_dataset(sys.argv[1]); print(peak() - before)"
    )
    ran = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 20 << 10, f"{ran.stdout} KiB"
