"""[ENC-17], [ENC-18], [RUN-2] How the documents of a run are read: what is reported where, and what that stops.

The precedence of 03 §3.9: `encoding`, `limit` and `schema` stop the rules across files; a `path`, or what is wrong
with the seal alone, does not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from aef_verify import folder, limits
from aef_verify.run.reading import EXPLAINED
from aef_verify.run.verify import RunReport, verify_run
from aef_verify.schemas.refusal import INVALID
from tests import building
from tests.building import Run, compact, drop, lines, pairs, put, result

RESULTS, EVIDENCE, GATES = "results.ndjson", "evidence.ndjson", "gates.ndjson"
TRACES, LOGS = "traces.otlp.jsonl", "logs.otlp.jsonl"
BOM = b"\xef\xbb\xbf"
LINE = compact(result("c1"))
WRONG = compact(result("c1", resultId=building.result_id("c9")))


def verify(run: Run, root: Path, **how: Any) -> RunReport:
    return verify_run(run.write(root), **how)


def found(run: Run, root: Path) -> list[list[str]]:
    return pairs(verify(run, root).problems)


@pytest.fixture(params=[1 << 20, 7, 1], ids=lambda size: f"blocks of {size}")
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read in blocks of this size, so that every line and mark is cut somewhere."""
    monkeypatch.setattr(folder, "BLOCK", request.param)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (BOM + WRONG, [[RESULTS, "encoding"]]),
        (WRONG + b"\n" + WRONG, [[RESULTS, "encoding"]]),
        (WRONG[:-1], [[RESULTS, "encoding"]]),
        (WRONG + b"\r\n", [[RESULTS, "encoding"]]),
        (b"[]\n" + WRONG + b"\n", [[RESULTS, "encoding"]]),
        (b"{}\n" + b"[" * 65 + b"\n{", [[RESULTS, "encoding"]]),
        (WRONG + BOM + LINE, [[f"{RESULTS}:2", "encoding"]]),
        (WRONG + b'{"a":"\xff"}\n', [[f"{RESULTS}:2", "encoding"]]),
        (WRONG, [[f"{RESULTS}:1", "result-id"]]),
        (b"{}\n[]\n{}\n", [[f"{RESULTS}:1", "schema"], [f"{RESULTS}:2", "encoding"], [f"{RESULTS}:3", "schema"]]),
        (b"[" * 65 + b"\n" + LINE + BOM + b"[" * 65 + b"\n", [[f"{RESULTS}:1", "limit"], [f"{RESULTS}:3", "limit"]]),
        (b"{" * 65 + b'"\xff\n{}\n', [[f"{RESULTS}:1", "limit"], [f"{RESULTS}:2", "schema"]]),
    ],
)
def test_a_framing_fault_voids_the_lines_and_a_line_only_itself(
    data: bytes, expected: list[list[str]], tmp_path: Path
) -> None:
    assert found(building.bare().but(put(RESULTS, data)), tmp_path) == expected


def test_lines_are_judged_up_to_the_first_that_is_not_valid(tmp_path: Path) -> None:
    for at, (data, judged) in enumerate(((LINE * 3, 3), (LINE + b"{}\n" + LINE, 1), (b"[]\n" + LINE, 0))):
        assert verify(building.bare().but(put(RESULTS, data)), tmp_path / str(at)).lines == judged


def test_lines_are_reported_by_number_and_files_by_bytes(tmp_path: Path) -> None:
    run = building.bare().but(
        put(RESULTS, LINE * 0 + b"{}\n" * 11),
        put(EVIDENCE, b"[]\n" * 2),
        put("run.json", b""),
        put("metrics.json", {}),
        put("ext/.x", b""),
    )
    assert found(run, tmp_path) == [
        [f"{EVIDENCE}:1", "encoding"],
        [f"{EVIDENCE}:2", "encoding"],
        ["ext/.x", "path"],
        ["metrics.json", "schema"],
        *([f"{RESULTS}:{number}", "schema"] for number in range(1, 12)),
        ["run.json", "encoding"],
    ]


@pytest.mark.parametrize("file", [RESULTS, EVIDENCE, GATES, TRACES, LOGS])
@pytest.mark.parametrize("extra", [b"", b"\r", b"\n", b"x"])
def test_enc17_an_ndjson_file_beyond_a_limit_is_that_alone(
    file: str, extra: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[ENC-18]: at the file, once, none of its lines judged, whatever else is wrong with it."""
    run = building.bare().but(put(file, b"{}\n[]\n{}\n" + extra))
    monkeypatch.setattr(limits, "LINES", 2)
    assert found(run, tmp_path / "lines") == [[file, "limit"]]
    monkeypatch.setattr(limits, "LINES", 10)
    monkeypatch.setattr(limits, "NDJSON_BYTES", 8)
    assert found(run, tmp_path / "size") == [[file, "limit"]]


def test_enc17_an_ndjson_file_at_its_limits_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = LINE + compact(result("c2")) + compact(result("c3"))
    monkeypatch.setattr(limits, "LINES", 3)
    monkeypatch.setattr(limits, "NDJSON_BYTES", len(data))
    monkeypatch.setattr(limits, "JSON_BYTES", 2000)
    assert verify(building.bare().but(put(RESULTS, data)), tmp_path / "at").lines == 3
    assert found(building.bare().but(put(RESULTS, data + b"x")), tmp_path / "bytes") == [[RESULTS, "limit"]]
    monkeypatch.setattr(limits, "NDJSON_BYTES", 10 * len(data))
    assert found(building.bare().but(put(RESULTS, data + b"x")), tmp_path / "rest") == [[RESULTS, "encoding"]]
    assert found(building.bare().but(put(RESULTS, data + b"\n")), tmp_path / "lines") == [[RESULTS, "limit"]]


def padded(size: int) -> bytes:
    """Return a valid result line of this size, without its LF."""
    line = compact(result("c1", ext={"pad": ""}))[:-1]
    return line[:-3] + b"x" * (size - len(line)) + line[-3:]


@pytest.mark.usefixtures("blocks")
def test_enc17_a_line_at_its_limit_and_one_beyond(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The LF does not count; the other lines are still read; what the line holds is not judged besides."""
    monkeypatch.setattr(limits, "JSON_BYTES", 2000)
    assert found(building.bare().but(put(RESULTS, padded(2000) + b"\n")), tmp_path / "at") == []
    beyond = padded(2001) + b"\n" + b"\xff" * 2001 + b"\n{}\n"
    assert found(building.bare().but(put(RESULTS, beyond)), tmp_path / "beyond") == [
        [f"{RESULTS}:1", "limit"],
        [f"{RESULTS}:2", "limit"],
        [f"{RESULTS}:3", "schema"],
    ]


@pytest.mark.usefixtures("blocks")
def test_a_line_beyond_its_limit_in_a_file_of_broken_framing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading: `encoding` at the file alone; a byte order mark before the long line is such a fault."""
    monkeypatch.setattr(limits, "JSON_BYTES", 2000)
    for at, data in enumerate((BOM + b"x" * 2001 + b"\n", b"x" * 2001 + b"\n\n", b"x" * 2001, b"x" * 2001 + b"\r\n")):
        assert found(building.bare().but(put(RESULTS, data)), tmp_path / str(at)) == [[RESULTS, "encoding"]]


@pytest.mark.parametrize("name", ["run.json", "metrics.json", "summary.json"])
def test_enc17_a_json_file_at_its_limit_and_one_beyond(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`limit` at the file alone, whatever other fault it has."""
    monkeypatch.setattr(limits, "JSON_BYTES", 2000)
    data = building.encoded(building.bare()[name])
    assert found(building.bare().but(put(name, data.ljust(2000))), tmp_path / "at") == []
    for at, beyond in enumerate((data.ljust(2001), b"\xff" * 2001, b"[" * 65, BOM + b'{"a":' * 65)):
        assert found(building.bare().but(put(name, beyond)), tmp_path / str(at)) == [[name, "limit"]]


def test_enc17_depth_64_is_read_and_65_refused(tmp_path: Path) -> None:
    """In a JSON file at the file, in a line at the line; the document itself is level 1."""

    def nested(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = {"a": value}
        return value

    run = building.bare().but(put("run.json", "ext", nested(63)), lines(result("c1", ext=nested(63))))
    assert found(run, tmp_path / "64") == []
    run = building.bare().but(put("run.json", "ext", nested(64)), lines(result("c1", ext=nested(64))))
    assert found(run, tmp_path / "65") == [[f"{RESULTS}:1", "limit"], ["run.json", "limit"]]


def test_enc17_the_number_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At `.`; `seal.json`, the attestation, and all below `overlays/` do not count; group B is stopped."""
    monkeypatch.setattr(limits, "FILES", 6)
    run = building.bare().but(put("ext/1", b""), lines(WRONG), put("ext/2", b"")).seal().sign()
    run.but(put("overlays/x", b""), put("overlays/y", b""))
    assert found(run, tmp_path / "at") == [[f"{RESULTS}:1", "result-id"]]
    monkeypatch.setattr(limits, "FILES", 5)
    assert found(run, tmp_path / "beyond") == [[".", "limit"]]


def test_enc17_a_blob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the blob; group B is stopped; a file that is no blob has no such limit."""
    monkeypatch.setattr(limits, "BLOB_BYTES", 6)
    run = building.bare().but(put("ext/x", b"1234567"), lines(WRONG))
    run.blob(b"123456")
    assert found(run, tmp_path / "at") == [[f"{RESULTS}:1", "result-id"]]
    name = run.blob(b"1234567")
    assert found(run, tmp_path / "beyond") == [[building.blob_path(name), "limit"]]


@pytest.mark.parametrize(
    ("size", "expected"),
    [(limits.BLOB_BYTES, "blob-digest"), (limits.BLOB_BYTES + 1, "limit")],
)
def test_enc17_a_blob_of_the_real_size(
    size: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sparse gibibyte; it is not read here, the hash of it is another test's."""
    path = building.blob_path("0" * 64)
    root = building.bare().but(put(path, b"")).write(tmp_path)
    os.truncate(tmp_path / path, size)

    def digest(self: folder.Folder, entry: folder.Entry) -> folder.Read:
        return folder.Read("1" * 64, self.size(entry))

    monkeypatch.setattr(folder.Folder, "digest", digest)
    assert pairs(verify_run(root).problems) == [[path, expected]]


def test_a_seal_that_does_not_read_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SEAL-6] `limit` and `seal-invalid` at `seal.json`: group B goes on; only `unexpected-file` is not seen then."""
    run = building.bare().but(lines(WRONG), put("notes.txt", b"")).seal()
    assert found(run, tmp_path / "sealed") == [["notes.txt", "unexpected-file"], [f"{RESULTS}:1", "result-id"]]
    invalid = Run(run).but(put("seal.json", b"{}"))
    assert found(invalid, tmp_path / "invalid") == [[f"{RESULTS}:1", "result-id"], ["seal.json", "seal-invalid"]]
    monkeypatch.setattr(limits, "SEAL_BYTES", len(run.bytes_of("seal.json")) - 1)
    assert found(run, tmp_path / "beyond") == [[f"{RESULTS}:1", "result-id"], ["seal.json", "limit"]]


def test_what_the_overlays_hold_is_never_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing below `overlays/` earns the run a problem: no framing, no limit, no name, no seal of a batch."""
    monkeypatch.setattr(limits, "LINES", 2)
    run = building.small().seal()
    hostile = {building.EVENTS: BOM + b"\r\n\n{" * 5, "overlays/ .x": b"", "overlays/seal-0003.json": b"["}
    run.update(hostile)
    assert verify(run, tmp_path).outcome == "intact"


@pytest.mark.parametrize("name", ["run.json", RESULTS, "metrics.json", "summary.json"])
@pytest.mark.parametrize("sealed", [False, True])
def test_run2_a_required_file_that_is_absent(name: str, sealed: bool, tmp_path: Path) -> None:
    """`schema` at its path, and `missing` where it was sealed; without `run.json` no summary is asked for."""
    run = building.bare()
    if sealed:
        run.seal()
    run.but(drop(name))
    if name == "run.json":
        run.but(drop("summary.json"))
    missing = [["run.json", "missing"], ["summary.json", "missing"]] if name == "run.json" else [[name, "missing"]]
    expected = sorted([*(missing if sealed else []), [name, "schema"]])
    assert found(run, tmp_path) == expected


@pytest.mark.parametrize("sealed", [False, True])
def test_run2_a_required_file_that_is_a_link_or_a_pipe(sealed: bool, tmp_path: Path) -> None:
    """The reading: it is not there (`schema`), and its name is at fault (`path`); sealed: `missing` too."""
    run = building.bare()
    if sealed:
        run.seal()
    root = Path(run.write(tmp_path / "run"))
    (root / RESULTS).rename(tmp_path / "elsewhere")
    (root / RESULTS).symlink_to(tmp_path / "elsewhere")
    (root / "metrics.json").unlink()
    os.mkfifo(root / "metrics.json")
    codes = ["missing", "path", "schema"] if sealed else ["path", "schema"]
    expected = [[name, code] for name in ("metrics.json", RESULTS) for code in codes]
    assert pairs(verify_run(str(root)).problems) == expected


def test_run2_a_folder_where_a_file_should_be(tmp_path: Path) -> None:
    run = building.bare().but(drop("metrics.json"), put("metrics.json/x", b""))
    assert found(run, tmp_path) == [["metrics.json", "schema"]]


def test_run1_an_empty_folder_is_an_invalid_run(tmp_path: Path) -> None:
    """`run.json` and what every run has are missed; a summary is not, as nothing says that the run is closed."""
    report = verify_run(str(tmp_path))
    assert pairs(report.problems) == [["metrics.json", "schema"], [RESULTS, "schema"], ["run.json", "schema"]]
    assert (report.outcome, report.run, report.run_id, report.lines) == ("invalid", None, None, 0)
    assert report.run_hash == building.sha256(b"")


def test_run2_a_summary_is_asked_for_by_what_a_header_says_though_it_is_invalid(tmp_path: Path) -> None:
    run = building.bare().but(drop("run.json", "producer"), drop("summary.json"))
    assert found(run, tmp_path) == [["run.json", "schema"], ["summary.json", "schema"]]


def test_run2_evidence_that_is_absent_and_cited(tmp_path: Path) -> None:
    """The reading: `evidence` at each citing line, no `schema`, and group B goes on; sealed: `missing` too."""
    run = building.full().seal().but(drop(EVIDENCE), put("run.json", "endedAt", "2026-10-01T00:00:00Z"))
    assert found(run, tmp_path) == [
        [EVIDENCE, "missing"],
        [f"{RESULTS}:1", "evidence"],
        ["run.json", "digest"],
        ["run.json", "run-times"],
        ["seal.json", "predicate"],
    ]


def test_run2_a_file_that_no_run_has(tmp_path: Path) -> None:
    """Without a seal it is nothing; sealed it is unexpected; added after sealing it is not sealed."""
    run = building.bare().but(put("notes.txt", b""), put("a/b/c", b""), put("blobs/md5/x", b""))
    assert found(run, tmp_path / "unsealed") == []
    assert found(Run(run).seal(), tmp_path / "sealed") == [
        [name, "unexpected-file"] for name in ("a/b/c", "blobs/md5/x", "notes.txt")
    ]
    run = building.bare().seal().but(put("notes.txt", b""), put(".DS_Store", b""))
    assert found(run, tmp_path / "added") == [
        [".DS_Store", "not-sealed"],
        [".DS_Store", "path"],
        ["notes.txt", "not-sealed"],
    ]


def test_several_breaches_of_one_code_at_one_place_are_one_problem(tmp_path: Path) -> None:
    """`calibration` of two judges once, a line that cites three unknown ids once, and so on."""
    judge = {
        "model": "m",
        "calibration": {"labelSet": "labels:a", "n": 1, "dangerousErrors": 2, "measuredAt": building.ENDED},
    }
    run = building.bare().but(
        put("run.json", "judges", [judge, judge]),
        lines(result("c1", evidence=["E-1", "E-2", "E-3"], scores=[building.score(1, "x"), building.score(1, "y")])),
        lines(building.gate(inputs={"results": ["r_" + "0" * 32]}, decisive=["r_" + "1" * 32]), file=GATES),
    )
    assert found(run, tmp_path) == [
        [f"{GATES}:1", "gate"],
        [f"{RESULTS}:1", "evidence"],
        [f"{RESULTS}:1", "metric"],
        ["run.json", "calibration"],
    ]


ODD: list[Any] = [None, True, 5, -1.5, "", "x", [], [[]], [{}], {}, {"a": []}, {"": None}]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_whatever_shape_a_member_has_it_is_a_problem_and_no_crash(value: Any, tmp_path: Path) -> None:
    """Each document that reads, with every member of it replaced in turn by a value of another shape."""
    root = tmp_path / "run"
    building.full().seal().batch(building.event("1")).write(root)
    for path in ("run.json", "metrics.json", "summary.json", "seal.json"):
        document = building.full().seal()[path]
        for member in document:
            (root / path).write_bytes(building.encoded(document | {member: value}))
            assert verify_run(str(root), overlays=True, details=True).outcome == "invalid"
        (root / path).write_bytes(building.encoded(document))
    assert verify_run(str(root)).outcome == "intact"


def test_details_explain_a_schema_problem_and_change_no_report(tmp_path: Path) -> None:
    run = building.bare().but(put("run.json", "status", "sealed"), put(RESULTS, b"{}\n" * 30))
    plain, full = verify(run, tmp_path), verify(run, tmp_path, details=True)
    assert pairs(plain.problems) == pairs(full.problems)
    explained = [problem.path for problem in full.problems if problem.detail != INVALID and problem.path != "run.json"]
    assert explained == [f"{RESULTS}:{number}" for number in range(1, EXPLAINED + 1)]
    last = full.problems[-1]
    assert last.path == "run.json"
    assert "/status" in last.detail
    assert last.value == "sealed"


def test_progress_is_every_byte_that_is_read(tmp_path: Path) -> None:
    seen: list[int] = []
    root = building.full().write(tmp_path)
    verify_run(root, watch=seen.append)
    assert sum(seen) == sum(len(building.encoded(document)) for document in building.full().values())
