"""`aef pair`: whether two runs are the two arms of one memory benchmark."""

from __future__ import annotations

import click

from aef_verify.cli.exits import OK, PROBLEM
from aef_verify.cli.given import policy_given


@click.command(short_help="Check that two runs are the normal and the oracle arm of one memory benchmark.")
@click.argument("normal")
@click.argument("oracle")
@click.option("--policy", metavar="FILE", help="The trust policy: whose signatures count.")
@click.option("--json", "as_json", is_flag=True, help="Print the pair as one JSON value.")
def pair(normal: str, oracle: str, policy: str | None, as_json: bool) -> int:
    """Verify the runs NORMAL and ORACLE, and check that they belong together.

    Linked means that they are consistent. Who made them is what signatures say, and a pair is signed only when both
    of its runs are.

    Exit code: 0 linked, or linked without a seal, 1 invalid, 2 usage or input error, no run, or one without pair
    fields, 3 output could not be written.
    """
    from aef_verify.memory.pair import LINKED, LINKED_UNSEALED, verify_pair
    from aef_verify.run.folders import one_run

    found = verify_pair(one_run(normal), one_run(oracle), policy=policy_given(policy))
    if as_json:
        from aef_verify.cli.output import write_text
        from aef_verify.report.json import pair_json

        write_text(pair_json(found) + "\n")
    else:
        from aef_verify.cli.output import show
        from aef_verify.report.pair_text import pair_codes, pair_text
        from aef_verify.report.text import advice_text

        show([*pair_text(found), *advice_text(pair_codes([found]))])
    return OK if found.outcome in (LINKED, LINKED_UNSEALED) else PROBLEM
