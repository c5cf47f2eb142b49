"""`aef pair`, `aef compare-suites`, and pairs in `aef verify` and `aef seal`: exit codes, text, JSON, requirements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

import aef_verify
from aef_verify.cli import main
from aef_verify.codes import CODES, PAIR
from tests import building
from tests.memory.pairing import NORMAL, ORACLE, RUN, Drafts, aborted, field, put

SCHEMA = json.loads((Path(aef_verify.__file__).parent / "schemas" / "report" / "verify-report.schema.json").read_text())


def call(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], env={"COLUMNS": "400"})


def write(folder: Path, drafts: Drafts) -> tuple[Path, Path]:
    normal, oracle = drafts.finished()
    return Path(normal.write(folder / "normal")), Path(oracle.write(folder / "oracle"))


def sign(run: Path, identity: str) -> None:
    (run / "attestation.dsse.json").write_bytes(building.envelope((run / "seal.json").read_bytes(), [identity]))


def value_of(done: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def test_a_linked_pair_is_sound_everywhere(tmp_path: Path) -> None:
    normal, oracle = write(tmp_path, Drafts())
    done = call("pair", normal, oracle)
    assert done.exit_code == 0
    assert "Pair pair-1  linked (unsigned)" in done.stdout
    assert "Linked shows that the runs are consistent, not who made them." in done.stdout
    for words in ([], ["--require", "linked"], ["--require", "linked", "--require", "sealed", "--jobs", "2"]):
        done = call("verify", tmp_path, *words)
        assert done.exit_code == 0, done.output
        assert done.stdout.endswith("2 intact (unsigned), 1 pair linked (exit 0).\n")


def test_both_arms_stand_side_by_side_and_no_score_is_combined(tmp_path: Path) -> None:
    normal, oracle = write(tmp_path, Drafts())
    text = call("pair", normal, oracle).stdout
    assert [line.split() for line in text.splitlines() if line.strip().startswith("accuracy")] == [
        ["accuracy", "50", "%", "of", "4", "scored", "75", "%", "of", "4", "scored"]
    ]
    for words in ("target mode", "status", "definition", "questions", "+25 percentage points (diagnostic)"):
        assert words in text
    assert "62.5" not in text


def test_json_says_outcome_and_codes(tmp_path: Path) -> None:
    normal, oracle = write(tmp_path, Drafts().but(field(ORACLE, "accuracyPercent", 80)))
    done = call("pair", normal, oracle, "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["outcome"]) == (1, "invalid")
    assert [(problem["path"], problem["code"]) for problem in found["problems"]] == [
        ("run:pair-1-oracle", "pair-accuracy")
    ]
    done = call("verify", tmp_path, "--json")
    report = value_of(done)
    assert done.exit_code == 1
    assert report["pairs"] == [found]
    assert (report["totals"]["invalidPairs"], report["totals"]["pairProblems"], report["version"]) == (1, 1, "1.2")
    assert report["verdict"] == "Not sound: of 2 runs, 1 pair is invalid (exit 1)."


@pytest.mark.parametrize(
    ("drafts", "plain", "required"),
    [
        (Drafts(), 0, 0),
        (Drafts(sealed=False), 0, 1),
        (Drafts().but(aborted(ORACLE)), 1, 1),
    ],
    ids=["linked", "linked-unsealed", "invalid"],
)
def test_require_linked(tmp_path: Path, drafts: Drafts, plain: int, required: int) -> None:
    write(tmp_path, drafts)
    assert call("verify", tmp_path).exit_code == plain
    done = call("verify", tmp_path, "--require", "linked")
    assert done.exit_code == required
    value_of(call("verify", tmp_path, "--require", "linked", "--json"))


def test_require_linked_refuses_a_normal_arm_alone_and_no_pair_at_all(tmp_path: Path) -> None:
    Drafts().finished()[0].write(tmp_path / "one" / "normal")
    building.small().write(tmp_path / "two" / "run")
    assert call("verify", tmp_path / "one").exit_code == 0
    done = call("verify", tmp_path / "one", "--require", "linked")
    assert done.exit_code == 1
    assert "1 pair is not linked as required" in done.stdout
    assert call("verify", tmp_path / "two").exit_code == 0
    done = call("verify", tmp_path / "two", "--require", "linked")
    assert done.exit_code == 1
    assert "there is no pair, and linked is required" in done.stdout


def test_signers_of_both_arms(tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    policy.write_bytes(building.trust().source)
    normal, oracle = write(tmp_path / "runs", Drafts())
    (normal / "attestation.dsse.json").write_bytes(
        building.envelope((normal / "seal.json").read_bytes(), [building.BOB])
    )
    assert "linked (not both signed)" in call("pair", normal, oracle, "--policy", policy).stdout
    (oracle / "attestation.dsse.json").write_bytes(
        building.envelope((oracle / "seal.json").read_bytes(), [building.BOB])
    )
    done = call("pair", normal, oracle, "--policy", policy)
    assert f"linked, both signed by {building.BOB}" in done.stdout
    assert json.loads(call("pair", normal, oracle, "--policy", policy, "--json").stdout)["signedBy"] == [building.BOB]


def test_what_is_no_pair_is_2(tmp_path: Path) -> None:
    normal, _ = write(tmp_path, Drafts())
    run = building.small().write(tmp_path / "run")
    for words, said in (
        ((normal, run), "carries no agenteval.memoryPair"),
        ((tmp_path, normal), "not a run"),
        ((normal, tmp_path / "gone"), "No such file"),
        ((normal,), "Missing argument 'ORACLE'"),
    ):
        done = call("pair", *words)
        assert (done.exit_code, done.stdout) == (2, "")
        assert said in done.stderr


def test_an_oracle_alone_is_an_orphan_and_can_be_shown(tmp_path: Path) -> None:
    _, oracle = write(tmp_path, Drafts())
    done = call("verify", oracle)
    assert (done.exit_code, "pair-orphan" in done.stdout) == (1, True)
    assert call("show", oracle).exit_code == 0
    assert call("view", oracle, "--at", "2026-10-03T00:00:00Z").exit_code == 0


def test_a_running_arm_is_noted(tmp_path: Path) -> None:
    drafts = Drafts(sealed=False)
    drafts.normal[RUN]["status"] = "running"
    del drafts.normal[RUN]["endedAt"]
    normal, oracle = write(tmp_path, drafts)
    done = call("pair", normal, oracle)
    assert (done.exit_code, "no arm yet" in done.stderr) == (2, True)
    report = value_of(call("verify", normal, "--json"))
    assert (report["pairs"], report["sound"]) == ([], True)
    assert [note["path"] for note in report["pairNotes"]] == [str(normal)]
    assert "still running, and therefore no arm of a pair yet" in call("verify", normal).stdout


def test_the_report_is_the_same_from_several_processes(tmp_path: Path) -> None:
    write(tmp_path / "a", Drafts())
    write(tmp_path / "b", Drafts(pair_id="pair-2").but(field(NORMAL, "complete", False)))
    building.small().write(tmp_path / "c")
    one, several = (call("verify", tmp_path, "--json", "--jobs", jobs).stdout for jobs in (1, 3))
    assert one == several
    assert [pair["outcome"] for pair in json.loads(one)["pairs"]] == ["linked", "invalid"]


def test_every_pair_code_is_explained() -> None:
    for scope, code in CODES:
        if scope == PAIR:
            done = call("explain", code)
            assert (done.exit_code, "of a pair of runs of a memory benchmark" in done.stdout) == (0, True)


def test_sealing_a_run_that_an_unsealed_oracle_names_warns(tmp_path: Path) -> None:
    normal, oracle = write(tmp_path, Drafts(sealed=False))
    done = call("seal", oracle, "--sealed-at", "2026-10-03T00:00:00Z")
    assert (done.exit_code, done.stderr) == (0, "")
    done = call("seal", normal, "--sealed-at", "2026-10-03T00:00:00Z")
    assert done.exit_code == 0
    assert f"{oracle} names this run as unsealed" in done.stderr
    assert [problem["code"] for problem in json.loads(call("pair", normal, oracle, "--json").stdout)["problems"]] == [
        "pair-link"
    ]


def test_compare_suites(tmp_path: Path) -> None:
    normal, oracle = write(tmp_path / "1", Drafts())
    again, _ = write(tmp_path / "2", Drafts(pair_id="pair-2"))
    assert call("compare-suites", normal, again).exit_code == 0
    assert call("compare-suites", normal, again).stdout.endswith("Same: the two runs measured the same thing.\n")
    done = call("compare-suites", normal, oracle, "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["verdict"]) == (1, "different")
    assert [run["role"] for run in found["runs"]] == ["normal", "oracle"]
    assert found["definitionMembers"] == ["arm", "projection", "agent", "thresholds"]
    bare = building.small().write(tmp_path / "bare")
    done = call("compare-suites", bare, bare)
    assert (done.exit_code, "Unknown: " in done.stdout) == (1, True)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{}")
    for words in ((normal, tmp_path / "bad"), (normal, tmp_path), (normal,)):
        assert call("compare-suites", *words).exit_code == 2


def test_another_target_mode_is_another_thing(tmp_path: Path) -> None:
    normal, _ = write(tmp_path / "1", Drafts())
    live, _ = write(tmp_path / "2", Drafts().but(put(NORMAL, RUN, "execution", "targetMode", "live")))
    found = json.loads(call("compare-suites", normal, live, "--json").stdout)
    assert [axis["axis"] for axis in found["axes"] if axis["verdict"] == "different"] == ["target-mode"]
