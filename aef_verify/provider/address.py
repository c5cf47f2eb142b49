"""Where a client sends its requests: an endpoint, and the URL and the headers that follow from it."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

import httpx

from aef_verify.problems import InputError

OPENAI, AZURE = "openai", "azure"
STYLES = (OPENAI, AZURE)
API_VERSION = "2024-10-21"
"""The version of Azure's interface that is asked for where the base URL names none."""

_HEADERS = (
    (b"content-type", b"application/json"),
    (b"accept", b"application/json"),
    (b"accept-encoding", b"identity"),
)


class Endpoint(NamedTuple):
    """A model at a provider.

    Attributes:
        base_url: where the provider's paths begin: `https://host/v1`; for Azure `https://host`.
        model: the model's name; for Azure the deployment's.
        api_key: the key, which no text form of an endpoint shows.
        style: `openai` or `azure`.
    """

    base_url: str
    model: str
    api_key: str | None = None
    style: str = OPENAI

    def __repr__(self) -> str:
        key = "None" if self.api_key is None else "'***'"
        return f"Endpoint(base_url={_bare(self.base_url)!r}, model={self.model!r}, api_key={key}, style={self.style!r})"


class Target(NamedTuple):
    """What every request to an endpoint has in common; its text form shows neither."""

    url: httpx.URL
    headers: tuple[tuple[bytes, bytes], ...]

    def __repr__(self) -> str:
        return f"Target({_bare(str(self.url))!r})"


def parse_url(text: str) -> httpx.URL:
    """Return a URL as the client will use it.

    Raises:
        InputError: no http or https URL with a host, or one that holds a user's name or a query other than
            `api-version`; the message shows neither.
    """
    try:
        url = httpx.URL(text.strip())
    except (httpx.InvalidURL, UnicodeError, TypeError, ValueError):
        raise InputError(f"{_bare(text)}: not a URL") from None
    if url.scheme not in ("http", "https") or not url.raw_host:
        raise InputError(f"{_bare(text)}: not an http or https URL with a host")
    if url.userinfo:
        raise InputError(f"{url.scheme}://…@{url.host}: a user's name or password in a URL is not taken; give a key")
    if set(url.params) - {"api-version"}:
        raise InputError(f"{_bare(text)}: a URL may have no query but `api-version`; what it holds would be in logs")
    return url


def target(endpoint: Endpoint) -> Target:
    """Return where requests to an endpoint go, and their headers.

    Raises:
        InputError: the base URL is none, the style is unknown, or the key is one that no header can carry.
    """
    if endpoint.style not in STYLES:
        raise InputError(f"{endpoint.style}: the style of an endpoint is one of {', '.join(STYLES)}")
    if not endpoint.model:
        raise InputError("an endpoint needs the name of a model")
    base = parse_url(endpoint.base_url)
    path = base.path.rstrip("/")
    headers = list(_HEADERS)
    if endpoint.style == AZURE:
        path = f"{path}/openai/deployments/{quote(endpoint.model, safe='')}"
        base = base.copy_merge_params({} if "api-version" in base.params else {"api-version": API_VERSION})
    if endpoint.api_key:
        key = _header_value(endpoint.api_key)
        headers.append((b"api-key", key) if endpoint.style == AZURE else (b"authorization", b"Bearer " + key))
    query = b"?" + base.query if base.query else b""
    url = base.copy_with(raw_path=f"{path}/chat/completions".encode() + query)
    return Target(url, tuple(headers))


def _header_value(key: str) -> bytes:
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise InputError("the API key holds a character that no header can carry, such as a space or a line end")
    return key.encode("ascii")


def _bare(url: str) -> str:
    """Return a URL as it may be shown: without a query or a fragment, and without a user's name."""
    shown = url.partition("?")[0].partition("#")[0]
    scheme, separator, rest = shown.rpartition("://")
    authority, slash, path = rest.partition("/")
    return scheme + separator + authority.rpartition("@")[2] + slash + path
