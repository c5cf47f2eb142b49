"""A closed run from the facts that its producer has [RES-3] to [RES-8], [SUM-2] to [SUM-9] (`produce`, 09 §9.3).

In this order: `run.json` is valid and closed [RUN-5]; `metrics.json` is valid; the result lines, from the trees; the
summary, from the lines; the folder, written whole or not at all, and only when the verifier finds nothing in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from aef_verify.layout import METRICS, RUN
from aef_verify.problems import InputError
from aef_verify.run.header import is_closed, metric_kinds
from aef_verify.schemas import accepts
from aef_verify.writing import atomic
from aef_verify.writing.destination import free_folder
from aef_verify.writing.run import ClosedRun, UnsoundRunError, check_written, encoded
from aef_verify.writing.scenario import Scenario, read_scenario
from aef_verify.writing.shape import Document, read_given_object, refused
from aef_verify.writing.summarize import Lane, summarize
from aef_verify.writing.trees import CaseTree, result_lines


def produce_file(scenario: str, out: str) -> int:
    """Write the run that a scenario file describes into a folder that is missing or empty; return its result lines.

    Raises:
        InputError: the file, the scenario or the folder is refused; nothing was written.
        OSError: it could not be written; nothing was left behind.
    """
    return produce(read_scenario(read_given_object(scenario)), out)


def produce(scenario: Scenario, out: str) -> int:
    """Write the run of a scenario; see `produce_file`."""
    out = free_folder(out)
    run = closed_run(scenario.run, scenario.metrics, scenario.cases, scenario.lanes)
    try:
        files = encoded(run)
        destination, name = os.path.split(out)
        atomic.publish(destination, name, files, lambda folder: check_written(folder, None, None), over_empty=True)
    except (UnsoundRunError, ValueError) as fault:
        raise InputError(f"the scenario's run would not be valid: {reason(fault)}; nothing was written") from None
    return len(run.results)


def closed_run(run: Document, metrics: Document, cases: Iterable[CaseTree], lanes: Sequence[Lane]) -> ClosedRun:
    """Return the documents of a closed run.

    Args:
        run: `run.json`; without a `contentCapture` it says what a reader takes for it, `on` [RUN-11].
        metrics: `metrics.json`.
        cases: the trees of its cases.
        lanes: what its summary is asked for.

    Raises:
        InputError: the run is not closed, a document is not valid, or trees or summary are refused; see `result_lines`
            and `summarize`.
    """
    header = {"contentCapture": "on"} | run
    for name, schema, document in ((RUN, "run", header), (METRICS, "metrics", metrics)):
        if not accepts(schema, "writer", document):
            raise InputError(f"{name}: {refused(schema, document)}")
    if not is_closed(header):
        raise InputError(f"{RUN}: a run with the status {header['status']} is not closed [RUN-5]")
    lines = result_lines(header["runId"], cases)
    summary = summarize(header["runId"], metric_kinds(metrics), lanes, lines)
    return ClosedRun(header, lines, metrics, summary)


def reason(fault: Exception) -> str:
    """Return why a run was not written, for people."""
    if isinstance(fault, UnsoundRunError):
        return fault.strerror or str(fault)
    return f"a value has no form in I-JSON: {fault}"
