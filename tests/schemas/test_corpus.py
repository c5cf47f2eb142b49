"""The official vectors of `document`, `reader-only`, `plan` and `checkpoint`, by both implementations.

Only where AEF_CORPUS names the corpus. Of a checkpoint only the writer's and the reader's verdict is looked at here.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import aef_verify.schemas.document
from aef_verify.schemas.document import check_document
from tests.schemas.both import IMPLEMENTATIONS, Implementation

CORPUS = os.environ.get("AEF_CORPUS")
KINDS = ("document", "reader-only", "plan", "checkpoint")


def vectors() -> Iterator[Any]:
    """Yield the folder of each vector of the kinds."""
    if CORPUS:
        for vector in json.loads(Path(CORPUS, "index.json").read_text())["vectors"]:
            if vector["kind"] in KINDS:
                yield pytest.param(Path(CORPUS, vector["path"]), id=vector["id"])


def made(vector: Path, expected: Any, scratch: Path) -> Path:
    """Return the folder that holds the vector's file, made in a scratch folder where it is generated."""
    if "generate" not in expected:
        return vector
    for step in expected["generate"]:
        if "copy" in step:
            shutil.copy(Path(str(CORPUS), step["copy"][0]), scratch / step["copy"][1])
        else:
            name, parts = step.get("write") or step["append"]
            with (scratch / name).open("wb" if "write" in step else "ab") as file:
                file.writelines(text.encode() * count for text, count in parts)
    return scratch


@pytest.mark.skipif(not CORPUS, reason="AEF_CORPUS names no corpus")
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("vector", list(vectors()))
def test_vector(implementation: Implementation, vector: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aef_verify.schemas.document, "validator", implementation)
    expected = json.loads((vector / "expected.json").read_text())
    file = made(vector, expected, tmp_path) / expected.get("document", "document.json")
    report = check_document(expected["schema"], str(file))
    assert (report.writer, report.reader) == (expected["writer"], expected["reader"])
    assert expected.get("reads", {}).items() <= report.reads.items()


@pytest.mark.skipif(not CORPUS, reason="AEF_CORPUS names no corpus")
def test_every_vector_is_there() -> None:
    assert len(list(vectors())) == 198
