"""JSON as bytes: values of I-JSON, every other spelling of one, and bytes that nearly are JSON [ENC-1] to [ENC-7].

A JSON file may be spelled with members in any order, any whitespace, any escape and any form of a number that is the
same number; a line of NDJSON alike, but for CR and LF.
"""

from __future__ import annotations

import json
from decimal import Context, Decimal
from functools import cache

from hypothesis import strategies as st

from aef_verify.strategies.files import LINE_FILES, RunFiles
from aef_verify.strategies.trees import Literal, Members, Tree, read_tree
from aef_verify.strategies.values import numbers, texts

SPACES = " \t\n\r"
LINE_SPACES = " \t"


@cache
def json_values() -> st.SearchStrategy[object]:
    """Any value of I-JSON: no number beyond binary64, no unpaired surrogate, no member twice [ENC-2], [ENC-3]."""
    leaves = st.none() | st.booleans() | numbers() | texts()
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3),
        max_leaves=8,
    )


@cache
def json_objects() -> st.SearchStrategy[dict[str, object]]:
    """Any object of I-JSON."""
    return st.dictionaries(texts(), json_values(), max_size=4)


@st.composite
def spellings(draw: st.DrawFn, data: bytes, *, spaces: str = SPACES) -> bytes:
    """Draw another spelling of a JSON text, which is read as the same value; `spaces` are the whitespace to use."""
    gaps = _gaps(spaces) if draw(st.booleans()) else _NONE
    return "".join(_spell(draw, read_tree(data), gaps)).encode()


@cache
def _gaps(spaces: str) -> st.SearchStrategy[str]:
    return st.sampled_from(("", "", *spaces, spaces))


def line_spellings(data: bytes) -> st.SearchStrategy[bytes]:
    """Another spelling of one NDJSON line, which keeps its LF."""
    return spellings(data, spaces=LINE_SPACES).map(lambda line: line + b"\n")


@st.composite
def respellings(draw: st.DrawFn, files: RunFiles) -> RunFiles:
    """Draw another spelling of a run's documents, all of them read as the same values; no seal is made anew."""
    changed: dict[str, bytes] = {}
    for path, data in files.items():
        if path in LINE_FILES:
            changed[path] = b"".join(draw(line_spellings(line)) for line in data.split(b"\n") if line)
        elif path in ("run.json", "metrics.json", "summary.json"):
            changed[path] = draw(spellings(data))
    return files.replacing(changed)


_NONE = st.just("")


def _spell(draw: st.DrawFn, tree: Tree, gaps: st.SearchStrategy[str]) -> list[str]:
    pieces = [draw(gaps)]
    if isinstance(tree, Members):
        pairs = draw(st.permutations(tree.pairs)) if len(tree.pairs) > 1 else tree.pairs
        pieces.append("{")
        for number, (name, value) in enumerate(pairs):
            pieces += ["," if number else "", draw(gaps), _text(draw, name), draw(gaps), ":"]
            pieces += _spell(draw, value, gaps)
        pieces += [draw(gaps), "}"]
    elif isinstance(tree, list):
        pieces.append("[")
        for number, value in enumerate(tree):
            pieces.append("," if number else "")
            pieces += _spell(draw, value, gaps)
        pieces += [draw(gaps), "]"]
    elif isinstance(tree, Literal):
        pieces.append(_number(draw, tree))
    elif isinstance(tree, str):
        pieces.append(_text(draw, tree))
    else:
        pieces.append(json.dumps(tree))
    return [*pieces, draw(gaps)]


def _text(draw: st.DrawFn, text: str) -> str:
    """Spell a string: as it is, every character beyond ASCII escaped, or every single one."""
    how = draw(_TEXT_FORMS)
    if how == "plain":
        return json.dumps(text, ensure_ascii=False)
    if how == "ascii":
        return json.dumps(text).replace("/", "\\/")
    units = text.encode("utf-16-be", "surrogatepass")
    escapes = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return '"' + "".join(f"\\u{unit.upper() if how == 'upper' else unit}" for unit in escapes) + '"'


_TEXT_FORMS = st.sampled_from(("plain", "ascii", "lower", "upper"))
_SHIFTS = st.integers(-3, 3)
_NUMBER_FORMS = st.sampled_from(("same", "point", "exponent"))
_EXPONENTS = st.sampled_from(("e", "E", "e+", "E+"))
_EXACT = Context(prec=800)


def _number(draw: st.DrawFn, literal: str) -> str:
    """Spell a number another way: `2`, `2.0`, `2e0`, `20e-1` and `0.2E+1` are one number [ENC-4]."""
    how = draw(_NUMBER_FORMS)
    number = Decimal(literal)
    exponent = number.adjusted()
    if how == "point" and -40 < exponent < 40:
        plain = f"{number:f}"
        return plain + ("0" if "." in plain else ".0")
    if how == "exponent":
        shift = draw(_SHIFTS)
        scaled = number.scaleb(-(exponent + shift), _EXACT) if number else number
        power = exponent + shift if number else shift
        return f"{scaled:f}{draw(_EXPONENTS)}{power}".replace("+-", "-")
    return literal


_TOKENS: tuple[bytes, ...] = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b'""', b'"a"', b'"a":', b'"b":1', b"'a'", b"/**/", b"//"),
    *(b"[" * 63, b"]" * 63, b"[" * 64, b"{}{}", b'{"a":1,"a":2}', b'{"a":1,"\\u0061":2}', b"[[]]", b'{"":{}}'),
    *(b"\\u", b"\\ud83d", b"\\ude00", b'"\\ud800"', b'"\\u0061"', b'"\\/\\b"', b'"\\x"', b'"\\u00zz"', b'"\\u0000"'),
    *(b'"\\uD83D\\uDE00"', b'"\\udc00\\ud800"', b'"\x1f"', b'"\x7f"', b'"\t"', b'"\xc3\xa9"', b'"\xf0\x9f\x98\x80"'),
    *(b"null", b"true", b"false", b"nul", b"True", b"NaN", b"Infinity", b"-Infinity", b"nan", b"undefined"),
    *(
        b"0",
        b"-0",
        b"-0.0",
        b"-",
        b"+1",
        b"01",
        b"1.",
        b".5",
        b"1.5e3",
        b"1E+2",
        b"1e",
        b"0x1",
        b"1_0",
        b"1e0",
        b"1e-0",
    ),
    *(b"1e400", b"-1e999", b"1e308", b"1.7976931348623159e308", b"1.7976931348623158e308", b"5e-324", b"1e-400"),
    *(b"9007199254740993", b"1" * 309, b"1" * 310, b"0." + b"9" * 30, b"1" * 20, b"-" + b"9" * 19, b"1" * 5000),
    *(b" ", b"\t", b"\n", b"\r", b"\x0b", b"\x0c", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\x00", b"\x1e"),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe2\x80", b"\xfe\xff", b"\x00{"),
)


@cache
def near_json() -> st.SearchStrategy[bytes]:
    """Bytes that are JSON or nearly so: what two parsers may read differently."""
    token = st.sampled_from(_TOKENS)
    tokens = st.lists(token, max_size=8).map(b"".join)
    written = json_values().map(lambda value: json.dumps(value, ensure_ascii=False).encode())
    cut = st.builds(_cut, written, st.integers(0), st.integers(0), token)
    around = st.sampled_from(((b"[", b"]"), (b'{"a":', b"}"), (b"[0,", b"]"), (b" ", b"\n"), (b"", b"")))
    single = st.builds(_between, around, st.lists(token, min_size=1, max_size=2).map(b"".join))
    return st.binary(max_size=30) | tokens | single | written | cut | written.flatmap(spellings)


def _between(around: tuple[bytes, bytes], data: bytes) -> bytes:
    return around[0] + data + around[1]


def _cut(data: bytes, at: int, length: int, between: bytes) -> bytes:
    """Replace a few bytes of a text."""
    start = at % (len(data) + 1)
    return data[:start] + between + data[start + length % 4 :]
