"""What the decision function refuses rather than decides [DEC-1].

In this order: an input without lanes, a lane twice; an exception for a lane that the input does not have, without a
run hash, or never in force; and whatever else the reader schema `decision#/$defs/input` refuses. The first five have
names of their own, which they keep in an input that the schema refuses too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from aef_verify.encoding.times import is_time, time_key
from aef_verify.problems import InputError
from aef_verify.schemas import accepts, explain

INPUT = "decision#/$defs/input"
"""The definition that an input is valid against."""

_SHOWN = 128
"""Characters shown of a name: all of them where it is one."""


class RefusedInputError(InputError):
    """An input that the decision function does not decide.

    `name` is `no-lanes`, `duplicate-lane`, `exception-unknown-lane`, `exception-no-evidence`,
    `exception-never-in-force` or `input-invalid`; the text adds why, for people.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}: {why}")
        self.name = name


class Refusal(NamedTuple):
    """Why an input is refused: a name, and words for people."""

    name: str
    why: str


def read_input(value: object) -> dict[str, Any]:
    """Return an input that can be decided: valid against the reader schema, and whole as [DEC-1] asks.

    Raises:
        RefusedInputError: for any other value, whatever it is.
    """
    for refusal in _named(value):
        raise RefusedInputError(*refusal)
    if not isinstance(value, dict) or not _accepted(value):
        raise RefusedInputError("input-invalid", _fault(value))
    return value


def _named(value: object) -> Iterator[Refusal]:
    """Yield the refusals that have names, of a value that may be anything."""
    lanes = value.get("lanes") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(lanes, list):
        return
    if not lanes:
        yield Refusal("no-lanes", "it has no lane, and to decide nothing would approve nothing")
    names: set[str] = set()
    for lane in lanes:
        name = lane.get("lane") if isinstance(lane, dict) else None
        if isinstance(name, str):
            if name in names:
                yield Refusal("duplicate-lane", f"lane {quoted(name)} stands twice")
            names.add(name)
    exceptions = value.get("exceptions")
    for exception in exceptions if isinstance(exceptions, list) else ():
        if isinstance(exception, dict) and isinstance(exception.get("lane"), str):
            yield from _of_exception(exception, names)


def _of_exception(exception: dict[str, Any], lanes: set[str]) -> Iterator[Refusal]:
    lane = quoted(exception["lane"])
    if exception["lane"] not in lanes:
        yield Refusal("exception-unknown-lane", f"an exception is for lane {lane}, which the input does not have")
    if exception.get("evidence", []) == []:
        yield Refusal("exception-no-evidence", f"an exception for lane {lane} names no run hash: that is a policy")
    granted, expires = (_key(exception.get(member)) for member in ("at", "expires"))
    if granted is not None and expires is not None and expires <= granted:
        why = f"an exception for lane {lane} expires at {exception['expires']}, and is granted at {exception['at']}"
        yield Refusal("exception-never-in-force", why)


def _key(time: object) -> str | None:
    return time_key(time) if isinstance(time, str) and is_time(time) else None


def _accepted(value: object) -> bool:
    try:
        return accepts(INPUT, "reader", value)
    except (RecursionError, TypeError, ValueError):
        # What no JSON text within the limits holds, a validator need not take.
        return False


def _fault(value: object) -> str:
    for fault in explain(INPUT, "reader", value):
        return f"{fault.pointer or 'the input'} {fault.message}"
    return "it is no JSON value that the reader schema accepts"


def quoted(name: str) -> str:
    """Return a name between quotes, of one that is too long to be any the beginning."""
    return repr(name[:_SHOWN])
