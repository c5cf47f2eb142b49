"""Changes of a release that keep it readable: what a vendor would turn to make it pass, or a clerk get wrong.

Most changes of bytes and values are refused by the first schema they meet. These are not, so that they reach the rules
of lanes and decisions [LANE-1] to [LANE-9], [DEC-2], [CKP-7], [CKP-8].
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf, nextafter
from random import Random
from typing import Any

from aef_verify.strategies import RunFiles

Document = dict[str, Any]
Edit = Callable[[Random, Document, list[Document]], object]

MANIFEST = "checkpoint.json"


def edited(chance: Random, files: RunFiles) -> tuple[str, RunFiles]:
    """Make one such change; raises what broken JSON raises."""
    if chance.randrange(3) == 0:
        name = chance.choice([path for path in files if path.endswith("/run.json")])
        run = files.document(name)
        member = chance.choice(sorted(_HEADER))
        _HEADER[member](chance, run)
        return f"{name}: {member}", files.replacing({name: json.dumps(run, ensure_ascii=False).encode()})
    manifest = files.document(MANIFEST)
    runs = [files.document(path) | {"_": path} for path in files if path.endswith("/run.json")]
    edit = chance.choice(_EDITS)
    edit(chance, manifest, runs)
    text = json.dumps(manifest, ensure_ascii=False).encode()
    return f"{MANIFEST}: {edit.__name__.strip('_').replace('_', ' ')}", files.replacing({MANIFEST: text})


def _header(path: str, *values: Any) -> Callable[[Random, Document], None]:
    """Return what sets a member of `run.json`, or removes it where the value is None."""
    above, _, name = path.rpartition(".")

    def change(chance: Random, run: Document) -> None:
        holder = run.setdefault(above, {}) if above else run
        value = chance.choice(values)
        if value is None:
            holder.pop(name, None)
        else:
            holder[name] = value

    return change


_HEADER: dict[str, Callable[[Random, Document], None]] = {
    "status": _header("status", "completed", "aborted", "running"),
    "execution.targetMode": _header("execution.targetMode", "live", "scripted", "mocked", "shadow"),
    "subject.version": _header("subject.version", "2.8.0", "0.12.3", "9", None),
    "subject.ref": _header("subject.ref", "agent:support-assistant", "agent:another"),
    "deployment": _header("deployment", {"ref": "deployment:support-staging"}, {"ref": "deployment:another"}, None),
    "suite.version": _header("suite.version", "14", "7", "99", None),
    "schemaVersion": _header("schemaVersion", "1.0", "1.3"),
    "endedAt": _header("endedAt", "2026-10-05T12:00:00.000000001Z", "2026-10-03T23:00:00.5Z", "2026-12-01T00:00:00Z"),
}


def _rule(chance: Random, manifest: Document) -> Document:
    rule: Document = chance.choice(manifest["lanes"])["rule"]
    return rule


def _figures_turned(chance: Random, manifest: Document, runs: list[Document]) -> None:
    rule = _rule(chance, manifest)
    if "value" in rule:
        value = float(rule["value"])
        rule["value"] = chance.choice((value, nextafter(value, inf), nextafter(value, -inf), -value, 0, -0.0, 1e308))
        rule["op"] = chance.choice((">=", ">", "<=", "<", "="))
    for name, values in (
        ("max", ("none", "low", "medium", "high", "critical")),
        ("significance", (5e-324, 0.05, 0.5, 0.75, nextafter(1, 0))),
        ("minimumPairs", (1, 2, 1000)),
    ):
        if name in rule:
            rule[name] = chance.choice(values)
    rule["minimumN"] = chance.choice((1, 1.0, 2, 7, 1000))


def _scope_turned(chance: Random, manifest: Document, runs: list[Document]) -> None:
    rule = _rule(chance, manifest)
    for name in ("lane", "path"):
        if rule["kind"] == "severity":
            rule.pop(name, None) if chance.randrange(2) else rule.update(
                {name: chance.choice(("main", "quality", "a"))}
            )
    if "axes" in rule:
        axes = ("subject", "suite", "suite-content", "judges", "rubrics", "target-mode", "deployment", "producer", "x")
        rule["axes"] = chance.sample(axes, chance.randrange(4))


def _suite_asked_for(chance: Random, manifest: Document, runs: list[Document]) -> None:
    suite = chance.choice(runs).get("suite") or {"ref": "suite:another"}
    kept = {name: suite[name] for name in ("ref", "version", "digest") if name in suite}
    _rule(chance, manifest)["suite"] = kept | chance.choice(({}, {}, {"version": "99"}))


def _runs_turned(chance: Random, manifest: Document, runs: list[Document]) -> None:
    named = chance.choice(manifest["lanes"])["runs"]
    others = [run for lane in manifest["lanes"] for run in lane["runs"]]
    if named and chance.randrange(3) == 0:
        named.pop(chance.randrange(len(named)))
    elif others:
        named.insert(chance.randrange(len(named) + 1), dict(chance.choice(others)))


def _lane_turned(chance: Random, manifest: Document, runs: list[Document]) -> None:
    lane = chance.choice(manifest["lanes"])
    lane["blocking"] = not lane["blocking"]
    lane["freshness"] = chance.choice(("PT0M", "P1D", "P2DT12H", "P99999D"))


def _lane_doubled(chance: Random, manifest: Document, runs: list[Document]) -> None:
    lane = json.loads(json.dumps(chance.choice(manifest["lanes"])))
    lane["lane"] = chance.choice((lane["lane"], lane["lane"].upper(), f"{lane['lane']}-2"))
    manifest["lanes"].append(lane)


def _subject_turned(chance: Random, manifest: Document, runs: list[Document]) -> None:
    run = chance.choice(runs)
    manifest["subject"] |= {"ref": run["subject"]["ref"], "version": run["subject"].get("version", "9")}
    if "deployment" in run and chance.randrange(2):
        manifest["subject"]["deployment"] = run["deployment"]["ref"]
    else:
        manifest["subject"].pop("deployment", None)


def _minor_turned(chance: Random, manifest: Document, runs: list[Document]) -> None:
    manifest["schemaVersion"] = chance.choice(("1.0", "1.4"))
    _rule(chance, manifest).update(chance.choice(({"x-later": 1}, {"kind": "always"}, {})))


def _record_turned(chance: Random, manifest: Document, runs: list[Document]) -> None:
    """Record another outcome or result, or an exception of another time, than the runs and the decision give."""
    given = manifest.get("decisionInput", {})
    for granted in given.get("exceptions", ()):
        granted["expires"] = chance.choice(("2026-10-05T12:00:00Z", "2026-10-05T12:00:00.000000001Z"))
    for lane in given.get("lanes", ()):
        if lane["result"] and chance.randrange(2):
            lane["result"]["status"] = chance.choice(("passed", "failed", "not_measured"))
    if chance.randrange(2):
        manifest["outcome"] = chance.choice(("approved", "approved_with_exceptions", "blocked", "ratified"))


_EDITS: tuple[Edit, ...] = (
    _figures_turned,
    _figures_turned,
    _scope_turned,
    _suite_asked_for,
    _runs_turned,
    _lane_turned,
    _lane_doubled,
    _subject_turned,
    _minor_turned,
    _record_turned,
)
