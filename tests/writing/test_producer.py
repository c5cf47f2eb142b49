"""The Python interface for producers: what it fills in, what it derives, and what it refuses in plain words.

[RUN-5] [RUN-11] [RES-5] [RES-8] [SUM-1] [SUM-3] [EVD-3] [SEAL-5] [SIG-1]; docs/PRODUCER.md works as shown.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from aef_verify import Case, Check, InputError, Written, open_run, verify_run, write_run
from aef_verify.problems import Problem
from tests import building
from tests.building import RUN_ID, SEALED, Json, blob_path, result_id, sha256

PAGE = Path(__file__).resolve().parents[2] / "docs" / "PRODUCER.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

RUN: Json = {
    name: value for name, value in building.small()["run.json"].items() if name not in ("schemaVersion", "status")
}
METRICS: list[Json] = [{"id": "quality", "kind": "score"}, {"id": "pass", "kind": "rate"}]
CASES = [Case("c1", Check("qa", "passed", scores={"quality": 0.75})), Case("c2", Check("qa", "failed"))]


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "evidence"


def write(there: Path, **members: Any) -> Written:
    given = {"run": RUN, "metrics": METRICS, "cases": CASES, **members}
    return write_run(there, **given)


def document(written: Written, name: str) -> Any:
    return json.loads(Path(written.path, name).read_bytes())


def lines(written: Written, name: str = "results.ndjson") -> list[Json]:
    return [json.loads(line) for line in Path(written.path, name).read_bytes().splitlines()]


def sound(written: Written) -> tuple[str, tuple[Problem, ...]]:
    report = verify_run(written.path)
    return report.outcome, report.problems


def test_the_page_writes_a_run_that_verifies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(block, names)
    assert sound(names["written"]) == ("intact", ())
    assert len(lines(names["written"])) == 3
    again = write(tmp_path, cases=[names["answer"], names["flaky"]])
    assert sound(again) == ("unsealed", ())
    assert [line["path"] for line in lines(again)][:4] == [
        "answer",
        "answer/grounded",
        "answer/tone",
        "answer/citations",
    ]
    summary = document(again, "summary.json")["lanes"][0]["metrics"]
    assert {entry["N"] for entry in summary} == {2}


def test_run5_run11_sum1_what_is_left_out_is_filled_in(there: Path) -> None:
    written = write(there)
    assert (written.path, written.run_id, written.run_hash) == (str(there / RUN_ID), RUN_ID, None)
    assert document(written, "run.json") == RUN | {
        "schemaVersion": "1.0",
        "status": "completed",
        "contentCapture": "on",
    }
    quality, passed = document(written, "metrics.json")["metrics"]
    assert quality == METRICS[0] | {"direction": "higher_better", "scale": "unbounded"}
    assert passed["scale"] == {"min": 0, "max": 1}
    assert [line["evaluator"] for line in lines(written)] == [{"id": "qa"}] * 2
    (lane,) = document(written, "summary.json")["lanes"]
    assert (lane["lane"], [entry["metric"] for entry in lane["metrics"]]) == ("main", ["quality", "pass"])
    assert sound(written) == ("unsealed", ())


def test_what_is_given_is_written(there: Path) -> None:
    written = write(
        there,
        run=RUN | {"abortReason": "stopped", "contentCapture": "off"},
        metrics=[{"id": "pass", "kind": "rate", "direction": "none", "scale": {"min": 0, "max": 100}}],
        cases=[Case("c1", Check("qa", "passed", evaluator={"id": "e", "version": "2"}, lane="a", reason="r"))],
        summary=[{"lane": "a", "metrics": [{"metric": "pass", "path": "qa", "rule": "all", "verdict": "passed"}]}],
        cost={"totalUsd": 1.5, "source": "computed"},
        usage=[{"role": "agent", "gen_ai.usage.input_tokens": 3}],
    )
    assert document(written, "run.json")["status"] == "aborted"
    assert document(written, "metrics.json")["metrics"][0]["scale"]["max"] == 100
    assert lines(written)[0]["evaluator"] == {"id": "e", "version": "2"}
    summary = document(written, "summary.json")
    assert summary["lanes"][0]["metrics"][0]["rule"] == "all"
    assert (summary["cost"]["totalUsd"], summary["usage"][0]["role"]) == (1.5, "agent")
    assert sound(written) == ("unsealed", ())


def test_evd3_evidence_gates_blobs_and_files_of_its_own(there: Path) -> None:
    blob = b"what the agent answered"
    record = {"evidenceId": "E-1", "kind": "output", "link": {"blob": f"sha256:{sha256(blob)}"}}
    written = write(
        there,
        cases=[Case("c1", Check("qa", "passed", facts={"evidence": ["E-1"], "turns": 2}))],
        evidence=[record | {"digest": record["link"]["blob"]}],  # type: ignore[index] # an object
        gates=[{name: value for name, value in building.gate().items() if name != "schemaVersion"}],
        blobs=[blob],
        ext={"mine/notes.txt": b"kept"},
    )
    with open_run(written.path) as run:
        assert [found.blob for found in run.evidence()] == [sha256(blob)]
        assert [found.outcome for found in run.gates()] == ["ship"]
    assert Path(written.path, blob_path(sha256(blob))).read_bytes() == blob
    assert Path(written.path, "ext/mine/notes.txt").read_bytes() == b"kept"
    assert sound(written) == ("unsealed", ())


def test_enc8_a_datetime_is_written_in_utc(there: Path) -> None:
    started = datetime(2026, 10, 2, 16, 0, 0, 250_000, tzinfo=timezone(timedelta(hours=2)))
    run = document(
        write(there, run=RUN | {"startedAt": started}, sealed_at=datetime(2026, 10, 3, tzinfo=UTC)), "run.json"
    )
    assert run["startedAt"] == "2026-10-02T14:00:00.250000Z"
    with pytest.raises(InputError, match="without an offset"):
        write(there, run=RUN | {"runId": "other", "startedAt": started.replace(tzinfo=None)})


def test_res5_res8_names_below_become_paths(there: Path) -> None:
    how = {"strategy": "Min", "rulePath": "threshold", "decisive": ["b"]}
    inner = Check("b", "passed", below=[Check("c", "passed", weight=0.5)], aggregation={**how, "decisive": ["c"]})
    tree = Check("qa", "passed", below=[Check("a", "passed", required=False), inner], aggregation=how)
    written = write(there, cases=[Case("c1", tree, trials=[tree, tree], aggregation="PassAtK", k=1)])
    own = {line["path"]: line for line in lines(written) if "trial" not in line}
    assert list(own) == ["qa", "qa/a", "qa/b", "qa/b/c"]
    assert own["qa"]["aggregation"]["decisive"] == [result_id("c1", "qa/b")]
    assert own["qa/b"]["aggregation"]["decisive"] == [result_id("c1", "qa/b/c")]
    assert [own[path]["component"] for path in ("qa/a", "qa/b/c")] == [
        {"weight": 1, "required": False},
        {"weight": 0.5, "required": True},
    ]
    assert own["qa/b/c"]["evaluator"] == {"id": "qa/b/c"}
    assert own["qa"]["trials"] == {"n": 2, "passed": 2, "agree": True, "aggregation": "PassAtK", "k": 1}
    assert sound(written) == ("unsealed", ())


def test_a_tree_of_any_depth_is_refused_in_words(there: Path) -> None:
    tree = Check("q", "passed")
    for _ in range(5000):
        how = {"strategy": "Own", "rulePath": "threshold"}
        tree = Check("q", "passed", evaluator="e", below=[tree], aggregation=how)
    with pytest.raises(InputError, match=r"/path: .*1,?024"):
        write(there, cases=[Case("c1", tree)])


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [
        ((), {"main": []}),
        ((None, "a"), {"a": [("quality", "q0"), ("pass", "q0"), ("quality", "q1"), ("pass", "q1")]}),
        (("a", "b"), {"a": [("quality", "q0"), ("pass", "q0")], "b": [("quality", "q1"), ("pass", "q1")]}),
    ],
)
def test_sum3_a_summary_that_was_not_asked_for(there: Path, lanes: tuple[str | None], expected: Json) -> None:
    cases = [Case(f"c{at}", Check(f"q{at}", "passed", lane=lane)) for at, lane in enumerate(lanes)]
    written = write(there, cases=cases)
    found = document(written, "summary.json")["lanes"]
    names = {lane["lane"]: [(entry["metric"], entry["path"]) for entry in lane["metrics"]] for lane in found}
    assert names == {name: [tuple(pair) for pair in pairs] for name, pairs in expected.items() if pairs}
    assert sound(written) == ("unsealed", ())


def test_sum3_some_without_a_lane_among_several(there: Path) -> None:
    cases = [Case(f"c{lane}", Check("q", "passed", lane=lane)) for lane in (None, "a", "b")]
    with pytest.raises(InputError, match=r"\[SUM-3\]"):
        write(there, cases=cases)
    assert write(there, cases=cases, summary=[]).run_id == RUN_ID


@pytest.mark.parametrize("as_bytes", [False, True])
def test_seal5_sig1_sealed_and_signed(there: Path, tmp_path: Path, as_bytes: bool) -> None:
    pem = building.KEYS[building.ALICE].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = tmp_path / "key.pem"
    file.write_bytes(pem)
    written = write(there, sealed_at=SEALED, key=pem if as_bytes else file)
    report = verify_run(written.path, policy=building.trust())
    assert (report.outcome, report.signed_by, report.run_hash) == ("intact", (building.ALICE,), written.run_hash)


class Scores(Mapping[str, float]):
    """A mapping that is no dict, with numbers of other libraries."""

    def __getitem__(self, name: str) -> float:
        return Fraction(3, 4)  # type: ignore[return-value] # as an array's own number type

    def __iter__(self) -> Any:
        return iter(["quality"])

    def __len__(self) -> int:
        return 1


def test_mappings_and_numbers_of_other_libraries(there: Path) -> None:
    run = MappingProxyType(RUN | {"execution": MappingProxyType(RUN["execution"]), "ext": {"a": (1, 2)}})
    written = write(there, run=run, cases=[Case("c1", Check("qa", "passed", scores=Scores()))])
    assert lines(written)[0]["scores"] == [{"metric": "quality", "value": 0.75}]
    assert document(written, "run.json")["ext"] == {"a": [1, 2]}


def deep() -> Any:
    value: Any = 1
    for _ in range(10**5):
        value = [value]
    return value


BAD_CHECK: dict[str, tuple[Check, str]] = {
    "a state that there is not": (Check("qa", "ok"), "case c1, path qa: /state"),
    "no state": (Check("qa", None), "qa: None is no text"),  # type: ignore[arg-type] # what a caller may do
    "no path": (Check(1, "passed"), "1 is no text"),  # type: ignore[arg-type] # likewise
    "an absence without a reason": (Check("qa", "skipped"), "case c1, path qa: .*reason"),
    "a member that a line has not": (Check("qa", "passed", facts={"colour": "red"}), "case c1, path qa: /colour"),
    "a member that is derived": (Check("qa", "passed", facts={"trial": 1}), "case c1, path qa: trial is no fact"),
    "a count": (Check("qa", "passed", below=[Check("a", "passed")], aggregation={"total": 1}), "total is counted"),
    "no JSON value": (Check("qa", "passed", facts={"ext": {"a": {1}}}), "qa: a set is no JSON value"),
    "no number": (Check("qa", "passed", scores={"quality": float("nan")}), "qa: .*not JSON compliant|qa: "),
    "no number, but true": (Check("qa", "passed", scores={"quality": True}), "/scores/0/value"),
    "no text": (Check("qa", "passed", reason="\ud800"), "qa: .*surrogates"),
    "a metric of no name": (Check("qa", "passed", scores={"speed": 1}), "results.ndjson:1: metric"),
    "a child at a path": (
        Check("qa", "passed", below=[Check("a/b", "passed")], aggregation={"strategy": "Own", "rulePath": "threshold"}),
        r"path qa/a/b: .*\[RES-5\]",
    ),
    "children and nothing more": (Check("qa", "passed", below=[Check("a", "passed")]), r"path qa: .*\[RES-5\]"),
}
BAD: dict[str, tuple[Json, str]] = {
    **{why: ({"cases": [Case("c1", check)]}, said) for why, (check, said) in BAD_CHECK.items()},
    "no runId": ({"run": {name: value for name, value in RUN.items() if name != "runId"}}, "run.json: .*runId"),
    "an open run": ({"run": RUN | {"status": "running"}}, r"run\.json: "),
    "a header that holds a set": ({"run": RUN | {"ext": {"a": {1}}}}, "run: a set is no JSON value"),
    "a header that is too deep": ({"run": RUN | {"ext": {"a": deep()}}}, "run: nested too deep"),
    "a kind that there is not": ({"metrics": [{"id": "a", "kind": "speed"}]}, "metrics.json: /metrics/0"),
    "a metric without a kind": ({"metrics": [{"id": "a"}]}, "metrics.json: /metrics/0"),
    "a metric of no name": ({"metrics": [{"kind": "rate"}]}, "metrics.json: /metrics/0"),
    "a metric twice": ({"metrics": [METRICS[0], METRICS[0]]}, "asked for twice"),
    "trials without an aggregation": (
        {"cases": [Case("c1", Check("qa", "passed"), trials=[Check("qa", "passed")])]},
        r"case c1: .*\[RES-8\]",
    ),
    "an aggregation without trials": (
        {"cases": [Case("c1", Check("qa", "passed"), aggregation="AllPass")]},
        r"case c1: .*\[RES-8\]",
    ),
    "a summary of another shape": ({"summary": [{"lane": "a"}]}, "a lane has no member 'metrics'"),
    "evidence that is not there": (
        {"cases": [Case("c", Check("q", "passed", facts={"evidence": ["E-1"]}))]},
        "evidence",
    ),
    "evidence that is not valid": ({"evidence": [{"evidenceId": "E-1"}]}, "evidence.ndjson: "),
    "a file at a path that no run has": ({"ext": {".hidden": b""}}, "path"),
    "a time of sealing that is none": ({"sealed_at": "yesterday"}, "'yesterday' is no time"),
    "a seal before the end": ({"sealed_at": building.STARTED}, r"\[SEAL-5\]"),
    "a key without a seal": ({"key": b"x"}, "a key signs a seal"),
    "a key that is none": ({"key": b"x", "sealed_at": SEALED}, "the key: no PEM block"),
    "a key file that is not there": ({"key": "missing.pem", "sealed_at": SEALED}, "missing.pem: "),
}


@pytest.mark.parametrize("why", BAD)
def test_what_makes_no_valid_run_is_refused_in_words(why: str, there: Path) -> None:
    members, said = BAD[why]
    with pytest.raises(InputError, match=said):
        write(there, **members)
    assert not there.exists() or os.listdir(there) == []


def test_a_run_of_that_name_is_not_overwritten(there: Path) -> None:
    write(there)
    with pytest.raises(FileExistsError):
        write(there, cases=[])
    assert len(lines(Written(str(there / RUN_ID), RUN_ID, None))) == 2


def test_a_decimal_is_a_number(there: Path) -> None:
    written = write(there, cases=[Case("c", Check("q", "passed", scores={"quality": Decimal("0.5")}))])  # type: ignore[dict-item] # as some libraries give it
    assert lines(written)[0]["scores"][0]["value"] == 0.5
