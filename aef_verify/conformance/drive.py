"""One call of the contract, in process or to any program, and what came of it (09 §9.3).

Rules kept: exit 0 with one JSON value in UTF-8 without a byte order mark is an `Answer`; exit 2 with a
message on standard error is a `Refusal`; everything else (another exit, a signal, a time or size exceeded,
no value, two values, a silent refusal) is a `Failure`, also for a vector that expects a refusal ([CONF-3]).
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedReader
from typing import cast

from aef_verify.conformance import contract
from aef_verify.encoding.ijson import EncodingError, parse
from aef_verify.problems import InputError

OUTPUT_BYTES = 128 << 20
"""The most a program may print; an envelope over the largest seal is half of it."""

ERROR_BYTES = 1 << 20
"""What is kept of standard error; the rest is read and dropped."""

MESSAGE_BYTES = 16 << 10
"""What of it a message is looked for in."""

TIMEOUT = 120.0
"""Seconds one call may take."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Exit 0: the JSON value that was printed, and all that was, on both outputs."""

    value: object
    printed: bytes = field(default=b"", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Exit 2: the message, never blank, and all that was printed."""

    message: str
    printed: bytes = field(default=b"", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """Anything else, in one line, and what was printed as far as a judge may ask."""

    reason: str
    printed: bytes = field(default=b"", compare=False, repr=False)


Reply = Answer | Refusal | Failure
Driver = Callable[[Sequence[str]], Reply]


def in_process(arguments: Sequence[str]) -> Reply:
    """Perform a call of the contract in this process, its value taken through JSON as a program's is."""
    try:
        value = contract.perform(arguments)
        printed = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except InputError as refusal:
        message = str(refusal)
        return (
            Refusal(message, message.encode("utf-8", "surrogatepass"))
            if message.strip()
            else Failure("refused without a message")
        )
    except Exception as failure:
        # As a program would exit 1: a failure of ours is an answer to the vector, and ends nothing.
        return Failure(f"unexpected failure: {type(failure).__name__}: {failure}")
    return answer(printed)


Changes = Mapping[str, str | None]
"""Environment variables to set; None: to remove."""


def in_environment(driver: Driver, changes: Changes) -> Driver:
    """Return a driver whose calls have these variables, and else what they had."""
    if isinstance(driver, Program):
        had = os.environ if driver.environment is None else driver.environment
        return replace(driver, environment=_changed(had, changes))

    def call(arguments: Sequence[str]) -> Reply:
        with _environment(changes):
            return driver(arguments)

    return call


def _changed(had: Mapping[str, str], changes: Changes) -> dict[str, str]:
    wanted = {**had, **changes}
    return {name: value for name, value in wanted.items() if value is not None}


@contextmanager
def _environment(changes: Changes) -> Iterator[None]:
    """Give this process other variables for a while; nothing else may run in it that asks for them."""
    before = {name: os.environ.get(name) for name in changes}
    try:
        _set(changes)
        yield
    finally:
        _set(before)


def _set(changes: Changes) -> None:
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def answer(printed: bytes, said: bytes = b"") -> Answer | Failure:
    """Return the one JSON value that was printed at exit 0, or the failure that it is none; `said` is the rest."""
    if not printed.strip():
        return Failure("exit 0, and nothing on standard output")
    try:
        return Answer(parse(printed), printed + said)
    except (EncodingError, RecursionError) as fault:
        return Failure(f"exit 0, but standard output is not one JSON value in UTF-8: {fault}")


@dataclass(frozen=True, slots=True)
class Program:
    """Any program that keeps the contract; calling it performs one operation in one process.

    Attributes:
        words: the program and its leading arguments; no shell is involved.
        timeout: seconds one call may take.
        output_bytes: the most it may print on standard output.
        folder: where it runs; None: where this process does.
        environment: its environment; None: that of this process.
    """

    words: tuple[str, ...]
    timeout: float = TIMEOUT
    output_bytes: int = OUTPUT_BYTES
    folder: str | None = None
    environment: Mapping[str, str] | None = None

    def __call__(self, arguments: Sequence[str]) -> Reply:
        """Run the program once and return what came of it; one that is not done in time is ended."""
        try:
            process = subprocess.Popen(
                [*self.words, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                cwd=self.folder,
                env=self.environment,
            )
        except (OSError, ValueError) as fault:
            return Failure(f"cannot be started: {fault}")
        assert process.stdout is not None
        assert process.stderr is not None
        with _LOCK:
            _RUNNING.add(process)
        try:
            return self._finish(process)
        finally:
            _end(process)
            process.wait()
            with _LOCK:
                _RUNNING.discard(process)

    def _finish(self, process: subprocess.Popen[bytes]) -> Reply:
        """Read a running program to its end, or end it when its time or its output is used up."""
        assert process.stdout is not None
        assert process.stderr is not None
        printed = _Reader(cast(BufferedReader, process.stdout), self.output_bytes, lambda: _end(process))
        said = _Reader(cast(BufferedReader, process.stderr), ERROR_BYTES, None)
        deadline = time.monotonic() + self.timeout
        in_time = printed.ended_by(deadline) and said.ended_by(deadline)
        try:
            process.wait(max(0.0, deadline - time.monotonic()) if in_time else 0.0)
        except subprocess.TimeoutExpired:
            in_time = False
            _end(process)
            process.wait()
            for reader in (printed, said):
                reader.ended_by(time.monotonic() + 5)
        if printed.overflowed:
            return Failure(f"printed more than {self.output_bytes:,} bytes; ended")
        if not in_time:
            return Failure(f"no answer within {self.timeout:g} seconds; ended")
        return _reply(process.returncode, bytes(printed.kept), bytes(said.kept))


def program(command: str, timeout: float = TIMEOUT) -> Program:
    """Return the program that a command line names, split as a shell would; raises InputError for none."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as fault:
        raise InputError(f"--command {command!r} does not split into words: {fault}") from None
    if not words:
        raise InputError("--command names no program")
    return Program(words, timeout)


class _Reader:
    """Reads a pipe to its end in a thread, keeps its first bytes, and tells when there are more."""

    def __init__(self, pipe: BufferedReader, limit: int, beyond: Callable[[], None] | None) -> None:
        self.kept = bytearray()
        self.overflowed = False
        self._pipe = pipe
        self._limit = limit
        self._beyond = beyond
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while block := self._pipe.read1(1 << 16):
                room = self._limit - len(self.kept)
                self.kept += block[:room]
                if len(block) > room and not self.overflowed:
                    self.overflowed = True
                    if self._beyond is not None:
                        self._beyond()
        except (OSError, ValueError):
            return

    def ended_by(self, deadline: float) -> bool:
        """Wait for the end of the pipe until a time of the monotonic clock; whether it came."""
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._thread.is_alive():
            return False
        self._pipe.close()
        return True


_RUNNING: set[subprocess.Popen[bytes]] = set()
_LOCK = threading.Lock()


def end_running() -> None:
    """End every program that a call still waits for: the caller was interrupted."""
    with _LOCK:
        for process in _RUNNING:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program that was not yet waited for, with all that it started in its session."""
    if process.returncode is not None:
        return
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        return


def _reply(status: int, printed: bytes, errors: bytes) -> Reply:
    message = _line(errors[:MESSAGE_BYTES])
    said = f": {message}" if message else ""
    if status == 0:
        return answer(printed, errors)
    if status == 2:
        return Refusal(message, printed + errors) if message else Failure("exit 2 without a message on standard error")
    if status < 0:
        return Failure(f"ended by {_signal_name(-status)}{said}")
    return Failure(f"exit {status}{said}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _line(said: bytes) -> str:
    """Return the last line that says something: where a traceback stands, that is its error."""
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""
