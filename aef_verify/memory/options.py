"""What a benchmark is asked for, turned into settings or refused: every usage error, before any call is made.

Order: the evidence options, the names and numbers, the endpoints, the workload and its roster, the agent, the key, the
destination; only the last one touches the disk beyond reading.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from aef_verify.memory import gate
from aef_verify.memory.agents import load_agent
from aef_verify.memory.bench import Evidence, Settings
from aef_verify.memory.dataset import Dataset, bundled, open_dataset
from aef_verify.memory.destination import check_destination
from aef_verify.memory.entry import LARGEST_INTEGER
from aef_verify.memory.question import Calls
from aef_verify.memory.roster import select
from aef_verify.problems import InputError
from aef_verify.provider.address import STYLES, Endpoint, parse_url, target
from aef_verify.provider.offline import check_offline

BASE_URL, API_KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
AZURE_ENDPOINT, AZURE_KEY = "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"
BUNDLED_MODEL = "scripted-model"

_SUBJECT = re.compile(r"[!-~]{1,256}", re.ASCII)
_VERSION = re.compile(r"[!-~]{1,128}", re.ASCII)
_KEY_BYTES = 1 << 20
_MODEL_CHARACTERS = 256
_PROVIDERS = (("api.openai.com", "openai"), (".openai.azure.com", "azure"))
"""Hosts, or what they end with, and who serves there; of another host evidence names no provider."""


class Asked(NamedTuple):
    """What the user asked for, as given; None where not given."""

    dataset: str | None
    variant: str | None
    preset: str
    seed: int
    max_questions: int | None
    subject: str
    subject_version: str | None
    agent: str
    paired: bool
    aef: str | None
    aef_unsealed: bool
    aef_key: str | None
    no_aef: bool
    content: bool
    threshold: str
    endpoint: str | None
    model: str | None
    model_version: str | None
    judge_endpoint: str | None
    judge_model: str | None
    api_style: str
    temperature: float
    max_tokens: int
    judge_max_tokens: int
    label_rule: str
    judge_failure: str
    concurrency: int
    timeout: float
    retries: int
    offline: bool


def settings_for(asked: Asked, environment: Mapping[str, str], *, bundled_url: str | None, version: str) -> Settings:
    """Return the settings of a benchmark.

    Args:
        asked: the options.
        environment: where endpoints and keys that no option gives are looked for.
        bundled_url: where the bundled provider listens, if this benchmark starts it itself.
        version: this product's version.

    Raises:
        InputError: a usage or input error, in words that say what to change.
    """
    check_evidence_options(asked)
    _check_names(asked)
    names = _key_names(asked, environment, bundled_url)
    answer, judge = _endpoints(asked, environment, bundled_url, names)
    dataset = _dataset(asked)
    roster = select(dataset.items, preset=asked.preset, seed=asked.seed, max_questions=asked.max_questions)
    if not roster:
        raise InputError(f"{dataset.path}: no question was selected")
    if asked.paired and (reason := dataset.unpairable):
        raise InputError(f"--paired-oracle: {reason}")
    agent = load_agent(asked.agent)
    key = None if asked.aef_key is None else _key(asked.aef_key)
    if asked.aef is not None:
        check_destination(asked.aef)
    return Settings(
        dataset=dataset,
        roster=roster,
        preset=asked.preset,
        seed=asked.seed,
        subject=(f"agent:{asked.subject}", asked.subject_version),
        agent=agent,
        calls=Calls(
            answer=answer,
            judge=judge,
            temperature=asked.temperature,
            max_tokens=asked.max_tokens,
            judge_temperature=0,
            judge_max_tokens=asked.judge_max_tokens,
            label_rule=asked.label_rule,
            judge_failure=asked.judge_failure,
        ),
        answer_version=asked.model_version,
        judge_provider=_provider(judge),
        threshold=asked.threshold,
        paired=asked.paired,
        evidence=None if asked.aef is None else Evidence(asked.aef, not asked.aef_unsealed, key),
        content=asked.content,
        concurrency=asked.concurrency,
        timeout=asked.timeout,
        retries=asked.retries,
        offline=asked.offline,
        scripted=bundled_url is not None,
        version=version,
        key_names=names,
    )


def check_evidence_options(asked: Asked) -> None:
    """Refuse evidence options that contradict each other."""
    if asked.no_aef and (asked.aef is not None or asked.aef_unsealed or asked.aef_key is not None):
        raise InputError("--no-aef writes no evidence, so it goes with no other evidence option")
    if asked.aef is None and (asked.aef_unsealed or asked.aef_key is not None):
        raise InputError("--aef-unsealed and --aef-key need --aef, the folder that evidence is written to")
    if asked.aef_unsealed and asked.aef_key is not None:
        raise InputError("--aef-key signs seals, and --aef-unsealed writes none")


def _check_names(asked: Asked) -> None:
    if not _SUBJECT.fullmatch(asked.subject):
        raise InputError("--subject: 1 to 256 printable ASCII characters without spaces")
    version = asked.subject_version
    if version is not None and (not _VERSION.fullmatch(version) or version.lower() == "latest"):
        raise InputError("--subject-version: an exact version of 1 to 128 printable ASCII characters, never `latest`")
    gate.percent(asked.threshold)
    if asked.model_version is not None:
        _check_model("--model-version", asked.model_version)
    for option, count in (("--max-tokens", asked.max_tokens), ("--judge-max-tokens", asked.judge_max_tokens)):
        if count > LARGEST_INTEGER:
            raise InputError(f"{option}: at most {LARGEST_INTEGER}")
    for option, number in (("--temperature", asked.temperature), ("--timeout", asked.timeout)):
        if not math.isfinite(number):
            raise InputError(f"{option}: a number")


def _check_model(option: str, name: str) -> None:
    """Refuse a name that no document, or no line of a report, can hold."""
    if not 1 <= len(name) <= _MODEL_CHARACTERS or not name.isprintable():
        raise InputError(f"{option}: 1 to {_MODEL_CHARACTERS} printable characters")


def uses_bundled_provider(asked: Asked, environment: Mapping[str, str]) -> bool:
    """Whether this benchmark starts the bundled provider itself: offline, and no endpoint given."""
    return asked.offline and asked.endpoint is None and not environment.get(_names(asked)[0])


def _names(asked: Asked) -> tuple[str, str]:
    """Return the environment's names for the base URL and the key."""
    return (AZURE_ENDPOINT, AZURE_KEY) if asked.api_style == "azure" else (BASE_URL, API_KEY)


def _key_names(asked: Asked, environment: Mapping[str, str], bundled_url: str | None) -> tuple[str | None, str | None]:
    """Return the variables that hold the answer model's key and the judge's, None where there is none."""
    url_name, key_name = _names(asked)
    own = f"JUDGE_{key_name}"
    answer = key_name if bundled_url is None and environment.get(key_name) else None
    if environment.get(own):
        return answer, own
    # A judge elsewhere has a key of its own: the answer model's provider is not trusted with another's.
    shared = asked.judge_endpoint in (None, bundled_url or asked.endpoint or environment.get(url_name))
    return answer, answer if shared else None


def _endpoints(
    asked: Asked, environment: Mapping[str, str], bundled_url: str | None, names: tuple[str | None, str | None]
) -> tuple[Endpoint, Endpoint]:
    if asked.api_style not in STYLES:
        raise InputError(f"--api-style: one of {', '.join(STYLES)}")
    url_name, _ = _names(asked)
    url = bundled_url or asked.endpoint or environment.get(url_name)
    if url is None:
        raise InputError(f"no endpoint: give --endpoint or {url_name}, or --offline for the bundled provider")
    model = asked.model or (BUNDLED_MODEL if bundled_url is not None else None)
    if model is None:
        raise InputError("no model: give --model")
    answer_key, judge_key = (None if name is None else environment[name] for name in names)
    answer = Endpoint(url, model, answer_key, asked.api_style)
    judge = Endpoint(asked.judge_endpoint or url, asked.judge_model or model, judge_key, asked.api_style)
    for option, endpoint in (("--model", answer), ("--judge-model", judge)):
        _check_model(option, endpoint.model)
        target(endpoint)
        if asked.offline:
            check_offline(endpoint.base_url)
    return answer, judge


def _provider(endpoint: Endpoint) -> str | None:
    """Return who serves an endpoint, where its host tells."""
    host = parse_url(endpoint.base_url).host
    return next((name for end, name in _PROVIDERS if host == end or (end[0] == "." and host.endswith(end))), None)


def _dataset(asked: Asked) -> Dataset:
    if asked.dataset is not None:
        return open_dataset(asked.dataset, variant=asked.variant)
    if not asked.offline:
        raise InputError("no dataset: give --dataset FILE, or --offline for the bundled workload")
    return bundled()


def _key(path: str) -> bytes:
    from aef_verify.given import read_given
    from aef_verify.writing.sign import load_private_key

    pem = read_given(path, _KEY_BYTES)
    try:
        load_private_key(pem)
    except InputError as fault:
        raise InputError(f"--aef-key {path}: {fault}") from None
    return pem
