"""The integrity of a run folder as one question each: the seal [SEAL-6], what was withheld, who signed [SIG-7].

`Integrity` holds what these share (`seal.json`, `run.json`, the run hash, the overlay chain), each read once and only
when something asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aef_verify.folder import Folder
from aef_verify.integrity.facts import read_run
from aef_verify.integrity.manifest import Sealed, blob_name, manifest_hash, manifest_text, read_sealed
from aef_verify.integrity.overlays import Chain, read_chain
from aef_verify.integrity.redaction import BatchSigners, signers_of, withheld_blobs
from aef_verify.integrity.seal import Seal, SealReport, read_seal, seal_problems
from aef_verify.layout import ATTESTATION
from aef_verify.problems import Problem, ordered

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

Document = dict[str, Any]


class Integrity:
    """One run's seal, signatures and overlays under a caller's policy.

    Attributes:
        seal: `seal.json` as read.
        files: every sealed file in path order; set by the caller once they were hashed.
    """

    def __init__(
        self, folder: Folder, run: Document | None, policy: TrustPolicy | None, *, details: bool = False
    ) -> None:
        """Read the seal; `run` is `run.json`, or None where it does not read; `details` as for `read_seal`."""
        self.folder = folder
        self.run = run
        self.policy = policy
        self.seal: Seal = read_seal(folder, details=details)
        self.files: Sequence[Sealed] = ()

    @cached_property
    def run_hash(self) -> str:
        """The run's run hash [SEAL-4]."""
        return self.seal.run_hash or manifest_hash(self.files)

    @cached_property
    def chain(self) -> Chain:
        """The overlay chain."""
        return read_chain(self.folder, self.run, lambda: self.run_hash)

    @cached_property
    def signers(self) -> BatchSigners:
        """Who signed each overlay batch."""
        return BatchSigners(self.folder, self.chain, self.policy)

    @cached_property
    def gone(self) -> frozenset[str]:
        """The hex names of sealed blobs that are no longer files of the run."""
        if self.seal.document is None:
            return frozenset()
        present = {entry.path for entry in self.folder.files}
        return frozenset(filter(None, (blob_name(name) for name in self.seal.subjects if name not in present)))

    @cached_property
    def withheld(self) -> frozenset[str]:
        """The hex names of sealed blobs that are gone and named by an authorized redaction [OVL-10]."""
        if self.policy is None or not self.gone or not self.folder.overlays:
            return frozenset()
        return self.gone & frozenset(withheld_blobs(self.chain, self.signers, self.policy))

    def problems(self) -> list[Problem]:
        """Return the seal's problems, unordered; `files` must be set."""
        return seal_problems(self.seal, self.files, self.run, lambda: self.withheld)

    def signed_by(self) -> tuple[str, ...]:
        """Return the identities that `attestation.dsse.json` verifies for over these bytes of `seal.json` [SIG-5]."""
        payload = self.seal.data
        if self.policy is None or payload is None:
            return ()
        return signers_of(self.folder, ATTESTATION, payload, self.policy)


def verify_seal(path: str, *, policy: TrustPolicy | None = None) -> SealReport:
    """Check a run's seal alone [SEAL-6]; raises InputError where there is no run folder or a file cannot be read."""
    with Folder(path) as folder:
        integrity = Integrity(folder, read_run(folder), policy)
        integrity.files = read_sealed(folder)
        text = manifest_text(integrity.files)
        return SealReport(text, manifest_hash(integrity.files), ordered(integrity.problems()))
