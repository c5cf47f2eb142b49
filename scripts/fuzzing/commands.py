"""What people's commands must do with every run: end as they say, without an unexpected failure, and show safe text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from click.testing import CliRunner

from aef_verify.cli import main
from scripts.fuzzing.cases import RUN, Case

AT = "2026-10-02T14:00:00Z"
EXITS = (0, 1, 2)
_FAILURE = re.compile(r"unexpected failure: (\w+)|not verified: (\w+)")
_UNSAFE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


class Fault(NamedTuple):
    """What is wrong: `kind` is the same for the same fault in other cases, `detail` is about this one."""

    kind: str
    detail: str


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
    if case.target != RUN:
        return
    for call in calls(folder, policy):
        done = CliRunner().invoke(main, call)
        name = f"aef {call[0]}"
        if failure := _FAILURE.search(done.output):
            yield Fault(f"{name}: {failure[1] or failure[2]}", done.stderr[:500])
        elif done.exit_code not in EXITS:
            yield Fault(f"{name}: exit {done.exit_code}", done.output[-500:])
        elif unsafe := next((mark for mark in done.output if _is_unsafe(mark)), ""):
            yield Fault(f"{name}: shows U+{ord(unsafe):04X}", done.output[:500])
        elif "--json" in call and done.exit_code != 2:
            try:
                json.loads(done.stdout)
            except ValueError as fault:
                yield Fault(f"{name}: prints no JSON", str(fault))


def _is_unsafe(mark: str) -> bool:
    return mark != "\n" and unicodedata.category(mark) in _UNSAFE
