"""`aef seal`: seal a closed run."""

from __future__ import annotations

import os

import click

from aef_verify.cli.exits import OK, PROBLEM
from aef_verify.clock import now
from aef_verify.layout import SEAL
from aef_verify.problems import InputError


@click.command(short_help="Seal a closed run.")
@click.argument("run")
@click.option(
    "--sealed-by",
    type=click.Choice(("producer", "ingest")),
    default="producer",
    show_default=True,
    help="Who seals: whoever made the run, or a host that takes it into custody.",
)
@click.option("--sealed-at", metavar="TIME", help="The time of sealing; by default the present.")
@click.option("--with-problems", is_flag=True, help="Seal a run that has problems, too; a producer should not.")
@click.option("--json", "as_json", is_flag=True, help="Print the run hash as one JSON value.")
def seal(run: str, sealed_by: str, sealed_at: str | None, with_problems: bool, as_json: bool) -> int:
    """Verify RUN, then write its seal.json.

    Exit code: 0 sealed, 1 the run has problems and was not sealed, 2 the run or the call is refused, 3 the seal or
    the answer could not be written. 1 and 2 leave the run as it was, and so does a seal that could not be written.
    """
    from aef_verify.cli.output import say, show, write_json, write_text, writing
    from aef_verify.engine.evidence import verify_evidence
    from aef_verify.run.folders import one_run
    from aef_verify.writing.seal import seal_run

    folder = one_run(run)
    report = verify_evidence([folder])
    (entry,) = report.runs
    if entry.message:
        raise InputError(entry.message)
    if entry.breaches and not with_problems:
        from aef_verify.report.text import advice_text, run_codes, run_details

        show([*run_details(entry), *advice_text(run_codes(entry))])
        say(
            "aef seal: not sealed: a run with problems should not be sealed [SEAL-1]; --with-problems seals it as it is"
        )
        return PROBLEM
    with writing(os.path.join(folder, SEAL)):
        run_hash = seal_run(folder, sealed_by=sealed_by, sealed_at=sealed_at or now())
    for arm in (pair.normal for pair in report.pairs):
        if arm is not None and arm.pair_id is not None:
            _warn_of_links(folder, arm.pair_id)
    if as_json:
        write_json({"runHash": run_hash})
    else:
        from aef_verify.report.escape import escaped

        write_text(f"sealed    {escaped(folder)}\nrun hash  {run_hash}\n")
    return OK


def _warn_of_links(folder: str, pair_id: str) -> None:
    """Say which oracles name the run as unsealed: their link no longer holds."""
    from aef_verify.cli.output import say
    from aef_verify.memory.pair_beside import unsealed_links_to

    for oracle in unsealed_links_to(folder, pair_id):
        say(f"aef seal: warning: {oracle} names this run as unsealed, so that the pair is no longer linked [pair-link]")
