"""A cache never changes what is reported: what comes from it has the same files, code, policy, anchors and user.

[RUN-1], [RUN-3], [SIG-4], [SIG-8], [OVL-5]; docs/CACHE.md.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aef_verify.engine import cache, cache_code, cache_store, task
from aef_verify.engine.cache_code import circumstances, digest_of_sources
from aef_verify.engine.cache_identity import find_again, identify
from aef_verify.engine.cache_record import decoded, encoded
from aef_verify.engine.cache_store import KEPT_DAYS, NAME, Row, Store
from aef_verify.engine.evidence import verify_evidence
from aef_verify.engine.task import EntryAnswer, Task
from aef_verify.integrity.policy import load_policy
from aef_verify.problems import InputError, Problem
from aef_verify.report.assemble import run_entry
from aef_verify.report.model import UNREADABLE
from aef_verify.run.verify import verify_run
from tests import building
from tests.building import put
from tests.engine.caching import LATER, Passes, plain, rested, tick
from tests.integrity import material
from tests.report.reports import verified

ONE = "full"
DAY = 86_400_000_000_000


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Write runs of every outcome."""
    folder = tmp_path / "store"
    building.full().seal().batch(building.event("1")).sign(building.ALICE).write(folder / ONE)
    building.small().seal().write(folder / "below" / "sealed")
    building.small().write(folder / "unsealed")
    building.small().seal().but(put("summary.json", "runId", "other")).write(folder / "changed")
    (folder / "nothing").mkdir()
    (folder / "nothing" / "run.json").write_bytes(b"\xff")
    return folder


@pytest.fixture
def passes(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Passes:
    """Make a first pass, so that every run is in the cache."""
    rested(monkeypatch)
    made = Passes(store, tmp_path / "cache")
    assert set(made.cached().values()) == {False}
    assert set(made.cached().values()) == {True}
    return made


@pytest.mark.parametrize("jobs", [1, 2])
def test_any_number_of_jobs_fills_the_cache(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    rested(monkeypatch)
    made = Passes(store, tmp_path / "cache")
    first = made.once(jobs=jobs)
    (store / "new").mkdir()
    (store / "new" / "run.json").write_bytes(b"{}")
    second = made.once(jobs=jobs)
    assert not any(run.cached for run in first.runs)
    assert [run.path for run in second.runs if not run.cached] == [f"{store}/new"]


def test_what_is_required_is_asked_of_cached_verdicts_too(passes: Passes) -> None:
    report = passes.once(require=["sealed"])
    assert all(run.cached for run in report.runs)
    assert {os.path.basename(run.path) for run in report.runs if run.shortfalls} == {"changed", "nothing", "unsealed"}


def rewritten(folder: Path) -> None:
    """Change a byte and set every time back that can be set."""
    file = folder / "results.ndjson"
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"0.5", b"0.4", 1))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def hidden(folder: Path) -> None:
    """Add a file and set its folder's mtime back."""
    before = folder.stat()
    (folder / "ext" / "more").write_bytes(b"")
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))


def through_another_name(folder: Path) -> None:
    os.link(folder / "metrics.json", folder.parent.parent / "elsewhere")
    with open(folder.parent.parent / "elsewhere", "ab") as file:
        file.write(b" ")


def copied(folder: Path) -> None:
    """Put a copy with the same times in the run's place."""
    shutil.copytree(folder, folder.parent.parent / "copy")
    shutil.rmtree(folder)
    (folder.parent.parent / "copy").rename(folder)


def linked(folder: Path) -> None:
    (folder / "metrics.json").rename(folder.parent.parent / "metrics.json")
    (folder / "metrics.json").symlink_to(folder.parent.parent / "metrics.json")


def blob_of(folder: Path) -> Path:
    return next(path for path in folder.glob("blobs/sha256/*/*"))


CHANGES: dict[str, Callable[[Path], object]] = {
    "a byte, the mtime set back": rewritten,
    "a file added, the folder's mtime set back": hidden,
    "a file removed": lambda run: (run / "ext/producer/notes.txt").unlink(),
    "a file renamed": lambda run: (run / "ext/producer/notes.txt").rename(run / "ext/producer/notes"),
    "a blob deleted": lambda run: blob_of(run).unlink(),
    "a folder added": lambda run: (run / "ext/empty").mkdir(),
    "a file of a deep folder": lambda run: (run / "ext/producer/notes.txt").write_bytes(b"the producer's OWN\n"),
    "a mode": lambda run: (run / "run.json").chmod(0o600),
    "a folder's mode": lambda run: (run / "ext").chmod(0o700),
    "the run's own mode": lambda run: run.chmod(0o700),
    "touched": lambda run: os.utime(run / "run.json"),
    "a pipe": lambda run: os.mkfifo(run / "ext/pipe"),
    "a link in place of a file": linked,
    "a link added": lambda run: (run / "ext/link").symlink_to("producer"),
    "written to by another name": through_another_name,
    "an overlay event": lambda run: building.full().batch(building.event("1")).append(building.event("2")).write(run),
    "an overlay seal removed": lambda run: (run / building.batch_path(1)).unlink(),
    "the attestation": lambda run: (run / "attestation.dsse.json").write_bytes(b"{}"),
    "the seal": lambda run: (run / "seal.json").unlink(),
    "a copy in its place": copied,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_run_is_read_again(passes: Passes, store: Path, name: str) -> None:
    CHANGES[name](store / ONE)
    changed = passes.cached()
    assert changed.pop(ONE) is False
    assert set(changed.values()) == {True}
    assert set(passes.cached().values()) == {True}


def test_a_link_in_the_run_is_known_by_itself(passes: Passes, store: Path) -> None:
    link = store / ONE / "ext" / "link"
    link.symlink_to("producer")
    assert passes.cached()[ONE] is False
    assert passes.cached()[ONE] is True
    link.unlink()
    tick(store.parent)
    link.symlink_to("nowhere!")
    assert passes.cached()[ONE] is False


def test_runs_that_go_come_back_and_are_renamed(passes: Passes, store: Path) -> None:
    (store / ONE).rename(store / "renamed")
    assert passes.cached()["renamed"] is False
    (store / "renamed").rename(store / ONE)
    found = passes.cached()
    assert found[ONE] is False
    assert "renamed" not in found
    shutil.rmtree(store / ONE)
    assert ONE not in passes.cached()


def test_a_folder_that_is_no_run_any_more_is_searched(passes: Passes, store: Path) -> None:
    (store / "nothing" / "run.json").unlink()
    building.small().write(store / "nothing" / "deeper")
    found = passes.cached()
    assert found["nothing/deeper"] is False
    assert "nothing" not in found


def test_another_way_to_name_a_run_is_another_run(passes: Passes, store: Path) -> None:
    assert not any(run.cached for run in verify_evidence([f"{store}/."], cache=passes.folder).runs)


ALICE_MAY = building.trust(alice=["redact"])
CIRCUMSTANCES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a policy": ({}, {"policy": building.trust()}),
    "no policy": ({"policy": building.trust()}, {}),
    "another policy": ({"policy": building.trust()}, {"policy": ALICE_MAY}),
    "the policy spelled otherwise": (
        {"policy": building.trust()},
        {"policy": load_policy(building.trust().source + b"\n")},
    ),
    "anchors": ({}, {"anchors": ["00" * 32]}),
    "an empty list of anchors": ({}, {"anchors": []}),
    "other anchors": ({"anchors": ["00" * 32]}, {"anchors": ["11" * 32]}),
    "one anchor more": ({"anchors": ["00" * 32]}, {"anchors": ["00" * 32, "11" * 32]}),
}


@pytest.mark.parametrize("name", CIRCUMSTANCES)
def test_other_circumstances_find_nothing_and_lose_nothing(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rested(monkeypatch)
    passes = Passes(store, tmp_path / "cache")
    one, other = CIRCUMSTANCES[name]
    passes.once(**one)
    assert set(passes.cached(**other).values()) == {False}
    assert set(passes.cached(**other).values()) == {True}
    assert set(passes.cached(**one).values()) == {True}


def test_the_order_of_anchors_does_not_matter(passes: Passes) -> None:
    passes.once(anchors=["00" * 32, "11" * 32])
    assert set(passes.cached(anchors=["11" * 32, "00" * 32]).values()) == {True}


def test_other_code_finds_nothing(passes: Passes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_code, "digest_of_sources", lambda package: b"other")
    assert set(passes.cached().values()) == {False}


def test_the_code_is_known_by_every_source_and_schema(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "in" / "ner").mkdir(parents=True)
    (package / "in" / "code.py").write_bytes(b"1")
    (package / "in" / "ner" / "schema.json").write_bytes(b"{}")
    seen = {digest_of_sources(str(package))}
    (package / "in" / "code.py").write_bytes(b"2")
    seen.add(digest_of_sources(str(package)))
    (package / "in" / "ner" / "schema.json").write_bytes(b"[]")
    seen.add(digest_of_sources(str(package)))
    (package / "in" / "code.py").rename(package / "in" / "edoc.py")
    seen.add(digest_of_sources(str(package)))
    (package / "new.py").write_bytes(b"")
    seen.add(digest_of_sources(str(package)))
    assert len(seen) == 5
    (package / "in" / "code.pyc").write_bytes(b"")
    assert digest_of_sources(str(package)) in seen


@pytest.mark.parametrize(
    ("name", "value"), [("geteuid", lambda: 12345), ("getegid", lambda: 12345), ("getgroups", lambda: [1, 2])]
)
def test_somebody_else_finds_nothing(monkeypatch: pytest.MonkeyPatch, name: str, value: Callable[[], Any]) -> None:
    mine = circumstances(Task(None, None))
    monkeypatch.setattr(os, name, value)
    assert circumstances(Task(None, None)) != mine


def test_the_pure_path_finds_nothing_of_the_fast_one(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = circumstances(Task(None, None))
    monkeypatch.setenv("AEF_PURE", "1" if os.environ.get("AEF_PURE") != "1" else "0")
    assert circumstances(Task(None, None)) != mine


def test_code_that_cannot_be_read_means_no_cache(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_code, "digest_of_sources", lambda package: None)
    report = Passes(store, tmp_path / "cache").once()
    assert report.cache is not None
    assert "code cannot be read" in report.cache.warnings[0]
    assert not (tmp_path / "cache").exists()


# When a run is kept


def test_a_run_that_was_just_written_is_not_kept(store: Path, tmp_path: Path) -> None:
    made = Passes(store, tmp_path / "cache")
    assert set(made.cached().values()) == {False}
    assert set(made.cached().values()) == {False}


@pytest.mark.parametrize(("off", "kept"), [(-1, False), (0, True)])
def test_two_seconds_make_the_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, off: int, kept: bool) -> None:
    run = building.small().write(tmp_path / "store")
    found = identify(run)
    assert found is not None
    monkeypatch.setattr(cache, "now", lambda: found.newest + 2_000_000_000 + off)
    made = Passes(run, tmp_path / "cache")
    made.once()
    assert made.cached() == {".": kept}


def test_a_time_to_come_is_never_old_enough(passes: Passes, store: Path) -> None:
    ahead = time.time_ns() + 100 * LATER
    os.utime(store / ONE / "run.json", ns=(ahead, ahead))
    assert [passes.cached()[ONE] for _ in range(2)] == [False, False]


def test_a_run_that_changes_while_it_is_read_is_not_kept(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rested(monkeypatch)

    def changing(path: str, **options: Any) -> Any:
        report = verify_run(path, **options)
        tick(tmp_path)
        if os.path.basename(path) == ONE:
            os.utime(os.path.join(path, "run.json"))
        return report

    made = Passes(store, tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(task, "verify_run", changing)
        verify_evidence([str(store)], cache=made.folder, jobs=1)
    found = made.cached()
    assert found.pop(ONE) is False
    assert set(found.values()) == {True}


def refusing(path: str, **options: Any) -> Any:
    raise InputError(f"{path}: not now")


def test_a_run_that_cannot_be_read_is_not_kept(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rested(monkeypatch)
    made = Passes(store, tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(task, "verify_run", refusing)
        assert made.once().outcomes == {UNREADABLE: 5}
    assert set(made.cached().values()) == {False}


def test_what_was_verified_before_an_interruption_is_kept(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rested(monkeypatch)

    def interrupted(path: str, **options: Any) -> Any:
        if path.endswith("/unsealed"):
            raise KeyboardInterrupt
        return verify_run(path, **options)

    made = Passes(store, tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(task, "verify_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            verify_evidence([str(store)], cache=made.folder, jobs=1)
    assert [name for name, cached in made.cached().items() if not cached] == ["unsealed"]


# Reading all the same


def forge(passes: Passes, run: Path, said: EntryAnswer) -> None:
    """Have the cache say something else of a run."""
    found, record = identify(str(run)), encoded(said)
    assert found is not None
    assert record is not None
    circumstance = circumstances(Task(None, None))
    assert circumstance is not None
    kept = Store(passes.folder, circumstance, today())
    old = kept.get(str(run))
    assert old is not None
    kept.put([(str(run), old._replace(record=record))])
    kept.close()


def today() -> int:
    return (time.time_ns() + LATER) // DAY


def forged(run: Path) -> EntryAnswer:
    return EntryAnswer(run_entry(verified(str(run), Problem("run.json", "schema", "forged"))), None)


def test_paranoid_reads_everything_and_says_where_the_cache_was_wrong(passes: Passes, store: Path) -> None:
    forge(passes, store / ONE, forged(store / ONE))
    wrong = verify_evidence([str(store)], cache=passes.folder)
    assert [run.outcome for run in wrong.runs if run.path.endswith(f"/{ONE}")] == ["invalid"]
    report = passes.once(paranoid=True)
    assert not any(run.cached for run in report.runs)
    assert [run.path for run in report.runs if run.disagreed] == [f"{store}/{ONE}"]
    assert set(passes.cached().values()) == {True}
    assert not any(run.disagreed for run in passes.once(paranoid=True).runs)


def test_paranoid_does_not_blame_the_cache_for_a_change(passes: Passes, store: Path) -> None:
    rewritten(store / ONE)
    assert not any(run.disagreed for run in passes.once(paranoid=True).runs)
    assert set(passes.cached().values()) == {True}


def test_paranoid_is_not_misled_by_a_clock_that_was_set_back(
    passes: Passes, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge(passes, store / ONE, forged(store / ONE))
    with monkeypatch.context() as patch:
        patch.setattr(cache, "now", lambda: 0)
        report = passes.once(paranoid=True)
        assert [run.path for run in report.runs if run.disagreed] == [f"{store}/{ONE}"]
    found = passes.cached()
    assert found.pop(ONE) is False
    assert set(found.values()) == {True}


def test_paranoid_drops_what_cannot_be_read_any_more(passes: Passes, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(task, "verify_run", refusing)
        report = passes.once(paranoid=True)
        assert all(run.disagreed and run.outcome == UNREADABLE for run in report.runs)
    assert set(passes.cached().values()) == {False}


# Records


def test_a_record_gives_back_what_was_found(store: Path) -> None:
    for run in verify_evidence([str(store)], jobs=1).runs:
        said = EntryAnswer(run, None)
        record = encoded(said)
        assert record is not None
        assert decoded(run.path, record) == said


@pytest.mark.parametrize("value", [(1, 2), {1: "a"}, {1, 2}, b"bytes", float("nan"), "\ud83d\ude00", object()])
def test_what_a_record_would_not_give_back_is_not_kept(value: object) -> None:
    said = EntryAnswer(run_entry(verified("a", Problem("run.json", "schema", "", value))), None)
    assert encoded(said) is None


def test_a_very_long_record_is_not_kept() -> None:
    problems = [Problem(f"results.ndjson:{line}", "metric", "x" * 200) for line in range(50_000)]
    assert encoded(EntryAnswer(run_entry(verified("a", *problems)), None)) is None


def test_both_ways_to_ask_for_an_identity_agree(store: Path) -> None:
    for run in store.iterdir():
        found = identify(str(run))
        assert found is not None
        again = find_again(str(run), found.names)
        assert again is not None
        assert (again.digest, again.folder) == (found.digest, (run.stat().st_dev, run.stat().st_ino))


@pytest.mark.parametrize("path", ["gone", "nul\0", "file"])
def test_what_cannot_be_looked_at_has_no_identity(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert identify(f"{tmp_path}/{path}") is None
    assert find_again(f"{tmp_path}/{path}", ()) is None


def test_the_store_forgets_what_nobody_asks_for(tmp_path: Path) -> None:
    row = Row(b"run.json", b"identity", b"record")
    kept = Store(str(tmp_path), b"now", 1000)
    kept.put([("a", row), ("b", row)])
    kept.close()
    kept = Store(str(tmp_path), b"now", 1000 + KEPT_DAYS)
    assert kept.get("a") == row
    kept.sweep()
    kept.close()
    kept = Store(str(tmp_path), b"now", 1001 + KEPT_DAYS)
    kept.put([("c", row)])
    kept.sweep()
    assert [kept.get(path) for path in "abc"] == [row, None, row]
    kept.close()


def test_the_store_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_store, "MOST_BYTES", 1 << 20)
    for day in range(8):
        kept = Store(str(tmp_path), b"now", day)
        kept.put([(f"{day} {number}", Row(b"", b"", bytes(10_000))) for number in range(20)])
        kept.sweep()
        newest = kept.get(f"{day} 0")
        oldest = kept.get("0 0")
        kept.close()
    assert newest is not None
    assert oldest is None
    assert (tmp_path / NAME).stat().st_size <= 1 << 20


def test_policies_of_other_keys_differ() -> None:
    key = material.entry(building.ALICE, building.KEYS[building.BOB])
    other = load_policy(material.policy(key))
    assert circumstances(Task(other, None)) != circumstances(Task(building.trust(), None))


def test_plain_takes_only_marks_away(store: Path) -> None:
    report = verify_evidence([str(store)], jobs=1)
    assert plain(report) == report
