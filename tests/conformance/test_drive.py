"""Calling an implementation ([CONF-3]): what is an answer, what a refusal, and everything that is a failure."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest

from aef_verify.conformance import contract
from aef_verify.conformance.drive import Answer, Failure, Program, Refusal, Reply, end_running, in_process, program
from aef_verify.conformance.operation import Operation, Options
from aef_verify.problems import InputError
from tests.conformance.small_corpus import FakeProgram


def failure(reply: Reply) -> str:
    assert isinstance(reply, Failure), reply
    return reply.reason


def test_exit_0_with_one_json_value_is_an_answer(fake: FakeProgram) -> None:
    fake.says("run", {"outcome": "intact"}, stderr="a warning\n")
    assert fake.program(["run", "a dir", "$HOME"]) == Answer({"outcome": "intact"})
    assert fake.calls == [["run", "a dir", "$HOME"]]


def test_exit_2_with_a_message_is_a_refusal(fake: FakeProgram) -> None:
    fake.says("run", exit=2, stderr="usage: ...\n\nerror: no such folder\n")
    assert fake.program(["run"]) == Refusal("error: no such folder")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "nothing on standard output"),
        ({"stdout": " \n"}, "nothing on standard output"),
        ({"stdout": "garbage"}, "not one JSON value"),
        ({"stdout": "{} {}"}, "not one JSON value"),
        ({"stdout": "{}\n[]"}, "not one JSON value"),
        ({"stdout": "\ufeff{}"}, "not one JSON value"),
        ({"stdout": '{"a": 1, "a": 2}'}, "not one JSON value"),
        ({"stdout": '{"a": NaN}'}, "not one JSON value"),
        ({"stdout": '"\udcff"'}, "not one JSON value"),
        ({"stdout": "[", "times": 100_000}, "not one JSON value"),
        ({"exit": 2}, "exit 2 without a message"),
        ({"exit": 2, "stderr": " \n\n"}, "exit 2 without a message"),
        ({"exit": 1, "stderr": "Traceback\n  line\nValueError: odd\n"}, "exit 1: ValueError: odd"),
        ({"exit": 3, "stdout": "{}"}, "exit 3"),
        ({"signal": int(signal.SIGSEGV), "stdout": "{}"}, "ended by SIGSEGV"),
        ({"signal": int(signal.SIGRTMIN) + 1}, "ended by "),
    ],
)
def test_everything_else_is_a_failure(fake: FakeProgram, answer: dict[str, object], said: str) -> None:
    fake.says("run", **answer)
    assert said in failure(fake.program(["run"]))


def test_a_program_that_hangs_is_ended(fake: FakeProgram) -> None:
    fake.says("run", {"outcome": "intact"}, hang=True)
    reply = replace(fake.program, timeout=1)(["run"])
    assert "no answer within 1 seconds" in failure(reply)


def test_a_child_that_holds_the_output_open_is_ended_too(fake: FakeProgram) -> None:
    script = "import os, signal\nif os.fork() == 0:\n    while True: signal.pause()\nos.write(1, b'{}')\nos._exit(0)\n"
    reply = Program((sys.executable, "-I", "-S", "-c", script), timeout=1)(["run"])
    assert "no answer within" in failure(reply)


def test_output_without_end_is_cut(fake: FakeProgram) -> None:
    fake.says("run", stdout="x" * 1000, times=1000, hang=True)
    reply = replace(fake.program, output_bytes=1000)(["run"])
    assert "printed more than 1,000 bytes" in failure(reply)


def test_output_of_exactly_the_bound_is_read(fake: FakeProgram) -> None:
    fake.says("run", stdout='"' + "x" * 998 + '"')
    assert replace(fake.program, output_bytes=1000)(["run"]) == Answer("x" * 998)


def test_a_message_without_end_is_cut(fake: FakeProgram) -> None:
    fake.says("run", stderr="error: " + "x" * 1_000_000, exit=2)
    reply = fake.program(["run"])
    assert isinstance(reply, Refusal)
    assert len(reply.message) <= 16 << 10


def test_a_program_that_is_not_there() -> None:
    assert "cannot be started" in failure(Program(("/none/such",))(["run"]))
    assert "cannot be started" in failure(Program((sys.executable,))(["a\0b"]))


def test_a_command_is_split_as_a_shell_would(fake: FakeProgram) -> None:
    assert program("'a b' c\\ d", 5) == Program(("a b", "c d"), 5)
    for command in ("", "  ", "'a"):
        with pytest.raises(InputError):
            program(command)


def test_nothing_waits_after_the_end() -> None:
    end_running()


class TestInProcess:
    """In process the same four things happen, through JSON."""

    def reply(self, monkeypatch: pytest.MonkeyPatch, value: object) -> Reply:
        def work(arguments: Sequence[str], options: Options) -> object:
            if isinstance(value, Exception):
                raise value
            return value

        monkeypatch.setitem(contract.OPERATIONS, "odd", Operation(work, ()))
        return in_process(["odd"])

    def test_an_answer_goes_through_json(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.reply(monkeypatch, {"a": (1, 2.0, "é")}) == Answer({"a": [1, 2.0, "é"]})

    def test_an_input_error_is_a_refusal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.reply(monkeypatch, InputError("no")) == Refusal("no")
        assert "without a message" in failure(self.reply(monkeypatch, InputError(" ")))
        assert isinstance(in_process(["none"]), Refusal)

    @pytest.mark.parametrize("value", [ValueError("odd"), object(), float("inf"), "\udcff"])
    def test_anything_else_is_a_failure(self, monkeypatch: pytest.MonkeyPatch, value: object) -> None:
        assert "unexpected failure" in failure(self.reply(monkeypatch, value))


def test_the_program_has_no_standard_input(fake: FakeProgram) -> None:
    script = "import os, json\nos.write(1, json.dumps(os.read(0, 1).decode()).encode())"
    assert Program((sys.executable, "-I", "-S", "-c", script))(["run"]) == Answer("")
    assert os.path.exists(fake.script)
