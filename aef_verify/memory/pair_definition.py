"""The definition of an arm, as facts that its rules and a comparison of suites need (docs/MEMORY_PAIR.md §2, §3)."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import rfc8785

from aef_verify.encoding.digests import cited
from aef_verify.memory.definition import BETWEEN_ARMS, suite_ref
from aef_verify.memory.pair_lines import shortened
from aef_verify.memory.profile import type_lane

if TYPE_CHECKING:
    from aef_verify.memory.pair_arm import Arm, Fields

_NAMED = 64
"""Members whose digests are kept, to say which differ; no definition of ours has as many."""

_LONGEST = 300
"""Characters kept of a text; what it is compared with is shorter."""

Document = dict[str, Any]


class Definition(NamedTuple):
    """Facts of `ext/longmemeval/definition.json`.

    Attributes:
        present: whether the run has one.
        fault: why it does not read; empty where it does.
        digest: its JCS digest, None where canonical JSON cannot represent it.
        shared: the digest of what both arms of a pair must agree on.
        members: the digest of each member.
        has_pair_id: whether a member `pairId` stands anywhere in it.
        arm, variant, preset: as it has them, where they are text.
        source_inputs_digest: likewise.
        roster: (id, type) of each question; None where it is no such list.
        threshold: the accuracy its `thresholds` ask for in percent, a number or its text; None where they give none.
        has_thresholds: whether `thresholds` is anything but null.
    """

    present: bool = False
    fault: str = ""
    digest: str | None = None
    shared: str | None = None
    members: dict[str, str] = {}  # noqa: RUF012  # the default of an immutable value, never written to
    has_pair_id: bool = False
    arm: str | None = None
    variant: str | None = None
    preset: str | None = None
    source_inputs_digest: str | None = None
    roster: tuple[tuple[str, str], ...] | None = None
    threshold: int | float | str | None = None
    has_thresholds: bool = False

    @property
    def reads(self) -> bool:
        """Whether there is one that reads."""
        return self.present and not self.fault


ABSENT = Definition()
"""Of a run that has none."""


def definition_facts(document: Document) -> Definition:
    """Return the facts of a definition, whatever stands in it."""
    thresholds = document.get("thresholds")
    written = {name: _canonical(value) for name, value in document.items()}
    return Definition(
        present=True,
        digest=_digest(written),
        shared=_digest({name: data for name, data in written.items() if name not in BETWEEN_ARMS}),
        members={name: sha256(data or b"").hexdigest() for name, data in list(written.items())[:_NAMED]},
        has_pair_id=_holds_pair_id(document),
        arm=_text(document, "arm"),
        variant=_text(document, "variant"),
        preset=_text(document, "preset"),
        source_inputs_digest=_text(document, "sourceInputsDigest"),
        roster=_roster(document.get("roster")),
        threshold=_threshold(thresholds),
        has_thresholds=thresholds is not None,
    )


def _canonical(value: Any) -> bytes | None:
    """Return a value's canonical JSON, or None where it has none."""
    try:
        return rfc8785.dumps(value)
    except ValueError:
        return None


def _digest(written: dict[str, bytes | None]) -> str | None:
    """Return the JCS digest of an object whose members were written once: large values are not written again."""
    state, lead = sha256(b"{"), b""
    for name in sorted(written, key=lambda name: name.encode("utf-16-be", "surrogatepass")):
        key, data = _canonical(name), written[name]
        if key is None or data is None:
            return None
        state.update(lead + key + b":" + data)
        lead = b","
    state.update(b"}")
    return cited(state.hexdigest())


def _text(document: Document, name: str) -> str | None:
    """Return a member that is text; of one too long to be what it should, only so much that it stays too long."""
    value = document.get(name)
    return value[:_LONGEST] if isinstance(value, str) else None


def _holds_pair_id(value: object) -> bool:
    if isinstance(value, dict):
        return "pairId" in value or any(map(_holds_pair_id, value.values()))
    return isinstance(value, list) and any(map(_holds_pair_id, value))


def _roster(value: object) -> tuple[tuple[str, str], ...] | None:
    if not isinstance(value, list):
        return None
    found = []
    for item in value:
        identity = item.get("id") if isinstance(item, dict) else None
        kind = item.get("type") if isinstance(item, dict) else None
        if not (isinstance(identity, str) and isinstance(kind, str)):
            return None
        found.append((shortened(identity), shortened(kind)))
    return tuple(found)


def _threshold(thresholds: object) -> int | float | str | None:
    """Return the percentage that thresholds give for the accuracy, or None."""
    value = thresholds.get("accuracyPercent") if isinstance(thresholds, dict) else None
    return value if isinstance(value, int | float | str) else None


def definition_faults(arm: Arm, fields: Fields) -> Iterator[str]:
    """Yield what is wrong with the definition of one arm, in plain words; nothing where it has none."""
    definition = arm.definition
    if not definition.present:
        return
    if definition.fault:
        yield f"it does not read: {definition.fault}"
        return
    if definition.digest is None:
        yield "canonical JSON cannot represent it, so that it has no digest"
    elif definition.digest != arm.suite_digest:
        yield f"its digest {definition.digest} is not suite.digest {arm.suite_digest or '(none)'}"
    if definition.has_pair_id:
        yield "it holds a pairId, so that two executions of it would have two digests"
    if definition.arm != arm.role:
        yield f"its arm is {definition.arm}, and the role is {arm.role}"
    ref = suite_ref(str(definition.variant), str(definition.preset), str(definition.arm))
    if arm.suite.ref != ref:
        yield f"suite.ref is {arm.suite.ref}, and that of its variant, preset and arm is {ref}"
    if definition.source_inputs_digest != fields.source_inputs_digest:
        yield "its sourceInputsDigest is not that of the pair's fields"
    yield from _roster_faults(arm, fields)


def _roster_faults(arm: Arm, fields: Fields) -> Iterator[str]:
    roster = arm.definition.roster
    if roster is None:
        yield "its roster is no list of questions, each with id and type"
        return
    if len(roster) != fields.planned:
        yield f"its roster has {len(roster):,} questions, and plannedQuestions is {fields.planned:,}"
    types = dict(roster)
    asked = arm.lines.asked or {}
    for question in asked:
        if question not in types:
            yield f"the run has the question {question}, which is not in its roster"
            break
    if arm.is_complete:
        for question in types:
            if question not in asked:
                yield f"the run completed without the question {question} of its roster"
                break
    for question, lane in arm.lines.types.items():
        if question in types and lane != type_lane(types[question]):
            yield f"the question {question} is counted in lane {lane}, and its type in the roster is {types[question]}"
            break


def differing(first: Definition, second: Definition) -> list[str]:
    """Return the names of the members in which two definitions differ, of those that the arms of a pair share."""
    return [name for name in members_differing(first, second) if name not in BETWEEN_ARMS]


def members_differing(first: Definition, second: Definition) -> list[str]:
    """Return the names of the members in which two definitions differ, in the first one's order."""
    names = dict.fromkeys([*first.members, *second.members])
    return [name for name in names if first.members.get(name) != second.members.get(name)]
