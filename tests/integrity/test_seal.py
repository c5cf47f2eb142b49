"""[SEAL-1], [SEAL-4], [SEAL-5], [SEAL-6], [ENC-10], [ENC-11], [ENC-12] A run against its seal: every code of 04 §4.1.

Each row of the table is the smallest change that shows a code and one that just does not; then what stands beside
what, what ends the check, and the readings.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aef_verify import limits
from aef_verify.integrity.check import verify_seal
from aef_verify.integrity.manifest import Sealed
from aef_verify.integrity.seal import Seal, parse_seal, seal_problems
from tests import building
from tests.building import ALICE, ENDED, Case, Edit, Run, drop, event, pairs, put, sealed, trust

SEAL = "seal.json"
INVALID = [[SEAL, "seal-invalid"]]
BLOB = building.blob_path(building.sha256(b"a blob"))


def resealed(run: Run) -> None:
    run.seal()


def predicate(*steps: Any) -> Edit:
    return put(SEAL, "predicate", *steps)


def subject(name: str, data: bytes = b"") -> Edit:
    """Add a subject to the seal as it stands."""
    return lambda run: run[SEAL]["subject"].append({"name": name, "digest": {"sha256": building.sha256(data)}})


def listed_twice(name: str, digest: str | None = None) -> Edit:
    """List a sealed file once more, with its own digest or another."""

    def edit(run: Run) -> None:
        found = next(entry for entry in run[SEAL]["subject"] if entry["name"] == name)
        run[SEAL]["subject"].append({"name": name, "digest": {"sha256": digest or found["digest"]["sha256"]}})

    return edit


def withholding(run: Run) -> None:
    """Redact the blob of the run by alice, in a signed batch, and delete it."""
    run.batch(event("1", "redact", blob=BLOB.rpartition("/")[2]), signed_by=[ALICE])
    del run[BLOB]


def swapped_judges(run: Run) -> None:
    run[SEAL]["predicate"]["judges"].reverse()


def judges_in_full(run: Run) -> None:
    run[SEAL]["predicate"]["judges"] = run["run.json"]["judges"]


def base() -> Run:
    """Return a sealed run with a blob, a file of its own, a deployment and judges."""
    run = building.small().but(
        put("ext/a", b"a"),
        put("run.json", "deployment", {"ref": "site:eu", "environment": "prod"}),
        put("run.json", "suite", "digest", "sha256:" + "5" * 64),
        put(
            "run.json",
            "judges",
            [{"model": "m1", "provider": "p"}, {"model": "m2", "rubricDigest": "sha256:" + "6" * 64}],
        ),
    )
    run.blob(b"a blob")
    return run.seal()


CASES = [
    Case("seal-invalid", (put(SEAL, b"{"),), INVALID, ()),
    Case("seal-invalid", (put(SEAL, b""),), INVALID, (drop(SEAL),)),
    Case("seal-invalid", (put(SEAL, b"[]"),), INVALID, ()),
    Case("seal-invalid", (put(SEAL, b'\xef\xbb\xbf{"a":1}'),), INVALID, ()),
    Case("seal-invalid", (put(SEAL, b'{"a":1,"a":1}'),), INVALID, ()),
    Case("seal-invalid", (drop(SEAL, "predicate", "sealedAt"),), INVALID, (put(SEAL, "novel", 1),)),
    Case(
        "seal-invalid",
        (predicate("sealedAt", "2026-11-31T00:00:00Z"),),
        INVALID,
        (predicate("sealedAt", "2026-11-30T00:00:00Z"),),
    ),
    Case("seal-invalid", (put(SEAL, "_type", "https://in-toto.io/Statement/v0.1"),), INVALID, ()),
    Case("seal-invalid", (put(SEAL, "predicateType", "https://agenteval.dev/aef/2/evidence"),), INVALID, ()),
    Case("seal-invalid", (predicate("schemaVersion", "2.0"),), INVALID, (predicate("schemaVersion", "1.3"),)),
    Case("seal-invalid", (predicate("sealedBy", None),), INVALID, (predicate("sealedBy", "novel"),)),
    Case("seal-invalid", (put(SEAL, "subject", []),), INVALID, ()),
    Case("seal-invalid", (subject("../a"),), INVALID, ()),
    Case("seal-invalid", (predicate("runHash", "sha256:" + "0" * 64),), INVALID, ()),
    Case("limit", (put(SEAL, b"[" * 65),), [[SEAL, "limit"]], ()),
    Case("duplicate-subject", (listed_twice("ext/a"),), [["ext/a", "duplicate-subject"]], ()),
    Case("duplicate-subject", (listed_twice("ext/a", "0" * 64),), [["ext/a", "duplicate-subject"]], ()),
    Case("subject-path", (subject(SEAL),), [[SEAL, "subject-path"]], ()),
    Case("subject-path", (subject("attestation.dsse.json"),), [["attestation.dsse.json", "subject-path"]], ()),
    Case(
        "subject-path",
        (subject("overlays/events.ndjson"),),
        [["overlays/events.ndjson", "subject-path"]],
        (put("overlays/x", b""),),
    ),
    Case("digest", (put("ext/a", b"b"),), [["ext/a", "digest"]], (put("ext/a", b"a"),)),
    Case(
        "not-sealed",
        (put("ext/b", b""),),
        [["ext/b", "not-sealed"]],
        (put("overlays/b", b""), put("attestation.dsse.json", b"")),
    ),
    Case("missing", (drop("ext/a"),), [["ext/a", "missing"]], (resealed,)),
    Case("missing", (drop(BLOB),), [[BLOB, "missing"]], ()),
    Case("withheld", (withholding,), [[BLOB, "withheld"]], ()),
    Case("run-hash", (sealed(runHash="0" * 64),), [[SEAL, "run-hash"]], (sealed(),)),
    Case("run-id", (sealed(runId="run-0002"),), [[SEAL, "run-id"]], (sealed(runId=building.RUN_ID),)),
    Case("predicate", (sealed(producer={"name": "other", "version": "1.2"}),), [[SEAL, "predicate"]], ()),
    Case("predicate", (sealed(producer={"name": "building", "version": "1.20"}),), [[SEAL, "predicate"]], ()),
    Case("predicate", (sealed(subject={"ref": "agent:triage"}),), [[SEAL, "predicate"]], ()),
    Case("predicate", (sealed(subject={"ref": "agent:Triage", "version": "7"}),), [[SEAL, "predicate"]], ()),
    Case(
        "predicate",
        (sealed(deployment=None),),
        [[SEAL, "predicate"]],
        (sealed(deployment={"ref": "site:eu", "novel": 1}),),
    ),
    Case("predicate", (sealed(suite={"ref": "suite:triage", "version": "3"}),), [[SEAL, "predicate"]], ()),
    Case("predicate", (sealed(judges=[]),), [[SEAL, "predicate"]], ()),
    Case("predicate", (swapped_judges,), [[SEAL, "predicate"]], (judges_in_full,)),
    Case("predicate", (predicate("judges", 1, "rubricDigest", "sha256:" + "7" * 64),), [[SEAL, "predicate"]], ()),
    Case(
        "predicate",
        (sealed(closedAt="2026-10-02T15:00:00.000000001Z"),),
        [[SEAL, "predicate"]],
        (sealed(closedAt="2026-10-02T15:00:00.000Z"),),
    ),
    Case(
        "predicate",
        (sealed(sealedAt="2026-10-02T14:59:59.999999999Z"),),
        [[SEAL, "predicate"]],
        (sealed(sealedAt=ENDED),),
    ),
    Case(
        "run-open",
        (put("run.json", "status", "running"), drop("run.json", "endedAt"), sealed()),
        [["run.json", "run-open"], [SEAL, "predicate"]],
        (put("run.json", "status", "aborted"), put("run.json", "abortReason", "x"), sealed()),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=building.named(CASES))
def test_the_smallest_change_that_shows_it_and_one_that_just_does_not(case: Case, tmp_path: Path) -> None:
    policy = trust(alice=["redact"])
    report = verify_seal(base().but(*case.broken).write(tmp_path / "broken"), policy=policy)
    assert pairs(report.problems) == case.expected
    assert all(problem.detail for problem in report.problems)
    assert verify_seal(base().but(*case.sound).write(tmp_path / "sound"), policy=policy).problems == []


def test_every_code_of_the_section_stands_in_the_table() -> None:
    assert {case.code for case in CASES} == {
        "seal-invalid",
        "limit",
        "duplicate-subject",
        "subject-path",
        "digest",
        "not-sealed",
        "missing",
        "withheld",
        "run-hash",
        "run-id",
        "predicate",
        "run-open",
    }


def found(run: Run, root: Path, **how: Any) -> list[list[str]]:
    return pairs(verify_seal(run.write(root), **how).problems)


def test_nothing_is_checked_after_an_invalid_seal(tmp_path: Path) -> None:
    """Nor after one beyond a limit; the run hash printed is that of the files."""
    run = base().but(put("ext/a", b"b"), put("ext/b", b""), predicate("runId", "x"))
    for at, data in enumerate((b"{}", b"[" * 65)):
        report = verify_seal(Run(run).but(put(SEAL, data)).write(tmp_path / str(at)))
        assert pairs(report.problems) == [[SEAL, "limit" if at else "seal-invalid"]]
        assert report.run_hash == building.sha256(report.manifest.encode())


def test_enc17_a_seal_at_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = base()
    size = len(run.bytes_of(SEAL))
    monkeypatch.setattr(limits, "SEAL_BYTES", size)
    assert found(run, tmp_path / "at") == []
    monkeypatch.setattr(limits, "SEAL_BYTES", size - 1)
    assert found(run, tmp_path / "size") == [[SEAL, "limit"]]
    monkeypatch.undo()
    deep: Any = 1
    for _ in range(63):
        deep = [deep]
    assert found(base().but(put(SEAL, "novel", deep)), tmp_path / "deep") == []
    assert found(base().but(put(SEAL, "novel", [deep])), tmp_path / "deeper") == [[SEAL, "limit"]]


def test_a_duplicate_subject_has_every_other_code_beside_it(tmp_path: Path) -> None:
    """Reported once however often; its digests are not compared, and the run hash is not either."""
    run = base().but(
        *[listed_twice("ext/a", "0" * 64)] * 3,
        listed_twice("metrics.json"),
        drop("metrics.json"),
        subject(SEAL),
        subject(SEAL),
        predicate("runHash", "0" * 64),
        put("ext/a", b"changed"),
    )
    assert found(run, tmp_path) == [
        ["ext/a", "duplicate-subject"],
        ["metrics.json", "duplicate-subject"],
        ["metrics.json", "missing"],
        [SEAL, "duplicate-subject"],
        [SEAL, "subject-path"],
    ]


@pytest.mark.parametrize(
    ("edits", "beside"),
    [
        ((listed_twice("ext/a"),), False),
        ((put("ext/a", b"b"),), False),
        ((drop("ext/a"),), False),
        ((put("ext/b", b""),), False),
        ((withholding,), False),
        ((subject("overlays/x"),), True),
        ((predicate("runId", "x"),), True),
        ((predicate("closedAt", building.STARTED),), True),
        ((), True),
    ],
)
def test_the_run_hash_is_compared_only_where_every_file_matches(
    edits: tuple[Edit, ...], beside: bool, tmp_path: Path
) -> None:
    """The reading: not beside what was not compared or does not match; beside what only concerns the seal it is."""
    run = base().but(predicate("runHash", "0" * 64), *edits)
    policy = trust(alice=["redact"])
    assert ([SEAL, "run-hash"] in found(run, tmp_path, policy=policy)) is beside


def test_a_subject_that_is_never_sealed_is_no_missing_file(tmp_path: Path) -> None:
    """`subject-path` alone, there or not."""
    names = [SEAL, "attestation.dsse.json", "overlays/events.ndjson", "overlays/nothing"]
    run = base().but(*map(subject, names))
    assert found(run, tmp_path) == [[name, "subject-path"] for name in sorted(names)]


def test_a_changed_file_keeps_its_seal_problem_whatever_the_run_says(tmp_path: Path) -> None:
    run = base().but(put("run.json", b"{"), put("results.ndjson", b"\xff"))
    assert found(run, tmp_path) == [["results.ndjson", "digest"], ["run.json", "digest"]]


@pytest.mark.parametrize(
    "header",
    [None, b"", b"[]", b'{"a":1,"a":1}', b"[" * 65, b"\xff", b"\xef\xbb\xbf{}"],
    ids=["absent", "empty", "list", "twice", "deep", "bytes", "bom"],
)
def test_ovl2_without_a_header_that_reads_nothing_is_compared_with_it(header: bytes | None, tmp_path: Path) -> None:
    """`run-id`, `predicate`, `run-open` are not made; all else is."""
    run = base().but(drop("run.json") if header is None else put("run.json", header))
    run.but(predicate("runId", "x"), predicate("producer", {"name": "x", "version": "1"}))
    assert found(run, tmp_path) == [["run.json", "missing" if header is None else "digest"]]


@pytest.mark.parametrize(
    ("header", "codes"),
    [
        ({}, ["predicate", "run-id"]),
        ({"runId": 5}, ["predicate", "run-id"]),
        ({"runId": building.RUN_ID, "producer": 5, "subject": [], "judges": {}, "suite": "x"}, ["predicate"]),
        ({"runId": building.RUN_ID, "judges": [5, None]}, ["predicate"]),
        ({"runId": building.RUN_ID, "endedAt": "2026-02-31T00:00:00Z"}, ["predicate"]),
    ],
)
def test_ovl2_a_header_that_reads_is_compared_though_it_is_invalid(
    header: dict[str, Any], codes: list[str], tmp_path: Path
) -> None:
    """Without a `runId` it differs, as with a number for one (a reading); no shape crashes."""
    run = base().but(put("run.json", header))
    assert found(run, tmp_path) == [["run.json", "digest"], *([SEAL, code] for code in codes)]


@pytest.mark.parametrize(
    ("name", "absent"),
    [("deployment", None), ("suite", None), ("judges", [])],
)
def test_seal5_null_and_an_empty_list_equal_absence(name: str, absent: object, tmp_path: Path) -> None:
    run = base().but(drop("run.json", name)).seal()
    assert run[SEAL]["predicate"][name] == absent
    assert found(run, tmp_path) == []


def test_enc2_a_part_that_is_null_equals_one_that_is_absent(tmp_path: Path) -> None:
    run = base().but(put("run.json", "suite", "digest", None)).seal()
    assert found(run.but(predicate("suite", {"ref": "suite:triage", "version": "3"})), tmp_path) == []


def test_seal5_what_is_not_copied_is_not_compared(tmp_path: Path) -> None:
    """A judge's provider and mode, a deployment's environment, a producer's runtime: only what §4.1 names."""
    run = base().seal(
        judges=[
            {"model": "m1", "provider": "other"},
            {"model": "m2", "rubricDigest": "sha256:" + "6" * 64, "mode": "x"},
        ],
        producer={"name": "building", "version": "1.2", "runtime": 5},
    )
    assert found(run, tmp_path) == []


def test_without_a_seal_there_is_neither_problem_nor_proof(tmp_path: Path) -> None:
    """[SEAL-4]: what is there has a manifest; an empty folder the empty one."""
    report = verify_seal(building.small().write(tmp_path / "run"))
    assert (report.problems, report.run_hash) == ([], building.small().run_hash())
    assert report.manifest == building.small().manifest()
    (tmp_path / "empty").mkdir()
    assert verify_seal(str(tmp_path / "empty")) == ("", building.sha256(b""), [])


def test_what_is_printed_is_the_manifest_of_the_files_and_its_hash(tmp_path: Path) -> None:
    """The reading: always, also where the seal states another hash."""
    run = base().seal(runHash="0" * 64)
    report = verify_seal(run.write(tmp_path))
    assert report.manifest == run.manifest()
    assert report.run_hash == building.sha256(run.manifest().encode())


def make_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    "make", [lambda path: path.symlink_to("run.json"), os.mkfifo, make_folder], ids=["link", "pipe", "folder"]
)
def test_what_is_no_file_is_missing_where_it_was_sealed_and_nothing_elsewhere(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    """The reading: not in the manifest, no problem of the seal; `path` is the run verifier's word."""
    root = Path(base().write(tmp_path))
    (root / "ext/a").unlink()
    make(root / "ext/a")
    make(root / "ext/new")
    assert pairs(verify_seal(str(root)).problems) == [["ext/a", "missing"]]
    assert "ext/new" not in verify_seal(str(root)).manifest
    (root / SEAL).unlink()
    make(root / SEAL)
    assert verify_seal(str(root)).problems == []


def test_an_entry_overlays_that_is_no_folder_is_not_the_seals(tmp_path: Path) -> None:
    """The reading, for a file as for a link: `path` of the run alone; neither sealed nor `not-sealed`."""
    for kind in ("file", "link"):
        root = Path(base().write(tmp_path / kind))
        if kind == "file":
            (root / "overlays").touch()
        else:
            (root / "overlays").symlink_to("ext")
        assert verify_seal(str(root)) == (base().manifest(), base().run_hash(), [])


def test_a_name_that_is_not_unicode_is_not_sealed(tmp_path: Path) -> None:
    run = base()
    run["n\udcffo.txt"] = b""
    report = verify_seal(run.write(tmp_path))
    assert pairs(report.problems) == [["n\ufffdo.txt", "not-sealed"]]
    assert f"{building.sha256(b'')}  0  n\ufffdo.txt\n" in report.manifest


@pytest.mark.parametrize(
    "place", [f"blobs/sha256/ff/{BLOB[-64:]}", f"blobs/sha256/{BLOB[-64:]}", f"blobs/x/{BLOB[-64:]}"]
)
def test_ovl10_only_a_blob_in_its_place_is_withheld(place: str, tmp_path: Path) -> None:
    """A file whose name ends like a redacted blob's is no blob [EVD-3]: gone, it is missing."""
    run = building.small().but(put(place, b"something else"))
    run.blob(b"a blob")
    run.seal().but(withholding, drop(place))
    assert found(run, tmp_path, policy=trust(alice=["redact"])) == sorted([[BLOB, "withheld"], [place, "missing"]])


def test_enc11_digests_are_bare_hex_in_a_seal_and_prefixed_in_its_suite(tmp_path: Path) -> None:
    for at, edit in enumerate(
        (
            put(SEAL, "subject", 0, "digest", "sha256", "sha256:" + "0" * 64),
            put(SEAL, "subject", 0, "digest", "sha256", "A" * 64),
            predicate("suite", "digest", "5" * 64),
        )
    ):
        assert found(base().but(edit), tmp_path / str(at)) == INVALID


def test_enc10_versions_compare_byte_for_byte(tmp_path: Path) -> None:
    assert found(
        base().seal(suite={"ref": "suite:triage", "version": "3.0", "digest": "sha256:" + "5" * 64}), tmp_path
    ) == [[SEAL, "predicate"]]


def test_seal_problems_of_values() -> None:
    """The check itself has no I/O: a seal, the files, the header, and what is withheld when asked."""
    run = base()
    seal = parse_seal(run.bytes_of(SEAL))
    files = [
        Sealed(path, digest, int(size))
        for digest, size, path in (line.split("  ", 2) for line in run.manifest().splitlines())
    ]

    def never() -> frozenset[str]:
        raise AssertionError("asked for though nothing is gone")

    assert seal_problems(seal, files, run["run.json"], never) == []
    assert seal.run_hash == run.run_hash()
    assert seal.subjects == [file.path for file in files]
    assert seal_problems(Seal(present=False), files, None, never) == []
    assert Seal(present=False).run_hash is None
    assert Seal(present=False).subjects == []
