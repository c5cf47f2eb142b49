"""The names of typed references, derived from free text [ENC-13]."""

from __future__ import annotations

from hashlib import sha256

import pytest

from aef_verify.encoding.names import reference_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("http://localhost:5080/v1", "http://localhost:5080/v1"),
        ("!~", "!~"),
        ("a b", "a%20b"),
        ("100%", "100%25"),
        ("é\x7f\n", "%C3%A9%7F%0A"),
        ("", "-"),
        ("-", "%2D"),
        ("--", "--"),
        ("a" * 256, "a" * 256),
    ],
)
def test_enc13_a_name(text: str, name: str) -> None:
    assert reference_name(text) == name


@pytest.mark.parametrize("text", ["a" * 257, "é" * 43])
def test_enc13_a_name_that_would_be_too_long_ends_in_the_digest_of_the_text(text: str) -> None:
    name = reference_name(text)
    assert len(name) == 256
    assert name[:239] == (text if text.isascii() else "%C3%A9" * 43)[:239]
    assert name[239:] == "~" + sha256(text.encode()).hexdigest()[:16]
