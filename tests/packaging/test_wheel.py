"""The wheel: the whole package with its schemas and type marker, and nothing else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Build the wheel of the checkout; returns the names in it."""
    folder = tmp_path_factory.mktemp("dist")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_wheel_holds_the_package_as_it_stands(wheel: set[str]) -> None:
    files = (path for path in (ROOT / "aef_verify").rglob("*") if path.is_file())
    package = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}
    assert {name for name in wheel if ".dist-info/" not in name} == package


def test_wheel_holds_schemas_and_type_marker(wheel: set[str]) -> None:
    assert "aef_verify/py.typed" in wheel
    for side in ("writer", "reader"):
        assert any(f"/{side}/" in name and name.endswith(".schema.json") for name in wheel), side


def test_wheel_holds_the_license(wheel: set[str]) -> None:
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel)
