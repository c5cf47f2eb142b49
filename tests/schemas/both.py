"""Both implementations of schema validation, for tests that run the same cases through each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from aef_verify.schemas import Side, native, pure
from aef_verify.schemas.source import schema_text

Validator = Callable[[object], bool]
Implementation = Callable[[str, Side], Validator]

SIDES: tuple[Side, Side] = ("writer", "reader")


@cache
def by_jsonschema_rs(name: str, side: Side) -> Validator:
    """Return a validator of the native implementation."""
    return native.compile_schema(schema_text(name, side))


@cache
def by_jsonschema(name: str, side: Side) -> Validator:
    """Return a validator of the pure one."""
    return pure.compile_schema(schema_text(name, side))


IMPLEMENTATIONS = [pytest.param(by_jsonschema_rs, id="native"), pytest.param(by_jsonschema, id="pure")]
