"""Lane results from sealed runs (05 §5.2, §5.3), for all lanes of a checkpoint at once.

Of each lane, in this order: its distinct runs and, for a comparison, its baseline are looked up [LANE-4], [CKP-8];
without any run there is no result; version and age come from the runs that are of the right thing [LANE-9]; a rule of
an unknown kind, or a run that may not be relied on, leaves the lane not measured [LANE-1], [LANE-5]; only then the rule
is asked. Each run is verified once, and what the rules ask of the result lines is gathered before any is read.

A lane is `unknown` where its result depends on a value of a later minor [CKP-8]; its result is then what [VER-8] gives.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, NamedTuple

from aef_verify.checkpoint.comparison import (
    Measured,
    Metric,
    comparison_status,
    declared,
    differing_axes,
)
from aef_verify.checkpoint.content import read_metrics
from aef_verify.checkpoint.eligible import (
    Binding,
    RunFacts,
    binding_of,
    counted,
    facts_of,
    ineligible,
    oldest_of,
    version_of,
)
from aef_verify.checkpoint.findings import comparison_finding, severity_finding, threshold_finding
from aef_verify.checkpoint.manifest import is_later
from aef_verify.checkpoint.measuring import Measuring
from aef_verify.checkpoint.severity import scope_of, severity_status
from aef_verify.checkpoint.threshold import threshold_status
from aef_verify.run.store import RunStore, StoredRun
from aef_verify.run.verify import RunReport
from aef_verify.schemas import accepts

Document = dict[str, Any]

NOT_MEASURED, INCOMPARABLE = "not_measured", "incomparable"
RULE = "checkpoint#/$defs/laneRule"


class LaneResult(NamedTuple):
    """A lane's result (05 §5.3); `axes` are those that differ in an incomparable one."""

    status: str
    subject_version: str
    oldest_closed_at: str
    axes: tuple[str, ...] = ()

    def document(self) -> Document:
        """Return the result as a decision input has it."""
        shown: Document = {
            "status": self.status,
            "subjectVersion": self.subject_version,
            "oldestClosedAt": self.oldest_closed_at,
        }
        return shown | {"axes": list(self.axes)} if self.axes else shown


class LaneRun(NamedTuple):
    """One run that a lane names, or the baseline of its comparison.

    Attributes:
        run_id: as the manifest names it.
        run_hash: as the manifest names it.
        baseline: whether it is the baseline.
        path: the folder it was found in; None where it was not found.
        outcome: what the verifier says of it (04 §4.5): `intact`, `unsealed` or `invalid`; None where not found.
        reasons: why the lane may not rely on it, for people; empty where it may [LANE-1].
        report: what the verifier says of it in full; None where not found.
    """

    run_id: str
    run_hash: str
    baseline: bool
    path: str | None
    outcome: str | None
    reasons: tuple[str, ...]
    report: RunReport | None = None

    @property
    def found(self) -> bool:
        """Whether there is a run of that id and run hash."""
        return self.path is not None

    @property
    def intact(self) -> bool:
        """Whether it verifies against its seal."""
        return self.outcome == "intact"

    @property
    def eligible(self) -> bool:
        """Whether the lane may rely on it [LANE-1]."""
        return not self.reasons


class LaneEvaluation(NamedTuple):
    """What the runs give for one lane.

    Attributes:
        lane: its name.
        result: None without any run that is found.
        runs: the runs it names, each once and in order, then the baseline.
        unknown: which value of a later minor its result depends on, for people; empty where it depends on none.
        findings: what its rule found in runs that may all be relied on, for people.
    """

    lane: str
    result: LaneResult | None
    runs: tuple[LaneRun, ...]
    unknown: str
    findings: tuple[str, ...] = ()


def evaluate_lanes(
    checkpoint: Document, store: RunStore, otherwise: str, recomputed: Container[str] = ()
) -> tuple[LaneEvaluation, ...]:
    """Evaluate every lane of a checkpoint, in its order.

    Args:
        checkpoint: a manifest that the reader schema accepts.
        store: where its runs are looked for.
        otherwise: the closing time of a lane none of whose runs has one [LANE-9].
        recomputed: the lanes that are compared with a recorded result, by name: of these alone it is asked whether
            they depend on what a later minor defines.

    Raises:
        InputError: a run cannot be read, or changes meanwhile.
    """
    rules = [lane["rule"] for lane in checkpoint["lanes"]]
    compared = frozenset(rule["metric"] for rule in rules if rule["kind"] == "comparison")
    room = _Room(store, Measuring(), compared, {}, {})
    lanes = [_Lane(checkpoint, lane, room) for lane in checkpoint["lanes"]]
    for lane in lanes:
        lane.ask(lane.name in recomputed)
    room.measuring.read()
    return tuple(lane.evaluation(otherwise) for lane in lanes)


class _Use(NamedTuple):
    """A run as a lane uses it: the names, and where it is found the run and what its `run.json` says."""

    run_id: str
    run_hash: str
    found: tuple[StoredRun, RunFacts] | None

    def as_lane_run(self, binding: Binding, *, baseline: bool) -> LaneRun:
        if self.found is None:
            missing = "no run that was found has this id and this run hash"
            return LaneRun(self.run_id, self.run_hash, baseline, None, None, (missing,))
        run, facts = self.found
        reasons = ineligible(facts, binding, versioned=not baseline)
        return LaneRun(self.run_id, self.run_hash, baseline, run.path, facts.outcome, reasons, run.report)


class _Room(NamedTuple):
    """What the lanes share: the runs, the questions to their lines, the names of the metrics that any of them compares.

    `facts` and `metrics` hold what was looked up already, by path; a document is not kept.
    """

    store: RunStore
    measuring: Measuring
    compared: frozenset[str]
    facts: dict[str, RunFacts]
    metrics: dict[str, dict[str, Metric]]

    def use(self, named: Document) -> _Use:
        """Look a run up by the id and the run hash that a manifest names."""
        run_id, run_hash = named["runId"], named["runHash"]
        run = self.store.find(run_id, run_hash)
        if run is None:
            return _Use(run_id, run_hash, None)
        facts = self.facts.get(run.path)
        if facts is None:
            facts = self.facts[run.path] = facts_of(run.report)
        return _Use(run_id, run_hash, (run, facts))

    def metric(self, run: StoredRun, name: str) -> Metric | None:
        """Return how a run declares a metric, None where it does not."""
        if run.path not in self.metrics:
            document = read_metrics(run)
            self.metrics[run.path] = {} if document is None else declared(document, self.compared)
        return self.metrics[run.path].get(name)


class _Comparison(NamedTuple):
    """What the pairs of a comparison are asked of: both runs, what is measured, and which way is worse."""

    candidate: StoredRun
    baseline: StoredRun
    measured: Measured
    direction: str


class _Lane:
    """One lane at work: look its runs up, ask for what its rule reads, evaluate."""

    def __init__(self, checkpoint: Document, lane: Document, room: _Room) -> None:
        self.name: str = lane["lane"]
        self.rule: Document = lane["rule"]
        self.kind: str = self.rule["kind"]
        self.later = is_later(checkpoint)
        self.version: str = checkpoint["subject"]["version"]
        self.binding = binding_of(checkpoint, self.rule)
        self.room = room
        distinct = {(named["runId"], named["runHash"]): named for named in lane["runs"]}
        self.uses = [room.use(named) for named in distinct.values()]
        self.baseline = room.use(self.rule["baseline"]) if self.kind == "comparison" else None
        self.runs = tuple(self._lane_runs())
        self.found = [use.found for use in self.uses if use.found is not None]
        self.sound = bool(self.uses) and all(run.eligible for run in self.runs)
        self.axes: tuple[str, ...] = ()
        self.compared: _Comparison | None = None
        self.unknown = ""
        self.watched: list[StoredRun] = []

    def _lane_runs(self) -> Iterator[LaneRun]:
        for use in self.uses:
            yield use.as_lane_run(self.binding, baseline=False)
        if self.baseline is not None:
            yield self.baseline.as_lane_run(self.binding, baseline=True)

    def ask(self, recomputed: bool) -> None:
        """Ask for what the rule reads of the lines, and find out what it depends on."""
        if self.sound and self.kind == "severity":
            for run, _ in self.found:
                self.room.measuring.ask_severities(run, scope_of(self.rule))
        if self.sound and self.kind == "comparison" and len(self.found) == 1 and self.baseline is not None:
            self._compare(self.found[0], self.baseline.found)
        if recomputed:
            self.unknown = next(self._unknowns(), "")
            if not self.unknown and self.kind == "severity":
                self.watched = [run for run, facts in self.found if facts.later]
                for run in self.watched:
                    self.room.measuring.ask_severities(run, scope_of(self.rule))

    def _compare(self, candidate: tuple[StoredRun, RunFacts], baseline: tuple[StoredRun, RunFacts] | None) -> None:
        """Compare the axes and, where none differs, ask for the pairs: [LANE-6], then [LANE-7]."""
        if baseline is None:
            return
        (run, facts), (other, others) = candidate, baseline
        self.axes = differing_axes(facts, others, self.rule["axes"])
        metric = None if self.axes else self.room.metric(run, self.rule["metric"])
        if metric is not None:
            measured = Measured(self.rule["lane"], self.rule["path"], self.rule["metric"], metric.kind)
            self.compared = _Comparison(run, other, measured, metric.direction)
            self.room.measuring.ask_pairs(run, other, measured)

    def _unknowns(self) -> Iterator[str]:
        """Yield what the lane depends on and only a later minor defines, but for what its lines hold [CKP-8]."""
        if self.later and not accepts(RULE, "writer", self.rule):
            yield "its rule"
        baseline = self.baseline.found if self.baseline is not None else None
        for run, facts in (*self.found, *((baseline,) if baseline is not None else ())):
            if facts.later and facts.unknown_mode:
                yield f"the target mode {facts.target_mode} of {run.run_id}"
        if self.kind == "comparison" and len(self.uses) == 1 and self.found:
            ((run, facts),) = self.found
            metric = self.room.metric(run, self.rule["metric"]) if facts.later else None
            if metric is not None and not accepts("metrics#/$defs/direction", "writer", metric.direction):
                yield f"the direction {metric.direction} of the metric {self.rule['metric']} in {run.run_id}"

    def evaluation(self, otherwise: str) -> LaneEvaluation:
        """Evaluate, after the lines were read."""
        unknown = self.unknown
        for run in self.watched:
            if not unknown and self.room.measuring.severities(run, scope_of(self.rule)).unknown:
                unknown = f"a severity in {run.run_id}"
        findings = tuple(self._findings()) if self.sound else ()
        return LaneEvaluation(self.name, self._result(otherwise), self.runs, unknown, findings)

    def _result(self, otherwise: str) -> LaneResult | None:
        if not self.found:
            return None
        runs = counted((facts for _, facts in self.found), self.binding)
        status = self._status() if self.sound else NOT_MEASURED
        axes = self.axes if status == INCOMPARABLE else ()
        return LaneResult(status, version_of(runs, self.version), oldest_of(runs, otherwise), axes)

    def _status(self) -> str:
        """Return what the rule says of runs that may all be relied on."""
        rule, measuring = self.rule, self.room.measuring
        if self.kind == "threshold":
            summaries = (run.report.summary for run, _ in self.found)
            return threshold_status(rule, (summary for summary in summaries if summary is not None))
        if self.kind == "severity":
            return severity_status(rule, (measuring.severities(run, scope_of(rule)) for run, _ in self.found))
        if self.kind == "evidence-present":
            return "passed" if len(self.found) >= rule["runs"] else NOT_MEASURED
        if self.kind == "comparison":
            return self._comparison()
        return NOT_MEASURED

    def _comparison(self) -> str:
        if self.axes:
            return INCOMPARABLE
        if self.compared is None:
            return NOT_MEASURED
        candidate, baseline, measured, direction = self.compared
        return comparison_status(self.rule, direction, self.room.measuring.pairs(candidate, baseline, measured))

    def _findings(self) -> Iterator[str]:
        """Yield what the rule found, in words."""
        rule, measuring = self.rule, self.room.measuring
        if self.kind == "threshold":
            for run, _ in self.found:
                if run.report.summary is not None:
                    yield f"{run.run_id}: {threshold_finding(rule, run.report.summary)}"
        elif self.kind == "severity":
            for run, _ in self.found:
                yield f"{run.run_id}: {severity_finding(measuring.severities(run, scope_of(rule)))}"
        elif self.kind == "evidence-present":
            yield f"{len(self.found):,} runs, and at least {int(rule['runs']):,} are due"
        elif self.kind == "comparison" and not self.axes:
            yield self._comparison_finding()

    def _comparison_finding(self) -> str:
        if len(self.found) != 1:
            return f"{len(self.found):,} runs, and one alone can be compared"
        if self.compared is None:
            return f"the run does not declare the metric {self.rule['metric']}"
        candidate, baseline, measured, direction = self.compared
        pairs = self.room.measuring.pairs(candidate, baseline, measured)
        return comparison_finding(self.rule, direction, pairs)
