"""Trust policies: [SIG-4] whose keys the caller trusts, with which rights; [SIG-3] when one is refused.

A policy is an input of the verification, never read from a run. It is refused as a whole, in this order:
beyond the limits of a JSON file, not I-JSON, not valid against its schema (which is strict for readers
too), a key that is no strict PEM, no strict DER or not usable, two keys with one key id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from aef_verify import limits, schemas
from aef_verify.encoding.ijson import UnreadableError, read_object
from aef_verify.given import read_given
from aef_verify.integrity.algorithms import KeyRefusedError
from aef_verify.integrity.keys import PublicKey, load_public_key
from aef_verify.problems import InputError

REDACT = "redact"
"""The one right beyond signing that AEF 1.0 knows: to authorize redactions [OVL-10]."""

_SCHEMA = "trust-policy"
_SHOWN = 80
"""Characters shown of an identity in a message."""


class PolicyError(InputError):
    """A trust policy that is refused as a whole; the message names the key and what is wrong."""


class TrustedKey(NamedTuple):
    """One key of a policy: its position from 0, the identity it speaks for, and the key itself."""

    position: int
    identity: str
    key: PublicKey


@dataclass(frozen=True, slots=True)
class TrustPolicy:
    """A trust policy that was accepted; equal to another one of the same bytes.

    Attributes:
        source: the bytes it was read from.
        keys: the trusted keys, in policy order.
        by_keyid: the same keys by key id [SIG-3].
        rights: what each identity may do beyond signing, the union over its keys.
    """

    source: bytes = field(repr=False)
    keys: tuple[TrustedKey, ...] = field(compare=False)
    by_keyid: Mapping[str, TrustedKey] = field(compare=False, repr=False)
    rights: Mapping[str, frozenset[str]] = field(compare=False)

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        """Go to another process as bytes: loaded keys cannot."""
        return load_policy, (self.source,)

    def may(self, identity: str, right: str) -> bool:
        """Whether the policy gives a right, by its exact name, to an identity [SIG-4]."""
        return right in self.rights.get(identity, ())

    def identities_with(self, right: str) -> frozenset[str]:
        """Return the identities that have a right, by its exact name [SIG-4]."""
        return frozenset(identity for identity, rights in self.rights.items() if right in rights)


def read_policy(path: str) -> TrustPolicy:
    """Read and load the trust policy at a path; raises `InputError` where it cannot be read or is refused."""
    return load_policy(read_given(path, limits.JSON_BYTES))


def load_policy(data: bytes) -> TrustPolicy:
    """Load a trust policy from its file's bytes; raises `PolicyError` where [SIG-3] or [SIG-4] refuses it."""
    try:
        document = read_object(data)
    except UnreadableError as fault:
        raise PolicyError(f"trust policy refused: {fault}") from None
    if not schemas.accepts(_SCHEMA, "reader", document):
        raise PolicyError(f"trust policy refused: {_schema_fault(document)}")
    entries = cast("list[dict[str, object]]", document["keys"])
    keys: list[TrustedKey] = []
    by_keyid: dict[str, TrustedKey] = {}
    rights: dict[str, frozenset[str]] = {}
    for position, entry in enumerate(entries):
        identity = cast("str", entry["identity"])
        try:
            trusted = TrustedKey(position, identity, load_public_key(cast("str", entry["publicKey"])))
        except KeyRefusedError as fault:
            raise PolicyError(f"trust policy refused: {_named(entries, position)}: {fault}") from None
        first = by_keyid.setdefault(trusted.key.keyid, trusted)
        if first is not trusted:
            raise PolicyError(
                f"trust policy refused: {_named(entries, position)} is the same key as "
                f"{_named(entries, first.position)}: each key stands once"
            )
        keys.append(trusted)
        rights[identity] = rights.get(identity, frozenset()).union(cast("list[str]", entry.get("may") or ()))
    return TrustPolicy(data, tuple(keys), by_keyid, rights)


def _named(entries: Sequence[object], position: int) -> str:
    """Name a key by its place and, where it has one, its identity."""
    entry = entries[position]
    identity = entry.get("identity") if isinstance(entry, dict) else None
    if not isinstance(identity, str):
        return f"keys[{position}]"
    shown = identity if len(identity) <= _SHOWN else identity[: _SHOWN - 1] + "…"
    return f"keys[{position}] ({shown!r})"


def _schema_fault(document: dict[str, object]) -> str:
    """Say in plain words what keeps a policy from being valid, naming the key where it is one."""
    faults = schemas.explain(_SCHEMA, "reader", document)
    if not faults:
        return "it is not valid against its schema"
    fault, keys = faults[0], document.get("keys")
    steps = fault.pointer.split("/")[1:]
    if len(steps) < 2 or steps[0] != "keys" or not isinstance(keys, list):
        return f"{_member(steps)} {fault.message}"
    where = _named(keys, int(steps[1]))
    if steps[2:] == ["publicKey"] and isinstance(fault.value, str):
        try:
            load_public_key(fault.value)
        except KeyRefusedError as refusal:
            return f"{where}: {refusal}"
    return f"{where}: {_member(steps[2:])} {fault.message}"


def _member(steps: Sequence[str]) -> str:
    return f"`{'/'.join(steps)}`" if steps else "it"
