"""A live benchmark of a help centre's search that keeps no content; not sealed, as a developer's own run is."""

from __future__ import annotations

from typing import NamedTuple

from scripts.fixture_runs.building import Document, Entry, Metric, RunBuilder, sha256_uri

HEADER: Document = {
    "runId": "search-nightly-0931",
    "status": "completed",
    "producer": {"name": "rankbench", "version": "0.9.2"},
    "subject": {"ref": "workflow:help-centre-search", "kind": "workflow", "version": "5.1.0"},
    "deployment": {"ref": "deployment:search-test", "environment": "test"},
    "execution": {"targetMode": "live", "stimulus": "suite"},
    "suite": {
        "ref": "suite:search",
        "version": "2026.3",
        "digest": sha256_uri("search, version 2026.3: twelve queries\n"),
        "frozen": True,
    },
    "config": {"index": "hybrid-v4", "depth": 10, "thresholds": {"recall_at_5": {"op": ">=", "value": 0.85}}},
    "startedAt": "2026-10-02T02:00:03Z",
    "endedAt": "2026-10-02T02:00:41.907Z",
    "contentCapture": "off",
}

METRICS = (
    Metric("recall_at_5", "score", "higher_better", (0, 1), "Share of the relevant articles among the first five."),
    Metric("reciprocal_rank", "score", "higher_better", (0, 1), "One over the rank of the first relevant article."),
    Metric("found", "rate", "higher_better", (0, 1), "Share of queries with a relevant article among the first five."),
    Metric("latency", "duration", "lower_better", None, "Time until the ranking was complete.", "ms"),
)


class Query(NamedTuple):
    """One query: how many of the relevant articles were found, and the rank of the first one (0: none)."""

    case: str
    relevant: int
    found: int
    rank: int
    latency: float


QUERIES = (
    Query("return-label", 2, 2, 1, 61.5),
    Query("reset-router", 4, 3, 1, 58.0),
    Query("vat-number", 1, 1, 2, 66.25),
    Query("gift-card-balance", 1, 1, 1, 54.5),
    Query("lieferzeit-österreich", 2, 1, 3, 71.0),
    Query("pause-subscription", 3, 3, 1, 57.75),
    Query("error-e17", 5, 4, 1, 88.5),
    Query("delete-account", 1, 1, 1, 55.0),
    Query("battery-recycling", 2, 0, 0, 63.25),
    Query("bulk-order", 2, 2, 2, 60.5),
)


def retrieval() -> RunBuilder:
    """Build the run."""
    run = RunBuilder(HEADER, METRICS)
    evaluator = {"id": "code:ranking", "version": "3"}
    for query in QUERIES:
        run.result(
            query.case,
            "ranking",
            "passed" if query.found else "failed",
            evaluator=evaluator,
            severity=None if query.found else "medium",
            reason=None if query.found else "No relevant article among the first ten.",
            scores=[
                {"metric": "recall_at_5", "value": query.found / query.relevant},
                {"metric": "reciprocal_rank", "value": 1 / query.rank if query.rank else 0.0},
                {"metric": "latency", "value": query.latency},
            ],
            verdictRule={"expr": "a relevant article among the first five"},
            annotator={"kind": "CODE"},
            durationMs=query.latency,
        )
    run.result(
        "holiday-hours",
        "ranking",
        "not_applicable",
        evaluator=evaluator,
        reason="The article was withdrawn; nothing is relevant to the query any more.",
    )
    run.result(
        "carbon-footprint",
        "ranking",
        "error",
        evaluator=evaluator,
        reason="The index did not answer within 5 s.",
    )
    run.summarize(
        {
            "search": (
                Entry("recall_at_5", "ranking", "0.85 or more", least=0.85),
                Entry("reciprocal_rank", "ranking"),
                Entry("found", "ranking", "at least 90 % of the queries", least=0.9),
                Entry("latency", "ranking", "median of 100 ms at most", most=100, aggregate="median"),
            )
        }
    )
    return run
