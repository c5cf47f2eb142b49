"""A fixture provider that runs: uvicorn in a thread of its own, on 127.0.0.1 and nowhere else."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from types import TracebackType

import uvicorn

from aef_verify.problems import InputError
from aef_verify.provider.play import Play
from aef_verify.provider.record import Record, Request
from aef_verify.provider.script import Script
from aef_verify.provider.server import ChatCompletions, application
from aef_verify.provider.wire import Address, Wire

HOST = "127.0.0.1"

_BACKLOG = 1024
_KEEP_ALIVE = 3600


class _Server(uvicorn.Server):
    """A server that ends at once when it is told to, from any thread, and breaks off what is still being answered."""

    def __init__(self, config: uvicorn.Config, transports: dict[Address, asyncio.Transport]) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._transports = transports
        self._ended = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        """Serve until the end."""
        await self.on_tick(0)
        self._loop = asyncio.get_running_loop()
        self.ready.set()
        await self._ended.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, and break every connection off."""
        for server in self.servers:
            server.close()
        for transport in list(self._transports.values()):
            transport.abort()
        # Every connection learns of its end before what still answers on it is cancelled.
        while self._transports:
            await asyncio.sleep(0)

    def end(self) -> None:
        """End the server."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ended.set)


class Loopback:
    """A provider on a port of 127.0.0.1; also a context manager, started on entry and stopped on exit."""

    def __init__(
        self, script: Script, *, host: str = HOST, port: int = 0, log: str | None = None, content: bool = False
    ) -> None:
        """Take the script; nothing is opened before `start`.

        Args:
            script: what to answer.
            host: 127.0.0.1.
            port: the port; 0 takes a free one.
            log: a file to append a line of JSON to for every request.
            content: whether the messages are kept, in `requests` and in the log.

        Raises:
            InputError: another host.
        """
        if host != HOST:
            raise InputError(f"{host}: the fixture provider listens on {HOST} only")
        self._port = port
        self._script = script
        self._log = log
        self._content = content
        self._transports: dict[Address, asyncio.Transport] = {}
        self._record: Record | None = None
        self._chat: ChatCompletions | None = None
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Loopback:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def requests(self) -> list[Request]:
        """The requests so far, in order of arrival; also after `stop`."""
        return [] if self._record is None else list(self._record.requests)

    @property
    def most_in_flight(self) -> int:
        """How many requests were being answered at the same time, at most."""
        return 0 if self._chat is None else self._chat.most_in_flight

    @property
    def port(self) -> int:
        """The port; the one asked for as long as the provider has not started."""
        return self._port

    @property
    def origin(self) -> str:
        """Where it listens, without a path: the endpoint for Azure's clients."""
        return f"http://{HOST}:{self._port}"

    @property
    def base_url(self) -> str:
        """The base URL for clients of OpenAI's kind."""
        return f"{self.origin}/v1"

    def start(self) -> str:
        """Listen, and return the base URL; when this returns, requests are answered.

        Raises:
            InputError: the port cannot be listened on.
            OSError: the log cannot be opened.
        """
        if self._thread is not None:
            raise RuntimeError("a provider starts once")
        listener = _listen(self._port)
        try:
            self._record = Record(self._log, content=self._content)
        except OSError:
            listener.close()
            raise
        self._port = listener.getsockname()[1]
        play = Play(self._script)
        self._chat = ChatCompletions(play, self._record, self._transports)
        config = uvicorn.Config(
            application(self._chat, play),
            http=type("ThisWire", (Wire,), {"transports": self._transports}),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE,
        )
        self._server = _Server(config, self._transports)
        self._thread = threading.Thread(target=_run, args=(self._server, listener), name="aef-provider", daemon=True)
        self._thread.start()
        self._server.ready.wait()
        return self.base_url

    def stop(self) -> None:
        """Stop listening, break off what is still being answered, close the log; safe to call twice."""
        if self._thread is None or self._server is None:
            return
        self._server.end()
        self._thread.join()
        if self._record is not None:
            self._record.close()


def _run(server: _Server, listener: socket.socket) -> None:
    try:
        asyncio.run(server.serve(sockets=[listener]))
    finally:
        listener.close()
        server.ready.set()


def _listen(port: int) -> socket.socket:
    # With its protocol named: only of such a socket asyncio sends small parts at once, without waiting 40 ms for more.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # A port that a provider has just left can be taken again.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as fault:
        listener.close()
        reason = getattr(fault, "strerror", None) or fault
        raise InputError(f"{HOST}:{port}: cannot be listened on: {reason}") from None
    return listener
