"""What a checkpoint's runs come to, worked out anew and in the plainest way, to hold the verifier's answers against.

Nothing here asks the rooms that evaluate lanes and decide: it reads the files with the standard library and goes by the
text of [LANE-1] to [LANE-9] and [DEC-2]. Of the verifier it believes which headers read, and which runs are intact.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

from aef_verify.conformance.contract import perform
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.problems import InputError
from aef_verify.run.verify import verify_run
from aef_verify.strategies import RunFiles

Document = dict[str, Any]

_RANKS = {"none": 0, "low": 1, "medium": 2, "high": 3, "critical": 4}
_METHODS = ("median", "min", "max")
_ABSENT = ("not_measured", "skipped", "error", "pending", "not_applicable")
_DURATION = re.compile(r"P(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?)?")


class Run(NamedTuple):
    """A run that is found under its id and hash: whether it is intact, and its files."""

    intact: bool
    files: RunFiles

    @property
    def header(self) -> Document:
        """The object in `run.json`."""
        return self.files.document("run.json")


class Runs:
    """The runs below a folder, looked up by id and run hash."""

    def __init__(self, folder: str, policy: str) -> None:
        """Read every folder with a `run.json`; `policy` is whose redactions count."""
        self._found: dict[tuple[str, str], Run] = {}
        for parent, inner, names in os.walk(folder):
            inner.sort()
            if "run.json" not in names:
                continue
            # What lies below a run is that run's [RUN-1].
            inner.clear()
            files = RunFiles.read(parent)
            try:
                intact = perform(["run", parent, "--policy", policy])["outcome"] == "intact"  # type: ignore[index]
                header = read_object(files["run.json"])
                key = str(header["runId"]), _hash(parent, files, intact=intact)
            except (InputError, UnreadableError, KeyError, TypeError):
                continue
            if key not in self._found or not self._found[key].intact:
                self._found[key] = Run(intact, files)

    def get(self, named: Document) -> Run | None:
        """Return the run that a manifest names."""
        return self._found.get((named["runId"], named["runHash"]))


def _hash(folder: str, files: RunFiles, *, intact: bool) -> str:
    """Return the run hash that a run goes by [SEAL-4]; the verifier's of one that counts for nothing anyway."""
    return str(files.document("seal.json")["predicate"]["runHash"]) if intact else verify_run(folder).run_hash


def statuses(checkpoint: Document, runs: Runs) -> list[str | None]:
    """Return the status of each lane, None where none of its runs is found."""
    return [_status(checkpoint, lane, runs) for lane in checkpoint["lanes"]]


def unearned(checkpoint: Document, runs: Runs, at: str, newer: str | None = None) -> Iterator[str]:
    """Yield why a checkpoint cannot be an approval at a time, in words; nothing where it can."""
    given, subject = checkpoint.get("decisionInput"), checkpoint["subject"]
    if given is None or checkpoint.get("outcome") not in ("approved", "approved_with_exceptions"):
        yield "no approval is recorded"
        return
    names = [lane["lane"] for lane in checkpoint["lanes"]]
    if len(set(names)) < len(names) or [lane["lane"] for lane in given["lanes"]] != names:
        yield "its lanes are not those of its input, each once"
    superseded = newer or given.get("supersededBy")
    if given["subjectVersion"] != subject["version"] or superseded not in (None, subject["version"]):
        yield "it is of another version"
    for lane, status in zip(checkpoint["lanes"], statuses(checkpoint, runs), strict=True):
        ended = [_time(run.header["endedAt"]) for named in lane["runs"] if (run := runs.get(named)) and run.intact]
        versions = {run.header["subject"].get("version") for named in lane["runs"] if (run := runs.get(named))}
        if status not in ("passed", "failed") or versions != {subject["version"]} or min(ended) > _time(at):
            yield f"lane {lane['lane']} is {status}, of {versions}"
        elif "freshness" in lane and min(ended) + _duration(lane["freshness"]) < _time(at):
            yield f"the evidence of lane {lane['lane']} is stale"
        elif status == "failed" and lane["blocking"] and not _is_waived(lane, given.get("exceptions", ()), at):
            yield f"lane {lane['lane']} failed, blocks, and nobody accepts it"


def _is_waived(lane: Document, exceptions: Sequence[Document], at: str) -> bool:
    evidence = {run["runHash"] for run in lane["runs"]}
    return any(
        granted["lane"] == lane["lane"]
        and set(granted["evidence"]) == evidence
        and _time(granted["at"]) <= _time(at) < _time(granted["expires"])
        for granted in exceptions
    )


def _time(text: str) -> Fraction:
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    whole = int((datetime.fromisoformat(seconds) - datetime.min).total_seconds())
    return whole + Fraction(int(fraction or "0"), 10 ** len(fraction))


def _duration(text: str) -> int:
    found = _DURATION.fullmatch(text)
    assert found is not None
    days, hours, minutes = (int(part or "0") for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60


def _status(checkpoint: Document, lane: Document, runs: Runs) -> str | None:
    rule, named = lane["rule"], {(run["runId"], run["runHash"]): run for run in lane["runs"]}
    found = [runs.get(run) for run in named.values()]
    if not any(found):
        return None
    if not all(run is not None and _counts(run, checkpoint, rule, is_baseline=False) for run in found):
        return "not_measured"
    files = [run.files for run in found if run is not None]
    if rule["kind"] == "threshold":
        return _worst({_threshold(rule, one.document("summary.json")) for one in files})
    if rule["kind"] == "severity":
        return _severity(rule, files)
    if rule["kind"] == "evidence-present":
        return "passed" if len(files) >= rule["runs"] else "not_measured"
    if rule["kind"] == "comparison":
        baseline = runs.get(rule["baseline"])
        if len(files) != 1 or baseline is None or not _counts(baseline, checkpoint, rule, is_baseline=True):
            return "not_measured"
        return _comparison(rule, files[0], baseline.files)
    return "not_measured"


def _counts(run: Run, checkpoint: Document, rule: Document, *, is_baseline: bool) -> bool:
    """Whether a lane may rely on a run [LANE-1]."""
    if not run.intact:
        return False
    header, subject = run.header, checkpoint["subject"]
    suite, wanted = header.get("suite") or {}, rule.get("suite")
    return (
        header["status"] == "completed"
        and header["execution"]["targetMode"] == "live"
        and header["subject"]["ref"] == subject["ref"]
        and (is_baseline or "version" in header["subject"])
        and ("deployment" not in subject or (header.get("deployment") or {}).get("ref") == subject["deployment"])
        and (
            not isinstance(wanted, dict)
            or all(suite.get(name) == wanted[name] for name in ("ref", "version", "digest") if name in wanted)
        )
    )


def _worst(found: set[str]) -> str:
    return next(status for status in ("failed", "not_measured", "passed") if status in found)


def _threshold(rule: Document, summary: Document) -> str:
    for lane in summary["lanes"]:
        for entry in lane["metrics"]:
            if (lane["lane"], entry["metric"], entry["path"]) != (rule["lane"], rule["metric"], rule["path"]):
                continue
            method = entry["aggregate"]["method"] if "aggregate" in entry else "min"
            if entry["n"] < max(1, rule.get("minimumN", 1)) or entry["value"] is None or method not in _METHODS:
                return "not_measured"
            value, wanted = float(entry["value"]), float(rule["value"])
            holds = {">=": value >= wanted, ">": value > wanted, "<=": value <= wanted, "<": value < wanted}
            return "not_measured" if rule["op"] not in holds else "passed" if holds[rule["op"]] else "failed"
    return "not_measured"


def _lane_of(line: Mapping[str, Any], files: RunFiles) -> str | None:
    names = {lane["lane"] for lane in files.document("summary.json")["lanes"]}
    alone = names.pop() if len(names) == 1 else None
    found: str | None = line.get("lane", alone)
    return found


def _severity(rule: Document, runs: Sequence[RunFiles]) -> str:
    if rule["max"] not in ("none", "low", "medium", "high"):
        return "not_measured"
    lines = [
        line
        for files in runs
        for line in files.lines("results.ndjson")
        if ("lane" not in rule or _lane_of(line, files) == rule["lane"])
        and ("path" not in rule or f"{line['path']}/".startswith(f"{rule['path']}/"))
    ]
    for line in lines:
        rank = _RANKS.get(line.get("severity", "critical"), 4)
        if line["state"] in ("failed", "warn") and rank > _RANKS[rule["max"]]:
            return "failed"
    states = [line["state"] for line in lines if "trial" not in line]
    decided = sum(state in ("passed", "failed", "warn") for state in states)
    undecided = {"inconclusive", "not_measured", "skipped", "error", "pending"} & set(states)
    return "not_measured" if undecided or decided < rule.get("minimumN", 1) else "passed"


def _axis(name: str, run: Document) -> object:
    judges = run.get("judges") or []
    suite, producer = run.get("suite") or {}, run["producer"]
    return {
        "subject": run["subject"]["ref"],
        "suite": (suite.get("ref"), suite.get("version")),
        "suite-content": suite.get("digest"),
        "judges": [judge.get("model") for judge in judges],
        "rubrics": [judge.get("rubricDigest") for judge in judges],
        "target-mode": run["execution"]["targetMode"],
        "deployment": (run.get("deployment") or {}).get("ref"),
        "producer": (producer["name"], producer.get("version")),
    }.get(name, object())


def _comparison(rule: Document, candidate: RunFiles, baseline: RunFiles) -> str:
    first, second = candidate.document("run.json"), baseline.document("run.json")
    if any(_axis(name, first) != _axis(name, second) for name in rule["axes"]):
        return "incomparable"
    metrics = [one for one in candidate.document("metrics.json")["metrics"] if one["id"] == rule["metric"]]
    if not metrics or metrics[0]["direction"] not in ("higher_better", "lower_better"):
        return "not_measured"
    new, old = (_values(rule, metrics[0]["kind"], files) for files in (candidate, baseline))
    sign = 1 if metrics[0]["direction"] == "higher_better" else -1
    gains = [sign * (Fraction(new[case]) - Fraction(old[case])) for case in new.keys() & old.keys()]
    worse, untied = sum(gain < 0 for gain in gains), sum(gain != 0 for gain in gains)
    if untied < rule["minimumPairs"]:
        return "not_measured"
    chance = Fraction(sum(comb(untied, k) for k in range(worse, untied + 1)), 2**untied)
    return "failed" if chance <= Fraction(rule["significance"]) else "passed"


def _values(rule: Document, kind: str, files: RunFiles) -> dict[str, float]:
    """Return what each case measures for a comparison [SUM-4]."""
    found: dict[str, float] = {}
    for line in files.lines("results.ndjson"):
        state, rated = line["state"], kind in ("rate", "verdict")
        if _lane_of(line, files) != rule["lane"] or line["path"] != rule["path"] or "trial" in line or state in _ABSENT:
            continue
        scores = [score["value"] for score in line.get("scores", ()) if score["metric"] == rule["metric"]]
        if rated and state != "scored" and len(scores) < 2:
            found[line["caseId"]] = float(state == "passed")
        elif not rated and len(scores) == 1:
            found[line["caseId"]] = float(scores[0])
    return found


def manifest(data: bytes) -> Document | None:
    """Return the manifest in a file as the standard library reads it, None where it holds no object."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
