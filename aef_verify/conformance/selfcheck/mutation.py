"""A mutation: a rule switched off in the source of one file, as text that stands there once and what replaces it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple


class MutationError(Exception):
    """A mutation does not fit the source as it is today; the message says which and why."""


class Mutation(NamedTuple):
    """One rule that is switched off.

    Attributes:
        id: its own name.
        rules: the ids of the rules that it is about.
        file: the file, relative to the package.
        what: what the verifier does wrong then, in plain words.
        old: text that stands once in the file.
        new: what replaces it.
        tests: the files of tests that notice it, relative to `tests`, likeliest first.
    """

    id: str
    rules: tuple[str, ...]
    file: str
    what: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, source: str) -> str:
        """Return the source of the file with the rule switched off; raises `MutationError` where it does not fit."""
        count = source.count(self.old)
        if count != 1:
            raise MutationError(f"{self.id}: what it replaces stands {count} times in {self.file}, not once")
        if "".join(self.old.split()) == "".join(self.new.split()):
            raise MutationError(f"{self.id}: {self.file} would mean the same")
        mutated = source.replace(self.old, self.new)
        try:
            if self.file.endswith(".json"):
                json.loads(mutated)
            else:
                compile(mutated, self.file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as fault:
            raise MutationError(f"{self.id}: {self.file} would not read: {fault}") from None
        return mutated


Row = tuple[str, str, str, str, str]
"""A line of a table: id, rules, what, old, new."""


def of(file: str, tests: str, *rows: Row) -> Iterator[Mutation]:
    """Yield the mutations of one file, which the same tests notice; `tests` and rules have blanks between them."""
    for identity, rules, what, old, new in rows:
        yield Mutation(identity, tuple(rules.split()), file, what, old, new, tuple(tests.split()))
