"""Names in typed references, derived from free text [ENC-13], so that whoever derives one writes the same bytes."""

from __future__ import annotations

from hashlib import sha256

MOST = 256
"""Characters of a reference's name."""

_EMPTY, _DASH = "-", "%2D"
_KEPT, _DIGITS = 239, 16


def reference_name(text: str) -> str:
    """Return a text as the name of a typed reference [ENC-13].

    Printable ASCII but `%` stays, every other byte of its UTF-8 is `%` and two upper-case hex digits; nothing is `-`,
    and `-` itself is `%2D`. Beyond 256 characters it is the first 239, `~` and 16 hex digits of the text's SHA-256.
    """
    data = text.encode()
    if data in (b"", b"-"):
        return _DASH if data else _EMPTY
    name = "".join(chr(byte) if 0x21 <= byte <= 0x7E and byte != 0x25 else f"%{byte:02X}" for byte in data)
    return name if len(name) <= MOST else f"{name[:_KEPT]}~{sha256(data).hexdigest()[:_DIGITS]}"
