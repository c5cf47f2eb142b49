"""`scripts/bench.py`: its workloads are sound, its floor reads everything, its figures are what they are called.

Everything is tiny here, and no time is judged.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from scripts import make_run
from scripts.benchmarks import floor as floor_module
from scripts.benchmarks import table
from scripts.benchmarks.floor import floor
from scripts.benchmarks.growth import Growth, Pass, exponent, growth
from scripts.benchmarks.measuring import FailedError, Sample, Side, descendants, in_turn, measure, resident
from scripts.benchmarks.sampling import Sampled
from scripts.benchmarks.sides import ALL, ONE, sides_of
from scripts.benchmarks.within import timed
from scripts.benchmarks.workloads import PLAIN, WORKLOADS, Targets, Workload, written

ROOT = Path(__file__).resolve().parents[2]
TINY = 1e-9
LARGE = WORKLOADS["large-blobs"]


def run_of(folder: Path, *options: str) -> Path:
    """Write a run."""
    make_run.write_run(make_run.arguments().parse_args([str(folder / "run"), *options]))
    return folder / "run"


@pytest.mark.parametrize("workload", [one for one in WORKLOADS.values() if one != LARGE], ids=lambda one: one.name)
def test_every_workload_is_sound_and_every_side_reads_it(workload: Workload, tmp_path: Path) -> None:
    scale = 3 / workload.size if workload.name != "pairs" else TINY
    place, size = written(workload, tmp_path, scale)
    assert size == (1 if workload.name == "pairs" else 3)
    for side in sides_of(workload, place, ["1", "all"], []):
        measure(side)
    counted = floor(str(place))
    assert counted == size * workload.each if workload.each else counted > 0


def test_large_blobs_are_of_16_mib(tmp_path: Path) -> None:
    place, _ = written(LARGE, tmp_path, TINY)
    assert [file.stat().st_size for file in place.glob("blobs/sha256/*/*")] == [16 << 20]


def test_a_workload_is_written_once_and_whole(tmp_path: Path) -> None:
    calls = []

    def write(folder: Path, size: int) -> None:
        calls.append(size)
        folder.mkdir()
        if len(calls) == 1:
            raise OSError("full")

    workload = Workload("some", "{size}", 10, write)
    with pytest.raises(OSError, match="full"):
        written(workload, tmp_path, 0.5)
    assert list(tmp_path.iterdir()) == []
    assert written(workload, tmp_path, 0.5) == written(workload, tmp_path, 0.5) == (tmp_path / "some-5", 5)
    assert calls == [5, 5]


def test_the_floor_hashes_every_byte_and_parses_every_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(tmp_path, "--lines", "7", "--blobs", "2")
    hashed: list[str] = []
    parsed: list[bytes] = []

    class Digest:
        def __init__(self) -> None:
            self.digest = hashlib.sha256()

        def update(self, data: memoryview) -> None:
            self.digest.update(data)

        def hexdigest(self) -> str:
            hashed.append(self.digest.hexdigest())
            return hashed[-1]

    def parse(data: bytes, **_: object) -> None:
        parsed.append(data)

    monkeypatch.setattr(floor_module, "sha256", Digest)
    monkeypatch.setattr(floor_module, "from_json", parse)
    monkeypatch.setattr(floor_module, "BLOCK", 100)  # far less than a line
    assert floor(str(run)) == 7
    files = [file for file in run.rglob("*") if file.is_file()]
    assert sorted(hashed) == sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
    documents = [file.read_bytes() for file in files if file.suffix == ".json"]
    lines = [line for file in files if file.suffix == ".ndjson" for line in file.read_bytes().splitlines()]
    assert sorted(parsed) == sorted([*documents, *lines])


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        (b'{"a":1,"a":2}\n', "uplicate key"),
        (b'{"a":NaN}\n', "expected value"),
        (b'{"a":1}}\n', "trailing characters"),
        (b'{"a":"\xff"}\n', "unicode"),
    ],
)
def test_the_floor_parses_strictly(line: bytes, refused: str, tmp_path: Path) -> None:
    (tmp_path / "results.ndjson").write_bytes(line)
    with pytest.raises(ValueError, match=refused):
        floor(str(tmp_path))


@pytest.mark.parametrize("side", ["ours", "floor"])
def test_a_warm_pass_counts_its_lines(side: str, tmp_path: Path) -> None:
    run = str(run_of(tmp_path, "--lines", "5"))
    found = timed(side, run, run)
    assert found["lines"] == 5
    assert found["cpu"] > 0


def test_a_warm_pass_over_a_run_that_is_not_intact_is_no_measurement(tmp_path: Path) -> None:
    run = run_of(tmp_path, "--lines", "5")
    (run / "seal.json").unlink()
    with pytest.raises(RuntimeError, match="unsealed"):
        timed("ours", str(run), str(run))


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], None),
        ([(10, 5)], None),
        ([(10, 5), (10, 6)], None),
        ([(10, 5), (100, 50), (1000, 500)], 1),
        ([(10, 1), (100, 100)], 2),
        ([(10, 7), (1000, 7)], 0),
    ],
)
def test_the_exponent_is_the_slope_of_the_logarithms(points: list[tuple[float, float]], expected: float | None) -> None:
    assert exponent(points) == (None if expected is None else pytest.approx(expected))


def passes(*costs: tuple[int, float]) -> list[Pass]:
    """Return passes of (lines, microseconds a line)."""
    return [Pass(lines, [1.0], [lines * cost / 1e6]) for lines, cost in costs]


def test_growth_says_how_much_dearer_a_line_gets() -> None:
    grown = growth(passes((10, 2.0), (100, 2.0), (1000, 2.5)))
    assert grown is not None
    assert grown.dearer == pytest.approx(0.25)
    assert grown.exponent > 1
    assert growth(passes((10, 2.0))) is None
    assert str(Growth(1.0125, 0.06)) == "lines^1.012; a line costs at most 6.0% more at one size than at another"


def lines(*costs: tuple[str, int, float]) -> list[table.Lines]:
    """Return what lines of workloads cost us; the floor is always 1."""
    return [
        table.Lines(name, f"{count:,} {name}", *passes((count, cost)), *passes((count, 1.0)))
        for name, count, cost in costs
    ]


@pytest.mark.parametrize(
    ("costs", "met"),
    [
        ([], True),
        ([("lines-10k", 10, 2.0), ("lines-1m", 1000, 2.29)], True),
        ([("lines-10k", 10, 2.0), ("lines-1m", 1000, 2.31)], False),
        ([("lines-10k", 10, 2.0), ("trials", 10, 2.99)], True),
        ([("lines-10k", 10, 2.0), ("trials", 10, 3.01)], False),
        ([("trials", 10, 3.01)], True),
    ],
)
def test_lines_must_cost_the_same_at_every_size_and_little_more_in_other_shapes(
    costs: list[tuple[str, int, float]], met: bool
) -> None:
    assert table.lines_met(lines(*costs), PLAIN) is met


def side(name: str, *walls: float, mib: int = 10, failure: str | None = None) -> Side:
    """Return a measured side."""
    samples = [Sample(wall, wall / 2, mib << 20, mib << 21) for wall in walls]
    return Side(name, [name], samples=samples, failure=failure)


def test_a_ratio_is_of_the_same_turn() -> None:
    floor_side, ours = side("floor", 1, 10, 2), side(ONE, 3, 31, 6)
    assert ours.ratio(floor_side, "wall") == 3
    assert ours.median("wall") == 6
    assert ours.spread("wall") == (3, 31)


@pytest.mark.parametrize(
    ("ours", "met"),
    [
        (side(ONE, 2.0), True),
        (side(ONE, 2.1), False),
        (side(ALL, 1.0), True),
        (side(ALL, 1.1), False),
        (side("peer", 9.0, mib=999), True),
        (side(ONE, 1.0, mib=100), True),
        (side(ONE, 1.0, mib=101), False),
        (side(ONE, 1.0, failure="exit code 1"), False),
        (side("peer", failure="exit code 1"), False),
    ],
)
def test_targets_are_for_ours_and_a_failure_is_a_miss(ours: Side, met: bool) -> None:
    measured = table.Measured("some", "1 line", [side("floor", 1.0), ours], Targets(2.0, 1.0, 100))
    assert measured.met is met
    assert ("MISSED" in table.text(measured) or "failed" in table.text(measured)) is not met


def test_markdown() -> None:
    sides = [side("floor", 1.0, 3.0, 2.0), side(ONE, 2.5, 6.0, 4.0), side("peer", failure="a | b")]
    measured = table.Measured("lines-10k", "10 plain lines", sides, Targets(2.5))
    shown = table.markdown([measured], lines(("lines-10k", 10, 2.0), ("trials", 10, 3.0)), PLAIN).splitlines()
    assert shown[4:] == [
        "| 10 plain lines | floor | 2.00 (1.00–3.00) | 1.00 | 1 | 1 | 10 | 20 |",
        "|  | 1 core | 4.00 (2.50–6.00) | 2.00 | 2.00 (at most 2.5) | 2.00 | 10 | 20 |",
        "|  | peer | failed: a \\| b | | | | | |",
        "",
        "| A line in a warm process, one core | CPU, µs | Floor, µs | To the floor | To a plain line |",
        "|---|--:|--:|--:|--:|",
        "| 10 lines-10k | 2.00 | 1.00 | 2.00 | 1.00 |",
        "| 10 trials | 3.00 | 1.00 | 3.00 | 1.50 |",
    ]


def python(code: str, cores: int | None = 1) -> Side:
    """Return a side that runs Python."""
    return Side(
        "python", [sys.executable, "-c", code], cores, lambda said: None if said == b"1\n" else f"said {said!r}"
    )


TELL_JOBS = "import os; print(os.environ.get('AEF_JOBS', 'none'))"


@pytest.mark.parametrize(
    ("failing", "failure"),
    [
        (python("raise SystemExit(3)"), "exit code 3"),
        (python("print(2)"), "said b'2\\n'"),
        (python(TELL_JOBS, None), "said b'none\\n'"),
    ],
)
def test_sides_take_turns_and_one_that_fails_is_not_run_again(failing: Side, failure: str) -> None:
    failing, sound = replace(failing, samples=[]), python(TELL_JOBS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AEF_JOBS", "7")
        in_turn([failing, sound], 2)
        with pytest.raises(FailedError):
            measure(failing)
    assert (failing.failure, failing.samples) == (failure, [])
    assert len(sound.samples) == 2
    assert all(sample.cpu > 0 and sample.largest > 0 for sample in sound.samples)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not tell")
def test_the_tree_is_a_process_and_all_below_it() -> None:
    nested = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", nested], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        below = descendants(child.pid)
        assert len(below) == 2
        assert set(below) < set(descendants(os.getpid()))
        assert all(resident(pid) > 1 << 20 for pid in below)
        child.communicate("\n")
    assert resident(child.pid) == 0


def burn() -> int:
    """Use CPU time."""
    return sum(sum(range(1000)) for _ in range(20_000))


def test_sampling_names_what_used_the_time() -> None:
    sampled = Sampled()
    sampled.of(burn)
    assert sampled.seconds > 0
    assert "burn.<locals>.<genexpr>" in sampled.text()
    (within,) = (used for code, used in sampled.within.items() if code is burn.__code__)
    assert within >= sampled.own[burn.__code__]


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    """Call the command with tiny workloads."""
    command = [sys.executable, str(ROOT / "scripts" / "bench.py"), "--scale", "0.001", "--repeat", "1", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def names(sides: Iterable[dict[str, object]]) -> list[object]:
    return [one["name"] for one in sides]


def test_the_command_measures_ours_and_peers_beside_the_floor(tmp_path: Path) -> None:
    aef = Path(sys.executable).with_name("aef")
    called = bench("lines-10k", "trials", "--json", "--workloads", str(tmp_path), "--peer", f"'{aef}' contract")
    assert called.returncode == 0, called.stderr
    found = json.loads(called.stdout)
    assert names(found["workloads"]) == names(found["lines"]) == ["lines-10k", "trials"]
    assert [names(one["sides"]) for one in found["workloads"]] == [["floor", ONE, ALL, "aef"]] * 2
    assert [one["ours"]["lines"] for one in found["lines"]] == [10, 200]
    assert sorted(place.name for place in tmp_path.iterdir()) == ["lines-10k-10", "small-10", "trials-50"]


def test_a_peer_that_finds_nothing_fails_the_call(tmp_path: Path) -> None:
    called = bench("lines-10k", "--jobs", "1", "--peer", "echo", "--workloads", str(tmp_path))
    assert called.returncode == 1
    assert "echo         failed: answered b'run " in called.stdout


def test_a_single_figure_has_two_sides_and_a_target(tmp_path: Path) -> None:
    called = bench("cache", "--json", "--workloads", str(tmp_path))
    (found,) = json.loads(called.stdout)["figures"]
    assert found["name"] == "10 small runs, unchanged, again with --cache / without"
    assert found["target"] == "at most 0.05"
    assert [len(found["plain"]), len(found["ours"])] == [1, 1]


def test_the_command_shows_where_time_goes(tmp_path: Path) -> None:
    called = bench("overlays", "--profile", "--workloads", str(tmp_path))
    assert called.returncode == 0, called.stderr
    assert "10 overlay batches\n" in called.stdout
    assert "own  within  function" in called.stdout
