"""One vector made ready to judge: where its files lie, what it expects, and how its operation is called."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

from aef_verify.conformance.drive import Answer, Driver, Failure, Refusal
from aef_verify.conformance.index import (
    EXPECTED,
    INDEX_BYTES,
    Corpus,
    CorpusError,
    Vector,
    blocks,
    listed_file,
    located,
    safe,
)
from aef_verify.encoding.ijson import EncodingError, parse, too_deep

SHOWN = 240
"""Characters of a value shown in a difference."""


class UnmetError(Exception):
    """The vector fails before its answer can be compared; each argument is one line for people."""


@dataclass(frozen=True, slots=True)
class Case:
    """One vector made ready.

    Attributes:
        folder: where the vector's files lie: in the corpus, or in a scratch copy of them.
        expected: its `expected.json`; empty for a vector that is one file.
        driver: performs an operation with the implementation that is tested.
        scratch: an empty folder of this vector alone, removed afterwards.
    """

    corpus: Corpus
    vector: Vector
    folder: str
    expected: Mapping[str, object]
    driver: Driver
    scratch: str

    def text(self, name: str) -> str:
        """Return a member of `expected.json` that must be a text."""
        value = self.expected.get(name)
        if not isinstance(value, str):
            raise CorpusError(f"{EXPECTED}: {name} is no text")
        return value

    def stated(self, name: str) -> object:
        """Return a member that `expected.json` must hold."""
        if name not in self.expected:
            raise CorpusError(f"{EXPECTED}: no {name}")
        return self.expected[name]

    def place(self, name: str, default: str | None = None) -> str:
        """Return where the file or folder lies that a member names relative to the vector.

        What lies outside the vector (`..`) must be a file that the index lists, and is checked against it.
        """
        path = self.text(name) if default is None or name in self.expected else default
        if ".." not in path.split("/"):
            return located(self.folder, path)
        return listed_file(self.corpus, posixpath.normpath(posixpath.join(self.vector.path, path)))

    def content(self) -> object:
        """Return the JSON value of a vector that is one file."""
        name = self.vector.path.rpartition("/")[2]
        return read_value(located(self.folder, name), self.vector.path)

    def options(self, *names: str) -> list[str]:
        """Return `--name FILE` for each of these members that the vector has."""
        return [word for name in names if name in self.expected for word in (f"--{name}", self.place(name))]

    def answer(self, *words: str) -> dict[str, object]:
        """Perform an operation and return the object it answered; raises UnmetError otherwise."""
        value = self.value(*words)
        if not isinstance(value, dict):
            raise UnmetError(f"{words[0]}: answered {shown(value)}, and an object is expected")
        return value

    def value(self, *words: str) -> object:
        """Perform an operation and return the value it answered; raises UnmetError otherwise."""
        match self.driver(words):
            case Answer(value):
                return value
            case Refusal(message):
                raise UnmetError(f"{words[0]}: refused (exit 2), and an answer is expected: {message}")
            case Failure(reason):
                raise UnmetError(f"{words[0]}: {reason}")

    def refusal(self, *words: str) -> list[str]:
        """Perform an operation that must be refused, and return what is wrong."""
        match self.driver(words):
            case Answer(value):
                return [f"{words[0]}: answered {shown(value)}, and a refusal (exit 2) is expected"]
            case Refusal():
                return []
            case Failure(reason):
                return [f"{words[0]}: {reason}; a refusal (exit 2) is expected"]


def read_value(where: str, path: str) -> object:
    """Return the JSON value of a file of a corpus; raises CorpusError, naming `path`, if it does not read."""
    data = b"".join(blocks(where, path))
    if len(data) > INDEX_BYTES or too_deep(data):
        raise CorpusError(f"{path}: too large or nested too deep")
    try:
        return parse(data)
    except EncodingError as fault:
        raise CorpusError(f"{path}: does not read: {fault}") from None


def read_expected(folder: str, kind: str) -> dict[str, object]:
    """Return the `expected.json` of a vector's folder, which must state the vector's kind."""
    found = read_value(located(folder, EXPECTED), EXPECTED)
    if not isinstance(found, dict):
        raise CorpusError(f"{EXPECTED}: no object")
    if found.get("kind") != kind:
        raise CorpusError(f"{EXPECTED}: kind is {shown(found.get('kind'))}, and the index says {kind}")
    return found


def inside(folder: str, path: str) -> str:
    """Return where a new file of a scratch folder goes."""
    return os.path.join(folder, *safe(path).split("/"))


def shown(value: object) -> str:
    """Return a value as JSON, cut, for a difference."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text):,} characters)"
