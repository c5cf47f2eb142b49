"""The environment that a judge gives to one call, and all that the call printed (09 §9.3) [PLAN-3]."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import pytest

from aef_verify.conformance.drive import (
    ERROR_BYTES,
    MESSAGE_BYTES,
    Answer,
    Failure,
    Program,
    Refusal,
    Reply,
    in_environment,
    in_process,
)

SET, GONE = "AEF_TEST_SET", "AEF_TEST_GONE"
SHOW = (
    "import json, os; print(json.dumps([os.environ.get(name) for name in ('AEF_TEST_SET', 'AEF_TEST_GONE', 'PATH')]))"
)


def shown(words: Sequence[str]) -> Reply:
    return Answer([os.environ.get(name) for name in (SET, GONE, "PATH")])


def says(code: str) -> Program:
    return Program((sys.executable, "-I", "-S", "-c", code))


@pytest.mark.parametrize("program", [shown, says(SHOW)])
def test_variables_are_set_emptied_and_removed_for_the_call_alone(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GONE, "here")
    monkeypatch.delenv(SET, raising=False)
    before = dict(os.environ)
    for value in ("fresh", ""):
        reply = in_environment(program, {SET: value, GONE: None})([])
        assert reply == Answer([value, None, os.environ.get("PATH")])
    assert program([]) == Answer([None, "here", os.environ.get("PATH")])
    assert dict(os.environ) == before


def test_variables_are_as_before_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SET, "old")

    def fails(words: Sequence[str]) -> Reply:
        assert os.environ[SET] == "new"
        raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        in_environment(fails, {SET: "new"})([])
    assert os.environ[SET] == "old"


def test_a_program_with_an_environment_of_its_own_keeps_the_rest_of_it() -> None:
    program = Program((sys.executable, "-I", "-S", "-c", SHOW), environment={SET: "a", GONE: "b", "PATH": "c"})
    assert in_environment(program, {GONE: None})([]) == Answer(["a", None, "c"])


def test_what_was_printed_on_both_outputs_is_kept() -> None:
    done = says("import sys; print('{}'); sys.stderr.write('first\\nlast\\n')")([])
    assert (done, done.printed) == (Answer({}), b"{}\nfirst\nlast\n")
    done = says("import sys; print('out'); sys.stderr.write('first\\nlast\\n'); sys.exit(2)")([])
    assert (done, done.printed) == (Refusal("last"), b"out\nfirst\nlast\n")
    refused = in_process(["no such operation"])
    assert isinstance(refused, Refusal)
    assert refused.printed == refused.message.encode()
    assert Failure("odd").printed == b""


def test_much_of_standard_error_is_kept_and_little_of_it_is_a_message() -> None:
    done = says(f"import sys; sys.stderr.write('x' * {2 * ERROR_BYTES}); sys.exit(2)")([])
    assert isinstance(done, Refusal)
    assert (len(done.message), len(done.printed)) == (MESSAGE_BYTES, ERROR_BYTES)
