"""The client against real faults: retries, exact counts, waits, timeouts, cancellation, and no key anywhere."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import socket
import traceback
from typing import Any

import httpx
import pytest

from aef_verify.problems import InputError
from aef_verify.provider.address import target
from aef_verify.provider.client import MAX_RESPONSE, Attempts, Client, Endpoint, Reply
from aef_verify.provider.play import Message, Play
from aef_verify.provider.script import Reply as Scripted
from aef_verify.provider.script import parse_script
from aef_verify.provider.wire import Wire
from tests.provider.serving import at_once, call, calls, said, served

SECRET = "sk-planted-Zx81"


def test_an_answer_with_its_usage() -> None:
    reply = {"text": "there", "inputTokens": 7, "outputTokens": 3, "model": "m-2026"}
    with served({"match": {"model": "m"}, "reply": reply}) as running:
        assert call(Endpoint(running.base_url, "m")) == Reply("there", 1, 7, 3, True, "m-2026", None)


def test_usage_that_is_not_reported_is_unknown() -> None:
    with served({"reply": {"text": "", "usage": False}}) as running:
        assert call(Endpoint(running.base_url, "m")) == Reply("", 1, None, None, True, "m", None)


@pytest.mark.parametrize("base", ["", "/"])
def test_both_styles_of_endpoints(base: str) -> None:
    with served({"match": {"model": "m/1"}, "reply": "there"}) as running:
        openai = call(Endpoint(running.base_url + base, "m/1"))
        azure = call(Endpoint(running.origin + base, "m 1", style="azure"))
    assert (openai.text, azure.text) == ("there", "no")
    assert [request.path for request in running.requests] == [
        "/v1/chat/completions",
        "/openai/deployments/m 1/chat/completions",
    ]


def test_what_is_sent() -> None:
    openai = target(Endpoint("https://example.com/v1", "m", SECRET))
    azure = target(Endpoint("https://example.com", "m/x", SECRET, "azure"))
    older = target(Endpoint("https://example.com/?api-version=1", "m", None, "azure"))
    assert str(openai.url) == "https://example.com/v1/chat/completions"
    assert (
        str(azure.url).partition("?api-version=2")[0] == "https://example.com/openai/deployments/m%2Fx/chat/completions"
    )
    assert str(older.url) == "https://example.com/openai/deployments/m/chat/completions?api-version=1"
    assert dict(openai.headers)[b"authorization"] == b"Bearer " + SECRET.encode()
    assert dict(azure.headers)[b"api-key"] == SECRET.encode()
    assert not {b"api-key", b"authorization"} & set(dict(older.headers))


FAILING: list[tuple[dict[str, Any], str, int, str]] = [
    ({"kind": "status", "status": 429}, "transport", 3, "status 429"),
    ({"kind": "status", "status": 408}, "transport", 3, "status 408"),
    ({"kind": "status", "status": 500}, "transport", 3, "status 500"),
    ({"kind": "status", "status": 599, "retryAfter": 0}, "transport", 3, "status 599"),
    ({"kind": "reset"}, "transport", 3, "the connection was lost"),
    ({"kind": "truncated"}, "transport", 3, "the response broke off"),
    ({"kind": "timeout", "seconds": 0}, "transport", 3, "the response broke off"),
    ({"kind": "malformed"}, "malformed", 3, "a response that is not JSON"),
    ({"kind": "malformed", "text": "[" * 100_000}, "malformed", 3, "a response that is not JSON"),
    ({"kind": "malformed", "text": "1" * 5000}, "malformed", 3, "a response that is not JSON"),
    ({"kind": "malformed", "text": "[]"}, "malformed", 3, "a response that is no chat completion"),
    ({"kind": "malformed", "text": '{"choices": []}'}, "malformed", 3, "a response that is no chat completion"),
    (
        {"kind": "malformed", "text": '{"choices": [{"message": {}}]}'},
        "malformed",
        3,
        "a response that is no chat completion",
    ),
    ({"kind": "status", "status": 400}, "rejected", 1, "status 400"),
    ({"kind": "status", "status": 401}, "rejected", 1, "status 401"),
    ({"kind": "status", "status": 302}, "rejected", 1, "status 302"),
]


@pytest.mark.parametrize(("fault", "failure", "attempts", "detail"), FAILING, ids=lambda value: json.dumps(value)[:60])
def test_a_fault_that_stays(fault: dict[str, Any], failure: str, attempts: int, detail: str) -> None:
    with served({"fault": fault}) as running:
        reply = call(Endpoint(running.base_url, "m"), retries=2)
    unmarked = fault["kind"] in ("reset", "timeout")
    assert reply == Reply(None, attempts, None, None, not unmarked, None, failure, detail)
    assert len(running.requests) == attempts


@pytest.mark.parametrize("fault", [fault for fault, failure, *_ in FAILING if failure != "rejected"], ids=json.dumps)
def test_a_fault_that_passes(fault: dict[str, Any]) -> None:
    with served({"times": 2, "fault": fault}, {"reply": "there"}) as running:
        reply = call(Endpoint(running.base_url, "m"), retries=2)
    assert (reply.text, reply.attempts, reply.failure, reply.detail) == ("there", 3, None, None)
    assert len(running.requests) == 3


def test_one_unusable_body_among_failures_in_transport() -> None:
    rules = ({"times": 1, "fault": {"kind": "malformed"}}, {"fault": {"kind": "reset"}})
    with served(*rules) as running:
        reply = call(Endpoint(running.base_url, "m"), retries=2)
    assert (reply.failure, reply.attempts, reply.scripted) == ("malformed", 3, True)


def test_a_model_that_takes_its_limit_by_the_newer_name(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    refusal = {"message": "no", "param": "max_tokens", "code": "unsupported_parameter"}

    def stream(body: object) -> httpx.ByteStream:
        return httpx.ByteStream(json.dumps(body).encode())

    async def answer(transport: object, request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        if "max_tokens" in sent[-1]:
            return httpx.Response(400, stream=stream({"error": refusal}))
        return httpx.Response(200, stream=stream({"choices": [{"message": {"content": "there"}}]}))

    async def run() -> list[Reply]:
        async with Client(offline=True, retries=0) as client:
            endpoint = Endpoint("http://127.0.0.1:9/v1", "m")
            return [
                await client.complete(endpoint, said(text), temperature=0, max_tokens=10, purpose="answer")
                for text in "12"
            ]

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", answer)
    assert [(reply.text, reply.attempts) for reply in asyncio.run(run())] == [("there", 2), ("there", 1)]
    assert [request.get("max_completion_tokens") for request in sent] == [None, 10, 10]


def test_no_connection() -> None:
    with socket.socket() as taken:
        # Bound and not listening: refused, and nobody else's meanwhile.
        taken.bind(("127.0.0.1", 0))
        reply = call(Endpoint(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", "m"), retries=4)
    assert reply == Reply(None, 5, None, None, False, None, "transport", "no connection")


@pytest.mark.parametrize("fault", [{"kind": "timeout"}, {"kind": "drip", "piece": 1, "pauseMs": 1000}], ids=json.dumps)
def test_an_attempt_ends_in_its_time(fault: dict[str, Any]) -> None:
    with served({"fault": fault}) as running:
        reply = call(Endpoint(running.base_url, "m"), retries=1, timeout=0.2)
    assert (reply.failure, reply.attempts, reply.detail) == ("transport", 2, "timed out")


@pytest.mark.parametrize("fault", [{"kind": "empty"}, {"kind": "indecisive"}, {"kind": "drip", "piece": 99}])
def test_sound_responses_are_not_retried(fault: dict[str, Any]) -> None:
    with served({"fault": fault}) as running:
        assert call(Endpoint(running.base_url, "m")).attempts == 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ([{"type": "text", "text": "a"}, {"type": "x"}, {"type": "text", "text": "b"}], "ab"),
        (7, None),
        ("\ud800", None),
    ],
)
@pytest.mark.parametrize(
    "usage", [None, {}, [], {"prompt_tokens": -1, "completion_tokens": True}, {"prompt_tokens": "7"}]
)
def test_what_other_providers_may_say(content: object, text: str | None, usage: object) -> None:
    body = json.dumps({"choices": [{"message": {"content": content}}], "usage": usage, "model": 7})
    with served({"fault": {"kind": "malformed", "text": body}}) as running:
        reply = call(Endpoint(running.base_url, "m"), retries=0)
    failure = None if text is not None else "malformed"
    assert (reply.text, reply.failure, reply.model) == (text, failure, None)
    assert reply.input_tokens is reply.output_tokens is None


def test_a_response_without_end_is_not_kept() -> None:
    with served({"fault": {"kind": "malformed", "text": " " * (MAX_RESPONSE + 1)}}) as running:
        reply = call(Endpoint(running.base_url, "m"), retries=0)
    assert (reply.failure, reply.detail) == ("malformed", "a response of more than 16,777,216 bytes")


def test_waits() -> None:
    faults: list[dict[str, Any]] = [
        {"retryAfter": 7},
        {"retryAfter": 0},
        {"retryAfter": 999},
        {"retryAfterDate": -100},
        {"retryAfter": "soon"},
        {},
    ]
    rules = [{"times": 1, "fault": {"kind": "status", "status": 429, **fault}} for fault in faults]
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    with served(*rules) as running:
        endpoint = Endpoint(running.base_url, "m")
        reply = call(endpoint, retries=9, sleep=note, first_backoff=1.0, chance=random.Random(1))
    assert reply.attempts == 7
    assert waits[:4] == [7, 0, 60, 0]
    assert 4 <= waits[4] <= 8
    assert 4 <= waits[5] <= 8


def test_offline_waits_are_short() -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    with served({"fault": {"kind": "reset"}}) as running:
        call(Endpoint(running.base_url, "m"), sleep=note)
    assert len(waits) == 4
    assert sum(waits) < 1


def test_counts_are_exact_under_faults() -> None:
    script = {
        "version": "1",
        "default": {"reply": {"text": "there", "inputTokens": 10, "outputTokens": 2}},
        "faults": {
            "rate": 0.2,
            "seed": 3,
            "most": 4,
            "of": [
                {"kind": "status", "status": 429, "retryAfter": 0},
                {"kind": "status", "status": 500, "retryAfter": 0},
                {"kind": "reset"},
                {"kind": "truncated"},
            ],
        },
    }
    texts = [f"question {at}" for at in range(200)]
    # What the script holds for each of them, without a wire.
    play = Play(parse_script(script))
    expected = []
    for text in texts:
        attempts = 1
        while not isinstance(play.outcome(play.read("m", [Message("user", text)])), Scripted):
            attempts += 1
        expected.append(attempts)
    assert sum(expected) > 220
    with served(**script) as running:
        made = calls(Endpoint(running.base_url, "m"), texts, concurrency=16, sleep=asyncio.sleep)
    assert [reply.attempts for reply in made] == expected
    assert len(running.requests) == sum(expected)
    assert sum(reply.input_tokens or 0 for reply in made) == 2000
    assert running.most_in_flight <= 16


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_attempts_at_a_time_than_allowed(concurrency: int) -> None:
    with served(latencyMs=5) as running:
        calls(Endpoint(running.base_url, "m"), [str(at) for at in range(12)], concurrency=concurrency)
    assert running.most_in_flight == concurrency


def test_attempts_of_a_cancelled_call_are_counted() -> None:
    attempts = Attempts()

    async def run(endpoint: Endpoint) -> int:
        async with Client(offline=True, sleep=at_once) as client:
            asking = asyncio.ensure_future(
                client.complete(
                    endpoint, said("Where?"), temperature=0, max_tokens=1, purpose="answer", attempts=attempts
                )
            )
            while len(running.requests) < 3:
                await asyncio.sleep(0)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            return client.attempts

    rules = ({"times": 2, "fault": {"kind": "status"}}, {"fault": {"kind": "timeout"}})
    with served(*rules) as running:
        assert asyncio.run(run(Endpoint(running.base_url, "m"))) == 3
    assert (attempts.count, attempts.scripted) == (3, True)


def test_connections_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    connection_made = Wire.connection_made

    def count(self: Wire, transport: asyncio.Transport) -> None:
        opened.append(transport)
        connection_made(self, transport)

    async def run(endpoint: Endpoint) -> None:
        async with Client(offline=True, concurrency=2) as client:
            for text in ("1", "2", "3"):
                await client.complete(endpoint, said(text), temperature=0, max_tokens=1, purpose="judge")

    monkeypatch.setattr(Wire, "connection_made", count)
    with served() as running:
        asyncio.run(run(Endpoint(running.base_url, "m")))
    assert len(running.requests) == 3
    assert len(opened) == 1


@pytest.mark.parametrize(
    "endpoint",
    [
        Endpoint("nowhere", "m", SECRET),
        Endpoint("ftp://127.0.0.1/", "m", SECRET),
        Endpoint(f"http://me:{SECRET}@127.0.0.1/v1", "m", SECRET),
        Endpoint(f"http://127.0.0.1/v1?key={SECRET}", "m", SECRET),
        Endpoint(f"http://[::/v1?{SECRET}", "m", SECRET),
        Endpoint("http://127.0.0.1/v1", "", SECRET),
        Endpoint("http://127.0.0.1/v1", "m", SECRET, "other"),
        Endpoint("http://127.0.0.1/v1", "m", f"{SECRET}\r\nx: y"),
        Endpoint("http://127.0.0.1/v1", "m", f"{SECRET}\u00e9"),
        Endpoint("http://127.0.0.1/v1", "m", f" {SECRET}"),
        Endpoint("http://example.com/v1", "m", SECRET),
    ],
)
def test_an_endpoint_that_cannot_be_used(endpoint: Endpoint) -> None:
    with pytest.raises(InputError) as refused:
        call(endpoint)
    assert SECRET not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize("fault", [fault for fault, *_ in FAILING], ids=json.dumps)
@pytest.mark.parametrize("style", ["openai", "azure"])
def test_a_key_is_in_no_log_and_no_text(caplog: pytest.LogCaptureFixture, fault: dict[str, Any], style: str) -> None:
    caplog.set_level(logging.DEBUG)
    with served({"times": 1, "fault": fault}) as running:
        endpoint = Endpoint(running.base_url if style == "openai" else running.origin, "m", SECRET, style)
        reply = call(endpoint, retries=1)
    shown = [
        caplog.text, repr(caplog.records), str(endpoint), repr(endpoint), f"{endpoint}", repr([endpoint]), repr(reply),
        repr(target(endpoint)), repr(running.requests),
    ]  # fmt: skip
    assert caplog.records
    assert not [text for text in shown if SECRET in text]


def test_the_text_form_of_an_endpoint() -> None:
    with_key = Endpoint("https://me:pw@example.com/v1?key=1#x", "m", SECRET)
    assert repr(with_key) == "Endpoint(base_url='https://example.com/v1', model='m', api_key='***', style='openai')"
    assert "api_key=None" in repr(Endpoint("https://example.com", "m"))
