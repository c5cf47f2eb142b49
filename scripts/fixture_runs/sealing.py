"""Seals, signatures and overlay batches of the bundled evidence, with keys that everybody knows.

Ed25519 throughout: its signatures are deterministic, so the same evidence always has the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from aef_verify.folder import Folder
from aef_verify.integrity.dsse import STATEMENT_TYPE
from aef_verify.integrity.manifest import read_sealed
from aef_verify.writing.seal import seal_run, seal_statement
from aef_verify.writing.sign import sign_file
from scripts.fixture_runs.building import Document, hex_digest, ndjson, pretty

EVENTS = "overlays/events.ndjson"
BATCH = "https://agenteval.dev/aef/1/overlay-batch"


class PublishedKey(NamedTuple):
    """A published test key: the file's name, whom the policy says it speaks for, and that identity's rights.

    `identity` is None for a key that the policy does not know.
    """

    name: str
    identity: str | None
    may: tuple[str, ...] = ()

    def halves(self) -> tuple[bytes, bytes]:
        """Return the private half (PKCS#8) and the public half (SubjectPublicKeyInfo), both PEM."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

        seed = hashlib.sha256(f"aef-verify published test key: {self.name}".encode()).digest()
        key = Ed25519PrivateKey.from_private_bytes(seed)
        return (
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
            key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        )


CI = PublishedKey("ci", "spiffe://acme/ci")
REVIEWER = PublishedKey("reviewer", "oidc:acme/reviewer")
PRIVACY = PublishedKey("privacy", "oidc:acme/privacy", ("redact",))
STRANGER = PublishedKey("stranger", None)
KEYS = (CI, REVIEWER, PRIVACY, STRANGER)


def policy() -> Document:
    """Return the trust policy of the bundled evidence [SIG-4]."""
    entries = []
    for key in KEYS:
        if key.identity is not None:
            entry: Document = {"identity": key.identity, "publicKey": key.halves()[1].decode()}
            entries.append(entry | ({"may": list(key.may)} if key.may else {}))
    return {"schemaVersion": "1.0", "keys": entries}


class Sealer:
    """Seals and signs with the private halves that stand in a folder."""

    def __init__(self, keys: Path) -> None:
        """Take the folder of `<name>.key.pem` files."""
        self.keys = keys

    def seal(self, run: Path, sealed_at: str, *, sealed_by: str = "producer") -> str:
        """Seal a run as a producer or host does, and return its run hash."""
        return seal_run(str(run), sealed_by=sealed_by, sealed_at=sealed_at)

    def seal_anything(self, run: Path, sealed_at: str) -> None:
        """Seal whatever stands in a folder, as someone who does not mind the rules; of two members the last wins."""
        with Folder(str(run)) as folder:
            header = json.loads((run / "run.json").read_bytes())
            statement = seal_statement(header, read_sealed(folder), sealed_by="producer", sealed_at=sealed_at)
        (run / "seal.json").write_bytes(pretty(statement))

    def sign(self, file: Path, key: PublishedKey, envelope: str, payload_type: str = STATEMENT_TYPE) -> None:
        """Sign a statement, or a file of another type, into the envelope beside it."""
        signed = sign_file(str(file), str(self.keys / f"{key.name}.key.pem"), payload_type)
        (file.parent / envelope).write_bytes(pretty(signed))

    def attest(self, run: Path, key: PublishedKey) -> None:
        """Sign a run's seal."""
        self.sign(run / "seal.json", key, "attestation.dsse.json")

    def append_batch(self, run: Path, events: list[Document], key: PublishedKey) -> None:
        """Append events to a sealed run as the next batch, sealed and signed [OVL-4]."""
        predicate = json.loads((run / "seal.json").read_bytes())["predicate"]
        file = run / EVENTS
        file.parent.mkdir(exist_ok=True)
        before = file.read_bytes() if file.exists() else b""
        batch = ndjson(events)
        file.write_bytes(before + batch)
        seals = sorted(file.parent.glob("seal-[0-9][0-9][0-9][0-9].json"))
        number = len(seals) + 1
        seal = file.parent / f"seal-{number:04d}.json"
        previous = seals and {"path": f"overlays/{seals[-1].name}", "sha256": hex_digest(seals[-1].read_bytes())}
        statement = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": EVENTS, "digest": {"sha256": hex_digest(batch)}}],
            "predicateType": BATCH,
            "predicate": {
                "schemaVersion": "1.0",
                "runId": predicate["runId"],
                "runHash": predicate["runHash"],
                "batch": number,
                "offset": len(before),
                "length": len(batch),
                "previous": previous or None,
            },
        }
        seal.write_bytes(pretty(statement))
        self.sign(seal, key, f"seal-{number:04d}.dsse.json")
