"""`aef conformance`: judge this implementation, or any program, with a corpus ([CONF-3]); check our own checks."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from functools import partial
from typing import TextIO

import click

from aef_verify import limits
from aef_verify.cli.exits import OK, PROBLEM
from aef_verify.cli.output import is_terminal, say, write_json, write_text, writing
from aef_verify.cli.program import implementation
from aef_verify.conformance.index import LEVELS, load, select
from aef_verify.conformance.report import Report, as_text, as_value
from aef_verify.conformance.runner import Progress
from aef_verify.conformance.runner import run as run_vectors
from aef_verify.given import read_given
from aef_verify.integrity.algorithms import ALGORITHMS


@click.group()
def conformance() -> None:
    """Judge an implementation of AEF against a conformance corpus."""


def _names(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a repeatable option, of which each value may hold several: `a,b` or `a b`."""
    return tuple(name for value in values for name in re.split(r"[,\s]+", value) if name)


def _classes(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return class names, of which each value may hold several: `Reader, Run verifier`."""
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


@conformance.command("run")
@click.argument("corpus", type=click.Path())
@click.option("--class", "classes", multiple=True, callback=_classes, help="Only vectors of this class; repeatable.")
@click.option(
    "--kind", "kinds", multiple=True, callback=_names, help="Only vectors of this kind; repeatable, or 'A,B'."
)
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="signed",
    show_default=True,
    help="The level of a Run verifier; 'intact' leaves out what only the signed level must pass.",
)
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    type=click.Choice(ALGORITHMS),
    help="Only signing vectors of this algorithm; repeatable. Other kinds are not touched.",
)
@click.option(
    "--id", "ids", multiple=True, help="Only vectors whose id matches this pattern (*, ?, [...]); repeatable."
)
@click.option("--command", help='Judge this program through the contract, such as "aef contract"; no shell is used.')
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds one call of --command may take.")
@click.option("--jobs", type=click.IntRange(min=1), help="Vectors judged at once; default: the number of cores.")
@click.option("--claim-as", help="Name and version of what --command tests, for the claim.")
@click.option("--document", type=click.Path(), help="Write the claim to this file, if every vector passed.")
@click.option("--check", is_flag=True, help="Compare the file of --document with the claim instead of writing it.")
@click.option("--verbose", is_flag=True, help="List the vectors that passed, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON value.")
def run(
    corpus: str,
    classes: tuple[str, ...],
    kinds: tuple[str, ...],
    level: str,
    algorithms: tuple[str, ...],
    ids: tuple[str, ...],
    command: str | None,
    timeout: float | None,
    jobs: int | None,
    claim_as: str | None,
    document: str | None,
    check: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Run the vectors of the CORPUS folder and compare what comes of each with what it states.

    Every file is checked against the corpus's index.json before it is used. Without --command this
    implementation is judged, in process. Exit code: 0 every selected vector passed (one that the platform
    cannot hold is skipped and named), 1 one failed or is of a kind that is not supported yet, or --document has
    nothing to claim in full or differs from it, 2 usage or input error, 3 --document could not be written.
    """
    from aef_verify.conformance.drive import TIMEOUT, program

    if command is None and (timeout is not None or claim_as is not None):
        raise click.UsageError("--timeout and --claim-as go with --command")
    if document is not None and command is not None:
        raise click.UsageError("--document is about this implementation, and does not go with --command")
    if check and document is None:
        raise click.UsageError("--check goes with --document")
    tested = None if command is None else program(command, timeout or TIMEOUT)
    found = load(corpus)
    vectors = select(found, classes=classes, kinds=kinds, level=level, algorithms=algorithms, ids=ids)
    verdicts = run_vectors(
        found, vectors, program=tested, jobs=jobs or os.cpu_count() or 1, progress=_progress_on(sys.stderr)
    )
    report = Report(found, claim_as or _named(command), tuple(verdicts), classes)
    if as_json:
        write_json(as_value(report))
    else:
        write_text("".join(f"{line}\n" for line in as_text(report, verbose=verbose)))
    is_claimed = document is None or _document(report, document, check=check)
    return OK if report.passed and is_claimed else PROBLEM


def _document(report: Report, path: str, *, check: bool) -> bool:
    """Write the claim of a run to a file, or compare it with one; returns whether it stands there now."""
    from aef_verify.conformance.document import READINGS, IncompleteError, claim_document, first_difference
    from aef_verify.conformance.selfcheck.workplace import checkout

    try:
        due = claim_document(report, read_given(os.path.join(checkout(), READINGS), limits.JSON_BYTES).decode())
    except IncompleteError as fault:
        say(f"{path}: {'not compared' if check else 'not written'}: {fault}")
        return False
    if not check:
        with writing(path), open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(due)
        return True
    difference = first_difference(read_given(path, limits.JSON_BYTES).decode("utf-8", "replace"), due)
    if difference:
        say(f"{path}: not as this run claims it: {difference}")
    return not difference


def _named(command: str | None) -> str:
    """Return the name and version of what is tested, which of a program only its owner can tell ([CONF-4])."""
    return implementation() if command is None else f"[name and version of `{command}`: give --claim-as]"


@conformance.command("self-check")
@click.argument("corpus", type=click.Path(), required=False)
@click.option("--only", multiple=True, help="Only mutations whose id or rule matches this pattern; repeatable.")
@click.option("--every-vector", is_flag=True, help="Ask vectors that take long about rules they do not name, too.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes at once; default: the number of cores.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON value.")
def self_check(corpus: str | None, only: tuple[str, ...], every_vector: bool, jobs: int | None, as_json: bool) -> int:
    """Switch rules of this verifier off, one at a time, and tell what notices.

    Each is switched off in a copy of the checkout and judged by the vectors of the CORPUS folder, if one is given,
    until one fails; what no vector notices is left to our own tests. The report names what the corpus misses. It takes
    minutes. Exit code: 0 everything was noticed, 1 something was not, or the code as it is fails, 2 usage or input
    error.
    """
    from aef_verify.conformance.selfcheck.catalogue import select as select_mutations
    from aef_verify.conformance.selfcheck.check import self_check as check_ourselves
    from aef_verify.conformance.selfcheck.report import as_text as self_check_text
    from aef_verify.conformance.selfcheck.report import as_value as self_check_value

    mutations = select_mutations(only)
    found = None if corpus is None else load(corpus)
    counter = _Counter() if is_terminal(sys.stderr) else None
    result = check_ourselves(
        mutations, corpus=found, every_vector=every_vector, jobs=jobs or os.cpu_count() or 1, progress=counter
    )
    if as_json:
        write_json(self_check_value(result, implementation()))
    else:
        write_text("".join(f"{line}\n" for line in self_check_text(result)))
    return OK if result.passed else PROBLEM


class _Counter:
    """Shows how many things of a kind are done, in one line of a terminal that is overwritten and at last removed."""

    def __call__(self, what: str, done: int, every: int) -> None:
        end = "\r\x1b[K" if done == every else ""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"\r{done}/{every} {what}\x1b[K{end}")
            sys.stderr.flush()


def _progress_on(stream: TextIO | None) -> Progress | None:
    return partial(_Counter(), "vectors") if is_terminal(stream) else None
