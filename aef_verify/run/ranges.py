"""Judging `results.ndjson` range by range: in one process, or wherever the caller has the ranges judged.

Whoever judges is given the bytes themselves, as they were hashed for the seal: no file is opened again, so that
what is judged is what is sealed, whatever happens to the file meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, NamedTuple

from aef_verify.run.results import LineRules, Part, Surroundings
from aef_verify.run.summary import Summary


class Totals(NamedTuple):
    """The arguments of a `Summary`."""

    document: dict[str, Any]
    run_id: object
    kinds: dict[str, str]


class Judging(NamedTuple):
    """What every range is judged against; equal in every process.

    `around` is None where the lines are only to be read and validated; `totals` is None where no summary counts them;
    `details` asks for the reason behind each `schema` problem.
    """

    around: Surroundings | None
    totals: Totals | None
    details: bool

    def rules(self) -> LineRules:
        """Return what judges ranges."""
        totals = None if self.totals is None else Summary(*self.totals)
        return LineRules(self.around, totals, details=self.details)


Parts = Generator[Part, None, None]
Ranges = Callable[[Judging, Iterable[bytes]], Parts]
"""Yields the part for each range of whole lines, or for several joined, in order; nothing outlives its closing."""


def judge_here(judging: Judging, ranges: Iterable[bytes]) -> Parts:
    """Judge every range in this process, one after the other."""
    rules = judging.rules()
    for data in ranges:
        yield rules.judge(data)
