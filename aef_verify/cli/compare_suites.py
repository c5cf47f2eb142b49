"""`aef compare-suites`: whether two runs measured the same thing."""

from __future__ import annotations

import click

from aef_verify.cli.exits import OK, PROBLEM


@click.command("compare-suites", short_help="Say whether two runs measured the same thing.")
@click.argument("run_a", metavar="A")
@click.argument("run_b", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as one JSON value.")
def compare_suites(run_a: str, run_b: str, as_json: bool) -> int:
    """Compare the suites of the runs A and B, their judges, rubrics and target modes.

    Subject, deployment and producer are shown and do not decide. The two arms of a memory benchmark are different
    evaluations, although they share a source workload.

    Exit code: 0 same, 1 different or unknown, 2 usage or input error, 3 output could not be written.
    """
    from aef_verify.memory.compare import SAME
    from aef_verify.memory.compare import compare_suites as compare
    from aef_verify.report.compare_text import comparison_text, comparison_value
    from aef_verify.run.folders import one_run

    found = compare(one_run(run_a), one_run(run_b))
    if as_json:
        from aef_verify.cli.output import write_json

        write_json(comparison_value(found))
    else:
        from aef_verify.cli.output import show

        show(comparison_text(found))
    return OK if found.verdict == SAME else PROBLEM
