"""A verdict as it is kept: what a report and the pairs among its runs need of one run, as JSON and back.

Members stand by place, not by name: a record is only ever read by the code that wrote it (`cache_code`). Nothing in it
names the run's folder; that is the caller's, and told when the record is read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aef_verify.engine.task import EntryAnswer
from aef_verify.problems import Problem
from aef_verify.report.model import Header, Imported, Reading, RunEntry
from aef_verify.run.members import Named
from aef_verify.run.verify import Overlays

if TYPE_CHECKING:
    from aef_verify.memory.pair_arm import Arm

MOST_BYTES = 8 << 20
"""Of one record; a longer one is not kept, and its run is verified each time."""


def encoded(verdict: EntryAnswer) -> bytes | None:
    """Return a verdict as a record; None where none gives it back exactly as it is, or it is too long to be kept."""
    entry, arm = verdict
    try:
        data = json.dumps(
            [
                entry.outcome,
                _header_record(entry.header),
                entry.problems,
                entry.overlays,
                entry.run_hash,
                entry.signed_by,
                entry.anchored,
                entry.withheld,
                None if arm is None else _arm_record(arm, entry.path),
            ],
            allow_nan=False,
            separators=(",", ":"),
        ).encode()
        same = len(data) <= MOST_BYTES and decoded(entry.path, data) == verdict
    except (TypeError, ValueError, RecursionError):
        return None
    return data if same else None


def decoded(path: str, data: bytes, *, cached: bool = False) -> EntryAnswer:
    """Return the verdict that a record holds, for the run in this folder.

    Raises:
        ValueError, TypeError, LookupError, RecursionError: it is no record.
    """
    outcome, header, problems, overlays, run_hash, signed_by, anchored, withheld, arm = json.loads(data.decode())
    entry = RunEntry(
        path,
        outcome,
        "",
        _header_of(header),
        _problems_of(problems),
        None if overlays is None else Overlays(_problems_of(overlays[0]), *overlays[1:]),
        run_hash,
        None if signed_by is None else tuple(signed_by),
        anchored,
        withheld,
        cached=cached,
    )
    return EntryAnswer(entry, None if arm is None else _arm_of(arm, path))


def _problems_of(found: list[list[Any]]) -> tuple[Problem, ...]:
    return tuple(Problem(*problem) for problem in found)


def _header_record(header: Header) -> list[Any]:
    named = (header.producer, header.subject, header.suite)
    return [header.run_id, header.status, header.target_mode, *named, header.imported]


def _header_of(found: list[Any]) -> Header:
    run_id, status, mode, producer, subject, suite, imported = found
    return Header(
        run_id,
        status,
        Reading(*mode),
        Named(*producer),
        Named(*subject),
        Named(*suite),
        None if imported is None else Imported(imported[0], tuple(imported[1])),
    )


def _arm_record(arm: Arm, path: str) -> dict[str, Any]:
    """Return an arm by member; a run without an id goes by its folder, which is not kept."""
    found: dict[str, Any] = arm._asdict()
    del found["path"]
    if arm.run_id == path:
        found["run_id"] = None
    found["entries"] = [arm.entries.ruled, sorted(arm.entries.verdicts), arm.entries.accuracy]
    found["lines"] = [arm.lines.roots, list(arm.lines.leaves.items()), arm.lines.asked, arm.lines.types]
    return found


def _arm_of(found: dict[str, Any], path: str) -> Arm:
    from aef_verify.memory.pair_arm import Arm, Entries, Fields, Judge
    from aef_verify.memory.pair_definition import Definition
    from aef_verify.memory.pair_lines import Lines

    ruled, verdicts, accuracy = found["entries"]
    roots, leaves, asked, types = found["lines"]
    definition = Definition(*found["definition"])
    roster = definition.roster
    signed_by, fields = found["signed_by"], found["fields"]
    members: dict[str, Any] = found | {
        "path": path,
        "run_id": path if found["run_id"] is None else found["run_id"],
        "signed_by": None if signed_by is None else tuple(signed_by),
        "producer": Named(*found["producer"]),
        "subject": Named(*found["subject"]),
        "suite": Named(*found["suite"]),
        "judges": tuple(Judge(*judge) for judge in found["judges"]),
        "fields": None if fields is None else Fields(*fields),
        "decisions": tuple(found["decisions"]),
        "entries": Entries(ruled, frozenset(verdicts), accuracy),
        "definition": definition._replace(roster=None if roster is None else tuple(map(_question, roster))),
        "lines": Lines(roots, dict(leaves), asked, types),
    }
    return Arm(**members)


def _question(found: Sequence[str]) -> tuple[str, str]:
    identity, kind = found
    return identity, kind
