"""Either parser and validator in one process: what AEF_PURE=1 selects, and what is selected without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from unittest.mock import patch

from aef_verify import schemas
from aef_verify.encoding import ijson
from aef_verify.run import results
from aef_verify.schemas import native, pure

T = TypeVar("T")
NATIVE, PURE = "native", "pure"
PARSERS: dict[str, Callable[[bytes], object]] = {NATIVE: ijson._native(), PURE: ijson._pure()}
LINE_PARSER = ijson.line_parser
COMPILERS: dict[str, Callable[[str], Callable[[object], bool]]] = {
    NATIVE: native.compile_schema,
    PURE: pure.compile_schema,
}


class BothPaths:
    """Runs anything with the path that is selected; both are compiled once."""

    def __init__(self) -> None:
        self.selected = NATIVE

    def on(self, path: str, work: Callable[[], T]) -> T:
        """Return what the work returns on one path."""
        self.selected = path
        try:
            return work()
        finally:
            self.selected = NATIVE

    def parse(self, data: bytes) -> object:
        return PARSERS[self.selected](data)

    def line_parser(self, data: bytes) -> Callable[[bytes], object]:
        return LINE_PARSER(data) if self.selected == NATIVE else self.parse

    def compile_schema(self, text: str) -> Callable[[object], bool]:
        compiled: dict[str, Callable[[object], bool]] = {}

        def is_valid(value: object) -> bool:
            path = self.selected
            if path not in compiled:
                compiled[path] = COMPILERS[path](text)
            return compiled[path](value)

        return is_valid


@contextmanager
def both_paths() -> Iterator[BothPaths]:
    """Let every parse and validation of this process go by the path that is selected."""
    both = BothPaths()
    with (
        patch.object(ijson, "parse", both.parse),
        patch.object(results, "line_parser", both.line_parser),
        patch.object(schemas, "compile_schema", both.compile_schema),
    ):
        schemas.validator.cache_clear()
        try:
            yield both
        finally:
            schemas.validator.cache_clear()
