"""Judging answers, kind by kind: [CONF-2] ordered pairs, times as written, numbers as binary64 (09 §9.3)."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest

from aef_verify.conformance.drive import Answer, Reply
from aef_verify.conformance.judge import differences, problem_differences, same
from aef_verify.conformance.runner import FAILED, PASSED, Verdict, judge_vector
from tests.conformance.small_corpus import FakeProgram, SmallCorpus, sha256

Value = dict[str, object]
HASH = "a" * 64
RUN = {"run/run.json": b"{}"}
POLICY = {"policy.json": b"{}"}
MANIFEST = b"00  1  run.json\n11  2  summary.json\n"


def judged(small: SmallCorpus, identity: str, reply: Reply) -> Verdict:
    corpus, vector = small.vector(identity)
    return judge_vector(corpus, vector, lambda words: reply)


def lines(small: SmallCorpus, kind: str, expected: Value, got: object, **files: bytes) -> list[str]:
    """Return the lines of a vector whose run and policy exist and whose operation answered `got`."""
    small.add("v", kind, {**RUN, **POLICY, "anchors.json": b"[]", "document.json": b"{}", **files}, expected)
    verdict = judged(small, "v", Answer(got))
    assert verdict.outcome == (FAILED if verdict.lines else PASSED)
    return list(verdict.lines)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (0.1, 0.1000000000000000055, True),
        (2**53, 2**53 + 1, True),
        (-0.0, 0, True),
        (1, True, False),
        (0, None, False),
        ("2026-10-02T14:00:00Z", "2026-10-02T14:00:00.0Z", False),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        ([], {}, False),
        (10**400, 10**400, True),
        (10**400, 1, False),
    ],
)
def test_equal_means_binary64_and_as_written(one: object, other: object, equal: bool) -> None:
    assert same(one, other) is equal
    assert same(other, one) is equal
    assert bool(differences("", one, other)) is not equal


def test_a_difference_names_its_place() -> None:
    expected: Value = {"a": [{"b": 1}, 2], "c": 3}
    assert differences("view", expected, {"a": [{"b": 5}], "d": 4}) == [
        "view.a: 2 expected, got 1",
        "view.a[0].b: expected 1, got 5",
        "view.a[1]: missing; expected 2",
        "view.c: missing; expected 3",
        "view.d: not expected; got 4",
    ]
    assert len(differences("", list(range(100)), list(range(100, 200)))) == 5
    assert "…" in differences("", "x" * 1000, "y")[0]


class TestProblems:
    """Ordered pairs, and a difference that a person can act on."""

    expected: ClassVar[list[object]] = [["a", "path"], ["b", "schema"], ["b", "schema"]]

    def test_equal_lists(self) -> None:
        assert problem_differences(self.expected, list(self.expected)) == []

    def test_another_order(self) -> None:
        got = [self.expected[1], self.expected[0], self.expected[2]]
        assert problem_differences(self.expected, got) == [
            'problems: first difference at [0]: expected ["a", "path"], got ["b", "schema"]',
            "problems: the same pairs in another order",
        ]

    def test_missing_and_extra_pairs(self) -> None:
        assert problem_differences(self.expected, [["a", "path"], ["b", "schema"], ["c", "limit"]]) == [
            'problems: first difference at [2]: expected ["b", "schema"], got ["c", "limit"]',
            'problems: missing: ["b", "schema"]',
            'problems: extra: ["c", "limit"]',
        ]
        assert problem_differences([], [["c", "limit"]] * 9) == [
            'problems: first difference at [0]: expected nothing, got ["c", "limit"]',
            "problems: extra: " + ", ".join(['["c", "limit"]'] * 5) + " and 4 more",
        ]

    def test_no_list(self) -> None:
        assert problem_differences([], None) == ["problems: expected a list, got null"]


class TestRun:
    """`run`, `encoding`: outcome, problems, withheld, signed by, anchored."""

    intact: ClassVar[Value] = {"run": "run", "outcome": "intact", "problems": []}
    signed: ClassVar[Value] = {**intact, "policy": "policy.json", "signedBy": ["git:a"]}

    @pytest.mark.parametrize("kind", ["run", "encoding"])
    def test_equal(self, small: SmallCorpus, kind: str) -> None:
        assert lines(small, kind, self.intact, {"outcome": "intact", "problems": []}) == []

    @pytest.mark.parametrize(
        ("expected", "got", "said"),
        [
            (intact, {"outcome": "invalid", "problems": []}, 'outcome: expected "intact", got "invalid"'),
            (intact, {"problems": []}, 'outcome: not printed; expected "intact"'),
            (intact, {"outcome": "intact"}, "problems: expected a list, got null"),
            (intact, {"outcome": "intact", "problems": [["a", "path"]]}, "problems: first difference at [0]"),
            (intact, {"outcome": "intact", "problems": [], "withheld": 1}, "withheld: printed (1)"),
            (intact, {"outcome": "intact", "problems": [], "signedBy": []}, "signedBy: printed ([])"),
            (intact, {"outcome": "intact", "problems": [], "anchored": False}, "anchored: printed (false)"),
            (intact | {"withheld": 2}, {"outcome": "intact", "problems": []}, "withheld: not printed; expected 2"),
            (signed, {"outcome": "intact", "problems": []}, 'signedBy: not printed; expected ["git:a"]'),
            (signed, {"outcome": "intact", "problems": [], "signedBy": []}, "signedBy: 1 expected, got 0"),
            (intact, [], "run: answered [], and an object is expected"),
        ],
    )
    def test_different(self, small: SmallCorpus, expected: Value, got: object, said: str) -> None:
        assert any(line.startswith(said) for line in lines(small, "run", expected, got))

    def test_its_inputs_are_given(self, small: SmallCorpus, fake: FakeProgram) -> None:
        more = {"policy": "policy.json", "anchors": "anchors.json", "signedBy": [], "anchored": True}
        small.add("v", "run", {**RUN, **POLICY, "anchors.json": b"[]"}, {**self.intact, **more})
        fake.says("run", {"outcome": "intact", "problems": [], "signedBy": [], "anchored": True})
        corpus, vector = small.vector("v")
        assert judge_vector(corpus, vector, fake.program).outcome == PASSED
        base = f"{corpus.root}/v"
        call = ["run", f"{base}/run", "--policy", f"{base}/policy.json", "--anchors", f"{base}/anchors.json"]
        assert fake.calls == [call]

    def test_a_failure_of_the_call_is_said(self, small: SmallCorpus, fake: FakeProgram) -> None:
        small.add("v", "run", RUN, self.intact)
        corpus, vector = small.vector("v")
        fake.says("run", exit=1, stderr="boom")
        assert judge_vector(corpus, vector, fake.program).lines == ("run: exit 1: boom",)
        fake.says("run", exit=2, stderr="no such folder")
        assert (
            "refused (exit 2), and an answer is expected: no such folder"
            in judge_vector(corpus, vector, fake.program).lines[0]
        )


class TestSeal:
    """`seal`: the problems of §4.1; the manifest and its hash where the vector states one."""

    expected: ClassVar[Value] = {"run": "run", "problems": [], "manifest": "expected-manifest.txt"}
    answered: ClassVar[Value] = {"problems": [], "runHash": sha256(MANIFEST), "manifest": MANIFEST.decode()}

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({}, None),
            ({"runHash": HASH}, "runHash: expected"),
            ({"manifest": None}, "manifest: expected a text, got null"),
            ({"manifest": MANIFEST.decode().replace("11", "12")}, "manifest: line 2: expected"),
            ({"manifest": MANIFEST.decode() + "x"}, "manifest: line 3: expected"),
            ({"manifest": ""}, "manifest: line 1: expected"),
            ({"manifest": MANIFEST.decode() + "\n"}, "manifest: 3 lines expected, got 4"),
            ({"problems": [["seal.json", "run-hash"]]}, "problems: first difference"),
        ],
    )
    def test_sealable(self, small: SmallCorpus, change: Value, said: str | None) -> None:
        found = lines(small, "seal", self.expected, self.answered | change, **{"expected-manifest.txt": MANIFEST})
        assert (said is None and not found) or (said is not None and found[0].startswith(said))

    def test_without_a_manifest_only_problems_count(self, small: SmallCorpus) -> None:
        expected: Value = {"run": "run", "problems": [["a", "missing"]], "policy": "policy.json"}
        assert lines(small, "seal", expected, {"problems": [["a", "missing"]], "manifest": 1}) == []


def test_chain_compares_problems(small: SmallCorpus) -> None:
    expected: Value = {"run": "run", "problems": [["overlays", "limit"]]}
    assert lines(small, "chain", expected, {"problems": [["overlays", "limit"]]}) == []
    small.add("w", "chain", RUN, expected)
    assert judged(small, "w", Answer({"problems": []})).outcome == FAILED


class TestView:
    """`view`: every member stated; `assurance` only where it is."""

    view: ClassVar[Value] = {"results": [], "unsealedEvents": 0}
    expected: ClassVar[Value] = {"run": "run", "at": "2026-10-02T14:00:00Z", "view": view}

    def test_assurance_not_stated_is_not_compared(self, small: SmallCorpus) -> None:
        assert lines(small, "overlay-view", self.expected, self.view | {"assurance": [1]}) == []

    @pytest.mark.parametrize("got", [{"results": []}, {"results": [1], "unsealedEvents": 0}, {}])
    def test_different(self, small: SmallCorpus, got: object) -> None:
        assert lines(small, "overlay-view", self.expected, got)

    def test_assurance_stated_is_compared(self, small: SmallCorpus) -> None:
        expected = {**self.expected, "view": {"assurance": [{"event": "e", "shown": "signed"}]}}
        got = {"assurance": [{"event": "e", "shown": "self-attested"}]}
        assert lines(small, "overlay-view", expected, got) == [
            'assurance[0].shown: expected "signed", got "self-attested"'
        ]


class TestDocument:
    """`document`, `reader-only`: both sides, and the stated readings."""

    expected: ClassVar[Value] = {"schema": "run", "writer": "invalid", "reader": "valid", "reads": {"state": "errored"}}
    answered: ClassVar[Value] = {"writer": "invalid", "reader": "valid", "reads": {"state": "errored", "other": 1}}

    @pytest.mark.parametrize("kind", ["document", "reader-only"])
    def test_only_stated_readings_are_compared(self, small: SmallCorpus, kind: str) -> None:
        assert lines(small, kind, self.expected, self.answered) == []

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"writer": "valid"}, 'writer: expected "invalid", got "valid"'),
            ({"reader": None}, 'reader: expected "valid", got null'),
            ({"reads": {}}, 'reads: state: missing; expected "errored"'),
            ({"reads": {"state": "x"}}, 'reads: state: expected "errored", got "x"'),
            ({"reads": []}, "reads: expected an object, got []"),
        ],
    )
    def test_different(self, small: SmallCorpus, change: Value, said: str) -> None:
        assert lines(small, "document", self.expected, self.answered | change) == [said]

    def test_the_file_that_is_named(self, small: SmallCorpus, fake: FakeProgram) -> None:
        expected = {"schema": "result", "document": "document.ndjson", "writer": "valid", "reader": "valid"}
        small.add("v", "document", {"document.ndjson": b"{}\n"}, expected)
        fake.says("document", {"writer": "valid", "reader": "valid", "reads": {}})
        corpus, vector = small.vector("v")
        assert judge_vector(corpus, vector, fake.program).outcome == PASSED
        assert fake.calls == [["document", "result", f"{corpus.root}/v/document.ndjson"]]


class TestSignature:
    """`signature`: the envelope, each signature, for whom it verifies; a refused policy is exit 2."""

    inputs: ClassVar[Value] = {"envelope": "e.json", "file": "seal.json", "payloadType": "t/t", "policy": "policy.json"}
    files: ClassVar[dict[str, bytes]] = {"e.json": b"{}", "seal.json": b"{}"}
    result: ClassVar[Value] = {
        "envelopeResult": None,
        "signatures": [{"keyid": "sha256:1", "result": "verified", "identity": "git:a"}],
        "verifiesFor": ["git:a"],
    }

    def test_equal(self, small: SmallCorpus) -> None:
        assert lines(small, "signature", self.inputs | self.result, self.result, **self.files) == []

    @pytest.mark.parametrize(
        "change",
        [
            {"envelopeResult": "malformed"},
            {"signatures": []},
            {"signatures": [{"keyid": "sha256:1", "result": "verified"}]},
            {"verifiesFor": []},
        ],
    )
    def test_different(self, small: SmallCorpus, change: Value) -> None:
        assert lines(small, "signature", self.inputs | self.result, self.result | change, **self.files)

    def test_a_member_not_printed(self, small: SmallCorpus) -> None:
        found = lines(small, "signature", self.inputs | self.result, {}, **self.files)
        assert found[0] == "envelopeResult: not printed; expected null"

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            ({"exit": 2, "stderr": "no key"}, None),
            ({"exit": 2}, "exit 2 without a message on standard error; a refusal (exit 2) is expected"),
            ({"exit": 1, "stderr": "boom"}, "exit 1: boom; a refusal (exit 2) is expected"),
            ({"stdout": "{}"}, "answered {}, and a refusal (exit 2) is expected"),
        ],
    )
    def test_a_refused_policy(self, small: SmallCorpus, fake: FakeProgram, answer: Value, said: str | None) -> None:
        small.add("v", "signature", {**self.files, **POLICY}, {**self.inputs, "policyRefused": True})
        fake.says("signature", **answer)
        corpus, vector = small.vector("v")
        found = judge_vector(corpus, vector, fake.program).lines
        assert found == (() if said is None else (f"signature: {said}",))


def test_a_file_outside_the_vector_is_checked(small: SmallCorpus) -> None:
    small.add("keys", "fixture", {"policy.json": b"{}"})
    expected: Value = {**TestRun.signed, "policy": "../keys/policy.json"}
    got = Answer({"outcome": "intact", "problems": [], "signedBy": ["git:a"]})
    small.add("v", "run", RUN, expected)
    assert judged(small, "v", got).outcome == PASSED
    (small.root / "keys/policy.json").write_bytes(b"{} ")
    assert judged(small, "v", got).lines[0].startswith("corpus: keys/policy.json: altered")
    for number, path in enumerate(("../../secret", "../index.json", "../keys", "/etc/passwd", "a\\b")):
        small.add(f"w{number}", "run", RUN, expected | {"policy": path})
        assert judged(small, f"w{number}", got).lines[0].startswith("corpus: ")


class TestOneFile:
    """`paths` and `result-id`: a vector that is one list."""

    items: ClassVar[list[Value]] = [
        {"name": "a", "paths": [".x"], "problems": [[".x", "path"]]},
        {"name": "b", "paths": [], "problems": []},
    ]

    @pytest.mark.parametrize(
        ("got", "said"),
        [
            ([{"name": "a", "problems": [[".x", "path"]]}, {"name": "b", "problems": []}], None),
            ([{"name": "a", "problems": []}, {"name": "b", "problems": []}], "a: first difference at [0]"),
            ([{"name": "b", "problems": [[".x", "path"]]}, {"name": "b", "problems": []}], "name: expected"),
            ([{"name": "a", "problems": [[".x", "path"]]}, 1], "b: expected an object, got 1"),
            ([], "paths: expected a list of 2, got []"),
            ({}, "paths: expected a list of 2, got {}"),
        ],
    )
    def test_paths(self, small: SmallCorpus, got: object, said: str | None) -> None:
        small.add_file("paths.json", "paths", self.items)
        found = judged(small, "paths.json", Answer(got)).lines
        assert (said is None and found == ()) or (said is not None and found[0].startswith(said))

    def test_result_ids(self, small: SmallCorpus, fake: FakeProgram) -> None:
        item = {"runId": "r", "caseId": "c é", "path": "p", "trial": None, "resultId": "r_1"}
        small.add_file("ids.json", "result-id", [item, item | {"trial": 3.0}, item | {"resultId": "r_2"}])
        corpus, vector = small.vector("ids.json")
        fake.says("result-id", {"resultId": "r_1"})
        verdict = judge_vector(corpus, vector, fake.program)
        assert verdict.lines == ('[2].resultId: expected "r_2", got "r_1"',)
        assert fake.calls[1] == ["result-id", "r", "c é", "p", "3.0"]

    @pytest.mark.parametrize("value", [{}, [1], [{"runId": "r"}]])
    def test_what_is_no_such_list(self, small: SmallCorpus, value: object) -> None:
        small.add_file("ids.json", "result-id", value)
        assert judged(small, "ids.json", Answer({})).lines[0].startswith("corpus: ids.json")


def test_a_fixture_is_only_checked(small: SmallCorpus) -> None:
    small.add("keys", "fixture", {"a": b"1"})
    assert judged(small, "keys", Answer(None)).outcome == PASSED
    (small.root / "keys/a").write_bytes(b"2")
    assert judged(small, "keys", Answer(None)).lines[0].startswith("corpus: keys/a: altered")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("run", {"run": 1, "outcome": "intact", "problems": []}),
        ("run", {"run": "run", "problems": []}),
        ("run", {"run": "run", "outcome": "intact"}),
        ("run", {"run": "run", "outcome": "intact", "problems": {}}),
        ("run", {"run": "../../out", "outcome": "intact", "problems": []}),
        ("run", {"run": "run", "outcome": "intact", "problems": [], "policy": 1}),
        ("run", {"kind": "seal", "run": "run", "outcome": "intact", "problems": []}),
        ("overlay-view", {"run": "run", "at": "t", "view": []}),
        ("overlay-view", {"run": "run", "view": {}}),
        ("document", {"schema": "run", "writer": "valid", "reader": "valid", "reads": []}),
        ("document", {"schema": "run", "writer": "valid"}),
        ("signature", {"envelope": "policy.json"}),
    ],
)
def test_an_expectation_of_another_shape_fails_its_vector(small: SmallCorpus, kind: str, expected: Value) -> None:
    small.add("v", kind, {**RUN, **POLICY, "document.json": b"{}"}, expected)
    got = {"outcome": "intact", "problems": [], "writer": "valid", "reader": "valid", "reads": {}}
    verdict = judged(small, "v", Answer(got))
    assert verdict.outcome == FAILED
    assert verdict.lines[0].startswith("corpus: ")


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"kind": "run"', b"[" * 70 + b"]" * 70, b'{"kind": "run", "kind": "run"}']
)
def test_an_expectation_that_does_not_read_fails_its_vector(small: SmallCorpus, text: bytes) -> None:
    small.add("v", "run", {**RUN, "expected.json": text})
    assert judged(small, "v", Answer({})).lines[0].startswith("corpus: expected.json")


def test_what_a_judge_stumbles_over_fails_the_vector(small: SmallCorpus) -> None:
    def stumbles(words: object) -> Reply:
        raise RuntimeError("odd")

    small.add("v", "run", RUN, TestRun.intact)
    corpus, vector = small.vector("v")
    assert judge_vector(corpus, vector, stumbles).lines == ("cannot be judged: RuntimeError: odd",)
    assert json.dumps(vector.id)
