"""Which questions are asked: selected once, before anything is asked, in dataset order (docs/MEMORY_PAIR.md §1).

`full` takes all questions and `subset` 50; a smaller number takes fewer of either. A draw is stratified: each type
gets its share of the dataset, by largest remainder, and at least one question where there are as many places as
types. Within a type the questions are taken in the order of a digest of seed and id, so that a draw is the same on
every machine and does not hang on the order of the file.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from aef_verify.memory.entry import LARGEST_INTEGER
from aef_verify.memory.model import RosterItem
from aef_verify.problems import InputError

PRESETS = ("subset", "full")
SUBSET = 50
"""Questions of the preset `subset`."""


def select(
    items: Sequence[RosterItem], *, preset: str, seed: int, max_questions: int | None = None
) -> tuple[RosterItem, ...]:
    """Return the selected questions, in dataset order.

    Raises:
        InputError: an unknown preset, `max_questions` below 1, or a seed that a definition cannot hold.
    """
    if preset not in PRESETS:
        raise InputError(f"unknown preset {preset!r}: one of {', '.join(PRESETS)}")
    if max_questions is not None and max_questions < 1:
        raise InputError(f"at least one question must be asked, not {max_questions}")
    if abs(seed) > LARGEST_INTEGER:
        raise InputError(f"the seed {seed} is beyond ±{LARGEST_INTEGER}")
    size = SUBSET if preset == "subset" else len(items)
    size = min(size, len(items) if max_questions is None else max_questions)
    if size >= len(items):
        return tuple(items)
    shares = _shares(Counter(item.type for item in items), size)
    drawn: set[str] = set()
    for item in sorted(items, key=lambda item: _rank(seed, item.id)):
        if shares[item.type]:
            shares[item.type] -= 1
            drawn.add(item.id)
    return tuple(item for item in items if item.id in drawn)


def _shares(counts: Counter[str], size: int) -> dict[str, int]:
    """How many of `size` places each type gets; never more than it has questions, as `size` is below their sum."""
    total = counts.total()
    least = 1 if size >= len(counts) else 0
    shares = {kind: max(least, size * count // total) for kind, count in counts.items()}
    # By the exact remainder, then by name: nothing here depends on floating point or on an order of insertion.
    wanting = sorted(counts, key=lambda kind: (shares[kind] * total - size * counts[kind], kind))
    while (left := size - sum(shares.values())) > 0:
        for kind in wanting[:left]:
            shares[kind] += 1
    while sum(shares.values()) > size:
        # A type that was given its one place took it from the type with the most.
        largest = max(shares, key=lambda kind: (shares[kind], kind))
        shares[largest] -= 1
    return shares


def _rank(seed: int, identity: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{identity}".encode()).digest()
