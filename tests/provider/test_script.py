"""A provider's script: read whole, or refused with the place that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aef_verify.problems import InputError
from aef_verify.provider.script import FAULTS, Fault, Match, Reply, Rule, Script, Weather, load_script, parse_script

FULL = {
    "version": "1",
    "model": "m",
    "latencyMs": 5,
    "judge": {"models": ["j"], "markers": "Judge:"},
    "rules": [
        {
            "match": {"question": " Where? ", "purpose": "answer", "model": "x", "contains": "a", "lacks": ["b", "c"]},
            "skip": 1,
            "times": 2,
            "reply": {
                "text": "there",
                "inputTokens": 1,
                "outputTokens": 0,
                "usage": False,
                "model": "other",
                "latencyMs": 0,
            },
        },
        {"fault": {"kind": "status", "status": 429, "retryAfter": 3, "retryAfterDate": -1.5, "latencyMs": 9}},
        {"match": {}, "reply": "short"},
    ],
    "faults": {"rate": 0.5, "seed": 3, "most": 2, "purpose": "judge", "of": [{"kind": "reset", "when": "body"}]},
    "default": {"fault": {"kind": "drip", "piece": 1, "pauseMs": 2, "text": "t"}},
}


def test_every_member_is_read() -> None:
    assert parse_script(FULL) == Script(
        rules=(
            Rule(
                Match("Where?", "answer", "x", ("a",), ("b", "c")),
                Reply("there", 1, 0, False, "other", 0.0),
                skip=1,
                times=2,
            ),
            Rule(Match(), Fault("status", 9.0, status=429, retry_after="3", retry_after_date=-1.5)),
            Rule(Match(), Reply("short")),
        ),
        default=Fault("drip", piece=1, pause_ms=2.0, text="t"),
        model="m",
        latency_ms=5.0,
        weather=Weather(0.5, 3, (Fault("reset", when="body"),), 2, "judge"),
        judge_models=frozenset(("j",)),
        judge_markers=("Judge:",),
    )


@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_needs_only_its_kind(kind: str) -> None:
    assert parse_script({"version": "1", "default": {"fault": {"kind": kind}}}).default == Fault(kind)


def rule(**members: Any) -> dict[str, Any]:
    return {"rules": [{"reply": ""}, members]}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"version": 1}, "the script: `version` must be a text"),
        ({"version": "2"}, 'version: only "1" is known'),
        ({"modle": "m"}, "the script: `modle` is not known here"),
        ({"latencyMs": -1}, "the script: `latencyMs` must be a number from 0 to 1,000,000,000"),
        ({"latencyMs": float("nan")}, "the script: `latencyMs` must be a number from 0 to 1,000,000,000"),
        ({"latencyMs": 10**400}, "the script: `latencyMs` must be a number from 0 to 1,000,000,000"),
        ({"latencyMs": True}, "the script: `latencyMs` must be a number from 0 to 1,000,000,000"),
        ({"rules": {}}, "the script: `rules` must be a list"),
        ({"judge": []}, "judge: must be an object"),
        ({"judge": {"models": [""]}}, "judge: `models` must be a text or a list of texts, none of them empty"),
        ({"default": {}}, "default: needs `reply` or `fault`, one of them"),
        ({"default": None}, "default: must be an object"),
        ({"default": {"reply": "", "times": 1}}, "default: `times` is not known here"),
        ({"rules": ["no"]}, "rules[0]: must be an object"),
        (rule(), "rules[1]: needs `reply` or `fault`, one of them"),
        (rule(reply="", fault={"kind": "empty"}), "rules[1]: needs `reply` or `fault`, one of them"),
        (rule(reply={}), "rules[1].reply: needs `text`"),
        (
            rule(reply={"text": "", "inputTokens": 1.5}),
            "rules[1].reply: `inputTokens` must be a whole number, 0 or more",
        ),
        (rule(reply={"text": "", "usage": 1}), "rules[1].reply: `usage` must be true or false"),
        (rule(reply="", times=-1), "rules[1]: `times` must be a whole number, 0 or more"),
        (rule(reply="", match={"question": " "}), "rules[1].match: `question` must be a text that is not blank"),
        (rule(reply="", match={"purpose": "both"}), "rules[1].match: `purpose` must be one of answer, judge"),
        (rule(reply="", match={"contain": "a"}), "rules[1].match: `contain` is not known here"),
        (rule(fault={}), "rules[1].fault: needs `kind`"),
        (rule(fault={"kind": ["empty"]}), "rules[1].fault: `kind` must be one of " + ", ".join(FAULTS)),
        (rule(fault={"kind": "empty", "status": 500}), "rules[1].fault: `status` is not known here"),
        (
            rule(fault={"kind": "status", "status": 99}),
            "rules[1].fault: `status` must be a status code from 200 to 599",
        ),
        (
            rule(fault={"kind": "status", "retryAfter": "1\r\nx: y"}),
            "rules[1].fault: `retryAfter` must be a number, or a text of printable ASCII characters",
        ),
        (
            rule(fault={"kind": "status", "retryAfterDate": 1e9}),
            "rules[1].fault: `retryAfterDate` must be a number of seconds from -1,000,000 to 1,000,000",
        ),
        (rule(fault={"kind": "reset", "when": "later"}), "rules[1].fault: `when` must be one of before, body"),
        (rule(fault={"kind": "drip", "piece": 0}), "rules[1].fault: `piece` must be a whole number, 1 or more"),
        ({"faults": {"of": []}}, "faults: needs `rate`"),
        ({"faults": {"rate": 0.1, "of": []}}, "faults.of: needs at least one fault"),
        ({"faults": {"rate": 2, "of": []}}, "faults: `rate` must be a number from 0 to 1"),
        ({"faults": {"rate": 0, "of": [{"kind": "x"}]}}, "faults.of[0]: `kind` must be one of " + ", ".join(FAULTS)),
    ],
)
def test_what_is_wrong_is_named(members: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_script({"version": "1"} | members)
    assert str(refused.value) == message


@pytest.mark.parametrize("document", [None, [], "1", {}])
def test_other_values_are_no_script(document: object) -> None:
    with pytest.raises(InputError):
        parse_script(document)


def test_a_script_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps(FULL))
    assert load_script(str(file)) == parse_script(FULL)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b'{"version": "3"}', b"1" * 5000])
def test_a_file_that_is_none_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "script.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"script\.json: "):
        load_script(str(file))
