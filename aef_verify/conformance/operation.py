"""What an operation of the contract is, and how its options are read (09 §9.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from aef_verify.problems import InputError

Options = Mapping[str, str]


class Operation(NamedTuple):
    """One operation of the contract: its work, its arguments, its options (True where required)."""

    run: Callable[[Sequence[str], Options], object]
    arguments: tuple[str, ...]
    options: Mapping[str, bool] = {}
    optional: tuple[str, ...] = ()


def time_given(options: Options, name: str) -> str:
    """Return a required option that must be a time [ENC-8]."""
    from aef_verify.encoding.times import parse_time

    try:
        parse_time(options[name])
    except ValueError as fault:
        raise InputError(f"{name} {fault}") from None
    return options[name]
