"""The caller's list of run hashes [SIG-8]."""

from __future__ import annotations

import pytest

from aef_verify.integrity.anchors import load_anchors
from aef_verify.problems import InputError


def test_anchors() -> None:
    assert load_anchors(b'["%s"]' % (b"0a" * 32)) == {"0a" * 32}
    assert load_anchors(b"[]") == frozenset()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{}", "not a JSON list of run hashes"),
        (b"", "not JSON that reads"),
        (b"[" * 100, "not a JSON list"),
        (b'["00"]', "is no run hash"),
        (b'["%s"]' % (b"0A" * 32), "is no run hash"),
        (b"[1]", "1 is no run hash"),
    ],
)
def test_other_content_holds_no_anchors(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_anchors(data)
