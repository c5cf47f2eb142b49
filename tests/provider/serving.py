"""Serving a script, and calling a client, in one call each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aef_verify.provider.client import Attempts, Client, Endpoint, Reply
from aef_verify.provider.loopback import Loopback
from aef_verify.provider.script import parse_script


@contextmanager
def served(*rules: Any, **members: Any) -> Iterator[Loopback]:
    """Serve a script with these rules; without any it answers `no`."""
    with Loopback(
        parse_script({"version": "1", "rules": list(rules), "default": {"reply": "no"}} | members)
    ) as running:
        yield running


def said(text: str, role: str = "user") -> list[dict[str, str]]:
    return [{"role": role, "content": text}]


def call(endpoint: Endpoint, text: str = "Where?", attempts: Attempts | None = None, **options: Any) -> Reply:
    """Make one call with a client of its own, whose waits take no time."""
    return calls(endpoint, [text], attempts=attempts, **options)[0]


def calls(endpoint: Endpoint, texts: list[str], attempts: Attempts | None = None, **options: Any) -> list[Reply]:
    """Make calls at the same time with one client, whose waits take no time."""

    async def run() -> list[Reply]:
        settings: dict[str, Any] = {"offline": True, "sleep": at_once} | options
        async with Client(**settings) as client:
            made = await asyncio.gather(
                *(
                    client.complete(
                        endpoint, said(text), temperature=0, max_tokens=10, purpose="answer", attempts=attempts
                    )
                    for text in texts
                )
            )
            assert client.attempts == sum(reply.attempts for reply in made)
            return made

    return asyncio.run(run())


async def at_once(seconds: float) -> None:
    """Wait no time."""
