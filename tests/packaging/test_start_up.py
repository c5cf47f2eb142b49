"""What a start loads: `aef contract` is called once per vector and loads only what verifies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "argparse",
    "asyncio",
    "click",
    "cryptography",
    "datetime",
    "importlib.metadata",
    "importlib.resources",
    "inspect",
    "jinja2",
    "jsonschema",
    "logging",
    "pathlib",
    "rich",
    "subprocess",
    "tempfile",
    "urllib.parse",
}
BASELINE = "import hashlib, json, re, dataclasses, jiter, jsonschema_rs"
CONTRACT = "import sys; from aef_verify.conformance.contract import main; assert main(sys.argv[2:]) == 0; print()"
TELL = "import sys, json as j; print(j.dumps(sorted(sys.modules)))"


def loaded(code: str, *arguments: str) -> set[str]:
    """Name the modules of `HEAVY` that are loaded after `code` ran with these arguments."""
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\n{TELL}", *arguments], capture_output=True, text=True, check=True
    )
    return HEAVY.intersection(json.loads(told.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a small sealed run."""
    folder = tmp_path_factory.mktemp("start-up") / "run"
    command = [sys.executable, str(ROOT / "scripts" / "make_run.py"), str(folder), "--lines", "3"]
    subprocess.run(command, capture_output=True, check=True)
    return folder


def test_import_loads_nothing_heavy() -> None:
    assert loaded("import aef_verify") <= loaded(BASELINE)


@pytest.mark.parametrize("operation", ["run", "seal", "chain"])
def test_contract_loads_nothing_heavy(run: Path, operation: str) -> None:
    assert loaded(CONTRACT, "contract", operation, str(run)) <= loaded(BASELINE)
