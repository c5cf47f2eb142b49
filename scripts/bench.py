#!/usr/bin/env python3
"""Measure the verifier beside what it is held against, side by side in one run.

  scripts/bench.py [start] [lines] [blobs] [pair] [signtest] [--repeat N] [--lines N] [--questions N] [--json]

Every figure is a ratio of two whole processes that take turns: the same work done the plain way, and `aef`. Times are
medians over the repetitions, memory is the largest resident set of the process. Workloads are written into a
temporary folder, runs by `scripts/make_run.py` and questions by `scripts/make_workload.py`.

`pair` holds `aef bench longmemeval --paired-oracle`, sealed evidence included, against a loop over httpx.AsyncClient
that posts the same request bodies with the same concurrency. Both talk to one provider, a process of its own.

`signtest` decides the greatest sign test there is [LANE-11] at a significance next to its p, beside the plain sum of
big integers, which takes a minute or two and is therefore summed once.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from scripts.make_workload import generate

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
AEF = Path(PYTHON).with_name("aef")
MIB = 1 << 20

PLAIN_IMPORTS = "import hashlib, json, re, dataclasses, jiter, jsonschema_rs"
PLAIN_LINES = """
import json, sys
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from pathlib import Path
schemas = [json.loads(file.read_bytes()) for file in Path(sys.argv[2]).glob("*.schema.json")]
registry = Registry().with_resources([(s["$id"], DRAFT202012.create_resource(s)) for s in schemas])
schema = next(s for s in schemas if s["$id"].endswith("/result.schema.json"))
validator = Draft202012Validator(schema, registry=registry)
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        assert validator.is_valid(json.loads(line))
"""
PLAIN_HASH = """
import hashlib, os, sys
buffer = bytearray(1 << 20)
view = memoryview(buffer)
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        digest = hashlib.sha256()
        with open(os.path.join(folder, name), "rb", buffering=0) as file:
            while count := file.readinto(buffer):
                digest.update(view[:count])
        digest.hexdigest()
"""
PLAIN_CALLS = """
import asyncio, json, sys
import httpx
url, bodies = sys.argv[1], [json.loads(line) for line in open(sys.argv[2], "rb")]
async def call(client, slots, body):
    async with slots:
        response = await client.post(url, json=body)
    response.raise_for_status()
    return response.json()["choices"][0]["message"]["content"]
async def calls(at_a_time):
    limits = httpx.Limits(max_connections=at_a_time, max_keepalive_connections=at_a_time)
    slots = asyncio.Semaphore(at_a_time)
    async with httpx.AsyncClient(limits=limits, timeout=None) as client:
        await asyncio.gather(*(call(client, slots, body) for body in bodies))
asyncio.run(calls(int(sys.argv[3])))
"""
PLAIN_SIGN_TEST = """
import sys
pairs, regressed, significance = int(sys.argv[1]), int(sys.argv[2]), float.fromhex(sys.argv[3])
term = total = 1
for k in range(pairs - 1, regressed - 1, -1):
    term = term * (k + 1) // (pairs - k)
    total += term
numerator, denominator = significance.as_integer_ratio()
assert not total * denominator <= numerator << pairs
"""
SIGN_TEST = """
import sys
from aef_verify.checkpoint.signtest import is_regression
assert not is_regression(int(sys.argv[2]), int(sys.argv[1]), float.fromhex(sys.argv[3]))
"""


@dataclass
class Side:
    """One side of a comparison: the seconds of each repetition, and the largest resident set in bytes."""

    seconds: list[float] = field(default_factory=list)
    peak: int = 0

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)


@dataclass
class Figure:
    """One comparison: what is compared, the two sides, the ratio, and what it must be."""

    name: str
    plain: Side
    ours: Side
    ratio: float
    target: str
    met: bool


def once(side: Side, command: list[str]) -> None:
    """Run one process to its end and note its time and memory; raises RuntimeError where it fails."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    side.seconds.append(time.perf_counter() - start)
    side.peak = max(side.peak, usage.ru_maxrss * 1024)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"exit code {child.returncode}: {' '.join(command)}")


def in_turn(plain: list[str], ours: list[str], repeat: int, plain_repeat: int | None = None) -> tuple[Side, Side]:
    """Run both commands in alternation after one unmeasured round of ours, which also fills the file cache."""
    sides = Side(), Side()
    once(Side(), ours)
    for turn in range(repeat):
        if plain_repeat is None or turn < plain_repeat:
            once(sides[0], plain)
        once(sides[1], ours)
    return sides


def contract(run: Path) -> list[str]:
    """Return the command that verifies a run."""
    return [str(AEF), "contract", "run", str(run)]


def make_run(folder: Path, *options: str) -> Path:
    """Write a workload."""
    run = folder / "run"
    subprocess.run([PYTHON, str(ROOT / "scripts" / "make_run.py"), str(run), *options], check=True, stdout=sys.stderr)
    return run


def bench_start(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare a small run's whole process with one that only imports what it needs."""
    run = make_run(folder, "--lines", "10", "--blobs", "2")
    plain, ours = in_turn([PYTHON, "-c", PLAIN_IMPORTS], contract(run), max(options.repeat * 10, 20))
    ratio = ours.median / plain.median
    return Figure("small run / imports alone", plain, ours, ratio, "at most 1.2", ratio <= 1.2)


def bench_lines(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare the throughput over result lines with a plain json.loads and jsonschema loop over the same lines."""
    run = make_run(folder, "--lines", str(options.lines))
    schemas = ROOT / "aef_verify" / "schemas" / "reader"
    loop = [PYTHON, "-c", PLAIN_LINES, str(run / "results.ndjson"), str(schemas)]
    plain, ours = in_turn(loop, contract(run), options.repeat, plain_repeat=1)
    ratio = plain.median / ours.median
    met = ratio >= 20 and ours.peak < 200 * MIB
    return Figure(f"{options.lines:,} lines: plain loop / ours", plain, ours, ratio, "at least 20, below 200 MiB", met)


def bench_blobs(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare a run of 1 GiB of blobs with one hashlib pass over the same files."""
    run = make_run(folder, "--lines", "64", "--blobs", "64", "--blob-bytes", str(16 * MIB))
    plain, ours = in_turn([PYTHON, "-c", PLAIN_HASH, str(run)], contract(run), options.repeat)
    ratio = ours.median / plain.median
    met = ratio <= 1.2 and ours.peak < 100 * MIB
    return Figure("1 GiB of blobs / hashlib pass", plain, ours, ratio, "at most 1.2, below 100 MiB", met)


CONCURRENCY, LATENCY_MS, PROMPT_BYTES = 16, 50, 20_000


@contextmanager
def provider(script: Path, log: Path | None = None) -> Iterator[str]:
    """Serve a script in a process of its own, and give the base URL."""
    command = [str(AEF), "provider", "serve", "--script", str(script)]
    command += [] if log is None else ["--log", str(log), "--log-content"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as serving:
        try:
            assert serving.stdout is not None
            yield serving.stdout.readline().strip()
        finally:
            serving.terminate()


def paired(url: str, dataset: Path, evidence: Path) -> list[str]:
    """Return the command of a paired benchmark that passes whatever comes out."""
    return [
        *(str(AEF), "bench", "longmemeval", "--preset", "full", "--subject", "bench", "--paired-oracle", "--offline"),
        *("--endpoint", url, "--model", "scripted", "--dataset", str(dataset), "--aef", str(evidence)),
        *("--concurrency", str(CONCURRENCY), "--threshold", "0"),
    ]


def bench_pair(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare a paired benchmark with a plain loop over the calls that it makes."""
    dataset, script = generate(folder, options.questions, prompt_bytes=PROMPT_BYTES, latency_ms=LATENCY_MS)
    log, bodies, evidence = folder / "log", folder / "bodies", folder / "evidence"
    with provider(script, log) as url:
        once(Side(), paired(url, dataset, evidence))
    with open(log, "rb") as requests, open(bodies, "w", encoding="ascii") as file:
        for line in requests:
            asked = json.loads(line)
            most = {"answer": 512, "judge": 10}[asked["purpose"]]
            body = {"model": asked["model"], "messages": asked["messages"], "temperature": 0, "max_tokens": most}
            file.write(json.dumps(body) + "\n")
    with provider(script) as url:
        loop = [PYTHON, "-c", PLAIN_CALLS, f"{url}/chat/completions", str(bodies), str(CONCURRENCY)]
        plain, ours = in_turn(loop, paired(url, dataset, evidence), options.repeat)
    ratio = ours.median / plain.median
    name = f"{options.questions} paired questions / the same calls"
    return Figure(name, plain, ours, ratio, "at most 1.15", ratio <= 1.15)


def bench_signtest(_: Path, options: argparse.Namespace) -> Figure:
    """Compare a sign test of a million pairs with the plain sum; the significance is the last binary64 below p."""
    case = ["1000000", "500500", "0x1.456bf8b8fdc22p-3"]
    plain, ours = in_turn(
        [PYTHON, "-c", PLAIN_SIGN_TEST, *case], [PYTHON, "-c", SIGN_TEST, *case], options.repeat, plain_repeat=1
    )
    name = "1,000,000 pairs: plain sum / ours"
    return Figure(name, plain, ours, plain.median / ours.median, "ours below 1 s", ours.median < 1)


BENCHES: dict[str, Callable[[Path, argparse.Namespace], Figure]] = {
    "start": bench_start,
    "lines": bench_lines,
    "blobs": bench_blobs,
    "pair": bench_pair,
    "signtest": bench_signtest,
}


def shown(side: Side) -> str:
    """Return a side as text: median, spread and peak memory."""
    spread = f"{min(side.seconds):.3f}-{max(side.seconds):.3f}"
    return f"{side.median:8.3f} s ({spread} s, {len(side.seconds)}x, {side.peak / MIB:5.0f} MiB)"


def main() -> int:
    """Run the benches asked for; exit 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", nargs="*", choices=[*BENCHES, []], help="which to run (default: all)")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each side")
    parser.add_argument("--lines", type=int, default=100_000, help="result lines of the `lines` bench")
    parser.add_argument("--questions", type=int, default=500, help="questions of the `pair` bench")
    parser.add_argument("--json", action="store_true", help="print one JSON value on standard output")
    options = parser.parse_args()
    figures = []
    for name in options.bench or BENCHES:
        with tempfile.TemporaryDirectory(prefix="aef-bench-") as folder:
            figure = BENCHES[name](Path(folder), options)
        figures.append(figure)
        if not options.json:
            print(f"{figure.name}: {figure.ratio:.2f} ({figure.target}: {'met' if figure.met else 'MISSED'})")
            print(f"  plain {shown(figure.plain)}\n  ours  {shown(figure.ours)}", flush=True)
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures]))
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
