"""The tables of codes and rules: complete, both ways, and of one sentence each where one is promised."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from aef_verify.codes import (
    CODES,
    DECISION,
    OUTCOME,
    OVERLAYS,
    REPORT,
    RUN,
    SCOPES,
    SIGNATURE,
    Code,
    codes_named,
    meaning_of,
)
from aef_verify.report.model import NOT_VERIFIED, REQUIREMENTS, UNREADABLE
from aef_verify.rules import CHAPTERS, RULES, chapter_of

PACKAGE = Path(__file__).resolve().parents[1] / "aef_verify"
OF_RUNS = ("encoding", "run", "integrity")
OF_CHAINS = {"overlays.py", "events.py"}
COUNTS = {
    "ENC": 19,
    "RUN": 15,
    "RES": 11,
    "SUM": 9,
    "EVD": 3,
    "GATE": 2,
    "SEAL": 6,
    "OVL": 11,
    "SIG": 8,
    "CKP": 10,
    "LANE": 11,
    "DEC": 5,
    "PLAN": 10,
    "STRM": 4,
    "VER": 9,
    "SEC": 6,
    "CONF": 5,
}
"""How many rules each chapter has."""


def strings(node: ast.expr) -> Iterator[str]:
    """Yield the strings that an expression may be: itself, or what a conditional chooses between."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from strings(node.body)
        yield from strings(node.orelse)


def yielded(file: Path) -> Iterator[str]:
    """Yield the codes that a module gives problems: as `Problem` takes them, or as the parts that become one."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("Problem", "_report") and len(node.args) > 1:
                yield from strings(node.args[1])
        elif isinstance(node, ast.FunctionDef) and node.name.endswith("_faults"):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Yield) and isinstance(inner.value, ast.Tuple):
                    yield from strings(inner.value.elts[0])
        elif isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["code"]:
            yield from strings(node.value)


def codes_of(scope: str) -> set[str]:
    return {code.code for code in CODES.values() if code.scope == scope}


def source(*, chains: bool) -> set[str]:
    files = [file for room in OF_RUNS for file in (PACKAGE / room).glob("*.py")]
    return {code for file in files if (file.name in OF_CHAINS) is chains for code in yielded(file)}


def test_every_code_of_a_run_is_in_the_table_and_no_other() -> None:
    assert source(chains=False) == codes_of(RUN)


def test_every_code_of_a_chain_is_in_the_table_and_no_other() -> None:
    assert source(chains=True) == codes_of(OVERLAYS)


def test_every_result_of_a_signature_is_in_the_table() -> None:
    text = (PACKAGE / "integrity" / "dsse.py").read_text()
    assert all(f'"{code}"' in text for code in codes_of(SIGNATURE))


def test_outcomes_and_requirements_are_in_the_table() -> None:
    assert codes_of(OUTCOME) >= {"intact", "unsealed", "invalid", UNREADABLE, NOT_VERIFIED}
    assert codes_of(REPORT) >= {f"require-{name}" for name in REQUIREMENTS} | {"run-id-clash", "link", "within-a-run"}


@pytest.mark.parametrize("code", CODES.values(), ids=lambda code: f"{code.scope}:{code.code}")
def test_a_code_names_rules_and_says_what_it_means_and_what_to_do(code: Code) -> None:
    assert code.scope in SCOPES
    assert code.rules
    assert set(code.rules) <= set(RULES)
    for sentence in (code.meaning, code.advice):
        assert re.fullmatch(r"\S.*[^.]\.", sentence), sentence
        assert ". " not in sentence
    assert meaning_of(code.scope, code.code) == code.meaning


def test_every_rule_of_the_chapters_is_in_the_table() -> None:
    found: dict[str, list[int]] = {}
    for rule in RULES:
        prefix, _, number = rule.partition("-")
        found.setdefault(prefix, []).append(int(number))
        assert chapter_of(rule) == CHAPTERS[prefix]
    assert {prefix: sorted(numbers) for prefix, numbers in found.items()} == {
        prefix: list(range(1, count + 1)) for prefix, count in COUNTS.items()
    }


def test_every_rule_that_the_source_names_is_in_the_table() -> None:
    named = {rule for file in PACKAGE.rglob("*.py") for rule in re.findall(r"\[([A-Z]+-[0-9]+)\]", file.read_text())}
    assert named <= set(RULES)


def test_one_word_may_stand_in_several_scopes() -> None:
    assert [code.scope for code in codes_named("MISSING")] == [RUN, OVERLAYS, DECISION]
    assert codes_named("nonsense") == []
