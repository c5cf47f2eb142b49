"""[SIG-1] Base64 is read strictly: one alphabet a text, complete padding or none, no bit left free."""

from __future__ import annotations

import base64 as standard

import pytest

from aef_verify.integrity import base64


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", b""),
        ("QQ==", b"A"),
        ("QQ", b"A"),
        ("QUI=", b"AB"),
        ("QUI", b"AB"),
        ("QUJD", b"ABC"),
        ("+/+/", b"\xfb\xff\xbf"),
        ("-_-_", b"\xfb\xff\xbf"),
        ("-_8=", b"\xfb\xff"),
        ("-_8", b"\xfb\xff"),
    ],
)
def test_either_alphabet_padded_or_not(text: str, value: bytes) -> None:
    assert base64.decode(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "Q",
        "QUJDR",
        "QQ=",
        "QQ===",
        "QUI==",
        "QUJD=",
        "QUJD====",
        "=",
        "====",
        "QQ==QUJD",
        "Q=Q=",
        "QR==",
        "QR",
        "QUJ=",
        "QUJDQB",
        "+_+_",
        "-/-/",
        "-QUJD/8=",
        " QUJD",
        "QUJD ",
        "QUJD\n",
        "QU\nJD",
        "QU JD",
        "QU\tJD",
        "QU*D",
        "QUJ\u00e9",
        "QUJ\uff21",
        "QUJ\x00",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(ValueError, match="base64"):
        base64.decode(text)


@pytest.mark.parametrize("size", range(7))
def test_written_standard_with_padding(size: int) -> None:
    value = b"\xfb\xff\xfe" * 2
    assert base64.encode(value[:size]) == standard.b64encode(value[:size]).decode()
    assert base64.decode(base64.encode(value[:size])) == value[:size]
