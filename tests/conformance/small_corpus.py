"""A small corpus made by a test: its vectors, its index, and a program that answers as the test says."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from aef_verify.conformance.drive import Program
from aef_verify.conformance.index import Corpus, Vector, load


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class SmallCorpus:
    """Writes vectors below a folder and, last, the index that lists them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.items: list[dict[str, object]] = []
        root.mkdir()

    def add(
        self,
        identity: str,
        kind: str,
        files: Mapping[str, bytes],
        expected: Mapping[str, object] | None = None,
        *,
        classes: Sequence[str] = ("Run verifier",),
        **more: object,
    ) -> None:
        """Add a vector in a folder of its own; `expected` becomes its expected.json."""
        written = dict(files)
        if expected is not None:
            document = {"kind": kind, "rules": ["CONF-2"], **expected}
            written["expected.json"] = json.dumps(document).encode()
        for name, data in written.items():
            path = self.root / identity / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.items.append(
            {
                "id": identity,
                "kind": kind,
                "classes": list(classes),
                "rules": ["CONF-2"],
                "path": identity,
                "files": {name: sha256(data) for name, data in written.items()},
                **more,
            }
        )

    def add_file(self, name: str, kind: str, value: object, **more: object) -> None:
        """Add a vector that is one file."""
        data = json.dumps(value).encode()
        (self.root / name).write_bytes(data)
        self.items.append(
            {
                "id": name,
                "kind": kind,
                "classes": ["Producer"],
                "rules": ["RUN-3"],
                "path": name,
                "files": {Path(name).name: sha256(data)},
                **more,
            }
        )

    def load(self) -> Corpus:
        """Write the index and read it back as the runner does."""
        index = {"aef": "1.0", "description": "made by a test", "vectors": self.items}
        (self.root / "index.json").write_text(json.dumps(index))
        return load(str(self.root))

    def vector(self, identity: str) -> tuple[Corpus, Vector]:
        """Write the index and return the corpus with one of its vectors."""
        corpus = self.load()
        return corpus, next(vector for vector in corpus.vectors if vector.id == identity)


PROGRAM = """
import json, os, signal, sys
from pathlib import Path
here = Path(__file__).parent
with (here / "calls.ndjson").open("a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
answer = json.loads((here / "answers.json").read_text()).get(sys.argv[1], {})
for name, text in answer.get("write", {}).items():
    (Path(sys.argv[2]) / name).write_text(text)
os.write(2, answer.get("stderr", "").encode())
os.write(1, answer.get("stdout", "").encode("utf-8", "surrogateescape") * answer.get("times", 1))
if "signal" in answer:
    os.kill(os.getpid(), answer["signal"])
if answer.get("hang"):
    while True:
        signal.pause()
os._exit(answer.get("exit", 0))
"""


class FakeProgram:
    """A program that answers each operation as the test says, and writes down how it was called."""

    def __init__(self, folder: Path, timeout: float = 60.0) -> None:
        folder.mkdir()
        self.folder = folder
        self.script = folder / "program.py"
        self.script.write_text(PROGRAM)
        self.program = Program((sys.executable, "-I", "-S", str(self.script)), timeout)
        self.answers: dict[str, dict[str, object]] = {}

    @property
    def command(self) -> str:
        return shlex.join(self.program.words)

    def says(self, operation: str, value: object = None, **answer: object) -> FakeProgram:
        """Let an operation print a value, or do what `answer` says (stdout, stderr, exit, signal, hang, write)."""
        if value is not None:
            answer["stdout"] = json.dumps(value)
        self.answers[operation] = answer
        (self.folder / "answers.json").write_text(json.dumps(self.answers))
        return self

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call so far."""
        return [json.loads(line) for line in (self.folder / "calls.ndjson").read_text().splitlines()]
