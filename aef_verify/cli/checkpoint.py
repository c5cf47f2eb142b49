"""`aef checkpoint`: whether a version may be released, and what that rests on."""

from __future__ import annotations

import os

import click

from aef_verify import limits
from aef_verify.cli.given import policy_given, read_input
from aef_verify.clock import now
from aef_verify.problems import InputError


@click.command(short_help="Check a release decision against its runs.")
@click.argument("file")
@click.option("--runs", metavar="DIR", help="The folder that holds the runs; without it nothing is approved.")
@click.option("--policy", metavar="FILE", help="The trust policy: whose signatures count, who may withhold blobs.")
@click.option("--envelope", metavar="FILE", help="The signature, where it is not beside FILE; needs --policy.")
@click.option("--at", metavar="TIME", help="The time of reading, such as 2026-10-02T14:00:00Z; by default the present.")
@click.option("--superseded-by", metavar="VERSION", help="A newer version of the subject that you know of.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as one JSON value.")
def checkpoint(
    file: str,
    runs: str | None,
    policy: str | None,
    envelope: str | None,
    at: str | None,
    superseded_by: str | None,
    as_json: bool,
) -> int:
    """Check the checkpoint manifest FILE: alone, against its runs, its signature, and at the time of reading.

    An approval counts only if the runs were given with --runs and, with --policy, somebody in it signed these very
    bytes. FILE may be - for standard input.

    Exit code: 0 everything agrees and the outcome is approved or approved_with_exceptions, as recorded and at that
    time, 1 a problem was found or nothing is approved, 2 usage or input error, 3 output could not be written.
    """
    from aef_verify.checkpoint.verify import verify_checkpoint
    from aef_verify.cli.progress import bytes_read
    from aef_verify.report.checkpoint import view_of

    if [file, policy, envelope].count("-") > 1:
        raise click.UsageError("only one of FILE, --policy and --envelope can be standard input")
    if envelope is not None and policy is None:
        raise click.UsageError("--envelope needs --policy, which says whose signatures count")
    trusted = policy_given(policy)
    beside = envelope or _beside(file)
    with bytes_read() as watch:
        report = verify_checkpoint(
            read_input("-", limits.JSON_BYTES) if file == "-" else file,
            runs,
            at=at or now(),
            policy=trusted,
            envelope=read_input("-", limits.ENVELOPE_BYTES) if beside == "-" else beside,
            superseded_by=superseded_by,
            watch=watch,
        )
    view = view_of(report, policy_given=policy is not None, envelope=beside, superseded_by=superseded_by)
    if as_json:
        from aef_verify.cli.output import write_text
        from aef_verify.report.checkpoint_json import checkpoint_json

        write_text(checkpoint_json(view) + "\n")
    else:
        from aef_verify.cli.output import show
        from aef_verify.report.checkpoint_text import checkpoint_text

        show(checkpoint_text(view))
    return view.exit_code


def _beside(file: str) -> str | None:
    """Return the envelope beside a manifest, where one is there [SIG-1]."""
    from aef_verify.writing.sign import envelope_of

    try:
        place, _ = envelope_of(file)
    except InputError:
        return None
    return place if os.path.lexists(place) else None
