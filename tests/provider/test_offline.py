"""`--offline`: no address but loopback is used, and no socket opens for one that is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from aef_verify.problems import InputError
from aef_verify.provider.client import check_offline


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/v1",
        "https://127.0.0.1",
        "http://127.255.255.254/",
        "http://[::1]:8000/v1",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://localhost:1/v1",
        "HTTP://LOCALHOST/v1",
    ],
)
def test_loopback_is_let_through(url: str) -> None:
    check_offline(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://128.0.0.1/",
        "http://10.0.0.1/",
        "http://0.0.0.0/",
        "http://[::]/",
        "http://[::2]/",
        "http://[::1%25eth0]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.0.0.1.example.com/",
        "http://localhost.example.com/",
        "http://localhost./",
        "http://a.localhost/",
        "http://127.0.0.1@example.com/",
        "http://example.com#@127.0.0.1/",
        "http://example.com\\@127.0.0.1/",
        "http://127.0.0.1\\@example.com/",
        "http://\uff11\uff12\uff17.0.0.1.example.com/",
        "//127.0.0.1/v1",
        "127.0.0.1:8000",
        "file:///etc/hosts",
        "unix:///run/x",
        "http:///v1",
        "",
    ],
)
def test_everything_else_is_refused(url: str) -> None:
    with pytest.raises(InputError):
        check_offline(url)


WATCHED = """
import asyncio, sys
from aef_verify.problems import InputError
from aef_verify.provider.client import Client, Endpoint

seen, watching = [], False

def watch(event, arguments):
    if watching and event.startswith("socket."):
        seen.append(event)

sys.addaudithook(watch)

async def main():
    global watching
    async with Client(offline=True) as client:
        for url in sys.argv[1:]:
            watching = True
            try:
                await client.complete(
                    Endpoint(url, "m", "sk-planted"), [{"role": "user", "content": ""}],
                    temperature=0, max_tokens=1, purpose="answer",
                )
            except InputError as fault:
                assert "sk-planted" not in str(fault)
            else:
                raise SystemExit(f"{url} was not refused")
            finally:
                watching = False
        assert client.attempts == 0

asyncio.run(main())
raise SystemExit(seen and repr(seen) or 0)
"""


def test_no_socket_opens_and_no_name_is_looked_up() -> None:
    urls = ["https://api.openai.com/v1", "http://10.0.0.1/v1", "http://[2001:db8::1]/", "http://localhost.example/v1"]
    environment = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    told = subprocess.run(
        [sys.executable, "-c", WATCHED, *urls], env=environment, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (0, "")


def test_the_watch_sees_a_socket() -> None:
    watched = WATCHED.replace("offline=True", "offline=False, retries=0").replace('raise SystemExit(f"', 'str(f"')
    told = subprocess.run(
        [sys.executable, "-c", watched.replace("assert client.attempts == 0", ""), "http://127.0.0.1:9/v1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "socket.connect" in told.stderr
