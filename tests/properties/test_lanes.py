"""Lane results against the plainest reading of the rules, over whatever runs there are.

[LANE-1] to [LANE-9], [SUM-3], [SUM-4], [CKP-8]. The model below reads lists of lines as the text says, several times
and with fractions; it shares nothing with the code. What is recorded of its results verifies, and nothing else does
([CKP-5], [CKP-9]). No folder and no manifest makes the verifier fail in any other way than it says ([VER-3]).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import comb
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aef_verify.checkpoint.lanes import evaluate_lanes
from aef_verify.checkpoint.record import decide_checkpoint
from aef_verify.checkpoint.verify import CheckpointReport, verify_checkpoint
from aef_verify.integrity.dsse import CHECKPOINT_TYPE
from aef_verify.problems import InputError
from aef_verify.run.store import RunStore
from aef_verify.run.verify import verify_run
from aef_verify.schemas import accepts
from aef_verify.strategies import HostileFolder, documents, hostile_folders, near_documents
from tests import building
from tests.building import ALICE, Json, Run, result
from tests.checkpoint.lane_runs import (
    AT,
    a_run,
    checkpoint,
    comparison,
    encoded,
    lane,
    lines_of,
    present,
    severity,
    threshold,
)
from tests.properties.effort import examples
from tests.properties.scratch import scratch

LANES, PATHS, CASES = ("main", "red"), ("qa", "qa/x", "qb"), ("c1", "c2", "c3", "c4", "c5", "c6")
SEVERITIES = ("none", "low", "medium", "high", "critical", "catastrophic", None)
STATES = ("passed", "failed", "warn", "inconclusive", "scored", "skipped", "not_applicable", "error", "not_measured")
ABSENT = ("skipped", "not_applicable", "error", "not_measured")


# Runs and rules


@st.composite
def scored(draw: st.DrawFn) -> list[Json]:
    """Draw a line a case, all at one place: what a comparison pairs. By chance, as drawn values are often equal."""
    chance = Random(draw(st.integers(0, 2**32)))
    found: list[Json] = []
    known = chance.choice((("passed",), ("passed", "failed", "scored"), ("passed", "failed", "skipped")))
    for case in chance.sample(CASES, len(CASES)):
        state = chance.choice(known)
        facts: Json = {} if state == "skipped" else {"scores": [building.score(chance.randrange(3))]}
        if state == "failed" and (mark := chance.choice(SEVERITIES)) is not None:
            facts["severity"] = mark
        found.append(result(case, state=state, **facts))
    return found


@st.composite
def lines(draw: st.DrawFn) -> list[Json]:
    """Draw lines that are no parts of others; some cases ran in trials."""
    found: list[Json] = []
    places = st.tuples(st.sampled_from(CASES), st.sampled_from(PATHS))
    known = draw(st.sampled_from((1, 3, 9)))
    for case, path in draw(st.lists(places, unique=True, max_size=12)):
        facts: Json = {"state": draw(st.sampled_from(STATES[:known]))}
        name = draw(st.sampled_from((None, *LANES)))
        if name is not None:
            facts["lane"] = name
        mark = draw(st.sampled_from(SEVERITIES))
        if facts["state"] in ("failed", "warn") and mark is not None:
            facts["severity"] = mark
        if facts["state"] not in ABSENT and draw(st.booleans()):
            facts["scores"] = [building.score(draw(st.integers(0, 8)) / 4)]
        if draw(st.integers(0, 5)):
            found.append(result(case, path, **facts))
            continue
        trial = {"state": draw(st.sampled_from(("passed", "failed", "inconclusive")))}
        found.append(result(case, path, trial=0, **facts | trial))
        passed = int(trial["state"] == "passed")
        found.append(building.rollup(case, path, n=1, passed=passed, agree=True, **facts))
    return draw(st.permutations(found))


def summed(run: Run, names: Iterable[str]) -> None:
    """Write the summary that the lines give, for every lane, metric and path."""
    document: Json = {"lanes": [{"lane": name, "metrics": []} for name in names]}
    for part in document["lanes"]:
        for path in PATHS:
            for metric in run["metrics.json"]["metrics"]:
                at = [line for line in of_lane(run, document, part["lane"]) if line["path"] == path]
                counted = [line for line in at if "trial" not in line and line["state"] != "not_applicable"]
                values = [value for line in counted if (value := measured(line, metric)) is not None]
                figures: Json = {"N": len(counted), "n": len(values), "notMeasured": len(counted) - len(values)}
                if values:
                    figures |= {"value": sum(values) / len(values), "verdict": "scored"}
                part["metrics"].append(building.entry(metric["id"], path, **figures))
    run["summary.json"]["lanes"] = document["lanes"]


def of_lane(run: Run, summary: Json, name: str) -> Iterator[Json]:
    names = {part["lane"] for part in summary["lanes"]}
    for line in run["results.ndjson"]:
        if line.get("lane") == name or ("lane" not in line and names == {name}):
            yield line


def measured(line: Json, metric: Json) -> float | None:
    state = line["state"]
    if state in ABSENT:
        return None
    if metric["kind"] == "rate":
        return None if state == "scored" else 1.0 if state == "passed" else 0.0
    values = [float(score["value"]) for score in line.get("scores", []) if score["metric"] == metric["id"]]
    return values[0] if values else None


HEADERS: tuple[tuple[building.Edit, ...], ...] = (
    (building.put("run.json", "execution", "targetMode", "scripted"),),
    (building.put("run.json", "status", "aborted"), building.put("run.json", "abortReason", "x")),
    (building.put("run.json", "subject", "ref", "agent:other"),),
    (building.drop("run.json", "subject", "version"),),
    (building.put("run.json", "subject", "version", "6"),),
    (building.put("run.json", "endedAt", "2026-10-02T14:30:00.0Z"),),
    (building.put("run.json", "suite", "version", "4"),),
    (building.put("run.json", "judges", [{"model": "judge-1"}]),),
    (building.put("metrics.json", "metrics", 0, "direction", "lower_better"),),
    (building.put("metrics.json", "metrics", 1, "direction", "none"),),
)


@st.composite
def sealed(draw: st.DrawFn, run_id: str, content: st.SearchStrategy[list[Json]]) -> Run:
    odd = draw(st.sampled_from(((),) * 30 + tuple((header,) for header in HEADERS)))
    edits = [edit for chosen in odd for edit in chosen]
    names = draw(st.sampled_from((LANES[:1],) * 4 + (LANES,)))
    return a_run(run_id, lines_of(*draw(content)), *edits, lambda run: summed(run, names))


def rules(base: Run) -> st.SearchStrategy[Json]:
    """Any rule; the members that a rule may have or not are drawn as well."""
    some: dict[str, st.SearchStrategy[Any]] = {"minimumN": st.integers(1, 4)}
    scope = some | {"lane": st.sampled_from(LANES), "path": st.sampled_from((*PATHS, "q"))}
    suite = {"suite": st.sampled_from(({"ref": "suite:triage"}, {"ref": "suite:triage", "version": "3"}))}
    place: dict[str, st.SearchStrategy[Any]] = {
        "lane": st.sampled_from((LANES[0], *LANES)),
        "path": st.sampled_from((PATHS[0], *PATHS)),
        "metric": st.sampled_from(("pass", "score", "pass", "score", "none")),
    }
    compared = place | {
        "significance": st.sampled_from((0.5, 0.25, 0.0625, 0.05, 0.9)),
        "minimumPairs": st.integers(1, 4),
        "axes": st.lists(st.sampled_from(("suite", "judges", "subject")), unique=True, max_size=1),
    }
    return st.one_of(
        st.builds(
            lambda members, op, value: threshold(op, value) | members,
            st.fixed_dictionaries(place, optional=some | suite),
            st.sampled_from((">=", ">", "<=", "<", "==")),
            st.sampled_from((0, 0.25, 0.5, 1)),
        ),
        st.builds(
            lambda members, maximum: severity(maximum) | members,
            st.fixed_dictionaries({}, optional=scope | suite),
            st.sampled_from(("none", "low", "medium", "high", "critical")),
        ),
        st.builds(lambda runs: present(runs), st.integers(1, 3)),
        st.builds(lambda members: comparison(base) | members, st.fixed_dictionaries(compared, optional=suite)),
        st.builds(lambda runs: {"kind": "weather", "runs": runs}, st.integers(1, 3)),
    )


class World:
    """Some runs, a checkpoint over them, and which of them are tampered with or gone."""

    def __init__(self, runs: list[Run], document: Json, tampered: set[str], gone: set[str]) -> None:
        self.runs = {(run["run.json"]["runId"], run.run_hash()): run for run in runs}
        self.document = document
        self.tampered = tampered
        self.gone = gone

    def write(self, folder: str) -> str:
        for (run_id, _), run in self.runs.items():
            if run_id not in self.gone:
                place = run.write(Path(folder, run_id))
                if run_id in self.tampered:
                    Path(place, "results.ndjson").write_bytes(run.bytes_of("results.ndjson") + b"{}\n")
        return folder

    def __repr__(self) -> str:
        shown = {run_id: dict(run) for (run_id, _), run in self.runs.items()}
        return json.dumps({"checkpoint": self.document, "runs": shown, "gone": [*self.gone], "t": [*self.tampered]})


@st.composite
def worlds(draw: st.DrawFn, *, sound: bool = False) -> World:
    content = draw(st.sampled_from((scored(), lines(), scored())))
    runs = [draw(sealed(f"r{number}", content)) for number in range(draw(st.sampled_from((2, 3))))]
    used = st.one_of(st.sampled_from([[run] for run in runs]), st.lists(st.sampled_from(runs), max_size=3))
    drawn = draw(st.lists(st.tuples(rules(runs[0]), used), min_size=2, max_size=4))
    drawn.append((draw(pairings(runs[0])), [runs[-1]]))
    lanes = [lane(rule, *used, name=f"lane-{number}") for number, (rule, used) in enumerate(drawn)]
    if sound:
        known = [one for one in lanes if accepts("checkpoint#/$defs/laneRule", "writer", one["rule"])]
        return World(runs, checkpoint(*known), set(), set())
    ids = st.sampled_from([run["run.json"]["runId"] for run in runs])
    none: st.SearchStrategy[set[str]] = st.just(set())
    odd = st.one_of(none, none, none, st.sets(ids, max_size=1))
    return World(runs, checkpoint(*lanes), draw(odd), draw(odd))


def pairings(base: Run) -> st.SearchStrategy[Json]:
    """A comparison at the place where `scored` has its lines."""
    significance = st.sampled_from((0.5, 0.25, 0.0625, 0.05, 0.9))
    members = {"significance": significance, "axes": st.sampled_from(([], ["suite"], [], ["weather", "judges"]))}
    metric = {"metric": st.sampled_from(("score", "pass"))}
    return st.builds(lambda some: comparison(base) | some, st.fixed_dictionaries(members | metric))


# The model


def expected(world: World, planned: Json) -> Json | None:
    """Return the result of a lane, as the text has it."""
    rule = planned["rule"]
    named = list(dict.fromkeys((run["runId"], run["runHash"]) for run in planned["runs"]))
    found = [world.runs[key] for key in named if key[0] not in world.gone]
    if not found:
        return None
    own = [run for run in found if intact(world, run) and bound(world, rule, run)]
    versions = [run["run.json"]["subject"].get("version") for run in own]
    others = [version for version in versions if version not in (None, "7")]
    ends = [run["run.json"]["endedAt"] for run in own]
    ends.sort(key=lambda end: end.rstrip("Z").removesuffix(".0"))
    status, axes = judged(world, rule, found, len(named))
    shown: Json = {
        "status": status,
        "subjectVersion": others[0] if others else "7",
        "oldestClosedAt": ends[0] if ends else AT,
    }
    return shown | ({"axes": axes} if axes else {})


def intact(world: World, run: Run) -> bool:
    return run["run.json"]["runId"] not in world.tampered | world.gone


def bound(world: World, rule: Json, run: Run) -> bool:
    header = run["run.json"]
    suite = rule.get("suite", {})
    return header["subject"]["ref"] == "agent:triage" and all(header["suite"][name] == suite[name] for name in suite)


def eligible(world: World, rule: Json, run: Run) -> bool:
    header = run["run.json"]
    live = header["status"] == "completed" and header["execution"]["targetMode"] == "live"
    return intact(world, run) and live and bound(world, rule, run)


def judged(world: World, rule: Json, found: list[Run], named: int) -> tuple[str, list[str]]:
    whole = len(found) == named and all(
        eligible(world, rule, run) and "version" in run["run.json"]["subject"] for run in found
    )
    if not whole:
        return "not_measured", []
    if rule["kind"] == "comparison":
        return compared(world, rule, found)
    if rule["kind"] == "evidence-present":
        return ("passed" if named >= rule["runs"] else "not_measured"), []
    if rule["kind"] == "threshold":
        statuses = [by_threshold(rule, run) for run in found]
        return min(statuses, key=("failed", "not_measured", "passed").index), []
    return (by_severity(rule, found) if rule["kind"] == "severity" else "not_measured"), []


def by_threshold(rule: Json, run: Run) -> str:
    for part in run["summary.json"]["lanes"]:
        for entry in part["metrics"]:
            if (part["lane"], entry["metric"], entry["path"]) == (rule["lane"], rule["metric"], rule["path"]):
                if entry["n"] < rule.get("minimumN", 1) or rule["op"] == "==":
                    return "not_measured"
                value, bound_ = entry["value"], rule["value"]
                order = {">=": value >= bound_, ">": value > bound_, "<=": value <= bound_, "<": value < bound_}
                return "passed" if order[rule["op"]] else "failed"
    return "not_measured"


def by_severity(rule: Json, found: list[Run]) -> str:
    if rule["max"] == "critical":
        return "not_measured"
    read: list[Json] = []
    for run in found:
        own = of_lane(run, run["summary.json"], rule["lane"]) if "lane" in rule else iter(run["results.ndjson"])
        read += (line for line in own if f"{line['path']}/".startswith(f"{rule['path']}/" if "path" in rule else ""))
    order = ["none", "low", "medium", "high", "critical"]
    for line in read:
        mark = line.get("severity", "critical")
        rank = order.index(mark) if mark in order else 4
        if line["state"] in ("failed", "warn") and rank > order.index(rule["max"]):
            return "failed"
    cases = [line["state"] for line in read if "trial" not in line]
    if any(state in ("inconclusive", "not_measured", "skipped", "error") for state in cases):
        return "not_measured"
    decided = sum(state in ("passed", "failed", "warn") for state in cases)
    return "passed" if decided >= rule.get("minimumN", 1) else "not_measured"


def compared(world: World, rule: Json, found: list[Run]) -> tuple[str, list[str]]:
    base = world.runs[rule["baseline"]["runId"], rule["baseline"]["runHash"]]
    if len(found) != 1 or not eligible(world, rule, base):
        return "not_measured", []
    (run,) = found
    values = {
        "suite": lambda one: one["run.json"]["suite"]["version"],
        "judges": lambda one: one["run.json"].get("judges", []),
        "subject": lambda one: one["run.json"]["subject"]["ref"],
    }
    axes = [axis for axis in rule["axes"] if axis not in values or values[axis](run) != values[axis](base)]
    if axes:
        return "incomparable", axes
    metric = next((one for one in run["metrics.json"]["metrics"] if one["id"] == rule["metric"]), None)
    if metric is None or metric["direction"] == "none":
        return "not_measured", []
    ours, theirs = (by_case(one, rule, metric) for one in (run, base))
    sign = 1 if metric["direction"] == "higher_better" else -1
    changes = [sign * (ours[case] - theirs[case]) for case in ours.keys() & theirs.keys()]
    r, m = sum(change < 0 for change in changes), sum(change != 0 for change in changes)
    if m < rule["minimumPairs"]:
        return "not_measured", []
    p = Fraction(sum(comb(m, k) for k in range(r, m + 1)), 2**m)
    return ("failed" if p <= Fraction(rule["significance"]) else "passed"), []


def by_case(run: Run, rule: Json, metric: Json) -> dict[str, float]:
    read = [line for line in of_lane(run, run["summary.json"], rule["lane"]) if line["path"] == rule["path"]]
    found = {line["caseId"]: measured(line, metric) for line in read if "trial" not in line}
    return {case: value for case, value in found.items() if value is not None}


# The properties


def test_a_lanes_result_is_what_the_text_says() -> None:
    """And there are worlds enough for each status of each rule: a model that nothing tries proves nothing."""
    seen: set[tuple[str, str | None]] = set()

    @examples(150)
    @given(worlds())
    def compare(world: World) -> None:
        with scratch() as folder:
            found = evaluate_lanes(world.document, RunStore(world.write(folder)), AT)
        for planned, evaluation in zip(world.document["lanes"], found, strict=True):
            shown = None if evaluation.result is None else evaluation.result.document()
            assert shown == expected(world, planned)
            seen.add((planned["rule"]["kind"], None if shown is None else shown["status"]))

    compare()
    kinds = ("threshold", "severity", "evidence-present", "comparison")
    assert seen >= {(kind, status) for kind in kinds for status in ("passed", "not_measured")}
    assert seen >= {("comparison", "failed"), ("comparison", "incomparable"), ("weather", "not_measured")}


def reported(document: Json, folder: str) -> CheckpointReport:
    data = encoded(document)
    envelope = building.envelope(data, [ALICE], CHECKPOINT_TYPE)
    return verify_checkpoint(data, folder, at=AT, policy=building.trust(), envelope=envelope)


@examples(60)
@given(worlds(sound=True), st.data())
def test_what_is_recorded_verifies_and_nothing_else_does(world: World, data: st.DataObject) -> None:
    """A result that is recorded otherwise is found at its lane, and a run that is changed at its path."""
    with scratch() as folder:
        document = decide_checkpoint(world.document, world.write(folder), AT)
        report = reported(document, folder)
        hashes = {run["runHash"] for planned in document["lanes"] for run in planned["runs"]}
        bases = {one["rule"]["baseline"]["runHash"] for one in document["lanes"] if "baseline" in one["rule"]}
        assert (report.sound, report.signed_by, report.anchors) == (True, (ALICE,), tuple(sorted(hashes | bases)))
        number = data.draw(st.integers(0, len(document["lanes"]) - 1))
        changed = json.loads(json.dumps(document))
        recorded = changed["decisionInput"]["lanes"][number]
        if recorded["result"] is None:
            recorded["result"] = {"status": "passed", "subjectVersion": "7", "oldestClosedAt": AT}
            codes = ["lane-result"]
        else:
            status = "failed" if recorded["result"]["status"] != "failed" else "passed"
            edit, codes = data.draw(
                st.sampled_from(
                    (
                        ({"status": status}, ["lane-result"]),
                        ({"axes": ["weather"]}, ["lane-result"]),
                        ({"subjectVersion": "5"}, ["lane-version"]),
                        ({"oldestClosedAt": "2026-10-01T00:00:00Z"}, ["oldest-closed"]),
                    )
                )
            )
            recorded["result"] |= edit
        again = reported(changed, folder)
        assert [problem.pair for problem in again.problems] == [(f"lanes/{recorded['lane']}", code) for code in codes]
        assert again.anchors == ()
        used = sorted({(run["runId"], one["lane"]) for one in document["lanes"] for run in one["runs"]})
        if used:
            run_id, name = data.draw(st.sampled_from(used))
            Path(folder, run_id, "metrics.json").write_bytes(b"{}")
            broken = reported(document, folder)
            assert (f"lanes/{name}/runs/{run_id}", "run-unverified") in [problem.pair for problem in broken.problems]
            assert broken.anchors == ()


@examples(40)
@given(worlds(), st.randoms(use_true_random=False))
def test_neither_the_names_of_folders_nor_the_order_of_lanes_matter(world: World, chance: Any) -> None:
    with scratch() as folder, scratch() as other:
        world.write(folder)
        names = sorted(os.listdir(world.write(other)))
        for number, name in enumerate(chance.sample(names, len(names))):
            os.rename(os.path.join(other, name), os.path.join(other, str(number)))
        lanes = list(world.document["lanes"])
        chance.shuffle(lanes)
        first = {one.lane: one.result for one in evaluate_lanes(world.document, RunStore(folder), AT)}
        second = {
            one.lane: one.result for one in evaluate_lanes(world.document | {"lanes": lanes}, RunStore(other), AT)
        }
    assert first == second


def answered(data: bytes, folder: str | None) -> CheckpointReport | None:
    try:
        return verify_checkpoint(data, folder, at=AT, policy=building.trust(), envelope=data)
    except InputError:
        return None


@examples(60)
@given(st.one_of(documents("checkpoint", "reader"), near_documents("checkpoint", "reader")))
def test_any_manifest_gets_an_answer(document: Any) -> None:
    with scratch() as folder:
        report = answered(json.dumps(document).encode(), folder)
    if report is not None:
        assert all(one.result is None for one in report.lanes)
        assert report.anchors == ()


@examples(60)
@given(hostile_folders(), st.data())
def test_any_folder_gets_an_answer(hostile: HostileFolder, data: st.DataObject) -> None:
    """Whatever its files are, a manifest that names what is there gets a report or an input error."""
    rule = data.draw(rules(a_run("base")))
    with scratch() as folder, scratch() as outside:
        os.mkdir(os.path.join(folder, "run"))
        hostile.write(os.path.join(folder, "run"), outside)
        try:
            found = verify_run(os.path.join(folder, "run"))
        except InputError:
            return
        runs = [{"runId": found.run_id, "runHash": found.run_hash, "origin": "launched"}] if found.run_id else []
        if runs and "baseline" in rule:
            rule = rule | {"baseline": runs[0]}
        document = checkpoint(lane(rule, *runs)) | {"schemaVersion": "1.1"}
        report = answered(encoded(document), folder)
    assert report is None or report.lanes[0].lane == "lane"
