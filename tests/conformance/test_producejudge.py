"""Judging what a producer wrote (09 §9.3): what means the same passes, and nothing else does."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from aef_verify.conformance.drive import Answer, Refusal, Reply, in_process
from aef_verify.conformance.runner import judge_vector
from tests.building import Json
from tests.conformance.small_corpus import SmallCorpus
from tests.writing.facts import case, child, composite, node, request, scenario, trials

TREE = composite(
    "q",
    child("q/a", scores=[{"metric": "quality", "value": 0.3}]),
    child("q/b", "skipped"),
    aggregation={"strategy": "Min", "rulePath": "threshold", "threshold": None, "decisive": ["q/a", "q/b"]},
)
SOUND = scenario(
    case("k1", TREE),
    case("k2", node("q")),
    case("k3", node("q", "failed"), trials=trials(node("q", "failed"), node("q"))),
    summary=request({"metric": "pass", "path": "q"}, {"metric": "quality", "path": "q/a", "rule": "r"}),
)
NAMES = ("run.json", "metrics.json", "results.ndjson", "summary.json")
Files = dict[str, Any]
Edit = Callable[[Files], object]


def written(folder: Path) -> Files:
    """Return the documents that the folder of a run holds."""
    texts = {name: (folder / name).read_text() for name in NAMES}
    return {
        name: list(map(json.loads, text.splitlines())) if name.endswith("ndjson") else json.loads(text)
        for name, text in texts.items()
    }


def write(folder: Path, files: Files) -> None:
    for name, value in files.items():
        text = "".join(f"{json.dumps(line)}\n" for line in value) if name.endswith("ndjson") else json.dumps(value)
        (folder / name).write_text(text)


@pytest.fixture
def sound(tmp_path: Path) -> Files:
    """The run that this project makes of the scenario, which its own verifier finds nothing in."""
    (tmp_path / "scenario.json").write_text(json.dumps(SOUND))
    assert in_process(("produce", str(tmp_path / "scenario.json"), str(tmp_path / "out"))) == Answer({"results": 7})
    return written(tmp_path / "out")


def judged(small: SmallCorpus, files: Files, writes: Callable[[Path], Reply], **expected: Any) -> tuple[str, ...]:
    """Return the lines of a `produce` vector that expects these files, of an operation that does as `writes` says."""
    lines = "".join(f"{json.dumps(line)}\n" for line in files["results.ndjson"]).encode()
    stated = {"scenario": "scenario.json", "results": "results", "summary": files["summary.json"], **expected}
    small.add("v", "produce", {"scenario.json": json.dumps(SOUND).encode(), "results": lines}, stated)
    corpus, vector = small.vector("v")
    return judge_vector(corpus, vector, lambda words: writes(Path(words[2]))).lines


def edited(files: Files, edit: Edit, count: int = 7) -> Callable[[Path], Reply]:
    def writes(out: Path) -> Reply:
        out.mkdir()
        changed = copy.deepcopy(files)
        edit(changed)
        write(out, changed)
        return Answer({"results": count})

    return writes


def at(number: int, name: str, value: object) -> Edit:
    """Set a member of a result line; None takes it away."""

    def edit(files: Files) -> None:
        line = files["results.ndjson"][number]
        line.pop(name, None)
        if value is not None:
            line[name] = value

    return edit


def facts(**members: Any) -> Edit:
    return lambda files: files["results.ndjson"][0]["aggregation"].update(members)


def entry(number: int, **members: Any) -> Edit:
    return lambda files: files["summary.json"]["lanes"][0]["metrics"][number].update(members)


def run(**members: Any) -> Edit:
    return lambda files: files["run.json"].update(members)


def summary(**members: Any) -> Edit:
    return lambda files: files["summary.json"].update(members)


def lines_of(edit: Callable[[list[Json]], object]) -> Edit:
    return lambda files: edit(files["results.ndjson"])


def lane(edit: Callable[[Json], object]) -> Edit:
    return lambda files: edit(files["summary.json"]["lanes"][0])


SAME: dict[str, Edit] = {
    "as it is": lambda files: None,
    "in another order": lambda files: files["results.ndjson"].reverse(),
    "decisive in another order": lambda files: files["results.ndjson"][0]["aggregation"]["decisive"].reverse(),
    "a count of nothing": lambda files: files["results.ndjson"][0]["aggregation"]["unmeasured"].update(error=0),
    "a null member": facts(score=None),
    "a number as near as may be": at(1, "component", {"weight": 1 + 1e-12, "required": True}),
    "a time that is spelled otherwise": run(startedAt="2026-10-02T14:00:00.000Z"),
    "no contentCapture": lambda files: files["run.json"].pop("contentCapture"),
    "a sum of squares as near as may be": entry(1, sumSq=0.09 + 1e-10),
    "another spelling of a number": entry(0, N=3.0),
}


@pytest.mark.parametrize("how", SAME)
def test_res6_run11_enc8_what_means_the_same_passes(small: SmallCorpus, sound: Files, how: str) -> None:
    assert judged(small, sound, edited(sound, SAME[how])) == ()


OTHERWISE: dict[str, tuple[Edit, str]] = {
    "another id": (at(5, "resultId", "r_" + "0" * 32), "results.ndjson: "),
    "another state": (at(3, "state", "warn"), 'results.ndjson: ["k2", "q", null].state: expected "passed"'),
    "a severity more": (at(3, "severity", "low"), 'results.ndjson: ["k2", "q", null].severity: not expected'),
    "a reason less": (at(2, "reason", "other"), 'results.ndjson: ["k1", "q/b", null].reason: expected'),
    "a decisive id less": (facts(decisive=[]), 'results.ndjson: ["k1", "q", null].aggregation.decisive: missing'),
    "another count": (facts(total=3), 'results.ndjson: ["k1", "q", null].aggregation.total: expected 2'),
    "another weight": (at(1, "component", {"weight": 1 + 1e-8, "required": True}), "results.ndjson: "),
    "another score": (at(1, "scores", [{"metric": "quality", "value": 0.301}]), "results.ndjson: "),
    "a line less": (lambda files: files["results.ndjson"].pop(), 'results.ndjson: ["k3", "q", 1]: no line'),
    "a line more": (
        lines_of(lambda lines: lines.append(lines[3] | {"caseId": "k9"})),
        'results.ndjson: ["k9", "q", null]: not expected',
    ),
    "a line twice": (lines_of(lambda lines: lines.append(lines[3])), 'results.ndjson: ["k2", "q", null]: 2 lines'),
    "a line that is not valid": (at(3, "colour", "red"), "results.ndjson: not valid against the writer schema"),
    "another header": (run(runId="other"), "run.json.runId: expected"),
    "a later start": (run(startedAt="2026-10-02T14:00:00.000000001Z"), "run.json.startedAt: expected"),
    "content off": (run(contentCapture="off"), "run.json.contentCapture: not expected"),
    "a header that is not valid": (run(execution={}), "run.json: not valid against the writer schema of run"),
    "other metrics": (lambda files: files["metrics.json"]["metrics"].pop(), "metrics.json.metrics: 2 expected, got 1"),
    "metrics that are not valid": (lambda files: files["metrics.json"].pop("metrics"), "metrics.json: not valid"),
    "a summary that is not valid": (lambda files: files["summary.json"].pop("lanes"), "summary.json: not valid"),
    "another lane": (lane(lambda found: found.update(lane="a")), "summary.json[0].lane: expected"),
    "entries in another order": (lane(lambda found: found["metrics"].reverse()), "summary.json[1].N: "),
    "an entry less": (lane(lambda found: found["metrics"].pop()), "summary.json: 3 expected, got 2"),
    "a summary of another run": (summary(runId="a"), "summary.json: runId: expected"),
    "another sum": (entry(0, sum=2.0000000000000004), "summary.json[1].sum: expected 2"),
    "no sum": (lane(lambda found: found["metrics"][0].pop("sum")), "summary.json[1].sum: expected 2"),
    "another value": (entry(0, value=0.6666666666666667), "summary.json[1].value: expected 0.6666666666666666"),
    "another rule": (entry(1, rule="s"), 'summary.json[2].rule: expected "r"'),
    "another verdict": (entry(0, verdict="passed"), 'summary.json[1].verdict: expected "scored"'),
    "another sum of squares": (entry(1, sumSq=0.09 + 1e-8), "summary.json: main / quality / q/a: sumSq: expected"),
}


@pytest.mark.parametrize("how", OTHERWISE)
def test_sum5_res4_what_is_otherwise_fails(small: SmallCorpus, sound: Files, how: str) -> None:
    edit, said = OTHERWISE[how]
    lines = judged(small, sound, edited(sound, edit))
    assert any(line.startswith(said) for line in lines), lines


def test_a_count_of_lines_that_is_not_right(small: SmallCorpus, sound: Files) -> None:
    assert judged(small, sound, edited(sound, lambda files: None, 8)) == ("results: expected 7, got 8",)


@pytest.mark.parametrize("name", ["seal.json", "notes", "ext/notes"])
def test_run2_a_file_more(small: SmallCorpus, sound: Files, name: str) -> None:
    def writes(out: Path) -> Reply:
        answer = edited(sound, lambda files: None)(out)
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(b"{}")
        return answer

    assert judged(small, sound, writes)[0].startswith("the folder holds")


def test_run2_a_file_less(small: SmallCorpus, sound: Files) -> None:
    lines = judged(small, sound, edited(sound, lambda files: files.pop("summary.json")))
    assert lines[0].startswith("the folder holds")


def test_a_run_that_does_not_verify(small: SmallCorpus, sound: Files) -> None:
    """The vector expects what no verifier accepts, so that only the verifier can say so."""
    wrong = copy.deepcopy(sound)
    at(5, "parentResultId", sound["results.ndjson"][0]["resultId"])(wrong)
    at(5, "component", {"weight": 1, "required": True})(wrong)
    lines = judged(small, wrong, edited(wrong, lambda files: None))
    assert lines[0] == 'the run: outcome: expected "unsealed", got "invalid"'


class TestRefused:
    """`refused`: exit 2 with a message, and no file written."""

    def test_a_refusal(self, small: SmallCorpus, sound: Files) -> None:
        def writes(out: Path) -> Reply:
            out.mkdir()
            return Refusal("no")

        assert judged(small, sound, writes, refused=True) == ()

    def test_an_answer_where_one_is_due(self, small: SmallCorpus, sound: Files) -> None:
        lines = judged(small, sound, edited(sound, lambda files: None), refused=True)
        assert "a refusal (exit 2) is expected" in lines[0]
        assert lines[1] == "metrics.json: written, and nothing was to be"

    def test_a_refusal_that_leaves_a_file(self, small: SmallCorpus, sound: Files) -> None:
        def writes(out: Path) -> Reply:
            out.mkdir()
            (out / ".part").write_bytes(b"")
            return Refusal("no")

        assert judged(small, sound, writes, refused=True) == (".part: written, and nothing was to be",)


class TestSummarize:
    """`summarize`: the summary that is printed, and the run with it."""

    def judged(self, small: SmallCorpus, sound: Files, reply: Reply, **expected: Any) -> tuple[str, ...]:
        stated: Json = {"run": "run", "request": "request.json", "summary": sound["summary.json"], **expected}
        files = {f"run/{name}": json.dumps(sound[name]).encode() for name in ("run.json", "metrics.json")}
        files["run/results.ndjson"] = "".join(f"{json.dumps(line)}\n" for line in sound["results.ndjson"]).encode()
        small.add("v", "summarize", files | {"request.json": json.dumps(SOUND["summary"]).encode()}, stated)
        corpus, vector = small.vector("v")

        def driver(words: Sequence[str]) -> Reply:
            assert words[0] == "summarize"
            return in_process(words) if reply == Answer(None) else reply

        return judge_vector(corpus, vector, driver).lines

    def test_our_own(self, small: SmallCorpus, sound: Files) -> None:
        assert self.judged(small, sound, Answer(None)) == ()

    def test_another_figure(self, small: SmallCorpus, sound: Files) -> None:
        wrong = copy.deepcopy(sound)
        entry(0, n=2)(wrong)
        lines = self.judged(small, sound, Answer(wrong["summary.json"]))
        assert lines == ("summary.json[1].n: expected 3, got 2",)

    def test_a_summary_that_the_run_does_not_bear_out(self, small: SmallCorpus, sound: Files) -> None:
        wrong = copy.deepcopy(sound)
        entry(0, n=2, notMeasured=1)(wrong)
        lines = self.judged(small, sound, Answer(wrong["summary.json"]), summary=wrong["summary.json"])
        assert lines[0] == 'the run: outcome: expected "unsealed", got "invalid"'

    @pytest.mark.parametrize("printed", [{}, {"lanes": 1}])
    def test_what_is_no_summary(self, small: SmallCorpus, sound: Files, printed: Json) -> None:
        lines = self.judged(small, sound, Answer(printed))
        assert lines == ("summary.json: not valid against the writer schema of summary",)

    def test_a_refusal(self, small: SmallCorpus, sound: Files) -> None:
        assert self.judged(small, sound, Refusal("no"), refused=True) == ()
        other = SmallCorpus(small.root.parent / "b")
        assert "an answer is expected" in self.judged(other, sound, Refusal("no"))[0]

    def test_a_vector_without_a_summary(self, small: SmallCorpus, sound: Files) -> None:
        assert self.judged(small, sound, Answer(None), summary=None)[0].startswith("corpus: ")
