"""Which vectors a mutation can matter to: those that reach the function it stands in, as a survey saw.

What stands outside of functions, in a file that is no program, in a function whose results are kept or in one that is
called while a module is loaded may matter to every vector; what stands in a file that no vector loads, to none. What
judges vectors is not judged by them. Vectors that take long are asked about the rules that they name alone, if nobody
asks for more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from aef_verify.conformance.selfcheck.judging import Findings, Function, Surveyed
from aef_verify.conformance.selfcheck.mutation import Mutation

KEEPING = frozenset(("cache", "lru_cache"))
"""Decorators of functions whose results are kept."""

JUDGES = "conformance/"
"""Where the files stand that judge vectors."""

LONG = 1.0
"""Seconds after which a vector takes long."""

Source = Callable[[str], str]
"""Gives the source of a file of the package."""


class Reach(NamedTuple):
    """Where mutations stand: the functions to look for, and for each mutation which of them, None for none."""

    functions: list[Function]
    cached: list[Function]
    function_of: dict[str, Function | None]


def reach_of(mutations: Sequence[Mutation], files: Sequence[str], source: Source) -> Reach:
    """Find the function that each mutation stands in, and those of all program files whose results are kept."""
    cached = [
        (file, _start(function))
        for file in files
        for function in _functions(ast.parse(source(file)))
        if any(_name(decorator) in KEEPING for decorator in function.decorator_list)
    ]
    function_of = {mutation.id: _function_of(mutation, source(mutation.file)) for mutation in mutations}
    functions = dict.fromkeys(function for function in function_of.values() if function is not None)
    return Reach([function for function in functions if function not in cached], cached, function_of)


Definition = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(tree: ast.AST) -> Iterator[Definition]:
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            yield node


def _start(function: Definition) -> int:
    """Return the line that a function's code says it starts at."""
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _function_of(mutation: Mutation, source: str) -> Function | None:
    """Return the innermost function whose body holds all that a mutation replaces."""
    if not mutation.file.endswith(".py"):
        return None
    first = source.count("\n", 0, source.index(mutation.old)) + 1
    last = first + mutation.old.rstrip("\n").count("\n")
    around = [
        function
        for function in _functions(ast.parse(source))
        if function.body[0].lineno <= first and last <= (function.end_lineno or 0)
    ]
    return (mutation.file, _start(max(around, key=lambda function: function.body[0].lineno))) if around else None


def vectors_for(
    mutation: Mutation, reach: Reach, surveys: Sequence[Findings], *, every_vector: bool = False
) -> list[str]:
    """Return the ids of the vectors that are to notice a mutation: those about its rules first, then the quick ones.

    Args:
        mutation: the mutation.
        reach: of it and others.
        surveys: what was found about all vectors.
        every_vector: whether those that take long are asked about rules that they do not name, too.
    """
    rules = set(mutation.rules)
    return [
        vector["id"]
        for vector in sorted(
            _reaching(mutation, reach, surveys),
            key=lambda vector: (rules.isdisjoint(vector["rules"]), vector["seconds"]),
        )
        if every_vector or vector["seconds"] <= LONG or not rules.isdisjoint(vector["rules"])
    ]


def _reaching(mutation: Mutation, reach: Reach, surveys: Sequence[Findings]) -> Iterator[Surveyed]:
    """Yield the vectors that a mutation may matter to."""
    function = reach.function_of[mutation.id]
    if mutation.file.startswith(JUDGES):
        return
    if function is None or function not in reach.functions or _is_shared(reach.functions.index(function), surveys):
        if not mutation.file.endswith(".py") or any(mutation.file in one["loaded"] for one in surveys):
            for one in surveys:
                yield from one["vectors"]
        return
    number = reach.functions.index(function)
    for one in surveys:
        yield from (vector for vector in one["vectors"] if number in vector["reached"])


def _is_shared(number: int, surveys: Sequence[Findings]) -> bool:
    return any(number in one["shared"] for one in surveys)
