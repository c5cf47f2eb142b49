"""What people's commands must do with every run: end as they say, without an unexpected failure, and show safe text."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

from click.testing import CliRunner
from jsonschema import Draft202012Validator

import aef_verify
from aef_verify.cli import main
from scripts.fuzzing.cases import RUN, Case
from scripts.fuzzing.operations import SECRET, SECRET_NAME, TARGETS, Fault, emptied

AT = "2026-10-02T14:00:00Z"
EXITS = (0, 1, 2)
_FAILURE = re.compile(r"unexpected failure: (\w+)|not verified: (\w+)")
_UNSAFE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def calls(folder: str, policy: str) -> list[list[str]]:
    """Return a call of each command that reads a run."""
    return [
        ["verify", folder, "--policy", policy],
        ["verify", folder, "--json"],
        ["show", folder],
        ["show", folder, "--json"],
        ["view", folder, "--at", AT, "--policy", policy],
        ["pair", folder, folder],
        ["compare-suites", folder, folder],
    ]


def shown_faults(case: Case, folder: str, policy: str) -> Iterator[Fault]:
    """Run the commands on a case's folder in this process and yield what is wrong with what they did."""
    operations, out = TARGETS.get(case.target), os.path.join(os.path.dirname(folder), "shown")
    asked = calls(folder, policy) if case.target == RUN else operations.shown(folder, policy, out) if operations else []
    for call in asked:
        emptied(out)
        if call[0] == "decide":
            os.mkdir(out)
        done = CliRunner().invoke(main, call)
        name = f"aef {call[0]}"
        if failure := _FAILURE.search(done.output):
            yield Fault(f"{name}: {failure[1] or failure[2]}", done.stderr[:500])
        elif done.exit_code not in EXITS:
            yield Fault(f"{name}: exit {done.exit_code}", done.output[-500:])
        elif unsafe := next((mark for mark in done.output if _is_unsafe(mark)), ""):
            yield Fault(f"{name}: shows U+{ord(unsafe):04X}", done.output[:500])
        elif SECRET in done.output or SECRET_NAME in done.output:
            yield Fault(f"{name}: shows a credential", done.output[:500])
        elif done.exit_code == 2 and not _is_clear(call[0], done.stdout, done.stderr):
            yield Fault(f"{name}: a refusal is not one line", done.output[:500])
        elif "--json" in call and done.exit_code != 2:
            try:
                values = [
                    json.loads(text) for text in (done.stdout.splitlines() if "--follow" in call else [done.stdout])
                ]
            except ValueError as fault:
                yield Fault(f"{name}: prints no JSON", str(fault))
                continue
            if "--follow" in call and isinstance(values[-1], dict):
                values[-1].pop("type", None)
            yield from _value_faults(call[0], values[-1], done.exit_code)
            if operations is not None and isinstance(values[-1], dict):
                yield from operations.faults(folder, policy, out, [name], values[-1])
        elif done.exit_code == 2 and os.path.isdir(out) and os.listdir(out):
            yield Fault(f"{name}: refused, and something is written", str(os.listdir(out)))


def _is_clear(name: str, stdout: str, stderr: str) -> bool:
    """Whether a refusal is one line on standard error and, but of a stream that was begun, nothing else."""
    return len(stderr.splitlines()) == 1 and (not stdout or name not in ("checkpoint", "decide", "job"))


def _value_faults(name: str, value: Any, exit_code: int) -> Iterator[Fault]:
    """Hold a value against its schema and its own exit code."""
    validator = _validator(name)
    fault = None if validator is None else next(validator.iter_errors(value), None)
    if fault is not None:
        yield Fault(f"aef {name}: JSON that its schema refuses", f"{fault.json_path}: {fault.message}"[:500])
    elif isinstance(value, dict) and value.get("exitCode", exit_code) != exit_code:
        yield Fault(f"aef {name}: another exit code than it says", f"{exit_code} / {value['exitCode']}")


@cache
def _validator(name: str) -> Draft202012Validator | None:
    path = os.path.join(os.path.dirname(aef_verify.__file__), "schemas", "report", f"{name}-report.schema.json")
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return Draft202012Validator(json.load(file))


def _is_unsafe(mark: str) -> bool:
    return mark != "\n" and unicodedata.category(mark) in _UNSAFE
