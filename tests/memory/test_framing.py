"""The elements of a large array, framed without parsing it; where a fault stands [ENC-17]."""

from __future__ import annotations

import contextlib
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aef_verify.encoding import ijson
from aef_verify.memory import framing

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)


class Trickle(io.BytesIO):
    """A stream that hands out a few bytes at a time, whatever is asked for."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(3, 3 if size is None or size < 0 else size))


@given(st.lists(OBJECTS, max_size=5), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_elements_are_the_parts_of_the_file(
    values: list[dict[str, object]], indent: str | int | None, pure: bool
) -> None:
    data = b" " + json.dumps(values, indent=indent, ensure_ascii=pure).encode() + b"\n"
    for stream in (io.BytesIO(data), Trickle(data)):
        found = list(framing.elements(stream))
        assert [json.loads(element.data) for element in found] == values
        assert all(data[e.start : e.start + len(e.data)] == e.data for e in found)
        assert [element.depth for element in found] == [ijson.depth(element.data) for element in found]


@given(st.binary(max_size=60) | st.text(alphabet='[]{}",:\\ a1', max_size=60).map(str.encode))
def test_any_bytes_are_framed_or_refused(data: bytes) -> None:
    for head in (b"", b"[", b'[{"a":'):
        with contextlib.suppress(framing.FramingError):
            for element in framing.elements(Trickle(head + data)):
                assert framing.blame(element.data) is not None


@pytest.mark.parametrize(
    ("data", "place"),
    [(b"", 0), (b"{}", 0), (b"[", 0), (b"[1]", 0), (b"[{}", 1), (b"[{} {}]", 1), (b"[{}]x", 1), (b"[{},]", 1),
     (b'[{},{"a', 1), (b"\xef\xbb\xbf[]", 0)],
)  # fmt: skip
def test_what_is_no_array_of_objects(data: bytes, place: int) -> None:
    with pytest.raises(framing.FramingError) as caught:
        list(framing.elements(io.BytesIO(data)))
    assert caught.value.place == place


def test_an_element_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "ELEMENT_BYTES", 1000)
    monkeypatch.setattr(framing, "CHUNK_BYTES", 100)
    with pytest.raises(framing.FramingError, match="more than 1,000 bytes"):
        list(framing.elements(io.BytesIO(b'[{"a":"' + b"x" * 10_000)))


def test_depth_ends_the_reading_at_once() -> None:
    found = list(framing.elements(io.BytesIO(b'[{"a":' + b"[" * 1_000_000)))
    assert [(len(element.data), element.depth) for element in found] == [(5 + 63, 64)]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b'{"a": 1, "b": [1, {"c": nope}]}', "b[1].c"),
        (b'{"a": {"b": 1, "b": 2}}', "a.b"),
        (b'{"a": ["x", "\xff"]}', "a[1]"),
        (b'{"a": {"\\ud800": 1}}', "a.\\ud800"),
        (b'{"a": 1 "b": 2}', ""),
        (b'{"a": [1, [2, {"b": [[' + b"[" * 60, "a[1][1].b" + "[0]" * 59),
        (b"nope", ""),
    ],
)
def test_blame_names_the_innermost_fault(data: bytes, path: str) -> None:
    assert framing.blame(data) == path


def test_blame_gives_up_beyond_its_budget() -> None:
    data = b'{"a": [[[nope]]]}'
    assert framing.blame(data, budget=len(data) + 12) == "a[0]"
