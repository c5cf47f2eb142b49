"""[EVD-1], [EVD-2], [EVD-3], [RUN-11], [SEC-5] Evidence records and blobs, and what `contentCapture: off` rules out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aef_verify.run.verify import verify_run
from tests import building
from tests.building import Edit, Json, evidence, lines, pairs, put

EVIDENCE = "evidence.ndjson"
DATA = b"a blob"
HEX = building.sha256(DATA)
BLOB = {"blob": f"sha256:{HEX}"}
URI = {"uri": "https://example.org/x"}
SPAN = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1"}
CONTENT = ["judge_reasoning", "tool_call", "document", "input", "expected", "output", "transcript"]
OTHERS = ["span", "compliance_artifact", "other", "novel", "Transcript"]


def found(root: Path, *given: Json, edits: tuple[Edit, ...] = (), blob: bool = True) -> list[tuple[str, str]]:
    """Return (place, code) of the problems of these records, the place without the file's own name."""
    run = building.bare().but(lines(*given, file=EVIDENCE), *edits)
    if blob:
        run.blob(DATA)
    return [(path.removeprefix(EVIDENCE + ":"), code) for path, code in pairs(verify_run(run.write(root)).problems)]


@pytest.mark.parametrize(
    ("link", "digest", "expected"),
    [
        (BLOB, f"sha256:{HEX}", []),
        (BLOB, None, ["schema"]),
        (BLOB, HEX, ["schema"]),
        (BLOB, f"sha256:{'0' * 64}", ["evidence-digest"]),
        (BLOB, f"sha256:{HEX.upper()}", ["schema"]),
        (URI, None, []),
        (URI, f"sha256:{'0' * 64}", []),
        (SPAN, None, []),
        (SPAN, f"sha256:{'0' * 64}", ["schema"]),
        ({**BLOB, **URI}, f"sha256:{HEX}", ["schema"]),
        ({**SPAN, **URI}, None, ["schema"]),
        ({"traceId": SPAN["traceId"]}, None, ["schema"]),
        ({"novel": 1}, None, ["schema"]),
        ({}, None, ["schema"]),
        ({**URI, "novel": 1}, None, []),
        ({"blob": f"sha256:{HEX[:-1]}"}, f"sha256:{HEX[:-1]}", ["schema"]),
        ({"blob": "../../run.json"}, f"sha256:{HEX}", ["schema"]),
    ],
)
def test_evd1_evd2_exactly_one_link_and_a_digest_as_it_asks(
    link: Json, digest: str | None, expected: list[str], tmp_path: Path
) -> None:
    more: dict[str, Any] = {} if digest is None else {"digest": digest}
    assert found(tmp_path, evidence("E-1", link, **more)) == [("1", code) for code in expected]


def test_evd1_an_id_is_unique_as_written(tmp_path: Path) -> None:
    given = [evidence(name, URI) for name in ("E-1", "E-01", "E-a", "E-A", "E-1", "E-1", "E-a")]
    assert found(tmp_path, *given) == [(line, "evidence-id") for line in ("5", "6", "7")]


def test_evd3_one_blob_may_serve_many_and_none(tmp_path: Path) -> None:
    given = [evidence(f"E-{number}", BLOB, digest=f"sha256:{HEX}") for number in range(3)]
    assert found(tmp_path / "many", *given) == []
    assert found(tmp_path / "none") == []
    assert found(tmp_path / "gone", *given, blob=False) == [("1", "blob"), ("2", "blob"), ("3", "blob")]


@pytest.mark.parametrize(
    "place",
    [
        f"blobs/sha256/{HEX}",
        f"blobs/{HEX[:2]}/{HEX}",
        f"blobs/sha256/ff/{HEX}",
        f"blobs/sha256/{HEX[:2]}/{HEX.upper()}",
        f"blobs/sha256/{HEX[:2]}/{HEX[:-1]}",
        f"blobs/sha256/{HEX[:2]}/{HEX}/{HEX}",
        f"ext/blobs/sha256/{HEX[:2]}/{HEX}",
    ],
)
def test_evd3_a_file_elsewhere_is_no_blob(place: str, tmp_path: Path) -> None:
    """Neither found where a record links to it, nor hashed against its name."""
    record = evidence("E-1", BLOB, digest=f"sha256:{HEX}")
    assert found(tmp_path, record, edits=(put(place, b"other"),), blob=False) == [("1", "blob")]


def test_evd3_an_empty_blob(tmp_path: Path) -> None:
    run = building.bare()
    name = run.blob(b"")
    run.but(lines(building.result("c1", reasoning={"blob": f"sha256:{name}", "bytes": 0})))
    assert pairs(verify_run(run.write(tmp_path)).problems) == []


@pytest.mark.parametrize("capture", ["off", "on", None, "novel"])
def test_run11_off_rules_out_the_kinds_that_hold_content(capture: str | None, tmp_path: Path) -> None:
    """Absent, or an unknown value, reads as `on` [VER-8]."""
    edits = () if capture is None else (put("run.json", "contentCapture", capture),)
    kinds = [*CONTENT, *OTHERS]
    given = [evidence(f"E-{at}", URI, kind=kind) for at, kind in enumerate(kinds)]
    expected = [(str(at), "content-capture") for at in range(1, len(CONTENT) + 1)] if capture == "off" else []
    assert found(tmp_path, *given, edits=edits) == expected


def test_run11_off_rules_out_reasoning_and_digests_of_prompts_on_results(tmp_path: Path) -> None:
    run = building.bare().but(put("run.json", "contentCapture", "off"))
    name = run.blob(DATA)
    run.but(
        lines(
            building.result("c1", reasoning={"blob": f"sha256:{name}", "bytes": 6}),
            building.result("c2", annotator={"kind": "LLM", "promptHash": f"sha256:{name}"}),
            building.result("c3", annotator={"kind": "LLM", "rubricDigest": f"sha256:{name}"}, reason="free text"),
        ),
        put("run.json", "suite", "digest", f"sha256:{name}"),
    )
    assert pairs(verify_run(run.write(tmp_path)).problems) == [
        ["results.ndjson:1", "content-capture"],
        ["results.ndjson:2", "content-capture"],
    ]
