"""Digests over canonical JSON [RFC 8785], the source entries' streamed (docs/MEMORY_PAIR.md §2)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from aef_verify.memory import dataset, digests
from aef_verify.memory.model import RosterItem
from aef_verify.problems import InputError
from tests.memory.datasets import entry, write


def sha256(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_canonical_form() -> None:
    assert digests.jcs_digest({"b": [1.0, 1e21, -0.0], "a": "é\n"}) == sha256('{"a":"é\\n","b":[1,1e+21,0]}')


@pytest.mark.parametrize("value", [2**53, -(2**53), float("inf"), float("nan"), "\ud800", {"\ud800": 1}])
def test_what_has_no_canonical_form(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        digests.jcs_digest(value)


def test_source_inputs_are_the_list_of_the_selected_entries(tmp_path: Path) -> None:
    held = [entry("a", extra=1.50), entry("b"), entry("c")]
    found = dataset.open_dataset(write(tmp_path, held))
    for chosen in ((0, 1, 2), (2, 0), (1,), ()):
        roster = [RosterItem(held[at]["question_id"], "multi-session") for at in chosen]
        assert digests.source_inputs_digest(found, roster) == digests.jcs_digest([held[at] for at in chosen])


def test_source_inputs_do_not_hang_on_how_the_file_is_written(tmp_path: Path) -> None:
    held = [entry("a", answer=3.0), entry("b")]
    plain = dataset.open_dataset(write(tmp_path, held))
    turned = [dict(reversed(item.items())) for item in held]
    other = write(
        tmp_path,
        json.dumps(turned, ensure_ascii=False, separators=(",", ":")).replace("3.0", "3").encode(),
        "longmemeval_m.json",
    )
    digest = digests.source_inputs_digest(plain, plain.items)
    assert digest == digests.source_inputs_digest(dataset.open_dataset(other), plain.items)


def test_source_inputs_hold_the_labels(tmp_path: Path) -> None:
    """Taken before projection: a label that changes is another workload."""
    held = entry("a")
    one = dataset.open_dataset(write(tmp_path, [held]))
    first = digests.source_inputs_digest(one, one.items)
    held["haystack_sessions"][1][0]["has_answer"] = False
    two = dataset.open_dataset(write(tmp_path, [held]))
    assert digests.source_inputs_digest(two, two.items) != first
    with pytest.raises(InputError, match="changed after"):
        digests.source_inputs_digest(one, one.items)
