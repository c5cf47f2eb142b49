"""[RUN-1], [RUN-3], [SEAL-4], [SIG-5], [SIG-7], [SIG-8], [OVL-10] The outcome of a run, and what is said beside it.

04 §4.5: `invalid` comes first, then `unsealed`, then `intact`; signed, anchored and withheld are said of intact runs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aef_verify import limits
from aef_verify.integrity.view import verify_chain
from aef_verify.problems import InputError
from aef_verify.run.verify import Overlays, RunReport, verify_run
from tests import building
from tests.building import ALICE, BOB, Run, drop, envelope, event, pairs, put, result_id, trust


def verify(run: Run, root: Path, **how: object) -> RunReport:
    return verify_run(run.write(root), **how)  # type: ignore[arg-type]  # each test names what it means


def test_unsealed_intact_invalid(tmp_path: Path) -> None:
    unsealed = verify(building.small(), tmp_path / "unsealed")
    assert (unsealed.outcome, unsealed.problems, unsealed.sealed) == ("unsealed", (), False)
    intact = verify(building.small().seal(), tmp_path / "intact")
    assert (intact.outcome, intact.problems, intact.sealed) == ("intact", (), True)
    changed = verify(building.small().seal().but(put("metrics.json", "ext", {})), tmp_path / "changed")
    assert (changed.outcome, pairs(changed.problems), changed.sealed) == (
        "invalid",
        [["metrics.json", "digest"]],
        False,
    )
    broken = verify(building.small().but(put("summary.json", "runId", "x")), tmp_path / "broken")
    assert (broken.outcome, pairs(broken.problems)) == ("invalid", [["summary.json", "summary-run-id"]])


def test_a_report_says_what_the_run_is(tmp_path: Path) -> None:
    run = building.full()
    report = verify(run, tmp_path / "run")
    assert report.path == str(tmp_path / "run")
    assert report.run == run["run.json"]
    assert report.summary == run["summary.json"]
    assert report.run_id == building.RUN_ID
    assert report.lines == 6
    assert report.run_hash == building.sha256(run.manifest().encode())
    assert (report.signed_by, report.anchored, report.withheld, report.overlays) == (None, None, 0, None)


@pytest.mark.parametrize("value", [None, 5, ["x"], {"a": 1}])
def test_run1_a_header_without_a_string_run_id_names_no_run(value: object, tmp_path: Path) -> None:
    assert verify(building.small().but(put("run.json", "runId", value)), tmp_path).run_id is None


def test_seal4_the_run_hash_is_the_seals_where_that_is_valid(tmp_path: Path) -> None:
    """As it stands, right or wrong; otherwise that of the files."""
    stated = "ab" * 32
    wrong = verify(building.small().seal(runHash=stated), tmp_path / "wrong", anchors=[stated])
    assert (wrong.run_hash, wrong.outcome, wrong.anchored) == (stated, "invalid", False)
    invalid = building.small().seal(sealedBy=5)
    files = building.sha256(building.small().manifest().encode())
    assert verify(invalid, tmp_path / "invalid").run_hash == files


@pytest.mark.parametrize("mine", [True, False])
def test_sig8_an_intact_run_is_anchored_by_its_hash_in_the_callers_list(mine: bool, tmp_path: Path) -> None:
    run = building.small().seal()
    anchors = ["0" * 64, run.run_hash()] if mine else ["0" * 64, run.run_hash().upper()]
    assert verify(run, tmp_path / "intact", anchors=anchors).anchored is mine
    assert verify(run, tmp_path / "none", anchors=[]).anchored is False
    unsealed = building.small()
    assert verify(unsealed, tmp_path / "unsealed", anchors=[unsealed.run_hash()]).anchored is False


def test_sig5_an_intact_run_is_signed_by_whom_its_attestation_verifies_for(tmp_path: Path) -> None:
    """In policy order, whatever the order of the signatures; nobody without a policy is asked for."""
    run = building.small().seal().sign(BOB, ALICE)
    assert verify(run, tmp_path / "both", policy=trust()).signed_by == (ALICE, BOB)
    assert verify(run, tmp_path / "none").signed_by is None
    assert verify(building.small().seal().sign(BOB), tmp_path / "one", policy=trust()).signed_by == (BOB,)
    assert verify(building.small().seal(), tmp_path / "nobody", policy=trust()).signed_by == ()


def test_sig5_no_run_but_an_intact_one_is_signed(tmp_path: Path) -> None:
    invalid = building.small().seal().sign(ALICE).but(put("ext/late", b""))
    assert verify(invalid, tmp_path / "invalid", policy=trust()).signed_by == ()
    unsealed = building.small().but(put("attestation.dsse.json", envelope(b"", [ALICE])))
    report = verify(unsealed, tmp_path / "unsealed", policy=trust())
    assert (report.outcome, report.signed_by) == ("unsealed", ())


SIGNED = building.small().seal().bytes_of("seal.json")
NOBODY = {
    "another payload": envelope(SIGNED + b" ", [ALICE]),
    "another type": envelope(SIGNED, [ALICE], kind="application/json"),
    "malformed": b"[]",
    "not json": b"\xff\xfe",
    "too deep": b"[" * 65,
    "empty": b"",
    "no signature": envelope(SIGNED, []),
}


@pytest.mark.parametrize("data", NOBODY.values(), ids=NOBODY)
def test_sig7_no_envelope_is_a_problem_of_the_run(data: bytes, tmp_path: Path) -> None:
    """[SIG-1]: it only leaves the run signed by no one; re-sealing it keeps it intact all the same."""
    run = building.small().seal().but(put("attestation.dsse.json", data))
    report = verify(run, tmp_path, policy=trust())
    assert (report.outcome, report.problems, report.signed_by) == ("intact", (), ())


def test_sig1_an_envelope_beyond_its_limit_is_not_read(tmp_path: Path) -> None:
    root = building.small().seal().sign(ALICE).write(tmp_path)
    os.truncate(tmp_path / "attestation.dsse.json", 1 << 40)
    read: list[int] = []
    report = verify_run(root, policy=trust(), watch=read.append)
    assert (report.outcome, report.signed_by) == ("intact", ())
    assert sum(read) < 1 << 20


def test_seal6_a_seal_beyond_its_limit_is_not_read(tmp_path: Path) -> None:
    root = building.small().seal().write(tmp_path)
    os.truncate(tmp_path / "seal.json", 1 << 40)
    read: list[int] = []
    report = verify_run(root, policy=trust(), watch=read.append)
    assert (report.outcome, pairs(report.problems)) == ("invalid", [["seal.json", "limit"]])
    assert report.run_hash == building.sha256(building.small().manifest().encode())
    assert sum(read) < 1 << 20


def redacted(*, signer: str = ALICE, by: str = ALICE) -> tuple[Run, list[str]]:
    """Return a full, sealed run whose two blobs are named by redactions, and their paths; they are still there."""
    run = building.full().seal()
    paths = [path for path in run if path.startswith("blobs/")]
    events = [event(str(at), "redact", by=by, blob=path.rpartition("/")[2]) for at, path in enumerate(paths)]
    return run.batch(*events, signed_by=[signer]), sorted(paths)


def test_ovl10_withheld_blobs_leave_the_run_intact(tmp_path: Path) -> None:
    """[SEC-5]: reported as `withheld` and counted; one that is still there is not; signed and anchored as ever."""
    run, paths = redacted()
    run.sign(BOB)
    policy = trust(alice=["redact"])
    assert verify(run, tmp_path / "there", policy=policy).withheld == 0
    one = verify(Run(run).but(drop(paths[0])), tmp_path / "one", policy=policy, anchors=[run.run_hash()])
    assert (one.outcome, one.withheld, one.signed_by, one.anchored) == ("intact", 1, (BOB,), True)
    assert pairs(one.problems) == [[paths[0], "withheld"]]
    two = verify(Run(run).but(*map(drop, paths)), tmp_path / "two", policy=policy)
    assert (two.outcome, two.withheld, pairs(two.problems)) == ("intact", 2, [[path, "withheld"] for path in paths])


def test_ovl10_without_an_authorized_redaction_a_blob_is_missing(tmp_path: Path) -> None:
    """At the blob, and `blob` at the line that cites it: no policy, no right, or another identity's word."""
    run, paths = redacted()
    run.but(*map(drop, paths))
    expected = [[path, "missing"] for path in paths]
    expected += [["evidence.ndjson:1", "blob"], ["results.ndjson:2", "blob"]]
    for at, policy in enumerate((None, trust(), trust(bob=["redact"]), trust(alice=["Redact"]))):
        report = verify(run, tmp_path / str(at), policy=policy)
        assert (report.outcome, pairs(report.problems), report.withheld) == ("invalid", expected, 0)
    run, paths = redacted(signer=BOB)
    run.but(*map(drop, paths))
    report = verify(run, tmp_path / "signer", policy=trust(alice=["redact"], bob=["redact"]))
    assert pairs(report.problems) == expected


def test_ovl10_no_redaction_counts_where_rules_stop(tmp_path: Path) -> None:
    """Withheld is the seal's word; it stands beside what stops group B, and then makes nothing intact."""
    run, paths = redacted()
    run.but(drop(paths[0]), put("logs.otlp.jsonl", b"\n"))
    report = verify(run, tmp_path, policy=trust(alice=["redact"]))
    assert report.outcome == "invalid"
    assert pairs(report.problems) == [
        [paths[0], "withheld"],
        ["logs.otlp.jsonl", "digest"],
        ["logs.otlp.jsonl", "encoding"],
    ]


def test_ovl10_an_unsealed_run_has_nothing_withheld(tmp_path: Path) -> None:
    run, paths = redacted()
    run.but(drop("seal.json"), drop(paths[0]))
    report = verify(run, tmp_path, policy=trust(alice=["redact"]))
    assert (report.outcome, report.withheld) == ("invalid", 0)
    assert {code for _, code in pairs(report.problems)} == {"blob"}


def test_overlays_are_told_apart_and_change_no_outcome(tmp_path: Path) -> None:
    run = building.small().seal().batch(event("1"), event("1")).append(event("2"), b"\n", b"half")
    report = verify(run, tmp_path / "broken", overlays=True)
    assert (report.outcome, report.problems) == ("intact", ())
    assert report.overlays is not None
    assert pairs(report.overlays.problems) == [
        ["overlays/events.ndjson", "uncovered"],
        ["overlays/events.ndjson:2", "event-id"],
        ["overlays/events.ndjson:4", "event-invalid"],
    ]
    assert report.overlays[1:] == (1, 1, 2)
    good = building.small().seal().batch(event("1", "approve"))
    assert verify(good, tmp_path / "good", overlays=True).overlays == Overlays((), 1, 1, 0)
    assert verify(building.small(), tmp_path / "none", overlays=True).overlays is None


@pytest.mark.parametrize(
    ("before", "after", "unknown"),
    [
        (b"", b"", ["c9"]),
        (b"{}\n", b"", ["c9"]),
        (b"", b"{}\n", ["c9"]),
        (b"{\n", b"", []),
        (b"", b"{\n", []),
        (b"", b"\n", []),
        (b"", b"{}", []),
    ],
)
def test_ovl2_what_results_the_run_has_is_known_where_every_line_reads(
    before: bytes, after: bytes, unknown: list[str], tmp_path: Path
) -> None:
    """Valid or not; and as the check of the chain alone finds it."""
    targets = [event(case, result=result_id(case)) for case in ("c1", "c2", "c9")]
    run = building.small().seal().batch(*targets)
    run["results.ndjson"] = before + run.bytes_of("results.ndjson") + after
    report = verify(run, tmp_path, overlays=True)
    assert report.overlays is not None
    assert [problem.value for problem in report.overlays.problems] == [result_id(case) for case in unknown]
    assert pairs(report.overlays.problems) == pairs(verify_chain(str(tmp_path)))


def test_run3_what_is_no_file_is_a_path_problem_and_is_never_read(tmp_path: Path) -> None:
    """A link at a sealed path is `missing` too; elsewhere, and at `overlays`, it is `path` alone."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_bytes(b"secret")
    run = building.small().but(put("ext/a", b"")).seal()
    root = Path(run.write(tmp_path / "run"))
    (root / "ext/a").unlink()
    (root / "ext/a").symlink_to(tmp_path / "outside/secret")
    (root / "ext/b").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "pipe")
    (root / "overlays").symlink_to(tmp_path / "outside")
    assert pairs(verify_run(str(root)).problems) == [
        ["ext/a", "missing"],
        ["ext/a", "path"],
        ["ext/b", "path"],
        ["overlays", "path"],
        ["pipe", "path"],
    ]


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("run.json"), os.mkfifo], ids=["link", "pipe"])
def test_a_seal_that_is_no_file_leaves_the_run_unsealed_and_its_name_at_fault(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    """The reading: `path` at `seal.json`, nothing from the seal; so with the attestation."""
    root = Path(building.small().write(tmp_path))
    make(root / "seal.json")
    make(root / "attestation.dsse.json")
    report = verify_run(str(root), policy=trust())
    assert pairs(report.problems) == [["attestation.dsse.json", "path"], ["seal.json", "path"]]
    assert report.run_hash == building.sha256(building.small().manifest().encode())


def test_a_folder_in_a_seals_place_leaves_the_run_unsealed(tmp_path: Path) -> None:
    """An empty one is nothing at all; what it holds is a file of the run."""
    (tmp_path / "seal.json").mkdir()
    assert verify(building.small(), tmp_path).outcome == "unsealed"
    (tmp_path / "seal.json/x").touch()
    assert verify_run(str(tmp_path)).outcome == "unsealed"


def test_run3_what_is_no_file_takes_part_in_a_case_clash(tmp_path: Path) -> None:
    run = building.small().but(put("ext/a", b""))
    os.mkfifo(Path(run.write(tmp_path)) / "ext/A")
    assert pairs(verify_run(str(tmp_path)).problems) == [["ext/A", "path"], ["ext/a", "path"]]


def test_overlays_of_which_none_is_a_file_are_overlays(tmp_path: Path) -> None:
    root = Path(building.small().write(tmp_path))
    (root / "overlays").mkdir()
    (root / "overlays/x").symlink_to("../run.json")
    report = verify_run(str(root), overlays=True)
    assert report.overlays is not None
    assert pairs(report.overlays.problems) == [["overlays/x", "unexpected-file"]]


def test_a_summary_is_handed_on_where_it_is_valid(tmp_path: Path) -> None:
    run = building.small()
    assert verify(run, tmp_path / "valid").summary == run["summary.json"]
    assert verify(run.but(drop("summary.json", "lanes")), tmp_path / "not valid").summary is None


def test_names_that_are_not_unicode_are_problems_and_never_stop(tmp_path: Path) -> None:
    """03 §3.9: at the spelling with U+FFFD; sealed, `not-sealed` too; below `overlays/` never the run's."""
    names = {"n\udcffo.txt": b"", "d\udcfe/x": b"", "overlays/\udcff": b""}
    spelled = ["d\ufffd/x", "n\ufffdo.txt"]
    unsealed = building.small()
    unsealed.update(names)
    report = verify(unsealed, tmp_path / "unsealed")
    assert pairs(report.problems) == [[path, "path"] for path in spelled]
    sealed = building.small().seal()
    sealed.update(names)
    report = verify(sealed, tmp_path / "sealed", overlays=True)
    assert pairs(report.problems) == [[path, code] for path in spelled for code in ("not-sealed", "path")]
    assert report.overlays is not None
    assert pairs(report.overlays.problems) == [["overlays/\ufffd", "unexpected-file"]]


def test_run3_case_clashes_of_files_and_folders(tmp_path: Path) -> None:
    run = building.small().but(
        put("ext/Data/x", b""), put("ext/data/y", b""), put("Run.json", b""), put("METRICS.json", b"")
    )
    assert pairs(verify(run, tmp_path).problems) == [
        ["ext/data/y", "path"],
        ["metrics.json", "path"],
        ["run.json", "path"],
    ]


def test_run3_a_tree_deeper_than_any_path_may_be(tmp_path: Path) -> None:
    """The reading: searched to 200 folders below each other; the next is reported itself."""
    at: Path = Path(building.small().write(tmp_path))
    for _ in range(3):
        at = at / ("d" * 90)
        at.mkdir()
    (at / "file").touch()
    path = "/".join(["d" * 90] * 3 + ["file"])
    assert pairs(verify_run(str(tmp_path)).problems) == [[path, "path"]]


@pytest.mark.parametrize("place", ["nothing", "run/run.json"])
def test_no_folder_is_the_callers_mistake(place: str, tmp_path: Path) -> None:
    building.small().write(tmp_path / "run")
    with pytest.raises(InputError):
        verify_run(str(tmp_path / place))


def test_no_descriptor_is_left_open_whatever_becomes_of_a_run(tmp_path: Path) -> None:
    run, paths = redacted()
    root = run.sign(BOB).but(drop(paths[0])).write(tmp_path / "run")
    before = len(os.listdir("/proc/self/fd"))
    verify_run(root, policy=trust(alice=["redact"]), overlays=True)
    (tmp_path / "run/ext/late").touch()
    verify_run(root, policy=trust(alice=["redact"]), overlays=True)

    def grow(_: int) -> None:
        with open(tmp_path / "run/results.ndjson", "ab") as out:
            out.write(b"\n")

    with pytest.raises(InputError, match="changed while it was read"):
        verify_run(root, watch=grow)
    (tmp_path / "run/run.json").unlink()
    verify_run(root, overlays=True)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_run_that_is_read_twice_gives_one_report(tmp_path: Path) -> None:
    run = building.full().seal().batch(event("1")).but(put("ext/z", b""), put("ext/.a", b""))
    root = run.write(tmp_path)
    assert verify_run(root, overlays=True) == verify_run(root, overlays=True)


def test_the_hash_is_over_exact_bytes(tmp_path: Path) -> None:
    """[SEAL-2]: a CRLF in a blob, text that is not ASCII, a file of no bytes."""
    run = building.full().but(put("ext/empty", b""), put("ext/u", "ü\r\n\0".encode()))
    root = run.write(tmp_path)
    lines = []
    for path in sorted(run):
        data = (tmp_path / path).read_bytes()
        lines.append(f"{hashlib.sha256(data).hexdigest()}  {len(data)}  {path}\n")
    assert verify_run(root).run_hash == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_limits_of_a_blob_in_a_sealed_run_do_not_stop_the_seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BLOB_BYTES", 10)
    run = building.full().seal()
    paths = sorted(path for path in run if path.startswith("blobs/"))
    run["ext/late"] = b""
    assert pairs(verify(run, tmp_path).problems) == [
        *([path, "limit"] for path in paths),
        ["ext/late", "not-sealed"],
    ]
