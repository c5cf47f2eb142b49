"""The claim ([CONF-4]): a class is claimed only when every vector it must pass was selected and passed."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from aef_verify.conformance.claim import claim, claimed_classes
from aef_verify.conformance.index import Corpus, select
from aef_verify.conformance.report import Report
from aef_verify.conformance.runner import FAILED, PASSED, SKIPPED, UNSUPPORTED, Verdict
from tests.conformance.small_corpus import SmallCorpus


@pytest.fixture
def corpus(small: SmallCorpus) -> Corpus:
    small.add("document", "document", {}, {}, classes=["Reader", "Run verifier", "Stream verifier"])
    small.add("signature", "signature", {}, {}, classes=["Run verifier", "Sealer", "Stream verifier"], level="signed")
    small.add("p256", "sign", {}, {}, classes=["Sealer"], algorithm="ecdsa-p256")
    small.add("ed25519", "sign", {}, {}, classes=["Sealer"], algorithm="ed25519")
    small.add("stream", "stream", {}, {}, classes=["Stream verifier"])
    return small.load()


def claimed(corpus: Corpus, but: dict[str, str] | None = None, **conditions: object) -> list[str]:
    """Return the classes claimed when all selected vectors pass, save those in `but`."""
    classes = conditions.get("classes", ())
    assert isinstance(classes, Collection)
    vectors = select(corpus, **conditions)  # type: ignore[arg-type]  # conditions of the test
    verdicts = [Verdict(vector, (but or {}).get(vector.id, PASSED)) for vector in vectors]
    return claimed_classes(corpus, verdicts, classes)


def test_everything_passed(corpus: Corpus) -> None:
    assert claimed(corpus) == [
        "Reader",
        "Run verifier (signed)",
        "Stream verifier",
        "Sealer (ecdsa-p256, ed25519)",
    ]


def test_the_level_of_a_run_verifier_is_named(corpus: Corpus) -> None:
    assert claimed(corpus, level="intact") == ["Reader", "Run verifier (intact)"]
    assert claimed(corpus, kinds=["document"]) == ["Reader", "Run verifier (intact)"]


def test_the_algorithms_of_a_sealer_are_named(corpus: Corpus) -> None:
    assert claimed(corpus, algorithms=["ed25519"], classes=["Sealer"]) == ["Sealer (ed25519)"]
    assert claimed(corpus, kinds=["signature"], classes=["sealer"]) == []
    assert claimed(corpus, kinds=["sign"], classes=["Sealer"]) == []


def test_only_the_classes_that_were_asked_for(corpus: Corpus) -> None:
    assert claimed(corpus, classes=["run verifier"]) == ["Run verifier (signed)"]


@pytest.mark.parametrize("outcome", [FAILED, SKIPPED, UNSUPPORTED])
def test_a_claim_with_exceptions_is_none(corpus: Corpus, outcome: str) -> None:
    assert claimed(corpus, {"document": outcome}) == ["Sealer (ecdsa-p256, ed25519)"]
    assert claimed(corpus, {"signature": outcome}, classes=["Run verifier"]) == []
    assert claimed(corpus, {"p256": outcome}, classes=["Sealer"]) == []


def test_the_text_names_all_that_a_claim_must(corpus: Corpus) -> None:
    assert claim(corpus, "x 1", []) is None
    assert claim(corpus, "x 1", ["Reader"]) == (
        "x 1 conforms to AEF 1.0 as Reader: it passes every vector of this class in the conformance corpus "
        f"sha256:{corpus.version}."
    )
    assert " as A, B and C: " in (claim(corpus, "x 1", ["A", "B", "C"]) or "")


def test_nothing_is_claimed_while_anything_failed(corpus: Corpus) -> None:
    verdicts = tuple(Verdict(v, FAILED if v.id == "stream" else PASSED) for v in corpus.vectors)
    report = Report(corpus, "x 1", verdicts)
    assert not report.passed
    assert report.claimed == []
    assert report.claim is None
