"""`aef show`: one run, as a reader sees it."""

from __future__ import annotations

import click

from aef_verify.cli.given import anchors_given, policy_given


@click.command(short_help="Show a run as a reader sees it.")
@click.argument("run")
@click.option("--policy", metavar="FILE", help="The trust policy: whose signatures count, who may withhold blobs.")
@click.option("--anchors", metavar="FILE", help="A JSON list of run hashes that you trust from elsewhere.")
@click.option("--case", metavar="ID", help="Show only the results of this case.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=40, show_default=True, help="Lines shown of each of its files."
)
def show(run: str, policy: str | None, anchors: str | None, case: str | None, limit: int) -> int:
    """Verify RUN, then show it: outcome and problems, header, lanes, results, evidence, gates.

    Exit code: as of `aef verify`, for the run alone.
    """
    from aef_verify.cli.output import show as print_parts
    from aef_verify.engine.evidence import verify_evidence
    from aef_verify.report.reader import read_content
    from aef_verify.report.run_text import run_text
    from aef_verify.run.folders import one_run

    if policy == anchors == "-":
        raise click.UsageError("--policy and --anchors cannot both be standard input")
    folder = one_run(run)
    report = verify_evidence([folder], policy=policy_given(policy), anchors=anchors_given(anchors), pairs=False)
    print_parts(run_text(report.runs[0], read_content(folder, limit=limit, case=case), limit=limit))
    return report.exit_code
