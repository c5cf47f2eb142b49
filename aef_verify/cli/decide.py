"""`aef decide`: decide a checkpoint by its runs."""

from __future__ import annotations

import os
from typing import Any

import click

from aef_verify import limits
from aef_verify.cli.exits import OK
from aef_verify.cli.given import policy_given, read_input
from aef_verify.clock import now
from aef_verify.problems import InputError


@click.command(short_help="Decide a checkpoint by its runs.")
@click.argument("file")
@click.option("--runs", metavar="DIR", required=True, help="The folder that holds the runs.")
@click.option("-o", "--out", metavar="FILE", required=True, help="Where the decision goes; - is standard output.")
@click.option("--at", metavar="TIME", help="The time of the decision; by default the present.")
@click.option("--exceptions", metavar="FILE", help="A JSON list of exceptions: failures that somebody accepts.")
@click.option("--policy", metavar="FILE", help="The trust policy: who may withhold blobs.")
@click.option("--superseded-by", metavar="VERSION", help="A newer version of the subject that is known.")
def decide(
    file: str,
    runs: str,
    out: str,
    at: str | None,
    exceptions: str | None,
    policy: str | None,
    superseded_by: str | None,
) -> int:
    """Compute every lane of the undecided checkpoint FILE from its runs, decide, and write the decided checkpoint.

    FILE stays as it is, and a file that is there is never overwritten. FILE or another file may be - for standard
    input.

    Exit code: 0 written, whatever the outcome, 2 usage or input error, or a checkpoint that would not verify, 3 the
    file or the answer could not be written; 2 and 3 leave nothing behind.
    """
    from aef_verify.checkpoint.manifest import read_manifest
    from aef_verify.checkpoint.record import decide_checkpoint
    from aef_verify.cli.output import write_json, write_text, writing
    from aef_verify.cli.progress import bytes_read
    from aef_verify.run.folders import checked_folder
    from aef_verify.writing.whole import json_bytes, write_new

    if [file, exceptions, policy].count("-") > 1:
        raise click.UsageError("only one of FILE, --exceptions and --policy can be standard input")
    if out != "-" and os.path.lexists(out):
        raise InputError(f"{out}: is there already, and is not overwritten")
    data = read_input(file, limits.JSON_BYTES)
    accepted = [] if exceptions is None else _exceptions(exceptions)
    trusted = policy_given(policy)
    checked_folder(runs)
    try:
        with bytes_read() as watch:
            decided = decide_checkpoint(
                read_manifest(data),
                runs,
                at or now(),
                exceptions=accepted,
                superseded_by=superseded_by,
                policy=trusted,
                watch=watch,
            )
    except InputError as fault:
        raise InputError(f"{file}: {fault}") from None
    text = json_bytes(decided)
    if len(text) > limits.JSON_BYTES:
        raise InputError(f"{file}: decided it would be {len(text):,} bytes; at most {limits.JSON_BYTES:,} [ENC-17]")
    if out == "-":
        write_json(decided)
        return OK
    with writing(out):
        write_new(out, text)
    from aef_verify.report.escape import escaped

    write_text(f"decided   {escaped(out)}\noutcome   {escaped(decided['outcome'])}\n")
    return OK


def _exceptions(path: str) -> list[dict[str, Any]]:
    """Return the exceptions in a file: a JSON list of objects [DEC-1]."""
    from aef_verify.encoding.ijson import EncodingError, parse, too_deep

    data = read_input(path, limits.JSON_BYTES)
    try:
        found = None if too_deep(data) else parse(data)
    except EncodingError as fault:
        raise InputError(f"{path}: not JSON that reads: {fault}") from None
    if not isinstance(found, list) or not all(isinstance(exception, dict) for exception in found):
        raise InputError(f"{path}: not a JSON list of exceptions, each an object [DEC-1]")
    return found
