"""The provider over real sockets: its paths, its mark, and every fault as bytes on the wire."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from aef_verify.problems import InputError
from aef_verify.provider.loopback import Loopback
from aef_verify.provider.play import Message
from aef_verify.provider.script import JUDGE_MARKER, Script, parse_script
from tests.provider.serving import said, served


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=30) as client:
        yield client


def post(http: httpx.Client, url: str, **members: Any) -> httpx.Response:
    return http.post(url, json={"model": "m", "messages": said("Where?")} | members)


def send(connection: socket.socket, text: str) -> None:
    body = json.dumps({"model": "m", "messages": said(text)}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    connection.sendall(head % len(body) + body)


def received(connection: socket.socket) -> tuple[bytes, bool]:
    """Return the bytes up to the end of a connection, and whether it was reset."""
    answer = b""
    try:
        while part := connection.recv(65536):
            answer += part
    except ConnectionResetError:
        return answer, True
    return answer, False


def raw(running: Loopback) -> tuple[bytes, bool]:
    """Return the bytes that a request is answered with, and whether the connection was reset."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=30) as connection:
        send(connection, "Where?")
        return received(connection)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/chat/completions",
        "/openai/v1/chat/completions",
        "/openai/deployments/m/chat/completions?api-version=2024-10-21",
    ],
)
def test_a_completion_on_every_path(http: httpx.Client, path: str) -> None:
    with served({"match": {"model": "m"}, "reply": "there"}) as running:
        response = post(http, running.origin + path)
    assert response.status_code == 200
    assert response.headers["x-aef-scripted"] == "1"
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["aef_scripted"] is True
    assert body["object"] == "chat.completion"
    assert body["model"] == "m"
    (choice,) = body["choices"]
    assert choice["message"] == {"role": "assistant", "content": "there"}
    assert choice["finish_reason"] == "stop"
    assert body["usage"] == {"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4}


def test_the_deployment_of_a_path_is_the_model(http: httpx.Client) -> None:
    with served({"match": {"model": "my gpt"}, "reply": "there"}) as running:
        url = f"{running.origin}/openai/deployments/my%20gpt/chat/completions"
        response = http.post(url, json={"messages": said("Where?")})
    assert response.json()["choices"][0]["message"]["content"] == "there"
    assert running.requests[0].model == "my gpt"


def test_the_same_request_has_the_same_response(http: httpx.Client) -> None:
    responses = []
    for _ in range(2):
        with served({"match": {}, "reply": "ü\ud800"}) as running:
            response = post(http, f"{running.base_url}/chat/completions")
            responses.append((response.status_code, sorted(response.headers.items()), response.content))
    assert responses[0] == responses[1]


def test_a_reply_says_its_own_usage_and_model(http: httpx.Client) -> None:
    rules = (
        {"match": {"contains": "1"}, "reply": {"text": "a", "inputTokens": 7, "outputTokens": 0, "model": "other"}},
        {"match": {}, "reply": {"text": "a", "usage": False}},
    )
    with served(*rules, model="scripted-1") as running:
        first, second = (
            post(http, f"{running.base_url}/chat/completions", messages=said(text)).json() for text in "12"
        )
        models = http.get(f"{running.base_url}/models").json()
    assert first["usage"] == {"prompt_tokens": 7, "completion_tokens": 0, "total_tokens": 7}
    assert (first["model"], second["model"]) == ("other", "scripted-1")
    assert "usage" not in second
    assert [model["id"] for model in models["data"]] == ["scripted-1"]


def test_parts_of_a_message_are_read(http: httpx.Client) -> None:
    parts = [{"type": "text", "text": "Wh"}, {"type": "image_url"}, {"type": "text", "text": "ere?"}]
    with served({"match": {"question": "Where?"}, "reply": "there"}) as running:
        messages = [{"role": "system", "content": None}, {"role": "user", "content": parts}]
        assert post(http, f"{running.base_url}/chat/completions", messages=messages).status_code == 200
    assert running.requests[0].question == "Where?"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/chat/completions", b"", 400),
        ("POST", "/v1/chat/completions", b"[]", 400),
        ("POST", "/v1/chat/completions", b"[" * 100_000, 400),
        ("POST", "/v1/chat/completions", b'{"messages": [{"role": "user", "content": ""}]}', 400),
        ("POST", "/v1/chat/completions", b'{"model": "m", "messages": []}', 400),
        ("POST", "/v1/chat/completions", b'{"model": "m", "messages": ["a"]}', 400),
        ("POST", "/v1/chat/completions", b'{"model": "m", "messages": [{"content": ""}]}', 400),
        ("POST", "/v1/chat/completions", b'{"model": "m", "messages": [{"role": "user", "content": 1}]}', 400),
        ("POST", "/v1/chat/completions", b'{"model": "m", "messages": [{"role": "user"}], "stream": true}', 400),
        ("GET", "/v1/chat/completions", b"", 405),
        ("POST", "/v1/completions", b"{}", 404),
        ("GET", "/", b"", 404),
    ],
)
def test_other_requests_are_refused_and_not_counted(
    http: httpx.Client, method: str, path: str, body: bytes, status: int
) -> None:
    with served() as running:
        response = http.request(method, running.origin + path, content=body)
    assert response.status_code == status
    assert running.requests == []
    if status != 405:
        assert response.headers["x-aef-scripted"] == "1"
        assert response.json()["aef_scripted"] is True


def test_a_request_without_a_rule_says_so(http: httpx.Client) -> None:
    with Loopback(Script()) as running:
        response = post(http, f"{running.base_url}/chat/completions")
    assert response.status_code == 400
    assert [request.status for request in running.requests] == [400]


def test_status_and_retry_after(http: httpx.Client) -> None:
    rules = [
        {"times": 1, "fault": {"kind": "status", "status": 429, "retryAfter": 7}},
        {"times": 1, "fault": {"kind": "status", "status": 503, "retryAfterDate": 100}},
        {"fault": {"kind": "status"}},
    ]
    before = datetime.now(UTC) - timedelta(seconds=1)
    with served(*rules) as running:
        url = f"{running.base_url}/chat/completions"
        limited, unavailable, failed = post(http, url), post(http, url), post(http, url)
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "7")
    date = parsedate_to_datetime(unavailable.headers["retry-after"])
    assert before + timedelta(seconds=100) <= date <= datetime.now(UTC) + timedelta(seconds=100)
    assert (failed.status_code, "retry-after" in failed.headers) == (500, False)
    for response in (limited, unavailable, failed):
        assert response.headers["x-aef-scripted"] == "1"
        assert response.json()["error"]["code"] == response.status_code


def test_truncated_is_less_than_the_content_length() -> None:
    with served({"fault": {"kind": "truncated"}}) as running:
        answer, reset = raw(running)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split()[0])
    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"x-aef-scripted: 1" in head
    assert 0 < len(body) < length
    assert not reset


def test_reset_is_a_reset_before_any_byte() -> None:
    with served({"fault": {"kind": "reset"}}) as running:
        assert raw(running) == (b"", True)
    assert [request.status for request in running.requests] == [None]


def test_reset_within_the_body() -> None:
    with served({"fault": {"kind": "reset", "when": "body"}}) as running:
        answer, reset = raw(running)
    assert reset
    # A reset may overtake what was sent before it.
    assert answer == b"" or answer.startswith(b"HTTP/1.1 200 ")


def test_timeout_sends_nothing_and_closes_after_its_time() -> None:
    with served({"fault": {"kind": "timeout", "seconds": 0.05}}) as running:
        assert raw(running) == (b"", False)


@pytest.mark.parametrize(
    ("fault", "body"),
    [({}, None), ({"text": "[]"}, b"[]"), ({"text": ""}, b""), ({"text": "\ud800"}, b"\xed\xa0\x80")],
)
def test_malformed(http: httpx.Client, fault: dict[str, Any], body: bytes | None) -> None:
    with served({"fault": {"kind": "malformed", **fault}}) as running:
        response = post(http, f"{running.base_url}/chat/completions")
    assert response.status_code == 200
    assert int(response.headers["content-length"]) == len(response.content)
    if body is None:
        with pytest.raises(json.JSONDecodeError):
            response.json()
    else:
        assert response.content == body


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"kind": "empty"}, ""),
        ({"kind": "indecisive"}, "It is hard to say."),
        ({"kind": "indecisive", "text": "maybe"}, "maybe"),
        ({"kind": "drip", "text": "slow", "piece": 50, "pauseMs": 1}, "slow"),
        ({"kind": "drip", "text": "slow", "piece": 100_000, "pauseMs": 0}, "slow"),
        ({"kind": "drip", "piece": 100, "pauseMs": 1}, "no"),
    ],
)
def test_sound_responses_with_no_verdict_or_no_haste(http: httpx.Client, fault: dict[str, Any], text: str) -> None:
    with served({"fault": fault}) as running:
        body = post(http, f"{running.base_url}/chat/completions").json()
    assert body["choices"][0]["message"]["content"] == text
    assert body["aef_scripted"] is True


def test_requests_are_recorded(http: httpx.Client, tmp_path: Path) -> None:
    log = tmp_path / "log.ndjson"
    log.write_bytes(b"before\n")
    script = parse_script({"version": "1", "rules": [{"match": {"question": "Where?"}, "reply": ""}]})
    with Loopback(script, log=str(log), content=True) as running:
        url = f"{running.base_url}/chat/completions"
        http.post(url, json={"model": "m", "messages": said("Where?")}, headers={"authorization": "Bearer sk-planted"})
        post(
            http,
            f"{running.origin}/openai/deployments/d/chat/completions?api-key=sk-planted",
            messages=said(JUDGE_MARKER),
        )
    running.stop()
    first, second = running.requests
    assert (first.n, first.model, first.purpose, first.question, first.length) == (1, "m", "answer", "Where?", 6)
    assert (second.n, second.model, second.purpose, second.question) == (2, "d", "judge", None)
    assert (first.outcome, second.outcome, second.status) == ("reply", "status", 400)
    assert first.monotonic <= second.monotonic
    assert first.messages == (Message("user", "Where?"),)
    before, *lines = log.read_bytes().splitlines()
    assert before == b"before"
    logged = [json.loads(line) for line in lines]
    assert [line["digest"] for line in logged] == [first.digest, second.digest]
    assert logged[0]["messages"] == said("Where?")
    assert list(logged[0]) == list(first._fields)
    assert datetime.fromisoformat(logged[0]["time"]).timestamp() == pytest.approx(first.time, abs=1e-5)
    assert b"sk-planted" not in log.read_bytes()


def test_contents_are_kept_only_on_demand(http: httpx.Client, tmp_path: Path) -> None:
    log = tmp_path / "log.ndjson"
    with Loopback(Script(), log=str(log)) as running:
        post(http, f"{running.base_url}/chat/completions")
    assert running.requests[0].messages is None
    assert "messages" not in json.loads(log.read_bytes())


@pytest.mark.parametrize("host", ["0.0.0.0", "", "localhost", "::1", "::", "127.0.0.2", "example.com", "127.0.0.1 "])
def test_another_address_is_refused(host: str) -> None:
    with pytest.raises(InputError, match=r"listens on 127\.0\.0\.1 only"):
        Loopback(Script(), host=host)


def test_it_listens_on_the_loopback_address_alone() -> None:
    with served() as running, socket.socket() as other:
        # The port is free at every other address.
        other.bind(("127.0.0.2", running.port))


def test_a_port_that_is_taken_is_an_input_error() -> None:
    with served() as running, pytest.raises(InputError, match="cannot be listened on"):
        Loopback(Script(), port=running.port).start()


def test_a_log_that_cannot_be_opened_leaves_nothing_open(tmp_path: Path) -> None:
    refused = Loopback(Script(), log=str(tmp_path))
    with pytest.raises(IsADirectoryError):
        refused.start()
    assert refused.requests == []


def test_stopping_breaks_off_what_is_answered(http: httpx.Client) -> None:
    rules = ({"match": {"contains": "1"}, "fault": {"kind": "timeout"}}, {"match": {}, "reply": "there"})
    with served(*rules) as running, socket.create_connection(("127.0.0.1", running.port), timeout=30) as connection:
        send(connection, "1")
        while not running.requests:
            # Each of these is answered by the same event loop.
            http.get(f"{running.base_url}/models")
        running.stop()
        assert received(connection)[0] == b""
