"""The corpus that AEF_CORPUS names: every kind passes, and a wrong answer never does."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from aef_verify.conformance.drive import Answer, Refusal, Reply, in_process
from aef_verify.conformance.index import Corpus, load
from aef_verify.conformance.runner import FAILED, JUDGES, PASSED, SKIPPED, judge_vector

CORPUS = os.environ.get("AEF_CORPUS", "")
KINDS = sorted(JUDGES.keys() - {"fixture"})

pytestmark = pytest.mark.skipif(not CORPUS, reason="AEF_CORPUS names no corpus")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load(CORPUS)


def altered(value: object) -> object:
    """Return an answer that differs from the given one in each of its members, one level down."""
    if isinstance(value, dict):
        return dict.fromkeys(value, "altered")
    return [altered(item) for item in value] if isinstance(value, list) else "altered"


def wrong(words: Sequence[str]) -> Reply:
    """Answer otherwise than this implementation does: altered, or instead of a refusal."""
    match in_process(words):
        case Answer(value):
            return Answer(altered(value))
        case Refusal():
            return Answer({})
        case failure:
            return failure


@pytest.mark.parametrize("kind", [*KINDS, "fixture"])
def test_every_vector_of_a_kind_passes(corpus: Corpus, kind: str) -> None:
    verdicts = [judge_vector(corpus, vector, in_process) for vector in corpus.vectors if vector.kind == kind]
    assert verdicts
    assert [(v.vector.id, v.lines) for v in verdicts if v.outcome not in (PASSED, SKIPPED)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_answer_fails_every_vector(corpus: Corpus, kind: str) -> None:
    vectors = [vector for vector in corpus.vectors if vector.kind == kind][:20]
    assert {judge_vector(corpus, vector, wrong).outcome for vector in vectors} == {FAILED}


def test_every_kind_has_a_judge(corpus: Corpus) -> None:
    assert {vector.kind for vector in corpus.vectors} == JUDGES.keys()
