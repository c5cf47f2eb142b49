"""What a response is on the wire: sound, or one of the faults of a script, each with its own way to go wrong.

A fault that has to act below HTTP gets at the connection through `Wire`, the protocol of every connection.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import formatdate
from typing import Any, NamedTuple, cast

from starlette.types import Receive, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from aef_verify.provider.play import Asked
from aef_verify.provider.script import Fault, Reply

MARK = (b"x-aef-scripted", b"1")
INDECISIVE = "It is hard to say."

_CHARACTERS_A_TOKEN = 4
_LINGER_NOT = struct.pack("ii", 1, 0)

Address = tuple[str, int]


class Wire(H11Protocol):
    """The HTTP protocol of a connection; `transports` of its subclass knows the connection by its far end."""

    transports: dict[Address, asyncio.Transport]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in H11Protocol
        """Keep the transport."""
        self._far_end: Address = transport.get_extra_info("peername")
        self.transports[self._far_end] = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the transport."""
        self.transports.pop(self._far_end, None)
        super().connection_lost(exc)


class Exchange(NamedTuple):
    """One request that is being answered: the two ways of ASGI, and the connection below them."""

    receive: Receive
    send: Send
    transport: asyncio.Transport


async def respond(exchange: Exchange, asked: Asked, outcome: Reply | Fault, model: str, latency_ms: float) -> None:
    """Answer a request as the script says, after its latency; `model` and `latency_ms` are the script's."""
    wait = latency_ms if outcome.latency_ms is None else outcome.latency_ms
    if wait:
        await asyncio.sleep(wait / 1000)
    if isinstance(outcome, Reply):
        await send_json(exchange.send, 200, completion(asked, outcome, model))
    else:
        await _FAULTS[outcome.kind](exchange, asked, outcome, model)


def completion(asked: Asked, reply: Reply, model: str) -> bytes:
    """Return the body of a sound response: the same for the same messages and the same reply."""
    message = {"role": "assistant", "content": reply.text}
    body: dict[str, Any] = {
        "id": f"chatcmpl-{asked.digest[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model or model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
    }
    if reply.usage:
        read = _tokens(asked.length) if reply.input_tokens is None else reply.input_tokens
        written = _tokens(len(reply.text)) if reply.output_tokens is None else reply.output_tokens
        body["usage"] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    body["aef_scripted"] = True
    return json.dumps(body).encode()


def error(status: int, message: str) -> bytes:
    """Return the body of an error response."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return json.dumps({"error": {"message": message, "type": kind, "code": status}, "aef_scripted": True}).encode()


async def send_json(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    """Send a whole response."""
    await _send_head(send, status, len(body), *headers)
    await send({"type": "http.response.body", "body": body})


async def _send_head(send: Send, status: int, length: int, *headers: tuple[bytes, bytes]) -> None:
    kind, size = (b"content-type", b"application/json"), (b"content-length", b"%d" % length)
    await send({"type": "http.response.start", "status": status, "headers": [kind, size, MARK, *headers]})


async def _send_part(send: Send, part: bytes) -> None:
    await send({"type": "http.response.body", "body": part, "more_body": True})


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_A_TOKEN)


async def _gone(exchange: Exchange) -> None:
    """Wait until the connection has ended; what still arrives on it is read over."""
    while (await exchange.receive())["type"] != "http.disconnect":
        pass


async def _gone_within(exchange: Exchange, seconds: float) -> bool:
    try:
        await asyncio.wait_for(_gone(exchange), seconds)
    except TimeoutError:
        return False
    return True


async def _status(exchange: Exchange, asked: Asked, fault: Fault, model: str) -> None:
    headers = []
    if fault.retry_after is not None:
        headers.append((b"retry-after", fault.retry_after.encode()))
    if fault.retry_after_date is not None:
        date = formatdate(time.time() + fault.retry_after_date, usegmt=True)
        headers.append((b"retry-after", date.encode()))
    await send_json(exchange.send, fault.status, error(fault.status, f"scripted status {fault.status}"), *headers)


async def _timeout(exchange: Exchange, asked: Asked, fault: Fault, model: str) -> None:
    if not await _gone_within(exchange, fault.seconds):
        exchange.transport.close()
        await _gone(exchange)


async def _truncated(exchange: Exchange, asked: Asked, fault: Fault, model: str) -> None:
    await _send_half(exchange, asked, model)
    exchange.transport.close()
    await _gone(exchange)


async def _reset(exchange: Exchange, asked: Asked, fault: Fault, model: str) -> None:
    if fault.when == "body":
        await _send_half(exchange, asked, model)
    # With no time to linger, to close is to send a reset.
    connection = cast(socket.socket, exchange.transport.get_extra_info("socket"))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
    exchange.transport.abort()
    await _gone(exchange)


async def _send_half(exchange: Exchange, asked: Asked, model: str) -> None:
    body = completion(asked, Reply(INDECISIVE), model)
    await _send_head(exchange.send, 200, len(body))
    await _send_part(exchange.send, body[: len(body) // 2])


async def _malformed(exchange: Exchange, asked: Asked, fault: Fault, model: str) -> None:
    whole = completion(asked, Reply(INDECISIVE), model)
    body = whole[: len(whole) // 2] if fault.text is None else fault.text.encode("utf-8", "surrogatepass")
    await send_json(exchange.send, 200, body)


async def _said(exchange: Exchange, asked: Asked, fault: Fault, model: str) -> None:
    text = "" if fault.kind == "empty" else INDECISIVE if fault.text is None else fault.text
    await send_json(exchange.send, 200, completion(asked, Reply(text), model))


async def _drip(exchange: Exchange, asked: Asked, fault: Fault, model: str) -> None:
    body = completion(asked, Reply(fault.text or ""), model)
    await _send_head(exchange.send, 200, len(body))
    for at in range(0, len(body), fault.piece):
        if await _gone_within(exchange, fault.pause_ms / 1000):
            return
        await _send_part(exchange.send, body[at : at + fault.piece])
    await exchange.send({"type": "http.response.body", "body": b""})


_FAULTS: Mapping[str, Callable[[Exchange, Asked, Fault, str], Awaitable[None]]] = {
    "status": _status,
    "timeout": _timeout,
    "truncated": _truncated,
    "reset": _reset,
    "malformed": _malformed,
    "empty": _said,
    "indecisive": _said,
    "drip": _drip,
}
