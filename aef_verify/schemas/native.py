"""Schema validation by jsonschema-rs: the fast path."""

from __future__ import annotations

from collections.abc import Callable


def compile_schema(text: str) -> Callable[[object], bool]:
    """Return what tells whether a JSON value is valid against the schema that the JSON text holds.

    Patterns run in an engine that is linear in the length of what it matches, whatever that is; `$` is the end of
    input and nothing else in it [ENC-15].
    """
    from jsonschema_rs import Draft202012Validator, RegexOptions

    return Draft202012Validator(text, pattern_options=RegexOptions()).is_valid
