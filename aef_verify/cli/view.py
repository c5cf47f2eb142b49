"""`aef view`: what a run's overlays say at a time."""

from __future__ import annotations

import click

from aef_verify.cli.given import policy_given
from aef_verify.clock import now


@click.command(short_help="Show what a run's overlays say at a time.")
@click.argument("run")
@click.option("--at", metavar="TIME", help="The view's time, such as 2026-10-02T14:00:00Z; by default the present.")
@click.option("--policy", metavar="FILE", help="The trust policy: whose signatures count, who may withhold blobs.")
@click.option("--json", "as_json", is_flag=True, help="Print the view as the contract (09 §9.2.1) lays it out.")
def view(run: str, at: str | None, policy: str | None, as_json: bool) -> int:
    """Verify RUN, then show its effective view: sealed and effective states, reviews, waivers, withheld blobs.

    Exit code: as of `aef verify`.
    """
    from aef_verify.cli.output import show, write_json
    from aef_verify.engine.evidence import verify_evidence
    from aef_verify.report.view import read_view
    from aef_verify.run.folders import one_run

    folder, trusted = one_run(run), policy_given(policy)
    found = read_view(folder, at or now(), policy=trusted)
    report = verify_evidence([folder], policy=trusted, pairs=False)
    if as_json:
        write_json(found.view)
    else:
        from aef_verify.report.view_text import view_text

        show(view_text(report.runs[0], found))
    return report.exit_code
