"""The command-line contract (09 §9.3, [CONF-3]): arguments, output, exit codes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from aef_verify.conformance import contract
from aef_verify.conformance.contract import main, perform, read_arguments
from aef_verify.conformance.operation import Operation, Options
from aef_verify.problems import InputError

AEF = (sys.executable, "-m", "aef_verify", "contract")
ANSWERED = {"answer": "é"}


def echo(arguments: Sequence[str], options: Options) -> object:
    return {"arguments": list(arguments), "options": dict(options)}


@pytest.fixture(autouse=True)
def _echoing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(contract.OPERATIONS, "echo", Operation(echo, ("A",), {"--at": True, "--policy": False}))


def fails_with(monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> None:
    def fail(arguments: Sequence[str], options: Options) -> object:
        raise failure

    monkeypatch.setitem(contract.OPERATIONS, "fail", Operation(fail, ()))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name an operation"),
        (["forge"], "no operation 'forge'; there are run, seal"),
        (["echo"], "A is missing"),
        (["echo", "a"], "--at is missing"),
        (["echo", "a", "b", "--at", "t"], "an argument too many"),
        (["echo", "a", "--at"], "--at has no value"),
        (["echo", "a", "--at", "--policy"], "--at has no value"),
        (["echo", "a", "--at", "t", "--at", "t"], "--at stands twice"),
        (["echo", "a", "--at", "t", "--anchors", "f"], "no option '--anchors'"),
        (["echo", "a", "--at=t"], "no option '--at=t'"),
        (["echo", "-x", "--at", "t"], "no option '-x'"),
        (["echo", "-", "--at", "t"], "no option '-'"),
        (["result-id", "r", "c"], "PATH is missing"),
        (["result-id", "r", "c", "p", "1", "2"], "an argument too many"),
        (["sign", "f", "k"], "--payload-type is missing"),
        (["seal-write", "d", "--sealed-by", "producer"], "--sealed-at is missing"),
        (["view", "d"], "--at is missing"),
    ],
)
def test_a_wrong_call_is_a_usage_error(words: list[str], said: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(words) == 2
    printed, message = capfdbinary.readouterr()
    assert printed == b""
    assert said in message.decode()
    assert message.count(b"\n") == 1


@pytest.mark.parametrize(
    ("words", "arguments", "options"),
    [
        (["echo", "a", "--at", "t"], ["a"], {"--at": "t"}),
        (["echo", "--policy", "-p", "--at", "t", "a"], ["a"], {"--policy": "-p", "--at": "t"}),
        (["echo", "--at", "t", "--", "-a"], ["-a"], {"--at": "t"}),
        (["result-id", "--", "-c", "--p"], ["--", "-c", "--p"], {}),
    ],
)
def test_options_and_arguments_stand_in_any_order(
    words: list[str], arguments: list[str], options: dict[str, str]
) -> None:
    assert read_arguments(words)[1:] == (arguments, options)


def test_the_value_is_one_json_value_in_utf8(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setitem(contract.OPERATIONS, "echo", Operation(lambda arguments, options: ANSWERED, ()))
    assert main(["echo"]) == 0
    printed, message = capfdbinary.readouterr()
    assert printed == '{"answer":"é"}\n'.encode()
    assert message == b""


def test_a_refusal_exits_2_in_one_line_that_cannot_steer_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    fails_with(monkeypatch, InputError("a\nb\x1b[31m\u202e\udcff"))
    assert main(["fail"]) == 2
    assert capfdbinary.readouterr() == (b"", b"aef contract: a\\nb\\x1b[31m\\u202e\\udcff\n")


def test_a_refusal_without_words_still_says_something(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    fails_with(monkeypatch, InputError(""))
    assert main(["fail"]) == 2
    assert capfdbinary.readouterr().err.removeprefix(b"aef contract:").strip()


@pytest.mark.parametrize(
    "failure", [ValueError("odd"), OSError(5, "odd"), RecursionError("odd"), KeyboardInterrupt("odd")]
)
def test_an_unexpected_failure_exits_1_never_2(
    failure: BaseException, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    fails_with(monkeypatch, failure)
    assert main(["fail"]) == 1
    printed, message = capfdbinary.readouterr()
    assert printed == b""
    assert message.count(b"\n") == 1
    assert b"Traceback" not in message


def test_an_answer_that_is_no_json_exits_1(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for value in (float("nan"), "\udcff", object()):
        monkeypatch.setitem(contract.OPERATIONS, "odd", Operation(lambda a, o, value=value: value, ()))  # type: ignore[misc]  # a default binds the loop's value
        assert main(["odd"]) == 1
        assert capfdbinary.readouterr().out == b""


def test_the_traceback_comes_with_aef_debug(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    fails_with(monkeypatch, ValueError("odd"))
    monkeypatch.setenv("AEF_DEBUG", "1")
    assert main(["fail"]) == 1
    assert b"Traceback" in capfdbinary.readouterr().err


def test_help_names_every_operation(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["--help"]) == 0
    printed = capfdbinary.readouterr().out.decode()
    assert "aef contract view DIR --at AT [--policy POLICY]" in printed
    assert "aef contract result-id RUNID CASEID PATH [TRIAL]" in printed


def aef(*words: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*AEF, *words], capture_output=True, timeout=60, check=False, **more)  # type: ignore[call-overload,no-any-return]  # options of the caller


def test_as_a_process_it_answers_and_refuses(tmp_path: Path) -> None:
    given = tmp_path / "paths.json"
    given.write_text('[".hidden", "run.json"]')
    done = aef("paths", str(given))
    assert (done.returncode, done.stdout) == (0, b'{"problems":[[".hidden","path"]]}\n')
    done = aef("paths", str(tmp_path / "none"))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1


def test_output_that_cannot_be_written_is_one_line_and_exit_1(tmp_path: Path) -> None:
    given = tmp_path / "paths.json"
    given.write_text("[]")
    read, write = os.pipe()
    os.close(read)
    try:
        broken = subprocess.run([*AEF, "paths", str(given)], stdout=write, stderr=subprocess.PIPE, timeout=60)
    finally:
        os.close(write)
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *AEF, "paths", str(given)], stderr=subprocess.PIPE, timeout=60
    )
    for done in (broken, closed):
        assert done.returncode == 1
        assert done.stderr.count(b"\n") == 1
        assert b"standard output cannot be written" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_one_line_and_exit_1(tmp_path: Path) -> None:
    given = tmp_path / "paths.json"
    given.write_text("[]")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*AEF, "paths", str(given)], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1


def test_a_standard_error_that_is_gone_changes_no_exit_code() -> None:
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *AEF, "odd"], stdout=subprocess.PIPE, timeout=60)
    assert done.returncode == 2


def test_an_interrupt_leaves_no_traceback(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = (
        "import os, sys\n"
        "from aef_verify.conformance import contract\n"
        "def wait(arguments, options):\n"
        "    open(sys.argv[1], 'w').close()\n"
        "    import signal\n"
        "    while True: signal.pause()\n"
        "contract.OPERATIONS['wait'] = contract.Operation(wait, ())\n"
        "sys.exit(contract.main(['wait']))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(fifo)], stderr=subprocess.PIPE) as waiting:
        fifo.open().close()
        waiting.send_signal(signal.SIGINT)
        try:
            assert waiting.communicate(timeout=60)[1] == b"aef contract: interrupted\n"
        finally:
            waiting.kill()
    assert waiting.returncode == 1


class TestPaths:
    """`paths`: the corpus's list form, and a bare list of paths [RUN-3]."""

    def answer(self, tmp_path: Path, text: str) -> object:
        given = tmp_path / "paths.json"
        given.write_text(text)
        return perform(["paths", str(given)])

    def test_the_list_form(self, tmp_path: Path) -> None:
        text = '[{"name": "a", "paths": ["run.json", "A/x", "a/x"], "rules": []}, {"name": "b", "paths": []}]'
        assert self.answer(tmp_path, text) == [
            {"name": "a", "problems": [["a/x", "path"]]},
            {"name": "b", "problems": []},
        ]

    def test_a_bare_list(self, tmp_path: Path) -> None:
        assert self.answer(tmp_path, '["ext/a b"]') == {"problems": [["ext/a b", "path"]]}
        assert self.answer(tmp_path, "[]") == {"problems": []}

    @pytest.mark.parametrize(
        "text",
        [
            "{}",
            "",
            '["a", 1]',
            '[{"name": "a"}]',
            '[{"name": 1, "paths": []}]',
            '["a", {"name": "", "paths": []}]',
            '[{"name": "a", "paths": [1]}]',
            "[" * 65 + "]" * 65,
            '["\\ud800"]',
        ],
    )
    def test_anything_else_is_an_input_error(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(InputError):
            self.answer(tmp_path, text)


class TestResultId:
    """`result-id`: [RES-4], the trial read by value ([ENC-4])."""

    @pytest.mark.parametrize("words", [("run-1", "case-1", "quality"), ("run-1", "casé", "quality", "3")])
    def test_is_the_hash_of_its_parts(self, words: tuple[str, ...]) -> None:
        text = "\x1f".join([*words, ""][:4])
        expected = "r_" + hashlib.sha256(text.encode()).hexdigest()[:32]
        assert perform(["result-id", *words]) == {"resultId": expected}

    def test_a_trial_is_read_by_value(self) -> None:
        three = perform(["result-id", "r", "c", "p", "3"])
        assert all(perform(["result-id", "r", "c", "p", trial]) == three for trial in ("3.0", "30e-1", "3E0"))
        assert perform(["result-id", "r", "c", "p"]) != three

    @pytest.mark.parametrize(
        "trial", ["", "three", "1.5", "-1", "null", "true", "NaN", "1e400", "[3]", "\udcff", "1e17"]
    )
    def test_any_other_trial_is_refused(self, trial: str) -> None:
        with pytest.raises(InputError):
            perform(["result-id", "r", "c", "p", trial])

    @pytest.mark.parametrize("words", [("", "c", "p"), ("r", "c\x1f", "p"), ("r", "c", "p\x85"), ("r", "\udcff", "p")])
    def test_what_no_id_or_path_holds_is_refused(self, words: tuple[str, ...]) -> None:
        with pytest.raises(InputError):
            perform(["result-id", *words])


def test_view_needs_a_time_that_exists(tmp_path: Path) -> None:
    for text in ("now", "2026-02-31T00:00:00Z", ""):
        with pytest.raises(InputError, match="is no time"):
            perform(["view", str(tmp_path), "--at", text])


@pytest.mark.parametrize("text", ["{}", '"a"', '["ab"]', '["' + "A" * 64 + '"]', "[1]", '["' + "a" * 64 + '\\n"]'])
def test_anchors_are_a_list_of_run_hashes(tmp_path: Path, text: str) -> None:
    anchors = tmp_path / "anchors.json"
    anchors.write_text(text)
    with pytest.raises(InputError, match="run hash"):
        perform(["run", str(tmp_path), "--anchors", str(anchors)])


def test_every_operation_takes_its_values_as_json(tmp_path: Path) -> None:
    """An operation that refuses its inputs says so as InputError, whatever was missing."""
    nothing = str(tmp_path / "none")
    for words in (
        ["run", nothing],
        ["seal", nothing],
        ["chain", nothing],
        ["view", nothing, "--at", "2026-10-02T14:00:00Z"],
        ["document", "run", nothing],
        ["signature", nothing, nothing, nothing, "--payload-type", "t"],
        ["paths", nothing],
        ["seal-write", nothing, "--sealed-by", "producer", "--sealed-at", "2026-10-02T14:00:00Z"],
        ["sign", nothing, nothing, "--payload-type", "t"],
    ):
        with pytest.raises(InputError):
            json.dumps(perform(words))
