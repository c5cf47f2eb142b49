"""`aef verify`: exit codes, requirements, output for people and for programs.

[RUN-1], [RUN-13], [SIG-4], [SIG-7], [OVL-5], [OVL-10].
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

import aef_verify
from aef_verify.cli import main
from tests import building
from tests.building import drop, put
from tests.cli.calling import aef, one_line

SCHEMA = json.loads((Path(aef_verify.__file__).parent / "schemas" / "report" / "verify-report.schema.json").read_text())


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["verify", *map(str, words)], env={"COLUMNS": "400"})


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.json"
    file.write_bytes(building.trust(alice=["redact"]).source)
    return file


def withheld() -> building.Run:
    """Return a run whose blob alice redacted and deleted."""
    run = building.full()
    blob = next(path for path in run if path.startswith("blobs/"))
    run.seal().batch(building.event("1", "redact", blob=blob[-64:]), signed_by=[building.ALICE])
    return run.but(drop(blob))


SOUND = {
    "unsealed": building.small(),
    "sealed": building.small().seal(),
    "signed": building.small().seal().sign(building.ALICE),
    "full": building.full().seal(),
    "overlays": building.small().seal().batch(building.event("1")),
    "running": building.small().but(put("run.json", "status", "running"), drop("run.json", "endedAt")),
    "gate said no": building.small().but(put("gates.ndjson", [building.gate(outcome="no_ship", exitCode=1)])),
}
UNSOUND = {
    "changed": building.small().seal().but(put("run.json", "producer", "version", "9")),
    "a rule": building.small().but(put("summary.json", "runId", "other")),
    "no run.json that reads": building.small().but(put("run.json", b"\xff{")),
    "overlays": building.small().seal().batch(building.event("1")).append(building.event("2")),
    "withheld without a policy": withheld(),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_is_0(tmp_path: Path, name: str) -> None:
    done = call(SOUND[name].write(tmp_path / "run"))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith("(exit 0).\n")


@pytest.mark.parametrize("name", UNSOUND)
def test_a_problem_is_1(tmp_path: Path, name: str) -> None:
    done = call(UNSOUND[name].write(tmp_path / "run"))
    assert (done.exit_code, done.stderr) == (1, "")
    assert done.stdout.endswith("(exit 1).\n")


def test_overlay_problems_leave_the_outcome_alone(tmp_path: Path) -> None:
    done = call(UNSOUND["overlays"].write(tmp_path / "run"), "--json")
    (run,) = json.loads(done.stdout)["runs"]
    assert (run["outcome"], run["problems"]) == ("intact", [])
    assert [problem["code"] for problem in run["overlays"]["problems"]] == ["uncovered"]


def test_a_lawfully_withheld_blob_is_shown_and_sound(tmp_path: Path, policy: Path) -> None:
    done = call(withheld().write(tmp_path / "run"), "--policy", policy)
    assert done.exit_code == 0
    assert "intact, 1 withheld (unsigned)" in done.stdout
    assert "1 blob withheld (exit 0)" in done.stdout


def test_one_id_for_different_runs_is_1(tmp_path: Path) -> None:
    building.small().write(tmp_path / "a")
    building.small().but(put("run.json", "producer", "version", "9")).write(tmp_path / "b")
    done = call(tmp_path)
    assert done.exit_code == 1
    assert "runId run-0001  run-id-clash: 2 different runs" in done.stdout


def test_copies_are_no_clash(tmp_path: Path) -> None:
    building.small().write(tmp_path / "a")
    building.small().write(tmp_path / "b")
    assert call(tmp_path).exit_code == 0


@pytest.mark.parametrize(
    ("name", "required", "code"),
    [
        ("unsealed", "sealed", 1),
        ("unsealed", "signed", 1),
        ("unsealed", "anchored", 1),
        ("sealed", "sealed", 0),
        ("sealed", "signed", 1),
        ("sealed", "anchored", 0),
        ("signed", "sealed", 0),
        ("signed", "signed", 0),
        ("full", "anchored", 1),
    ],
)
def test_require(tmp_path: Path, policy: Path, name: str, required: str, code: int) -> None:
    anchors = tmp_path / "anchors.json"
    anchors.write_text(json.dumps([building.small().seal().run_hash()]))
    run = SOUND[name].write(tmp_path / "run")
    done = call(run, "--require", required, "--policy", policy, "--anchors", anchors)
    assert done.exit_code == code
    assert ("as required" in done.stdout) is bool(code)


def test_require_may_be_repeated(tmp_path: Path, policy: Path) -> None:
    run = SOUND["signed"].write(tmp_path / "run")
    assert call(run, "--require", "sealed", "--require", "signed", "--policy", policy).exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Missing argument 'PATH...'"),
        (["--bogus", "."], "No such option"),
        ([".", "--require", "sounder"], "'sounder' is not one of"),
        ([".", "--require", "signed"], "without a trust policy nobody's signature counts"),
        ([".", "--require", "anchored"], "no list of run hashes is given"),
        ([".", "--jobs", "0"], "0 is not in the range"),
        ([".", "--policy", "gone.json"], "gone.json: cannot be read: No such file"),
        ([".", "--anchors", "gone.json"], "gone.json: cannot be read: No such file"),
        ([".", "--policy", "."], ".: not a regular file"),
        ([".", "--policy", "/dev/zero"], "/dev/zero: not a regular file"),
        ([".", "--policy", "bad.json"], "bad.json: trust policy refused"),
        ([".", "--anchors", "bad.json"], "bad.json: not a JSON list of run hashes"),
    ],
)
def test_a_wrong_call_is_2_in_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    building.small().write(tmp_path / "run")
    (tmp_path / "bad.json").write_text("{}")
    done = aef("verify", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert one_line(done).startswith("aef verify: ")
    assert said in done.stderr


@pytest.mark.parametrize("option", ["--policy", "--anchors"])
def test_a_given_file_may_be_standard_input(tmp_path: Path, policy: Path, option: str) -> None:
    run = SOUND["signed"].write(tmp_path / "run")
    data = {
        "--policy": policy.read_bytes(),
        "--anchors": json.dumps([building.small().seal().run_hash()]).encode(),
    }
    required = {"--policy": "signed", "--anchors": "anchored"}
    done = aef("verify", run, option, "-", "--require", required[option], stdin=data[option])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Write sound and unsound runs below one folder, with a link."""
    for place, run in enumerate((*SOUND.values(), *UNSOUND.values())):
        run.write(tmp_path / "runs" / f"{place:02}")
    (tmp_path / "runs" / "link").symlink_to("00")
    return tmp_path / "runs"


def parsed(done: subprocess.CompletedProcess[str] | Result) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(value)
    return value


def test_json_is_one_valid_value_and_nothing_else(mixed: Path, policy: Path) -> None:
    done = aef("verify", mixed, "--json", "--policy", policy)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.isascii()
    value = parsed(done)
    assert value["exitCode"] == 1
    assert [run["path"] for run in value["runs"]] == [f"{mixed}/{place:02}" for place in range(len(value["runs"]))]
    assert value["notLookedAt"][0]["path"] == f"{mixed}/link"


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_every_number_of_jobs_prints_the_same(mixed: Path, words: list[str]) -> None:
    printed = {aef("verify", mixed, *words, "--jobs", jobs).stdout for jobs in (1, 2, 5)}
    assert len(printed) == 1


def test_quiet_says_nothing(mixed: Path) -> None:
    done = aef("verify", mixed, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert parsed(aef("verify", mixed, "--quiet", "--json"))["exitCode"] == 1


def test_many_problems_are_bounded_and_all_in_json(tmp_path: Path) -> None:
    lines = [building.result(f"c{number}", evidence=["E-gone"]) for number in range(3000)]
    run = building.small().but(put("results.ndjson", lines)).write(tmp_path / "run")
    done = call(run)
    assert len(done.stdout.splitlines()) < 200
    assert "--json lists all" in done.stdout
    assert len(parsed(call(run, "--json"))["runs"][0]["problems"]) >= 3000


def test_links_are_listed(mixed: Path) -> None:
    assert f"Not looked at\n  {mixed}/link  link\n" in call(mixed).stdout


def test_hostile_text_is_shown_escaped(tmp_path: Path) -> None:
    hostile = "\x1b[31m\u202e\u200bx"
    run = building.small().but(
        put("run.json", "subject", "ref", hostile),
        put("run.json", "imported", {"from": hostile, "asserted": []}),
        put(f"ext/{hostile}", b""),
    )
    folder = tmp_path / f"name {hostile}"
    done = aef("verify", run.write(folder))
    assert done.returncode == 1
    assert not set(done.stdout) & set(hostile[:1] + "\u202e\u200b")
    assert "name \\u{1B}[31m\\u{202E}\\u{200B}x" in done.stdout
    value = parsed(aef("verify", folder, "--json"))
    assert value["runs"][0]["path"] == str(folder)
