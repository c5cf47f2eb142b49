"""Base64 as signatures are read: either alphabet, padded or not, no bit left free [SIG-1]."""

from __future__ import annotations

from binascii import Error, a2b_base64, b2a_base64


def decode(text: str) -> bytes:
    """Decode base64 in the standard or the URL-safe alphabet, with complete padding or none.

    Raises:
        ValueError: whitespace or any other character, incomplete padding, set unused bits, both alphabets.
    """
    if "-" in text or "_" in text:
        if "+" in text or "/" in text:
            raise ValueError("a mix of the two base64 alphabets")
        text = text.replace("-", "+").replace("_", "/")
    digits = text.rstrip("=")
    padded = digits + "=" * (-len(digits) % 4)
    if len(digits) < len(text) != len(padded):
        raise ValueError("incomplete base64 padding")
    try:
        value = a2b_base64(padded)
    except (Error, ValueError):
        raise ValueError("not base64") from None
    if encode(value) != padded:
        raise ValueError("not base64: whitespace, another character, or unused bits that are set")
    return value


def encode(value: bytes) -> str:
    """Encode in the standard alphabet with padding, the only form written [SIG-1]."""
    return b2a_base64(value, newline=False).decode("ascii")
