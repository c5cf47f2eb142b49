"""What the rules of all lanes ask of the result lines, gathered first, so that a file is not read once for every lane.

A run is read once for all severity rules and as the candidate of all comparisons; a baseline once for each candidate
that is compared with it. One candidate's values are held at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from aef_verify.checkpoint.comparison import CandidateTable, Differences, Measured
from aef_verify.checkpoint.content import read_results, scan_results
from aef_verify.checkpoint.severity import Scope, Tally, single_lane
from aef_verify.run.store import StoredRun

Document = dict[str, Any]
Take = Callable[[Document], object]


class Measuring:
    """Takes what lanes ask for, reads the runs, and has the answers."""

    def __init__(self) -> None:
        """Start with no question."""
        self._runs: dict[str, StoredRun] = {}
        self._tallies: dict[tuple[str, Scope], Tally] = {}
        self._scopes: dict[str, set[Scope]] = {}
        self._compared: dict[str, dict[str, set[Measured]]] = {}
        self._pairs: dict[tuple[str, str, Measured], Differences] = {}

    def ask_severities(self, run: StoredRun, scope: Scope) -> None:
        """Ask what the lines of a run in a scope come to."""
        self._runs[run.path] = run
        self._scopes.setdefault(run.path, set()).add(scope)

    def ask_pairs(self, candidate: StoredRun, baseline: StoredRun, measured: Measured) -> None:
        """Ask how the pairs of two intact runs differ."""
        self._runs[candidate.path], self._runs[baseline.path] = candidate, baseline
        self._compared.setdefault(candidate.path, {}).setdefault(baseline.path, set()).add(measured)

    def severities(self, run: StoredRun, scope: Scope) -> Tally:
        """Return what was asked, after `read`."""
        return self._tallies[run.path, scope]

    def pairs(self, candidate: StoredRun, baseline: StoredRun, measured: Measured) -> Differences:
        """Return what was asked, after `read`."""
        return self._pairs[candidate.path, baseline.path, measured]

    def read(self) -> None:
        """Read what was asked for; raises InputError where a run cannot be read, or changed since it was verified."""
        for path, baselines in self._compared.items():
            self._compare(path, baselines)
        for path in list(self._scopes):
            self._read(path)

    def _compare(self, path: str, baselines: dict[str, set[Measured]]) -> None:
        table = CandidateTable(set().union(*baselines.values()), self._single(path))
        self._read(path, table.take)
        for other, wanted in baselines.items():
            pairing = table.against(wanted, self._single(other))
            self._read(other, pairing.take)
            self._pairs.update({(path, other, measured): found for measured, found in pairing.found.items()})

    def _read(self, path: str, take: Take | None = None) -> None:
        """Read the lines of a run for `take`, and for what is still asked of its severities."""
        run, single = self._runs[path], self._single(path)
        tallies = {scope: Tally(scope) for scope in self._scopes.pop(path, ())}
        takes = _with_tallies(take, tallies.values(), single)
        if run.intact:
            read_results(run, takes)
        elif not scan_results(run, takes):
            tallies = {scope: Tally(scope) for scope in tallies}
        self._tallies.update({(path, scope): tally for scope, tally in tallies.items()})

    def _single(self, path: str) -> str | None:
        return single_lane(self._runs[path].report.summary)


def _with_tallies(take: Take | None, tallies: Iterable[Tally], single: str | None) -> Take:
    """Return what gives a line to all that take it."""
    several = tuple(tallies)
    if not several and take is not None:
        return take

    def all_take(line: Document) -> None:
        lane = line.get("lane", single)
        for tally in several:
            tally.take(line, lane)
        if take is not None:
            take(line)

    return all_take
