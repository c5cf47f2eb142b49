r"""Text from evidence and paths, made safe to show: what steers, hides or reorders is spelled out, what is long is cut.

Spelled out as `\u{...}`: control characters, format characters (bidirectional controls, zero-width characters, tags),
surrogates, private and unassigned characters, separators of lines and paragraphs, every space but U+0020, variation
selectors and other characters that show nothing, and combining marks that have nothing to combine with.
"""

from __future__ import annotations

import json
import re
import unicodedata

from aef_verify.folder import spelled

_SPELLED_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))
_INVISIBLE = (
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x2800, 0x2800),  # the blank Braille pattern
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xE0000, 0xE0FFF),  # tags and further variation selectors
)
_MARKS_IN_A_ROW = 4
"""More combining marks than that on one character reach into other lines; no writing system needs them."""

_SURROGATE = re.compile("[\ud800-\udfff]")

SHOWN = 200
"""Characters shown of one text where nothing else is said."""


def _spelled(character: str) -> bool:
    if unicodedata.category(character) in _SPELLED_CATEGORIES:
        return character != " "
    point = ord(character)
    return any(first <= point <= last for first, last in _INVISIBLE)


def escaped(text: str) -> str:
    """Return a text that can neither steer a terminal nor show other than what it holds."""
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = _MARKS_IN_A_ROW
    for character in text:
        if unicodedata.category(character) in ("Mn", "Me"):
            marks += 1
        else:
            marks = 0
        if marks > _MARKS_IN_A_ROW or _spelled(character):
            shown.append(f"\\u{{{ord(character):X}}}")
            marks = _MARKS_IN_A_ROW
        else:
            shown.append(character)
    return "".join(shown)


def cut(text: str, most: int = SHOWN) -> str:
    """Return an escaped text of which at most about `most` characters are shown, and how many more there are."""
    if len(text) <= most:
        return escaped(text)
    return f"{escaped(text[:most])}… ({len(text) - most:,} more characters)"


def value_text(value: object, most: int = SHOWN) -> str:
    """Return an offending value as JSON, escaped and cut; a value without a JSON form as its type's name."""
    return cut(json_text(value), most)


def json_text(value: object) -> str:
    """Return a value's JSON in one line, non-ASCII characters as they are; its type's name where it has none."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(type(value).__name__)


def well_formed(text: str) -> str:
    """Return a text that UTF-8 can hold: of a name that is not UTF-8, each ill-formed part as U+FFFD (03 §3.9)."""
    try:
        return spelled(text)
    except UnicodeError:
        return _SURROGATE.sub("\ufffd", text)


def well_formed_value(value: object) -> object:
    """Return a value with every string well-formed: a name on disk need not be UTF-8."""
    if isinstance(value, str):
        return value if value.isascii() else well_formed(value)
    if isinstance(value, dict):
        return {well_formed_value(name): well_formed_value(member) for name, member in value.items()}
    return [well_formed_value(item) for item in value] if isinstance(value, list) else value


def json_document(value: object) -> str:
    """Return a value as the JSON that a command prints: only ASCII in it, every string well-formed."""
    return json.dumps(well_formed_value(value), ensure_ascii=True, allow_nan=False, indent=2)
