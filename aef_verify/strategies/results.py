"""The lines of `results.ndjson`: plain results, composites, trials, composite trials, typed absences.

[RES-1] to [RES-11]. A case is drawn as a tree of nodes (or one for each trial), then written as lines; what a parent or
a rollup says about its lines is counted from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from aef_verify.strategies.header import AGGREGATIONS, EXT, members
from aef_verify.strategies.summaries import INTERVALS, USAGES
from aef_verify.strategies.values import SECOND, counts, digest_uris, labels, numbers, sizes, spelled_time, texts

Document = dict[str, Any]

MEASURED = ("passed", "failed", "warn", "inconclusive", "scored")
ABSENCES = ("not_measured", "not_applicable", "skipped", "error")
STRATEGIES = ("WeightedSum", "Min", "WeightedMedian", "CapByWorst", "MajorityVote", "Own")
RULE_PATHS = ("required-error", "nothing-measured", "threshold", "severity", "under-covered", "required-not-measured")


class Around(NamedTuple):
    """What result lines may refer to: the run's facts, and what its other files hold.

    `started` is the run's start in nanoseconds; `blobs` gives the size of each blob by hex name; `spans` are (traceId,
    spanId) pairs that a `traceLink` may name.
    """

    run_id: str
    closed: bool
    capture_off: bool
    started: int
    metrics: Sequence[str]
    evidence: Sequence[str]
    blobs: dict[str, int]
    spans: Sequence[tuple[str, str]]
    lanes: list[str]


class Node(NamedTuple):
    """A node of a case's tree: its path, what its line says but for ids and counts, and the nodes below it."""

    path: str
    facts: Document
    children: tuple[Node, ...]


def result_id(run_id: str, case_id: str, path: str, trial: int | None) -> str:
    """Return a result's id: `r_` and the first half of a SHA-256 in hex [RES-4]."""
    text = "\x1f".join((run_id, case_id, path, "" if trial is None else str(trial)))
    return "r_" + hashlib.sha256(text.encode()).hexdigest()[:32]


def result_lines(around: Around, *, max_cases: int = 3) -> st.SearchStrategy[list[Document]]:
    """Any valid result lines of a run, in any order."""
    count = sizes(*range(1, max_cases + 1), *range(2, max_cases + 1), 0)
    names = count.flatmap(lambda n: st.lists(labels(), unique=True, min_size=n, max_size=n))

    @st.composite
    def lines(draw: st.DrawFn) -> list[Document]:
        found: list[Document] = []
        usual = draw(labels())
        for case in draw(names):
            found += draw(_cases(around, case, usual))
        return draw(st.permutations(found)) if len(found) > 1 else found

    return lines()


_MOSTLY = st.sampled_from((True, True, True, False))
_ROOTS = st.lists(labels(), unique=True, min_size=1, max_size=2)
_SEGMENTS = st.lists(labels(6), unique=True, min_size=1, max_size=2)
_STATES: dict[bool, st.SearchStrategy[str]] = {
    True: st.sampled_from((*MEASURED, *MEASURED, *ABSENCES)),
    False: st.sampled_from((*MEASURED, *MEASURED, *ABSENCES, "pending")),
}
"""The states of a line, by whether the run is closed."""

_THIRD = st.integers(0, 2)


@st.composite
def _cases(draw: st.DrawFn, around: Around, case: str, usual: str) -> list[Document]:
    """Draw the lines of one case, most often at the run's usual path, so that a summary has something to add up."""
    roots = [usual] if draw(_MOSTLY) else draw(_ROOTS)
    lines: list[Document] = []
    for root in roots:
        taken = {line["path"] for line in lines}
        if root in taken:
            continue
        if draw(_THIRD) < 2:
            lines += _written(around, case, draw(_nodes(around, root, taken)), None)
        else:
            lines += draw(_repeated(around, case, root, taken))
    return lines


@st.composite
def _nodes(draw: st.DrawFn, around: Around, path: str, taken: set[str], depth: int = 0) -> Node:
    """Draw a tree; no path in `taken` is used again, and each one used is added to it."""
    taken.add(path)
    names = draw(_SEGMENTS) if depth < 2 and draw(_THIRD) == 2 else []
    below = (f"{path}/{name}" for name in names)
    children = tuple(draw(_nodes(around, place, taken, depth + 1)) for place in below if place not in taken)
    facts = _line_facts(draw, around)
    if depth:
        facts["component"] = {"weight": draw(numbers(0)), "required": draw(st.booleans())}
    if children:
        facts["aggregation"] = draw(_AGGREGATION)
    return Node(path, facts, children)


_AGGREGATION = members(
    {"strategy": st.sampled_from(STRATEGIES), "rulePath": st.sampled_from(RULE_PATHS)},
    {
        "threshold": st.none() | numbers(),
        "score": st.none() | numbers(),
        "minimumMeasuredShare": numbers(0, 1),
        "decisive": st.booleans(),
    },
)


def _written(around: Around, case: str, node: Node, trial: int | None, parent: str | None = None) -> Iterator[Document]:
    """Write a tree as lines, each parent before its children."""
    identity = result_id(around.run_id, case, node.path, trial)
    line: Document = {"schemaVersion": "1.0", "resultId": identity, "caseId": case, "path": node.path, **node.facts}
    if parent is not None:
        line["parentResultId"] = parent
    if trial is not None:
        line["trial"] = trial
    if node.children:
        line["aggregation"] = _counted(
            line["aggregation"],
            [(result_id(around.run_id, case, child.path, trial), child.facts["state"]) for child in node.children],
        )
    yield line
    for child in node.children:
        yield from _written(around, case, child, trial, identity)


def _counted(facts: Document, children: list[tuple[str, str]]) -> Document:
    """Return `aggregation` with its counts over the (id, state) of the children [RES-6]."""
    absent = [state for _, state in children if state not in MEASURED]
    counted = {**facts, "total": len(children), "measured": len(children) - len(absent)}
    if absent:
        counted["unmeasured"] = {state: absent.count(state) for state in absent}
    if counted.pop("decisive", False):
        counted["decisive"] = [identity for identity, _ in children]
    return counted


@st.composite
def _repeated(draw: st.DrawFn, around: Around, case: str, root: str, taken: set[str]) -> list[Document]:
    """Draw a case run in trials: a tree for each trial, and the tree of rollups over all of them [RES-8]."""
    shape = draw(_nodes(around, root, taken))
    trees = [_pruned(draw, around, shape) for _ in range(draw(st.integers(1, 3)))]
    lines = [line for trial, tree in enumerate(trees) for line in _written(around, case, tree, trial)]
    if around.closed or draw(st.booleans()):
        states: dict[str, list[str]] = {}
        for line in lines:
            states.setdefault(line["path"], []).append(line["state"])
        aggregation = draw(st.sampled_from(AGGREGATIONS))
        rollups = _kept(shape, states)
        for line in _written(around, case, rollups, None):
            found = states[line["path"]]
            line["trials"] = {
                "n": len(found),
                "passed": found.count("passed"),
                "aggregation": aggregation,
                "agree": len(set(found)) == 1,
            }
            lines.append(line)
    return lines


def _pruned(draw: st.DrawFn, around: Around, node: Node) -> Node:
    """Draw one trial's tree: other facts, and now and then a node missing with all below it."""
    children = tuple(_pruned(draw, around, child) for child in node.children if draw(st.integers(0, 3)))
    facts = _line_facts(draw, around)
    if "component" in node.facts:
        facts["component"] = node.facts["component"]
    if children:
        facts["aggregation"] = node.facts["aggregation"]
    return Node(node.path, facts, children)


def _kept(node: Node, paths: Iterable[str]) -> Node:
    """Return the tree with the nodes at exactly these paths."""
    children = tuple(_kept(child, paths) for child in node.children if child.path in paths)
    facts = dict(node.facts)
    if not children:
        facts.pop("aggregation", None)
    return Node(node.path, facts, children)


def _line_facts(draw: st.DrawFn, around: Around) -> Document:
    """Draw what a line says beside its place in the tree."""
    state = draw(_STATES[around.closed])
    facts: Document = {"evaluator": draw(_EVALUATOR), "state": state}
    if state not in MEASURED:
        facts["reason"] = draw(texts(1))
    elif draw(_MOSTLY) and around.metrics:
        facts["scores"] = _scores(draw, around.metrics)
    if (lane := draw(st.sampled_from((*around.lanes[:1] * 4, *around.lanes, "another-lane", "")))) != "":
        facts["lane"] = lane
    if draw(st.booleans()):
        facts |= draw(_FACTS)
        facts |= _references(draw, around)
        facts |= _moments(draw, around.started)
    if state == "passed" and facts.get("attack", {}).get("success"):
        facts["attack"] = {**facts["attack"], "success": False}
    if around.capture_off:
        facts.get("annotator", {}).pop("promptHash", None)
    return facts


_EVALUATOR = members({"id": texts(1)}, {"version": texts()})


def _scores(draw: st.DrawFn, metrics: Sequence[str]) -> list[Document]:
    chosen = draw(st.lists(st.sampled_from(metrics), unique=True, min_size=1, max_size=3))
    return [{"metric": metric, "value": draw(numbers()), **draw(_SCORE)} for metric in chosen]


_SCORE = members({}, {"normalized": st.none() | numbers(0, 1), "label": texts(1)})


@st.composite
def _panels(draw: st.DrawFn) -> Document:
    of = draw(counts(1))
    return {"of": of, "agree": draw(st.integers(0, of))}


_TAXONOMY = members(
    {"scheme": st.sampled_from(("owasp-llm", "owasp-agentic", "mitre-atlas", "nist-ai-rmf", "other")), "id": texts(1)}
)
_OPTIONAL: dict[str, Any] = {
    "verdictRule": members({"expr": texts(1)}, {"threshold": st.none() | numbers(), "source": texts()}),
    "annotator": members(
        {"kind": st.sampled_from(("CODE", "LLM", "HUMAN", "HYBRID", "OTHER"))},
        {"model": texts(), "promptHash": digest_uris(), "rubricDigest": digest_uris(), "panel": _panels()},
    ),
    "uncertainty": st.none() | members({}, {"stderr": numbers(0), "ci": INTERVALS}),
    "usage": USAGES,
    "severity": st.sampled_from(("none", "low", "medium", "high", "critical")),
    "durationMs": numbers(0),
    "turns": counts(1),
    "attack": members(
        {"technique": texts(1)},
        {
            "success": st.none() | st.booleans(),
            "taxonomy": st.lists(_TAXONOMY, max_size=2, unique_by=lambda item: (item["scheme"], item["id"])),
        },
    ),
    "ext": EXT,
}
_FACTS = members({}, _OPTIONAL)


def _references(draw: st.DrawFn, around: Around) -> Document:
    """Draw what a line refers to in other files of the run."""
    found: Document = {}
    if draw(st.booleans()) and around.evidence:
        found["evidence"] = draw(st.lists(st.sampled_from(around.evidence), max_size=3))
    if draw(st.booleans()) and around.spans:
        trace, span = draw(st.sampled_from(around.spans))
        found["traceLink"] = {"traceId": trace, **draw(st.sampled_from(({}, {"spanId": span})))}
    if around.blobs and not around.capture_off and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(around.blobs)))
        found["reasoning"] = {"blob": f"sha256:{name}", "bytes": around.blobs[name]}
    return found


_SPANS = st.integers(0, 10**3 * SECOND)
_BOTH = st.sampled_from((("startedAt", "endedAt"), ("startedAt",), ("endedAt",), ()))


def _moments(draw: st.DrawFn, started: int) -> Document:
    begun = started + draw(_SPANS)
    ended = begun + draw(_SPANS)
    every = {"startedAt": spelled_time(begun, draw(st.integers(0, 9))), "endedAt": spelled_time(ended)}
    names = draw(_BOTH)
    return {name: every[name] for name in names}
