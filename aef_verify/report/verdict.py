"""The verdict of a report in one sentence, with the reason of the exit code."""

from __future__ import annotations

from collections.abc import Iterator

from aef_verify.report.model import NOT_VERIFIED, UNREADABLE, EvidenceReport

_PAIRS = (("linked", "linked"), ("linked-unsealed", "linked without a seal"), ("normal-only", "without an oracle"))
"""The outcomes of a pair without a problem, and the words for them."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 run`, `1,234 runs`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def verdict(report: EvidenceReport) -> str:
    """Return what came out, and why the exit code is what it is."""
    code = report.exit_code
    if code == 0:
        return f"Sound: {', '.join(_sound(report))} (exit 0)."
    begin = "Not answered in full" if code == 2 or report.outcomes[NOT_VERIFIED] else "Not sound"
    return f"{begin}: of {_runs(report)}, {', '.join(_faults(report))} (exit {code})."


def _runs(report: EvidenceReport) -> str:
    """Return how many runs there are, and how many of them this pass did not read."""
    cached = sum(run.cached for run in report.runs)
    return counted(len(report.runs), "run") + (f" ({cached:,} cached)" if cached else "")


def _sound(report: EvidenceReport) -> Iterator[str]:
    runs, outcomes = report.runs, report.outcomes
    yield _runs(report)
    if intact := outcomes["intact"]:
        signed = sum(bool(run.signed_by) for run in runs)
        anchored = sum(bool(run.anchored) for run in runs)
        yield f"{intact:,} intact ({_signed(intact, signed)})"
        if anchored:
            yield f"{anchored:,} anchored"
    if outcomes["unsealed"]:
        yield f"{outcomes['unsealed']:,} unsealed"
    withheld = sum(run.withheld for run in runs)
    if withheld:
        yield f"{counted(withheld, 'blob')} withheld"
    for outcome, words in _PAIRS:
        if number := report.pair_outcomes[outcome]:
            yield f"{counted(number, 'pair')} {words}"


def _signed(intact: int, signed: int) -> str:
    """Return how many intact runs are signed; [SIG-7] lets none be called intact without it."""
    if not signed:
        return "unsigned"
    return "signed" if signed == intact else f"{signed:,} signed, {intact - signed:,} unsigned"


def _faults(report: EvidenceReport) -> Iterator[str]:
    runs, outcomes = report.runs, report.outcomes
    if outcomes[UNREADABLE]:
        yield f"{outcomes[UNREADABLE]:,} could not be read"
    if outcomes[NOT_VERIFIED]:
        yield f"the verifier failed on {outcomes[NOT_VERIFIED]:,}"
    if outcomes["invalid"]:
        yield f"{outcomes['invalid']:,} {'is' if outcomes['invalid'] == 1 else 'are'} invalid"
    verified = [run for run in runs if not run.message]
    for name in report.required:
        short = sum(name in run.shortfalls for run in verified if run.outcome != "invalid")
        if short:
            yield f"{short:,} {'is' if short == 1 else 'are'} not {name} as required"
    chains = sum(bool(run.overlay_problems) for run in runs)
    if chains:
        yield f"{chains:,} {'has' if chains == 1 else 'have'} problems in the overlays"
    if clashes := len(report.clashes):
        yield f"{counted(clashes, 'runId')} {'names' if clashes == 1 else 'name'} different runs"
    if refused := report.pair_outcomes["invalid"]:
        yield f"{counted(refused, 'pair')} {'is' if refused == 1 else 'are'} invalid"
    if unlinked := len(report.unlinked):
        yield f"{counted(unlinked, 'pair')} {'is' if unlinked == 1 else 'are'} not linked as required"
    if report.lacks_pair:
        yield "there is no pair, and linked is required"
