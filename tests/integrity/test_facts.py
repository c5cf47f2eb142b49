"""[OVL-2], [SEAL-4] What the seal and the chain take from the run's documents, and when those do not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from aef_verify import limits
from aef_verify.folder import Folder
from aef_verify.integrity.facts import Results, read_results, read_run, result_bytes, run_hash
from aef_verify.integrity.seal import read_seal
from tests import building
from tests.building import compact, drop, lines, put, result

C1, C2 = (bytes.fromhex(building.result_id(case)[2:]) for case in ("c1", "c2"))


@pytest.mark.parametrize(
    ("data", "reads"),
    [
        (b"{}", True),
        (b'{"runId":5}', True),
        (b" {}\n ", True),
        (None, False),
        (b"", False),
        (b"[]", False),
        (b"\xef\xbb\xbf{}", False),
        (b'{"a":1,"a":1}', False),
        (b"\xff", False),
        (b'{"a":' * 64 + b"1" + b"}" * 64, True),
        (b'{"a":' * 65 + b"1" + b"}" * 65, False),
    ],
)
def test_a_header_reads_or_does_not(data: bytes | None, reads: bool, tmp_path: Path) -> None:
    """An I-JSON object within the limits, valid or not."""
    run = building.small().but(drop("run.json") if data is None else put("run.json", data))
    with Folder(run.write(tmp_path)) as folder:
        assert (read_run(folder) is not None) is reads


def test_enc17_a_header_beyond_its_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Folder(building.small().but(put("run.json", b"{}".ljust(20))).write(tmp_path)) as folder:
        monkeypatch.setattr(limits, "JSON_BYTES", 20)
        assert read_run(folder) == {}
        monkeypatch.setattr(limits, "JSON_BYTES", 19)
        assert read_run(folder) is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, Results({}, whole=False)),
        (b"", Results({}, whole=True)),
        (
            compact(result("c1")) + compact(result("c2", state="error")),
            Results({C1: "passed", C2: "error"}, whole=True),
        ),
        (compact(result("c1")) * 2, Results({C1: "passed"}, whole=True)),
        (compact(result("c1")) + compact(result("c1", state="failed")), Results({C1: "failed"}, whole=True)),
        (compact(result("c1")) + b'{"resultId":5}\n{}\n', Results({C1: "passed"}, whole=True)),
        (compact(result("c1")) + b"[]\n", Results({C1: "passed"}, whole=False)),
        (
            compact(result("c1")) + b"{" * 65 + b"\n" + compact(result("c2")),
            Results({C1: "passed", C2: "passed"}, whole=False),
        ),
        (compact(result("c1"))[:-1], Results({}, whole=False)),
        (compact(result("c1")) + b"\n", Results({}, whole=False)),
        (b"\xef\xbb\xbf" + compact(result("c1")), Results({}, whole=False)),
        (compact(result("c1"))[:-1] + b"\r\n", Results({}, whole=False)),
    ],
)
def test_results_read_whole_or_not(data: bytes | None, expected: Results, tmp_path: Path) -> None:
    """The last line of an id gives its state, the first its place; a line without an id is skipped (a reading)."""
    run = building.small().but(drop("results.ndjson") if data is None else put("results.ndjson", data))
    with Folder(run.write(tmp_path)) as folder:
        assert read_results(folder) == expected


def test_results_keep_the_files_order(tmp_path: Path) -> None:
    with Folder(building.small().but(lines(result("c2"), result("c1"), result("c2"))).write(tmp_path)) as folder:
        assert list(read_results(folder).states) == [C2, C1]


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "",
        "r_",
        "r_" + "0" * 31,
        "r_" + "0" * 33,
        "r_" + "A" * 32,
        "R_" + "0" * 32,
        "r_" + "g" * 32,
        "r_" + "０" * 32,
        "r_" + " " * 32,
        "r_" + "0 " * 16,
        ["r_" + "0" * 32],
        "r_" + "0" * 31 + "\n",
    ],
)
def test_what_is_no_result_id(value: object) -> None:
    assert result_bytes(value) is None


def test_a_result_id() -> None:
    assert result_bytes("r_" + "0a" * 16) == b"\x0a" * 16


def test_seal4_the_run_hash(tmp_path: Path) -> None:
    """What a valid seal states, otherwise that of the files."""
    for name, run, expected in (
        ("sealed", building.small().seal(runHash="ab" * 32), "ab" * 32),
        ("unsealed", building.small(), building.small().run_hash()),
        ("invalid", building.small().seal().but(put("seal.json", b"{}")), building.small().run_hash()),
    ):
        with Folder(run.write(tmp_path / name)) as folder:
            assert run_hash(folder, read_seal(folder)) == expected
