"""Shown text can neither steer a terminal nor show other than what it holds, and is bounded."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aef_verify.report.escape import cut, escaped, json_text, value_text, well_formed

ANYTHING = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, 100 % of it: {'a': [1]}", "plain text, 100 % of it: {'a': [1]}"),
        ("Größe « ça » 中文 😀", "Größe « ça » 中文 😀"),
        ("a\x1b[31mred", "a\\u{1B}[31mred"),
        ("tab\tbell\x07cr\rlf\n", "tab\\u{9}bell\\u{7}cr\\u{D}lf\\u{A}"),
        ("c1\x9b31m", "c1\\u{9B}31m"),
        ("right\u202eto left\u2066iso\u2069", "right\\u{202E}to left\\u{2066}iso\\u{2069}"),
        ("zero\u200bwidth\u200dhere\ufeff", "zero\\u{200B}width\\u{200D}here\\u{FEFF}"),
        ("line\u2028para\u2029", "line\\u{2028}para\\u{2029}"),
        ("lone \ud800 half", "lone \\u{D800} half"),
        ("raw \udcff byte", "raw \\u{DCFF} byte"),
        ("tag\U000e0041 private\ue000", "tag\\u{E0041} private\\u{E000}"),
        ("vs\ufe0f vs\U000e0101", "vs\\u{FE0F} vs\\u{E0101}"),
        ("nbsp\xa0 wide\u3000", "nbsp\\u{A0} wide\\u{3000}"),
        ("filler\u3164 blank\u2800 joiner\u034f", "filler\\u{3164} blank\\u{2800} joiner\\u{34F}"),
        ("soft\xad hyphen", "soft\\u{AD} hyphen"),
        ("\u0301at the beginning", "\\u{301}at the beginning"),
        ("e\u0301 is e acute", "e\u0301 is e acute"),
    ],
)
def test_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_marks_piled_up_are_spelled_out() -> None:
    assert escaped("e" + "\u0301" * 20).count("\u0301") <= 4


@given(ANYTHING)
def test_nothing_hidden_is_left(text: str) -> None:
    shown = escaped(text)
    assert escaped(shown) == shown
    assert not [one for one in shown if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")]
    shown.encode()


@given(ANYTHING)
def test_well_formed_is_utf_8(text: str) -> None:
    well_formed(text).encode()


def test_well_formed_spells_as_a_report_does() -> None:
    assert well_formed("n\udcffo") == "n\ufffdo"
    assert well_formed("a\ud800b") == "a\ufffdb"


def test_cut_says_how_much_is_left_out() -> None:
    assert cut("x" * 200) == "x" * 200
    assert cut("x" * 1234 + "\x1b", 20) == "x" * 20 + "… (1,215 more characters)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\u202e", '"a\\u{202E}"'),
        ({"é": [1, None, True]}, '{"é": [1, null, true]}'),
        (float("nan"), '"float"'),
        (b"bytes", '"bytes"'),
        ("y" * 500, '"' + "y" * 199 + "… (302 more characters)"),
    ],
)
def test_value_text(value: object, text: str) -> None:
    assert value_text(value) == text


def test_json_text_of_what_goes_round_in_a_circle() -> None:
    circle: list[object] = []
    circle.append(circle)
    assert json_text(circle) == '"list"'
