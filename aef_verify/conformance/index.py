"""The index of a corpus: its vectors, their selection, and the SHA-256 of every file before it is used.

Rules kept, in this order: `index.json` is read as hostile input and its bytes' SHA-256 is the corpus
version ([CONF-1]); vectors are selected by class, kind, level, algorithm and id (09 §9.1); every file of a
vector is checked against the index before anything reads it ([CONF-3]). A file that is missing, altered,
not listed, or named by a path that leaves the corpus is a `CorpusError`: it fails the vector and names the
file.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from io import FileIO

from aef_verify.encoding.ijson import EncodingError, parse_object, too_deep
from aef_verify.folder import BLOCK, READ_FILE
from aef_verify.integrity.algorithms import ALGORITHMS
from aef_verify.problems import InputError, reason_of

INDEX = "index.json"
INDEX_BYTES = 64 << 20
"""The largest index that is read; a hundred times the first published one."""

EXPECTED = "expected.json"
LEVELS = ("intact", "signed")

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_DRIVE = re.compile(r"[A-Za-z]:")


class CorpusError(Exception):
    """The corpus does not hold what its index says, or a vector asks for something it must not."""


@dataclass(frozen=True, slots=True)
class Vector:
    """One vector of the index: its folder, or its one file, and the digest of each of its files.

    Attributes:
        path: relative to the corpus.
        files: name relative to `path` (or the base name, where `path` is a file), to lower-case hex SHA-256.
        level: "signed" where only the signed level of a Run verifier must pass it, else "intact".
        algorithm: the algorithm of a `sign` vector, else "".
    """

    id: str
    kind: str
    classes: tuple[str, ...]
    rules: tuple[str, ...]
    path: str
    files: Mapping[str, str]
    level: str = "intact"
    algorithm: str = ""

    @property
    def is_file(self) -> bool:
        """Whether the vector is one file: then `files` names it by its base name."""
        return list(self.files) == [self.path.rpartition("/")[2]]

    def listed(self) -> Iterator[tuple[str, str]]:
        """Yield (path relative to the corpus, digest) for each file of the vector."""
        folder = self.path.rpartition("/")[0] if self.is_file else self.path
        for name, digest in self.files.items():
            yield (f"{folder}/{name}" if folder else name), digest


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus: its folder, its version ([CONF-1]), the AEF version it tests, and its vectors in index order.

    Attributes:
        digests: path relative to the corpus, to digest, for every file that the index lists.
    """

    root: str
    version: str
    aef: str
    vectors: tuple[Vector, ...]
    digests: Mapping[str, str]


def safe(path: str) -> str:
    """Return a path relative to some folder; raises CorpusError where it could leave it or means two things.

    Refused: empty, absolute, with a drive, a backslash, a NUL, or a segment that is empty, `.` or `..`.
    """
    unsafe = not path or "\\" in path or "\0" in path or _DRIVE.match(path)
    if unsafe or any(segment in ("", ".", "..") for segment in path.split("/")):
        raise CorpusError(f"{path!r} is no path below its folder")
    return path


def located(root: str, path: str) -> str:
    """Return where a safe path lies below a folder; raises CorpusError for a link on the way or at it."""
    where = root
    for segment in safe(path).split("/"):
        where = os.path.join(where, segment)
        if os.path.islink(where):
            raise CorpusError(f"{path}: a link, and links are not followed")
    return where


def load(root: str) -> Corpus:
    """Read the index of a corpus folder; raises InputError where there is none or it is not an index."""
    folder = os.path.realpath(root)
    if not os.path.isdir(folder):
        raise InputError(f"{root}: no such folder")
    data = _index_bytes(os.path.join(folder, INDEX), root)
    try:
        if too_deep(data):
            raise InputError(f"{root}: {INDEX} is nested too deep")
        index = parse_object(data)
    except EncodingError as fault:
        raise InputError(f"{root}: {INDEX} does not read: {fault}") from None
    items = index.get("vectors")
    if not isinstance(items, list):
        raise InputError(f"{root}: {INDEX} has no list of vectors")
    vectors = tuple(_vector(item, number) for number, item in enumerate(items))
    ids: set[str] = set()
    digests: dict[str, str] = {}
    for vector in vectors:
        if vector.id in ids:
            raise InputError(f"{root}: {INDEX} holds the vector {vector.id!r} twice")
        ids.add(vector.id)
        for path, digest in vector.listed():
            if digests.setdefault(path, digest) != digest:
                raise InputError(f"{root}: {INDEX} gives {path!r} two digests")
    aef = index.get("aef")
    return Corpus(folder, hashlib.sha256(data).hexdigest(), aef if isinstance(aef, str) else "", vectors, digests)


def _index_bytes(path: str, root: str) -> bytes:
    try:
        with _opened(path) as file:
            data = file.read(INDEX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{root}: no {INDEX} here; name the folder that holds it") from None
    except (OSError, CorpusError) as fault:
        raise InputError(f"{root}: {INDEX} cannot be read: {reason_of(fault)}") from None
    if len(data) > INDEX_BYTES:
        raise InputError(f"{root}: {INDEX} is larger than {INDEX_BYTES:,} bytes")
    return data


def _vector(item: object, number: int) -> Vector:
    """Return one vector of the index; raises InputError where a member is missing or of another type."""
    if not isinstance(item, dict):
        raise InputError(f"{INDEX}: vectors[{number}] is no object")

    def text(name: str, default: str | None = None) -> str:
        value = item.get(name, default)
        if not isinstance(value, str) or (default is None and not value):
            raise InputError(f"{INDEX}: vectors[{number}]: {name} is no text")
        return value

    def texts(name: str) -> tuple[str, ...]:
        value = item.get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InputError(f"{INDEX}: vectors[{number}]: {name} is no list of texts")
        return tuple(value)

    files = item.get("files")
    if not isinstance(files, dict) or not files:
        raise InputError(f"{INDEX}: vectors[{number}]: files is no object that names files")
    for name, digest in files.items():
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise InputError(f"{INDEX}: vectors[{number}]: files: {name!r} has no SHA-256 in lower-case hex")
    level = text("level", "intact")
    if level not in LEVELS:
        raise InputError(f"{INDEX}: vectors[{number}]: level is none of {', '.join(LEVELS)}")
    return Vector(
        id=text("id"),
        kind=text("kind"),
        classes=texts("classes"),
        rules=texts("rules"),
        path=text("path"),
        files=files,
        level=level,
        algorithm=text("algorithm", ""),
    )


def select(
    corpus: Corpus,
    *,
    classes: Collection[str] = (),
    kinds: Collection[str] = (),
    level: str = "signed",
    algorithms: Collection[str] = (),
    ids: Collection[str] = (),
) -> list[Vector]:
    """Return the vectors that every given condition admits, in index order (09 §9.1).

    Args:
        corpus: the corpus.
        classes: admit a vector of any of these classes, letter case ignored; none given: of every class.
        kinds: admit these kinds; none given: every kind.
        level: "intact" leaves out what only the signed level must pass.
        algorithms: admit `sign` vectors of these algorithms only; other kinds are not touched.
        ids: admit ids that match any of these patterns (`*`, `?`, `[...]`).

    Raises:
        InputError: a class, kind or algorithm that no vector has, or nothing selected.
    """
    wanted = {name.casefold() for name in classes}
    known = {name for vector in corpus.vectors for name in vector.classes}
    _refuse_unknown("class", wanted, {name.casefold(): name for name in known})
    _refuse_unknown("kind", set(kinds), {vector.kind: vector.kind for vector in corpus.vectors})
    _refuse_unknown("algorithm", set(algorithms), {name: name for name in ALGORITHMS})
    selected = [
        vector
        for vector in corpus.vectors
        if (not wanted or any(name.casefold() in wanted for name in vector.classes))
        and (not kinds or vector.kind in kinds)
        and (level == "signed" or vector.level == "intact")
        and (not algorithms or not vector.algorithm or vector.algorithm in algorithms)
        and (not ids or any(fnmatchcase(vector.id, pattern) for pattern in ids))
    ]
    if not selected:
        raise InputError("no vector is selected")
    return selected


def _refuse_unknown(what: str, wanted: Iterable[str], known: Mapping[str, str]) -> None:
    for name in wanted:
        if name not in known:
            raise InputError(f"no {what} {name!r} in this corpus; there are {', '.join(sorted(known.values()))}")


def check(corpus: Corpus, vector: Vector) -> None:
    """Check the SHA-256 of every file of a vector, and that its folder holds no other file ([CONF-3]).

    A `fixture` may share its folder with other vectors, so only its listed files are its own.

    Raises:
        CorpusError: names the first file that is missing, altered, not listed, or not safely named.
    """
    for name in (vector.path, *vector.files):
        safe(name)
    for path, digest in vector.listed():
        check_file(corpus, path, digest)
    if not vector.is_file and vector.kind != "fixture":
        refuse_unlisted(corpus, vector.path)


def check_file(corpus: Corpus, path: str, digest: str) -> str:
    """Return where a file of the corpus lies, its SHA-256 being the one given; raises CorpusError if not."""
    where = located(corpus.root, path)
    found = hashlib.sha256()
    for block in blocks(where, path):
        found.update(block)
    if found.hexdigest() != digest:
        raise CorpusError(f"{path}: altered: its SHA-256 is {found.hexdigest()}, and {INDEX} gives {digest}")
    return where


def listed_file(corpus: Corpus, path: str) -> str:
    """Return where a file that the index must list lies, once checked; raises CorpusError if not."""
    digest = corpus.digests.get(safe(path))
    if digest is None:
        raise CorpusError(f"{path}: not listed in {INDEX}")
    return check_file(corpus, path, digest)


def refuse_unlisted(corpus: Corpus, folder: str) -> None:
    """Raise CorpusError where a folder holds anything but folders and files that the index lists."""
    try:
        with os.scandir(located(corpus.root, folder)) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as fault:
        raise CorpusError(f"{folder}: cannot be searched: {fault.strerror}") from None
    for entry in entries:
        path = f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            refuse_unlisted(corpus, path)
        elif path not in corpus.digests:
            raise CorpusError(f"{path}: not listed in {INDEX}")


def blocks(where: str, path: str) -> Iterator[bytes]:
    """Yield the bytes of a regular file, `BLOCK` at a time; raises CorpusError, naming `path`, if none."""
    try:
        with _opened(where) as file:
            while block := file.read(BLOCK):
                yield block
    except FileNotFoundError:
        raise CorpusError(f"{path}: missing") from None
    except OSError as fault:
        raise CorpusError(f"{path}: cannot be read: {fault.strerror}") from None


def _opened(where: str) -> FileIO:
    """Open a regular file for reading, following no link and waiting for no pipe."""
    fd = os.open(where, READ_FILE)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise CorpusError(f"{os.path.basename(where)}: not a regular file")
    return FileIO(fd)
