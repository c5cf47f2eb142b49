"""`aef provider serve` as a process: one line when it listens, a clean end by signal, one line for what is wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from aef_verify.provider.loopback import Loopback
from aef_verify.provider.script import Script, parse_script
from tests.cli.calling import AEF, PLAIN, aef, one_line

ROOT = Path(__file__).resolve().parents[2]
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Where?"}]}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "script.json"
    file.write_text('{"version": "1", "default": {"reply": "there"}}')
    return file


@contextmanager
def serving(*words: object, ignored: bool = False) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a provider and yield the process and its first line; `ignored`: as a job that ignores SIGINT."""
    process = subprocess.Popen(
        [
            *(("sh", "-c", 'trap "" INT; exec "$@"', "-") if ignored else ()),
            *AEF,
            "provider",
            "serve",
            *map(str, words),
        ],
        env=PLAIN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], sign: signal.Signals) -> tuple[int, str, str]:
    process.send_signal(sign)
    output, words = process.communicate(timeout=60)
    return process.returncode, output, words


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal(script: Path, tmp_path: Path, sign: signal.Signals, ignored: bool) -> None:
    log = tmp_path / "log.ndjson"
    with serving("--script", script, "--log", log, "--log-content", ignored=ignored) as (process, line):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1\n", line)
        with httpx.Client(trust_env=False) as http:
            answer = http.post(f"{line.strip()}/chat/completions", json=ASKED).json()
            # With a connection that is still open.
            assert ended(process, sign) == (0, "", "1 request, at most 1 at a time\n")
    assert answer["choices"][0]["message"]["content"] == "there"
    assert json.loads(log.read_bytes())["messages"] == ASKED["messages"]


def test_it_ends_at_once_while_it_answers(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"version": "1", "default": {"fault": {"kind": "timeout"}}}')
    log = tmp_path / "log.ndjson"
    os.mkfifo(log)
    reading = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    with serving("--script", script, "--log", log) as (process, line), httpx.Client(trust_env=False) as http:
        port = int(line.rpartition(":")[2].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            body = json.dumps(ASKED).encode()
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            os.set_blocking(reading, True)
            assert json.loads(os.read(reading, 4096))["outcome"] == "timeout"
            assert ended(process, signal.SIGTERM)[0] == 0
            assert connection.recv(1) == b""
        with pytest.raises(httpx.ConnectError):
            http.get(line.strip())
    os.close(reading)


def test_where_it_listens_as_json(script: Path) -> None:
    with serving("--script", script, "--json") as (process, line):
        place = json.loads(line)
        port = place["port"]
        assert place == {
            "baseUrl": f"http://127.0.0.1:{port}/v1",
            "azureEndpoint": f"http://127.0.0.1:{port}",
            "port": port,
            "pid": process.pid,
        }


@pytest.mark.parametrize("host", ["0.0.0.0", "localhost", "::1", "192.168.0.1", ""])
def test_another_address_is_refused(script: Path, host: str) -> None:
    refused = aef("provider", "serve", "--script", script, "--host", host)
    assert refused.returncode == 2
    assert one_line(refused).endswith("the fixture provider listens on 127.0.0.1 only")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--port", "65536"), 2, "65536"),
        (("--log", "{tmp}/no/log"), 3, "could not be written"),
        (("--log-content",), 2, "--log-content needs --log"),
        (("--script", "{tmp}/none.json"), 2, "cannot be read"),
    ],
)
def test_what_is_wrong_is_one_line(
    script: Path, tmp_path: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    refused = aef("provider", "serve", "--script", script, *(word.format(tmp=tmp_path) for word in words))
    assert refused.returncode == code
    assert message in one_line(refused)


def test_a_port_that_is_taken(script: Path) -> None:
    with Loopback(Script()) as running:
        refused = aef("provider", "serve", "--script", script, "--port", running.port)
    assert refused.returncode == 2
    assert "cannot be listened on" in one_line(refused)


def test_the_script_of_the_documentation_is_one() -> None:
    text = (ROOT / "docs" / "PROVIDER.md").read_text()
    (block,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert len(parse_script(json.loads(block)).rules) == 3
