"""`aef contract`: the command-line contract (09 §9.3), as `aef_verify.__main__` calls it without any of this."""

from __future__ import annotations

import click


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []},
    short_help="The command-line contract of AEF 1.0 (chapter 9), for conformance runners.",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def contract(words: tuple[str, ...]) -> int:
    """Perform one operation of the contract."""
    from aef_verify.conformance.contract import main

    return main(words)
