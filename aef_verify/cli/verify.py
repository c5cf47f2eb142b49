"""`aef verify`: every run at and below some folders."""

from __future__ import annotations

import click

from aef_verify.cli.given import anchors_given, policy_given
from aef_verify.report.model import REQUIREMENTS


@click.command(short_help="Verify every run at and below the given folders.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--policy", metavar="FILE", help="The trust policy: whose signatures count, who may withhold blobs.")
@click.option("--anchors", metavar="FILE", help="A JSON list of run hashes that you trust from elsewhere.")
@click.option(
    "--require",
    multiple=True,
    type=click.Choice(REQUIREMENTS),
    help="What every run, or for linked every pair of runs, must be to count as sound; repeatable. "
    "signed needs --policy, anchored needs --anchors.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Runs, or ranges of one large run, verified at once; by default 1 where they are few and small, else the "
    "number of cores, at most AEF_JOBS.",
)
@click.option(
    "--cache",
    metavar="DIR",
    help="A folder of yours that keeps verdicts: runs whose files did not change since then are not read again.",
)
@click.option("--paranoid", is_flag=True, help="With --cache: read every run again, and say where the cache is wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as one JSON value.")
@click.option("--quiet", is_flag=True, help="Print neither table nor progress: the exit code says it.")
def verify(
    paths: tuple[str, ...],
    policy: str | None,
    anchors: str | None,
    require: tuple[str, ...],
    jobs: int | None,
    cache: str | None,
    paranoid: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Verify every run at and below each PATH, and every pair of memory benchmark runs among them.

    A run is a folder that holds run.json. Links are listed and not followed. FILE may be - for standard input.

    Exit code: 0 every run is intact or unsealed, every overlay chain and every pair is sound, 1 a problem was found,
    2 usage or input error, nothing to verify, or a run that could not be read, 3 output could not be written.
    """
    from aef_verify.cli.output import say
    from aef_verify.cli.progress import progress
    from aef_verify.engine.evidence import verify_evidence

    if policy == anchors == "-":
        raise click.UsageError("--policy and --anchors cannot both be standard input")
    if paranoid and cache is None:
        raise click.UsageError("--paranoid reads again what a cache would not, and needs --cache")
    trusted, known = policy_given(policy), anchors_given(anchors)
    with progress(wanted=not quiet) as watch:
        report = verify_evidence(
            paths,
            policy=trusted,
            anchors=known,
            jobs=jobs,
            require=require,
            cache=cache,
            paranoid=paranoid,
            watch=watch,
        )
    for warning in report.cache.warnings if report.cache is not None else ():
        say(f"aef verify: warning: {warning}")
    if as_json:
        from aef_verify.cli.output import write_text
        from aef_verify.report.json import as_json as report_json

        write_text(report_json(report) + "\n")
    elif not quiet:
        from aef_verify.cli.output import show
        from aef_verify.report.text import evidence_text

        show(evidence_text(report))
    return report.exit_code
