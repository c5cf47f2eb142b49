"""Whatever facts a producer states, a run comes out that verifies, or an `InputError` and nothing on the disk.

[RES-3] to [RES-8], [SUM-2] to [SUM-9].
"""

from __future__ import annotations

import json
import os
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aef_verify import Case, Check, write_run
from aef_verify.problems import InputError
from aef_verify.run.verify import verify_run
from aef_verify.strategies import json_changes, labels, runs
from aef_verify.strategies.files import RunFiles
from aef_verify.writing.produce import produce, produce_file
from aef_verify.writing.scenario import read_scenario
from aef_verify.writing.summarize import Entry, Lane, summarize_run
from tests.properties.effort import examples
from tests.properties.scratch import scratch, written
from tests.writing.facts import METRICS, Json, scenario

MEASURED = ("passed", "failed", "warn", "inconclusive", "scored")
ABSENT = ("not_measured", "not_applicable", "skipped", "error")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
LANES = st.sampled_from(["main", "other"])
NAMES = st.lists(st.sampled_from("abc"), unique=True, max_size=3)


@st.composite
def nodes(draw: st.DrawFn, path: str, depth: int = 2, names: tuple[str, ...] | None = None) -> Json:
    """A sound node with what is below it; `names` are those of its children, where others have to have them, too."""
    state = draw(st.sampled_from(MEASURED + ABSENT))
    node: Json = {"path": path, "evaluator": {"id": draw(labels())}, "state": state}
    if state in ABSENT:
        node["reason"] = "stated by the test"
    elif draw(st.booleans()):
        node["scores"] = [{"metric": "quality", "value": draw(NUMBERS)}]
    if draw(st.booleans()):
        node["lane"] = draw(LANES)
    below = draw(NAMES) if names is None else names
    if below and depth:
        part = st.fixed_dictionaries({"weight": st.integers(0, 9), "required": st.booleans()})
        node["children"] = [
            draw(nodes(f"{path}/{name}", depth - 1, None if names is None else ())) | {"component": draw(part)}
            for name in below
        ]
        decisive = draw(st.lists(st.sampled_from([child["path"] for child in node["children"]]), unique=True))
        node["aggregation"] = {"strategy": "Own", "rulePath": "threshold", "decisive": decisive}
    return node


@st.composite
def case_trees(draw: st.DrawFn, case_id: str) -> Json:
    if draw(st.booleans()):
        return {"caseId": case_id, **draw(nodes("q"))}
    names = tuple(draw(NAMES))
    trees = draw(st.lists(nodes("q", 1, names), min_size=1, max_size=3))
    return {"caseId": case_id, **draw(nodes("q", 1, names)), "trials": {"aggregation": "AllPass", "trees": trees}}


@st.composite
def scenarios(draw: st.DrawFn) -> Json:
    cases = [draw(case_trees(f"c{at}")) for at in range(draw(st.integers(0, 3)))]
    asked = st.builds(
        lambda metric, path: (metric, path), st.sampled_from(["quality", "pass"]), st.sampled_from(["q", "q/a", "z"])
    )
    lanes = [
        {
            "lane": lane,
            "metrics": [
                {"metric": metric, "path": path} for metric, path in draw(st.lists(asked, unique=True, max_size=4))
            ],
        }
        for lane in draw(st.lists(LANES, unique=True))
    ]
    metrics = {**METRICS, "metrics": [{**metric, "scale": "unbounded"} for metric in METRICS["metrics"]]}
    return scenario(*cases, metrics=metrics, summary={"lanes": lanes})


@examples(60)
@given(scenarios())
def test_sound_facts_become_a_run_that_verifies(facts: Json) -> None:
    with scratch() as folder:
        out = os.path.join(folder, "out")
        count = produce(read_scenario(facts), out)
        report = verify_run(out)
        assert (report.outcome, report.problems) == ("unsealed", ())
        with open(os.path.join(out, "results.ndjson"), "rb") as file:
            lines = [json.loads(line) for line in file]
        assert len(lines) == count == len({line["resultId"] for line in lines})
        with open(os.path.join(out, "summary.json"), "rb") as file:
            summary = json.load(file)
        lanes = [
            Lane(lane["lane"], tuple(Entry(entry["metric"], entry["path"]) for entry in lane["metrics"]))
            for lane in facts["summary"]["lanes"]
        ]
        assert summarize_run(out, lanes) == summary


@examples(120)
@given(st.data())
def test_changed_facts_become_a_run_that_verifies_or_nothing(data: st.DataObject) -> None:
    text = json.dumps(data.draw(scenarios())).encode()
    change = data.draw(json_changes(text))
    with scratch() as folder:
        file, out = os.path.join(folder, "scenario.json"), os.path.join(folder, "out")
        with open(file, "wb") as target:
            target.write(change.data)
        try:
            produce_file(file, out)
        except InputError:
            assert os.listdir(folder) == ["scenario.json"]
        else:
            assert verify_run(out).problems == ()


def stated(node: Json, name: str) -> Check:
    """State a node of a scenario as a producer's program does."""
    path, facts = node["path"], {"scores", "lane", "reason"} & node.keys()
    aggregation = node.get("aggregation")
    if aggregation is not None:
        decisive = [decided.removeprefix(f"{path}/") for decided in aggregation["decisive"]]
        aggregation = aggregation | {"decisive": decisive}
    return Check(
        name,
        node["state"],
        evaluator=node["evaluator"],
        below=[stated(child, child["path"].rpartition("/")[2]) for child in node.get("children", ())],
        aggregation=aggregation,
        **node.get("component", {}),
        **{fact: node[fact] for fact in facts},
    )


@examples(40)
@given(scenarios())
def test_a_program_and_a_scenario_say_the_same(facts: Json) -> None:
    cases = []
    for case in facts["cases"]:
        trials = case.get("trials", {})
        trees = [stated(tree, "q") for tree in trials.get("trees", ())]
        cases.append(Case(case["caseId"], stated(case, "q"), trials=trees, aggregation=trials.get("aggregation")))
    with scratch() as folder:
        produce(read_scenario(facts), os.path.join(folder, "out"))
        made = write_run(
            folder,
            run=facts["run"],
            metrics=facts["metrics"]["metrics"],
            cases=cases,
            summary=facts["summary"]["lanes"],
        )
        for name in ("run.json", "metrics.json", "results.ndjson", "summary.json"):
            with open(os.path.join(folder, "out", name), "rb") as one, open(os.path.join(made.path, name), "rb") as two:
                assert documents_of(one.read(), name) == documents_of(two.read(), name)


def documents_of(data: bytes, name: str) -> list[Any]:
    return [json.loads(text) for text in (data.splitlines() if name.endswith("ndjson") else [data])]


@examples(40)
@given(runs())
def test_any_sound_run_has_the_summary_that_its_lines_give(files: RunFiles) -> None:
    if "summary.json" not in files:
        return
    expected: Any = json.loads(files["summary.json"])
    lanes = [
        Lane(
            lane["lane"],
            tuple(
                Entry(found["metric"], found["path"], found.get("rule"), found["verdict"])
                for found in lane["metrics"]
                if "aggregate" not in found
            ),
        )
        for lane in expected["lanes"]
    ]
    with written(files) as folder:
        found = summarize_run(folder, lanes)
    for lane, other in zip(expected["lanes"], found["lanes"], strict=True):
        plain = [entry for entry in lane["metrics"] if "aggregate" not in entry]
        for one, two in zip(plain, other["metrics"], strict=True):
            names = ("N", "n", "notMeasured", "value", "verdict")
            assert [two[name] for name in names] == [one[name] for name in names]
