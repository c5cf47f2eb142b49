"""The provider's HTTP face: the paths of OpenAI and of Azure, what a request must be, and no middleware."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from aef_verify.provider.play import Message, Play
from aef_verify.provider.record import Record
from aef_verify.provider.wire import Address, Exchange, error, respond, send_json

MAX_REQUEST = 64 << 20


class RequestError(Exception):
    """A request that no script is asked about: its status and what is wrong with it."""

    def __init__(self, status: int, message: str) -> None:
        """Take what the response says."""
        super().__init__(message)
        self.status = status


class ChatCompletions:
    """The one operation, as an ASGI application."""

    def __init__(self, play: Play, record: Record, transports: Mapping[Address, asyncio.Transport]) -> None:
        """Answer as `play` says and keep requests in `record`; `transports` are the open connections."""
        self._play = play
        self._record = record
        self._transports = transports
        self.in_flight = 0
        self.most_in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self._answer(scope, receive, send)
        except RequestError as fault:
            await send_json(send, fault.status, error(fault.status, str(fault)))
        finally:
            self.in_flight -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive)
        if body is None:
            return
        model, messages = read_request(body, scope["path_params"].get("deployment"))
        asked = self._play.read(model, messages)
        outcome = self._play.outcome(asked)
        self._record.add(scope["path"], asked, outcome)
        transport = self._transports.get(tuple(scope["client"]))
        if transport is not None:
            script = self._play.script
            exchange = Exchange(receive, send, transport)
            await respond(exchange, asked, outcome, script.model or model, script.latency_ms)


class Models:
    """The list of models: the script's one."""

    def __init__(self, play: Play) -> None:
        """Take the script in play."""
        model = play.script.model or "scripted"
        listed = {"object": "list", "data": [{"id": model, "object": "model", "created": 0, "owned_by": "aef-verify"}]}
        self._body = json.dumps({**listed, "aef_scripted": True}).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await send_json(send, 200, self._body)


class NotFound:
    """What every other path gets."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await send_json(send, 404, error(404, "no such path; see docs/PROVIDER.md"))


def application(chat: ChatCompletions, play: Play) -> ASGIApp:
    """Return the paths of a provider."""
    paths = ("/v1/chat/completions", "/openai/v1/chat/completions", "/openai/deployments/{deployment}/chat/completions")
    return Router(
        [*(Route(path, chat, methods=["POST"]) for path in paths), Route("/v1/models", Models(play), methods=["GET"])],
        redirect_slashes=False,
        default=NotFound(),
    )


def read_request(body: bytes, deployment: str | None) -> tuple[str, list[Message]]:
    """Return the model and the messages of a request; the deployment is the model where the path names one.

    Raises:
        RequestError: it is no request for a chat completion that could be answered.
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        raise RequestError(400, "the body is not JSON") from None
    if not isinstance(request, dict):
        raise RequestError(400, "the body must be an object")
    model = request.get("model") if deployment is None else deployment
    if not isinstance(model, str) or not model:
        raise RequestError(400, "`model` must be a text")
    if request.get("stream"):
        raise RequestError(400, "a scripted response cannot be streamed")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RequestError(400, "`messages` must be a list with at least one message")
    return model, [_message(message) for message in messages]


def _message(message: Any) -> Message:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise RequestError(400, "a message must be an object with a `role`")
    content = message.get("content")
    if isinstance(content, str):
        return Message(message["role"], content)
    if content is None:
        return Message(message["role"], "")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return Message(message["role"], "".join(part for part in parts if isinstance(part, str)))
    raise RequestError(400, "the `content` of a message must be a text or a list of parts")


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request; None where the client has gone."""
    parts, size = [], 0
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        part = event.get("body", b"")
        size += len(part)
        if size > MAX_REQUEST:
            raise RequestError(413, f"the body is larger than {MAX_REQUEST:,} bytes")
        parts.append(part)
        if not event.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)
