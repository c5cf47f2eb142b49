"""`aef stream`: [STRM-1] to [STRM-4] for people and as JSON, followed while it is written, bad input, exit codes.

A stream that is followed is written by the test, which reads what the process prints: each waits for the other.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from aef_verify.cli import main
from tests import building
from tests.building import ALICE, RUN_ID, put
from tests.cli.calling import AEF, PLAIN, aef, one_line
from tests.runner import telling
from tests.runner.telling import END, HASH, event, plan_bytes, plan_document, stream, with_run

HOSTILE = "\x1b[31m\u202ex\u200b[red]y[/red]"


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["stream", *map(str, words)], env={"COLUMNS": "200"})


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    file = tmp_path / "plan.json"
    file.write_bytes(plan_bytes())
    return file


@pytest.fixture
def events(tmp_path: Path) -> Path:
    file = tmp_path / "events.ndjson"
    file.write_bytes(stream())
    return file


def test_what_the_job_did(events: Path, plan: Path) -> None:
    done = call(events, plan)
    assert (done.exit_code, done.stderr) == (0, "")
    for words in (
        "Job job-1, plan plan-1",
        "accepted   by runner-1 at 2026-10-02T13:59:00Z",
        "estimated  2 cases, 0.5 to 1.5 USD by the prices prices-1",
        "spent      1.5 of 3 USD (50%)",
        "cases      1 completed of at most 3: 1 passed",
        "lanes      main passed",
        f"announced  r1 ({HASH[:12]}…)",
        f"end        sealed, naming 1 run, at {END}",
        "stream     8 events",
        "give --runs DIR",
        "no run was checked (exit 0)",
    ):
        assert words in done.stdout


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (
            event("job.failed", at=END, limit="maxUsd", runs=["r1"]),
            f"failed at the limit maxUsd, naming 1 run, at {END}",
        ),
        (event("job.cancelled", at=END), f"cancelled, at {END}: stated by the test"),
    ],
)
def test_a_job_that_ended_otherwise_is_as_sound(tmp_path: Path, plan: Path, last: Any, said: str) -> None:
    events = tmp_path / "events.ndjson"
    events.write_bytes(stream(telling.line(8, last)))
    done = call(events, plan)
    assert done.exit_code == 0
    assert said in done.stdout


def test_a_refusal_says_who_and_why(tmp_path: Path, plan: Path) -> None:
    events = tmp_path / "events.ndjson"
    events.write_bytes(telling.data([event("job.refused")]))
    done = call(events, plan)
    assert done.exit_code == 0
    assert "refused    by runner-1" in done.stdout
    assert "end        refused, at 2026-10-02T13:59:00Z: stated by the test" in done.stdout
    assert "names no run (exit 0)" in done.stdout


def test_problems_say_place_rule_and_what_to_do(tmp_path: Path, plan: Path) -> None:
    events = tmp_path / "events.ndjson"
    events.write_bytes(stream(telling.put(5, spentUsd=4), telling.line(8)))
    done = call(events, plan)
    assert done.exit_code == 1
    for words in (
        "event:5  over-budget\n    the plan allows 3.0 USD; written: 4.0",
        "[PLAN-2, PLAN-9, STRM-3, STRM-4]",
        "stream  no-terminal",
        "What to do next",
        "Not sound: 2 problems in the stream (exit 1).",
    ):
        assert words in done.stdout


def test_strm2_a_last_line_without_lf_is_shown_as_unfinished(tmp_path: Path, plan: Path) -> None:
    events = tmp_path / "events.ndjson"
    events.write_bytes(stream()[:-1])
    done = call(events, plan)
    assert done.exit_code == 1
    assert "7 events; a last line without LF is still being written and was not read" in done.stdout


def test_a_stream_refused_as_a_whole_says_nothing_of_its_job(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    files.events.write_bytes(files.events.read_bytes().replace(b"\n", b"\r\n"))
    done = call(files.events, files.plan, "--runs", files.runs)
    assert done.exit_code == 1
    assert "A stream without a job, plan plan-1" in done.stdout
    assert "accepted" not in done.stdout
    assert "Not checked: of a stream refused as a whole nothing is known of its runs." in done.stdout


def test_strm4_runs_are_checked_and_shown_with_their_outcome(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    done = call(files.events, files.plan, "--runs", files.runs)
    assert done.exit_code == 0
    assert f"{RUN_ID}  intact (unsigned)  1.5" in done.stdout
    assert "1 of 1 run found, together 1.5 of 3 USD, 2 of at most 3 cases." in done.stdout
    assert "Without --policy no signature was checked" in done.stdout
    assert "and the 1 run that it names is what the plan asked for (exit 0)." in done.stdout


def test_sig7_who_signed_a_run_is_named(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    seal = (files.runs / "r" / "seal.json").read_bytes()
    (files.runs / "r" / "attestation.dsse.json").write_bytes(building.envelope(seal, [ALICE]))
    policy = tmp_path / "policy.json"
    policy.write_bytes(building.trust().source)
    done = call(files.events, files.plan, "--runs", files.runs, "--policy", policy)
    assert done.exit_code == 0
    assert f"intact, signed by {ALICE}" in done.stdout


def test_strm4_problems_of_runs_make_the_exit_code(tmp_path: Path) -> None:
    files = with_run(tmp_path, put("run.json", "subject", "version", "8"), runs=[RUN_ID, "r2"])
    done = call(files.events, files.plan, "--runs", files.runs)
    assert done.exit_code == 1
    assert f"run:{RUN_ID}  subject" in done.stdout
    assert "run:r2  run-missing" in done.stdout
    assert "1 problem in the stream, 2 problems in the runs that it names (exit 1)" in done.stdout


def test_json_is_one_value_with_everything(tmp_path: Path) -> None:
    files = with_run(tmp_path, put("run.json", "subject", "version", "8"))
    done = call(files.events, files.plan, "--runs", files.runs, "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == found["exitCode"] == 1
    assert (found["schema"], found["version"]) == ("urn:aef-verify:stream-report", "1.0")
    assert (found["sound"], found["problems"], found["lines"], found["message"]) == (False, [], 3, None)
    assert found["plan"]["limits"] == {"maxUsd": 3.0, "cases": 3, "timeoutSeconds": 7200}
    assert found["job"]["accepted"]["runnerId"] == "runner-1"
    assert found["job"]["end"]["kind"] == "job.sealed"
    assert [run["runId"] for run in found["conformance"]["found"]] == [RUN_ID]
    assert [problem["code"] for problem in found["conformance"]["problems"]] == ["subject"]


def test_json_of_a_stream_alone(events: Path, plan: Path) -> None:
    found = json.loads(call(events, plan, "--json").stdout)
    assert (found["sound"], found["conformance"], found["runs"], found["gaveUpAfterSeconds"]) == (
        True,
        None,
        None,
        None,
    )
    assert found["job"]["casesByState"] == {"passed": 1}


def test_json_of_a_stream_refused_as_a_whole(tmp_path: Path, plan: Path) -> None:
    events = tmp_path / "events.ndjson"
    events.write_bytes(b"\n")
    found = json.loads(call(events, plan, "--json").stdout)
    assert (found["job"], found["problems"][0]["code"]) == (None, "encoding")


@pytest.mark.parametrize("options", [(), ("--follow",)])
def test_what_events_hold_is_escaped_and_cut(tmp_path: Path, plan: Path, options: tuple[str, ...]) -> None:
    reason = event("job.cancelled", at=END, reason=HOSTILE * 60)
    events = tmp_path / "events.ndjson"
    unknown = event("job.\x1b[2J", at=END)
    events.write_bytes(stream(telling.put(4, caseId="\u202ec"), telling.line(7, unknown), telling.line(8, reason)))
    done = call(events, plan, *options)
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "\\u{1B}[31m\\u{202E}x\\u{200B}[red]y[/red]" in done.stdout
    assert "more characters)" in done.stdout


def test_plan4_nothing_of_a_plan_is_shown_that_could_be_a_secret(tmp_path: Path) -> None:
    reference = {"name": "API_KEY", "scheme": "env", "path": "sk-live-1", "purpose": "judge"}
    files = with_run(tmp_path, plan=plan_document(credentialRefs=[reference], ext={"note": "sk-live-2"}))
    for options in ((), ("--json",), ("--follow",), ("--follow", "--json")):
        done = call(files.events, files.plan, "--runs", files.runs, *options)
        assert done.exit_code == 0
        assert "sk-live" not in done.output


def test_standard_input_is_read_for_events_and_for_the_plan(events: Path, plan: Path) -> None:
    for options in ((), ("--follow",)):
        done = aef("stream", "-", plan, *options, stdin=events.read_bytes())
        assert (done.returncode, done.stderr) == (0, "")
        assert "stream     8 events" in done.stdout
    assert aef("stream", events, "-", stdin=plan.read_bytes()).returncode == 0


# Bad input


def test_a_plan_that_is_refused_says_what_and_where(tmp_path: Path, events: Path) -> None:
    plan = tmp_path / "bad.json"
    plan.write_bytes(json.dumps(plan_document(credentialRefs=["sk-live-1"])).encode())
    done = aef("stream", events, plan)
    assert done.returncode == 2
    line = one_line(done)
    assert line.startswith(f"aef stream: {plan}: plan refused: /credentialRefs/0 is a bare text")
    assert "sk-live" not in line


@pytest.mark.parametrize("follow", [(), ("--follow",)], ids=["whole", "followed"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("absent", "absent: cannot be read: No such file or directory"),
        ("folder", "folder: not a regular file"),
        ("pipe", "pipe: not a regular file"),
        ("\x1b[31m", "\\u{1B}[31m: cannot be read: No such file or directory"),
    ],
)
def test_events_that_are_no_file(tmp_path: Path, plan: Path, name: str, said: str, follow: tuple[str, ...]) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    done = aef("stream", tmp_path / name, plan, *follow)
    assert done.returncode == 2
    assert said in one_line(done)


def test_a_plan_that_is_no_file_or_too_large(tmp_path: Path, events: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert one_line(aef("stream", events, tmp_path / "pipe")).endswith("pipe: not a regular file")
    large = tmp_path / "large.json"
    with open(large, "wb") as file:
        file.truncate(40 << 20)
    done = aef("stream", events, large)
    assert done.returncode == 2
    assert one_line(done).endswith("41,943,040 bytes; at most 4,194,304 are read")


def test_enc17_events_that_are_too_large_are_a_problem(tmp_path: Path, plan: Path) -> None:
    """Not an input error: the stream breaks a limit that its writer had to keep."""
    events = tmp_path / "events.ndjson"
    with open(events, "wb") as file:
        file.truncate((1 << 30) + 1)
    done = call(events, plan)
    assert done.exit_code == 1
    assert "stream  limit\n    more than 1,000,000 lines or 1,073,741,824 bytes" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-", "-"), "only one of EVENTS, PLAN and --policy can be standard input"),
        (("e", "p", "--policy", "x"), "so it needs --runs"),
        (("e", "p", "--timeout", "1"), "needs --follow"),
        (("e", "p", "--follow", "--timeout", "0"), "a number of seconds above 0"),
        (("e", "p", "--follow", "--timeout", "nan"), "a number of seconds above 0"),
        (("e",), "Missing argument 'PLAN'"),
    ],
)
def test_a_wrong_call(words: tuple[str, ...], said: str) -> None:
    done = call(*words)
    assert done.exit_code == 2
    assert said in done.stderr


def test_runs_that_cannot_be_read_leave_the_answer_open(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    done = aef("stream", files.events, files.plan, "--runs", tmp_path / "absent")
    assert done.returncode == 2
    assert "They could not be checked: " in done.stdout
    assert "Not answered in full: the runs could not be checked (exit 2)." in done.stdout
    assert done.stderr == f"aef stream: {tmp_path}/absent: No such file or directory\n"


def test_output_that_cannot_be_written_is_3(events: Path, plan: Path) -> None:
    with open("/dev/full", "wb") as full:
        for options in ((), ("--json",), ("--follow",)):
            assert aef("stream", events, plan, *options, stdout=full).returncode == 3


# Followed while it is written


class Followed:
    """A process that follows a stream: what it prints is read line by line, each waited for."""

    def __init__(self, process: subprocess.Popen[str], events: Path) -> None:
        self.process = process
        self.events = events

    def write(self, *lines: bytes) -> None:
        with open(self.events, "ab") as file:
            file.write(b"".join(lines))

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def rest(self) -> tuple[str, str, int]:
        """Wait for its end and return what else it prints, what it says, and its exit code."""
        printed, said = self.process.communicate(timeout=60)
        return printed, said, self.process.returncode


@contextmanager
def following(events: Path, plan: Path, *options: object, stdin: int | None = None) -> Iterator[Followed]:
    process = subprocess.Popen(
        [*AEF, "stream", "-" if stdin is not None else str(events), str(plan), "--follow", *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        env=PLAIN | {"COLUMNS": "200"},
        text=True,
    )
    try:
        yield Followed(process, events)
    finally:
        process.kill()
        process.communicate()


def lines_of(found: bytes) -> list[bytes]:
    return found.splitlines(keepends=True)


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    file = tmp_path / "growing.ndjson"
    file.write_bytes(b"")
    return file


SAID = (
    "event:1  accepted by runner-1",
    "event:2  estimated: 2 cases, 0.5 to 1.5 USD by the prices prices-1",
    "event:3  spent 0.25 of 3 USD (8%)",
    "event:4  case c1: passed in r1 (1 completed of at most 3)",
    "event:5  spent 1.5 of 3 USD (50%)",
    "event:6  lane main: passed",
    f"event:7  run r1 sealed, run hash {HASH[:12]}…",
    "event:8  sealed, naming 1 run",
)


def test_events_are_printed_as_they_are_written(empty: Path, plan: Path) -> None:
    """Each before the next is written; the process ends with the event that ends the job."""
    with following(empty, plan) as followed:
        for line, said in zip(lines_of(stream()), SAID, strict=True):
            followed.write(line)
            assert followed.line().endswith(f"Z  {said}")
        printed, complaint, code = followed.rest()
    assert (complaint, code) == ("", 0)
    assert printed.startswith("\nJob job-1, plan plan-1\n")
    assert "no run was checked (exit 0)" in printed


def test_strm2_a_partial_last_line_waits_for_its_lf(empty: Path, plan: Path) -> None:
    first, second, *_ = lines_of(stream())
    with following(empty, plan) as followed:
        followed.write(first[:20])
        followed.write(first[20:], second[:-1])
        assert followed.line().endswith(SAID[0])
        followed.write(b"\n")
        assert followed.line().endswith(SAID[1])


def test_a_problem_is_printed_when_it_arises(empty: Path, plan: Path) -> None:
    found = lines_of(stream(telling.put(5, spentUsd=4)))
    with following(empty, plan) as followed:
        followed.write(*found[:5])
        read = [followed.line() for _ in range(6)]
        assert read[4].endswith("event:5  spent 4 of 3 USD (133%)")
        assert read[5] == "PROBLEM  event:5  over-budget: the plan allows 3.0 USD; written: 4.0"
        followed.write(b"x\n")
        assert followed.line().startswith("PROBLEM  event:6  event-invalid: ")
        followed.write(*found[5:])
        printed, _, code = followed.rest()
    assert code == 1
    assert "Not sound: 2 problems in the stream" in printed


def test_a_stream_that_was_written_before_is_judged_as_if_it_was_not_followed(tmp_path: Path, plan: Path) -> None:
    """What follows the end of the job, too, and what has no LF."""
    events = tmp_path / "events.ndjson"
    late = event("spend.updated", at=END, spentUsd=1.5)
    events.write_bytes(stream(telling.add(late)) + b"{")
    whole = call(events, plan)
    done = call(events, plan, "--follow")
    assert done.exit_code == whole.exit_code == 1
    assert done.stdout.endswith("\n\n" + whole.stdout)
    assert "event:9  after-terminal" in done.stdout


def test_json_lines(empty: Path, plan: Path) -> None:
    found = lines_of(stream(telling.put(5, spentUsd=4)))
    with following(empty, plan, "--json") as followed:
        followed.write(*found[:5])
        read = [json.loads(followed.line()) for _ in range(6)]
        assert [line["type"] for line in read] == ["event"] * 5 + ["problem"]
        assert [line["number"] for line in read[:5]] == [1, 2, 3, 4, 5]
        assert read[3]["event"] == json.loads(found[3])
        assert (read[5]["path"], read[5]["code"], read[5]["value"]) == ("event:5", "over-budget", 4.0)
        followed.write(*found[5:])
        printed, _, code = followed.rest()
    last = json.loads(printed.splitlines()[-1])
    assert [json.loads(line)["type"] for line in printed.splitlines()] == ["event"] * 3 + ["report"]
    assert code == last["exitCode"] == 1
    assert [problem["code"] for problem in last["problems"]] == ["over-budget"]


def test_runs_are_checked_when_the_job_has_ended(tmp_path: Path) -> None:
    files = with_run(tmp_path)
    found = lines_of(files.events.read_bytes())
    hidden = tmp_path / "hidden"
    files.runs.rename(hidden)
    files.events.write_bytes(b"")
    with following(files.events, files.plan, "--runs", files.runs) as followed:
        followed.write(*found[:2])
        assert followed.line().endswith("accepted by runner-1")
        assert f"run {RUN_ID} sealed" in followed.line()
        hidden.rename(files.runs)
        followed.write(found[2])
        printed, _, code = followed.rest()
    assert code == 0
    assert "1 of 1 run found" in printed


def cut(events: Path) -> None:
    with open(events, "r+b") as file:
        file.truncate(10)


def replace(events: Path) -> None:
    other = events.with_suffix(".new")
    other.write_bytes(events.read_bytes())
    other.rename(events)


def write_over(events: Path) -> None:
    found = events.read_bytes()
    with open(events, "r+b") as file:
        file.write(found.replace(b"runner-1", b"runner-2"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (cut, "was cut to 10 bytes while it was followed"),
        (replace, "was replaced by another file while it was followed"),
        (Path.unlink, "was removed while it was followed"),
        (write_over, "was written over while it was followed"),
    ],
)
def test_a_file_that_does_anything_but_grow_is_an_error(empty: Path, plan: Path, change: Any, said: str) -> None:
    with following(empty, plan) as followed:
        followed.write(lines_of(stream())[0])
        assert followed.line().endswith(SAID[0])
        change(empty)
        printed, complaint, code = followed.rest()
    assert (printed, code) == ("", 2)
    assert said in complaint


def test_a_stream_that_breaks_its_framing_is_followed_no_further(empty: Path, plan: Path) -> None:
    with following(empty, plan) as followed:
        followed.write(lines_of(stream())[0], b"\n")
        printed, _, code = followed.rest()
    assert code == 1
    assert "stream  encoding" in printed


def test_timeout_gives_up_a_stream_in_which_nothing_happens(tmp_path: Path, plan: Path) -> None:
    events = tmp_path / "events.ndjson"
    events.write_bytes(stream(telling.line(8)))
    done = call(events, plan, "--follow", "--timeout", "0.01")
    assert done.exit_code == 1
    assert "No longer followed: no event came for 0.01 seconds." in done.stdout
    assert "stream  no-terminal" in done.stdout
    found = json.loads(call(events, plan, "--follow", "--timeout", "0.01", "--json").stdout.splitlines()[-1])
    assert (found["gaveUpAfterSeconds"], found["exitCode"]) == (0.01, 1)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_it_at_once(empty: Path, plan: Path, number: signal.Signals, code: int) -> None:
    with following(empty, plan) as followed:
        followed.write(lines_of(stream())[0])
        assert followed.line().endswith(SAID[0])
        followed.process.send_signal(number)
        assert followed.rest() == ("", "aef stream: interrupted\n", code)


def test_a_reader_that_has_gone_ends_it(empty: Path, plan: Path) -> None:
    with following(empty, plan) as followed:
        followed.write(lines_of(stream())[0])
        assert followed.line().endswith(SAID[0])
        assert followed.process.stdout is not None
        followed.process.stdout.close()
        followed.write(lines_of(stream())[1])
        assert followed.process.wait(timeout=60) == 3


def test_standard_input_is_followed_to_the_end_of_the_job(tmp_path: Path, plan: Path) -> None:
    """The writer may go on living: nothing more is waited for."""
    reading, writing = os.pipe()
    with (
        open(reading, "rb"),
        open(writing, "wb", buffering=0) as writer,
        following(tmp_path, plan, stdin=reading) as it,
    ):
        for line, said in zip(lines_of(stream()), SAID, strict=True):
            writer.write(line)
            assert it.line().endswith(f"Z  {said}")
        assert it.rest()[1:] == ("", 0)


def test_standard_input_that_ends_before_the_job_does(tmp_path: Path, plan: Path) -> None:
    reading, writing = os.pipe()
    with (
        open(reading, "rb"),
        open(writing, "wb", buffering=0) as writer,
        following(tmp_path, plan, stdin=reading) as it,
    ):
        writer.write(lines_of(stream())[0])
        assert it.line().endswith(SAID[0])
        writer.close()
        printed, _, code = it.rest()
    assert code == 1
    assert "no-terminal" in printed


def test_standard_input_that_is_closed(plan: Path) -> None:
    for options in ((), ("--follow",)):
        command = ["sh", "-c", 'exec "$@" <&-', "sh", *AEF, "stream", "-", str(plan), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=PLAIN)
        assert (done.returncode, done.stdout) == (2, "")
        assert "standard input: cannot be read" in done.stderr
