"""What lanes read again is what was verified, or nothing: [SEAL-2], [LANE-1]."""

from __future__ import annotations

from pathlib import Path

import pytest

from aef_verify.checkpoint.content import read_metrics, read_results, scan_results
from aef_verify.problems import InputError
from aef_verify.run.store import RunStore, StoredRun
from tests import building
from tests.building import Json, Run, result
from tests.checkpoint.lane_runs import Place, a_run


def stored(tmp_path: Path, run: Run) -> StoredRun:
    """Return a run that is verified already."""
    place = Place(tmp_path).add(run)
    (found,) = RunStore(str(place)).named(run["run.json"]["runId"])
    assert found.report.outcome
    return found


def lines(run: StoredRun) -> list[Json]:
    taken: list[Json] = []
    read_results(run, taken.append)
    return taken


def test_the_lines_come_in_file_order(tmp_path: Path) -> None:
    run = a_run("one")
    assert lines(stored(tmp_path, run)) == run["results.ndjson"]


CHANGED: dict[str, bytes] = {
    "another value": b'{"caseId":"c1","path":"qa","state":"passed"}\n',
    "no line": b"",
    "no object": b"[]\n",
    "no JSON": b"\xff\xfe\n",
    "very deep": b"[" * 100_000 + b"\n",
    "unfinished": b'{"caseId":"c1"',
    "blank": b"\n\n",
    "a line too long": b'{"a":"' + b"x" * (5 << 20) + b'"}\n',
    "only LFs changed": building.encoded(a_run("one")["results.ndjson"]) + b"\n",
}


@pytest.mark.parametrize("name", CHANGED)
def test_results_that_changed_since_they_were_verified_are_refused(tmp_path: Path, name: str) -> None:
    run = stored(tmp_path, a_run("one"))
    assert run.intact
    (tmp_path / "one" / "results.ndjson").write_bytes(CHANGED[name])
    with pytest.raises(InputError, match=r"one/results.ndjson: changed since it was verified"):
        read_results(run, lambda line: line["caseId"])


def test_files_that_are_gone_or_became_links_are_refused(tmp_path: Path) -> None:
    run = stored(tmp_path, a_run("one"))
    for file in ("results.ndjson", "metrics.json"):
        place = tmp_path / "one" / file
        place.rename(tmp_path / file)
        for _ in range(2):
            with pytest.raises(InputError, match="changed since it was verified"):
                read_results(run, lambda line: None) if file == "results.ndjson" else read_metrics(run)
            place.unlink(missing_ok=True)
            place.symlink_to(tmp_path / file)
        place.unlink()
        (tmp_path / file).rename(place)
    assert len(lines(run)) == 2


def test_a_fault_of_our_own_is_none_of_the_files(tmp_path: Path) -> None:
    run = stored(tmp_path, a_run("one"))

    def broken(line: Json) -> None:
        raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        read_results(run, broken)


def test_metrics_are_those_that_were_verified(tmp_path: Path) -> None:
    run = stored(tmp_path, a_run("one"))
    assert read_metrics(run) == a_run("one")["metrics.json"]
    (tmp_path / "one" / "metrics.json").write_bytes(b"{}")
    with pytest.raises(InputError, match=r"metrics.json: changed since it was verified"):
        read_metrics(run)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b" " * ((4 << 20) + 1)])
def test_metrics_of_a_run_that_is_not_intact_are_read_where_they_are_valid(tmp_path: Path, content: bytes) -> None:
    tampered = a_run("one")
    tampered["ext/added"] = b"x\n"
    run = stored(tmp_path, tampered)
    assert read_metrics(run) == tampered["metrics.json"]
    (tmp_path / "one" / "metrics.json").write_bytes(content)
    assert read_metrics(run) is None
    (tmp_path / "one" / "metrics.json").unlink()
    assert read_metrics(run) is None


def scanned(tmp_path: Path, content: bytes | None) -> tuple[bool, list[Json]]:
    run = a_run("one")
    if content is None:
        del run["results.ndjson"]
    else:
        run["results.ndjson"] = content
    taken: list[Json] = []
    return scan_results(stored(tmp_path, run), taken.append), taken


def test_of_a_run_that_is_not_intact_every_valid_line_is_given(tmp_path: Path) -> None:
    good = building.compact(result("c1"))
    bad = b"{}\n[]\n\xff\n" + b'{"a":' * 70 + b"1" + b"}" * 70 + b"\n" + b'"' + b"x" * (5 << 20) + b'"\n'
    assert scanned(tmp_path, good + bad + good) == (True, [result("c1"), result("c1")])


@pytest.mark.parametrize("content", [None, b"\r\n", building.compact(result("c1")) + b"{"])
def test_of_broken_framing_nothing_counts(tmp_path: Path, content: bytes | None) -> None:
    assert not scanned(tmp_path, content)[0]
