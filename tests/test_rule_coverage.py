"""Each rule id is named by a test: in its name (`test_enc17_…`), its docstring, or its module's docstring."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from aef_verify.rules import CHAPTERS, RULES

TESTS = Path(__file__).resolve().parent

NOT_FOR_A_VERIFIER = {
    "CKP-3": "binds whoever plans a checkpoint: a manifest does not hold what its requirements ask for",
    "CONF-5": "binds whoever publishes a later minor of the format",
    "LANE-10": "says what the corpus holds; `aef conformance run` judges it",
    "OVL-11": "says what the corpus holds; `aef conformance run` judges it",
    "SIG-6": "says what the corpus holds; `aef conformance run` judges it",
    "VER-5": "binds whoever writes a later minor of the format",
    "VER-7": "binds whoever writes a later minor of the format",
    "SEC-1": "binds producers; a secret cannot be told from other text",
    "SEC-2": "binds whoever finds a secret in a run",
    "SEC-4": "a recommendation for the names of people",
}
"""Rules that no test need name, as they ask nothing that a program could check, each with the reason."""

_ID = re.compile(r"\b(?:" + "|".join(CHAPTERS) + r")-[0-9]+\b")
_RANGE = re.compile(r"\[([A-Z]+)-([0-9]+)\] to \[\1-([0-9]+)\]")
_IN_NAME = re.compile(r"_(" + "|".join(chapter.lower() for chapter in CHAPTERS) + r")([0-9]+)(?=_)")


def ids(text: str) -> set[str]:
    """Return the rule ids that a docstring names, one by one or as a range."""
    found = set(_ID.findall(text))
    for chapter, first, last in _RANGE.findall(text):
        found |= {f"{chapter}-{number}" for number in range(int(first), int(last) + 1)}
    return found


def ids_in_name(name: str) -> set[str]:
    """Return the rule ids that the name of a test holds."""
    return {f"{chapter.upper()}-{number}" for chapter, number in _IN_NAME.findall(name)}


def named_in(source: str) -> set[str]:
    """Return the rule ids that the tests of a module name."""
    module = ast.parse(source)
    tests = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    if not tests:
        return set()
    found = ids(ast.get_docstring(module) or "")
    for test in tests:
        found |= ids_in_name(test.name) | ids(ast.get_docstring(test) or "")
    return found


@pytest.fixture(scope="module")
def named() -> set[str]:
    """Return the rule ids that any test names; this module's own do not count."""
    files = (file for file in TESTS.rglob("test_*.py") if file != Path(__file__).resolve())
    return set().union(*(named_in(file.read_text()) for file in files))


def test_every_rule_is_named_by_a_test(named: set[str]) -> None:
    assert sorted(RULES.keys() - named - NOT_FOR_A_VERIFIER.keys()) == []


def test_tests_name_only_rules_that_there_are(named: set[str]) -> None:
    assert sorted(named - RULES.keys()) == []


def test_what_is_excepted_is_a_rule_and_has_a_reason() -> None:
    assert NOT_FOR_A_VERIFIER.keys() <= RULES.keys()
    assert all(NOT_FOR_A_VERIFIER.values())


def test_how_ids_are_found() -> None:
    assert ids("[SUM-2] to [SUM-4], ENC-8; not XENC-9 nor ENC-x") == {"SUM-2", "SUM-3", "SUM-4", "ENC-8"}
    assert ids_in_name("test_enc17_res4_a_thing_seal6") == {"ENC-17", "RES-4"}
    assert named_in('"""[ENC-1]."""') == set()
    assert named_in('"""[ENC-1]."""\nclass A:\n    def test_ver9_x(self) -> None:\n        "[RUN-3]"') == {
        "ENC-1",
        "VER-9",
        "RUN-3",
    }
