"""`aef explain`: what a code or a rule means, and what to do."""

from __future__ import annotations

import click

from aef_verify.cli.exits import OK


@click.command(short_help="Explain a problem code or a rule.")
@click.argument("name", required=False, metavar="CODE|RULE")
@click.option("--list", "as_list", is_flag=True, help="List every code and rule.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value.")
def explain(name: str | None, as_list: bool, as_json: bool) -> int:
    """Explain a problem code, such as blob-digest, or a rule, such as RES-6, in plain words."""
    from aef_verify.cli.output import show, write_json
    from aef_verify.report.explain import everything, explained, explanation_text, explanation_value, list_text

    if as_list == (name is not None):
        raise click.UsageError("name one code or rule, or --list")
    found = everything() if name is None else explained(name)
    if as_json:
        write_json(explanation_value(found))
    else:
        show(list_text(found) if as_list else explanation_text(found))
    return OK
