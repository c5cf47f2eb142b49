"""`aef provider`: the fixture provider that scripts answers, verdicts and faults over HTTP on this machine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click

from aef_verify.cli.exits import OK

_ENDS = (signal.SIGINT, signal.SIGTERM)


@click.group(short_help="Serve scripted answers in place of a model.")
def provider() -> None:
    """Serve scripted answers in place of a model."""


@provider.command()
@click.option("--script", metavar="FILE", required=True, help="What to answer; see docs/PROVIDER.md.")
@click.option("--host", default="127.0.0.1", show_default=True, help="This machine's loopback; no other is taken.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; a free one where it is left out.")
@click.option("--log", metavar="FILE", help="Append one line of JSON for every request.")
@click.option("--log-content", is_flag=True, help="Keep the messages in the log, too.")
@click.option("--json", "as_json", is_flag=True, help="Print where it listens as JSON.")
def serve(script: str, host: str, port: int, log: str | None, log_content: bool, as_json: bool) -> int:
    """Answer chat completions as FILE says, until SIGINT or SIGTERM.

    Printed is one line, once requests are answered: the base URL.
    """
    from aef_verify.cli.output import say, write_text, writing
    from aef_verify.problems import InputError
    from aef_verify.provider.script import load_script

    if log_content and log is None:
        raise InputError("--log-content needs --log")
    read = load_script(script)
    try:
        from aef_verify.provider.loopback import Loopback
    except ModuleNotFoundError as fault:
        raise InputError(f"the provider needs {fault.name}: install aef-verify[bench]") from None
    running = Loopback(read, host=host, port=port, log=log, content=log_content)
    with _signals_held():
        with writing(log or "the log"):
            running.start()
        try:
            write_text(_where(running.base_url, running.origin, running.port) if as_json else f"{running.base_url}\n")
            signal.sigwait(_ENDS)
        finally:
            running.stop()
    requests = running.requests
    say(f"{len(requests)} request{'' if len(requests) == 1 else 's'}, at most {running.most_in_flight} at a time")
    return OK


def _where(base_url: str, origin: str, port: int) -> str:
    place = {"baseUrl": base_url, "azureEndpoint": origin, "port": port, "pid": os.getpid()}
    return json.dumps(place) + "\n"


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back, in every thread that begins meanwhile, for `sigwait` to take."""
    # A signal that is ignored, as a shell's background job ignores SIGINT, would never be taken.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    kept = {sign: signal.signal(sign, signal.SIG_DFL) for sign in _ENDS}
    try:
        yield
    finally:
        for sign, handler in kept.items():
            signal.signal(sign, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
