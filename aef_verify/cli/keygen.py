"""`aef keygen`: a key pair to sign with."""

from __future__ import annotations

import click

from aef_verify.cli.exits import OK
from aef_verify.integrity.algorithms import ALGORITHMS
from aef_verify.integrity.policy import REDACT


@click.command(short_help="Make a key to sign with, and its entry for a trust policy.")
@click.argument("file")
@click.option(
    "--algorithm", type=click.Choice(ALGORITHMS), default=ALGORITHMS[0], show_default=True, help="The key's algorithm."
)
@click.option("--identity", required=True, help="Whom the key speaks for, such as git:you@example.com.")
@click.option("--may", multiple=True, type=click.Choice((REDACT,)), help="A right beyond signing; repeatable.")
@click.option("--public", metavar="FILE", help="Write the public half here, too.")
def keygen(file: str, algorithm: str, identity: str, may: tuple[str, ...], public: str | None) -> int:
    """Make a key pair and write its private half to FILE, which only you can read.

    Printed is the key's entry for the `keys` of a trust policy. No file is ever overwritten.
    """
    from aef_verify.cli.output import say, write_json, writing
    from aef_verify.writing.keygen import GENERATORS, generate_key, policy_entry
    from aef_verify.writing.sign import public_pem_of

    # With another key first, so that an identity that no policy could hold leaves no file behind.
    policy_entry(public_pem_of(GENERATORS[algorithm]()), identity, may)
    with writing(file if public is None else f"{file} or {public}"):
        made = generate_key(file, algorithm, public_path=public)
    # First, as the key is there whether or not its entry can be printed.
    say(f"private key in {file}, readable for you alone; key id {made.keyid}")
    write_json(policy_entry(made.public_pem, identity, may))
    return OK
