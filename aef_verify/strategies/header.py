"""`run.json` and `metrics.json` as a producer may write them: [RUN-5] to [RUN-12], [RUN-15], [SUM-1]."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from aef_verify.strategies.values import (
    SECOND,
    counts,
    digest_uris,
    digests,
    ids,
    instants,
    labels,
    numbers,
    refs,
    sizes,
    spelled_time,
    texts,
    versions,
)

Document = dict[str, Any]
Strategy = st.SearchStrategy[Any]

AGGREGATIONS = ("MajorityVote", "AllPass", "AnyPass", "Mean", "Median", "Max", "PassAtK", "AtLeast")
STATUSES = ("completed", "aborted", "running")
FIRST_START, LAST_START = 63_000_000_000 * SECOND, 64_000_000_000 * SECOND
"""Between the years 1997 and 2029."""


_DIGITS = st.integers(0, 9)
_SPANS = st.integers(0, 10**6) | st.integers(0, 10**6 * SECOND)
_LEAVES = st.none() | st.booleans() | numbers() | texts()
EXT: Strategy = st.dictionaries(texts(1, 8), _LEAVES | st.lists(_LEAVES, max_size=2), max_size=2)
"""Whatever a producer keeps for itself [ENC-19]."""


def members(required: dict[str, Strategy], optional: dict[str, Strategy] | None = None) -> Strategy:
    """Return an object with these members, the optional ones there or not."""
    return st.fixed_dictionaries(required, optional=optional or {})


@st.composite
def headers(
    draw: st.DrawFn, *, statuses: tuple[str, ...] = STATUSES, capture: tuple[str, ...] = ("on", "off")
) -> Document:
    """Draw a valid `run.json`.

    Args:
        draw: Hypothesis's.
        statuses: what `status` may be.
        capture: what `contentCapture` may be; where it may be `on` it may be absent, which is read alike [RUN-11].
    """
    status = draw(st.sampled_from(statuses))
    started = draw(instants(FIRST_START, LAST_START))
    document: Document = {
        "schemaVersion": "1.0",
        "runId": draw(ids()),
        "status": status,
        "producer": draw(_PRODUCER),
        "subject": draw(_SUBJECT),
        "execution": draw(_EXECUTION),
        "startedAt": spelled_time(started, draw(_DIGITS)),
        **draw(_REST),
    }
    captured = draw(st.sampled_from((*capture, None) if "on" in capture else capture))
    if captured is not None:
        document["contentCapture"] = captured
    if status != "running":
        document["endedAt"] = spelled_time(started + draw(_SPANS), draw(_DIGITS))
    if status == "aborted":
        document["abortReason"] = draw(texts(1))
    if draw(st.booleans()):
        document["judges"] = _judges(draw, started)
    return document


_PRODUCER = members(
    {"name": labels(), "version": versions()}, {"runtime": members({"name": labels()}, {"version": texts()})}
)
_EXTERNAL_IDS = st.dictionaries(texts(), st.none() | texts(), max_size=2)
_SUBJECT = members(
    {"ref": refs(), "kind": st.sampled_from(("agent", "workflow", "model", "endpoint", "mcp-server", "other"))},
    {
        "version": versions(),
        "environment": texts(),
        "externalIds": _EXTERNAL_IDS,
        "telemetry": members({}, {"agentId": texts(), "serviceName": texts()}),
    },
)
_EXECUTION = members(
    {"targetMode": st.sampled_from(("live", "replayed", "scripted", "mocked"))},
    {"stimulus": st.sampled_from(("suite", "generated", "external", "other"))},
)


_K = members({}, {"k": counts(1)})


@st.composite
def _policies(draw: st.DrawFn) -> Document:
    """Draw `suite.executionPolicy` [RUN-8]."""
    trials = draw(counts(1, 1000))
    policy: Document = {"trialsPerCase": trials, **draw(_K)}
    aggregation = draw(st.none() | st.sampled_from(AGGREGATIONS))
    if aggregation is not None:
        policy["aggregation"] = aggregation
    if aggregation == "AtLeast" or draw(st.booleans()):
        policy["requirePasses"] = draw(st.integers(1, trials))
    return policy


_SUITE = members(
    {"ref": refs(), "version": versions()},
    {"digest": digest_uris(), "frozen": st.booleans(), "executionPolicy": _policies()},
)


_AGREEMENT = members({}, {"accuracy": numbers(0, 1), "kappa": numbers(-1, 1), "dangerousErrors": st.integers(0, 9)})
_JUDGES = st.lists(
    members(
        {"model": texts(1)},
        {
            "provider": texts(1),
            "mode": st.sampled_from(("single", "panel", "primary", "shadow", "other")),
            "panelSize": counts(1, 64),
            "rubricDigest": digest_uris(),
            "calibration": members({"labelSet": refs(), "n": counts()}),
        },
    ),
    max_size=2,
)


def _judges(draw: st.DrawFn, started: int) -> list[Document]:
    """Draw judges; a calibration was measured before the run started, with no more errors than labels [RUN-9]."""
    judges: list[Document] = draw(_JUDGES)
    for calibration in (judge["calibration"] for judge in judges if "calibration" in judge):
        calibration |= draw(_AGREEMENT)
        if "dangerousErrors" in calibration:
            calibration["dangerousErrors"] = min(calibration["dangerousErrors"], calibration["n"])
        measured = started - draw(_SPANS)
        calibration["measuredAt"] = spelled_time(measured, draw(_DIGITS))
    return judges


_THRESHOLD = members({"op": st.sampled_from((">=", ">", "<=", "<", "==")), "value": numbers()})
_OPTIONAL: dict[str, Strategy] = {
    "deployment": members(
        {"ref": refs()},
        {
            "environment": texts(),
            "endpoint": st.sampled_from(("https://api.example/v1", "http://h", "a+b://[::1]:80/x;y=1")),
            "externalIds": _EXTERNAL_IDS,
        },
    ),
    "suite": _SUITE,
    "config": members({"thresholds": st.dictionaries(texts(), _THRESHOLD, max_size=2), "temperature": numbers()}),
    "otel": members(
        {},
        {
            "semconvVersion": st.sampled_from(("1.37", "1.37.0")),
            "dialects": st.lists(texts(), max_size=2),
            "schemaUrls": st.lists(st.sampled_from(("https://o.example/1", "urn:x:y")), unique=True),
        },
    ),
    "costPolicy": members({}, {"maxUsd": numbers(0), "priceTable": texts()}),
    "provenance": members({"planId": ids(), "planDigest": digests(), "jobId": ids(), "runnerId": ids()}),
    "imported": members(
        {"from": texts(1), "asserted": st.lists(st.sampled_from(("subject.ref", "judges[0].model")), unique=True)}
    ),
    "ext": EXT,
}
_EXT_MEMBER = members({}, {"ext": EXT})
_REST = members({}, _OPTIONAL)
_METRIC = members({}, {"unit": texts(), "description": texts()})
_METRIC_NAMES = sizes(1, 2, 1, 2, 3, 0).flatmap(lambda n: st.lists(labels(), unique=True, min_size=n, max_size=n))


@st.composite
def metric_declarations(draw: st.DrawFn) -> Document:
    """Draw a valid `metrics.json` [SUM-1]."""
    names = draw(_METRIC_NAMES)
    metrics = []
    for name in names:
        low, high = sorted((draw(numbers()), draw(numbers())))
        metrics.append(
            {
                "id": name,
                "kind": draw(st.sampled_from(("score", "rate", "count", "duration", "cost", "verdict"))),
                "direction": draw(st.sampled_from(("higher_better", "lower_better", "none"))),
                "scale": draw(st.sampled_from(("unbounded", {"min": low, "max": high}))),
                **draw(_METRIC),
            }
        )
    return {"schemaVersion": "1.0", "metrics": metrics, **draw(_EXT_MEMBER)}
