"""Who signed a seal or a batch [SIG-5], [OVL-3], and the redactions that count for that [OVL-10].

Both are for the caller's policy to decide.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from aef_verify import limits
from aef_verify.folder import Folder
from aef_verify.integrity.overlays import Chain, batch_path, envelope_path
from aef_verify.problems import InputError

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy


def signers_of(folder: Folder, path: str, payload: bytes, policy: TrustPolicy) -> tuple[str, ...]:
    """Return the identities that the envelope at a path verifies for over a statement, none without one [SIG-5]."""
    entry = folder.get(path)
    if entry is None:
        return ()
    from aef_verify.integrity.dsse import STATEMENT_TYPE, verify_envelope

    envelope = folder.within(entry, limits.ENVELOPE_BYTES)
    return verify_envelope(envelope, payload, STATEMENT_TYPE, policy).verifies_for


class BatchSigners:
    """For whom the signature of each verified batch verifies under one policy; asked once per batch."""

    def __init__(self, folder: Folder, chain: Chain, policy: TrustPolicy | None) -> None:
        """Without a policy nobody signed anything."""
        self._folder = folder
        self._chain = chain
        self._policy = policy
        self._known: dict[int, tuple[str, ...]] = {}

    def of(self, batch: int) -> tuple[str, ...]:
        """Return the identities that the envelope of a batch verifies for, in policy order."""
        if batch not in self._known:
            self._known[batch] = self._verify(batch)
        return self._known[batch]

    def _verify(self, batch: int) -> tuple[str, ...]:
        if self._policy is None:
            return ()
        envelope, entry = envelope_path(batch), self._folder.get(batch_path(batch))
        if self._folder.get(envelope) is None or entry is None:
            return ()
        payload, _ = self._folder.content(entry, limits.SEAL_BYTES)
        if payload is None or sha256(payload).hexdigest() != self._chain.seals[batch]:
            raise InputError(f"{self._folder.root}/{entry.path}: changed while it was read; verify again")
        return signers_of(self._folder, envelope, payload, self._policy)


def withheld_blobs(chain: Chain, signers: BatchSigners, policy: TrustPolicy | None) -> list[str]:
    """Return the hex names of blobs that authorized redactions name, in file order, gone or not [OVL-10]."""
    if policy is None:
        return []
    from aef_verify.integrity.policy import REDACT

    allowed = policy.identities_with(REDACT)
    named: dict[str, None] = {}
    for event in chain.effective(None):
        redacts = event.kind == "redact" and event.identity in allowed
        if redacts and event.identity in signers.of(chain.batch_of(event)):
            named[event.target["blob"]] = None
    return list(named)
