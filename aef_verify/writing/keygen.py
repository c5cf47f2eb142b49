"""Key pairs to sign with [SIG-2], and the entry that a trust policy takes for one [SIG-4].

A private key is written unencrypted (PKCS#8 PEM) into a file that did not exist before, that only its owner
may read from its first moment on, and that is gone again when anything fails.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from aef_verify.integrity.algorithms import ECDSA_P256, ED25519
from aef_verify.integrity.policy import load_policy
from aef_verify.problems import InputError
from aef_verify.writing.sign import key_id_of, public_pem_of
from aef_verify.writing.whole import write_synced

if TYPE_CHECKING:
    from aef_verify.writing.sign import PrivateKey

_PRIVATE, _PUBLIC = 0o600, 0o644


class GeneratedKey(NamedTuple):
    """A key pair that was written: its key id [SIG-3] and its public half as PEM."""

    keyid: str
    public_pem: str


def _p256() -> PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

    return generate_private_key(SECP256R1())


def _ed25519() -> PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate()


GENERATORS: dict[str, Callable[[], PrivateKey]] = {ECDSA_P256: _p256, ED25519: _ed25519}
"""Algorithm to how a key of it is made."""


def generate_key(path: str, algorithm: str, *, public_path: str | None = None) -> GeneratedKey:
    """Make a key pair: the private half in `path` (mode 0600), the public half in `public_path` if given.

    Neither file may exist. Where one of them cannot be written, neither is left behind.

    Raises:
        InputError: an algorithm other than those of `GENERATORS`, or a file that exists or has no folder.
        OSError: a file that cannot be written (no space, no permission).
    """
    if algorithm not in GENERATORS:
        raise InputError(f"no algorithm {algorithm!r}; there are {', '.join(GENERATORS)}")
    key = GENERATORS[algorithm]()
    public_pem = public_pem_of(key)
    _create(path, _private_pem_of(key), _PRIVATE)
    if public_path is not None:
        try:
            _create(public_path, public_pem.encode("ascii"), _PUBLIC)
        except BaseException:
            os.unlink(path)
            raise
    return GeneratedKey(key_id_of(key), public_pem)


def policy_entry(public_pem: str, identity: str, may: Sequence[str] = ()) -> dict[str, object]:
    """Return the trust policy entry for a public key; raises `InputError` where no policy could hold it."""
    entry: dict[str, object] = {"identity": identity, "publicKey": public_pem}
    if may:
        entry["may"] = list(may)
    load_policy(json.dumps({"keys": [entry]}).encode())
    return entry


def _private_pem_of(key: PrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _create(path: str, content: bytes, mode: int) -> None:
    """Write a file that does not exist yet, whole and on the disk, or leave none."""
    try:
        write_synced(path, content, mode)
    except FileExistsError:
        raise InputError(f"{path}: is there already, and a key is never overwritten") from None
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: the folder to write it to does not exist") from None
    except ValueError as fault:
        raise InputError(f"{path!r}: {fault}") from None
