"""The benchmark's client: chat completions over pooled connections, retried within bounds, every attempt counted.

A provider's faults are values, never exceptions, and no text of a provider is in them. A key is in no text form, no
error and no log of this room.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, NamedTuple

import httpx

from aef_verify.provider.address import Endpoint, Target, target
from aef_verify.provider.offline import check_offline
from aef_verify.provider.waiting import backoff, retry_after

__all__ = ["Attempts", "Client", "Endpoint", "Reply", "check_offline"]

TRANSPORT, MALFORMED, REJECTED = "transport", "malformed", "rejected"
FAILURES = (TRANSPORT, MALFORMED, REJECTED)
"""Why a call got no answer: every attempt failed in transport; some response could not be used; it was refused."""

MAX_RESPONSE = 16 << 20
BACKOFF = 0.5
"""The first wait before a retry, in seconds."""

OFFLINE_BACKOFF = 0.02
"""The same where the provider is on this machine."""

_KEEP_ALIVE = 30.0
_RETRIED = frozenset((408, 409, 429))
_LIMIT_REFUSED = "status 400, max_tokens is not supported"
_MARK = "x-aef-scripted"


class Attempts:
    """The attempts of a call so far, for a caller whose call may be cancelled.

    Attributes:
        count: HTTP attempts begun.
        scripted: whether a response came marked by the fixture provider.
    """

    __slots__ = ("count", "scripted")

    def __init__(self) -> None:
        self.count = 0
        self.scripted = False


class Reply(NamedTuple):
    """What a call came to.

    Attributes:
        text: the answer's text, perhaps empty; None where there is none.
        attempts: the HTTP attempts that were begun.
        input_tokens: the usage that the answer reports, or None.
        output_tokens: likewise.
        scripted: whether any response came marked by the fixture provider.
        model: the model that the answer names, or None.
        failure: one of `FAILURES`, or None.
        detail: the last failure in words of this room: `status 429`, `timed out`.
    """

    text: str | None
    attempts: int
    input_tokens: int | None
    output_tokens: int | None
    scripted: bool
    model: str | None
    failure: str | None
    detail: str | None = None


class _Attempt(NamedTuple):
    """What one attempt came to: a usable answer, or a failure and how long the provider asks to wait."""

    scripted: bool
    failure: str | None
    detail: str | None = None
    wait: float | None = None
    text: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None


class Client:
    """A client of any number of endpoints, used as an asynchronous context manager."""

    def __init__(
        self,
        *,
        timeout: float = 120,
        retries: int = 4,
        offline: bool = False,
        concurrency: int = 8,
        first_backoff: float | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: random.Random | None = None,
    ) -> None:
        """Take the bounds; nothing is opened before the first call.

        Args:
            timeout: seconds that one attempt may take, from connecting to the last byte.
            retries: further attempts after a first one that failed.
            offline: whether every address but loopback is refused.
            concurrency: attempts, and connections, at the same time at most.
            first_backoff: seconds before the first retry, doubled with each further one.
            sleep: what waits before a retry.
            chance: where the jitter comes from.
        """
        self.attempts = 0
        self._timeout = timeout
        self._retries = retries
        self._offline = offline
        self._first_backoff = (OFFLINE_BACKOFF if offline else BACKOFF) if first_backoff is None else first_backoff
        self._sleep = sleep
        self._chance = chance or random.Random()
        self._targets: dict[Endpoint, Target] = {}
        self._newer: set[Endpoint] = set()
        self._slots = asyncio.Semaphore(concurrency)
        self._http = httpx.AsyncClient(
            timeout=None,
            follow_redirects=False,
            # Offline no proxy of the environment may come between.
            trust_env=not offline,
            limits=httpx.Limits(
                max_connections=concurrency, max_keepalive_connections=concurrency, keepalive_expiry=_KEEP_ALIVE
            ),
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def complete(
        self,
        endpoint: Endpoint,
        messages: list[dict[str, str]],
        *,
        temperature: float,
        max_tokens: int,
        purpose: str,
        attempts: Attempts | None = None,
    ) -> Reply:
        """Return what a model answers to messages.

        Retried are what fails in transport (no connection, a connection that breaks off, a timeout, status 408, 409,
        429 or 5xx) and a body that cannot be used. Any other status is final, but for a model that refuses `max_tokens`
        by that name: it is asked again at once, and from then on, with `max_completion_tokens`.

        Args:
            endpoint: whom to ask.
            messages: objects with `role` and `content`.
            temperature: as the provider takes it.
            max_tokens: the longest answer.
            purpose: `answer` or `judge`, for errors.
            attempts: counted up before each attempt.

        Raises:
            InputError: the endpoint is none, or not to be used offline. A provider's faults raise nothing.
        """
        to = self._targets.get(endpoint) or self._prepare(endpoint, purpose)
        counted = Attempts() if attempts is None else attempts
        before = counted.count
        request = self._request(endpoint, to, messages, temperature, max_tokens)
        failure = TRANSPORT
        while True:
            async with self._slots:
                counted.count += 1
                self.attempts += 1
                made = await self._attempt(request)
            counted.scripted |= made.scripted
            failed = counted.count - before
            if made.failure is None:
                return Reply(
                    made.text, failed, made.input_tokens, made.output_tokens, counted.scripted, made.model, None
                )
            if made.failure != TRANSPORT:
                failure = made.failure
            if made.detail == _LIMIT_REFUSED and endpoint not in self._newer:
                self._newer.add(endpoint)
                request = self._request(endpoint, to, messages, temperature, max_tokens)
                continue
            if made.failure == REJECTED or failed > self._retries:
                return Reply(None, failed, None, None, counted.scripted, None, failure, made.detail)
            await self._sleep(backoff(self._first_backoff, failed, self._chance) if made.wait is None else made.wait)

    def _prepare(self, endpoint: Endpoint, purpose: str) -> Target:
        if self._offline:
            check_offline(endpoint.base_url)
        self._targets[endpoint] = prepared = target(endpoint)
        return prepared

    def _request(
        self, endpoint: Endpoint, to: Target, messages: list[dict[str, str]], temperature: float, max_tokens: int
    ) -> httpx.Request:
        limit = "max_completion_tokens" if endpoint in self._newer else "max_tokens"
        body: dict[str, Any] = {
            "model": endpoint.model, "messages": messages, "temperature": temperature, limit: max_tokens
        }  # fmt: skip
        return httpx.Request("POST", to.url, headers=list(to.headers), content=json.dumps(body).encode("ascii"))

    async def _attempt(self, request: httpx.Request) -> _Attempt:
        marked = False
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.send(request, stream=True)
                marked = response.headers.get(_MARK) == "1"
                try:
                    body = await _read(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            return _Attempt(marked, TRANSPORT, "timed out")
        except (httpx.TransportError, OSError) as fault:
            return _Attempt(marked, TRANSPORT, _words(fault))
        status = response.status_code
        if status in _RETRIED or status >= 500:
            wait = retry_after(response.headers.get("retry-after"), datetime.now(UTC))
            return _Attempt(marked, TRANSPORT, f"status {status}", wait)
        if not 200 <= status < 300:
            refused = status == 400 and _refuses_limit(body)
            return _Attempt(marked, REJECTED, _LIMIT_REFUSED if refused else f"status {status}")
        return _understood(body, marked)


async def _read(response: httpx.Response) -> bytes | None:
    """Return the body as sent; None where it is too large."""
    parts, size = [], 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > MAX_RESPONSE:
            return None
        parts.append(part)
    return b"".join(parts)


def _refuses_limit(body: bytes | None) -> bool:
    """Whether an error says that `max_tokens` is a parameter the model does not take."""
    try:
        error = json.loads(body or b"")["error"]
        return bool(error["param"] == "max_tokens" and error["code"] == "unsupported_parameter")
    except (ValueError, RecursionError, KeyError, IndexError, TypeError):
        return False


def _understood(body: bytes | None, marked: bool) -> _Attempt:
    """Return the answer in the body of a response."""
    if body is None:
        return _Attempt(marked, MALFORMED, f"a response of more than {MAX_RESPONSE:,} bytes")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return _Attempt(marked, MALFORMED, "a response that is not JSON")
    document = document if isinstance(document, dict) else {}
    scripted = marked or document.get("aef_scripted") is True
    try:
        text = _text(document["choices"][0]["message"]["content"])
    except (KeyError, IndexError, TypeError, UnicodeError):
        return _Attempt(scripted, MALFORMED, "a response that is no chat completion")
    usage = document.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    model = document.get("model")
    return _Attempt(
        scripted,
        None,
        text=text,
        input_tokens=_tokens(usage.get("prompt_tokens")),
        output_tokens=_tokens(usage.get("completion_tokens")),
        model=model if isinstance(model, str) and model else None,
    )


def _text(content: Any) -> str:
    """Return a message's text: null is an empty one, parts are joined; raises where it is none, or no Unicode."""
    if content is None:
        return ""
    text = content if isinstance(content, str) else "".join([part["text"] for part in content if "text" in part])
    text.encode()
    return text


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


_WORDS: tuple[tuple[type[Exception], str], ...] = (
    (httpx.ConnectError, "no connection"),
    (httpx.RemoteProtocolError, "the response broke off"),
    (httpx.NetworkError, "the connection was lost"),
    (httpx.ProxyError, "the proxy refused"),
)


def _words(fault: Exception) -> str:
    """Say what failed in transport, without a word of the fault's own: it might quote what was sent."""
    return next((words for kind, words in _WORDS if isinstance(fault, kind)), "failed in transport")
