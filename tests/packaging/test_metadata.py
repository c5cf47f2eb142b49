"""The installed metadata: extras exactly as said, one command, every supported Python, the license."""

from __future__ import annotations

import re
from importlib.metadata import distribution, entry_points, metadata

import pytest

BASE = {"click", "cryptography", "jinja2", "jiter", "jsonschema", "jsonschema-rs", "rfc8785", "rich"}
EXTRAS = {
    "testing": {"hypothesis"},
    "bench": {"bm25s", "httpx", "starlette", "uvicorn"},
    "cluster": {"dask[distributed]"},
    "remote": {"fsspec"},
}


def requirements(extra: str | None) -> set[str]:
    """Name what the distribution requires, with `extra` or (None) always."""
    names = set()
    for line in distribution("aef-verify").requires or []:
        name, _, marker = line.partition(";")
        condition = re.search(r"extra == ['\"]([^'\"]+)['\"]", marker)
        if (condition.group(1) if condition else None) == extra:
            names.add(re.split(r"[<>=!~ ]", name)[0].lower())
    return names


def test_base_requirements() -> None:
    assert requirements(None) == BASE


def test_extras_are_exactly_the_four() -> None:
    assert set(metadata("aef-verify").get_all("Provides-Extra") or []) == set(EXTRAS)


@pytest.mark.parametrize("extra", EXTRAS)
def test_extra_requires(extra: str) -> None:
    assert requirements(extra) == EXTRAS[extra]


def test_command() -> None:
    (command,) = entry_points(group="console_scripts", name="aef")
    assert command.value == "aef_verify.__main__:main"


def test_license_and_pythons() -> None:
    stated = metadata("aef-verify")
    assert stated["License-Expression"] == "Apache-2.0"
    assert stated["Requires-Python"] == ">=3.11"
    versions = [line.rpartition(" ")[2] for line in stated.get_all("Classifier") or [] if "Python :: 3." in line]
    assert versions == ["3.11", "3.12", "3.13"]
