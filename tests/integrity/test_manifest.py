"""[SEAL-1], [SEAL-2], [SEAL-3], [SEAL-4], [EVD-3] The manifest: which files, exact bytes, one order, and its hash."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from aef_verify.folder import Folder
from aef_verify.integrity.manifest import (
    Sealed,
    blob_name,
    is_sealed,
    manifest_hash,
    manifest_text,
    read_sealed,
    sealed_entries,
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("run.json", True),
        ("ext/seal.json", True),
        ("ext/overlays/x", True),
        ("Seal.json", True),
        ("seal.json/x", True),
        ("Overlays/x", True),
        ("overlays2", True),
        (".hidden", True),
        ("seal.json", False),
        ("attestation.dsse.json", False),
        ("overlays", False),
        ("overlays/", False),
        ("overlays/events.ndjson", False),
        ("overlays/a/b", False),
    ],
)
def test_seal1_every_file_but_the_seal_its_signature_and_the_overlays(path: str, expected: bool) -> None:
    assert is_sealed(path) is expected


def test_seal3_lines_in_the_order_of_the_paths_bytes(tmp_path: Path) -> None:
    """Two spaces, a size in decimal, an LF; the text's own order; bytes as they are [SEAL-2]."""
    contents = {
        "ext/a/b": b"",
        "ext/a.b": b"\r\n",
        "ext/a-b": "ü\0".encode(),
        "ext/Z": bytes(1 << 20) + b"x",
        "run.json": b"{}",
        "é": b"\xff",
    }
    for path, data in {**contents, "seal.json": b"{}", "overlays/events.ndjson": b"x"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    order = ["ext/Z", "ext/a-b", "ext/a.b", "ext/a/b", "run.json", "é"]
    expected = [Sealed(path, hashlib.sha256(contents[path]).hexdigest(), len(contents[path])) for path in order]
    with Folder(str(tmp_path)) as folder:
        assert [entry.path for entry in sealed_entries(folder)] == order
        files = read_sealed(folder)
    assert files == expected
    text = manifest_text(files)
    assert text == "".join(f"{file.sha256}  {file.size}  {file.path}\n" for file in expected)
    assert text.splitlines()[0].endswith("  1048577  ext/Z")
    assert manifest_hash(files) == hashlib.sha256(text.encode()).hexdigest()


def test_seal4_no_file_at_all() -> None:
    assert manifest_text([]) == ""
    assert manifest_hash([]) == hashlib.sha256().hexdigest()


HEX = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"blobs/sha256/01/{HEX}", HEX),
        (f"blobs/sha256/23/{HEX}", ""),
        (f"blobs/sha256/{HEX}", ""),
        (f"blobs/sha256/01/{HEX.upper()}", ""),
        (f"blobs/sha256/01/{HEX}0", ""),
        (f"blobs/sha256/01/{HEX[:-1]}", ""),
        (f"blobs/sha256/01/{HEX}\n", ""),
        (f"x/blobs/sha256/01/{HEX}", ""),
        (f"blobs/sha512/01/{HEX}", ""),
        ("", ""),
    ],
)
def test_evd3_a_blob_has_one_place(path: str, name: str) -> None:
    assert blob_name(path) == name
