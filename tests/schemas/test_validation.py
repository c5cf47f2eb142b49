"""Every document's schema on both sides, by both implementations: each case names the rule it shows."""

from __future__ import annotations

from collections import Counter

import pytest

from aef_verify.problems import InputError
from aef_verify.schemas import NAMES, accepts, explain, validator
from tests.schemas.both import IMPLEMENTATIONS, SIDES, Implementation
from tests.schemas.cases import CASES, YES, Case
from tests.schemas.full import FULL


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("name", FULL)
def test_a_full_document_is_valid(implementation: Implementation, name: str) -> None:
    assert [implementation(name, side)(FULL[name]) for side in SIDES] == [True, True]


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("case", [pytest.param(c, id=f"{c.rule} {c.document} {c.name}") for c in CASES])
def test_case(implementation: Implementation, case: Case) -> None:
    value = case.value()
    assert tuple(implementation(case.document, side)(value) for side in SIDES) == case.verdict


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{c.rule} {c.document} {c.name}") for c in CASES])
def test_a_refused_case_is_explained(case: Case) -> None:
    value = case.value()
    assert tuple(not explain(case.document, side, value) for side in SIDES) == case.verdict


def test_no_case_stands_twice_and_every_document_has_some() -> None:
    assert [case for case, times in Counter((c.document, c.rule, c.name) for c in CASES).items() if times > 1] == []
    assert {case.document for case in CASES if case.verdict != YES} == FULL.keys()


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, True, 1, "x", [], [{}], {}])
def test_what_is_no_document_is_refused(implementation: Implementation, name: str, value: object) -> None:
    assert [implementation(name, side)(value) for side in SIDES] == [False, False]


@pytest.mark.parametrize(
    "name", ["", "runs", "run.json", "common", "run#", "run#/$defs/", "decision#/$defs/x", "../run"]
)
def test_an_unknown_name_is_an_input_error(name: str) -> None:
    with pytest.raises(InputError, match=r"run, result, metrics.* decision#/\$defs/input"):
        validator(name, "reader")


def test_a_definition_has_a_name_of_its_own() -> None:
    assert accepts("decision#/$defs/input", "reader", FULL["decision#/$defs/input"])
    assert not accepts("decision#/$defs/input", "reader", FULL["decision"])


def test_a_validator_is_compiled_once() -> None:
    assert validator("run", "reader") is validator("run", "reader")
