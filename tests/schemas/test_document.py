"""The operation `document` (09 §9.3): [ENC-1] to [ENC-7], [ENC-17], [ENC-16] for one file, and what is no file."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from aef_verify import limits
from aef_verify.problems import InputError
from aef_verify.schemas.document import DocumentReport, check_document
from tests.schemas.full import FULL, HEX

RESULT = FULL["result"]
VALID = DocumentReport("valid", "valid", {})
INVALID = DocumentReport("invalid", "invalid", {})


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def verdicts(report: DocumentReport) -> tuple[str, str]:
    return report.writer, report.reader


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Return what writes a file and gives its path."""

    def write(name: str, content: bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write


def test_a_document(file: Any) -> None:
    report = check_document("evidence", file("document.json", json.dumps(FULL["evidence"], indent=2).encode()))
    assert report == DocumentReport("valid", "valid", {"kind": "transcript"})


def test_readers_take_more_than_writers_write(file: Any) -> None:
    report = check_document("evidence", file("document.json", line(FULL["evidence"] | {"kind": "x", "new": 1})))
    assert report == DocumentReport("invalid", "valid", {"kind": "other"})


def test_nothing_is_read_of_what_the_reader_refuses(file: Any) -> None:
    assert check_document("evidence", file("document.json", line(FULL["evidence"] | {"link": {}}))) == INVALID


def test_a_definition(file: Any) -> None:
    path = file("document.json", line(FULL["decision#/$defs/input"]))
    assert verdicts(check_document("decision#/$defs/input", path)) == ("valid", "valid")
    assert verdicts(check_document("decision", path)) == ("invalid", "invalid")


@pytest.mark.parametrize("name", ["document.ndjson", "document.jsonl"])
def test_lines(file: Any, name: str) -> None:
    new = RESULT | {"severity": "new"}
    assert check_document("result", file(name, b"")) == VALID
    assert check_document("result", file(name, line(new))).reads["severity"] == "critical"
    assert check_document("result", file(name, line(RESULT) + line(RESULT))) == VALID
    assert check_document("result", file(name, line(RESULT) + line(new))) == DocumentReport("invalid", "valid", {})
    assert check_document("result", file(name, line(RESULT) + line({}))) == INVALID


@pytest.mark.parametrize(
    ("rule", "content"),
    [
        ("ENC-5 a byte order mark", b"\xef\xbb\xbf" + line(RESULT)),
        ("ENC-5 CRLF", line(RESULT).replace(b"\n", b"\r\n")),
        ("ENC-5 a blank line", line(RESULT) + b"\n" + line(RESULT)),
        ("ENC-5 a blank last line", line(RESULT) + b"\n"),
        ("ENC-5 two documents in a line", line(RESULT)[:-1] + line(RESULT)),
        ("ENC-7 an unfinished last line", line(RESULT) + line(RESULT)[:-1]),
        ("ENC-1 an array", b"[]\n"),
        ("ENC-2 a member twice", b'{"a": 1, "a": 1}\n'),
        ("ENC-1 not UTF-8", b'{"a": "\xff"}\n'),
        ("ENC-3 a number beyond binary64", b'{"a": 1e400}\n'),
        (
            "ENC-17 depth 65",
            line(RESULT | {"ext": json.loads('{"a":' * 63 + "1" + "}" * 63)}).replace(b"1}", b"[[1]]}"),
        ),
        ("ENC-17 a long line", line(RESULT | {"ext": {"a": "x" * limits.JSON_BYTES}})),
    ],
)
def test_lines_that_do_not_read(file: Any, rule: str, content: bytes) -> None:
    assert check_document("result", file("document.ndjson", line(RESULT) + content)) == INVALID, rule


def test_a_line_separator_in_a_string_is_text(file: Any) -> None:
    text = json.dumps(RESULT | {"caseId": "a\u2028b"}, ensure_ascii=False).encode()
    assert verdicts(check_document("result", file("document.ndjson", text + b"\n"))) == ("valid", "valid")


@pytest.mark.parametrize("content", [b"", b" ", b"{}{}", b"null", b"\xef\xbb\xbf{}", b'{"a": NaN}', b"{", b"\x00"])
def test_documents_that_do_not_read(file: Any, content: bytes) -> None:
    assert check_document("run", file("document.json", content)) == INVALID


def padded(value: Any, size: int) -> bytes:
    text = json.dumps(value).encode()
    return text + b" " * (size - len(text))


@pytest.mark.parametrize(
    ("name", "most"), [("run", limits.JSON_BYTES), ("seal", limits.SEAL_BYTES), ("overlay-seal", limits.SEAL_BYTES)]
)
def test_sizes(file: Any, name: str, most: int) -> None:
    """[ENC-17]: 40 MiB for seals, 4 MiB for all else; exactly that is allowed."""
    assert verdicts(check_document(name, file("a.json", padded(FULL[name], most)))) == ("valid", "valid")
    assert verdicts(check_document(name, file("b.json", padded(FULL[name], most + 1)))) == ("invalid", "invalid")


def test_a_large_seal(file: Any) -> None:
    subject = [{"name": f"ext/{number}", "digest": {"sha256": HEX}} for number in range(100_000)]
    seal = FULL["seal"] | {"subject": subject}
    assert verdicts(check_document("seal", file("document.json", line(seal)))) == ("valid", "valid")


def test_an_unknown_schema_is_an_input_error(file: Any) -> None:
    with pytest.raises(InputError, match="run-plan"):
        check_document("nothing", file("document.json", b"{}"))


@pytest.mark.parametrize("suffix", ["json", "ndjson"])
def test_what_is_no_regular_file_is_an_input_error(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / f"folder.{suffix}"
    folder.mkdir()
    pipe = tmp_path / f"pipe.{suffix}"
    os.mkfifo(pipe)
    target = tmp_path / f"target.{suffix}"
    target.write_bytes(line(FULL["run"]))
    link = tmp_path / f"link.{suffix}"
    link.symlink_to(target)
    loop = tmp_path / f"loop.{suffix}"
    loop.symlink_to(loop)
    place = tmp_path / f"s.{suffix}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place.name)
    missing = tmp_path / f"missing.{suffix}"
    for path in (folder, pipe, link, loop, place, missing, target / f"below.{suffix}", Path(f"/dev/null/.{suffix}")):
        with pytest.raises(InputError, match=str(path.name)):
            check_document("run", str(path))
    for name in (f"\x00.{suffix}", f"\ud800.{suffix}", "x" * 5000 + f".{suffix}", ""):
        with pytest.raises(InputError):
            check_document("run", name)
