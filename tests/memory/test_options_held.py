"""Options that a run could not hold are refused before any call is made (docs/MEMORY_PAIR.md §1)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from aef_verify.problems import InputError
from tests.memory.test_options import HOME, settings


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"model": ""}, "--model"),
        ({"model": "\udcff"}, "--model"),
        ({"model": "a\x1b[31m"}, "--model"),
        ({"judge_model": "a" * 257}, "--judge-model"),
        ({"model_version": ""}, "--model-version"),
        ({"model_version": "\udcff"}, "--model-version"),
        ({"max_tokens": 2**53}, "--max-tokens"),
        ({"judge_max_tokens": 2**53}, "--judge-max-tokens"),
        ({"temperature": math.nan}, "--temperature"),
        ({"timeout": math.inf}, "--timeout"),
        ({"timeout": math.nan}, "--timeout"),
    ],
)
def test_what_no_definition_can_hold_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        settings(**changed)


@pytest.mark.parametrize(
    ("url", "style", "provider"),
    [
        ("https://api.openai.com/v1", "openai", "openai"),
        ("https://mine.openai.azure.com", "azure", "azure"),
        ("https://openai.azure.com.example.org", "azure", None),
        ("http://127.0.0.1:9/v1", "openai", None),
        ("http://127.0.0.1:9", "azure", None),
    ],
)
def test_evidence_names_a_judges_provider_only_where_its_host_tells(url: str, style: str, provider: str | None) -> None:
    """[RUN-9]: the style of an interface is spoken by many."""
    offline = url.startswith("http://127.")
    dataset = None if offline else _bundled_path()
    found = settings(HOME, endpoint=url, api_style=style, offline=offline, dataset=dataset, judge_model="j")
    assert found.judge_provider == provider


def _bundled_path() -> str:
    from aef_verify.memory.dataset import bundled

    return bundled().path
