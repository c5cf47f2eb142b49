"""The order of problems (03 §3.9), each pair once."""

from __future__ import annotations

import random

import pytest

from aef_verify.layout import LINE_FILES
from aef_verify.problems import Problem, ordered


def order(*pairs: tuple[str, str]) -> list[tuple[str, str]]:
    return [problem.pair for problem in ordered(Problem(*pair) for pair in pairs)]


ORDERED = [
    (".", "limit"),
    ("blobs/sha256/ab/x", "blob-digest"),
    ("evidence.ndjson", "encoding"),
    ("evidence.ndjson:2", "schema"),
    ("evidence.ndjson:10", "schema"),
    ("ext/Z", "path"),
    ("ext/a-b", "path"),
    ("ext/a.b", "path"),
    ("ext/a/b", "path"),
    ("gates.ndjson:99", "gate"),
    ("gates.ndjson:100", "gate"),
    ("logs.otlp.jsonl:3", "content-capture"),
    ("logs.otlp.jsonl:20", "content-capture"),
    ("metrics.json", "metric"),
    ("notes.ndjson:10", "path"),
    ("notes.ndjson:9", "path"),
    ("overlays/events.ndjson", "uncovered"),
    ("overlays/events.ndjson:9", "target"),
    ("overlays/events.ndjson:10", "event-id"),
    ("overlays/seal-0001.json", "offset"),
    ("results.ndjson", "limit"),
    ("results.ndjson:9", "aggregation"),
    ("results.ndjson:9", "trials"),
    ("results.ndjson:10", "result-id"),
    ("results.ndjson:1000000", "evidence"),
    ("results.ndjson:x", "path"),
    ("results.ndjson:²", "path"),
    ("run.json", "run-open"),
    ("run.json", "run-times"),
    ("run:b:10", "x"),
    ("run:b:9", "x"),
    ("seal.json", "predicate"),
    ("summary.json", "interval"),
    ("summary.json", "summary"),
    ("traces.otlp.jsonl:2", "content-capture"),
    ("traces.otlp.jsonl:11", "content-capture"),
    ("z", "path"),
    ("é", "path"),
    ("\uffff", "path"),
    ("\U00010000", "path"),
]


def test_paths_by_bytes_and_lines_of_one_file_by_number() -> None:
    """Line numbers are numbers in the run's own line files alone; U+FFFF comes before U+10000, as in UTF-8."""
    shuffled = ORDERED[:]
    for seed in range(5):
        random.Random(seed).shuffle(shuffled)
        assert order(*shuffled) == ORDERED


def test_lines_are_numbered_in_six_files() -> None:
    assert {path.rpartition(":")[0] for path, _ in ORDERED if path.rpartition(":")[2].isdigit()} - {
        "notes.ndjson",
        "run:b",
    } == LINE_FILES


@pytest.mark.parametrize("file", sorted(LINE_FILES))
def test_a_name_that_only_looks_like_a_line_goes_by_its_bytes(file: str) -> None:
    """The reading: a file of such a name comes after every line, or where its bytes put it among other names."""
    assert order((f"{file}:x", "path"), (f"{file}:10", "schema"), (f"{file}:9", "schema"), (f"{file};", "path")) == [
        (f"{file}:9", "schema"),
        (f"{file}:10", "schema"),
        (f"{file}:x", "path"),
        (f"{file};", "path"),
    ]


def test_a_pair_is_reported_once_with_the_first_words() -> None:
    found = ordered([Problem("a", "schema", "first", 1), Problem("a", "path"), Problem("a", "schema", "second", 2)])
    assert found == [Problem("a", "path"), Problem("a", "schema", "first", 1)]


def test_a_path_that_is_no_unicode_has_a_place() -> None:
    assert order(("a\udcff", "path"), ("a", "path")) == [("a", "path"), ("a\udcff", "path")]


def test_nothing() -> None:
    assert ordered([]) == []
