"""Credentials of a plan, by reference only [PLAN-3], [PLAN-4]: resolved where the runner runs, and shown nowhere.

Every reference is resolved before a job is accepted, needed or not. `env` is the variable that the reference's `path`
names, set and not empty; `keychain` and `vault` are never resolved here, so that a plan with one is refused. What is
said about a reference is its place in the plan, its scheme and its purpose: its `name` may equal its `path`, and
neither a value nor a `path` may stand in anything that is written or printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from aef_verify.runner.plan import Credential

LONG_ENOUGH = 8
"""Bytes of a value or path that cannot stand in a file by chance."""


class UnresolvedError(Exception):
    """A reference that does not resolve; the message holds neither a value nor a path."""


class Credentials:
    """Resolved credentials by purpose; they have no form as text."""

    __slots__ = ("_bytes", "_texts", "_values")

    def __init__(self, values: Mapping[str, Mapping[str, str]], secret: Iterable[str]) -> None:
        """Take the values by purpose and variable, and every text that must not be written."""
        self._values = values
        self._texts = frozenset(secret)
        self._bytes = frozenset(form for text in self._texts for form in _forms(text) if len(form) >= LONG_ENOUGH)

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self._texts)

    def of(self, purpose: str) -> dict[str, str]:
        """Return the variables to hand to the process that a purpose names."""
        return dict(self._values.get(purpose, {}))

    def stand_in(self, texts: Iterable[str]) -> bool:
        """Whether a value or a path stands in any of these texts, however short it is."""
        if not self._texts:
            return False
        # No value of a variable holds a zero byte.
        joined = "\0".join(texts)
        return any(secret in joined for secret in self._texts)

    def stand_in_bytes(self, data: bytes) -> bool:
        """Whether a value or a path of some length stands in these bytes, as it is or as JSON spells it."""
        return any(secret in data for secret in self._bytes)


def resolve(references: Iterable[Credential], environment: Mapping[str, str]) -> Credentials:
    """Return the credentials that a plan's references name.

    Args:
        references: the plan's, all of them known to this version [PLAN-7].
        environment: the runner's environment variables.

    Raises:
        UnresolvedError: a reference does not resolve, or one purpose is to get two values under one name.
    """
    values: dict[str, dict[str, str]] = {}
    secret: set[str] = set()
    for number, reference in enumerate(references, 1):
        which = f"credential reference {number} (scheme {reference.scheme}, purpose {reference.purpose})"
        if reference.scheme != "env":
            raise UnresolvedError(f"{which} does not resolve: this runner resolves `env` alone")
        value = environment.get(reference.path)
        if not value:
            raise UnresolvedError(f"{which} does not resolve: its variable is {'empty' if value == '' else 'not set'}")
        given = values.setdefault(reference.purpose, {})
        if given.setdefault(reference.name, value) != value:
            raise UnresolvedError(f"{which} gives a variable another value than a reference before it")
        secret |= {value, reference.path}
    return Credentials(values, secret)


def _forms(text: str) -> set[bytes]:
    """Return a text as bytes, and as JSON spells it."""
    spelled = (text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1])
    return {form.encode("utf-8", "surrogateescape") for form in spelled}
