"""Both parser paths agree on any bytes [ENC-1] to [ENC-4], and read whatever is I-JSON as what it says."""

from __future__ import annotations

import json

from hypothesis import assume, given
from hypothesis import strategies as st

from aef_verify.encoding.ijson import EncodingError, too_deep
from aef_verify.strategies import RunFiles, byte_changes, json_changes, json_values, near_json, runs, spellings
from tests.properties.both_paths import NATIVE, PARSERS, PURE
from tests.properties.effort import examples

REFUSED = "refused"


def read(path: str, data: bytes) -> object:
    try:
        return PARSERS[path](data)
    except EncodingError:
        return REFUSED, path


def same(left: object, right: object) -> bool:
    """Whether two parsed values are one, the types of numbers too, and each object's members in one order."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return repr(left) == repr(right)


def agree(data: bytes) -> bool:
    """Whether both parsers refuse the bytes, or read the same value."""
    native, pure = read(NATIVE, data), read(PURE, data)
    if native == (REFUSED, NATIVE) or pure == (REFUSED, PURE):
        return (native, pure) == ((REFUSED, NATIVE), (REFUSED, PURE))
    return same(native, pure)


@examples(600)
@given(near_json())
def test_parsers_agree_on_any_bytes(data: bytes) -> None:
    assume(not too_deep(data))
    assert agree(data)


number_texts = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+", "--"]),
    st.sampled_from(["0", "1", "17976931348623157", "9" * 15, "1" + "0" * 308, "9" * 309, "01", ""]),
    st.sampled_from(["", ".0", ".5", "." + "9" * 25, ".", ".e"]),
    st.sampled_from(["", "e0", "E+1", "e292", "e308", "e309", "e400", "e-324", "e-400", "e99999", "e", "e1.0", "e+-1"]),
)


@examples(500)
@given(number_texts, st.sampled_from([(b"", b""), (b"[", b"]"), (b'{"a":[0,', b"]}")]))
def test_parsers_agree_on_any_number(text: str, around: tuple[bytes, bytes]) -> None:
    """[ENC-3] What overflows binary64 is refused, what underflows is read."""
    assert agree(around[0] + text.encode() + around[1])


@examples(200)
@given(st.data())
def test_parsers_agree_on_changed_documents(data: st.DataObject) -> None:
    text = json.dumps(data.draw(json_values()), ensure_ascii=data.draw(st.booleans())).encode()
    change = data.draw(json_changes(text) | byte_changes(text) if text[:1] in b"{[" else byte_changes(text))
    assert agree(change.data)


@examples(60)
@given(runs(max_cases=1), st.data())
def test_parsers_agree_on_changed_runs(run: RunFiles, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([path for path in run if path.endswith(("json", "jsonl")) and run[path]]))
    lines = run[path].split(b"\n")[:-1] if "ndjson" in path or "jsonl" in path else [run[path]]
    line = data.draw(st.sampled_from(lines))
    assert agree(data.draw(json_changes(line) | byte_changes(line)).data)


@examples(200)
@given(json_values().flatmap(lambda value: st.tuples(st.just(value), spellings(json.dumps(value).encode()))))
def test_any_spelling_of_a_value_is_read_as_that_value(found: tuple[object, bytes]) -> None:
    """[ENC-2], [ENC-4] Whatever the order of members, the escapes, the form of a number."""
    value, data = found
    for parser in PARSERS.values():
        assert parser(data) == value
