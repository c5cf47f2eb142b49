"""The command line under test as a process: its words, its environment, and signals at an exact request."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SECRET = "sk-planted-2f6c1d7be04a"
"""The API key that a child is given, and that must never be seen again."""

LONGEST = 120.0
"""Seconds that a call may take."""

_PRIVATE = ("OPENAI_", "AZURE_OPENAI_", "JUDGE_", "AEF_")


class Done(NamedTuple):
    """A call that ended: its words, exit code (negative: a signal's number) and output."""

    words: tuple[str, ...]
    code: int
    stdout: str
    stderr: str

    @property
    def told(self) -> str:
        """Everything that the call printed."""
        return self.stdout + self.stderr


class Program(NamedTuple):
    """A command line: what is called, and whether it is this project's own."""

    command: tuple[str, ...]
    ours: bool

    def words(self, *, questions: int, url: str) -> list[str]:
        """Return the words of a paired benchmark of this many questions against a provider."""
        words = [*self.command, "bench", "longmemeval", "--preset", "subset", "--subject", "checked-agent"]
        words += ["--max-questions", str(questions)]
        if self.ours:
            words += ["--offline", "--endpoint", url, "--model", "scripted-model", "--threshold", "25", "--quiet"]
        return words


def program_for(cli: str | None) -> Program:
    """Return the program that `--cli` names; this project's own without it."""
    if cli is None:
        return Program((sys.executable, "-m", "aef_verify"), ours=True)
    # It is called in other folders than this one; a bare name is looked for on PATH.
    path = os.path.abspath(cli) if os.sep in cli or os.path.exists(cli) else cli
    command = ("dotnet", path) if cli.endswith(".dll") else (path,)
    return Program(command, ours=Path(cli).name == "aef")


def environment(url: str, origin: str, more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child: the caller's, with the provider's addresses and the planted key."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_PRIVATE)}
    return kept | {
        "OPENAI_BASE_URL": url,
        "OPENAI_ENDPOINT": url,
        "OPENAI_API_KEY": SECRET,
        "OPENAI_MODEL": "scripted-model",
        "AZURE_OPENAI_ENDPOINT": origin,
        "AZURE_OPENAI_API_KEY": SECRET,
        "AZURE_OPENAI_DEPLOYMENT": "scripted-model",
        "AZURE_OPENAI_DEPLOYMENT_NAME": "scripted-model",
        "NO_PROXY": "127.0.0.1",
        "COLUMNS": "200",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), kept.get("PYTHONPATH")))),
        **more,
    }


def call(
    words: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    reached: Callable[[], bool] | None = None,
    signals: Sequence[signal.Signals] = (),
    delay: float = 0.0,
    user: int | None = None,
) -> Done:
    """Call a program and wait for its end.

    Args:
        words: the program and its arguments.
        cwd: where it is called.
        env: its environment.
        reached: whether the point is reached at which the signals are sent.
        signals: sent one right after the other.
        delay: seconds between the point and the signals; only to kill at times that are spread.
        user: the user it runs as.
    """
    with subprocess.Popen(
        words,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        user=user,
        group=user,
        extra_groups=None if user is None else (),
    ) as child:
        try:
            if reached is not None and _wait_for(reached, child):
                time.sleep(delay)
                for number in signals:
                    child.send_signal(number)
            stdout, stderr = child.communicate(timeout=LONGEST)
        except BaseException:
            child.kill()
            raise
    return Done(tuple(words), child.returncode, stdout, stderr)


def _wait_for(reached: Callable[[], bool], child: subprocess.Popen[str]) -> bool:
    """Wait until the point is reached; False where the child ends, or time is over, before it."""
    until = time.monotonic() + LONGEST
    while not reached():
        if child.poll() is not None or time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True
