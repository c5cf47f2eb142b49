"""Judging what was written (09 §9.3): `seal-write`, `sign`, and every way to write something else."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from aef_verify.conformance import contract
from aef_verify.conformance.drive import Answer, Refusal, Reply
from aef_verify.conformance.operation import Operation, Options
from aef_verify.conformance.runner import judge_vector
from aef_verify.conformance.written import changes, snapshot
from aef_verify.problems import InputError
from tests.conformance.small_corpus import SmallCorpus, sha256

RUN = {"run/run.json": b"{}", "run/ext/a": b"a"}
DIGESTS = [[sha256(b"a"), "ext/a"], [sha256(b"{}"), "run.json"]]
MANIFEST = f"{DIGESTS[0][0]}  1  ext/a\n{DIGESTS[1][0]}  2  run.json\n".encode()
PREDICATE: dict[str, object] = {"closedAt": "2026-10-02T14:00:00Z", "sealedAt": "2026-10-02T14:05:00Z", "judges": []}
SUBJECTS = [{"name": name, "digest": {"sha256": digest}} for digest, name in DIGESTS]
SEAL: dict[str, object] = {
    "subject": SUBJECTS,
    "predicate": PREDICATE,
}
EXPECTED: dict[str, object] = {
    "run": "run",
    "sealedBy": "producer",
    "sealedAt": "2026-10-02T14:05:00Z",
    "manifest": "expected-manifest.txt",
    "predicate": PREDICATE,
}
SEAL_WRITE = {**RUN, "expected-manifest.txt": MANIFEST}
Writer = Callable[[Path], Reply]


def answers(monkeypatch: pytest.MonkeyPatch, operation: str, value: object) -> None:
    """Let the reference verifier answer as given, so that a test shows the judge alone."""

    def work(arguments: Sequence[str], options: Options) -> object:
        if isinstance(value, Exception):
            raise value
        return value

    known = contract.OPERATIONS[operation]
    monkeypatch.setitem(contract.OPERATIONS, operation, Operation(work, known.arguments, known.options, known.optional))


@pytest.fixture(autouse=True)
def _reference(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "document", {"writer": "valid", "reader": "valid", "reads": {}})
    answers(monkeypatch, "run", {"outcome": "intact", "problems": []})


def judged(small: SmallCorpus, writes: Writer, expected: dict[str, object] | None = None) -> tuple[str, ...]:
    """Return the lines of a `seal-write` vector whose operation does what `writes` does to the run's folder."""
    small.add("v", "seal-write", SEAL_WRITE, EXPECTED if expected is None else expected)
    before = snapshot(str(small.root))
    corpus, vector = small.vector("v")
    lines = judge_vector(corpus, vector, lambda words: writes(Path(words[1]))).lines
    (small.root / "index.json").unlink()
    assert snapshot(str(small.root)) == before
    return lines


def sealed(run: Path, seal: object = SEAL, digest: str = sha256(MANIFEST)) -> Reply:
    (run / "seal.json").write_text(json.dumps(seal))
    return Answer({"runHash": digest})


def test_a_good_seal_passes_on_a_copy(small: SmallCorpus) -> None:
    assert judged(small, sealed) == ()


def test_its_times_are_compared_as_times(small: SmallCorpus) -> None:
    predicate = {**PREDICATE, "closedAt": "2026-10-02T14:00:00.000Z"}
    assert judged(small, lambda run: sealed(run, {**SEAL, "predicate": predicate})) == ()


@pytest.mark.parametrize(
    ("member", "value", "said"),
    [
        ("closedAt", "2026-10-02T14:00:00.000000001Z", "run/seal.json: predicate.closedAt: expected"),
        ("sealedAt", None, "run/seal.json: predicate.sealedAt: expected"),
        ("judges", None, "run/seal.json: predicate.judges: expected []"),
        ("subject", {}, "run/seal.json: predicate.subject: not expected"),
    ],
)
def test_another_predicate(small: SmallCorpus, member: str, value: object, said: str) -> None:
    seal = {**SEAL, "predicate": {**PREDICATE, member: value}}
    assert judged(small, lambda run: sealed(run, seal))[0].startswith(said)


def test_subjects_in_another_order(small: SmallCorpus) -> None:
    lines = judged(small, lambda run: sealed(run, {**SEAL, "subject": SUBJECTS[::-1]}))
    assert lines[0].startswith("run/seal.json: subject[0][0]: expected")


def test_another_run_hash(small: SmallCorpus) -> None:
    assert judged(small, lambda run: sealed(run, digest="0" * 64))[0].startswith("runHash: expected")


def test_no_seal(small: SmallCorpus) -> None:
    lines = judged(small, lambda run: Answer({"runHash": sha256(MANIFEST)}))
    assert lines == ("run/seal.json: not written",)


def test_a_seal_that_its_schema_refuses(small: SmallCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "document", {"writer": "invalid", "reader": "valid", "reads": {}})
    assert judged(small, sealed) == ("run/seal.json: not valid against the writer schema of seal",)


def test_a_run_that_is_not_intact_afterwards(small: SmallCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "run", {"outcome": "invalid", "problems": [["a", "digest"]]})
    assert judged(small, sealed)[0] == 'the sealed run: outcome: expected "intact", got "invalid"'


@pytest.mark.parametrize("value", [InputError("no run"), ValueError("odd"), []])
def test_a_run_that_cannot_be_verified(small: SmallCorpus, monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    answers(monkeypatch, "run", value)
    assert judged(small, sealed)[0].startswith("the reference verifier (run)")


@pytest.mark.parametrize(
    ("path", "what"),
    [("run/notes", "added"), ("run/run.json", "changed"), ("policy.json", "added"), ("run/sub/x", "added")],
)
def test_another_file_added_or_changed(small: SmallCorpus, path: str, what: str) -> None:
    def writes(run: Path) -> Reply:
        (run.parent / path).parent.mkdir(exist_ok=True)
        (run.parent / path).write_bytes(b"other")
        return sealed(run)

    assert any(line.startswith(f"{path}: {what}") for line in judged(small, writes))


def test_a_file_removed_or_exchanged_for_a_link(small: SmallCorpus) -> None:
    def writes(run: Path) -> Reply:
        (run / "ext/a").unlink()
        (run / "run.json").rename(run.parent / "elsewhere")
        os.symlink("../elsewhere", run / "run.json")
        return sealed(run)

    lines = judged(small, writes)
    assert [line.partition(",")[0] for line in lines[:3]] == [
        "elsewhere: added",
        "run/ext/a: removed",
        "run/run.json: changed",
    ]


class TestRefused:
    """`refused`: exit 2 with a message, and the folder unchanged."""

    expected: ClassVar[dict[str, object]] = {
        **{name: EXPECTED[name] for name in ("run", "sealedBy", "sealedAt")},
        "refused": True,
    }

    def test_a_refusal_that_writes_nothing(self, small: SmallCorpus) -> None:
        assert judged(small, lambda run: Refusal("open run"), self.expected) == ()

    def test_an_answer(self, small: SmallCorpus) -> None:
        lines = judged(small, sealed, self.expected)
        assert "a refusal (exit 2) is expected" in lines[0]
        assert lines[1].startswith("run/seal.json: added")

    def test_a_refusal_that_leaves_something(self, small: SmallCorpus) -> None:
        def writes(run: Path) -> Reply:
            (run / "seal.json.part").mkdir()
            return Refusal("open run")

        assert judged(small, writes, self.expected)[0].startswith("run/seal.json.part: added")


class TestSign:
    """`sign`: one signature by the key, in standard base64, that verifies for its identity."""

    payload = b'{"a": "\xc3\xa9"}'
    keyid = "sha256:" + "1" * 64
    envelope: ClassVar[dict[str, object]] = {
        "payloadType": "t/t",
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": keyid, "sig": "+/8="}],
    }
    verified: ClassVar[dict[str, object]] = {
        "envelopeResult": None,
        "signatures": [{"keyid": keyid, "result": "verified", "identity": "git:a"}],
        "verifiesFor": ["git:a"],
    }

    def judged(self, small: SmallCorpus, reply: Reply, **more: object) -> tuple[str, ...]:
        small.add("keys", "fixture", {"a.key.pem": b"key"})
        expected = {
            "algorithm": "ed25519",
            "file": "seal.json",
            "payloadType": "t/t",
            "key": "../keys/a.key.pem",
            "policy": "policy.json",
            "keyid": self.keyid,
            "identity": "git:a",
            **more,
        }
        small.add("v", "sign", {"seal.json": self.payload, "policy.json": b"{}"}, expected, algorithm="ed25519")
        corpus, vector = small.vector("v")
        return judge_vector(corpus, vector, lambda words: reply).lines

    @pytest.fixture(autouse=True)
    def _verifying(self, monkeypatch: pytest.MonkeyPatch) -> None:
        answers(monkeypatch, "signature", self.verified)

    def test_a_good_envelope(self, small: SmallCorpus) -> None:
        assert self.judged(small, Answer(self.envelope), sig="+/8=") == ()

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"payloadType": "t/u"}, 'payloadType: expected "t/t", got "t/u"'),
            ({"payload": "e30="}, "payload: not the file's bytes"),
            ({"payload": None}, "payload: not the file's bytes"),
            ({"signatures": []}, "signatures: expected exactly one, got []"),
            ({"signatures": envelope["signatures"] * 2}, "signatures: expected exactly one"),  # type: ignore[operator]  # a list
            ({"signatures": [1]}, "signatures: expected exactly one"),
            ({"signatures": [{"keyid": "x", "sig": "+/8="}]}, "keyid: expected"),
            ({"signatures": [{"keyid": keyid, "sig": "-_8="}]}, 'sig: "-_8=" is not standard base64'),
            ({"signatures": [{"keyid": keyid, "sig": "+/8"}]}, 'sig: "+/8" is not standard base64'),
            ({"signatures": [{"keyid": keyid, "sig": "+/9="}]}, 'sig: "+/9=" is not standard base64'),
            ({"signatures": [{"keyid": keyid, "sig": "é"}]}, 'sig: "é" is not standard base64'),
            ({"signatures": [{"keyid": keyid, "sig": None}]}, "sig: null is not standard base64"),
            ({"signatures": [{"keyid": keyid, "sig": "AAAA"}]}, 'sig: expected "+/8=", got "AAAA"'),
        ],
    )
    def test_another_envelope(self, small: SmallCorpus, change: dict[str, object], said: str) -> None:
        lines = self.judged(small, Answer({**self.envelope, **change}), sig="+/8=")
        assert any(line.startswith(said) for line in lines)

    def test_an_ecdsa_signature_is_not_compared(self, small: SmallCorpus) -> None:
        assert self.judged(small, Answer(self.envelope)) == ()

    @pytest.mark.parametrize(
        "change",
        [
            {"envelopeResult": "malformed"},
            {"signatures": [{"keyid": keyid, "result": "invalid"}]},
            {"verifiesFor": []},
        ],
    )
    def test_one_that_does_not_verify(
        self, small: SmallCorpus, monkeypatch: pytest.MonkeyPatch, change: dict[str, object]
    ) -> None:
        answers(monkeypatch, "signature", {**self.verified, **change})
        assert self.judged(small, Answer(self.envelope))[0].startswith("the envelope, verified.")

    def test_a_refusal(self, small: SmallCorpus) -> None:
        assert self.judged(small, Refusal("no such curve"), refused=True) == ()
        assert "an answer is expected" in self.judged(SmallCorpus(small.root.parent / "b"), Refusal("no"))[0]

    def test_a_key_that_was_exchanged(self, small: SmallCorpus) -> None:
        small.add("elsewhere", "fixture", {"a.key.pem": b"key"})
        (small.root / "elsewhere/a.key.pem").write_bytes(b"other")
        lines = self.judged(small, Answer(self.envelope), key="../elsewhere/a.key.pem")
        assert lines[0].startswith("corpus: elsewhere/a.key.pem: altered")


def test_changes_name_what_is_no_file(tmp_path: Path) -> None:
    before = snapshot(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    after = snapshot(str(tmp_path))
    assert after == {"pipe": "irregular", "folder": "folder"}
    assert [line.partition(",")[0] for line in changes(before, after)] == ["folder: added", "pipe: added"]
