"""`aef sign`: sign a file into a DSSE envelope beside it."""

from __future__ import annotations

import os

import click

from aef_verify import limits
from aef_verify.cli.exits import OK
from aef_verify.cli.given import read_input
from aef_verify.problems import InputError


@click.command(short_help="Sign a file into a DSSE envelope.")
@click.argument("file")
@click.option("--key", required=True, metavar="FILE", help="The private key: unencrypted PKCS#8 PEM, P-256 or Ed25519.")
@click.option("-o", "--out", metavar="FILE", help="Where the envelope goes; - is standard output.")
@click.option("--payload-type", metavar="TYPE", help="The type of what is signed, where the file's name does not tell.")
def sign(file: str, key: str, out: str | None, payload_type: str | None) -> int:
    """Sign FILE.

    A seal.json goes into attestation.dsse.json beside it, a batch seal overlays/seal-0001.json into
    overlays/seal-0001.dsse.json; their type is known. Any other file needs --payload-type; a checkpoint manifest's is
    application/vnd.agenteval.aef.checkpoint+json. An envelope that is there is never overwritten. FILE or the key may
    be - for standard input.
    """
    from aef_verify.cli.output import say, write_json, write_text, writing
    from aef_verify.writing.whole import json_bytes, write_new

    if file == key == "-":
        raise click.UsageError("FILE and --key cannot both be standard input")
    target, kind = _envelope(file, out, payload_type)
    if target != "-" and os.path.lexists(target):
        raise InputError(f"{target}: is there already, and is not overwritten")
    envelope = _signed(file, key, kind)
    if target == "-":
        write_json(envelope)
        return OK
    with writing(target):
        write_new(target, json_bytes(envelope))
    from aef_verify.report.escape import escaped

    write_text(f"signed    {escaped(file)}\nenvelope  {escaped(target)}\nkey id    {_keyid(envelope)}\n")
    if os.path.basename(os.path.dirname(os.path.abspath(file))) == "overlays":
        say("aef sign: this signature is for every event of the batch, other people's too: read them all first [OVL-3]")
    return OK


def _signed(file: str, key_file: str, kind: str) -> dict[str, object]:
    """Return the envelope of a file, which like its key may be standard input."""
    from aef_verify.writing.sign import KEY_BYTES, load_named_key, sign_bytes

    key = load_named_key(key_file, read_input(key_file, KEY_BYTES))
    return sign_bytes(read_input(file, limits.ENVELOPE_BYTES), key, kind)


def _envelope(file: str, out: str | None, payload_type: str | None) -> tuple[str, str]:
    """Return where the envelope goes and the type of its payload [SIG-1]."""
    from aef_verify.integrity.dsse import STATEMENT_TYPE
    from aef_verify.writing.sign import envelope_of

    try:
        target, kind = envelope_of(file)
    except InputError:
        target, kind = "", ""
    if payload_type is None and kind != STATEMENT_TYPE:
        raise click.UsageError("the file is neither a seal.json nor a batch seal: say its --payload-type")
    if out is None and not target:
        raise click.UsageError("the file's name does not end with .json: say with -o where the envelope goes")
    return out or target, payload_type or kind


def _keyid(envelope: dict[str, object]) -> object:
    signatures = envelope["signatures"]
    assert isinstance(signatures, list)
    return signatures[0]["keyid"]
