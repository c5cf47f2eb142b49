"""Single figures beside the plain way of doing the same: the start of a process, and what is no pass over a large run.

Every figure is a ratio of two whole processes that take turns; times are medians, memory is the largest process.

`start` holds a small run's whole process against one that only imports what it needs; `lines` a pass over result lines
against a plain json.loads and jsonschema loop; `blobs` 1 GiB of blobs against one hashlib pass; `cache` a pass over
the workload `small-runs` with verdicts kept from the pass before against one without.

`pair` holds `aef bench longmemeval --paired-oracle`, sealed evidence included, against a loop over httpx.AsyncClient
that posts the same request bodies with the same concurrency. Both talk to one provider, a process of its own.

`signtest` decides the greatest sign test there is [LANE-11] at a significance next to its p, beside the plain sum of
big integers, which takes a minute or two and is therefore summed once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.benchmarks.measuring import Side, in_turn, measure
from scripts.benchmarks.workloads import AEF, MIB, PYTHON, ROOT, WORKLOADS, make_run, written
from scripts.make_workload import generate

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
class Figure:
    """One comparison: what is compared, the two sides, the ratio, and what it must be."""

    name: str
    plain: Side
    ours: Side
    ratio: float
    target: str
    met: bool

    def value(self) -> dict[str, Any]:
        """Return it as a JSON value."""
        sides = {side.name: [sample._asdict() for sample in side.samples] for side in (self.plain, self.ours)}
        return {"name": self.name, "ratio": self.ratio, "target": self.target, "met": self.met} | sides


def contract(run: Path) -> list[str]:
    """Return the command that verifies a run."""
    return [str(AEF), "contract", "run", str(run)]


def compared(
    plain: list[str], ours: list[str], repeat: int, *, plain_once: bool = False, cores: int | None = 1
) -> tuple[Side, Side]:
    """Run both commands in alternation after one unmeasured round of ours, which also fills what caches there are."""
    sides = Side("plain", plain, cores), Side("ours", ours, cores)
    measure(sides[1])
    in_turn(sides, 1 if plain_once else repeat)
    if plain_once:
        in_turn(sides[1:], repeat - 1)
    for side in sides:
        if side.failure is not None:
            raise RuntimeError(f"{' '.join(side.command)}: {side.failure}")
    return sides


def seconds(side: Side) -> float:
    """Return the median of the time passed."""
    return side.median("wall")


def peak(side: Side) -> float:
    """Return the largest process of all repetitions, in bytes."""
    return side.spread("largest")[1]


def run_below(folder: Path, *options: str) -> Path:
    """Write a run into a folder and return its path."""
    make_run(folder / "run", *options)
    return folder / "run"


def bench_start(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare a small run's whole process with one that only imports what it needs."""
    run = run_below(folder, "--lines", "10", "--blobs", "2")
    plain, ours = compared([PYTHON, "-c", PLAIN_IMPORTS], contract(run), max(options.repeat * 10, 20))
    ratio = seconds(ours) / seconds(plain)
    return Figure("small run / imports alone", plain, ours, ratio, "at most 1.2", ratio <= 1.2)


def bench_lines(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare the throughput over result lines with a plain json.loads and jsonschema loop over the same lines."""
    run = run_below(folder, "--lines", str(options.lines))
    schemas = ROOT / "aef_verify" / "schemas" / "reader"
    loop = [PYTHON, "-c", PLAIN_LINES, str(run / "results.ndjson"), str(schemas)]
    plain, ours = compared(loop, contract(run), options.repeat, plain_once=True)
    ratio = seconds(plain) / seconds(ours)
    met = ratio >= 20 and peak(ours) < 200 * MIB
    return Figure(f"{options.lines:,} lines: plain loop / ours", plain, ours, ratio, "at least 20, below 200 MiB", met)


def bench_blobs(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare a run of 1 GiB of blobs with one hashlib pass over the same files."""
    run = run_below(folder, "--lines", "64", "--blobs", "64", "--blob-bytes", str(16 * MIB))
    plain, ours = compared([PYTHON, "-c", PLAIN_HASH, str(run)], contract(run), options.repeat)
    ratio = seconds(ours) / seconds(plain)
    met = ratio <= 1.2 and peak(ours) < 100 * MIB
    return Figure("1 GiB of blobs / hashlib pass", plain, ours, ratio, "at most 1.2, below 100 MiB", met)


def bench_cache(folder: Path, options: argparse.Namespace) -> Figure:
    """Compare a pass over small runs that the cache knows, unchanged, with one without a cache."""
    place, size = written(WORKLOADS["small-runs"], options.workloads or folder, options.scale)
    verify = [str(AEF), "verify", "--quiet"]
    again = [*verify, "--cache", str(folder / "cache"), str(place)]
    plain, ours = compared([*verify, str(place)], again, options.repeat, cores=None)
    ratio = seconds(ours) / seconds(plain)
    name = f"{size:,} small runs, unchanged, again with --cache / without"
    return Figure(name, plain, ours, ratio, "at most 0.05", ratio <= 0.05)


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
        measure(Side("ours", paired(url, dataset, evidence)))
    with open(log, "rb") as requests, open(bodies, "w", encoding="ascii") as file:
        for line in requests:
            asked = json.loads(line)
            most = {"answer": 512, "judge": 10}[asked["purpose"]]
            body = {"model": asked["model"], "messages": asked["messages"], "temperature": 0, "max_tokens": most}
            file.write(json.dumps(body) + "\n")
    with provider(script) as url:
        loop = [PYTHON, "-c", PLAIN_CALLS, f"{url}/chat/completions", str(bodies), str(CONCURRENCY)]
        plain, ours = compared(loop, paired(url, dataset, evidence), options.repeat)
    ratio = seconds(ours) / seconds(plain)
    name = f"{options.questions} paired questions / the same calls"
    return Figure(name, plain, ours, ratio, "at most 1.15", ratio <= 1.15)


def bench_signtest(_: Path, options: argparse.Namespace) -> Figure:
    """Compare a sign test of a million pairs with the plain sum; the significance is the last binary64 below p."""
    case = ["1000000", "500500", "0x1.456bf8b8fdc22p-3"]
    plain, ours = compared(
        [PYTHON, "-c", PLAIN_SIGN_TEST, *case], [PYTHON, "-c", SIGN_TEST, *case], options.repeat, plain_once=True
    )
    name = "1,000,000 pairs: plain sum / ours"
    return Figure(name, plain, ours, seconds(plain) / seconds(ours), "ours below 1 s", seconds(ours) < 1)


FIGURES: dict[str, Callable[[Path, argparse.Namespace], Figure]] = {
    "start": bench_start,
    "lines": bench_lines,
    "blobs": bench_blobs,
    "cache": bench_cache,
    "pair": bench_pair,
    "signtest": bench_signtest,
}
