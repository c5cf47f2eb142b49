"""Judging what an operation answered, kind by kind (09 §9.3).

Rules kept: problem lists compare as ordered (path, code) pairs; times as written, numbers as binary64
([CONF-2]); what a vector does not state is not compared, save what the contract prints only when there is
something to say (`withheld`) or when an input was given (`signedBy`, `anchored`). Decisions and streams
are judged in `releasejudge`, writing operations in `writejudge`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from aef_verify.conformance.case import Case, shown
from aef_verify.conformance.index import EXPECTED, CorpusError, blocks

FEW = 5
"""Differences, and problem pairs, named one by one."""


def same(one: object, other: object) -> bool:
    """Whether two JSON values are equal: texts as written, numbers as binary64 ([CONF-2])."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        try:
            return float(one) == float(other)
        except OverflowError:
            return one == other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def differences(where: str, expected: object, got: object) -> list[str]:
    """Return where two JSON values differ, outermost first, at most `FEW` lines."""
    if same(expected, got):
        return []
    lines: list[str] = []
    if isinstance(expected, dict) and isinstance(got, dict):
        for name in sorted(expected.keys() | got.keys()):
            if name not in got:
                lines.append(f"{where}.{name}: missing; expected {shown(expected[name])}")
            elif name not in expected:
                lines.append(f"{where}.{name}: not expected; got {shown(got[name])}")
            else:
                lines += differences(f"{where}.{name}", expected[name], got[name])
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            lines.append(f"{where}: {len(expected)} expected, got {len(got)}")
        for number, (one, other) in enumerate(zip(expected, got, strict=False)):
            lines += differences(f"{where}[{number}]", one, other)
        for number in range(len(got), len(expected)):
            lines.append(f"{where}[{number}]: missing; expected {shown(expected[number])}")
        for number in range(len(expected), len(got)):
            lines.append(f"{where}[{number}]: not expected; got {shown(got[number])}")
    else:
        lines.append(f"{where}: expected {shown(expected)}, got {shown(got)}")
    return lines[:FEW]


def problem_differences(expected: object, got: object, where: str = "problems") -> list[str]:
    """Return how two lists of (path, code) pairs differ: the first place, missing, extra ([CONF-2])."""
    if same(expected, got):
        return []
    if not isinstance(expected, list):
        raise CorpusError(f"{where} expected is no list")
    if not isinstance(got, list):
        return [f"{where}: expected a list, got {shown(got)}"]
    first = next(
        (n for n, (one, other) in enumerate(zip(expected, got, strict=False)) if not same(one, other)),
        min(len(expected), len(got)),
    )
    want, have = (shown(side[first]) if first < len(side) else "nothing" for side in (expected, got))
    lines = [f"{where}: first difference at [{first}]: expected {want}, got {have}"]
    missing, extra = _without(expected, got), _without(got, expected)
    if not missing and not extra:
        lines.append(f"{where}: the same pairs in another order")
    for name, pairs in (("missing", missing), ("extra", extra)):
        if pairs:
            more = f" and {len(pairs) - FEW} more" if len(pairs) > FEW else ""
            lines.append(f"{where}: {name}: {', '.join(map(shown, pairs[:FEW]))}{more}")
    return lines


def _without(some: Sequence[object], others: Sequence[object]) -> list[object]:
    """Return the items of one list that the other has not, each as often as it has it more."""
    left: dict[str, int] = {}
    for item in others:
        key = json.dumps(item, sort_keys=True)
        left[key] = left.get(key, 0) + 1
    found = []
    for item in some:
        key = json.dumps(item, sort_keys=True)
        if left.get(key, 0):
            left[key] -= 1
        else:
            found.append(item)
    return found


def member(expected: Mapping[str, object], got: Mapping[str, object], name: str) -> list[str]:
    """Return how one member differs; one that is not printed is named as such."""
    if name not in got:
        return [f"{name}: not printed; expected {shown(expected[name])}"]
    return differences(name, expected[name], got[name])


def _only_stated(case: Case, got: Mapping[str, object], name: str) -> list[str]:
    """Return how a member differs that is printed exactly where the vector states it."""
    if name in case.expected:
        return member(case.expected, got, name)
    return [f"{name}: printed ({shown(got[name])}) where none is expected"] if name in got else []


def judge_run(case: Case) -> list[str]:
    """Judge `run` and `encoding`: outcome, problems, withheld, signed by, anchored."""
    got = case.answer("run", case.place("run"), *case.options("policy", "anchors"))
    case.stated("outcome")
    return [
        *member(case.expected, got, "outcome"),
        *problem_differences(case.stated("problems"), got.get("problems")),
        *_only_stated(case, got, "withheld"),
        *_only_stated(case, got, "signedBy"),
        *_only_stated(case, got, "anchored"),
    ]


def judge_seal(case: Case) -> list[str]:
    """Judge `seal`: the problems of §4.1 and, for a run that can be sealed, the manifest and its hash."""
    got = case.answer("seal", case.place("run"), *case.options("policy"))
    lines = problem_differences(case.stated("problems"), got.get("problems"))
    if "manifest" in case.expected:
        manifest = b"".join(blocks(case.place("manifest"), case.text("manifest")))
        lines += differences("runHash", hashlib.sha256(manifest).hexdigest(), got.get("runHash"))
        lines += manifest_differences(manifest, got.get("manifest"))
    return lines


def manifest_differences(expected: bytes, got: object) -> list[str]:
    """Return the first line in which a printed manifest differs from the expected bytes [SEAL-3]."""
    if not isinstance(got, str):
        return [f"manifest: expected a text, got {shown(got)}"]
    if got.encode("utf-8", "surrogatepass") == expected:
        return []
    want, have = expected.decode("utf-8", "replace").split("\n"), got.split("\n")
    for number, (one, other) in enumerate(zip(want, have, strict=False), 1):
        if one != other:
            return [f"manifest: line {number}: expected {shown(one)}, got {shown(other)}"]
    return [f"manifest: {len(want)} lines expected, got {len(have)}"]


def judge_chain(case: Case) -> list[str]:
    """Judge `chain`: the problems of §4.2."""
    got = case.answer("chain", case.place("run"))
    return problem_differences(case.stated("problems"), got.get("problems"))


def judge_view(case: Case) -> list[str]:
    """Judge `view`: every member stated; `assurance` only where it is."""
    got = case.answer("view", case.place("run"), "--at", case.text("at"), *case.options("policy"))
    view = case.stated("view")
    if not isinstance(view, dict):
        raise CorpusError(f"{EXPECTED}: view is no object")
    return [line for name in view for line in member(view, got, name)]


def judge_document(case: Case) -> list[str]:
    """Judge `document`, `reader-only` and `plan`: both sides, and the readings of unknown values that are stated."""
    got = case.answer("document", case.text("schema"), case.place("document", "document.json"))
    for name in ("writer", "reader"):
        case.stated(name)
    lines = [*member(case.expected, got, "writer"), *member(case.expected, got, "reader")]
    stated, reads = case.expected.get("reads", {}), got.get("reads", {})
    if not isinstance(stated, dict):
        raise CorpusError(f"{EXPECTED}: reads is no object")
    if not isinstance(reads, dict):
        return [*lines, f"reads: expected an object, got {shown(reads)}"]
    for field, value in stated.items():
        if field not in reads:
            lines.append(f"reads: {field}: missing; expected {shown(value)}")
        else:
            lines += differences(f"reads: {field}", value, reads[field])
    return lines


def judge_signature(case: Case) -> list[str]:
    """Judge `signature`: the envelope's result, each signature's, its identities; or a refused policy."""
    words = ["signature", *(case.place(name) for name in ("envelope", "file", "policy"))]
    words += ["--payload-type", case.text("payloadType")]
    if case.expected.get("policyRefused") is True:
        return case.refusal(*words)
    got = case.answer(*words)
    names = ("envelopeResult", "signatures", "verifiesFor")
    for name in names:
        case.stated(name)
    return [line for name in names for line in member(case.expected, got, name)]


def _items(case: Case) -> list[dict[str, object]]:
    """Return the items of a vector that is one list of objects."""
    found = case.content()
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise CorpusError(f"{case.vector.path}: no list of objects")
    return found


def judge_paths(case: Case) -> list[str]:
    """Judge `paths`: the problems of each named list [RUN-3]."""
    items = _items(case)
    got = case.value("paths", f"{case.folder}/{case.vector.path.rpartition('/')[2]}")
    if not isinstance(got, list) or len(got) != len(items):
        return [f"paths: expected a list of {len(items)}, got {shown(got)}"]
    lines: list[str] = []
    for item, answer in zip(items, got, strict=True):
        if not isinstance(answer, dict):
            lines.append(f"{item.get('name')}: expected an object, got {shown(answer)}")
            continue
        lines += differences("name", item.get("name"), answer.get("name"))
        lines += problem_differences(item.get("problems"), answer.get("problems"), f"{item.get('name')}")
    return lines


def judge_result_ids(case: Case) -> list[str]:
    """Judge `result-id`: one call for each item [RES-4]."""
    lines: list[str] = []
    for number, item in enumerate(_items(case)):
        words = [item.get(name) for name in ("runId", "caseId", "path")]
        trial = item.get("trial")
        if trial is not None:
            words.append(json.dumps(trial))
        texts = [word for word in words if isinstance(word, str)]
        if len(texts) != len(words):
            raise CorpusError(f"{case.vector.path}: item {number} lacks a text")
        got = case.answer("result-id", *texts)
        lines += differences(f"[{number}].resultId", item.get("resultId"), got.get("resultId"))
    return lines


def judge_fixture(case: Case) -> list[str]:
    """Nothing is run for a `fixture`: its digests were checked."""
    return []


Judge = Callable[[Case], list[str]]

READING: dict[str, Judge] = {
    "run": judge_run,
    "encoding": judge_run,
    "seal": judge_seal,
    "chain": judge_chain,
    "overlay-view": judge_view,
    "document": judge_document,
    "reader-only": judge_document,
    "plan": judge_document,
    "signature": judge_signature,
    "paths": judge_paths,
    "result-id": judge_result_ids,
    "fixture": judge_fixture,
}
"""The judge of each kind that only reads; each runs on the corpus itself, or on the copy its recipe made."""
