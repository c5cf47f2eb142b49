"""`aef checkpoint` and `aef decide`: what a gate may rely on, what is written, and what bad input is told.

[CKP-1], [CKP-5], [CKP-9], [CKP-10], [LANE-1], [LANE-4], [DEC-3], [SIG-1], [SIG-7], [VER-4].
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

import aef_verify
from aef_verify.cli import main
from aef_verify.codes import CHECKPOINT, CODES, DECISION
from aef_verify.integrity.dsse import CHECKPOINT_TYPE
from tests import building
from tests.cli.calling import aef, one_line

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
RUNS, POLICY = FIXTURES / "evidence/sound", FIXTURES / "policy.json"
REPAIRS, SUPPORT = FIXTURES / "checkpoints/sound/repairs.json", FIXTURES / "checkpoints/sound/support.json"
AT, LATER = "2026-10-05T12:00:00Z", "2026-10-20T12:00:00Z"
SCHEMA = json.loads(
    (Path(aef_verify.__file__).parent / "schemas" / "report" / "checkpoint-report.schema.json").read_text()
)

Document = dict[str, Any]


def call(*words: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], env={"COLUMNS": "400"}, input=stdin)


def check(file: object, *words: object, at: str = AT, runs: object = RUNS) -> Result:
    return call("checkpoint", file, "--runs", runs, "--at", at, *words)


def value_of(done: Result) -> Document:
    found: Document = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert done.exit_code == found["exitCode"]
    return found


def refusal(done: Result) -> str:
    """Return the one line in which a call was refused as bad input, and that it said nothing else."""
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


def repairs() -> Document:
    found: Document = json.loads(REPAIRS.read_bytes())
    return found


def plan_of(document: Document) -> Document:
    """Return a manifest as it was before it was decided."""
    kept = {name: value for name, value in document.items() if name not in ("decision", "decisionInput")}
    return kept | {"state": "evidence_complete", "outcome": None}


def written(folder: Path, document: Document, name: str = "release.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(document))
    return file


def changed(folder: Path, change: Callable[[Document], object]) -> Path:
    document = repairs()
    change(document)
    return written(folder, document)


def test_a_sound_checkpoint_is_approved() -> None:
    done = check(REPAIRS, "--policy", POLICY)
    assert done.exit_code == 0
    assert done.stdout.startswith("Checkpoint patch-writer-0.12.3  approved\n")
    assert "signature   signed by spiffe://acme/ci\n" in done.stdout
    assert "`repaired` at `repair` in lane `repairs` ≥ 0.5, at least 4 cases, on suite:repairs 7\n" in done.stdout
    assert "passed for version 0.12.3, recomputed from the runs as recorded\n" in done.stdout
    assert "evidence    repairs-2026-09-30-n1 (7281678f5e88), live, intact (unsigned): counts\n" in done.stdout
    assert "closed 4 days 13 hours ago, fresh for 14 days, until 2026-10-14T22:04:31Z\n" in done.stdout
    assert done.stdout.endswith("Approved: agent:patch-writer 0.12.3, signed by spiffe://acme/ci (exit 0).\n")
    found = value_of(check(REPAIRS, "--policy", POLICY, "--json"))
    assert (found["approves"], found["outcome"], found["signedBy"]) == (True, "approved", ["spiffe://acme/ci"])
    assert found["anchors"] == [found["lanes"][0]["runs"][0]["runHash"]]


def test_ckp10_both_outcomes_are_shown_when_they_differ() -> None:
    for file, recorded, now in (
        (REPAIRS, "approved", "expired"),
        (SUPPORT, "approved_with_exceptions", "blocked"),
    ):
        done = check(file, "--policy", POLICY, at=LATER)
        assert done.exit_code == 1
        assert f"  recorded as {recorded}, at {LATER} {now}\n" in done.stdout.splitlines(keepends=True)[0]
        assert done.stdout.endswith(
            f"Not approved: the outcome is {now} at {LATER}, and was recorded as {recorded} (exit 1).\n"
        )
        found = value_of(check(file, "--policy", POLICY, "--json", at=LATER))
        assert (found["recorded"], found["outcome"]) == ({"written": recorded, "read": recorded}, now)
        assert (found["decisionThen"]["outcome"], found["decisionNow"]["outcome"]) == (recorded, now)
        assert found["problems"] == []


def test_an_approval_that_was_not_recorded_is_none(tmp_path: Path) -> None:
    """[CKP-10]: decided when the evidence had expired, and read as of a day when it had not."""
    plan = written(tmp_path, plan_of(repairs()), "plan.json")
    assert call("decide", plan, "--runs", RUNS, "--at", LATER, "-o", tmp_path / "release.json").exit_code == 0
    done = check(tmp_path / "release.json", at=AT)
    assert done.exit_code == 1
    assert done.stdout.startswith("Checkpoint patch-writer-0.12.3  expired\n")
    assert "approved" not in done.stdout.replace("Not approved: the outcome is expired (exit 1).", "")
    assert value_of(check(tmp_path / "release.json", "--json", at=AT))["decisionNow"] is None


def test_a_newer_version_expires_an_approval() -> None:
    done = check(REPAIRS, "--superseded-by", "0.13.0")
    assert (done.exit_code, "superseded:0.13.0" in done.stdout) == (1, True)
    assert check(REPAIRS, "--superseded-by", "0.12.3").exit_code == 0


def test_an_exception_says_who_accepted_what_until_when() -> None:
    done = check(SUPPORT, "--policy", POLICY)
    assert done.exit_code == 0
    for words in (
        "Lane answers  waived  blocking\n",
        "Lane red-team  failed  advisory: does not block\n",
        "failed for version 2.8.0, recomputed from the runs as recorded\n",
        "accepted by oidc:acme/reviewer (who signed this checkpoint) for REQ-answers from 2026-10-04T08:30:00Z until "
        "2026-10-18T00:00:00Z (in force): Two vouchers on one order: the shop refuses them whatever the assistant says",
        "10 USD approved by oidc:acme/budget (authenticated is claimed, not verified), 0.16 USD spent\n",
        "intact, 1 withheld, signed by spiffe://acme/ci",
        "Approved: agent:support-assistant 2.8.0, with exceptions, signed by oidc:acme/reviewer (exit 0).\n",
    ):
        assert words in done.stdout
    assert "(expired): Two vouchers" in check(SUPPORT, "--policy", POLICY, at=LATER).stdout


def test_without_runs_nothing_is_approved() -> None:
    done = call("checkpoint", REPAIRS, "--policy", POLICY, "--at", AT)
    assert done.exit_code == 1
    assert "not looked at: without --runs the manifest alone is checked\n" in done.stdout
    assert "passed for version 0.12.3 recorded, not checked against runs\n" in done.stdout
    assert done.stdout.splitlines()[0] == "Checkpoint patch-writer-0.12.3  approved  not verified"
    assert done.stdout.endswith("it was not checked against its runs, as --runs was not given (exit 1).\n")
    found = value_of(call("checkpoint", REPAIRS, "--policy", POLICY, "--at", AT, "--json"))
    assert (found["runsGiven"], found["anchors"], found["lanes"][0]["runs"]) == (False, [], [])


def test_ckp9_with_a_policy_somebody_in_it_has_to_have_signed(tmp_path: Path) -> None:
    alone = written(tmp_path, repairs())
    done = check(alone, "--policy", POLICY)
    assert done.exit_code == 1
    assert "none: without one this is anybody's claim [CKP-5]" in done.stdout
    assert done.stdout.endswith("Not approved: nobody in the policy signed it (exit 1).\n")
    assert check(alone).exit_code == 0


def test_sig7_that_nobody_checked_the_signature_is_said() -> None:
    done = check(REPAIRS)
    assert done.exit_code == 0
    assert "not checked: " in done.stdout
    assert "no --policy says whose signatures count" in done.stdout
    assert done.stdout.endswith("; nobody's signature was checked, as --policy was not given (exit 0).\n")
    assert value_of(check(REPAIRS, "--json"))["signedBy"] is None


def test_an_envelope_of_other_bytes_signs_nothing() -> None:
    other = SUPPORT.with_suffix(".dsse.json")
    done = check(REPAIRS, "--policy", POLICY, "--envelope", other)
    assert done.exit_code == 1
    assert "signed by nobody: the envelope is payload-mismatch: " in done.stdout
    assert CODES["signature", "payload-mismatch"].advice in done.stdout
    found = value_of(check(REPAIRS, "--policy", POLICY, "--envelope", other, "--json"))
    assert found["envelope"]["result"] == "payload-mismatch"
    assert [entry["identity"] for entry in found["envelope"]["signatures"]] == ["oidc:acme/reviewer"]


@pytest.mark.parametrize("content", [b"", b"{}", b"hello"])
def test_an_envelope_that_is_none_signs_nothing(tmp_path: Path, content: bytes) -> None:
    envelope = tmp_path / "e.json"
    envelope.write_bytes(content)
    done = check(REPAIRS, "--policy", POLICY, "--envelope", envelope)
    assert (done.exit_code, "the envelope is malformed" in done.stdout) == (1, True)


def test_a_signature_of_a_stranger_is_named() -> None:
    done = check(FIXTURES / "checkpoints/tampered/better-result.json", "--policy", POLICY)
    assert done.exit_code == 1
    assert "signed by nobody in the policy: untrusted-key (sha256:" in done.stdout
    assert "the runs give failed for version 2.8.0; recorded: passed for version 2.8.0\n" in done.stdout
    assert "\nLane answers  passed  does not hold  blocking\n" in done.stdout
    for code in ("lane-result", "untrusted-key"):
        assert f"\n  {code}: " in done.stdout


def test_a_run_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    """[LANE-4]."""
    plan = plan_of(repairs())
    plan["lanes"][1]["runs"] *= 2
    plan["lanes"][1]["rule"]["runs"] = 2
    file = written(tmp_path, plan, "plan.json")
    assert call("decide", file, "--runs", RUNS, "--at", AT, "-o", tmp_path / "release.json").exit_code == 0
    done = check(tmp_path / "release.json")
    assert done.exit_code == 1
    assert "Lane evidence  not_measured  blocking\n" in done.stdout
    found = value_of(check(tmp_path / "release.json", "--json"))
    assert (found["outcome"], len(found["lanes"][1]["runs"])) == ("inconclusive", 1)


def test_lane1_scripted_runs_are_no_evidence_of_the_live_subject(tmp_path: Path) -> None:
    run = building.small()
    run["run.json"]["execution"]["targetMode"] = "scripted"
    run["run.json"]["subject"]["version"] = "1.0"
    folder = Path(run.seal().write(tmp_path / "runs" / "one"))
    predicate = json.loads((folder / "seal.json").read_bytes())["predicate"]
    pointer = {"runId": predicate["runId"], "runHash": predicate["runHash"], "origin": "launched"}
    lane = {"lane": "a", "rule": {"kind": "evidence-present", "runs": 1}, "runs": [pointer], "blocking": False}
    subject = {"ref": run["run.json"]["subject"]["ref"], "version": "1.0"}
    plan = {"schemaVersion": "1.0", "checkpointId": "c", "subject": subject, "lanes": [lane], "state": "planned"}
    file = written(tmp_path, plan, "plan.json")
    assert call("decide", file, "--runs", tmp_path, "--at", AT, "-o", tmp_path / "release.json").exit_code == 0
    done = check(tmp_path / "release.json", runs=tmp_path)
    assert done.exit_code == 1
    for words in (
        "Checkpoint c  inconclusive\n",
        ", scripted, intact (unsigned): does not count: its target mode is scripted, not live; "
        "scripted runs are not evidence of the live subject [LANE-1]\n",
        "  not-measured:a",
        CODES[DECISION, "not-measured"].advice,
        "Not approved: the outcome is inconclusive (exit 1).\n",
    ):
        assert words in done.stdout


def test_links_below_the_runs_are_listed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "coding-agent").symlink_to(RUNS / "coding-agent")
    done = check(REPAIRS, runs=tmp_path / "runs")
    assert done.exit_code == 1
    assert f"\nNot looked at\n  {tmp_path}/runs/coding-agent\n  A link was found" in done.stdout
    found = value_of(check(REPAIRS, "--json", runs=tmp_path / "runs"))
    assert found["notLookedAt"] == [f"{tmp_path}/runs/coding-agent"]
    assert {problem["code"] for problem in found["problems"]} == {"lane-result", "run-missing"}


def test_what_is_not_decided_or_aborted_approves_nothing(tmp_path: Path) -> None:
    plan = plan_of(repairs())
    done = check(written(tmp_path, plan))
    assert done.exit_code == 1
    assert done.stdout.startswith("Checkpoint patch-writer-0.12.3  undecided\n")
    assert "the runs give passed for version 0.12.3; none is recorded\n" in done.stdout
    assert value_of(check(tmp_path / "release.json", "--json"))["recorded"] is None
    aborted = plan | {"state": "decided", "outcome": "aborted", "abortReason": "no money left"}
    done = check(written(tmp_path, aborted))
    assert done.exit_code == 1
    assert "aborted     no money left\n" in done.stdout
    assert value_of(check(tmp_path / "release.json", "--json"))["abortReason"] == "no money left"


def test_what_a_later_minor_decided_is_not_judged(tmp_path: Path) -> None:
    def later(document: Document) -> None:
        document.update(schemaVersion="1.4", outcome="postponed")
        document["decision"]["outcome"] = "postponed"

    done = check(changed(tmp_path, later))
    assert done.exit_code == 1
    assert "Checkpoint patch-writer-0.12.3  unverifiable (written postponed)  not verified\n" in done.stdout
    assert "\n  the manifest  unverifiable\n" in done.stdout
    found = value_of(check(tmp_path / "release.json", "--json"))
    assert [(problem["path"], problem["code"]) for problem in found["problems"]] == [("", "unverifiable")]


def test_the_manifest_may_come_from_standard_input() -> None:
    envelope = REPAIRS.with_suffix(".dsse.json")
    words = ("--policy", POLICY, "--envelope", envelope, "--json")
    done = call("checkpoint", "-", "--runs", RUNS, "--at", AT, *words, stdin=REPAIRS.read_bytes())
    assert (value_of(done)["path"], done.exit_code) == ("-", 0)
    done = call("checkpoint", REPAIRS, "--runs", RUNS, "--at", AT, "--policy", "-", stdin=POLICY.read_bytes())
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda document: document["subject"].update(version="latest"),
            "/subject/version: must be one exact version, such as 4.2.0; resolve it before any run is made [CKP-1]",
        ),
        (
            lambda document: document.update(schemaVersion="2.0"),
            "is of AEF '2.0'; this reader reads major version 1 alone [VER-4]: use one for that version",
        ),
        (lambda document: document.update(lanes=[]), "[VER-3]: /lanes: must have at least 1 item"),
        (lambda document: document.update(decision=None), "[VER-3]: /decision"),
    ],
)
def test_a_manifest_that_the_reader_refuses(tmp_path: Path, change: Callable[[Document], object], said: str) -> None:
    file = changed(tmp_path, change)
    for words in (["checkpoint", file], ["decide", file, "-o", tmp_path / "out.json"]):
        line = refusal(call(*words, "--runs", RUNS, "--at", AT))
        assert line.startswith(f"aef {words[0]}: {file}: ")
        assert said in line
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello", "does not read: expected value at line 1 column 1 [ENC-1]"),
        (b'{"a": 1, "a": 2}', "[ENC-1]"),
        (b'{"x": ' + b"[" * 80 + b"]" * 80 + b"}", "does not read: nested deeper than 64 [ENC-17]"),
        (b'{"x": "' + b"y" * (40 << 20) + b'"}', "41,943,049 bytes; at most 4,194,304 are read"),
    ],
    ids=["text", "twice", "deep", "large"],
)
def test_a_file_that_is_no_manifest(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "release.json"
    file.write_bytes(content)
    line = refusal(call("checkpoint", file, "--runs", RUNS))
    assert line.startswith(f"aef checkpoint: {file}: ")
    assert said in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone-manifest.json", "--runs", RUNS], "gone-manifest.json: cannot be read: No such file or directory"),
        ([RUNS, "--runs", RUNS], "not a regular file"),
        ([REPAIRS, "--runs", "gone-folder"], "gone-folder: No such file or directory"),
        ([REPAIRS, "--runs", POLICY], "a file, where a folder is needed"),
        ([REPAIRS, "--runs", RUNS, "--at", "yesterday"], "'yesterday' is no time: write RFC 3339 in UTC"),
        ([REPAIRS, "--runs", RUNS, "--at", "2026-02-31T00:00:00Z"], "is no time"),
        ([REPAIRS, "--runs", RUNS, "--policy", REPAIRS], "repairs.json: trust policy refused"),
        (
            [REPAIRS, "--runs", RUNS, "--policy", POLICY, "--envelope", "gone-folder"],
            "gone-folder: cannot be read: No such file",
        ),
        ([REPAIRS, "--runs", RUNS, "--envelope", POLICY], "--envelope needs --policy"),
        ([REPAIRS, "--runs", RUNS, "--superseded-by", "latest"], "'latest' is no exact version"),
        (["-", "--runs", RUNS, "--policy", "-"], "only one of FILE, --policy and --envelope"),
        ([], "Missing argument 'FILE'"),
    ],
)
def test_bad_input_is_told_in_one_line(words: list[object], said: str) -> None:
    assert said in refusal(call("checkpoint", *words))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    file = written(tmp_path, repairs())
    os.mkfifo(tmp_path / "release.dsse.json")
    os.mkfifo(tmp_path / "pipe")
    for words in ([file, "--policy", POLICY], [tmp_path / "pipe"]):
        done = aef("checkpoint", *words, "--runs", RUNS, "--at", AT)
        assert (done.returncode, "not a regular file" in one_line(done)) == (2, True)


def test_no_text_of_a_manifest_can_steer_a_terminal(tmp_path: Path) -> None:
    hostile = "\x1b[31m\u202ex\u200b[red]y[/red]"

    def change(document: Document) -> None:
        document["subject"]["resolvedFrom"] = hostile
        document["budget"] = {"approvedBy": {"identity": hostile, "assurance": "signed"}}
        document["lanes"][0]["rule"] = {"kind": hostile, "suite": hostile}
        granted = {"lane": "repairs", "reason": hostile, "by": {"identity": hostile, "assurance": "signed"}}
        evidence = document["decisionInput"]["lanes"][0]["evidence"]
        document["decisionInput"]["exceptions"] = [granted | {"evidence": evidence, "at": AT, "expires": LATER}]

    done = check(changed(tmp_path, change))
    assert done.exit_code == 1
    assert done.stdout.count("\\u{1B}[31m\\u{202E}x\\u{200B}[red]y[/red]") >= 4
    assert not set("\x1b\u202e\u200b") & set(done.stdout)
    assert value_of(check(tmp_path / "release.json", "--json"))["lanes"][0]["rule"]["kind"] == hostile


def test_every_code_of_a_checkpoint_is_explained() -> None:
    for scope, code in CODES:
        if scope in (CHECKPOINT, DECISION):
            done = call("explain", code)
            assert done.exit_code == 0
            assert CODES[scope, code].meaning in done.stdout


def test_decide_sign_check(tmp_path: Path) -> None:
    """[SIG-1]: what is signed is known by its content."""
    plan = written(tmp_path, plan_of(repairs()), "plan.json")
    before = plan.read_bytes()
    release, key = tmp_path / "release.json", FIXTURES / "keys/ci.key.pem"
    done = call("decide", plan, "--runs", RUNS, "--at", "2026-10-01T09:00:00Z", "--out", release)
    assert (done.exit_code, done.stdout) == (0, f"decided   {release}\noutcome   approved\n")
    assert json.loads(release.read_bytes()) == repairs()
    assert plan.read_bytes() == before
    done = call("sign", release, "--key", key)
    assert (done.exit_code, done.stderr) == (0, "")
    envelope = json.loads((tmp_path / "release.dsse.json").read_bytes())
    assert envelope["payloadType"] == CHECKPOINT_TYPE
    assert check(release, "--policy", POLICY).exit_code == 0


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (repairs() | {"outcome": "blocked"}, "the checkpoint does not verify: outcome: "),
        (plan_of(repairs()), "is not decided: its state is evidence_complete [CKP-5]"),
    ],
)
def test_a_signer_is_told_what_is_wrong(tmp_path: Path, document: Document, said: str) -> None:
    file = written(tmp_path, document)
    done = call("sign", file, "--key", FIXTURES / "keys/ci.key.pem")
    assert done.exit_code == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("aef sign: warning: the checkpoint ")
    assert said in line


def test_what_is_signed_as_a_checkpoint_and_is_none_is_told(tmp_path: Path) -> None:
    file = written(tmp_path, {})
    done = call("sign", file, "--key", FIXTURES / "keys/ci.key.pem", "--payload-type", CHECKPOINT_TYPE)
    assert (done.exit_code, "no checkpoint manifest" in done.stderr) == (0, True)


def test_ckp5_a_decided_checkpoint_never_changes(tmp_path: Path) -> None:
    release = written(tmp_path, repairs())
    before = release.read_bytes()
    done = call("decide", release, "--runs", RUNS, "-o", tmp_path / "other.json")
    assert done.exit_code == 2
    assert "is decided, and a decided one never changes" in done.stderr
    done = call("decide", written(tmp_path, plan_of(repairs()), "plan.json"), "--runs", RUNS, "-o", release)
    assert done.exit_code == 2
    assert "is there already, and is not overwritten" in done.stderr
    assert release.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json", "release.json"]


def test_decide_takes_exceptions(tmp_path: Path) -> None:
    wanted = json.loads(SUPPORT.read_bytes())
    plan = written(tmp_path, plan_of(wanted), "plan.json")
    accepted = tmp_path / "accepted.json"
    accepted.write_text(json.dumps(wanted["decisionInput"]["exceptions"]))
    words = ("decide", plan, "--runs", RUNS, "--policy", POLICY, "--at", "2026-10-04T09:00:00Z", "-o", "-")
    assert json.loads(call(*words, "--exceptions", accepted).stdout) == wanted
    assert json.loads(call(*words).stdout)["outcome"] == "blocked"
    assert json.loads(call(*words, "--superseded-by", "3.0").stdout)["outcome"] == "expired"
    done = call("decide", "-", *words[2:], stdin=plan.read_bytes())
    assert json.loads(done.stdout)["outcome"] == "blocked"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("hello", "not JSON that reads"),
        ('{"lane": "answers"}', "not a JSON list of exceptions, each an object [DEC-1]"),
        ("[1]", "not a JSON list of exceptions"),
        ('[], "x": [1]', "not JSON that reads"),
        ("[" * 80 + "]" * 80, "not a JSON list of exceptions"),
        ("[{}]", "input-invalid"),
        (
            '[{"lane": "elsewhere", "evidence": ["%s"], "reason": "r", "by": {"identity": "a", "assurance": "signed"}, '
            '"at": "2026-10-01T00:00:00Z", "expires": "2026-10-02T00:00:00Z"}]' % ("ab" * 32),
            "exception-unknown-lane",
        ),
    ],
)
def test_exceptions_that_are_refused(tmp_path: Path, content: str, said: str) -> None:
    plan = written(tmp_path, plan_of(repairs()), "plan.json")
    accepted = tmp_path / "accepted.json"
    accepted.write_text(content)
    done = call("decide", plan, "--runs", RUNS, "--exceptions", accepted, "-o", tmp_path / "release.json")
    assert said in refusal(done)
    assert not (tmp_path / "release.json").exists()


def test_decide_records_nothing_that_would_not_verify(tmp_path: Path) -> None:
    plan = written(tmp_path, plan_of(repairs()), "plan.json")
    (tmp_path / "runs").mkdir()
    for runs, said in (
        (tmp_path / "runs", "run-missing"),
        (tmp_path / "gone-folder", f"{tmp_path}/gone-folder: No such file or directory"),
    ):
        assert said in refusal(call("decide", plan, "--runs", runs, "-o", tmp_path / "release.json"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json", "runs"]


def test_decide_that_cannot_write_leaves_nothing(tmp_path: Path) -> None:
    plan = written(tmp_path, plan_of(repairs()), "plan.json")
    done = aef("decide", plan, "--runs", RUNS, "-o", tmp_path / "no-folder" / "release.json")
    assert done.returncode == 3
    assert "could not be written" in one_line(done)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json"]
