"""From options to settings: every contradiction is refused, and whom a key goes to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.memory.bench import Settings
from aef_verify.memory.options import BUNDLED_MODEL, Asked, settings_for, uses_bundled_provider
from aef_verify.problems import InputError
from tests.memory.arms import private_pem
from tests.memory.datasets import entry, write

HOME = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "key-1"}
BUNDLED = "http://127.0.0.1:8/v1"


def asked(**changed: Any) -> Asked:
    usual: dict[str, Any] = dict.fromkeys(Asked._fields)
    usual |= {
        "preset": "subset",
        "seed": 0,
        "subject": "my-agent",
        "agent": "full-history",
        "paired": True,
        "aef_unsealed": False,
        "no_aef": False,
        "content": False,
        "threshold": "50",
        "model": "answerer",
        "api_style": "openai",
        "temperature": 0.0,
        "max_tokens": 512,
        "judge_max_tokens": 10,
        "label_rule": "first-word",
        "judge_failure": "absent",
        "concurrency": 8,
        "timeout": 1.0,
        "retries": 0,
        "offline": True,
    }
    return Asked(**usual | changed)


def settings(environment: dict[str, str] = HOME, bundled: str | None = None, **changed: Any) -> Settings:
    return settings_for(asked(**changed), environment, bundled_url=bundled, version="0.1.0")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"no_aef": True, "aef": "x"}, "--no-aef"),
        ({"no_aef": True, "aef_unsealed": True}, "--no-aef"),
        ({"no_aef": True, "aef_key": "x"}, "--no-aef"),
        ({"aef_unsealed": True}, "need --aef"),
        ({"aef_key": "x"}, "need --aef"),
        ({"aef": "x", "aef_unsealed": True, "aef_key": "x"}, "--aef-key signs"),
        ({"subject": ""}, "--subject"),
        ({"subject": "my agent"}, "--subject"),
        ({"subject": "a" * 257}, "--subject"),
        ({"subject_version": "latest"}, "--subject-version"),
        ({"subject_version": ""}, "--subject-version"),
        ({"threshold": "101"}, "percentage"),
        ({"threshold": "-1"}, "percentage"),
        ({"threshold": "nan"}, "percentage"),
        ({"max_questions": 0}, "at least one"),
        ({"max_questions": -1}, "at least one"),
        ({"seed": 2**60}, "seed"),
        ({"agent": "nobody"}, "--agent"),
        ({"model": None}, "no model"),
        ({"endpoint": "ftp://127.0.0.1"}, "http"),
        ({"endpoint": "http://192.0.2.1/v1"}, "loopback"),
        ({"judge_endpoint": "https://api.example.org/v1"}, "loopback"),
        ({"dataset": "missing.json"}, "missing.json"),
        ({"dataset": "missing.json", "variant": "s"}, "cannot be read"),
        ({"offline": False}, "no dataset"),
        ({"api_style": "other"}, "--api-style"),
        ({"api_style": "azure"}, "AZURE_OPENAI_ENDPOINT"),
    ],
)
def test_what_is_refused(changed: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        settings(**changed)
    assert list(tmp_path.iterdir()) == []


def test_without_any_endpoint_there_is_none() -> None:
    with pytest.raises(InputError, match="OPENAI_BASE_URL"):
        settings({}, offline=False)


@pytest.mark.parametrize("data", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_a_key_that_is_none_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(data)
    with pytest.raises(InputError, match="--aef-key"):
        settings(aef=str(tmp_path / "evidence"), aef_key=str(tmp_path / "key"))
    assert not (tmp_path / "evidence").exists()


def test_a_key_is_taken(tmp_path: Path) -> None:
    from tests import building

    pem = private_pem(next(iter(building.KEYS)))
    (tmp_path / "key").write_bytes(pem)
    found = settings(aef=str(tmp_path / "evidence"), aef_key=str(tmp_path / "key")).evidence
    assert found is not None
    assert (found.destination, found.seal, found.key) == (str(tmp_path / "evidence"), True, pem)


def test_an_oracle_dataset_is_not_paired(tmp_path: Path) -> None:
    gold = entry(haystack_session_ids=["answer_1"] * 3)
    path = write(tmp_path, [gold], "longmemeval_oracle.json")
    with pytest.raises(InputError, match="--paired-oracle"):
        settings(dataset=path)
    assert len(settings(dataset=path, paired=False).roster) == 1


def test_the_judge_is_the_answer_model_unless_another_is_named() -> None:
    calls = settings().calls
    assert calls.judge == calls.answer
    assert settings(judge_model="grader").calls.judge == calls.answer._replace(model="grader")


def test_a_key_goes_nowhere_else() -> None:
    elsewhere = "http://127.0.0.1:10/v1"
    assert settings(judge_endpoint=HOME["OPENAI_BASE_URL"]).calls.judge.api_key == "key-1"
    assert settings(judge_endpoint=elsewhere).calls.judge.api_key is None
    assert settings(HOME | {"JUDGE_OPENAI_API_KEY": "key-2"}, judge_endpoint=elsewhere).calls.judge.api_key == "key-2"
    assert settings(bundled=BUNDLED).calls.answer.api_key is None


def test_azure_has_names_of_its_own() -> None:
    environment = HOME | {"AZURE_OPENAI_ENDPOINT": "http://127.0.0.1:7", "AZURE_OPENAI_API_KEY": "key-3"}
    answer = settings(environment, api_style="azure").calls.answer
    assert (answer.base_url, answer.api_key, answer.style) == ("http://127.0.0.1:7", "key-3", "azure")


@pytest.mark.parametrize(
    ("changed", "environment", "starts"),
    [
        ({}, {}, True),
        ({}, HOME, False),
        ({"endpoint": "http://127.0.0.1:1/v1"}, {}, False),
        ({"offline": False}, {}, False),
        ({"api_style": "azure"}, HOME, True),
    ],
)
def test_when_the_bundled_provider_is_started(
    changed: dict[str, Any], environment: dict[str, str], starts: bool
) -> None:
    assert uses_bundled_provider(asked(**changed), environment) is starts


def test_the_bundled_provider_is_scripted_from_the_start() -> None:
    found = settings({}, BUNDLED, model=None)
    assert found.scripted
    assert (found.calls.answer.base_url, found.calls.answer.model) == (BUNDLED, BUNDLED_MODEL)
    assert not settings().scripted
