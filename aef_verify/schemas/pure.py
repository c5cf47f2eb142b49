"""Schema validation by the jsonschema package, with ECMA-262's patterns [ENC-15]: the reference path."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any


def compile_schema(text: str) -> Callable[[object], bool]:
    """Return what tells whether a JSON value is valid against the schema that the JSON text holds."""
    is_valid: Callable[[object], bool] = _validator_class()(json.loads(text)).is_valid
    return is_valid


@cache
def _validator_class() -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend as extend_class

    def matches_pattern(_: object, pattern: str, value: object, __: object) -> Iterator[ValidationError]:
        if isinstance(value, str) and not ecma(pattern).search(value):
            yield ValidationError("does not match the pattern")

    def has_unique_items(_: object, wanted: bool, value: object, __: object) -> Iterator[ValidationError]:
        if wanted and isinstance(value, list) and len({identity(item) for item in value}) < len(value):
            yield ValidationError("has an item twice")

    extend: Callable[..., Any] = extend_class
    return extend(Draft202012Validator, {"pattern": matches_pattern, "uniqueItems": has_unique_items})


_DOLLAR = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


@cache
def ecma(pattern: str) -> re.Pattern[str]:
    r"""Compile a pattern of [ENC-14] so that `$` is the end of input only, which is `\Z` here [ENC-15]."""
    return re.compile(_DOLLAR.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern))


def identity(value: object) -> object:
    """Return what two JSON values have in common exactly when they are equal: `1` and `1.0` are, `1` and `true` not."""
    if isinstance(value, list):
        return ("list", *map(identity, value))
    if isinstance(value, dict):
        return frozenset((name, identity(member)) for name, member in value.items())
    return ("boolean", value) if isinstance(value, bool) else value
