"""`aef sign`: sign a file into a DSSE envelope beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

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
    overlays/seal-0001.dsse.json, a checkpoint release.json into release.dsse.json; their type is known. Any other file
    needs --payload-type. An envelope that is there is never overwritten. FILE or the key may be - for standard input.
    """
    from aef_verify.cli.output import say, write_json, write_text, writing
    from aef_verify.writing.whole import json_bytes, write_new

    if file == key == "-":
        raise click.UsageError("FILE and --key cannot both be standard input")
    target = _target(file, out)
    if target != "-" and os.path.lexists(target):
        raise InputError(f"{target}: is there already, and is not overwritten")
    envelope = _signed(file, key, payload_type)
    if target == "-":
        write_json(envelope)
        return OK
    with writing(target):
        write_new(target, json_bytes(envelope))
    from aef_verify.report.escape import escaped

    write_text(f"signed    {escaped(file)}\nenvelope  {escaped(target)}\nkey id    {_keyid(envelope)}\n")
    for doubt in _doubts(envelope):
        say(f"aef sign: warning: {doubt}")
    if os.path.basename(os.path.dirname(os.path.abspath(file))) == "overlays":
        say("aef sign: this signature is for every event of the batch, other people's too: read them all first [OVL-3]")
    return OK


def _signed(file: str, key_file: str, payload_type: str | None) -> dict[str, object]:
    """Return the envelope of a file, which like its key may be standard input."""
    from aef_verify.writing.sign import KEY_BYTES, load_named_key, sign_bytes

    key = load_named_key(key_file, read_input(key_file, KEY_BYTES))
    payload = read_input(file, limits.ENVELOPE_BYTES)
    return sign_bytes(payload, key, payload_type or _type_of(file, payload))


def _target(file: str, out: str | None) -> str:
    """Return where the envelope goes [SIG-1]."""
    from aef_verify.writing.sign import envelope_of

    if out:
        return out
    try:
        return envelope_of(file)[0]
    except InputError:
        raise click.UsageError("the file's name does not end with .json: say with -o where the envelope goes") from None


def _type_of(file: str, payload: bytes) -> str:
    """Return the type that [SIG-1] gives a payload: a seal by its name, a checkpoint manifest by what it holds."""
    from aef_verify.integrity.dsse import CHECKPOINT_TYPE, STATEMENT_TYPE
    from aef_verify.writing.sign import envelope_of

    with suppress(InputError):
        if envelope_of(file)[1] == STATEMENT_TYPE:
            return STATEMENT_TYPE
    if not _is_checkpoint(payload):
        raise click.UsageError(
            "the file is neither a seal.json, nor a batch seal, nor a checkpoint manifest: say its --payload-type"
        )
    return CHECKPOINT_TYPE


def _is_checkpoint(payload: bytes) -> bool:
    from aef_verify.encoding.ijson import UnreadableError, read_object
    from aef_verify.schemas import accepts

    try:
        return accepts("checkpoint", "reader", read_object(payload))
    except UnreadableError:
        return False


def _doubts(envelope: dict[str, object]) -> Iterator[str]:
    """Yield what a signer should know of a checkpoint that was signed just now [CKP-5], [CKP-7]."""
    from aef_verify.integrity import base64
    from aef_verify.integrity.dsse import CHECKPOINT_TYPE

    if envelope["payloadType"] != CHECKPOINT_TYPE:
        return
    from aef_verify.checkpoint.manifest import DECIDED, manifest_problems, read_manifest

    payload = envelope["payload"]
    assert isinstance(payload, str)
    try:
        document = read_manifest(base64.decode(payload))
    except InputError as fault:
        yield str(fault)
        return
    if document["state"] != DECIDED:
        yield f"the checkpoint is not decided: its state is {document['state']} [CKP-5]"
    for problem in manifest_problems(document):
        yield f"the checkpoint does not verify: {problem.code}: {problem.detail} [CKP-7]"


def _keyid(envelope: dict[str, object]) -> object:
    signatures = envelope["signatures"]
    assert isinstance(signatures, list)
    return signatures[0]["keyid"]
