"""A LongMemEval dataset in the official JSON format, opened without being held in memory (docs/MEMORY_PAIR.md §1).

`open_dataset` reads the whole file once: every question is checked, and where it stands is kept. A question is read
again when it is asked for, and must then have the bytes it had. The variants S, M, oracle and fixture are different
workloads: which one a file holds is told by its name or by the caller, never guessed from its content.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any, NamedTuple

from aef_verify.given import open_given
from aef_verify.memory import framing
from aef_verify.memory.entry import EntryError, input_error, read_entry, read_question
from aef_verify.memory.model import Question, RosterItem
from aef_verify.problems import InputError

VARIANTS = ("s", "m", "oracle", "fixture")

QUESTIONS = 10_000
"""Questions of one dataset at most; with ids of any length the roster fits into a definition [ENC-17]."""

_NAMED = re.compile(r"(?:^|[_.-])longmemeval[_-](s|m|oracle|fixture)(?![a-z0-9])", re.IGNORECASE)
_WORKLOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workload")


class _Place(NamedTuple):
    start: int
    length: int
    depth: int
    digest: bytes


class Dataset:
    """The questions of one file, in its order.

    Attributes:
        path: the file.
        variant: one of `VARIANTS`.
        items: id and type of every question.
        gold_only: whether no haystack holds anything but gold sessions, as in the official oracle file.
    """

    def __init__(self, path: str, variant: str, items: dict[RosterItem, _Place], gold_only: bool) -> None:
        self.path = path
        self.variant = variant
        self.items = tuple(items)
        self.gold_only = gold_only
        self._places = {item.id: place for item, place in items.items()}

    @property
    def unpairable(self) -> str | None:
        """Why this dataset has no normal arm to pair an oracle with; None where it has one."""
        if self.variant == "oracle":
            return f"{self.path}: the oracle variant cannot be paired: its histories are gold-only already"
        if self.gold_only:
            return f"{self.path}: cannot be paired: every history holds its gold sessions alone"
        return None

    def entry(self, identity: str) -> dict[str, Any]:
        """Return the question's entry exactly as the dataset holds it, labels included.

        Raises:
            InputError: no such question, or the file is not what it was when it was opened.
        """
        place = self._places.get(identity)
        if place is None:
            raise InputError(f"{self.path}: holds no question {identity!r}")
        with open_given(self.path) as file:
            try:
                file.seek(place.start)
                data = file.read(place.length)
            except OSError as fault:
                raise InputError(f"{self.path}: cannot be read: {fault.strerror}") from None
        if hashlib.sha256(data).digest() != place.digest:
            raise InputError(f"{self.path}: question {identity!r} was changed after the dataset was opened")
        return read_entry(data, place.depth)

    def question(self, identity: str) -> Question:
        """Return the question, its turns without labels.

        Raises:
            InputError: as for `entry`.
        """
        return read_question(self.entry(identity))


def open_dataset(path: str, *, variant: str | None = None) -> Dataset:
    """Check every question of the file and return the dataset.

    Args:
        path: a file in the official format; a name such as `longmemeval_s_cleaned.json` tells its variant.
        variant: one of `VARIANTS`, for a file whose name does not tell it.

    Raises:
        InputError: no such file, an unknown or contradictory variant, or a fault that is named by question and field.
    """
    known = _variant(path, variant)
    items: dict[RosterItem, _Place] = {}
    seen: dict[str, int] = {}
    gold_only = True
    place = 0
    with open_given(path) as file:
        try:
            for start, data, depth in framing.elements(file):
                question = read_question(read_entry(data, depth))
                _check_new(question.id, place, seen)
                seen[question.id] = place
                gold_only = gold_only and all(session.id in question.gold for session in question.sessions)
                found = _Place(start, len(data), depth, hashlib.sha256(data).digest())
                items[RosterItem(question.id, question.type)] = found
                place += 1
        except EntryError as fault:
            raise input_error(path, place, fault) from None
        except framing.FramingError as fault:
            after = f"after {fault.place:,} questions: " if fault.place else ""
            raise InputError(f"{path}: {after}{fault}") from None
        except OSError as fault:
            raise InputError(f"{path}: cannot be read: {fault.strerror}") from None
    if not items:
        raise InputError(f"{path}: holds no question")
    return Dataset(path, known, items, gold_only)


def _check_new(identity: str, place: int, seen: dict[str, int]) -> None:
    if identity in seen:
        raise EntryError(
            identity, "question_id", f"stands twice, as question number {seen[identity] + 1} and {place + 1}"
        )
    if place >= QUESTIONS:
        raise EntryError(identity, "", f"more than {QUESTIONS:,} questions")


def _variant(path: str, given: str | None) -> str:
    if given is not None and given not in VARIANTS:
        raise InputError(f"unknown variant {given!r}: one of {', '.join(VARIANTS)}")
    named = _NAMED.search(os.path.basename(path))
    told = named[1].lower() if named else None
    if given is None and told is None:
        raise InputError(f"{path}: its name does not tell the variant; give one of {', '.join(VARIANTS)} (--variant)")
    if given is not None and told is not None and given != told:
        raise InputError(f"{path}: named as variant {told!r}, but {given!r} was given; variants are never mixed")
    return given or told or ""


def bundled() -> Dataset:
    """Return the bundled fixture workload."""
    return open_dataset(os.path.join(_WORKLOAD, "longmemeval_fixture.json"))


def bundled_script() -> str:
    """Return the path of the provider script that answers and judges the bundled workload."""
    return os.path.join(_WORKLOAD, "provider_script.json")
