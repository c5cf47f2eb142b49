"""A copy of the checkout in which one rule at a time is switched off, and processes that run there.

The checkout itself is never written to. A file that was changed has another time than before, so that no bytecode of
its former content is taken for it, and processes that see it write none.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from aef_verify.conformance.drive import Program, Reply
from aef_verify.conformance.selfcheck.mutation import Mutation
from aef_verify.problems import InputError

PACKAGE = "aef_verify"
TESTS = "tests"
_LEFT_OUT = shutil.ignore_patterns(".*", "dist", "build", "*.egg-info")
_LATER = 10
"""Seconds by which a changed file is newer than it was."""


def checkout() -> str:
    """Return the folder of the checkout that this package runs from.

    Raises:
        InputError: it does not run from a checkout, so that its tests are not there; or pytest is not installed.
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    if not all(os.path.exists(os.path.join(root, name)) for name in (TESTS, "pyproject.toml")):
        raise InputError(
            f"the self-check needs the tests, and {root} holds none: this package was installed without them. "
            "Run it from a checkout; `aef conformance run CORPUS` judges an installed package"
        )
    if find_spec("pytest") is None:
        raise InputError("the self-check needs pytest, which is not installed here; scripts/test installs it")
    return root


def source_of(root: str, file: str) -> str:
    """Return the source of a file of the package in a checkout."""
    with open(_located(root, file), encoding="utf-8", newline="") as source:
        return source.read()


def _located(root: str, file: str) -> str:
    return os.path.join(root, PACKAGE, *file.split("/"))


@dataclass(frozen=True, slots=True)
class Workplace:
    """A copy of a checkout.

    Attributes:
        root: the folder of the copy.
        scratch: a folder beside it, for whatever its processes write.
    """

    root: str
    scratch: str

    @classmethod
    def made(cls, source: str, folder: str) -> Workplace:
        """Copy a checkout into a new folder."""
        place = cls(os.path.join(folder, "checkout"), os.path.join(folder, "scratch"))
        os.makedirs(place.scratch)
        shutil.copytree(source, place.root, symlinks=True, ignore=_LEFT_OUT)
        return place

    @contextmanager
    def mutated(self, mutation: Mutation) -> Iterator[None]:
        """Switch a rule off, and on again at the end; raises `MutationError` where the mutation does not fit."""
        path = _located(self.root, mutation.file)
        before = os.stat(path)
        source = source_of(self.root, mutation.file)
        self._write(path, mutation.applied(source), before.st_mtime_ns + _LATER * 10**9)
        try:
            yield
        finally:
            self._write(path, source, before.st_mtime_ns)

    @staticmethod
    def _write(path: str, text: str, time: int) -> None:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.utime(path, ns=(time, time))

    def perform(self, module: str, words: Sequence[str], timeout: float, *, keeps_bytecode: bool = False) -> Reply:
        """Run a module of the copy in a process of its own and return the JSON value that it printed."""
        call = (
            f"import sys; sys.path.insert(0, {self.root!r}); import {module} as tool; "
            f"assert tool.__file__.startswith({self.root + os.sep!r}), tool.__file__; tool.main(sys.argv[1:])"
        )
        return Program(
            (sys.executable, "-P", "-c", call),
            timeout,
            folder=self.root,
            environment=self._environment(keeps_bytecode),
        )(words)

    def _environment(self, keeps_bytecode: bool) -> Mapping[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AEF_", "PYTEST_"))}
        set_here = {"PYTHONPATH": self.root, "TMPDIR": self.scratch}
        return kept | set_here | ({} if keeps_bytecode else {"PYTHONDONTWRITEBYTECODE": "1"})

    def clear(self) -> None:
        """Remove what a process left behind in its scratch folder: one that was ended removes nothing itself."""
        for name in os.listdir(self.scratch):
            shutil.rmtree(os.path.join(self.scratch, name), ignore_errors=True)
