"""The self-check ([CONF-3], 09 §9.2): what a mutation is, that each fits today's source, and what notices it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from aef_verify.codes import CODES, PAIR
from aef_verify.conformance.selfcheck import check as checking
from aef_verify.conformance.selfcheck import workplace
from aef_verify.conformance.selfcheck.catalogue import MUTATIONS, select
from aef_verify.conformance.selfcheck.check import BY_TEST, BY_VECTOR, SURVIVED, UNDECIDED, UNFIT, Result, self_check
from aef_verify.conformance.selfcheck.judging import Findings, Surveyed
from aef_verify.conformance.selfcheck.mutation import Mutation, MutationError
from aef_verify.conformance.selfcheck.reach import Reach, reach_of, vectors_for
from aef_verify.conformance.selfcheck.report import as_text, as_value
from aef_verify.conformance.selfcheck.workplace import Workplace, checkout, source_of
from aef_verify.problems import InputError
from aef_verify.rules import RULES
from tests.conformance.small_corpus import SmallCorpus
from tests.test_rule_coverage import NOT_FOR_A_VERIFIER

ROOT = Path(checkout())

RESERVED = next(mutation for mutation in MUTATIONS if mutation.id == "reserved-names")
LIMIT = next(mutation for mutation in MUTATIONS if mutation.id == "size-of-a-seal")


def changing(old: str, new: str, file: str = "limits.py", tests: Sequence[str] = ("test_limits.py",)) -> Mutation:
    return Mutation("made", ("ENC-17",), file, "Something is wrong.", old, new, tuple(tests))


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: str(mutation.id))
def test_a_mutation_fits_the_source_of_today(mutation: Mutation) -> None:
    """What it replaces stands there once; the file still reads and means something else."""
    mutation.applied(source_of(str(ROOT), mutation.file))
    assert [file for file in mutation.tests if not (ROOT / "tests" / file).is_file()] == []
    assert set(mutation.rules) <= RULES.keys() | {code for scope, code in CODES if scope == PAIR}
    assert mutation.rules
    assert mutation.tests
    assert mutation.what.endswith(".")


def test_mutations_have_names_of_their_own() -> None:
    assert [name for name, count in Counter(mutation.id for mutation in MUTATIONS).items() if count > 1] == []


NOT_SWITCHED_OFF = NOT_FOR_A_VERIFIER | {
    "ENC-14": "binds whoever writes a schema",
    "RES-7": "nothing evaluates an expression that could be switched off",
}
"""Rules without a mutation, each with the reason."""


def test_every_rule_that_something_checks_is_switched_off_once() -> None:
    switched = {rule for mutation in MUTATIONS for rule in mutation.rules}
    assert sorted(RULES.keys() - switched - NOT_SWITCHED_OFF.keys()) == []


def test_a_mutation_that_does_not_fit_is_said() -> None:
    source = "SIZE = 1\nOTHER = 1\n"
    with pytest.raises(MutationError, match=r"stands 2 times in limits\.py, not once"):
        changing("= 1", "= 2").applied(source)
    with pytest.raises(MutationError, match="stands 0 times"):
        changing("= 3", "= 2").applied(source)
    with pytest.raises(MutationError, match="would mean the same"):
        changing("SIZE = 1", "SIZE  =  1").applied(source)
    with pytest.raises(MutationError, match="would not read"):
        changing("SIZE = 1", "SIZE = (").applied(source)
    assert changing("SIZE = 1", "SIZE = 2").applied(source) == "SIZE = 2\nOTHER = 1\n"
    assert changing("1", "2", "schemas/x.json").applied('{"a":1}') == '{"a":2}'
    with pytest.raises(MutationError, match="would not read"):
        changing("1", "", "schemas/x.json").applied('{"a":1}')


def test_mutations_are_selected_by_id_and_rule() -> None:
    assert select(()) == list(MUTATIONS)
    assert [mutation.id for mutation in select(["reserved-*"])] == ["reserved-names"]
    assert {rule for mutation in select(["GATE-2"]) for rule in mutation.rules} >= {"GATE-2"}
    with pytest.raises(InputError, match="no mutation is selected by nothing-like-it"):
        select(["nothing-like-it"])


SOURCE = """\
from functools import cache

SIZE = 1


@cache
def kept():
    return helped()


class A:
    @property
    def size(self):
        def within():
            return 5
        return within() + 4


def helped(size=3):
    return size + 2
"""


def found(mutation: Mutation) -> Reach:
    return reach_of([mutation], [mutation.file], lambda file: SOURCE)


def vector(identity: str, reached: Sequence[int], seconds: float = 0.5, rules: Sequence[str] = ()) -> Surveyed:
    return {
        "id": identity,
        "rules": list(rules),
        "outcome": "passed",
        "lines": [],
        "seconds": seconds,
        "reached": list(reached),
        "kept": "",
    }


def survey(*vectors: Surveyed, shared: Sequence[int] = (), loaded: Sequence[str] = ("limits.py",)) -> Findings:
    return {"vectors": list(vectors), "shared": list(shared), "loaded": list(loaded)}


@pytest.mark.parametrize(
    ("old", "line"),
    [("SIZE = 1", None), ("size=3", None), ("+ 2", 19), ("+ 4", 12), ("return 5", 14), ("return helped()", 6)],
)
def test_a_mutation_stands_in_the_innermost_function_around_it(old: str, line: int | None) -> None:
    function = found(changing(old, "")).function_of["made"]
    assert function == (None if line is None else ("limits.py", line))


def test_vectors_that_reach_the_function_are_asked_those_about_the_rule_first() -> None:
    mutation = changing("+ 2", "+ 3")
    surveyed = survey(
        vector("slow", [0], 0.9), vector("elsewhere", []), vector("about", [0], 1.0, ["ENC-17"]), vector("quick", [0])
    )
    assert vectors_for(mutation, found(mutation), [surveyed]) == ["about", "quick", "slow"]


def test_vectors_that_take_long_are_asked_about_their_rules_unless_more_is_asked_for() -> None:
    mutation = changing("+ 2", "+ 3")
    surveyed = survey(vector("long", [0], 9.0), vector("about", [0], 9.0, ["ENC-17"]), vector("quick", [0]))
    assert vectors_for(mutation, found(mutation), [surveyed]) == ["about", "quick"]
    assert vectors_for(mutation, found(mutation), [surveyed], every_vector=True) == ["about", "quick", "long"]


def test_what_judges_vectors_is_not_judged_by_them() -> None:
    mutation = changing("+ 2", "+ 3", "conformance/judge.py")
    surveyed = survey(vector("one", [0]), loaded=["conformance/judge.py"])
    assert vectors_for(mutation, found(mutation), [surveyed]) == []


@pytest.mark.parametrize("old", ["SIZE = 1", "return helped()"])
def test_every_vector_is_asked_about_what_stands_outside_of_functions_or_is_kept(old: str) -> None:
    mutation = changing(old, "")
    surveyed = survey(vector("one", []), vector("other", []))
    assert vectors_for(mutation, found(mutation), [surveyed]) == ["one", "other"]


def test_every_vector_is_asked_about_a_function_that_is_called_for_what_is_kept() -> None:
    mutation = changing("+ 2", "+ 3")
    surveys = [survey(vector("one", [0])), survey(vector("other", []), shared=[0])]
    assert vectors_for(mutation, found(mutation), surveys) == ["one", "other"]


def test_no_vector_is_asked_about_a_file_that_none_loads() -> None:
    mutation = changing("SIZE = 1", "SIZE = 2")
    assert vectors_for(mutation, found(mutation), [survey(vector("one", []), loaded=[])]) == []
    schema = changing("1", "2", "schemas/x.json")
    reach = Reach([], [], {"made": None})
    assert vectors_for(schema, reach, [survey(vector("one", []), loaded=[])]) == ["one"]


def test_a_workplace_is_a_copy_and_is_as_before_afterwards(tmp_path: Path) -> None:
    place = Workplace.made(str(ROOT), str(tmp_path / "place"))
    ours, copied = ROOT / "aef_verify/limits.py", Path(place.root) / "aef_verify/limits.py"
    before, time = ours.read_text(), copied.stat().st_mtime_ns
    assert not (Path(place.root) / ".git").exists()
    with place.mutated(LIMIT):
        assert copied.read_text() == LIMIT.applied(before)
        assert copied.stat().st_mtime_ns > time
    assert (copied.read_text(), copied.stat().st_mtime_ns) == (before, time)
    assert ours.read_text() == before


def within(statement: str) -> Mutation:
    """Do something first in the function that judges one path."""
    line = '    """Return in plain words what [RUN-3] forbids about one path, or an empty string."""\n'
    return changing(line, f"{line}    import os\n    {statement}\n", "encoding/paths.py")


@pytest.fixture
def corpus(small: SmallCorpus) -> SmallCorpus:
    small.add_file("paths.json", "paths", [{"name": "a", "paths": ["aux"], "problems": [["aux", "path"]]}])
    return small


@pytest.fixture(scope="module")
def noticed(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """What comes of five mutations: of a vector, a crash, a test, nothing, and the source of another day."""
    small = SmallCorpus(tmp_path_factory.mktemp("made") / "corpus")
    small.add_file("paths.json", "paths", [{"name": "a", "paths": ["aux"], "problems": [["aux", "path"]]}])
    small.add("hologram", "hologram", {"a": b"1"}, {})
    crash = within("os._exit(3)")._replace(id="crash")
    unfit = changing("nothing like it", "")._replace(id="unfit")
    harmless = changing("SEAL_BYTES = 40 << 20", "SEAL_BYTES = 40 * 2**20")._replace(id="harmless")
    return self_check([RESERVED, crash, LIMIT, harmless, unfit], corpus=small.load(), jobs=2)


def test_what_notices_each_mutation(noticed: Result) -> None:
    assert noticed.broken == ()
    assert (noticed.vectors, noticed.left_out) == (1, 1)
    by = {outcome.mutation.id: (outcome.by, outcome.missed) for outcome in noticed.outcomes}
    assert by == {
        "reserved-names": (BY_VECTOR, False),
        "crash": (BY_VECTOR, False),
        "size-of-a-seal": (BY_TEST, True),
        "harmless": (SURVIVED, True),
        "unfit": (UNFIT, None),
    }
    vector, crash, test, _, unfit = noticed.outcomes
    assert (vector.name, vector.detail) == (
        "paths.json",
        'a: first difference at [0]: expected ["aux", "path"], got nothing',
    )
    assert (crash.name, crash.detail) == ("paths.json", "crash: exit 3")
    assert test.name.startswith("tests/test_limits.py::")
    assert "not once" in unfit.detail
    assert not noticed.passed


def test_the_report_for_people(noticed: Result) -> None:
    lines = list(as_text(noticed))
    assert lines[0].startswith("vector        reserved-names  paths.json: a: first difference")
    assert "  size-of-a-seal [ENC-17, ENC-18]: A seal may have one byte more than 40 MiB. (vectors asked: 1)" in lines
    assert lines[-1] == (
        "5 rules switched off: 2 noticed by a vector, 1 by a test alone, 1 by nothing, 1 that no longer fit the source"
    )


def test_the_report_as_json(noticed: Result) -> None:
    value = json.loads(json.dumps(as_value(noticed, "aef-verify 0")))
    assert value["passed"] is False
    assert value["corpusMisses"] == ["size-of-a-seal", "harmless"]
    assert value["counts"] == {"vector": 2, "test": 1, "survived": 1, "not decided": 0, "does not fit": 1}
    assert value["mutations"][0]["noticedBy"] == "vector"
    assert value["mutations"][0]["switchedOff"] == RESERVED.what


def test_without_a_corpus_only_tests_are_asked() -> None:
    """And one that fails with the code as it is decides nothing."""
    undecided = LIMIT._replace(id="undecided", tests=("test_none.py",))
    result = self_check([LIMIT, undecided])
    by = [(outcome.by, outcome.missed) for outcome in result.outcomes]
    assert by == [(BY_TEST, None), (UNDECIDED, None)]
    assert result.outcomes[1].detail == "it fails with the code as it is: pytest did not run it"
    assert not result.passed
    assert list(as_text(result))[-2] == "no corpus was given: only our own tests were asked"


def test_a_process_that_does_not_end_has_noticed(corpus: SmallCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "LEAST_SECONDS", 2.0)
    monkeypatch.setattr(checking, "SLOWER", 0.0)
    (outcome,) = self_check([within("while True: pass")], corpus=corpus.load()).outcomes
    assert (outcome.by, outcome.detail) == (BY_VECTOR, "hang: no answer within 2 seconds; ended")


def test_code_that_fails_as_it_is_ends_the_check(small: SmallCorpus) -> None:
    small.add_file("paths.json", "paths", [{"name": "a", "paths": ["aux"], "problems": []}])
    result = self_check([RESERVED], corpus=small.load())
    assert [name for name, _ in result.broken] == ["paths.json"]
    assert not result.passed
    assert list(as_text(result))[1].startswith("  paths.json: a: first difference at [0]")


def test_an_installed_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workplace, "__file__", str(tmp_path / "site-packages/aef_verify/conformance/selfcheck/x.py"))
    with pytest.raises(InputError, match=r"was installed without them\. Run it from a checkout; `aef conformance run"):
        self_check([RESERVED])


def test_an_interrupt_leaves_nothing(corpus: SmallCorpus, tmp_path: Path) -> None:
    corpus.load()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = [sys.executable, "-m", "aef_verify", "conformance", "self-check", str(corpus.root), "--jobs", "2"]
    pty = pytest.importorskip("pty")
    terminal, side = pty.openpty()
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=side, env={**os.environ, "TMPDIR": str(scratch)}
    ) as running:
        shown = b""
        while b"mutations judged" not in shown:
            shown += os.read(terminal, 4096)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    os.close(side)
    os.close(terminal)
    assert running.returncode == 130
    assert list(scratch.iterdir()) == []
