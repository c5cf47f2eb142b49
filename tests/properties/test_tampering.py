"""Whatever is changed in a sealed run is found, and at its place: [SEAL-2], [SEAL-6], [SIG-1], [SIG-5], [SIG-7]."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from aef_verify.integrity.policy import load_policy
from aef_verify.run.verify import RunReport, verify_run
from aef_verify.strategies import (
    Change,
    Policy,
    RunFiles,
    byte_changes,
    json_changes,
    mutations,
    paths,
    sealed_runs,
    signed_runs,
    spellings,
)
from tests.properties.effort import examples
from tests.properties.scratch import written

FOLDERS = ("", "ext/", "blobs/", "blobs/sha256/ab/", "data/")
SINGLE_BYTES = ("byte replaced", "bit flipped", "byte inserted", "byte deleted")


def verdict(files: RunFiles, policy: Policy | None = None) -> RunReport:
    with written(files) as folder:
        return verify_run(folder, policy=None if policy is None else load_policy(policy.data))


def pairs(report: RunReport) -> set[tuple[str, str]]:
    return {problem.pair for problem in report.problems}


@st.composite
def changed_files(draw: st.DrawFn, kinds: tuple[str, ...]) -> tuple[RunFiles, str, Change]:
    """Draw a sealed run, one of its sealed files, and a change of that file."""
    run = draw(sealed_runs(max_cases=1))
    path = draw(st.sampled_from([path for path in run.sealed_paths if run[path]]))
    return run, path, draw(byte_changes(run[path], kinds))


@examples(120)
@given(changed_files(SINGLE_BYTES))
def test_any_changed_byte_of_a_sealed_file_is_found(found: tuple[RunFiles, str, Change]) -> None:
    run, path, change = found
    report = verdict(run.replacing({path: change.data}))
    assert report.outcome == "invalid"
    assert (path, "digest") in pairs(report)


@examples(40)
@given(sealed_runs(max_cases=1), st.data())
def test_any_other_change_of_a_sealed_run_s_files_is_found(run: RunFiles, data: st.DataObject) -> None:
    """A file that is changed, added, removed or renamed, but for what no seal covers."""
    mutation = data.draw(mutations(run))
    assume(mutation.files.manifest != run.manifest)
    assert verdict(mutation.files).outcome == "invalid"


@examples(40)
@given(sealed_runs(max_cases=1), st.sampled_from(FOLDERS), paths(), st.binary(max_size=3))
def test_any_added_file_is_found(run: RunFiles, folder: str, name: str, content: bytes) -> None:
    path = folder + name
    taken = {*run, *(path[:at] for path in run for at in range(len(path)) if path[at] == "/")}
    assume(path not in taken and not any(path.startswith(f"{other}/") for other in run))
    report = verdict(run.replacing({path: content}))
    assert report.outcome == "invalid"
    assert (path, "not-sealed") in pairs(report)


@examples(40)
@given(sealed_runs(max_cases=1), st.data())
def test_any_removed_file_is_found(run: RunFiles, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(run.sealed_paths))
    report = verdict(run.without(path))
    assert report.outcome == "invalid"
    assert (path, "missing") in pairs(report)


@examples(40)
@given(sealed_runs(max_cases=1), st.data())
def test_any_renamed_file_is_found_at_both_names(run: RunFiles, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(run.sealed_paths))
    report = verdict(run.without(path).replacing({f"{path}-": run[path]}))
    assert report.outcome == "invalid"
    assert {(path, "missing"), (f"{path}-", "not-sealed")} <= pairs(report)


@examples(80)
@given(signed_runs(), st.data())
def test_any_changed_byte_of_a_seal_leaves_it_unsigned(
    signed: tuple[RunFiles, Policy, list[str]], data: st.DataObject
) -> None:
    """[SIG-1] What is signed are the exact bytes of `seal.json`: another spelling of it is intact, and not signed."""
    run, policy, _ = signed
    seal = run["seal.json"]
    changed = data.draw(byte_changes(seal).map(lambda change: change.data) | spellings(seal))
    assume(changed != seal)
    assert verdict(run.replacing({"seal.json": changed}), policy).signed_by == ()


@examples(80)
@given(signed_runs(), st.data())
def test_no_change_of_an_attestation_changes_the_outcome_or_adds_a_signer(
    signed: tuple[RunFiles, Policy, list[str]], data: st.DataObject
) -> None:
    """[SIG-5] No signature is a problem of the run (04 §4.5)."""
    run, policy, identities = signed
    attestation = run["attestation.dsse.json"]
    change = data.draw(byte_changes(attestation) | json_changes(attestation))
    report = verdict(run.replacing({"attestation.dsse.json": change.data}), policy)
    assert (report.outcome, report.problems) == ("intact", ())
    assert set(report.signed_by or ()) <= set(identities)
